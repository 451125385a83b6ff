//! A run read back from its folder: what pictures and the report are made from, at the end of the
//! run as well as later.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::summary_json::VERSION;
use super::timeline::{self, Record};
use crate::experiment::Status;
use crate::experiment::comparison::{self, Pairing, Sides};
use crate::models::Unit;
use crate::statistics::grouped::group_means;
use crate::statistics::paired::Contrast;
use crate::statistics::{Estimate, Interval};

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

/// What `summary.json` says.
#[derive(Clone, Debug, Deserialize)]
pub struct StoredSummary {
    /// Version of the format.
    pub version: u32,
    /// The scenario's name.
    pub scenario: String,
    /// The question.
    pub description: String,
    /// Where its figures come from.
    pub sources: Vec<String>,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// What was measured.
    pub columns: Vec<StoredColumn>,
    /// What came out.
    pub points: Vec<StoredPoint>,
    /// What had to come out.
    pub expectations: Vec<StoredExpectation>,
    /// What the real system did.
    #[serde(default)]
    pub recorded: Vec<StoredRecorded>,
    /// What is not as it seems in the figures.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Legal but hopeless settings.
    pub warnings: Vec<String>,
}

/// Whose figures are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// All replications.
    All,
    /// Those that were not cut off.
    Complete,
}

/// A metric.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StoredColumn {
    /// Its name.
    pub name: String,
    /// The component it is of.
    pub component: String,
    /// The symbol of its unit.
    unit: String,
    /// What it is.
    pub summary: String,
    /// Whether it is in the main table by default.
    pub headline: bool,
    /// The metric it is a part of.
    pub part_of: Option<String>,
    /// The metric which, where it has a figure, says that this one's is that of the whole also
    /// when the replication was cut off.
    #[serde(default)]
    final_with: Option<String>,
}

/// A point.
#[derive(Clone, Debug, Deserialize)]
pub struct StoredPoint {
    /// Its identity.
    pub id: String,
    /// Its name.
    pub configuration: String,
    /// What a reader must know.
    pub note: Option<String>,
    /// The swept paths with its values.
    pub axes: Map<String, Value>,
    /// How many replications it has.
    pub replications: u64,
    /// How they ended.
    pub statuses: Map<String, Value>,
    /// The share that did not converge.
    not_converged: StoredEstimate,
    /// Its figures.
    metrics: HashMap<String, StoredMetric>,
}

impl StoredPoint {
    /// How many replications ended so.
    #[must_use]
    pub fn count(&self, status: Status) -> u64 {
        self.statuses.get(status.name()).and_then(Value::as_u64).unwrap_or(0)
    }
}

/// A metric at a point.
#[derive(Clone, Copy, Debug, Deserialize)]
struct StoredMetric {
    mean: StoredEstimate,
    p50: StoredEstimate,
    p95: StoredEstimate,
    p99: StoredEstimate,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct StoredEstimate {
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

/// An expectation and what became of it.
#[derive(Clone, Debug, Deserialize)]
pub struct StoredExpectation {
    /// In words.
    pub expected: String,
    /// Held or not.
    pub verdict: String,
    /// What came out.
    got: StoredEstimate,
    /// The same in words, as on the terminal; empty in results of an earlier version.
    #[serde(default)]
    pub got_text: String,
    /// Where it comes from.
    pub source: String,
    /// Where it stands.
    pub origin: String,
    /// The point.
    pub configuration: String,
    /// The metric.
    pub metric: String,
    /// The figure over the replications.
    pub statistic: String,
    /// Whether it is about a ratio or difference to another point.
    pub relative: bool,
    /// The least value allowed.
    pub at_least: Option<f64>,
    /// The greatest value allowed.
    pub at_most: Option<f64>,
    /// The least and the greatest value that were measured.
    #[serde(default)]
    pub measured: Option<(f64, f64)>,
}

/// Figures of the real system.
#[derive(Clone, Debug, Deserialize)]
pub struct StoredRecorded {
    /// The point.
    pub configuration: String,
    /// The metric.
    pub metric: String,
    /// The figures, in rising order.
    pub values: Vec<f64>,
    /// Where they come from.
    pub source: String,
}

/// A figure over replications that pictures and the report show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// The mean.
    Mean,
    /// The median.
    P50,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
}

#[cfg(test)]
impl StoredEstimate {
    const fn exactly(value: Option<f64>) -> Self {
        Self { value, low: value, high: value }
    }
}

impl From<StoredEstimate> for Estimate {
    fn from(stored: StoredEstimate) -> Self {
        let low = stored.low.unwrap_or(f64::NEG_INFINITY);
        let high = stored.high.unwrap_or(f64::INFINITY);
        Self { value: stored.value.unwrap_or(f64::NAN), interval: Interval { low, high } }
    }
}

impl StoredColumn {
    /// Its unit.
    #[must_use]
    pub fn unit(&self) -> Unit {
        let all = [Unit::Seconds, Unit::Share, Unit::Probability, Unit::PerSecond];
        all.into_iter().find(|unit| unit.symbol() == self.unit).unwrap_or(Unit::Count)
    }

