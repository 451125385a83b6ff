//! Which points of a grid do not meet the conditions.

use serde_json::Value;

use super::condition::{Condition, Fault, Quantity};
use super::{Design, GridPoint};
use crate::quantities::duration::parse_duration;
use crate::quantities::rate::parse_rate;
use crate::scenario::node::{Node, clip};
use crate::scenario::overrides::{component_defaults, component_names, model_of};
use crate::scenario::path::Path;
use crate::scenario::problem::{Problem, Problems};
use crate::scenario::schema_kind::is_parameter;
use crate::scenario::source::Origin;

/// For each point of the grid of `design`, in its order, whether a condition of the scenario `tree`
/// leaves it out; empty without conditions.
pub fn cut(tree: &Node, design: &Design, problems: &mut Problems) -> Vec<bool> {
    let mut conditions = Vec::new();
    for (index, node) in tree.get("where").map_or(&[][..], Node::items).iter().enumerate() {
        let Some(text) = node.as_text() else { continue };
        match Bound::read(text, node.origin, index, tree, design) {
            Ok(bound) => conditions.push(bound),
            Err((problem, origin)) => {
                problems.add(problem, &format!("where[{index}]"), Some(origin));
            }
        }
    }
    if conditions.is_empty() {
        return Vec::new();
    }
    let mut cut = Vec::new();
    for point in design.grid() {
        let mut meets = true;
        // A condition that cannot be reckoned at one point is not tried at the others.
        conditions.retain(|bound| match bound.holds(&point) {
            Ok(holds) => {
                meets &= holds;
                true
            }
            Err(fault) => {
                let (problem, origin) = bound.problem(fault);
                problems.add(problem, &format!("where[{}]", bound.index), Some(origin));
                false
            }
        });
        cut.push(!meets);
    }
    cut
}

/// A condition with what it needs to know of the scenario.
struct Bound<'t> {
    condition: Condition,
    text: &'t str,
    origin: Origin,
    index: usize,
    paths: Vec<Path>,
    /// For each of [`Design::from`], for each path: its value where no axis sets it.
    unswept: Vec<Vec<Option<Value>>>,
}

impl<'t> Bound<'t> {
    fn read(
        text: &'t str,
        origin: Origin,
        index: usize,
        tree: &Node,
        design: &Design,
    ) -> Result<Self, (Problem, Origin)> {
        let failed = |fault: Fault| located(text, origin, fault);
        let condition = Condition::read(text).map_err(failed)?;
        let known = component_names(tree);
        let mut paths = Vec::new();
        for (name, span) in &condition.paths {
            let place = within(text, origin, *span);
            let path = Path::read(name, place, 0).map_err(|problem| (problem, place))?;
            if !known.iter().any(|component| component == path.component()) {
                let (what, name) = ("component", path.component().to_owned());
                return Err((Problem::UnknownName { what, name, known }, place));
            }
            paths.push(path);
        }
        let unswept = (0..design.from.len()).map(|from| unswept(tree, design, from, &paths));
        let unswept = unswept.collect();
        let bound = Self { condition, text, origin, index, paths, unswept };
        bound.refuse_unknown_paths(tree, design)?;
        Ok(bound)
    }

    /// A path that leads to nothing, in no configuration and on no axis, is a slip of the pen.
    fn refuse_unknown_paths(&self, tree: &Node, design: &Design) -> Result<(), (Problem, Origin)> {
        for (index, path) in self.paths.iter().enumerate() {
            let given = self.unswept.iter().any(|values| values[index].is_some());
            let axes = design.axes.iter().flat_map(|axis| &axis.paths);
            let towards = |axis: &Path| path.to_string().starts_with(&axis.to_string());
            if given || axes.into_iter().any(towards) {
                continue;
            }
            let defaults = component_defaults(tree, path.component());
            // A parameter that a model knows but nothing sets.
            let model = tree.get("components").and_then(|all| all.get(path.component()));
            if model.and_then(model_of).is_some_and(|kind| is_parameter(kind, path)) {
                let reason = format!("{path} is not set; set it in the components or sweep it");
                let text = self.text.to_owned();
                return Err((Problem::BadCondition { text, reason }, path.origin));
            }
            let known = nearest_keys(&path.to_string(), &defaults);
            let (what, name) = ("parameter", path.to_string());
            return Err((Problem::UnknownName { what, name, known }, path.origin));
        }
        Ok(())
    }

