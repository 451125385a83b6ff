//! What a reader must know beside the figures.

use super::Report;
use crate::experiment::{PointSummary, Status};
use crate::statistics::quantile::replications_needed;

/// One sentence each: what is not as it seems, then what the scenario's author wants known.
#[must_use]
pub fn notes(report: Report<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for summary in report.summaries {
        unusual_endings(&mut notes, report, summary);
        missing_figures(&mut notes, report, summary);
    }
    open_quantiles(&mut notes, report);
    for summary in report.summaries {
        let point = report.point(summary);
        if let Some(note) = &point.note {
            notes.push(format!("{}: {note}", point.configuration));
        }
    }
    notes.extend(report.scenario.warnings.iter().map(|warning| format!("warning: {warning}")));
    notes
}

fn unusual_endings(notes: &mut Vec<String>, report: Report<'_>, summary: &PointSummary) {
    let name = &report.point(summary).configuration;
    for status in Status::ALL.into_iter().filter(|&status| status != Status::Converged) {
        let count = summary.count(status);
        if count == 0 {
            continue;
        }
        let mut note = format!(
            "{name}: {count} of {} replications {}",
            summary.replications,
            status.meaning()
        );
        if let (Status::Failed, Some(message)) = (status, &summary.failure) {
            note.push_str(": ");
            note.push_str(message);
        }
        notes.push(note);
    }
}

fn missing_figures(notes: &mut Vec<String>, report: Report<'_>, summary: &PointSummary) {
    let name = &report.point(summary).configuration;
    for column in report.main_columns() {
        let count = summary.metrics[column].count;
        if count < summary.replications {
            notes.push(format!(
                "{name}: {} came about in {count} of {} replications; its figures are over these",
                report.columns[column].name, summary.replications
            ));
        }
    }
}

/// Says once how many replications would close the open intervals.
fn open_quantiles(notes: &mut Vec<String>, report: Report<'_>) {
    let confidence = report.scenario.run.confidence;
    let columns = report.main_columns();
    let fewest = report
        .summaries
        .iter()
        .flat_map(|summary| columns.iter().map(|&column| summary.metrics[column].count))
        .filter(|&count| count > 0)
        .min();
    let Some(fewest) = fewest else { return };
    let open: Vec<(&str, u64)> = [("p50", 0.50), ("p95", 0.95), ("p99", 0.99)]
        .into_iter()
        .map(|(name, probability)| (name, replications_needed(probability, confidence)))
        .filter(|&(_, needed)| fewest < needed)
        .collect();
    if let Some(&(_, most)) = open.last() {
        let names: Vec<&str> = open.iter().map(|(name, _)| *name).collect();
        notes.push(format!(
            "{fewest} replications do not bound {} on both sides at {} % (\"?\" in an interval); \
             {most} do",
            names.join(" and "),
            confidence * 100.0,
        ));
    }
}
