//! Distributions that name a CSV file of recorded values: the values are read into the tree.
//!
//! `{ "distribution": "empirical", "file": "x.csv", "column": "ms", "unit": "ms" }` becomes
//! `{ "distribution": "empirical", "values": ["1.5 ms", ...] }`.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use super::node::{Entry, Node, NodeValue};
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
        // The paths are needed only where something is wrong, and points are many.
        if !has_reference(node) {
            return;
        }
        if let Some((file, column, unit)) = reference(node) {
            let origin = node.get("file").map_or(node.origin, |file| file.origin);
            let folder = sources.text_of(origin).map(|text| text.folder.clone());
            let file = folder.unwrap_or_default().join(file);
            match self.column(file, column, unit, sources) {
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

    /// The files that columns were read from.
    #[must_use]
    pub fn files(&self) -> BTreeSet<PathBuf> {
        self.columns.keys().map(|(file, ..)| file.clone()).collect()
    }

    fn column(
        &mut self,
        file: PathBuf,
        column: String,
        unit: String,
        sources: &Sources,
    ) -> &Result<Vec<String>, Problem> {
        self.columns
            .entry((file, column, unit))
            .or_insert_with_key(|(file, column, unit)| read_column(file, column, unit, sources))
    }
}

/// Whether anything in it may name a recording.
pub fn has_reference(node: &Node) -> bool {
    match &node.value {
        NodeValue::List(items) => items.iter().any(has_reference),
        NodeValue::Object(entries) => {
            let within = |entry: &Entry| entry.key == "file" || has_reference(&entry.value);
            entries.iter().any(within)
        }
        _ => false,
    }
}

/// File, column and unit of a distribution that names a recording.
fn reference(node: &Node) -> Option<(String, String, String)> {
    let text = |key: &str| node.get(key).and_then(Node::as_text).map(str::to_owned);
    (node.get("distribution").and_then(Node::as_text) == Some("empirical"))
        .then(|| Some((text("file")?, text("column")?, text("unit")?)))?
}

fn read_column(
    file: &Path,
    column: &str,
    unit: &str,
    sources: &Sources,
) -> Result<Vec<String>, Problem> {
    let value = |(row, cell): (u64, String)| {
        parse_duration(&format!("{cell} {unit}")).map(format_duration).map_err(|error| {
            let reason = format!("line {row}, column \"{column}\": \"{cell}\" in {unit}: {error}");
            Problem::BadRecording { file: file.display().to_string(), reason }
        })
    };
    read_cells(file, column, sources)?.into_iter().map(value).collect()
}

/// The cells of a column of a CSV file, each with its line.
///
/// # Errors
/// A file without such a column or without rows.
pub(super) fn read_cells(
    file: &Path,
    column: &str,
    sources: &Sources,
) -> Result<Vec<(u64, String)>, Problem> {
    let shown = file.display().to_string();
    let bad = |reason: String| Problem::BadRecording { file: shown.clone(), reason };
    let text = sources.read(file, MAX_RECORDING_BYTES).map_err(|problem| match problem {
        Problem::FileMissing { .. } => bad("it does not exist".to_owned()),
        Problem::FileTooLarge { .. } => bad("it is larger than 100 MiB".to_owned()),
        other => other,
    })?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| bad(error.to_string()))?;
    let Some(index) = header.iter().position(|name| name == column) else {
        let names: Vec<&str> = header.iter().collect();
        return Err(bad(format!("there is no column \"{column}\", but {}", names.join(", "))));
    };
    let mut cells = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| bad(error.to_string()))?;
        let row = record.position().map_or(0, csv::Position::line);
        cells.push((row, record.get(index).unwrap_or_default().to_owned()));
    }
    if cells.is_empty() {
        return Err(bad("it has no rows".to_owned()));
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    /// What `reference` becomes beside the file `x.csv` with `csv`, or what is wrong with it.
    fn resolved(csv: &[u8], reference: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x.csv"), csv).unwrap();
        let mut sources = Sources::default();
        let mut problems = Problems::default();
        let whole = sources.add("s.json".to_owned(), folder.path().into(), reference.to_owned());
        let mut node = parse(reference, whole, &mut problems).unwrap();
        Recordings::default().resolve(&mut node, "components.a", &sources, &mut problems);
        let (found, _) = problems.into_parts();
        match found.first() {
            None => Ok(node.to_json().to_string()),
            Some(located) => {
                let (problem, _) = located.problem.text();
                let shown = problem.replace(&folder.path().display().to_string(), "");
                Err(format!("{}: {}", located.path, shown.trim_start_matches(['/', '\\'])))
            }
        }
    }

    fn reference(file: &str, column: &str) -> String {
        format!(
            r#"{{ "service": {{ "distribution": "empirical", "file": "{file}",
                 "column": "{column}", "unit": "ms", "order": "replay" }} }}"#
        )
    }

    #[test]
    fn a_column_becomes_values_with_their_unit() {
        let csv = b"at, ms\n1,0.25\n2, 40\n\n3,1e3\n";
        let values = r#"{"service":{"distribution":"empirical","order":"replay","values":["250 us","40 ms","1 s"]}}"#;
        assert_eq!(resolved(csv, &reference("x.csv", "ms")).unwrap(), values);
    }

    #[test]
    fn a_recording_that_cannot_be_used_says_where_and_why() {
        let problem =
            |csv: &[u8], file, column| resolved(csv, &reference(file, column)).unwrap_err();
        let shown = [
            problem(b"ms\n1\n", "y.csv", "ms"),
            problem(b"ms\n1\n", ".", "ms"),
            problem(b"at,s\n1,2\n", "x.csv", "ms"),
            problem(b"ms\n1\n2\n-3\n", "x.csv", "ms"),
            problem(b"ms\n1\nx\n", "x.csv", "ms"),
            problem(b"a,ms\n1,2\n3\n", "x.csv", "ms"),
            problem(b"ms\n", "x.csv", "ms"),
            problem(b"", "x.csv", "ms"),
            problem(b"ms\n\xff\n", "x.csv", "ms"),
        ];
        insta::assert_snapshot!(shown.join("\n"));
    }
}
