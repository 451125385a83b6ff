//! Where the time went: the share of each part of a metric.

use std::fmt::Write as _;

use super::Report;
use super::table::{Labels, align_right, new_table, text_of};
use crate::experiment::PointSummary;

/// Parts beside each other; the smaller ones are summed up.
const MOST_PARTS: usize = 6;
/// A share that is less than this everywhere would be shown as 0 %.
const LEAST_SHARE: f64 = 0.005;

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
    let rest = |from: usize, summary: &PointSummary| -> f64 {
        parts[from..].iter().map(|&part| share(summary, part)).sum()
    };
    let counts = |from: usize| report.summaries.iter().any(|s| rest(from, s) >= LEAST_SHARE);
    let visible = |&&part: &&usize| {
        report.summaries.iter().any(|summary| share(summary, part) >= LEAST_SHARE)
    };
    let visible = parts.iter().filter(visible).count().max(1);
    let shown = if visible > MOST_PARTS { MOST_PARTS - 1 } else { visible };
    let with_rest = counts(shown);
    let prefix = format!("{}.", report.columns[whole].name);
    let name = |&part: &usize| {
        let name = &report.columns[part].name;
        name.strip_prefix(&prefix).unwrap_or(name).replace('_', " ")
    };
    let mut names: Vec<String> = parts[..shown].iter().map(name).collect();
    if with_rest {
        names.push("other".to_owned());
    }
    let shares_of = |summary: &PointSummary| {
        let mut shares: Vec<f64> =
            parts[..shown].iter().map(|&part| share(summary, part)).collect();
        shares.extend(with_rest.then(|| rest(shown, summary)));
        shares
    };
    let shares = report.summaries.iter().map(shares_of).collect();
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
            if rows.is_empty() {
                continue;
            }
            let mut labels = Labels::new(rows.iter().map(|(summary, _)| report.point(summary)));
            let parts = attribution.parts.iter().cloned();
            let mut table = new_table(labels.heading().iter().cloned().chain(parts));
            for (summary, shares) in &rows {
                let shares = shares.iter().map(|&share| percent(share));
                table.add_row(labels.of(report.point(summary)).into_iter().chain(shares));
            }
            align_right(&mut table, labels.heading().len());
            let _ = writeln!(text, "{}", text_of(&table));
        }
    }
    text
}