    /// Its name for a reader.
    #[must_use]
    pub fn title(&self) -> String {
        words(&self.name)
    }
}

impl StoredPoint {
    /// A figure of a metric; [`Estimate::UNKNOWN`] if there is none of that name.
    #[must_use]
    pub fn figure(&self, metric: &str, figure: Figure) -> Estimate {
        self.metrics.get(metric).map_or(Estimate::UNKNOWN, |metric| {
            Estimate::from(match figure {
                Figure::Mean => metric.mean,
                Figure::P50 => metric.p50,
                Figure::P95 => metric.p95,
                Figure::P99 => metric.p99,
            })
        })
    }

    /// Makes all figures known exactly, as those of a system without chance.
    #[cfg(test)]
    pub fn forget_spread(&mut self) {
        for metric in self.metrics.values_mut() {
            let exactly = StoredEstimate::exactly(metric.mean.value);
            *metric = StoredMetric { mean: exactly, p50: exactly, p95: exactly, p99: exactly };
        }
    }

    /// Takes all figures away, as where no replication got done.
    #[cfg(test)]
    pub fn forget_figures(&mut self) {
        for metric in self.metrics.values_mut() {
            let none = StoredEstimate::exactly(None);
            *metric = StoredMetric { mean: none, p50: none, p95: none, p99: none };
        }
    }

    /// Makes all figures `value` in every replication.
    #[cfg(test)]
    pub fn set_all(&mut self, value: f64) {
        for metric in self.metrics.values_mut() {
            metric.mean = StoredEstimate::exactly(Some(value));
        }
        self.forget_spread();
    }

    /// Makes one figure `value` in every replication.
    #[cfg(test)]
    pub fn set_one(&mut self, name: &str, value: f64) {
        let exactly = StoredEstimate::exactly(Some(value));
        let metric = StoredMetric { mean: exactly, p50: exactly, p95: exactly, p99: exactly };
        self.metrics.insert(name.to_owned(), metric);
    }

    /// Gives the mean of one figure an interval.
    #[cfg(test)]
    pub fn set_interval(&mut self, name: &str, low: f64, high: f64) {
        let metric = self.metrics.get_mut(name).unwrap();
        metric.mean = StoredEstimate { low: Some(low), high: Some(high), ..metric.mean };
    }

    /// The name of the configuration that a point of a sweep starts from; empty where that is the
    /// components as they stand.
    #[must_use]
    pub fn base(&self) -> &str {
        let settings: Vec<String> =
            self.axes.iter().map(|(path, value)| format!("{path}={}", value_text(value))).collect();
        let base = self.configuration.strip_suffix(&settings.join(", "));
        base.map_or(&self.configuration, |base| base.trim_end_matches([',', ' ']))
    }

