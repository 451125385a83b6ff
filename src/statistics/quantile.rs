//! Quantiles over replications and their intervals.
//!
//! One definition everywhere: the p-quantile of n values is the smallest value that at least the
//! share p of them do not exceed, that is the `ceil(n p)`-th smallest (the inverse of the empirical
//! distribution function, type 1 of Hyndman and Fan 1996). It is always a value that occurred,
//! and the order-statistic interval always contains it.

use statrs::distribution::{Binomial, DiscreteCDF};
use statrs::function::beta::beta_reg;

use super::interval::{Estimate, Interval};

/// Numbers in ascending order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// Sorts `values`, none of which may be NaN.
    #[must_use]
    pub fn new(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        Self(values)
    }

    /// The values, ascending.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// As [`Sorted::values`], to keep.
    #[must_use]
    pub fn into_values(self) -> Vec<f64> {
        self.0
    }

    /// The `probability`-quantile; NaN without values.
    #[must_use]
    pub fn quantile(&self, probability: f64) -> f64 {
        quantile_of_sorted(&self.0, probability)
    }

    /// The `probability`-quantile with the interval between two order statistics.
    ///
    /// The number of values below the true quantile is binomial, so the coverage is at least
    /// `confidence` whatever the distribution. Where there are too few values for a bound (see
    /// [`replications_needed`]), that end is infinite.
    #[must_use]
    pub fn quantile_estimate(&self, probability: f64, confidence: f64) -> Estimate {
        let ranks = QuantileRanks::new(self.0.len() as u64, probability, confidence);
        self.quantile_estimate_at(probability, ranks)
    }

    /// As [`Sorted::quantile_estimate`], with ranks found before for as many values.
    #[must_use]
    pub fn quantile_estimate_at(&self, probability: f64, ranks: QuantileRanks) -> Estimate {
        let at = |rank: u64| rank.checked_sub(1).and_then(|index| self.0.get(index as usize));
        let low = ranks.low.and_then(at).copied().unwrap_or(f64::NEG_INFINITY);
        let high = ranks.high.and_then(at).copied().unwrap_or(f64::INFINITY);
        Estimate::new(self.quantile(probability), Interval { low, high })
    }
}

/// The `probability`-quantile of ascending values; NaN without values.
#[must_use]
pub fn quantile_of_sorted(values: &[f64], probability: f64) -> f64 {
    place(values.len(), probability).map_or(f64::NAN, |place| values[place])
}

/// The `probability`-quantile of values in any order, which it changes; NaN without values.
#[must_use]
pub fn quantile_of(values: &mut [f64], probability: f64) -> f64 {
    place(values.len(), probability)
        .map_or(f64::NAN, |place| *values.select_nth_unstable_by(place, f64::total_cmp).1)
}

/// Where the quantile stands among `count` ascending values.
fn place(count: usize, probability: f64) -> Option<usize> {
    let last = count.checked_sub(1)?;
    // n p is meant to be exact where p has few decimals; the tolerance undoes the rounding of
    // products such as 100 * 0.07, which is above 7 in binary.
    let rank = (count as f64 * probability * (1.0 - 4.0 * f64::EPSILON)).ceil() as usize;
    Some(rank.saturating_sub(1).min(last))
}

/// Which order statistics (counted from 1) bound a quantile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantileRanks {
    /// The rank of the lower bound, if there are enough values for one.
    pub low: Option<u64>,
    /// The rank of the upper bound, if there are enough values for one.
    pub high: Option<u64>,
}

impl QuantileRanks {
    /// For the `probability`-quantile of `count` values: the highest `low` and the lowest
    /// `high` that the quantile lies outside of with probability at most `(1 - confidence) / 2`
    /// each.
    #[must_use]
    pub fn new(count: u64, probability: f64, confidence: f64) -> Self {
        let Ok(below) = Binomial::new(probability, count) else {
            return Self { low: None, high: None };
        };
        let tail = (1.0 - confidence) / 2.0;
        // The quantile is below the rank-th value when fewer than `rank` values are at most it.
        let misses_low = |rank: u64| below.cdf(rank - 1) > tail;
        let low = first_where(count, misses_low) - 1;
        let holds_high = |rank: u64| below.cdf(rank - 1) >= 1.0 - tail;
        let high = first_where(count, holds_high);
        Self { low: (low >= 1).then_some(low), high: (high <= count).then_some(high) }
    }
}

