//! The answer in a few sentences, generated from the figures.

use super::super::number::Scale;
use super::super::plots::part_title;
use super::super::stored::{Figure, Stored, StoredColumn, StoredPoint};
use crate::models::Unit;
use crate::statistics::Estimate;
use crate::statistics::paired::Contrast;

/// Expectations that did not hold and are named; of more it is only said how many.
const MOST_MISSES: usize = 2;

type Numbered<'s> = (usize, &'s StoredPoint);

/// The sentences.
pub fn sentences(stored: &Stored) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(column) = stored.main_columns().first() {
        let points: Vec<Numbered<'_>> = stored.summary.points.iter().enumerate().collect();
        let (swept, named): (Vec<_>, Vec<_>) =
            points.into_iter().partition(|(_, point)| !point.axes.is_empty());
        match named.as_slice() {
            [first, second, ..] => sentences.push(compared(stored, column, *first, *second)),
            [first] => sentences.push(alone(column, first.1)),
            [] => {}
        }
        if named.len() > 2 {
            let of = format!("Of the {} configurations", named.len());
            sentences.extend(extremes(column, &of, &named));
        }
        sentences.extend(extremes(column, "Over the sweep", &swept));
        sentences
            .extend(named.first().or(swept.first()).and_then(|(_, p)| largest(stored, column, p)));
    }
    sentences.extend(not_converged(stored));
    sentences.extend(held(stored));
    sentences
}

/// The name of a configuration, which may have commas and colons of its own.
fn name(point: &StoredPoint) -> String {
    format!("“{}”", point.configuration)
}

/// `13.4 ± 0.2 s`.
fn figure(column: &StoredColumn, estimate: Estimate) -> String {
    let scale = Scale::for_values(column.unit(), [estimate.value]);
    let text = scale.plus_minus(estimate);
    match scale.symbol() {
        "" => text,
        "1/s" => format!("{text} per second"),
        symbol => format!("{text} {symbol}"),
    }
}

fn mean(column: &StoredColumn, point: &StoredPoint) -> String {
    figure(column, point.figure(&column.name, Figure::Mean))
}

fn alone(column: &StoredColumn, point: &StoredPoint) -> String {
    format!("With {} the mean {} is {}.", name(point), column.title(), mean(column, point))
}

fn compared(
    stored: &Stored,
    column: &StoredColumn,
    (first_index, first): Numbered<'_>,
    (second_index, second): Numbered<'_>,
) -> String {
    let value = |point: &StoredPoint| point.figure(&column.name, Figure::Mean).value;
    let (a, b) = (value(first), value(second));
    let beginning = format!(
        "With {} the mean {} is {}, with {} it is {}",
        name(second),
        column.title(),
        mean(column, second),
        name(first),
        mean(column, first)
    );
    if !a.is_finite() || !b.is_finite() {
        return format!("{beginning}.");
    }
    let confidence = stored.summary.confidence;
    let larger = match (column.unit(), b < a) {
        (Unit::Seconds, true) => "shorter",
        (Unit::Seconds, false) => "longer",
        (_, true) => "smaller",
        (_, false) => "larger",
    };
    let (most, least) =
        if a >= b { (first_index, second_index) } else { (second_index, first_index) };
    let pairs = stored.pairs(most, least, &column.name);
    let ratio = pairs.means(Contrast::Ratio, confidence);
    let (low, high) = (ratio.interval.low, ratio.interval.high);
    if ratio.value.is_finite() && ratio.interval.is_bounded() && low > 1.0 {
        return format!("{beginning}: {}.", times(ratio.value, (low, high), larger));
    }
    // A ratio to nothing is none; the difference still tells.
    let difference = pairs.means(Contrast::Difference, confidence);
    if difference.value == 0.0 && difference.interval.half_width() == 0.0 {
        return format!("{beginning}: the same.");
    }
    if difference.interval.is_bounded() && difference.interval.low > 0.0 {
        // Of shares, 5 % less may be read as a ratio.
        let by = figure(column, difference).replace(" %", " percentage points");
        return format!("{beginning}: {by} {larger}.");
    }
    format!("{beginning}; the data do not tell which is larger.")
}

