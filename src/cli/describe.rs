//! `convsim describe`: every parameter and metric of a model.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::models::{Metric, ModelKind, SignalDefinition};
use crate::report::markdown::{row, rule};
use crate::report::terminal::{hanging, wrapped};
use crate::scenario::parameters::{Parameter, flatten, parameters};
use miette::IntoDiagnostic;
use serde_json::{Value, json};

use super::format::Format;

/// Version of the JSON.
const VERSION: u32 = 1;
/// How far what is said of a name is indented below it.
const INDENT: usize = 6;

/// List the models, or every parameter and metric of one.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The model; without it, all models are listed.
    #[arg(value_parser = model_names())]
    pub model: Option<String>,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// The models' names, for clap.
pub fn model_names() -> clap::builder::PossibleValuesParser {
    let value =
        |kind: &ModelKind| clap::builder::PossibleValue::new(kind.name()).help(kind.summary());
    ModelKind::ALL.iter().map(value).collect::<Vec<_>>().into()
}

/// The model called `name`.
#[must_use]
pub fn find_model(name: &str) -> Option<ModelKind> {
    ModelKind::ALL.iter().copied().find(|kind| kind.name() == name)
}

/// Writes the description to `out`.
///
/// # Errors
/// If there is no such model, or `out` cannot be written to.
pub fn execute(args: &Args, out: &mut dyn Write) -> Result<ExitCode, miette::Report> {
    let kinds = match &args.model {
        None => ModelKind::ALL.to_vec(),
        Some(name) => match find_model(name) {
            Some(kind) => vec![kind],
            None => miette::bail!("there is no model called \"{name}\""),
        },
    };
    match (args.format, &args.model) {
        (Format::Json, _) => {
            let models: Vec<Value> = kinds.into_iter().map(model_json).collect();
            let all = json!({
                "version": VERSION,
                "convsim": env!("CARGO_PKG_VERSION"),
                "models": models,
            });
            let text = serde_json::to_string_pretty(&all);
            writeln!(out, "{}", text.into_diagnostic()?).into_diagnostic()?;
        }
        (Format::Csv, _) => {
            out.write_all(&csv_rows(&kinds).into_diagnostic()?).into_diagnostic()?;
        }
        (Format::Markdown, _) => {
            kinds.into_iter().try_for_each(|kind| markdown(kind, out)).into_diagnostic()?;
        }
        (Format::Table, None) => list_models(&kinds, out).into_diagnostic()?,
        (Format::Table, Some(_)) => {
            kinds.into_iter().try_for_each(|kind| model_text(kind, out)).into_diagnostic()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list_models(kinds: &[ModelKind], out: &mut dyn Write) -> io::Result<()> {
    let width = kinds.iter().map(|kind| kind.name().len()).max().unwrap_or(0);
    for kind in kinds {
        let name = format!("{:width$}  ", kind.name());
        write!(out, "{}", hanging(&name, width + 2, kind.summary()))?;
    }
    writeln!(out, "\n`convsim describe MODEL` lists its parameters and metrics.")?;
    let more = "A scenario can ask questions of its own: \"solve\" for `convsim solve FILE`, \
                \"sensitivity\" for `convsim sensitivity FILE`; `convsim schema` has their keys.";
    write!(out, "{}", wrapped("", more))
}

/// What a table says of a parameter, a metric or a signal.
struct Line {
    kind: &'static str,
    name: String,
    default: String,
    unit: String,
    allowed: String,
    description: String,
    source: String,
}

impl Line {
    fn cells(self) -> [String; 7] {
        let Self { kind, name, default, unit, allowed, description, source } = self;
        [kind.to_owned(), name, default, unit, allowed, description, source]
    }
}

const HEADING: [&str; 7] = ["what", "name", "default", "unit", "allowed", "description", "source"];

/// All that there is to say of a model, a line each.
fn lines(kind: ModelKind) -> Vec<Line> {
    let text = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut lines = Vec::new();
    for parameter in flatten(&parameters(kind)) {
        let condition = parameter.only_if.as_ref().map(|only_if| format!(" (only if {only_if})"));
        lines.push(Line {
            kind: "parameter",
            name: parameter.path.clone(),
            default: match &parameter.default {
                _ if !parameter.parts.is_empty() => String::new(),
                Value::Null => "not set".to_owned(),
                value => value.to_string(),
            },
            unit: parameter.unit.clone().unwrap_or_default(),
            allowed: text(&parameter.allowed) + &condition.unwrap_or_default(),
            description: text(&parameter.description),
            source: text(parameter.source.as_deref().unwrap_or_default()),
        });
    }
    let plain = |kind, name: &str, unit: &str, summary: &str| Line {
        kind,
        name: name.to_owned(),
        default: String::new(),
        unit: unit.to_owned(),
        allowed: String::new(),
        description: text(summary),
        source: String::new(),
    };
    let metrics = kind.metrics().iter();
    lines.extend(metrics.map(|m| plain("metric", m.name, m.unit.symbol(), m.summary)));
    lines.extend(kind.outputs().iter().map(|s| plain("output", s.name, "", s.summary)));
    lines.extend(kind.inputs().iter().map(|s| plain("input", s.name, "", s.summary)));
    lines
}

fn markdown(kind: ModelKind, out: &mut dyn Write) -> io::Result<()> {
    let mut text = format!("## {}\n\n{}\n\n", kind.name(), kind.summary());
    row(&mut text, &HEADING.map(str::to_owned));
    rule(&mut text, HEADING.len(), 0);
    lines(kind).into_iter().for_each(|line| row(&mut text, &line.cells()));
    writeln!(out, "{text}")
}

fn csv_rows(kinds: &[ModelKind]) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["model"].into_iter().chain(HEADING))?;
    for kind in kinds {
        for line in lines(*kind) {
            let cells = line.cells();
            writer
                .write_record([kind.name()].into_iter().chain(cells.iter().map(String::as_str)))?;
        }
    }
    writer.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

fn model_json(kind: ModelKind) -> Value {
    let metric = |metric: &Metric| {
        json!({
            "name": metric.name,
            "unit": metric.unit.symbol(),
            "headline": metric.headline,
            "part_of": metric.part_of,
            "more_is_better": metric.more_is_better,
            "description": metric.summary,
        })
    };
    let signal =
        |signal: &SignalDefinition| json!({ "name": signal.name, "description": signal.summary });
    json!({
        "model": kind.name(),
        "description": kind.summary(),
        "parameters": flatten(&parameters(kind)),
        "metrics": kind.metrics().iter().map(metric).collect::<Vec<_>>(),
        "outputs": kind.outputs().iter().map(signal).collect::<Vec<_>>(),
        "inputs": kind.inputs().iter().map(signal).collect::<Vec<_>>(),
    })
}

fn model_text(kind: ModelKind, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{}", hanging("", 4, &format!("{}: {}", kind.name(), kind.summary())))?;
    writeln!(out, "\nParameters")?;
    for parameter in flatten(&parameters(kind)) {
        parameter_text(parameter, out)?;
    }
    writeln!(out, "\nMetrics")?;
    for metric in kind.metrics() {
        let headline = if metric.headline { ", in the main table" } else { "" };
        let part = metric.part_of.map_or_else(String::new, |whole| format!(", part of {whole}"));
        let better = if metric.more_is_better { ", more is better" } else { "" };
        let head = format!("{} ({}{headline}{part}{better})", metric.name, metric.unit.symbol());
        entry(&head, &[metric.summary], out)?;
    }
    for (title, signals) in [
        ("Outputs, for `connections`", kind.outputs()),
        ("Inputs, for `connections`", kind.inputs()),
    ] {
        if !signals.is_empty() {
            writeln!(out, "\n{title}")?;
        }
        for signal in signals {
            entry(signal.name, &[signal.summary], out)?;
        }
    }
    Ok(())
}

fn parameter_text(parameter: &Parameter, out: &mut dyn Write) -> io::Result<()> {
    let default = match &parameter.default {
        _ if !parameter.parts.is_empty() => String::new(),
        Value::Null => " (not set)".to_owned(),
        value => format!(" = {value}"),
    };
    let unit = match parameter.unit.as_deref() {
        None | Some("duration" | "rate") => String::new(),
        Some(unit) => format!(" {unit}"),
    };
    let only_if = parameter.only_if.as_ref().map(|only_if| format!("only if {only_if}"));
    let allowed = Some(format!("allowed: {}", parameter.allowed));
    let source = parameter.source.as_ref().map(|source| format!("source: {source}"));
    let rest = [only_if, allowed, source];
    let mut texts = vec![parameter.description.as_str()];
    texts.extend(rest.iter().flatten().map(String::as_str));
    entry(&format!("{}{default}{unit}", parameter.path), &texts, out)
}

/// A name with what is said of it below.
fn entry(name: &str, texts: &[&str], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "\n{}", hanging("  ", INDENT, name))?;
    let indent = " ".repeat(INDENT);
    texts
        .iter()
        .filter(|text| !text.is_empty())
        .try_for_each(|text| write!(out, "{}", wrapped(&indent, text)))
}
