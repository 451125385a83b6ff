//! Replications of which so many in a row belong together, such as antithetic pairs: the groups are
//! independent of each other, the values within one are not.

use rand::RngExt;

use super::interval::{Estimate, Interval, student_quantile};
use super::moments::Moments;
use super::quantile::QuantileRanks;
use crate::engine::Stream;

/// Items in groups that a bootstrap draws whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Drawn<T> {
    items: Vec<T>,
    /// Where each group ends.
    ends: Vec<usize>,
}

impl<T: Copy> Drawn<T> {
    /// Of `items` of which so many in a row as `size` says belong together. What is `None` does not
    /// count; a group of nothing else is none.
    pub(super) fn new(items: impl Iterator<Item = Option<T>>, size: usize) -> Self {
        let mut drawn = Self { items: Vec::new(), ends: Vec::new() };
        let mut of_group = 0;
        for item in items {
            drawn.items.extend(item);
            of_group += 1;
            if of_group >= size.max(1) {
                drawn.end_group();
                of_group = 0;
            }
        }
        drawn.end_group();
        drawn
    }

    fn end_group(&mut self) {
        if self.items.len() > self.ends.last().copied().unwrap_or(0) {
            self.ends.push(self.items.len());
        }
    }

    /// All items.
    pub(super) fn items(&self) -> &[T] {
        &self.items
    }

    /// How many groups there are.
    pub(super) fn groups(&self) -> usize {
        self.ends.len()
    }

    /// Draws as many groups as there are, with replacement, and gives `take` the items of each.
    pub(super) fn draw(&self, stream: &mut Stream, mut take: impl FnMut(T)) {
        for _ in 0..self.ends.len() {
            let group = stream.random_range(0..self.ends.len());
            let start = group.checked_sub(1).map_or(0, |before| self.ends[before]);
            self.items[start..self.ends[group]].iter().copied().for_each(&mut take);
        }
    }
}

/// The mean of each group of `size` in a row. A group in which a value is NaN, or that is not
/// complete, has none (NaN).
#[must_use]
pub fn group_means(values: &[f64], size: usize) -> Vec<f64> {
    let mean = |group: &[f64]| {
        if group.len() < size { f64::NAN } else { group.iter().sum::<f64>() / size as f64 }
    };
    values.chunks(size.max(1)).map(mean).collect()
}

/// The mean of `values`, some of which may be NaN and then do not count, with a Student-t interval
/// over the means of complete groups; unbounded below two of these.
#[must_use]
pub fn mean_estimate(values: &[f64], size: usize, confidence: f64) -> Estimate {
    let number = |value: &f64| !value.is_nan();
    let all: Moments = values.iter().copied().filter(number).collect();
    if size <= 1 || all.count() == 0 {
        return all.mean_estimate(confidence);
    }
    let groups: Moments = group_means(values, size).into_iter().filter(|m| !m.is_nan()).collect();
    if groups.count() < 2 {
        return Estimate::new(all.mean(), Interval::UNBOUNDED);
    }
    let error = (groups.variance() / groups.count() as f64).sqrt();
    let half_width = error * student_quantile(confidence, (groups.count() - 1) as f64);
    Estimate::new(all.mean(), Interval::around(all.mean(), half_width))
}

/// How much smaller the variance of the mean is than with as many independent replications: above
/// 1 is a gain, below 1 a loss; NaN where it cannot be told.
#[must_use]
pub fn variance_gain(values: &[f64], size: usize) -> f64 {
    let complete = || values.chunks_exact(size.max(1)).filter(|g| g.iter().all(|v| !v.is_nan()));
    let single: Moments = complete().flatten().copied().collect();
    let means: Moments = complete().map(|group| group.iter().sum::<f64>() / size as f64).collect();
    let gain = single.variance() / (size as f64 * means.variance());
    // A figure that never varies gains nothing.
    if gain.is_finite() { gain } else { f64::NAN }
}

/// Which order statistics bound a quantile of `count` values: as if each group were so many copies
/// of one value, which is the worst that can be, as nothing is known of a group's values.
#[must_use]
pub fn quantile_ranks(count: u64, size: u64, probability: f64, confidence: f64) -> QuantileRanks {
    if size <= 1 {
        return QuantileRanks::new(count, probability, confidence);
    }
    let ranks = QuantileRanks::new(count / size, probability, confidence);
    QuantileRanks {
        low: ranks.low.map(|rank| (rank - 1) * size + 1),
        high: ranks.high.map(|rank| rank * size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_cancel_leave_a_narrow_interval() {
        let values = [1.0, 9.0, 2.0, 8.2, 3.0, 7.1, 4.0, 6.0];
        let alone = mean_estimate(&values, 1, 0.95);
        let paired = mean_estimate(&values, 2, 0.95);
        assert_eq!(alone.value, paired.value);
        assert!(paired.interval.half_width() < alone.interval.half_width() / 10.0);
        assert!(variance_gain(&values, 2) > 100.0);
    }

    #[test]
    fn what_did_not_come_about_leaves_the_others() {
        let values = [1.0, f64::NAN, 3.0, 5.0, 2.0, 4.0, 7.0];
        let estimate = mean_estimate(&values, 2, 0.95);
        assert!((estimate.value - 22.0 / 6.0).abs() < 1e-12);
        // The complete pairs have the means 4 and 3; t(0.95, 1) = 12.7062.
        assert!((estimate.interval.half_width() - 12.7062 * 0.5).abs() < 1e-3);
        assert!(mean_estimate(&[f64::NAN; 4], 2, 0.95).value.is_nan());
        assert_eq!(mean_estimate(&[1.0, 2.0], 2, 0.95).interval, Interval::UNBOUNDED);
        assert!(variance_gain(&[3.0; 6], 2).is_nan());
    }

    #[test]
    fn groups_are_drawn_whole() {
        let items = [1, 2, 3, 0, 5, 6, 0, 0, 9].map(|item| (item > 0).then_some(item));
        let drawn = Drawn::new(items.into_iter(), 2);
        assert_eq!((drawn.items(), drawn.groups()), (&[1, 2, 3, 5, 6, 9][..], 4));
        let mut stream = crate::engine::StreamSeed::default().stream("statistics", "test");
        let mut last = 0;
        for _ in 0..50 {
            drawn.draw(&mut stream, |item| {
                assert!(last != 1 || item == 2, "2 follows 1");
                assert!(item != 2 || last == 1, "1 precedes 2");
                last = item;
            });
        }
    }

    #[test]
    fn ranks_of_copies_are_those_of_the_values_copied() {
        let single = QuantileRanks::new(100, 0.5, 0.95);
        let pairs = quantile_ranks(200, 2, 0.5, 0.95);
        assert_eq!(pairs.low, single.low.map(|rank| 2 * rank - 1));
        assert_eq!(pairs.high, single.high.map(|rank| 2 * rank));
        assert_eq!(quantile_ranks(100, 1, 0.5, 0.95), single);
    }
}
