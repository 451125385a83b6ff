//! The command line: a file for each subcommand.
//!
//! - [`run`], [`check`], [`compare`], [`solve`], [`sensitivity`], [`trace`]: what
//!   simulates; [`merge`]: what puts parts
//!   together.
//! - [`plan`], [`describe`], [`schema`], [`new`]: what only looks.
//! - [`plot`], [`report`]: what shows stored results.
//! - [`completions`]: scripts for shells and the manual page, from the same definitions.
//! - `differing`: the parameters that are not the same in all points.
//! - `arguments`: what several of them understand.
//! - `format`: the forms in which results are printed.
//! - `error`: what can go wrong, in one place.
//! - `replication`: one of them run again, with its record.
//! - `progress`: how far a run has come, on stderr; `interrupt`: when it is to end early.
//! - [`front`]: the same words for a program that is no terminal.

mod arguments;
mod check;
mod compare;
mod completions;
mod describe;
mod differing;
mod error;
mod format;
pub mod front;
mod interrupt;
mod merge;
mod new;
mod plan;
mod plot;
mod progress;
mod replication;
mod report;
mod run;
mod schema;
mod sensitivity;
mod solve;
mod trace;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;

use crate::scenario::GivenFiles;
use crate::scenario::problem::visible;
use clap::{Parser, Subcommand};

use error::CliError;
use interrupt::Signals;

const AFTER_HELP: &str = "\
Exit codes:
  0  all is well
  1  an expectation, a threshold or a comparison failed
  2  the command line or a file is wrong, or results cannot be written
  3  a model failed in some replications; their rows say how, the others stand
  130, 143  interrupted by Ctrl-C or SIGTERM: what is complete is kept, and the same command goes on";

/// Predicts how long a network control plane takes to converge, and how often its clients time
/// out, before anyone touches a device.
#[derive(Debug, Parser)]
#[command(version, after_help = AFTER_HELP, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run every configuration of a scenario; print the result and write it to files
    Run(run::Arguments),
    /// Run scenarios and test what they expect
    Check(check::Arguments),
    /// Compare two configurations of a scenario on common random numbers
    Compare(compare::Arguments),
    /// Find the largest, smallest or best value of a parameter, and how sure that is
    Solve(solve::Arguments),
    /// Find out which parameters a figure depends on
    Sensitivity(sensitivity::Arguments),
    /// Put the parts of a scenario that were run with --shard into one result
    Merge(merge::Arguments),
    /// Draw pictures from stored results
    Plot(plot::Arguments),
    /// Make one HTML file from stored results
    Report(report::Arguments),
    /// Show what happened when in one replication
    Trace(trace::Arguments),
    Plan(plan::Args),
    Describe(describe::Args),
    New(new::Args),
    Schema(schema::Args),
    /// Print the completion script of a shell, e.g. for /etc/bash_completion.d/convsim
    Completions(completions::Arguments),
    /// Print the manual page, for instance for `man -l`
    Man,
}

/// How a command that could do its work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// All is well.
    Fine,
    /// An expectation, a threshold or a comparison failed.
    Missed,
    /// A model failed in some replications: worse news than a miss, and maybe why it missed.
    Failures,
}

impl Outcome {
    /// Of a question that was `met` or not, after so many replications that failed.
    const fn of(met: bool, failures: u64) -> Self {
        match (failures, met) {
            (1.., _) => Self::Failures,
            (0, false) => Self::Missed,
            (0, true) => Self::Fine,
        }
    }
}

/// How a command line ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The exit code.
    pub code: u8,
    /// What is to be told on stderr; empty when all is well.
    pub errors: String,
}

/// Does what a command line asks for. Its first word is the name of the program. The result goes
/// to stdout, progress to stderr. Ctrl-C and SIGTERM end it early.
#[must_use]
pub fn execute(words: impl IntoIterator<Item = OsString>) -> Ended {
    perform(words.into_iter().collect(), Signals::Watched, None)
}

