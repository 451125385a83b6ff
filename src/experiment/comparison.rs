//! Two configurations side by side: pair by pair on common random numbers, or independent.

use super::bounds::{KnownValues, contrast_bounds, told};
use crate::models::Unit;
use crate::scenario::Statistic;
use crate::statistics::independent::Independent;
use crate::statistics::multiple::holm;
use crate::statistics::noise::is_nothing;
use crate::statistics::paired::{Contrast, Pairs};
use crate::statistics::{Estimate, Interval, Moments, Rate};
use crate::wording::counted;

impl Sides<'_> {
    /// The size of the greatest figure.
    fn size(&self) -> f64 {
        let all = self.first.exact.iter().chain(&self.second.exact);
        let known = all.filter(|value| value.is_finite());
        known.fold(0.0, |most, value| most.max(value.abs()))
    }

    /// How many replications of either side were cut off, so that the figure is not known.
    fn cut(&self) -> [u64; 2] {
        [self.first, self.second].map(KnownValues::cut)
    }

    /// What is known of the mean of `values`, of the side number `side`, of which some were cut off.
    fn mean_told(&self, values: &KnownValues, side: usize, confidence: f64) -> Estimate {
        let [least, most] = [&values.low, &values.high].map(|values| {
            let numbers = values.iter().copied().filter(|value| !value.is_nan());
            if self.unit == Unit::Probability {
                return Rate::of(numbers).grouped(self.groups[side] as u64).estimate(confidence);
            }
            if numbers.clone().any(f64::is_infinite) {
                return Estimate::exact(f64::INFINITY);
            }
            numbers.collect::<Moments>().mean_estimate(confidence)
        });
        if values.cut() == 0 {
            return least;
        }
        let interval = Interval { low: least.interval.low, high: most.interval.high };
        let floor = if self.unit == Unit::Ratio { f64::NEG_INFINITY } else { 0.0 };
        told(interval, least.value, most.value, floor)
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

/// The figures of one metric on both sides, by replication.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'v> {
    /// The metric's name.
    pub metric: &'v str,
    /// Its unit.
    pub unit: Unit,
    /// Of the first configuration.
    pub first: &'v KnownValues,
    /// Of the second configuration.
    pub second: &'v KnownValues,
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
    /// How many replications of either side were cut off, so that the figure is known by bounds only.
    /// Then the means are over all replications, and they and their contrasts say what is known,
    /// as their [`Sense`](crate::statistics::Sense) has it.
    pub cut: [u64; 2],
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
    /// of comparisons made at once (Holm). NaN where replications were cut off.
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
        Self::of(pairing, sides, [&sides.first.exact, &sides.second.exact])
    }

    /// The same with these values.
    fn of(pairing: Pairing, sides: &Sides<'_>, [first, second]: [&[f64]; 2]) -> Self {
        let Sides { unit, groups: [group, other], .. } = *sides;
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
        if side.cut() != [0, 0] {
            return f64::NAN;
        }
        let difference = samples.contrasted(Statistic::Mean, Contrast::Difference, confidence);
        if is_nothing(difference, side.size()) { 1.0 } else { samples.p_value() }
    };
    let p_values = holm(&samples.iter().zip(sides).map(p_value).collect::<Vec<_>>());
    let compared = sides.iter().zip(&samples).zip(p_values);
    compared
        .map(|((side, samples), p_value)| {
            let whole = Compared {
                metric: side.metric.to_owned(),
                unit: side.unit,
                pairs: samples.count() as u64,
                with_figure: [side.first, side.second].map(|values| {
                    let have = values.exact.iter().filter(|value| !value.is_nan()).count();
                    (have as u64, values.exact.len() as u64)
                }),
                cut: side.cut(),
                first: side.mean(&side.first.exact, &side.second.exact, 0, (pairing, confidence)),
                second: side.mean(&side.second.exact, &side.first.exact, 1, (pairing, confidence)),
                difference: samples.without_noise(Contrast::Difference, confidence, side.size()),
                ratio: samples.without_noise(Contrast::Ratio, confidence, side.size()),
                saved: (pairing == Pairing::Paired).then(|| {
                    [Contrast::Difference, Contrast::Ratio]
                        .map(|contrast| saved(side, samples, contrast, confidence))
                }),
                p_value,
            };
            if whole.cut == [0, 0] { whole } else { by_bounds(whole, side, pairing, confidence) }
        })
        .collect()
}

