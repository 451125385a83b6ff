//! `convsim compare`: two configurations, two scenario files, or the results in two folders.

mod side;

use std::path::{Path, PathBuf};

use crate::experiment::comparison::{
    Compared, Exceeded, Pairing, Sides, Threshold, compare as compare_all,
};
use crate::models::Unit;
use crate::report::comparison::{
    comparison_csv, comparison_json, comparison_markdown, comparison_tables, missing_notes,
    saved_notes,
};
use crate::report::markdown::escaped;
use crate::report::terminal::wrapped;
use crate::scenario::{Scenario, Statistic};
use crate::wording::{counted, visible};
use clap::Args;
use serde_json::json;

use super::arguments::{Changes, Running, load};
use super::error::{CliError, Problem};
use super::format::Format;
use super::{Outcome, print};
use side::{Figures, Side};

/// What `convsim compare` understands.
#[derive(Clone, Debug, Args)]
#[command(
    override_usage = "\
convsim compare [OPTIONS] FILE A B        two configurations of a scenario
       convsim compare [OPTIONS] FILE_A FILE_B   the configurations of two scenarios, by name
       convsim compare [OPTIONS] DIR_A DIR_B     stored results, by the names of configurations",
    after_help = "\
With one seed, replication r of both has the same random numbers, so each difference is over pairs \
(Student's t); with different seeds or independent streams the two are compared as independent \
(Welch). The p values are corrected for the number of comparisons (Holm).

Exit codes: 0 fine, 1 a threshold of --fail-on was exceeded, 2 bad usage or input, 3 a model \
failed."
)]
pub struct Arguments {
    /// The scenario file; or a first scenario file; or the folder of a scenario's results
    #[arg(value_name = "FILE|DIR")]
    file: PathBuf,
    /// Name of the configuration that is compared with; or the second file or folder
    #[arg(value_name = "A|FILE|DIR")]
    first: String,
    /// Name of the configuration that is compared
    #[arg(value_name = "B")]
    second: Option<String>,
    /// Compare only this configuration of two files or folders. Can be given several times
    #[arg(long = "configuration", value_name = "NAME", conflicts_with = "second")]
    configurations: Vec<String>,
    #[command(flatten)]
    changes: Changes,
    /// Exit with 1 when B is surely worse than A by more, e.g. 'convergence_time.p95:+5%', or when
    /// there are too few replications to judge that
    #[arg(long, value_name = "METRIC.STATISTIC:+N%")]
    fail_on: Vec<String>,
    /// Compare as independent even where replications could be paired
    #[arg(long)]
    independent: bool,
    /// What is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    #[command(flatten)]
    running: Running,
}

/// A threshold with its metric and how it was written.
struct FailOn {
    text: String,
    metric: String,
    threshold: Threshold,
}

/// Two sides with the configurations that are compared.
struct Question {
    title: String,
    first: Side,
    second: Side,
    /// What a pair is called, and its place on both sides.
    matches: Vec<(String, usize, usize)>,
    confidence: f64,
}

/// Runs the command.
pub fn compare(arguments: &Arguments) -> Result<Outcome, CliError> {
    let fail_on: Vec<FailOn> =
        arguments.fail_on.iter().map(|text| parse_threshold(text)).collect::<Result<_, _>>()?;
    let metrics: Vec<&str> = fail_on.iter().map(|fail_on| fail_on.metric.as_str()).collect();
    let second = Path::new(&arguments.first);
    let question = match &arguments.second {
        Some(name) => configurations(arguments, name, &metrics)?,
        None if arguments.file.is_dir() && second.is_dir() => folders(arguments, second, &metrics)?,
        None if arguments.file.is_file() && second.is_file() => files(arguments, second, &metrics)?,
        None => {
            let names = format!("{} and {}", arguments.file.display(), arguments.first);
            let missing =
                [arguments.file.as_path(), second].into_iter().filter(|path| !path.exists());
            let missing: Vec<String> = missing.map(|path| path.display().to_string()).collect();
            return Err(Problem::NothingToCompare { names, missing }.into());
        }
    };
    answer(arguments, &question, &fail_on)
}

