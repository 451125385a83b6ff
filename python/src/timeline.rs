//! One replication, traced.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use pyo3::prelude::*;

use convsim::engine::trace::Lane;
use convsim::report::timeline::{Timeline, explain, text, write_chrome};

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
        let mut output = BufWriter::new(File::create(path)?);
        write_chrome(self.timeline(), &mut output)?;
        Ok(output.flush()?)
    }
}
