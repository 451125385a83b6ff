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

/// The groups: not pinned down, set by the scenario, with a source.
pub fn groups(stored: &Stored) -> [Group; 3] {
    let group = |title, open| Group { title, open, items: Vec::new() };
    let mut open = group("Not pinned down by any source", true);
    let mut set = group("Set by the scenario", false);
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
                    set.items.push(item(value, "the scenario"));
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
    [open, set, sourced]
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
