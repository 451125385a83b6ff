//! The parameters that are not the same in all points.
//!
//! A grid may have a hundred thousand points of a hundred parameters, so each is written out once,
//! and only what is not as in the first point is kept.

use std::collections::{BTreeMap, HashMap};

use crate::scenario::Point;
use serde_json::{Map, Value};

/// What differs between points.
pub struct Differing {
    /// The paths that differ, in the order of the components' configurations.
    pub paths: Vec<String>,
    /// What the first point has at these paths.
    first: HashMap<String, Value>,
    /// For each point what is not as in the first; none for what it does not have.
    others: Vec<BTreeMap<String, Option<Value>>>,
}

impl Differing {
    /// Of `points`.
    pub fn new(points: &[Point]) -> Self {
        let Some(first) = points.first().map(whole) else {
            return Self { paths: Vec::new(), first: HashMap::new(), others: Vec::new() };
        };
        let mut others = Vec::with_capacity(points.len());
        let mut added: Vec<String> = Vec::new();
        let mut all: BTreeMap<String, ()> = BTreeMap::new();
        for point in points {
            let mut found = Vec::new();
            compare("", Some(&first), Some(&whole(point)), &mut found);
            for (path, _) in &found {
                if all.insert(path.clone(), ()).is_none() {
                    added.push(path.clone());
                }
            }
            others.push(found.into_iter().collect());
        }
        let mut flat = Map::new();
        collect("", &first, &mut flat);
        let mut paths: Vec<String> =
            flat.keys().filter(|path| all.contains_key(*path)).cloned().collect();
        paths.extend(added.into_iter().filter(|path| !flat.contains_key(path)));
        let first = flat.into_iter().filter(|(path, _)| all.contains_key(path)).collect();
        Self { paths, first, others }
    }

    /// What the point at `index` has at `path`.
    pub fn value(&self, index: usize, path: &str) -> Option<&Value> {
        match self.others.get(index).and_then(|own| own.get(path)) {
            Some(own) => own.as_ref(),
            None => self.first.get(path),
        }
    }
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
        // The later entry of a path counts.
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
}
