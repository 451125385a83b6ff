//! A run read back from its folder: what pictures and the report are made from, at the end of the
//! run as well as later. `summary`: what `summary.json` says.

mod summary;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::summary_json::VERSION;
use super::timeline::{self, Record};
use crate::engine::SimDuration;
use crate::experiment::Status;
use crate::experiment::bounds::KnownValues;
use crate::experiment::comparison::{self, Pairing, Sides};
use crate::experiment::known::Known;
use crate::models::Unit;
use crate::quantities::duration::parse_duration;
use crate::statistics::Estimate;
use crate::statistics::grouped::group_means;
use crate::statistics::paired::Contrast;

pub use summary::{
    Figure, StoredColumn, StoredExpectation, StoredPoint, StoredRecorded, StoredSummary,
    StoredWhenCut,
};

/// The results of one scenario.
#[derive(Clone, Debug)]
pub struct Stored {
    /// `summary.json`.
    pub summary: StoredSummary,
    /// `manifest.json`.
    pub manifest: Value,
    /// From `results.csv`: for each point, for each metric of the main table or with a recording, the
    /// figure of each replication; NaN for what did not come about.
    pub values: Vec<HashMap<String, Vec<f64>>>,
    /// The same, NaN where the replication was cut off, if any was.
    complete: Option<Vec<HashMap<String, Vec<f64>>>>,
    /// `timeline.json`, if there is one: what pictures show of one replication.
    pub record: Option<Record>,
}

/// The figures of a metric at a point, by replication.
#[derive(Clone, Debug, Default)]
struct Column {
    /// As they are in the file, those of replications that were cut off so far; NaN where there is
    /// none.
    values: Vec<f64>,
    /// What they say of the whole.
    known: KnownValues,
}

impl Stored {
    /// Takes all replications as complete, for figures that are made up.
    #[cfg(test)]
    pub fn take_as_complete(&mut self) {
        self.complete = None;
    }

    /// Takes the figures of `metric` as shares.
    #[cfg(test)]
    pub fn take_as_share(&mut self, metric: &str) {
        let columns = self.summary.columns.iter_mut().filter(|column| column.name == metric);
        columns.for_each(|column| column.unit = "share".to_owned());
    }

    /// Reads the results in `folder`.
    ///
    /// # Errors
    /// A file that is not there or not of this version's format.
    pub fn read(folder: &Path) -> Result<Self, StoredError> {
        let summary: StoredSummary = read_json(folder, "summary.json")?;
        let manifest: Value = read_json(folder, "manifest.json")?;
        if summary.version != VERSION {
            let path = folder.join("summary.json");
            let reason =
                format!("version {} of its format; this convsim reads {VERSION}", summary.version);
            return Err(StoredError { path, reason });
        }
        // A run without pictures has none; one of an earlier format is left out.
        let record = match folder.join(timeline::FILE).exists() {
            true => Record::read(&read_json::<Value>(folder, timeline::FILE)?.to_string()),
            false => None,
        };
        let mut stored = Self { summary, manifest, values: Vec::new(), complete: None, record };
        let path = folder.join("results.csv");
        let mut names: Vec<String> =
            stored.main_columns().iter().map(|column| column.name.clone()).collect();
        for recorded in &stored.summary.recorded {
            if !names.contains(&recorded.metric) {
                names.push(recorded.metric.clone());
            }
        }
        let rows = stored.read_rows(&path, &names);
        let rows = rows.map_err(|error| StoredError { path, reason: error.to_string() })?;
        let is_cut = stored.summary.points.iter().any(StoredPoint::is_cut);
        stored.complete = is_cut.then(|| of_each(&rows, |column| column.known.exact.clone()));
        stored.values = of_each(&rows, |column| column.values.clone());
        Ok(stored)
    }

    /// From `results.csv` in the same `folder`, for each point, what is known of the figures of
    /// `metrics`.
    ///
    /// # Errors
    /// A file that is not there or not of this version's format.
    pub fn values_of(
        &self,
        folder: &Path,
        metrics: &[String],
    ) -> Result<Vec<HashMap<String, KnownValues>>, StoredError> {
        let path = folder.join("results.csv");
        let rows = self.read_rows(&path, metrics);
        let rows = rows.map_err(|error| StoredError { path, reason: error.to_string() })?;
        Ok(of_each(&rows, |column| column.known.clone()))
    }

