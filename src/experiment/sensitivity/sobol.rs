//! Shares of the variance.
//!
//! With two independent samples A and B of the unit cube and, for each parameter i, A with its
//! column i from B (AB_i): the first-order index is the share of the variance that parameter i
//! explains by itself, estimated as mean(f(B) (f(AB_i) - f(A))) / V (Saltelli et al. 2010, table 2
//! b, on centred figures); the total index is the share that would be left if all others were
//! known, mean((f(A) - f(AB_i))²) / 2 V (Jansen 1999). A and B are the two halves of
//! Owen-scrambled Sobol points (crate `sobol_burley`). Intervals are percentile bootstraps over the
//! rows.

use rand::RngExt;

use super::{Effect, Effects, RESAMPLES, percentile_interval};
use crate::engine::StreamSeed;

/// Most parameters: Sobol points have 256 dimensions, two for each.
pub const MOST_PARAMETERS: usize = 128;
/// Most samples: the sequence has no more points.
pub const MOST_SAMPLES: usize = 1 << 16;

/// Fewer samples tell nothing: a share of the variance is a ratio of two estimates, and a bootstrap of
/// fewer has hardly any resamples that differ.
pub const LEAST_SAMPLES: usize = 8;

/// All points: those of A, of B, then of each AB_i.
#[must_use]
pub fn design(parameters: usize, samples: usize, seed: u64) -> Vec<Vec<f64>> {
    // Both halves of the seed count.
    let seed = (seed ^ (seed >> 32)) as u32;
    let coordinate = |row: usize, dimension: usize| {
        f64::from(sobol_burley::sample(row as u32, dimension as u32, seed))
    };
    let half = |first: usize| -> Vec<Vec<f64>> {
        let point = |row| (first..first + parameters).map(|d| coordinate(row, d)).collect();
        (0..samples).map(point).collect()
    };
    let (a, b) = (half(0), half(parameters));
    let mixed = (0..parameters).flat_map(|parameter| {
        a.iter().zip(&b).map(move |(a, b)| {
            let mut point = a.clone();
            point[parameter] = b[parameter];
            point
        })
    });
    let mixed: Vec<Vec<f64>> = mixed.collect();
    a.into_iter().chain(b).chain(mixed).collect()
}

/// The figures of one row: at A, at B, and at each AB_i.
struct Rows {
    a: Vec<f64>,
    b: Vec<f64>,
    mixed: Vec<Vec<f64>>,
}

impl Rows {
    /// Rows that have all their figures, centred on the mean over A and B.
    fn new(parameters: usize, samples: usize, figures: &[f64]) -> Self {
        let at = |block: usize, row: usize| {
            figures.get(block * samples + row).copied().unwrap_or(f64::NAN)
        };
        let blocks = parameters + 2;
        let complete: Vec<usize> = (0..samples)
            .filter(|&row| (0..blocks).all(|block| at(block, row).is_finite()))
            .collect();
        let column = |block: usize| complete.iter().map(|&row| at(block, row)).collect();
        let (mut a, mut b): (Vec<f64>, Vec<f64>) = (column(0), column(1));
        let mut mixed: Vec<Vec<f64>> = (2..blocks).map(column).collect();
        let mean = a.iter().chain(&b).sum::<f64>() / (2 * a.len()).max(1) as f64;
        let all = mixed.iter_mut().flatten().chain(&mut a).chain(&mut b);
        all.for_each(|figure| *figure -= mean);
        Self { a, b, mixed }
    }

    /// First-order and total index of each parameter over the `rows`.
    fn indices(&self, rows: &[usize]) -> Vec<[f64; 2]> {
        let count = rows.len() as f64;
        let (mut sum, mut squares) = (0.0, 0.0);
        for &row in rows {
            sum += self.a[row] + self.b[row];
            squares += self.a[row] * self.a[row] + self.b[row] * self.b[row];
        }
        let mean = sum / (2.0 * count);
        let variance = squares / (2.0 * count) - mean * mean;
        let index = |mixed: &Vec<f64>| {
            let (mut first, mut total) = (0.0, 0.0);
            for &row in rows {
                let moved = mixed[row] - self.a[row];
                first += (self.b[row] - mean) * moved;
                total += moved * moved;
            }
            [first / count / variance, total / (2.0 * count) / variance]
        };
        // A figure that does not vary depends on nothing.
        if variance <= 1e-24 * (squares / count) || variance == 0.0 {
            return vec![[f64::NAN; 2]; self.mixed.len()];
        }
        self.mixed.iter().map(index).collect()
    }
}

