//! The scenario file with one configuration for each case.

use convsim::models::Model;
use convsim::models::http_pool::{Config, HttpPool};
use serde_json::{Map, Value, json};

use crate::case::Case;
use crate::judge::{Figure, Verdict};
use crate::reasons::reason;
use crate::table::overall;

/// The scenario as text, one configuration and one expectation a line.
pub fn write(judged: &[(&Case, Config, Vec<Figure>)]) -> Result<String, serde_json::Error> {
    let base = serde_json::to_value(Config::default())?;
    let mut configurations = Vec::new();
    let mut expectations = Vec::new();
    let mut recorded = Vec::new();
    for (case, config, figures) in judged {
        let mut set = Map::new();
        differences("http", &base, &serde_json::to_value(config)?, &mut set);
        // What the case says of its client or host and this server makes no use of.
        for unused in HttpPool::unused(config) {
            set.remove(&format!("http.{}", unused.path));
        }
        let mut note = format!("{}, {}", case.role(), case.summary());
        if overall(figures) == Verdict::Missed {
            note.push_str("; does not hold in every figure, see docs/http-validation.md");
            if let Some(reason) = reason(&case.id) {
                note.push_str(": ");
                note.push_str(reason);
            }
        }
        configurations.push(json!({ "name": case.id, "note": note, "set": set }));
        recorded.extend(figures.iter().filter_map(|figure| recording(case, figure)));
        // A case with two outcomes has no median to expect.
        if case.role() == "predict" && overall(figures) == Verdict::Held {
            expectations.extend(figures.iter().filter_map(|figure| expectation(case, figure)));
        }
    }
    let lines = |values: &[Value]| {
        values.iter().map(|value| format!("    {value}")).collect::<Vec<_>>().join(",\n")
    };
    Ok(format!(
        r#"{{
  // Made by: cargo run --release --example http_validation -- --scenario
  "$schema": "scenario.schema.json",
  "name": "http-validation",
  "description": "Real HTTP servers that were measured: one configuration for each case",
  "sources": ["scenarios/data/http_measurements.json", "docs/http-validation.md"],
  "components": {{ "http": {{ "model": "http_pool" }} }},
  "configurations": [
{}
  ],
  "run": {{ "seed": 1, "replications": 41, "horizon": "600 s" }},
  "expect": [
{}
  ],
  // Every repeat of every case, those that were calibrated on and those that miss as well.
  "recorded": [
{}
  ]
}}"#,
        lines(&configurations),
        lines(&expectations),
        lines(&recorded),
    ))
}

/// What `to` has that `from` has not, by path.
fn differences(path: &str, from: &Value, to: &Value, set: &mut Map<String, Value>) {
    if let (Value::Object(from), Value::Object(to)) = (from, to)
        && !to.contains_key("distribution")
    {
        for (key, value) in to {
            differences(
                &format!("{path}.{key}"),
                from.get(key).unwrap_or(&Value::Null),
                value,
                set,
            );
        }
    } else if from != to {
        set.insert(path.to_owned(), to.clone());
    }
}

/// What a figure must be, give or take its tolerance.
fn expectation(case: &Case, figure: &Figure) -> Option<Value> {
    let (unit, tolerance) = match figure.name {
        "elapsed s" => (Some(" s"), "10 %"),
        "answers/s" => (Some("/s"), "10 %"),
        "p50 ms" => (Some(" ms"), "10 %"),
        "p95 ms" | "p99 ms" if figure.allowed > 0.201 * figure.measured => {
            (Some(" ms"), "one interval of the retransmission clock")
        }
        "p95 ms" | "p99 ms" => (Some(" ms"), "20 %"),
        "timeouts" => (None, "2 points of the attempts"),
        _ => return None,
    };
    // What holds by a hair would fail for a handful of replications.
    let clear = (figure.predicted - figure.measured).abs() <= 0.7 * figure.allowed;
    // A rate or a time of none is no bound.
    let clear = clear && (unit.is_none() || figure.measured > 0.0);
    let bounds = [(figure.measured - figure.allowed).max(0.0), figure.measured + figure.allowed];
    let between = match unit {
        Some(unit) => json!(bounds.map(|bound| format!("{bound:.4}{unit}"))),
        None => json!(bounds),
    };
    clear.then(|| {
        json!({
            "configuration": case.id, "metric": figure.metric, "statistic": "p50",
            "between": between,
            "source": format!("measured, case {}, median of the repeats, {tolerance}", case.id),
        })
    })
}

/// What the repeats of a case gave.
fn recording(case: &Case, figure: &Figure) -> Option<Value> {
    let (unit, scale) = match figure.metric {
        "elapsed" => ("s", 1.0),
        "throughput" => ("/s", 1.0),
        "latency.p50" | "latency.p95" | "latency.p99" => ("ms", 1e3),
        _ => return None,
    };
    // To the digits of the measurement, without those that a product adds.
    let rounded = |value: &f64| (value * scale * 1e4).round() / 1e4;
    let values: Vec<f64> = figure.repeats.iter().map(rounded).collect();
    let source = format!("measured, case {}, role {}", case.id, case.role());
    Some(json!({
        "configuration": case.id, "metric": figure.metric, "unit": unit, "values": values,
        "source": source,
    }))
}