/// Where the `rank`-th smallest of `count` independent draws lies in the distribution that they are
/// drawn from: it is with `confidence` between the two quantiles whose probabilities are returned.
///
/// The probability that belongs to it is distributed as Beta(`rank`, `count` + 1 - `rank`), whatever
/// the distribution (David and Nagaraja, Order Statistics, 3rd edition, section 2.3), and equal tails
/// are left out.
#[must_use]
pub fn order_statistic_range(rank: u64, count: u64, confidence: f64) -> (f64, f64) {
    let (below, above) = (rank.max(1) as f64, (count + 1).saturating_sub(rank).max(1) as f64);
    let tail = (1.0 - confidence) / 2.0;
    let probability = |share: f64| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if beta_reg(below, above, middle) < share {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::midpoint(low, high)
    };
    (probability(tail), probability(1.0 - tail))
}

/// The first rank from 1 to `count` for which the monotone `holds` is true, else `count + 1`.
fn first_where(count: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut from, mut to) = (1, count + 1);
    while from < to {
        let middle = from + (to - from) / 2;
        if holds(middle) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    from
}

/// How many values bound the `probability`-quantile on both sides at `confidence`.
#[must_use]
pub fn replications_needed(probability: f64, confidence: f64) -> u64 {
    let tail = (1.0 - confidence) / 2.0;
    let rarer = probability.max(1.0 - probability);
    (libm::log(tail) / libm::log(rarer)).ceil().max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_to(n: u32) -> Sorted {
        Sorted::new((1..=n).rev().map(f64::from).collect())
    }

    #[test]
    fn the_least_of_some_draws_lies_where_its_distribution_says() {
        // P(least of n below the p-quantile) = 1 - (1 - p)^n, and the greatest is its mirror.
        let (low, high) = order_statistic_range(1, 7, 0.95);
        assert!((1.0 - (1.0 - low).powi(7) - 0.025).abs() < 1e-9);
        assert!((1.0 - (1.0 - high).powi(7) - 0.975).abs() < 1e-9);
        let (mirror_low, mirror_high) = order_statistic_range(7, 7, 0.95);
        assert!((mirror_low - (1.0 - high)).abs() < 1e-9);
        assert!((mirror_high - (1.0 - low)).abs() < 1e-9);
        let (low, high) = order_statistic_range(50, 99, 0.95);
        assert!(low > 0.39 && low < 0.5 && high > 0.5 && high < 0.61);
    }

    #[test]
    fn a_quantile_is_the_smallest_value_that_enough_do_not_exceed() {
        assert_eq!(one_to(100).quantile(0.5), 50.0);
        assert_eq!(one_to(100).quantile(0.07), 7.0);
        assert_eq!(one_to(100).quantile(0.99), 99.0);
        assert_eq!(one_to(101).quantile(0.5), 51.0);
        assert_eq!(one_to(10).quantile(0.95), 10.0);
        assert_eq!(one_to(10).quantile(0.0), 1.0);
        assert_eq!(one_to(10).quantile(1.0), 10.0);
        assert!(Sorted::default().quantile(0.5).is_nan());
    }

    #[test]
    fn the_median_has_the_ranks_of_the_tables() {
        // Conover, Practical Nonparametric Statistics, for n = 20: 6th and 15th; n = 100: 40, 61.
        let ranks = |n| QuantileRanks::new(n, 0.5, 0.95);
        assert_eq!(ranks(20), QuantileRanks { low: Some(6), high: Some(15) });
        assert_eq!(ranks(100), QuantileRanks { low: Some(40), high: Some(61) });
    }

    #[test]
    fn too_few_values_leave_an_end_open() {
        assert_eq!(replications_needed(0.99, 0.95), 368);
        assert_eq!(replications_needed(0.95, 0.95), 72);
        assert_eq!(replications_needed(0.5, 0.95), 6);
        let high = |n: u32, p| one_to(n).quantile_estimate(p, 0.95).interval.high;
        assert_eq!(high(367, 0.99), f64::INFINITY);
        assert_eq!(high(368, 0.99), 368.0);
        assert_eq!(high(71, 0.95), f64::INFINITY);
        assert_eq!(high(72, 0.95), 72.0);
        assert_eq!(one_to(5).quantile_estimate(0.5, 0.95).interval, Interval::UNBOUNDED);
    }

    #[test]
    fn the_order_of_values_does_not_matter() {
        let mut values: Vec<f64> = (0..97).map(|i| f64::from(i * 37 % 97)).collect();
        for p in [0.0, 0.07, 0.5, 0.95, 1.0] {
            let sorted = Sorted::new(values.clone());
            assert_eq!(quantile_of(&mut values, p), sorted.quantile(p));
        }
    }

    #[test]
    fn the_interval_contains_the_quantile() {
        for n in [1, 2, 7, 72, 100, 1000] {
            for p in [0.5, 0.95, 0.99] {
                let estimate = one_to(n).quantile_estimate(p, 0.95);
                assert!(estimate.interval.contains(estimate.value), "{n} {p}: {estimate:?}");
            }
        }
    }
}
