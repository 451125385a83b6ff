//! Checks a tree of values against a JSON Schema and reports everything that is wrong with it.
//!
//! It knows the keywords that schemars writes for the types of scenario files, and the formats of
//! the quantities; a test finds any other, so that none is ignored unnoticed.

use serde_json::Value;

use super::node::{Node, NodeValue};
use super::parse::join;
use super::problem::{Problem, Problems};
use super::schema_text::{allowed_text, duration_text};
use crate::quantities::DurationDistribution;
use crate::quantities::distribution::{DISTRIBUTION_ALLOWED, DISTRIBUTION_FORMAT};
use crate::quantities::duration::{DURATION_FORMAT, LEAST_DURATION, parse_duration};
use crate::quantities::rate::{RATE_ALLOWED, RATE_FORMAT, parse_rate};

/// Most characters of a value in an error text.
const SHOWN: usize = 60;
/// Most references from one definition to the next without a value in between.
const MAX_REFERENCES: usize = 32;

/// A schema with the definitions that it refers to.
#[derive(Clone, Copy)]
pub struct Validator<'a> {
    root: &'a Value,
}

impl<'a> Validator<'a> {
    /// Resolves references within `root`.
    #[must_use]
    pub const fn new(root: &'a Value) -> Self {
        Self { root }
    }

    /// Reports to `problems` what is wrong with `node`, which stands at `path`.
    pub fn check(self, schema: &Value, node: &Node, path: &str, problems: &mut Problems) {
        if schema.get("$ref").is_some() {
            self.check(self.resolve(schema), node, path, problems);
        }
        for part in array(schema, "allOf") {
            self.check(part, node, path, problems);
        }
        match schema.get("format").and_then(Value::as_str) {
            Some(DURATION_FORMAT) => return duration(schema, node, path, problems),
            Some(RATE_FORMAT) => return rate(schema, node, path, problems),
            Some(DISTRIBUTION_FORMAT) => return self.distribution(schema, node, path, problems),
            _ => {}
        }
        for union in ["anyOf", "oneOf"] {
            if let Some(branches) = schema.get(union).and_then(Value::as_array) {
                self.union(schema, branches, node, path, problems);
            }
        }
        if !types(schema).is_empty() && !type_allows(schema, node) {
            problems.add(self.wrong_type(schema, node), path, Some(node.origin));
            return;
        }
        choice(schema, node, path, problems);
        match &node.value {
            NodeValue::Number(_) => number(schema, node, path, problems),
            NodeValue::Text(text) => text_length(schema, text, node, path, problems),
            NodeValue::List(items) => self.list(schema, items, node, path, problems),
            NodeValue::Object(_) => self.object(schema, node, path, problems),
            NodeValue::Null | NodeValue::Bool(_) => {}
        }
    }

