//! A scenario after reading, overriding and validating: what the experiment layer runs.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::question::{SensitivityQuestion, SolveQuestion};
use crate::engine::SimDuration;
use crate::models::{Connection, Metric, ModelConfig, ModelKind, Unit};

/// A scenario ready to run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name, which also names its folder under `outputs/`: letters, digits, `-`, `_`, `.`.
    pub name: String,
    /// What question it answers.
    pub description: String,
    /// Where its figures come from.
    pub sources: Vec<String>,
    /// The file it was read from.
    pub path: PathBuf,
    /// Every file it was read from: that one, those it extends, and recordings.
    pub files: Vec<PathBuf>,
    /// Name and model of each component, in the order of the file.
    pub components: Vec<(String, ModelKind)>,
    /// Signals between components.
    pub connections: Vec<Connection>,
    /// What is run: the configurations, then the points of the sweep.
    pub points: Vec<Point>,
    /// Points of the sweep that its conditions leave out.
    pub cut_points: u64,
    /// Sampled points that were the same as another after rounding, and are not run twice.
    pub coincident_points: u64,
    /// How it is run.
    pub run: RunSettings,
    /// What must come out.
    pub expectations: Vec<Expectation>,
    /// What it asks `solve`.
    pub solve: Option<SolveQuestion>,
    /// What it asks `sensitivity`.
    pub sensitivity: Option<SensitivityQuestion>,
    /// What the real system did, to be held beside what comes out.
    pub recorded: Vec<Recorded>,
    /// Legal but hopeless settings, one sentence each, with configuration and path.
    pub warnings: Vec<String>,
    /// The whole file after `extends` and overrides, for the manifest.
    pub resolved: serde_json::Value,
}

/// One configuration of all components.
#[derive(Clone, Debug)]
pub struct Point {
    /// A stable hash of the canonical parameters (models, configurations with defaults filled in,
    /// connections): the same wherever the point stands in a file.
    pub id: u64,
    /// The configuration's name, or `path=value, path=value` for a point of a sweep.
    pub configuration: String,
    /// What a reader must know beside its figures.
    pub note: Option<String>,
    /// The swept paths with this point's values, in the order of the sweep; empty for a named
    /// configuration.
    pub axes: Vec<(String, serde_json::Value)>,
    /// Name and configuration of each component, in the order of [`Scenario::components`].
    pub components: Vec<(String, ModelConfig)>,
}

/// How a scenario is run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSettings {
    /// The master seed of all random streams.
    pub seed: u64,
    /// Replications of each point, at least 1; with [`RunSettings::precision`], the fewest.
    pub replications: u64,
    /// How exactly a figure must be known before a point needs no more replications.
    pub precision: Option<Precision>,
    /// Which points share their random streams.
    pub seeding: Seeding,
    /// Whether replication 2k + 1 is the antithetic of 2k.
    pub antithetic: bool,
    /// Virtual time at which a replication that is still going ends.
    pub horizon: SimDuration,
    /// Events after which a replication that is still going ends.
    pub event_budget: u64,
    /// Confidence of all intervals, for instance 0.95.
    pub confidence: f64,
    /// Metrics of the main table; empty for each model's headline metrics.
    pub metrics: Vec<String>,
}

impl RunSettings {
    /// Whether replication r of one point can be compared with replication r of another, because
    /// they have the same random streams; if not, the points are independent of each other.
    #[must_use]
    pub fn pairs_points(&self) -> bool {
        self.seeding == Seeding::Common
    }

    /// How many successive replications belong together; those of different groups are independent.
    #[must_use]
    pub const fn group(&self) -> u64 {
        if self.antithetic { 2 } else { 1 }
    }
}

/// Which points share their random streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Seeding {
    /// Replication r of every point has the same streams (common random numbers), so that points
    /// are compared pair by pair and a difference shows with few replications.
    #[default]
    Common,
    /// Every point has its own streams, so that no two points have anything in common.
    Independent,
}

