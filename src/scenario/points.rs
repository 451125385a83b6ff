//! From the tree of values to the typed points.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

use super::design::{Design, PointDesign};
use super::file::{component_schema, schema_ref};
use super::identity::{ComponentIdentity, canonical_text, point_id};
use super::node::{Node, NodeValue};
use super::overrides::model_of;
use super::path::Path;
use super::problem::{Problem, Problems};
use super::recording::Recordings;
use super::schema_kind::keys_are_independent;
use super::source::Sources;
use super::types::Point;
use super::validate::Validator;
use crate::engine::SimDuration;
use crate::models::{Finding, ModelConfig, ModelKind, Severity};

/// Makes the points of one scenario.
pub struct PointBuilder<'a> {
    components: Vec<Component>,
    connections: Vec<(String, String)>,
    /// When runs end.
    horizon: SimDuration,
    recordings: Recordings,
    sources: &'a Sources,
    problems: &'a mut Problems,
    /// What the models warn of, with the first configuration that has it and how many have it.
    warnings: Vec<(String, String, usize)>,
    warned: HashMap<String, usize>,
}

/// A component as it stands in the file.
struct Component {
    name: String,
    kind: ModelKind,
    node: Node,
    defaults: serde_json::Value,
    /// Once it was needed: the result.
    ready: Option<Option<Rc<Ready>>>,
    checked: Checked,
}

/// What is known to be fine, so that the points of a large grid are not checked key by key again.
#[derive(Default)]
struct Checked {
    /// Whether the component is fine as it stands in the file, once it was asked.
    base: Option<bool>,
    /// Keys of the component with values that are fine, as JSON.
    keys: HashSet<(String, String)>,
}

/// A component that can be run.
struct Ready {
    config: ModelConfig,
    identity: ComponentIdentity,
    warnings: Vec<String>,
}

impl<'a> PointBuilder<'a> {
    /// For the components of the scenario `tree` whose model is known.
    pub fn new(
        tree: &Node,
        connections: Vec<(String, String)>,
        horizon: SimDuration,
        sources: &'a Sources,
        problems: &'a mut Problems,
    ) -> Self {
        let entries = tree.get("components").map_or(&[][..], Node::entries);
        let components = entries
            .iter()
            .filter_map(|entry| {
                let kind = model_of(&entry.value)?;
                let defaults = serde_json::to_value(kind.default_config()).unwrap_or_default();
                let (name, node) = (entry.key.clone(), entry.value.clone());
                let checked = Checked::default();
                Some(Component { name, kind, node, defaults, ready: None, checked })
            })
            .collect();
        Self {
            components,
            connections,
            horizon,
            recordings: Recordings::default(),
            sources,
            problems,
            warnings: Vec::new(),
            warned: HashMap::new(),
        }
    }

    /// All points of `design`; those with problems are left out.
    pub fn build(&mut self, design: &Design) -> Vec<Point> {
        let mut points = Vec::new();
        let mut names = HashSet::new();
        for point_design in design.points() {
            if self.problems.is_full() {
                break;
            }
            let twice = !names.insert(point_design.name.clone());
            if twice && let Some((path, value)) = point_design.axes.last() {
                let name = point_design.name.clone();
                let problem = Problem::DuplicateName { what: "point", name };
                self.problems.add(problem, &format!("sweep.{path}"), Some(value.origin));
            }
            points.extend(self.point(&point_design));
        }
        points
    }

    /// Reports what is wrong with a point that is not run.
    pub fn check(&mut self, design: &PointDesign<'_>) {
        let _ = self.point(design);
    }

    /// The files of recorded values that were read.
    #[must_use]
    pub fn recorded_files(&self) -> BTreeSet<PathBuf> {
        self.recordings.files()
    }

    /// One sentence for each thing that the models warn of.
    pub fn into_warnings(self) -> Vec<String> {
        let sentence = |(text, first, count): (String, String, usize)| match count {
            1 => format!("{first}: {text}"),
            _ => format!("{first} and {} more: {text}", count - 1),
        };
        self.warnings.into_iter().map(sentence).collect()
    }

    fn point(&mut self, design: &PointDesign<'_>) -> Option<Point> {
        let set = design.configuration.map_or(&[][..], |configuration| &configuration.set[..]);
        let all: Vec<(&Path, &Node)> = set
            .iter()
            .map(|(path, value)| (path, value))
            .chain(design.axes.iter().copied())
            .collect();
        let mut ready = Vec::with_capacity(self.components.len());
        for index in 0..self.components.len() {
            let name = &self.components[index].name;
            let own: Vec<_> =
                all.iter().filter(|(path, _)| path.component() == name).copied().collect();
            ready.push(self.component(index, &own, &design.name));
        }
        let ready: Vec<Rc<Ready>> = ready.into_iter().collect::<Option<_>>()?;
        for warning in ready.iter().flat_map(|ready| &ready.warnings) {
            self.warn(warning, &design.name);
        }
        let identities: Vec<&ComponentIdentity> = ready.iter().map(|r| &r.identity).collect();
        let axes = design.axes.iter().map(|(path, value)| (path.to_string(), value.to_json()));
        let components =
            ready.iter().map(|ready| (ready.identity.name.clone(), ready.config.clone()));
        Some(Point {
            id: point_id(&identities, &self.connections),
            configuration: design.name.clone(),
            note: design.configuration.and_then(|configuration| configuration.note.clone()),
            axes: axes.collect(),
            components: components.collect(),
        })
    }

