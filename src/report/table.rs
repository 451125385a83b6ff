//! The main table: what came out, with intervals.

use std::fmt::Write as _;

use comfy_table::presets::NOTHING;
use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, Width,
};

use super::Report;
use super::number::Scale;
use super::terminal::wrapped;
use crate::experiment::{PointSummary, Status};
use crate::scenario::Point;
use crate::statistics::Estimate;
use crate::wording::{counted, visible};

/// Columns of a terminal that tables are made for.
pub const WIDTH: u16 = 80;
/// Width of a column of figures with intervals below them: `13.794..13.981`.
const FIGURE_WIDTH: u16 = 14;
/// More named configurations than this get one line each.
const FULL_CONFIGURATIONS: usize = 12;
/// Width of the column of configuration names beside four figures.
const LABEL_WIDTH: u16 = WIDTH - 4 * (FIGURE_WIDTH + 1);
/// More points of a sweep than this get one line each.
const FULL_SWEEP: usize = 1;
/// Width of a heading above figures in a table with one line per point.
const HEADING_WIDTH: usize = 14;
/// Metrics beside each other in a table with one line per point.
const METRICS_PER_BLOCK: usize = 3;
/// The same where each has a bar beside it.
const SWEPT_PER_BLOCK: usize = 2;
/// Length of the bar that stands for the greatest figure.
const BAR: usize = 8;

/// A table without borders but a rule below its heading, for [`WIDTH`] columns.
pub(super) fn new_table<I: IntoIterator<Item = String>>(heading: I) -> Table {
    let mut table = Table::new();
    table
        .load_style(NOTHING.header_separator(LineStyle::none().fill('─').junction('─')))
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(heading.into_iter().collect::<Vec<_>>());
    // With the space that stands for a vertical line, two spaces between columns.
    table.column_iter_mut().for_each(|column| {
        column.set_padding((0, 1));
    });
    table
}

/// Gives each column the first of its two widths in letters, and what is left of the line to the
/// first columns, up to the second.
pub(super) fn fit(table: &mut Table, widths: &[(u16, u16)]) {
    // A blank belongs to each column, and another stands between two.
    let used = widths.iter().map(|(least, _)| least + 2).sum::<u16>();
    let mut left = (WIDTH + 1).saturating_sub(used);
    let fitted = widths.iter().map(|&(least, most)| {
        let more = most.saturating_sub(least).min(left);
        left -= more;
        ColumnConstraint::Absolute(Width::Fixed(least + more + 1))
    });
    let fitted: Vec<ColumnConstraint> = fitted.collect();
    table.set_constraints(fitted);
}

/// The length of the longest word.
pub(super) fn longest_word(text: &str) -> u16 {
    let words = text.split_whitespace().map(|word| word.chars().count());
    words.max().unwrap_or(0).min(usize::from(WIDTH)) as u16
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
        let summary = report.columns[column].metric.summary;
        text.push_str(&wrapped("", &format!("{name}: {summary}")));
        let heading = ["configuration", "mean", "p50", "p95", "p99"].map(str::to_owned);
        let mut table = new_table(heading);
        for summary in summaries {
            let metric = &summary.metrics[column];
            let mean = Cell::new(stacked(scale, metric.mean, FIGURE_WIDTH));
            let quantiles = scale.ascending([metric.p50, metric.p95, metric.p99]);
            let quantiles = quantiles.map(|texts| Cell::new(stack(texts, FIGURE_WIDTH)));
            let label = Cell::new(broken(&report.point(summary).configuration, LABEL_WIDTH));
            table.add_row([label, mean].into_iter().chain(quantiles));
        }
        // The same widths in each block, so that they line up.
        let widths = [LABEL_WIDTH].into_iter().chain([FIGURE_WIDTH; 4]);
        set_widths(&mut table, widths);
        align_right(&mut table, 1);
        let _ = writeln!(text, "{}", text_of(&table));
    }
}