/// Two configurations of one scenario.
fn configurations(
    arguments: &Arguments,
    second: &str,
    metrics: &[&str],
) -> Result<Question, CliError> {
    let scenario = load(&arguments.file, &arguments.changes.load_options())?;
    let points = [find_point(&scenario, &arguments.first)?, find_point(&scenario, second)?];
    let side = Side::simulate(&scenario, &points, metrics, &arguments.running)?;
    let title = format!("{}: A is {}, B is {second}", scenario.name, arguments.first);
    Ok(Question {
        title,
        first: side.clone(),
        second: side.without_failures(),
        matches: vec![(String::new(), 0, 1)],
        confidence: scenario.run.confidence,
    })
}

fn files(arguments: &Arguments, second: &Path, metrics: &[&str]) -> Result<Question, CliError> {
    let options = arguments.changes.load_options();
    let scenarios = [load(&arguments.file, &options)?, load(second, &options)?];
    let [first, other] = &scenarios;
    let names = |scenario: &Scenario| -> Vec<String> {
        scenario.points.iter().map(|point| point.configuration.clone()).collect()
    };
    let matches = arguments.matches(&names(first), &names(other))?;
    let points = |place: fn(&(String, usize, usize)) -> usize| -> Vec<usize> {
        matches.iter().map(place).collect()
    };
    let a = Side::simulate(first, &points(|m| m.1), metrics, &arguments.running)?;
    let b = Side::simulate(other, &points(|m| m.2), metrics, &arguments.running)?;
    let title = format!("A is {}, B is {}", arguments.file.display(), arguments.first);
    let matches = matches.into_iter().enumerate().map(|(at, m)| (m.0, at, at)).collect();
    Ok(Question { title, first: a, second: b, matches, confidence: first.run.confidence })
}

fn folders(arguments: &Arguments, second: &Path, metrics: &[&str]) -> Result<Question, CliError> {
    let options = arguments.changes.load_options();
    if let Some((place, set)) = options.set.iter().enumerate().next() {
        let option = options.written.get(&place).cloned();
        let option = option.unwrap_or_else(|| format!("--set {set}"));
        let problem = format!("\"{option}\" changes nothing: stored results are compared");
        let allowed = "leave it out, or give the scenario file".to_owned();
        return Err(Problem::Argument { problem, allowed }.into());
    }
    let a = Side::stored(&arguments.file, metrics)?;
    let b = Side::stored(second, metrics)?;
    let matches = arguments.matches(&a.names(), &b.names())?;
    let title = format!(
        "A is {} (convsim {}), B is {} (convsim {})",
        arguments.file.display(),
        a.version,
        arguments.first,
        b.version
    );
    let confidence = a.confidence;
    Ok(Question { title, first: a, second: b, matches, confidence })
}

impl Arguments {
    /// The configurations that both sides have.
    fn matches(
        &self,
        first: &[String],
        second: &[String],
    ) -> Result<Vec<(String, usize, usize)>, CliError> {
        let wanted =
            |name: &&String| self.configurations.is_empty() || self.configurations.contains(*name);
        let place = |name: &String| second.iter().position(|other| other == name);
        let matches: Vec<(String, usize, usize)> = first
            .iter()
            .enumerate()
            .filter(|(_, name)| wanted(name))
            .filter_map(|(at, name)| Some((name.clone(), at, place(name)?)))
            .collect();
        let missing = self.configurations.iter().find(|name| matches.iter().all(|m| m.0 != **name));
        if matches.is_empty() || missing.is_some() {
            let known = |names: &[String]| {
                let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
                quoted.join(", ")
            };
            let none = matches.is_empty();
            let (first, second) = (known(first), known(second));
            return Err(Problem::NothingInCommon { first, second, none }.into());
        }
        for (names, others, side) in [(first, second, "A"), (second, first, "B")] {
            let alone = names.iter().filter(|name| wanted(name) && !others.contains(name));
            let alone: Vec<&str> = alone.map(String::as_str).collect();
            if !alone.is_empty() {
                let alone: Vec<String> = alone.iter().map(|name| format!("\"{name}\"")).collect();
                eprintln!("only in {side}: {}", visible(&alone.join(", ")));
            }
        }
        Ok(matches)
    }
}

