//! A tree of values in which each knows where it was written.

use serde_json::{Map, Number, Value};

use super::source::Origin;

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: NodeValue,
    /// Where it was written.
    pub origin: Origin,
}

/// A JSON value of [`Node`]s.
#[derive(Clone, Debug)]
pub enum NodeValue {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A finite number.
    Number(Number),
    /// A text.
    Text(String),
    /// `[...]`.
    List(Vec<Node>),
    /// `{...}`, in the order of the file, each key once.
    Object(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key was written.
    pub key_origin: Origin,
    /// The value.
    pub value: Node,
}

impl Node {
    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>, origin: Origin) -> Self {
        Self { value: NodeValue::Text(text.into()), origin }
    }

    /// A list.
    #[must_use]
    pub const fn list(items: Vec<Self>, origin: Origin) -> Self {
        Self { value: NodeValue::List(items), origin }
    }

    /// An object without keys.
    #[must_use]
    pub const fn empty_object(origin: Origin) -> Self {
        Self { value: NodeValue::Object(Vec::new()), origin }
    }

    /// A value that was made elsewhere, all of it with the same place.
    #[must_use]
    pub fn from_json(value: &Value, origin: Origin) -> Self {
        let value = match value {
            Value::Null => NodeValue::Null,
            Value::Bool(value) => NodeValue::Bool(*value),
            Value::Number(value) => NodeValue::Number(value.clone()),
            Value::String(text) => NodeValue::Text(text.clone()),
            Value::Array(items) => {
                NodeValue::List(items.iter().map(|item| Self::from_json(item, origin)).collect())
            }
            Value::Object(map) => NodeValue::Object(
                map.iter()
                    .map(|(key, value)| Entry {
                        key: key.clone(),
                        key_origin: origin,
                        value: Self::from_json(value, origin),
                    })
                    .collect(),
            ),
        };
        Self { value, origin }
    }

    /// The plain value.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match &self.value {
            NodeValue::Null => Value::Null,
            NodeValue::Bool(value) => Value::Bool(*value),
            NodeValue::Number(value) => Value::Number(value.clone()),
            NodeValue::Text(text) => Value::String(text.clone()),
            NodeValue::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            NodeValue::Object(entries) => Value::Object(
                entries
                    .iter()
                    .map(|entry| (entry.key.clone(), entry.value.to_json()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    /// The entries of an object; none of anything else.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            NodeValue::Object(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; none of anything else.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        match &self.value {
            NodeValue::List(items) => items,
            _ => &[],
        }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            NodeValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value under `key` of an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The value under `key` of an object, for changing it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        match &mut self.value {
            NodeValue::Object(entries) => {
                entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.value)
            }
            _ => None,
        }
    }

    /// The item of a list at `index`, for changing it.
    pub fn item_mut(&mut self, index: usize) -> Option<&mut Self> {
        match &mut self.value {
            NodeValue::List(items) => items.get_mut(index),
            _ => None,
        }
    }

    /// Sets `key` of an object, at its place if it is there and otherwise at the end; does nothing
    /// to anything but an object.
    pub fn insert(&mut self, key: &str, key_origin: Origin, value: Self) {
        let NodeValue::Object(entries) = &mut self.value else { return };
        match entries.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => *entry = Entry { key: key.to_owned(), key_origin, value },
            None => entries.push(Entry { key: key.to_owned(), key_origin, value }),
        }
    }

    /// Removes `key` of an object.
    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        let NodeValue::Object(entries) = &mut self.value else { return None };
        let at = entries.iter().position(|entry| entry.key == key)?;
        Some(entries.remove(at))
    }

    /// What follows `keys` downwards: object keys and list indices in decimal. Stops at the last
    /// that is there, which is where a value that was left out would have stood.
    #[must_use]
    pub fn nearest<'a>(&self, keys: impl Iterator<Item = &'a str>) -> &Self {
        let mut node = self;
        for key in keys {
            let next = match &node.value {
                NodeValue::List(items) => {
                    key.parse().ok().and_then(|index: usize| items.get(index))
                }
                _ => node.get(key),
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node
    }

    /// The value as JSON, cut to about `limit` characters, for error texts.
    #[must_use]
    pub fn shown(&self, limit: usize) -> String {
        match &self.value {
            NodeValue::List(items) if items.len() > 20 => format!("a list of {}", items.len()),
            NodeValue::Object(entries) if entries.len() > 20 => {
                format!("an object of {} keys", entries.len())
            }
            _ => clip(&self.to_json().to_string(), limit),
        }
    }
}

/// The first `limit` characters, with dots if there are more.
#[must_use]
pub fn clip(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}
