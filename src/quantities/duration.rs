//! Durations with their unit in the text.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use crate::engine::SimDuration;

/// `format` of a duration in the JSON Schema.
pub const DURATION_FORMAT: &str = "convsim-duration";
/// Keyword of the JSON Schema for the least value of a duration, with its unit. Intervals at which
/// something comes again for ever have one, so that a run of hours is not 10^13 events.
pub const LEAST_DURATION: &str = "x-minimum";
/// What a duration looks like, for error texts.
pub const DURATION_ALLOWED: &str =
    "a number of at least 0 and a unit: ns, us, ms, s, min or h, for instance \"40 ms\"";

const UNITS: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Why a text is no duration.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DurationError {
    /// No unit after the number.
    #[error("a duration needs a unit")]
    NoUnit,
    /// A unit that is not known.
    #[error("unknown unit of time \"{0}\"")]
    UnknownUnit(String),
    /// What stands before the unit is no number.
    #[error("\"{0}\" is not a number")]
    NotANumber(String),
    /// Below zero.
    #[error("a duration cannot be negative")]
    Negative,
    /// Longer than 2^64 - 1 ns, about 584 years.
    #[error("longer than the longest duration that can be simulated, 584 years")]
    TooLong,
}

/// Splits `"40 ms"` into the number's text and the unit's.
fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let number_end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | 'e' | 'E')))
        .unwrap_or(text.len());
    (text[..number_end].trim(), text[number_end..].trim())
}

/// Reads a duration, rounded to the nearest nanosecond.
///
/// # Errors
/// See [`DurationError`].
///
/// ```
/// use convsim::quantities::duration::parse_duration;
/// assert_eq!(parse_duration("1.5 ms").unwrap().as_nanos(), 1_500_000);
/// assert!(parse_duration("1500").is_err());
/// ```
pub fn parse_duration(text: &str) -> Result<SimDuration, DurationError> {
    let (number_text, unit_text) = split_unit(text);
    let number: f64 = match number_text.parse() {
        Ok(number) => number,
        Err(_) => return Err(DurationError::NotANumber(text.trim().to_owned())),
    };
    if unit_text.is_empty() {
        return Err(DurationError::NoUnit);
    }
    let Some((_, nanos)) = UNITS.iter().find(|(unit, _)| *unit == unit_text) else {
        return Err(DurationError::UnknownUnit(unit_text.to_owned()));
    };
    if number.is_sign_negative() && number != 0.0 {
        return Err(DurationError::Negative);
    }
    if let Some(exact) = exact_nanos(number_text, *nanos) {
        return u64::try_from(exact)
            .map(SimDuration::from_nanos)
            .map_err(|_| DurationError::TooLong);
    }
    let value = (number * *nanos as f64).round();
    if value >= u64::MAX as f64 {
        return Err(DurationError::TooLong);
    }
    Ok(SimDuration::from_nanos(value as u64))
}

/// `digits.digits` in units of `unit_nanos`, rounded to the nearest nanosecond, without the detour
/// over `f64` that would lose digits past 2^53 ns. `None` for any other spelling of a number.
fn exact_nanos(number: &str, unit_nanos: u64) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = [whole, fraction].concat();
    if digits.len() > 24 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let scale = 10_u128.pow(fraction.len() as u32);
    let scaled: u128 = digits.parse().ok()?;
    Some((scaled.checked_mul(u128::from(unit_nanos))? + scale / 2) / scale)
}

/// Writes a duration in the largest unit that keeps it exact and short: `"40 ms"`, `"1.5 s"`.
#[must_use]
pub fn format_duration(duration: SimDuration) -> String {
    let nanos = duration.as_nanos();
    let (unit, size) = match nanos {
        0 => return "0 s".to_owned(),
        n if n >= 1_000_000_000 => ("s", 1_000_000_000),
        n if n >= 1_000_000 => ("ms", 1_000_000),
        n if n >= 1_000 => ("us", 1_000),
        _ => ("ns", 1),
    };
    let (whole, rest) = (nanos / size, nanos % size);
    if rest == 0 {
        return format!("{whole} {unit}");
    }
    let digits = size.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    format!("{whole}.{} {unit}", fraction.trim_end_matches('0'))
}

impl Serialize for SimDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_duration(*self))
    }
}

impl<'de> Deserialize<'de> for SimDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DurationVisitor;

        impl Visitor<'_> for DurationVisitor {
            type Value = SimDuration;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(DURATION_ALLOWED)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<SimDuration, E> {
                parse_duration(text).map_err(E::custom)
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<SimDuration, E> {
                Err(E::invalid_type(Unexpected::Float(number), &self))
            }
        }

        deserializer.deserialize_any(DurationVisitor)
    }
}

impl JsonSchema for SimDuration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": DURATION_FORMAT,
            "pattern": r"^\s*[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*(ns|us|µs|ms|s|min|h)\s*$",
            "description": "A duration with its unit: ns, us, ms, s, min or h, for instance \"40 ms\"."
        })
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_nanoseconds_correspond() {
        for (text, nanos) in [
            ("0 s", 0),
            ("650 us", 650_000),
            ("40 ms", 40_000_000),
            ("1.5 s", 1_500_000_000),
            ("12ns", 12),
            ("18446744073709551615 ns", u64::MAX),
        ] {
            assert_eq!(parse_duration(text), Ok(SimDuration::from_nanos(nanos)), "{text}");
            let written = format_duration(SimDuration::from_nanos(nanos));
            assert_eq!(parse_duration(&written), Ok(SimDuration::from_nanos(nanos)), "{written}");
        }
        assert_eq!(parse_duration("2 min"), parse_duration("120 s"));
    }

    #[test]
    fn what_is_no_duration_is_refused_with_its_reason() {
        assert_eq!(parse_duration("40"), Err(DurationError::NoUnit));
        assert_eq!(parse_duration("40 m"), Err(DurationError::UnknownUnit("m".into())));
        assert_eq!(parse_duration("-1 s"), Err(DurationError::Negative));
        assert_eq!(parse_duration("nan s"), Err(DurationError::NotANumber("nan s".into())));
        assert_eq!(parse_duration("1e400 s"), Err(DurationError::TooLong));
        assert_eq!(parse_duration("600 h"), Ok(SimDuration::from_whole_seconds(2_160_000)));
        assert_eq!(parse_duration("99999999999 h"), Err(DurationError::TooLong));
    }
}
