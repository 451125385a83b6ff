//! What a reader must know beside the figures.

use std::collections::BTreeSet;

use super::Report;
use super::number::mark;
use crate::experiment::precision::attained;
use crate::experiment::{PointSummary, Status};
use crate::scenario::Statistic;
use crate::statistics::Sense;
use crate::statistics::quantile::replications_needed;
use crate::wording::counted;

/// Names that are listed before the rest is counted.
const MOST_NAMES: usize = 4;

/// One sentence each: what is not as it seems, then what the scenario's author wants known.
#[must_use]
pub fn notes(report: Report<'_>) -> Vec<String> {
    let mut notes = facts(report);
    // The points of a sweep repeat the note of the configuration that they start from.
    let mut told = BTreeSet::new();
    for summary in report.summaries {
        let point = report.point(summary);
        if let Some(note) = point.note.as_ref().filter(|note| told.insert(note.as_str())) {
            notes.push(format!("{}: {note}", point.configuration));
        }
    }
    notes.extend(report.scenario.warnings.iter().map(|warning| format!("warning: {warning}")));
    notes
}

/// What is not as it seems in the figures themselves, a sentence each.
#[must_use]
pub fn facts(report: Report<'_>) -> Vec<String> {
    let mut grouped = Grouped::default();
    for summary in report.summaries {
        let name = report.point(summary).configuration.as_str();
        unusual_endings(summary, |fact| grouped.add(fact, name));
        missing_figures(report, summary, |fact| grouped.add(fact, name));
        cut_off(report, summary, |fact| grouped.add(fact, name));
        missed_precision(report, summary, |fact| grouped.add(fact, name));
    }
    let mut notes = grouped.into_notes();
    open_quantiles(&mut notes, report);
    antithetic_gain(&mut notes, report);
    notes
}

/// Facts with the points that each is true of, in the order in which they came up.
#[derive(Default)]
struct Grouped<'r>(Vec<(String, Vec<&'r str>)>);

impl<'r> Grouped<'r> {
    fn add(&mut self, fact: String, point: &'r str) {
        match self.0.iter_mut().find(|(known, _)| *known == fact) {
            Some((_, points)) => points.push(point),
            None => self.0.push((fact, vec![point])),
        }
    }

    fn into_notes(self) -> Vec<String> {
        let note = |(fact, points): (String, Vec<&str>)| {
            if points.len() <= MOST_NAMES {
                return format!("{}: {fact}", points.join("; "));
            }
            let more = points.len() - (MOST_NAMES - 1);
            format!("{} and {more} more points: {fact}", points[..MOST_NAMES - 1].join("; "))
        };
        self.0.into_iter().map(note).collect()
    }
}

fn unusual_endings(summary: &PointSummary, mut add: impl FnMut(String)) {
    for status in Status::ALL.into_iter().filter(|&status| status != Status::Converged) {
        let count = summary.count(status);
        if count == 0 {
            continue;
        }
        let mut fact = format!("{} in {count} of {}", status.meaning(), of_replications(summary));
        if let (Status::Failed, Some(message)) = (status, &summary.failure) {
            fact.push_str(": ");
            fact.push_str(message);
        }
        add(fact);
    }
}

/// Metrics that are known of parts of replications only, by how much is known of them.
fn cut_off(report: Report<'_>, summary: &PointSummary, mut add: impl FnMut(String)) {
    let columns = report.main_columns();
    let cut = |sense: Sense| {
        let is_so = move |column: &usize| {
            let metric = &summary.metrics[*column];
            let figures = [metric.mean, metric.p50, metric.p95, metric.p99];
            metric.cut > 0 && figures.iter().any(|figure| figure.sense == sense)
        };
        let names = columns.iter().copied().filter(is_so);
        let names: Vec<&str> = names.map(|at| report.columns[at].name.as_str()).collect();
        names.join(", ")
    };
    let what = [
        (Sense::AtLeast, "at least so much, as they were cut off"),
        (Sense::SoFar, "so much until they were cut off; of the whole the interval tells"),
    ];
    for (sense, what) in what {
        let names = cut(sense);
        if !names.is_empty() {
            add(format!("{names}: {} is {what}", mark(sense)));
        }
    }
}

