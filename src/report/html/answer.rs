//! The answer in a few sentences, generated from the figures.

use super::super::number::Scale;
use super::super::plots::part_title;
use super::super::stored::{Figure, Stored, StoredColumn, StoredPoint};
use crate::models::Unit;
use crate::statistics::Estimate;
use crate::statistics::paired::Contrast;

/// The sentences.
pub fn sentences(stored: &Stored) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(column) = stored.main_columns().first() {
        let points: Vec<(usize, &StoredPoint)> = stored.summary.points.iter().enumerate().collect();
        let (swept, named): (Vec<_>, Vec<_>) =
            points.into_iter().partition(|(_, point)| !point.axes.is_empty());
        match named.as_slice() {
            [first, second, ..] => sentences.push(compared(stored, column, *first, *second)),
            [first] => sentences.push(alone(column, first.1)),
            [] => {}
        }
        sentences.extend(over_sweep(column, &swept));
        sentences
            .extend(named.first().or(swept.first()).and_then(|(_, p)| largest(stored, column, p)));
    }
    sentences.extend(not_converged(stored));
    sentences.extend(held(stored));
    sentences
}

/// `13.4 ± 0.2 s`.
fn figure(column: &StoredColumn, estimate: Estimate) -> String {
    let scale = Scale::for_values(column.unit(), [estimate.value]);
    let text = scale.plus_minus(estimate);
    if scale.symbol().is_empty() { text } else { format!("{text} {}", scale.symbol()) }
}

fn alone(column: &StoredColumn, point: &StoredPoint) -> String {
    let mean = point.figure(&column.name, Figure::Mean);
    format!(
        "With {}, the mean {} is {}.",
        point.configuration,
        column.title(),
        figure(column, mean)
    )
}

fn compared(
    stored: &Stored,
    column: &StoredColumn,
    (first_index, first): (usize, &StoredPoint),
    (second_index, second): (usize, &StoredPoint),
) -> String {
    let mean = |point: &StoredPoint| point.figure(&column.name, Figure::Mean);
    let (a, b) = (mean(first), mean(second));
    let mut sentence = format!(
        "With {} the mean {} is {}, with {} it is {}",
        second.configuration,
        column.title(),
        figure(column, b),
        first.configuration,
        figure(column, a)
    );
    let (larger, smaller) =
        if a.value >= b.value { (first_index, second_index) } else { (second_index, first_index) };
    let pairs = stored.pairs(larger, smaller, &column.name);
    let ratio = pairs.means(Contrast::Ratio, stored.summary.confidence);
    let (low, high) = (ratio.interval.low, ratio.interval.high);
    if ratio.value.is_finite() && ratio.interval.is_bounded() && low > 1.0 {
        let word = match (column.unit(), b.value < a.value) {
            (Unit::Seconds, true) => "shorter",
            (Unit::Seconds, false) => "longer",
            (_, true) => "smaller",
            (_, false) => "larger",
        };
        // As many decimals as the interval has room for.
        let decimals = if high - low < 0.05 { 2 } else { 1 };
        let times = |x: f64| format!("{x:.decimals$}");
        sentence.push_str(&format!(
            ": {} times {word} ({} to {})",
            times(ratio.value),
            times(low),
            times(high)
        ));
    } else if a.value.is_finite() && b.value.is_finite() {
        sentence.push_str("; the data do not tell which is larger");
    }
    sentence.push('.');
    sentence
}

/// From which to which figure a sweep leads.
fn over_sweep(column: &StoredColumn, swept: &[(usize, &StoredPoint)]) -> Option<String> {
    let value = |point: &StoredPoint| point.figure(&column.name, Figure::Mean).value;
    let known = || swept.iter().map(|(_, point)| *point).filter(|point| value(point).is_finite());
    let least = known().min_by(|a, b| value(a).total_cmp(&value(b)))?;
    let most = known().max_by(|a, b| value(a).total_cmp(&value(b)))?;
    (swept.len() > 1 && value(least) < value(most)).then(|| {
        let mean = |point: &StoredPoint| figure(column, point.figure(&column.name, Figure::Mean));
        format!(
            "Over the sweep it is least, {}, at {} and greatest, {}, at {}.",
            mean(least),
            least.configuration,
            mean(most),
            most.configuration
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
        let what = if column.unit() == Unit::Seconds { "time" } else { "figure" };
        format!(
            "{:.0} % of the {} {what} is {}: {}",
            share(part) * 100.0,
            point.configuration,
            part_title(column, part),
            part.summary
        )
    })
}

fn not_converged(stored: &Stored) -> Option<String> {
    let share = |point: &&StoredPoint| point.not_converged().value;
    let points = stored.summary.points.iter().filter(|point| share(point) > 0.0);
    let count = points.clone().count();
    let worst = points.max_by(|a, b| share(a).total_cmp(&share(b)))?;
    Some(format!(
        "In {count} of {} configurations some replications did not converge, most of them ({:.1} %) with {}.",
        stored.summary.points.len(),
        share(&worst) * 100.0,
        worst.configuration
    ))
}

fn held(stored: &Stored) -> Option<String> {
    let expectations = &stored.summary.expectations;
    let held = expectations.iter().filter(|e| e.verdict == "held").count();
    (!expectations.is_empty())
        .then(|| format!("{held} of {} expectations hold.", expectations.len()))
}