    /// Follows `$ref` to the definition.
    #[must_use]
    pub fn resolve(self, schema: &'a Value) -> &'a Value
    where
        Self: 'a,
    {
        resolve_in(self.root, schema)
    }

    fn wrong_type(self, schema: &Value, node: &Node) -> Problem {
        Problem::WrongType { value: node.shown(SHOWN), allowed: allowed_text(self.root, schema) }
    }

    fn list(
        self,
        schema: &Value,
        items: &[Node],
        node: &Node,
        path: &str,
        problems: &mut Problems,
    ) {
        length(schema, ("minItems", "maxItems"), items.len(), node, path, problems);
        let prefix = array(schema, "prefixItems");
        for (index, item) in items.iter().enumerate() {
            let item_schema = prefix.get(index).or_else(|| schema.get("items"));
            if let Some(item_schema) = item_schema {
                self.check(item_schema, item, &format!("{path}[{index}]"), problems);
            }
            let repeated = || items[..index].iter().any(|other| other.to_json() == item.to_json());
            if schema.get("uniqueItems") == Some(&Value::Bool(true)) && repeated() {
                let value = item.shown(SHOWN);
                problems.add(Problem::RepeatedValue { value }, path, Some(item.origin));
            }
        }
    }

    fn object(self, schema: &Value, node: &Node, path: &str, problems: &mut Problems) {
        let entries = node.entries();
        length(schema, ("minProperties", "maxProperties"), entries.len(), node, path, problems);
        let properties = schema.get("properties").and_then(Value::as_object);
        for entry in entries {
            let path = join(path, &entry.key);
            match (
                properties.and_then(|map| map.get(&entry.key)),
                schema.get("additionalProperties"),
            ) {
                (Some(property), _) => self.check(property, &entry.value, &path, problems),
                (None, Some(Value::Bool(false))) => {
                    let allowed = properties.into_iter().flat_map(|map| map.keys().cloned());
                    let problem =
                        Problem::UnknownKey { key: entry.key.clone(), allowed: allowed.collect() };
                    problems.add(problem, &path, Some(entry.key_origin));
                }
                (None, Some(Value::Bool(true)) | None) => {}
                (None, Some(additional)) => self.check(additional, &entry.value, &path, problems),
            }
        }
        for key in array(schema, "required").iter().filter_map(Value::as_str) {
            if node.get(key).is_none() {
                let property = properties.and_then(|map| map.get(key));
                let allowed = property.map_or_else(String::new, |p| allowed_text(self.root, p));
                let problem = Problem::MissingKey { key: key.to_owned(), allowed };
                problems.add(problem, path, Some(node.origin));
            }
        }
    }

    /// Reports on the branch that the value was meant for.
    fn union(
        self,
        schema: &Value,
        branches: &[Value],
        node: &Node,
        path: &str,
        problems: &mut Problems,
    ) {
        let resolved: Vec<&Value> = branches.iter().map(|b| resolve_in(self.root, b)).collect();
        if resolved.iter().all(|branch| !choices(branch).is_empty() || is_null(branch)) {
            return self.choice_of(schema, &resolved, node, path, problems);
        }
        if matches!(node.value, NodeValue::Object(_))
            && let Some(tag) = common_tag(&resolved)
        {
            return self.tagged(tag, &resolved, node, path, problems);
        }
        let mut best: Option<Problems> = None;
        for branch in &resolved {
            if !self.admits(branch, node) {
                continue;
            }
            let mut found = Problems::default();
            self.check(branch, node, path, &mut found);
            if best.as_ref().is_none_or(|best| found.len() < best.len()) {
                best = Some(found);
            }
        }
        match best {
            Some(found) => problems.append(found),
            None => problems.add(self.wrong_type(schema, node), path, Some(node.origin)),
        }
    }

    /// A union of fixed values.
    fn choice_of(
        self,
        schema: &Value,
        branches: &[&Value],
        node: &Node,
        path: &str,
        problems: &mut Problems,
    ) {
        let value = node.to_json();
        let known: Vec<&Value> = branches.iter().flat_map(|branch| choices(branch)).collect();
        if known.contains(&&value) || (value.is_null() && branches.iter().any(|b| is_null(b))) {
            return;
        }
        let problem = match &node.value {
            NodeValue::Text(_) => Problem::BadChoice {
                value: node.shown(SHOWN),
                allowed: known.into_iter().map(plain).collect(),
            },
            // `true` or `5` where "true" or "5" is a name.
            _ if known.contains(&&Value::String(node.shown(SHOWN))) => {
                let name = node.shown(SHOWN);
                let allowed = format!(
                    "the name \"{name}\" in quotation marks; on a command line '{path}=\"{name}\"'"
                );
                Problem::WrongType { value: name, allowed }
            }
            _ => self.wrong_type(schema, node),
        };
        problems.add(problem, path, Some(node.origin));
    }

    /// A union of objects that a fixed key tells apart.
    fn tagged(
        self,
        tag: &str,
        branches: &[&Value],
        node: &Node,
        path: &str,
        problems: &mut Problems,
    ) {
        let of = |branch: &Value| branch["properties"][tag].get("const").cloned();
        let known = || {
            let mut known: Vec<String> = Vec::new();
            for name in branches.iter().filter_map(|branch| of(branch)).map(|v| plain(&v)) {
                if !known.contains(&name) {
                    known.push(name);
                }
            }
            known
        };
        let Some(written) = node.get(tag) else {
            let allowed = format!("one of {}", known().join(", "));
            let problem = Problem::MissingKey { key: tag.to_owned(), allowed };
            return problems.add(problem, path, Some(node.origin));
        };
        let value = written.to_json();
        // Of several branches with the tag, the one that knows most of the keys is meant.
        let mut best: Option<((usize, usize), Problems)> = None;
        for branch in branches.iter().filter(|branch| of(branch).as_ref() == Some(&value)) {
            let mut found = Problems::default();
            self.check(branch, node, path, &mut found);
            let known = &branch["properties"];
            let unknown = node.entries().iter().filter(|e| known.get(&e.key).is_none()).count();
            let rank = (unknown, found.len());
            if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, found));
            }
        }
        match best {
            Some((_, found)) => problems.append(found),
            None => {
                let problem = Problem::BadChoice { value: written.shown(SHOWN), allowed: known() };
                problems.add(problem, &join(path, tag), Some(written.origin));
            }
        }
    }

    /// Whether the value has the kind that a branch asks for.
    fn admits(self, branch: &Value, node: &Node) -> bool {
        if branch.get("properties").is_some() || branch.get("type").is_some() {
            // An enum whose variants hold values is an object with one key, the variant's name.
            let required = array(branch, "required").first().and_then(Value::as_str);
            let keys = branch.get("properties").and_then(Value::as_object).map_or(0, |of| of.len());
            let variant = (keys, array(branch, "required").len()) == (1, 1)
                && branch.get("additionalProperties") == Some(&Value::Bool(false));
            return type_allows(branch, node)
                && !(variant
                    && matches!(node.value, NodeValue::Object(_))
                    && required.is_some_and(|key| node.get(key).is_none()));
        }
        if !choices(branch).is_empty() {
            return choices(branch).iter().any(|c| same_kind(c, node));
        }
        for union in ["anyOf", "oneOf"] {
            if branch.get(union).is_some() {
                let parts = array(branch, union);
                return parts.iter().any(|part| self.admits(resolve_in(self.root, part), node));
            }
        }
        true
    }

    fn distribution(self, schema: &Value, node: &Node, path: &str, problems: &mut Problems) {
        if matches!(node.value, NodeValue::Number(_)) {
            let allowed = DISTRIBUTION_ALLOWED.to_owned();
            let problem = Problem::BareNumber { value: node.shown(SHOWN), allowed };
            return problems.add(problem, path, Some(node.origin));
        }
        let mut found = Problems::default();
        self.union(schema, array(schema, "anyOf"), node, path, &mut found);
        // Recordings in a file are checked when they are read.
        if found.is_empty()
            && node.get("file").is_none()
            && let Err(error) = serde_json::from_value::<DurationDistribution>(node.to_json())
        {
            let reason = error.to_string();
            found.add(Problem::BadDistribution { reason }, path, Some(node.origin));
        }
        problems.append(found);
    }
}

