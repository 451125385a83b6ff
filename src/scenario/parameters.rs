//! The parameters of a model, as its schema and its defaults tell them.

use serde::Serialize;
use serde_json::{Map, Value};

use super::file::{component_schema, schema_ref};
use super::parse::join;
use super::schema_text::{allowed_text, short_text};
use super::validate::{array, is_null, resolve_in};
use crate::models::ModelKind;

/// What a user can set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Keys from the component downwards; `[]` stands for every item of a list.
    pub path: String,
    /// The unit of a plain number, or the kind of quantity.
    pub unit: Option<String>,
    /// Which values are allowed.
    pub allowed: String,
    /// The value if it is left out; `null` if it is then not set.
    pub default: Value,
    /// Where the default comes from.
    pub source: Option<String>,
    /// What it is.
    pub description: String,
    /// For a parameter that only one kind of its object has: which, as `key = value`.
    pub only_if: Option<String>,
    /// The keys within it, if it is an object with fixed keys.
    #[serde(skip)]
    pub parts: Vec<Parameter>,
}

/// The parameters of `kind`, in the order of its configuration, those within objects as
/// [`Parameter::parts`].
#[must_use]
pub fn parameters(kind: ModelKind) -> Vec<Parameter> {
    let branches = array(component_schema(), "anyOf");
    let own = branches.iter().find(|branch| {
        branch.pointer("/properties/model/const").and_then(Value::as_str) == Some(kind.name())
    });
    let defaults = serde_json::to_value(kind.default_config()).unwrap_or_default();
    own.map_or_else(Vec::new, |schema| of_object(schema, &defaults, "", None))
}

/// All parameters in one list, an object before what is within it.
#[must_use]
pub fn flatten(parameters: &[Parameter]) -> Vec<&Parameter> {
    parameters
        .iter()
        .flat_map(|parameter| {
            std::iter::once(parameter).chain(flatten(&parameter.parts)).collect::<Vec<_>>()
        })
        .collect()
}

fn of_object(
    schema: &Value,
    defaults: &Value,
    prefix: &str,
    only_if: Option<&str>,
) -> Vec<Parameter> {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    properties
        .iter()
        .filter(|(key, property)| !(prefix.is_empty() && *key == "model") && !is_tag(property))
        .map(|(key, property)| {
            let default = match defaults.get(key) {
                Some(default) => default.clone(),
                None => property.get("default").cloned().unwrap_or(Value::Null),
            };
            parameter(property, default, &join(prefix, key), only_if)
        })
        .collect()
}

fn parameter(property: &Value, default: Value, path: &str, only_if: Option<&str>) -> Parameter {
    let root = schema_ref();
    let schema = not_null(resolve_in(root, property));
    let text = |key: &str| {
        let value = property.get(key).or_else(|| schema.get(key));
        value.and_then(Value::as_str).map(str::to_owned)
    };
    // A distribution is one quantity, whatever keys it has.
    let is_quantity = short_text(schema).is_some();
    let parts = if is_quantity { Vec::new() } else { parts(schema, &default, path) };
    let (unit, allowed) = short_text(schema)
        .unwrap_or_else(|| (text("x-unit"), allowed_without_unit(root, property)));
    Parameter {
        path: path.to_owned(),
        unit,
        allowed,
        default,
        source: text("x-source"),
        description: text("description").unwrap_or_default(),
        only_if: only_if.map(str::to_owned),
        parts,
    }
}

/// What is within an object, a choice of objects, or the items of a list.
fn parts(schema: &Value, default: &Value, path: &str) -> Vec<Parameter> {
    let root = schema_ref();
    if schema.get("properties").is_some() {
        return of_object(schema, default, path, None);
    }
    if let Some(items) = schema.get("items") {
        let items = not_null(resolve_in(root, items));
        let within = format!("{path}[]");
        return if short_text(items).is_some() {
            Vec::new()
        } else {
            parts(items, &Value::Null, &within)
        };
    }
    let mut all = Vec::new();
    for branch in array(schema, "oneOf").iter().chain(array(schema, "anyOf")) {
        let branch = resolve_in(root, branch);
        let properties = branch.get("properties").and_then(Value::as_object);
        let tag = properties.into_iter().flatten().find(|(_, property)| is_tag(property));
        let only_if = tag.map(|(key, property)| {
            format!("{key} = {}", property.get("const").and_then(Value::as_str).unwrap_or_default())
        });
        let chosen = tag.is_none_or(|(key, property)| default.get(key) == property.get("const"));
        let own = if chosen { default } else { &Value::Null };
        all.extend(of_object(branch, own, path, only_if.as_deref()));
    }
    all
}

/// The other branch of a union with `null`.
fn not_null(schema: &Value) -> &Value {
    let branches = array(schema, "anyOf");
    match branches {
        [one, other] if is_null(other) => resolve_in(schema_ref(), one),
        [other, one] if is_null(other) => resolve_in(schema_ref(), one),
        _ => schema,
    }
}

/// Whether a key has one fixed value, which tells the kind of its object.
fn is_tag(property: &Value) -> bool {
    property.get("const").is_some()
}

fn allowed_without_unit(root: &Value, property: &Value) -> String {
    let mut bare = property.clone();
    if let Some(map) = bare.as_object_mut() {
        map.shift_remove("x-unit");
    }
    allowed_text(root, &bare)
}
