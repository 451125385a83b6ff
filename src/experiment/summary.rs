//! Figures of a point over its replications.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use super::known::{Known, Reading};
use super::row::{Row, RowSink, Status};
use super::schedule::Batch;
use crate::models::Unit;
use crate::scenario::{MetricColumn, RunSettings};
use crate::statistics::grouped::{mean_estimate, quantile_ranks, variance_gain};
use crate::statistics::interval::student_quantile;
use crate::statistics::quantile::QuantileRanks;
use crate::statistics::{Estimate, Interval, Moments, Rate, Sense, Sorted};

/// A metric of one point over its replications.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricSummary {
    /// Replications that have this figure. Fewer than the point has where it did not come about
    /// in some; all figures below are over these, and those with bounds of it.
    pub count: u64,
    /// Replications that were cut off so that they have bounds of it only. The values below are then
    /// of what had happened until then, as their [`Sense`] says, and the intervals reach from that
    /// of the lower bounds to that of the upper ones.
    pub cut: u64,
    /// The mean with its Student-t interval, over the means of antithetic pairs if there are such; of
    /// a probability with its Wilson interval, for which a pair counts as one.
    pub mean: Estimate,
    /// For antithetic pairs: how much smaller the variance of the mean is than with as many
    /// independent replications. NaN otherwise.
    pub variance_gain: f64,
    /// The standard deviation between replications; NaN below two.
    pub standard_deviation: f64,
    /// The least.
    pub min: f64,
    /// The median with its order-statistic interval.
    pub p50: Estimate,
    /// The 95th percentile with its order-statistic interval.
    pub p95: Estimate,
    /// The 99th percentile with its order-statistic interval.
    pub p99: Estimate,
    /// The greatest.
    pub max: f64,
}

impl MetricSummary {
    /// Of `values`, each of which is independent of the others; NaN does not count.
    #[must_use]
    pub fn new(values: Vec<f64>, confidence: f64) -> Self {
        Self::of_unit(Unit::Count, values, confidence, 1)
    }

    /// Of `values` in `unit`, replication by replication; NaN does not count. So many in a row as
    /// `group` says belong together.
    #[must_use]
    pub fn of_unit(unit: Unit, mut values: Vec<f64>, confidence: f64, group: u64) -> Self {
        Self::of(unit, &mut values, &mut Bounds::new(confidence, group))
    }

    /// Of `values`, of which those in `cut` lie between bounds only.
    fn of_known(unit: Unit, values: &mut Vec<f64>, cut: &CutOff, bounds: &mut Bounds) -> Self {
        if cut.known.is_empty() {
            return Self::of(unit, values, bounds);
        }
        let all = values.len();
        let [mut low, mut high, mut shown] = [(); 3].map(|()| values.clone());
        for &(at, known) in &cut.known {
            low[at] = known.low;
            high[at] = known.high;
            // What had not begun yet took no less than nothing.
            if cut.grows && shown[at].is_nan() {
                shown[at] = known.low;
            }
        }
        let own = Self::of(unit, values, bounds);
        // That a time is at least 0 says nothing.
        if own.count == 0 && low.iter().all(|value| value.is_nan() || *value == 0.0) {
            shown.fill(f64::NAN);
        }
        let [low, high, shown] =
            [&mut low, &mut high, &mut shown].map(|values| Self::of(unit, values, bounds));
        let value_sense = if cut.grows { Sense::AtLeast } else { Sense::SoFar };
        let figure = |of: fn(&Self) -> Estimate| {
            let (least, most, shown) = (of(&low), of(&high), of(&shown));
            let [low, high] = [least.interval.low, most.interval.high];
            let end = |end: f64, open: f64| if end.is_nan() { open } else { end };
            let interval =
                Interval { low: end(low, f64::NEG_INFINITY), high: end(high, f64::INFINITY) };
            // Bounds beyond a quantile leave it as it is.
            let known = least.value == most.value && least.value.is_finite();
            let value = if known { least.value } else { shown.value };
            let sense = if known || value.is_nan() { Sense::Whole } else { value_sense };
            Estimate { value, interval, sense }
        };
        Self {
            cut: (cut.known.len() as u64).min(all as u64),
            mean: figure(|of| of.mean),
            p50: figure(|of| of.p50),
            p95: figure(|of| of.p95),
            p99: figure(|of| of.p99),
            ..own
        }
    }

