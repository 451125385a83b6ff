//! `convsim solve`: which value of a parameter meets a target, or which of several is best.

use std::path::PathBuf;

use crate::experiment::solve::source::Watcher;
use crate::experiment::solve::{
    Chosen, Goal, Objective, ScenarioSource, Search, Settings, Solution, best,
};
use crate::report::document::Document;
use crate::report::solve::{
    BestReport, Searched, SolveReport, best_csv, best_document, best_json, solve_csv,
    solve_document, solve_json,
};
use crate::scenario::question::{MOST_VALUES, SolveGoal, SolveQuestion};
use crate::scenario::target::{FigureOf, Target, magnitude};
use crate::scenario::{LoadOptions, Point, Scenario};
use clap::{ArgGroup, Args};
use serde_json::Value;

use super::arguments::{
    Range, RunChanges, Running, load, load_paired, parse_confidence, parse_range,
};
use super::error::{CliError, Problem};
use super::format::Format;
use super::progress::Progress;
use super::{Outcome, print};

/// Replications of the first look at a value.
const FEWEST: u64 = 50;
/// A value gets up to this many times the replications of the scenario.
const MOST_TIMES: u64 = 10;

/// What `convsim solve` understands.
#[derive(Clone, Debug, Args)]
#[command(
    group = ArgGroup::new("question").args(["largest", "smallest", "minimise", "maximise"]),
    after_help = "\
Examples:
  convsim solve scenarios/chassis-packet-pop-batch.json
  convsim solve scenarios/chassis-packet-pop-batch.json --largest \\
      --parameter orchagent.pop_batch_size=32..4096 --target 'packet_loss_duration.p99<=2s'
  convsim solve scenarios/chassis-packet-pop-batch.json --minimise packet_loss_duration \\
      --indifference '100 ms' --configuration 'pop 128' --configuration 'pop 1024, era B2'

What the command line does not say, the block \"solve\" of the file does, unless the one asks for a \
value that meets a target and the other for the best of several.

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
    #[arg(long)]
    largest: bool,
    /// Find the smallest value that meets the target
    #[arg(long)]
    smallest: bool,
    /// Find the value, or the configuration, with the least mean
    #[arg(long, value_name = "METRIC")]
    minimise: Option<String>,
    /// Find the value, or the configuration, with the greatest mean
    #[arg(long, value_name = "METRIC")]
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
    /// Leave out values that do not meet a condition, beside those of the file, for instance
    /// 'http.server.workers * http.server.threads <= 64'
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<String>,
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

/// Runs the command.
pub fn solve(arguments: &Arguments) -> Result<Outcome, CliError> {
    let asked = arguments.ask()?;
    let mut progress = Progress::new(arguments.running.progress, &asked.scenario.name, 0);
    let found = asked.find(&mut progress);
    progress.finish();
    let found = found?;
    match arguments.format {
        Format::Table => print(&found.document.terminal())?,
        Format::Markdown => print(&found.document.markdown())?,
        Format::Json => print(&format!("{:#}\n", found.json))?,
        Format::Csv => print(&String::from_utf8_lossy(&found.csv))?,
    }
    Ok(found.outcome)
}

/// What was found, in words and for programs.
pub struct Found {
    document: Document,
    pub json: Value,
    csv: Vec<u8>,
    outcome: Outcome,
}

/// What the command line and the file ask for.
#[derive(Debug)]
pub struct Asked {
    pub scenario: Scenario,
    question: SolveQuestion,
    threads: usize,
}