fn missing_figures(report: Report<'_>, summary: &PointSummary, mut add: impl FnMut(String)) {
    for column in report.main_columns() {
        let metric = &summary.metrics[column];
        let count = metric.count;
        let name = &report.columns[column].name;
        let replications = of_replications(summary);
        if count == 0 {
            add(format!("no {name} in any of {replications}"));
        } else if count < summary.replications && metric.cut > 0 {
            add(format!("{name} only in {count} of {replications}"));
        } else if count < summary.replications {
            add(format!("{name} only in {count} of {replications}; its figures are over these"));
        }
    }
}

/// A point that has the most replications allowed and is still not known well enough.
fn missed_precision(report: Report<'_>, summary: &PointSummary, mut add: impl FnMut(String)) {
    let Some(precision) = &report.scenario.run.precision else { return };
    let (got, reached) = attained(precision, report.columns, summary);
    if reached {
        return;
    }
    let metric = &precision.metric;
    let figure = match precision.statistic {
        Statistic::P50 => format!("median {metric}"),
        Statistic::P95 => format!("p95 of {metric}"),
        Statistic::P99 => format!("p99 of {metric}"),
        _ => format!("mean {metric}"),
    };
    let known = if got.is_finite() {
        format!("known to {:.2} %", got * 100.0)
    } else {
        "not bounded".to_owned()
    };
    add(format!(
        "{figure} is {known} after {}, the most allowed; asked was {} %",
        of_replications(summary),
        percent(precision.relative)
    ));
}

/// How many replications a point has, in words.
fn of_replications(summary: &PointSummary) -> String {
    counted(summary.replications, "replication")
}

/// A share in per cent, without the noise of binary fractions.
fn percent(share: f64) -> f64 {
    (share * 1e8).round() / 1e6
}

/// Says what antithetic pairs were good for.
fn antithetic_gain(notes: &mut Vec<String>, report: Report<'_>) {
    if !report.scenario.run.antithetic {
        return;
    }
    for column in report.main_columns() {
        let gains: Vec<f64> = report
            .summaries
            .iter()
            .map(|summary| summary.metrics[column].variance_gain)
            .filter(|gain| gain.is_finite())
            .collect();
        let least = gains.iter().copied().fold(f64::INFINITY, f64::min);
        let most = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let range = match gains.len() {
            0 => continue,
            1 => format!("{least:.2}"),
            _ => format!("{least:.2} to {most:.2}"),
        };
        notes.push(format!(
            "antithetic pairs: the variance of the mean {} is that of {range} times as many \
             independent replications{}",
            report.columns[column].name,
            if least < 1.0 { "; below 1 they do harm" } else { "" }
        ));
    }
}

/// Says once how many replications would close the open intervals.
fn open_quantiles(notes: &mut Vec<String>, report: Report<'_>) {
    let confidence = report.scenario.run.confidence;
    let columns = report.main_columns();
    let fewest = report
        .summaries
        .iter()
        .flat_map(|summary| columns.iter().map(|&column| &summary.metrics[column]))
        // More replications close no interval that is open because they are cut off.
        .filter(|metric| metric.cut == 0)
        .map(|metric| metric.count)
        .filter(|&count| count > 0)
        .min();
    let Some(fewest) = fewest else { return };
    // Of antithetic pairs it takes two.
    let two = 2 * if report.scenario.run.antithetic { 2 } else { 1 };
    let quantiles = [("p50", 0.50), ("p95", 0.95), ("p99", 0.99)]
        .map(|(name, probability)| (name, replications_needed(probability, confidence)));
    let open: Vec<(&str, u64)> = [("the mean", two)]
        .into_iter()
        .chain(quantiles)
        .filter(|&(_, needed)| fewest < needed)
        .collect();
    if let Some(&(_, most)) = open.last() {
        let names: Vec<&str> = open.iter().map(|(name, _)| *name).collect();
        notes.push(format!(
            "{} {} not bound {} on both sides at {} % (\"?\" in an interval); {most} do",
            counted(fewest, "replication"),
            if fewest == 1 { "does" } else { "do" },
            names.join(", "),
            confidence * 100.0,
        ));
    }
}
