//! `convsim sensitivity`: which parameters a figure depends on.

use std::path::{Path, PathBuf};

use crate::experiment::sensitivity::morris::Trajectory;
use crate::experiment::sensitivity::{morris, sobol, tornado};
use crate::experiment::solve::probe::estimate;
use crate::experiment::{self, KeptValues, RowSink, all_points};
use crate::report::files::ResultFolder;
use crate::report::main_columns;
use crate::report::sensitivity::{Analysis, Method, SensitivityReport, csv, document, json};
use crate::scenario::question::{SensitivityMethod, SensitivityQuestion};
use crate::scenario::target::FigureOf;
use crate::scenario::varied::Varied;
use crate::scenario::{LoadOptions, Scenario, Statistic};
use clap::{Args, ValueEnum};
use serde_json::Value;

use super::arguments::{RunChanges, Running, load, load_paired};
use super::error::{CliError, Problem};
use super::format::Format;
use super::progress::Progress;
use super::run::{prepare, write_error};
use super::{Outcome, print};

/// Replications of each point of a design that covers the ranges.
const FEW: u64 = 20;
/// Trajectories of Morris' design.
const TRAJECTORIES: u16 = 20;
/// Samples of Sobol's design.
const SAMPLES: usize = 256;

/// What `convsim sensitivity` understands.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  convsim sensitivity scenarios/chassis-packet-pop-batch.json
  convsim sensitivity scenarios/chassis-packet-pop-batch.json --configuration 'pop 128' \\
      --metric packet_loss_duration --vary orchagent.pop_batch_size=32..1024:log \\
      --vary 'orchagent.bgp.reaction=1 ms..100 ms:log' --method sobol

A range is PATH=LOW..HIGH, evenly spread, or with :log spread by ratios; a parameter that takes \
whole numbers gets no others. PATH=V1,V2,... means these values. \
What the command line does not say, the block \"sensitivity\" of the file does.

Every point has the same replications on common random numbers.

Exit codes: 0 fine, 2 bad usage or input, 3 a model failed.")]
pub struct Arguments {
    /// The scenario file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A parameter with its range, e.g. orchagent.pop_batch_size=32..4096:log. Can be given several
    /// times
    #[arg(long, value_name = "PATH=RANGE")]
    vary: Vec<String>,
    /// How [default: tornado]
    #[arg(long, value_name = "METHOD")]
    method: Option<MethodName>,
    /// The figure, e.g. packet_loss_duration (its mean) or packet_loss_duration.p99; by default all
    /// metrics of the main table. Can be given several times
    #[arg(long = "metric", value_name = "METRIC")]
    metrics: Vec<String>,
    /// With --method morris: how many trajectories, of one point more than there are parameters
    /// [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..))]
    trajectories: Option<u16>,
    /// With --method sobol: how many samples, each of two points more than there are parameters;
    /// powers of two are best [default: 256]
    #[arg(long, value_name = "N", value_parser = parse_samples)]
    samples: Option<usize>,
    /// Replications of each point [default: what the file says, with morris and sobol at most 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    replications: Option<u64>,
    /// Start from this configuration
    #[arg(long, value_name = "NAME")]
    configuration: Option<String>,
    /// Set a parameter, e.g. orchagent.era=b2
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    run: RunChanges,
    /// Write sensitivity.csv, sensitivity.json and pictures into this folder
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    #[command(flatten)]
    running: Running,
}

/// How.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MethodName {
    /// One parameter at a time, from its low to its high end
    Tornado,
    /// Screening by elementary effects (Morris)
    Morris,
    /// Shares of the variance (Sobol), the most thorough and the most expensive
    Sobol,
}

fn parse_samples(text: &str) -> Result<usize, String> {
    let most = sobol::MOST_SAMPLES;
    let samples = text.parse().ok().filter(|samples| (2..=most).contains(samples));
    samples.ok_or_else(|| format!("allowed is 2 to {most}"))
}

/// A design: where each point is in the ranges, `None` for "as it stands".
enum Design {
    Tornado(Vec<Vec<Option<f64>>>),
    Morris(Vec<Trajectory>),
    Sobol(Vec<Vec<f64>>),
}

impl Design {
    fn points(&self) -> Vec<Vec<Option<f64>>> {
        let all = |point: &Vec<f64>| point.iter().copied().map(Some).collect();
        match self {
            Self::Tornado(points) => points.clone(),
            Self::Morris(walks) => walks.iter().flat_map(|walk| &walk.points).map(all).collect(),
            Self::Sobol(points) => points.iter().map(all).collect(),
        }
    }
}

impl From<MethodName> for SensitivityMethod {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::Tornado => Self::Tornado,
            MethodName::Morris => Self::Morris,
            MethodName::Sobol => Self::Sobol,
        }
    }
}

