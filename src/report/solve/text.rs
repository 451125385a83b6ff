//! A search in words and tables.

use super::{Searched, SolveReport, meets_text, percent};
use crate::experiment::solve::search::MOST_TRIED;
use crate::experiment::solve::{Answer, Goal, Meets, Probe, Shape, Solution, Step};
use crate::models::Unit;
use crate::report::document::{Document, TextTable};
use crate::report::number::Scale;
use crate::wording::counted;

/// The whole report.
#[must_use]
pub fn solve_document(report: &SolveReport<'_>) -> Document {
    let mut document = Document::new(title(report));
    if let Some(along) = report.along {
        frontier(&mut document, report, along);
    }
    for searched in &report.searches {
        let answer = answer_text(report, searched);
        match (report.along, &searched.along) {
            (Some(along), Some(value)) => {
                document.paragraph(format!("{} = {value}: {answer}", last(along)));
            }
            _ => document.paragraph(answer),
        }
        document.table(probes(report, searched));
        for note in solution_notes(report, searched) {
            document.note(note);
        }
        if report.along.is_some() {
            document.paragraph("");
        }
    }
    document.note(certainty(report));
    document
}

fn title(report: &SolveReport<'_>) -> String {
    let target = report.target;
    let scale = Scale::for_values(report.unit(), [target.bound]);
    let most = if target.at_most { "at most" } else { "at least" };
    let from = report.configuration.map(|name| format!(", from {name}")).unwrap_or_default();
    let along = report.along.map(|path| format!(", for each {path}")).unwrap_or_default();
    format!(
        "{}: the {} {} with {} {most} {}{along}{from}",
        report.scenario,
        report.wanted(),
        report.parameter,
        target.figure.text(report.columns),
        scale.bound(target.bound),
    )
}

/// One line for each value of the other parameter.
fn frontier(document: &mut Document, report: &SolveReport<'_>, along: &str) {
    let figure = report.target.figure.text(report.columns);
    let solutions = || report.searches.iter().map(|searched| searched.solution);
    let figures = solutions().flat_map(|s| s.probes.iter().map(|probe| probe.estimate.value));
    let scale = Scale::for_values(report.unit(), figures.chain([report.target.bound]));
    let heading = vec![
        last(along).to_owned(),
        format!("{} {}", report.wanted(), last(report.parameter)),
        scale.heading(&format!("{figure} there")),
    ];
    let rows = report
        .searches
        .iter()
        .map(|searched| {
            let solution = searched.solution;
            let at = solution.answer.value().and_then(|value| find(solution, value));
            vec![
                searched.along.clone().unwrap_or_default(),
                short_answer(report, searched),
                at.map_or_else(
                    || "-".to_owned(),
                    |probe| {
                        let estimate = probe.estimate;
                        format!("{} ({})", scale.value(estimate), scale.interval(estimate))
                    },
                ),
            ]
        })
        .collect();
    document.table(TextTable { heading, words: 1, rows });
}

fn short_answer(report: &SolveReport<'_>, searched: &Searched<'_>) -> String {
    let value = |index| searched.value(index);
    match searched.solution.answer {
        Answer::Exactly { meets, .. } | Answer::Last(meets) => value(meets).to_owned(),
        Answer::Between { meets: Some(meets), fails: Some(fails) } => {
            format!("{}..{}", value(meets.min(fails)), value(meets.max(fails)))
        }
        Answer::Between { meets: Some(meets), fails: None } => match report.goal {
            Goal::Largest => format!("{} or more", value(meets)),
            Goal::Smallest => format!("{} or less", value(meets)),
        },
        Answer::Between { meets: None, .. } => "undecided".to_owned(),
        Answer::Nowhere => "none".to_owned(),
        Answer::NotMonotone => "not monotone".to_owned(),
    }
}

fn answer_text(report: &SolveReport<'_>, searched: &Searched<'_>) -> String {
    let value = |index| searched.value(index);
    let solution = searched.solution;
    let (wanted, beyond) = match report.goal {
        Goal::Largest => ("largest", "above"),
        Goal::Smallest => ("smallest", "below"),
    };
    let most = solution.probes.iter().map(|probe| probe.figures.len()).max().unwrap_or(0);
    let most = counted(most, "replication");
    match solution.answer {
        Answer::Exactly { meets, fails } => format!(
            "{} is the {wanted}: it meets the target, and {} does not.",
            value(meets),
            value(fails)
        ),
        Answer::Last(meets) => format!(
            "{}, the {wanted} of the values, meets the target; nothing {beyond} it was asked for.",
            value(meets)
        ),
        Answer::Between { meets: Some(meets), fails: Some(fails) } => format!(
            "Between {} and {}: {} meets the target and {} does not; what lies between them is \
             undecided after up to {most} each.",
            value(meets.min(fails)),
            value(meets.max(fails)),
            value(meets),
            value(fails)
        ),
        Answer::Between { meets: Some(meets), fails: None } => format!(
            "{} meets the target; what lies {beyond} it is undecided after up to {most} \
             each.",
            value(meets)
        ),
        Answer::Between { meets: None, fails: Some(fails) } => format!(
            "No value surely meets the target: {} does not, and what could is undecided after \
             up to {most} each.",
            value(fails)
        ),
        Answer::Between { meets: None, fails: None } => {
            format!("No value surely meets the target: it is undecided after up to {most} each.")
        }
        Answer::Nowhere => "No value meets the target.".to_owned(),
        Answer::NotMonotone => format!(
            "No answer: the figure goes up and down along the values, so bisection would mislead, \
             and there are more than {MOST_TRIED} of them, too many to try all. Give fewer values."
        ),
    }
}

