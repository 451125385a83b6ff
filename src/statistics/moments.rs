//! Mean and variance in one pass.

use super::interval::{Estimate, Interval, student_quantile};

/// Count, mean, variance and extremes of values seen one by one (Welford 1962), mergeable (Chan,
/// Golub and LeVeque 1979).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    count: u64,
    mean: f64,
    /// Sum of squared deviations from the mean.
    squares: f64,
    min: f64,
    max: f64,
}

impl Default for Moments {
    fn default() -> Self {
        Self::new()
    }
}

impl Moments {
    /// Of no values.
    #[must_use]
    pub const fn new() -> Self {
        Self { count: 0, mean: 0.0, squares: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY }
    }

    /// Adds a value, which must be a number.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        let deviation = value - self.mean;
        self.mean += deviation / self.count as f64;
        self.squares += deviation * (value - self.mean);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Of `count` times the finite `value`: what [`Moments::add`] gives for them, to the bit.
    #[must_use]
    pub const fn of_constant(value: f64, count: u64) -> Self {
        if count == 0 {
            return Self::new();
        }
        // The first value brings the mean to itself, except that -0 gives 0.
        Self { count, mean: 0.0 + value, squares: 0.0, min: value, max: value }
    }

    /// Adds all values that `other` has seen.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        let (here, there) = (self.count as f64, other.count as f64);
        let deviation = other.mean - self.mean;
        self.count += other.count;
        self.mean += deviation * there / (here + there);
        self.squares += other.squares + deviation * deviation * here * there / (here + there);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// How many values.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; NaN without values.
    #[must_use]
    pub const fn mean(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.mean }
    }

    /// The unbiased variance; NaN below two values.
    #[must_use]
    pub fn variance(&self) -> f64 {
        if self.count < 2 { f64::NAN } else { self.squares / (self.count - 1) as f64 }
    }

    /// The square root of the variance; NaN below two values.
    #[must_use]
    pub fn standard_deviation(&self) -> f64 {
        self.variance().sqrt()
    }

    /// The least value; NaN without values.
    #[must_use]
    pub const fn min(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.min }
    }

    /// The greatest value; NaN without values.
    #[must_use]
    pub const fn max(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.max }
    }

    /// The mean with its Student-t interval; unbounded below two values.
    #[must_use]
    pub fn mean_estimate(&self, confidence: f64) -> Estimate {
        self.mean_estimate_at(student_quantile(confidence, self.count.saturating_sub(1) as f64))
    }

    /// As [`Moments::mean_estimate`], with the quantile of Student's t for as many values.
    #[must_use]
    pub fn mean_estimate_at(&self, quantile: f64) -> Estimate {
        if self.count == 0 {
            return Estimate::UNKNOWN;
        }
        if self.count == 1 {
            return Estimate::new(self.mean, Interval::UNBOUNDED);
        }
        let error = (self.variance() / self.count as f64).sqrt();
        let half_width = error * quantile;
        Estimate::new(self.mean, Interval::around(self.mean, half_width))
    }
}

impl FromIterator<f64> for Moments {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut moments = Self::new();
        values.into_iter().for_each(|value| moments.add(value));
        moments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_has_its_textbook_interval() {
        // Mean 5, variance 32/7, n = 8, t(0.95, 7) = 2.364624252: half-width 1.787487...
        let moments: Moments = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].into_iter().collect();
        let estimate = moments.mean_estimate(0.95);
        assert!((estimate.value - 5.0).abs() < 1e-12);
        assert!((moments.variance() - 32.0 / 7.0).abs() < 1e-12);
        let expected = 2.364_624_252 * (32.0_f64 / 7.0 / 8.0).sqrt();
        assert!((estimate.interval.half_width() - expected).abs() < 1e-8);
        assert_eq!((moments.min(), moments.max()), (2.0, 9.0));
    }

    #[test]
    fn merging_equals_seeing_all_values() {
        let values: Vec<f64> = (0..100).map(|i| 1e9 + f64::from(i * i % 37)).collect();
        let whole: Moments = values.iter().copied().collect();
        for cut in [0, 1, 50, 99, 100] {
            let mut merged: Moments = values[..cut].iter().copied().collect();
            merged.merge(&values[cut..].iter().copied().collect());
            assert_eq!(merged.count(), 100);
            assert!((merged.mean() - whole.mean()).abs() < 1e-5);
            assert!((merged.variance() - whole.variance()).abs() < 1e-6 * whole.variance());
        }
    }

    #[test]
    fn a_constant_has_the_moments_of_its_values() {
        for value in [0.0, -0.0, 0.1, -7.3e300, 5e-324, f64::MAX] {
            for count in [0_u64, 1, 2, 3, 1000] {
                let seen: Moments = (0..count).map(|_| value).collect();
                let known = Moments::of_constant(value, count);
                assert_eq!(format!("{known:?}"), format!("{seen:?}"), "{count} times {value}");
            }
        }
    }

    #[test]
    fn one_value_has_no_interval_and_none_has_no_mean() {
        let one: Moments = [3.0].into_iter().collect();
        assert_eq!(one.mean_estimate(0.95).interval, Interval::UNBOUNDED);
        assert!(Moments::new().mean_estimate(0.95).value.is_nan());
        assert!(Moments::new().min().is_nan());
    }
}
