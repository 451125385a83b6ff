//! Whether a figure rises or falls along the values of a parameter.

use super::probe::Probe;
use crate::experiment::known::Known;
use crate::scenario::Statistic;
use crate::statistics::Estimate;
use crate::statistics::paired::{Contrast, Pairs};

/// The bootstrap of a quantile takes no more pairs than this: it is a check, not the answer.
const MOST_PAIRS: usize = 500;

/// The change of the figure from one value that was run to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Index of the lower value.
    pub from: usize,
    /// Index of the upper value.
    pub to: usize,
    /// The figure at the upper value less that at the lower, over pairs of replications.
    pub change: Estimate,
}

/// How the figure goes along the values that were run.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Some steps surely rise, none surely falls.
    Rising,
    /// Some steps surely fall, none surely rises.
    Falling,
    /// No step surely changes anything.
    Flat,
    /// It surely rises somewhere and surely falls elsewhere.
    Mixed {
        /// The step that rises the most.
        rise: Step,
        /// The step that falls the most.
        fall: Step,
    },
}

/// The steps between neighbouring `probes`, which are in ascending order. All intervals hold
/// together with at least `confidence`.
#[must_use]
pub fn steps(probes: &[&Probe], statistic: Statistic, confidence: f64) -> Vec<Step> {
    let pairs = probes.len().saturating_sub(1).max(1) as f64;
    let each = 1.0 - (1.0 - confidence) / pairs;
    let step = |ends: &[&Probe]| {
        let (from, to) = (ends[0], ends[1]);
        let change = change(&from.figures, &to.figures, statistic, each);
        Step { from: from.value, to: to.value, change }
    };
    probes.windows(2).map(step).collect()
}

/// The difference of a figure over common replications.
#[must_use]
pub fn change(from: &[Known], to: &[Known], statistic: Statistic, confidence: f64) -> Estimate {
    let finite = |values: &[Known], most: usize| -> Vec<f64> {
        let finite = |known: Known| {
            let value = known.exact();
            if value.is_finite() { value } else { f64::NAN }
        };
        values.iter().copied().map(finite).take(most).collect()
    };
    let probability = match statistic {
        Statistic::P50 => 0.50,
        Statistic::P95 => 0.95,
        Statistic::P99 => 0.99,
        _ => {
            let pairs = Pairs::new(&finite(to, usize::MAX), &finite(from, usize::MAX));
            return match statistic {
                Statistic::Probability | Statistic::NotConverged => {
                    pairs.rates(1, Contrast::Difference, confidence)
                }
                _ => pairs.means(Contrast::Difference, confidence),
            };
        }
    };
    let pairs = Pairs::new(&finite(to, MOST_PAIRS), &finite(from, MOST_PAIRS));
    pairs.quantiles(probability, Contrast::Difference, confidence)
}

/// What the steps amount to.
#[must_use]
pub fn shape(steps: &[Step]) -> Shape {
    let rises = steps.iter().filter(|step| step.change.interval.low > 0.0);
    let falls = steps.iter().filter(|step| step.change.interval.high < 0.0);
    let by_change = |a: &&Step, b: &&Step| a.change.value.total_cmp(&b.change.value);
    match (rises.max_by(by_change), falls.min_by(by_change)) {
        (Some(&rise), Some(&fall)) => Shape::Mixed { rise, fall },
        (Some(_), None) => Shape::Rising,
        (None, Some(_)) => Shape::Falling,
        (None, None) => Shape::Flat,
    }
}