    /// Of `values`, which are put into another order.
    fn of(unit: Unit, values: &mut Vec<f64>, bounds: &mut Bounds) -> Self {
        let Bounds { confidence, group, .. } = *bounds;
        let size = group as usize;
        let mean = match (unit, group) {
            (Unit::Probability, _) => {
                Some(Rate::of(values.iter().copied()).grouped(group).estimate(confidence))
            }
            (_, 0..=1) => None,
            _ => Some(mean_estimate(values, size, confidence)),
        };
        let variance_gain = if group > 1 { variance_gain(values, size) } else { f64::NAN };
        values.retain(|value| !value.is_nan());
        let sorted = Sorted::new(std::mem::take(values));
        let moments = moments(sorted.values());
        let count = moments.count();
        let known = bounds.of(count);
        let quantile = |at: usize| sorted.quantile_estimate_at(PROBABILITIES[at], known.ranks[at]);
        let summary = Self {
            count,
            cut: 0,
            mean: mean.unwrap_or_else(|| moments.mean_estimate_at(known.student)),
            variance_gain,
            standard_deviation: moments.standard_deviation(),
            min: moments.min(),
            p50: quantile(0),
            p95: quantile(1),
            p99: quantile(2),
            max: moments.max(),
        };
        *values = sorted.into_values();
        summary
    }
}

/// What is known of figures of replications that were cut off.
#[derive(Clone, Debug, Default)]
struct CutOff {
    /// Which replication, and between which bounds.
    known: Vec<(usize, Known)>,
    /// Whether they can only grow.
    grows: bool,
}

/// Of ascending values.
fn moments(values: &[f64]) -> Moments {
    match (values.first(), values.last()) {
        (Some(&least), Some(&most)) if least.is_finite() && least.to_bits() == most.to_bits() => {
            Moments::of_constant(least, values.len() as u64)
        }
        _ => values.iter().copied().collect(),
    }
}

/// Of the quantiles in a summary.
const PROBABILITIES: [f64; 3] = [0.50, 0.95, 0.99];
/// Of so many counts the bounds are kept.
const KEPT_COUNTS: usize = 1 << 10;

/// What intervals need to know of a number of values, which many figures have in common.
#[derive(Debug)]
struct Bounds {
    confidence: f64,
    group: u64,
    known: BTreeMap<u64, CountBounds>,
}

/// For one number of values.
#[derive(Clone, Copy, Debug)]
struct CountBounds {
    /// The quantile of Student's t.
    student: f64,
    /// For each of [`PROBABILITIES`].
    ranks: [QuantileRanks; PROBABILITIES.len()],
}

impl Bounds {
    const fn new(confidence: f64, group: u64) -> Self {
        Self { confidence, group, known: BTreeMap::new() }
    }

    fn of(&mut self, count: u64) -> CountBounds {
        if self.known.len() >= KEPT_COUNTS {
            self.known.clear();
        }
        let (confidence, group) = (self.confidence, self.group);
        *self.known.entry(count).or_insert_with(|| CountBounds {
            student: student_quantile(confidence, count.saturating_sub(1) as f64),
            ranks: PROBABILITIES.map(|p| quantile_ranks(count, group, p, confidence)),
        })
    }
}

/// One point over its replications.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSummary {
    /// Index of the point in the scenario.
    pub point: usize,
    /// How many replications there are.
    pub replications: u64,
    /// How many ended in each way, in the order of [`Status::ALL`].
    pub statuses: [u64; Status::ALL.len()],
    /// The first message of a failed replication.
    pub failure: Option<String>,
    /// The share of replications that did not converge, of those that did not fail, with its Wilson
    /// interval; an antithetic pair counts as one trial.
    pub not_converged: Estimate,
    /// For each column.
    pub metrics: Vec<MetricSummary>,
}