fn compact(text: &mut String, report: Report<'_>, summaries: &[&PointSummary]) {
    let swept_only = summaries.iter().all(|summary| !report.point(summary).axes.is_empty());
    let most = if swept_only { SWEPT_PER_BLOCK } else { METRICS_PER_BLOCK };
    for block in report.main_columns().chunks(most) {
        let scales: Vec<Scale> =
            block.iter().map(|&column| scale_of(report, summaries, column)).collect();
        let mut labels = Labels::new(summaries.iter().map(|summary| report.point(summary)));
        // Names of configurations leave room for one.
        let bars = match (swept_only, labels.from_configurations) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => block.len(),
        };
        let metrics = block.iter().zip(&scales).enumerate().flat_map(|(n, (&column, scale))| {
            let heading = narrow_heading(*scale, &report.columns[column].name);
            [Some(heading), (n < bars).then(String::new)].into_iter().flatten()
        });
        let mut table = new_table(labels.heading().iter().cloned().chain(metrics));
        for summary in summaries {
            let columns = block.iter().zip(&scales).enumerate();
            let figures = columns.flat_map(|(n, (&column, scale))| {
                let figure = scale.plus_minus(summary.metrics[column].mean);
                let bar = (n < bars).then(|| bar(summaries, summary, column));
                [Some(figure), bar].into_iter().flatten()
            });
            table.add_row(labels.of(report.point(summary)).into_iter().chain(figures));
        }
        align_right(&mut table, labels.heading().len());
        (0..bars).for_each(|n| align_left(&mut table, labels.heading().len() + 2 * n + 1));
        text.push_str(&wrapped("", &swept(summaries, report)));
        let _ = writeln!(text, "{}", text_of(&table));
    }
}

/// The figure of `summary` as a bar, next to the greatest of all; nothing below 0.
fn bar(all: &[&PointSummary], summary: &PointSummary, column: usize) -> String {
    const PARTS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let mean = |summary: &PointSummary| summary.metrics[column].mean.value;
    let most =
        all.iter().map(|summary| mean(summary)).filter(|m| m.is_finite()).fold(0.0, f64::max);
    let share = mean(summary) / most;
    if !share.is_finite() || share <= 0.0 {
        return String::new();
    }
    let eighths = ((share * (BAR * 8) as f64).round() as usize).max(1);
    let mut bar = "█".repeat(eighths / 8);
    bar.extend((eighths % 8).checked_sub(1).map(|part| PARTS[part]));
    bar
}

/// A heading that wraps between the words of a name, with the unit on a line of its own.
fn narrow_heading(scale: Scale, name: &str) -> String {
    let mut heading = String::new();
    let mut width = 0;
    for word in name.split_inclusive(['_', '.']) {
        if width > 0 && width + word.len() > HEADING_WIDTH {
            heading.push('\n');
            width = 0;
        }
        heading.push_str(word);
        width += word.len();
    }
    if !scale.symbol().is_empty() {
        let _ = write!(heading, "\n({})", scale.symbol());
    }
    heading
}

/// `name` in lines of `width`, broken at blanks, and within a long word after `.`, `_`, `=` or `,`:
/// never within a number.
pub(super) fn broken(name: &str, width: u16) -> String {
    let mut lines = String::new();
    let mut used = 0;
    // Written out before it is laid out, lest columns shift.
    let name = visible(name);
    for word in name.split_inclusive([' ', '.', '_', '=', ',']) {
        let length = word.trim_end().chars().count();
        if used > 0 && used + length > usize::from(width) {
            lines.push('\n');
            used = 0;
        }
        lines.push_str(word);
        used += word.chars().count();
    }
    lines
}

/// What the points vary in, to head their table.
fn swept(summaries: &[&PointSummary], report: Report<'_>) -> String {
    let axes = summaries.first().map_or(&[][..], |summary| &report.point(summary).axes);
    let paths: Vec<&str> = axes.iter().map(|(path, _)| path.as_str()).collect();
    let what = if paths.is_empty() { "each configuration".to_owned() } else { paths.join(" and ") };
    format!("By {what}: the mean with its interval")
}

/// A figure with its interval below it, broken between its ends where it is wider than `width`.
pub(super) fn stacked(scale: Scale, estimate: Estimate, width: u16) -> String {
    stack((scale.value(estimate), scale.interval(estimate)), width)
}

