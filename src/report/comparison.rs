//! Two configurations side by side.

use std::fmt::Write as _;
use std::io;

use serde_json::{Value, json};

use super::markdown::{row, rule};
use super::number::Scale;
use super::results_csv::Number;
use super::solve::estimate_json;
use super::table::{align_right, new_table, set_widths, stacked, text_of};
use crate::experiment::comparison::Compared;
use crate::statistics::{Estimate, Sense};
use crate::wording::counted;

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
            "cut": compared.cut,
            "with_figure": compared.with_figure.map(|(have, of)| json!({ "have": have, "of": of })),
            "a": estimate_json(compared.first),
            "b": estimate_json(compared.second),
            "difference": estimate_json(compared.difference),
            "ratio": estimate_json(compared.ratio),
            "saved_by_pairs": compared.saved.map(|[difference, ratio]| {
                json!({ "difference": difference, "ratio": ratio })
            }),
            "p_value": compared.p_value,
        })
    };
    compared.iter().map(one).collect()
}

/// A line for each metric of each configuration. Times are in seconds, shares between 0 and 1; an
/// open end is empty, and so is a figure of which, as replications were cut off, only its interval is
/// known.
///
/// # Errors
/// What the writer says.
pub fn comparison_csv(blocks: &[(&str, &[Compared])]) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let heading = ["configuration", "metric", "unit", "replications"].map(str::to_owned);
    let figures = ["a", "b", "difference", "ratio"]
        .into_iter()
        .flat_map(|name| [name.to_owned(), format!("{name}_low"), format!("{name}_high")]);
    let last = ["p_value", "cut"].map(str::to_owned);
    writer.write_record(heading.into_iter().chain(figures).chain(last))?;
    for (configuration, compared) in blocks {
        for one in *compared {
            let words = [configuration, one.metric.as_str(), one.unit.symbol()].map(str::to_owned);
            let estimates = [one.first, one.second, one.difference, one.ratio];
            let numbers = estimates
                .into_iter()
                .flat_map(|estimate| {
                    let value =
                        if estimate.sense == Sense::Whole { estimate.value } else { f64::NAN };
                    [value, estimate.interval.low, estimate.interval.high]
                })
                .chain([one.p_value]);
            let row = words.into_iter().chain([one.pairs.to_string()]);
            let cut = one.cut.iter().sum::<u64>().to_string();
            let numbers = numbers.map(|number| Number(number).to_string());
            writer.write_record(row.chain(numbers).chain([cut]))?;
        }
    }
    writer.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

/// What is compared by bounds, or over fewer replications than there are, a sentence for each such
/// metric.
#[must_use]
pub fn missing_notes(compared: &[Compared]) -> Vec<String> {
    let note = |one: &Compared| {
        let [(first, of_first), (second, of_second)] = one.with_figure;
        if one.cut != [0, 0] {
            let side =
                |cut, of, side| (cut > 0).then(|| format!("{cut} of {of} replications of {side}"));
            let sides = [side(one.cut[0], of_first, "A"), side(one.cut[1], of_second, "B")];
            let sides: Vec<String> = sides.into_iter().flatten().collect();
            return Some(format!(
                "{}: {} were cut off at the horizon or with the event budget spent; figures with a \
                 mark are bounds of what whole replications have, and so are their intervals",
                one.metric,
                sides.join(" and ")
            ));
        }
        let (fewer, all) = (first < of_first || second < of_second, of_first.max(of_second));
        (fewer && one.pairs < all).then(|| {
            format!(
                "{}: {first} of {of_first} of A have it, and {second} of {of_second} of B; all \
                 figures here are over those that have it{}, and say nothing of the others",
                one.metric,
                if one.saved.is_some() {
                    format!(" on both sides ({})", counted(one.pairs, "pair"))
                } else {
                    String::new()
                }
            )
        })
    };
    compared.iter().filter_map(note).collect()
}

/// What pairs save, a sentence for each metric in which they change anything much.
#[must_use]
pub fn saved_notes(compared: &[Compared]) -> Vec<String> {
    let note = |one: &Compared| {
        let [difference, ratio] = one.saved?;
        // What hardly varies is known exactly, with or without pairs.
        let tellable = |gain: f64| gain.is_finite() && gain < 1e6;
        let notable = |gain: f64| tellable(gain) && !(0.9..1.1).contains(&gain);
        if !notable(difference) && !notable(ratio) {
            return None;
        }
        let known = [("ratio", ratio), ("difference", difference)];
        let known = known.into_iter().filter(|(_, gain)| tellable(*gain)).enumerate();
        let known: Vec<String> = known
            .map(|(place, (what, gain))| {
                let times = if place == 0 { "times the replications" } else { "times" };
                format!("{} {times} for the {what}", two_digits(gain))
            })
            .collect();
        let known = known.join(", ");
        Some(format!("{}: without pairs the same width would take {known}", one.metric))
    };
    compared.iter().filter_map(note).collect()
}

fn two_digits(gain: f64) -> String {
    if gain < 9.95 { format!("{gain:.1}") } else { format!("{gain:.0}") }
}

fn cells(compared: &Compared) -> [String; 6] {
    let scale = Scale::for_values(compared.unit, [compared.first.value, compared.second.value]);
    let with_interval = |scale: Scale, estimate| stacked(scale, estimate, WIDTHS[0]);
    [
        match scale.symbol() {
            "%" => format!("{} (%, B - A in percentage points: pp)", compared.metric),
            _ => scale.heading(&compared.metric),
        },
        with_interval(scale, compared.first),
        with_interval(scale, compared.second),
        difference(scale, compared.difference),
        with_interval(Scale::RATIO, compared.ratio),
        p_text(compared.p_value),
    ]
}

/// A difference with its interval; of shares in percentage points.
fn difference(scale: Scale, estimate: Estimate) -> String {
    let text = stacked(scale.of_difference(), estimate, WIDTHS[0]);
    if scale.symbol() == "%" && estimate.value.is_finite() {
        text.replacen('\n', " pp\n", 1)
    } else {
        text
    }
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
