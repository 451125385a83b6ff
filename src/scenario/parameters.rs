//! The parameters of a model, as its schema and its defaults tell them.

use serde::Serialize;
use serde_json::Value;

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
    let mut defaults = serde_json::to_value(kind.default_config()).unwrap_or_default();
    shorten_constants(&mut defaults);
    own.map_or_else(Vec::new, |schema| Reader::default().object(schema, &defaults, "", None))
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

/// Writes constant distributions as the plain durations that they may be written as.
fn shorten_constants(value: &mut Value) {
    match value {
        Value::Object(map) => {
            let constant = map.get("distribution").and_then(Value::as_str) == Some("constant");
            match map.get("value") {
                Some(duration) if constant => *value = duration.clone(),
                _ => map.values_mut().for_each(shorten_constants),
            }
        }
        Value::Array(items) => items.iter_mut().for_each(shorten_constants),
        _ => {}
    }
}

/// Reads parameters from the schema of all scenarios.
#[derive(Default)]
struct Reader {
    /// The types that are being read, so that one which holds itself is read once.
    within: Vec<&'static Value>,
}

impl Reader {
    fn object(
        &mut self,
        schema: &'static Value,
        defaults: &Value,
        prefix: &str,
        only_if: Option<&str>,
    ) -> Vec<Parameter> {
        let properties = schema.get("properties").and_then(Value::as_object);
        properties
            .into_iter()
            .flatten()
            .filter(|(key, schema)| !(is_tag(schema) || prefix.is_empty() && *key == "model"))
            .map(|(key, property)| {
                let default = match defaults.get(key) {
                    Some(default) => default.clone(),
                    None => property.get("default").cloned().unwrap_or(Value::Null),
                };
                self.parameter(property, default, &join(prefix, key), only_if)
            })
            .collect()
    }

    fn parameter(
        &mut self,
        property: &'static Value,
        default: Value,
        path: &str,
        only_if: Option<&str>,
    ) -> Parameter {
        let root = schema_ref();
        let schema = not_null(resolve_in(root, property));
        let text = |key: &str| {
            let value = property.get(key).or_else(|| schema.get(key));
            value.and_then(Value::as_str).map(str::to_owned)
        };
        let parts = self.parts(schema, &default, path);
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
    fn parts(&mut self, schema: &'static Value, default: &Value, path: &str) -> Vec<Parameter> {
        // A distribution is one quantity, whatever keys it has.
        let known = self.within.iter().any(|outer| std::ptr::eq(*outer, schema));
        if known || short_text(schema).is_some() {
            return Vec::new();
        }
        self.within.push(schema);
        let parts = if schema.get("properties").is_some() {
            self.object(schema, default, path, None)
        } else if let Some(items) = schema.get("items") {
            let items = not_null(resolve_in(schema_ref(), items));
            self.parts(items, &Value::Null, &format!("{path}[]"))
        } else {
            self.branches(schema, default, path)
        };
        self.within.pop();
        parts
    }

    fn branches(&mut self, schema: &'static Value, default: &Value, path: &str) -> Vec<Parameter> {
        let mut all = Vec::new();
        for branch in array(schema, "oneOf").iter().chain(array(schema, "anyOf")) {
            let branch = resolve_in(schema_ref(), branch);
            let properties = branch.get("properties").and_then(Value::as_object);
            let tag = properties.into_iter().flatten().find(|(_, property)| is_tag(property));
            let only_if = tag.map(|(key, property)| {
                let kind = property.get("const").and_then(Value::as_str).unwrap_or_default();
                format!("{key} = {kind}")
            });
            let chosen =
                |(key, property): (&String, &Value)| default.get(key) == property.get("const");
            let own = if tag.is_none_or(chosen) { default } else { &Value::Null };
            all.extend(self.object(branch, own, path, only_if.as_deref()));
        }
        all
    }
}

/// The other branch of a union with `null`.
fn not_null(schema: &'static Value) -> &'static Value {
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
