//! Distributions that name a CSV file of recorded values: the values are read into the tree.
//!
//! `{ "distribution": "empirical", "file": "x.csv", "column": "ms", "unit": "ms" }` becomes
//! `{ "distribution": "empirical", "values": ["1.5 ms", ...] }`.

use std::collections::HashMap;
use std::path::PathBuf;

use super::node::{Node, NodeValue};
use super::parse::join;
use super::problem::{Problem, Problems};
use super::source::Sources;
use crate::quantities::duration::{format_duration, parse_duration};

/// Largest recording that is read.
const MAX_RECORDING_BYTES: u64 = 100 * 1024 * 1024;

/// Reads each column of each file once.
#[derive(Debug, Default)]
pub struct Recordings {
    columns: HashMap<(PathBuf, String, String), Result<Vec<String>, Problem>>,
}

impl Recordings {
    /// Replaces every reference to a recording in `node` by its values. Relative paths start from
    /// the folder of the file in which they were written.
    pub fn resolve(
        &mut self,
        node: &mut Node,
        path: &str,
        sources: &Sources,
        problems: &mut Problems,
    ) {
        if let Some((file, column, unit)) = reference(node) {
            let origin = node.get("file").map_or(node.origin, |file| file.origin);
            let folder = sources.text_of(origin).map(|text| text.folder.clone());
            let file = folder.unwrap_or_default().join(file);
            match self.column(file, column, unit) {
                Err(problem) => problems.add(problem.clone(), path, Some(origin)),
                Ok(values) => {
                    let values = values.iter().map(|v| Node::text(v.clone(), origin)).collect();
                    for key in ["file", "column", "unit"] {
                        node.remove(key);
                    }
                    node.insert("values", origin, Node::list(values, origin));
                }
            }
            return;
        }
        match &mut node.value {
            NodeValue::List(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.resolve(item, &format!("{path}[{index}]"), sources, problems);
                }
            }
            NodeValue::Object(entries) => {
                for entry in entries {
                    let path = join(path, &entry.key);
                    self.resolve(&mut entry.value, &path, sources, problems);
                }
            }
            _ => {}
        }
    }

    fn column(
        &mut self,
        file: PathBuf,
        column: String,
        unit: String,
    ) -> &Result<Vec<String>, Problem> {
        self.columns
            .entry((file, column, unit))
            .or_insert_with_key(|(file, column, unit)| read_column(file, column, unit))
    }
}

/// File, column and unit of a distribution that names a recording.
fn reference(node: &Node) -> Option<(String, String, String)> {
    let text = |key: &str| node.get(key).and_then(Node::as_text).map(str::to_owned);
    (node.get("distribution").and_then(Node::as_text) == Some("empirical"))
        .then(|| Some((text("file")?, text("column")?, text("unit")?)))?
}

fn read_column(file: &std::path::Path, column: &str, unit: &str) -> Result<Vec<String>, Problem> {
    let shown = file.display().to_string();
    let bad = |reason: String| Problem::BadRecording { file: shown.clone(), reason };
    let text = super::source::read_text(file, MAX_RECORDING_BYTES)?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| bad(error.to_string()))?;
    let Some(index) = header.iter().position(|name| name == column) else {
        let names: Vec<&str> = header.iter().collect();
        return Err(bad(format!("there is no column \"{column}\", but {}", names.join(", "))));
    };
    let mut values = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| bad(error.to_string()))?;
        let row = record.position().map_or(0, csv::Position::line);
        let cell = record.get(index).unwrap_or_default();
        let value = parse_duration(&format!("{cell} {unit}")).map_err(|error| {
            bad(format!("line {row}, column \"{column}\": \"{cell}\" in {unit}: {error}"))
        })?;
        values.push(format_duration(value));
    }
    if values.is_empty() {
        return Err(bad("it has no rows".to_owned()));
    }
    Ok(values)
}
