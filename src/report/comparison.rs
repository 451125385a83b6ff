//! Two configurations side by side.

use std::fmt::Write as _;

use super::markdown::{row, rule};
use super::number::Scale;
use super::table::{align_right, new_table, text_of};
use crate::experiment::comparison::Compared;
use crate::models::Unit;
use crate::scenario::MetricColumn;

const HEADING: [&str; 6] = ["metric", "first", "second", "second - first", "second / first", "p"];

/// As a table for the terminal.
#[must_use]
pub fn comparison_table(columns: &[MetricColumn], compared: &[Compared]) -> String {
    let mut table = new_table(HEADING.map(str::to_owned));
    for comparison in compared {
        table.add_row(cells(columns, comparison, "\n"));
    }
    align_right(&mut table, 1);
    text_of(&table)
}

/// As a Markdown table.
#[must_use]
pub fn comparison_markdown(columns: &[MetricColumn], compared: &[Compared]) -> String {
    let mut text = String::new();
    row(&mut text, &HEADING.map(str::to_owned));
    rule(&mut text, 1, 5);
    for comparison in compared {
        row(&mut text, &cells(columns, comparison, " "));
    }
    text
}

fn cells(columns: &[MetricColumn], compared: &Compared, between: &str) -> [String; 6] {
    let column = &columns[compared.column];
    let unit = if column.metric.unit == Unit::Share { Unit::Share } else { column.metric.unit };
    let scale = Scale::for_values(unit, [compared.first.value, compared.second.value]);
    let with_interval = |scale: Scale, estimate| {
        let mut text = scale.value(estimate);
        let _ = write!(text, "{between}{}", scale.interval(estimate));
        text
    };
    [
        scale.heading(&column.name),
        with_interval(scale, compared.first),
        with_interval(scale, compared.second),
        with_interval(scale, compared.difference),
        with_interval(Scale::PLAIN, compared.ratio),
        p_text(compared.p_value),
    ]
}

fn p_text(p_value: f64) -> String {
    if p_value.is_nan() {
        "-".to_owned()
    } else if p_value < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("{p_value:.3}")
    }
}
