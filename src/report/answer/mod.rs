//! The answer in a few sentences, generated from the figures.

mod words;

#[cfg(test)]
mod tests;

use serde_json::Value;

use super::plots::part_title;
use super::stored::{Figure, Stored, StoredColumn, StoredExpectation, StoredPoint};
use super::terminal::wrapped;
use crate::models::Unit;
use crate::statistics::Sense;
use crate::statistics::paired::Contrast;
use crate::wording::counted;
use words::{capital, difference_figure, figure, metric, name, times, uncapital};

/// Expectations that did not hold and are named; of more it is only said how many.
const MOST_MISSES: usize = 2;

/// With more configurations than this none is set against the first, unless an expectation does.
const FEW: usize = 4;
/// Metrics of which it is said what the configurations give, where none is set against another.
const MOST_METRICS: usize = 3;
/// Names that are given of several.
const MOST_NAMES: usize = 2;
/// Means that differ by no more than this share differ by rounding.
const ALIKE: f64 = 1e-9;

type Numbered<'s> = (usize, &'s StoredPoint);

/// The sentences.
#[must_use]
pub fn sentences(stored: &Stored) -> Vec<String> {
    let mut sentences = Vec::new();
    let columns = stored.main_columns();
    if let Some(column) = columns.first() {
        let points: Vec<Numbered<'_>> = stored.summary.points.iter().enumerate().collect();
        let (swept, named): (Vec<_>, Vec<_>) =
            points.into_iter().partition(|(_, point)| !point.axes.is_empty());
        let of = format!("Of the {} configurations", named.len());
        let pair = headline(stored, column, &named);
        let subject = match (pair, named.as_slice()) {
            (Some((base, other)), _) => {
                sentences.extend(compared(stored, &columns, base, other));
                let ends = extremes(column, &of, "it", &named);
                let told = |point: &StoredPoint| {
                    [base.1.id.as_str(), other.1.id.as_str()].contains(&point.id.as_str())
                };
                let ends = ends.filter(|ends| !ends.of.iter().all(|point| told(point)));
                sentences.extend(ends.map(|ends| ends.text));
                "it".to_owned()
            }
            (None, [only]) => {
                sentences.extend(alone(column, only.1));
                "it".to_owned()
            }
            (None, _) => {
                let of_column = |column: &&StoredColumn| given(column, &of, &named);
                let given = columns.iter().filter_map(of_column).take(MOST_METRICS).enumerate();
                let once = |(index, text): (usize, String)| match text.strip_prefix(&of) {
                    Some(rest) if index > 0 => capital(rest.trim_start()),
                    _ => text,
                };
                sentences.extend(given.map(once));
                metric(column)
            }
        };
        let over = extremes(column, "Over the sweep", &subject, &swept);
        sentences.extend(over.map(|ends| ends.text));
        let slowest = greatest(column, &named).or_else(|| greatest(column, &swept));
        let example = pair.map(|(base, _)| base.1).or(slowest);
        sentences.extend(example.and_then(|point| largest(stored, column, point)));
    }
    sentences.extend(not_converged(stored));
    sentences.extend(held(stored));
    sentences
}

/// The text for the end of a run on the terminal.
#[must_use]
pub fn terminal(stored: &Stored) -> String {
    sentences(stored).iter().map(|sentence| wrapped("", sentence)).collect()
}

/// The two configurations that the scenario sets against each other, the one to compare with first:
/// those of an expectation about the first configuration, else the first two of a few. Of many
/// cases, such as those of a measurement, none is the question.
fn headline<'s>(
    stored: &Stored,
    column: &StoredColumn,
    named: &[Numbered<'s>],
) -> Option<(Numbered<'s>, Numbered<'s>)> {
    let [first, second, ..] = *named else { return None };
    let find = |name: &str| named.iter().find(|(_, point)| point.configuration == name).copied();
    let expected = stored.manifest.pointer("/resolved/expect").and_then(Value::as_array);
    let other = |expectation: &Value| {
        let text = |key: &str| expectation.get(key).and_then(Value::as_str);
        let one = text("configuration")?;
        let two = text("ratio_to").or_else(|| text("difference_to"))?;
        let name = match first.1.configuration.as_str() {
            name if name == one => two,
            name if name == two => one,
            _ => return None,
        };
        find(name).filter(|_| text("metric") == Some(&column.name))
    };
    let expected = expected.into_iter().flatten().find_map(other);
    let other = expected.or((named.len() <= FEW).then_some(second))?;
    Some((first, other))
}

