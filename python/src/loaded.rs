//! A scenario, and what can be done with it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};

use convsim::experiment::comparison::{Pairing, Sides, compare};
use convsim::experiment::expectation::settle_expectations;
use convsim::experiment::precision::settle_replications;
use convsim::experiment::{self, Batch, KeptValues, RowSink, Verdict, replay, shard};
use convsim::front::{self, Asked};
use convsim::models::Unit;
use convsim::report::main_columns;
use convsim::scenario::{Point, RelativeTo, Scenario, Seeding, Statistic};
use convsim::statistics::{Estimate, Sense};

use crate::columns::Columns;
use crate::errors::{ConvsimError, exception};
use crate::timeline::Trace;
use crate::waiting::{Failures, Watch, wait_for};

/// A scenario as it is to be run.
#[pyclass(frozen, module = "convsim._convsim")]
pub struct Loaded {
    scenario: Arc<Scenario>,
    /// On how many threads it is run.
    #[pyo3(get)]
    threads: usize,
}

/// Name, unit, whether it is a headline metric, the metric that it is a part of, what it is.
type MetricEntry = (String, &'static str, bool, Option<String>, &'static str);
/// A value with both ends of its interval.
type Figure = [f64; 3];

impl Loaded {
    pub fn new(asked: Asked) -> Self {
        Self { scenario: Arc::new(asked.scenario), threads: asked.threads }
    }

    /// Runs `batches` and gives the figures of `columns` at `points`.
    fn kept(
        &self,
        py: Python<'_>,
        threads: usize,
        progress: Option<&Bound<'_, PyAny>>,
        points: &[usize],
        columns: &[usize],
    ) -> PyResult<(KeptValues, Option<Failures>)> {
        let mut kept =
            KeptValues::of(&self.scenario.run, &self.scenario.columns(), points, columns);
        let replications = self.scenario.run.replications;
        let batches: Vec<Batch> =
            kept.points().map(|point| Batch { point, replications: 0..replications }).collect();
        let scenario = Arc::clone(&self.scenario);
        let result = wait_for(py, progress, move |mut watch| {
            watch.expect_batches(&batches);
            let sinks: &mut [&mut dyn RowSink] = &mut [&mut kept, &mut watch];
            experiment::run(&scenario, &batches, threads, sinks)?;
            Ok((kept, watch.failures(&scenario)))
        })?;
        ran(py, result)
    }
}

/// What came out, or why it could not be run.
fn ran<T>(py: Python<'_>, result: io::Result<T>) -> PyResult<T> {
    result.map_err(|error| exception(py, &front::not_run(error)))
}

/// Runs all that the scenario asks for.
fn run_all(scenario: &Scenario, threads: usize, mut watch: Watch) -> io::Result<Columns> {
    let mut columns = Columns::new(scenario.columns().len());
    let settled = settle_replications(scenario, |batches, sink| {
        watch.expect_batches(batches);
        let mut sinks: Vec<&mut dyn RowSink> = vec![&mut columns, &mut watch];
        if let Some(sink) = sink {
            sinks.push(sink);
        }
        experiment::run(scenario, batches, threads, &mut sinks)
    })?;
    columns.settle(settled.reached);
    columns.failures = watch.failures(scenario);
    Ok(columns)
}

#[pymethods]
impl Loaded {
    #[getter]
    fn name(&self) -> &str {
        &self.scenario.name
    }

    #[getter]
    fn description(&self) -> &str {
        &self.scenario.description
    }

    #[getter]
    fn sources(&self) -> Vec<String> {
        self.scenario.sources.clone()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.scenario.warnings.clone()
    }

    #[getter]
    fn files(&self) -> Vec<PathBuf> {
        self.scenario.files.clone()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.scenario.run.seed
    }

    #[getter]
    fn replications(&self) -> u64 {
        self.scenario.run.replications
    }

    /// How many successive replications belong together.
    #[getter]
    fn group(&self) -> u64 {
        self.scenario.run.group()
    }

    #[getter]
    fn confidence(&self) -> f64 {
        self.scenario.run.confidence
    }

    /// How many points.
    fn __len__(&self) -> usize {
        self.scenario.points.len()
    }

    /// Names of the points.
    #[getter]
    fn configurations(&self) -> Vec<String> {
        self.scenario.points.iter().map(|point| point.configuration.clone()).collect()
    }

