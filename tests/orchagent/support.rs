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
