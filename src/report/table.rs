//! The main table: what came out, with intervals.

use std::fmt::Write as _;

use comfy_table::presets::NOTHING;
use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, Width,
};

use super::Report;
use super::number::Scale;
use crate::experiment::{PointSummary, Status};
use crate::scenario::Point;
use crate::statistics::Estimate;

/// Columns of a terminal that tables are made for.
pub const WIDTH: u16 = 80;
/// Width of a column of figures with intervals below them.
const FIGURE_WIDTH: u16 = 15;
/// More named configurations than this get one line each.
const FULL_CONFIGURATIONS: usize = 12;
/// More points of a sweep than this get one line each.
const FULL_SWEEP: usize = 4;
/// Metrics beside each other in a table with one line per point.
const METRICS_PER_BLOCK: usize = 3;

/// A table without borders but a rule below its heading, for [`WIDTH`] columns.
pub(super) fn new_table<I: IntoIterator<Item = String>>(heading: I) -> Table {
    let mut table = Table::new();
    table
        .load_style(NOTHING.header_separator(LineStyle::none().fill('─').junction('─')))
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(heading.into_iter().collect::<Vec<_>>());
    table
}

/// The table as text, without spaces at the ends of lines.
pub(super) fn text_of(table: &Table) -> String {
    let mut text = String::new();
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The main tables of a report: a block for each metric with mean and quantiles, or one line per
/// point where there are many, and what did not converge.
#[must_use]
pub fn main_tables(report: Report<'_>) -> String {
    let (swept, named): (Vec<&PointSummary>, Vec<&PointSummary>) =
        report.summaries.iter().partition(|summary| !report.point(summary).axes.is_empty());
    let mut text = String::new();
    for (summaries, most) in [(named, FULL_CONFIGURATIONS), (swept, FULL_SWEEP)] {
        if summaries.is_empty() {
            continue;
        }
        if summaries.len() <= most {
            full(&mut text, report, &summaries);
        } else {
            compact(&mut text, report, &summaries);
        }
    }
    convergence(&mut text, report);
    text
}

/// The unit for a column over all `summaries`.
pub(super) fn scale_of(report: Report<'_>, summaries: &[&PointSummary], column: usize) -> Scale {
    let means = summaries.iter().map(|summary| summary.metrics[column].mean.value);
    Scale::for_values(report.columns[column].metric.unit, means)
}

fn full(text: &mut String, report: Report<'_>, summaries: &[&PointSummary]) {
    for column in report.main_columns() {
        let scale = scale_of(report, summaries, column);
        let name = scale.heading(&report.columns[column].name);
        let _ = writeln!(text, "{name}: {}", report.columns[column].metric.summary);
        let heading = ["configuration", "mean", "p50", "p95", "p99"].map(str::to_owned);
        let mut table = new_table(heading);
        for summary in summaries {
            let metric = &summary.metrics[column];
            let figure = |estimate: Estimate| {
                Cell::new(format!("{}\n{}", scale.value(estimate), scale.interval(estimate)))
            };
            let label = Cell::new(&report.point(summary).configuration);
            let figures = [metric.mean, metric.p50, metric.p95, metric.p99].map(figure);
            table.add_row([label].into_iter().chain(figures));
        }
        let label_width = WIDTH - 4 * (FIGURE_WIDTH + 1);
        let widths = [label_width].into_iter().chain([FIGURE_WIDTH + 1; 4]);
        table.set_constraints(widths.map(|width| ColumnConstraint::Absolute(Width::Fixed(width))));
        let _ = writeln!(text, "{}", text_of(&table));
    }
}

fn compact(text: &mut String, report: Report<'_>, summaries: &[&PointSummary]) {
    for block in report.main_columns().chunks(METRICS_PER_BLOCK) {
        let scales: Vec<Scale> =
            block.iter().map(|&column| scale_of(report, summaries, column)).collect();
        let metrics = block
            .iter()
            .zip(&scales)
            .map(|(&column, scale)| scale.heading(&report.columns[column].name));
        let labels = label_heading(report.point(summaries[0]));
        let label_count = labels.len();
        let mut table = new_table(labels.into_iter().chain(metrics));
        for summary in summaries {
            let figures = block
                .iter()
                .zip(&scales)
                .map(|(&column, scale)| scale.plus_minus(summary.metrics[column].mean));
            table.add_row(labels_of(report.point(summary)).into_iter().chain(figures));
        }
        align_right(&mut table, label_count);
        let _ = writeln!(text, "mean ± half-width of its interval");
        let _ = writeln!(text, "{}", text_of(&table));
    }
}

pub(super) fn align_right(table: &mut Table, from: usize) {
    for column in table.column_iter_mut().skip(from) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// A column for each axis of a sweep, headed by the last part of its path.
pub(super) fn label_heading(point: &Point) -> Vec<String> {
    if point.axes.is_empty() {
        return vec!["configuration".to_owned()];
    }
    let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
    point.axes.iter().map(|(path, _)| last(path)).collect()
}

pub(super) fn labels_of(point: &Point) -> Vec<String> {
    if point.axes.is_empty() {
        return vec![point.configuration.clone()];
    }
    point.axes.iter().map(|(_, value)| plain(value)).collect()
}

/// A text without its quotes, anything else as in the file.
fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// One sentence where everything converged everywhere, else a line for each point that did not.
fn convergence(text: &mut String, report: Report<'_>) {
    let Some(first) = report.summaries.first() else { return };
    let percent = Scale::new(crate::models::Unit::Share, 1.0);
    let clean = |summary: &PointSummary| summary.count(Status::Converged) == summary.replications;
    let alike = report.summaries.iter().all(|s| s.replications == first.replications);
    if alike && report.summaries.iter().all(clean) {
        let _ = writeln!(
            text,
            "Not converged: 0 of {} replications in {} (0 to {}).\n",
            first.replications,
            if report.summaries.len() == 1 { "the one point" } else { "each point" },
            percent.bound(first.not_converged.interval.high)
        );
        return;
    }
    let mut heading = label_heading(report.point(first));
    heading = if heading.len() == 1 { heading } else { vec!["configuration".to_owned()] };
    heading[0] = "configuration".to_owned();
    heading.extend(["not converged", "interval", "replications"].map(str::to_owned));
    let mut table = new_table(heading);
    for summary in report.summaries.iter().filter(|summary| !clean(summary)) {
        table.add_row([
            report.point(summary).configuration.clone(),
            percent.bound(summary.not_converged.value),
            percent.interval(summary.not_converged),
            summary.replications.to_string(),
        ]);
    }
    align_right(&mut table, 1);
    let _ = writeln!(text, "{}", text_of(&table));
}