/// Runs the command.
pub fn sensitivity(arguments: &Arguments) -> Result<Outcome, CliError> {
    let asked = arguments.ask()?;
    let folder = arguments.output.clone().map(prepare).transpose()?;
    let Asked { question, spans, .. } = &asked;
    // What is wrong with a range shows at its ends, before thousands of points.
    let probe = tornado::design(spans.len());
    let scenario = load_paired(&arguments.file, &asked.options(&probe))?;
    let columns = scenario.columns();
    let figures = asked.figures(&scenario)?;
    let seed = scenario.run.seed;
    let few = scenario.run.replications.min(FEW);
    let (method, design, replications) = match question.method {
        SensitivityMethod::Tornado => {
            (Method::Tornado, Design::Tornado(probe), scenario.run.replications)
        }
        SensitivityMethod::Morris => {
            let trajectories = usize::from(question.trajectories.unwrap_or(TRAJECTORIES));
            let walks = morris::design(spans.len(), trajectories, seed);
            (Method::Morris, Design::Morris(walks), few)
        }
        SensitivityMethod::Sobol => {
            let samples = question.samples.unwrap_or(SAMPLES);
            (Method::Sobol, Design::Sobol(sobol::design(spans.len(), samples, seed)), few)
        }
    };
    let replications = question.replications.unwrap_or(replications);
    let scenario = match method {
        Method::Tornado => scenario,
        _ => load_paired(&arguments.file, &asked.options(&design.points()))?,
    };
    let kept = simulate(arguments, &scenario, &figures, replications)?;
    let confidence = scenario.run.confidence;
    let analyse = |figure: &FigureOf| analyse(*figure, &design, &kept, confidence, spans.len());
    let report = SensitivityReport {
        scenario: &scenario.name,
        configuration: question.configuration.as_deref(),
        columns: &columns,
        method,
        spans,
        points: scenario.points.len(),
        replications,
        confidence,
        analyses: figures.iter().map(analyse).collect(),
    };
    if let Some(folder) = &folder {
        write(&report, folder)?;
    }
    print(&match arguments.format {
        Format::Table => document(&report).terminal(),
        Format::Markdown => document(&report).markdown(),
        Format::Json => format!("{:#}\n", json(&report)),
        Format::Csv => String::from_utf8_lossy(&table(&report)?).into_owned(),
    })?;
    if let Some(folder) = folder.filter(|_| arguments.format == Format::Table) {
        print(&format!("\nResults are in {}\n", folder.path().display()))?;
    }
    Ok(if kept.failed() > 0 { Outcome::Failures } else { Outcome::Fine })
}

/// What the command line and the file ask for.
struct Asked {
    question: SensitivityQuestion,
    /// The parameters with their ranges.
    spans: Vec<Varied>,
    /// Everything else that the loader is asked for.
    options: LoadOptions,
}

impl Arguments {
    fn ask(&self) -> Result<Asked, CliError> {
        let mut options =
            LoadOptions { set: self.set.clone(), only_varied: true, ..LoadOptions::default() };
        self.run.add_to(&mut options);
        let scenario = load(&self.file, &options)?;
        let question = self.question(scenario.sensitivity)?;
        let read = |text: &String| Varied::read(text, &scenario.components);
        let spans: Vec<Varied> = question.vary.iter().map(read).collect::<Result<_, _>>()?;
        for (index, span) in spans.iter().enumerate() {
            if spans[..index].iter().any(|other| other.path == span.path) {
                let problem = format!("{} is varied twice", span.path);
                let allowed = "one range for each parameter".to_owned();
                return Err(Problem::Argument { problem, allowed }.into());
            }
        }
        if spans.len() > sobol::MOST_PARAMETERS {
            let problem = format!("{} parameters", spans.len());
            let allowed = format!("at most {}", sobol::MOST_PARAMETERS);
            return Err(Problem::Argument { problem, allowed }.into());
        }
        options.configurations.extend(question.configuration.clone());
        options.max_points = usize::MAX;
        Ok(Asked { question, spans, options })
    }

    /// What the command line asks for, with what the file says beside it.
    fn question(
        &self,
        in_file: Option<SensitivityQuestion>,
    ) -> Result<SensitivityQuestion, CliError> {
        let mut asked = in_file.unwrap_or_default();
        for (asked, said) in [(&mut asked.vary, &self.vary), (&mut asked.metrics, &self.metrics)] {
            if !said.is_empty() {
                asked.clone_from(said);
            }
        }
        if asked.vary.is_empty() {
            let problem = "neither the command line nor the file says what varies".to_owned();
            let allowed = "--vary PATH=RANGE, or \"sensitivity\" in the file".to_owned();
            return Err(Problem::Argument { problem, allowed }.into());
        }
        let method = self.method.map_or(asked.method, Into::into);
        for (option, given, of) in [
            ("--trajectories", self.trajectories.is_some(), SensitivityMethod::Morris),
            ("--samples", self.samples.is_some(), SensitivityMethod::Sobol),
        ] {
            if given && method != of {
                let problem = format!("{option} means nothing to this method");
                let allowed = "--trajectories with --method morris, --samples with --method sobol";
                return Err(Problem::Argument { problem, allowed: allowed.to_owned() }.into());
            }
        }
        Ok(SensitivityQuestion {
            method,
            configuration: self.configuration.clone().or(asked.configuration),
            trajectories: self.trajectories.or(asked.trajectories),
            samples: self.samples.or(asked.samples),
            replications: self.replications.or(asked.replications),
            ..asked
        })
    }
}

