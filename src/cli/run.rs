//! `convsim run`: every configuration of a scenario.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::engine::trace::MOST_RECORDS;
use crate::experiment::precision::{Settled, settle_replications};
use crate::experiment::store::SHARDS;
use crate::experiment::{
    self, Batch, KeptValues, RowSink, Shard, Status, Store, StoreError, all_points,
    check_determinism, fan_out, judge, summarise,
};
use crate::report::files::ResultFolder;
use crate::report::plots::plots;
use crate::report::results_csv::ResultsCsv;
use crate::report::results_parquet::ResultsParquet;
use crate::report::stored::Stored;
use crate::report::{
    Report, answer, manifest, markdown, summary_csv, summary_json, terminal, timeline,
};
use crate::scenario::{LoadOptions, Scenario};
use clap::Args;
use serde_json::{Map, Value};

use super::arguments::{Results, RunChanges, Running, ShardChoice, Stopping, load_all, recorded};
use super::error::{CliError, Problem};
use super::format::Format;
use super::interrupt::{Interrupt, Signals};
use super::merge::{Origin, refuse_others};
use super::plan::Overrides;
use super::plot;
use super::progress::Progress;
use super::{Outcome, print, replication};

/// What `convsim run` understands.
#[derive(Clone, Debug, Args)]
pub struct Arguments {
    /// Scenario files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    pub overrides: Overrides,
    #[command(flatten)]
    stopping: Stopping,
    #[command(flatten)]
    run: RunChanges,
    #[command(flatten)]
    results: Results,
    /// Run the first replication of each point twice and name the first event that differs
    #[arg(long)]
    check_determinism: bool,
    /// Run only part NUMBER of COUNT, for merge; auto asks a Slurm array or a Kubernetes Indexed Job
    #[arg(long, value_name = "NUMBER/COUNT|auto")]
    shard: Option<ShardChoice>,
    /// Run everything anew. Without it, complete replications of an earlier or interrupted run of
    /// the same points are not run again
    #[arg(long)]
    fresh: bool,
    /// Go on from what is complete; the default
    #[arg(long, conflicts_with = "fresh")]
    resume: bool,
    #[command(flatten)]
    pub running: Running,
}

impl Arguments {
    /// The scenarios as they are to be run, and what the loader was asked for.
    pub fn scenarios(&self) -> Result<(Vec<Scenario>, LoadOptions), CliError> {
        let mut options = LoadOptions::from(&self.overrides);
        self.stopping.add_to(&mut options);
        self.run.add_to(&mut options);
        let mut scenarios = self.load(&options)?;
        if self.stopping.is_fixed() {
            scenarios.iter_mut().for_each(|scenario| scenario.run.precision = None);
        }
        Ok((scenarios, options))
    }

    /// The scenarios. That none says until when there are enough replications is told as what it
    /// is.
    fn load(&self, options: &LoadOptions) -> Result<Vec<Scenario>, CliError> {
        let loaded = load_all(&self.files, options);
        let Some(range) = self.stopping.range_alone().filter(|_| loaded.is_err()) else {
            return loaded;
        };
        let mut plain = LoadOptions::from(&self.overrides);
        self.run.add_to(&mut plain);
        let Ok(scenarios) = load_all(&self.files, &plain) else { return loaded };
        let Some(without) = scenarios.iter().find(|scenario| scenario.run.precision.is_none())
        else {
            return loaded;
        };
        let problem = format!(
            "--replications {range} says how many there may be of {}, but nothing says when they \
             are enough",
            without.name
        );
        let allowed = "one number; or a range with --until, for instance --until \
                       'convergence_time<=2%'; or run.precision in the file"
            .to_owned();
        Err(Problem::Argument { problem, allowed }.into())
    }
}

