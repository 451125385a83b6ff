//! The best of several, in words and for programs.

use serde_json::{Value, json};

use super::json::estimate;
use super::percent;
use crate::experiment::solve::best::Candidate;
use crate::experiment::solve::{Best, Chosen, Objective, Settings};
use crate::report::document::{Document, TextTable};
use crate::report::number::Scale;
use crate::scenario::MetricColumn;
use crate::scenario::target::FigureOf;
use crate::wording::counted;

/// What a selection is reported from.
#[derive(Clone, Debug)]
pub struct BestReport<'r> {
    /// The scenario's name.
    pub scenario: &'r str,
    /// Columns of the scenario.
    pub columns: &'r [MetricColumn],
    /// What is compared.
    pub figure: FigureOf,
    /// What is best.
    pub objective: Objective,
    /// How sure.
    pub settings: Settings,
    /// Names of the candidates.
    pub names: &'r [String],
    /// What came out.
    pub best: &'r Best,
}

/// The whole report.
#[must_use]
pub fn best_document(report: &BestReport<'_>) -> Document {
    let figure = report.figure.text(report.columns);
    let scale = scale(report);
    let objective = report.objective;
    let least = if objective.least { "least" } else { "greatest" };
    let count = report.names.len();
    let mut document =
        Document::new(format!("{}: the {least} {figure} of {count}", report.scenario));
    document.paragraph(answer(report, scale));
    let heading = ["", &scale.heading(&figure), "interval", "replications", "surely not the best"];
    let row = |(name, candidate): (&String, &Candidate)| {
        vec![
            name.clone(),
            scale.value(candidate.mean),
            scale.interval(candidate.mean),
            candidate.replications.to_string(),
            became(report, name, candidate),
        ]
    };
    document.table(TextTable {
        heading: heading.map(str::to_owned).to_vec(),
        words: 1,
        rows: report.names.iter().zip(&report.best.candidates).map(row).collect(),
    });
    document.note(format!(
        "with a probability of at least {} the best is chosen if it is better than every other \
         by {} or more, else one that is less than that worse (fully sequential procedure of Kim \
         and Nelson 2001, exact for normal figures, on common random numbers; each interval above is at {} by itself)",
        percent(report.settings.confidence),
        scale.of_difference().bound(objective.indifference),
        percent(report.settings.confidence),
    ));
    let candidates = report.names.iter().zip(&report.best.candidates);
    let left_out: Vec<&str> = candidates
        .filter(|(_, candidate)| candidate.missing > 0)
        .map(|(name, _)| name.as_str())
        .collect();
    if !left_out.is_empty() {
        document.note(format!(
            "{} of the {count} candidates {} no mean, as some replications have no figure, so that \
             the probability is about the others only: {}",
            left_out.len(),
            if left_out.len() == 1 { "has" } else { "have" },
            left_out.join(", ")
        ));
    }
    document
}

fn scale(report: &BestReport<'_>) -> Scale {
    let means = report.best.candidates.iter().map(|candidate| candidate.mean.value);
    Scale::for_values(report.figure.unit(report.columns), means)
}

fn answer(report: &BestReport<'_>, scale: Scale) -> String {
    let unit = scale.symbol();
    match report.best.chosen {
        Chosen::One(index) => {
            let (name, candidate) = (&report.names[index], &report.best.candidates[index]);
            let alike = alike(report, index);
            let value = format!("{} {unit}", scale.value(candidate.mean));
            let value = value.trim_end();
            if alike.is_empty() {
                format!("{name} is the best: {value}.")
            } else {
                let is = if alike.len() == 1 { "is" } else { "are" };
                let alike = alike.join(", ");
                format!("{name} is chosen: {value}; {alike} {is} equal to it, so as good.")
            }
        }
        Chosen::Open { needed } => format!(
            "No choice: {} will not tell those apart that are left; {needed} would in any case, \
             or a larger indifference zone.",
            counted(report.settings.most, "replication")
        ),
        Chosen::NoCandidate => "No choice: in each some replications have no figure.".to_owned(),
    }
}

/// Means that differ by no more than this share differ by rounding.
const ALIKE: f64 = 1e-12;

/// The candidates whose mean, over as many replications, is that of the one that was chosen.
fn alike<'r>(report: &BestReport<'r>, chosen: usize) -> Vec<&'r str> {
    let best = &report.best.candidates[chosen];
    let equal = |candidate: &Candidate| {
        let (a, b) = (candidate.mean.value, best.mean.value);
        candidate.missing == 0
            && candidate.replications == best.replications
            && (a - b).abs() <= ALIKE * a.abs().max(b.abs())
    };
    let others = report.best.candidates.iter().zip(report.names).enumerate();
    others.filter(|&(at, (c, _))| at != chosen && equal(c)).map(|(_, (_, n))| n.as_str()).collect()
}

fn became(report: &BestReport<'_>, name: &str, candidate: &Candidate) -> String {
    if candidate.missing > 0 {
        return format!("left out: {} without figure", candidate.missing);
    }
    let chosen = matches!(report.best.chosen, Chosen::One(index) if report.names[index] == name);
    match candidate.dropped {
        Some(replications) => format!("after {replications}"),
        None if chosen => "chosen".to_owned(),
        None => "left".to_owned(),
    }
}

/// For programs. Times are in seconds, shares between 0 and 1.
#[must_use]
pub fn best_json(report: &BestReport<'_>) -> Value {
    let chosen = match report.best.chosen {
        Chosen::One(index) => Some(&report.names[index]),
        Chosen::Open { .. } | Chosen::NoCandidate => None,
    };
    let candidate = |(name, candidate): (&String, &Candidate)| {
        json!({
            "name": name,
            "mean": estimate(candidate.mean),
            "replications": candidate.replications,
            "without_figure": candidate.missing,
            "dropped_after": candidate.dropped,
        })
    };
    json!({
        "version": 1,
        "convsim": env!("CARGO_PKG_VERSION"),
        "scenario": report.scenario,
        "figure": report.figure.text(report.columns),
        "unit": report.figure.unit(report.columns).symbol(),
        "best": if report.objective.least { "least" } else { "greatest" },
        "indifference": report.objective.indifference,
        "probability_of_correct_selection": report.settings.confidence,
        "chosen": chosen,
        "candidates":
            report.names.iter().zip(&report.best.candidates).map(candidate).collect::<Vec<_>>(),
    })
}
