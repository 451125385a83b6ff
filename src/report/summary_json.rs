//! `summary.json`: everything of a run but its single replications, with every column documented.

use serde_json::{Map, Value, json};

use super::Report;
use super::expectations::{expected_text, got_text, verdict_name};
use super::notes::facts;
use super::results_csv::PointId;
use super::solve::estimate_json as estimate;
use super::stored::StoredWhenCut;
use crate::experiment::precision::attained;
use crate::experiment::{Judgement, MetricSummary, PointSummary, Status};
use crate::models::WhenCut;
use crate::scenario::{Expectation, MetricColumn, Recorded};

/// Version of the format. It changes when a key changes its meaning or goes away.
pub const VERSION: u32 = 1;

/// The whole document.
#[must_use]
pub fn summary_json(report: Report<'_>) -> Value {
    let scenario = report.scenario;
    json!({
        "version": VERSION,
        "convsim": env!("CARGO_PKG_VERSION"),
        "scenario": scenario.name,
        "description": scenario.description,
        "sources": scenario.sources,
        "confidence": scenario.run.confidence,
        "documentation": documentation(),
        "columns": columns(report),
        "points": report.summaries.iter().map(|summary| point(report, summary)).collect::<Vec<_>>(),
        "expectations": expectations(report),
        "recorded": recorded(report),
        "notes": facts(report),
        "warnings": scenario.warnings,
    })
}

fn documentation() -> Value {
    json!({
        "value": "The figure over the replications; null where it came about in none.",
        "low": "Lower end of its interval at `confidence`; null where there are too few \
            replications for a bound.",
        "high": "Upper end of its interval at `confidence`; null as for `low`.",
        "replications": "How many replications the point has.",
        "statuses": "How many of them ended in each way.",
        "not_converged": "Share of the replications that did not fail in which not all came about \
            that the scenario asks for. Wilson interval.",
        "count": "Replications that have the figure; the statistics of a metric are over these.",
        "cut": "Only where some were cut off, at the horizon or by the event budget: how many of \
            those have bounds of the figure only. The intervals then reach from that of the lower \
            bounds to that of the upper ones.",
        "sense": "Only of an estimate whose `value` is not the figure, as replications were cut \
            off: `at_least` where it is a lower bound, `so_far` where it is of what had happened \
            until then and nothing but the interval tells of the whole.",
        "mean": "Mean. Student-t interval.",
        "standard_deviation": "Standard deviation between replications.",
        "min": "Least value.",
        "p50": "Median: the smallest value that at least 50 % of the replications do not exceed. \
            Order-statistic interval.",
        "p95": "As p50, for 95 %.",
        "p99": "As p50, for 99 %.",
        "max": "Greatest value.",
        "variance_gain": "Only with `run.antithetic`: how much smaller the variance of the mean is \
            than with as many independent replications; below 1 it is larger. The intervals are \
            over the means of the pairs.",
        "precision": "Only with `run.precision`: half the width of the interval of the figure it \
            names, relative to the figure (`relative`), and whether that is as narrow as asked \
            (`reached`) with no more replications than allowed.",
    })
}

fn columns(report: Report<'_>) -> Vec<Value> {
    let column = |column: &MetricColumn| {
        json!({
            "name": column.name,
            "component": report.scenario.components[column.component].0,
            "unit": column.metric.unit.symbol(),
            "summary": column.metric.summary,
            "headline": column.metric.headline,
            "part_of": column.whole.map(|whole| &report.columns[whole].name),
            "when_cut": when_cut(report.columns, column),
            "final_with": column.final_with(report.columns).map(|with| &report.columns[with].name),
        })
    };
    report.columns.iter().map(column).collect()
}

