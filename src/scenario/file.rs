//! The types of a scenario file. Their JSON Schema is what files are checked against and what
//! editors use; the parts are read one by one, so that a mistake in one hides none in another.

use std::sync::OnceLock;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::question::{SensitivityEntry, SolveEntry};
use super::types::{Seeding, Statistic};
use crate::engine::SimDuration;
use crate::models::ModelKind;

/// A what-if question: the systems, what is varied, how it is run, what must come out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "convsim scenario")]
#[expect(dead_code, reason = "the parts are read one by one; this type gives the schema")]
pub(super) struct ScenarioFile {
    /// The schema, for editors: the output of `convsim schema`.
    #[serde(rename = "$schema")]
    schema: Option<String>,
    /// Another scenario to start from, relative to this file. Objects are merged key by key, lists
    /// are replaced, and `null` removes a key of the top level.
    extends: Option<String>,
    /// Its name, which also names its folder of results: letters, digits, `-`, `_` and `.`.
    #[schemars(length(min = 1, max = 100))]
    name: Option<String>,
    /// What question it answers.
    description: Option<String>,
    /// Where its figures come from.
    sources: Option<Vec<String>>,
    /// The simulated systems by name: a model each, and what is set of it.
    #[serde(default)]
    #[schemars(schema_with = "components_schema")]
    components: Option<Map<String, Value>>,
    /// Signals from one component to another.
    connections: Option<Vec<ConnectionEntry>>,
    /// Named settings to compare. Without any there is one called `base`.
    configurations: Option<Vec<ConfigurationEntry>>,
    /// A grid: each path with its values.
    #[serde(default)]
    #[schemars(schema_with = "sweep_schema")]
    sweep: Option<Map<String, Value>>,
    /// Lists that advance together: in each group, the first point has the first value of every
    /// path, and so on. A group is one axis of the grid.
    #[serde(default)]
    #[schemars(schema_with = "zip_schema")]
    zip: Option<Vec<Map<String, Value>>>,
    /// Points that fill the space of some ranges. They are one axis of the grid.
    sample: Option<SampleEntry>,
    /// Conditions that every point of the sweep must meet, for instance
    /// `"http.server.workers * http.server.threads <= 64"`: comparisons of paths, numbers, durations and rates.
    /// Points that do not are left out. Named configurations are not asked.
    #[serde(rename = "where")]
    conditions: Option<Vec<String>>,
    /// The configurations that the sweep is applied to; without it, the components as they stand.
    #[schemars(length(min = 1))]
    sweep_from: Option<Vec<String>>,
    /// How it is run.
    run: Option<RunEntry>,
    /// What must come out.
    expect: Option<Vec<ExpectEntry>>,
    /// What `convsim solve` answers without further options.
    solve: Option<SolveEntry>,
    /// What `convsim sensitivity` analyses without further options.
    sensitivity: Option<SensitivityEntry>,
    /// What the real system did, for pictures that hold it beside the simulated figures.
    recorded: Option<Vec<RecordedEntry>>,
}

/// A signal from one component to another.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConnectionEntry {
    /// `component.output`.
    pub from: String,
    /// `component.input`.
    pub to: String,
}

/// Named settings.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigurationEntry {
    /// The name in tables and expectations.
    #[schemars(length(min = 1, max = 200))]
    pub name: String,
    /// What a reader must know beside its figures.
    pub note: Option<String>,
    /// Values by path, for instance `"orchagent.pop_batch_size": 128`.
    #[serde(default)]
    #[schemars(schema_with = "set_schema")]
    #[expect(dead_code, reason = "read with the places of its keys")]
    set: Map<String, Value>,
}

/// Points that fill the space of some ranges.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SampleEntry {
    /// How the points are chosen.
    pub design: SampleDesign,
    /// How many.
    #[schemars(range(min = 1, max = 65536))]
    pub points: u64,
    /// Each path with the range that its values are drawn from.
    #[schemars(schema_with = "ranges_schema")]
    #[expect(dead_code, reason = "read with the places of its keys")]
    ranges: Map<String, Value>,
}

