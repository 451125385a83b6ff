//! What several subcommands understand.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::experiment::Shard;
use crate::scenario::{LoadOptions, Scenario};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::error::{CliError, Problem};
use super::format::Format;

/// Changes to how the scenario is run.
#[derive(Clone, Debug, Args)]
pub struct RunChanges {
    /// Master seed of all random streams, instead of what the file says
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_seed)]
    seed: Option<u64>,
    /// Which points share their random streams, instead of what the file says: common (replication
    /// r of every point has the same, so that points are compared pair by pair) or independent
    #[arg(long, value_name = "HOW", value_parser = ["common", "independent"])]
    seeding: Option<String>,
    /// Run replications in antithetic pairs, of which one has the complement of the other's random
    /// bits; often fewer are needed for the same precision
    #[arg(long)]
    antithetic: bool,
    /// Virtual time at which a replication ends, e.g. "300 s", instead of what the file says
    #[arg(long, value_name = "DURATION")]
    horizon: Option<String>,
}

impl RunChanges {
    /// Adds them to what the loader is asked for; they win over `--set`.
    pub fn add_to(&self, options: &mut LoadOptions) {
        if let Some(seed) = self.seed {
            options.fix("run.seed", seed, format!("--seed {seed}"));
        }
        if let Some(seeding) = &self.seeding {
            options.fix("run.seeding", seeding, format!("--seeding {seeding}"));
        }
        if self.antithetic {
            options.fix("run.antithetic", true, "--antithetic".to_owned());
        }
        if let Some(horizon) = &self.horizon {
            options.fix("run.horizon", horizon, format!("--horizon {horizon}"));
        }
    }
}

/// Changes to a scenario whose points stay as they are.
#[derive(Clone, Debug, Args)]
pub struct Changes {
    /// Set a parameter in every configuration, e.g. orchagent.pop_batch_size=128
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Replications of each point, instead of what the file says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    replications: Option<u64>,
    #[command(flatten)]
    run: RunChanges,
}

impl Changes {
    /// What the loader is asked for.
    pub fn load_options(&self) -> LoadOptions {
        let mut options = LoadOptions { set: self.set.clone(), ..LoadOptions::default() };
        if let Some(number) = self.replications {
            options.fix("run.replications", number, format!("--replications {number}"));
        }
        self.run.add_to(&mut options);
        options
    }
}

/// When a point has enough replications.
#[derive(Clone, Debug, Args)]
pub struct Stopping {
    /// Replications of each point, instead of what the file says; with --until the fewest and
    /// the most
    #[arg(long, value_name = "N|MIN..MAX", value_parser = parse_replications)]
    replications: Option<Replications>,
    /// Run more replications of each point until half the width of a figure's interval is at most
    /// this share of the figure, e.g. 'convergence_time<=2%' (the mean) or
    /// 'convergence_time.p95<=2%'
    #[arg(long, value_name = "METRIC<=N%", value_parser = parse_until)]
    until: Option<Until>,
}

/// A number of replications, or the fewest and the most.
#[derive(Clone, Copy, Debug)]
struct Replications {
    fewest: u64,
    most: Option<u64>,
}

impl fmt::Display for Replications {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.most {
            None => write!(f, "{}", self.fewest),
            Some(most) => write!(f, "{}..{most}", self.fewest),
        }
    }
}

/// A figure with its relative precision.
#[derive(Clone, Debug)]
struct Until {
    /// As it was written.
    text: String,
    metric: String,
    statistic: &'static str,
    relative: f64,
}

impl Stopping {
    /// True when a number of replications is asked for that is meant to be that number, whatever
    /// precision the file asks for.
    pub fn is_fixed(&self) -> bool {
        self.until.is_none() && self.replications.is_some_and(|asked| asked.most.is_none())
    }

    /// The fewest and the most as they were written, where nothing beside says when it is enough.
    pub fn range_alone(&self) -> Option<String> {
        let range = self.replications.filter(|asked| asked.most.is_some() && self.until.is_none());
        range.map(|range| range.to_string())
    }

    /// Adds it to what the loader is asked for; it wins over `--set`.
    pub fn add_to(&self, options: &mut LoadOptions) {
        if let Some(asked) = self.replications {
            let written = || format!("--replications {asked}");
            options.fix("run.replications", asked.fewest, written());
            if let (Some(most), None) = (asked.most, &self.until) {
                options.fix("run.precision.max_replications", most, written());
            }
        }
        if let Some(until) = &self.until {
            let Until { metric, statistic, relative, .. } = until;
            let mut precision =
                json!({ "metric": metric, "statistic": statistic, "relative": relative });
            if let Some(most) = self.replications.and_then(|replications| replications.most) {
                precision["max_replications"] = json!(most);
            }
            options.fix("run.precision", precision, format!("--until {}", until.text));
        }
    }
}

fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("allowed is a whole number from 0 to {}", u64::MAX))
}

fn parse_replications(text: &str) -> Result<Replications, String> {
    let number = |text: &str| match text.trim().parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("write a whole number from 1, or two such as 10..1000".to_owned()),
    };
    let Some((fewest, most)) = text.split_once("..") else {
        return Ok(Replications { fewest: number(text)?, most: None });
    };
    let (fewest, most) = (number(fewest)?, number(most)?);
    if fewest <= most {
        Ok(Replications { fewest, most: Some(most) })
    } else {
        Err(format!("{fewest} is more than {most}"))
    }
}

/// The fewest and the most replications.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub fewest: u64,
    pub most: u64,
}

