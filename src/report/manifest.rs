//! `manifest.json`: what it takes to run the same again. Nothing in it depends on when, where or on
//! how many threads it was run.

use serde_json::{Map, Value, json};

use super::results_csv::PointId;
use crate::engine::StableHash;
use crate::experiment::store::seed_scheme;
use crate::scenario::Scenario;

/// Version of the format.
pub const VERSION: u32 = 1;

/// What names the scenario after all overrides: a hash of [`Scenario::resolved`].
#[must_use]
pub fn scenario_hash(scenario: &Scenario) -> String {
    let mut hash = StableHash::new();
    hash.text(&scenario.resolved.to_string());
    PointId(hash.finish()).to_string()
}

/// The whole document. `arguments` are those that change the result, by name.
#[must_use]
pub fn manifest(scenario: &Scenario, arguments: Map<String, Value>) -> Value {
    let run = &scenario.run;
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
        "scenario_hash": scenario_hash(scenario),
        "seed_scheme": seed_scheme(run),
        "arguments": arguments,
        "run": {
            "seed": run.seed,
            "replications": run.replications,
            "seeding": run.seeding,
            "antithetic": run.antithetic,
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
