//! The two blocks as a file has them.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{SensitivityMethod, SolveGoal};
use crate::scenario::file::Bound;

/// What `convsim solve FILE` finds: which value of a parameter meets a target (`largest`, `smallest`),
/// or what is best (`minimise`, `maximise`).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct SolveEntry {
    /// Which value is wanted.
    pub(super) goal: SolveGoal,
    /// The parameter; with `minimise` and `maximise`, configurations are compared without it.
    #[expect(dead_code, reason = "read with the places of its keys")]
    parameter: Option<ParameterEntry>,
    /// What must hold, with `largest` and `smallest`: `"packet_loss_duration.p99 <= 2 s"`,
    /// `"timeout_share <= 0.1 %"` (the mean), `"not_converged <= 1 %"`.
    pub(super) target: Option<String>,
    /// What is compared, with `minimise` and `maximise`: the mean of a metric.
    pub(super) metric: Option<String>,
    /// The least difference that matters, with `minimise` and `maximise`, in the metric's unit.
    #[schemars(with = "Option<Bound>")]
    pub(super) indifference: Option<Value>,
    /// Answer for each value of another parameter: a frontier.
    #[expect(dead_code, reason = "read with the places of its keys")]
    along: Option<ParameterEntry>,
    /// Start from this configuration; with `minimise` and `maximise` the candidates.
    #[schemars(length(min = 1))]
    pub(super) configurations: Option<Vec<String>>,
    /// How sure the whole answer is to be, instead of what `run` says.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub(super) confidence: Option<f64>,
    /// Replications of the first look at a value; 50 by default.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub(super) replications: Option<u64>,
    /// The most replications that a value gets; by default ten times those of `run`.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub(super) max_replications: Option<u64>,
}

/// A parameter with the values that are tried.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ParameterEntry {
    /// Its path, for instance `"orchagent.pop_batch_size"`.
    #[expect(dead_code, reason = "read with its place")]
    path: String,
    /// Its values: a list, or a range such as `"32..4096"`.
    #[schemars(schema_with = "values_schema")]
    #[expect(dead_code, reason = "read with the places of its values")]
    values: Value,
}

/// What `convsim sensitivity FILE` analyses: which parameters a figure depends on.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct SensitivityEntry {
    /// Each parameter with its range, such as `"32..1024:log"`, or a list of values.
    #[schemars(schema_with = "vary_schema")]
    #[expect(dead_code, reason = "read with the places of its keys")]
    vary: Map<String, Value>,
    /// How.
    #[serde(default)]
    pub(super) method: SensitivityMethod,
    /// The figures, such as `"packet_loss_duration"` (its mean) or `"packet_loss_duration.p99"`; by
    /// default the metrics of the main table.
    #[schemars(length(min = 1))]
    pub(super) metrics: Option<Vec<String>>,
    /// Start from this configuration; without it, from the components as they stand.
    pub(super) configuration: Option<String>,
    /// With `morris`: how many trajectories, of one point more than there are parameters; 20 by
    /// default.
    #[schemars(range(min = 2, max = 65_535))]
    pub(super) trajectories: Option<u16>,
    /// With `sobol`: how many samples, each of two points more than there are parameters; 256 by
    /// default, powers of two are best.
    #[schemars(range(min = 2, max = 65_536))]
    pub(super) samples: Option<usize>,
    /// Replications of each point; by default those of `run`, with `morris` and `sobol` at most 20.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub(super) replications: Option<u64>,
}

fn values_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "description": "Its values: a list, or a range such as \"32..4096\", \"32..4096:log2\" or \
                        \"10 ms..1 s:log:9\".",
        "anyOf": [
            { "type": "array", "minItems": 1, "items": true },
            { "type": "string" }
        ]
    })
}

fn vary_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "description": "Each parameter with its range, such as \"32..1024:log\", or a list of \
                        values.",
        "minProperties": 1,
        "additionalProperties": {
            "anyOf": [
                { "type": "array", "minItems": 2, "items": true },
                { "type": "string" }
            ]
        }
    })
}
