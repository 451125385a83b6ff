//! Whether what a scenario expects came out.

use std::io;

use super::bounds::{KnownValues, contrast_bounds};
use super::kept::KeptValues;
use super::schedule::Batch;
use crate::scenario::{Expectation, MetricColumn, RelativeTo, Scenario, Statistic};
use crate::statistics::grouped::{group_means, mean_estimate, quantile_ranks};
use crate::statistics::paired::{Contrast, Pairs};
use crate::statistics::{Estimate, Interval, Moments, Rate, Sorted};

/// An undecided expectation gets up to this many times the replications of its scenario.
pub const MOST_TIMES: u64 = 4;
/// How often an expectation is looked at on the way there: it gets twice as many each time.
const LOOKS: u32 = MOST_TIMES.ilog2() + 1;
/// How far a bound may be missed for rounding alone, relative to its size.
const ROUNDING: f64 = 1e-9;

/// What became of an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval lies within the bounds.
    Held,
    /// The whole interval lies outside.
    Missed,
    /// The interval straddles a bound: more replications would tell.
    Undecided,
    /// The configuration was not run.
    Skipped,
}

/// An expectation with what came out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// What became of it.
    pub verdict: Verdict,
    /// The figure, with its interval.
    pub got: Estimate,
    /// Replications of the configuration, or pairs of them with the one compared with.
    pub replications: u64,
    /// How many of them have the figure.
    pub count: u64,
    /// How many have bounds of it only, as they were cut off.
    pub cut: u64,
    /// Whether all replications gave the same figure though they differ otherwise, so that its
    /// interval has no width: what is rarer than they are many did not show.
    pub alike: bool,
}

impl KeptValues {
    /// For the expectations of `scenario`, whose columns are `columns`.
    #[must_use]
    pub fn for_expectations(scenario: &Scenario, columns: &[MetricColumn]) -> Self {
        let mut kept = Self::none(&scenario.run);
        for expectation in &scenario.expectations {
            let Some(places) = Places::of(scenario, columns, expectation) else { continue };
            kept.keep(columns, places.point, places.column);
            if let Some((other, _)) = places.relative_to {
                kept.keep(columns, other, places.column);
            }
        }
        kept
    }
}

/// An expectation's names as indices.
struct Places {
    point: usize,
    /// `None` for the rate of non-convergence.
    column: Option<usize>,
    relative_to: Option<(usize, Contrast)>,
}

impl Places {
    /// `None` when a configuration is not among the points, or a metric not among the columns.
    fn of(
        scenario: &Scenario,
        columns: &[MetricColumn],
        expectation: &Expectation,
    ) -> Option<Self> {
        let find = |name: &str| scenario.points.iter().position(|p| p.configuration == name);
        let column = if expectation.statistic == Statistic::NotConverged {
            None
        } else {
            Some(columns.iter().position(|c| c.name == expectation.metric)?)
        };
        let relative_to = match &expectation.relative_to {
            None => None,
            Some(RelativeTo::Ratio(name)) => Some((find(name)?, Contrast::Ratio)),
            Some(RelativeTo::Difference(name) | RelativeTo::Above(name)) => {
                Some((find(name)?, Contrast::Difference))
            }
        };
        Some(Self { point: find(&expectation.configuration)?, column, relative_to })
    }
}

/// Judges every expectation of `scenario` by the figures kept.
#[must_use]
pub fn judge(scenario: &Scenario, columns: &[MetricColumn], kept: &KeptValues) -> Vec<Judgement> {
    judge_at(scenario, columns, kept, scenario.run.confidence)
}

/// The same with intervals at `confidence`.
fn judge_at(
    scenario: &Scenario,
    columns: &[MetricColumn],
    kept: &KeptValues,
    confidence: f64,
) -> Vec<Judgement> {
    let judge = |expectation| judge_one(scenario, columns, kept, expectation, confidence);
    scenario.expectations.iter().map(judge).collect()
}