/// Runs the command.
pub fn run(
    arguments: &Arguments,
    words: &[OsString],
    signals: Signals,
) -> Result<Outcome, CliError> {
    let (scenarios, options) = arguments.scenarios()?;
    refuse_same_names(&scenarios)?;
    let shard = arguments.shard.map(ShardChoice::resolve).transpose()?;
    if let Some(shard) = shard {
        for scenario in &scenarios {
            let folder = arguments.results.output.join(&scenario.name);
            refuse_others(&folder, scenario, Some(shard), arguments.fresh)?;
        }
    }
    // Before anything is written, as a file that may grow no further is noted by a signal too.
    let interrupt = Interrupt::watch(words, signals).map_err(Problem::Signals)?;
    let folders: Vec<ResultFolder> = scenarios
        .iter()
        .map(|scenario| {
            let folder = arguments.results.output.join(&scenario.name);
            prepare(shard.map_or(folder.clone(), |s| folder.join(SHARDS).join(s.folder())))
        })
        .collect::<Result<_, _>>()?;
    let mut stores: Vec<Store<'_>> = scenarios
        .iter()
        .zip(&folders)
        .map(|(scenario, folder)| open_store(scenario, folder, arguments.fresh))
        .collect::<Result<_, _>>()?;
    let mut outcome = Outcome::Fine;
    let stores = stores.iter_mut().zip(&folders).enumerate();
    for (scenario, (place, (store, folder))) in scenarios.iter().zip(stores) {
        let mut arguments = arguments.clone();
        arguments.results.place = (scenarios.len() > 1).then_some(place);
        let arguments = &arguments;
        if arguments.check_determinism {
            outcome = outcome.max(report_determinism(scenario, arguments.results.quiet)?);
        }
        let origin = |shard| Origin {
            file: scenario.path.clone(),
            options: options.clone(),
            fixed: arguments.stopping.is_fixed(),
            shard,
        };
        outcome = outcome.max(match shard.map(origin) {
            Some(origin) => run_shard(arguments, scenario, store, folder, &origin, &interrupt)?,
            None => {
                let recorded = recorded(&options);
                run_scenario(arguments, scenario, store, folder, recorded, &interrupt)?
            }
        });
    }
    Ok(outcome)
}

/// Makes sure that `folder` can take results.
pub fn prepare(folder: PathBuf) -> Result<ResultFolder, CliError> {
    let failed = |error| Problem::Folder { folder: folder.clone(), error }.into();
    ResultFolder::prepare(folder.clone()).map_err(failed)
}

/// The rows of `scenario` in `folder`, which no other process can then write to.
fn open_store<'s>(
    scenario: &'s Scenario,
    folder: &ResultFolder,
    fresh: bool,
) -> Result<Store<'s>, CliError> {
    let store = Store::open(folder.path(), scenario, fresh)
        .map_err(|error| refused(folder.path(), error))?;
    folder.remove_leftovers().map_err(|error| write_error(folder, error))?;
    Ok(store)
}

/// Why the rows at `path` cannot be had.
pub fn refused(path: &Path, error: StoreError) -> CliError {
    let folder = path.to_owned();
    match error {
        StoreError::Locked => Problem::Locked { folder },
        StoreError::Changed(differences) => Problem::Changed { folder, differences },
        StoreError::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
            Problem::Damaged { folder, error }
        }
        StoreError::Io(error) => Problem::Folder { folder, error },
    }
    .into()
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
    store: &mut Store<'_>,
    folder: &ResultFolder,
    recorded: Map<String, Value>,
    interrupt: &Interrupt,
) -> Result<Outcome, CliError> {
    let settled = simulate(arguments, scenario, store, None, interrupt);
    let settled = settled.map_err(|error| stopped(interrupt, scenario, store, folder, error))?;
    write_results(scenario, store, folder, &settled, recorded, &arguments.results)
}

/// Runs one part, of which `merge` makes the result.
fn run_shard(
    arguments: &Arguments,
    scenario: &Scenario,
    store: &mut Store<'_>,
    folder: &ResultFolder,
    origin: &Origin,
    interrupt: &Interrupt,
) -> Result<Outcome, CliError> {
    let failed = |error| write_error(folder, error);
    store.note_origin(&origin.record()).map_err(failed)?;
    let shard = origin.shard;
    simulate(arguments, scenario, store, Some(shard), interrupt)
        .map_err(|error| stopped(interrupt, scenario, store, folder, error))?;
    store.sync().map_err(failed)?;
    if !arguments.results.quiet {
        let place = folder.path().display();
        print(&format!("{}: part {shard} is complete in {place}\n", scenario.name))?;
    }
    Ok(Outcome::Fine)
}

