//! An interval, and a figure that has one.

use statrs::distribution::Continuous;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The set of values that a figure is compatible with at some confidence. An end that the data
/// do not bound is infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The least value, or negative infinity.
    pub low: f64,
    /// The greatest value, or infinity.
    pub high: f64,
}

impl Interval {
    /// What is known without data: nothing.
    pub const UNBOUNDED: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// `centre` plus and minus `half_width`.
    #[must_use]
    pub const fn around(centre: f64, half_width: f64) -> Self {
        Self { low: centre - half_width, high: centre + half_width }
    }

    /// True when both ends are finite.
    #[must_use]
    pub const fn is_bounded(self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// Half its width; infinite when an end is.
    #[must_use]
    pub fn half_width(self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// True when `value` lies in it, its ends included.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// What the value of an estimate says of the figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sense {
    /// It is the figure, as far as the data tell.
    #[default]
    Whole,
    /// The figure is at least this: what it comes from was cut off, and could only have grown.
    AtLeast,
    /// The figure is at most this: what it is compared with was cut off, and could only have grown.
    AtMost,
    /// It is of what had happened when it was cut off. Of the figure only the interval tells.
    SoFar,
}

/// A figure with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure; NaN without data.
    pub value: f64,
    /// The interval of the figure, also where the value is not that.
    pub interval: Interval,
    /// What the value says of it.
    pub sense: Sense,
}

impl Estimate {
    /// No data, no figure.
    pub const UNKNOWN: Self = Self::new(f64::NAN, Interval::UNBOUNDED);

    /// A figure with its interval.
    #[must_use]
    pub const fn new(value: f64, interval: Interval) -> Self {
        Self { value, interval, sense: Sense::Whole }
    }

    /// A figure that is what it is, for instance the least value seen.
    #[must_use]
    pub const fn exact(value: f64) -> Self {
        Self::new(value, Interval { low: value, high: value })
    }
}

/// The two-sided quantile of Student's t: a variable with `freedom` degrees of freedom lies
/// within plus and minus the result with probability `confidence`. Infinite below one degree.
#[must_use]
pub fn student_quantile(confidence: f64, freedom: f64) -> f64 {
    let Ok(student) = StudentsT::new(0.0, 1.0, freedom) else { return f64::INFINITY };
    if freedom < 1.0 {
        return f64::INFINITY;
    }
    let target = 0.5 + confidence / 2.0;
    // The library's inverse is good to three digits or so for some degrees of freedom; Newton's
    // method on its distribution function gives the rest.
    let mut quantile = student.inverse_cdf(target);
    for _ in 0..8 {
        let step = (student.cdf(quantile) - target) / student.pdf(quantile);
        if !step.is_finite() || step.abs() <= 1e-13 * quantile.abs() {
            break;
        }
        quantile -= step;
    }
    quantile
}

/// The two-sided quantile of the standard normal distribution.
#[must_use]
pub fn normal_quantile(confidence: f64) -> f64 {
    Normal::standard().inverse_cdf(0.5 + confidence / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_quantiles_are_those_of_the_tables() {
        for (confidence, freedom, expected) in [
            (0.95, 1.0, 12.706_204_736),
            (0.60, 2.0, 1.060_660_172),
            (0.95, 9.0, 2.262_157_163),
            (0.99, 29.0, 2.756_385_904),
            (0.95, 199.0, 1.971_956_544),
            (0.95, 1e6, 1.959_966_357),
        ] {
            let got = student_quantile(confidence, freedom);
            assert!((got - expected).abs() < 2e-8 * expected, "{confidence} {freedom}: {got}");
        }
    }

    #[test]
    fn without_a_degree_of_freedom_nothing_is_bounded() {
        assert_eq!(student_quantile(0.95, 0.0), f64::INFINITY);
    }
}
