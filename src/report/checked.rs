//! What became of the expectations of several scenarios, for a pull request and for programs.

use std::fmt::Write as _;
use std::io;

use serde_json::{Value, json};

use super::Report;
use super::expectations::verdict_name;
use super::markdown::{escaped, expectations};
use super::results_csv::Number;
use super::summary_json::expectation;
use crate::experiment::Verdict;
use crate::scenario::RelativeTo;

/// Version of the JSON.
const VERSION: u32 = 1;

/// How many have each verdict.
fn count(reports: &[Report<'_>], verdict: Verdict) -> usize {
    let all = reports.iter().flat_map(|report| report.judgements);
    all.filter(|judgement| judgement.verdict == verdict).count()
}

/// A section for each scenario.
#[must_use]
pub fn checked_markdown(reports: &[Report<'_>]) -> String {
    let mut text = String::new();
    for report in reports {
        let _ = writeln!(text, "## {}\n", escaped(&report.scenario.name));
        let before = text.len();
        expectations(&mut text, *report);
        if text.len() == before {
            text.push_str("It expects nothing.\n\n");
        }
    }
    let counts = [Verdict::Held, Verdict::Missed, Verdict::Undecided, Verdict::Skipped]
        .map(|verdict| format!("{} {}", count(reports, verdict), verdict_name(verdict)));
    let _ = writeln!(text, "{}", counts.join(", "));
    text
}

/// The whole as JSON; docs/json.md has every field.
#[must_use]
pub fn checked_json(reports: &[Report<'_>]) -> Value {
    let scenario = |report: &Report<'_>| {
        let pairs = report.scenario.expectations.iter().zip(report.judgements);
        json!({
            "scenario": report.scenario.name,
            "expectations": pairs.map(|(e, j)| expectation(*report, e, j)).collect::<Vec<_>>(),
            "warnings": report.scenario.warnings,
        })
    };
    json!({
        "version": VERSION,
        "convsim": env!("CARGO_PKG_VERSION"),
        "held": count(reports, Verdict::Held),
        "missed": count(reports, Verdict::Missed),
        "undecided": count(reports, Verdict::Undecided),
        "skipped": count(reports, Verdict::Skipped),
        "scenarios": reports.iter().map(scenario).collect::<Vec<_>>(),
    })
}

/// A row for each expectation.
///
/// # Errors
/// None that a writer to memory has.
pub fn checked_csv(reports: &[Report<'_>]) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "scenario",
        "configuration",
        "metric",
        "statistic",
        "relation",
        "compared_with",
        "at_least",
        "at_most",
        "verdict",
        "got",
        "low",
        "high",
        "source",
        "origin",
    ])?;
    let number = |value: Option<f64>| value.map_or_else(String::new, |v| Number(v).to_string());
    for report in reports {
        for (expected, judgement) in report.scenario.expectations.iter().zip(report.judgements) {
            let (relation, other) = match &expected.relative_to {
                None => ("", ""),
                Some(RelativeTo::Ratio(other)) => ("ratio", other.as_str()),
                Some(RelativeTo::Difference(other)) => ("difference", other.as_str()),
                Some(RelativeTo::Above(other)) => ("above", other.as_str()),
            };
            let (got, statistic) = (judgement.got, json!(expected.statistic));
            writer.write_record([
                &report.scenario.name,
                &expected.configuration,
                &expected.metric,
                statistic.as_str().unwrap_or_default(),
                relation,
                other,
                &number(expected.at_least),
                &number(expected.at_most),
                verdict_name(judgement.verdict),
                &number(Some(got.value)),
                &number(Some(got.interval.low)),
                &number(Some(got.interval.high)),
                &expected.source,
                &expected.origin,
            ])?;
        }
    }
    writer.into_inner().map_err(|error| io::Error::other(error.to_string()))
}
