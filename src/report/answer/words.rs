//! Figures and names as words of a sentence.

use super::super::number::Scale;
use super::super::stored::{StoredColumn, StoredPoint, value_text};
use crate::models::Unit;
use crate::statistics::{Estimate, Sense};

/// The name of a configuration, which may have commas and colons of its own; of a point of a sweep
/// what is swept: `pop_batch_size = 32` with “era A”.
pub fn name(point: &StoredPoint) -> String {
    if point.axes.is_empty() {
        return format!("“{}”", point.configuration);
    }
    let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
    let alike = |path: &str| point.axes.keys().filter(|other| last(other) == last(path)).count();
    let axis = |(path, value): (&String, &serde_json::Value)| {
        let key = if alike(path) > 1 { path.clone() } else { last(path) };
        format!("{key} = {}", value_text(value))
    };
    let axes: Vec<String> = point.axes.iter().map(axis).collect();
    let from = match point.base() {
        "" => String::new(),
        base => format!("“{base}”, "),
    };
    format!("{from}{}", axes.join(", "))
}

/// A metric as the subject of a sentence: `the mean packet loss duration`.
pub fn metric(column: &StoredColumn) -> String {
    let title = column.title();
    let has = |words: &[&str]| title.split(' ').any(|word| words.contains(&word));
    let is_plural = |word: Option<&str>| word.is_some_and(|word| word.ends_with('s'));
    match column.unit() {
        Unit::Seconds if title.ends_with("ed") => format!("the mean {title} time"),
        Unit::Share if !has(&["share", "rate", "utilisation", "budget", "error", "stall"]) => {
            format!("the mean of “{title}”")
        }
        Unit::Count | Unit::Ratio => {
            if is_plural(title.split(' ').next()) || is_plural(title.split(' ').next_back()) {
                format!("the mean number of {title}")
            } else {
                format!("the mean of “{title}”")
            }
        }
        _ => format!("the mean {title}"),
    }
}

/// `13.4 ± 0.2 s`.
pub fn figure(column: &StoredColumn, estimate: Estimate) -> String {
    in_words(Scale::for_values(column.unit(), [estimate.value]), estimate)
}

/// The same of a difference of two figures.
pub fn difference_figure(column: &StoredColumn, estimate: Estimate) -> String {
    in_words(Scale::for_values(column.unit(), [estimate.value]).of_difference(), estimate)
}

fn in_words(scale: Scale, estimate: Estimate) -> String {
    let bound = |value: f64| {
        scale.in_unit(
            Estimate::exact(value),
            if scale.symbol() == "1/s" { "per second" } else { scale.symbol() },
        )
    };
    match estimate.sense {
        Sense::Whole => {}
        Sense::AtLeast if estimate.interval.low.is_finite() => {
            return format!("at least {}", bound(estimate.interval.low));
        }
        Sense::AtLeast => return format!("at least {}", bound(estimate.value)),
        Sense::AtMost if estimate.interval.high.is_finite() => {
            return format!("at most {}", bound(estimate.interval.high));
        }
        Sense::AtMost => return format!("at most {}", bound(estimate.value)),
        Sense::SoFar => return format!("{} until it was cut off", bound(estimate.value)),
    }
    scale.in_unit(estimate, if scale.symbol() == "1/s" { "per second" } else { scale.symbol() })
}

/// `6.6 times shorter (6.6 to 6.7)`, with as many decimals as the interval has room for.
pub fn times(ratio: f64, (low, high): (f64, f64), larger: &str) -> String {
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

/// Without the capital of a first word that is no name.
pub fn uncapital(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

/// With a capital at the start.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
