//! Reading expectations: which figure, compared with what, within which bounds.

use serde_json::Value;

use super::design::part;
use super::file::ExpectEntry;
use super::node::{Node, NodeValue, clip};
use super::problem::{Problem, Problems};
use super::source::Sources;
use super::types::{Expectation, MetricColumn, RelativeTo, Statistic};
use crate::models::Unit;
use crate::quantities::duration::parse_duration;
use crate::quantities::rate::parse_per_second;

/// What expectations can refer to.
pub struct Known<'a> {
    /// Names of all points.
    pub points: Vec<String>,
    /// All columns.
    pub columns: &'a [MetricColumn],
    /// Whether all metrics are known; else a name that is not among them may be one none the less.
    pub complete: bool,
    /// Whether a point exists in the scenario without what the command line changes.
    pub removed: &'a dyn Fn(&str) -> bool,
    /// Where the texts are.
    pub sources: &'a Sources,
}

impl Known<'_> {
    /// There is no metric called `name`.
    pub(super) fn no_metric(&self, name: &str) -> Problem {
        let known = self.columns.iter().map(|column| column.name.clone()).collect();
        Problem::UnknownName { what: "metric", name: name.to_owned(), known }
    }

    /// There is no configuration called `name`.
    pub(super) fn no_configuration(&self, name: &str) -> Problem {
        let (known, name) = (self.points.clone(), name.to_owned());
        Problem::UnknownName { what: "configuration", name, known }
    }
}

/// In which unit a bound is written.
#[derive(Clone, Copy)]
pub(super) enum BoundUnit {
    /// That of a metric, or of its difference, which may be negative.
    Of(Unit),
    /// A ratio: a plain number.
    Ratio,
}

/// Reads all expectations of the scenario `tree`.
pub fn read_expectations(
    tree: &Node,
    known: &Known<'_>,
    problems: &mut Problems,
    warnings: &mut Vec<String>,
) -> Vec<Expectation> {
    let items = tree.get("expect").map_or(&[][..], Node::items);
    let mut expectations = Vec::new();
    let mut removed = Vec::new();
    for (index, node) in items.iter().enumerate() {
        let path = format!("expect[{index}]");
        let Some(entry) = part::<ExpectEntry>(node) else {
            read_rest(node, path, known, problems);
            continue;
        };
        let mut reader = Reader { node, path, known, problems: &mut *problems };
        let outcomes = match &entry.ordering {
            Some(names) => reader.read_ordering(&entry, names),
            None => vec![reader.read(&entry)],
        };
        for outcome in outcomes {
            match outcome {
                Outcome::Read(expectation) => expectations.push(expectation),
                Outcome::Removed(point) => removed.push((point, known.sources.line(node.origin))),
                Outcome::Wrong => {}
            }
        }
    }
    warnings.extend(skipped(&removed));
    expectations
}

/// Checks what is fine by its shape in an expectation of which a part is not; that has been reported.
fn read_rest(node: &Node, path: String, known: &Known<'_>, problems: &mut Problems) {
    let mut rest = node.clone();
    if let NodeValue::Object(entries) = &mut rest.value {
        entries.retain(|entry| {
            let alone =
                Value::Object([(entry.key.clone(), entry.value.to_json())].into_iter().collect());
            serde_json::from_value::<ExpectEntry>(alone).is_ok()
        });
    }
    let Some(entry) = part::<ExpectEntry>(&rest) else { return };
    let mut found = Problems::default();
    let mut reader = Reader { node: &rest, path, known, problems: &mut found };
    match &entry.ordering {
        Some(names) => drop(reader.read_ordering(&entry, names)),
        None => drop(reader.read(&entry)),
    }
    // What is missing may be what was taken out.
    let whole = |problem: &Problem| {
        !matches!(problem, Problem::MissingKey { .. } | Problem::BadExpectation { .. })
    };
    for located in found.into_parts().0.into_iter().filter(|located| whole(&located.problem)) {
        problems.add(located.problem, &located.path, located.origin);
    }
}

/// One sentence about the expectations whose points the command line has removed.
fn skipped(removed: &[(String, String)]) -> Option<String> {
    match removed {
        [] => None,
        [(point, place)] => Some(format!(
            "{place}: the expectation for \"{point}\" is skipped: the command line removed it"
        )),
        many => Some(format!(
            "{} expectations are skipped: the command line removed their configurations",
            many.len()
        )),
    }
}