/// How exactly a figure must be known.
#[derive(Clone, Debug, PartialEq)]
pub struct Precision {
    /// Name of the metric's column.
    pub metric: String,
    /// Which figure over the replications: the mean or a quantile.
    pub statistic: Statistic,
    /// Half the width of the figure's interval, relative to the figure.
    pub relative: f64,
    /// Replications of a point after which it is given up.
    pub max_replications: u64,
}

/// A metric as a column of the results.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricColumn {
    /// The column's name: the metric's own in a scenario with one component, otherwise
    /// `component.metric`.
    pub name: String,
    /// Index of the component.
    pub component: usize,
    /// What it is.
    pub metric: Metric,
    /// For a part of another metric: the column of the whole.
    pub whole: Option<usize>,
}

impl MetricColumn {
    /// The column of the metric `name` of the same component, among `columns`.
    #[must_use]
    pub fn beside(&self, columns: &[Self], name: &str) -> Option<usize> {
        columns.iter().position(|c| c.component == self.component && c.metric.name == name)
    }

    /// The column which, where it has a figure, says that this one's is final.
    #[must_use]
    pub fn final_with(&self, columns: &[Self]) -> Option<usize> {
        self.beside(columns, self.metric.final_with?)
    }
}

/// A prediction that must hold, with where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Name of the point.
    pub configuration: String,
    /// Column of the metric.
    pub metric: String,
    /// Which figure over the replications.
    pub statistic: Statistic,
    /// Compare with the same figure of another configuration.
    pub relative_to: Option<RelativeTo>,
    /// The least value allowed, in the metric's unit.
    pub at_least: Option<f64>,
    /// The greatest value allowed, in the metric's unit.
    pub at_most: Option<f64>,
    /// The least and the greatest value that were measured, in the metric's unit.
    pub measured: Option<(f64, f64)>,
    /// Where the expected value comes from.
    pub source: String,
    /// Where it stands, `file:line`.
    pub origin: String,
}

/// Figures of the real system, one for each time that it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Name of the point.
    pub configuration: String,
    /// Column of the metric.
    pub metric: String,
    /// The values in the metric's unit, in rising order; at least one.
    pub values: Vec<f64>,
    /// Where they come from.
    pub source: String,
    /// Where they stand, `file:line`.
    pub origin: String,
}

/// A figure over replications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The mean.
    #[default]
    Mean,
    /// The median.
    P50,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The share of replications that did not converge; needs no metric.
    NotConverged,
    /// The mean of a metric that is 0 or 1 in each replication, which is a probability. Files and
    /// command lines call it the mean.
    #[serde(skip)]
    #[schemars(skip)]
    Probability,
}

impl Statistic {
    /// What it is of a metric in `unit`.
    #[must_use]
    pub const fn of(self, unit: Unit) -> Self {
        match (self, unit) {
            (Self::Mean, Unit::Probability) => Self::Probability,
            _ => self,
        }
    }

    /// Whether every value counts with its size, so that one without a bound leaves none.
    #[must_use]
    pub const fn sums(self) -> bool {
        matches!(self, Self::Mean | Self::Probability | Self::NotConverged)
    }
}

/// What an expectation compares with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelativeTo {
    /// The figure divided by that of the named configuration.
    Ratio(String),
    /// The figure less that of the named configuration.
    Difference(String),
    /// The same, in an ordering: it must be above 0, not at it.
    Above(String),
}

impl Scenario {
    /// All columns, component after component, in the order of each model's metrics.
    #[must_use]
    pub fn columns(&self) -> Vec<MetricColumn> {
        let qualified = self.components.len() > 1;
        let mut columns: Vec<MetricColumn> = Vec::new();
        for (component, (component_name, kind)) in self.components.iter().enumerate() {
            let first = columns.len();
            for metric in kind.metrics() {
                let name = if qualified {
                    format!("{component_name}.{}", metric.name)
                } else {
                    metric.name.to_owned()
                };
                let whole = metric.part_of.and_then(|whole| {
                    kind.metrics().iter().position(|m| m.name == whole).map(|index| first + index)
                });
                columns.push(MetricColumn { name, component, metric: *metric, whole });
            }
        }
        columns
    }
}