    /// The whole file after `extends` and changes, as JSON.
    fn resolved(&self, py: Python<'_>) -> String {
        py.detach(|| self.scenario.resolved.to_string())
    }

    /// What `convsim plan --format json` prints.
    fn plan(&self, py: Python<'_>) -> PyResult<String> {
        let scenario = Arc::clone(&self.scenario);
        wait_for(py, None, move |_| front::plan(&scenario).to_string())
    }

    /// Of each point its identity, its name and the values that are swept, by path, as JSON.
    fn points(&self, py: Python<'_>) -> PyResult<String> {
        let scenario = Arc::clone(&self.scenario);
        wait_for(py, None, move |_| {
            let point = |point: &Point| {
                let axes: Map<String, Value> = point.axes.iter().cloned().collect();
                json!([format!("{:016x}", point.id), point.configuration, axes])
            };
            scenario.points.iter().map(point).collect::<Value>().to_string()
        })
    }

    fn metrics(&self) -> Vec<MetricEntry> {
        let columns = self.scenario.columns();
        let entry = |column: &convsim::scenario::MetricColumn| {
            let whole = column.whole.map(|whole| columns[whole].name.clone());
            let metric = &column.metric;
            (column.name.clone(), metric.unit.symbol(), metric.headline, whole, metric.summary)
        };
        columns.iter().map(entry).collect()
    }