fn mean_of(column: &StoredColumn, point: &StoredPoint) -> f64 {
    point.figure(&column.name, Figure::Mean).value
}

fn mean(column: &StoredColumn, point: &StoredPoint) -> String {
    figure(column, point.figure(&column.name, Figure::Mean))
}

/// Whether replications were cut off, so that the mean is not known.
fn is_cut(column: &StoredColumn, point: &StoredPoint) -> bool {
    point.figure(&column.name, Figure::Mean).sense != Sense::Whole
}

fn alike(a: f64, b: f64) -> bool {
    (a - b).abs() <= ALIKE * a.abs().max(b.abs())
}

fn alone(column: &StoredColumn, point: &StoredPoint) -> Option<String> {
    let known = mean_of(column, point).is_finite();
    let text = format!("With {} {} is {}.", name(point), metric(column), mean(column, point));
    known.then_some(text)
}

/// How the first two differ: in the first metric, and where they are equal in that, in the next one
/// in which they are not.
fn compared(
    stored: &Stored,
    columns: &[&StoredColumn],
    first: Numbered<'_>,
    second: Numbered<'_>,
) -> Vec<String> {
    let same = |column: &&&StoredColumn| {
        let (a, b) = (mean_of(column, first.1), mean_of(column, second.1));
        alike(a, b) || (a.is_nan() && b.is_nan())
    };
    let equal: Vec<&StoredColumn> = columns.iter().take_while(same).copied().collect();
    let (a, b) = (name(first.1), name(second.1));
    let mut sentences = Vec::new();
    if let Some(column) = equal.iter().find(|column| mean_of(column, first.1).is_finite()) {
        let value = mean(column, first.1);
        sentences.push(format!("With {a} and with {b} {} is equal: {value}.", metric(column)));
    }
    match columns.get(equal.len()) {
        Some(column) => sentences.push(differing(stored, column, first, second)),
        None => sentences.push("The two do not differ in any metric of the table.".to_owned()),
    }
    sentences
}

fn differing(
    stored: &Stored,
    column: &StoredColumn,
    (first_index, first): Numbered<'_>,
    (second_index, second): Numbered<'_>,
) -> String {
    let (a, b) = (mean_of(column, first), mean_of(column, second));
    let (one, two) = (name(first), name(second));
    let subject = metric(column);
    let with = |name: &str, point| format!("With {name} {subject} is {}", mean(column, point));
    match (a.is_finite(), b.is_finite()) {
        (true, false) => return format!("{}; with {two} there is none.", with(&one, first)),
        (false, _) => return format!("{}; with {one} there is none.", with(&two, second)),
        (true, true) => {}
    }
    let beginning = format!("{}, with {one} it is {}", with(&two, second), mean(column, first));
    if [first, second].into_iter().any(|point| is_cut(column, point)) {
        return format!("{beginning}: replications were cut off.");
    }
    let larger = match (column.unit(), b < a) {
        (Unit::Seconds, true) => "shorter",
        (Unit::Seconds, false) => "longer",
        (_, true) => "smaller",
        (_, false) => "larger",
    };
    let (most, least) =
        if a >= b { (first_index, second_index) } else { (second_index, first_index) };
    let ratio = stored.contrasted([most, least], column, Contrast::Ratio);
    let (low, high) = (ratio.interval.low, ratio.interval.high);
    if ratio.value.is_finite() && ratio.interval.is_bounded() && low > 1.0 {
        return format!("{beginning}: {}.", times(ratio.value, (low, high), larger));
    }
    // A ratio to nothing is none; the difference still tells, where it says more than the figures.
    let difference = stored.contrasted([most, least], column, Contrast::Difference);
    if difference.interval.is_bounded() && difference.interval.low > 0.0 {
        if a == 0.0 || b == 0.0 {
            return format!("{beginning}.");
        }
        let by = difference_figure(column, difference);
        return format!("{beginning}: {larger} by {by}.");
    }
    format!("{beginning}; the data do not tell which is larger.")
}

