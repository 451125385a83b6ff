//! What the figures rest on: every parameter with its value and where it comes from, those first
//! that no source pins down.

use serde::Serialize;
use serde_json::Value;

use super::super::stored::{Stored, value_text};
use crate::models::ModelKind;
use crate::scenario::parameters::{Parameter, flatten, parameters};

/// Parameters with something in common.
#[derive(Debug, PartialEq, Serialize)]
pub struct Group {
    title: &'static str,
    open: bool,
    items: Vec<Item>,
}

/// A parameter.
#[derive(Debug, PartialEq, Serialize)]
pub struct Item {
    path: String,
    value: String,
    source: String,
    description: String,
}

/// How a source begins that is none.
const NOT_PINNED: [&str; 3] = ["assumption", "inferred", "no source"];

/// What is said of a value that the scenario's file sets: it has no place for a source of its own.
const OF_THE_SCENARIO: &str = "set by the scenario, which names no source for this value";

/// The groups: not pinned down, those first that the scenario sets; and with a source.
pub fn groups(stored: &Stored) -> [Group; 2] {
    let group = |title, open| Group { title, open, items: Vec::new() };
    let mut open = group("Not pinned down by any source", true);
    let mut set = Vec::new();
    let mut sourced = group("Defaults with a source", false);
    let components = stored.manifest.pointer("/resolved/components").and_then(Value::as_object);
    for (name, component) in components.into_iter().flatten() {
        let model = component.get("model").and_then(Value::as_str);
        let Some(kind) = ModelKind::ALL.iter().find(|kind| Some(kind.name()) == model) else {
            continue;
        };
        let all = parameters(*kind);
        for parameter in flatten(&all) {
            let own = value_at(component, &parameter.path);
            let default_applies = parameter.parts.is_empty()
                && parameter.only_if.is_none()
                && !parameter.path.contains('[')
                && !parameter.default.is_null();
            let item = |value: &Value, source: &str| Item {
                path: format!("{name}.{}", parameter.path),
                value: value_text(value),
                source: source.to_owned(),
                description: parameter.description.clone(),
            };
            match (own, default_applies) {
                // An object that was set shows by its parts.
                (Some(value), _) if parameter.parts.is_empty() || !value.is_object() => {
                    set.push(item(value, OF_THE_SCENARIO));
                }
                (None, true) if is_pinned(parameter) => {
                    let source = parameter.source.as_deref().unwrap_or_default();
                    sourced.items.push(item(&parameter.default, source));
                }
                (None, true) => {
                    let source = parameter.source.as_deref().unwrap_or("none given");
                    open.items.push(item(&parameter.default, source));
                }
                _ => {}
            }
        }
    }
    open.items.splice(0..0, set);
    [open, sourced]
}

/// What one configuration sets, key by key: a cell for each configuration, empty where it leaves the
/// key as the components have it.
#[derive(Debug, PartialEq, Serialize)]
pub struct Change {
    path: String,
    base: String,
    cells: Vec<String>,
}

/// What the configurations change against the components as they stand.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Changes {
    configurations: Vec<String>,
    rows: Vec<Change>,
}

/// Of the configurations that were run.
pub fn changes(stored: &Stored) -> Changes {
    let resolved = |pointer: &str| stored.manifest.pointer(pointer);
    let all = resolved("/resolved/configurations").and_then(Value::as_array);
    let run = |name: &str| {
        let mut points = stored.summary.points.iter();
        points.any(|point| point.configuration == name || point.base() == name)
    };
    let named: Vec<(&str, &Value)> = all
        .into_iter()
        .flatten()
        .filter_map(|one| Some((one.get("name")?.as_str()?, one.get("set")?)))
        .filter(|(name, _)| run(name))
        .collect();
    let mut paths: Vec<&String> = Vec::new();
    for path in named.iter().filter_map(|(_, set)| set.as_object()).flat_map(|set| set.keys()) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    let components = resolved("/resolved/components");
    let row = |path: &&String| Change {
        path: (*path).clone(),
        base: components.and_then(|all| base_of(all, path)).unwrap_or_default(),
        cells: named
            .iter()
            .map(|(_, set)| set.get(path.as_str()).map_or_else(String::new, value_text))
            .collect(),
    };
    Changes {
        rows: paths.iter().map(row).collect(),
        configurations: named.into_iter().map(|(name, _)| name.to_owned()).collect(),
    }
}

/// The value that a component has at `path`, which begins with its name, or else the default.
fn base_of(components: &Value, path: &str) -> Option<String> {
    let (name, own) = path.split_once('.')?;
    let component = components.get(name)?;
    if let Some(value) = value_at(component, own) {
        return Some(value_text(value));
    }
    let model = component.get("model").and_then(Value::as_str);
    let kind = ModelKind::ALL.iter().find(|kind| Some(kind.name()) == model)?;
    let all = parameters(*kind);
    let parameter = flatten(&all).into_iter().find(|parameter| parameter.path == own)?;
    let known = !parameter.default.is_null();
    Some(if known { value_text(&parameter.default) } else { "not set".to_owned() })
}

fn is_pinned(parameter: &Parameter) -> bool {
    parameter.source.as_deref().is_some_and(|source| {
        let source = source.trim_start().to_lowercase();
        !NOT_PINNED.iter().any(|start| source.starts_with(start))
    })
}

/// The value at `path`, keys with dots between.
fn value_at<'v>(component: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(component, |value, key| value.get(key))
}