/// Every value that was run.
fn probes(report: &SolveReport<'_>, searched: &Searched<'_>) -> TextTable {
    let solution = searched.solution;
    let scale = report.scale(solution);
    let figure = report.target.figure.text(report.columns);
    let heading = [
        last(report.parameter).to_owned(),
        scale.heading(&figure),
        "interval".to_owned(),
        "replications".to_owned(),
        "meets it".to_owned(),
    ];
    let row = |probe: &Probe| {
        let value = match (probe.cut(), probe.estimate.value == f64::INFINITY) {
            (1.., _) if !probe.estimate.value.is_finite() => "cut off".to_owned(),
            (_, true) => "never".to_owned(),
            (_, false) => scale.value(probe.estimate),
        };
        vec![
            searched.value(probe.value).to_owned(),
            value,
            scale.interval(probe.estimate),
            probe.figures.len().to_string(),
            meets_text(probe.meets).to_owned(),
        ]
    };
    let rows = solution.probes.iter().map(row).collect();
    TextTable { heading: heading.to_vec(), words: 0, rows }
}

fn solution_notes(report: &SolveReport<'_>, searched: &Searched<'_>) -> Vec<String> {
    let solution = searched.solution;
    let scale = report.scale(solution);
    let mut notes = Vec::new();
    let told = match &solution.shape {
        Shape::Mixed { rise, fall } => vec![(rise.from, rise.to), (fall.from, fall.to)],
        _ => Vec::new(),
    };
    // A change that the shape tells of is not told twice, with two intervals.
    if let Some(step) =
        solution.across.as_ref().filter(|step| !told.contains(&(step.from, step.to)))
    {
        notes.push(format!(
            "{} at {}, over pairs of replications",
            step_text(searched, scale, step),
            percent(report.settings.confidence)
        ));
    }
    notes.push(shape_text(searched, scale, report.settings.confidence));
    notes.extend(alike_text(searched));
    let all: usize = solution.probes.iter().map(|probe| probe.figures.len()).sum();
    let cut: usize = solution.probes.iter().map(Probe::cut).sum();
    if cut > 0 {
        notes.push(format!(
            "{cut} of {all} replications were cut off at the horizon or with the event budget spent: \
             of these only bounds of the figure are known, so that it stays undecided unless these \
             decide; a later run.horizon would tell"
        ));
    }
    let missing = solution.probes.iter().map(Probe::missing).sum::<usize>() - cut;
    if missing > 0 {
        let taken = if report.unit() == Unit::Seconds {
            "they count as longer than any bound"
        } else {
            "they are left out"
        };
        let all = counted(all, "replication");
        notes.push(format!("in {missing} of {all} it did not come about: {taken}"));
    }
    notes
}

/// Values decided by a mean that did not vary: what is too rare to have shown is not excluded.
fn alike_text(searched: &Searched<'_>) -> Option<String> {
    let solution = searched.solution;
    let alike = |probe: &&Probe| {
        let mut figures = probe.figures.iter().filter(|figure| figure.is_some());
        let first = figures.next();
        probe.estimate.value.is_finite()
            && probe.estimate.interval.half_width() == 0.0
            && probe.meets != Meets::Undecided
            && figures.all(|figure| Some(figure) == first)
    };
    let probes: Vec<&Probe> = solution.probes.iter().filter(alike).collect();
    let fewest = probes.iter().map(|probe| probe.figures.len()).min()?;
    let values: Vec<&str> = probes.iter().map(|probe| searched.value(probe.value)).collect();
    Some(format!(
        "at {} all replications gave the same figure, so its interval has no width: what happens in \
         fewer than one of some {fewest} replications would not have shown",
        values.join(", ")
    ))
}

fn step_text(searched: &Searched<'_>, scale: Scale, step: &Step) -> String {
    let scale = scale.of_difference();
    let unit = if scale.symbol().is_empty() { "" } else { " " };
    format!(
        "from {} to {} it changes by {}{unit}{} ({})",
        searched.value(step.from),
        searched.value(step.to),
        scale.value(step.change),
        scale.symbol(),
        scale.interval(step.change)
    )
}

fn shape_text(searched: &Searched<'_>, scale: Scale, confidence: f64) -> String {
    let solution = searched.solution;
    if solution.steps.is_empty() {
        return "there is one value only".to_owned();
    }
    if let Shape::Mixed { rise, fall } = &solution.shape {
        let tried = if solution.tried_all { "; so all values were tried" } else { "" };
        return format!(
            "not monotone: {}, but {}, all steps at once at {}{tried}",
            step_text(searched, scale, rise),
            step_text(searched, scale, fall),
            percent(confidence)
        );
    }
    let rises = solution.steps.iter().filter(|step| step.change.interval.low > 0.0).count();
    let falls = solution.steps.iter().filter(|step| step.change.interval.high < 0.0).count();
    let tried = if solution.tried_all {
        "; values that meet the target and values that do not alternate, so all were tried"
    } else {
        "; that values in between go the same way is assumed"
    };
    format!(
        "monotone as far as was tested: of {} between the values that were run, on common \
         random numbers, {rises} surely rising and {falls} surely falling{tried}",
        counted(solution.steps.len(), "step")
    )
}

fn certainty(report: &SolveReport<'_>) -> String {
    let settings = report.settings;
    format!(
        "sure to {}: every \"yes\" and every \"no\" above holds, all at once; for that each \
         interval is at {} ({} that could be looked at, up to {} at each)",
        percent(settings.confidence),
        percent(settings.each()),
        counted(settings.values, "value"),
        counted(settings.looks().count(), "look")
    )
}

fn find(solution: &Solution, value: usize) -> Option<&Probe> {
    solution.probes.iter().find(|probe| probe.value == value)
}

/// The last key of a path.
pub(super) fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}
