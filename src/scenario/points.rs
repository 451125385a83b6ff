//! From the tree of values to the typed points.

mod effects;
mod fine;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::mem::take;
use std::path::PathBuf;
use std::sync::Arc;

use effects::{Effect, Effects, effects};
use fine::{Checked, check, pairs, part};
use rayon::prelude::*;

use super::design::{Design, PointDesign};
use super::identity::{ComponentIdentity, canonical_text, point_id};
use super::node::Node;
use super::overrides::{RUN, model_of};
use super::path::Path;
use super::problem::{Problem, Problems};
use super::reading::NodeReader;
use super::recording::Recordings;
use super::schema_kind::keys_are_independent;
use super::source::{Origin, Sources};
use super::types::Point;
use crate::engine::SimDuration;
use crate::models::{Finding, ModelConfig, ModelKind, Severity};

/// The key of a component that names its model.
const MODEL: &str = "model";
/// So many points are made at once.
const BLOCK: usize = 1 << 10;
/// Fewer than so many are not worth several threads.
const FEW: usize = 32;

/// Makes the points of one scenario.
pub struct PointBuilder<'a> {
    components: Vec<Component>,
    connections: Vec<(String, String)>,
    /// When runs end.
    horizon: SimDuration,
    /// Where that is said, if anywhere.
    horizon_origin: Option<Origin>,
    recordings: Recordings,
    sources: &'a Sources,
    problems: &'a mut Problems,
    /// What the models warn of, with the first configuration that has it and how many have it.
    warnings: Vec<(String, String, usize)>,
    warned: HashMap<String, usize>,
    effects: Effects,
}

/// A component as it stands in the file.
struct Component {
    name: String,
    kind: ModelKind,
    node: Node,
    defaults: serde_json::Value,
    /// Once it was needed: the result.
    ready: Option<Option<Arc<Ready>>>,
    checked: Checked,
}

/// A component that can be run.
struct Ready {
    config: ModelConfig,
    identity: ComponentIdentity,
    warnings: Vec<String>,
    effects: Vec<Effect>,
}

impl Ready {
    /// A component `name` that was read from `node`.
    fn new(
        name: String,
        kind: ModelKind,
        config: ModelConfig,
        node: &Node,
        warnings: Vec<String>,
    ) -> Self {
        let parameters = canonical_text(&config);
        let identity = ComponentIdentity { name, model: kind.name(), parameters };
        let effects = effects(&config, node);
        Self { config, identity, warnings, effects }
    }
}

