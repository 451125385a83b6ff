//! The range of a parameter in a sensitivity analysis: from a share between 0 and 1 to a value.

use serde_json::Value;

use super::axis::{End, Unit};
use super::path::Path;
use super::source::Sources;
use super::target::TargetError;

/// A parameter with the values that it can have.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Its path.
    pub path: String,
    /// Its values as they were written.
    pub text: String,
    values: Values,
}

#[derive(Clone, Debug, PartialEq)]
enum Values {
    /// Everything between two ends.
    Range { low: f64, high: f64, unit: Unit, log: bool, whole: bool },
    /// These, in order.
    List(Vec<Value>),
}

impl Span {
    /// Reads `PATH=LOW..HIGH`, `PATH=LOW..HIGH:log` or `PATH=V1,V2,...`. Ends that are both
    /// written as whole numbers mean whole numbers; `0.0..1.0` means all numbers.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Self, TargetError> {
        let allowed = "PATH=LOW..HIGH, PATH=LOW..HIGH:log or PATH=V1,V2 for instance \
                       orchagent.pop_batch_size=32..4096:log";
        let wrong = |reason: &str| TargetError {
            problem: format!("\"{text}\" is no range of a parameter: {reason}"),
            allowed: allowed.to_owned(),
        };
        let (path, written) = text.split_once('=').ok_or_else(|| wrong("it has no \"=\""))?;
        let path = path.trim().to_owned();
        let origin = Sources::default().add("command line".to_owned(), "".into(), path.clone());
        Path::read(&path, origin, 0).map_err(|problem| wrong(&problem.text().0))?;
        let written = written.trim();
        let values =
            if written.contains("..") { Values::range(written) } else { Values::list(written) };
        let values = values.map_err(|reason| wrong(&reason))?;
        Ok(Self { path, text: written.to_owned(), values })
    }

    /// The value at `share`: 0 is the low end or the first value, 1 the high end or the last.
    #[must_use]
    pub fn at(&self, share: f64) -> Value {
        let share = share.clamp(0.0, 1.0);
        match &self.values {
            Values::Range { low, high, unit, log, whole } => {
                // Each whole number has an equal part of the range.
                let (low, high) = if *whole { (*low - 0.5, *high + 0.5) } else { (*low, *high) };
                let value = if *log {
                    low * libm::pow(high / low, share)
                } else {
                    low + (high - low) * share
                };
                // Adding 0 makes a 0 of what rounding leaves as -0.
                let inner = |value: f64| value.round().clamp(low + 0.5, high - 0.5) + 0.0;
                unit.write(if *whole { inner(value) } else { value })
            }
            Values::List(values) => {
                let place = (share * values.len() as f64) as usize;
                values.get(place).or(values.last()).cloned().unwrap_or_default()
            }
        }
    }
}

impl Values {
    fn range(text: &str) -> Result<Self, String> {
        let (ends, log) = match text.split_once(':') {
            None => (text, false),
            Some((ends, "log")) => (ends, true),
            Some((_, other)) => return Err(format!("{other} is not \"log\"")),
        };
        let (first, last) = ends.split_once("..").ok_or("it has no \"..\"")?;
        let whole = [first, last].iter().all(|end| end.trim().parse::<i64>().is_ok());
        let (first, last) = (End::read(first.trim())?, End::read(last.trim())?);
        if first.unit != last.unit {
            return Err("one end has a unit that the other has not".to_owned());
        }
        let (low, high) = (first.value, last.value);
        if low >= high {
            return Err("the first end is not below the last".to_owned());
        }
        if log && low <= 0.0 {
            return Err("a logarithmic range starts above 0".to_owned());
        }
        Ok(Self::Range { low, high, unit: first.unit, log, whole })
    }

    fn list(text: &str) -> Result<Self, String> {
        let value = |text: &str| {
            let text = text.trim();
            serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
        };
        let values: Vec<Value> = text.split(',').map(value).collect();
        if values.len() < 2 {
            return Err("it has one value only".to_owned());
        }
        Ok(Self::List(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, shares: &[f64]) -> String {
        match Span::read(text) {
            Ok(span) => Value::Array(shares.iter().map(|s| span.at(*s)).collect()).to_string(),
            Err(error) => error.problem,
        }
    }

    #[test]
    fn shares_become_values() {
        let thirds = [0.0, 0.5, 1.0];
        assert_eq!(shown("a.b=10 ms..100 ms", &thirds), r#"["10 ms","55 ms","100 ms"]"#);
        assert_eq!(shown("a.b=0.0..1.0", &thirds), "[0,0.5,1]");
        assert_eq!(shown("a.b=10/s..1000/s:log", &thirds), r#"["10/s","100/s","1000/s"]"#);
        assert_eq!(shown("a.b=1..3", &[0.0, 0.3, 0.4, 0.6, 0.7, 1.0]), "[1,1,2,2,3,3]");
        assert_eq!(shown("a.b=32..4096:log", &[0.0, 1.0]), "[32,4096]");
        assert_eq!(shown("a.b=x,y", &[0.0, 0.49, 0.5, 1.0]), r#"["x","x","y","y"]"#);
    }

    #[test]
    fn what_is_no_range_says_why() {
        for (text, reason) in [
            ("a.b", "no \"=\""),
            ("a.b=4..1", "not below"),
            ("a.b=0..1:log", "starts above 0"),
            ("a.b=1..4:log2", "is not \"log\""),
            ("a.b=1..4 ms", "one end has a unit"),
            ("a.b=7", "one value only"),
            ("a..b=1..2", "is no range of a parameter"),
        ] {
            assert!(shown(text, &[]).contains(reason), "{text}: {}", shown(text, &[]));
        }
    }
}
