//! What `summary.json` says.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{value_text, words};
use crate::experiment::Status;
use crate::models::Unit;
use crate::statistics::{Estimate, Interval, Sense};

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

/// A metric.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StoredColumn {
    /// Its name.
    pub name: String,
    /// The component it is of.
    pub component: String,
    /// The symbol of its unit.
    pub(super) unit: String,
    /// What it is.
    pub summary: String,
    /// Whether it is in the main table by default.
    pub headline: bool,
    /// The metric it is a part of.
    pub part_of: Option<String>,
    /// The metric which, where it has a figure, says that this one's is that of the whole also
    /// when the replication was cut off.
    #[serde(default)]
    pub(super) final_with: Option<String>,
    /// What its figure says of the whole when the replication was cut off; `None` if nothing.
    #[serde(default)]
    pub(super) when_cut: Option<StoredWhenCut>,
}

/// What the figure of a replication that was cut off says of the whole, see
/// [`WhenCut`](crate::models::WhenCut).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredWhenCut {
    /// It is at least that much.
    Grows,
    /// The same; a time that has not come about is at least as long as the replication.
    GrowsFromStart,
    /// The same; a time that has not come about is at least as long as the replication after the
    /// instant in this column, in seconds.
    GrowsSince(String),
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
    #[serde(default)]
    cut: usize,
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
    #[serde(default)]
    sense: StoredSense,
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

/// What the value of an estimate says of the figure.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredSense {
    #[default]
    Whole,
    AtLeast,
    AtMost,
    SoFar,
}

impl From<StoredSense> for Sense {
    fn from(stored: StoredSense) -> Self {
        match stored {
            StoredSense::Whole => Self::Whole,
            StoredSense::AtLeast => Self::AtLeast,
            StoredSense::AtMost => Self::AtMost,
            StoredSense::SoFar => Self::SoFar,
        }
    }
}

#[cfg(test)]
impl StoredEstimate {
    const fn exactly(value: Option<f64>) -> Self {
        Self { value, low: value, high: value, sense: StoredSense::Whole }
    }
}

impl From<StoredEstimate> for Estimate {
    fn from(stored: StoredEstimate) -> Self {
        let low = stored.low.unwrap_or(f64::NEG_INFINITY);
        let high = stored.high.unwrap_or(f64::INFINITY);
        let value = stored.value.unwrap_or(f64::NAN);
        Self { value, interval: Interval { low, high }, sense: stored.sense.into() }
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

    /// Whether any of its figures is known by bounds only.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        Status::ALL.iter().any(|status| status.is_cut_off() && self.count(*status) > 0)
            || self.metrics.values().any(|metric| metric.cut > 0)
    }

    /// How many replications have bounds of a metric only, as they were cut off.
    #[must_use]
    pub fn cut(&self, metric: &str) -> usize {
        self.metrics.get(metric).map_or(0, |metric| metric.cut)
    }

    /// Makes all figures known exactly, as those of a system without chance.
    #[cfg(test)]
    pub fn forget_spread(&mut self) {
        for metric in self.metrics.values_mut() {
            let exactly = StoredEstimate::exactly(metric.mean.value);
            *metric =
                StoredMetric { cut: 0, mean: exactly, p50: exactly, p95: exactly, p99: exactly };
        }
    }

    /// Takes all figures away, as where no replication got done.
    #[cfg(test)]
    pub fn forget_figures(&mut self) {
        for metric in self.metrics.values_mut() {
            let none = StoredEstimate::exactly(None);
            *metric = StoredMetric { cut: 0, mean: none, p50: none, p95: none, p99: none };
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
        let metric =
            StoredMetric { cut: 0, mean: exactly, p50: exactly, p95: exactly, p99: exactly };
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
