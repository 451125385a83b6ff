//! `convsim solve`: which value of a parameter meets a target, or which of several is best.

use std::path::PathBuf;

use crate::experiment::solve::source::Watcher;
use crate::experiment::solve::{
    Chosen, Goal, Objective, ScenarioSource, Search, Settings, Solution, best,
};
use crate::report::document::Document;
use crate::report::solve::{
    BestReport, SolveReport, best_document, best_json, solve_document, solve_json,
};
use crate::scenario::target::{FigureOf, Target, magnitude};
use crate::scenario::{LoadOptions, Point, Scenario, Statistic};
use clap::{ArgGroup, Args, ValueEnum};
use serde_json::Value;

use super::arguments::{Range, RunChanges, Running, load_paired, parse_confidence, parse_range};
use super::error::{CliError, Problem};
use super::progress::Progress;
use super::{Outcome, print};

/// Replications of the first look at a value.
const FEWEST: u64 = 50;
/// A value gets up to this many times the replications of the scenario.
const MOST_TIMES: u64 = 10;

/// What `convsim solve` understands.
#[derive(Clone, Debug, Args)]
#[command(
    group = ArgGroup::new("question").required(true).args(["largest", "smallest", "minimise", "maximise"]),
    after_help = "\
Examples:
  convsim solve scenarios/chassis-packet-pop-batch.json --largest \\
      --parameter orchagent.pop_batch_size=32..4096 --target 'packet_loss_duration.p99<=2s'
  convsim solve scenarios/chassis-packet-pop-batch.json --minimise packet_loss_duration \\
      --indifference '100 ms' --configuration 'pop 128' --configuration 'pop 1024, era B2'

--largest and --smallest bisect the values on common random numbers: a value gets more \
replications until the interval of its figure lies on one side of the target, or the most are run; \
then the answer is a range. That the figure rises or falls all along is tested by paired \
differences; where it does neither, all values are tried if there are no more than 64. A time that \
does not come about within the horizon counts as longer than any.

Exit codes: 0 there is an answer, 1 no value surely meets the target or nothing can be chosen, 2 \
bad usage or input, 3 a model failed."
)]
pub struct Arguments {
    /// The scenario file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Find the largest value that meets the target
    #[arg(long, requires = "parameter", requires = "target")]
    largest: bool,
    /// Find the smallest value that meets the target
    #[arg(long, requires = "parameter", requires = "target")]
    smallest: bool,
    /// Find the value, or the configuration, with the least mean
    #[arg(long, value_name = "METRIC", requires = "indifference")]
    minimise: Option<String>,
    /// Find the value, or the configuration, with the greatest mean
    #[arg(long, value_name = "METRIC", requires = "indifference")]
    maximise: Option<String>,
    /// The values: `path=32..4096` (whole numbers), `path=32,64,128`, `path=0.1..0.9:linear:81`,
    /// `'path=1 ms..1 s:log:61'`
    #[arg(long, value_name = "PATH=VALUES")]
    parameter: Option<String>,
    /// What must hold, e.g. 'packet_loss_duration.p99<=2s', 'timeout_rate<=0.1%' (the mean),
    /// 'not_converged<=1%'
    #[arg(long, value_name = "FIGURE<=VALUE", conflicts_with_all = ["minimise", "maximise"])]
    target: Option<String>,
    /// Answer for each value of another parameter: a frontier
    #[arg(long, value_name = "PATH=VALUES", conflicts_with_all = ["minimise", "maximise"])]
    along: Option<String>,
    /// With --minimise and --maximise: the difference that matters, e.g. '100 ms'
    #[arg(long, value_name = "VALUE", conflicts_with_all = ["largest", "smallest"])]
    indifference: Option<String>,
    /// How sure the whole answer is, e.g. 99%, instead of what the file says
    #[arg(long, value_name = "N%", value_parser = parse_confidence)]
    confidence: Option<f64>,
    /// Start from this configuration; with --minimise and --maximise several are the candidates
    #[arg(long = "configuration", value_name = "NAME")]
    configurations: Vec<String>,
    /// Set a parameter in every configuration, e.g. orchagent.era=b2
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Replications of the first look at a value and the most it gets [default: 50 and ten times
    /// what the file says]
    #[arg(long, value_name = "MIN..MAX", value_parser = parse_range)]
    replications: Option<Range>,
    #[command(flatten)]
    run: RunChanges,
    /// What is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    #[command(flatten)]
    pub running: Running,
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables for the terminal
    Table,
    /// Tables for a pull request
    Markdown,
    /// For programs
    Json,
}

/// Runs the command.
pub fn solve(arguments: &Arguments) -> Result<Outcome, CliError> {
    let scenario = arguments.scenario()?;
    let mut progress = Progress::new(arguments.running.progress, &scenario.name, 0);
    let found = find(arguments, &scenario, &mut progress);
    progress.finish();
    let found = found?;
    match arguments.format {
        Format::Table => print(&found.document.terminal())?,
        Format::Markdown => print(&found.document.markdown())?,
        Format::Json => print(&format!("{:#}\n", found.json))?,
    }
    Ok(found.outcome)
}

/// What was found, in words and for programs.
pub struct Found {
    document: Document,
    pub json: Value,
    outcome: Outcome,
}

/// Finds what `arguments` ask for in their `scenario`.
pub fn find(
    arguments: &Arguments,
    scenario: &Scenario,
    progress: &mut dyn Watcher,
) -> Result<Found, CliError> {
    match (&arguments.minimise, &arguments.maximise) {
        (Some(metric), _) => find_best(arguments, scenario, metric, true, progress),
        (None, Some(metric)) => find_best(arguments, scenario, metric, false, progress),
        (None, None) => search(arguments, scenario, progress),
    }
}

impl Arguments {
    /// The scenario with the values that are looked at.
    pub fn scenario(&self) -> Result<Scenario, CliError> {
        if self.minimise.is_some() || self.maximise.is_some() {
            return self.load(&[&self.parameter]);
        }
        if self.configurations.len() > 1 {
            let problem = "several configurations to start from".to_owned();
            let allowed = "one --configuration; --along answers for several values of a parameter";
            return Err(Problem::Argument { problem, allowed: allowed.to_owned() }.into());
        }
        // The axis of the frontier comes first, so that it varies slowest.
        self.load(&[&self.along, &self.parameter])
    }