/// Sees to it that the store has all that the scenario asks for, or the part `shard` of it; says
/// what that is.
fn simulate(
    arguments: &Arguments,
    scenario: &Scenario,
    store: &mut Store<'_>,
    shard: Option<Shard>,
    interrupt: &Interrupt,
) -> io::Result<Settled> {
    let mut progress: Option<Progress> = None;
    let result = settle_replications(scenario, |tasks, sink| {
        let part = shard.map(|shard| shard.tasks(scenario, tasks));
        let tasks = part.as_deref().unwrap_or(tasks);
        let missing = store.missing(tasks);
        let left = count(&missing);
        let progress = match &mut progress {
            Some(progress) => {
                progress.extend(left);
                progress.plan(&missing);
                progress
            }
            empty => {
                if left < count(tasks) && !arguments.results.quiet {
                    let there = there_already(scenario, store, shard, tasks);
                    eprintln!("{}: {there} replications are there already", scenario.name);
                }
                let mut progress = Progress::new(arguments.running.progress, &scenario.name, left);
                progress.plan(&missing);
                empty.insert(progress)
            }
        };
        let mut interrupt = interrupt.clone();
        let sinks: &mut [&mut dyn RowSink] = &mut [&mut *store, progress, &mut interrupt];
        experiment::run(scenario, &missing, arguments.running.threads(), sinks)?;
        match sink {
            Some(sink) => store.replay(tasks, &mut [sink]),
            None => Ok(()),
        }
    });
    if let Some(progress) = progress {
        progress.finish();
    }
    result
}

/// How many replications need not be run again, in words: of those in `tasks`, or, where it depends
/// on them how many there will be, in all.
fn there_already(
    scenario: &Scenario,
    store: &Store<'_>,
    shard: Option<Shard>,
    tasks: &[Batch],
) -> String {
    let there = |tasks: &[Batch]| count(tasks) - count(&store.missing(tasks));
    let Some(precision) = &scenario.run.precision else {
        return format!("{} of {}", there(tasks), count(tasks));
    };
    let most = precision.max_replications.max(scenario.run.replications);
    let all = all_points(scenario, 0..most);
    there(&shard.map_or_else(|| all.clone(), |shard| shard.tasks(scenario, &all))).to_string()
}

/// Why a run did not come to its end. After a signal: with what is complete on the disk, and how to
/// go on.
fn stopped(
    interrupt: &Interrupt,
    scenario: &Scenario,
    store: &mut Store<'_>,
    folder: &ResultFolder,
    error: io::Error,
) -> CliError {
    let Some(code) = interrupt.code() else { return write_error(folder, error) };
    if let Err(error) = store.sync() {
        return write_error(folder, error);
    }
    eprintln!(
        "{}: interrupted; {} complete replications are kept in {}\n  help: to go on from there: {}",
        scenario.name,
        store.rows(),
        folder.path().display(),
        interrupt.resuming_command()
    );
    CliError::Interrupted(code)
}

/// How many replications.
pub fn count(tasks: &[Batch]) -> u64 {
    tasks.iter().map(|task| task.replications.end - task.replications.start).sum()
}

