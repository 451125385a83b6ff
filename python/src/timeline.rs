//! One replication, traced.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use convsim::engine::trace::Lane;
use convsim::report::timeline::{Timeline, explain, text, write_chrome};

use crate::waiting::Failures;

/// What happened when in one replication.
#[pyclass(frozen, module = "convsim._convsim")]
pub struct Trace {
    pub components: Vec<String>,
    pub trace: convsim::engine::Trace,
    /// How the replication ended.
    #[pyo3(get)]
    pub status: &'static str,
    #[pyo3(get)]
    pub configuration: String,
    #[pyo3(get)]
    pub replication: u64,
    /// Whether it failed, and how.
    #[pyo3(get)]
    pub failures: Option<Failures>,
}

/// Component, lane, name, start and end (the same for an instant) in seconds, value.
type Entry = (String, String, &'static str, f64, f64, f64);

impl Trace {
    fn timeline(&self) -> Timeline<'_> {
        Timeline { components: &self.components, trace: &self.trace }
    }

    fn component(&self, index: u16) -> String {
        self.components.get(usize::from(index)).cloned().unwrap_or_default()
    }

    fn lane(&self, lane: Lane) -> String {
        let named = self.trace.lane_names.iter().find(|(known, _)| *known == lane);
        named.map_or_else(|| format!("lane {}", lane.lane), |(_, name)| name.clone())
    }
}

/// The exception for `error`, with the name of the file at fault, as Python's own functions raise it.
fn named(error: io::Error, path: PathBuf) -> PyErr {
    match error.raw_os_error() {
        Some(code) => {
            let text = error.to_string();
            let reason = text.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((code, reason, path.into_os_string()))
        }
        None => error.into(),
    }
}

#[pymethods]
impl Trace {
    /// What lasted.
    fn spans(&self) -> Vec<Entry> {
        let spans = self.trace.spans.iter().map(|span| {
            let (component, lane) = (self.component(span.lane.component), self.lane(span.lane));
            let (start, end) = (span.start.as_seconds(), span.end.as_seconds());
            (component, lane, span.name, start, end, span.value as f64)
        });
        spans.collect()
    }

    /// What happened at one instant.
    fn instants(&self) -> Vec<Entry> {
        let instants = self.trace.instants.iter().map(|instant| {
            let (component, lane) =
                (self.component(instant.lane.component), self.lane(instant.lane));
            let time = instant.time.as_seconds();
            (component, lane, instant.name, time, time, instant.value as f64)
        });
        instants.collect()
    }

    /// Levels, from an instant on.
    fn levels(&self) -> Vec<Entry> {
        let levels = self.trace.levels.iter().map(|level| {
            let time = level.time.as_seconds();
            (self.component(level.component), String::new(), level.name, time, time, level.value)
        });
        levels.collect()
    }

    /// What `convsim trace --text` prints.
    fn text(&self) -> String {
        text(self.timeline())
    }

    /// The longest chains of what was waited for, from cause to effect, as `convsim trace --explain`
    /// prints them.
    fn explain(&self, chains: usize) -> String {
        explain(self.timeline(), chains)
    }

    /// Writes the timeline for ui.perfetto.dev.
    fn write_chrome(&self, path: PathBuf) -> PyResult<()> {
        let written = File::create(&path).and_then(|file| {
            let mut output = BufWriter::new(file);
            write_chrome(self.timeline(), &mut output)?;
            output.flush()
        });
        written.map_err(|error| named(error, path))
    }
}
