//! Two configurations whose replications have nothing to do with each other: other seeds, or
//! streams of their own.
//!
//! - Differences of means: Welch (1947), with the degrees of freedom of Satterthwaite (1946).
//! - Differences and ratios of rates: Newcombe (1998); equality by Fisher's exact test.
//! - Ratios of means: Fieller (1954) without covariance, with the same degrees of freedom.
//! - Differences and ratios of quantiles: the percentile bootstrap (Efron 1979), each side drawn by
//!   itself, with a fixed seed.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::grouped::Drawn;
use super::interval::{Estimate, Interval, student_quantile};
use super::moments::Moments;
use super::paired::{Contrast, RESAMPLES, bounded_by, fieller};
use super::quantile::quantile_of;
use super::rate::Rate;
use crate::engine::StreamSeed;

/// Values of two configurations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Independent {
    first: Drawn<f64>,
    second: Drawn<f64>,
}

impl Independent {
    /// Values that are NaN do not count.
    #[must_use]
    pub fn new(first: &[f64], second: &[f64]) -> Self {
        Self::grouped(first, second, [1, 1])
    }

    /// The same, where so many values in a row as `sizes` says of each side belong together: they
    /// are drawn together for the interval of a quantile.
    #[must_use]
    pub fn grouped(first: &[f64], second: &[f64], sizes: [usize; 2]) -> Self {
        let numbers = |values: &[f64], size| {
            Drawn::new(values.iter().map(|v| (!v.is_nan()).then_some(*v)), size)
        };
        Self { first: numbers(first, sizes[0]), second: numbers(second, sizes[1]) }
    }

    /// How many values the side with fewer has.
    #[must_use]
    pub fn count(&self) -> usize {
        self.first.items().len().min(self.second.items().len())
    }

    /// The difference or ratio of the means.
    #[must_use]
    pub fn means(&self, contrast: Contrast, confidence: f64) -> Estimate {
        let [x, y] = self.moments();
        let value = contrast.of(x.mean(), y.mean());
        if self.count() == 0 {
            return Estimate::UNKNOWN;
        }
        let Some((errors, freedom)) = self.errors() else {
            return Estimate::new(value, Interval::UNBOUNDED);
        };
        let t = student_quantile(confidence, freedom);
        match contrast {
            Contrast::Difference => {
                let half_width = t * (errors[0] + errors[1]).sqrt();
                Estimate::new(value, Interval::around(value, half_width))
            }
            Contrast::Ratio => {
                let ([a, b], (x, y)) = (errors.map(|error| t * t * error), (x.mean(), y.mean()));
                fieller([x, y], b, 0.0, y * y * a + x * x * b - a * b)
            }
        }
    }

    /// The difference or ratio of how often either is 1, where all values are 0 or 1. So many values
    /// in a row as `sizes` says of each side count as one.
    #[must_use]
    pub fn rates(&self, sizes: [usize; 2], contrast: Contrast, confidence: f64) -> Estimate {
        let [first, second] = self.as_rates();
        let [one, other] = sizes.map(|size| size as u64);
        first.grouped(one).contrasted(second.grouped(other), contrast, confidence)
    }

    /// The p value of "either is 1 equally often", where all values are 0 or 1; see
    /// [`Rate::p_value`].
    #[must_use]
    pub fn p_value_of_rates(&self) -> f64 {
        let [first, second] = self.as_rates();
        first.p_value(second)
    }

    fn as_rates(&self) -> [Rate; 2] {
        [&self.first, &self.second].map(|values| Rate::of(values.items().iter().copied()))
    }