    fn holds(&self, point: &GridPoint<'_>) -> Result<bool, Fault> {
        self.condition.holds(&mut |index| {
            let path = &self.paths[index];
            let (name, span) = &self.condition.paths[index];
            let swept = point.axes.iter().rev().find_map(|(axis, value)| path.within(axis, value));
            let value = match swept {
                Some(value) => value.map(Node::to_json),
                None => self.unswept[point.from][index].clone(),
            };
            quantity(value.as_ref()).map_err(|what| Fault::new(format!("{name} {what}"), *span))
        })
    }

    fn problem(&self, fault: Fault) -> (Problem, Origin) {
        located(self.text, self.origin, fault)
    }
}

/// The paths next to `path`, as far as it leads into `defaults`.
fn nearest_keys(path: &str, defaults: &Value) -> Vec<String> {
    let mut parts = path.split('.');
    let mut walked = parts.next().unwrap_or_default().to_owned();
    let mut value = defaults;
    for part in parts {
        let Some(inner) = value.get(part).filter(|inner| inner.is_object()) else { break };
        value = inner;
        walked = format!("{walked}.{part}");
    }
    let keys = value.as_object().into_iter().flat_map(|map| map.keys());
    keys.map(|key| format!("{walked}.{key}")).collect()
}

/// The values of `paths` in the components as the configuration that a grid starts from leaves them.
fn unswept(tree: &Node, design: &Design, from: usize, paths: &[Path]) -> Vec<Option<Value>> {
    let configuration = design.from[from].and_then(|index| design.configurations.get(index));
    let value = |path: &Path| {
        let defaults = component_defaults(tree, path.component());
        let mut component = tree.get("components")?.get(path.component())?.clone();
        for (set, value) in configuration.map_or(&[][..], |configuration| &configuration.set) {
            if set.component() == path.component() {
                // What does not fit is reported when the point is made.
                let _ = set.set(&mut component, &defaults, value.clone());
            }
        }
        let given = path.get(&component).map(Node::to_json);
        given.or_else(|| path.get_json(&defaults).cloned())
    };
    paths.iter().map(value).collect()
}

/// A value as a number with its unit; else what it is instead.
fn quantity(value: Option<&Value>) -> Result<Quantity, String> {
    let shown = |value: &Value| clip(&value.to_string(), 40);
    match value {
        None => Err("has no value".to_owned()),
        Some(Value::Null) => {
            Err("is not set here (null); set it in the components or sweep it".to_owned())
        }
        Some(Value::Number(number)) => {
            Ok(Quantity { number: number.as_f64().unwrap_or(f64::NAN), time: 0 })
        }
        Some(Value::String(text)) => {
            if let Ok(duration) = parse_duration(text) {
                return Ok(Quantity { number: duration.as_seconds(), time: 1 });
            }
            let rate = parse_rate(text)
                .map_err(|_| format!("is \"{}\", which is no number", clip(text, 40)))?;
            Ok(Quantity { number: rate.as_per_second(), time: -1 })
        }
        Some(Value::Object(map)) if map.get("distribution").is_some() => {
            let constant = map.get("distribution").and_then(Value::as_str) == Some("constant");
            match map.get("value") {
                Some(value) if constant => quantity(Some(value)),
                _ => Err("is a distribution; name a parameter of it, such as .mean".to_owned()),
            }
        }
        Some(other) => Err(format!("is {}, which is no number", shown(other))),
    }
}

fn located(text: &str, origin: Origin, fault: Fault) -> (Problem, Origin) {
    let Fault { reason, span } = fault;
    (Problem::BadCondition { text: text.to_owned(), reason }, within(text, origin, span))
}

/// Bytes of a text in the file, where it has quotation marks around it; the whole if it was written
/// with escapes.
fn within(text: &str, origin: Origin, (from, to): (usize, usize)) -> Origin {
    match origin.length().checked_sub(text.len()) {
        Some(marks @ (0 | 2)) => origin.within(from + marks / 2, to.max(from + 1) + marks / 2),
        _ => origin,
    }
}