fn judge_one(
    scenario: &Scenario,
    columns: &[MetricColumn],
    kept: &KeptValues,
    expectation: &Expectation,
    confidence: f64,
) -> Judgement {
    let Some(places) = Places::of(scenario, columns, expectation) else {
        let got = Estimate::UNKNOWN;
        return Judgement {
            verdict: Verdict::Skipped,
            got,
            replications: 0,
            count: 0,
            cut: 0,
            alike: false,
        };
    };
    let group = scenario.run.group();
    let (got, count) = match (places.column, places.relative_to) {
        (None, None) => {
            let rate = kept.not_converged(places.point).grouped(group);
            (rate.estimate(confidence), rate.trials)
        }
        (None, Some((other, contrast))) => {
            let rate = |point| kept.not_converged(point).grouped(group);
            let (here, there) = (rate(places.point), rate(other));
            let got = match contrast {
                Contrast::Difference => here.difference(there, confidence),
                Contrast::Ratio => here.ratio(there, confidence),
            };
            (got, here.trials)
        }
        (Some(column), None) => {
            let statistic = expectation.statistic.of(columns[column].metric.unit);
            bounded_figure(&kept.known(places.point, column), statistic, confidence, group)
        }
        (Some(column), Some((other, contrast))) => {
            let statistic = expectation.statistic.of(columns[column].metric.unit);
            let size = group as usize;
            let pairs = |first: &[f64], second: &[f64]| {
                if statistic == Statistic::Mean {
                    Pairs::new(&group_means(first, size), &group_means(second, size))
                } else {
                    Pairs::grouped(first, second, size)
                }
            };
            let estimate = |pairs: &Pairs| contrasted(pairs, size, statistic, contrast, confidence);
            let (here, there) = (kept.known(places.point, column), kept.known(other, column));
            let known = pairs(&here.exact, &there.exact);
            let mut got = estimate(&known);
            if [places.point, other].iter().any(|&at| kept.lacks_what_was_cut_off(at, column)) {
                let sums = statistic.sums();
                got.interval = contrast_bounds(&here, &there, contrast, sums, |first, second| {
                    estimate(&pairs(first, second)).interval
                });
            }
            // Of antithetic pairs two replications make one mean.
            let size = if statistic == Statistic::Mean { group } else { 1 };
            (got, known.count() as u64 * size)
        }
    };
    let cut = places.column.map_or(0, |column| {
        let points = [Some(places.point), places.relative_to.map(|(other, _)| other)];
        kept.cut(points.into_iter().flatten(), column)
    });
    let verdict = match expectation.relative_to {
        // What was expected never came about, in no replication.
        _ if got.value.is_nan() && cut == 0 => Verdict::Missed,
        Some(RelativeTo::Above(_)) => above_zero(got.interval),
        _ => verdict(got.interval, expectation.at_least, expectation.at_most),
    };
    let here = kept.replications(places.point);
    let pairs = places.relative_to.map_or(here, |(other, _)| here.min(kept.replications(other)));
    let alike = places.relative_to.is_none()
        && places.column.is_some_and(|column| kept.are_alike(places.point, column));
    Judgement { verdict, got, replications: pairs, count, cut, alike }
}

/// A figure over replications of which some are known to lie between two bounds only: its interval
/// reaches from that of the ones to that of the others. Gives also how many are known.
fn bounded_figure(
    KnownValues { low, high, .. }: &KnownValues,
    statistic: Statistic,
    confidence: f64,
    group: u64,
) -> (Estimate, u64) {
    let (most, _) = figure(high, statistic, confidence, group);
    let known = |(low, high): (&f64, &f64)| low == high && low.is_finite();
    let count = low.iter().zip(high).filter(|&ends| known(ends)).count() as u64;
    if low.iter().zip(high).all(|(low, high)| low == high || low.is_nan()) {
        return (most, count);
    }
    let (least, _) = figure(low, statistic, confidence, group);
    let interval = Interval { low: least.interval.low, high: most.interval.high };
    let value = if most.value.is_finite() { f64::NAN } else { most.value };
    (Estimate::new(value, interval), count)
}

