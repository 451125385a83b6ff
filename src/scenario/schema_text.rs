//! What a schema allows, in words.

use serde_json::Value;

use super::validate::{array, choices, common_tag, is_null, plain, resolve_in, types};
use crate::quantities::distribution::{DISTRIBUTION_ALLOWED, DISTRIBUTION_FORMAT};
use crate::quantities::duration::{DURATION_ALLOWED, DURATION_FORMAT, LEAST_DURATION};
use crate::quantities::rate::{RATE_ALLOWED, RATE_FORMAT};

/// What `schema` allows, for instance `a whole number from 1 to 1000000 (keys)`.
#[must_use]
pub fn allowed_text(root: &Value, schema: &Value) -> String {
    let resolved = resolve_in(root, schema);
    let text = match resolved.get("format").and_then(Value::as_str) {
        Some(DURATION_FORMAT) => duration_text(resolved),
        Some(RATE_FORMAT) => RATE_ALLOWED.to_owned(),
        Some(DISTRIBUTION_FORMAT) => DISTRIBUTION_ALLOWED.to_owned(),
        _ => structure_text(root, resolved),
    };
    match schema.get("x-unit").and_then(Value::as_str) {
        Some(unit) => format!("{text} ({unit})"),
        None => text,
    }
}

/// What a duration looks like and, where it has a least value, that.
#[must_use]
pub fn duration_text(schema: &Value) -> String {
    match schema.get(LEAST_DURATION).and_then(Value::as_str) {
        Some(least) => format!("{DURATION_ALLOWED}; at least {least}"),
        None => DURATION_ALLOWED.to_owned(),
    }
}

fn structure_text(root: &Value, schema: &Value) -> String {
    for union in ["anyOf", "oneOf"] {
        let branches: Vec<&Value> =
            array(schema, union).iter().map(|branch| resolve_in(root, branch)).collect();
        if branches.is_empty() {
            continue;
        }
        if let Some(names) = all_choices(&branches) {
            return format!("one of {names}");
        }
        if let Some((tag, names)) = tag_choices(&branches) {
            return format!("an object {{ \"{tag}\": ... }} with one of {names}");
        }
        let mut texts: Vec<String> = Vec::new();
        for branch in branches.into_iter().filter(|branch| !is_null(branch)) {
            let text = allowed_text(root, branch);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        return texts.join(", or ");
    }
    let names = choices(schema);
    if !names.is_empty() {
        let names = names.into_iter().filter(|choice| !choice.is_null()).map(plain);
        return format!("one of {}", names.collect::<Vec<_>>().join(", "));
    }
    let texts: Vec<String> = types(schema)
        .into_iter()
        .filter(|name| *name != "null" || types(schema).len() == 1)
        .map(|name| type_text(name, schema))
        .collect();
    if texts.is_empty() { "any value".to_owned() } else { texts.join(" or ") }
}

/// The names of a union that is nothing but names.
fn all_choices(branches: &[&Value]) -> Option<String> {
    let mut names = Vec::new();
    for branch in branches.iter().filter(|branch| !is_null(branch)) {
        let found = choices(branch);
        if found.is_empty() {
            return None;
        }
        names.extend(found.into_iter().map(plain));
    }
    Some(names.join(", "))
}

/// The key that tells the objects of a union apart, and its values.
fn tag_choices<'a>(branches: &[&'a Value]) -> Option<(&'a str, String)> {
    let tag = common_tag(branches)?;
    let of = |branch: &&Value| branch["properties"][tag].get("const").map(plain);
    let names: Option<Vec<String>> = branches.iter().map(of).collect();
    Some((tag, names?.join(", ")))
}

fn type_text(name: &str, schema: &Value) -> String {
    match name {
        "integer" | "number" => number_range_text(schema),
        "string" => "a text in quotation marks".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => "a list [ ... ]".to_owned(),
        "object" => match schema.get("properties").and_then(Value::as_object) {
            Some(properties) => {
                let keys: Vec<&str> = properties.keys().map(String::as_str).collect();
                format!("an object with the keys {}", keys.join(", "))
            }
            None => "an object { ... }".to_owned(),
        },
        _ => "null".to_owned(),
    }
}

/// The range of a number, for instance `a number above 0, at most 1`.
#[must_use]
pub fn number_range_text(schema: &Value) -> String {
    let kind = if types(schema).contains(&"integer") { "a whole number" } else { "a number" };
    let (format_least, format_most) = format_range(schema);
    let text = |key: &str| schema.get(key).map(Value::to_string);
    let least = text("minimum").or(format_least).map(|n| format!("at least {}", short(&n)));
    let above = text("exclusiveMinimum").map(|n| format!("above {}", short(&n)));
    let most = text("maximum").or(format_most).map(|n| format!("at most {}", short(&n)));
    let below = text("exclusiveMaximum").map(|n| format!("below {}", short(&n)));
    let bounds: Vec<String> = [above.or(least), below.or(most)].into_iter().flatten().collect();
    if bounds.is_empty() { kind.to_owned() } else { format!("{kind}, {}", bounds.join(" and ")) }
}

/// `1.0` as `1`.
fn short(number: &str) -> &str {
    number.strip_suffix(".0").unwrap_or(number)
}

fn format_range(schema: &Value) -> (Option<String>, Option<String>) {
    let range = |least: i64, most: u64| (Some(least.to_string()), Some(most.to_string()));
    match schema.get("format").and_then(Value::as_str) {
        Some("uint8") => range(0, u64::from(u8::MAX)),
        Some("uint16") => range(0, u64::from(u16::MAX)),
        Some("uint32") => range(0, u64::from(u32::MAX)),
        Some("uint64" | "uint") => range(0, u64::MAX),
        Some("int8") => range(i64::from(i8::MIN), i8::MAX as u64),
        Some("int16") => range(i64::from(i16::MIN), i16::MAX as u64),
        Some("int32") => range(i64::from(i32::MIN), i32::MAX as u64),
        Some("int64" | "int") => range(i64::MIN, i64::MAX as u64),
        _ => (None, None),
    }
}

/// The kind of a quantity and what it allows, in a few words; nothing for anything else.
#[must_use]
pub fn short_text(schema: &Value) -> Option<(Option<String>, String)> {
    let (unit, text) = match schema.get("format").and_then(Value::as_str)? {
        DURATION_FORMAT => ("duration", "a duration such as \"40 ms\""),
        RATE_FORMAT => ("rate", "a rate such as \"1500/s\""),
        DISTRIBUTION_FORMAT => ("duration", "a duration such as \"40 ms\", or a distribution"),
        _ => return None,
    };
    let least = schema.get(LEAST_DURATION).and_then(Value::as_str);
    let text = least.map_or_else(|| text.to_owned(), |least| format!("{text}, at least {least}"));
    Some((Some(unit.to_owned()), text))
}