/// Where the metric is least and where it is greatest: `subject` says which, or that it was spoken of.
fn extremes<'s>(
    column: &StoredColumn,
    of: &str,
    subject: &str,
    points: &[Numbered<'s>],
) -> Option<Extremes<'s>> {
    let value = |point: &StoredPoint| mean_of(column, point);
    let known: Vec<&'s StoredPoint> =
        points.iter().map(|(_, point)| *point).filter(|point| value(point).is_finite()).collect();
    let least = known.iter().copied().min_by(|a, b| value(a).total_cmp(&value(b)))?;
    let most = known.iter().copied().max_by(|a, b| value(a).total_cmp(&value(b)))?;
    if points.len() < 2 || alike(value(least), value(most)) {
        return None;
    }
    let same = |end: &StoredPoint| -> Vec<&'s StoredPoint> {
        known.iter().copied().filter(|point| alike(value(point), value(end))).collect()
    };
    let end = |end: &StoredPoint| {
        let same = same(end);
        let alike = if same.len() > 1 { " alike" } else { "" };
        format!("with {}{alike}, {}", several(&same), mean(column, end))
    };
    let without = || points.iter().filter(|(_, point)| !value(point).is_finite());
    let was_cut = without().any(|(_, point)| point.cut(&column.name) > 0);
    let cut = if was_cut { ", as far as it went before it was cut off" } else { "" };
    let missing = match without().count() {
        0 => String::new(),
        1 => format!("; one of them has none{cut}"),
        count => format!("; {count} of them have none{cut}"),
    };
    let cut: Vec<&'s StoredPoint> =
        known.iter().copied().filter(|point| is_cut(column, point)).collect();
    if !cut.is_empty() {
        return Some(Extremes::of_cut(column, of, subject, (least, &end), &cut));
    }
    let text =
        format!("{of} {subject} is least {}, and greatest {}{missing}.", end(least), end(most));
    Some(Extremes { text, of: same(least).into_iter().chain(same(most)).collect() })
}

/// A sentence on the ends of a range.
struct Extremes<'s> {
    text: String,
    /// The points at either end.
    of: Vec<&'s StoredPoint>,
}

impl<'s> Extremes<'s> {
    /// Where replications of the points `cut` were cut off: what is at least as much leaves the least
    /// of the others known, and nothing else.
    fn of_cut(
        column: &StoredColumn,
        of: &str,
        subject: &str,
        (least, end): (&'s StoredPoint, &dyn Fn(&'s StoredPoint) -> String),
        cut: &[&'s StoredPoint],
    ) -> Self {
        let at_least =
            |point: &&StoredPoint| point.figure(&column.name, Figure::Mean).sense == Sense::AtLeast;
        let names = several(cut);
        if is_cut(column, least) || !cut.iter().all(at_least) {
            let text = format!(
                "{of} replications were cut off with {names}, so that it is not known where \
                 {subject} is least or greatest."
            );
            return Self { text, of: cut.to_vec() };
        }
        let text = format!(
            "{of} {subject} is least {}; it is not known where it is greatest, as replications \
             were cut off with {names}.",
            end(least)
        );
        Self { text, of: cut.to_vec() }
    }
}