/// How points that fill a space are chosen. Both depend on the run's seed.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SampleDesign {
    /// An Owen-scrambled Sobol sequence. More points contain the fewer, so that what was computed
    /// is used again; powers of two are spread most evenly.
    Sobol,
    /// One point in each of as many equal parts of every range as there are points. Another
    /// number of points gives other points.
    LatinHypercube,
}

/// How a scenario is run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RunEntry {
    /// The master seed of all random streams.
    pub seed: u64,
    /// Replications of each point.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub replications: u64,
    /// Which points share their random streams.
    pub seeding: Seeding,
    /// Run replications in antithetic pairs: 2k + 1 has the complement of the random bits of 2k, so
    /// that a large draw comes where the other had a small one and their mean varies less. The
    /// number of replications must be even.
    pub antithetic: bool,
    /// Run more replications of a point until a figure is known as exactly as this asks.
    pub precision: Option<PrecisionEntry>,
    /// Virtual time at which a replication that is still going ends, as not converged.
    pub horizon: SimDuration,
    /// Events after which a replication that is still going ends, as not converged.
    #[schemars(range(min = 1))]
    pub event_budget: u64,
    /// Confidence of all intervals.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub confidence: f64,
    /// Metrics of the main table; empty for each model's headline metrics.
    pub metrics: Vec<String>,
}

impl Default for RunEntry {
    fn default() -> Self {
        Self {
            seed: 1,
            replications: 100,
            seeding: Seeding::Common,
            antithetic: false,
            precision: None,
            horizon: SimDuration::from_whole_seconds(3600),
            event_budget: 100_000_000,
            confidence: 0.95,
            metrics: Vec::new(),
        }
    }
}

/// How exactly a figure must be known.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PrecisionEntry {
    /// The metric; `component.metric` if there are several components.
    pub metric: String,
    /// Which figure over the replications.
    #[serde(default)]
    pub statistic: PrecisionStatistic,
    /// Half the width of the figure's interval, as a share of the figure: 0.02 is 2 %.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub relative: f64,
    /// Replications of a point after which it is given up, and flagged.
    #[serde(default = "PrecisionEntry::most")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub max_replications: u64,
}

impl PrecisionEntry {
    const fn most() -> u64 {
        10_000
    }
}

/// A figure whose interval narrows with more replications.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum PrecisionStatistic {
    /// The mean.
    #[default]
    Mean,
    /// The median.
    P50,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
}

/// A figure that must come out: `configuration` with one of `between`, `at_least`, `at_most` (or the
/// last two together), or `equals` with `within`. Or an order of several: `ordering`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectEntry {
    /// The configuration, or the point of a sweep such as `orchagent.pop_batch_size=32`.
    pub configuration: Option<String>,
    /// Configurations whose figures must rise from each to the next, tested by paired differences;
    /// in place of `configuration` and bounds.
    #[schemars(length(min = 2))]
    pub ordering: Option<Vec<String>>,
    /// The metric; `component.metric` if there are several components. Not needed for the
    /// statistic `not_converged`.
    pub metric: Option<String>,
    /// Which figure over the replications.
    #[serde(default)]
    pub statistic: Statistic,
    /// Compare the ratio to the same figure of this configuration.
    pub ratio_to: Option<String>,
    /// Compare the difference from the same figure of this configuration.
    pub difference_to: Option<String>,
    /// The least and the greatest value, in the metric's unit: `["12 s", "15 s"]`.
    #[schemars(length(min = 2, max = 2), with = "Option<Vec<Bound>>")]
    pub between: Option<Vec<Value>>,
    /// The least value, in the metric's unit.
    #[schemars(with = "Option<Bound>")]
    pub at_least: Option<Value>,
    /// The greatest value, in the metric's unit.
    #[schemars(with = "Option<Bound>")]
    pub at_most: Option<Value>,
    /// The value, in the metric's unit.
    #[schemars(with = "Option<Bound>")]
    pub equals: Option<Value>,
    /// How far from `equals` it may lie: a share such as `"5 %"`, or a value in the metric's unit.
    #[schemars(with = "Option<Bound>")]
    pub within: Option<Value>,
    /// What was measured there, in the metric's unit: a value, or the least and the greatest,
    /// `["12 s", "15 s"]`. Pictures mark it with its source.
    #[schemars(length(min = 1, max = 2), with = "Option<Vec<Bound>>")]
    pub measured: Option<Vec<Value>>,
    /// Where the expected value comes from.
    #[serde(default)]
    pub source: String,
}