impl Asked {
    /// What the loader is asked for to have the points of a design.
    fn options(&self, design: &[Vec<Option<f64>>]) -> LoadOptions {
        let settings = |point: &Vec<Option<f64>>| -> Vec<(String, Value)> {
            let set = |(span, share): (&Varied, &Option<f64>)| {
                share.map(|share| (span.path.clone(), span.at(share)))
            };
            self.spans.iter().zip(point).filter_map(set).collect()
        };
        LoadOptions { points: design.iter().map(settings).collect(), ..self.options.clone() }
    }

    fn figures(&self, scenario: &Scenario) -> Result<Vec<FigureOf>, CliError> {
        let columns = scenario.columns();
        let metrics = &self.question.metrics;
        if metrics.is_empty() {
            let mean = |column| FigureOf::of(column, Statistic::Mean, &columns);
            return Ok(main_columns(scenario, &columns).into_iter().map(mean).collect());
        }
        let read = |text: &String| {
            let figure = FigureOf::read(text, &columns)?;
            if figure.column.is_none() {
                let problem = "not_converged is no metric".to_owned();
                let allowed = "a metric; solve knows not_converged".to_owned();
                return Err(Problem::Argument { problem, allowed }.into());
            }
            Ok(figure)
        };
        metrics.iter().map(read).collect()
    }
}

fn simulate(
    arguments: &Arguments,
    scenario: &Scenario,
    figures: &[FigureOf],
    replications: u64,
) -> Result<KeptValues, CliError> {
    let points: Vec<usize> = (0..scenario.points.len()).collect();
    let columns: Vec<usize> = figures.iter().filter_map(|figure| figure.column).collect();
    let mut kept = KeptValues::of(&scenario.run, &scenario.columns(), &points, &columns);
    let total = points.len() as u64 * replications;
    let mut progress = Progress::new(arguments.running.progress, &scenario.name, total);
    let sinks: &mut [&mut dyn RowSink] = &mut [&mut kept, &mut progress];
    let batches = all_points(scenario, 0..replications);
    let result = experiment::run(scenario, &batches, arguments.running.threads(), sinks);
    progress.finish();
    result.map_err(Problem::Start)?;
    Ok(kept)
}

fn analyse(
    figure: FigureOf,
    design: &Design,
    kept: &KeptValues,
    confidence: f64,
    parameters: usize,
) -> Analysis {
    let (column, statistic) = (figure.column.unwrap_or_default(), figure.statistic);
    let values = |point: usize| kept.values(point, column).to_vec();
    let points: Vec<Vec<f64>> = kept.points().map(values).collect();
    // A point that lacks the figure in some replications is not comparable with the others.
    let complete = |values: &Vec<f64>| {
        if values.iter().any(|value| value.is_nan()) {
            f64::NAN
        } else {
            estimate(values, statistic, confidence).value
        }
    };
    let (base, effects) = match design {
        Design::Tornado(_) => {
            let (base, effects) = tornado::effects(&points, statistic, confidence);
            (Some(base), effects)
        }
        Design::Morris(walks) => {
            let figures: Vec<f64> = points.iter().map(complete).collect();
            (None, morris::effects(walks, &figures, confidence))
        }
        Design::Sobol(all) => {
            let figures: Vec<f64> = points.iter().map(complete).collect();
            let samples = all.len() / (parameters + 2);
            (None, sobol::effects(parameters, samples, &figures, confidence))
        }
    };
    Analysis { figure, base, effects }
}

fn table(report: &SensitivityReport<'_>) -> Result<Vec<u8>, CliError> {
    Ok(csv(report).map_err(Problem::Start)?)
}

fn write(report: &SensitivityReport<'_>, folder: &ResultFolder) -> Result<(), CliError> {
    let failed = |error| write_error(folder, error);
    folder.write("sensitivity.csv", &table(report)?).map_err(failed)?;
    let text = format!("{:#}\n", json(report));
    folder.write("sensitivity.json", text.as_bytes()).map_err(failed)?;
    draw(report, folder.path())
}

fn draw(report: &SensitivityReport<'_>, folder: &Path) -> Result<(), CliError> {
    let pictures = crate::report::sensitivity::plots(report);
    super::plot::write_into(&pictures, folder).map(|_| ())
}