    /// The share of replications that did not converge.
    #[must_use]
    pub fn not_converged(&self) -> Estimate {
        self.not_converged.into()
    }
}

impl StoredExpectation {
    /// What came out.
    #[must_use]
    pub fn got(&self) -> Estimate {
        self.got.into()
    }
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
        let read = |of| {
            let rows = stored.read_rows(&path, &names, of);
            rows.map_err(|error| StoredError { path: path.clone(), reason: error.to_string() })
        };
        let values = read(Of::All)?;
        let cut = |point: &StoredPoint| {
            Status::ALL.iter().any(|status| status.is_cut_off() && point.count(*status) > 0)
        };
        let complete = stored.summary.points.iter().any(cut).then(|| read(Of::Complete));
        stored.complete = complete.transpose()?;
        stored.values = values;
        Ok(stored)
    }

    /// From `results.csv` in the same `folder`, for each point, the figures of `metrics` by
    /// replication: NaN where a replication was cut off.
    ///
    /// # Errors
    /// A file that is not there or not of this version's format.
    pub fn values_of(
        &self,
        folder: &Path,
        metrics: &[String],
    ) -> Result<Vec<HashMap<String, Vec<f64>>>, StoredError> {
        let path = folder.join("results.csv");
        let rows = self.read_rows(&path, metrics, Of::Complete);
        rows.map_err(|error| StoredError { path, reason: error.to_string() })
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
            let sides = Sides { metric, unit, first, second, groups: [size; 2] };
            comparison::contrasted(&sides, pairing, contrast, self.summary.confidence)
        };
        if unit == Unit::Probability {
            // Of probabilities the values say how many replications there are.
            return of(one, other, size);
        }
        of(&group_means(one, size), &group_means(other, size), 1)
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
        of: Of,
    ) -> Result<Vec<HashMap<String, Vec<f64>>>, csv::Error> {
        let mut reader = csv::Reader::from_path(path)?;
        let heading = reader.headers()?.clone();
        let place = |name: &str| heading.iter().position(|column| column == name);
        let missing =
            |name: &str| csv::Error::from(io::Error::other(format!("it has no column {name}")));
        let point_column = place("point").ok_or_else(|| missing("point"))?;
        let name_column = place("configuration").ok_or_else(|| missing("configuration"))?;
        let replication_column = place("replication").ok_or_else(|| missing("replication"))?;
        let status_column = place("status").ok_or_else(|| missing("status"))?;
        let cut_off: Vec<&str> =
            Status::ALL.iter().filter(|status| status.is_cut_off()).map(|of| of.name()).collect();
        let final_with = |name: &str| {
            let column = self.summary.columns.iter().find(|column| column.name == name)?;
            place(column.final_with.as_deref()?)
        };
        let columns: Vec<(usize, &str)> =
            metrics.iter().filter_map(|name| Some((place(name)?, name.as_str()))).collect();
        let points: HashMap<(&str, &str), usize> = self
            .summary
            .points
            .iter()
            .enumerate()
            .map(|(index, point)| ((point.id.as_str(), point.configuration.as_str()), index))
            .collect();
        let most = |point: &StoredPoint| point.replications as usize;
        let mut values: Vec<Vec<Vec<f64>>> = self
            .summary
            .points
            .iter()
            .map(|point| vec![vec![f64::NAN; most(point)]; columns.len()])
            .collect();
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
            let cut = of == Of::Complete && cut_off.contains(&&row[status_column]);
            for (kept, (column, name)) in values[point].iter_mut().zip(&columns) {
                let is_final = || final_with(name).is_some_and(|column| !row[column].is_empty());
                if cut && !is_final() {
                    continue;
                }
                let cell = &row[*column];
                match (kept.get_mut(replication), cell.parse()) {
                    (Some(kept), Ok(figure)) => *kept = figure,
                    (_, Err(_)) if !cell.is_empty() => {
                        let text = format!("{name} is \"{cell}\" in a row, which is no number");
                        return Err(csv::Error::from(io::Error::other(text)));
                    }
                    _ => {}
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
        let name = |(values, (_, name)): (Vec<f64>, &(usize, &str))| ((*name).to_owned(), values);
        Ok(values.into_iter().map(|v| v.into_iter().zip(&columns).map(name).collect()).collect())
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