/// `6.6 times shorter (6.6 to 6.7)`, with as many decimals as the interval has room for.
fn times(ratio: f64, (low, high): (f64, f64), larger: &str) -> String {
    let decimals = match high - low {
        width if width < 0.05 => 2,
        width if width < 5.0 => 1,
        _ => 0,
    };
    let text = |x: f64| format!("{x:.decimals$}");
    let interval = if text(low) == text(high) {
        String::new()
    } else {
        format!(" ({} to {})", text(low), text(high))
    };
    format!("{} times {larger}{interval}", text(ratio))
}

/// Where the metric is least and where it is greatest.
fn extremes(column: &StoredColumn, of: &str, points: &[Numbered<'_>]) -> Option<String> {
    let value = |point: &StoredPoint| point.figure(&column.name, Figure::Mean).value;
    let known = || points.iter().map(|(_, point)| *point).filter(|point| value(point).is_finite());
    let least = known().min_by(|a, b| value(a).total_cmp(&value(b)))?;
    // The first of several that are alike.
    let most = known().rev().max_by(|a, b| value(a).total_cmp(&value(b)))?;
    (points.len() > 1 && value(least) < value(most)).then(|| {
        format!(
            "{of} it is least with {}, {}, and greatest with {}, {}.",
            name(least),
            mean(column, least),
            name(most),
            mean(column, most)
        )
    })
}

/// The largest part of a metric.
fn largest(stored: &Stored, column: &StoredColumn, point: &StoredPoint) -> Option<String> {
    let whole = point.figure(&column.name, Figure::Mean).value;
    let parts = stored.parts(&column.name);
    let share = |part: &&StoredColumn| point.figure(&part.name, Figure::Mean).value / whole;
    let known = parts.iter().filter(|part| share(part).is_finite());
    let part = known.max_by(|a, b| share(a).total_cmp(&share(b)))?;
    (whole > 0.0).then(|| {
        let what = part.summary.trim_end_matches('.');
        let what = if what.is_empty() { String::new() } else { format!(" ({})", uncapital(what)) };
        format!(
            "{:.0} % of the {} with {} is {}{what}.",
            share(part) * 100.0,
            column.title(),
            name(point),
            part_title(column, part),
        )
    })
}

/// Without the capital of a first word that is no name.
fn uncapital(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

fn not_converged(stored: &Stored) -> Option<String> {
    let share = |point: &&StoredPoint| point.not_converged().value;
    let points = || stored.summary.points.iter().filter(|point| share(point) > 0.0);
    let worst = points().rev().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let percent = format!("{:.1}", share(&worst) * 100.0);
    let percent = percent.trim_end_matches(".0");
    let all = stored.summary.points.len();
    Some(match (points().count(), all) {
        (_, 1) => format!("{percent} % of the replications did not converge."),
        (1, _) => format!("With {} {percent} % of the replications did not converge.", name(worst)),
        (count, _) => format!(
            "In {count} of {all} configurations replications did not converge: most of all with \
             {}, {percent} %.",
            name(worst)
        ),
    })
}

fn held(stored: &Stored) -> Option<String> {
    let expectations = &stored.summary.expectations;
    let judged: Vec<_> = expectations.iter().filter(|e| e.verdict != "skipped").collect();
    let held = judged.iter().filter(|e| e.verdict == "held").count();
    let others: Vec<_> = judged.iter().filter(|e| e.verdict != "held").collect();
    if judged.is_empty() {
        return None;
    }
    let named = |e: &&&super::super::stored::StoredExpectation| {
        format!("{} ({})", e.expected, e.verdict.to_lowercase())
    };
    Some(match (others.len(), judged.len()) {
        (0, 1) => "The expectation holds.".to_owned(),
        (0, all) => format!("All {all} expectations hold."),
        (count, all) if count <= MOST_MISSES => {
            let names: Vec<String> = others.iter().map(named).collect();
            format!("{held} of {all} expectations hold; not: {}.", names.join("; "))
        }
        (_, all) => format!("{held} of {all} expectations hold; below it says which do not."),
    })
}
