//! Two configurations side by side: pair by pair on common random numbers, or independent.

use crate::models::Unit;
use crate::scenario::Statistic;
use crate::statistics::independent::Independent;
use crate::statistics::multiple::holm;
use crate::statistics::noise::is_nothing;
use crate::statistics::paired::{Contrast, Pairs};
use crate::statistics::{Estimate, Interval, Moments, Rate};

impl Sides<'_> {
    /// The size of the greatest figure.
    fn size(&self) -> f64 {
        let known = self.first.iter().chain(self.second).filter(|value| value.is_finite());
        known.fold(0.0, |most, value| most.max(value.abs()))
    }

    /// The mean of the side number `side`, whose values are `own`. Of pairs only what has its
    /// counterpart among `others` counts, so that the means differ by the mean difference.
    fn mean(
        &self,
        own: &[f64],
        others: &[f64],
        side: usize,
        (pairing, confidence): (Pairing, f64),
    ) -> Estimate {
        let paired = |at: &usize| {
            pairing == Pairing::Independent || others.get(*at).is_some_and(|other| !other.is_nan())
        };
        let numbers =
            (0..own.len()).filter(paired).map(|at| own[at]).filter(|value| !value.is_nan());
        if self.unit == Unit::Probability {
            return Rate::of(numbers).grouped(self.groups[side] as u64).estimate(confidence);
        }
        numbers.collect::<Moments>().mean_estimate(confidence)
    }
}

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
    /// How many values in a row belong together, on each side. For means each value is the mean of
    /// a group, except of probabilities.
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
    /// How many of either side have the figure, and of how many.
    pub with_figure: [(u64, u64); 2],
    /// The mean of the first configuration, with its interval; of pairs that of the pairs.
    pub first: Estimate,
    /// The mean of the second configuration, in the same way.
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

/// The two samples of a comparison, the second before the first.
struct Samples {
    unit: Unit,
    /// How many values in a row belong together, on each side.
    groups: [usize; 2],
    values: Values,
}

enum Values {
    Paired(Pairs),
    Independent(Independent),
}

impl Samples {
    /// The second against the first.
    fn new(pairing: Pairing, sides: &Sides<'_>) -> Self {
        let Sides { first, second, unit, groups: [group, other], .. } = *sides;
        let groups = [other, group];
        let values = match pairing {
            // Only what is run in the same way can be paired, so both groups are of one size.
            Pairing::Paired => Values::Paired(Pairs::grouped(second, first, group)),
            Pairing::Independent => {
                Values::Independent(Independent::grouped(second, first, groups))
            }
        };
        Self { unit, groups, values }
    }

    fn count(&self) -> usize {
        match &self.values {
            Values::Paired(pairs) => pairs.count(),
            Values::Independent(samples) => samples.count(),
        }
    }

    fn p_value(&self) -> f64 {
        match (&self.values, self.unit) {
            (Values::Paired(pairs), Unit::Probability) => pairs.p_value_of_rates(),
            (Values::Paired(pairs), _) => pairs.p_value(),
            (Values::Independent(samples), Unit::Probability) => samples.p_value_of_rates(),
            (Values::Independent(samples), _) => samples.p_value(),
        }
    }

    fn contrasted(&self, statistic: Statistic, contrast: Contrast, confidence: f64) -> Estimate {
        let statistic = statistic.of(self.unit);
        match &self.values {
            Values::Paired(pairs) => {
                let size = self.groups[0];
                super::expectation::contrasted(pairs, size, statistic, contrast, confidence)
            }
            Values::Independent(samples) => match statistic {
                Statistic::Mean => samples.means(contrast, confidence),
                Statistic::Probability | Statistic::NotConverged => {
                    samples.rates(self.groups, contrast, confidence)
                }
                Statistic::P50 => samples.quantiles(0.50, contrast, confidence),
                Statistic::P95 => samples.quantiles(0.95, contrast, confidence),
                Statistic::P99 => samples.quantiles(0.99, contrast, confidence),
                Statistic::Min => samples.extremes(false, contrast),
                Statistic::Max => samples.extremes(true, contrast),
            },
        }
    }
}

impl Samples {
    /// The contrast of the means of figures up to `size`: where they differ by rounding alone the
    /// difference is 0 and the ratio 1, without an interval.
    fn without_noise(&self, contrast: Contrast, confidence: f64, size: f64) -> Estimate {
        let mean = |contrast| self.contrasted(Statistic::Mean, contrast, confidence);
        let difference = mean(Contrast::Difference);
        match contrast {
            Contrast::Difference => difference.without_noise(size),
            Contrast::Ratio if size > 0.0 && is_nothing(difference, size) => Estimate::exact(1.0),
            Contrast::Ratio => mean(Contrast::Ratio),
        }
    }
}

/// The mean, or the probability, of the second of `sides` against that of the first, as [`compare`]
/// has it.
#[must_use]
pub fn contrasted(
    sides: &Sides<'_>,
    pairing: Pairing,
    contrast: Contrast,
    confidence: f64,
) -> Estimate {
    Samples::new(pairing, sides).without_noise(contrast, confidence, sides.size())
}

