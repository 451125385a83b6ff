//! Reading a type from the tree of values, without making plain JSON of it first.

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Unexpected, Visitor};
use serde_json::Error;

use super::node::{Entry, Node, NodeValue};

/// The value of a [`Node`]; gives what its [`Node::to_json`] gives.
#[derive(Clone, Copy)]
pub struct NodeReader<'n> {
    node: &'n Node,
    /// A key of the object itself that is passed over.
    without: Option<&'static str>,
}

impl<'n> NodeReader<'n> {
    /// Of all of `node`.
    #[must_use]
    pub const fn new(node: &'n Node) -> Self {
        Self { node, without: None }
    }

    /// Of `node` but for its `key`.
    #[must_use]
    pub const fn without(node: &'n Node, key: &'static str) -> Self {
        Self { node, without: Some(key) }
    }

    fn entries(self, entries: &'n [Entry]) -> impl Iterator<Item = (&'n str, Self)> {
        let kept = entries.iter().filter(move |entry| Some(entry.key.as_str()) != self.without);
        kept.map(|entry| (entry.key.as_str(), Self::new(&entry.value)))
    }
}

impl IntoDeserializer<'_, Error> for NodeReader<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for NodeReader<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.node.value {
            NodeValue::Null => visitor.visit_unit(),
            NodeValue::Bool(value) => visitor.visit_bool(*value),
            NodeValue::Number(value) => value.deserialize_any(visitor),
            NodeValue::Text(text) => visitor.visit_str(text),
            NodeValue::List(items) => {
                let mut reader = SeqDeserializer::new(items.iter().map(Self::new));
                let value = visitor.visit_seq(&mut reader)?;
                reader.end()?;
                Ok(value)
            }
            NodeValue::Object(entries) => {
                let mut reader = MapDeserializer::new(self.entries(entries));
                let value = visitor.visit_map(&mut reader)?;
                reader.end()?;
                Ok(value)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.node.value {
            NodeValue::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match &self.node.value {
            NodeValue::Text(text) => visitor.visit_enum(text.as_str().into_deserializer()),
            NodeValue::Object(entries) if entries.len() == 1 => {
                let reader = MapDeserializer::new(self.entries(entries));
                visitor.visit_enum(MapAccessDeserializer::new(reader))
            }
            _ => Err(serde::de::Error::invalid_type(
                Unexpected::Other("neither a name nor one key"),
                &"a name, or an object with one key",
            )),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::super::source::Sources;
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Shape {
        Point,
        Circle(f64),
        Pair(u8, i64),
        Sized { width: u32 },
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Length(f64);

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        A { x: u32 },
        B,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Whole {
        shape: Shape,
        tagged: Option<Tagged>,
        length: Option<Length>,
        names: Vec<String>,
        map: BTreeMap<String, u64>,
        any: Value,
        #[serde(default)]
        flag: bool,
    }

    fn node(value: &Value) -> Node {
        let origin = Sources::default().add("test".to_owned(), "".into(), String::new());
        Node::from_json(value, origin)
    }

    #[test]
    fn a_type_is_read_as_from_plain_json() {
        let whole = |shape: Value, length: Value| {
            json!({
                "shape": shape, "tagged": { "kind": "A", "x": 3 }, "length": length,
                "names": ["a", "b"], "map": { "k": u64::MAX },
                "any": [null, true, -1, 1.5, { "x": [] }], "flag": true
            })
        };
        for value in [
            whole(json!("point"), json!(null)),
            whole(json!({ "circle": 2 }), json!(7)),
            whole(json!({ "pair": [1, -2] }), json!(0.5)),
            whole(json!({ "sized": { "width": 9 } }), json!(null)),
            whole(json!({ "pair": [1, -2, 3] }), json!(0.5)),
            whole(json!({ "pair": [1] }), json!(0.5)),
            whole(json!("circle"), json!(0.5)),
            whole(json!({ "point": 1 }), json!(0.5)),
            whole(json!({ "point": null }), json!(0.5)),
            whole(json!({ "circle": 1, "sized": 2 }), json!(0.5)),
            whole(json!({ "sized": { "width": -1 } }), json!(null)),
            whole(json!(5), json!("long")),
            json!({ "shape": "point" }),
            json!([]),
            json!(null),
        ] {
            let plain = serde_json::from_value::<Whole>(value.clone()).ok();
            let node = node(&value);
            assert_eq!(Whole::deserialize(NodeReader::new(&node)).ok(), plain, "{value}");
        }
    }

    #[test]
    fn a_key_can_be_passed_over() {
        let node = node(&json!({ "model": "m", "inner": { "model": 1 }, "x": 2 }));
        let read = Value::deserialize(NodeReader::without(&node, "model")).unwrap();
        assert_eq!(read, json!({ "inner": { "model": 1 }, "x": 2 }));
    }
}