impl PointSummary {
    /// How many replications could not go on.
    #[must_use]
    pub fn failures(&self) -> u64 {
        failures(self.statuses)
    }

    /// How many replications ended in `status`.
    #[must_use]
    pub fn count(&self, status: Status) -> u64 {
        self.statuses[status.index()]
    }
}

/// Summarises rows point by point, keeping the figures of one point only.
#[derive(Debug)]
pub struct Summariser {
    bounds: Bounds,
    /// The columns that are summarised.
    columns: Range<usize>,
    /// How all columns are read; those beyond are counts that are always known.
    readings: Vec<Reading>,
    current: Option<Collected>,
    /// Memory for the figures of the next point.
    spare: Vec<Vec<f64>>,
    finished: Vec<PointSummary>,
}

#[derive(Debug)]
struct Collected {
    point: usize,
    statuses: [u64; Status::ALL.len()],
    failure: Option<String>,
    values: Vec<Vec<f64>>,
    /// By column, once a replication was cut off.
    cut: Vec<CutOff>,
}

impl Summariser {
    /// With intervals at `confidence` over replications of which each is independent of the others.
    #[must_use]
    pub const fn new(confidence: f64) -> Self {
        Self {
            bounds: Bounds::new(confidence, 1),
            columns: 0..usize::MAX,
            readings: Vec::new(),
            current: None,
            spare: Vec::new(),
            finished: Vec::new(),
        }
    }

    /// With the intervals that `run` asks for, of `columns`.
    #[must_use]
    pub fn of_run(run: &RunSettings, columns: &[MetricColumn]) -> Self {
        let bounds = Bounds::new(run.confidence, run.group());
        let reading = |column| Reading::new(columns, column, run.horizon);
        let readings = (0..columns.len()).map(reading).collect();
        Self { bounds, readings, ..Self::new(run.confidence) }
    }

    /// Only of these columns, so that less has to be kept at once.
    #[must_use]
    pub fn of_columns(self, columns: Range<usize>) -> Self {
        Self { columns, ..self }
    }

    /// The summaries, in the order in which the points came.
    #[must_use]
    pub fn finish(mut self) -> Vec<PointSummary> {
        self.finish_point();
        self.finished
    }

    fn finish_point(&mut self) {
        let Some(mut collected) = self.current.take() else { return };
        let replications: u64 = collected.statuses.iter().sum();
        let [converged, ..] = collected.statuses;
        let judged = replications - failures(collected.statuses);
        let rate = Rate::new(judged - converged, judged).grouped(self.bounds.group);
        let mut metrics = Vec::with_capacity(collected.values.len());
        for (at, values) in collected.values.iter_mut().enumerate() {
            let reading = self.readings.get(self.columns.start + at);
            let unit = reading.map_or(Unit::Count, Reading::unit);
            metrics.push(match collected.cut.get(at) {
                Some(cut) => MetricSummary::of_known(unit, values, cut, &mut self.bounds),
                None => MetricSummary::of(unit, values, &mut self.bounds),
            });
        }
        self.finished.push(PointSummary {
            point: collected.point,
            replications,
            statuses: collected.statuses,
            failure: collected.failure,
            not_converged: rate.estimate(self.bounds.confidence),
            metrics,
        });
        collected.values.iter_mut().for_each(Vec::clear);
        self.spare = collected.values;
    }
}

/// How many of those that ended in each way could not go on.
fn failures(statuses: [u64; Status::ALL.len()]) -> u64 {
    let each = statuses.into_iter().zip(Status::ALL);
    each.filter(|(_, status)| status.is_failure()).map(|(count, _)| count).sum()
}

/// The figures of `columns`.
fn own<'f>(columns: &Range<usize>, figures: &'f [f64]) -> &'f [f64] {
    &figures[columns.start.min(figures.len())..columns.end.min(figures.len())]
}

/// Figures that are kept at once, 8 bytes each.
const KEPT_FIGURES: u64 = 14_000_000;

