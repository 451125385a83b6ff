//! Two configurations compared on common random numbers: replication r of one with replication r
//! of the other.
//!
//! - Differences of means: Student-t over the differences.
//! - Differences and ratios of rates: those of [`super::paired_rates`].
//! - Ratios of means: Fieller (1954), exact for normal data, over the pairs.
//! - Differences and ratios of quantiles: the percentile bootstrap over pairs (Efron 1979), with a
//!   fixed seed so that the same data give the same interval.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::grouped::Drawn;
use super::interval::{Estimate, Interval, student_quantile};
use super::moments::Moments;
use super::paired_rates::PairedRates;
use super::quantile::{quantile_of, quantile_of_sorted};
use crate::engine::StreamSeed;

/// Resamples of the bootstrap.
pub(super) const RESAMPLES: usize = 2_000;

/// Values of two configurations, pair by pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs(Drawn<(f64, f64)>);

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contrast {
    /// The first less the second.
    Difference,
    /// The first divided by the second.
    Ratio,
}

impl Contrast {
    pub(super) fn of(self, first: f64, second: f64) -> f64 {
        match self {
            Self::Difference => first - second,
            Self::Ratio => first / second,
        }
    }
}

impl Pairs {
    /// Pairs `first` with `second` by position; a pair in which either is NaN does not count.
    #[must_use]
    pub fn new(first: &[f64], second: &[f64]) -> Self {
        Self::grouped(first, second, 1)
    }

    /// The same, where so many pairs in a row as `size` says belong together: they are drawn
    /// together for the interval of a quantile. (Means are compared over those of the groups.)
    #[must_use]
    pub fn grouped(first: &[f64], second: &[f64], size: usize) -> Self {
        let both = |(a, b): (&f64, &f64)| (!a.is_nan() && !b.is_nan()).then_some((*a, *b));
        Self(Drawn::new(first.iter().zip(second).map(both), size))
    }

    fn pairs(&self) -> &[(f64, f64)] {
        self.0.items()
    }

    /// How many pairs.
    #[must_use]
    pub fn count(&self) -> usize {
        self.pairs().len()
    }

    /// The difference or ratio of the means.
    #[must_use]
    pub fn means(&self, contrast: Contrast, confidence: f64) -> Estimate {
        match contrast {
            Contrast::Difference => self.differences().mean_estimate(confidence),
            Contrast::Ratio => self.ratio_of_means(confidence),
        }
    }

    /// The difference or ratio of how often either is 1, where all values are 0 or 1. So many pairs in
    /// a row as `size` says count as one.
    #[must_use]
    pub fn rates(&self, size: usize, contrast: Contrast, confidence: f64) -> Estimate {
        PairedRates::of(self.pairs()).grouped(size as u64).contrasted(contrast, confidence)
    }

    /// The p value of "either is 1 equally often", where all values are 0 or 1. NaN without pairs.
    #[must_use]
    pub fn p_value_of_rates(&self) -> f64 {
        PairedRates::of(self.pairs()).p_value()
    }

