//! `report.html`: one file that holds everything a reader needs, and fetches nothing.
//!
//! The template escapes every text; only the pictures, whose letters their backend escapes, go in
//! as they are. A policy in the file itself forbids a browser to load anything.

mod assumptions;
mod what_if;

#[cfg(test)]
mod tests;

use minijinja::{Environment, Value, context};
use serde::Serialize;

use super::attribution::percent;
use super::number::Scale;
use super::plots::{self, DrawError, Plot};
use super::results_csv::Number;
use super::stored::{Figure, Stored, StoredColumn, StoredPoint, value_text};
use crate::statistics::Estimate;

const TEMPLATE: &str = include_str!("template.html");
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// From so many metrics on the main table is wider than a sheet of paper with letters of the usual
/// size: each has two columns.
const WIDE: usize = 7;
/// The ending decides that everything is escaped.
const NAME: &str = "report.html";

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum HtmlError {
    /// A picture.
    #[error(transparent)]
    Draw(#[from] DrawError),
    /// The data of the panel.
    #[error("the report cannot be made: {0}")]
    Data(#[from] serde_json::Error),
    /// The template.
    #[error("the report cannot be made: {0}")]
    Template(#[from] minijinja::Error),
}

#[derive(Serialize)]
struct Cell {
    value: String,
    text: String,
}

#[derive(Serialize)]
struct TableRow<'s> {
    name: &'s str,
    note: Option<&'s str>,
    cells: Vec<Cell>,
}

#[derive(Serialize)]
struct Column<'s> {
    name: &'s str,
    heading: String,
    summary: &'s str,
}

#[derive(Serialize)]
struct Attribution<'s> {
    title: String,
    parts: Vec<String>,
    rows: Vec<TableRow<'s>>,
}

#[derive(Serialize)]
struct Picture {
    label: String,
    svg: String,
    /// Whether points of the scenario are in it.
    marked: bool,
}

#[derive(Serialize)]
struct Expected<'s> {
    verdict: &'s str,
    expected: &'s str,
    got: &'s str,
    source: &'s str,
    origin: &'s str,
}

/// The whole file, with `plots` in it.
///
/// # Errors
/// A picture that cannot be drawn.
pub fn html(stored: &Stored, plots: &[Plot]) -> Result<String, HtmlError> {
    let mut environment = Environment::new();
    environment.add_template(NAME, TEMPLATE)?;
    let summary = &stored.summary;
    let manifest = |pointer: &str| stored.manifest.pointer(pointer).cloned().unwrap_or_default();
    let columns = stored.main_columns();
    let scales: Vec<Scale> = columns.iter().map(|column| scale(stored, column)).collect();
    let replications = summary.points.iter().map(|point| point.replications).max().unwrap_or(0);
    let context = context! {
        style => STYLE,
        script => SCRIPT,
        name => summary.scenario,
        description => summary.description,
        replications,
        confidence => format!("{}", summary.confidence * 100.0),
        answer => super::answer::sentences(stored),
        warnings => summary.notes.iter().chain(&summary.warnings).collect::<Vec<_>>(),
        columns => headings(&columns, &scales),
        rows => named_rows(stored, &columns, &scales),
        what_if => what_if_table(stored, plots, &columns, &scales)?,
        // A table with very many columns takes smaller letters on paper.
        wide => columns.len() >= WIDE,
        flat => plots::flat(stored).iter().map(|column| column.title()).collect::<Vec<_>>(),
        figures => pictures(plots, false)?,
        replays => pictures(plots, true)?,
        replication => stored.record.as_ref().map(|record| &record.replication),
        replayed => stored.record.as_ref().map(|record| &record.configuration),
        attributions => columns.iter().filter_map(|c| attribution(stored, c)).collect::<Vec<_>>(),
        expectations => expectations(stored),
        sources => summary.sources,
        changes => assumptions::changes(stored),
        assumptions => assumptions::groups(stored),
        command => command(&stored.manifest),
        file => manifest("/file"),
        version => manifest("/convsim"),
        seed => manifest("/run/seed"),
        hash => manifest("/scenario_hash"),
        seed_scheme => manifest("/seed_scheme"),
        resolved => format!("{:#}", manifest("/resolved")),
    };
    Ok(environment.get_template(NAME)?.render(context)?)
}

fn scale(stored: &Stored, column: &StoredColumn) -> Scale {
    let means = stored.summary.points.iter().map(|p| p.figure(&column.name, Figure::Mean).value);
    Scale::for_values(column.unit(), means)
}

fn headings<'s>(columns: &[&'s StoredColumn], scales: &[Scale]) -> Vec<Column<'s>> {
    let heading = |(column, scale): (&&'s StoredColumn, &Scale)| Column {
        name: &column.name,
        heading: scale.heading(&column.title()),
        summary: &column.summary,
    };
    columns.iter().zip(scales).map(heading).collect()
}

/// A row of the table of a sweep.
#[derive(Serialize)]
struct SweptRow {
    values: Vec<String>,
    cells: Vec<Cell>,
}

