//! What can go wrong on the command line, with its text.

use std::io;
use std::path::PathBuf;

use crate::report::stored::StoredError;
use crate::report::{html, plots};
use crate::scenario::LoadError;
use crate::scenario::problem::visible;
use crate::scenario::target::TargetError;
use crate::wording::counted;
use miette::Diagnostic;

/// Why a command could not do its work.
#[derive(Debug)]
pub enum CliError {
    /// A signal ended the run, with this exit code; what there is to say has been said.
    Interrupted(u8),
    /// Whoever reads stdout has gone.
    BrokenPipe,
    /// What to tell the user.
    Reported(Vec<miette::Report>),
}

/// What is wrong beside the scenario itself.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum Problem {
    #[error("results cannot be written to {}", folder.display())]
    #[diagnostic(help(
        "nothing was simulated; choose a folder that can be written to with --output"
    ))]
    Folder {
        folder: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("writing to {} failed", folder.display())]
    #[diagnostic(help(
        "nothing is half written, and every complete replication is kept: the same command goes \
         on from there"
    ))]
    Write {
        folder: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("--output is {}, which is a folder", folder.display())]
    #[diagnostic(help(
        "allowed: a file, which need not exist, in a folder that need not either, for instance {}",
        folder.join("trace.json").display()
    ))]
    OutputIsFolder { folder: PathBuf },
    #[error("another convsim is writing to {}", folder.display())]
    #[diagnostic(help("wait until it has ended, or choose another folder with --output"))]
    Locked { folder: PathBuf },
    #[error("{} has the results of something else:\n{}", folder.display(), listed(differences))]
    #[diagnostic(help(
        "--fresh runs everything anew and replaces them; --output chooses another folder"
    ))]
    Changed { folder: PathBuf, differences: Vec<String> },
    #[error("{} has the results of something else:\n{}", folder.display(), listed(differences))]
    #[diagnostic(help(
        "nothing was simulated, as merge could not put parts together with these; choose another \
         folder with --output, or remove this one"
    ))]
    NotToMerge { folder: PathBuf, differences: Vec<String> },
    #[error("{} has the results of something else:\n{}", folder.display(), listed(differences))]
    #[diagnostic(help(
        "merge puts together rows of one and the same scenario; where this is the folder for the \
         result, choose another with --output, and where it is a part, run that part anew with \
         convsim run --fresh"
    ))]
    NotMerged { folder: PathBuf, differences: Vec<String> },
    #[error("{} has no rows that were run with --shard", folder.display())]
    #[diagnostic(help("name the folders that convsim run --shard made, e.g. outputs/SCENARIO"))]
    NoShards { folder: PathBuf },
    #[error("{} of {} of {name} are missing", counted(*missing, "replication"), counted(*points, "point"))]
    #[diagnostic(help(
        "what is there is kept; the commands on stdout run just what is missing, then merge again"
    ))]
    Incomplete { name: String, missing: u64, points: usize },
    #[error("{variable} is not set")]
    #[diagnostic(help(
        "--shard auto needs SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT (a Slurm array), or \
         JOB_COMPLETION_INDEX and JOB_COMPLETIONS (a Kubernetes Indexed Job; set the second to \
         its completions)"
    ))]
    NoShardVariable { variable: &'static str },
    #[error("{variable} is \"{value}\"")]
    #[diagnostic(help("the part is counted from the first index, and there are as many as tasks"))]
    ShardVariable { variable: &'static str, value: String },
    #[error("writing to stdout failed")]
    Stdout(#[source] io::Error),
    #[error("the simulation cannot be started")]
    Start(#[source] io::Error),
    #[error("{} and {} are both called \"{name}\"", first.display(), second.display())]
    #[diagnostic(help("run them one by one with different folders in --output, or rename one"))]
    SameName { name: String, first: PathBuf, second: PathBuf },
    #[error("{} cannot be listed", folder.display())]
    Listing {
        folder: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("{} has no scenarios", folder.display())]
    #[diagnostic(help("a scenario's name ends in .json; *.schema.json does not count"))]
    NoScenarios { folder: PathBuf },
    #[error("signals cannot be watched for: {0}")]
    Signals(io::Error),
    #[error("the scenario has no configuration \"{name}\"")]
    #[diagnostic(help("it has {known}"))]
    UnknownConfiguration { name: String, known: String },
    #[error("{names} are not two scenario files, nor two folders of results{}", absent(missing))]
    #[diagnostic(help(
        "compare FILE A B compares two configurations, compare FILE FILE two scenarios, compare \
         DIR DIR the results that convsim run stored"
    ))]
    NothingToCompare { names: String, missing: Vec<String> },
    #[error(
        "the two sides have {} of these configurations in common",
        if *none { "none" } else { "not all" }
    )]
    #[diagnostic(help("A has {first}; B has {second}"))]
    NothingInCommon { first: String, second: String, none: bool },
    #[error("\"{text}\" is no threshold")]
    #[diagnostic(help(
        "write METRIC.STATISTIC:+N% or :-N%, for instance 'convergence_time.p99:+5%'; the \
         statistics are mean, p50, p95, p99 and, of the same replications, min, max"
    ))]
    Threshold { text: String },
    #[error("\"{text}\" cannot be judged: the replications of the two have nothing in common")]
    #[diagnostic(help(
        "the least and the greatest of other replications differ by chance; compare the mean, p50, \
         p95 or p99, or run both with one seed"
    ))]
    ExtremeOfOthers { text: String },
    #[error("writing to {} failed", folder.display())]
    #[diagnostic(help("nothing is half written; name a file in a folder that can be written to"))]
    WriteFile {
        folder: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("{} cannot be written", file.display())]
    #[diagnostic(help("nothing was simulated; name a file in a folder that can be written to"))]
    NoFile {
        file: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("{} has rows that this convsim cannot go on from", folder.display())]
    #[diagnostic(help(
        "nothing was simulated; --fresh runs everything anew and replaces them, --output chooses \
         another folder"
    ))]
    Damaged {
        folder: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("{problem}")]
    #[diagnostic(help("{allowed}"))]
    Argument { problem: String, allowed: String },
    #[error("there is no metric \"{name}\"")]
    #[diagnostic(help("the metrics are {known}"))]
    UnknownMetric { name: String, known: String },
    #[error("no replication has a figure of \"{metric}\"")]
    #[diagnostic(help("choose one with --replication"))]
    NoFigure { metric: String },
    #[error(transparent)]
    #[diagnostic(help(
        "give the folder of one scenario that `convsim run` of this version has written, for \
         instance outputs/NAME"
    ))]
    Stored(StoredError),
    #[error("pictures cannot be written to {}: {error}", folder.display())]
    Plots { folder: PathBuf, error: plots::WriteError },
    #[error(transparent)]
    Report(html::HtmlError),
    #[error("no such picture can be made from {}", folder.display())]
    #[diagnostic(help(
        "sweep needs points with a swept parameter, heat-map a grid of two, attribution a metric \
         with parts, difference two configurations, distribution two replications, calibration \
         expectations or recordings of what was measured, timeline and gantt a run without \
         --no-plots, in which something went on; of a metric without a figure at any point there is \
         none"
    ))]
    NoPlots { folder: PathBuf },
}

/// Which of several are not there, to go on with.
fn absent(missing: &[String]) -> String {
    let is = if missing.len() == 1 { "does" } else { "do" };
    match missing {
        [] => String::new(),
        names => format!(": {} {is} not exist", names.join(" and ")),
    }
}

/// The first few of `lines`, one a line.
fn listed(lines: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut text: Vec<String> =
        lines.iter().take(SHOWN).map(|line| format!("- {}", visible(line))).collect();
    if lines.len() > SHOWN {
        text.push(format!("- and {} more", lines.len() - SHOWN));
    }
    text.join("\n")
}

impl From<Problem> for CliError {
    fn from(problem: Problem) -> Self {
        Self::Reported(vec![miette::Report::new(problem)])
    }
}

impl From<TargetError> for CliError {
    fn from(TargetError { problem, allowed }: TargetError) -> Self {
        Problem::Argument { problem, allowed }.into()
    }
}

impl From<Box<LoadError>> for CliError {
    fn from(error: Box<LoadError>) -> Self {
        Self::Reported(vec![miette::Report::new(*error)])
    }
}

impl From<miette::Report> for CliError {
    fn from(report: miette::Report) -> Self {
        Self::Reported(vec![report])
    }
}
