//! The parameters that are not the same in all points.
//!
//! A grid may have a hundred thousand points of a hundred parameters, so each is written out once,
//! and only what is not as in the first point is kept.

use std::collections::HashMap;

use crate::scenario::Point;
use rayon::prelude::*;
use serde_json::{Map, Value};

/// So many points are compared at once.
const BLOCK: usize = 1 << 10;

/// What differs between points.
pub struct Differing {
    /// The paths that differ, in the order of the components' configurations.
    pub paths: Vec<String>,
    /// What the first point has at each of these paths.
    first: Vec<Option<Value>>,
    /// For each point what is not as in the first, by the place of its path; none for what it does
    /// not have.
    others: Vec<Vec<(usize, Option<Value>)>>,
}

impl Differing {
    /// Of `points`.
    pub fn new(points: &[Point]) -> Self {
        let Some(first) = points.first() else {
            return Self { paths: Vec::new(), first: Vec::new(), others: Vec::new() };
        };
        let texts: Vec<String> = first.components.iter().map(|(_, config)| text(config)).collect();
        let mut found = Found::default();
        let mut others: Vec<Vec<(usize, Option<Value>)>> = Vec::with_capacity(points.len());
        for block in points.chunks(BLOCK) {
            let unlike: Vec<_> =
                block.par_iter().map(|point| differences(&texts, first, point)).collect();
            others.extend(unlike.into_iter().map(|differences| found.numbered(differences)));
        }
        let mut flat = Map::new();
        collect("", &whole(first), &mut flat);
        // As they were found, and where they go: in the order of the first point, then the others.
        let found = found.paths;
        let mut order: Vec<usize> = (0..found.len()).collect();
        let places: HashMap<&String, usize> = flat.keys().zip(0..).collect();
        order.sort_by_key(|&index| places.get(&found[index]).copied().unwrap_or(usize::MAX));
        let mut place = vec![0; found.len()];
        order.iter().enumerate().for_each(|(to, &from)| place[from] = to);
        others.iter_mut().flatten().for_each(|(path, _)| *path = place[*path]);
        let paths: Vec<String> = order.iter().map(|&index| found[index].clone()).collect();
        let first = paths.iter().map(|path| flat.get(path).cloned()).collect();
        Self { paths, first, others }
    }

    /// What the point at `index` has at the path at `column`.
    pub fn value(&self, index: usize, column: usize) -> Option<&Value> {
        let own = self.others.get(index).map_or(&[][..], Vec::as_slice);
        // The later entry of a path counts.
        match own.iter().rfind(|(path, _)| *path == column) {
            Some((_, own)) => own.as_ref(),
            None => self.first.get(column)?.as_ref(),
        }
    }
}

/// Paths by the order in which they were found to differ.
#[derive(Default)]
struct Found {
    paths: Vec<String>,
    places: HashMap<String, usize>,
}

impl Found {
    /// `differences` with the place of each path.
    fn numbered(
        &mut self,
        differences: Vec<(String, Option<Value>)>,
    ) -> Vec<(usize, Option<Value>)> {
        let place = |(path, value): (String, Option<Value>)| {
            if let Some(&place) = self.places.get(&path) {
                return (place, value);
            }
            let place = self.paths.len();
            self.paths.push(path.clone());
            self.places.insert(path, place);
            (place, value)
        };
        differences.into_iter().map(place).collect()
    }
}

/// What of `point` is not as in the `first`, whose components are `texts` as JSON.
fn differences(texts: &[String], first: &Point, point: &Point) -> Vec<(String, Option<Value>)> {
    let mut found = Vec::new();
    for (index, (name, config)) in point.components.iter().enumerate() {
        let own = text(config);
        let (first, own) = match texts.get(index) {
            Some(first) if *first == own => continue,
            Some(first) => unlike(first, &own),
            None => (None, parsed(&own)),
        };
        compare(name, first.as_ref(), own.as_ref(), &mut found);
    }
    for (name, config) in first.components.iter().skip(point.components.len()) {
        compare(name, parsed(&text(config)).as_ref(), None, &mut found);
    }
    found
}

fn text(config: &impl serde::Serialize) -> String {
    serde_json::to_string(config).unwrap_or_default()
}

fn parsed(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// The two values without the entries, of objects, that have the same text in both at the same place.
/// That is most of them, and the texts are compared many times faster than they are read.
fn unlike(first: &str, own: &str) -> (Option<Value>, Option<Value>) {
    let (Some(a), Some(b)) = (entries(first), entries(own)) else {
        return (parsed(first), parsed(own));
    };
    if a.len() != b.len() || a.iter().zip(&b).any(|(a, b)| a.0 != b.0) {
        return (parsed(first), parsed(own));
    }
    let object = |pairs: &[(&str, &str)], others: &[(&str, &str)]| {
        let pairs = pairs.iter().zip(others).filter(|(pair, other)| pair.1 != other.1);
        let entry =
            |((key, value), _): (&(&str, &str), _)| Some(((*key).to_owned(), parsed(value)?));
        pairs.map(entry).collect::<Option<Map<_, _>>>().map(Value::Object)
    };
    (object(&a, &b), object(&b, &a))
}

/// The entries of a JSON object without blanks, as texts. `None` for anything else, and where a key
/// has escapes.
fn entries(json: &str) -> Option<Vec<(&str, &str)>> {
    let mut rest = json.strip_prefix('{')?.strip_suffix('}')?;
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let (key, after) = rest.strip_prefix('"')?.split_once("\":")?;
        if key.contains(['"', '\\']) {
            return None;
        }
        let end = end_of_value(after);
        entries.push((key, &after[..end]));
        rest = after[end..].strip_prefix(',').unwrap_or(&after[end..]);
    }
    Some(entries)
}

