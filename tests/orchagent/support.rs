//! Runs the model directly: a configuration as JSON in, the figures of every replication out.

use convsim::engine::{Engine, Limits, RunEnd, SimTime, StreamSeed};
use convsim::models::{Metric, ModelConfig, ModelKind, World};

/// The figures of several replications.
pub struct Runs {
    metrics: &'static [Metric],
    pub figures: Vec<Vec<f64>>,
    pub converged: Vec<bool>,
    pub fingerprints: Vec<u64>,
}

impl Runs {
    pub fn all(&self, name: &str) -> Vec<f64> {
        let index = self
            .metrics
            .iter()
            .position(|metric| metric.name == name)
            .unwrap_or_else(|| panic!("no metric {name}"));
        self.figures.iter().map(|row| row[index]).collect()
    }

    pub fn mean(&self, name: &str) -> f64 {
        let values = self.all(name);
        values.iter().sum::<f64>() / values.len() as f64
    }
}

pub fn config(json: serde_json::Value) -> ModelConfig {
    let config = ModelKind::Orchagent.read_config(json).expect("a valid configuration");
    let errors: Vec<_> = config
        .check()
        .into_iter()
        .filter(|finding| finding.severity == convsim::models::Severity::Error)
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    config
}

pub fn run(json: serde_json::Value, replications: u64) -> Runs {
    run_config(&config(json), replications)
}

pub fn run_config(config: &ModelConfig, replications: u64) -> Runs {
    let mut engine = Engine::new(StreamSeed::default());
    let mut world = World::new(&[("orchagent".to_owned(), config.clone())], Vec::new());
    let limits =
        Limits { horizon: SimTime::from_nanos(40_000_000_000_000), event_budget: 50_000_000 };
    let mut runs = Runs {
        metrics: ModelKind::Orchagent.metrics(),
        figures: Vec::new(),
        converged: Vec::new(),
        fingerprints: Vec::new(),
    };
    for replication in 0..replications {
        engine.reset(StreamSeed { master: 1, replication });
        let end = engine.run(&mut world, limits);
        assert_eq!(end, RunEnd::Idle, "replication {replication}");
        let mut figures = Vec::new();
        world.measure(engine.now(), &mut figures);
        runs.figures.push(figures);
        runs.converged.push(world.converged());
        runs.fingerprints.push(engine.fingerprint());
    }
    runs
}

/// `base` with the keys of `changes` put over it, object by object.
pub fn with(mut base: serde_json::Value, changes: serde_json::Value) -> serde_json::Value {
    fn merge(base: &mut serde_json::Value, changes: serde_json::Value) {
        match (base, changes) {
            (serde_json::Value::Object(base), serde_json::Value::Object(changes)) => {
                for (key, value) in changes {
                    merge(base.entry(key).or_insert(serde_json::Value::Null), value);
                }
            }
            (base, changes) => *base = changes,
        }
    }
    merge(&mut base, changes);
    base
}

/// As [`bare`], but the routes are programmed already and FRR writes them all again at the start:
/// traffic flows and the loop is busy.
pub fn busy(batch: u32, per_route: &str, routes: u32) -> serde_json::Value {
    let changes = serde_json::json!({
        "topology": { "initial_backlog": 0 },
        "bgp": { "remote_changes": 1, "remote_change_interval": "0 s", "update_rate": "1e12/s" },
        "fpmsyncd": { "read_batch": routes, "immediate_flush_below": 10_000_000 }
    });
    with(bare(batch, per_route, routes), changes)
}

/// Nothing varies, nothing costs anything but what a test sets: `routes` wait, and each route
/// takes `per_route`, all of it in SAI.
pub fn bare(batch: u32, per_route: &str, routes: u32) -> serde_json::Value {
    let zero = "0 s";
    serde_json::json!({
        "pop_batch_size": batch,
        "topology": { "paths": 16, "routes": routes, "initial_backlog": routes },
        "bgp": { "enabled": false },
        "teamd": { "reaction": "50 ms" },
        "flap": { "latency": zero },
        "costs": {
            "select": zero, "pop_per_key": zero, "zmq_pop_per_entry": zero, "empty_pop": "1 us", "prepare_per_route": zero,
            "sai_create_route": per_route, "sai_set_route": per_route,
            "sai_remove_route": per_route, "sai_bulk_call": zero, "publish_per_route": zero,
            "batch": zero, "batch_variation": 0, "notification": zero,
            "notification_delivery": zero, "lag": zero, "lag_member": zero, "neighbour": zero,
            "next_hop_group": zero, "next_hop_group_member": zero, "sweep": zero,
            "retry_per_entry": zero
        }
    })
}

pub fn close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance, "got {got}, expected {expected} +- {tolerance}");
}
