//! What the command line changes in a scenario: `--set`, `--configuration` and, in `vary`, what makes
//! points.
//!
//! The changes are made in the tree of values, so that the changed scenario could be written as a
//! file that means the same, and everything after this needs to know only files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::explicit::{Settings, replace_configurations};
use super::file::RunEntry;
use super::node::{Entry, Node, NodeValue};
use super::parse::parse;
use super::path::Path;
use super::problem::{Problem, Problems};
use super::source::{COMMAND_LINE, GivenFiles, Origin, Sources};
use super::vary::Variation;
use crate::models::ModelKind;

/// The name of the only configuration of a scenario that names none.
pub const BASE: &str = "base";
/// What the first part of a path may name beside a component.
pub const RUN: &str = "run";
/// The option that varies a parameter.
pub(super) const VARY: &str = "--vary";
/// Keys of a file that say what is swept.
pub(super) const SWEEP_PARTS: [&str; 4] = ["sweep", "zip", "sample", "sweep_from"];

/// What the user asks for beside the file.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// `path=value`: fixes a parameter in every configuration.
    pub set: Vec<String>,
    /// What a user wrote for an item of `set`, by its place, where that is not `--set ITEM`.
    pub written: BTreeMap<usize, String>,
    /// `path=v1,v2` or `path=range`: an axis of the sweep; `path,path=v1,v2;w1,w2`: lists that
    /// advance together. Replaces the file's axis of that path.
    pub vary: Vec<String>,
    /// What a user writes before each of `vary`, where that is not `--vary`.
    pub vary_options: Vec<&'static str>,
    /// `sobol:64` or `latin_hypercube:40`: a design over the ranges among `vary` that have no
    /// number of values, and over those of the file's design.
    pub design: Option<String>,
    /// Conditions that the points of the sweep must meet, beside those of the file.
    pub conditions: Vec<String>,
    /// Names of the only configurations to run; drops the file's sweep.
    pub configurations: Vec<String>,
    /// Drops the file's own sweep, so that nothing but `vary` is swept.
    pub only_varied: bool,
    /// Points to run in place of the file's configurations and sweep: values by path. With one
    /// name in `configurations` they start from that configuration.
    pub points: Vec<Settings>,
    /// Most points that the scenario may have.
    pub max_points: usize,
    /// The files to read, by the paths under which they are asked for; those of this machine by
    /// default.
    pub files: Option<Arc<GivenFiles>>,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            set: Vec::new(),
            written: BTreeMap::new(),
            vary: Vec::new(),
            vary_options: Vec::new(),
            design: None,
            conditions: Vec::new(),
            configurations: Vec::new(),
            only_varied: false,
            points: Vec::new(),
            max_points: 100_000,
            files: None,
        }
    }
}

impl LoadOptions {
    /// Fixes `path`, for which a user wrote `written`.
    pub fn fix(&mut self, path: &str, value: impl std::fmt::Display, written: String) {
        self.written.insert(self.set.len(), written);
        self.set.push(format!("{path}={value}"));
    }

    /// Whether they change which points there are.
    #[must_use]
    pub fn change_points(&self) -> bool {
        let lists = [&self.set, &self.vary, &self.conditions, &self.configurations];
        lists.iter().any(|list| !list.is_empty())
            || self.design.is_some()
            || self.only_varied
            || !self.points.is_empty()
    }
}

/// Applies `options` to the scenario `tree`. Says in `warnings` what it drops.
pub fn apply(
    tree: &mut Node,
    options: &LoadOptions,
    sources: &mut Sources,
    problems: &mut Problems,
    warnings: &mut Vec<String>,
) {
    let mut overrides = Overrides { tree, sources, problems, warnings };
    let fixed: Vec<Assignment> = options
        .set
        .iter()
        .enumerate()
        .filter_map(|(place, text)| overrides.read_set(text, options.written.get(&place)))
        .collect();
    let mut varied: Vec<(&'static str, Variation)> = Vec::new();
    for (index, text) in options.vary.iter().enumerate() {
        let option = options.vary_options.get(index).copied().unwrap_or(VARY);
        varied.extend(overrides.read_vary(option, text, options).map(|read| (option, read)));
    }
    overrides.refuse_twice(&fixed, &varied, options);
    if options.only_varied {
        for part in SWEEP_PARTS {
            overrides.tree.remove(part);
        }
    }
    overrides.keep_configurations(&options.configurations);
    for assignment in &fixed {
        overrides.fix(assignment, &varied);
    }
    for (_, variation) in varied {
        overrides.vary(variation);
    }
    if let Some(design) = &options.design {
        overrides.choose_design(design);
    }
    overrides.add_conditions(&options.conditions);
    if !options.points.is_empty() {
        let from_configuration = options.configurations.len() == 1;
        replace_configurations(tree, &options.points, from_configuration, sources);
    }
}

/// `path=value` from the command line.
pub(super) struct Assignment {
    pub path: Path,
    pub value: Node,
}

/// A scenario that is being changed.
pub(super) struct Overrides<'a> {
    pub tree: &'a mut Node,
    pub sources: &'a mut Sources,
    pub problems: &'a mut Problems,
    pub warnings: &'a mut Vec<String>,
}

