//! A search for programs. Times are in seconds, shares between 0 and 1; `null` is an open end.

use serde_json::{Value, json};

use super::SolveReport;
use crate::experiment::solve::{Answer, Goal, Meets, Probe, Shape, Solution, Step};
use crate::statistics::Estimate;

/// Version of the format.
const VERSION: u32 = 1;

/// The whole report.
#[must_use]
pub fn solve_json(report: &SolveReport<'_>) -> Value {
    let figure = report.target.figure;
    json!({
        "version": VERSION,
        "scenario": report.scenario,
        "configuration": report.configuration,
        "parameter": report.parameter,
        "goal": match report.goal { Goal::Largest => "largest", Goal::Smallest => "smallest" },
        "target": {
            "figure": figure.text(report.columns),
            "unit": report.unit().symbol(),
            "relation": if report.target.at_most { "at_most" } else { "at_least" },
            "bound": report.target.bound,
        },
        "confidence": report.settings.confidence,
        "confidence_of_each_interval": report.settings.each(),
        "along": report.along,
        "searches": report.searches.iter().map(|(other, solution)| {
            search(report, other.as_deref(), solution)
        }).collect::<Vec<_>>(),
    })
}

fn search(report: &SolveReport<'_>, other: Option<&str>, solution: &Solution) -> Value {
    let value = |index: Option<usize>| index.map(|index| report.value(index));
    let (kind, meets, fails) = match solution.answer {
        Answer::Exactly { meets, fails } => ("exactly", Some(meets), Some(fails)),
        Answer::Last(meets) => ("last_value", Some(meets), None),
        Answer::Between { meets, fails } => ("between", meets, fails),
        Answer::Nowhere => ("none", None, None),
        Answer::NotMonotone => ("not_monotone", None, None),
    };
    json!({
        "along": other,
        "answer": { "kind": kind, "meets": value(meets), "does_not_meet": value(fails) },
        "shape": match solution.shape {
            Shape::Rising => "rising",
            Shape::Falling => "falling",
            Shape::Flat => "flat",
            Shape::Mixed { .. } => "mixed",
        },
        "tried_all": solution.tried_all,
        "across": solution.across.as_ref().map(|across| step(report, across)),
        "points": solution.probes.iter().map(|probe| point(report, probe)).collect::<Vec<_>>(),
        "steps": solution.steps.iter().map(|each| step(report, each)).collect::<Vec<_>>(),
    })
}

fn point(report: &SolveReport<'_>, probe: &Probe) -> Value {
    json!({
        "value": report.value(probe.value),
        "figure": estimate(probe.estimate),
        "replications": probe.figures.len(),
        "without_figure": probe.missing(),
        "meets": match probe.meets {
            Meets::Yes => "yes",
            Meets::No => "no",
            Meets::Undecided => "undecided",
        },
    })
}

fn step(report: &SolveReport<'_>, step: &Step) -> Value {
    json!({
        "from": report.value(step.from),
        "to": report.value(step.to),
        "change": estimate(step.change),
    })
}

/// A figure with its interval; `null` for what is not finite.
pub(in crate::report) fn estimate(estimate: Estimate) -> Value {
    let interval = estimate.interval;
    json!({ "value": estimate.value, "low": interval.low, "high": interval.high })
}
