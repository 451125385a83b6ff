//! The command line for a program that is no terminal, such as the Python package: the same words
//! mean the same and are refused with the same text, but nothing is printed.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;

use clap::Parser;
use miette::{MietteHandler, MietteHandlerOpts, Report, ReportHandler};
use serde_json::Value;

use super::error::{CliError, Problem};
use super::interrupt::Signals;
use super::run::refused;
use super::{Cli, Command, Ended, compare, merge, perform, plan, solve};
use crate::experiment::StoreError;
use crate::experiment::solve::source::Watcher;
use crate::scenario::{GivenFiles, LoadError, MetricColumn, Scenario};

/// What `convsim run` was asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The scenario, as it is to be run.
    pub scenario: Scenario,
    /// On how many threads.
    pub threads: usize,
}

/// Why it cannot be done.
#[derive(Debug)]
pub enum Refused {
    /// The words make no command line: what the command line says to that.
    Usage(String),
    /// What is wrong.
    Reported(Vec<Report>),
}

impl Refused {
    /// The scenario's mistakes with their places, if it is that.
    pub fn load_errors(&self) -> impl Iterator<Item = &LoadError> {
        let reports = match self {
            Self::Usage(_) => &[][..],
            Self::Reported(reports) => reports,
        };
        reports.iter().filter_map(Report::downcast_ref)
    }
}

/// What the command line prints, without colours.
impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) => formatter.write_str(text.trim_end()),
            Self::Reported(reports) => {
                let handler = MietteHandlerOpts::new().color(false).terminal_links(false).build();
                for (index, report) in reports.iter().enumerate() {
                    let separator = if index > 0 { "\n" } else { "" };
                    write!(formatter, "{separator}{}", Plain { handler: &handler, report })?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for Refused {}

impl From<CliError> for Refused {
    fn from(error: CliError) -> Self {
        match error {
            CliError::BrokenPipe | CliError::Interrupted(_) => Self::Reported(Vec::new()),
            CliError::Reported(reports) => Self::Reported(reports),
        }
    }
}

struct Plain<'r> {
    handler: &'r MietteHandler,
    report: &'r Report,
}

impl fmt::Display for Plain<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handler.debug(self.report.as_ref(), formatter)
    }
}

/// What `words`, those of a command line `convsim run` with one scenario, ask for. Options that say
/// where results go mean nothing here.
///
/// # Errors
/// What is wrong with the words or the scenario.
pub fn ask(words: impl IntoIterator<Item = OsString>) -> Result<Asked, Refused> {
    let usage = |error: clap::Error| Refused::Usage(error.render().to_string());
    let Command::Run(arguments) = Cli::try_parse_from(words).map_err(usage)?.command else {
        return Err(Refused::Usage("this is no command line of `convsim run`".to_owned()));
    };
    let (mut scenarios, _) = arguments.scenarios()?;
    match (scenarios.pop(), scenarios.is_empty()) {
        (Some(scenario), true) => Ok(Asked { scenario, threads: arguments.running.threads() }),
        _ => Err(Refused::Usage("one scenario at a time".to_owned())),
    }
}

/// Does what `words`, those of a command line `convsim run`, ask for with `files` in place of this
/// machine's. Their paths are those that loading names, as in [`Scenario::files`].
#[must_use]
pub fn execute_with(words: impl IntoIterator<Item = OsString>, files: GivenFiles) -> Ended {
    perform(words.into_iter().collect(), Signals::Left, Some(files))
}

/// Refuses the scenario's folder of results when it has rows with which the parts of `scenario`
/// cannot be merged.
///
/// # Errors
/// Whose rows they are, and in what they differ.
pub fn refuse_others(folder: &Path, scenario: &Scenario) -> Result<(), Refused> {
    Ok(merge::refuse_others(folder, scenario, None, false)?)
}

/// What a command line `convsim solve` asks for.
#[derive(Debug)]
pub struct Question(solve::Asked);

/// The question that `words` ask.
///
/// # Errors
/// What is wrong with the words or the scenario.
pub fn question(words: impl IntoIterator<Item = OsString>) -> Result<Question, Refused> {
    let usage = |error: clap::Error| Refused::Usage(error.render().to_string());
    let Command::Solve(arguments) = Cli::try_parse_from(words).map_err(usage)?.command else {
        return Err(Refused::Usage("this is no command line of `convsim solve`".to_owned()));
    };
    Ok(Question(arguments.ask()?))
}

impl Question {
    /// The scenario whose points are run.
    #[must_use]
    pub const fn scenario(&self) -> &Scenario {
        &self.0.scenario
    }

    /// What `convsim solve --format json` prints; rows are shown to `watcher`.
    ///
    /// # Errors
    /// What is wrong with the question.
    pub fn answer(&self, watcher: &mut dyn Watcher) -> Result<Value, Refused> {
        Ok(self.0.find(watcher)?.json)
    }
}

/// Index of the point that is called `name`.
///
/// # Errors
/// If there is none: which there are.
pub fn point(scenario: &Scenario, name: &str) -> Result<usize, Refused> {
    Ok(compare::find_point(scenario, name)?)
}

/// Index of the column `name` of `columns`.
///
/// # Errors
/// If there is none: which there are.
pub fn column(columns: &[MetricColumn], name: &str) -> Result<usize, Refused> {
    columns.iter().position(|column| column.name == name).ok_or_else(|| {
        let known: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let known = known.join(", ");
        CliError::from(Problem::UnknownMetric { name: name.to_owned(), known }).into()
    })
}

/// What `convsim plan --format json` prints: every point with its parameters that differ.
#[must_use]
pub fn plan(scenario: &Scenario) -> Value {
    plan::plan(scenario)
}

/// Why the rows at `path` cannot be had.
#[must_use]
pub fn rows_refused(path: &Path, error: StoreError) -> Refused {
    refused(path, error).into()
}

/// The simulation could not be run.
#[must_use]
pub fn not_run(error: std::io::Error) -> Refused {
    CliError::from(Problem::Start(error)).into()
}
