//! Figures of a configuration of which some are known by bounds only, as replications were cut off,
//! and what two such configurations differ by at least and at most.

use super::known::Known;
use crate::statistics::grouped::group_means;
use crate::statistics::paired::Contrast;
use crate::statistics::{Estimate, Interval, Sense};

/// The figures of a metric at a point, by replication.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownValues {
    /// NaN where there is none, where it never came about and where, as the replication was cut
    /// off, it is not known.
    pub exact: Vec<f64>,
    /// What they are at least; NaN where there is none, infinite where it never came about.
    pub low: Vec<f64>,
    /// What they are at most.
    pub high: Vec<f64>,
}

impl KnownValues {
    /// Of figures that are all known; NaN where there is none.
    #[must_use]
    pub fn exactly(values: &[f64]) -> Self {
        Self { exact: values.to_vec(), low: values.to_vec(), high: values.to_vec() }
    }

    /// Replaces what is known of the replication number `at`, if there is one.
    pub fn set(&mut self, at: usize, known: Known) {
        let exact = if known.exact().is_finite() { known.low } else { f64::NAN };
        for (values, value) in
            [(&mut self.exact, exact), (&mut self.low, known.low), (&mut self.high, known.high)]
        {
            if let Some(place) = values.get_mut(at) {
                *place = value;
            }
        }
    }

    /// The means of so many in a row as `size` says.
    #[must_use]
    pub fn group_means(&self, size: usize) -> Self {
        let [exact, low, high] =
            [&self.exact, &self.low, &self.high].map(|values| group_means(values, size));
        Self { exact, low, high }
    }

    /// All of them times `factor`, which is not negative.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        // What never comes about does not come about at no change either.
        let scaled = |value: &f64| if value.is_infinite() { *value } else { value * factor };
        let [exact, low, high] =
            [&self.exact, &self.low, &self.high].map(|values| values.iter().map(scaled).collect());
        Self { exact, low, high }
    }

    /// How many are known by bounds only.
    #[must_use]
    pub fn cut(&self) -> u64 {
        let open = |(low, high): (&f64, &f64)| low < high;
        self.low.iter().zip(&self.high).filter(|&ends| open(ends)).count() as u64
    }

    /// The figures whether or not they are known: by their lower bounds, or by the upper ones.
    #[must_use]
    pub fn bounds(&self, upper: bool) -> &[f64] {
        if upper { &self.high } else { &self.low }
    }
}

impl FromIterator<Known> for KnownValues {
    fn from_iter<I: IntoIterator<Item = Known>>(known: I) -> Self {
        let mut values = Self::default();
        for known in known {
            let exact = known.exact();
            values.exact.push(if exact.is_finite() { exact } else { f64::NAN });
            values.low.push(known.low);
            values.high.push(known.high);
        }
        values
    }
}

/// The interval of a contrast of two configurations: from that of the first at least against the
/// second at most, to that of the first at most against the second at least, as `interval` gives
/// them. An end that something without a bound decides is infinite, or 0 for a ratio.
///
/// `sums` says that every figure counts, as in a mean, so that one without a bound decides; of
/// quantiles and extremes it may not.
pub fn contrast_bounds(
    here: &KnownValues,
    there: &KnownValues,
    contrast: Contrast,
    sums: bool,
    interval: impl Fn(&[f64], &[f64]) -> Interval,
) -> Interval {
    let endless = |values: &[f64]| values.contains(&f64::INFINITY);
    let least = match contrast {
        Contrast::Difference => f64::NEG_INFINITY,
        Contrast::Ratio => 0.0,
    };
    let known = |end: f64, open: f64| if end.is_nan() { open } else { end };
    let low = match (endless(&here.low), endless(&there.high)) {
        // What differs from each other by nothing known.
        (true, true) => least,
        (false, true) if sums => least,
        (true, false) if sums => f64::INFINITY,
        _ => known(interval(&here.low, &there.high).low, least),
    };
    let high = match (endless(&here.high), endless(&there.low)) {
        (true, true) => f64::INFINITY,
        (true, false) if sums => f64::INFINITY,
        (false, true) if sums => least,
        _ => known(interval(&here.high, &there.low).high, f64::INFINITY),
    };
    Interval { low, high }
}