    fn component(
        &mut self,
        index: usize,
        set: &[(&Path, &Node)],
        configuration: &str,
    ) -> Option<Rc<Ready>> {
        if set.is_empty() {
            if self.components[index].ready.is_none() {
                let node = self.components[index].node.clone();
                let ready = self.prepare(index, node, &[], configuration);
                self.components[index].ready = Some(ready);
            }
            return self.components[index].ready.clone().flatten();
        }
        let component = &self.components[index];
        let mut node = component.node.clone();
        let mut keys: Vec<&str> = Vec::new();
        for (path, value) in set {
            keys.extend(path.own_key());
            if let Err(problem) = path.set(&mut node, &component.defaults, (*value).clone()) {
                self.problems.add(problem, &path.to_string(), Some(path.origin));
                return None;
            }
        }
        keys.sort_unstable();
        keys.dedup();
        self.prepare(index, node, &keys, configuration)
    }

    /// Checks a component, whose `keys` are not as in the file, against the schema.
    fn validate(&mut self, index: usize, node: &Node, keys: &[&str], path: &str) -> Problems {
        let check = |node: &Node| {
            let mut found = Problems::default();
            Validator::new(schema_ref()).check(component_schema(), node, path, &mut found);
            found
        };
        let component = &mut self.components[index];
        if keys.is_empty() || !keys_are_independent(component.kind) {
            return check(node);
        }
        let Component { node: base, checked, .. } = component;
        if !*checked.base.get_or_insert_with(|| check(base).is_empty()) {
            return check(node);
        }
        let value = |key: &str| node.get(key).map_or_else(String::new, |v| v.to_json().to_string());
        let pairs: Vec<_> = keys.iter().map(|&key| (key.to_owned(), value(key))).collect();
        if pairs.iter().all(|pair| checked.keys.contains(pair)) {
            return Problems::default();
        }
        // The rest is as it was when it was found fine.
        let changed = |key: &str| key == "model" || keys.contains(&key);
        let entries = node.entries().iter().filter(|entry| changed(&entry.key));
        let part =
            Node { value: NodeValue::Object(entries.cloned().collect()), origin: node.origin };
        let found = check(&part);
        if found.is_empty() {
            checked.keys.extend(pairs);
        }
        found
    }

    /// Validates and reads one component, whose `changed` keys are not as in the file.
    fn prepare(
        &mut self,
        index: usize,
        mut node: Node,
        changed: &[&str],
        configuration: &str,
    ) -> Option<Rc<Ready>> {
        let Component { name, kind, .. } = &self.components[index];
        let (name, kind) = (name.clone(), *kind);
        let path = format!("components.{name}");
        let mut found = self.validate(index, &node, changed, &path);
        if found.is_empty() {
            self.recordings.resolve(&mut node, &path, self.sources, &mut found);
        }
        if !found.is_empty() {
            self.problems.append(found);
            return None;
        }
        let mut json = node.to_json();
        if let Some(map) = json.as_object_mut() {
            map.shift_remove("model");
        }
        let config = match kind.read_config(json) {
            Ok(config) => config,
            Err(error) => {
                let within = error.path().to_string();
                let origin = node.nearest(keys(&within)).origin;
                let reason = error.inner().to_string();
                let problem = Problem::Unacceptable { reason };
                self.problems.add(problem, &format!("{path}.{within}"), Some(origin));
                return None;
            }
        };
        let mut warnings = Vec::new();
        let mut possible = true;
        for finding in config.check().into_iter().chain(config.check_horizon(self.horizon)) {
            match finding.severity {
                Severity::Error => {
                    possible = false;
                    self.impossible(&path, &node, finding, configuration);
                }
                Severity::Warning => warnings.push(self.warning_text(&path, &node, &finding)),
            }
        }
        if !possible {
            return None;
        }
        let parameters = canonical_text(&config);
        let identity = ComponentIdentity { name, model: kind.name(), parameters };
        Some(Rc::new(Ready { config, identity, warnings }))
    }

    fn impossible(&mut self, path: &str, node: &Node, finding: Finding, configuration: &str) {
        let origin = node.nearest(keys(&finding.path)).origin;
        let at = format!("{path}.{} in \"{configuration}\"", finding.path);
        let Finding { problem, allowed, .. } = finding;
        self.problems.add(Problem::Impossible { problem, allowed }, &at, Some(origin));
    }

    fn warning_text(&self, path: &str, node: &Node, finding: &Finding) -> String {
        let place = self.sources.line(node.nearest(keys(&finding.path)).origin);
        format!("{path}.{}: {}; {} ({place})", finding.path, finding.problem, finding.allowed)
    }

    fn warn(&mut self, text: &str, configuration: &str) {
        match self.warned.get(text).and_then(|index| self.warnings.get_mut(*index)) {
            Some(known) => known.2 += 1,
            None => {
                self.warned.insert(text.to_owned(), self.warnings.len());
                self.warnings.push((text.to_owned(), configuration.to_owned(), 1));
            }
        }
    }
}

/// The keys and indices of a path such as `flap.members[2].count`.
fn keys(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[', ']']).filter(|key| !key.is_empty())
}