/// Summarises all `columns` of `tasks` in as many passes as keep memory bounded. `replay`
/// gives all rows to a sink; the first time, whoever else wants them can have them, too.
///
/// # Errors
/// The first error of `replay`.
pub fn summarise(
    run: &RunSettings,
    columns: &[MetricColumn],
    tasks: &[Batch],
    mut replay: impl FnMut(&mut (dyn RowSink + Send)) -> io::Result<()>,
) -> io::Result<Vec<PointSummary>> {
    let most = tasks.iter().map(|task| task.replications.end).max().unwrap_or(0).max(1);
    let at_once =
        usize::try_from(KEPT_FIGURES / most).unwrap_or(usize::MAX).clamp(1, columns.len().max(1));
    let mut summaries: Vec<PointSummary> = Vec::new();
    for first in (0..columns.len().max(1)).step_by(at_once) {
        let mut summariser = Summariser::of_run(run, columns).of_columns(first..first + at_once);
        replay(&mut summariser)?;
        let part = summariser.finish();
        if summaries.is_empty() {
            summaries = part;
        } else {
            for (whole, part) in summaries.iter_mut().zip(part) {
                whole.metrics.extend(part.metrics);
            }
        }
    }
    Ok(summaries)
}

impl RowSink for Summariser {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        if self.current.as_ref().is_some_and(|current| current.point != row.point) {
            self.finish_point();
        }
        let current = self.current.get_or_insert_with(|| {
            let mut values = std::mem::take(&mut self.spare);
            values.resize_with(own(&self.columns, &row.figures).len(), Vec::new);
            let (point, statuses) = (row.point, [0; Status::ALL.len()]);
            Collected { point, statuses, failure: None, values, cut: Vec::new() }
        });
        current.statuses[row.status.index()] += 1;
        if current.failure.is_none() {
            current.failure.clone_from(&row.message);
        }
        let figures = own(&self.columns, &row.figures);
        if self.readings.first().is_some_and(|reading| reading.is_cut(row)) {
            let first = self.columns.start;
            current.cut.resize_with(figures.len(), CutOff::default);
            let readings = self.readings.iter().skip(first);
            for ((cut, values), reading) in
                current.cut.iter_mut().zip(&current.values).zip(readings)
            {
                let known = reading.of(row);
                if known.is_some() && !known.is_exact() {
                    cut.known.push((values.len(), known));
                    cut.grows = reading.grows();
                }
            }
        }
        for (values, &figure) in current.values.iter_mut().zip(figures) {
            values.push(figure);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{SimDuration, SimTime};
    use crate::models::{Metric, WhenCut};

    fn row(point: usize, status: Status, figure: f64) -> Row {
        Row {
            point,
            replication: 0,
            status,
            end: SimTime::ZERO,
            events: 0,
            fingerprint: 0,
            figures: vec![figure],
            message: (status == Status::Failed).then(|| "broken".to_owned()),
        }
    }

    #[test]
    fn what_did_not_come_about_is_counted_not_dropped() {
        let mut summariser = Summariser::new(0.95);
        for (point, status, figure) in [
            (3, Status::Converged, 1.0),
            (3, Status::Horizon, f64::NAN),
            (3, Status::Converged, 3.0),
            (3, Status::Failed, f64::NAN),
            (1, Status::Converged, 7.0),
        ] {
            summariser.row(&row(point, status, figure)).unwrap();
        }
        let summaries = summariser.finish();
        assert_eq!(summaries.len(), 2);
        let first = &summaries[0];
        assert_eq!((first.point, first.replications, first.metrics[0].count), (3, 4, 2));
        assert_eq!(first.count(Status::Horizon), 1);
        assert_eq!(first.failure.as_deref(), Some("broken"));
        assert!((first.not_converged.value - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(first.metrics[0].mean.value, 2.0);
        assert_eq!((summaries[1].point, summaries[1].metrics[0].p99.value), (1, 7.0));
    }

    /// Twenty times that grow, of which those beyond `horizon` are cut off there.
    fn cut_at(horizon: f64, when_cut: WhenCut, unit: Unit) -> MetricSummary {
        let metric = Metric { when_cut, ..Metric::headline("time", unit, "") };
        let column = MetricColumn { name: "time".to_owned(), component: 0, metric, whole: None };
        let readings = vec![Reading::new(&[column], 0, SimDuration::from_whole_seconds(600))];
        let mut summariser = Summariser { readings, ..Summariser::new(0.95) };
        for figure in (1..=20).map(f64::from) {
            let cut = figure > horizon;
            let status = if cut { Status::Horizon } else { Status::Converged };
            summariser.row(&row(0, status, figure.min(horizon))).unwrap();
        }
        summariser.finish()[0].metrics[0].clone()
    }

    #[test]
    fn what_was_cut_off_is_a_bound_of_the_mean_and_leaves_lower_quantiles_as_they_are() {
        let whole = cut_at(20.0, WhenCut::Grows, Unit::Seconds);
        assert_eq!((whole.cut, whole.mean.sense, whole.mean.value), (0, Sense::Whole, 10.5));
        let cut = cut_at(15.0, WhenCut::Grows, Unit::Seconds);
        assert_eq!((cut.count, cut.cut), (20, 5));
        assert_eq!(cut.mean.sense, Sense::AtLeast);
        assert!(cut.mean.value < 10.5 && cut.mean.interval.low < cut.mean.value);
        assert_eq!(cut.mean.interval.high, f64::INFINITY);
        assert_eq!(cut.p50, whole.p50);
        assert_eq!((cut.p95.sense, cut.p95.value), (Sense::AtLeast, 15.0));
        assert_eq!(cut.p95.interval.high, f64::INFINITY);
    }

    #[test]
    fn of_what_may_become_anything_only_the_interval_is_known() {
        let share = cut_at(0.5, WhenCut::Unknown, Unit::Share);
        assert_eq!((share.mean.sense, share.mean.value), (Sense::SoFar, 0.5));
        assert_eq!((share.mean.interval.low, share.mean.interval.high), (0.0, 1.0));
        let rate = cut_at(0.5, WhenCut::Unknown, Unit::PerSecond).p50;
        assert_eq!((rate.sense, rate.interval.high), (Sense::SoFar, f64::INFINITY));
    }

    /// Nothing that a longer run may give lies outside the interval of a shorter one.
    #[test]
    fn the_interval_of_a_shorter_run_holds_that_of_any_longer_one() {
        let figures = |summary: &MetricSummary| {
            [summary.mean, summary.p50, summary.p95, summary.p99].map(|figure| figure.interval)
        };
        let runs: Vec<_> = [4.5, 9.5, 12.0, 15.0, 19.5, 20.0]
            .map(|horizon| figures(&cut_at(horizon, WhenCut::Grows, Unit::Seconds)))
            .into();
        for pair in runs.windows(2) {
            for (short, long) in pair[0].iter().zip(&pair[1]) {
                assert!(short.low <= long.low && short.high >= long.high, "{short:?} {long:?}");
            }
        }
    }

    #[test]
    fn several_passes_give_what_one_gives() {
        let rows: Vec<Row> = (0..4)
            .map(|replication| Row {
                replication,
                figures: (0..5).map(|column| (column + replication) as f64).collect(),
                ..row(0, Status::Converged, 0.0)
            })
            .collect();
        let pass = |summariser: Summariser| {
            let mut summariser = summariser;
            rows.iter().for_each(|row| summariser.row(row).unwrap());
            summariser.finish()
        };
        let whole = pass(Summariser::new(0.95));
        let [mut first, second] =
            [0..2, 2..7].map(|part| pass(Summariser::new(0.95).of_columns(part)));
        first[0].metrics.extend(second[0].metrics.clone());
        // The gain of antithetic pairs, of which there are none, is NaN.
        assert_eq!(format!("{first:?}"), format!("{whole:?}"));
        assert_eq!(whole[0].metrics.len(), 5);
    }

    #[test]
    fn a_point_where_nothing_came_about_has_no_figures() {
        let mut summariser = Summariser::new(0.95);
        summariser.row(&row(0, Status::Horizon, f64::NAN)).unwrap();
        let summary = &summariser.finish()[0];
        assert_eq!(summary.metrics[0].count, 0);
        assert!(summary.metrics[0].mean.value.is_nan());
        assert_eq!(summary.not_converged.value, 1.0);
    }
}
