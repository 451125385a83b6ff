//! Which points a scenario has: its configurations, then those of its sweep.
//!
//! The sweep is the grid of its axes. An axis is one path with its values ([`axes`]), several paths
//! that advance together ([`axes`]), or the points of a design that fills a space ([`sample`]). Points
//! that do not meet the conditions ([`condition`], [`cut`]) are left out.

pub mod axes;
pub mod condition;
mod cut;
pub mod sample;
mod token;

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use super::file::ConfigurationEntry;
use super::node::Node;
use super::overrides::{BASE, component_names};
use super::path::Path;
use super::problem::{Problem, Problems};
use super::validate::plain;
use axes::{Axis, read_axes, read_path};

/// The configurations and the axes.
#[derive(Debug)]
pub struct Design {
    /// The named configurations; [`BASE`] if the scenario names none.
    pub configurations: Vec<Configuration>,
    /// The axes of the sweep; the last varies fastest.
    pub axes: Vec<Axis>,
    /// What the grid is applied to: indices of configurations, or the components as they stand.
    pub from: Vec<Option<usize>>,
    /// Sampled points that were the same as an earlier one after rounding, and are not repeated.
    pub coincident: u64,
    /// Which points of the grid the conditions leave out, in its order; empty for none.
    cut: Vec<bool>,
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
    /// Reads configurations and sweep from the scenario `tree`, whose run has the `seed`. Nothing is
    /// cut yet.
    #[must_use]
    pub fn read(tree: &Node, seed: u64, max_points: usize, problems: &mut Problems) -> Self {
        let components = component_names(tree);
        let configurations = read_configurations(tree, &components, problems);
        let mut axes = read_axes(tree, &components, max_points, problems);
        let sample = sample::read_sample(tree, &components, seed, problems);
        let (sample, coincident) = sample.map_or((None, 0), |(axis, same)| (Some(axis), same));
        axes.extend(sample);
        refuse_varied_twice(&axes, problems);
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
        Self { configurations, axes, from, coincident, cut: Vec::new() }
    }

    /// How many points there are before any is cut; none if too many to count.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        let mut grid = if self.axes.is_empty() { 0 } else { self.from.len() as u64 };
        for axis in &self.axes {
            grid = grid.checked_mul(axis.rows.len() as u64)?;
        }
        grid.checked_add(self.configurations.len() as u64)
    }

    /// How many points of the grid the conditions leave out.
    #[must_use]
    pub fn cut_points(&self) -> u64 {
        self.cut.iter().filter(|cut| **cut).count() as u64
    }

    /// Leaves out the points of the grid that do not meet the conditions of the scenario `tree`. The
    /// number of points must have been checked before.
    pub fn apply_conditions(&mut self, tree: &Node, problems: &mut Problems) {
        self.cut = cut::cut(tree, self, problems);
        if !self.cut.is_empty() && self.cut.iter().all(|cut| *cut) {
            let origin = tree.get("where").map(|node| node.origin);
            problems.add(Problem::NothingLeft { points: self.cut.len() }, "where", origin);
        }
    }

    /// All points. Their number must have been checked before.
    pub fn points(&self) -> impl Iterator<Item = PointDesign<'_>> {
        let named = self.configurations.iter().map(|configuration| PointDesign {
            name: configuration.name.clone(),
            configuration: Some(configuration),
            axes: Vec::new(),
        });
        let kept = |(index, _): &(usize, _)| !self.cut.get(*index).copied().unwrap_or(false);
        named.chain(self.grid().enumerate().filter(kept).map(|(_, point)| point.named()))
    }

    /// All points of the grid, cut or not.
    fn grid(&self) -> impl Iterator<Item = GridPoint<'_>> {
        let size = if self.axes.is_empty() {
            0
        } else {
            self.axes.iter().map(|axis| axis.rows.len()).product()
        };
        self.from.iter().enumerate().flat_map(move |(from_index, from)| {
            let configuration = from.and_then(|index| self.configurations.get(index));
            (0..size).map(move |index| {
                let mut rest = index;
                let mut rows: Vec<(&Axis, &[Node])> = Vec::with_capacity(self.axes.len());
                for axis in self.axes.iter().rev() {
                    rows.push((axis, &axis.rows[rest % axis.rows.len()]));
                    rest /= axis.rows.len();
                }
                let rows = rows.into_iter().rev();
                let axes = rows.flat_map(|(axis, row)| axis.paths.iter().zip(row)).collect();
                GridPoint { from: from_index, configuration, axes }
            })
        })
    }
}

/// A point of the grid.
struct GridPoint<'a> {
    /// Index into [`Design::from`].
    from: usize,
    configuration: Option<&'a Configuration>,
    axes: Vec<(&'a Path, &'a Node)>,
}

impl<'a> GridPoint<'a> {
    fn named(self) -> PointDesign<'a> {
        let Self { configuration, axes, .. } = self;
        let setting =
            |(path, value): &(&Path, &Node)| format!("{path}={}", plain(&value.to_json()));
        let settings = axes.iter().map(setting).collect::<Vec<_>>().join(", ");
        let name = match configuration {
            Some(configuration) => format!("{}, {settings}", configuration.name),
            None => settings,
        };
        PointDesign { name, configuration, axes }
    }
}

/// Two axes that set one path: only the last would have an effect.
fn refuse_varied_twice(axes: &[Axis], problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    for path in axes.iter().flat_map(|axis| &axis.paths) {
        if !seen.insert(path.to_string()) {
            let problem = Problem::VariedTwice { path: path.to_string() };
            problems.add(problem, "", Some(path.origin));
        }
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
        let origin = item.get("name").map_or(item.origin, |name| name.origin);
        if name.contains(char::is_control) {
            let (name, allowed) = (name.replace(char::is_control, " "), "a name in one line");
            let problem = Problem::BadName { what: "configuration", name, allowed };
            problems.add(problem, &format!("{path}.name"), Some(origin));
        }
        if !names.insert(name.clone()) {
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