    fn load(&self, vary: &[&Option<String>]) -> Result<Scenario, CliError> {
        let mut options = LoadOptions {
            set: self.set.clone(),
            vary: vary.iter().filter_map(|text| (*text).clone()).collect(),
            configurations: self.configurations.clone(),
            only_varied: true,
            ..LoadOptions::default()
        };
        self.run.add_to(&mut options);
        load_paired(&self.file, &options)
    }

    fn settings(&self, scenario: &Scenario, values: usize) -> Settings {
        let most = scenario.run.replications.saturating_mul(MOST_TIMES).max(FEWEST);
        let range = self.replications.unwrap_or(Range { fewest: FEWEST, most });
        Settings {
            confidence: self.confidence.unwrap_or(scenario.run.confidence),
            fewest: range.fewest,
            most: range.most,
            values,
        }
    }
}

/// A value of the parameter.
struct Candidate {
    point: usize,
    text: String,
    size: f64,
}

/// The values of the parameter, for one value of the other (if there is one).
type Group = (Option<String>, Vec<Candidate>);

/// The points along the parameter, ascending, for each value of the other one.
fn candidates(scenario: &Scenario) -> Result<Vec<Group>, CliError> {
    let mut groups: Vec<Group> = Vec::new();
    for (index, point) in scenario.points.iter().enumerate() {
        let (other, (path, value)) = match &point.axes[..] {
            [] => continue,
            [own] => (None, own),
            [other, .., own] => (Some(plain(&other.1)), own),
        };
        let text = plain(value);
        let Some(size) = magnitude(value) else {
            let problem = format!("{path}={text} is neither a number nor a quantity");
            let allowed = "numbers, durations or rates; for the best of a list of anything use \
                           --minimise or --maximise"
                .to_owned();
            return Err(Problem::Argument { problem, allowed }.into());
        };
        let candidate = Candidate { point: index, text, size };
        match groups.iter_mut().find(|(known, _)| *known == other) {
            Some((_, group)) => group.push(candidate),
            None => groups.push((other, vec![candidate])),
        }
    }
    for (_, group) in &mut groups {
        group.sort_by(|a, b| a.size.total_cmp(&b.size));
    }
    Ok(groups)
}

fn search(
    arguments: &Arguments,
    scenario: &Scenario,
    progress: &mut dyn Watcher,
) -> Result<Found, CliError> {
    let columns = scenario.columns();
    let target = Target::read(arguments.target.as_deref().unwrap_or_default(), &columns)?;
    let goal = if arguments.largest { Goal::Largest } else { Goal::Smallest };
    let groups = candidates(scenario)?;
    let Some((_, first)) = groups.first().filter(|(_, group)| !group.is_empty()) else {
        let problem = "there is no value to try".to_owned();
        let allowed = "at least one, for instance --parameter path=32..4096".to_owned();
        return Err(Problem::Argument { problem, allowed }.into());
    };
    let values: Vec<String> = first.iter().map(|candidate| candidate.text.clone()).collect();
    let settings = arguments.settings(scenario, groups.iter().map(|(_, g)| g.len()).sum());

    let mut failed = 0;
    let mut solutions: Vec<(Option<String>, Solution)> = Vec::new();
    for (other, group) in &groups {
        let points = group.iter().map(|candidate| candidate.point).collect();
        let threads = arguments.running.threads();
        let mut source =
            ScenarioSource::new(scenario, points, target.figure, threads, &mut *progress);
        let solution = Search::new(&mut source, group.len(), target, goal, settings)
            .solve()
            .map_err(Problem::Start)?;
        failed += source.failed();
        solutions.push((other.clone(), solution));
    }

    let path = |text: &Option<String>| -> Option<String> {
        text.as_deref().and_then(|text| Some(text.split_once('=')?.0.trim().to_owned()))
    };
    let along = path(&arguments.along);
    let report = SolveReport {
        scenario: &scenario.name,
        configuration: arguments.configurations.first().map(String::as_str),
        columns: &columns,
        target,
        goal,
        parameter: &path(&arguments.parameter).unwrap_or_default(),
        values: &values,
        settings,
        along: along.as_deref(),
        searches: solutions.iter().map(|(other, solution)| (other.clone(), solution)).collect(),
    };
    let answered = solutions.iter().all(|(_, solution)| solution.answer.value().is_some());
    let (document, json) = (solve_document(&report), solve_json(&report));
    Ok(Found { document, json, outcome: outcome(answered, failed) })
}

const fn outcome(answered: bool, failed: u64) -> Outcome {
    match (answered, failed) {
        (_, 1..) => Outcome::Failures,
        (true, 0) => Outcome::Fine,
        (false, 0) => Outcome::Missed,
    }
}

fn find_best(
    arguments: &Arguments,
    scenario: &Scenario,
    metric: &str,
    least: bool,
    progress: &mut dyn Watcher,
) -> Result<Found, CliError> {
    let columns = scenario.columns();
    let figure = FigureOf::read(metric, &columns)?;
    if !matches!(figure.statistic, Statistic::Mean | Statistic::NotConverged) {
        let problem = format!("the best {} cannot be promised", figure.text(&columns));
        let allowed = "a mean: the probability of choosing right is known for means only";
        return Err(Problem::Argument { problem, allowed: allowed.to_owned() }.into());
    }
    let zone = arguments.indifference.as_deref().unwrap_or_default();
    let indifference = figure.read_value(zone, &columns)?;
    if indifference <= 0.0 {
        let problem = format!("an indifference zone of {zone}");
        let allowed = "the least difference that matters, above 0".to_owned();
        return Err(Problem::Argument { problem, allowed }.into());
    }
    let swept = arguments.parameter.is_some();
    let wanted = |point: &&(usize, &Point)| point.1.axes.is_empty() != swept;
    let numbered: Vec<(usize, &Point)> = scenario.points.iter().enumerate().collect();
    let (points, names): (Vec<usize>, Vec<String>) = numbered
        .iter()
        .filter(wanted)
        .map(|(index, point)| (*index, point.configuration.clone()))
        .unzip();
    let settings = arguments.settings(scenario, points.len());
    let objective = Objective { least, indifference };
    let count = points.len();
    let threads = arguments.running.threads();
    let mut source = ScenarioSource::new(scenario, points, figure, threads, progress);
    let best = best(&mut source, count, objective, settings).map_err(Problem::Start)?;
    let failed = source.failed();
    let report = BestReport {
        scenario: &scenario.name,
        columns: &columns,
        figure,
        objective,
        settings,
        names: &names,
        best: &best,
    };
    let (document, json) = (best_document(&report), best_json(&report));
    Ok(Found { document, json, outcome: outcome(matches!(best.chosen, Chosen::One(_)), failed) })
}

/// A text without its quotes, anything else as in a file.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
