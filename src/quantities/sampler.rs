//! Drawing durations from a distribution, one by one or as a sum.

use rand::{Rng, RngExt};
use rand_distr::{Distribution as _, Exp1, Gamma, StandardNormal};

use super::distribution::{DurationDistribution, EmpiricalOrder};
use crate::engine::SimDuration;

/// Draws from a [`DurationDistribution`]. Cheap to draw from; keeps the place of a replay.
#[derive(Clone, Debug)]
pub struct DurationSampler {
    law: Law,
}

/// Parameters in seconds, ready for drawing.
#[derive(Clone, Debug)]
enum Law {
    Constant(SimDuration),
    Exponential { mean: f64 },
    Uniform { min: f64, width: f64 },
    Normal { mean: f64, deviation: f64 },
    Lognormal { mu: f64, sigma: f64 },
    Gamma { shape: f64, scale: f64, one: Gamma<f64> },
    Weibull { scale: f64, inverse_shape: f64 },
    Pareto { min: f64, inverse_shape: f64 },
    Triangular { min: f64, mode: f64, max: f64 },
    Mixture { cumulative: Vec<f64>, parts: Vec<DurationSampler> },
    Resample(Vec<SimDuration>),
    Replay { values: Vec<SimDuration>, next: usize },
}

impl DurationSampler {
    pub(super) fn new(distribution: &DurationDistribution) -> Self {
        let law = match distribution {
            DurationDistribution::Constant { value } => Law::Constant(*value),
            DurationDistribution::Exponential { mean } => {
                Law::Exponential { mean: mean.as_seconds() }
            }
            DurationDistribution::Uniform { min, max } => {
                Law::Uniform { min: min.as_seconds(), width: max.as_seconds() - min.as_seconds() }
            }
            DurationDistribution::Normal { mean, cv } => {
                let mean = mean.as_seconds();
                Law::Normal { mean, deviation: mean * cv }
            }
            DurationDistribution::Lognormal { mean, cv } => {
                let variance = libm::log1p(cv * cv);
                let mu = libm::log(mean.as_seconds()) - variance / 2.0;
                Law::Lognormal { mu, sigma: libm::sqrt(variance) }
            }
            DurationDistribution::Gamma { mean, cv } => {
                gamma_law(mean.as_seconds(), 1.0 / (cv * cv))
            }
            DurationDistribution::Erlang { mean, stages } => {
                gamma_law(mean.as_seconds(), f64::from(*stages))
            }
            DurationDistribution::Weibull { scale, shape } => {
                Law::Weibull { scale: scale.as_seconds(), inverse_shape: 1.0 / shape }
            }
            DurationDistribution::Pareto { min, shape } => {
                Law::Pareto { min: min.as_seconds(), inverse_shape: 1.0 / shape }
            }
            DurationDistribution::Triangular { min, mode, max } => Law::Triangular {
                min: min.as_seconds(),
                mode: mode.as_seconds(),
                max: max.as_seconds(),
            },
            DurationDistribution::Mixture { parts } => {
                let mut sum = 0.0;
                let cumulative = parts
                    .iter()
                    .map(|part| {
                        sum += part.weight;
                        sum
                    })
                    .collect();
                let parts = parts.iter().map(|part| part.duration.sampler()).collect();
                Law::Mixture { cumulative, parts }
            }
            DurationDistribution::Empirical { values, order: EmpiricalOrder::Resample } => {
                Law::Resample(values.clone())
            }
            DurationDistribution::Empirical { values, order: EmpiricalOrder::Replay } => {
                Law::Replay { values: values.clone(), next: 0 }
            }
        };
        Self { law }
    }

