//! What was run, a line for each value or candidate. Times are in seconds, shares between 0 and 1; an
//! open end is empty.

use std::io;

use super::{BestReport, Searched, SolveReport, meets_text};
use crate::experiment::solve::{Answer, Chosen};
use crate::report::results_csv::Number;
use crate::statistics::Estimate;

/// A line for each value of the parameter that was run; in the last column what it is of the answer.
///
/// # Errors
/// What the writer says.
pub fn solve_csv(report: &SolveReport<'_>) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let heading = ["along", "parameter", "value", "figure", "unit", "estimate", "low", "high"];
    writer.write_record(heading.into_iter().chain([
        "replications",
        "without_figure",
        "meets",
        "answer",
    ]))?;
    let figure = report.target.figure.text(report.columns);
    for searched in &report.searches {
        for probe in &searched.solution.probes {
            let along = searched.along.clone().unwrap_or_default();
            let words = [&along, report.parameter, searched.value(probe.value), &figure];
            let [estimate, low, high] = numbers(probe.estimate);
            let (replications, missing) = (probe.figures.len(), probe.missing());
            let rest = [
                report.unit().symbol(),
                &estimate,
                &low,
                &high,
                &replications.to_string(),
                &missing.to_string(),
                meets_text(probe.meets),
                role(searched, probe.value),
            ];
            writer.write_record(words.into_iter().chain(rest))?;
        }
    }
    writer.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

/// Whether the value is the answer, or the first beyond it that surely does not meet the target.
fn role(searched: &Searched<'_>, value: usize) -> &'static str {
    let answer = searched.solution.answer;
    let beyond = match answer {
        Answer::Exactly { fails, .. } => Some(fails),
        Answer::Between { fails, .. } => fails,
        Answer::Last(_) | Answer::Nowhere | Answer::NotMonotone => None,
    };
    if answer.value() == Some(value) {
        "meets"
    } else if beyond == Some(value) {
        "does_not_meet"
    } else {
        ""
    }
}

/// A line for each candidate.
///
/// # Errors
/// What the writer says.
pub fn best_csv(report: &BestReport<'_>) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let heading = ["name", "figure", "unit", "estimate", "low", "high", "replications"];
    writer.write_record(heading.into_iter().chain([
        "without_figure",
        "dropped_after",
        "chosen",
    ]))?;
    let figure = report.figure.text(report.columns);
    let unit = report.figure.unit(report.columns).symbol();
    for (index, (name, candidate)) in report.names.iter().zip(&report.best.candidates).enumerate() {
        let [estimate, low, high] = numbers(candidate.mean);
        writer.write_record([
            name.as_str(),
            &figure,
            unit,
            &estimate,
            &low,
            &high,
            &candidate.replications.to_string(),
            &candidate.missing.to_string(),
            &candidate.dropped.map_or_else(String::new, |after| after.to_string()),
            if report.best.chosen == Chosen::One(index) { "yes" } else { "no" },
        ])?;
    }
    writer.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

fn numbers(estimate: Estimate) -> [String; 3] {
    [estimate.value, estimate.interval.low, estimate.interval.high]
        .map(|number| Number(number).to_string())
}
