//! What kind of values a path takes, by the schema of its model.

use serde_json::Value;

use super::file::{component_schema, schema_ref};
use super::path::{Path, Step};
use super::validate::{array, resolve_in};
use crate::models::ModelKind;

/// The schema of a component with the model `kind`.
fn component_of(kind: ModelKind) -> Option<&'static Value> {
    array(component_schema(), "anyOf").iter().find(|branch| {
        branch.pointer("/properties/model/const").and_then(Value::as_str) == Some(kind.name())
    })
}

/// Whether the schema of a component with the model `kind` says of each key by itself what is
/// allowed.
#[must_use]
pub fn keys_are_independent(kind: ModelKind) -> bool {
    let joint = ["anyOf", "oneOf", "allOf", "$ref"];
    component_of(kind).is_some_and(|schema| joint.iter().all(|key| schema.get(key).is_none()))
}

/// Whether the model has a parameter at `path`, set or not.
#[must_use]
pub fn is_parameter(kind: ModelKind, path: &Path) -> bool {
    !schemas_at(kind, path).is_empty()
}

/// What may stand at `path`.
fn schemas_at(kind: ModelKind, path: &Path) -> Vec<&'static Value> {
    let root = schema_ref();
    let mut schemas: Vec<&Value> = component_of(kind).into_iter().collect();
    for step in path.steps_within_component() {
        let below = alternatives(root, &schemas).into_iter().filter_map(|schema| match step {
            Step::Key(key) => schema.get("properties").and_then(|all| all.get(key)),
            Step::Index(index) => {
                array(schema, "prefixItems").get(*index).or_else(|| schema.get("items"))
            }
        });
        schemas = below.collect();
    }
    schemas
}

/// Whether the parameter at `path` of a component with the model `kind` takes whole numbers and no
/// others.
#[must_use]
pub fn takes_whole_numbers(kind: ModelKind, path: &Path) -> bool {
    let root = schema_ref();
    let schemas = schemas_at(kind, path);
    let is = |schema: &&Value, kind: &str| match schema.get("type") {
        Some(Value::String(name)) => name == kind,
        Some(Value::Array(names)) => names.iter().any(|name| name == kind),
        _ => false,
    };
    let schemas = alternatives(root, &schemas);
    schemas.iter().any(|schema| is(schema, "integer"))
        && !schemas.iter().any(|schema| is(schema, "number"))
}

/// `schemas` with what they refer to and may be instead.
fn alternatives<'s>(root: &'s Value, schemas: &[&'s Value]) -> Vec<&'s Value> {
    let mut all: Vec<&Value> = schemas.to_vec();
    let mut next = 0;
    while let Some(&schema) = all.get(next) {
        next += 1;
        let referred = resolve_in(root, schema);
        let inner = ["anyOf", "oneOf", "allOf"].into_iter().flat_map(|key| array(schema, key));
        for other in std::iter::once(referred).chain(inner) {
            if !all.iter().any(|known| std::ptr::eq(*known, other)) {
                all.push(other);
            }
        }
    }
    all
}
