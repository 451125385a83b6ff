//! JSON with comments and trailing commas, into [`Node`]s.

use jsonc_parser::ast::{self, ObjectPropName};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Number;

use super::node::{Entry, Node, NodeValue};
use super::problem::{Problem, Problems};
use super::source::Origin;

/// Most levels of lists and objects within each other.
pub const MAX_DEPTH: usize = 64;

/// Reads `text`, which is the whole text of the source that `whole` lies in, from the offset of
/// `whole` on. `None` if it is no JSON; what is wrong goes to `problems`.
pub fn parse(text: &str, whole: Origin, problems: &mut Problems) -> Option<Node> {
    let base = whole.start();
    if let Some(offset) = too_deep(text) {
        let origin = whole.at(base + offset, base + offset + 1);
        problems.add(Problem::TooDeep { limit: MAX_DEPTH }, "", Some(origin));
        return None;
    }
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        // Read, so that they are refused with their own reason.
        allow_non_finite_numbers: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_extended_string_escapes: false,
    };
    match parse_to_ast(text, &CollectOptions::default(), &options) {
        Err(error) => {
            let range = error.range();
            let origin = whole.at(base + range.start, base + range.end.max(range.start + 1));
            let reason = error.kind().to_string();
            problems.add(Problem::Syntax { reason }, "", Some(origin));
            None
        }
        Ok(result) => match result.value {
            None => {
                problems.add(Problem::Empty, "", Some(whole));
                None
            }
            Some(value) => {
                // A key written twice or a number out of range hides no other problem.
                Some(Reader { whole, problems }.node(value, ""))
            }
        },
    }
}

/// Where the nesting passes [`MAX_DEPTH`], outside texts and comments.
fn too_deep(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += 2;
                while at < bytes.len() && !bytes[at..].starts_with(b"*/") {
                    at += 1;
                }
                at += 1;
            }
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Some(at);
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

struct Reader<'a> {
    whole: Origin,
    problems: &'a mut Problems,
}

impl Reader<'_> {
    fn origin(&self, range: jsonc_parser::common::Range) -> Origin {
        let base = self.whole.start();
        self.whole.at(base + range.start, base + range.end)
    }

    fn node(&mut self, value: ast::Value<'_>, path: &str) -> Node {
        let origin = self.origin(value.range());
        let value = match value {
            ast::Value::NullKeyword(_) => NodeValue::Null,
            ast::Value::BooleanLit(literal) => NodeValue::Bool(literal.value),
            ast::Value::StringLit(literal) => {
                NodeValue::Text(self.text(literal.value.into_owned(), path, origin))
            }
            ast::Value::NumberLit(literal) => self.number(literal.value, path, origin),
            ast::Value::Array(list) => {
                let mut items = Vec::with_capacity(list.elements.len());
                for (index, element) in list.elements.into_iter().enumerate() {
                    items.push(self.node(element, &format!("{path}[{index}]")));
                }
                NodeValue::List(items)
            }
            ast::Value::Object(object) => self.object(object, path),
        };
        Node { value, origin }
    }

    fn object(&mut self, object: ast::Object<'_>, path: &str) -> NodeValue {
        let mut entries: Vec<Entry> = Vec::with_capacity(object.properties.len());
        let mut seen = std::collections::HashMap::new();
        for property in object.properties {
            let key_origin = self.origin(property.name.range());
            let key = match property.name {
                ObjectPropName::String(literal) => literal.value.into_owned(),
                ObjectPropName::Word(literal) => literal.value.to_owned(),
            };
            let key = self.text(key, path, key_origin);
            let key_path = join(path, &key);
            let value = self.node(property.value, &key_path);
            if let Some(first) = seen.insert(key.clone(), key_origin) {
                let problem = Problem::DuplicateKey { key, first };
                self.problems.add(problem, &key_path, Some(key_origin));
            } else {
                entries.push(Entry { key, key_origin, value });
            }
        }
        NodeValue::Object(entries)
    }

    /// A text without control characters, which no picture, report or terminal can show as they are.
    fn text(&mut self, text: String, path: &str, origin: Origin) -> String {
        let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        if !text.contains(control) {
            return text;
        }
        let text = text.replace(control, "\u{fffd}");
        let problem = Problem::ControlCharacter { text: super::node::clip(&text, 60) };
        self.problems.add(problem, path, Some(origin));
        text
    }

    fn number(&mut self, text: &str, path: &str, origin: Origin) -> NodeValue {
        match text.parse::<Number>() {
            Ok(number) => NodeValue::Number(whole_number(number)),
            Err(_) => {
                let text = super::node::clip(text, 40);
                let problem = if text.ends_with("NaN") || text.ends_with("Infinity") {
                    Problem::NotFinite { text }
                } else {
                    Problem::NumberTooLarge { text }
                };
                self.problems.add(problem, path, Some(origin));
                NodeValue::Null
            }
        }
    }
}

/// `1e3` and `1000.0` are the whole number 1000.
#[must_use]
pub fn whole_number(number: Number) -> Number {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() < EXACT => {
            if value == 0.0 { Number::from(0) } else { Number::from(value as i64) }
        }
        _ => number,
    }
}

/// `path.key`, or `key` at the top.
#[must_use]
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