fn answer(
    arguments: &Arguments,
    question: &Question,
    fail_on: &[FailOn],
) -> Result<Outcome, CliError> {
    let Question { first, second, matches, confidence, .. } = question;
    let paired = first.shares_numbers_with(second) && !arguments.independent;
    let pairing = if paired { Pairing::Paired } else { Pairing::Independent };
    let metrics: Vec<&Figures> = first
        .figures
        .iter()
        .filter(|figures| figures.main && second.figures(&figures.metric).is_some())
        .collect();
    // Means are compared over what is independent of each other.
    let sides = |figures: &Figures, at: &(String, usize, usize), means: bool| {
        let here = first.figures(&figures.metric)?;
        let there = second.figures(&figures.metric)?;
        // Of probabilities the values say how many replications there are.
        let means = means && here.unit != Unit::Probability;
        let (a, b) =
            if means { (&here.means, &there.means) } else { (&here.values, &there.values) };
        let (metric, unit) = (here.metric.as_str(), here.unit);
        let groups = if means { [1, 1] } else { [here.group, there.group] };
        Some(Sides { metric, unit, first: a.get(at.1)?, second: b.get(at.2)?, groups })
    };
    let all: Vec<Sides<'_>> = matches
        .iter()
        .flat_map(|at| metrics.iter().filter_map(move |figures| sides(figures, at, true)))
        .collect();
    let compared = compare_all(&all, pairing, *confidence);
    let blocks: Vec<(&str, &[Compared])> = matches
        .iter()
        .map(|(name, ..)| name.as_str())
        .zip(compared.chunks(metrics.len().max(1)))
        .collect();

    let mut exceeded = Vec::new();
    for fail_on in fail_on {
        let extreme = matches!(fail_on.threshold.statistic, Statistic::Min | Statistic::Max);
        if extreme && pairing == Pairing::Independent {
            return Err(Problem::ExtremeOfOthers { text: fail_on.text.clone() }.into());
        }
        let Some(figures) = first.figures(&fail_on.metric) else { continue };
        for at in matches {
            let means = fail_on.threshold.statistic == Statistic::Mean;
            let Some(sides) = sides(figures, at, means) else { continue };
            let how = fail_on.threshold.exceeded(sides, pairing, *confidence);
            exceeded.extend(how.map(|how| (fail_on.text.clone(), at.0.clone(), how)));
        }
    }
    show(arguments, question, pairing, &blocks, &exceeded)?;
    Ok(Outcome::of(exceeded.is_empty(), first.failed + second.failed))
}

