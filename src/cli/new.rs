//! `convsim new`: a commented scenario to start from.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::models::ModelKind;
use crate::scenario::parameters::{Parameter, parameters};
use miette::{IntoDiagnostic, WrapErr};
use serde_json::Value;

use super::describe::{find_model, model_names};
use crate::report::terminal::wrap;

/// Width of the comments.
const WIDTH: usize = 96;
/// Where a parameter stands.
const INDENT: &str = "      ";

/// Write a commented scenario to start from.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The model.
    #[arg(value_parser = model_names())]
    pub model: String,
    /// Write to this file, which must not exist yet, instead of to standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Writes the scenario to the file of `args`, or to `out`.
///
/// # Errors
/// If there is no such model, the file exists, or it cannot be written.
pub fn execute(args: &Args, out: &mut dyn Write) -> Result<ExitCode, miette::Report> {
    let Some(kind) = find_model(&args.model) else {
        miette::bail!("there is no model called \"{}\"", args.model);
    };
    let text = starter(kind);
    match &args.output {
        None => out.write_all(text.as_bytes()).into_diagnostic()?,
        Some(path) => {
            let mut file = File::create_new(path).map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists => {
                    miette::miette!(
                        help = "name another file, or remove this one first",
                        "{} exists already",
                        path.display()
                    )
                }
                _ => miette::miette!("{} cannot be written: {error}", path.display()),
            })?;
            file.write_all(text.as_bytes())
                .into_diagnostic()
                .wrap_err_with(|| format!("{} cannot be written", path.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A scenario with one component of `kind`. Every parameter stands in it with its default, as a
/// comment: removing the `//` in front of it sets it. A comment that only explains has a blank
/// behind its `//`.
#[must_use]
pub fn starter(kind: ModelKind) -> String {
    let name = kind.name();
    let mut lines = vec![
        "// A scenario: what is simulated, what is varied, how it is run, what must come out."
            .to_owned(),
        format!("// `convsim describe {name}` lists the parameters and the metrics;"),
        "// `convsim schema > scenario.schema.json` lets an editor complete and check.".to_owned(),
        "// A line that starts with //\" is a default; remove the // to set it.".to_owned(),
        "{".to_owned(),
        "  \"$schema\": \"scenario.schema.json\",".to_owned(),
        format!("  \"name\": \"my-{}\",", name.replace('_', "-")),
        "  \"description\": \"What question does it answer?\",".to_owned(),
        "  \"sources\": [],".to_owned(),
        String::new(),
        "  \"components\": {".to_owned(),
        format!("    \"{name}\": {{"),
        format!("      \"model\": \"{name}\","),
    ];
    let parameters = parameters(kind);
    for parameter in &parameters {
        lines.push(String::new());
        write_parameter(parameter, &mut lines);
    }
    lines.push("    },".to_owned());
    lines.push("  },".to_owned());
    write_rest(kind, &parameters, &mut lines);
    lines.push("}".to_owned());
    lines.push(String::new());
    lines.join("\n")
}

/// The description as comments, then the key with its default behind `//`.
fn write_parameter(parameter: &Parameter, lines: &mut Vec<String>) {
    let key = parameter.path.as_str();
    for line in describe(parameter, INDENT.len()) {
        lines.push(format!("{INDENT}// {line}"));
    }
    let mut value = value_lines(&parameter.default, key, &parameter.parts, INDENT.len());
    value[0] = format!("\"{key}\": {}", value[0]);
    lines.extend(value.into_iter().map(|line| format!("{INDENT}//{line}")));
}

/// What it is, what is allowed, and where the default comes from, in lines.
fn describe(parameter: &Parameter, indent: usize) -> Vec<String> {
    let unit = match parameter.unit.as_deref() {
        None | Some("duration" | "rate") => String::new(),
        Some(unit) => format!(" ({unit})"),
    };
    let source = parameter.source.as_ref().map(|source| format!(" Source: {source}."));
    let about = format!(
        "{} Allowed: {}{unit}.{}",
        parameter.description,
        parameter.allowed,
        source.unwrap_or_default()
    );
    wrap(&about, WIDTH.saturating_sub(indent + 3).max(40))
}

fn last_key(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or_default()
}

/// A value in lines, with the descriptions of what is within it, and a comma at the end.
fn value_lines(value: &Value, path: &str, parts: &[Parameter], indent: usize) -> Vec<String> {
    let Value::Object(map) = value else {
        let text = serde_json::to_string(value).unwrap_or_default();
        return vec![format!("{text},")];
    };
    let mut lines = vec!["{".to_owned()];
    // Without kinds, the parts are all there is, also what is not set; with kinds, the default
    // tells which kind is meant.
    let kinds = parts.is_empty() || parts.iter().any(|part| part.only_if.is_some());
    let entries: Vec<(&str, &Value)> = if kinds {
        map.iter().map(|(key, value)| (key.as_str(), value)).collect()
    } else {
        parts.iter().map(|part| (last_key(&part.path), &part.default)).collect()
    };
    for (key, value) in entries {
        let path = format!("{path}.{key}");
        let known = parts.iter().find(|part| part.path == path && part.default == *value);
        let about = known.map_or_else(Vec::new, |part| describe(part, indent + 4));
        lines.extend(about.into_iter().map(|line| format!("  // {line}")));
        let parts = known.map_or(&[][..], |part| &part.parts[..]);
        let mut inner = value_lines(value, &path, parts, indent + 2);
        inner[0] = format!("\"{key}\": {}", inner[0]);
        lines.extend(inner.into_iter().map(|line| format!("  {line}")));
    }
    lines.push("},".to_owned());
    lines
}

fn write_rest(kind: ModelKind, parameters: &[Parameter], lines: &mut Vec<String>) {
    let name = kind.name();
    let number = parameters.iter().find(|parameter| {
        parameter.only_if.is_none() && matches!(&parameter.default, Value::Number(_))
    });
    let example = number.map(|number| (format!("{name}.{}", number.path), &number.default));
    lines.push(String::new());
    lines.push("  // Named settings to compare.".to_owned());
    lines.push("  \"configurations\": [".to_owned());
    lines.push("    { \"name\": \"default\", \"set\": {} },".to_owned());
    if let Some((path, default)) = &example {
        let line =
            format!("    //{{ \"name\": \"other\", \"set\": {{ \"{path}\": {default} }} }},");
        lines.push(line);
    }
    lines.push("  ],".to_owned());
    if let Some((path, default)) = &example {
        lines.push(String::new());
        lines.push("  // A grid: lists, or ranges such as \"32..4096:log2\".".to_owned());
        lines.push(format!("  //\"sweep\": {{ \"{path}\": [{default}] }},"));
    }
    lines.push(String::new());
    lines.push("  \"run\": { \"seed\": 1, \"replications\": 20 },".to_owned());
    let headline = kind.metrics().iter().find(|metric| metric.headline);
    if let Some(metric) = headline {
        lines.push(String::new());
        lines.push("  // What must come out; `convsim check` tests it.".to_owned());
        lines.push("  \"expect\": [".to_owned());
        lines.push(format!(
            "    //{{ \"configuration\": \"default\", \"metric\": \"{}\", \"statistic\": \"mean\", \
             \"at_most\": {} }},",
            metric.name,
            example_bound(metric.unit.symbol())
        ));
        lines.push("  ],".to_owned());
    }
}

fn example_bound(unit: &str) -> &'static str {
    match unit {
        "s" => "\"10 s\"",
        "1/s" => "\"100/s\"",
        "share" | "probability" => "\"5 %\"",
        _ => "10",
    }
}
