//! Paths to parameters, such as `orchagent.flap.count` or `mux.steps[2].duration`, and setting a
//! value at one.

use std::fmt;

use serde_json::Value;

use super::node::{Node, NodeValue};
use super::problem::Problem;
use super::source::Origin;

/// Most levels of a path.
const MAX_SEGMENTS: usize = 32;

/// A path of at least a component and a key.
#[derive(Clone, Debug)]
pub struct Path {
    segments: Vec<Segment>,
    /// Where it was written.
    pub origin: Origin,
}

/// One step of a path.
#[derive(Clone, Debug)]
struct Segment {
    step: Step,
    origin: Origin,
}

/// A key of an object or a place in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A key.
    Key(String),
    /// A place, counted from 0.
    Index(usize),
}

impl Path {
    /// The path as what the whole of `origin` means.
    pub fn meant_by(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self.segments.iter_mut().for_each(|segment| segment.origin = origin);
        self
    }

    /// Reads a path. `origin` is that of the text, which starts `offset` bytes after it (for
    /// instance 1 behind a quotation mark).
    ///
    /// # Errors
    /// Why it is no path.
    pub fn read(text: &str, origin: Origin, offset: usize) -> Result<Self, Problem> {
        let bad = |reason: &str| Problem::BadPath { text: text.to_owned(), reason: reason.into() };
        let mut segments = Vec::new();
        let mut at = 0;
        for part in text.split('.') {
            let key = part.split('[').next().unwrap_or_default();
            if key.is_empty() || key.trim() != key || key.contains(']') {
                return Err(bad("a name is missing or has blanks or brackets in it"));
            }
            let place = |from: usize, to: usize| origin.within(offset + from, offset + to);
            segments.push(Segment {
                step: Step::Key(key.to_owned()),
                origin: place(at, at + key.len()),
            });
            let mut from = at + key.len();
            for index in part[key.len()..].split_inclusive(']') {
                let digits = index
                    .strip_prefix('[')
                    .and_then(|rest| rest.strip_suffix(']'))
                    .ok_or_else(|| bad("an index is written [0]"))?;
                let number = digits.parse().map_err(|_| bad("an index is written [0]"))?;
                let origin = place(from, from + index.len());
                segments.push(Segment { step: Step::Index(number), origin });
                from += index.len();
            }
            at += part.len() + 1;
        }
        if segments.len() > MAX_SEGMENTS {
            return Err(bad("it has too many parts"));
        }
        if !matches!(&segments[..], [_, Segment { step: Step::Key(_), .. }, ..]) {
            return Err(bad("it names no key of a component"));
        }
        Ok(Self { segments, origin })
    }

    /// The component, or `run`.
    #[must_use]
    pub fn component(&self) -> &str {
        match self.segments.first().map(|segment| &segment.step) {
            Some(Step::Key(key)) => key,
            _ => "",
        }
    }

    /// Where the component's name was written.
    #[must_use]
    pub fn component_origin(&self) -> Origin {
        self.segments.first().map_or(self.origin, |segment| segment.origin)
    }

    /// The steps downwards from the component.
    pub fn steps_within_component(&self) -> impl Iterator<Item = &Step> {
        self.segments.iter().skip(1).map(|segment| &segment.step)
    }

    /// The key of the component that it is or lies in.
    #[must_use]
    pub fn own_key(&self) -> Option<&str> {
        match self.steps_within_component().next() {
            Some(Step::Key(key)) => Some(key),
            _ => None,
        }
    }

    /// The value at this path within `value`, which is the value at `outer`. `None` if `outer` does not
    /// lead towards it; an inner `None` if there is nothing.
    #[must_use]
    pub fn within<'n>(&self, outer: &Self, value: &'n Node) -> Option<Option<&'n Node>> {
        let (outer, inner) = (&outer.segments, &self.segments);
        let leads = outer.len() <= inner.len()
            && outer.iter().zip(inner).all(|(one, other)| one.step == other.step);
        leads.then(|| walk(value, inner[outer.len()..].iter().map(|segment| &segment.step)))
    }

    /// The value at this path in `component`.
    #[must_use]
    pub fn get<'n>(&self, component: &'n Node) -> Option<&'n Node> {
        walk(component, self.steps_within_component())
    }

    /// The value at this path in `component`.
    #[must_use]
    pub fn get_json<'n>(&self, component: &'n Value) -> Option<&'n Value> {
        self.steps_within_component().try_fold(component, |value, step| match step {
            Step::Key(key) => value.get(key),
            Step::Index(index) => value.get(index),
        })
    }

    /// Whether it sets `key` of the component itself.
    #[must_use]
    pub fn sets_own(&self, key: &str) -> bool {
        matches!(&self.segments[..], [_, Segment { step: Step::Key(k), .. }] if k == key)
    }

    /// Sets the value in `component`. What is not there yet is taken from `defaults`, so that
    /// setting one key of an object that the file leaves out keeps the others' defaults.
    ///
    /// # Errors
    /// Where the path does not fit the values. Unknown keys are left to the validation.
    pub fn set(&self, component: &mut Node, defaults: &Value, value: Node) -> Result<(), Problem> {
        let mut node = component;
        let mut default = Some(defaults);
        let mut walked = self.component().to_owned();
        for segment in self.segments.iter().skip(1) {
            let at = walked.clone();
            match &segment.step {
                Step::Key(key) => {
                    default = default.and_then(|value| value.get(key));
                    walked = format!("{walked}.{key}");
                    node = enter_key(node, key, segment.origin, default)
                        .map_err(|value| Problem::NotAContainer { at, value })?;
                }
                Step::Index(index) => {
                    default = default.and_then(|value| value.get(index));
                    walked = format!("{walked}[{index}]");
                    let NodeValue::List(items) = &node.value else {
                        let value = node.shown(60);
                        return Err(Problem::NotAContainer { at, value });
                    };
                    let length = items.len();
                    node = node
                        .item_mut(*index)
                        .ok_or_else(|| Problem::NoSuchItem { at: walked.clone(), length })?;
                }
            }
        }
        *node = value;
        Ok(())
    }
}

