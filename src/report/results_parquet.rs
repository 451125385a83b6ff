//! `results.parquet`: the same rows as `results.csv`, with types.
//!
//! Rows are collected into groups of bounded size and written column by column, so memory does not
//! grow with their number. The bytes depend on the rows only.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};

use super::manifest::scenario_hash;
use super::results_csv::{FIRST_COLUMNS, LAST_COLUMNS, PointId};
use crate::experiment::store::seed_scheme;
use crate::experiment::{Row, RowSink, Status};
use crate::scenario::{MetricColumn, Scenario};

/// Version of the format, as `convsim.format` in the metadata.
pub const VERSION: u32 = 1;

/// Most rows of a group.
const GROUP_ROWS: usize = 1 << 16;
/// Most figures of a group; they take 8 bytes each.
const GROUP_FIGURES: usize = 1 << 21;

/// Streams rows as Parquet. A figure that did not come about is null.
pub struct ResultsParquet<'s, W: Write + Send> {
    scenario: &'s Scenario,
    reached: &'s [Option<bool>],
    writer: SerializedFileWriter<W>,
    group: Group,
    most_rows: usize,
    /// The name of each status, in the order of [`Status::ALL`].
    statuses: [ByteArray; Status::ALL.len()],
    /// The texts of the point that the last row was of.
    point: Option<(usize, ByteArray, ByteArray)>,
}

/// Rows that are not written yet, column by column.
#[derive(Default)]
struct Group {
    points: Vec<ByteArray>,
    configurations: Vec<ByteArray>,
    replications: Vec<i64>,
    statuses: Vec<ByteArray>,
    end_times: Vec<f64>,
    events: Vec<i64>,
    fingerprints: Vec<i64>,
    figures: Vec<Optional<f64>>,
    messages: Optional<ByteArray>,
    reached: Optional<bool>,
}

/// Values that may be null.
struct Optional<T> {
    /// 1 where there is a value, 0 for null; nothing as long as there are only values.
    levels: Vec<i16>,
    values: Vec<T>,
}

impl<T> Default for Optional<T> {
    fn default() -> Self {
        Self { levels: Vec::new(), values: Vec::new() }
    }
}

impl<T> Optional<T> {
    fn push(&mut self, value: Option<T>) {
        match value {
            Some(value) => {
                self.values.push(value);
                if !self.levels.is_empty() {
                    self.levels.push(1);
                }
            }
            None => {
                if self.levels.is_empty() {
                    self.levels.resize(self.values.len(), 1);
                }
                self.levels.push(0);
            }
        }
    }

    /// The levels; `all` has as many ones as there are rows.
    fn levels<'l>(&'l self, all: &'l [i16]) -> &'l [i16] {
        if self.levels.is_empty() { all } else { &self.levels }
    }

    fn clear(&mut self) {
        self.levels.clear();
        self.values.clear();
    }
}

impl<'s, W: Write + Send> ResultsParquet<'s, W> {
    /// Starts the file in `output`. `reached` says for each point whether the precision asked for was
    /// reached.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn new(
        scenario: &'s Scenario,
        columns: &[MetricColumn],
        reached: &'s [Option<bool>],
        output: W,
    ) -> io::Result<Self> {
        let schema = schema(columns).map_err(error)?;
        let writer =
            SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties(scenario)))
                .map_err(error)?;
        let group = Group {
            figures: columns.iter().map(|_| Optional::default()).collect(),
            ..Group::default()
        };
        let most_rows = (GROUP_FIGURES / columns.len().max(1)).clamp(1, GROUP_ROWS);
        let statuses = Status::ALL.map(|status| text(status.name()));
        Ok(Self { scenario, reached, writer, group, most_rows, statuses, point: None })
    }

    /// The output, with everything written to it.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_group()?;
        self.writer.into_inner().map_err(error)
    }

    fn write_group(&mut self) -> io::Result<()> {
        if self.group.points.is_empty() {
            return Ok(());
        }
        let mut rows = self.writer.next_row_group().map_err(error)?;
        self.group.write(&mut rows).map_err(error)?;
        rows.close().map_err(error)?;
        self.group.clear();
        Ok(())
    }

    /// Identity and name of a point, which many rows in a row share.
    fn texts(&mut self, point: usize) -> (ByteArray, ByteArray) {
        match &self.point {
            Some((known, id, name)) if *known == point => (id.clone(), name.clone()),
            _ => {
                let scenario = self.scenario;
                let id = text(&PointId(scenario.points[point].id).to_string());
                let name = text(&scenario.points[point].configuration);
                self.point = Some((point, id.clone(), name.clone()));
                (id, name)
            }
        }
    }
}