    /// Every row, as columns.
    #[pyo3(signature = (threads, progress=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        threads: usize,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let scenario = Arc::clone(&self.scenario);
        let columns = wait_for(py, progress, move |watch| run_all(&scenario, threads, watch))?;
        ran(py, columns)?.into_dict(py, &self.scenario.columns())
    }

    /// What became of the expectations, in the order of the file, and what failed.
    #[pyo3(signature = (threads, progress=None))]
    fn check<'py>(
        &self,
        py: Python<'py>,
        threads: usize,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Vec<Bound<'py, PyDict>>, Option<Failures>)> {
        let scenario = Arc::clone(&self.scenario);
        let judged = wait_for(py, progress, move |mut watch| {
            let columns = scenario.columns();
            let judged = settle_expectations(&scenario, &columns, |batches, kept| {
                watch.expect_batches(batches);
                let sinks: &mut [&mut dyn RowSink] = &mut [kept, &mut watch];
                experiment::run(&scenario, batches, threads, sinks)
            })?;
            Ok((judged.0, watch.failures(&scenario)))
        })?;
        let (judgements, failures) = ran(py, judged)?;
        let mut entries = Vec::new();
        for (expectation, judgement) in self.scenario.expectations.iter().zip(judgements) {
            let entry = PyDict::new(py);
            entry.set_item("configuration", &expectation.configuration)?;
            let metric = (expectation.statistic != Statistic::NotConverged)
                .then_some(expectation.metric.as_str());
            entry.set_item("metric", metric)?;
            entry.set_item("statistic", statistic(expectation.statistic))?;
            let (ratio_to, difference_to, above) = match &expectation.relative_to {
                None => (None, None, None),
                Some(RelativeTo::Ratio(name)) => (Some(name), None, None),
                Some(RelativeTo::Difference(name)) => (None, Some(name), None),
                Some(RelativeTo::Above(name)) => (None, None, Some(name)),
            };
            entry.set_item("ratio_to", ratio_to)?;
            entry.set_item("difference_to", difference_to)?;
            entry.set_item("above", above)?;
            entry.set_item("at_least", expectation.at_least)?;
            entry.set_item("at_most", expectation.at_most)?;
            let [value, low, high] = figure(judgement.got);
            entry.set_item("value", value)?;
            entry.set_item("low", low)?;
            entry.set_item("high", high)?;
            entry.set_item("verdict", verdict(judgement.verdict))?;
            entry.set_item("replications", judgement.replications)?;
            entry.set_item("source", &expectation.source)?;
            entry.set_item("origin", &expectation.origin)?;
            entries.push(entry);
        }
        Ok((entries, failures))
    }

    /// Metric, pairs, first, second, difference, ratio, corrected p value; and what failed.
    #[pyo3(signature = (first, second, metrics, threads, progress=None))]
    #[allow(clippy::type_complexity)]
    fn compare(
        &self,
        py: Python<'_>,
        first: &str,
        second: &str,
        metrics: Option<Vec<String>>,
        threads: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Vec<(String, [u64; 2], Figure, Figure, Figure, Figure, f64)>, Option<Failures>)>
    {
        let point = |name| front::point(&self.scenario, name).map_err(|e| exception(py, &e));
        let (first, second) = (point(first)?, point(second)?);
        let columns = self.scenario.columns();
        let chosen = match metrics {
            None => main_columns(&self.scenario, &columns),
            Some(names) => {
                let find = |name| front::column(&columns, name).map_err(|e| exception(py, &e));
                names.iter().map(|name| find(name)).collect::<PyResult<_>>()?
            }
        };
        let (kept, failures) = self.kept(py, threads, progress, &[first, second], &chosen)?;
        let group = self.scenario.run.group() as usize;
        let probability = |column: usize| columns[column].metric.unit == Unit::Probability;
        // What is independent of each other; of probabilities the values themselves.
        let means = |point| {
            let size = |column| if probability(column) { 1 } else { group };
            let of = |&column: &usize| kept.known(point, column).group_means(size(column));
            chosen.iter().map(of).collect::<Vec<_>>()
        };
        let (of_first, of_second) = (means(first), means(second));
        let sides: Vec<Sides<'_>> = chosen
            .iter()
            .zip(of_first.iter().zip(&of_second))
            .map(|(&column, (first, second))| Sides {
                metric: &columns[column].name,
                unit: columns[column].metric.unit,
                first,
                second,
                groups: if probability(column) { [group, group] } else { [1, 1] },
            })
            .collect();
        let run = &self.scenario.run;
        let pairing = match run.seeding {
            Seeding::Common => Pairing::Paired,
            Seeding::Independent => Pairing::Independent,
        };
        let compared = compare(&sides, pairing, run.confidence).into_iter().map(|c| {
            // A bound is no figure: of what was cut off only the interval tells.
            let told = |estimate: Estimate| match estimate.sense {
                Sense::Whole => figure(estimate),
                _ => figure(Estimate { value: f64::NAN, ..estimate }),
            };
            let cut: u64 = c.cut.iter().sum();
            let (first, second) = (told(c.first), told(c.second));
            (c.metric, [c.pairs, cut], first, second, told(c.difference), told(c.ratio), c.p_value)
        });
        Ok((compared.collect(), failures))
    }

    /// One replication again, with a record of what happened when.
    #[pyo3(signature = (configuration, replication))]
    fn trace(
        &self,
        py: Python<'_>,
        configuration: Option<&str>,
        replication: u64,
    ) -> PyResult<Trace> {
        let point = match configuration {
            None => 0,
            Some(name) => front::point(&self.scenario, name).map_err(|e| exception(py, &e))?,
        };
        let scenario = Arc::clone(&self.scenario);
        let (row, trace, failures) = wait_for(py, None, move |mut watch| {
            let (row, trace) = replay(&scenario, point, replication);
            // A watch that nobody wants any more takes no row, and nobody asks what failed.
            let _ = watch.row(&row);
            (row, trace, watch.failures(&scenario))
        })?;
        let components = &self.scenario.components;
        Ok(Trace {
            components: components.iter().map(|(name, _)| name.clone()).collect(),
            trace,
            status: row.status.name(),
            configuration: self.scenario.points[point].configuration.clone(),
            replication,
            failures,
        })
    }

    /// Raises if `folder`, the scenario's folder of results, has rows with which parts of the scenario
    /// could not be merged.
    fn refuse_others(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        let refused = py.detach(|| front::refuse_others(&folder, &self.scenario));
        refused.map_err(|error| exception(py, &error))
    }

    /// Whether `folder` has every row of the part `part`, for instance "3/8".
    fn has_part(&self, py: Python<'_>, folder: PathBuf, part: &str) -> PyResult<bool> {
        let part = part.parse().map_err(ConvsimError::new_err)?;
        let complete = py.detach(|| shard::is_complete(&folder, &self.scenario, part));
        complete.map_err(|error| exception(py, &front::rows_refused(&folder, error)))
    }
}

fn figure(estimate: Estimate) -> Figure {
    [estimate.value, estimate.interval.low, estimate.interval.high]
}

fn statistic(statistic: Statistic) -> String {
    let name = serde_json::to_value(statistic).ok();
    name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Held => "held",
        Verdict::Missed => "missed",
        Verdict::Undecided => "undecided",
        Verdict::Skipped => "skipped",
    }
}