/// The same where replications were cut off: what is known of all of them.
fn by_bounds(whole: Compared, side: &Sides<'_>, pairing: Pairing, confidence: f64) -> Compared {
    let contrast = |contrast: Contrast, floor: f64| {
        let told_by = |first: &[f64], second: &[f64]| {
            let samples = Samples::of(pairing, side, [second, first]);
            samples.contrasted(Statistic::Mean, contrast, confidence)
        };
        let interval = contrast_bounds(side.second, side.first, contrast, true, |first, second| {
            told_by(first, second).interval
        });
        let least = told_by(&side.second.low, &side.first.high).value;
        let most = told_by(&side.second.high, &side.first.low).value;
        told(interval, least, most, floor)
    };
    let all = |values: &KnownValues| values.low.iter().filter(|value| !value.is_nan()).count();
    Compared {
        pairs: all(side.first).min(all(side.second)) as u64,
        first: side.mean_told(side.first, 0, confidence),
        second: side.mean_told(side.second, 1, confidence),
        difference: contrast(Contrast::Difference, f64::NEG_INFINITY),
        ratio: contrast(Contrast::Ratio, 0.0),
        saved: None,
        ..whole
    }
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
        // What was cut off may yet come about.
        let never = |value: &f64| f64::from(value.is_nan() || *value == f64::INFINITY);
        let missing = [sides.first, sides.second].map(|v| Rate::of(v.low.iter().map(never)));
        let cut = sides.cut();
        let [first, second] = missing;
        let at_most = Rate::new(first.hits + cut[0], first.trials);
        if second.difference(at_most, confidence).interval.low > 0.0 {
            return Some(Exceeded::Missing(missing));
        }
        let samples = Samples::new(pairing, &sides);
        let by = Excess { threshold: self, sides: &sides, pairing, confidence };
        if cut != [0, 0] {
            return by.of_cut(cut);
        }
        let excess = by.between(&sides.second.exact, &by.scaled().exact);
        if samples.count() == 0 || self.open_end(excess).is_infinite() {
            return Some(Exceeded::NotBounded);
        }
        let ratio = || samples.contrasted(self.statistic, Contrast::Ratio, confidence);
        self.is_beyond(excess).then(|| Exceeded::Changed(ratio()))
    }

    /// The end of an excess that decides.
    const fn open_end(&self, excess: Interval) -> f64 {
        if self.change.is_sign_negative() { excess.high } else { excess.low }
    }

    fn is_beyond(&self, excess: Interval) -> bool {
        let end = self.open_end(excess);
        if self.change.is_sign_negative() { end < 0.0 } else { end > 0.0 }
    }
}

/// How far the second configuration's figure is beyond a threshold.
struct Excess<'e, 'v> {
    threshold: &'e Threshold,
    sides: &'e Sides<'v>,
    pairing: Pairing,
    confidence: f64,
}

impl Excess<'_, '_> {
    /// A rate cannot be scaled; its interval is above 0, so the ratio will do. Of anything else the
    /// difference to the first, scaled, as there is no ratio to a figure that is 0.
    fn contrast(&self) -> Contrast {
        match self.threshold.statistic.of(self.sides.unit) {
            Statistic::Probability => Contrast::Ratio,
            _ => Contrast::Difference,
        }
    }

    fn scaled(&self) -> KnownValues {
        match self.contrast() {
            Contrast::Ratio => self.sides.first.clone(),
            Contrast::Difference => self.sides.first.scaled(1.0 + self.threshold.change),
        }
    }

    fn contrasted(&self, contrast: Contrast, second: &[f64], first: &[f64]) -> Interval {
        let samples = Samples::of(self.pairing, self.sides, [first, second]);
        samples.contrasted(self.threshold.statistic, contrast, self.confidence).interval
    }

