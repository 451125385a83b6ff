//! How many replications a point needs to be known as exactly as asked.
//!
//! A point starts with the scenario's replications and gets half as many again until the interval
//! of the figure is narrow enough or the most allowed are run. What a point gets depends on its own
//! rows only, in the order of replications: not on threads, not on other points, not on where a run
//! was interrupted.

use std::io;

use super::row::{RowSink, Status};
use super::schedule::Batch;
use super::summary::{MetricSummary, PointSummary};
use super::{KeptValues, all_points};
use crate::scenario::{MetricColumn, Precision, Scenario, Statistic};

/// Half the width of an interval relative to its figure.
#[must_use]
pub fn relative_half_width(summary: &MetricSummary, statistic: Statistic) -> f64 {
    let estimate = match statistic {
        Statistic::P50 => summary.p50,
        Statistic::P95 => summary.p95,
        Statistic::P99 => summary.p99,
        _ => summary.mean,
    };
    // Of what was always 0 so far the relative precision is not known: 0 / 0.
    estimate.interval.half_width() / estimate.value.abs()
}

/// What `precision` got at a point: the relative half-width, and whether it is as narrow as asked.
#[must_use]
pub fn attained(
    precision: &Precision,
    columns: &[MetricColumn],
    summary: &PointSummary,
) -> (f64, bool) {
    let column = columns.iter().position(|column| column.name == precision.metric);
    let metric = column.and_then(|column| summary.metrics.get(column));
    let failures = summary.failures();
    let rested = summary.count(Status::NotConverged);
    let all = |m: &MetricSummary| m.count + failures == summary.replications;
    let got = metric.map_or(f64::NAN, |m| {
        // Those that were cut off, or in which it never came about, would have changed it.
        let lacks = m.cut > 0 || (rested > 0 && !all(m));
        if lacks { f64::INFINITY } else { relative_half_width(m, precision.statistic) }
    });
    (got, got <= precision.relative)
}

/// What a scenario needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Which replications, point by point.
    pub tasks: Vec<Batch>,
    /// By the index of the point, whether its figure is known as exactly as asked; `None` if
    /// nothing was asked. A point that is not has the most replications allowed.
    pub reached: Vec<Option<bool>>,
}

/// Finds out which replications every point of `scenario` needs. `provide` gets tasks, sees to
/// it that they are run, and gives their rows in order to the sink if there is one.
///
/// # Errors
/// The first error of `provide`.
pub fn settle_replications(
    scenario: &Scenario,
    mut provide: impl FnMut(&[Batch], Option<&mut dyn RowSink>) -> io::Result<()>,
) -> io::Result<Settled> {
    let mut reached = vec![None; scenario.points.len()];
    let first = scenario.run.replications;
    let mut tasks = all_points(scenario, 0..first);
    let Some(precision) = &scenario.run.precision else {
        provide(&tasks, None)?;
        return Ok(Settled { tasks, reached });
    };
    let columns = scenario.columns();
    let column = columns.iter().position(|column| column.name == precision.metric);
    let column =
        column.ok_or_else(|| io::Error::other("the metric of the precision is unknown"))?;
    let points: Vec<usize> = (0..scenario.points.len()).collect();
    let mut kept = KeptValues::of(&scenario.run, &columns, &points, &[column]);
    let mut batches = tasks.clone();
    while !batches.is_empty() {
        provide(&batches, Some(&mut kept))?;
        batches.retain_mut(|batch| {
            let done = batch.replications.end;
            let values = kept.values(batch.point, column).to_vec();
            let (unit, run) = (columns[column].metric.unit, &scenario.run);
            let summary = MetricSummary::of_unit(unit, values, run.confidence, run.group());
            let known = relative_half_width(&summary, precision.statistic) <= precision.relative
                && !kept.lacks_what_was_cut_off(batch.point, column);
            let next = more(done, scenario.run.group()).min(precision.max_replications);
            batch.replications = done..next;
            reached[batch.point] = Some(known);
            !known && done < next
        });
        for batch in &batches {
            tasks[batch.point].replications.end = batch.replications.end;
        }
    }
    Ok(Settled { tasks, reached })
}

/// Half as many again, in whole groups of replications that belong together.
fn more(done: u64, group: u64) -> u64 {
    done.saturating_add((done / 2).max(1).next_multiple_of(group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_that_is_always_the_same_is_known_and_one_that_was_always_0_is_not() {
        let width = |values: Vec<f64>| {
            relative_half_width(&MetricSummary::new(values, 0.95), Statistic::Mean)
        };
        assert!(width(vec![0.0; 5]).is_nan());
        assert_eq!(width(vec![3.0; 5]), 0.0);
        assert!(width(vec![3.0]).is_infinite());
        assert!(width(vec![]).is_nan() || width(vec![]).is_infinite());
        // Student's t with 3 degrees of freedom is 3.18; the standard error is 0.645.
        assert!((width(vec![1.0, 2.0, 3.0, 4.0]) - 3.182 * 0.6455 / 2.5).abs() < 1e-3);
    }
}
