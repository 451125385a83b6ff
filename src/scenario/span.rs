//! A range that values are drawn from, such as `32..4096:log`, for designs that fill a space.

use serde_json::Value;

use super::axis::{End, Unit};
use super::problem::Problem;

/// A drawn value is rounded to about this share of the width of its range, so that the name of a
/// point can be read; what is lost is far below what any design resolves.
const RESOLUTION: f64 = 1e-6;

/// All values from one end to the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    low: f64,
    high: f64,
    unit: Unit,
    logarithmic: bool,
    whole: bool,
}

impl Span {
    /// Whether `text` is a range without a number of values, `a..b`, `a..b:linear` or `a..b:log`,
    /// each also with `:whole`.
    #[must_use]
    pub fn is_span(text: &str) -> bool {
        let mut parts = text.split(':').map(str::trim);
        parts.next().is_some_and(|ends| ends.contains(".."))
            && parts.all(|part| matches!(part, "linear" | "log" | "whole"))
    }

    /// Reads a range; `whole` if its values must be whole numbers anyway.
    ///
    /// # Errors
    /// Why it is none.
    pub fn read(text: &str, whole: bool) -> Result<Self, Problem> {
        Self::parse(text, whole)
            .map_err(|reason| Problem::BadSpan { text: text.to_owned(), reason })
    }

    fn parse(text: &str, whole: bool) -> Result<Self, String> {
        let mut parts = text.split(':').map(str::trim);
        let (low, high) = End::pair(parts.next().unwrap_or_default())?;
        let mut span =
            Self { low: low.value, high: high.value, unit: low.unit, logarithmic: false, whole };
        let mut spacing = None;
        for part in parts {
            match part {
                "linear" | "log" if spacing.is_none() => spacing = Some(part),
                "whole" => span.whole = true,
                other => return Err(format!("{other} is neither linear, log nor whole")),
            }
        }
        span.logarithmic = spacing == Some("log");
        if span.logarithmic && span.low <= 0.0 {
            return Err("a logarithmic range starts above 0".to_owned());
        }
        if span.whole {
            if span.unit != Unit::None {
                return Err("only plain numbers are rounded to whole".to_owned());
            }
            if span.low.fract() != 0.0 || span.high.fract() != 0.0 {
                return Err("the ends of a range of whole numbers are whole".to_owned());
            }
        }
        Ok(span)
    }

    /// The value at `share` of the range, 0 <= `share` < 1. Of whole numbers each has the same
    /// share, both ends included (on a logarithmic range, that from itself to the next).
    #[must_use]
    pub fn value(&self, share: f64) -> Value {
        let high = if self.whole { self.high + 1.0 } else { self.high };
        let value = if self.logarithmic {
            self.low * libm::pow(high / self.low, share)
        } else {
            self.low + (high - self.low) * share
        };
        let value = if self.whole { value.floor() } else { self.rounded(value) };
        self.unit.write(value.clamp(self.low, self.high))
    }

    /// `value` in as few decimal digits as [`RESOLUTION`] asks.
    fn rounded(&self, value: f64) -> f64 {
        let width = if self.logarithmic {
            value * libm::log(self.high / self.low)
        } else {
            self.high - self.low
        };
        let exponent = libm::floor(libm::log10(width * RESOLUTION));
        if !exponent.is_finite() {
            return value;
        }
        if exponent >= 0.0 {
            let step = libm::pow(10.0, exponent);
            return (value / step).round() * step;
        }
        // Only the text has as few digits as asked.
        let digits = (-exponent).min(300.0) as usize;
        format!("{value:.digits$}").parse().unwrap_or(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, share: f64) -> String {
        match Span::read(text, false) {
            Ok(span) => span.value(share).to_string(),
            Err(problem) => problem.text().0,
        }
    }

    #[test]
    fn a_share_of_a_range_is_its_value() {
        assert_eq!(shown("0..10", 0.25), "2.5");
        assert_eq!(shown("1..100:log", 0.5), "10");
        assert_eq!(shown("10 ms..1 s:log", 0.5), r#""100 ms""#);
        assert_eq!(shown("100/s..300/s:linear", 0.5), r#""200/s""#);
        assert_eq!(shown("5..5", 0.9), "5");
        assert_eq!(shown("0..1", 1.0 / 3.0), "0.333333");
        assert_eq!(shown("1..1000:log", 1.0 / 3.0), "10");
        assert_eq!(shown("1..2000:log", 1.0 / 7.0), "2.96194");
    }

    #[test]
    fn every_whole_number_has_its_share() {
        assert_eq!(shown("1..4:whole", 0.0), "1");
        assert_eq!(shown("1..4:whole", 0.2499), "1");
        assert_eq!(shown("1..4:whole", 0.25), "2");
        assert_eq!(shown("1..4:whole", 0.9999), "4");
        assert_eq!(shown("32..4096:log:whole", 0.0), "32");
        assert_eq!(shown("32..4096:log:whole", 0.999_999), "4096");
        assert_eq!(Span::read("1..2", true).unwrap().value(0.7).to_string(), "2");
    }

    #[test]
    fn impossible_ranges_say_why() {
        for (text, reason) in [
            ("4..1", "the first end is above the last"),
            ("4", "it has no \"..\""),
            ("0..4:log", "starts above 0"),
            ("1..4:linear:9", "9 is neither"),
            ("1..4:log:linear", "linear is neither"),
            ("1..4 ms", "one end has a unit"),
            ("1 ms..4 ms:whole", "only plain numbers"),
            ("1.5..4:whole", "ends of a range of whole numbers"),
        ] {
            assert!(shown(text, 0.5).contains(reason), "{text}: {}", shown(text, 0.5));
        }
        assert!(Span::is_span("1..4") && Span::is_span("1 ms..4 ms:log"));
        assert!(
            !Span::is_span("1..4:log2") && !Span::is_span("1,2") && !Span::is_span("1..4:log:9")
        );
    }
}
