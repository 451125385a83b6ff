//! `results.csv`: a row for each point and replication.

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
    output: W,
    line: Vec<u8>,
    /// The first two fields of the point that the last row was of.
    point: Option<(usize, Vec<u8>)>,
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
        mut output: W,
    ) -> io::Result<Self> {
        let metrics = columns.iter().map(|column| column.name.as_str());
        let heading = FIRST_COLUMNS.into_iter().chain(metrics).chain(LAST_COLUMNS);
        output.write_all(&record(heading)?)?;
        Ok(Self { scenario, reached, output, line: Vec::new(), point: None })
    }

    /// The output, with everything written to it.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }

    /// Starts a line with what names the point, which many rows in a row share.
    fn start(&mut self, point: usize) -> io::Result<()> {
        self.line.clear();
        if let Some((known, fields)) = &self.point
            && *known == point
        {
            self.line.extend_from_slice(fields);
            return Ok(());
        }
        let of = &self.scenario.points[point];
        let mut fields = record([PointId(of.id).to_string().as_str(), &of.configuration])?;
        fields.pop();
        self.line.extend_from_slice(&fields);
        self.point = Some((point, fields));
        Ok(())
    }

    /// Adds a field that needs no quotation marks.
    fn plain(&mut self, value: impl std::fmt::Display) -> io::Result<()> {
        write!(self.line, ",{value}")
    }

    /// Adds a number, or nothing when it is not finite. This is where the time of a large file goes.
    fn number(&mut self, number: f64) -> io::Result<()> {
        self.line.push(b',');
        if number.is_finite() {
            Ok(serde_json::to_writer(&mut self.line, &number)?)
        } else {
            Ok(())
        }
    }
}

impl<W: Write> RowSink for ResultsCsv<'_, W> {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        self.start(row.point)?;
        self.plain(row.replication)?;
        self.plain(row.status.name())?;
        self.number(row.end.as_seconds())?;
        self.plain(row.events)?;
        self.plain(PointId(row.fingerprint))?;
        for &figure in &row.figures {
            self.number(figure)?;
        }
        self.line.push(b',');
        if let Some(message) = &row.message {
            let mut field = record([message.as_str()])?;
            field.pop();
            self.line.append(&mut field);
        }
        match self.reached.get(row.point).copied().flatten() {
            Some(reached) => self.plain(reached)?,
            None => self.line.push(b','),
        }
        self.line.push(b'\n');
        self.output.write_all(&self.line)
    }
}

/// Fields as a line of CSV.
fn record<'f>(fields: impl IntoIterator<Item = &'f str>) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(fields)?;
    writer.into_inner().map_err(|error| io::Error::other(error.to_string()))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_reads_back_as_itself(number: f64) {
            prop_assume!(number.is_finite());
            let text = serde_json::to_string(&number).unwrap();
            prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), number.to_bits());
        }
    }
}