impl Arguments {
    /// What is asked for, and the scenario with the values that are looked at.
    pub fn ask(&self) -> Result<Asked, CliError> {
        let question = self.question()?;
        if question.goal.has_target() && question.configurations.len() > 1 {
            let problem = "several configurations to start from".to_owned();
            let allowed = "one --configuration; --along answers for several values of a parameter";
            return Err(Problem::Argument { problem, allowed: allowed.to_owned() }.into());
        }
        let path = |text: &Option<String>| {
            text.as_ref().and_then(|text| text.split('=').next()).map(|path| path.trim().to_owned())
        };
        if let (Some(parameter), Some(along)) = (path(&question.parameter), path(&question.along))
            && parameter == along
        {
            let problem = format!("--along and --parameter are both {along}");
            let allowed = "two different parameters".to_owned();
            return Err(Problem::Argument { problem, allowed }.into());
        }
        let mut options = self.options();
        options.configurations.clone_from(&question.configurations);
        // The axis of the frontier comes first, so that it varies slowest.
        let vary = [("--along", &question.along), ("--parameter", &question.parameter)];
        for (option, text) in vary {
            options.vary.extend(text.clone());
            options.vary_options.extend(text.is_some().then_some(option));
        }
        if question.goal.has_target() {
            options.max_points = MOST_VALUES;
        }
        let scenario = load_paired(&self.file, &options)?;
        Ok(Asked { scenario, question, threads: self.running.threads() })
    }

    fn options(&self) -> LoadOptions {
        let mut options = LoadOptions {
            set: self.set.clone(),
            conditions: self.conditions.clone(),
            only_varied: true,
            ..LoadOptions::default()
        };
        self.run.add_to(&mut options);
        options
    }

    /// What the command line asks for, with what the file says beside it.
    fn question(&self) -> Result<SolveQuestion, CliError> {
        let options = LoadOptions { conditions: Vec::new(), ..self.options() };
        let in_file = load(&self.file, &options)?.solve;
        let (goal, metric) = match (self.largest, self.smallest, &self.minimise, &self.maximise) {
            (true, ..) => (Some(SolveGoal::Largest), None),
            (_, true, ..) => (Some(SolveGoal::Smallest), None),
            (_, _, Some(metric), _) => (Some(SolveGoal::Minimise), Some(metric.clone())),
            (.., Some(metric)) => (Some(SolveGoal::Maximise), Some(metric.clone())),
            _ => (None, None),
        };
        let Some(goal) = goal.or_else(|| Some(in_file.as_ref()?.goal)) else {
            let problem = "neither the command line nor the file says what to solve".to_owned();
            let allowed = "--largest or --smallest with --parameter and --target; --minimise or \
                           --maximise with --indifference; or \"solve\" in the file"
                .to_owned();
            return Err(Problem::Argument { problem, allowed }.into());
        };
        // A question of another kind has nothing in common with that of the file.
        let mut asked = in_file
            .filter(|question| question.goal.has_target() == goal.has_target())
            .unwrap_or_else(|| SolveQuestion::new(goal));
        asked.goal = goal;
        let texts = [
            (&mut asked.parameter, &self.parameter),
            (&mut asked.target, &self.target),
            (&mut asked.metric, &metric),
            (&mut asked.indifference, &self.indifference),
            (&mut asked.along, &self.along),
        ];
        for (asked, said) in texts {
            if said.is_some() {
                asked.clone_from(said);
            }
        }
        if !self.configurations.is_empty() {
            asked.configurations.clone_from(&self.configurations);
        }
        asked.confidence = self.confidence.or(asked.confidence);
        if let Some(Range { fewest, most }) = self.replications {
            (asked.replications, asked.max_replications) = (Some(fewest), Some(most));
        }
        complete(&asked)?;
        Ok(asked)
    }
}

/// Says what is missing.
fn complete(question: &SolveQuestion) -> Result<(), CliError> {
    let needed = if question.goal.has_target() {
        [("--parameter", &question.parameter), ("--target", &question.target)]
    } else {
        [("a metric", &question.metric), ("--indifference", &question.indifference)]
    };
    match needed.into_iter().find(|(_, said)| said.is_none()) {
        None => Ok(()),
        Some((missing, _)) => {
            let problem = format!("--{} needs {missing}", question.goal.name());
            let allowed = "it on the command line, or in \"solve\" of the file".to_owned();
            Err(Problem::Argument { problem, allowed }.into())
        }
    }
}

impl Asked {
    /// Finds it.
    pub fn find(&self, progress: &mut dyn Watcher) -> Result<Found, CliError> {
        if self.question.goal.has_target() { self.search(progress) } else { self.best(progress) }
    }