    /// The value of every draw, when there is only one.
    #[inline]
    #[must_use]
    pub fn constant(&self) -> Option<SimDuration> {
        match self.law {
            Law::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Back to the first value of a replay, for the next replication.
    pub fn rewind(&mut self) {
        match &mut self.law {
            Law::Replay { next, .. } => *next = 0,
            Law::Mixture { parts, .. } => parts.iter_mut().for_each(Self::rewind),
            _ => {}
        }
    }

    /// One value.
    #[inline]
    pub fn sample<R: Rng>(&mut self, random: &mut R) -> SimDuration {
        match &mut self.law {
            Law::Constant(value) => *value,
            Law::Resample(values) => values[random.random_range(0..values.len())],
            Law::Replay { values, next } => {
                let value = values[*next];
                *next = (*next + 1) % values.len();
                value
            }
            Law::Mixture { cumulative, parts } => {
                let total = cumulative.last().copied().unwrap_or(0.0);
                let at = random.random::<f64>() * total;
                let part = cumulative.partition_point(|sum| *sum <= at).min(parts.len() - 1);
                parts[part].sample(random)
            }
            _ => SimDuration::from_seconds(self.seconds(random)),
        }
    }

    /// The sum of `count` independent values: drawn at once where the sum's distribution is
    /// known (constant, exponential, Erlang, gamma, and normal when truncation does not matter),
    /// otherwise one by one.
    pub fn sample_sum<R: Rng>(&mut self, count: u64, random: &mut R) -> SimDuration {
        if count == 0 {
            return SimDuration::ZERO;
        }
        let n = count as f64;
        match &self.law {
            Law::Constant(value) => value.saturating_mul(count),
            Law::Exponential { mean } => SimDuration::from_seconds(gamma(n, *mean, random)),
            Law::Gamma { shape, scale, .. } => {
                SimDuration::from_seconds(gamma(n * shape, *scale, random))
            }
            // Below -6 deviations lie 1e-9 of a normal's mass.
            Law::Normal { mean, deviation } if *deviation * 6.0 <= *mean => {
                let z: f64 = StandardNormal.sample(random);
                SimDuration::from_seconds(n * mean + libm::sqrt(n) * deviation * z)
            }
            _ => {
                (0..count).fold(SimDuration::ZERO, |sum, _| sum.saturating_add(self.sample(random)))
            }
        }
    }

    #[inline]
    fn seconds<R: Rng>(&self, random: &mut R) -> f64 {
        match &self.law {
            Law::Exponential { mean } => {
                let e: f64 = Exp1.sample(random);
                mean * e
            }
            Law::Uniform { min, width } => min + width * random.random::<f64>(),
            Law::Normal { mean, deviation } => loop {
                let z: f64 = StandardNormal.sample(random);
                let value = mean + deviation * z;
                if value >= 0.0 {
                    break value;
                }
            },
            Law::Lognormal { mu, sigma } => {
                let z: f64 = StandardNormal.sample(random);
                libm::exp(mu + sigma * z)
            }
            Law::Gamma { one, .. } => one.sample(random),
            Law::Weibull { scale, inverse_shape } => {
                let e: f64 = Exp1.sample(random);
                scale * libm::pow(e, *inverse_shape)
            }
            Law::Pareto { min, inverse_shape } => {
                let e: f64 = Exp1.sample(random);
                min * libm::exp(e * inverse_shape)
            }
            Law::Triangular { min, mode, max } => {
                let width = max - min;
                if width <= 0.0 {
                    return *min;
                }
                let at: f64 = random.random();
                if at * width < mode - min {
                    min + libm::sqrt(at * width * (mode - min))
                } else {
                    max - libm::sqrt((1.0 - at) * width * (max - mode))
                }
            }
            // Drawn in `sample`, which has no need of seconds.
            Law::Constant(_) | Law::Mixture { .. } | Law::Resample(_) | Law::Replay { .. } => 0.0,
        }
    }
}

fn gamma_law(mean: f64, shape: f64) -> Law {
    let scale = mean / shape;
    match Gamma::new(shape, scale) {
        Ok(one) => Law::Gamma { shape, scale, one },
        // Only for parameters that `check` refuses.
        Err(_) => Law::Constant(SimDuration::from_seconds(mean)),
    }
}

fn gamma<R: Rng>(shape: f64, scale: f64, random: &mut R) -> f64 {
    Gamma::new(shape, scale).map_or(shape * scale, |law| law.sample(random))
}