/// Makes the files from the rows of `tasks`, all of which are in the store, and shows the result.
pub fn write_results(
    scenario: &Scenario,
    store: &mut Store<'_>,
    folder: &ResultFolder,
    settled: &Settled,
    recorded: Map<String, Value>,
    results: &Results,
) -> Result<Outcome, CliError> {
    let failed = |error| write_error(folder, error);
    let columns = scenario.columns();
    let Settled { tasks, reached } = settled;
    let file = folder.create("results.csv").map_err(failed)?;
    let mut rows = ResultsCsv::new(scenario, &columns, reached, file).map_err(failed)?;
    let file = folder.create("results.parquet").map_err(failed)?;
    let mut table = ResultsParquet::new(scenario, &columns, reached, file).map_err(failed)?;
    let mut kept = KeptValues::for_expectations(scenario, &columns);
    let mut first = true;
    let summaries = summarise(&scenario.run, &columns, tasks, |summariser| {
        if std::mem::replace(&mut first, false) {
            let sinks: &mut [&mut (dyn RowSink + Send)] =
                &mut [&mut rows, &mut table, &mut kept, summariser];
            fan_out(sinks, |all| store.replay(tasks, &mut [all]))
        } else {
            store.replay(tasks, &mut [summariser])
        }
    });
    let summaries = summaries.map_err(failed)?;
    let judgements = judge(scenario, &columns, &kept);
    let report =
        Report { scenario, columns: &columns, summaries: &summaries, judgements: &judgements };

    let summary_rows = summary_csv::summary_csv(report).map_err(failed)?;
    let summary = pretty(&summary_json::summary_json(report));
    let manifest = pretty(&manifest::manifest(scenario, recorded));
    // A manifest stands for a complete set of files: that of an earlier run goes first, the new one
    // comes last.
    let unchanged = [("summary.json", &summary), ("manifest.json", &manifest)]
        .into_iter()
        .all(|(name, text)| folder.holds(name, text.as_bytes()));
    folder.remove("manifest.json").map_err(failed)?;
    if !(results.no_plots && unchanged) {
        folder.remove(timeline::FILE).map_err(failed)?;
        folder.remove_pictures().map_err(failed)?;
    }
    rows.finish().and_then(|file| file.finish()).map_err(failed)?;
    table.finish().and_then(|file| file.finish()).map_err(failed)?;
    folder.write("summary.csv", &summary_rows).map_err(failed)?;
    folder.write("summary.json", summary.as_bytes()).map_err(failed)?;
    folder.write("manifest.json", manifest.as_bytes()).map_err(failed)?;
    folder.sync().map_err(failed)?;
    let mut answer = String::new();
    let answered = !results.quiet && results.format == Format::Table;
    if answered || !results.no_plots {
        let stored = Stored::read(folder.path()).map_err(Problem::Stored)?;
        answer = format!("\n{}", answer::terminal(&stored));
        if !results.no_plots {
            draw(scenario, stored, folder, results.quiet)?;
        }
    }

    match (!results.quiet).then_some(results.format) {
        None => {}
        Some(Format::Table) => {
            print(&terminal::terminal(report))?;
            print(&answer)?;
            print(&format!("\nResults are in {}\n", folder.path().display()))?;
        }
        Some(Format::Markdown) => print(&markdown::markdown(report))?,
        Some(Format::Json) => print(&summary)?,
        Some(Format::Csv) => {
            let rows = match results.place {
                None => summary_rows,
                Some(place) => {
                    of_scenario(&summary_rows, &scenario.name, place == 0).map_err(failed)?
                }
            };
            print(&String::from_utf8_lossy(&rows))?;
        }
    }
    let failures = summaries.iter().any(|summary| {
        let mut failures = Status::ALL.into_iter().filter(|status| status.is_failure());
        failures.any(|status| summary.count(status) > 0)
    });
    Ok(if failures { Outcome::Failures } else { Outcome::Fine })
}

/// The rows of `summary.csv` with the scenario before each, and with the heading or without.
fn of_scenario(rows: &[u8], name: &str, heading: bool) -> io::Result<Vec<u8>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(rows);
    let mut writer = csv::Writer::from_writer(Vec::new());
    for (index, row) in reader.records().enumerate() {
        let first = if index == 0 { "scenario" } else { name };
        if index > 0 || heading {
            writer.write_record([first].into_iter().chain(&row?))?;
        }
    }
    writer.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

/// The pictures and the report of the results in `folder`.
fn draw(
    scenario: &Scenario,
    mut stored: Stored,
    folder: &ResultFolder,
    quiet: bool,
) -> Result<(), CliError> {
    stored.record = replication::typical(scenario, &stored);
    if let Some(record) = &stored.record {
        let written = folder.write(timeline::FILE, record.json().as_bytes());
        written.map_err(|error| write_error(folder, error))?;
        if record.ends_early && !quiet {
            eprintln!(
                "{}: the pictures of one replication end early: its record is full, with \
                     {MOST_RECORDS} entries",
                scenario.name
            );
        }
    }
    let plots = plots(&stored, None, None);
    plot::write(&plots, folder.path())?;
    super::report::write(&stored, &plots, folder.path())
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

pub fn write_error(folder: &ResultFolder, error: io::Error) -> CliError {
    Problem::Write { folder: folder.path().to_owned(), error }.into()
}