    fn settings(&self, values: usize) -> Settings {
        let run = &self.scenario.run;
        let fewest = self.question.replications.unwrap_or(FEWEST);
        let most = run.replications.saturating_mul(MOST_TIMES);
        Settings {
            confidence: self.question.confidence.unwrap_or(run.confidence),
            fewest,
            most: self.question.max_replications.unwrap_or(most).max(fewest),
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

/// The path of `path=values`.
fn path_of(text: Option<&String>) -> Option<String> {
    Some(text?.split_once('=')?.0.trim().to_owned())
}

impl Asked {
    fn search(&self, progress: &mut dyn Watcher) -> Result<Found, CliError> {
        let Self { scenario, question, threads } = self;
        let columns = scenario.columns();
        let target = Target::read(question.target.as_deref().unwrap_or_default(), &columns)?;
        let goal = match question.goal {
            SolveGoal::Largest => Goal::Largest,
            _ => Goal::Smallest,
        };
        let groups = candidates(scenario)?;
        if groups.is_empty() {
            let problem = "there is no value to try".to_owned();
            let allowed = "at least one, for instance --parameter path=32..4096".to_owned();
            return Err(Problem::Argument { problem, allowed }.into());
        }
        let settings = self.settings(groups.iter().map(|(_, group)| group.len()).sum());

        let mut failed = 0;
        let mut solutions: Vec<Solution> = Vec::new();
        for (_, group) in &groups {
            let points = group.iter().map(|candidate| candidate.point).collect();
            let mut source =
                ScenarioSource::new(scenario, points, target.figure, *threads, &mut *progress);
            let solution = Search::new(&mut source, group.len(), target, goal, settings)
                .solve()
                .map_err(Problem::Start)?;
            failed += source.failed();
            solutions.push(solution);
        }

        let along = path_of(question.along.as_ref());
        let searched = |((other, group), solution): (&Group, _)| Searched {
            along: other.clone(),
            values: group.iter().map(|candidate| candidate.text.clone()).collect(),
            solution,
        };
        let report = SolveReport {
            scenario: &scenario.name,
            configuration: question.configurations.first().map(String::as_str),
            columns: &columns,
            target,
            goal,
            parameter: &path_of(question.parameter.as_ref()).unwrap_or_default(),
            settings,
            along: along.as_deref(),
            searches: groups.iter().zip(&solutions).map(searched).collect(),
        };
        let answered = solutions.iter().all(|solution| solution.answer.value().is_some());
        Ok(Found {
            document: solve_document(&report),
            json: solve_json(&report),
            csv: solve_csv(&report).map_err(Problem::Start)?,
            outcome: Outcome::of(answered, failed),
        })
    }

    fn best(&self, progress: &mut dyn Watcher) -> Result<Found, CliError> {
        let Self { scenario, question, threads } = self;
        let columns = scenario.columns();
        let figure = FigureOf::best(question.metric.as_deref().unwrap_or_default(), &columns)?;
        let zone = question.indifference.as_deref().unwrap_or_default();
        let indifference = figure.read_indifference(zone, &columns)?;
        let least = question.goal == SolveGoal::Minimise;
        let swept = question.parameter.is_some();
        let wanted = |point: &&(usize, &Point)| point.1.axes.is_empty() != swept;
        let numbered: Vec<(usize, &Point)> = scenario.points.iter().enumerate().collect();
        let (points, names): (Vec<usize>, Vec<String>) = numbered
            .iter()
            .filter(wanted)
            .map(|(index, point)| (*index, point.configuration.clone()))
            .unzip();
        if points.len() < 2 {
            let problem = format!("there is nothing to choose from but {}", names.join(", "));
            let allowed = "two candidates or more: several --configuration, or a --parameter with \
                           several values"
                .to_owned();
            return Err(Problem::Argument { problem, allowed }.into());
        }
        let settings = self.settings(points.len());
        let objective = Objective { least, indifference, statistic: figure.statistic };
        let count = points.len();
        let mut source = ScenarioSource::new(scenario, points, figure, *threads, progress);
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
        Ok(Found {
            document: best_document(&report),
            json: best_json(&report),
            csv: best_csv(&report).map_err(Problem::Start)?,
            outcome: Outcome::of(matches!(best.chosen, Chosen::One(_)), failed),
        })
    }
}

/// A text without its quotes, anything else as in a file.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
