//! One side of a comparison: figures that are simulated, or that were stored.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::experiment::bounds::KnownValues;
use crate::experiment::comparison::Compared;
use crate::experiment::store::seed_scheme;
use crate::experiment::{self, Batch, KeptValues, RowSink, Status};
use crate::models::Unit;
use crate::report::main_columns;
use crate::report::stored::{Stored, StoredPoint};
use crate::scenario::{MetricColumn, Scenario};
use serde_json::Value;

use super::super::arguments::Running;
use super::super::error::{CliError, Problem};
use super::super::progress::Progress;

/// Figures with what tells whether they can be paired with others.
#[derive(Clone, Debug)]
pub struct Side {
    /// By metric.
    pub figures: Vec<Figures>,
    /// Names of the points.
    points: Vec<String>,
    /// The master seed and how streams come from it; none if replications share nothing.
    seed: Option<(u64, String)>,
    /// Replications that failed with a fault in a model.
    pub failed: u64,
    /// The version that made them.
    pub version: String,
    /// Of the intervals.
    pub confidence: f64,
}

/// The figures of one metric.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Its name.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// Whether it is in the main table.
    pub main: bool,
    /// By point, by replication.
    pub values: Vec<KnownValues>,
    /// The same, of antithetic pairs their means: what is independent of each other.
    pub means: Vec<KnownValues>,
    /// How many of the values in a row belong together.
    pub group: usize,
}

impl Figures {
    fn new(metric: String, unit: Unit, main: bool, values: Vec<KnownValues>, group: usize) -> Self {
        let means = values.iter().map(|values| values.group_means(group)).collect();
        Self { metric, unit, main, values, means, group }
    }
}

impl Side {
    /// Runs `points` of `scenario` for the metrics of the main table and `more`.
    pub fn simulate(
        scenario: &Scenario,
        points: &[usize],
        more: &[&str],
        running: &Running,
    ) -> Result<Self, CliError> {
        let columns = scenario.columns();
        let main = main_columns(scenario, &columns);
        let mut needed = main.clone();
        for name in more {
            let known = || columns.iter().map(|column| column.name.as_str());
            let column = known().position(|known| known == *name);
            needed.push(column.ok_or_else(|| unknown_metric(name, known()))?);
        }
        // In the order of the main table, each once.
        let mut seen = HashSet::new();
        needed.retain(|column| seen.insert(*column));
        let mut kept = KeptValues::of(&scenario.run, &columns, points, &needed);
        let replications = scenario.run.replications;
        let batches: Vec<Batch> =
            kept.points().map(|point| Batch { point, replications: 0..replications }).collect();
        let total = batches.len() as u64 * replications;
        let mut progress = Progress::new(running.progress, &scenario.name, total);
        let sinks: &mut [&mut dyn RowSink] = &mut [&mut kept, &mut progress];
        let result = experiment::run(scenario, &batches, running.threads(), sinks);
        progress.finish();
        result.map_err(Problem::Start)?;
        let group = scenario.run.group() as usize;
        let figures = |&column: &usize| {
            let MetricColumn { name, metric, .. } = &columns[column];
            let values = points.iter().map(|&point| kept.known(point, column)).collect();
            Figures::new(name.clone(), metric.unit, main.contains(&column), values, group)
        };
        let name = |&point: &usize| scenario.points[point].configuration.clone();
        Ok(Self {
            figures: needed.iter().map(figures).collect(),
            points: points.iter().map(name).collect(),
            seed: seed_of(&scenario.resolved, scenario.run.seed, &seed_scheme(&scenario.run)),
            failed: kept.failed(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            confidence: scenario.run.confidence,
        })
    }

    /// Reads the results in `folder`.
    pub fn stored(folder: &Path, more: &[&str]) -> Result<Self, CliError> {
        let stored = Stored::read(folder).map_err(Problem::Stored)?;
        let main: Vec<String> = stored.main_columns().iter().map(|c| c.name.clone()).collect();
        let mut names = main.clone();
        names.extend(more.iter().map(|name| (*name).to_owned()));
        let all = || stored.summary.columns.iter();
        for name in more {
            if !all().any(|column| column.name == *name) {
                return Err(unknown_metric(name, all().map(|column| column.name.as_str())));
            }
        }
        let values = stored.values_of(folder, &names).map_err(Problem::Stored)?;
        let manifest = &stored.manifest;
        let antithetic = manifest.pointer("/run/antithetic").and_then(Value::as_bool);
        let group = if antithetic == Some(true) { 2 } else { 1 };
        let mut columns: Vec<_> = all().filter(|column| names.contains(&column.name)).collect();
        columns.sort_by_key(|column| names.iter().position(|name| *name == column.name));
        let figures = columns.into_iter().map(|column| {
            let of = |point: &HashMap<String, KnownValues>| {
                point.get(&column.name).cloned().unwrap_or_default()
            };
            let (name, main) = (column.name.clone(), main.contains(&column.name));
            Figures::new(name, column.unit(), main, values.iter().map(of).collect(), group)
        });
        let text = |key: &str| manifest.get(key).and_then(Value::as_str).unwrap_or("?").to_owned();
        let seed = manifest.pointer("/run/seed").and_then(Value::as_u64);
        let resolved = manifest.get("resolved").unwrap_or(&Value::Null);
        let points = &stored.summary.points;
        let count = |point: &StoredPoint, kind: fn(Status) -> bool| -> u64 {
            let statuses = Status::ALL.into_iter().filter(|status| kind(*status));
            statuses.map(|of| point.count(of)).sum()
        };
        Ok(Self {
            figures: figures.collect(),
            points: points.iter().map(|point| point.configuration.clone()).collect(),
            seed: seed.and_then(|seed| seed_of(resolved, seed, &text("seed_scheme"))),
            failed: points.iter().map(|point| count(point, Status::is_failure)).sum(),
            version: text("convsim"),
            confidence: stored.summary.confidence,
        })
    }

    /// The same figures, whose failures are counted elsewhere.
    pub fn without_failures(mut self) -> Self {
        self.failed = 0;
        self
    }

    /// Names of the points.
    pub fn names(&self) -> Vec<String> {
        self.points.clone()
    }

    /// The figures of a metric.
    pub fn figures(&self, metric: &str) -> Option<&Figures> {
        self.figures.iter().find(|figures| figures.metric == metric)
    }

    /// How many replications each of the values that were compared stands for.
    pub fn replications_of(&self, compared: &Compared) -> u64 {
        let group = self.figures(&compared.metric).map_or(1, |figures| figures.group);
        if compared.unit == Unit::Probability { 1 } else { group as u64 }
    }

    /// Whether replications are antithetic.
    pub fn is_antithetic(&self) -> bool {
        self.figures.iter().any(|figures| figures.group > 1)
    }

    /// Whether replication r of both has the same random numbers.
    pub fn shares_numbers_with(&self, other: &Self) -> bool {
        self.seed.is_some() && self.seed == other.seed
    }
}

/// The seed with its scheme; none where every point has streams of its own.
fn seed_of(resolved: &Value, seed: u64, scheme: &str) -> Option<(u64, String)> {
    let seeding = resolved.pointer("/run/seeding").and_then(Value::as_str);
    (seeding != Some("independent")).then(|| (seed, scheme.to_owned()))
}

fn unknown_metric<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> CliError {
    let known: Vec<&str> = known.collect();
    Problem::UnknownMetric { name: name.to_owned(), known: known.join(", ") }.into()
}
