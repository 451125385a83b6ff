//! What several subcommands understand.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use convsim::scenario::{LoadOptions, Scenario};
use serde_json::{Map, Value, json};

use super::error::CliError;

/// Changes to how the scenario is run.
#[derive(Clone, Debug, Args)]
pub struct RunChanges {
    /// Replications of each point, instead of what the file says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    replications: Option<u64>,
    /// Master seed of all random streams, instead of what the file says
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Virtual time at which a replication ends, e.g. "300 s", instead of what the file says
    #[arg(long, value_name = "DURATION")]
    horizon: Option<String>,
}

impl RunChanges {
    /// Adds them to what the loader is asked for; they win over `--set`.
    pub fn add_to(&self, options: &mut LoadOptions) {
        let set = &mut options.set;
        set.extend(self.replications.map(|n| format!("run.replications={n}")));
        set.extend(self.seed.map(|seed| format!("run.seed={seed}")));
        set.extend(self.horizon.as_ref().map(|horizon| format!("run.horizon={horizon}")));
    }
}

/// Changes to a scenario whose points stay as they are.
#[derive(Clone, Debug, Args)]
pub struct Changes {
    /// Set a parameter in every configuration, e.g. orchagent.pop_batch_size=128
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    run: RunChanges,
}

impl Changes {
    /// What the loader is asked for.
    pub fn load_options(&self) -> LoadOptions {
        let mut options = LoadOptions { set: self.set.clone(), ..LoadOptions::default() };
        self.run.add_to(&mut options);
        options
    }
}

/// How it is run, which changes no result.
#[derive(Clone, Debug, Args)]
pub struct Running {
    /// Worker threads; all processors by default. The results do not depend on it
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<NonZeroUsize>,
    /// How progress is shown on stderr
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub progress: ProgressMode,
}

/// More threads than this are a slip of the finger.
const MOST_THREADS: usize = 4_096;

fn parse_threads(text: &str) -> Result<NonZeroUsize, String> {
    let allowed = || format!("allowed is 1 to {MOST_THREADS}");
    let threads: NonZeroUsize = text.parse().map_err(|_| allowed())?;
    if threads.get() <= MOST_THREADS { Ok(threads) } else { Err(allowed()) }
}

impl Running {
    /// How many worker threads.
    pub fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.threads.unwrap_or_else(all).get()
    }
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressMode {
    /// A bar after a second, when stderr is a terminal
    Auto,
    /// Lines of JSON, one a second
    Json,
    /// Not at all
    None,
}

/// Loads every file; what is wrong with any of them is reported at once.
pub fn load_all(files: &[PathBuf], options: &LoadOptions) -> Result<Vec<Scenario>, CliError> {
    let mut scenarios = Vec::new();
    let mut reports = Vec::new();
    for file in files {
        match load(file, options) {
            Ok(scenario) => scenarios.push(scenario),
            Err(CliError::Reported(more)) => reports.extend(more),
            Err(error) => return Err(error),
        }
    }
    if reports.is_empty() { Ok(scenarios) } else { Err(CliError::Reported(reports)) }
}

/// Loads one file.
pub fn load(file: &Path, options: &LoadOptions) -> Result<Scenario, CliError> {
    Ok(convsim::scenario::load(file, options)?)
}

/// The arguments that change the result, for the manifest.
pub fn recorded(options: &LoadOptions) -> Map<String, Value> {
    let lists = [
        ("set", &options.set),
        ("vary", &options.vary),
        ("configuration", &options.configurations),
    ];
    lists
        .into_iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(name, list)| (name.to_owned(), json!(list)))
        .collect()
}
