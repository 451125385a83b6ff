//! `convsim compare`: two configurations on common random numbers.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use convsim::experiment::comparison::{Threshold, compare as compare_points, exceeds};
use convsim::experiment::{self, Batch, KeptValues, RowSink};
use convsim::report::comparison::{comparison_markdown, comparison_tables};
use convsim::report::main_columns;
use convsim::scenario::{MetricColumn, Scenario};

use super::arguments::{Changes, Running, load};
use super::error::{CliError, Problem};
use super::progress::Progress;
use super::{Outcome, print};

/// What `convsim compare` understands.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Replication r of both configurations has the same random numbers, so each difference is over \
pairs. The p values are corrected for the number of metrics (Holm).

Exit codes: 0 fine, 1 a threshold of --fail-on was exceeded, 2 bad usage or input, 3 a model \
failed.")]
pub struct Arguments {
    /// The scenario file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Name of the configuration that is compared with
    #[arg(value_name = "A")]
    first: String,
    /// Name of the configuration that is compared
    #[arg(value_name = "B")]
    second: String,
    #[command(flatten)]
    changes: Changes,
    /// Exit with 1 when B is surely worse than A by more, e.g. 'convergence_time.p99:+5%'
    #[arg(long, value_name = "METRIC.STATISTIC:+N%")]
    fail_on: Vec<String>,
    /// What is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    #[command(flatten)]
    running: Running,
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for the terminal
    Table,
    /// A table for a pull request
    Markdown,
}

/// Runs the command.
pub fn compare(arguments: &Arguments) -> Result<Outcome, CliError> {
    let scenario = load(&arguments.file, &arguments.changes.load_options())?;
    let columns = scenario.columns();
    let first = find_point(&scenario, &arguments.first)?;
    let second = find_point(&scenario, &arguments.second)?;
    let thresholds: Vec<Threshold> = arguments
        .fail_on
        .iter()
        .map(|text| parse_threshold(&columns, text))
        .collect::<Result<_, _>>()?;

    let compared_columns = main_columns(&scenario, &columns);
    let mut needed = compared_columns.clone();
    needed.extend(thresholds.iter().map(|threshold| threshold.column));
    let mut kept = KeptValues::of(&[first, second], &needed);
    let batches: Vec<Batch> = kept
        .points()
        .map(|point| Batch { point, replications: 0..scenario.run.replications })
        .collect();
    let total = batches.len() as u64 * scenario.run.replications;
    let mut progress = Progress::new(arguments.running.progress, &scenario.name, total);
    let sinks: &mut [&mut dyn RowSink] = &mut [&mut kept, &mut progress];
    let result = experiment::run(&scenario, &batches, arguments.running.threads(), sinks);
    progress.finish();
    result.map_err(Problem::Start)?;

    let confidence = scenario.run.confidence;
    let compared = compare_points(&kept, first, second, &compared_columns, confidence);
    let table = match arguments.format {
        Format::Table => comparison_tables(&columns, &compared),
        Format::Markdown => comparison_markdown(&columns, &compared),
    };
    print(&format!(
        "{}: A is {}, B is {}; {} pairs of replications, intervals at {} %\n\n{table}",
        scenario.name,
        arguments.first,
        arguments.second,
        scenario.run.replications,
        confidence * 100.0
    ))?;
    let mut outcome = if kept.failed() > 0 { Outcome::Failures } else { Outcome::Fine };
    for (text, threshold) in arguments.fail_on.iter().zip(&thresholds) {
        if let Some(ratio) = exceeds(&kept, first, second, threshold, confidence) {
            outcome = Outcome::Missed;
            let percent = |ratio: f64| (ratio - 1.0) * 100.0;
            print(&format!(
                "\nexceeded: {text}: it changed by {:+.1} % ({:+.1} to {:+.1} %)\n",
                percent(ratio.value),
                percent(ratio.interval.low),
                percent(ratio.interval.high)
            ))?;
        }
    }
    Ok(outcome)
}

/// The point that is called `name`.
pub fn find_point(scenario: &Scenario, name: &str) -> Result<usize, CliError> {
    let found = scenario.points.iter().position(|point| point.configuration == name);
    found.ok_or_else(|| {
        let names: Vec<String> =
            scenario.points.iter().map(|point| format!("\"{}\"", point.configuration)).collect();
        let known = names.join(", ");
        Problem::UnknownConfiguration { name: name.to_owned(), known }.into()
    })
}

fn parse_threshold(columns: &[MetricColumn], text: &str) -> Result<Threshold, CliError> {
    let bad = || Problem::Threshold { text: text.to_owned() };
    let (figure, change) = text.rsplit_once(':').ok_or_else(bad)?;
    let (metric, statistic) = figure.rsplit_once('.').ok_or_else(bad)?;
    let statistic = match statistic {
        "mean" => convsim::scenario::Statistic::Mean,
        "p50" => convsim::scenario::Statistic::P50,
        "p95" => convsim::scenario::Statistic::P95,
        "p99" => convsim::scenario::Statistic::P99,
        "min" => convsim::scenario::Statistic::Min,
        "max" => convsim::scenario::Statistic::Max,
        _ => return Err(bad().into()),
    };
    let signed = change.starts_with(['+', '-']);
    let percent: f64 = change
        .strip_suffix('%')
        .filter(|_| signed)
        .and_then(|number| number.trim_end().parse().ok())
        .filter(|percent: &f64| percent.is_finite())
        .ok_or_else(bad)?;
    let column = columns.iter().position(|column| column.name == metric).ok_or_else(|| {
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        Problem::UnknownMetric { name: metric.to_owned(), known: names.join(", ") }
    })?;
    Ok(Threshold { column, statistic, change: percent / 100.0 })
}
