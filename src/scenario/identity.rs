//! What names a point: a hash of its canonical parameters.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use crate::engine::random::StableHash;

/// A component's part of a point's identity.
#[derive(Clone, Debug)]
pub struct ComponentIdentity {
    /// The component's name, which seeds its random streams.
    pub name: String,
    /// The name of its model.
    pub model: &'static str,
    /// Its whole configuration, from [`canonical`].
    pub parameters: String,
}

/// The hash of a point. The order of components and connections does not matter.
#[must_use]
pub fn point_id(components: &[&ComponentIdentity], connections: &[(String, String)]) -> u64 {
    let mut components = components.to_vec();
    components.sort_by(|a, b| a.name.cmp(&b.name));
    let mut connections: Vec<_> = connections.iter().collect();
    connections.sort();
    let mut hash = StableHash::new();
    hash.number(components.len() as u64);
    for component in components {
        hash.text(&component.name);
        hash.text(component.model);
        hash.text(&component.parameters);
    }
    hash.number(connections.len() as u64);
    for (from, to) in connections {
        hash.text(from);
        hash.text(to);
    }
    hash.finish()
}

/// [`canonical`] of what serialises to `value`, several times faster: the JSON text is put into order
/// without making a tree of it.
#[must_use]
pub fn canonical_text(value: &impl Serialize) -> String {
    let ordered = serde_json::to_string(value).ok().and_then(|json| in_order(&json));
    // Escapes within keys would sort by their text.
    ordered.unwrap_or_else(|| canonical(&serde_json::to_value(value).unwrap_or_default()))
}

/// The text of JSON without blanks and escapes, with sorted keys.
fn in_order(json: &str) -> Option<String> {
    let mut text = String::with_capacity(json.len());
    let rest = if json.contains('\\') { None } else { write_in_order(json, &mut text) };
    rest.filter(|rest| rest.is_empty()).map(|_| text)
}

/// Writes the value that `json` starts with; what is after it.
fn write_in_order<'j>(json: &'j str, text: &mut String) -> Option<&'j str> {
    match json.as_bytes().first()? {
        b'{' => {
            let mut entries = Vec::new();
            let mut rest = &json[1..];
            while !rest.starts_with('}') {
                rest = rest.strip_prefix(',').unwrap_or(rest);
                let (key, after) = rest.strip_prefix('"')?.split_once('"')?;
                let mut value = String::new();
                rest = write_in_order(after.strip_prefix(':')?, &mut value)?;
                entries.push((key, value));
            }
            entries.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (index, (key, value)) in entries.iter().enumerate() {
                let comma = if index > 0 { "," } else { "" };
                // Writing to a text cannot fail.
                let _ = write!(text, "{comma}\"{key}\":{value}");
            }
            text.push('}');
            rest.strip_prefix('}')
        }
        b'[' => {
            text.push('[');
            let mut rest = &json[1..];
            while !rest.starts_with(']') {
                if let Some(after) = rest.strip_prefix(',') {
                    text.push(',');
                    rest = after;
                }
                rest = write_in_order(rest, text)?;
            }
            text.push(']');
            rest.strip_prefix(']')
        }
        b'"' => {
            let end = json[1..].find('"')? + 2;
            text.push_str(&json[..end]);
            Some(&json[end..])
        }
        _ => {
            let end = json.find([',', ']', '}']).unwrap_or(json.len());
            text.push_str(&json[..end]);
            Some(&json[end..])
        }
    }
}

/// JSON without blanks and with sorted keys.
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_canonical(item, text);
            }
            text.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (index, (key, item)) in entries.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_canonical(item, text);
            }
            text.push('}');
        }
        // Writing to a text cannot fail.
        scalar => {
            let _ = write!(text, "{scalar}");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_canonical_text_does_not_depend_on_the_order_of_keys() {
        let one = json!({ "b": [1, { "y": 1.5, "x": null }], "a": "t" });
        let other = json!({ "a": "t", "b": [1, { "x": null, "y": 1.5 }] });
        assert_eq!(canonical(&one), canonical(&other));
        assert_eq!(canonical(&one), r#"{"a":"t","b":[1,{"x":null,"y":1.5}]}"#);
    }

    #[test]
    fn the_faster_way_gives_the_same_text() {
        for value in [
            json!({ "b": [1, { "y": 1.5, "x": null }, []], "a": "t, {]", "c": {} }),
            json!([[], [1e-7, -2.0, 1e300, u64::MAX, i64::MIN, true], "\u{e9}"]),
            json!({ "quo\"te": 1, "a": 2, "back": "\\" }),
            json!("text"),
            json!(null),
        ] {
            assert_eq!(canonical_text(&value), canonical(&value), "{value}");
        }
        for kind in crate::models::ModelKind::ALL {
            let config = kind.default_config();
            assert_eq!(canonical_text(&config), canonical(&serde_json::to_value(&config).unwrap()));
        }
    }
}
