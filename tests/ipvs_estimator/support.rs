//! Runs a configuration and looks up figures by name.

use convsim::engine::{Engine, Limits, RunEnd, StreamSeed};
use convsim::models::Model;
use convsim::models::ipvs_estimator::{Config, IpvsEstimator};
use serde_json::Value;

/// The figures of one replication.
pub struct Figures {
    values: Vec<f64>,
    pub converged: bool,
    pub fingerprint: u64,
    pub events: u64,
}

impl Figures {
    pub fn get(&self, name: &str) -> f64 {
        let index = IpvsEstimator::METRICS.iter().position(|metric| metric.name == name);
        self.values[index.unwrap_or_else(|| panic!("no metric {name}"))]
    }

    /// Asserts that a figure is `expected` to within the relative `tolerance`.
    #[track_caller]
    pub fn expect(&self, name: &str, expected: f64, tolerance: f64) {
        let value = self.get(name);
        let error = (value / expected - 1.0).abs();
        assert!(error <= tolerance, "{name} is {value}, expected {expected}");
    }

    pub fn all(&self) -> &[f64] {
        &self.values
    }
}

pub fn config(json: Value) -> Config {
    serde_json::from_value(json).expect("a valid configuration")
}

/// A component that is run again and again on one engine, as a worker thread does.
pub struct Bench {
    model: IpvsEstimator,
    engine: Engine<convsim::models::ipvs_estimator::Event>,
}

impl Bench {
    pub fn new(json: Value) -> Self {
        let config = config(json);
        let errors: Vec<_> = IpvsEstimator::check(&config)
            .into_iter()
            .filter(|finding| finding.severity == convsim::models::Severity::Error)
            .collect();
        assert!(errors.is_empty(), "{errors:?}");
        Self { model: IpvsEstimator::new("ipvs", config), engine: Engine::default() }
    }

    pub fn run(&mut self, replication: u64) -> Figures {
        self.engine.reset(StreamSeed { master: 1, replication });
        let end = self.engine.run(&mut self.model, Limits::default());
        assert_eq!(end, RunEnd::Idle);
        let mut values = vec![f64::NAN; IpvsEstimator::METRICS.len()];
        self.model.measure(self.engine.now(), &mut values);
        Figures {
            values,
            converged: self.model.converged(),
            fingerprint: self.engine.fingerprint(),
            events: self.engine.events_handled(),
        }
    }
}

pub fn run(json: Value) -> Figures {
    Bench::new(json).run(0)
}