    /// The p value of "the means are equal"; NaN below two values on either side.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        let Some((errors, freedom)) = self.errors() else { return f64::NAN };
        let [x, y] = self.moments();
        let (difference, error) = (x.mean() - y.mean(), (errors[0] + errors[1]).sqrt());
        if error == 0.0 {
            return if difference == 0.0 { 1.0 } else { 0.0 };
        }
        let Ok(student) = StudentsT::new(0.0, 1.0, freedom) else { return f64::NAN };
        2.0 * student.sf((difference / error).abs())
    }

    /// The difference or ratio of the `probability`-quantiles.
    #[must_use]
    pub fn quantiles(&self, probability: f64, contrast: Contrast, confidence: f64) -> Estimate {
        let (mut first, mut second) = (self.first.items().to_vec(), self.second.items().to_vec());
        let figure = |first: &mut [f64], second: &mut [f64]| {
            contrast.of(quantile_of(first, probability), quantile_of(second, probability))
        };
        let value = figure(&mut first, &mut second);
        let groups = self.first.groups().min(self.second.groups());
        if !bounded_by(groups, probability) {
            return Estimate::new(value, Interval::UNBOUNDED);
        }
        let mut stream = StreamSeed::default().stream("statistics", "bootstrap");
        let mut figures: Vec<f64> = Vec::with_capacity(RESAMPLES);
        for _ in 0..RESAMPLES {
            for (drawn, values) in [(&mut first, &self.first), (&mut second, &self.second)] {
                drawn.clear();
                values.draw(&mut stream, |value| drawn.push(value));
            }
            figures.push(figure(&mut first, &mut second));
        }
        let tail = (1.0 - confidence) / 2.0;
        let interval = Interval {
            low: quantile_of(&mut figures, tail).min(value),
            high: quantile_of(&mut figures, 1.0 - tail).max(value),
        };
        Estimate::new(value, interval)
    }

    /// The difference or ratio of the least or greatest values.
    #[must_use]
    pub fn extremes(&self, greatest: bool, contrast: Contrast) -> Estimate {
        let [x, y] = self.moments();
        Estimate::exact(if greatest {
            contrast.of(x.max(), y.max())
        } else {
            contrast.of(x.min(), y.min())
        })
    }

    fn moments(&self) -> [Moments; 2] {
        [&self.first, &self.second].map(|values| values.items().iter().copied().collect())
    }

    /// The squared standard error of each mean, and the degrees of freedom of their difference.
    fn errors(&self) -> Option<([f64; 2], f64)> {
        if self.count() < 2 {
            return None;
        }
        let moments = self.moments();
        let errors = moments.map(|moments| moments.variance() / moments.count() as f64);
        let sum = errors[0] + errors[1];
        let part = |side: usize| errors[side] * errors[side] / (moments[side].count() - 1) as f64;
        let parts = part(0) + part(1);
        // Values that do not vary have no error, whatever the degrees of freedom.
        let freedom = if parts > 0.0 { sum * sum / parts } else { 1.0 };
        Some((errors, freedom))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_has_the_interval_of_welch() {
        // Two samples whose t is -2.45536 with 24.9885 degrees of freedom, so p is 0.021378 (by
        // numerical integration of the density).
        let first = [
            27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7,
            21.4,
        ];
        let second = [
            27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5,
            24.4,
        ];
        let both = Independent::new(&first, &second);
        assert!((both.p_value() - 0.021_378).abs() < 1e-5, "{}", both.p_value());
        let difference = both.means(Contrast::Difference, 0.95);
        let [x, y] = both.moments();
        let error = (x.variance() / 15.0 + y.variance() / 15.0).sqrt();
        assert!((difference.value / error + 2.455_36).abs() < 1e-4, "{}", difference.value / error);
        // The p value is the confidence at which the interval ends at 0.
        let at_zero = both.means(Contrast::Difference, 1.0 - both.p_value());
        assert!(at_zero.interval.high.abs() < 1e-6);
        let ratio = both.means(Contrast::Ratio, 1.0 - both.p_value());
        assert!((ratio.interval.high - 1.0).abs() < 1e-6);
    }

    #[test]
    fn what_does_not_vary_is_known_and_one_value_knows_nothing() {
        let both = Independent::new(&[2.0; 5], &[1.0; 4]);
        assert_eq!(both.means(Contrast::Ratio, 0.95), Estimate::exact(2.0));
        assert_eq!(both.p_value(), 0.0);
        assert!(Independent::new(&[1.0], &[2.0, 3.0]).p_value().is_nan());
        let equal = Independent::new(&[1.0, f64::NAN, 1.0], &[1.0, 1.0]);
        assert_eq!((equal.p_value(), equal.count()), (1.0, 2));
    }

    #[test]
    fn quantiles_of_equal_samples_differ_by_nothing() {
        let values: Vec<f64> = (0..200).map(f64::from).collect();
        let both = Independent::new(&values, &values);
        let difference = both.quantiles(0.5, Contrast::Difference, 0.95);
        assert!(difference.value == 0.0 && difference.interval.contains(0.0));
        assert!(difference.interval.half_width() > 5.0);
        assert!(!both.quantiles(0.999, Contrast::Ratio, 0.95).interval.is_bounded());
    }
}
