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
    line: Line,
    /// The line before.
    before: Line,
    /// The first two fields of the point that the last row was of.
    point: Option<(usize, Vec<u8>)>,
}

/// A line with the place of each figure in it.
#[derive(Default)]
struct Line {
    text: Vec<u8>,
    /// The bits of each figure.
    figures: Vec<u64>,
    /// Where the text of each ends. It starts, with its comma, where the one before ends.
    ends: Vec<usize>,
    /// Where the text of the first starts.
    start: usize,
}

impl Line {
    fn start_of(&self, column: usize) -> usize {
        column.checked_sub(1).map_or(self.start, |before| self.ends[before])
    }

    /// Adds a field that needs no quotation marks.
    fn plain(&mut self, value: &str) {
        self.text.push(b',');
        self.text.extend_from_slice(value.as_bytes());
    }

    fn whole_number(&mut self, number: u64) -> io::Result<()> {
        self.text.push(b',');
        Ok(serde_json::to_writer(&mut self.text, &number)?)
    }

    /// As [`PointId`] has it.
    fn hash(&mut self, hash: u64) {
        let digit = |place: u32| b"0123456789abcdef"[(hash >> (4 * place)) as usize & 15];
        self.text.push(b',');
        self.text.extend((0..16).rev().map(digit));
    }

    /// Adds a number, or nothing when it is not finite. This is where the time of a large file goes.
    fn number(&mut self, number: f64) -> io::Result<()> {
        self.text.push(b',');
        if number.is_finite() {
            Ok(serde_json::to_writer(&mut self.text, &number)?)
        } else {
            Ok(())
        }
    }

    /// Adds all figures. What has the bits of the same figure of the line `before`, or of the figure
    /// before, has its text, too: that is so for most.
    fn add_figures(&mut self, figures: &[f64], before: &Self) -> io::Result<()> {
        self.start = self.text.len();
        self.figures.clear();
        self.figures.extend(figures.iter().map(|figure| figure.to_bits()));
        self.ends.clear();
        while let Some(&figure) = figures.get(self.ends.len()) {
            let column = self.ends.len();
            let pairs = self.figures[column..].iter().zip(before.figures.iter().skip(column));
            let same = pairs.take_while(|(now, then)| now == then).count();
            if same > 0 {
                let (from, to) = (before.start_of(column), before.ends[column + same - 1]);
                let at = self.text.len();
                self.text.extend_from_slice(&before.text[from..to]);
                let ends = &before.ends[column..column + same];
                self.ends.extend(ends.iter().map(|end| at + end - from));
                continue;
            }
            match column.checked_sub(1) {
                Some(left) if self.figures[left] == self.figures[column] => {
                    self.text.extend_from_within(self.start_of(left)..self.ends[left]);
                }
                _ => self.number(figure)?,
            }
            self.ends.push(self.text.len());
        }
        Ok(())
    }
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
        let (line, before) = (Line::default(), Line::default());
        Ok(Self { scenario, reached, output, line, before, point: None })
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
        std::mem::swap(&mut self.line, &mut self.before);
        self.line.text.clear();
        if let Some((known, fields)) = &self.point
            && *known == point
        {
            self.line.text.extend_from_slice(fields);
            return Ok(());
        }
        let of = &self.scenario.points[point];
        let mut fields = record([PointId(of.id).to_string().as_str(), &of.configuration])?;
        fields.pop();
        self.line.text.extend_from_slice(&fields);
        self.point = Some((point, fields));
        Ok(())
    }
}

impl<W: Write> RowSink for ResultsCsv<'_, W> {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        self.start(row.point)?;
        let Self { line, before, .. } = self;
        line.whole_number(row.replication)?;
        line.plain(row.status.name());
        line.number(row.end.as_seconds())?;
        line.whole_number(row.events)?;
        line.hash(row.fingerprint);
        line.add_figures(&row.figures, before)?;
        line.text.push(b',');
        if let Some(message) = &row.message {
            let mut field = record([message.as_str()])?;
            field.pop();
            line.text.append(&mut field);
        }
        match self.reached.get(row.point).copied().flatten() {
            Some(reached) => line.plain(if reached { "true" } else { "false" }),
            None => line.text.push(b','),
        }
        line.text.push(b'\n');
        self.output.write_all(&line.text)
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

    use super::*;

    /// The text of each of `rows` of figures.
    fn texts(rows: &[Vec<f64>]) -> Vec<String> {
        let (mut line, mut before) = (Line::default(), Line::default());
        let text = |figures: &Vec<f64>| {
            std::mem::swap(&mut line, &mut before);
            line.text.clear();
            line.text.extend_from_slice(b"first");
            line.add_figures(figures, &before).unwrap();
            String::from_utf8(line.text.clone()).unwrap()
        };
        rows.iter().map(text).collect()
    }

    #[test]
    fn a_hash_is_written_as_it_is_shown() {
        for hash in [0, 1, 0x0123_4567_89ab_cdef, u64::MAX] {
            let mut line = Line::default();
            line.hash(hash);
            assert_eq!(String::from_utf8(line.text).unwrap(), format!(",{}", PointId(hash)));
        }
    }

    proptest! {
        #[test]
        fn a_figure_has_the_same_text_whatever_stands_around_it(
            rows in proptest::collection::vec(
                proptest::collection::vec(
                    prop_oneof![Just(0.0), Just(-0.0), Just(1.5), Just(f64::NAN), any::<f64>()],
                    0..6,
                ),
                0..12,
            ),
        ) {
            let number = |figure: &f64| {
                let finite = figure.is_finite();
                let text = if finite { serde_json::to_string(figure).unwrap() } else { String::new() };
                format!(",{text}")
            };
            for (figures, text) in rows.iter().zip(texts(&rows)) {
                let alone: String = figures.iter().map(number).collect();
                prop_assert_eq!(text, format!("first{alone}"));
            }
        }

        #[test]
        fn a_number_reads_back_as_itself(number: f64) {
            prop_assume!(number.is_finite());
            let text = serde_json::to_string(&number).unwrap();
            prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), number.to_bits());
        }
    }
}