fn figure(values: &[f64], statistic: Statistic, confidence: f64, group: u64) -> (Estimate, u64) {
    let numbers: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    let count = numbers.iter().filter(|value| value.is_finite()).count() as u64;
    let moments: Moments = numbers.iter().copied().collect();
    let estimate = match statistic {
        // The extremes of the replications are what they are, not estimates of anything.
        Statistic::Min => Estimate::exact(moments.min()),
        Statistic::Max => Estimate::exact(moments.max()),
        Statistic::P50 => quantile(numbers, 0.50, confidence, group),
        Statistic::P95 => quantile(numbers, 0.95, confidence, group),
        Statistic::P99 => quantile(numbers, 0.99, confidence, group),
        // What may never come about has no finite mean.
        Statistic::Mean if count < numbers.len() as u64 => Estimate::exact(f64::INFINITY),
        Statistic::Mean => mean_estimate(values, group as usize, confidence),
        Statistic::Probability | Statistic::NotConverged => {
            Rate::of(numbers).grouped(group).estimate(confidence)
        }
    };
    (estimate, count)
}

fn quantile(numbers: Vec<f64>, probability: f64, confidence: f64, group: u64) -> Estimate {
    let ranks = quantile_ranks(numbers.len() as u64, group, probability, confidence);
    Sorted::new(numbers).quantile_estimate_at(probability, ranks)
}

/// The contrast of two configurations, of which so many pairs in a row as `size` says belong
/// together; of means they are the means of these.
pub(super) fn contrasted(
    pairs: &Pairs,
    size: usize,
    statistic: Statistic,
    contrast: Contrast,
    confidence: f64,
) -> Estimate {
    match statistic {
        Statistic::Mean => pairs.means(contrast, confidence),
        Statistic::Probability | Statistic::NotConverged => pairs.rates(size, contrast, confidence),
        Statistic::P50 => pairs.quantiles(0.50, contrast, confidence),
        Statistic::P95 => pairs.quantiles(0.95, contrast, confidence),
        Statistic::P99 => pairs.quantiles(0.99, contrast, confidence),
        Statistic::Min => pairs.extremes(false, contrast),
        Statistic::Max => pairs.extremes(true, contrast),
    }
}

fn verdict(interval: Interval, at_least: Option<f64>, at_most: Option<f64>) -> Verdict {
    let allowance = |bound: f64| bound.abs() * ROUNDING;
    let least = at_least.map_or(f64::NEG_INFINITY, |bound| bound - allowance(bound));
    let most = at_most.map_or(f64::INFINITY, |bound| bound + allowance(bound));
    if interval.low >= least && interval.high <= most {
        Verdict::Held
    } else if interval.high < least || interval.low > most {
        Verdict::Missed
    } else {
        Verdict::Undecided
    }
}

/// Whether a difference is above 0: what is equal is not in order.
fn above_zero(interval: Interval) -> Verdict {
    if interval.low > 0.0 {
        Verdict::Held
    } else if interval.high <= 0.0 {
        Verdict::Missed
    } else {
        Verdict::Undecided
    }
}

/// The confidence of the interval of one look, so that those of all looks of [`settle_expectations`]
/// hold together at that of the scenario (Bonferroni).
#[must_use]
pub fn confidence_of_a_look(scenario: &Scenario) -> f64 {
    1.0 - (1.0 - scenario.run.confidence) / f64::from(LOOKS)
}

/// Judges what `scenario` expects, with more replications while an expectation is undecided, up
/// to [`MOST_TIMES`] those of the scenario. `provide` hands the rows of the batches to the
/// kept values. Gives also how many replications failed.
///
/// # Errors
/// The first error of `provide`.
pub fn settle_expectations(
    scenario: &Scenario,
    columns: &[MetricColumn],
    mut provide: impl FnMut(&[Batch], &mut KeptValues) -> io::Result<()>,
) -> io::Result<(Vec<Judgement>, u64)> {
    let replications = scenario.run.replications;
    let cap = replications.saturating_mul(MOST_TIMES);
    let mut kept = KeptValues::for_expectations(scenario, columns);
    let mut batches: Vec<Batch> =
        kept.points().map(|point| Batch { point, replications: 0..replications }).collect();
    loop {
        provide(&batches, &mut kept)?;
        let confidence = confidence_of_a_look(scenario);
        let judgements = judge_at(scenario, columns, &kept, confidence);
        batches = more_replications(scenario, columns, &kept, &judgements, cap);
        if batches.is_empty() {
            return Ok((judgements, kept.failed()));
        }
    }
}