fn walk<'n, 's>(value: &'n Node, mut steps: impl Iterator<Item = &'s Step>) -> Option<&'n Node> {
    steps.try_fold(value, |node, step| match step {
        Step::Key(key) => node.get(key),
        Step::Index(index) => node.items().get(*index),
    })
}

/// The value under `key`, which is made from `default` if it is not there. If `node` has no keys:
/// what it is instead.
fn enter_key<'a>(
    node: &'a mut Node,
    key: &str,
    origin: Origin,
    default: Option<&Value>,
) -> Result<&'a mut Node, String> {
    if matches!(node.value, NodeValue::Null) {
        node.value = NodeValue::Object(Vec::new());
    }
    if matches!(node.value, NodeValue::Object(_)) && node.get(key).is_none() {
        node.insert(key, origin, Node::from_json(default.unwrap_or(&Value::Null), origin));
    }
    if node.get(key).is_none() {
        return Err(node.shown(60));
    }
    node.get_mut(key).ok_or_else(String::new)
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.segments.iter().enumerate() {
            match &segment.step {
                Step::Key(key) if position == 0 => formatter.write_str(key)?,
                Step::Key(key) => write!(formatter, ".{key}")?,
                Step::Index(index) => write!(formatter, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::source::Sources;
    use super::*;

    /// `component` after setting 7 at `path`, or what is wrong.
    fn set(path: &str, component: Value) -> Result<Value, String> {
        let defaults = json!({
            "flap": { "count": 14, "period": "1 s" },
            "steps": [{ "cpu": 1 }],
            "pause": null
        });
        let origin = Sources::default().add("test".to_owned(), "".into(), path.to_owned());
        let text = |problem: Problem| problem.text().0;
        let path = Path::read(path, origin, 0).map_err(text)?;
        let mut node = Node::from_json(&component, origin);
        path.set(&mut node, &defaults, Node::from_json(&json!(7), origin)).map_err(text)?;
        Ok(node.to_json())
    }

    #[test]
    fn setting_a_part_of_what_a_file_leaves_out_keeps_the_defaults_of_the_rest() {
        assert_eq!(
            set("a.flap.count", json!({})).unwrap(),
            json!({ "flap": { "count": 7, "period": "1 s" } })
        );
        assert_eq!(
            set("a.flap.count", json!({ "flap": { "x": 1 } })).unwrap(),
            json!({ "flap": { "x": 1, "count": 7 } })
        );
        assert_eq!(set("a.steps[0].cpu", json!({})).unwrap(), json!({ "steps": [{ "cpu": 7 }] }));
        assert_eq!(set("a.pause.length", json!({})).unwrap(), json!({ "pause": { "length": 7 } }));
        assert_eq!(set("a.unknown", json!({})).unwrap(), json!({ "unknown": 7 }));
    }

    #[test]
    fn a_path_that_does_not_fit_says_where() {
        let wrong = |path, component| set(path, component).unwrap_err();
        assert_eq!(
            wrong("a.flap.count", json!({ "flap": "40 ms" })),
            r#"a.flap is "40 ms", which has nothing within it"#
        );
        assert_eq!(
            wrong("a.steps[1].cpu", json!({})),
            "a.steps[1] does not exist: the list has 1 item"
        );
        assert!(wrong("a.flap[0]", json!({})).contains("which has nothing within it"));
        for path in ["a", "", "a.", ".b", "a b.c ", "a[0].b", "a.b[x]", "a.b[", "a.b]", "a.b[0]c"] {
            assert!(wrong(path, json!({})).contains("is not a path"), "{path}");
        }
    }
}
