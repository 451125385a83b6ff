//! What work costs.

use rand::RngExt;
use rand_distr::{Distribution as _, Exp1, StandardNormal};

use super::config::{Config, Cost, Governor};
use crate::engine::{SimDuration, Stream};
use crate::quantities::DurationSampler;

/// Passes over a cached object that the design takes for one uncached estimate.
const DESIGN_CACHE_FACTOR: f64 = 4.0;
/// Tick time with the ondemand governor over that with performance: the middle of 3.38 to 5.56 ms
/// over 1.618 ms.
const ONDEMAND_FACTOR: f64 = (3.38 + 5.56) / 2.0 / 1.618;
/// The same with powersave: 8.98 ms over 1.618 ms.
const POWERSAVE_FACTOR: f64 = 8.98 / 1.618;

impl Cost {
    /// How much dearer reads are because CPUs are on several nodes: those of the other nodes cost
    /// `numa_remote_factor`.
    pub(super) fn numa_factor(&self) -> f64 {
        let local = 1.0 / f64::from(self.numa_nodes.max(1));
        local + (1.0 - local) * self.numa_remote_factor
    }

    pub(super) fn frequency_factor(&self) -> f64 {
        self.governor_factor.unwrap_or(match self.governor {
            Governor::Performance => 1.0,
            Governor::Ondemand => ONDEMAND_FACTOR,
            Governor::Powersave => POWERSAVE_FACTOR,
        })
    }

    /// Mean cost of an estimate at full frequency, in nanoseconds.
    pub(super) fn full_speed_ns(&self, possible_cpus: u32) -> f64 {
        let local = self.estimate.as_ref().map_or_else(
            || self.read_cost_ns * f64::from(possible_cpus),
            |estimate| estimate.mean_seconds() * 1e9,
        );
        local * self.numa_factor()
    }
}

/// Costs ready for drawing.
#[derive(Clone, Debug)]
pub(super) struct Prices {
    /// Mean cost of an estimate.
    estimate_ns: f64,
    full_speed_ns: f64,
    /// A law for the cost of each estimate, to be multiplied by `factor`.
    law: Option<DurationSampler>,
    factor: f64,
    /// Of the lognormal factor common to a tick, with mean 1.
    tick_sigma: f64,
    calc_loop_ns: f64,
    calc_noise: f64,
    relink: SimDuration,
}

/// The time that a row takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RowTime {
    /// Its longest chain.
    pub chain: SimDuration,
    /// All of it.
    pub tick: SimDuration,
}

impl Prices {
    pub fn new(config: &Config, cache_factor: u32) -> Self {
        let cost = &config.cost;
        let full_speed_ns = cost.full_speed_ns(config.possible_cpus);
        let cached_pass_ns = full_speed_ns / cost.calc_ratio / DESIGN_CACHE_FACTOR;
        let calc_loop_ns = cost.calc_value.map_or_else(
            || cached_pass_ns * f64::from(cache_factor),
            |value| value.as_nanos() as f64,
        );
        Self {
            estimate_ns: full_speed_ns * cost.frequency_factor(),
            full_speed_ns,
            law: cost.estimate.as_ref().map(|estimate| estimate.sampler()),
            factor: cost.numa_factor() * cost.frequency_factor(),
            tick_sigma: libm::sqrt(libm::log1p(cost.tick_cv * cost.tick_cv)),
            calc_loop_ns,
            calc_noise: cost.calc_noise,
            relink: cost.relink,
        }
    }

    pub fn rewind(&mut self) {
        if let Some(law) = &mut self.law {
            law.rewind();
        }
    }

    /// Draws the time of a row of `estimators`, `longest` of them in its longest chain.
    pub fn row(&mut self, longest: u32, estimators: u32, random: &mut Stream) -> RowTime {
        let common = if self.tick_sigma > 0.0 {
            let z: f64 = StandardNormal.sample(random);
            libm::exp(self.tick_sigma * z - self.tick_sigma * self.tick_sigma / 2.0)
        } else {
            1.0
        };
        let chain = self.sum(longest, random) * common;
        let others = self.sum(estimators - longest, random) * common;
        RowTime { chain: from_ns(chain), tick: from_ns(chain + others) }
    }