/// As [`execute`], within a program that minds its own signals.
#[must_use]
pub fn execute_within(words: impl IntoIterator<Item = OsString>) -> Ended {
    perform(words.into_iter().collect(), Signals::Left, None)
}

/// `files` are those that `run` reads in place of this machine's.
fn perform(words: Vec<OsString>, signals: Signals, files: Option<GivenFiles>) -> Ended {
    let mut cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        // Help and version come this way, too, with exit code 0.
        Err(error) => {
            let code = u8::try_from(error.exit_code()).unwrap_or(u8::MAX);
            // Nowhere is left to report a failure of stderr to.
            let _ = error.print();
            return Ended { code, errors: String::new() };
        }
    };
    if let Command::Run(arguments) = &mut cli.command {
        arguments.overrides.files = files.map(Arc::new);
    }
    crate::experiment::keep_model_panics_quiet();
    let code = match dispatch(cli.command, &words, signals) {
        Ok(Outcome::Fine) => 0,
        Ok(Outcome::Missed) => 1,
        Ok(Outcome::Failures) => 3,
        Err(CliError::Interrupted(code)) => code,
        // Whoever read the output has what they wanted.
        Err(CliError::BrokenPipe) => 0,
        Err(CliError::Reported(reports)) => {
            let errors = reports.iter().map(|report| format!("{report:?}\n")).collect();
            return Ended { code: 2, errors };
        }
    };
    Ended { code, errors: String::new() }
}

fn dispatch(command: Command, words: &[OsString], signals: Signals) -> Result<Outcome, CliError> {
    match command {
        Command::Run(arguments) => run::run(&arguments, words, signals),
        Command::Check(arguments) => check::check(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Solve(arguments) => solve::solve(&arguments),
        Command::Sensitivity(arguments) => sensitivity::sensitivity(&arguments),
        Command::Merge(arguments) => merge::merge(&arguments),
        Command::Plot(arguments) => plot::plot(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Trace(arguments) => trace::trace(&arguments),
        Command::Plan(arguments) => look(|out| plan::execute(&arguments, out)),
        Command::Describe(arguments) => look(|out| describe::execute(&arguments, out)),
        Command::New(arguments) => look(|out| new::execute(&arguments, out)),
        Command::Completions(arguments) => completions::completions(&arguments),
        Command::Man => completions::man(),
        Command::Schema(arguments) => look(|out| schema::execute(&arguments, out)),
    }
}

/// Runs a command that only looks; what it has to say is printed when it has said it all.
fn look(
    command: impl FnOnce(&mut dyn Write) -> Result<ExitCode, miette::Report>,
) -> Result<Outcome, CliError> {
    let mut text = Vec::new();
    command(&mut text)?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(Outcome::Fine)
}

/// Writes the list of expectations, its verdicts in colour where a person looks at them.
fn print_verdicts(text: &str) -> Result<(), CliError> {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if plain || !io::stdout().is_terminal() {
        return print(text);
    }
    let coloured = |line: &str| {
        let verdicts = [("held", 32), ("MISSED", 31), ("undecided", 33)];
        let found = verdicts.into_iter().find(|(verdict, _)| line.starts_with(verdict));
        match found {
            Some((verdict, colour)) => {
                format!("\x1b[{colour}m{verdict}\x1b[0m{}\n", &line[verdict.len()..])
            }
            None => format!("{line}\n"),
        }
    };
    // What the text itself holds is made visible first, lest the colours are.
    write_out(&visible(text).lines().map(coloured).collect::<String>())
}

/// Writes `text` to stdout, what no terminal should get made visible.
fn print(text: &str) -> Result<(), CliError> {
    write_out(&visible(text))
}

fn write_out(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| {
        match error.kind() {
            io::ErrorKind::BrokenPipe => CliError::BrokenPipe,
            _ => error::Problem::Stdout(error).into(),
        }
    })
}
