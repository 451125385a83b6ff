//! The values of an axis: listed, or a range such as `32..4096:log2`.

use serde_json::{Number, Value};

use super::parse::whole_number;
use super::problem::Problem;
use crate::engine::SimDuration;
use crate::quantities::duration::{format_duration, parse_duration};
use crate::quantities::rate::parse_rate;

/// Reads `a..b`, `a..b:log2`, `a..b:log10`, `a..b:linear:n` or `a..b:log:n`, whose ends are numbers,
/// durations or rates; `:whole` after the count rounds to whole numbers. `None` if the text has no `..` and so is no range.
///
/// # Errors
/// What is impossible about the range, or that it has more values than `limit` says.
pub fn range(text: &str, limit: Limit) -> Option<Result<Vec<Value>, Problem>> {
    text.contains("..").then(|| {
        read_range(text, limit).map_err(|reason| Problem::BadRange { text: text.into(), reason })
    })
}

fn read_range(text: &str, limit: Limit) -> Result<Vec<Value>, String> {
    let mut parts = text.split(':');
    let (first, last) = End::pair(parts.next().unwrap_or_default())?;
    let (spacing, count) = (parts.next().map(str::trim), parts.next().map(str::trim));
    let whole = match (parts.next().map(str::trim), &first.unit) {
        (None, _) => false,
        (Some("whole"), Unit::None) => true,
        (Some("whole"), _) => return Err("only plain numbers are rounded to whole".to_owned()),
        (Some(other), _) => return Err(format!("{other} is not \"whole\"")),
    };
    if parts.next().is_some() {
        return Err("it has too many parts".to_owned());
    }
    let count = match count {
        Some(count) => Some(count.parse::<usize>().map_err(|_| format!("{count} is no count"))?),
        None => None,
    };
    let (low, high) = (first.value, last.value);
    let values = match (spacing, count) {
        (None, None) => every_whole_number(&first, high, limit)?,
        (Some("log2"), None) => multiples(low, high, 2.0, limit)?,
        (Some("log10"), None) => multiples(low, high, 10.0, limit)?,
        (Some("linear"), Some(count)) => {
            let step = |at: f64| low + (high - low) * at;
            spaced(low, high, count, limit, step)?
        }
        (Some("log"), Some(count)) => {
            if low <= 0.0 {
                return Err("a logarithmic range starts above 0".to_owned());
            }
            let step = |at: f64| low * libm::pow(high / low, at);
            spaced(low, high, count, limit, step)?
        }
        (Some("linear" | "log"), None) => return Err("it needs a count, :linear:9".to_owned()),
        (Some(other), _) => return Err(format!("{other} is no spacing")),
        (None, Some(_)) => return Err("it needs a spacing before the count".to_owned()),
    };
    let rounded = values.into_iter().map(|value| if whole { value.round() } else { value });
    let mut written: Vec<Value> = rounded.map(|value| first.unit.write(value)).collect();
    written.dedup();
    Ok(written)
}

fn every_whole_number(first: &End, last: f64, limit: Limit) -> Result<Vec<f64>, String> {
    if !matches!(first.unit, Unit::None) || first.value.fract() != 0.0 || last.fract() != 0.0 {
        return Err("it needs a spacing, for instance :linear:9".to_owned());
    }
    let count = last - first.value + 1.0;
    limit.allow(count)?;
    Ok((0..count as u64).map(|step| first.value + step as f64).collect())
}

fn multiples(low: f64, high: f64, factor: f64, limit: Limit) -> Result<Vec<f64>, String> {
    if low <= 0.0 {
        return Err("a logarithmic range starts above 0".to_owned());
    }
    let mut values = Vec::new();
    let mut value = low;
    while value <= high * (1.0 + 1e-12) {
        limit.allow((values.len() + 1) as f64)?;
        values.push(value);
        value *= factor;
    }
    Ok(values)
}

fn spaced(
    low: f64,
    high: f64,
    count: usize,
    limit: Limit,
    step: impl Fn(f64) -> f64,
) -> Result<Vec<f64>, String> {
    limit.allow(count as f64)?;
    match count {
        0 => Err("it has no values".to_owned()),
        1 if low == high => Ok(vec![low]),
        1 => Err("one value cannot be both ends".to_owned()),
        _ => {
            let inner = (1..count - 1).map(|at| step(at as f64 / (count - 1) as f64));
            Ok(std::iter::once(low).chain(inner).chain(std::iter::once(high)).collect())
        }
    }
}

/// How many values a range may have.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    most: usize,
    /// Whether it is that of `--max-points`.
    of_points: bool,
}

