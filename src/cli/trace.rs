//! `convsim trace`: one replication as a timeline.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use crate::engine::Trace;
use crate::engine::trace::MOST_RECORDS;
use crate::experiment::bounds::KnownValues;
use crate::experiment::{self, Batch, KeptValues, Row, RowSink, Status};
use crate::report::attribution::percent;
use crate::report::files::ResultFolder;
use crate::report::main_columns;
use crate::report::number::Scale;
use crate::report::plots::{Kind, PartColours, Plot};
use crate::report::terminal::{hanging, wrapped};
use crate::report::timeline::{Timeline, explain, text, write_chrome};
use crate::scenario::{MetricColumn, Scenario};
use crate::wording::counted;
use clap::{Args, ValueEnum};

use super::arguments::{Changes, Running, load};
use super::error::{CliError, Problem};
use super::plot;
use super::progress::Progress;
use super::replication::{Replayed, at_share_of};
use super::{Outcome, print};

/// What `convsim trace` understands.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Without --text, --explain or --plot it writes the timeline as JSON; open it at https://ui.perfetto.dev or \
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
    /// Print what came out, what is left, and the longest chains of what was waited for, from cause
    /// to effect
    #[arg(long)]
    explain: bool,
    /// How many chains --explain prints
    #[arg(long, value_name = "N", default_value_t = 3, requires = "explain")]
    chains: usize,
    /// Draw a picture, beside the JSON file; can be given several times
    #[arg(long, value_name = "KIND")]
    plot: Vec<PlotKind>,
    /// The JSON file; by default outputs/SCENARIO/trace-CONFIGURATION-N.json
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    running: Running,
}

/// A picture of one replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PlotKind {
    /// What was counted over virtual time, and what happened
    Timeline,
    /// Who was busy with what, and who waited for what
    Gantt,
}

impl From<PlotKind> for Kind {
    fn from(kind: PlotKind) -> Self {
        match kind {
            PlotKind::Timeline => Self::Timeline,
            PlotKind::Gantt => Self::Gantt,
        }
    }
}

/// Which replication of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Pick {
    /// That with the greatest figure, or where it never came; the least where more is better, as
    /// `describe` says
    Worst,
    /// That in the middle
    Median,
    /// That which 99 % do not exceed, or where more is better reach
    P99,
}

/// Runs the command.
pub fn trace(arguments: &Arguments) -> Result<Outcome, CliError> {
    if let Some(folder) = arguments.output.as_ref().filter(|file| file.is_dir()) {
        return Err(Problem::OutputIsFolder { folder: folder.clone() }.into());
    }
    let scenario = load(&arguments.file, &arguments.changes.load_options())?;
    let point = point_of(&scenario, arguments.configuration.as_deref())?;
    let replication = match (arguments.pick, &arguments.metric) {
        (Some(pick), Some(metric)) => choose(arguments, &scenario, point, pick, metric)?,
        _ => arguments.replication,
    };
    let run = &scenario.run;
    let run = run.precision.as_ref().map_or(run.replications, |to| to.max_replications);
    if replication >= run {
        eprintln!(
            "replication {replication} is beyond the {} of the run, 0 to {}",
            counted(run, "replication"),
            run.saturating_sub(1)
        );
    }
    let replayed = Replayed::new(&scenario, point, replication);
    let (row, timeline) = (&replayed.row, replayed.timeline());
    let configuration = &scenario.points[point].configuration;
    let title = format!(
        "{}: {configuration}, replication {replication}: {}",
        scenario.name,
        row.status.name()
    );
    if is_empty(&replayed.trace) {
        eprintln!("nothing was recorded: these models have no timeline yet");
    }
    if !replayed.trace.has_room() {
        eprintln!("the record ends early, with {MOST_RECORDS} entries");
    }
    if arguments.text || arguments.explain {
        print(&format!("{}\n", wrapped("", &title)))?;
    }
    if arguments.explain {
        print(&figures(&scenario, row))?;
        print(&explain(timeline, arguments.chains))?;
    }
    if arguments.text {
        print(&text(timeline))?;
    }
    let folder = Path::new("outputs").join(&scenario.name);
    let name = format!("trace-{}-{replication}", plain(configuration));
    // Pictures go where the timeline goes.
    let beside = arguments.output.as_deref().map(|file| (parent(file), stem(file)));
    let drawn =
        plots(arguments, &scenario, &replayed, beside.as_ref().map_or(&name, |(_, stem)| stem));
    for kind in arguments.plot.iter().map(|kind| Kind::from(*kind)) {
        if drawn.iter().all(|plot| plot.kind != kind) {
            eprintln!("no {} is drawn: the replication has nothing to show in it", kind.name());
        }
    }
    if !drawn.is_empty() {
        let written = match &beside {
            Some((place, _)) => plot::write_into(&drawn, place)?,
            None => plot::write(&drawn, &folder)?,
        };
        let paths: Vec<String> =
            written.iter().map(|path| format!("{}\n", path.display())).collect();
        print(&paths.concat())?;
    }
    let shown = arguments.text || arguments.explain || !arguments.plot.is_empty();
    if arguments.output.is_some() || !shown {
        let file = arguments.output.clone();
        let file = file.unwrap_or_else(|| folder.join(format!("{name}.json")));
        write(timeline, &file)?;
        print(&format!("{}The timeline is in {}\n", wrapped("", &title), file.display()))?;
    }
    Ok(if row.status == Status::Failed { Outcome::Failures } else { Outcome::Fine })
}