/// Compares all `sides` at once; the p values are corrected for their number.
#[must_use]
pub fn compare(sides: &[Sides<'_>], pairing: Pairing, confidence: f64) -> Vec<Compared> {
    let samples: Vec<Samples> = sides.iter().map(|side| Samples::new(pairing, side)).collect();
    let p_value = |(samples, side): (&Samples, &Sides<'_>)| {
        let difference = samples.contrasted(Statistic::Mean, Contrast::Difference, confidence);
        if is_nothing(difference, side.size()) { 1.0 } else { samples.p_value() }
    };
    let p_values = holm(&samples.iter().zip(sides).map(p_value).collect::<Vec<_>>());
    let compared = sides.iter().zip(&samples).zip(p_values);
    compared
        .map(|((side, samples), p_value)| Compared {
            metric: side.metric.to_owned(),
            unit: side.unit,
            pairs: samples.count() as u64,
            with_figure: [side.first, side.second].map(|values| {
                let have = values.iter().filter(|value| !value.is_nan()).count();
                (have as u64, values.len() as u64)
            }),
            first: side.mean(side.first, side.second, 0, (pairing, confidence)),
            second: side.mean(side.second, side.first, 1, (pairing, confidence)),
            difference: samples.without_noise(Contrast::Difference, confidence, side.size()),
            ratio: samples.without_noise(Contrast::Ratio, confidence, side.size()),
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
    /// How the second configuration's figure is beyond the threshold, when the whole interval of
    /// what it lacks to it is; a change that may be chance does not count. A figure that surely
    /// comes about less often than in the first configuration is beyond any threshold.
    #[must_use]
    pub fn exceeded(
        &self,
        sides: Sides<'_>,
        pairing: Pairing,
        confidence: f64,
    ) -> Option<Exceeded> {
        let missing = [sides.first, sides.second]
            .map(|values| Rate::of(values.iter().map(|value| f64::from(value.is_nan()))));
        let [first, second] = missing;
        if second.difference(first, confidence).interval.low > 0.0 {
            return Some(Exceeded::Missing(missing));
        }
        let samples = Samples::new(pairing, &sides);
        let ratio = samples.contrasted(self.statistic, Contrast::Ratio, confidence);
        let factor = 1.0 + self.change;
        let excess = if self.statistic.of(sides.unit) == Statistic::Probability {
            // The rate of the first cannot be scaled; its interval is above 0, so the ratio will do.
            let Interval { low, high } = ratio.interval;
            Interval { low: low - factor, high: high - factor }
        } else {
            // By the difference, as there is no ratio to a figure that is 0.
            let scaled: Vec<f64> = sides.first.iter().map(|value| value * factor).collect();
            let samples = Samples::new(pairing, &Sides { first: &scaled, ..sides });
            samples.contrasted(self.statistic, Contrast::Difference, confidence).interval
        };
        let (falls, some) = (self.change.is_sign_negative(), samples.count() > 0);
        if !some || (if falls { excess.high.is_infinite() } else { excess.low.is_infinite() }) {
            return Some(Exceeded::NotBounded);
        }
        let beyond = if falls { excess.high < 0.0 } else { excess.low > 0.0 };
        beyond.then_some(Exceeded::Changed(ratio))
    }
}

/// How a threshold is exceeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exceeded {
    /// By this ratio of the second figure to the first, which may be infinite or unbounded.
    Changed(Estimate),
    /// So many replications of the first and of the second have no figure.
    Missing([Rate; 2]),
    /// That cannot be told: there are too few replications for an interval.
    NotBounded,
    /// That cannot be told: so many replications of the first and of the second were cut off.
    CutOff([u64; 2]),
}

impl Exceeded {
    /// Whether nothing is known to be exceeded, only not to be kept.
    #[must_use]
    pub const fn is_undecided(self) -> bool {
        matches!(self, Self::NotBounded | Self::CutOff(_))
    }

    /// What happened, in words.
    #[must_use]
    pub fn text(self) -> String {
        let percent = |ratio: f64| format!("{:+.1}", (ratio - 1.0) * 100.0);
        match self {
            Self::NotBounded => {
                "it cannot be judged: there are too few replications to bound it".to_owned()
            }
            Self::CutOff([first, second]) => format!(
                "it cannot be judged: {second} replications of B and {first} of A were cut off at \
                 the horizon or with the event budget spent"
            ),
            Self::Missing([first, second]) => format!(
                "it did not come about in {} of {} replications of B, in {} of {} of A",
                second.hits, second.trials, first.hits, first.trials
            ),
            Self::Changed(ratio) if ratio.value.is_finite() && ratio.interval.is_bounded() => {
                let Interval { low, high } = ratio.interval;
                let (value, low, high) = (percent(ratio.value), percent(low), percent(high));
                format!("it changed by {value} % ({low} to {high} %)")
            }
            Self::Changed(ratio) if ratio.value.is_finite() => {
                format!("it changed by {} %", percent(ratio.value))
            }
            Self::Changed(_) => "it was 0, and is not".to_owned(),
        }
    }

    /// The ratio of the second figure to the first, NaN where there is none.
    #[must_use]
    pub fn ratio(self) -> f64 {
        match self {
            Self::Changed(ratio) => ratio.value,
            Self::Missing(_) | Self::NotBounded | Self::CutOff(_) => f64::NAN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_differ_by_rounding_alone_are_equal() {
        let first: Vec<f64> = (1..20).map(|n| f64::from(n) * 0.1).collect();
        let second: Vec<f64> = first.iter().map(|value| value * (1.0 + 4e-16)).collect();
        let (first, second) = (first.as_slice(), second.as_slice());
        let sides = Sides { metric: "m", unit: Unit::Seconds, first, second, groups: [1, 1] };
        let compared = compare(&[sides], Pairing::Paired, 0.95).remove(0);
        assert_eq!(compared.difference, Estimate::exact(0.0));
        assert_eq!(compared.ratio, Estimate::exact(1.0));
        assert_eq!(compared.p_value, 1.0);
    }
}