impl Limit {
    /// Each value makes a point that is run.
    pub const fn points(max_points: usize) -> Self {
        Self { most: max_points, of_points: true }
    }

    /// Values of which few are run.
    pub const fn values(most: usize) -> Self {
        Self { most, of_points: false }
    }

    fn allow(self, count: f64) -> Result<(), String> {
        let Self { most, of_points } = self;
        match (count > most as f64, of_points) {
            (false, _) => Ok(()),
            (true, true) => Err(format!("it has more values than --max-points {most}")),
            (true, false) => Err(format!("it has more than {most} values")),
        }
    }
}

/// One end of a range.
pub(super) struct End {
    pub value: f64,
    pub unit: Unit,
}

/// What the numbers of a range are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    None,
    /// Values in nanoseconds.
    Time,
    /// Values per second.
    PerSecond,
}

impl End {
    /// Both ends of `low..high`, which have the same unit and are in order.
    pub fn pair(text: &str) -> Result<(Self, Self), String> {
        let (first, last) = text.split_once("..").ok_or("it has no \"..\"")?;
        let (first, last) = (Self::read(first.trim())?, Self::read(last.trim())?);
        if first.unit != last.unit {
            return Err("one end has a unit that the other has not".to_owned());
        }
        if first.value > last.value {
            return Err("the first end is above the last".to_owned());
        }
        Ok((first, last))
    }

    fn read(text: &str) -> Result<Self, String> {
        if let Ok(number) = text.parse::<Number>() {
            let value = number.as_f64().unwrap_or(f64::NAN);
            return Ok(Self { value, unit: Unit::None });
        }
        if text.contains('/') {
            let rate = parse_rate(text).map_err(|error| format!("{text}: {error}"))?;
            return Ok(Self { value: rate.as_per_second(), unit: Unit::PerSecond });
        }
        let duration = parse_duration(text).map_err(|error| format!("{text}: {error}"))?;
        Ok(Self { value: duration.as_nanos() as f64, unit: Unit::Time })
    }
}

impl Unit {
    /// `value` as it is written in a scenario.
    pub fn write(self, value: f64) -> Value {
        match self {
            Self::None => {
                Number::from_f64(value).map_or(Value::Null, |n| Value::Number(whole_number(n)))
            }
            Self::Time => format_duration(SimDuration::from_nanos(value.round() as u64)).into(),
            Self::PerSecond => format!("{value}/s").into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match range(text, Limit::points(100)) {
            Some(Ok(values)) => Value::Array(values).to_string(),
            Some(Err(problem)) => problem.text().0,
            None => "no range".to_owned(),
        }
    }

    #[test]
    fn ranges_give_their_values() {
        assert_eq!(shown("32..256:log2"), "[32,64,128,256]");
        assert_eq!(shown("1..1000:log10"), "[1,10,100,1000]");
        assert_eq!(shown("1..4"), "[1,2,3,4]");
        assert_eq!(shown("0..1:linear:5"), "[0,0.25,0.5,0.75,1]");
        assert_eq!(shown("10 ms..100 ms:linear:4"), r#"["10 ms","40 ms","70 ms","100 ms"]"#);
        assert_eq!(shown("10/s..1000/s:log:3"), r#"["10/s","100/s","1000/s"]"#);
        assert_eq!(shown("5..5:linear:1"), "[5]");
        assert_eq!(shown("1..10:log:5:whole"), "[1,2,3,6,10]");
        assert_eq!(shown("1..2:linear:9:whole"), "[1,2]");
    }

    #[test]
    fn impossible_ranges_say_why() {
        for (text, reason) in [
            ("4..1", "the first end is above the last"),
            ("1..4:linear", "it needs a count"),
            ("1..4:linear:0", "it has no values"),
            ("1..4:linear:1", "one value cannot be both ends"),
            ("0..4:log2", "starts above 0"),
            ("1..4:cubic", "cubic is no spacing"),
            ("1..4 ms", "one end has a unit"),
            ("1 ms..4 ms", "it needs a spacing"),
            ("1..1000000", "more values than --max-points"),
            ("1..2:linear:99999999999999999999", "is no count"),
            ("x..4", "is not a number"),
            ("1..inf", "is not a number"),
            ("1..4:linear:3:4", "4 is not \"whole\""),
            ("1..4:linear:3:whole:5", "too many parts"),
            ("1 ms..4 ms:linear:3:whole", "only plain numbers"),
        ] {
            assert!(shown(text).contains(reason), "{text}: {}", shown(text));
        }
        assert_eq!(shown("12"), "no range");
        let (problem, _) = range("1..101", Limit::values(100)).unwrap().unwrap_err().text();
        assert!(problem.ends_with("it has more than 100 values"), "{problem}");
    }
}
