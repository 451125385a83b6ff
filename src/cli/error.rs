//! What can go wrong on the command line, with its text.

use std::io;
use std::path::PathBuf;

use convsim::report::stored::StoredError;
use convsim::report::{html, plots};
use convsim::scenario::LoadError;
use miette::Diagnostic;

/// Why a command could not do its work.
#[derive(Debug)]
pub enum CliError {
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
    #[diagnostic(help("the files of an earlier run are still there; nothing is half written"))]
    Write {
        folder: PathBuf,
        #[source]
        error: io::Error,
    },
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
    #[error("the scenario has no configuration \"{name}\"")]
    #[diagnostic(help("it has {known}"))]
    UnknownConfiguration { name: String, known: String },
    #[error("\"{text}\" is no threshold")]
    #[diagnostic(help(
        "write METRIC.STATISTIC:+N% or :-N%, for instance 'convergence_time.p99:+5%'; the \
         statistics are mean, p50, p95, p99, min, max"
    ))]
    Threshold { text: String },
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
        "sweep needs points with one swept parameter, heat-map with two, attribution a metric \
         with parts, difference two configurations, distribution two replications"
    ))]
    NoPlots { folder: PathBuf },
}

impl From<Problem> for CliError {
    fn from(problem: Problem) -> Self {
        Self::Reported(vec![miette::Report::new(problem)])
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
