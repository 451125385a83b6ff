//! What names a point: a hash of its canonical parameters.

use std::fmt::Write as _;

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
}
