//! `convsim check`: whether what scenarios expect comes out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::experiment::expectation::settle_expectations;
use crate::experiment::{self, Judgement, RowSink, Verdict};
use crate::report::Report;
use crate::report::checked::{checked_csv, checked_json, checked_markdown};
use crate::report::expectations::{Detail, expectation_list};
use crate::report::files::ResultFolder;
use crate::report::junit::{Suite, junit};
use crate::report::terminal::wrapped;
use crate::scenario::{MetricColumn, Scenario};
use crate::wording::counted;
use clap::Args;

use super::arguments::{Changes, Running, load_all};
use super::error::{CliError, Problem};
use super::format::Format;
use super::progress::Progress;
use super::run::count;
use super::{Outcome, print, print_verdicts};

/// What `convsim check` understands.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
An expectation is held when the whole interval of the figure lies within its bounds, missed when \
it lies outside, and undecided when it straddles a bound. An undecided one gets up to four times \
the scenario's replications; if it still is undecided, it counts as failed, because a test that \
cannot tell protects nothing. As that makes up to three looks, each interval is at a confidence \
with which all three hold together at the scenario's (98.3 % for 95 %).

Exit codes: 0 all held, 1 some did not, 2 bad usage or input, 3 a model failed.")]
pub struct Arguments {
    /// Scenario files, or folders of them (*.json but *.schema.json)
    #[arg(required = true, value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    changes: Changes,
    /// What is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    /// Write the outcome as JUnit XML, for a CI server
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    running: Running,
}

/// A scenario that was checked.
struct Checked {
    scenario: Scenario,
    columns: Vec<MetricColumn>,
    judgements: Vec<Judgement>,
    failures: u64,
}

impl Checked {
    fn report(&self) -> Report<'_> {
        Report {
            scenario: &self.scenario,
            columns: &self.columns,
            summaries: &[],
            judgements: &self.judgements,
        }
    }
}

/// Runs the command.
pub fn check(arguments: &Arguments) -> Result<Outcome, CliError> {
    let files = scenario_files(&arguments.paths)?;
    let junit_file = arguments.junit.as_deref().map(prepare_junit).transpose()?;
    let scenarios = load_all(&files, &arguments.changes.load_options())?;
    let mut all: Vec<Checked> = Vec::new();
    for scenario in scenarios {
        let checked = check_scenario(arguments, scenario)?;
        if arguments.format == Format::Table {
            print_verdicts(&section(&checked))?;
        }
        all.push(checked);
    }
    print_all(arguments.format, &all)?;
    if let Some((folder, name)) = junit_file {
        let suites: Vec<Suite<'_>> = all
            .iter()
            .map(|checked| Suite { report: checked.report(), failures: checked.failures })
            .collect();
        let written = folder.write(&name, junit(&suites).as_bytes());
        written.map_err(|error| Problem::WriteFile { folder: folder.path().to_owned(), error })?;
    }
    let judgements = || all.iter().flat_map(|checked| &checked.judgements);
    let missed = judgements().any(|j| matches!(j.verdict, Verdict::Missed | Verdict::Undecided));
    let failures = all.iter().map(|checked| checked.failures).sum();
    Ok(Outcome::of(!missed, failures))
}

/// The end of the tables, or all of it in another form.
fn print_all(format: Format, all: &[Checked]) -> Result<(), CliError> {
    let reports: Vec<Report<'_>> = all.iter().map(Checked::report).collect();
    match format {
        Format::Table => print(&closing_line(all)),
        Format::Markdown => print(&checked_markdown(&reports)),
        Format::Json => print(&format!("{:#}\n", checked_json(&reports))),
        Format::Csv => {
            let rows = checked_csv(&reports).map_err(Problem::Stdout)?;
            print(&String::from_utf8_lossy(&rows))
        }
    }
}

