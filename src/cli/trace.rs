//! `convsim trace`: one replication as a timeline.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use convsim::engine::Trace;
use convsim::experiment::{self, Batch, KeptValues, RowSink, Status, replay};
use convsim::report::files::ResultFolder;
use convsim::report::timeline::{Timeline, explain, text, write_chrome};
use convsim::scenario::Scenario;

use super::arguments::{Changes, Running, load};
use super::error::{CliError, Problem};
use super::progress::Progress;
use super::{Outcome, print};

/// What `convsim trace` understands.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Without --text or --explain it writes the timeline as JSON; open it at https://ui.perfetto.dev or \
in chrome://tracing. The replication is the very one that `convsim run` has: same seed, same events.")]
pub struct Arguments {
    /// The scenario file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Name of the configuration; the first by default
    #[arg(long, value_name = "NAME")]
    configuration: Option<String>,
    /// Which replication
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "pick")]
    replication: u64,
    /// Choose the replication by --metric among all that the scenario asks for
    #[arg(long, value_name = "WHICH", requires = "metric")]
    pick: Option<Pick>,
    /// The metric by which --pick chooses
    #[arg(long, value_name = "METRIC", requires = "pick")]
    metric: Option<String>,
    /// Print the timeline
    #[arg(long)]
    text: bool,
    /// Print what each thing waited for, from cause to effect
    #[arg(long)]
    explain: bool,
    /// The JSON file; by default outputs/SCENARIO/trace-CONFIGURATION-N.json
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    running: Running,
}

/// Which replication of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Pick {
    /// That with the greatest figure
    Worst,
    /// That in the middle
    Median,
    /// That which 99 % do not exceed
    P99,
}

/// Runs the command.
pub fn trace(arguments: &Arguments) -> Result<Outcome, CliError> {
    let scenario = load(&arguments.file, &arguments.changes.load_options())?;
    let point = point_of(&scenario, arguments.configuration.as_deref())?;
    let replication = match (arguments.pick, &arguments.metric) {
        (Some(pick), Some(metric)) => choose(arguments, &scenario, point, pick, metric)?,
        _ => arguments.replication,
    };
    let (row, trace) = replay(&scenario, point, replication);
    let configuration = &scenario.points[point].configuration;
    let title = format!(
        "{}: {configuration}, replication {replication}: {}",
        scenario.name,
        row.status.name()
    );
    let components: Vec<String> =
        scenario.components.iter().map(|(name, _)| name.clone()).collect();
    let timeline = Timeline { components: &components, trace: &trace };
    if is_empty(&trace) {
        eprintln!("nothing was recorded: these models have no timeline yet");
    }
    if arguments.text || arguments.explain {
        print(&format!("{title}\n\n"))?;
    }
    if arguments.explain {
        print(&explain(timeline))?;
    }
    if arguments.text {
        print(&text(timeline))?;
    }
    if arguments.output.is_some() || !(arguments.text || arguments.explain) {
        let file = arguments.output.clone().unwrap_or_else(|| {
            let name = format!("trace-{}-{replication}.json", plain(configuration));
            Path::new("outputs").join(&scenario.name).join(name)
        });
        write(timeline, &file)?;
        print(&format!("{title}\nThe timeline is in {}\n", file.display()))?;
    }
    Ok(if row.status == Status::Failed { Outcome::Failures } else { Outcome::Fine })
}

fn is_empty(trace: &Trace) -> bool {
    trace.spans.is_empty() && trace.instants.is_empty() && trace.levels.is_empty()
}

fn point_of(scenario: &Scenario, name: Option<&str>) -> Result<usize, CliError> {
    match name {
        None => Ok(0),
        Some(name) => super::compare::find_point(scenario, name),
    }
}

/// Runs all replications of the point and chooses one.
fn choose(
    arguments: &Arguments,
    scenario: &Scenario,
    point: usize,
    pick: Pick,
    metric: &str,
) -> Result<u64, CliError> {
    let columns = scenario.columns();
    let column = columns.iter().position(|column| column.name == metric).ok_or_else(|| {
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        Problem::UnknownMetric { name: metric.to_owned(), known: names.join(", ") }
    })?;
    let mut kept = KeptValues::of(&[point], &[column]);
    let batches = [Batch { point, replications: 0..scenario.run.replications }];
    let mut progress =
        Progress::new(arguments.running.progress, &scenario.name, scenario.run.replications);
    let sinks: &mut [&mut dyn RowSink] = &mut [&mut kept, &mut progress];
    let result = experiment::run(scenario, &batches, arguments.running.threads(), sinks);
    progress.finish();
    result.map_err(Problem::Start)?;
    let figures = kept.values(point, column);
    let mut order: Vec<usize> = (0..figures.len()).filter(|r| figures[*r].is_finite()).collect();
    order.sort_by(|a, b| figures[*a].total_cmp(&figures[*b]));
    let share = match pick {
        Pick::Worst => 1.0,
        Pick::Median => 0.5,
        Pick::P99 => 0.99,
    };
    // The smallest figure that at least this share does not exceed.
    let rank = ((order.len() as f64 * share).ceil() as usize).saturating_sub(1);
    let chosen = order.get(rank).map(|replication| *replication as u64);
    chosen.ok_or_else(|| Problem::NoFigure { metric: metric.to_owned() }.into())
}

fn write(timeline: Timeline<'_>, file: &Path) -> Result<(), CliError> {
    let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).to_owned();
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let save = || -> io::Result<()> {
        let folder = ResultFolder::prepare(folder.clone())?;
        let mut output = BufWriter::new(folder.create(&name)?);
        write_chrome(timeline, &mut output)?;
        output.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
    };
    save().map_err(|error| Problem::Write { folder, error }.into())
}

/// A name for a file.
fn plain(name: &str) -> String {
    let fine = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    name.chars().map(fine).collect()
}