/// Figures of the real system, one for each time that it was measured: `values`, or a `column` of a
/// CSV `file`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedEntry {
    /// The configuration, or the point of a sweep such as `orchagent.pop_batch_size=32`.
    pub configuration: String,
    /// The metric; `component.metric` if there are several components.
    pub metric: String,
    /// The unit of plain numbers: `"ms"`, `"s"`, `"/s"`; none for a metric without a unit.
    pub unit: Option<String>,
    /// The figures, in any order: plain numbers in `unit`, or with their unit, `"12 s"`.
    #[schemars(length(min = 1, max = 1_000_000), with = "Option<Vec<Bound>>")]
    pub values: Option<Vec<Value>>,
    /// A CSV file with a header line, relative to this file.
    pub file: Option<String>,
    /// Its column.
    pub column: Option<String>,
    /// Where they come from: what was measured, when, on what.
    #[schemars(length(min = 1))]
    pub source: String,
}

/// A bound in the unit of its metric.
pub(super) struct Bound;

impl JsonSchema for Bound {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Bound".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["number", "string"],
            "description": "A duration such as \"12 s\", a rate such as \"1500/s\", a share such \
                            as 0.05 or \"5 %\", or a plain number, as the metric's unit asks."
        })
    }

    fn inline_schema() -> bool {
        true
    }
}

fn set_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "Values by path, for instance \"orchagent.pop_batch_size\": 128.",
        "additionalProperties": true
    })
}

fn sweep_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["object", "null"],
        "description": "Values by path: a list, or a range such as \"32..4096:log2\" or \
                        \"10 ms..100 ms:linear:10\".",
        "additionalProperties": {
            "anyOf": [
                { "type": "array", "minItems": 1, "items": true },
                { "type": "string" }
            ]
        }
    })
}

fn zip_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["array", "null"],
        "description": "Lists that advance together: in each group, the first point has the first \
                        value of every path, and so on. A group is one axis of the grid.",
        "items": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "anyOf": [
                    { "type": "array", "minItems": 1, "items": true },
                    { "type": "string" }
                ]
            }
        }
    })
}

fn ranges_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "Ranges by path: \"0.1..0.9\", \"10 ms..100 ms:log\", \"1..8:whole\". \
                        A parameter that takes only whole numbers gets whole numbers anyway.",
        "minProperties": 1,
        "additionalProperties": { "type": "string" }
    })
}

/// A component of any model: its configuration's schema and the key `model`.
fn components_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut branches = Vec::new();
    for kind in ModelKind::ALL {
        let mut schema = kind.config_schema(generator).to_value();
        let name = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.rsplit('/').next());
        if let Some(definition) =
            name.map(str::to_owned).and_then(|name| generator.definitions_mut().remove(&name))
        {
            schema = definition;
        }
        let model = json!({ "const": kind.name(), "description": kind.summary() });
        let mut properties = Map::new();
        properties.insert("model".to_owned(), model);
        if let Some(Value::Object(own)) = schema.get("properties") {
            properties.extend(own.clone());
        }
        if let Some(map) = schema.as_object_mut() {
            map.insert("properties".to_owned(), Value::Object(properties));
            map.insert("required".to_owned(), json!(["model"]));
            // The parameters carry their defaults; the whole again would double the file.
            map.remove("default");
            map.remove("title");
        }
        branches.push(schema);
    }
    json_schema!({
        "type": ["object", "null"],
        "description": "The simulated systems by name: a model each, and what is set of it.",
        "additionalProperties": { "anyOf": branches }
    })
}

/// The JSON Schema of a scenario file.
#[must_use]
pub fn schema() -> Value {
    schema_ref().clone()
}

/// The JSON Schema, made once.
pub(super) fn schema_ref() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let generator = SchemaSettings::draft2020_12().into_generator();
        generator.into_root_schema_for::<ScenarioFile>().to_value()
    })
}

/// The schema of any component.
pub(super) fn component_schema() -> &'static Value {
    schema_ref().pointer("/properties/components/additionalProperties").unwrap_or(&Value::Null)
}
