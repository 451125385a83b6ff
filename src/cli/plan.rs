//! `convsim plan`: every point that a scenario would run, without running it.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use crate::report::markdown::{row, rule};
use crate::scenario::{GivenFiles, LoadOptions, Point, Scenario, load};
use crate::wording::counted;
use comfy_table::{Table, presets};
use miette::IntoDiagnostic;
use serde_json::{Map, Value, json};

use super::differing::Differing;
use super::format::Format;
use crate::report::terminal::wrap;

/// Version of the JSON.
const VERSION: u32 = 1;
/// Columns of a terminal.
const WIDTH: usize = 80;

/// Print every point of a scenario, without running it.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The scenario file.
    pub file: PathBuf,
    /// What the command line changes.
    #[command(flatten)]
    pub overrides: Overrides,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// What the command line changes in a scenario.
#[derive(Clone, Debug, clap::Args)]
pub struct Overrides {
    /// Fix a parameter in every configuration, for instance `orchagent.pop_batch_size=128` or
    /// `run.seed=7`. Can be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Sweep a parameter: `path=32,64`, `path=32..4096:log2`, `path=0.1..0.9:linear:9`,
    /// `path=1..1000:log:9:whole`, `'path=1 ms..1 s:log:7'`; `'a.x,a.y=1,2;10,20'` for lists that
    /// advance together. Replaces the file's axis of that path. Can be given several times.
    #[arg(long, value_name = "PATH=VALUES")]
    pub vary: Vec<String>,
    /// Fill the space of the ranges that --vary gives without a number of values
    /// (`path=32..4096:log`), or of the file's: `sobol:64`, `latin_hypercube:40` (short: `lhs:40`).
    #[arg(long, value_name = "NAME:POINTS")]
    pub design: Option<String>,
    /// Leave out points of the sweep that do not meet a condition, for instance
    /// `'http.server.workers * http.server.threads <= 64'`. Can be given several times.
    #[arg(long = "where", value_name = "CONDITION")]
    pub conditions: Vec<String>,
    /// Run only this configuration, without the file's sweep. Can be given several times.
    #[arg(long = "configuration", value_name = "NAME")]
    pub configurations: Vec<String>,
    /// Refuse a scenario with more points than this.
    #[arg(long, value_name = "COUNT", default_value_t = LoadOptions::default().max_points)]
    pub max_points: usize,
    /// The files to read in place of this machine's.
    #[arg(skip)]
    pub files: Option<Arc<GivenFiles>>,
}

impl From<&Overrides> for LoadOptions {
    fn from(overrides: &Overrides) -> Self {
        Self {
            set: overrides.set.clone(),
            vary: overrides.vary.clone(),
            design: overrides.design.clone(),
            conditions: overrides.conditions.clone(),
            configurations: overrides.configurations.clone(),
            max_points: overrides.max_points,
            files: overrides.files.clone(),
            ..Self::default()
        }
    }
}

/// Writes the points of the scenario to `out`.
///
/// # Errors
/// What is wrong with the scenario, or if `out` cannot be written to.
pub fn execute(args: &Args, out: &mut dyn Write) -> Result<ExitCode, miette::Report> {
    let scenario = load(&args.file, &LoadOptions::from(&args.overrides))
        .map_err(|error| miette::Report::new(*error))?;
    match args.format {
        Format::Table => writeln!(out, "{}", text(&scenario)),
        Format::Markdown => write!(out, "{}", markdown(&scenario)),
        Format::Json => {
            let text = serde_json::to_string_pretty(&plan(&scenario)).into_diagnostic()?;
            writeln!(out, "{text}")
        }
        Format::Csv => out.write_all(&csv_rows(&scenario).into_diagnostic()?),
    }
    .into_diagnostic()?;
    Ok(ExitCode::SUCCESS)
}

fn tasks(scenario: &Scenario) -> u128 {
    scenario.points.len() as u128 * u128::from(scenario.run.replications)
}

/// The points as rows of texts.
struct Lines<'s> {
    points: &'s [Point],
    differing: Differing,
}

impl<'s> Lines<'s> {
    fn new(scenario: &'s Scenario) -> Self {
        Self { points: &scenario.points, differing: Differing::new(&scenario.points) }
    }

    fn heading(&self) -> Vec<String> {
        let words = ["id", "configuration"].map(str::to_owned);
        words.into_iter().chain(self.differing.paths.iter().cloned()).collect()
    }

    /// A line for each point: its identity, its name, and the parameters that differ.
    fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        self.points.iter().enumerate().map(|(index, point)| {
            let value = |column| self.differing.value(index, column);
            let cell = |column| value(column).map_or_else(|| "-".to_owned(), shown);
            let mut row = vec![format!("{:016x}", point.id), point.configuration.clone()];
            row.extend((0..self.differing.paths.len()).map(cell));
            row
        })
    }
}

