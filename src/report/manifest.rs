//! `manifest.json`: what it takes to run the same again. Nothing in it depends on when, where or on
//! how many threads it was run.

use serde_json::{Map, Value, json};

use super::results_csv::PointId;
use crate::engine::StableHash;
use crate::experiment::store::SEED_SCHEME;
use crate::scenario::Scenario;

/// Version of the format.
pub const VERSION: u32 = 1;

/// The whole document. `arguments` are those that change the result, by name.
#[must_use]
pub fn manifest(scenario: &Scenario, arguments: Map<String, Value>) -> Value {
    let run = &scenario.run;
    let mut hash = StableHash::new();
    hash.text(&scenario.resolved.to_string());
    let points: Vec<Value> = scenario
        .points
        .iter()
        .map(|point| {
            json!({
                "id": PointId(point.id).to_string(),
                "configuration": point.configuration,
                "axes": point.axes.iter().cloned().collect::<Map<_, _>>(),
            })
        })
        .collect();
    let mut manifest = json!({
        "version": VERSION,
        "convsim": env!("CARGO_PKG_VERSION"),
        "scenario": scenario.name,
        "file": scenario.path.file_name().map(|name| name.to_string_lossy()),
        "scenario_hash": PointId(hash.finish()).to_string(),
        "seed_scheme": SEED_SCHEME,
        "arguments": arguments,
        "run": {
            "seed": run.seed,
            "replications": run.replications,
            "horizon": run.horizon,
            "event_budget": run.event_budget,
            "confidence": run.confidence,
        },
        "points": points,
        "resolved": scenario.resolved,
    });
    if let Some(precision) = &run.precision {
        manifest["run"]["precision"] = json!({
            "metric": precision.metric,
            "statistic": precision.statistic,
            "relative": precision.relative,
            "max_replications": precision.max_replications,
        });
    }
    manifest
}