    /// Nanoseconds of `count` estimates.
    fn sum(&mut self, count: u32, random: &mut Stream) -> f64 {
        match &mut self.law {
            None => f64::from(count) * self.estimate_ns,
            Some(law) => law.sample_sum(u64::from(count), random).as_nanos() as f64 * self.factor,
        }
    }

    /// Draws how much dearer than possible a test of the calc phase is, and returns what one
    /// loop of it takes, in nanoseconds.
    pub fn calc_loop_ns(&self, random: &mut Stream) -> f64 {
        let excess: f64 = Exp1.sample(random);
        self.calc_loop_ns * (1.0 + self.calc_noise * excess)
    }

    /// What an undisturbed loop takes, in nanoseconds.
    pub fn undisturbed_calc_loop_ns(&self) -> f64 {
        self.calc_loop_ns
    }

    /// The pass over the test object before the clock is read.
    pub fn warm_pass_ns(&self) -> f64 {
        self.full_speed_ns
    }

    /// Linking or unlinking `count` estimators.
    pub fn relink(&self, count: u64) -> SimDuration {
        self.relink.saturating_mul(count)
    }
}

/// The nearest duration to `nanos` nanoseconds.
pub(super) fn from_ns(nanos: f64) -> SimDuration {
    SimDuration::from_seconds(nanos * 1e-9)
}

/// How many of a Poisson process come when `mean` are expected: exact up to 64, beyond that by
/// the normal approximation, whose error is then below a hundredth of a deviation.
pub(super) fn poisson(mean: f64, random: &mut Stream) -> f64 {
    const EXACT_UP_TO: f64 = 64.0;
    if mean > EXACT_UP_TO {
        let z: f64 = StandardNormal.sample(random);
        return (mean + libm::sqrt(mean) * z).max(0.0);
    }
    let mut count = 0.0;
    let mut at: f64 = Exp1.sample(random);
    while at < mean {
        count += 1.0;
        let gap: f64 = Exp1.sample(random);
        at += gap;
    }
    count
}

/// A share between 0 and 1.
pub(super) fn uniform(random: &mut Stream) -> f64 {
    random.random()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::StreamSeed;

    #[test]
    fn the_cost_of_an_estimate_is_that_of_a_read_times_the_possible_cpus() {
        let config = Config::default();
        let mut prices = Prices::new(&config, 4);
        let mut random = StreamSeed::default().stream("test", "cost");
        let time = prices.row(16, 50_000, &mut random);
        assert_eq!(time.tick, SimDuration::from_millis(268));
        assert_eq!(time.chain, SimDuration::from_nanos(85_760));
    }

    #[test]
    fn reads_from_other_nodes_and_a_low_frequency_multiply_the_cost() {
        let mut config = Config::default();
        config.cost.numa_nodes = 4;
        config.cost.numa_remote_factor = 3.0;
        config.cost.governor = Governor::Powersave;
        let expected = 2.5 * 8.98 / 1.618;
        let factor = config.cost.numa_factor() * config.cost.frequency_factor();
        assert!((factor - expected).abs() < 1e-12);
    }

    #[test]
    fn a_factor_common_to_a_tick_has_mean_1_and_the_variation_asked_for() {
        let mut config = Config::default();
        config.cost.tick_cv = 0.3;
        let mut prices = Prices::new(&config, 4);
        let mut random = StreamSeed::default().stream("test", "cost");
        let draws: Vec<f64> = (0..20_000)
            .map(|_| prices.row(0, 1000, &mut random).tick.as_seconds() / 5.36e-3)
            .collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 19_999.0;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!((variance.sqrt() - 0.3).abs() < 0.01, "{variance}");
    }

    #[test]
    fn a_poisson_count_has_its_mean_and_variance() {
        let mut random = StreamSeed::default().stream("test", "poisson");
        for expected in [0.5, 20.0, 2000.0] {
            let draws: Vec<f64> = (0..20_000).map(|_| poisson(expected, &mut random)).collect();
            let mean = draws.iter().sum::<f64>() / draws.len() as f64;
            let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 19_999.0;
            assert!((mean / expected - 1.0).abs() < 0.03, "{mean}");
            assert!((variance / expected - 1.0).abs() < 0.05, "{variance}");
        }
    }
}