/// The pictures that are asked for.
fn plots(arguments: &Arguments, scenario: &Scenario, replayed: &Replayed, name: &str) -> Vec<Plot> {
    let why = arguments.pick.zip(arguments.metric.as_ref()).map(|(pick, metric)| {
        let which = match pick {
            Pick::Worst => "worst",
            Pick::Median => "median",
            Pick::P99 => "p99",
        };
        format!("{which} {metric}")
    });
    let record = replayed.record(why.as_deref());
    let columns = scenario.columns();
    let whole = |column: &MetricColumn| column.whole.map(|whole| columns[whole].name.clone());
    let wholes: Vec<Option<String>> = columns.iter().map(whole).collect();
    let names = columns.iter().zip(&wholes);
    let parts = PartColours::new(names.map(|(c, whole)| (c.name.as_str(), whole.as_deref())));
    let one = |kind: &PlotKind| {
        let kind = Kind::from(*kind);
        kind.of_replication(&record, &format!("{name}-{}", kind.name()), &parts)
    };
    arguments.plot.iter().flat_map(one).collect()
}

/// What came out of the replication: the metrics of the main table, each with its largest part.
fn figures(scenario: &Scenario, row: &Row) -> String {
    let columns = scenario.columns();
    let mut text = String::new();
    for index in main_columns(scenario, &columns) {
        let (column, whole) = (&columns[index], row.figures[index]);
        let scale = Scale::new(column.metric.unit, whole);
        let figure = if whole.is_finite() { scale.bound(whole) } else { "-".to_owned() };
        let parts = (0..columns.len()).filter(|part| columns[*part].whole == Some(index));
        let largest = parts.max_by(|a, b| row.figures[*a].total_cmp(&row.figures[*b]));
        let largest = largest.filter(|part| row.figures[*part] > 0.0 && whole > 0.0);
        let of_which = largest.map_or_else(String::new, |part| {
            let share = percent(row.figures[part] / whole);
            format!(", of which {share} {}", columns[part].name)
        });
        text.push_str(&hanging("", 4, &format!("{} {figure}{of_which}", column.name)));
    }
    text.push('\n');
    text
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
    let mut kept = KeptValues::of(&scenario.run, &columns, &[point], &[column]);
    let batches = [Batch { point, replications: 0..scenario.run.replications }];
    let mut progress =
        Progress::new(arguments.running.progress, &scenario.name, scenario.run.replications);
    let sinks: &mut [&mut dyn RowSink] = &mut [&mut kept, &mut progress];
    let result = experiment::run(scenario, &batches, arguments.running.threads(), sinks);
    progress.finish();
    result.map_err(Problem::Start)?;
    let share = match pick {
        Pick::Worst => 1.0,
        Pick::Median => 0.5,
        Pick::P99 => 0.99,
    };
    // What was cut off counts as the worst that it may become, and the worse the more it has come to.
    let KnownValues { low: least, high: most, .. } = kept.known(point, column);
    let chosen = if columns[column].metric.more_is_better {
        at_share_of(&least, &most, 1.0 - share)
    } else {
        at_share_of(&most, &least, share)
    };
    chosen.ok_or_else(|| Problem::NoFigure { metric: metric.to_owned() }.into())
}

fn write(timeline: Timeline<'_>, file: &Path) -> Result<(), CliError> {
    let folder = parent(file).to_owned();
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let save = || -> io::Result<()> {
        let folder = ResultFolder::prepare(folder.clone())?;
        let mut output = BufWriter::new(folder.create(&name)?);
        write_chrome(timeline, &mut output)?;
        output.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
    };
    save().map_err(|error| Problem::WriteFile { folder, error }.into())
}

/// The folder of a file.
fn parent(file: &Path) -> &Path {
    let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// The name of a file without its ending.
fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// A name for a file.
fn plain(name: &str) -> String {
    let fine = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    name.chars().map(fine).collect()
}