/// Follows `$ref` to the definition in `root`.
#[must_use]
pub fn resolve_in<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..MAX_REFERENCES {
        let Some(pointer) = schema.get("$ref").and_then(Value::as_str) else { break };
        match root.pointer(pointer.trim_start_matches('#')) {
            Some(definition) => schema = definition,
            None => break,
        }
    }
    schema
}

fn duration(schema: &Value, node: &Node, path: &str, problems: &mut Problems) {
    let least = schema.get(LEAST_DURATION).and_then(Value::as_str);
    quantity(schema, node, path, problems, &duration_text(schema), |text| {
        let duration = parse_duration(text).map_err(|error| error.to_string())?;
        match least.map(|least| (least, parse_duration(least))) {
            Some((least, Ok(shortest))) if duration < shortest => {
                Err(format!("shorter than {least}"))
            }
            _ => Ok(()),
        }
    });
}

fn rate(schema: &Value, node: &Node, path: &str, problems: &mut Problems) {
    quantity(schema, node, path, problems, RATE_ALLOWED, |text| {
        parse_rate(text).map(|_| ()).map_err(|error| error.to_string())
    });
}

fn quantity(
    schema: &Value,
    node: &Node,
    path: &str,
    problems: &mut Problems,
    allowed: &str,
    read: impl Fn(&str) -> Result<(), String>,
) {
    let (value, allowed) = (node.shown(SHOWN), allowed.to_owned());
    let problem = match &node.value {
        NodeValue::Null if types(schema).contains(&"null") => return,
        NodeValue::Text(text) => match read(text) {
            Ok(()) => return,
            Err(reason) => Problem::BadQuantity { value, reason, allowed },
        },
        NodeValue::Number(_) => Problem::BareNumber { value, allowed },
        _ => Problem::WrongType { value, allowed },
    };
    problems.add(problem, path, Some(node.origin));
}

fn choice(schema: &Value, node: &Node, path: &str, problems: &mut Problems) {
    let known = choices(schema);
    let value = node.to_json();
    if known.is_empty() || known.contains(&&value) {
        return;
    }
    let allowed = known.into_iter().filter(|choice| !choice.is_null()).map(plain).collect();
    problems.add(Problem::BadChoice { value: node.shown(SHOWN), allowed }, path, Some(node.origin));
}