/// First-order and total index of each parameter. `figures` are those of the design's points in
/// order; a row without one of them is left out.
#[must_use]
pub fn effects(parameters: usize, samples: usize, figures: &[f64], confidence: f64) -> Effects {
    let rows = Rows::new(parameters, samples, figures);
    let count = rows.a.len();
    let all: Vec<usize> = (0..count).collect();
    let values = rows.indices(&all);
    let mut stream = StreamSeed::default().stream("sensitivity", "bootstrap");
    let resamples: Vec<Vec<[f64; 2]>> = (0..if count < 2 { 0 } else { RESAMPLES })
        .map(|_| {
            let drawn: Vec<usize> = all.iter().map(|_| stream.random_range(0..count)).collect();
            rows.indices(&drawn)
        })
        .collect();
    let effect = |(parameter, value): (usize, &[f64; 2])| {
        let measure = |at: usize| {
            let figures = resamples.iter().map(|indices| indices[parameter][at]).collect();
            percentile_interval(figures, value[at], confidence)
        };
        let measures = vec![("first-order", measure(0)), ("total", measure(1))];
        Effect { parameter, measures, rank: value[1] }
    };
    Effects::new(values.iter().enumerate().map(effect).collect(), (count, samples))
        .of_too_few(LEAST_SAMPLES)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    fn analyse(parameters: usize, samples: usize, function: impl Fn(&[f64]) -> f64) -> Effects {
        let figures: Vec<f64> =
            design(parameters, samples, 1).iter().map(|point| function(point)).collect();
        effects(parameters, samples, &figures, 0.95)
    }

    fn indices(effects: &Effects, parameter: usize) -> (f64, f64) {
        let effect = effects.effects.iter().find(|e| e.parameter == parameter).unwrap();
        (effect.measures[0].1.value, effect.measures[1].1.value)
    }

    /// Ishigami and Homma (1990) with a = 7, b = 0.1.
    fn ishigami(x: &[f64]) -> f64 {
        let at = |i: usize| PI * (2.0 * x[i] - 1.0);
        let square = libm::sin(at(1)) * libm::sin(at(1));
        libm::sin(at(0)) + 7.0 * square + 0.1 * libm::pow(at(2), 4.0) * libm::sin(at(0))
    }

    #[test]
    fn the_indices_of_ishigami_are_those_of_its_closed_form() {
        // V1 = (1 + b π⁴/5)² / 2, V2 = a²/8, V13 = b² π⁸ (1/18 - 1/50).
        let (a, b) = (7.0, 0.1);
        let v1 = (1.0 + b * PI.powi(4) / 5.0).powi(2) / 2.0;
        let v2 = a * a / 8.0;
        let v13 = b * b * PI.powi(8) * (1.0 / 18.0 - 1.0 / 50.0);
        let v = v1 + v2 + v13;
        let effects = analyse(3, 8_192, ishigami);
        let expected = [(v1 / v, (v1 + v13) / v), (v2 / v, v2 / v), (0.0, v13 / v)];
        for (parameter, (first, total)) in expected.into_iter().enumerate() {
            let got = indices(&effects, parameter);
            assert!((got.0 - first).abs() < 0.01, "{parameter}: {got:?}, {first}");
            assert!((got.1 - total).abs() < 0.01, "{parameter}: {got:?}, {total}");
            let effect = effects.effects.iter().find(|e| e.parameter == parameter).unwrap();
            assert!(effect.measures[0].1.interval.contains(first));
            assert!(effect.measures[1].1.interval.contains(total));
        }
    }

    #[test]
    fn a_linear_function_has_the_shares_of_its_squares() {
        let effects = analyse(4, 2_048, |x| 100.0 + 4.0 * x[0] - 2.0 * x[1] + x[2]);
        for (parameter, expected) in [(0, 16.0 / 21.0), (1, 4.0 / 21.0), (2, 1.0 / 21.0), (3, 0.0)]
        {
            let (first, total) = indices(&effects, parameter);
            assert!((first - expected).abs() < 0.01, "{parameter}: {first}");
            assert!((total - expected).abs() < 0.01, "{parameter}: {total}");
        }
        let order: Vec<usize> = effects.effects.iter().map(|effect| effect.parameter).collect();
        assert_eq!(order, [0, 1, 2, 3]);
    }

    #[test]
    fn intervals_cover_the_indices_as_often_as_promised() {
        // Plain points instead of Sobol's: the bootstrap supposes independent rows.
        let (mut covered, mut all) = (0, 0);
        for seed in 0..100 {
            let mut stream =
                StreamSeed { master: 9, replication: seed }.stream("sensitivity", "test");
            let half: Vec<Vec<f64>> =
                (0..400).map(|_| vec![stream.random(), stream.random()]).collect();
            let (a, b) = half.split_at(200);
            let mixed = (0..2).flat_map(|parameter| {
                a.iter().zip(b).map(move |(a, b)| {
                    let mut point = a.clone();
                    point[parameter] = b[parameter];
                    point
                })
            });
            let points: Vec<Vec<f64>> =
                a.iter().cloned().chain(b.iter().cloned()).chain(mixed).collect();
            let figures: Vec<f64> = points.iter().map(|x| 2.0 * x[0] + x[1]).collect();
            let effects = effects(2, 200, &figures, 0.95);
            for effect in &effects.effects {
                let truth = if effect.parameter == 0 { 0.8 } else { 0.2 };
                all += 2;
                covered += effect.measures.iter().filter(|m| m.1.interval.contains(truth)).count();
            }
        }
        let share = covered as f64 / f64::from(all);
        assert!((0.90..=0.98).contains(&share), "{share}");
    }

    #[test]
    fn what_does_not_vary_has_no_indices() {
        let effects = analyse(2, 64, |_| 5.0);
        assert!(indices(&effects, 0).0.is_nan());
        let mut figures = vec![1.0; 4 * 8];
        figures[3] = f64::NAN;
        assert_eq!(super::effects(2, 8, &figures, 0.95).used, (7, 8));
    }

    #[test]
    fn too_few_samples_have_no_indices() {
        for missing in 0..8 {
            let mut figures: Vec<f64> = (0..4 * 8).map(|i| f64::from(i * i % 13)).collect();
            figures[..missing].fill(f64::NAN);
            let effects = super::effects(2, 8, &figures, 0.95);
            for effect in &effects.effects {
                let told = effect.measures.iter().all(|(_, estimate)| estimate.value.is_finite());
                assert_eq!(told, missing == 0, "{missing}: {effects:?}");
            }
        }
    }
}