pub fn parse_range(text: &str) -> Result<Range, String> {
    let Replications { fewest, most } = parse_replications(text)?;
    Ok(Range { fewest, most: most.unwrap_or(fewest) })
}

pub fn parse_confidence(text: &str) -> Result<f64, String> {
    let percent = text.trim().strip_suffix('%').and_then(|number| number.trim().parse().ok());
    percent
        .map(|percent: f64| percent / 100.0)
        .filter(|share| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| "write a percentage above 0 and below 100, for instance 95%".to_owned())
}

fn parse_until(text: &str) -> Result<Until, String> {
    let bad = || "write METRIC<=N% or METRIC.p95<=N%, for instance 'convergence_time<=2%'";
    let (figure, share) = text.split_once("<=").ok_or_else(bad)?;
    let percent: f64 = share
        .trim()
        .strip_suffix('%')
        .and_then(|number| number.trim().parse().ok())
        .filter(|&percent: &f64| percent.is_finite() && percent > 0.0)
        .ok_or_else(bad)?;
    let figure = figure.trim();
    let (metric, statistic) = ["mean", "p50", "p95", "p99"]
        .into_iter()
        .find_map(|statistic| {
            let metric = figure.strip_suffix(statistic)?.strip_suffix('.')?;
            Some((metric, statistic))
        })
        .unwrap_or((figure, "mean"));
    let (text, metric) = (text.to_owned(), metric.to_owned());
    Ok(Until { text, metric, statistic, relative: percent / 100.0 })
}

/// Which part of the tasks.
#[derive(Clone, Copy, Debug)]
pub enum ShardChoice {
    /// What the environment says.
    Auto,
    /// This.
    Part(Shard),
}

impl std::str::FromStr for ShardChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" { Ok(Self::Auto) } else { text.parse().map(Self::Part) }
    }
}

impl ShardChoice {
    /// The part that is meant.
    pub fn resolve(self) -> Result<Shard, CliError> {
        let Self::Part(shard) = self else { return shard_of_environment() };
        Ok(shard)
    }
}

/// A task of a Slurm array counts from the array's first index in its steps; a pod of a
/// Kubernetes Indexed Job counts from 0 and is told the number of pods by its manifest.
fn shard_of_environment() -> Result<Shard, CliError> {
    let number = |variable: &'static str| -> Result<Option<u64>, CliError> {
        let Some(value) = std::env::var_os(variable) else { return Ok(None) };
        let value = value.to_string_lossy().into_owned();
        match value.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(Problem::ShardVariable { variable, value }.into()),
        }
    };
    let needed = |variable| -> Result<u64, CliError> {
        number(variable)?.ok_or_else(|| Problem::NoShardVariable { variable }.into())
    };
    let (variable, index, first, step, count) = match number("SLURM_ARRAY_TASK_ID")? {
        Some(index) => {
            let first = number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(0);
            let step = number("SLURM_ARRAY_TASK_STEP")?.unwrap_or(1);
            ("SLURM_ARRAY_TASK_ID", index, first, step, needed("SLURM_ARRAY_TASK_COUNT")?)
        }
        None => {
            let index = needed("JOB_COMPLETION_INDEX")?;
            ("JOB_COMPLETION_INDEX", index, 0, 1, needed("JOB_COMPLETIONS")?)
        }
    };
    let place = index.checked_sub(first).and_then(|place| place.checked_div(step));
    place
        .and_then(|place| Shard::new(place.saturating_add(1), count))
        .ok_or_else(|| Problem::ShardVariable { variable, value: index.to_string() }.into())
}

/// Where results go, and what is shown of them.
/// Where results go unless a command says otherwise.
pub const OUTPUT: &str = "outputs";

#[derive(Clone, Debug, Args)]
pub struct Results {
    /// Folder in which each scenario's folder of results is made
    #[arg(long, value_name = "DIR", default_value = OUTPUT)]
    pub output: PathBuf,
    /// What is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
    /// Draw no pictures and write no report.html
    #[arg(long)]
    pub no_plots: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
    /// Of several scenarios the place of this one, so that what is printed of all is one table
    #[arg(skip)]
    pub place: Option<usize>,
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

/// Loads one file whose replications are independent of each other and common to all points.
pub fn load_paired(file: &Path, options: &LoadOptions) -> Result<Scenario, CliError> {
    let scenario = load(file, options)?;
    if scenario.run.antithetic || !scenario.run.pairs_points() {
        let problem = "this command compares points replication by replication".to_owned();
        let antithetic = scenario.run.antithetic.then_some("--set run.antithetic=false");
        let seeding = (!scenario.run.pairs_points()).then_some("--set run.seeding=common");
        let how: Vec<&str> = antithetic.into_iter().chain(seeding).collect();
        let allowed = format!(
            "run.seeding \"common\" and run.antithetic false, for instance by {}",
            how.join(" ")
        );
        return Err(Problem::Argument { problem, allowed }.into());
    }
    Ok(scenario)
}

/// Loads one file.
pub fn load(file: &Path, options: &LoadOptions) -> Result<Scenario, CliError> {
    Ok(crate::scenario::load(file, options)?)
}

/// The arguments that change the result, for the manifest.
pub fn recorded(options: &LoadOptions) -> Map<String, Value> {
    let design: Vec<String> = options.design.iter().cloned().collect();
    let lists = [
        ("set", &options.set),
        ("vary", &options.vary),
        ("design", &design),
        ("where", &options.conditions),
        ("configuration", &options.configurations),
    ];
    lists
        .into_iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(name, list)| (name.to_owned(), json!(list)))
        .collect()
}
