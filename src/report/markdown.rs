//! The report as Markdown, for a pull request or a design document.

use std::fmt::Write as _;

use super::Report;
use super::attribution::{attributions, percent};
use super::expectations::{bounds, got_text, subject, verdict_name};
use super::notes::notes;
use super::number::Scale;
use super::table::scale_of;
use crate::experiment::{PointSummary, Verdict};
use crate::models::Unit;

/// The whole report.
#[must_use]
pub fn markdown(report: Report<'_>) -> String {
    let scenario = report.scenario;
    let mut text = format!("## {}\n\n", escaped(&scenario.name));
    if !scenario.description.is_empty() {
        let _ = writeln!(text, "{}\n", escaped(&scenario.description));
    }
    figures(&mut text, report);
    for attribution in attributions(report) {
        let name = &report.columns[attribution.whole].name;
        let _ = writeln!(text, "Where the time went: shares of the mean `{name}`\n");
        let mut heading = vec!["configuration".to_owned()];
        heading.extend(attribution.parts.iter().cloned());
        row(&mut text, &heading);
        rule(&mut text, 1, attribution.parts.len());
        for (summary, shares) in report.summaries.iter().zip(&attribution.shares) {
            let mut cells = vec![report.point(summary).configuration.clone()];
            cells.extend(shares.iter().map(|&share| percent(share)));
            row(&mut text, &cells);
        }
        text.push('\n');
    }
    expectations(&mut text, report);
    for note in notes(report) {
        let _ = writeln!(text, "- {}", escaped(&note));
    }
    text
}

fn figures(text: &mut String, report: Report<'_>) {
    let summaries: Vec<&PointSummary> = report.summaries.iter().collect();
    let heading = ["metric", "configuration", "mean", "p50", "p95", "p99", "not converged"]
        .map(str::to_owned);
    row(text, &heading);
    rule(text, 2, 5);
    for column in report.main_columns() {
        let scale = scale_of(report, &summaries, column);
        for summary in &summaries {
            let metric = &summary.metrics[column];
            let figure = |(value, interval): &(String, String)| format!("{value} ({interval})");
            let mean = (scale.value(metric.mean), scale.interval(metric.mean));
            let [p50, p95, p99] = scale.ascending([metric.p50, metric.p95, metric.p99]);
            let rate = Scale::new(Unit::Share, 1.0);
            row(
                text,
                &[
                    scale.heading(&report.columns[column].name),
                    report.point(summary).configuration.clone(),
                    figure(&mean),
                    figure(&p50),
                    figure(&p95),
                    figure(&p99),
                    format!(
                        "{} % ({})",
                        rate.value(summary.not_converged),
                        rate.interval(summary.not_converged)
                    ),
                ],
            );
        }
    }
    let _ = writeln!(text, "\nIntervals at {} %.\n", report.scenario.run.confidence * 100.0);
}

pub(super) fn expectations(text: &mut String, report: Report<'_>) {
    let pairs: Vec<_> = report
        .scenario
        .expectations
        .iter()
        .zip(report.judgements)
        .filter(|(_, judgement)| judgement.verdict != Verdict::Skipped)
        .collect();
    if pairs.is_empty() {
        return;
    }
    row(text, &["", "what", "expected", "got", "source"].map(str::to_owned));
    rule(text, 5, 0);
    for (expectation, judgement) in pairs {
        row(
            text,
            &[
                verdict_name(judgement.verdict).to_owned(),
                subject(expectation),
                bounds(report.columns, expectation),
                got_text(report.columns, expectation, judgement),
                expectation.source.clone(),
            ],
        );
    }
    text.push('\n');
}

/// A row of a table.
pub fn row(text: &mut String, cells: &[String]) {
    for cell in cells {
        let _ = write!(text, "| {} ", escaped(cell));
    }
    text.push_str("|\n");
}

/// The line below a heading: columns of text, then columns of figures.
pub fn rule(text: &mut String, left: usize, right: usize) {
    let _ = writeln!(text, "{}{}|", "|:---".repeat(left), "|---:".repeat(right));
}

/// What would end a cell or start HTML is made harmless; a line break stays one.
pub(super) fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', "<br>")
}
