//! `results.csv`: a row for each point and replication.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::experiment::{Row, RowSink};
use crate::scenario::{MetricColumn, Scenario};

/// Columns before the metrics.
pub const FIRST_COLUMNS: [&str; 7] =
    ["point", "configuration", "replication", "status", "end_time", "events", "fingerprint"];
/// Columns after the metrics: what went wrong in a replication that failed, and, where a precision
/// is asked for, whether its point reached it.
pub const LAST_COLUMNS: [&str; 2] = ["message", "precision_reached"];

/// Streams rows as CSV. Numbers have the shortest text that reads back as the same number; a figure
/// that did not come about is empty.
pub struct ResultsCsv<'s, W: Write> {
    scenario: &'s Scenario,
    reached: &'s [Option<bool>],
    writer: csv::Writer<W>,
    text: String,
}

impl<'s, W: Write> ResultsCsv<'s, W> {
    /// Writes the heading to `output`. `reached` says for each point whether the precision asked for
    /// was reached.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn new(
        scenario: &'s Scenario,
        columns: &[MetricColumn],
        reached: &'s [Option<bool>],
        output: W,
    ) -> io::Result<Self> {
        let mut writer = csv::Writer::from_writer(output);
        let metrics = columns.iter().map(|column| column.name.as_str());
        writer.write_record(FIRST_COLUMNS.into_iter().chain(metrics).chain(LAST_COLUMNS))?;
        Ok(Self { scenario, reached, writer, text: String::new() })
    }

    /// The output, with everything written to it.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(self) -> io::Result<W> {
        self.writer.into_inner().map_err(|error| io::Error::other(error.to_string()))
    }

    fn field(&mut self, value: impl std::fmt::Display) -> io::Result<()> {
        self.text.clear();
        // Writing to a String does not fail.
        let _ = write!(self.text, "{value}");
        Ok(self.writer.write_field(&self.text)?)
    }
}

impl<W: Write> RowSink for ResultsCsv<'_, W> {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        let point = &self.scenario.points[row.point];
        self.field(PointId(point.id))?;
        self.writer.write_field(&point.configuration)?;
        self.field(row.replication)?;
        self.writer.write_field(row.status.name())?;
        self.field(Number(row.end.as_seconds()))?;
        self.field(row.events)?;
        self.field(PointId(row.fingerprint))?;
        for &figure in &row.figures {
            self.field(Number(figure))?;
        }
        self.writer.write_field(row.message.as_deref().unwrap_or_default())?;
        let reached = self.reached.get(row.point).copied().flatten();
        self.writer.write_field(reached.map_or(
            "",
            |reached| {
                if reached { "true" } else { "false" }
            },
        ))?;
        Ok(self.writer.write_record(None::<&[u8]>)?)
    }
}

/// A 64-bit hash as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug)]
pub struct PointId(pub u64);

impl std::fmt::Display for PointId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

/// A number with the shortest text that reads back as the same; nothing when it is not finite.
#[derive(Clone, Copy, Debug)]
pub struct Number(pub f64);

impl std::fmt::Display for Number {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_finite() { write!(formatter, "{:?}", self.0) } else { Ok(()) }
    }
}
