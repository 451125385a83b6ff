//! `summary.csv`: a row for each point and metric.

use std::io;

use super::Report;
use super::results_csv::{Number, PointId};
use crate::experiment::precision::attained;
use crate::statistics::Estimate;

/// Its columns.
const COLUMNS: [&str; 19] = [
    "point",
    "configuration",
    "metric",
    "unit",
    "replications",
    "count",
    "mean",
    "mean_low",
    "mean_high",
    "standard_deviation",
    "min",
    "p50",
    "p50_low",
    "p50_high",
    "p95",
    "p95_low",
    "p95_high",
    "p99",
    "p99_low",
];
const LAST_COLUMNS: [&str; 5] = ["p99_high", "max", "variance_gain", "cut", "precision_reached"];

/// The metric that stands for the share of replications that did not converge.
pub const NOT_CONVERGED: &str = "not_converged";

/// The whole file. What has no bound or did not come about is empty.
///
/// # Errors
/// None in practice: it is written to memory.
pub fn summary_csv(report: Report<'_>) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS.into_iter().chain(LAST_COLUMNS))?;
    for summary in report.summaries {
        let point = report.point(summary);
        let asked = report.scenario.run.precision.as_ref();
        let mut row = |metric: &str, unit: &str, [count, cut]: [u64; 2], figures: &[f64; 16]| {
            let reached = asked.filter(|asked| asked.metric == metric);
            let reached = reached.map(|asked| attained(asked, report.columns, summary).1);
            writer.serialize((
                PointId(point.id).to_string(),
                &point.configuration,
                metric,
                unit,
                summary.replications,
                count,
                figures.map(|figure| Number(figure).to_string()),
                cut,
                reached,
            ))
        };
        let mut rate = [f64::NAN; 16];
        rate[..3].copy_from_slice(&with_ends(summary.not_converged));
        let judged = summary.replications - summary.failures();
        row(NOT_CONVERGED, "share", [judged, 0], &rate)?;
        for (column, metric) in report.columns.iter().zip(&summary.metrics) {
            let mut figures = [f64::NAN; 16];
            figures[..3].copy_from_slice(&with_ends(metric.mean));
            figures[3] = metric.standard_deviation;
            figures[4] = metric.min;
            for (at, quantile) in [(5, metric.p50), (8, metric.p95), (11, metric.p99)] {
                figures[at..at + 3].copy_from_slice(&with_ends(quantile));
            }
            figures[14] = metric.max;
            figures[15] = metric.variance_gain;
            let counts = [metric.count, metric.cut];
            row(&column.name, column.metric.unit.symbol(), counts, &figures)?;
        }
    }
    writer.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

fn with_ends(estimate: Estimate) -> [f64; 3] {
    [estimate.value, estimate.interval.low, estimate.interval.high]
}
