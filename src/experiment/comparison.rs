//! Two configurations on common random numbers.

use super::expectation::{KeptValues, contrasted};
use crate::scenario::Statistic;
use crate::statistics::Estimate;
use crate::statistics::multiple::holm;
use crate::statistics::paired::{Contrast, Pairs};

/// A metric of two configurations.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Index of the column.
    pub column: usize,
    /// Pairs of replications in which both have the figure.
    pub pairs: u64,
    /// The mean of the first configuration, with its interval.
    pub first: Estimate,
    /// The mean of the second configuration, with its interval.
    pub second: Estimate,
    /// The second less the first.
    pub difference: Estimate,
    /// The second divided by the first.
    pub ratio: Estimate,
    /// The chance of a difference at least this large if there were none, corrected for the number
    /// of metrics compared (Holm).
    pub p_value: f64,
}

/// Compares `columns` of the points `first` and `second`. The values are those of
/// [`KeptValues`], or of antithetic pairs in [`KeptValues::grouped`].
#[must_use]
pub fn compare(
    kept: &KeptValues,
    first: usize,
    second: usize,
    columns: &[usize],
    confidence: f64,
) -> Vec<Compared> {
    let pairs: Vec<Pairs> = columns
        .iter()
        .map(|&column| Pairs::new(kept.values(second, column), kept.values(first, column)))
        .collect();
    let p_values = holm(&pairs.iter().map(Pairs::p_value).collect::<Vec<_>>());
    let mean = |point: usize, column: usize| {
        let numbers = kept.values(point, column).iter().copied().filter(|value| !value.is_nan());
        numbers.collect::<crate::statistics::Moments>().mean_estimate(confidence)
    };
    let compared = columns.iter().zip(&pairs).zip(p_values);
    compared
        .map(|((&column, pairs), p_value)| Compared {
            column,
            pairs: pairs.count() as u64,
            first: mean(first, column),
            second: mean(second, column),
            difference: pairs.means(Contrast::Difference, confidence),
            ratio: pairs.means(Contrast::Ratio, confidence),
            p_value,
        })
        .collect()
}

/// A change of a figure that must not happen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Index of the column.
    pub column: usize,
    /// Which figure over the replications.
    pub statistic: Statistic,
    /// The relative change from the first configuration to the second that is still fine: a rise
    /// up to it when it is positive or 0, a fall down to it when it is negative.
    pub change: f64,
}

/// The ratio of the second configuration's figure to the first's, when its whole interval lies
/// beyond the threshold; a change that may be chance does not count.
#[must_use]
pub fn exceeds(
    kept: &KeptValues,
    first: usize,
    second: usize,
    threshold: &Threshold,
    confidence: f64,
) -> Option<Estimate> {
    let column = threshold.column;
    let pairs = Pairs::new(kept.values(second, column), kept.values(first, column));
    let ratio = contrasted(&pairs, threshold.statistic, Contrast::Ratio, confidence);
    let beyond = if threshold.change.is_sign_negative() {
        ratio.interval.high < 1.0 + threshold.change
    } else {
        ratio.interval.low > 1.0 + threshold.change
    };
    beyond.then_some(ratio)
}