/// What a figure of a replication that was cut off says of the whole; null if nothing.
fn when_cut(columns: &[MetricColumn], column: &MetricColumn) -> Option<StoredWhenCut> {
    match column.metric.when_cut {
        WhenCut::Unknown => None,
        WhenCut::Grows => Some(StoredWhenCut::Grows),
        WhenCut::GrowsFromStart => Some(StoredWhenCut::GrowsFromStart),
        WhenCut::GrowsSince(name) => {
            let since = column.beside(columns, name).map(|since| columns[since].name.clone());
            Some(since.map_or(StoredWhenCut::Grows, StoredWhenCut::GrowsSince))
        }
    }
}

fn point(report: Report<'_>, summary: &PointSummary) -> Value {
    let point = report.point(summary);
    let statuses: Map<String, Value> = Status::ALL
        .iter()
        .zip(summary.statuses)
        .map(|(status, count)| (status.name().to_owned(), count.into()))
        .collect();
    let metrics: Map<String, Value> = report
        .columns
        .iter()
        .zip(&summary.metrics)
        .map(|(column, summary)| (column.name.clone(), metric(summary)))
        .collect();
    let mut document = json!({
        "id": PointId(point.id).to_string(),
        "configuration": point.configuration,
        "note": point.note,
        "axes": point.axes.iter().cloned().collect::<Map<_, _>>(),
        "replications": summary.replications,
        "statuses": statuses,
        "failure": summary.failure,
        "not_converged": estimate(summary.not_converged),
        "metrics": metrics,
    });
    if let Some(precision) = &report.scenario.run.precision {
        let (got, reached) = attained(precision, report.columns, summary);
        document["precision"] = json!({ "relative": number(got), "reached": reached });
    }
    document
}

fn metric(summary: &MetricSummary) -> Value {
    let mut document = json!({
        "count": summary.count,
        "mean": estimate(summary.mean),
        "standard_deviation": number(summary.standard_deviation),
        "min": number(summary.min),
        "p50": estimate(summary.p50),
        "p95": estimate(summary.p95),
        "p99": estimate(summary.p99),
        "max": number(summary.max),
    });
    if summary.cut > 0 {
        document["cut"] = summary.cut.into();
    }
    if summary.variance_gain.is_finite() {
        document["variance_gain"] = number(summary.variance_gain);
    }
    document
}

fn expectations(report: Report<'_>) -> Vec<Value> {
    let pairs = report.scenario.expectations.iter().zip(report.judgements);
    pairs.map(|(expected, judgement)| expectation(report, expected, judgement)).collect()
}

/// An expectation and what became of it.
pub(super) fn expectation(
    report: Report<'_>,
    expectation: &Expectation,
    judgement: &Judgement,
) -> Value {
    json!({
        "expected": expected_text(report.columns, expectation),
        "verdict": verdict_name(judgement.verdict),
        "got": estimate(judgement.got),
        "got_text": got_text(report.columns, expectation, judgement),
        "source": expectation.source,
        "origin": beside(report, &expectation.origin),
        "configuration": expectation.configuration,
        "metric": expectation.metric,
        "statistic": expectation.statistic,
        "relative": expectation.relative_to.is_some(),
        "at_least": expectation.at_least,
        "at_most": expectation.at_most,
        "measured": expectation.measured.map(|(low, high)| [low, high]),
    })
}

/// Where something stands, from the folder of the scenario file: it is the same wherever the command
/// is given.
fn beside(report: Report<'_>, origin: &str) -> String {
    let folder = report.scenario.path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let prefix = folder.map(|folder| format!("{}/", folder.display())).unwrap_or_default();
    origin.strip_prefix(&prefix).unwrap_or(origin).to_owned()
}

/// What the real system did.
fn recorded(report: Report<'_>) -> Vec<Value> {
    let one = |recorded: &Recorded| {
        json!({
            "configuration": recorded.configuration,
            "metric": recorded.metric,
            "values": recorded.values,
            "source": recorded.source,
            "origin": beside(report, &recorded.origin),
        })
    };
    report.scenario.recorded.iter().map(one).collect()
}

/// JSON has no infinity and no NaN.
fn number(number: f64) -> Value {
    if number.is_finite() { json!(number) } else { Value::Null }
}