/// What a point sets of the component `name`, the last of which wins.
fn settings<'d>(design: &PointDesign<'d>, name: &str) -> Vec<(&'d Path, &'d Node)> {
    let set = design.configuration.map_or(&[][..], |configuration| &configuration.set[..]);
    let set = set.iter().map(|(path, value)| (path, value));
    let all = set.chain(design.axes.iter().copied());
    all.filter(|(path, _)| path.component() == name).collect()
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
            horizon_origin: tree.get(RUN).and_then(|run| run.get("horizon")).map(|h| h.origin),
            recordings: Recordings::default(),
            sources,
            problems,
            warnings: Vec::new(),
            warned: HashMap::new(),
            effects: Effects::default(),
        }
    }

    /// All points of `design`; those with problems are left out.
    pub fn build(&mut self, design: &Design) -> Vec<Point> {
        let mut points = Vec::new();
        let mut names = HashSet::new();
        let mut designs = design.points();
        // The first few find out what all have in common.
        let mut size = 1;
        loop {
            let block: Vec<PointDesign<'_>> = designs.by_ref().take(size).collect();
            if block.is_empty() {
                return points;
            }
            size = (size * 2).min(BLOCK);
            let known = &*self;
            let fine: Vec<_> = match block.len() {
                FEW.. => block.par_iter().map(|design| known.fine_point(design)).collect(),
                few => (0..few).map(|_| None).collect(),
            };
            for (point_design, fine) in block.iter().zip(fine) {
                if self.problems.is_full() {
                    return points;
                }
                let twice = !names.insert(point_design.name.clone());
                if twice && let Some((path, value)) = point_design.axes.last() {
                    let name = point_design.name.clone();
                    let problem = Problem::DuplicateName { what: "point", name };
                    self.problems.add(problem, &format!("sweep.{path}"), Some(value.origin));
                }
                let point = match fine {
                    Some(ready) => Some(self.finish(point_design, ready)),
                    None => self.point(point_design),
                };
                points.extend(point);
            }
        }
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
    pub fn into_warnings(mut self) -> Vec<String> {
        for (name, unused, origin, first, count) in take(&mut self.effects).into_unused() {
            let text = self.warning_at(&format!("components.{name}"), origin, &unused.into());
            self.warnings.push((text, first, count));
        }
        let sentence = |(text, first, count): (String, String, usize)| match count {
            1 => format!("{first}: {text}"),
            _ => format!("{first} and {} more: {text}", count - 1),
        };
        self.warnings.into_iter().map(sentence).collect()
    }

    fn point(&mut self, design: &PointDesign<'_>) -> Option<Point> {
        let mut ready = Vec::with_capacity(self.components.len());
        for index in 0..self.components.len() {
            let own = settings(design, &self.components[index].name);
            ready.push(self.component(index, &own, &design.name));
        }
        let ready: Vec<Arc<Ready>> = ready.into_iter().collect::<Option<_>>()?;
        Some(self.finish(design, ready))
    }

    /// The point whose components are these.
    fn finish(&mut self, design: &PointDesign<'_>, ready: Vec<Arc<Ready>>) -> Point {
        for component in &ready {
            component.warnings.iter().for_each(|warning| self.warn(warning, &design.name));
            self.effects.add(&component.identity.name, &design.name, &component.effects);
        }
        let identities: Vec<&ComponentIdentity> = ready.iter().map(|r| &r.identity).collect();
        let id = point_id(&identities, &self.connections);
        let axes = design.axes.iter().map(|(path, value)| (path.to_string(), value.to_json()));
        let component = |ready: Arc<Ready>| match Arc::try_unwrap(ready) {
            Ok(Ready { identity, config, .. }) => (identity.name, config),
            Err(shared) => (shared.identity.name.clone(), shared.config.clone()),
        };
        Point {
            id,
            configuration: design.name.clone(),
            note: design.configuration.and_then(|configuration| configuration.note.clone()),
            axes: axes.collect(),
            components: ready.into_iter().map(component).collect(),
        }
    }

    fn component(
        &mut self,
        index: usize,
        set: &[(&Path, &Node)],
        configuration: &str,
    ) -> Option<Arc<Ready>> {
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
        let component = &mut self.components[index];
        if keys.is_empty() || !keys_are_independent(component.kind) {
            return check(node, path);
        }
        let Component { node: base, checked, .. } = component;
        if !*checked.base.get_or_insert_with(|| check(base, path).is_empty()) {
            return check(node, path);
        }
        if checked.has(node, keys) {
            return Problems::default();
        }
        let found = check(&part(node, keys), path);
        if found.is_empty() {
            checked.keys.extend(pairs(node, keys));
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
    ) -> Option<Arc<Ready>> {
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
        let config = match read_config(kind, &node) {
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
        let relations = config.check().into_iter().map(|finding| (finding, None));
        let (late, place) = (config.check_horizon(self.horizon).into_iter(), self.horizon_origin);
        for (finding, beside) in relations.chain(late.map(|late| (late, place))) {
            match finding.severity {
                Severity::Error => {
                    possible = false;
                    self.impossible(&path, &node, beside, finding, configuration);
                }
                Severity::Warning => warnings.push(self.warning_text(&path, &node, &finding)),
            }
        }
        if !possible {
            return None;
        }
        Some(Arc::new(Ready::new(name, kind, config, &node, warnings)))
    }

    /// Reports a relation between values of `node`, and perhaps one that was said at `beside`.
    fn impossible(
        &mut self,
        path: &str,
        node: &Node,
        beside: Option<Origin>,
        finding: Finding,
        configuration: &str,
    ) {
        let origin = node.nearest(keys(&finding.path)).origin;
        let at = format!("{path}.{} in \"{configuration}\"", finding.path);
        let Finding { problem, mut allowed, .. } = finding;
        // A relation between two values is shown at one of them; the other may be what is new.
        if self.sources.argument(origin).is_none() {
            let mut said = Vec::new();
            arguments(node, self.sources, &mut said);
            said.extend(beside.and_then(|origin| self.sources.argument(origin)));
            said.dedup();
            if !said.is_empty() {
                allowed = format!("{allowed}; the command line says {}", said.join(" "));
            }
        }
        self.problems.add(Problem::Impossible { problem, allowed }, &at, Some(origin));
    }

    fn warning_text(&self, path: &str, node: &Node, finding: &Finding) -> String {
        self.warning_at(path, node.nearest(keys(&finding.path)).origin, finding)
    }

    fn warning_at(&self, path: &str, origin: Origin, finding: &Finding) -> String {
        let place = self.sources.line(origin);
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

/// The arguments of the command line that anything in `node` comes from.
fn arguments<'s>(node: &Node, sources: &'s Sources, found: &mut Vec<&'s str>) {
    found.extend(sources.argument(node.origin));
    node.items().iter().for_each(|item| arguments(item, sources, found));
    node.entries().iter().for_each(|entry| arguments(&entry.value, sources, found));
}

/// The configuration of a component; the way that knows the place of a mistake is several times slower.
fn read_config(
    kind: ModelKind,
    node: &Node,
) -> Result<ModelConfig, serde_path_to_error::Error<serde_json::Error>> {
    kind.config_from(NodeReader::without(node, MODEL)).or_else(|_| {
        let mut json = node.to_json();
        if let Some(map) = json.as_object_mut() {
            map.shift_remove(MODEL);
        }
        kind.read_config(json)
    })
}

/// The keys and indices of a path such as `flap.members[2].count`.
fn keys(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[', ']']).filter(|key| !key.is_empty())
}
