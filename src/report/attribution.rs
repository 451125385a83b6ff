//! Where the time went: the share of each part of a metric.

use std::fmt::Write as _;
use std::ops::Range;

use comfy_table::Table;

use super::Report;
use super::table::{Labels, WIDTH, align_right, fit, longest_word, new_table, text_of};
use crate::experiment::PointSummary;

/// Parts beside each other; the smaller ones are summed up.
const MOST_PARTS: usize = 6;
/// The least width of a label, where it has so many letters, and of a share.
const LABEL: u16 = 14;
const SHARE: u16 = 5;
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
            let labels = Labels::new(rows.iter().map(|(summary, _)| report.point(summary)));
            for block in blocks(&labels, &attribution.parts) {
                let parts = &attribution.parts[block.clone()];
                let rows = rows.iter().map(|(summary, shares)| (*summary, &shares[block.clone()]));
                let table = table(report, labels.clone(), parts, rows);
                let _ = writeln!(text, "{}", text_of(&table));
            }
        }
    }
    text
}

/// The shares of some parts, a row for each point.
fn table<'r>(
    report: Report<'_>,
    mut labels: Labels,
    parts: &[String],
    rows: impl Iterator<Item = (&'r PointSummary, &'r [f64])>,
) -> Table {
    let headings = labels.heading().to_vec();
    let mut table = new_table(headings.iter().chain(parts).cloned());
    let mut longest: Vec<u16> = headings.iter().map(|heading| length(heading)).collect();
    for (summary, shares) in rows {
        let cells = labels.of(report.point(summary));
        longest.iter_mut().zip(&cells).for_each(|(most, cell)| *most = length(cell).max(*most));
        table.add_row(cells.into_iter().chain(shares.iter().map(|&share| percent(share))));
    }
    let of_label =
        |(heading, most): (&String, u16)| (longest_word(heading).max(LABEL.min(most)), most);
    let of_part = |part: &String| (longest_word(part).max(SHARE), length(part));
    let widths = headings.iter().zip(longest).map(of_label).chain(parts.iter().map(of_part));
    fit(&mut table, &widths.collect::<Vec<_>>());
    align_right(&mut table, headings.len());
    table
}

fn length(text: &str) -> u16 {
    text.chars().count().min(usize::from(WIDTH)) as u16
}

/// Parts that have room beside each other and the labels, no word of their names being broken.
fn blocks(labels: &Labels, parts: &[String]) -> Vec<Range<usize>> {
    let width = |name: &String| longest_word(name).max(SHARE) + 2;
    // Names of configurations are broken at blanks, which takes a little more than their heading.
    let of_labels: u16 = labels.heading().iter().map(|name| width(name).max(LABEL + 2)).sum();
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut used = 0;
    for (index, part) in parts.iter().enumerate() {
        match blocks.last_mut() {
            Some(block) if used + width(part) <= WIDTH + 1 => block.end = index + 1,
            _ => {
                blocks.push(index..index + 1);
                used = of_labels;
            }
        }
        used += width(part);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_whose_names_have_no_room_beside_each_other_go_below() {
        let labels = Labels::new([].into_iter());
        let parts = ["notification queue", "publication", "reprogramming"].map(str::to_owned);
        assert_eq!(blocks(&labels, &parts), vec![0..3]);
        let many: Vec<String> = (0..7).map(|n| format!("longer-name-{n} of it")).collect();
        assert_eq!(blocks(&labels, &many), vec![0..5, 5..7]);
        assert!(blocks(&labels, &[]).is_empty());
    }
}
