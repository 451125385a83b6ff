//! One value of the parameter, with the figures it has so far.

use crate::experiment::known::Known;
use crate::scenario::Statistic;
use crate::scenario::target::Target;
use crate::statistics::{Estimate, Interval, Moments, Rate, Sorted};

/// Whether a value meets the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meets {
    /// The whole interval does.
    Yes,
    /// The whole interval does not.
    No,
    /// The interval straddles the bound.
    Undecided,
}

/// A value that was run.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Index of the value.
    pub value: usize,
    /// What is known of the figure of each replication.
    pub figures: Vec<Known>,
    /// The figure over the replications, with its interval.
    pub estimate: Estimate,
    /// Whether it meets the target.
    pub meets: Meets,
}

impl Probe {
    /// With `figures` so far; its interval is at `confidence`.
    #[must_use]
    pub fn new(value: usize, figures: Vec<Known>, target: &Target, confidence: f64) -> Self {
        let estimate = bounded(&figures, target.figure.statistic, confidence);
        let meets = verdict(estimate, target);
        Self { value, figures, estimate, meets }
    }

    /// How many replications have no figure, or were cut off before it was known.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.figures.iter().filter(|figure| !figure.exact().is_finite()).count()
    }

    /// How many replications were cut off before the figure was known.
    #[must_use]
    pub fn cut(&self) -> usize {
        self.figures.iter().filter(|figure| figure.is_some() && !figure.is_exact()).count()
    }
}

/// A figure over replications, with an interval from that of the least to that of the most that
/// each may have.
#[must_use]
pub fn bounded(figures: &[Known], statistic: Statistic, confidence: f64) -> Estimate {
    let end = |of: fn(&Known) -> f64| {
        let values: Vec<f64> = figures.iter().map(of).collect();
        estimate(&values, statistic, confidence)
    };
    let most = end(|known| known.high);
    if figures.iter().all(|known| known.is_exact() || !known.is_some()) {
        return most;
    }
    let least = end(|known| known.low);
    // In between nothing is likelier than anything else.
    let value = if most.value == least.value { most.value } else { f64::NAN };
    let interval = Interval { low: least.interval.low, high: most.interval.high };
    Estimate::new(if most.value.is_infinite() { most.value } else { value }, interval)
}

/// A figure over replications.
#[must_use]
pub fn estimate(figures: &[f64], statistic: Statistic, confidence: f64) -> Estimate {
    let numbers = || figures.iter().copied().filter(|figure| !figure.is_nan());
    let quantile =
        |probability| Sorted::new(numbers().collect()).quantile_estimate(probability, confidence);
    match statistic {
        Statistic::P50 => quantile(0.50),
        Statistic::P95 => quantile(0.95),
        Statistic::P99 => quantile(0.99),
        Statistic::Min => Estimate::exact(numbers().fold(f64::NAN, f64::min)),
        Statistic::Max => Estimate::exact(numbers().fold(f64::NAN, f64::max)),
        Statistic::Probability | Statistic::NotConverged => {
            Rate::of(numbers()).estimate(confidence)
        }
        // What may never come about has no finite mean.
        Statistic::Mean if numbers().any(f64::is_infinite) => Estimate::exact(f64::INFINITY),
        Statistic::Mean => numbers().collect::<Moments>().mean_estimate(confidence),
    }
}

fn verdict(estimate: Estimate, target: &Target) -> Meets {
    let interval = estimate.interval;
    let (meets, fails) = if target.at_most {
        (interval.high <= target.bound, interval.low > target.bound)
    } else {
        (interval.low >= target.bound, interval.high < target.bound)
    };
    match (meets, fails) {
        (true, _) => Meets::Yes,
        (_, true) => Meets::No,
        _ => Meets::Undecided,
    }
}
