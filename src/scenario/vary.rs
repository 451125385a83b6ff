//! What the command line changes in the points of a scenario: `--vary`, `--design`, `--where`.

use std::path::PathBuf;

use super::axis::{self, Limit};
use super::node::{Node, NodeValue};
use super::overrides::{Assignment, LoadOptions, Overrides, VARY, split_list};
use super::path::Path;
use super::problem::Problem;
use super::source::{COMMAND_LINE, Origin};
use super::span::Span;

/// What one `--vary` asks for.
pub(super) enum Variation {
    /// The values of a path, or its range with a number of values.
    Axis(Assignment),
    /// Lists that advance together.
    Zip(Vec<Assignment>),
    /// A range that the design draws from.
    Range(Assignment),
}

impl Variation {
    /// The paths that vary.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let assignments = match self {
            Self::Axis(assignment) | Self::Range(assignment) => std::slice::from_ref(assignment),
            Self::Zip(assignments) => assignments,
        };
        assignments.iter().map(|assignment| &assignment.path)
    }
}

impl Overrides<'_> {
    /// Reads what is behind a `--vary`, or another `option` that means the same.
    pub fn read_vary(
        &mut self,
        option: &'static str,
        text: &str,
        options: &LoadOptions,
    ) -> Option<Variation> {
        let (paths_text, argument, at) = self.read_paths(option, text)?;
        let max = options.max_points;
        let limit = if option == VARY { Limit::points(max) } else { Limit::values(max) };
        let written = &text[at.offset..];
        let names = split_list(paths_text, ',');
        if let [(_, name)] = names[..] {
            let path = self.read_path(option, name, argument, 0)?;
            if options.design.is_some() && Span::is_span(written) {
                let origin = argument.at(at.start, at.start + written.len());
                let value = Node::text(written.trim().to_owned(), origin);
                return Some(Variation::Range(Assignment { path, value }));
            }
            let value = self.list_node(&path, written, argument, at.start, limit)?;
            return Some(Variation::Axis(Assignment { path, value }));
        }
        let lists = split_list(written, ';');
        let mut paths = Vec::new();
        for (offset, name) in names {
            let blanks = name.len() - name.trim_start().len();
            paths.push(self.read_path(option, name.trim(), argument, offset + blanks)?);
        }
        if lists.len() != paths.len() {
            let text = text.to_owned();
            let reason = format!("{} paths and {} lists", paths.len(), lists.len());
            self.problems.add(Problem::BadZip { text, reason }, "", Some(argument));
            return None;
        }
        let mut assignments = Vec::new();
        for (path, (offset, list)) in paths.into_iter().zip(lists) {
            let value = self.list_node(&path, list, argument, at.start + offset, limit)?;
            assignments.push(Assignment { path, value });
        }
        Some(Variation::Zip(assignments))
    }

    /// Listed values, or those of a range. `start` is where `written` starts in `argument`.
    fn list_node(
        &mut self,
        path: &Path,
        written: &str,
        argument: Origin,
        start: usize,
        limit: Limit,
    ) -> Option<Node> {
        let whole = argument.at(start, start + written.len());
        let values = match axis::range(written, limit) {
            Some(Err(problem)) => {
                self.problems.add(problem, &path.to_string(), Some(whole));
                return None;
            }
            Some(Ok(values)) => values.iter().map(|v| Node::from_json(v, whole)).collect(),
            None if written.trim().is_empty() => Vec::new(),
            None => split_list(written, ',')
                .into_iter()
                .map(|(at, item)| self.value_node(item, argument, start + at))
                .collect(),
        };
        Some(Node::list(values, whole))
    }

    /// Makes the scenario vary as asked, instead of what the file says about the same paths.
    pub fn vary(&mut self, variation: Variation) {
        for path in variation.paths() {
            let text = path.to_string();
            // An axis of a grid keeps its place.
            let place = matches!(variation, Variation::Axis(_)) && self.sweep_has(&text);
            if !place {
                drop_axis(self.tree, &text);
            }
        }
        match variation {
            Variation::Axis(Assignment { path, value }) => {
                self.object_at(&["sweep"], path.origin, |sweep| {
                    sweep.insert(&path.to_string(), path.origin, value);
                });
            }
            Variation::Range(Assignment { path, value }) => {
                self.object_at(&["sample", "ranges"], path.origin, |ranges| {
                    ranges.insert(&path.to_string(), path.origin, value);
                });
            }
            Variation::Zip(assignments) => {
                let Some(origin) = assignments.first().map(|first| first.path.origin) else {
                    return;
                };
                let mut group = Node::empty_object(origin);
                for Assignment { path, value } in assignments {
                    if group.get(&path.to_string()).is_some() {
                        let problem = Problem::VariedTwice { path: path.to_string() };
                        self.problems.add(problem, "", Some(path.origin));
                    }
                    group.insert(&path.to_string(), path.origin, value);
                }
                self.list_at("zip", origin).push(group);
            }
        }
    }

    fn sweep_has(&self, path: &str) -> bool {
        self.tree.get("sweep").is_some_and(|sweep| sweep.get(path).is_some())
    }

    /// Removes what the file says about varying `path`; says whether there was anything.
    pub fn drop_axis(&mut self, path: &str) -> bool {
        drop_axis(self.tree, path)
    }

    /// `sobol:64`.
    pub fn choose_design(&mut self, text: &str) {
        let shown = format!("--design {text}");
        let argument = self.sources.add(COMMAND_LINE.to_owned(), PathBuf::new(), shown);
        let bad = |reason: &str| Problem::BadDesign { text: text.into(), reason: reason.into() };
        let (name, count) = text.split_once(':').unwrap_or((text, ""));
        let design = match name.trim() {
            "sobol" => Some("sobol"),
            "latin_hypercube" | "lhs" => Some("latin_hypercube"),
            _ => None,
        };
        let points = count.trim().parse::<u64>();
        if design.is_none() {
            self.problems.add(bad("there is no such design"), "", Some(argument));
        } else if points.is_err() {
            self.problems.add(bad("the number of points is missing"), "", Some(argument));
        }
        // What is wrong is said; the rest can still be checked.
        let (design, points) = (design.unwrap_or("sobol"), points.unwrap_or(1));
        let ranges = self.tree.get("sample").and_then(|sample| sample.get("ranges"));
        if ranges.is_none_or(|ranges| ranges.entries().is_empty()) {
            return self.problems.add(Problem::NothingToSample, "", Some(argument));
        }
        self.object_at(&["sample"], argument, |sample| {
            sample.insert("design", argument, Node::text(design, argument));
            sample.insert("points", argument, Node::from_json(&points.into(), argument));
        });
    }

    /// Conditions beside those of the file.
    pub fn add_conditions(&mut self, conditions: &[String]) {
        for text in conditions {
            let shown = format!("--where {text}");
            let argument = self.sources.add(COMMAND_LINE.to_owned(), PathBuf::new(), shown);
            let start = "--where ".len();
            let origin = argument.at(start, start + text.len());
            self.list_at("where", origin).push(Node::text(text.clone(), origin));
        }
    }

    /// Changes the object at `keys`, which is made if it is not there.
    fn object_at(&mut self, keys: &[&str], origin: Origin, change: impl FnOnce(&mut Node)) {
        let mut node = &mut *self.tree;
        for key in keys {
            if !matches!(node.get(key).map(|inner| &inner.value), Some(NodeValue::Object(_))) {
                node.insert(key, origin, Node::empty_object(origin));
            }
            let Some(inner) = node.get_mut(key) else { return };
            node = inner;
        }
        change(node);
    }

    /// The list `key`, which is made if it is not there.
    fn list_at(&mut self, key: &str, origin: Origin) -> ListEnd<'_> {
        if !matches!(self.tree.get(key).map(|list| &list.value), Some(NodeValue::List(_))) {
            self.tree.insert(key, origin, Node::list(Vec::new(), origin));
        }
        ListEnd(self.tree.get_mut(key))
    }
}

/// Where a list can be added to.
struct ListEnd<'t>(Option<&'t mut Node>);

impl ListEnd<'_> {
    fn push(self, item: Node) {
        if let Some(NodeValue::List(items)) = self.0.map(|list| &mut list.value) {
            items.push(item);
        }
    }
}

/// Removes `path` from the grid, from lists that advance together and from what is sampled; what
/// is empty then goes, too.
fn drop_axis(tree: &mut Node, path: &str) -> bool {
    let mut dropped = tree.get_mut("sweep").and_then(|sweep| sweep.remove(path)).is_some();
    if let Some(NodeValue::List(groups)) = tree.get_mut("zip").map(|zip| &mut zip.value) {
        for group in groups.iter_mut() {
            dropped |= group.remove(path).is_some();
        }
        groups.retain(|group| !group.entries().is_empty());
    }
    if let Some(ranges) = tree.get_mut("sample").and_then(|sample| sample.get_mut("ranges")) {
        dropped |= ranges.remove(path).is_some();
        if ranges.entries().is_empty() {
            tree.remove("sample");
        }
    }
    dropped
}