impl<W: Write + Send> RowSink for ResultsParquet<'_, W> {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        let (id, name) = self.texts(row.point);
        let group = &mut self.group;
        group.points.push(id);
        group.configurations.push(name);
        group.replications.push(row.replication.cast_signed());
        group.statuses.push(self.statuses[row.status.index()].clone());
        group.end_times.push(row.end.as_seconds());
        group.events.push(row.events.cast_signed());
        group.fingerprints.push(row.fingerprint.cast_signed());
        for (column, &figure) in group.figures.iter_mut().zip(&row.figures) {
            column.push(Some(figure).filter(|figure| figure.is_finite()));
        }
        group.messages.push(row.message.as_deref().map(text));
        group.reached.push(self.reached.get(row.point).copied().flatten());
        if group.points.len() >= self.most_rows { self.write_group() } else { Ok(()) }
    }
}

impl Group {
    /// In the order of [`schema`].
    fn write<W: Write + Send>(
        &self,
        rows: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        write::<ByteArrayType, W>(rows, &self.points, None)?;
        write::<ByteArrayType, W>(rows, &self.configurations, None)?;
        write::<Int64Type, W>(rows, &self.replications, None)?;
        write::<ByteArrayType, W>(rows, &self.statuses, None)?;
        write::<DoubleType, W>(rows, &self.end_times, None)?;
        write::<Int64Type, W>(rows, &self.events, None)?;
        write::<Int64Type, W>(rows, &self.fingerprints, None)?;
        let all = vec![1; self.points.len()];
        for figures in &self.figures {
            write::<DoubleType, W>(rows, &figures.values, Some(figures.levels(&all)))?;
        }
        let Self { messages, reached, .. } = self;
        write::<ByteArrayType, W>(rows, &messages.values, Some(messages.levels(&all)))?;
        write::<BoolType, W>(rows, &reached.values, Some(reached.levels(&all)))
    }

    /// Forgets the rows, keeping the memory.
    fn clear(&mut self) {
        self.points.clear();
        self.configurations.clear();
        self.replications.clear();
        self.statuses.clear();
        self.end_times.clear();
        self.events.clear();
        self.fingerprints.clear();
        self.figures.iter_mut().for_each(Optional::clear);
        self.messages.clear();
        self.reached.clear();
    }
}

/// Writes the next column.
fn write<T: DataType, W: Write + Send>(
    rows: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let missing = || ParquetError::General("there are more columns than the schema has".to_owned());
    let mut column = rows.next_column()?.ok_or_else(missing)?;
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}

fn text(text: &str) -> ByteArray {
    ByteArray::from(text.as_bytes().to_vec())
}

fn schema(columns: &[MetricColumn]) -> Result<Type, ParquetError> {
    let unsigned = LogicalType::integer(64, false);
    let field = |name: &str, physical, logical, repetition| {
        let field = Type::primitive_type_builder(name, physical)
            .with_logical_type(logical)
            .with_repetition(repetition)
            .build()?;
        Ok::<_, ParquetError>(Arc::new(field))
    };
    let mut fields = Vec::new();
    for name in FIRST_COLUMNS {
        let (physical, logical) = match name {
            "replication" | "events" | "fingerprint" => (Physical::INT64, Some(unsigned.clone())),
            "end_time" => (Physical::DOUBLE, None),
            _ => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        fields.push(field(name, physical, logical, Repetition::REQUIRED)?);
    }
    for column in columns {
        fields.push(field(&column.name, Physical::DOUBLE, None, Repetition::OPTIONAL)?);
    }
    let [message, reached] = LAST_COLUMNS;
    let string = Some(LogicalType::String);
    fields.push(field(message, Physical::BYTE_ARRAY, string, Repetition::OPTIONAL)?);
    fields.push(field(reached, Physical::BOOLEAN, None, Repetition::OPTIONAL)?);
    Type::group_type_builder("results").with_fields(fields).build()
}

/// Texts that repeat go through a dictionary; figures hardly ever repeat.
fn properties(scenario: &Scenario) -> WriterProperties {
    let entry = |key: &str, value: String| KeyValue::new(format!("convsim.{key}"), value);
    let metadata = vec![
        entry("format", VERSION.to_string()),
        entry("version", env!("CARGO_PKG_VERSION").to_owned()),
        entry("scenario", scenario.name.clone()),
        entry("scenario_hash", scenario_hash(scenario)),
        entry("seed_scheme", seed_scheme(&scenario.run)),
    ];
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("convsim version {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(metadata))
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_dictionary_enabled(false);
    for name in ["point", "configuration", "status", "message"] {
        let path = ColumnPath::new(vec![name.to_owned()]);
        properties = properties.set_column_dictionary_enabled(path, true);
    }
    properties.build()
}

fn error(error: ParquetError) -> io::Error {
    match error {
        // What the operating system says, for instance that the disk is full.
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}
