//! Two configurations side by side: pair by pair on common random numbers, or independent.

use crate::models::Unit;
use crate::scenario::Statistic;
use crate::statistics::independent::Independent;
use crate::statistics::multiple::holm;
use crate::statistics::paired::{Contrast, Pairs};
use crate::statistics::{Estimate, Moments};

/// How the replications of the two belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Replication r of both has the same random numbers.
    Paired,
    /// They have nothing to do with each other.
    Independent,
}

/// The figures of one metric on both sides, by replication; NaN where there is none.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'v> {
    /// The metric's name.
    pub metric: &'v str,
    /// Its unit.
    pub unit: Unit,
    /// Of the first configuration.
    pub first: &'v [f64],
    /// Of the second configuration.
    pub second: &'v [f64],
    /// How many values in a row belong together, on each side.
    pub groups: [usize; 2],
}

/// A metric of two configurations.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The metric's name.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// Pairs of replications in which both have the figure; of independent ones those of the side
    /// with fewer.
    pub pairs: u64,
    /// The mean of the first configuration, with its interval.
    pub first: Estimate,
    /// The mean of the second configuration, with its interval.
    pub second: Estimate,
    /// The second less the first.
    pub difference: Estimate,
    /// The second divided by the first.
    pub ratio: Estimate,
    /// With pairs: how many times more independent replications it would take to know the difference
    /// and the ratio as exactly, that is the square of how much wider their intervals would be.
    pub saved: Option<[f64; 2]>,
    /// The chance of a difference at least this large if there were none, corrected for the number
    /// of comparisons made at once (Holm).
    pub p_value: f64,
}

/// The two samples of a comparison.
enum Samples {
    Paired(Pairs),
    Independent(Independent),
}

impl Samples {
    /// The second against the first.
    fn new(pairing: Pairing, sides: &Sides<'_>) -> Self {
        let Sides { first, second, groups: [group, other], .. } = *sides;
        match pairing {
            // Only what is run in the same way can be paired, so both groups are of one size.
            Pairing::Paired => Self::Paired(Pairs::grouped(second, first, group)),
            Pairing::Independent => {
                Self::Independent(Independent::grouped(second, first, [other, group]))
            }
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Paired(pairs) => pairs.count(),
            Self::Independent(samples) => samples.count(),
        }
    }

    fn p_value(&self) -> f64 {
        match self {
            Self::Paired(pairs) => pairs.p_value(),
            Self::Independent(samples) => samples.p_value(),
        }
    }

    fn contrasted(&self, statistic: Statistic, contrast: Contrast, confidence: f64) -> Estimate {
        match self {
            Self::Paired(pairs) => {
                super::expectation::contrasted(pairs, statistic, contrast, confidence)
            }
            Self::Independent(samples) => match statistic {
                Statistic::Mean | Statistic::NotConverged => samples.means(contrast, confidence),
                Statistic::P50 => samples.quantiles(0.50, contrast, confidence),
                Statistic::P95 => samples.quantiles(0.95, contrast, confidence),
                Statistic::P99 => samples.quantiles(0.99, contrast, confidence),
                Statistic::Min => samples.extremes(false, contrast),
                Statistic::Max => samples.extremes(true, contrast),
            },
        }
    }
}

/// Compares all `sides` at once; the p values are corrected for their number.
#[must_use]
pub fn compare(sides: &[Sides<'_>], pairing: Pairing, confidence: f64) -> Vec<Compared> {
    let samples: Vec<Samples> = sides.iter().map(|side| Samples::new(pairing, side)).collect();
    let p_values = holm(&samples.iter().map(Samples::p_value).collect::<Vec<_>>());
    let mean = |values: &[f64]| {
        let numbers = values.iter().copied().filter(|value| !value.is_nan());
        numbers.collect::<Moments>().mean_estimate(confidence)
    };
    let compared = sides.iter().zip(&samples).zip(p_values);
    compared
        .map(|((side, samples), p_value)| Compared {
            metric: side.metric.to_owned(),
            unit: side.unit,
            pairs: samples.count() as u64,
            first: mean(side.first),
            second: mean(side.second),
            difference: samples.contrasted(Statistic::Mean, Contrast::Difference, confidence),
            ratio: samples.contrasted(Statistic::Mean, Contrast::Ratio, confidence),
            saved: (pairing == Pairing::Paired).then(|| {
                [Contrast::Difference, Contrast::Ratio]
                    .map(|contrast| saved(side, samples, contrast, confidence))
            }),
            p_value,
        })
        .collect()
}

/// How many times more replications would be needed if they were no pairs; NaN where that cannot
/// be told.
fn saved(side: &Sides<'_>, samples: &Samples, contrast: Contrast, confidence: f64) -> f64 {
    let width = |samples: &Samples| {
        samples.contrasted(Statistic::Mean, contrast, confidence).interval.half_width()
    };
    let gain = (width(&Samples::new(Pairing::Independent, side)) / width(samples)).powi(2);
    if gain.is_finite() { gain } else { f64::NAN }
}

/// A change of a figure that must not happen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Which figure over the replications.
    pub statistic: Statistic,
    /// The relative change from the first configuration to the second that is still fine: a rise
    /// up to it when it is positive or 0, a fall down to it when it is negative.
    pub change: f64,
}

impl Threshold {
    /// The ratio of the second configuration's figure to the first's, when its whole interval lies
    /// beyond the threshold; a change that may be chance does not count.
    #[must_use]
    pub fn exceeded(
        &self,
        sides: Sides<'_>,
        pairing: Pairing,
        confidence: f64,
    ) -> Option<Estimate> {
        let samples = Samples::new(pairing, &sides);
        let ratio = samples.contrasted(self.statistic, Contrast::Ratio, confidence);
        let beyond = if self.change.is_sign_negative() {
            ratio.interval.high < 1.0 + self.change
        } else {
            ratio.interval.low > 1.0 + self.change
        };
        beyond.then_some(ratio)
    }
}
