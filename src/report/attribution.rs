//! Where the time went: the share of each part of a metric.

use std::fmt::Write as _;

use super::Report;
use super::table::{align_right, label_heading, labels_of, new_table, text_of};
use crate::experiment::PointSummary;

/// Parts beside each other; the smaller ones are summed up.
const MOST_PARTS: usize = 6;

/// The shares of the parts of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribution {
    /// Index of the column that is divided.
    pub whole: usize,
    /// Names of the parts, the largest over all points first; the last may be `other`.
    pub parts: Vec<String>,
    /// For each summary, the share of each part in the mean of the whole: mean part over mean
    /// whole. NaN where the whole is 0 or did not come about.
    pub shares: Vec<Vec<f64>>,
}

/// The attributions of all metrics of the main table that have parts.
#[must_use]
pub fn attributions(report: Report<'_>) -> Vec<Attribution> {
    report.main_columns().into_iter().filter_map(|whole| attribution(report, whole)).collect()
}

fn attribution(report: Report<'_>, whole: usize) -> Option<Attribution> {
    let mut parts: Vec<usize> = (0..report.columns.len())
        .filter(|&column| report.columns[column].whole == Some(whole))
        .collect();
    if parts.is_empty() {
        return None;
    }
    let share = |summary: &PointSummary, part: usize| {
        summary.metrics[part].mean.value / summary.metrics[whole].mean.value
    };
    let total = |&part: &usize| -> f64 {
        report.summaries.iter().map(|s| share(s, part)).filter(|share| share.is_finite()).sum()
    };
    parts.sort_by(|a, b| total(b).total_cmp(&total(a)));
    let shown = if parts.len() > MOST_PARTS { MOST_PARTS - 1 } else { parts.len() };
    let prefix = format!("{}.", report.columns[whole].name);
    let name = |&part: &usize| {
        let name = &report.columns[part].name;
        name.strip_prefix(&prefix).unwrap_or(name).replace('_', " ")
    };
    let mut names: Vec<String> = parts[..shown].iter().map(name).collect();
    if shown < parts.len() {
        names.push("other".to_owned());
    }
    let shares = report
        .summaries
        .iter()
        .map(|summary| {
            let mut shares: Vec<f64> =
                parts[..shown].iter().map(|&part| share(summary, part)).collect();
            if shown < parts.len() {
                shares.push(parts[shown..].iter().map(|&part| share(summary, part)).sum());
            }
            shares
        })
        .collect();
    Some(Attribution { whole, parts: names, shares })
}

/// A share for a reader: whole percent.
#[must_use]
pub fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.0} %", share * 100.0 + 0.0) } else { "-".to_owned() }
}

/// The tables of shares; empty where no metric has parts.
#[must_use]
pub fn attribution_tables(report: Report<'_>) -> String {
    let mut text = String::new();
    for attribution in attributions(report) {
        let name = &report.columns[attribution.whole].name;
        let _ = writeln!(text, "Where the time went: shares of the mean {name}");
        for swept in [false, true] {
            let rows: Vec<(&PointSummary, &Vec<f64>)> = report
                .summaries
                .iter()
                .zip(&attribution.shares)
                .filter(|(summary, _)| report.point(summary).axes.is_empty() != swept)
                .collect();
            let Some((first, _)) = rows.first() else { continue };
            let labels = label_heading(report.point(first));
            let label_count = labels.len();
            let mut table = new_table(labels.into_iter().chain(attribution.parts.iter().cloned()));
            for (summary, shares) in &rows {
                let shares = shares.iter().map(|&share| percent(share));
                table.add_row(labels_of(report.point(summary)).into_iter().chain(shares));
            }
            align_right(&mut table, label_count);
            let _ = writeln!(text, "{}", text_of(&table));
        }
    }
    text
}