enum Outcome {
    Read(Expectation),
    Removed(String),
    Wrong,
}

/// What a name of a configuration is.
enum Named {
    Known,
    /// The command line has removed it.
    Removed,
    Unknown,
}

struct Reader<'a> {
    node: &'a Node,
    path: String,
    known: &'a Known<'a>,
    problems: &'a mut Problems,
}

impl Reader<'_> {
    fn read(&mut self, entry: &ExpectEntry) -> Outcome {
        let mut removed = None;
        let mut fine = true;
        let Some(configuration) = &entry.configuration else {
            let allowed = "the name of a configuration; or \"ordering\" with several".to_owned();
            let problem = Problem::MissingKey { key: "configuration".to_owned(), allowed };
            self.problems.add(problem, &self.path, Some(self.node.origin));
            return Outcome::Wrong;
        };
        let names = [
            ("configuration", Some(configuration)),
            ("ratio_to", entry.ratio_to.as_ref()),
            ("difference_to", entry.difference_to.as_ref()),
        ];
        for (key, name) in names {
            let Some(name) = name else { continue };
            match self.point(key, name) {
                Named::Known => {}
                Named::Removed => removed = Some(name.clone()),
                Named::Unknown => fine = false,
            }
        }
        for (key, other) in &names[1..] {
            if *other == Some(configuration) {
                fine = false;
                let problem = format!("\"{configuration}\" is compared with itself");
                let allowed = "the name of another configuration".to_owned();
                self.problem(key, Problem::BadExpectation { problem, allowed });
            }
        }
        let relative_to = match (&entry.ratio_to, &entry.difference_to) {
            (Some(_), Some(_)) => {
                fine = false;
                let problem = "both ratio_to and difference_to are given".to_owned();
                let allowed = "one of them".to_owned();
                self.problem("difference_to", Problem::BadExpectation { problem, allowed });
                None
            }
            (Some(name), None) => Some(RelativeTo::Ratio(name.clone())),
            (None, Some(name)) => Some(RelativeTo::Difference(name.clone())),
            (None, None) => None,
        };
        let Some((metric, unit)) = self.metric(entry) else { return Outcome::Wrong };
        let unit = match relative_to {
            Some(RelativeTo::Ratio(_)) => BoundUnit::Ratio,
            _ => BoundUnit::Of(unit),
        };
        let Some((at_least, at_most)) = self.bounds(entry, unit) else { return Outcome::Wrong };
        let Some(measured) = self.measured(entry, unit) else { return Outcome::Wrong };
        match removed {
            _ if !fine => Outcome::Wrong,
            Some(point) => Outcome::Removed(point),
            None => Outcome::Read(Expectation {
                configuration: configuration.clone(),
                metric,
                statistic: entry.statistic,
                relative_to,
                at_least,
                at_most,
                measured,
                source: entry.source.clone(),
                origin: self.known.sources.line(self.node.origin),
            }),
        }
    }

    /// An expectation for each two neighbours of an ordering.
    fn read_ordering(&mut self, entry: &ExpectEntry, names: &[String]) -> Vec<Outcome> {
        let others = ["configuration", "ratio_to", "difference_to", "between", "at_least"];
        let others = others.into_iter().chain(["at_most", "equals", "within", "measured"]);
        if let Some(key) = others.into_iter().find(|key| self.node.get(key).is_some()) {
            let problem = format!("an ordering has no {key}");
            let allowed = "metric, statistic and source beside ordering".to_owned();
            self.problem(key, Problem::BadExpectation { problem, allowed });
            return Vec::new();
        }
        let repeated =
            names.iter().enumerate().find(|(place, name)| names[..*place].contains(*name));
        if let Some((_, name)) = repeated {
            let problem = format!("the ordering has \"{name}\" twice");
            let allowed = "each configuration once, the lowest figure first".to_owned();
            self.problem("ordering", Problem::BadExpectation { problem, allowed });
            return Vec::new();
        }
        let known: Vec<Named> = names.iter().map(|name| self.point("ordering", name)).collect();
        let Some((metric, _)) = self.metric(entry) else { return Vec::new() };
        let pairs = names.iter().zip(&known).zip(names.iter().zip(&known).skip(1));
        pairs
            .map(|((lower, first), (upper, second))| match (first, second) {
                (Named::Known, Named::Known) => Outcome::Read(Expectation {
                    configuration: upper.clone(),
                    metric: metric.clone(),
                    statistic: entry.statistic,
                    relative_to: Some(RelativeTo::Above(lower.clone())),
                    at_least: Some(0.0),
                    at_most: None,
                    measured: None,
                    source: entry.source.clone(),
                    origin: self.known.sources.line(self.node.origin),
                }),
                (Named::Unknown, _) | (_, Named::Unknown) => Outcome::Wrong,
                (Named::Removed, _) => Outcome::Removed(lower.clone()),
                (_, Named::Removed) => Outcome::Removed(upper.clone()),
            })
            .collect()
    }

    /// Whether there is a point called `name`; reports one that never was.
    fn point(&mut self, key: &str, name: &str) -> Named {
        if self.known.points.iter().any(|point| point == name) {
            Named::Known
        } else if (self.known.removed)(name) {
            Named::Removed
        } else {
            self.problem(key, self.known.no_configuration(name));
            Named::Unknown
        }
    }

    /// The column's name and its unit.
    fn metric(&mut self, entry: &ExpectEntry) -> Option<(String, Unit)> {
        if entry.statistic == Statistic::NotConverged {
            return Some((entry.metric.clone().unwrap_or_default(), Unit::Share));
        }
        let Some(name) = &entry.metric else {
            let names: Vec<&str> = self.known.columns.iter().map(|c| c.name.as_str()).collect();
            let allowed = format!("one of {}", clip(&names.join(", "), 300));
            let problem = Problem::MissingKey { key: "metric".to_owned(), allowed };
            self.problems.add(problem, &self.path, Some(self.node.origin));
            return None;
        };
        let found = find_column(self.known.columns, name);
        if found.is_none() && self.known.complete {
            self.problem("metric", self.known.no_metric(name));
        }
        found.map(|column| (column.name.clone(), column.metric.unit))
    }

    fn bounds(
        &mut self,
        entry: &ExpectEntry,
        unit: BoundUnit,
    ) -> Option<(Option<f64>, Option<f64>)> {
        let given = [
            entry.between.is_some(),
            entry.at_least.is_some() || entry.at_most.is_some(),
            entry.equals.is_some() || entry.within.is_some(),
        ];
        if given.into_iter().filter(|given| *given).count() != 1 {
            let problem = match given {
                [false, false, false] => "the expectation has no bound",
                _ => "the expectation has several kinds of bounds",
            };
            let allowed = "between, or at_least and at_most or one of them, or equals and within";
            let (problem, allowed) = (problem.to_owned(), allowed.to_owned());
            let problem = Problem::BadExpectation { problem, allowed };
            self.problems.add(problem, &self.path, Some(self.node.origin));
            return None;
        }
        let bounds = if let Some(between) = &entry.between {
            let ends: Vec<Option<f64>> =
                between.iter().map(|end| self.bound("between", end, unit)).collect();
            let &[Some(least), Some(most)] = &ends[..] else { return None };
            (Some(least), Some(most))
        } else if given[2] {
            self.around(entry, unit)?
        } else {
            let mut read = |key: &str, value: &Option<Value>| match value {
                Some(value) => self.bound(key, value, unit).map(Some),
                None => Some(None),
            };
            let (least, most) =
                (read("at_least", &entry.at_least), read("at_most", &entry.at_most));
            (least?, most?)
        };
        if let (Some(least), Some(most)) = bounds
            && least > most
        {
            let problem = "the least value is above the greatest".to_owned();
            let allowed = "the least value first".to_owned();
            let key = if entry.between.is_some() { "between" } else { "at_least" };
            self.problem(key, Problem::BadExpectation { problem, allowed });
            return None;
        }
        Some(bounds)
    }

    /// The least and the greatest value that were measured, if any was.
    #[expect(clippy::option_option, reason = "wrong, absent, or given")]
    fn measured(&mut self, entry: &ExpectEntry, unit: BoundUnit) -> Option<Option<(f64, f64)>> {
        let Some(values) = &entry.measured else { return Some(None) };
        let ends: Option<Vec<f64>> =
            values.iter().map(|value| self.bound("measured", value, unit)).collect();
        let ends = ends?;
        let (first, last) = (ends.first()?, ends.last()?);
        Some(Some((first.min(*last), first.max(*last))))
    }

    /// The bounds that `equals` and `within` give.
    fn around(
        &mut self,
        entry: &ExpectEntry,
        unit: BoundUnit,
    ) -> Option<(Option<f64>, Option<f64>)> {
        let (Some(equals), Some(within)) = (&entry.equals, &entry.within) else {
            let key = if entry.equals.is_some() { "within" } else { "equals" };
            let allowed = "equals and within together".to_owned();
            let problem = Problem::MissingKey { key: key.to_owned(), allowed };
            self.problems.add(problem, &self.path, Some(self.node.origin));
            return None;
        };
        let middle = self.bound("equals", equals, unit);
        let distance = match within.as_str().and_then(read_percent) {
            Some(share) => middle.map(|middle| middle.abs() * share),
            None => match read_bound(within, unit) {
                Ok(distance) => Some(distance),
                Err(_) => {
                    let value = clip(&within.to_string(), 60);
                    let allowed =
                        format!("a share such as \"5 %\"; or, as {}", allowed_bound(unit));
                    self.problem("within", Problem::WrongType { value, allowed });
                    None
                }
            },
        };
        let (middle, distance) = (middle?, distance?);
        if distance < 0.0 {
            let (value, allowed) = (within.to_string(), "at least 0".to_owned());
            self.problem("within", Problem::OutOfRange { value, allowed });
            return None;
        }
        Some((Some(middle - distance), Some(middle + distance)))
    }

    fn bound(&mut self, key: &str, value: &Value, unit: BoundUnit) -> Option<f64> {
        match read_bound(value, unit) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.problem(key, problem);
                None
            }
        }
    }

    fn problem(&mut self, key: &str, problem: Problem) {
        let origin = self.node.get(key).map_or(self.node.origin, |value| value.origin);
        self.problems.add(problem, &format!("{}.{key}", self.path), Some(origin));
    }
}