    /// Above 0 where it is beyond.
    fn from(&self, Interval { low, high }: Interval) -> Interval {
        match self.contrast() {
            Contrast::Difference => Interval { low, high },
            Contrast::Ratio => {
                let factor = 1.0 + self.threshold.change;
                Interval { low: low - factor, high: high - factor }
            }
        }
    }

    /// Of these values against those of the first, scaled.
    fn between(&self, second: &[f64], scaled: &[f64]) -> Interval {
        self.from(self.contrasted(self.contrast(), second, scaled))
    }

    /// The contrast of what is known of both.
    fn bounds(&self, contrast: Contrast, second: &KnownValues, first: &KnownValues) -> Interval {
        let sums = self.threshold.statistic.of(self.sides.unit).sums();
        contrast_bounds(second, first, contrast, sums, |second, first| {
            self.contrasted(contrast, second, first)
        })
    }

    /// Where replications were cut off: beyond it if it is so at best, not if it isn't at worst, and
    /// not known otherwise.
    fn of_cut(&self, cut: [u64; 2]) -> Option<Exceeded> {
        let Self { threshold, sides, .. } = self;
        let scaled = self.scaled();
        let at_best = self.from(self.bounds(self.contrast(), sides.second, &scaled));
        if threshold.is_beyond(at_best) {
            return Some(Exceeded::AtBest(
                self.bounds(Contrast::Ratio, sides.second, sides.first),
                cut,
            ));
        }
        let rises = !threshold.change.is_sign_negative();
        let [second, first] = [sides.second.bounds(rises), scaled.bounds(!rises)];
        let [second, first] = [second, first].map(KnownValues::exactly);
        let at_worst = self.from(self.bounds(self.contrast(), &second, &first));
        let is_fine = threshold.open_end(at_worst).is_finite() && !threshold.is_beyond(at_worst);
        (!is_fine).then_some(Exceeded::CutOff(cut))
    }
}

/// How a threshold is exceeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exceeded {
    /// By this ratio of the second figure to the first, which may be infinite or unbounded.
    Changed(Estimate),
    /// However so many replications of the first and of the second go on that were cut off: the
    /// ratio lies in this interval.
    AtBest(Interval, [u64; 2]),
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
            Self::CutOff(cut) => format!("it cannot be judged: {}", cut_text(cut)),
            Self::AtBest(Interval { low, .. }, cut) if low > 1.0 && low.is_finite() => {
                format!("it rose by at least {:.1} %: {}", (low - 1.0) * 100.0, cut_text(cut))
            }
            Self::AtBest(Interval { high, .. }, cut) if high < 1.0 => {
                format!("it fell by at least {:.1} %: {}", (1.0 - high) * 100.0, cut_text(cut))
            }
            Self::AtBest(Interval { low, high }, cut) if low.is_finite() && high.is_finite() => {
                format!("it changed by {} to {} %: {}", percent(low), percent(high), cut_text(cut))
            }
            Self::AtBest(_, cut) => format!("it changed by more: {}", cut_text(cut)),
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
            Self::Missing(_) | Self::NotBounded | Self::AtBest(..) | Self::CutOff(_) => f64::NAN,
        }
    }
}

fn cut_text([first, second]: [u64; 2]) -> String {
    let of =
        |cut, side: &str| (cut > 0).then(|| format!("{} of {side}", counted(cut, "replication")));
    let sides: Vec<String> = [of(second, "B"), of(first, "A")].into_iter().flatten().collect();
    let were = if first + second == 1 { "was" } else { "were" };
    format!("{} {were} cut off at the horizon or with the event budget spent", sides.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_differ_by_rounding_alone_are_equal() {
        let first: Vec<f64> = (1..20).map(|n| f64::from(n) * 0.1).collect();
        let second: Vec<f64> = first.iter().map(|value| value * (1.0 + 4e-16)).collect();
        let (first, second) = (&KnownValues::exactly(&first), &KnownValues::exactly(&second));
        let sides = Sides { metric: "m", unit: Unit::Seconds, first, second, groups: [1, 1] };
        let compared = compare(&[sides], Pairing::Paired, 0.95).remove(0);
        assert_eq!(compared.difference, Estimate::exact(0.0));
        assert_eq!(compared.ratio, Estimate::exact(1.0));
        assert_eq!(compared.p_value, 1.0);
    }
}