fn show(
    arguments: &Arguments,
    question: &Question,
    pairing: Pairing,
    blocks: &[(&str, &[Compared])],
    exceeded: &[(String, String, Exceeded)],
) -> Result<(), CliError> {
    let of = |compared: &Compared| compared.pairs * question.first.replications_of(compared);
    let pairs = blocks.iter().flat_map(|(_, compared)| compared.iter().map(of));
    let replications = pairs.max().unwrap_or(0);
    let antithetic = match question.first.is_antithetic() {
        true => ", antithetic two by two",
        false => "",
    };
    let how = match pairing {
        Pairing::Paired => {
            format!("{} of replications{antithetic}", counted(replications, "pair"))
        }
        Pairing::Independent => {
            let each = counted(replications, "replication");
            format!("{each} of each{antithetic}, independent (Welch)")
        }
    };
    let percent = question.confidence * 100.0;
    if arguments.format == Format::Csv {
        let rows = comparison_csv(blocks).map_err(Problem::Start)?;
        for (threshold, name, _) in exceeded {
            eprintln!("{}", visible(&format!("exceeded: {threshold} {name}")));
        }
        return print(&String::from_utf8_lossy(&rows));
    }
    if arguments.format == Format::Json {
        let block = |(name, compared): &(&str, &[Compared])| json!({ "configuration": name, "metrics": comparison_json(compared) });
        let exceeded: Vec<_> = exceeded
            .iter()
            .map(|(text, name, how)| {
                let (ratio, why) = (how.ratio(), how.text());
                json!({ "threshold": text, "configuration": name, "ratio": ratio, "why": why })
            })
            .collect();
        let all = json!({
            "version": 1,
            "convsim": env!("CARGO_PKG_VERSION"),
            "title": question.title,
            "paired": pairing == Pairing::Paired,
            "confidence": question.confidence,
            "comparisons": blocks.iter().map(block).collect::<Vec<_>>(),
            "exceeded": exceeded,
        });
        return print(&format!("{all:#}\n"));
    }
    let how = format!("{how}, intervals at {percent} %");
    let is_markdown = arguments.format == Format::Markdown;
    let plain = |text: &str| if is_markdown { escaped(text) } else { text.to_owned() };
    let mut text = match arguments.format {
        Format::Markdown => format!("{}; {}\n", escaped(&question.title), escaped(&how)),
        _ => wrapped("", &question.title) + &wrapped("", &how),
    };
    for (name, compared) in blocks {
        text.push('\n');
        if !name.is_empty() {
            let level = if is_markdown { "### " } else { "" };
            text.push_str(&format!("{level}{}\n\n", plain(name)));
        }
        text.push_str(&match arguments.format {
            Format::Markdown => comparison_markdown(compared),
            _ => comparison_tables(compared),
        });
        let mut notes = missing_notes(compared);
        notes.extend(saved_notes(compared));
        if !notes.is_empty() && is_markdown {
            text.push('\n');
        }
        notes.iter().for_each(|note| text.push_str(&wrapped("- ", &plain(note))));
    }
    for (threshold, name, how) in exceeded {
        let of = if name.is_empty() { String::new() } else { format!(" ({name})") };
        let what = if how.is_undecided() { "undecided" } else { "exceeded" };
        let line = format!("{what}: {threshold}{of}: {}", how.text());
        text.push_str(&format!("\n{}\n", plain(&line)));
    }
    print(&text)
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

fn parse_threshold(text: &str) -> Result<FailOn, CliError> {
    let bad = || Problem::Threshold { text: text.to_owned() };
    let (figure, change) = text.rsplit_once(':').ok_or_else(bad)?;
    let (metric, statistic) = figure.rsplit_once('.').ok_or_else(bad)?;
    let statistic = match statistic {
        "mean" => Statistic::Mean,
        "p50" => Statistic::P50,
        "p95" => Statistic::P95,
        "p99" => Statistic::P99,
        "min" => Statistic::Min,
        "max" => Statistic::Max,
        _ => return Err(bad().into()),
    };
    let signed = change.starts_with(['+', '-']);
    let percent: f64 = change
        .strip_suffix('%')
        .filter(|_| signed)
        .and_then(|number| number.trim_end().parse().ok())
        .filter(|percent: &f64| percent.is_finite())
        .ok_or_else(bad)?;
    if percent < -100.0 {
        let problem = format!("\"{text}\" can never be exceeded: nothing falls by more than 100 %");
        let allowed = "a fall of at most 100 %, such as :-5%, or a rise, such as :+5%".to_owned();
        return Err(Problem::Argument { problem, allowed }.into());
    }
    let threshold = Threshold { statistic, change: percent / 100.0 };
    Ok(FailOn { text: text.to_owned(), metric: metric.to_owned(), threshold })
}