/// The column called `name`.
pub fn find_column<'a>(columns: &'a [MetricColumn], name: &str) -> Option<&'a MetricColumn> {
    columns.iter().find(|column| column.name == name)
}

/// That of a metric.
pub(super) const fn metric_unit(unit: Unit) -> BoundUnit {
    BoundUnit::Of(unit)
}

pub(super) fn read_bound(value: &Value, unit: BoundUnit) -> Result<f64, Problem> {
    let shown = || clip(&value.to_string(), 60);
    let allowed = allowed_bound(unit).to_owned();
    match (unit, value) {
        (BoundUnit::Of(Unit::Seconds), Value::String(text)) => {
            // A difference may be negative, a duration may not.
            let (sign, text) = match text.trim().strip_prefix('-') {
                Some(rest) => (-1.0, rest.trim()),
                None => (1.0, text.trim()),
            };
            parse_duration(text).map(|duration| sign * duration.as_seconds()).map_err(|error| {
                Problem::BadQuantity { value: shown(), reason: error.to_string(), allowed }
            })
        }
        (BoundUnit::Of(Unit::PerSecond), Value::String(text)) => {
            parse_per_second(text).map_err(|error| Problem::BadQuantity {
                value: shown(),
                reason: error.to_string(),
                allowed,
            })
        }
        (BoundUnit::Of(Unit::Seconds | Unit::PerSecond), Value::Number(_)) => {
            Err(Problem::BareNumber { value: shown(), allowed })
        }
        (_, Value::Number(number)) => Ok(number.as_f64().unwrap_or(f64::NAN)),
        (
            BoundUnit::Of(Unit::Share | Unit::Probability) | BoundUnit::Ratio,
            Value::String(text),
        ) => read_percent(text).ok_or_else(|| Problem::WrongType { value: shown(), allowed }),
        _ => Err(Problem::WrongType { value: shown(), allowed }),
    }
}

pub(super) const fn allowed_bound(unit: BoundUnit) -> &'static str {
    match unit {
        BoundUnit::Of(Unit::Seconds) => {
            "this metric is a time: a number and ns, us, ms, s, min or h, for instance \"12 s\""
        }
        BoundUnit::Of(Unit::PerSecond) => {
            "this metric is a rate: a number and /s, /min or /h, for instance \"1500/s\""
        }
        BoundUnit::Of(Unit::Share) => "this metric is a share: 0.05 or \"5 %\"",
        BoundUnit::Of(Unit::Probability) => "this metric is a probability: 0.05 or \"5 %\"",
        BoundUnit::Of(Unit::Count | Unit::Ratio) => "this metric has no unit: a plain number",
        BoundUnit::Ratio => "a ratio has no unit: a plain number, or \"5 %\"",
    }
}

/// `"5 %"` as 0.05.
fn read_percent(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix('%')?.trim().parse::<f64>().ok()?;
    number.is_finite().then_some(number / 100.0)
}