fn check_scenario(arguments: &Arguments, scenario: Scenario) -> Result<Checked, CliError> {
    let columns = scenario.columns();
    let mut progress = Progress::new(arguments.running.progress, &scenario.name, 0);
    let settled = settle_expectations(&scenario, &columns, |batches, kept| {
        progress.extend(count(batches));
        let sinks: &mut [&mut dyn RowSink] = &mut [kept, &mut progress];
        experiment::run(&scenario, batches, arguments.running.threads(), sinks)
    });
    progress.finish();
    let (judgements, failures) = settled.map_err(Problem::Start)?;
    Ok(Checked { columns, judgements, failures, scenario })
}

fn section(checked: &Checked) -> String {
    let table = expectation_list(checked.report(), Detail::All);
    let name = &checked.scenario.name;
    let mut text = if table.is_empty() {
        format!("{name}: expects nothing\n")
    } else {
        format!("{name}\n{table}")
    };
    if let Some(note) = alike(&checked.judgements) {
        text.push_str(&wrapped("- ", &note));
    }
    if checked.failures > 0 {
        text.push_str(&format!(
            "{} failed with a fault in the model; convsim run shows them\n",
            counted(checked.failures, "replication")
        ));
    }
    text.push('\n');
    text
}

/// Says of how many expectations what is rare would not have shown.
fn alike(judgements: &[Judgement]) -> Option<String> {
    let alike = || judgements.iter().filter(|judgement| judgement.alike);
    let fewest = alike().map(|judgement| judgement.replications).min()?;
    let count = alike().count();
    Some(format!(
        "{count} expectation{}: all replications gave the same figure, so that its interval has no \
         width; what happens in fewer than one of some {fewest} would not have shown",
        if count == 1 { "" } else { "s" },
    ))
}

fn closing_line(all: &[Checked]) -> String {
    let judgements = || all.iter().flat_map(|checked| &checked.judgements);
    let count = |verdict| judgements().filter(|judgement| judgement.verdict == verdict).count();
    let (expectations, scenarios) = (judgements().count(), all.len());
    let plural = |count| if count == 1 { "" } else { "s" };
    let mut line = format!(
        "{expectations} expectation{} in {scenarios} scenario{}: {} held, {} missed",
        plural(expectations),
        plural(scenarios),
        count(Verdict::Held),
        count(Verdict::Missed)
    );
    for (verdict, word) in [(Verdict::Undecided, "undecided"), (Verdict::Skipped, "skipped")] {
        let count = count(verdict);
        if count > 0 {
            line.push_str(&format!(", {count} {word}"));
        }
    }
    line.push('\n');
    line
}

/// The files that are meant: a folder means the scenarios in it, by name.
fn scenario_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let mut found = files_of_folder(path)
                .map_err(|error| Problem::Listing { folder: path.clone(), error })?;
            if found.is_empty() {
                return Err(Problem::NoScenarios { folder: path.clone() }.into());
            }
            found.sort();
            files.extend(found);
        } else {
            files.push(path.clone());
        }
    }
    let known = |file: &PathBuf| fs::canonicalize(file).unwrap_or_else(|_| file.clone());
    let mut seen = BTreeSet::new();
    if let Some(file) = files.iter().find(|file| !seen.insert(known(file))) {
        let problem = format!("{} is given twice", file.display());
        let allowed = "each scenario once, by itself or in a folder".to_owned();
        return Err(Problem::Argument { problem, allowed }.into());
    }
    Ok(files)
}

fn files_of_folder(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let is_scenario = name.is_some_and(|name| {
            name.ends_with(".json") && !name.ends_with(".schema.json") && !name.starts_with('.')
        });
        if is_scenario && path.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}

/// Makes sure that the file can be written before anything is simulated.
fn prepare_junit(file: &Path) -> Result<(ResultFolder, String), CliError> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = parent.unwrap_or(Path::new(".")).to_owned();
    let failed = |error| Problem::NoFile { file: file.to_owned(), error };
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.filter(|_| !file.is_dir()).ok_or_else(|| {
        failed(std::io::Error::new(std::io::ErrorKind::IsADirectory, "it names no file"))
    })?;
    let prepared = ResultFolder::prepare(folder.clone()).map_err(failed)?;
    Ok((prepared, name))
}