/// The points as a table, or one below the other where they vary in more than a terminal has
/// room for.
fn points_text(scenario: &Scenario) -> String {
    let lines = Lines::new(scenario);
    let (heading, rows) = (lines.heading(), lines.rows().collect::<Vec<_>>());
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(&heading);
    for row in &rows {
        table.add_row(row);
    }
    let text = table.trim_fmt();
    if text.lines().all(|line| line.chars().count() <= WIDTH) {
        return text;
    }
    let mut lines: Vec<String> = Vec::new();
    for row in rows {
        lines.extend(wrap(&row[..2].join("  "), WIDTH));
        let values = heading.iter().zip(&row).skip(2).filter(|(_, value)| *value != "-");
        let values: Vec<String> = values.map(|(path, value)| format!("{path}={value}")).collect();
        lines.extend(wrap(&values.join(", "), WIDTH - 4).iter().map(|line| format!("    {line}")));
    }
    lines.join("\n")
}

fn markdown(scenario: &Scenario) -> String {
    let lines = Lines::new(scenario);
    let heading = lines.heading();
    let mut text = String::new();
    row(&mut text, &heading);
    rule(&mut text, heading.len(), 0);
    for cells in lines.rows() {
        row(&mut text, &cells);
    }
    text
}

fn csv_rows(scenario: &Scenario) -> std::io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let lines = Lines::new(scenario);
    writer.write_record(lines.heading())?;
    for row in lines.rows() {
        writer.write_record(row)?;
    }
    writer.into_inner().map_err(|error| std::io::Error::other(error.to_string()))
}

fn text(scenario: &Scenario) -> String {
    let mut lines = vec![points_text(scenario), String::new()];
    let total = format!(
        "{} x {} = {}; seed {}, replications 0 to {}, horizon {}, at most {} events each",
        counted(scenario.points.len(), "point"),
        counted(scenario.run.replications, "replication"),
        counted(tasks(scenario), "task"),
        scenario.run.seed,
        scenario.run.replications.saturating_sub(1),
        crate::quantities::duration::format_duration(scenario.run.horizon),
        scenario.run.event_budget,
    );
    lines.extend(wrap(&total, WIDTH));
    if scenario.cut_points > 0 {
        let swept = scenario.points.iter().filter(|point| !point.axes.is_empty()).count() as u64;
        let (cut, all) = (scenario.cut_points, swept + scenario.cut_points);
        lines.push(format!("{cut} of the {all} points of the sweep are cut by \"where\""));
    }
    if scenario.coincident_points > 0 {
        let count = scenario.coincident_points;
        lines.push(format!("{count} sampled points are the same as others after rounding"));
    }
    let solve = scenario.solve.as_ref().map(|question| format!("solve: {question}"));
    let sensitivity = scenario.sensitivity.as_ref();
    let sensitivity = sensitivity.map(|question| format!("sensitivity: {question}"));
    lines.extend(solve.into_iter().chain(sensitivity).flat_map(|text| wrap(&text, WIDTH)));
    let warnings = scenario.warnings.iter();
    lines.extend(warnings.flat_map(|warning| wrap(&format!("warning: {warning}"), WIDTH)));
    lines.join("\n")
}

/// All of it, for programs.
pub fn plan(scenario: &Scenario) -> Value {
    let differing = Differing::new(&scenario.points);
    let points: Vec<Value> = scenario
        .points
        .iter()
        .enumerate()
        .map(|(index, point)| {
            let value = |(column, path): (usize, &String)| {
                Some((path.clone(), differing.value(index, column)?.clone()))
            };
            let paths = differing.paths.iter().enumerate();
            let values: Map<String, Value> = paths.filter_map(value).collect();
            json!({
                "id": format!("{:016x}", point.id),
                "configuration": point.configuration,
                "note": point.note,
                "axes": point.axes.iter().cloned().collect::<Map<_, _>>(),
                "parameters": values,
            })
        })
        .collect();
    json!({
        "version": VERSION,
        "convsim": env!("CARGO_PKG_VERSION"),
        "scenario": scenario.name,
        "seed": scenario.run.seed,
        "replications": scenario.run.replications,
        "horizon": scenario.run.horizon,
        "event_budget": scenario.run.event_budget,
        "points": points,
        "cut_points": scenario.cut_points,
        "coincident_points": scenario.coincident_points,
        "tasks": u64::try_from(tasks(scenario)).unwrap_or(u64::MAX),
        "solve": scenario.solve.as_ref().map(ToString::to_string),
        "sensitivity": scenario.sensitivity.as_ref().map(ToString::to_string),
        "warnings": scenario.warnings,
    })
}

/// A value without quotation marks, and not too wide for a table.
fn shown(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}