/// Where the JSON value ends that `text` starts with: at the first comma outside it, if any.
fn end_of_value(text: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            b',' if !quoted && depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// All parameters, component by component.
fn whole(point: &Point) -> Value {
    let components = point.components.iter();
    let value = |config| serde_json::to_value(config).unwrap_or_default();
    Value::Object(components.map(|(name, config)| (name.clone(), value(config))).collect())
}

/// Whether it has parameters within.
fn holds_others(value: &Value) -> bool {
    value.as_object().is_some_and(|map| !map.is_empty())
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// What of `own` is not as in `first`, by path.
fn compare(
    path: &str,
    first: Option<&Value>,
    own: Option<&Value>,
    found: &mut Vec<(String, Option<Value>)>,
) {
    if first == own {
        return;
    }
    if let (Some(Value::Object(a)), Some(Value::Object(b))) = (first, own)
        && !a.is_empty()
        && !b.is_empty()
    {
        for (key, value) in b {
            if a.get(key) != Some(value) {
                compare(&below(path, key), a.get(key), Some(value), found);
            }
        }
        for (key, value) in a.iter().filter(|(key, _)| !b.contains_key(*key)) {
            compare(&below(path, key), Some(value), None, found);
        }
        return;
    }
    // An object on one side only: its parameters are on that side only.
    if let Some(first) = first {
        let mut gone = Map::new();
        collect(path, first, &mut gone);
        found.extend(gone.into_iter().map(|(path, _)| (path, None)));
    }
    if let Some(own) = own {
        let mut here = Map::new();
        collect(path, own, &mut here);
        found.extend(here.into_iter().map(|(path, value)| (path, Some(value))));
    }
}

/// Every parameter within `value` by its path.
fn collect(path: &str, value: &Value, found: &mut Map<String, Value>) {
    match value {
        Value::Object(map) if holds_others(value) => {
            map.iter().for_each(|(key, value)| collect(&below(path, key), value, found));
        }
        _ => {
            found.insert(path.to_owned(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use serde_json::json;

    fn found(first: &Value, own: &Value) -> BTreeMap<String, Option<Value>> {
        let mut found = Vec::new();
        compare("", Some(first), Some(own), &mut found);
        found.into_iter().collect()
    }

    #[test]
    fn only_what_is_not_as_in_the_first_is_found() {
        let first = json!({ "o": { "a": 1, "b": { "c": 2, "d": 3 }, "e": [1] } });
        assert!(found(&first, &first).is_empty());
        let own = json!({ "o": { "a": 1, "b": { "c": 5 }, "e": [1], "f": true } });
        let expected = [("o.b.c", Some(json!(5))), ("o.b.d", None), ("o.f", Some(json!(true)))];
        let expected = expected.map(|(path, value)| (path.to_owned(), value));
        assert_eq!(found(&first, &own), expected.into_iter().collect());
    }

    #[test]
    fn an_object_in_place_of_a_value_is_what_is_within() {
        let first = json!({ "o": { "t": "1 s", "u": 1 } });
        let own = json!({ "o": { "t": { "mean": "1 s", "cv": 0.5 }, "u": 1 } });
        let expected =
            [("o.t", None), ("o.t.mean", Some(json!("1 s"))), ("o.t.cv", Some(json!(0.5)))];
        let expected = expected.map(|(path, value)| (path.to_owned(), value));
        assert_eq!(found(&first, &own), expected.into_iter().collect());
    }

    #[test]
    fn entries_with_the_same_text_are_left_out_and_nothing_else_changes() {
        let first = json!({
            "a": 1, "b": { "c": "x,y\"}", "d": [1, { "e": 2 }] }, "f": [], "g": "\\", "h": null
        });
        let with = |change: fn(&mut Value)| {
            let mut value = first.clone();
            change(&mut value);
            value
        };
        for own in [
            first.clone(),
            with(|value| value["a"] = json!(2)),
            with(|value| value["b"]["d"][1]["e"] = json!({ "z": 1 })),
            with(|value| value["b"]["c"] = json!("x,z\"}")),
            with(|value| value["g"] = json!("\\\"")),
            with(|value| value["new"] = json!(1)),
            json!({ "other": 1 }),
            json!({ "wi\"th": 1 }),
            json!({}),
            json!("no object"),
        ] {
            let (a, b) = unlike(&first.to_string(), &own.to_string());
            assert_eq!(found(&a.unwrap(), &b.unwrap()), found(&first, &own), "{own}");
        }
        let (a, b) = unlike(&first.to_string(), &with(|value| value["f"] = json!([1])).to_string());
        assert_eq!((a, b), (Some(json!({ "f": [] })), Some(json!({ "f": [1] }))));
    }
}
