//! The validation on types with every shape that configurations have.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::parse::parse;
use super::problem::Problems;
use super::source::Sources;
use super::validate::Validator;
use crate::engine::SimDuration;
use crate::quantities::{DurationDistribution, Rate};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Shapes {
    /// A plain number.
    #[schemars(range(min = 1, max = 1_000_000), extend("x-unit" = "keys"))]
    count: u32,
    /// A share.
    #[schemars(range(min = 0.0, max = 1.0))]
    share: f64,
    /// A small number.
    tiny: u8,
    /// A signed number.
    offset: i64,
    flag: bool,
    label: String,
    timeout: SimDuration,
    timeout_if_any: Option<SimDuration>,
    rate: Option<Rate>,
    service: Service,
    service_if_any: Option<DurationDistribution>,
    colour: Colour,
    colour_if_any: Option<Colour>,
    plain: PlainChoice,
    /// A choice with fields.
    action: Action,
    action_if_any: Option<Action>,
    /// Within.
    nested: Nested,
    nested_if_any: Option<Nested>,
    #[schemars(length(min = 1, max = 3))]
    steps: Vec<Nested>,
    numbers: Vec<u64>,
    pair: (u32, SimDuration),
    set: BTreeSet<u8>,
    variant: Variant,
    either: Either,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Service(DurationDistribution);

impl Default for Service {
    fn default() -> Self {
        Self(DurationDistribution::constant(SimDuration::ZERO))
    }
}

/// A documented enum becomes `oneOf` of constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Colour {
    /// Red.
    #[default]
    DarkRed,
    /// Green.
    Green,
}