    /// The metrics of the main table: those the scenario names, else the headline ones.
    #[must_use]
    pub fn main_columns(&self) -> Vec<&StoredColumn> {
        let named = self.manifest.pointer("/resolved/run/metrics").and_then(Value::as_array);
        let columns = &self.summary.columns;
        match named {
            Some(names) if !names.is_empty() => names
                .iter()
                .filter_map(|name| columns.iter().find(|c| Some(c.name.as_str()) == name.as_str()))
                .collect(),
            _ => columns.iter().filter(|column| column.headline).collect(),
        }
    }

    /// The first metric of the main table that is not the same in all replications of `points`.
    #[must_use]
    pub fn leading_column(&self, points: Range<usize>) -> Option<&StoredColumn> {
        let varies = |column: &&StoredColumn| {
            let mut values = points.clone().flat_map(|point| self.values(point, &column.name));
            let bits = |value: &f64| value.to_bits();
            let first = values.next().map(bits);
            values.any(|value| Some(bits(value)) != first)
        };
        self.main_columns().into_iter().find(varies)
    }

    /// The figures of a metric at the point number `point`, by replication; empty for a metric
    /// that is neither in the main table nor recorded.
    #[must_use]
    pub fn values(&self, point: usize, metric: &str) -> &[f64] {
        self.values.get(point).and_then(|metrics| metrics.get(metric)).map_or(&[], Vec::as_slice)
    }

    /// The same, where a time that had not come about when replications were cut off is longer than
    /// any: infinite.
    #[must_use]
    pub fn times_or_never(&self, point: usize, column: &StoredColumn) -> Vec<f64> {
        let statuses = self.summary.points.get(point).map(|point| &point.statuses);
        let some = |status: &Status| {
            let count = statuses.and_then(|statuses| statuses.get(status.name()));
            count.and_then(Value::as_u64).is_some_and(|count| count > 0)
        };
        let (failed, others): (Vec<Status>, _) =
            Status::ALL.into_iter().partition(|status| status.is_failure());
        let cut = others.iter().filter(|status| **status != Status::Converged).any(some);
        let never = cut && !failed.iter().any(some) && column.unit() == Unit::Seconds;
        let figure = |figure: &f64| if figure.is_nan() && never { f64::INFINITY } else { *figure };
        self.values(point, &column.name).iter().map(figure).collect()
    }

    /// The mean, or the probability, of `column` at the point number `first` against that at
    /// `second`, with the interval that `convsim compare` has.
    #[must_use]
    pub fn contrasted(
        &self,
        [first, second]: [usize; 2],
        column: &StoredColumn,
        contrast: Contrast,
    ) -> Estimate {
        let antithetic = self.manifest.pointer("/run/antithetic").and_then(Value::as_bool);
        let size = if antithetic == Some(true) { 2 } else { 1 };
        let (metric, unit) = (column.name.as_str(), column.unit());
        let pairing = self.pairing();
        // What was cut off is not known, so that nothing is claimed of it.
        let all = self.complete.as_ref().unwrap_or(&self.values);
        let figures = |point: usize| all.get(point).and_then(|metrics| metrics.get(metric));
        let [one, other] =
            [second, first].map(|point| figures(point).map_or(&[][..], Vec::as_slice));
        let of = |first: &[f64], second: &[f64], size: usize| {
            let (first, second) = (&KnownValues::exactly(first), &KnownValues::exactly(second));
            let sides = Sides { metric, unit, first, second, groups: [size; 2] };
            comparison::contrasted(&sides, pairing, contrast, self.summary.confidence)
        };
        if unit == Unit::Probability {
            // Of probabilities the values say how many replications there are.
            return of(one, other, size);
        }
        of(&group_means(one, size), &group_means(other, size), 1)
    }

    /// How many replications number r of two points both have a final figure of `column`, and how
    /// many there are.
    #[must_use]
    pub fn pairs(&self, [first, second]: [usize; 2], column: &StoredColumn) -> (usize, usize) {
        let all = self.complete.as_ref().unwrap_or(&self.values);
        let figures = |point: usize| {
            let values = all.get(point).and_then(|metrics| metrics.get(&column.name));
            values.map_or(&[][..], Vec::as_slice)
        };
        let pairs = figures(first).iter().zip(figures(second));
        (pairs.clone().filter(|(a, b)| !a.is_nan() && !b.is_nan()).count(), pairs.count())
    }

