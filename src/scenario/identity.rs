//! What names a point: a hash of its canonical parameters.

use std::fmt::Write as _;
use std::ops::Range;

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
    if json.contains('\\') {
        return None;
    }
    let mut writer = OrderedText {
        text: String::with_capacity(json.len()),
        entries: Vec::new(),
        moved: String::new(),
    };
    let rest = writer.value(json)?;
    rest.is_empty().then_some(writer.text)
}

/// Text that is put into order as it is written.
struct OrderedText<'j> {
    text: String,
    /// The entries of the objects that are being written, those of the innermost last: the key, and
    /// where the entry stands in the text.
    entries: Vec<(&'j str, Range<usize>)>,
    /// Entries that are being moved.
    moved: String,
}

impl<'j> OrderedText<'j> {
    /// Writes the value that `json` starts with; what is after it.
    fn value(&mut self, json: &'j str) -> Option<&'j str> {
        match json.as_bytes().first()? {
            b'{' => self.object(&json[1..]),
            b'[' => {
                self.text.push('[');
                let mut rest = &json[1..];
                while !rest.starts_with(']') {
                    if let Some(after) = rest.strip_prefix(',') {
                        self.text.push(',');
                        rest = after;
                    }
                    rest = self.value(rest)?;
                }
                self.text.push(']');
                rest.strip_prefix(']')
            }
            b'"' => {
                let end = json[1..].find('"')? + 2;
                self.text.push_str(&json[..end]);
                Some(&json[end..])
            }
            _ => {
                let end = json.find([',', ']', '}']).unwrap_or(json.len());
                self.text.push_str(&json[..end]);
                Some(&json[end..])
            }
        }
    }

    /// Writes the object whose first entry `json` starts with; what is after it.
    fn object(&mut self, json: &'j str) -> Option<&'j str> {
        self.text.push('{');
        let (own, start) = (self.entries.len(), self.text.len());
        let mut rest = json;
        while !rest.starts_with('}') {
            rest = rest.strip_prefix(',').unwrap_or(rest);
            let (key, after) = rest.strip_prefix('"')?.split_once('"')?;
            let from = self.text.len();
            self.text.push_str(&rest[..key.len() + 2]);
            self.text.push(':');
            rest = self.value(after.strip_prefix(':')?)?;
            self.entries.push((key, from..self.text.len()));
            self.text.push(',');
        }
        let entries = &mut self.entries[own..];
        if !entries.is_sorted_by_key(|(key, _)| *key) {
            entries.sort_by_key(|(key, _)| *key);
            self.moved.clear();
            for (_, place) in &*entries {
                self.moved.push_str(&self.text[place.clone()]);
                self.moved.push(',');
            }
            self.text.truncate(start);
            self.text.push_str(&self.moved);
        }
        if !entries.is_empty() {
            self.text.pop();
        }
        self.entries.truncate(own);
        self.text.push('}');
        rest.strip_prefix('}')
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
    fn the_identity_of_a_point_is_the_same_for_ever() {
        let component = |name: &str, model, parameters: &str| {
            let (name, parameters) = (name.to_owned(), parameters.to_owned());
            ComponentIdentity { name, model, parameters }
        };
        let one = component("o", "orchagent", r#"{"flap":{"count":14},"pop_batch_size":1024}"#);
        let other = component("mux", "http_pool", "{}");
        let connection = [("mux.toggle".to_owned(), "o.flap".to_owned())];
        assert_eq!(point_id(&[&one], &[]), 0xcd83_6475_328d_2f23);
        assert_eq!(point_id(&[&one, &other], &connection), 0x6bf2_749b_7f3b_812c);
        assert_eq!(point_id(&[&other, &one], &connection), 0x6bf2_749b_7f3b_812c);
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
