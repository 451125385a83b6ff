//! A search for programs. Times are in seconds, shares between 0 and 1; `null` is an open end.

use serde_json::{Value, json};

use super::{Searched, SolveReport, meets_text};
use crate::experiment::solve::{Answer, Goal, Probe, Shape, Step};
use crate::statistics::{Estimate, Sense};

/// Version of the format.
const VERSION: u32 = 1;

/// The whole report.
#[must_use]
pub fn solve_json(report: &SolveReport<'_>) -> Value {
    let figure = report.target.figure;
    json!({
        "version": VERSION,
        "convsim": env!("CARGO_PKG_VERSION"),
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
        "searches": report.searches.iter().map(search).collect::<Vec<_>>(),
    })
}

fn search(searched: &Searched<'_>) -> Value {
    let solution = searched.solution;
    let value = |index: Option<usize>| index.map(|index| searched.value(index));
    let (kind, meets, fails) = match solution.answer {
        Answer::Exactly { meets, fails } => ("exactly", Some(meets), Some(fails)),
        Answer::Last(meets) => ("last_value", Some(meets), None),
        Answer::Between { meets, fails } => ("between", meets, fails),
        Answer::Nowhere => ("none", None, None),
        Answer::NotMonotone => ("not_monotone", None, None),
    };
    json!({
        "along": searched.along,
        "answer": { "kind": kind, "meets": value(meets), "does_not_meet": value(fails) },
        "shape": match solution.shape {
            Shape::Rising => "rising",
            Shape::Falling => "falling",
            Shape::Flat => "flat",
            Shape::Mixed { .. } => "mixed",
        },
        "tried_all": solution.tried_all,
        "across": solution.across.as_ref().map(|across| step(searched, across)),
        "points": solution.probes.iter().map(|probe| point(searched, probe)).collect::<Vec<_>>(),
        "steps": solution.steps.iter().map(|each| step(searched, each)).collect::<Vec<_>>(),
    })
}

fn point(searched: &Searched<'_>, probe: &Probe) -> Value {
    json!({
        "value": searched.value(probe.value),
        "figure": estimate(probe.estimate),
        "replications": probe.figures.len(),
        "without_figure": probe.missing(),
        "meets": meets_text(probe.meets),
    })
}

fn step(searched: &Searched<'_>, step: &Step) -> Value {
    json!({
        "from": searched.value(step.from),
        "to": searched.value(step.to),
        "change": estimate(step.change),
    })
}

/// A figure with its interval, and what it says where it is not the figure itself; `null` for what
/// is not finite.
pub(in crate::report) fn estimate(estimate: Estimate) -> Value {
    let interval = estimate.interval;
    let mut document =
        json!({ "value": estimate.value, "low": interval.low, "high": interval.high });
    match estimate.sense {
        Sense::Whole => {}
        Sense::AtLeast => document["sense"] = "at_least".into(),
        Sense::AtMost => document["sense"] = "at_most".into(),
        Sense::SoFar => document["sense"] = "so_far".into(),
    }
    document
}
