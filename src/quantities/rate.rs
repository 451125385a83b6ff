//! Rates with their unit in the text.

use std::borrow::Cow;
use std::num::NonZeroU32;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use crate::engine::SimDuration;

/// `format` of a rate in the JSON Schema.
pub const RATE_FORMAT: &str = "convsim-rate";
/// What a rate looks like, for error texts.
pub const RATE_ALLOWED: &str =
    "a number above 0 and a unit: /s, /min or /h, for instance \"1500/s\"";

/// How often something happens, per second: above 0 and finite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rate(f64);

/// Why a text is no rate.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RateError {
    /// No `/s` or the like after the number.
    #[error("a rate needs a unit")]
    NoUnit,
    /// A unit that is not known.
    #[error("unknown unit of rate \"/{0}\"")]
    UnknownUnit(String),
    /// What stands before the unit is no number.
    #[error("\"{0}\" is not a number")]
    NotANumber(String),
    /// Zero, negative, or not finite.
    #[error("a rate must be above 0 and finite")]
    OutOfRange,
}

impl Rate {
    /// A whole number of events per second.
    #[must_use]
    pub const fn whole(per_second: NonZeroU32) -> Self {
        Self(per_second.get() as f64)
    }

    /// A rate of `per_second` events per second.
    ///
    /// # Errors
    /// [`RateError::OutOfRange`] unless `per_second` is above 0 and finite.
    pub fn per_second(per_second: f64) -> Result<Self, RateError> {
        if per_second.is_finite() && per_second > 0.0 {
            Ok(Self(per_second))
        } else {
            Err(RateError::OutOfRange)
        }
    }

    /// Events per second.
    #[must_use]
    pub const fn as_per_second(self) -> f64 {
        self.0
    }

    /// The mean time from one event to the next.
    #[must_use]
    pub fn interval(self) -> SimDuration {
        SimDuration::from_seconds(1.0 / self.0)
    }
}

/// Reads a rate.
///
/// # Errors
/// See [`RateError`].
///
/// ```
/// use convsim::quantities::rate::parse_rate;
/// assert_eq!(parse_rate("90/min").unwrap().as_per_second(), 1.5);
/// assert!(parse_rate("1500").is_err());
/// ```
pub fn parse_rate(text: &str) -> Result<Rate, RateError> {
    Rate::per_second(parse_per_second(text)?)
}

/// Reads how much so many things per second differ by: any finite number, as a difference of two
/// rates may be 0 or negative.
///
/// # Errors
/// See [`RateError`].
///
/// ```
/// use convsim::quantities::rate::parse_per_second;
/// assert_eq!(parse_per_second("-90/min").unwrap(), -1.5);
/// ```
pub fn parse_per_second(text: &str) -> Result<f64, RateError> {
    let (number_text, unit) = text.split_once('/').ok_or(RateError::NoUnit)?;
    let number: f64 = number_text
        .trim()
        .parse()
        .map_err(|_| RateError::NotANumber(number_text.trim().to_owned()))?;
    let seconds = match unit.trim() {
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        other => return Err(RateError::UnknownUnit(other.to_owned())),
    };
    let per_second = number / seconds;
    if per_second.is_finite() { Ok(per_second) } else { Err(RateError::OutOfRange) }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{}/s", self.0))
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_rate(&text).map_err(D::Error::custom)
    }
}

impl JsonSchema for Rate {
    fn schema_name() -> Cow<'static, str> {
        "Rate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": RATE_FORMAT,
            "pattern": r"^\s*[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*/\s*(s|min|h)\s*$",
            "description": "A rate with its unit: /s, /min or /h, for instance \"1500/s\"."
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
    fn what_is_no_rate_is_refused_with_its_reason() {
        assert_eq!(parse_rate("1500"), Err(RateError::NoUnit));
        assert_eq!(parse_rate("0/s"), Err(RateError::OutOfRange));
        assert_eq!(parse_rate("-3/s"), Err(RateError::OutOfRange));
        assert_eq!(parse_rate("inf/s"), Err(RateError::OutOfRange));
        assert_eq!(parse_per_second("0/s"), Ok(0.0));
        assert_eq!(parse_per_second("inf/s"), Err(RateError::OutOfRange));
        assert_eq!(parse_rate("3/d"), Err(RateError::UnknownUnit("d".into())));
        assert_eq!(parse_rate("x/s"), Err(RateError::NotANumber("x".into())));
    }
}