    /// The figures of a metric at the point number `point` that a longer run would not change.
    #[must_use]
    pub fn final_values(&self, point: usize, metric: &str) -> &[f64] {
        let all = self.complete.as_ref().unwrap_or(&self.values);
        all.get(point).and_then(|metrics| metrics.get(metric)).map_or(&[], Vec::as_slice)
    }

    /// Whether replication r of all points has the same random numbers.
    #[must_use]
    pub fn pairing(&self) -> Pairing {
        let seeding = self.manifest.pointer("/run/seeding").and_then(Value::as_str);
        if seeding == Some("independent") { Pairing::Independent } else { Pairing::Paired }
    }

    /// The parts of a metric.
    #[must_use]
    pub fn parts(&self, whole: &str) -> Vec<&StoredColumn> {
        let part = |column: &&StoredColumn| column.part_of.as_deref() == Some(whole);
        self.summary.columns.iter().filter(part).collect()
    }

    fn read_rows(
        &self,
        path: &Path,
        metrics: &[String],
    ) -> Result<Vec<HashMap<String, Column>>, csv::Error> {
        let mut reader = csv::Reader::from_path(path)?;
        let heading = reader.headers()?.clone();
        let place = |name: &str| heading.iter().position(|column| column == name);
        let missing =
            |name: &str| csv::Error::from(io::Error::other(format!("it has no column {name}")));
        let point_column = place("point").ok_or_else(|| missing("point"))?;
        let name_column = place("configuration").ok_or_else(|| missing("configuration"))?;
        let replication_column = place("replication").ok_or_else(|| missing("replication"))?;
        let status_column = place("status").ok_or_else(|| missing("status"))?;
        let end_column = place("end_time").ok_or_else(|| missing("end_time"))?;
        let horizon = self.manifest.pointer("/run/horizon").and_then(Value::as_str);
        let horizon = horizon.and_then(|text| parse_duration(text).ok());
        let horizon = horizon.map_or(f64::INFINITY, SimDuration::as_seconds);
        // What had converged may have gone on until then.
        let at_the_end = |end: &str| end.parse().is_ok_and(|end: f64| end >= horizon);
        let columns: Vec<Cell<'_>> = metrics
            .iter()
            .filter_map(|name| {
                let stored = self.summary.columns.iter().find(|column| column.name == *name);
                Cell::new(name, stored, place)
            })
            .collect();
        let points: HashMap<(&str, &str), usize> = self
            .summary
            .points
            .iter()
            .enumerate()
            .map(|(index, point)| ((point.id.as_str(), point.configuration.as_str()), index))
            .collect();
        let most = |point: &StoredPoint| point.replications as usize;
        let none = |point: &StoredPoint| {
            let none = vec![f64::NAN; most(point)];
            Column { known: KnownValues::exactly(&none), values: none }
        };
        let mut values: Vec<Vec<Column>> =
            self.summary.points.iter().map(|point| vec![none(point); columns.len()]).collect();
        let mut rows = vec![0; self.summary.points.len()];
        let mut row = csv::StringRecord::new();
        while reader.read_record(&mut row)? {
            let key = (&row[point_column], &row[name_column]);
            let (Some(&point), Ok(replication)) =
                (points.get(&key), row[replication_column].parse::<usize>())
            else {
                let text = format!("it has a row of a point that summary.json has not: {}", key.1);
                return Err(csv::Error::from(io::Error::other(text)));
            };
            rows[point] += 1;
            let status = Status::ALL.into_iter().find(|of| of.name() == &row[status_column]);
            let goes_on = status == Some(Status::Converged) && at_the_end(&row[end_column]);
            let is_cut = goes_on || status.is_some_and(Status::is_cut_off);
            for (kept, column) in values[point].iter_mut().zip(&columns) {
                let cell = &row[column.place];
                let figure = match cell.parse() {
                    Ok(figure) => figure,
                    Err(_) if cell.is_empty() => f64::NAN,
                    Err(_) => {
                        let name = column.name;
                        let text = format!("{name} is \"{cell}\" in a row, which is no number");
                        return Err(csv::Error::from(io::Error::other(text)));
                    }
                };
                let known = match status {
                    Some(status) if status.is_failure() => Known::NONE,
                    _ if is_cut && !column.is_final(&row) => {
                        let end = row[end_column].parse().unwrap_or(f64::NAN);
                        column.when_cut(&row, figure, end)
                    }
                    // At rest: a time that had not come about never will.
                    Some(Status::NotConverged)
                        if figure.is_nan() && column.unit == Unit::Seconds =>
                    {
                        f64::INFINITY.into()
                    }
                    _ => figure.into(),
                };
                if replication < kept.values.len() {
                    kept.values[replication] = figure;
                    kept.known.set(replication, known);
                }
            }
        }
        for (point, rows) in self.summary.points.iter().zip(rows) {
            if point.replications != rows {
                let text = format!(
                    "it has {rows} rows of \"{}\", and summary.json has {} replications",
                    point.configuration, point.replications
                );
                return Err(csv::Error::from(io::Error::other(text)));
            }
        }
        let name = |(values, cell): (Column, &Cell<'_>)| (cell.name.to_owned(), values);
        Ok(values.into_iter().map(|v| v.into_iter().zip(&columns).map(name).collect()).collect())
    }
}

/// Of each point, of each metric, what `of` gives.
fn of_each<T>(
    points: &[HashMap<String, Column>],
    of: impl Fn(&Column) -> T,
) -> Vec<HashMap<String, T>> {
    let one = |point: &HashMap<String, Column>| {
        point.iter().map(|(name, column)| (name.clone(), of(column))).collect()
    };
    points.iter().map(one).collect()
}

/// Where a metric stands in a row, and what tells whether it is that of the whole.
struct Cell<'n> {
    name: &'n str,
    place: usize,
    unit: Unit,
    final_with: Option<usize>,
    /// Whether it can only grow.
    grows: bool,
    /// Since when a time has gone by that has not come about.
    since: Since,
}

