//! Two configurations side by side.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::markdown::{row, rule};
use super::number::Scale;
use super::solve::estimate_json;
use super::table::{align_right, new_table, set_widths, stacked, text_of};
use crate::experiment::comparison::Compared;

const HEADING: [&str; 6] = ["metric", "A", "B", "B - A", "B / A", "p"];
/// Widths of the columns of the terminal's table: a difference has a sign at both ends.
const WIDTHS: [u16; 5] = [16, 16, 18, 16, 10];

/// As tables for the terminal, a block for each metric.
#[must_use]
pub fn comparison_tables(compared: &[Compared]) -> String {
    let mut text = String::new();
    for comparison in compared {
        let [metric, figures @ ..] = cells(comparison);
        let [_, heading @ ..] = HEADING.map(str::to_owned);
        let mut table = new_table(heading);
        table.add_row(figures);
        set_widths(&mut table, WIDTHS);
        align_right(&mut table, 0);
        let _ = writeln!(text, "{metric}\n{}", text_of(&table));
    }
    text
}

/// As a Markdown table, figures with their intervals below.
#[must_use]
pub fn comparison_markdown(compared: &[Compared]) -> String {
    let mut text = String::new();
    row(&mut text, &HEADING.map(str::to_owned));
    rule(&mut text, 1, 5);
    for comparison in compared {
        row(&mut text, &cells(comparison));
    }
    text
}

/// For programs. Times are in seconds, shares between 0 and 1; `null` is an open end.
#[must_use]
pub fn comparison_json(compared: &[Compared]) -> Value {
    let one = |compared: &Compared| {
        json!({
            "metric": compared.metric,
            "unit": compared.unit.symbol(),
            "replications": compared.pairs,
            "a": estimate_json(compared.first),
            "b": estimate_json(compared.second),
            "difference": estimate_json(compared.difference),
            "ratio": estimate_json(compared.ratio),
            "p_value": compared.p_value,
        })
    };
    compared.iter().map(one).collect()
}

fn cells(compared: &Compared) -> [String; 6] {
    let scale = Scale::for_values(compared.unit, [compared.first.value, compared.second.value]);
    let with_interval = |scale: Scale, estimate| stacked(scale, estimate, WIDTHS[0]);
    [
        scale.heading(&compared.metric),
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