/// One without documented variants becomes `enum`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PlainChoice {
    #[default]
    One,
    Two,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Action {
    /// Nothing.
    #[default]
    Nothing,
    /// Again and again.
    Repeat {
        /// How often.
        #[schemars(range(min = 1))]
        times: u32,
        /// After how long.
        pause: SimDuration,
    },
    /// Once.
    Once {
        /// When.
        at: SimDuration,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Nested {
    /// How many.
    #[schemars(range(min = 1, max = 64))]
    members: u32,
    pause: SimDuration,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Variant {
    #[default]
    Empty,
    Limited(u8),
    Named {
        name: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Number(u32),
    List(Vec<u32>),
}

impl Default for Either {
    fn default() -> Self {
        Self::Number(0)
    }
}

fn schema() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Shapes>().to_value()
}

/// `path: problem | help` of everything that is wrong with `text`.
fn problems(text: &str) -> Vec<String> {
    let mut sources = Sources::default();
    let mut found = Problems::default();
    let whole = sources.add("test".to_owned(), "".into(), text.to_owned());
    let node = parse(text, whole, &mut found).expect("it is JSON");
    let schema = schema();
    Validator::new(&schema).check(&schema, &node, "", &mut found);
    let (located, _) = found.into_parts();
    located
        .into_iter()
        .map(|located| {
            let (problem, help) = located.problem.text();
            format!("{}: {problem} | {help}", located.path)
        })
        .collect()
}

/// Each text with the one thing that is wrong with it.
fn each(texts: &[&str]) -> String {
    texts.iter().map(|text| format!("{text}\n    {}\n", only(text))).collect()
}

fn only(text: &str) -> String {
    let all = problems(text);
    assert_eq!(all.len(), 1, "{text}: {all:#?}");
    all.into_iter().next().unwrap()
}

#[test]
fn every_keyword_of_these_shapes_is_applied() {
    assert_eq!(super::keywords::unknown_keywords(&schema()), Vec::<String>::new());
}

#[test]
fn what_the_types_accept_has_no_problems() {
    let default = serde_json::to_value(Shapes::default()).unwrap();
    let text = r#"{
        "count": 1e3, "share": 1, "tiny": 255, "offset": -3, "flag": true, "label": "x",
        "timeout": "40 ms", "timeout_if_any": null, "rate": "3/min", "service": "2 ms",
        "service_if_any": { "distribution": "lognormal", "mean": "2 ms", "cv": 0.3 },
        "colour": "green", "colour_if_any": null, "plain": "two",
        "action": { "kind": "repeat", "times": 3, "pause": "1 s" },
        "action_if_any": { "kind": "nothing" },
        "nested": { "members": 2 }, "nested_if_any": { "members": 3, "pause": "0 s" },
        "steps": [{ "members": 1 }, {}], "numbers": [], "pair": [1, "2 s"], "set": [1, 2],
        "variant": { "limited": 3 }, "either": [1, 2]
    }"#;
    assert_eq!(problems(text), Vec::<String>::new());
    assert_eq!(problems(r#"{ "variant": { "named": { "name": "x" } } }"#), Vec::<String>::new());
    let untouched = serde_json::json!({
        "service": default["service"], "colour": default["colour"], "action": default["action"],
        "rate": default["rate"], "variant": default["variant"], "either": default["either"]
    });
    assert_eq!(problems(&untouched.to_string()), Vec::<String>::new());
}

#[test]
fn numbers_are_of_their_type_and_in_their_range() {
    insta::assert_snapshot!(each(&[
        r#"{ "count": 0 }"#,
        r#"{ "count": 1.5 }"#,
        r#"{ "count": "4" }"#,
        r#"{ "share": 1.1 }"#,
        r#"{ "tiny": 256 }"#,
        r#"{ "offset": 9223372036854775808 }"#,
        r#"{ "numbers": [1, -1] }"#,
        r#"{ "flag": 1 }"#,
    ]));
}

#[test]
fn quantities_need_their_unit() {
    insta::assert_snapshot!(each(&[
        r#"{ "timeout": 40 }"#,
        r#"{ "timeout": "40" }"#,
        r#"{ "timeout": "40 m" }"#,
        r#"{ "timeout": "-1 s" }"#,
        r#"{ "timeout_if_any": "9e99 h" }"#,
        r#"{ "timeout": null }"#,
        r#"{ "rate": 1500 }"#,
        r#"{ "rate": "40 ms" }"#,
        r#"{ "pair": [1, 2] }"#,
    ]));
}

#[test]
fn distributions_name_the_parameter_at_fault() {
    insta::assert_snapshot!(each(&[
        r#"{ "service": 3 }"#,
        r#"{ "service": "3" }"#,
        r#"{ "service": {} }"#,
        r#"{ "service": { "distribution": "lognorm", "mean": "2 ms" } }"#,
        r#"{ "service": { "distribution": "lognormal", "mean": "2 ms" } }"#,
        r#"{ "service": { "distribution": "gamma", "mean": "2 ms", "cv": 0 } }"#,
        r#"{ "service": { "distribution": "gamma", "mean": 2, "cv": 1 } }"#,
        r#"{ "service": { "distribution": "exponential", "mean": "2 ms", "cv": 1 } }"#,
        r#"{ "service": { "distribution": "uniform", "min": "3 ms", "max": "2 ms" } }"#,
        r#"{ "service_if_any": { "distribution": "exponential", "mean": "0 s" } }"#,
        r#"{ "service": { "distribution": "empirical", "values": [] } }"#,
        r#"{ "service": { "distribution": "empirical", "file": "x.csv", "column": "a" } }"#,
        r#"{ "service": { "distribution": "mixture", "parts": [{ "weight": 0, "duration": "1 s" }] } }"#,
    ]));
}

#[test]
fn choices_list_what_is_allowed() {
    insta::assert_snapshot!(each(&[
        r#"{ "colour": "dark_redd" }"#,
        r#"{ "colour_if_any": "zzz" }"#,
        r#"{ "colour": 3 }"#,
        r#"{ "plain": "three" }"#,
        r#"{ "variant": "limitd" }"#,
        r#"{ "variant": { "limited": 300 } }"#,
        r#"{ "either": "x" }"#,
        r#"{ "either": [1, "x"] }"#,
    ]));
}

#[test]
fn an_error_in_a_choice_of_objects_speaks_of_the_chosen_one_only() {
    insta::assert_snapshot!(each(&[
        r#"{ "action": { "kind": "repeat", "times": 0, "pause": "1 s" } }"#,
        r#"{ "action": { "kind": "once", "at": "1 s", "times": 3 } }"#,
        r#"{ "action": { "kind": "repeat", "times": 3 } }"#,
        r#"{ "action_if_any": { "kind": "repeet" } }"#,
        r#"{ "action_if_any": { "times": 3 } }"#,
        r#"{ "action": "repeat" }"#,
    ]));
}

#[test]
fn keys_and_lists_are_checked_at_every_level() {
    insta::assert_snapshot!(each(&[
        r#"{ "nested": { "member": 3 } }"#,
        r#"{ "nested_if_any": { "members": 65 } }"#,
        r#"{ "nested": [] }"#,
        r#"{ "steps": [] }"#,
        r#"{ "steps": [{}, {}, {}, {}] }"#,
        r#"{ "steps": [{}, { "pause": "x" }] }"#,
        r#"{ "set": [1, 1] }"#,
        r#"{ "pair": [1] }"#,
    ]));
    assert_eq!(problems(r#"{ "tiny": -1, "x": 1, "flag": 0, "steps": 3 }"#).len(), 4);
}
