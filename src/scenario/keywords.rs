//! A test that the schema uses no keyword which the validation would ignore.

use serde_json::{Value, json};

use super::file::schema;
use super::validate::array;
use crate::quantities::distribution::DISTRIBUTION_FORMAT;
use crate::quantities::duration::DURATION_FORMAT;
use crate::quantities::rate::RATE_FORMAT;

/// Keywords that say nothing about which values are allowed.
const ANNOTATIONS: [&str; 12] = [
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "markdownDescription",
];
/// Keywords that `Validator` applies.
const APPLIED: [&str; 25] = [
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "type",
    "const",
    "enum",
    "format",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "uniqueItems",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    // Only beside a format, which says the same more precisely.
    "pattern",
];
/// Formats that `Validator` applies.
const FORMATS: [&str; 15] = [
    DURATION_FORMAT,
    RATE_FORMAT,
    DISTRIBUTION_FORMAT,
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uint",
    "int8",
    "int16",
    "int32",
    "int64",
    "int",
    "float",
    "double",
];

/// The keywords and formats in a schema that `Validator` would ignore.
pub fn unknown_keywords(schema: &Value) -> Vec<String> {
    let mut unknown = Vec::new();
    collect_unknown(schema, &mut unknown);
    unknown
}

fn collect_unknown(schema: &Value, unknown: &mut Vec<String>) {
    let Some(map) = schema.as_object() else { return };
    for (key, value) in map {
        let name = key.as_str();
        match name {
            "format" if !FORMATS.iter().any(|format| value == format) => {
                unknown.push(format!("format {value}"));
            }
            "pattern" if map.get("format").is_none() => unknown.push("pattern".to_owned()),
            "properties" | "$defs" => {
                let parts = value.as_object().into_iter().flat_map(|parts| parts.values());
                parts.for_each(|part| collect_unknown(part, unknown));
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                array(schema, name).iter().for_each(|part| collect_unknown(part, unknown));
            }
            "items" | "additionalProperties" => collect_unknown(value, unknown),
            _ if name.starts_with("x-") => {}
            _ if ANNOTATIONS.contains(&name) || APPLIED.contains(&name) => {}
            _ => unknown.push(name.to_owned()),
        }
    }
}

#[test]
fn every_keyword_of_the_schema_is_applied() {
    assert_eq!(unknown_keywords(&schema()), Vec::<String>::new());
}

#[test]
fn a_keyword_that_would_be_ignored_is_found() {
    let schema = json!({
        "properties": {
            "a": { "type": "string", "pattern": "^a$" },
            "b": { "items": { "multipleOf": 2 } },
            "c": { "anyOf": [{ "format": "email" }] }
        },
        "unevaluatedProperties": false
    });
    let unknown = unknown_keywords(&schema);
    assert_eq!(unknown, ["pattern", "multipleOf", "format \"email\"", "unevaluatedProperties"]);
}