impl Overrides<'_> {
    /// What the command line varies twice, or sets by an option of its own and otherwise too: one of
    /// the two would have no effect. Of several `--set` the last wins.
    fn refuse_twice(
        &mut self,
        fixed: &[Assignment],
        varied: &[(&'static str, Variation)],
        options: &LoadOptions,
    ) {
        let mut seen = BTreeSet::new();
        for (_, variation) in varied {
            // Lists that advance together are looked through by themselves.
            let own: BTreeSet<String> = variation.paths().map(Path::to_string).collect();
            for path in variation.paths() {
                if seen.contains(&path.to_string()) {
                    let problem = Problem::VariedTwice { path: path.to_string() };
                    self.problems.add(problem, "", Some(path.origin));
                }
            }
            seen.extend(own);
        }
        // One that cannot be read is not among them, and its place would not be that of the others.
        if fixed.len() != options.set.len() {
            return;
        }
        for (index, later) in fixed.iter().enumerate() {
            let same = |at: &usize| fixed[*at].path.to_string() == later.path.to_string();
            let by_option = |at: &usize| options.written.contains_key(at);
            let Some(earlier) = (0..index).find(same) else { continue };
            if by_option(&earlier) || by_option(&index) {
                let problem = Problem::SetTwice { path: later.path.to_string() };
                self.problems.add(problem, "", Some(later.path.origin));
            }
        }
    }

    fn read_set(&mut self, text: &str, written: Option<&String>) -> Option<Assignment> {
        if let Some(written) = written {
            return self.read_written(text, written.clone());
        }
        let (path_text, argument, value_at) = self.read_paths("--set", text)?;
        let path = self.read_path("--set", path_text, argument, 0)?;
        let value = self.value_node(&text[value_at.offset..], argument, value_at.start);
        Some(Assignment { path, value })
    }

    /// `path=value` for which the user wrote something else, which is shown as a whole.
    fn read_written(&mut self, text: &str, written: String) -> Option<Assignment> {
        let argument = self.sources.add(COMMAND_LINE.to_owned(), PathBuf::new(), written);
        let (path, value) = text.split_once('=')?;
        let path = Path::read(path, argument, 0)
            .map_err(|problem| self.problems.add(problem, "", Some(argument)))
            .ok()?;
        let value = self.value_node(value, argument, 0).to_json();
        let value = Node::from_json(&value, argument);
        Some(Assignment { path: path.meant_by(argument), value })
    }

    /// JSON if it is JSON, otherwise the text itself.
    pub fn value_node(&mut self, text: &str, argument: Origin, start: usize) -> Node {
        let origin = argument.at(start, start + text.len());
        let mut found = Problems::default();
        match parse(text, origin, &mut found) {
            Some(node) => {
                self.problems.append(found);
                node
            }
            None => Node::text(text.trim().to_owned(), origin),
        }
    }

    /// What is before `=`, the place of the whole argument, and where the value starts.
    pub fn read_paths<'t>(
        &mut self,
        option: &'static str,
        text: &'t str,
    ) -> Option<(&'t str, Origin, At)> {
        let shown = format!("{option} {text}");
        let argument = self.sources.add(COMMAND_LINE.to_owned(), PathBuf::new(), shown);
        let Some((path_text, _)) = text.split_once('=') else {
            let problem = Problem::NoEquals { option, text: text.to_owned() };
            self.problems.add(problem, "", Some(argument));
            return None;
        };
        let offset = path_text.len() + 1;
        Some((path_text, argument, At { offset, start: option.len() + 1 + offset }))
    }

    /// The path `text`, which stands `offset` bytes after the option and a blank in `argument`.
    pub fn read_path(
        &mut self,
        option: &'static str,
        text: &str,
        argument: Origin,
        offset: usize,
    ) -> Option<Path> {
        let start = option.len() + 1 + offset;
        let origin = argument.at(start, start + text.len());
        let path = match Path::read(text, origin, 0) {
            Ok(path) => path,
            Err(problem) => {
                self.problems.add(problem, "", Some(origin));
                return None;
            }
        };
        let mut known = component_names(self.tree);
        if option == "--set" {
            known.push(RUN.to_owned());
        }
        if !known.iter().any(|name| name == path.component()) {
            let name = path.component().to_owned();
            let problem = Problem::UnknownName { what: "component", name, known };
            self.problems.add(problem, text, Some(path.component_origin()));
            return None;
        }
        Some(path)
    }

    /// Keeps only the named configurations, and makes the sweep start from them.
    fn keep_configurations(&mut self, names: &[String]) {
        if names.is_empty() {
            return;
        }
        let known = configuration_names(self.tree);
        let mut kept = Vec::new();
        for name in names {
            let shown = format!("--configuration {name}");
            let argument = self.sources.add(COMMAND_LINE.to_owned(), PathBuf::new(), shown);
            if known.contains(name) {
                kept.push(Node::text(name.clone(), argument));
            } else {
                let (what, name) = ("configuration", name.clone());
                let problem = Problem::UnknownName { what, name, known: known.clone() };
                self.problems.add(problem, "", Some(argument));
            }
        }
        if let Some(NodeValue::List(items)) =
            self.tree.get_mut("configurations").map(|list| &mut list.value)
        {
            items.retain(|item| {
                let name = item.get("name").and_then(Node::as_text);
                name.is_none_or(|name| names.iter().any(|kept| kept == name))
            });
        }
        for part in SWEEP_PARTS {
            self.tree.remove(part);
        }
        if let Some(first) = kept.first() {
            let origin = first.origin;
            self.tree.insert("sweep_from", origin, Node::list(kept, origin));
        }
    }

    /// Sets a value in the components and, so that it wins, last in every configuration.
    fn fix(&mut self, assignment: &Assignment, varied: &[(&'static str, Variation)]) {
        let Assignment { path, value } = assignment;
        let text = path.to_string();
        let same = |(_, variation): &&(_, Variation)| {
            variation.paths().any(|other| other.to_string() == text)
        };
        if let Some((option, _)) = varied.iter().find(same) {
            let problem = Problem::FixedAndVaried { path: text, option };
            self.problems.add(problem, "", Some(path.origin));
            return;
        }
        if path.component() == RUN {
            self.fix_run(path, value);
            return;
        }
        let defaults = component_defaults(self.tree, path.component());
        let component =
            self.tree.get_mut("components").and_then(|all| all.get_mut(path.component()));
        if let Some(component) = component
            && let Err(problem) = path.set(component, &defaults, value.clone())
        {
            self.problems.add(problem, &text, Some(path.origin));
            return;
        }
        if let Some(NodeValue::List(items)) =
            self.tree.get_mut("configurations").map(|list| &mut list.value)
        {
            for item in items {
                if item.get("set").is_none() && matches!(item.value, NodeValue::Object(_)) {
                    item.insert("set", path.origin, Node::empty_object(path.origin));
                }
                if let Some(set) = item.get_mut("set") {
                    set.remove(&text);
                    set.insert(&text, path.origin, value.clone());
                }
            }
        }
        if self.drop_axis(&text) {
            self.warnings.push(format!("the sweep over {text} is dropped: --set fixes it"));
        }
    }

    fn fix_run(&mut self, path: &Path, value: &Node) {
        if self.tree.get(RUN).is_none() {
            self.tree.insert(RUN, path.origin, Node::empty_object(path.origin));
        }
        let defaults = serde_json::to_value(RunEntry::default()).unwrap_or_default();
        if let Some(run) = self.tree.get_mut(RUN)
            && let Err(problem) = path.set(run, &defaults, value.clone())
        {
            self.problems.add(problem, &path.to_string(), Some(path.origin));
        }
    }
}

/// Where a value starts: in the argument, and in the shown command line.
pub(super) struct At {
    pub offset: usize,
    pub start: usize,
}

/// Splits at each `separator` outside brackets and quotation marks, with each part's offset.
pub(super) fn split_list(text: &str, separator: char) -> Vec<(usize, &str)> {
    let (mut depth, mut quoted, mut escaped, mut from) = (0_i32, false, false, 0);
    let mut parts = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            _ if c == separator && !quoted && depth == 0 => {
                parts.push((from, &text[from..at]));
                from = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push((from, &text[from..]));
    parts
}

/// Names of the components.
pub fn component_names(tree: &Node) -> Vec<String> {
    let entries = tree.get("components").map_or(&[][..], Node::entries);
    entries.iter().map(|entry: &Entry| entry.key.clone()).collect()
}

/// Names of the configurations; [`BASE`] if there is none.
pub fn configuration_names(tree: &Node) -> Vec<String> {
    let items = tree.get("configurations").map_or(&[][..], Node::items);
    if items.is_empty() {
        return vec![BASE.to_owned()];
    }
    items
        .iter()
        .filter_map(|item| item.get("name").and_then(Node::as_text).map(str::to_owned))
        .collect()
}

/// The model of a component, if it is known.
pub fn model_of(component: &Node) -> Option<ModelKind> {
    let name = component.get("model").and_then(Node::as_text)?;
    ModelKind::ALL.iter().copied().find(|kind| kind.name() == name)
}

/// The default configuration of a component's model, as JSON.
pub fn component_defaults(tree: &Node, name: &str) -> Value {
    tree.get("components")
        .and_then(|all| all.get(name))
        .and_then(model_of)
        .and_then(|kind| serde_json::to_value(kind.default_config()).ok())
        .unwrap_or_else(|| json!({}))
}