fn stack((value, mut interval): (String, String), width: u16) -> String {
    if interval.chars().count() > usize::from(width) {
        interval = interval.replace("..", "..\n");
    }
    format!("{value}\n{interval}")
}

/// Fixes the widths of columns, one space apart.
pub(super) fn set_widths(table: &mut Table, widths: impl IntoIterator<Item = u16>) {
    let fixed = |width| ColumnConstraint::Absolute(Width::Fixed(width));
    table.set_constraints(widths.into_iter().map(fixed));
    table.column_iter_mut().for_each(|column| {
        column.set_padding((0, 0));
    });
}

pub(super) fn align_left(table: &mut Table, index: usize) {
    if let Some(column) = table.column_mut(index) {
        column.set_cell_alignment(CellAlignment::Left);
    }
}

pub(super) fn align_right(table: &mut Table, from: usize) {
    for column in table.column_iter_mut().skip(from) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// How the points of one table are told apart: named configurations by their names, the points of a
/// sweep by a column for each axis, after the configuration that the sweep starts from if it has a
/// name.
#[derive(Clone)]
pub(super) struct Labels {
    from_configurations: bool,
    heading: Vec<String>,
    /// The configuration of the row before, which is not repeated.
    before: String,
}

impl Labels {
    pub(super) fn new<'p>(points: impl Iterator<Item = &'p Point> + Clone) -> Self {
        let from_configurations = points.clone().any(|point| base_name(point).is_some());
        let axes = points.into_iter().next().map_or(&[][..], |point| &point.axes);
        let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
        let axes = axes.iter().map(|(path, _)| last(path));
        let configuration = from_configurations.then(|| "configuration".to_owned());
        let heading = configuration.into_iter().chain(axes).collect();
        Self { from_configurations, heading, before: String::new() }
    }

    pub(super) fn heading(&self) -> &[String] {
        &self.heading
    }

    /// The cells of the next row.
    pub(super) fn of(&mut self, point: &Point) -> Vec<String> {
        let mut cells: Vec<String> = Vec::new();
        if self.from_configurations {
            let name = base_name(point).unwrap_or_default();
            if point.axes.is_empty() || name != self.before {
                cells.push(visible(name));
                name.clone_into(&mut self.before);
            } else {
                cells.push(String::new());
            }
        }
        cells.extend(point.axes.iter().map(|(_, value)| visible(&plain(value))));
        cells
    }
}

/// The name of a configuration, or of the one that a point of a sweep starts from.
fn base_name(point: &Point) -> Option<&str> {
    match point.axes.first() {
        None => Some(&point.configuration),
        Some((path, _)) => {
            let (name, _) = point.configuration.split_once(&format!(", {path}="))?;
            Some(name)
        }
    }
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
    if report.summaries.iter().all(clean) {
        let by_count = |a: &&PointSummary, b: &&PointSummary| a.replications.cmp(&b.replications);
        let fewest = report.summaries.iter().min_by(by_count).unwrap_or(first);
        let most = report.summaries.iter().max_by(by_count).unwrap_or(first).replications;
        let of = if most == fewest.replications {
            counted(most, "replication")
        } else {
            format!("{} to {}", fewest.replications, counted(most, "replication"))
        };
        let _ = writeln!(
            text,
            "Not converged: 0 of {of}{} ({} %).\n",
            if report.summaries.len() == 1 { "" } else { " of each point" },
            percent.interval(fewest.not_converged)
        );
        return;
    }
    let heading = ["configuration", "not converged (%)", "interval", "replications"];
    let mut table = new_table(heading.map(str::to_owned));
    for summary in report.summaries.iter().filter(|summary| !clean(summary)) {
        table.add_row([
            visible(&report.point(summary).configuration),
            percent.value(summary.not_converged),
            percent.interval(summary.not_converged),
            summary.replications.to_string(),
        ]);
    }
    align_right(&mut table, 1);
    let _ = writeln!(text, "{}", text_of(&table));
}
