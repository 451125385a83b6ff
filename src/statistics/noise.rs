//! What rounding alone makes of equal figures.

use super::{Estimate, Interval};

/// Figures that differ by no more than this share of their size are equal. Sums of the same numbers
/// in another order differ by about 1e-15 of it, and shares of a time that is counted in whole
/// nanoseconds by a few 1e-9, as runs last seconds; no model has a figure that exact.
pub const NOISE: f64 = 1e-8;

/// Whether `one` and `other` differ by nothing but rounding. Two that are not known are equal.
#[must_use]
pub fn equal(one: f64, other: f64) -> bool {
    let size = one.abs().max(other.abs());
    let near = size.is_finite() && (one - other).abs() <= NOISE * size;
    one == other || near || (one.is_nan() && other.is_nan())
}

/// Whether a difference of figures of which the greater has the size `size` is nothing, with all of
/// its interval.
#[must_use]
pub fn is_nothing(difference: Estimate, size: f64) -> bool {
    let Interval { low, high } = difference.interval;
    let none = |value: f64| value.abs() <= NOISE * size.abs();
    none(difference.value) && none(low) && none(high)
}

impl Estimate {
    /// The same difference, or exactly 0 where it [is nothing](is_nothing).
    #[must_use]
    pub fn without_noise(mut self, size: f64) -> Self {
        if is_nothing(self, size) {
            self.value = 0.0;
            self.interval = Interval { low: 0.0, high: 0.0 };
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_by_rounding_alone_is_equal() {
        assert!(equal(0.1 + 0.2, 0.3) && equal(0.0, 0.0) && equal(f64::NAN, f64::NAN));
        assert!(!equal(1.0, 1.0 + 1e-6) && !equal(0.0, 1e-300) && !equal(1.0, f64::NAN));
        assert!(equal(f64::INFINITY, f64::INFINITY) && !equal(f64::INFINITY, 1.0));
    }

    #[test]
    fn a_difference_is_nothing_only_with_all_of_its_interval() {
        let of = |value, low, high| {
            let mut estimate = Estimate::exact(value);
            estimate.interval = Interval { low, high };
            estimate.without_noise(2.0)
        };
        assert_eq!(of(1e-16, -1e-15, 3e-15), Estimate::exact(0.0));
        assert_eq!(of(1e-16, -1e-15, 0.1).value, 1e-16);
        assert_eq!(of(1e-16, f64::NEG_INFINITY, f64::INFINITY).value, 1e-16);
    }
}
