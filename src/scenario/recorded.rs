//! Recorded figures of the real system, which pictures hold beside the simulated ones.
//!
//! `{ "configuration": "base", "metric": "elapsed", "values": ["1.2 s", "1.4 s"], "source": "..." }`, or
//! a column of a CSV file in place of the values. Nothing is simulated from them, and nothing is fitted.

use std::path::PathBuf;

use serde_json::Value;

use super::design::part;
use super::expect::{BoundUnit, Known, find_column, read_bound};
use super::file::RecordedEntry;
use super::node::{Node, clip};
use super::problem::{Problem, Problems};
use super::recording::read_cells;
use super::types::Recorded;
use crate::models::Unit;
use crate::quantities::rate::parse_rate;

/// What comes of the recordings of a scenario.
#[derive(Debug, Default)]
pub struct Recordings {
    /// Those whose configuration is run.
    pub recorded: Vec<Recorded>,
    /// The files that values were read from.
    pub files: Vec<PathBuf>,
}

/// Reads all recordings of the scenario `tree`. Those of points that the command line has removed
/// are left out.
pub fn read_recorded(tree: &Node, known: &Known<'_>, problems: &mut Problems) -> Recordings {
    let mut recordings = Recordings::default();
    for (index, node) in tree.get("recorded").map_or(&[][..], Node::items).iter().enumerate() {
        let Some(entry) = part::<RecordedEntry>(node) else { continue };
        let path = format!("recorded[{index}]");
        let mut reader = Reader { node, path, known, problems: &mut *problems };
        let read = reader.read(&entry, &mut recordings.files);
        recordings.recorded.extend(read);
    }
    recordings
}

struct Reader<'a> {
    node: &'a Node,
    path: String,
    known: &'a Known<'a>,
    problems: &'a mut Problems,
}

impl Reader<'_> {
    fn read(&mut self, entry: &RecordedEntry, files: &mut Vec<PathBuf>) -> Option<Recorded> {
        let name = &entry.configuration;
        let there = self.known.points.iter().any(|point| point == name);
        if !there && !(self.known.removed)(name) {
            self.problem("configuration", self.known.no_configuration(name));
        }
        let column = find_column(self.known.columns, &entry.metric);
        if column.is_none() && self.known.complete {
            self.problem("metric", self.known.no_metric(&entry.metric));
        }
        let unit_of = column?.metric.unit;
        let unit = BoundUnit::Of(unit_of);
        let mut values = match (&entry.values, &entry.file, &entry.column) {
            (Some(values), None, None) => self.inline(values, entry.unit.as_deref(), unit)?,
            (None, Some(file), Some(name)) => {
                self.column(file, name, entry.unit.as_deref(), unit, files)?
            }
            _ => {
                let problem = "a recording has either values, or a file and its column".to_owned();
                let allowed = "\"values\": [...], or \"file\" and \"column\"".to_owned();
                let problem = Problem::BadExpectation { problem, allowed };
                self.problems.add(problem, &self.path, Some(self.node.origin));
                return None;
            }
        };
        values.sort_unstable_by(f64::total_cmp);
        if let (Some(least), Unit::Seconds) = (values.first().filter(|v| **v < 0.0), unit_of) {
            let problem = Problem::OutOfRange {
                value: format!("{least} s"),
                allowed: "times of 0 s or more".to_owned(),
            };
            let key = if entry.file.is_some() { "file" } else { "values" };
            self.problem(key, problem);
            return None;
        }
        there.then(|| Recorded {
            configuration: name.clone(),
            metric: entry.metric.clone(),
            values,
            source: entry.source.clone(),
            origin: self.known.sources.line(self.node.origin),
        })
    }

    fn inline(&mut self, values: &[Value], unit: Option<&str>, of: BoundUnit) -> Option<Vec<f64>> {
        let mut all = Vec::with_capacity(values.len());
        for (index, value) in values.iter().enumerate() {
            match read_figure(&with_unit(value, unit), of) {
                Ok(value) => all.push(value),
                Err(problem) => self.problem(&format!("values[{index}]"), problem),
            }
        }
        (all.len() == values.len()).then_some(all)
    }

    /// A column of a CSV file; a relative path starts from the folder of the scenario's file.
    fn column(
        &mut self,
        file: &str,
        name: &str,
        unit: Option<&str>,
        of: BoundUnit,
        files: &mut Vec<PathBuf>,
    ) -> Option<Vec<f64>> {
        let origin = self.node.get("file").map_or(self.node.origin, |node| node.origin);
        let folder = self.known.sources.text_of(origin).map(|text| text.folder.clone());
        let path = folder.unwrap_or_default().join(file);
        let shown = path.display().to_string();
        let cells = read_cells(&path, name, self.known.sources);
        let read = |(row, cell): (u64, String)| {
            let number =
                cell.parse::<f64>().map_or_else(|_| Value::from(cell.as_str()), Value::from);
            read_figure(&with_unit(&number, unit), of).map_err(|problem| {
                let (what, allowed) = problem.text();
                let reason = format!("line {row}, column \"{name}\": {what}; {allowed}");
                Problem::BadRecording { file: shown.clone(), reason }
            })
        };
        let values = cells.and_then(|cells| cells.into_iter().map(read).collect::<Result<_, _>>());
        files.push(path);
        values.map_err(|problem| self.problem("file", problem)).ok()
    }

    fn problem(&mut self, key: &str, problem: Problem) {
        let place = self.node.nearest(key.split(['.', '[', ']']).filter(|key| !key.is_empty()));
        self.problems.add(problem, &format!("{}.{key}", self.path), Some(place.origin));
    }
}

/// A figure in its metric's unit. A rate that was measured may be 0, unlike one that is a setting.
fn read_figure(value: &Value, of: BoundUnit) -> Result<f64, Problem> {
    let nothing = |text: &str| {
        let (number, unit) = text.split_once('/')?;
        let zero = number.trim().parse::<f64>().is_ok_and(|number| number == 0.0);
        (zero && parse_rate(&format!("1/{unit}")).is_ok()).then_some(0.0)
    };
    match (of, value.as_str()) {
        (BoundUnit::Of(Unit::PerSecond), Some(text)) => {
            nothing(text).map_or_else(|| read_bound(value, of), Ok)
        }
        _ => read_bound(value, of),
    }
}

/// A plain number with its unit; anything else as it is.
fn with_unit(value: &Value, unit: Option<&str>) -> Value {
    match (value, unit) {
        (Value::Number(number), Some(unit)) => {
            let gap = if unit.trim_start().starts_with('/') { "" } else { " " };
            Value::from(clip(&format!("{number}{gap}{unit}"), 100))
        }
        _ => value.clone(),
    }
}