/// What to run next for the expectations that are undecided: as many replications again of their
/// configurations, up to `cap`. Empty when nothing is undecided or the cap is reached.
#[must_use]
fn more_replications(
    scenario: &Scenario,
    columns: &[MetricColumn],
    kept: &KeptValues,
    judgements: &[Judgement],
    cap: u64,
) -> Vec<Batch> {
    let mut points: Vec<usize> = Vec::new();
    for (expectation, judgement) in scenario.expectations.iter().zip(judgements) {
        if judgement.verdict != Verdict::Undecided {
            continue;
        }
        if let Some(places) = Places::of(scenario, columns, expectation) {
            points.push(places.point);
            points.extend(places.relative_to.map(|(other, _)| other));
        }
    }
    points.sort_unstable();
    points.dedup();
    let cap = cap - cap % scenario.run.group();
    let batch = |point: usize| {
        let done = kept.replications(point);
        let replications = done..(done * 2).min(cap);
        (!replications.is_empty()).then_some(Batch { point, replications })
    };
    points.into_iter().filter_map(batch).collect()
}

#[cfg(test)]
mod tests {
    use super::super::known::Known;
    use super::*;

    #[test]
    fn an_interval_that_straddles_a_bound_is_undecided() {
        let judge = |low, high| verdict(Interval { low, high }, Some(10.0), Some(17.0));
        assert_eq!(judge(12.0, 13.0), Verdict::Held);
        assert_eq!(judge(9.0, 9.9), Verdict::Missed);
        assert_eq!(judge(17.1, 19.0), Verdict::Missed);
        assert_eq!(judge(9.0, 11.0), Verdict::Undecided);
        assert_eq!(judge(16.0, f64::INFINITY), Verdict::Undecided);
        let open = Interval { low: 12.0, high: f64::INFINITY };
        assert_eq!(verdict(open, Some(10.0), None), Verdict::Held);
    }

    #[test]
    fn what_is_equal_is_not_in_order() {
        let judge = |low, high| above_zero(Interval { low, high });
        assert_eq!(judge(0.1, 0.3), Verdict::Held);
        assert_eq!(judge(-0.1, 0.3), Verdict::Undecided);
        assert_eq!(judge(-0.3, -0.1), Verdict::Missed);
        assert_eq!(judge(0.0, 0.0), Verdict::Missed);
    }

    #[test]
    fn a_bound_that_is_met_exactly_holds_despite_rounding() {
        let sum = Estimate::exact(0.1 + 0.2).interval;
        assert_eq!(verdict(sum, Some(0.3), Some(0.3)), Verdict::Held);
    }

    #[test]
    fn what_was_cut_off_reaches_from_what_it_had_to_anything() {
        let figure = |low: &[f64], high: &[f64], statistic| {
            let known = low.iter().zip(high).map(|(&low, &high)| Known { low, high });
            let (got, count) = bounded_figure(&known.collect(), statistic, 0.95, 1);
            (got.interval.low, got.interval.high, count)
        };
        let infinite = f64::INFINITY;
        let (low, high) = ([3.0, 3.0, 4.0, 4.0], [3.0, 3.0, infinite, infinite]);
        let (mean_low, mean_high, known) = figure(&low, &high, Statistic::Mean);
        assert!(mean_low > 2.0 && mean_low < 3.5, "{mean_low}");
        assert_eq!((mean_high, known), (infinite, 2));
        assert_eq!(figure(&low, &high, Statistic::Max), (4.0, infinite, 2));
        assert_eq!(figure(&low, &high, Statistic::Min), (3.0, 3.0, 2));
    }

    #[test]
    fn extremes_are_exact_and_means_are_not() {
        let values = [1.0, f64::NAN, 3.0, 2.0];
        let (max, count) = figure(&values, Statistic::Max, 0.95, 1);
        assert_eq!((max, count), (Estimate::exact(3.0), 3));
        assert!(figure(&values, Statistic::Mean, 0.95, 1).0.interval.half_width() > 0.0);
    }
}
