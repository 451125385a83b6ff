//! The axes of a grid: listed values, ranges, and lists that advance together.

use serde_json::Value;

use crate::scenario::axis::{self, Limit};
use crate::scenario::node::{Entry, Node};
use crate::scenario::path::Path;
use crate::scenario::problem::{Problem, Problems};

/// Swept paths with their values. Several paths advance together.
#[derive(Debug)]
pub struct Axis {
    /// What is swept.
    pub paths: Vec<Path>,
    /// In each row a value for each path.
    pub rows: Vec<Vec<Node>>,
}

/// The axes of `sweep` and `zip` of the scenario `tree`.
pub fn read_axes(
    tree: &Node,
    components: &[String],
    max_points: usize,
    problems: &mut Problems,
) -> Vec<Axis> {
    let mut axes = Vec::new();
    for entry in tree.get("sweep").map_or(&[][..], Node::entries) {
        let limit = Limit::points(max_points);
        let read = read_values(entry, components, "sweep", limit, problems);
        let Some((path, values)) = read else { continue };
        let rows: Vec<_> = values.into_iter().map(|value| vec![value]).collect();
        refuse_repeated(&rows, &format!("sweep.{}", entry.key), problems);
        axes.push(Axis { paths: vec![path], rows });
    }
    for (index, group) in tree.get("zip").map_or(&[][..], Node::items).iter().enumerate() {
        axes.extend(read_zip(group, components, &format!("zip[{index}]"), max_points, problems));
    }
    axes
}

/// Lists of the same length.
fn read_zip(
    group: &Node,
    components: &[String],
    at: &str,
    max_points: usize,
    problems: &mut Problems,
) -> Option<Axis> {
    let mut paths = Vec::new();
    let mut lists = Vec::new();
    for entry in group.entries() {
        let limit = Limit::points(max_points);
        let (path, values) = read_values(entry, components, at, limit, problems)?;
        paths.push(path);
        lists.push(values);
    }
    let length = lists.first()?.len();
    if lists.iter().any(|list| list.len() != length) {
        let name = |(path, list): (&Path, &Vec<Node>)| (path.to_string(), list.len());
        let lengths = paths.iter().zip(&lists).map(name).collect();
        problems.add(Problem::UnequalLists { lengths }, at, Some(group.origin));
        return None;
    }
    let mut columns: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let rows: Vec<Vec<Node>> =
        (0..length).map(|_| columns.iter_mut().filter_map(Iterator::next).collect()).collect();
    refuse_repeated(&rows, at, problems);
    Some(Axis { paths, rows })
}

/// A path with its listed values, or those of its range.
pub fn read_values(
    entry: &Entry,
    components: &[String],
    part: &str,
    limit: Limit,
    problems: &mut Problems,
) -> Option<(Path, Vec<Node>)> {
    let path = read_path(entry, components, part, problems)?;
    let at = format!("{part}.{}", entry.key);
    let origin = entry.value.origin;
    let Some(text) = entry.value.as_text() else {
        return Some((path, entry.value.items().to_vec()));
    };
    let no_range = || {
        let reason = "it has no \"..\"; a list is written [1, 2]".to_owned();
        Err(Problem::BadRange { text: text.to_owned(), reason })
    };
    match axis::range(text, limit).unwrap_or_else(no_range) {
        Ok(values) => {
            Some((path, values.iter().map(|value| Node::from_json(value, origin)).collect()))
        }
        Err(problem) => {
            problems.add(problem, &at, Some(origin));
            None
        }
    }
}

/// A long axis comes from a range, whose values are distinct.
fn refuse_repeated(rows: &[Vec<Node>], at: &str, problems: &mut Problems) {
    if rows.len() > 1000 {
        return;
    }
    let mut seen: Vec<Vec<Value>> = Vec::new();
    for row in rows {
        let values: Vec<Value> = row.iter().map(Node::to_json).collect();
        if seen.contains(&values) {
            let texts: Vec<String> = row.iter().map(|value| value.shown(60)).collect();
            let value = texts.join(", ");
            let origin = row.first().map(|value| value.origin);
            problems.add(Problem::RepeatedValue { value }, at, origin);
        }
        seen.push(values);
    }
}

/// The key of `entry` as the path of a parameter of a component.
pub fn read_path(
    entry: &Entry,
    components: &[String],
    at: &str,
    problems: &mut Problems,
) -> Option<Path> {
    // In a file, the key is in quotation marks.
    let offset = usize::from(entry.key_origin.length() > entry.key.len());
    let path = match Path::read(&entry.key, entry.key_origin, offset) {
        Ok(path) => path,
        Err(problem) => {
            problems.add(problem, at, Some(entry.key_origin));
            return None;
        }
    };
    if !components.iter().any(|name| name == path.component()) {
        let name = path.component().to_owned();
        let known = components.to_vec();
        let problem = Problem::UnknownName { what: "component", name, known };
        problems.add(problem, &format!("{at}.{}", entry.key), Some(path.component_origin()));
        return None;
    }
    if path.sets_own("model") {
        let text = entry.key.clone();
        let reason = "a configuration cannot change the model of a component".to_owned();
        problems.add(Problem::BadPath { text, reason }, at, Some(entry.key_origin));
        return None;
    }
    Some(path)
}