enum Since {
    /// Nothing is known of it.
    Nothing,
    /// The start of the replication.
    Start,
    /// The instant in this column.
    At(usize),
}

impl<'n> Cell<'n> {
    fn new(
        name: &'n str,
        column: Option<&StoredColumn>,
        place: impl Fn(&str) -> Option<usize>,
    ) -> Option<Self> {
        let when_cut = column.and_then(|column| column.when_cut.as_ref());
        let since = match when_cut {
            Some(StoredWhenCut::GrowsFromStart) => Since::Start,
            Some(StoredWhenCut::GrowsSince(name)) => place(name).map_or(Since::Nothing, Since::At),
            Some(StoredWhenCut::Grows) | None => Since::Nothing,
        };
        let final_with = column.and_then(|column| place(column.final_with.as_deref()?));
        let grows = when_cut.is_some();
        // A plain ratio has the same symbol as a count, and may be anything.
        let unit = match column.map_or(Unit::Count, StoredColumn::unit) {
            Unit::Count if !grows => Unit::Ratio,
            unit => unit,
        };
        Some(Self { name, place: place(name)?, unit, final_with, grows, since })
    }

    fn is_final(&self, row: &csv::StringRecord) -> bool {
        self.final_with.is_some_and(|column| !row[column].is_empty())
    }

    /// What a replication says that was cut off at `end` with `figure`.
    fn when_cut(&self, row: &csv::StringRecord, figure: f64, end: f64) -> Known {
        let since = match self.since {
            Since::Nothing => f64::NAN,
            Since::Start => 0.0,
            Since::At(column) => row[column].parse().unwrap_or(f64::NAN),
        };
        Known::cut(self.unit, figure, self.grows.then_some(end - since))
    }
}

fn read_json<T: serde::de::DeserializeOwned>(folder: &Path, name: &str) -> Result<T, StoredError> {
    let path = folder.join(name);
    let read = fs::read_to_string(&path).map_err(|error| error.to_string());
    read.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))
        .map_err(|reason| StoredError { path, reason })
}

/// Abbreviations that names of metrics have in small letters.
const ABBREVIATIONS: [&str; 14] = [
    "ack", "arp", "bgp", "cpu", "fdb", "http", "lag", "rpc", "sai", "syn", "tcp", "udp", "vm",
    "zmq",
];

/// The name of a metric as words.
#[must_use]
pub fn words(name: &str) -> String {
    let word = |word: &str| {
        if ABBREVIATIONS.contains(&word) { word.to_uppercase() } else { word.to_owned() }
    };
    name.split(['_', '.', ' ']).map(word).collect::<Vec<_>>().join(" ")
}

/// A value of a parameter for a reader.
#[must_use]
pub fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Results that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be used: {reason}", path.display())]
pub struct StoredError {
    /// The file.
    path: PathBuf,
    /// Why.
    reason: String,
}