fn number(schema: &Value, node: &Node, path: &str, problems: &mut Problems) {
    let NodeValue::Number(number) = &node.value else { return };
    let Some(value) = number.as_f64() else { return };
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let within = bound("minimum").is_none_or(|least| value >= least)
        && bound("maximum").is_none_or(|most| value <= most)
        && bound("exclusiveMinimum").is_none_or(|least| value > least)
        && bound("exclusiveMaximum").is_none_or(|most| value < most);
    let fits = match schema.get("format").and_then(Value::as_str) {
        Some("uint8") => number.as_u64().is_some_and(|n| u8::try_from(n).is_ok()),
        Some("uint16") => number.as_u64().is_some_and(|n| u16::try_from(n).is_ok()),
        Some("uint32") => number.as_u64().is_some_and(|n| u32::try_from(n).is_ok()),
        Some("uint64" | "uint") => number.as_u64().is_some(),
        Some("int8") => number.as_i64().is_some_and(|n| i8::try_from(n).is_ok()),
        Some("int16") => number.as_i64().is_some_and(|n| i16::try_from(n).is_ok()),
        Some("int32") => number.as_i64().is_some_and(|n| i32::try_from(n).is_ok()),
        Some("int64" | "int") => number.as_i64().is_some(),
        Some("float") => value.abs() <= f64::from(f32::MAX),
        _ => true,
    };
    if !(within && fits) {
        let allowed = allowed_text(schema, schema);
        problems.add(
            Problem::OutOfRange { value: node.shown(SHOWN), allowed },
            path,
            Some(node.origin),
        );
    }
}

fn text_length(schema: &Value, text: &str, node: &Node, path: &str, problems: &mut Problems) {
    let count = text.chars().count() as u64;
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
    let (least, most) = (bound("minLength"), bound("maxLength"));
    if least.is_some_and(|least| count < least) || most.is_some_and(|most| count > most) {
        let allowed = format!(
            "a text of {} to {} characters",
            least.unwrap_or(0),
            most.map_or_else(|| "any number of".to_owned(), |most| most.to_string())
        );
        let problem = Problem::OutOfRange { value: node.shown(SHOWN), allowed };
        problems.add(problem, path, Some(node.origin));
    }
}

fn length(
    schema: &Value,
    keys: (&str, &str),
    length: usize,
    node: &Node,
    path: &str,
    problems: &mut Problems,
) {
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
    let (least, most) = (bound(keys.0), bound(keys.1));
    let count = length as u64;
    if least.is_some_and(|least| count < least) || most.is_some_and(|most| count > most) {
        let allowed = match (least, most) {
            (Some(least), Some(most)) if least == most => format!("exactly {least} items"),
            (Some(least), Some(most)) => format!("{least} to {most} items"),
            (_, Some(most)) => format!("at most {most} items"),
            (Some(1), None) => "at least 1 item".to_owned(),
            (least, None) => format!("at least {} items", least.unwrap_or(0)),
        };
        problems.add(Problem::WrongLength { length, allowed }, path, Some(node.origin));
    }
}

/// The elements of an array in a schema; none if it is absent.
pub(super) fn array<'a>(schema: &'a Value, key: &str) -> &'a [Value] {
    schema.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The types that a schema names.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The fixed values that a schema allows.
pub(super) fn choices(schema: &Value) -> Vec<&Value> {
    match schema.get("const") {
        Some(value) => vec![value],
        None => array(schema, "enum").iter().collect(),
    }
}

/// Whether a schema allows nothing but `null`.
pub(super) fn is_null(schema: &Value) -> bool {
    types(schema) == ["null"]
}

/// A value without quotation marks.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn type_allows(schema: &Value, node: &Node) -> bool {
    let types = types(schema);
    types.is_empty()
        || types.iter().any(|name| match &node.value {
            NodeValue::Null => *name == "null",
            NodeValue::Bool(_) => *name == "boolean",
            NodeValue::Number(number) => {
                *name == "number" || (*name == "integer" && !number.is_f64())
            }
            NodeValue::Text(_) => *name == "string",
            NodeValue::List(_) => *name == "array",
            NodeValue::Object(_) => *name == "object",
        })
}

fn same_kind(value: &Value, node: &Node) -> bool {
    matches!(
        (value, &node.value),
        (Value::Null, NodeValue::Null)
            | (Value::Bool(_), NodeValue::Bool(_))
            | (Value::Number(_), NodeValue::Number(_))
            | (Value::String(_), NodeValue::Text(_))
    )
}

/// The key that has a fixed value in every branch that is an object.
pub(super) fn common_tag<'a>(branches: &[&'a Value]) -> Option<&'a str> {
    let mut objects =
        branches.iter().filter(|branch| branch.get("properties").is_some()).peekable();
    let first = objects.peek()?["properties"].as_object()?;
    let tag = first.iter().find(|(_, schema)| schema.get("const").is_some())?.0;
    objects.all(|branch| branch["properties"][tag.as_str()].get("const").is_some()).then_some(tag)
}
