//! Which points a scenario has: its configurations, then the grid of its sweep.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::axis;
use super::file::ConfigurationEntry;
use super::node::{Entry, Node};
use super::overrides::{BASE, component_names};
use super::path::Path;
use super::problem::{Problem, Problems};
use super::validate::plain;

/// The configurations and the axes.
#[derive(Debug)]
pub struct Design {
    /// The named configurations; [`BASE`] if the scenario names none.
    pub configurations: Vec<Configuration>,
    /// The axes of the sweep; the last varies fastest.
    pub axes: Vec<Axis>,
    /// What the grid is applied to: indices of configurations, or the components as they stand.
    pub from: Vec<Option<usize>>,
}

/// Named settings.
#[derive(Debug)]
pub struct Configuration {
    /// Its name.
    pub name: String,
    /// What a reader must know.
    pub note: Option<String>,
    /// What it sets, in order.
    pub set: Vec<(Path, Node)>,
}

/// A swept path with its values.
#[derive(Debug)]
pub struct Axis {
    /// What is swept.
    pub path: Path,
    /// Its values.
    pub values: Vec<Node>,
}

/// One point: what it is called and what it sets.
pub struct PointDesign<'a> {
    /// Its name.
    pub name: String,
    /// The configuration that it is, or that its axes start from.
    pub configuration: Option<&'a Configuration>,
    /// The swept paths with this point's values.
    pub axes: Vec<(&'a Path, &'a Node)>,
}

impl Design {
    /// Reads configurations and sweep from the scenario `tree`.
    #[must_use]
    pub fn read(tree: &Node, max_points: usize, problems: &mut Problems) -> Self {
        let components = component_names(tree);
        let configurations = read_configurations(tree, &components, problems);
        let axes = read_axes(tree, &components, max_points, problems);
        let mut from = Vec::new();
        for item in tree.get("sweep_from").map_or(&[][..], Node::items) {
            let Some(name) = item.as_text() else { continue };
            match configurations.iter().position(|configuration| configuration.name == name) {
                Some(index) => from.push(Some(index)),
                None => {
                    let known = configurations.iter().map(|c| c.name.clone()).collect();
                    let (what, name) = ("configuration", name.to_owned());
                    let problem = Problem::UnknownName { what, name, known };
                    problems.add(problem, "sweep_from", Some(item.origin));
                }
            }
        }
        if tree.get("sweep_from").is_none_or(|list| list.items().is_empty()) {
            from.push(None);
        }
        Self { configurations, axes, from }
    }

    /// How many points there are; none if too many to count.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        let mut grid = if self.axes.is_empty() { 0 } else { self.from.len() as u64 };
        for axis in &self.axes {
            grid = grid.checked_mul(axis.values.len() as u64)?;
        }
        grid.checked_add(self.configurations.len() as u64)
    }

    /// All points. Their number must have been checked before.
    pub fn points(&self) -> impl Iterator<Item = PointDesign<'_>> {
        let named = self.configurations.iter().map(|configuration| PointDesign {
            name: configuration.name.clone(),
            configuration: Some(configuration),
            axes: Vec::new(),
        });
        named.chain(self.from.iter().flat_map(move |from| self.grid(*from)))
    }

    fn grid(&self, from: Option<usize>) -> impl Iterator<Item = PointDesign<'_>> {
        let size = if self.axes.is_empty() {
            0
        } else {
            self.axes.iter().map(|axis| axis.values.len()).product()
        };
        let configuration = from.and_then(|index| self.configurations.get(index));
        (0..size).map(move |index| {
            let mut rest = index;
            let mut axes: Vec<(&Path, &Node)> = Vec::with_capacity(self.axes.len());
            for axis in self.axes.iter().rev() {
                axes.push((&axis.path, &axis.values[rest % axis.values.len()]));
                rest /= axis.values.len();
            }
            axes.reverse();
            let settings: Vec<String> = axes
                .iter()
                .map(|(path, value)| format!("{path}={}", plain(&value.to_json())))
                .collect();
            let settings = settings.join(", ");
            let name = match configuration {
                Some(configuration) => format!("{}, {settings}", configuration.name),
                None => settings,
            };
            PointDesign { name, configuration, axes }
        })
    }
}

/// Reads a part of the tree as its type; none if it is absent or its shape is wrong, which the
/// check against the schema reports.
#[must_use]
pub fn part<T: DeserializeOwned>(node: &Node) -> Option<T> {
    serde_json::from_value(node.to_json()).ok()
}

fn read_configurations(
    tree: &Node,
    components: &[String],
    problems: &mut Problems,
) -> Vec<Configuration> {
    let mut configurations: Vec<Configuration> = Vec::new();
    let mut names = BTreeSet::new();
    for (index, item) in tree.get("configurations").map_or(&[][..], Node::items).iter().enumerate()
    {
        let path = format!("configurations[{index}]");
        let mut set = Vec::new();
        for entry in item.get("set").map_or(&[][..], Node::entries) {
            let at = format!("{path}.set");
            if let Some(target) = read_path(entry, components, &at, problems) {
                set.push((target, entry.value.clone()));
            }
        }
        let Some(ConfigurationEntry { name, note, .. }) = part(item) else { continue };
        if !names.insert(name.clone()) {
            let origin = item.get("name").map_or(item.origin, |name| name.origin);
            let problem = Problem::DuplicateName { what: "configuration", name: name.clone() };
            problems.add(problem, &format!("{path}.name"), Some(origin));
        }
        configurations.push(Configuration { name, note, set });
    }
    if tree.get("configurations").is_none_or(|list| list.items().is_empty()) {
        let name = BASE.to_owned();
        configurations.push(Configuration { name, note: None, set: Vec::new() });
    }
    configurations
}

fn read_axes(
    tree: &Node,
    components: &[String],
    max_points: usize,
    problems: &mut Problems,
) -> Vec<Axis> {
    let mut axes = Vec::new();
    for entry in tree.get("sweep").map_or(&[][..], Node::entries) {
        let Some(path) = read_path(entry, components, "sweep", problems) else { continue };
        let at = format!("sweep.{}", entry.key);
        let origin = entry.value.origin;
        let values = match entry.value.as_text() {
            None => entry.value.items().to_vec(),
            Some(text) => {
                let no_range = || {
                    let reason = "it has no \"..\"; a list is written [1, 2]".to_owned();
                    Err(Problem::BadRange { text: text.to_owned(), reason })
                };
                match axis::range(text, max_points).unwrap_or_else(no_range) {
                    Ok(values) => values.iter().map(|v| Node::from_json(v, origin)).collect(),
                    Err(problem) => {
                        problems.add(problem, &at, Some(origin));
                        continue;
                    }
                }
            }
        };
        let mut seen: Vec<Value> = Vec::new();
        for value in values.iter().take(max_points) {
            let json = value.to_json();
            // A long axis comes from a range, whose values are distinct.
            if values.len() <= 1000 && seen.contains(&json) {
                let value_text = value.shown(60);
                let problem = Problem::RepeatedValue { value: value_text };
                problems.add(problem, &at, Some(value.origin));
            }
            seen.push(json);
        }
        axes.push(Axis { path, values });
    }
    axes
}

/// The key of `entry` as the path of a parameter of a component.
fn read_path(
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