/// The rows of the main table: the named configurations, or all points where none is swept.
fn named_rows<'s>(
    stored: &'s Stored,
    columns: &[&StoredColumn],
    scales: &[Scale],
) -> Vec<TableRow<'s>> {
    let all = stored.summary.points.iter();
    let few = all.clone().filter(|point| !point.axes.is_empty()).count() < 2;
    let rows = all.filter(|point| few || point.axes.is_empty());
    rows.map(|point| TableRow {
        name: &point.configuration,
        note: point.note.as_deref(),
        cells: cells(point, columns, scales),
    })
    .collect()
}

/// The panel of a sweep and the table that stands for it without a script.
fn what_if_table(
    stored: &Stored,
    plots: &[Plot],
    columns: &[&StoredColumn],
    scales: &[Scale],
) -> Result<Option<Value>, HtmlError> {
    let Some(panel) = what_if::what_if(stored, plots) else { return Ok(None) };
    let rows = panel.points.iter().map(|choice| SweptRow {
        values: choice.values.clone(),
        cells: cells(&stored.summary.points[choice.index], columns, scales),
    });
    let rows: Vec<SweptRow> = rows.collect();
    let data = what_if::embedded(&panel)?;
    Ok(Some(context! { axes => panel.axes, rows, data }))
}

/// The cells of a point: mean and p95 of each metric, and what did not converge.
fn cells(point: &StoredPoint, columns: &[&StoredColumn], scales: &[Scale]) -> Vec<Cell> {
    let cell =
        |estimate: Estimate, text: String| Cell { value: Number(estimate.value).to_string(), text };
    let of_column = |(column, scale): (&&StoredColumn, &Scale)| {
        let mean = point.figure(&column.name, Figure::Mean);
        let p95 = point.figure(&column.name, Figure::P95);
        [cell(mean, scale.plus_minus(mean)), cell(p95, with_interval(*scale, p95))]
    };
    let mut cells: Vec<Cell> = columns.iter().zip(scales).flat_map(of_column).collect();
    let share = point.not_converged();
    cells.push(cell(share, percent(share.value)));
    cells
}

/// A quantile with its interval, whose ends are not equally far from it.
fn with_interval(scale: Scale, estimate: Estimate) -> String {
    let value = scale.value(estimate);
    match scale.interval(estimate).as_str() {
        "" | "±0" => value,
        interval => format!("{value} ({})", interval.replace("..", " to ")),
    }
}

/// The pictures of one replication, or all others.
fn pictures(plots: &[Plot], of_replication: bool) -> Result<Vec<Picture>, DrawError> {
    let picture = |plot: &Plot| -> Result<Picture, DrawError> {
        let of = if plot.metric.is_empty() { "one replication" } else { &plot.metric };
        let label = format!("{} of {of}", plot.kind.name());
        Ok(Picture { label, svg: plot.drawing.svg()?, marked: !plot.drawing.anchors.is_empty() })
    };
    let asked = |plot: &&Plot| plot.metric.is_empty() == of_replication;
    plots.iter().filter(asked).map(picture).collect()
}

fn attribution<'s>(stored: &'s Stored, column: &StoredColumn) -> Option<Attribution<'s>> {
    let parts = stored.parts(&column.name);
    if parts.is_empty() {
        return None;
    }
    let row = |point: &'s StoredPoint| {
        let whole = point.figure(&column.name, Figure::Mean).value;
        let cells = parts.iter().map(|part| {
            let share = point.figure(&part.name, Figure::Mean).value / whole;
            Cell { value: Number(share).to_string(), text: percent(share) }
        });
        TableRow { name: &point.configuration, note: None, cells: cells.collect() }
    };
    Some(Attribution {
        title: column.title(),
        parts: parts.iter().map(|part| plots::part_title(column, part)).collect(),
        rows: stored.summary.points.iter().map(row).collect(),
    })
}

fn expectations(stored: &Stored) -> Vec<Expected<'_>> {
    let expected = stored.summary.expectations.iter().map(|expectation| Expected {
        verdict: &expectation.verdict,
        expected: &expectation.expected,
        got: &expectation.got_text,
        source: &expectation.source,
        origin: &expectation.origin,
    });
    expected.collect()
}

/// What to type, in the folder of the scenario's file, to get the same again.
fn command(manifest: &serde_json::Value) -> String {
    let text = |pointer: &str| manifest.pointer(pointer).map(value_text);
    let mut command = format!("convsim run {}", quoted(&text("/file").unwrap_or_default()));
    let flags = [
        ("set", "--set"),
        ("vary", "--vary"),
        ("design", "--design"),
        ("where", "--where"),
        ("configuration", "--configuration"),
    ];
    // A number of replications that replaced a precision is more than a setting.
    let fixed = manifest.pointer("/run/precision").is_none_or(serde_json::Value::is_null);
    for (key, flag) in flags {
        let values =
            manifest.pointer(&format!("/arguments/{key}")).and_then(serde_json::Value::as_array);
        for value in values.into_iter().flatten().map(value_text) {
            let replications = value.strip_prefix("run.replications=").filter(|_| fixed);
            let (flag, value) =
                replications.map_or((flag, value.as_str()), |number| ("--replications", number));
            command.push_str(&format!(" {flag} {}", quoted(value)));
        }
    }
    command
}

/// As a word of a shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/=:,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