    /// The p value of "the means are equal", by Student's t over the differences; NaN below two
    /// pairs. Differences that are all the same have p value 0, or 1 when they are 0.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        let differences = self.differences();
        let error = (differences.variance() / differences.count() as f64).sqrt();
        if error.is_nan() {
            return f64::NAN;
        }
        if error == 0.0 {
            return if differences.mean() == 0.0 { 1.0 } else { 0.0 };
        }
        let freedom = (differences.count() - 1) as f64;
        let Ok(student) = StudentsT::new(0.0, 1.0, freedom) else { return f64::NAN };
        2.0 * student.sf((differences.mean() / error).abs())
    }

    /// The difference or ratio of the `probability`-quantiles.
    #[must_use]
    pub fn quantiles(&self, probability: f64, contrast: Contrast, confidence: f64) -> Estimate {
        if self.pairs().is_empty() {
            return Estimate::UNKNOWN;
        }
        let mut first: Vec<f64> = self.pairs().iter().map(|pair| pair.0).collect();
        let mut second: Vec<f64> = self.pairs().iter().map(|pair| pair.1).collect();
        let figure = |first: &mut [f64], second: &mut [f64]| {
            contrast.of(quantile_of(first, probability), quantile_of(second, probability))
        };
        let value = figure(&mut first, &mut second);
        if !bounded_by(self.0.groups(), probability) {
            return Estimate::new(value, Interval::UNBOUNDED);
        }
        let mut stream = StreamSeed::default().stream("statistics", "bootstrap");
        let mut figures: Vec<f64> = Vec::with_capacity(RESAMPLES);
        for _ in 0..RESAMPLES {
            first.clear();
            second.clear();
            self.0.draw(&mut stream, |(a, b)| {
                first.push(a);
                second.push(b);
            });
            figures.push(figure(&mut first, &mut second));
        }
        figures.sort_unstable_by(f64::total_cmp);
        let tail = (1.0 - confidence) / 2.0;
        let interval = Interval {
            low: quantile_of_sorted(&figures, tail).min(value),
            high: quantile_of_sorted(&figures, 1.0 - tail).max(value),
        };
        Estimate::new(value, interval)
    }

    /// The difference or ratio of the least or greatest values of these very pairs.
    #[must_use]
    pub fn extremes(&self, greatest: bool, contrast: Contrast) -> Estimate {
        let first: Moments = self.pairs().iter().map(|pair| pair.0).collect();
        let second: Moments = self.pairs().iter().map(|pair| pair.1).collect();
        Estimate::exact(if greatest {
            contrast.of(first.max(), second.max())
        } else {
            contrast.of(first.min(), second.min())
        })
    }

    fn differences(&self) -> Moments {
        self.pairs().iter().map(|(first, second)| first - second).collect()
    }

    /// Fieller: the ratios r for which `mean(first) - r mean(second)` is within t standard errors of
    /// 0, the roots of a quadratic. Unbounded when the second mean may be 0.
    fn ratio_of_means(&self, confidence: f64) -> Estimate {
        let first: Moments = self.pairs().iter().map(|pair| pair.0).collect();
        let second: Moments = self.pairs().iter().map(|pair| pair.1).collect();
        let (x, y) = (first.mean(), second.mean());
        let unbounded = Estimate::new(x / y, Interval::UNBOUNDED);
        if self.pairs().len() < 2 {
            return unbounded;
        }
        let count = self.pairs().len() as f64;
        let t = student_quantile(confidence, count - 1.0);
        let scale = t * t / count;
        let shared = covariance(self.pairs().iter().copied());
        // What is left of the first when the second explains all it can: where the ratio is the same
        // in all pairs this is nothing, to the last digit.
        let left = self.pairs().iter().map(|(a, b)| y * a - x * b);
        let apart: Moments = left.clone().collect();
        let with_second = covariance(left.zip(self.pairs().iter().map(|pair| pair.1)));
        let determinant = apart.variance() * second.variance() - with_second * with_second;
        let square = scale * apart.variance() - scale * scale * determinant / (y * y);
        fieller([x, y], scale * second.variance(), scale * shared, square)
    }
}

/// The covariance over pairs.
fn covariance(pairs: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let mean = |of: fn((f64, f64)) -> f64| pairs.clone().map(of).collect::<Moments>().mean();
    let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let count = pairs.clone().count() as f64;
    pairs.map(|(a, b)| (a - x) * (b - y)).sum::<f64>() / (count - 1.0)
}

/// The ratios r for which `x - r y` is within t standard errors of 0. `spread` is t² times the
/// squared standard error of the second mean, `shared` t² times the covariance of the means, and
/// `square` a quarter of the discriminant of the quadratic. Unbounded when the second mean may be 0.
pub(super) fn fieller([x, y]: [f64; 2], spread: f64, shared: f64, square: f64) -> Estimate {
    let divisor = y * y - spread;
    if divisor.is_nan() || divisor <= 0.0 {
        return Estimate::new(x / y, Interval::UNBOUNDED);
    }
    let centre = x * y - shared;
    let root = square.max(0.0).sqrt();
    let interval = Interval { low: (centre - root) / divisor, high: (centre + root) / divisor };
    Estimate::new(x / y, interval)
}