/// What is known of a figure that lies in `interval`, by its lower bound if there is one: `least`
/// is the figure of all lower bounds and `most` that of all upper ones. Nothing where neither says
/// anything; `floor` is what it can never be below.
#[must_use]
pub fn told(interval: Interval, least: f64, most: f64, floor: f64) -> Estimate {
    let (value, sense) = if least.is_finite() && least > floor {
        (least, Sense::AtLeast)
    } else if most.is_finite() {
        (most, Sense::AtMost)
    } else {
        (f64::NAN, Sense::Whole)
    };
    Estimate { value, interval, sense }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFINITE: f64 = f64::INFINITY;

    fn known(value: f64) -> KnownValues {
        KnownValues::exactly(&[value])
    }

    fn cut(low: f64) -> KnownValues {
        [Known { low, high: INFINITE }].into_iter().collect()
    }

    #[test]
    fn contrasts_of_what_was_cut_off_have_an_end_where_something_is_known() {
        let interval = |first: &[f64], second: &[f64]| Interval {
            low: first[0] - second[0] - 0.5,
            high: first[0] - second[0] + 0.5,
        };
        let bounds = |here, there| {
            let Interval { low, high } =
                contrast_bounds(&here, &there, Contrast::Difference, true, interval);
            (low, high)
        };
        let never = || [INFINITE.into()].into_iter().collect::<KnownValues>();
        assert_eq!(bounds(cut(4.0), known(1.0)), (2.5, INFINITE));
        assert_eq!(bounds(known(1.0), cut(4.0)), (-INFINITE, -2.5));
        assert_eq!(bounds(cut(4.0), cut(1.0)), (-INFINITE, INFINITE));
        assert_eq!(bounds(never(), known(1.0)), (INFINITE, INFINITE));
    }

    #[test]
    fn what_does_not_decide_an_extreme_may_be_without_a_bound() {
        let least = |values: &[f64]| values.iter().copied().fold(INFINITE, f64::min);
        let interval =
            |first: &[f64], second: &[f64]| Estimate::exact(least(first) - least(second)).interval;
        let here: KnownValues =
            [3.0.into(), Known { low: 4.0, high: INFINITE }].into_iter().collect();
        let there = known(1.0);
        let got = contrast_bounds(&here, &there, Contrast::Difference, false, interval);
        assert_eq!(got, Interval { low: 2.0, high: 2.0 });
    }

    #[test]
    fn what_is_told_is_the_bound_that_says_something() {
        let told = |least, most, floor| {
            let told = told(Interval::UNBOUNDED, least, most, floor);
            (told.sense, told.value)
        };
        assert_eq!(told(2.0, INFINITE, -INFINITE), (Sense::AtLeast, 2.0));
        assert_eq!(told(-INFINITE, -3.0, -INFINITE), (Sense::AtMost, -3.0));
        assert_eq!(told(0.0, 0.2, 0.0), (Sense::AtMost, 0.2));
        assert!(told(0.0, INFINITE, 0.0).1.is_nan());
    }

    #[test]
    fn figures_are_counted_as_cut_where_their_bounds_differ() {
        let values: KnownValues =
            [1.0.into(), Known { low: 4.0, high: INFINITE }, INFINITE.into(), Known::NONE]
                .into_iter()
                .collect();
        assert_eq!(values.cut(), 1);
        assert_eq!(values.exact.iter().filter(|value| value.is_nan()).count(), 3);
        assert_eq!(values.scaled(0.0).high[1..3], [INFINITE; 2]);
    }
}
