//! The extension module of the Python package `convsim`: what has to be Rust, as plain values. The
//! rest, data frames above all, is Python in `python/convsim`.
//!
//! - `loaded`: a scenario, and what can be done with it.
//! - `columns`: rows as NumPy arrays, a whole column at a time.
//! - `waiting`: work on other threads while this one waits for it and for Ctrl-C.
//! - `timeline`: one replication, traced.
//! - `errors`: what is refused, as exceptions.

mod columns;
mod errors;
mod loaded;
mod timeline;
mod waiting;

use std::ffi::OsString;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use convsim::experiment::MetricSummary;
use convsim::front::Refused;
use convsim::models::Unit;
use convsim::scenario::GivenFiles;
use convsim::statistics::Estimate;

use loaded::Loaded;
use waiting::{Failures, wait_for};

/// Does what the command line `words` asks for; gives the exit code and what is to be told on
/// stderr. With `signals` Ctrl-C and SIGTERM are the command's, otherwise the program's. With
/// `files`, `run` reads these in place of this machine's.
#[pyfunction]
#[pyo3(signature = (words, signals=false, files=None))]
fn execute(
    py: Python<'_>,
    words: Vec<OsString>,
    signals: bool,
    files: Option<GivenFiles>,
) -> (u8, String) {
    let ended = py.detach(|| match files {
        Some(files) => convsim::front::execute_with(words, files),
        None if signals => convsim::execute(words),
        None => convsim::execute_within(words),
    });
    (ended.code, ended.errors)
}

/// The scenario that the words of a command line `convsim run` ask for.
#[pyfunction]
fn load(py: Python<'_>, words: Vec<OsString>) -> PyResult<Loaded> {
    let asked = wait_for(py, None, move |_| convsim::front::ask(words))?;
    Ok(Loaded::new(asked.map_err(|refused| errors::exception(py, &refused))?))
}

/// What `convsim solve --format json` prints for the words of its command line, and what failed.
#[pyfunction]
#[pyo3(signature = (words, progress=None))]
fn solve(
    py: Python<'_>,
    words: Vec<OsString>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Option<Failures>)> {
    let answered = wait_for(py, progress, move |mut watch| {
        let question = convsim::front::question(words)?;
        let answer = question.answer(&mut watch)?;
        Ok((answer.to_string(), watch.failures(question.scenario())))
    })?;
    answered.map_err(|refused: Refused| errors::exception(py, &refused))
}

/// The figures of `summary.csv` for the values of one point, replication by replication, of which so
/// many in a row as `group` says belong together: of 0 and 1 with the interval of a `probability`. How many are numbers, mean, standard deviation,
/// minimum, p50, p95, p99, maximum; a figure with an interval is (value, low, high).
#[pyfunction]
#[allow(clippy::type_complexity)]
fn summarise(
    values: PyReadonlyArray1<'_, f64>,
    confidence: f64,
    group: u64,
    probability: bool,
) -> (u64, [f64; 3], f64, f64, [f64; 3], [f64; 3], [f64; 3], f64) {
    let values = values.as_array().iter().copied().collect();
    let unit = if probability { Unit::Probability } else { Unit::Count };
    let summary = MetricSummary::of_unit(unit, values, confidence, group.max(1));
    let ends = |e: Estimate| [e.value, e.interval.low, e.interval.high];
    let MetricSummary { count, mean, standard_deviation, min, p50, p95, p99, max, .. } = summary;
    (count, ends(mean), standard_deviation, min, ends(p50), ends(p95), ends(p99), max)
}

#[pymodule]
fn _convsim(module: &Bound<'_, PyModule>) -> PyResult<()> {
    convsim::experiment::keep_model_panics_quiet();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Loaded>()?;
    module.add_class::<timeline::Trace>()?;
    errors::add_to(module)?;
    module.add_function(wrap_pyfunction!(execute, module)?)?;
    module.add_function(wrap_pyfunction!(load, module)?)?;
    module.add_function(wrap_pyfunction!(solve, module)?)?;
    module.add_function(wrap_pyfunction!(summarise, module)?)
}