/// Whether the bootstrap of a quantile over `count` values can be trusted: an extreme quantile of a
/// resample is the extreme of the sample more often than not, and the bootstrap then pretends to
/// know what it has not seen.
pub(super) fn bounded_by(count: usize, probability: f64) -> bool {
    let rarer = (1.0 - probability).min(probability);
    count as f64 * rarer >= 1.0 && count >= 6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_share_cancels_in_a_paired_difference() {
        let noise: Vec<f64> = (0..40).map(|i| f64::from(i * 37 % 41)).collect();
        let shifted: Vec<f64> =
            noise.iter().enumerate().map(|(i, x)| x + 2.0 + 0.01 * (i % 2) as f64).collect();
        let pairs = Pairs::new(&shifted, &noise);
        let difference = pairs.means(Contrast::Difference, 0.95);
        assert!((difference.value - 2.005).abs() < 1e-9);
        assert!(difference.interval.half_width() < 0.002);
        assert!(pairs.p_value() < 1e-12);
    }

    #[test]
    fn equal_rates_are_tested_as_by_mcnemar() {
        // 10 pairs in which only the first is 1, 2 in which only the second is: twice the lower tail
        // of a fair coin, 2 (1 + 12 + 66) / 4096.
        let first: Vec<f64> = (0..40).map(|i| f64::from(i < 20)).collect();
        let second: Vec<f64> = (0..40).map(|i| f64::from((10..22).contains(&i))).collect();
        let pairs = Pairs::new(&first, &second);
        assert!((pairs.p_value_of_rates() - 158.0 / 4096.0).abs() < 1e-12);
        assert_eq!(Pairs::new(&first, &first).p_value_of_rates(), 1.0);
    }

    #[test]
    fn a_constant_ratio_has_no_width() {
        let first = [2.0, 4.0, 8.0, 6.0];
        let second = [1.0, 2.0, 4.0, 3.0];
        let ratio = Pairs::new(&first, &second).means(Contrast::Ratio, 0.95);
        assert!((ratio.value - 2.0).abs() < 1e-12);
        assert!(ratio.interval.half_width() < 1e-14);
    }

    #[test]
    fn the_ratio_to_a_mean_that_may_be_zero_is_unbounded() {
        let ratio = Pairs::new(&[1.0, 2.0, 3.0], &[-1.0, 0.5, 1.0]).means(Contrast::Ratio, 0.95);
        assert_eq!(ratio.interval, Interval::UNBOUNDED);
    }

    #[test]
    fn a_pair_without_a_figure_does_not_count() {
        assert_eq!(Pairs::new(&[1.0, f64::NAN, 3.0], &[1.0, 2.0, f64::NAN]).count(), 1);
    }

    #[test]
    fn too_few_pairs_do_not_bound_an_extreme_quantile() {
        let values: Vec<f64> = (0..50).map(f64::from).collect();
        let pairs = Pairs::new(&values, &values);
        assert_eq!(pairs.quantiles(0.99, Contrast::Ratio, 0.95).interval, Interval::UNBOUNDED);
        assert!(pairs.quantiles(0.5, Contrast::Difference, 0.95).interval.is_bounded());
    }

    #[test]
    fn pairs_that_belong_together_are_drawn_together() {
        // Each group twice the same value: as much as is known of half as many.
        let single: Vec<f64> = (0..60).map(|i| f64::from(i * 37 % 61)).collect();
        let twice: Vec<f64> = single.iter().flat_map(|value| [*value; 2]).collect();
        let zeros = vec![0.0; twice.len()];
        let interval = |values: &[f64], size| {
            let pairs = Pairs::grouped(values, &zeros[..values.len()], size);
            pairs.quantiles(0.5, Contrast::Difference, 0.95).interval
        };
        assert_eq!(interval(&twice, 2), interval(&single, 1));
        assert!(interval(&twice, 1).half_width() < interval(&twice, 2).half_width());
        let rare = Pairs::grouped(&zeros, &zeros, 2).quantiles(0.99, Contrast::Difference, 0.95);
        assert_eq!(rare.interval, Interval::UNBOUNDED);
    }

    #[test]
    fn equal_samples_are_no_difference() {
        let values = [1.0, 2.0, 5.0];
        assert_eq!(Pairs::new(&values, &values).p_value(), 1.0);
        assert!(Pairs::new(&[1.0], &[2.0]).p_value().is_nan());
    }
}