/// What the configurations give, where none of them is the question.
fn given(column: &StoredColumn, of: &str, named: &[Numbered<'_>]) -> Option<String> {
    if let Some(ends) = extremes(column, of, &metric(column), named) {
        return Some(ends.text);
    }
    let known: Vec<&StoredPoint> =
        named.iter().map(|(_, point)| *point).filter(|p| mean_of(column, p).is_finite()).collect();
    let value = mean(column, known.first()?);
    let all = named.len();
    Some(if known.len() == all {
        format!("With all {all} configurations {} is equal: {value}.", metric(column))
    } else {
        let known = known.len();
        format!("Of the {all} configurations {known} have {}, equal: {value}.", metric(column))
    })
}

/// Names, the first of them where there are more.
fn several(points: &[&StoredPoint]) -> String {
    match points {
        [one] => name(one),
        [one, two] => format!("{} and {}", name(one), name(two)),
        [first, others @ ..] => format!("{} and {}", name(first), counted(others.len(), "other")),
        [] => String::new(),
    }
}

fn greatest<'s>(column: &StoredColumn, points: &[Numbered<'s>]) -> Option<&'s StoredPoint> {
    let known = points.iter().map(|(_, point)| *point);
    let known = known.filter(|point| mean_of(column, point).is_finite());
    known.rev().max_by(|a, b| mean_of(column, a).total_cmp(&mean_of(column, b)))
}

/// The largest part of a metric.
fn largest(stored: &Stored, column: &StoredColumn, point: &StoredPoint) -> Option<String> {
    let whole = mean_of(column, point);
    let parts = stored.parts(&column.name);
    let share = |part: &&StoredColumn| mean_of(part, point) / whole;
    let known = parts.iter().filter(|part| share(part).is_finite());
    let part = known.max_by(|a, b| share(a).total_cmp(&share(b)))?;
    (whole > 0.0).then(|| {
        let what = part.summary.trim_end_matches('.');
        let what = if what.is_empty() { String::new() } else { format!(" ({})", uncapital(what)) };
        let until = if is_cut(column, point) { " until it was cut off" } else { "" };
        format!(
            "{:.0} % of the {} with {}{until} is {}{what}.",
            share(part) * 100.0,
            column.title(),
            name(point),
            part_title(column, part),
        )
    })
}

fn not_converged(stored: &Stored) -> Option<String> {
    let share = |point: &StoredPoint| point.not_converged().value;
    let points: Vec<&StoredPoint> =
        stored.summary.points.iter().filter(|point| share(point) > 0.0).collect();
    let worst = points.iter().copied().rev().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let percent = format!("{:.1}", share(worst) * 100.0);
    let percent = percent.trim_end_matches(".0");
    let all = stored.summary.points.len();
    let none = if percent == "100" { "no replication converged" } else { "" };
    let some = format!("{percent} % of the replications did not converge");
    let what = if none.is_empty() { &some } else { none };
    Some(if all == 1 {
        format!("{}.", capital(what))
    } else if points.len() <= MOST_NAMES && points.iter().all(|p| alike(share(p), share(worst))) {
        format!("With {} {what}.", several(&points))
    } else if points.iter().all(|point| alike(share(point), share(worst))) {
        format!("In {} of {all} configurations {what}: {}.", points.len(), several(&points))
    } else {
        format!(
            "In {} of {all} configurations some replications did not converge, most of all with \
             {}: {percent} %.",
            points.len(),
            name(worst)
        )
    })
}

fn held(stored: &Stored) -> Option<String> {
    let expectations = &stored.summary.expectations;
    let judged: Vec<_> = expectations.iter().filter(|e| e.verdict != "skipped").collect();
    let of = |verdict: &str| -> Vec<&&StoredExpectation> {
        judged.iter().filter(|e| e.verdict.eq_ignore_ascii_case(verdict)).collect()
    };
    let (held, all) = (of("held").len(), judged.len());
    match all {
        0 => return None,
        1 if held == 1 => return Some("The expectation holds.".to_owned()),
        2 if held == 2 => return Some("Both expectations hold.".to_owned()),
        _ if held == all => return Some(format!("All {all} expectations hold.")),
        _ => {}
    }
    let kind = |verdict: &str| {
        let some = of(verdict);
        let names: Vec<&str> = some.iter().map(|e| e.expected.as_str()).collect();
        match names.len() {
            0 => String::new(),
            count if count <= MOST_MISSES => format!("; {verdict}: {}", names.join(" and ")),
            count => format!("; {verdict}: {count} of them"),
        }
    };
    let hold = if held == 1 { "holds" } else { "hold" };
    let expectations = counted(all, "expectation");
    Some(format!("{held} of {expectations} {hold}{}{}.", kind("missed"), kind("undecided")))
}
