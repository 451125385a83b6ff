//! `convsim run`: every configuration of a scenario.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use convsim::experiment::{
    self, KeptValues, RowSink, Status, Summariser, all_points, check_determinism, judge,
};
use convsim::report::files::ResultFolder;
use convsim::report::plots::plots;
use convsim::report::results_csv::ResultsCsv;
use convsim::report::stored::Stored;
use convsim::report::{Report, manifest, markdown, summary_csv, summary_json, terminal};
use convsim::scenario::{LoadOptions, Scenario};
use serde_json::{Map, Value};

use super::arguments::{RunChanges, Running, load_all, recorded};
use super::error::{CliError, Problem};
use super::plan::Overrides;
use super::plot;
use super::progress::Progress;
use super::{Outcome, print};

/// What `convsim run` understands.
#[derive(Clone, Debug, Args)]
pub struct Arguments {
    /// Scenario files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    overrides: Overrides,
    #[command(flatten)]
    run: RunChanges,
    /// Folder in which each scenario's folder of results is made
    #[arg(long, value_name = "DIR", default_value = "outputs")]
    output: PathBuf,
    /// What is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    /// Draw no pictures and write no report.html
    #[arg(long)]
    no_plots: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    /// Run the first replication of each point twice and name the first event that differs
    #[arg(long)]
    check_determinism: bool,
    #[command(flatten)]
    running: Running,
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables for the terminal
    Table,
    /// Tables for a pull request
    Markdown,
    /// The content of summary.json
    Json,
    /// The content of summary.csv
    Csv,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome, CliError> {
    let mut options = LoadOptions::from(&arguments.overrides);
    arguments.run.add_to(&mut options);
    let scenarios = load_all(&arguments.files, &options)?;
    refuse_same_names(&scenarios)?;
    let folders: Vec<ResultFolder> = scenarios
        .iter()
        .map(|scenario| prepare(arguments.output.join(&scenario.name)))
        .collect::<Result<_, _>>()?;
    let mut outcome = Outcome::Fine;
    for (scenario, folder) in scenarios.iter().zip(&folders) {
        if arguments.check_determinism {
            outcome = outcome.max(report_determinism(scenario, arguments.quiet)?);
        }
        outcome = outcome.max(run_scenario(arguments, scenario, folder, recorded(&options))?);
    }
    Ok(outcome)
}

/// Makes sure that `folder` can take results.
fn prepare(folder: PathBuf) -> Result<ResultFolder, CliError> {
    let failed = |error| Problem::Folder { folder: folder.clone(), error }.into();
    ResultFolder::prepare(folder.clone()).map_err(failed)
}

/// Two scenarios with one name would overwrite each other's results.
fn refuse_same_names(scenarios: &[Scenario]) -> Result<(), CliError> {
    let mut paths: BTreeMap<&str, &Path> = BTreeMap::new();
    for scenario in scenarios {
        if let Some(first) = paths.insert(&scenario.name, &scenario.path) {
            let (first, second) = (first.to_owned(), scenario.path.clone());
            return Err(Problem::SameName { name: scenario.name.clone(), first, second }.into());
        }
    }
    Ok(())
}

fn run_scenario(
    arguments: &Arguments,
    scenario: &Scenario,
    folder: &ResultFolder,
    recorded: Map<String, Value>,
) -> Result<Outcome, CliError> {
    let failed = |error| write_error(folder, error);
    let columns = scenario.columns();
    let file = folder.create("results.csv").map_err(failed)?;
    let mut rows = ResultsCsv::new(scenario, &columns, file).map_err(failed)?;
    let mut summariser = Summariser::new(scenario.run.confidence);
    let mut kept = KeptValues::for_expectations(scenario, &columns);
    let batches = all_points(scenario, 0..scenario.run.replications);
    let total = scenario.points.len() as u64 * scenario.run.replications;
    let mut progress = Progress::new(arguments.running.progress, &scenario.name, total);
    let sinks: &mut [&mut dyn RowSink] =
        &mut [&mut rows, &mut summariser, &mut kept, &mut progress];
    let result = experiment::run(scenario, &batches, arguments.running.threads(), sinks);
    progress.finish();
    result.map_err(failed)?;
    let summaries = summariser.finish();
    let judgements = judge(scenario, &columns, &kept);
    let report =
        Report { scenario, columns: &columns, summaries: &summaries, judgements: &judgements };

    let summary_rows = summary_csv::summary_csv(report).map_err(failed)?;
    let summary = pretty(&summary_json::summary_json(report));
    let manifest = pretty(&manifest::manifest(scenario, recorded));
    rows.finish().and_then(|file| file.finish()).map_err(failed)?;
    folder.write("summary.csv", &summary_rows).map_err(failed)?;
    folder.write("summary.json", summary.as_bytes()).map_err(failed)?;
    // Last, so that a manifest stands for a complete set of files.
    folder.write("manifest.json", manifest.as_bytes()).map_err(failed)?;
    folder.sync().map_err(failed)?;
    if !arguments.no_plots {
        let stored = Stored::read(folder.path()).map_err(Problem::Stored)?;
        let plots = plots(&stored, None, None);
        plot::write(&plots, folder.path())?;
        super::report::write(&stored, &plots, folder.path())?;
    }

    if !arguments.quiet {
        match arguments.format {
            Format::Table => {
                print(&terminal::terminal(report))?;
                print(&format!("\nResults are in {}\n", folder.path().display()))?;
            }
            Format::Markdown => print(&markdown::markdown(report))?,
            Format::Json => print(&summary)?,
            Format::Csv => print(&String::from_utf8_lossy(&summary_rows))?,
        }
    }
    let failures = summaries.iter().any(|summary| summary.count(Status::Failed) > 0);
    Ok(if failures { Outcome::Failures } else { Outcome::Fine })
}

fn report_determinism(scenario: &Scenario, quiet: bool) -> Result<Outcome, CliError> {
    let divergences = check_determinism(scenario);
    for divergence in &divergences {
        eprintln!("{}: not deterministic: {divergence}", scenario.name);
    }
    if !divergences.is_empty() {
        return Ok(Outcome::Missed);
    }
    if !quiet {
        eprintln!(
            "{}: deterministic: the first replication of {} ran twice with the same events and \
             figures",
            scenario.name,
            match scenario.points.len() {
                1 => "its one point".to_owned(),
                points => format!("each of {points} points"),
            }
        );
    }
    Ok(Outcome::Fine)
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn write_error(folder: &ResultFolder, error: io::Error) -> CliError {
    Problem::Write { folder: folder.path().to_owned(), error }.into()
}
