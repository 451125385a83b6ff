//! Runs one configuration and gives its figures by name.

use convsim::engine::{Engine, Limits, RunEnd, SimTime, StreamSeed};
use convsim::models::Model;
use convsim::models::l3_agent::{Config, Event, L3Agent};
use serde_json::Value;

/// The figures of one replication.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub figures: Vec<f64>,
    pub converged: bool,
    pub end: RunEnd,
    pub fingerprint: u64,
}

impl Outcome {
    /// The figure called `name`.
    pub fn get(&self, name: &str) -> f64 {
        let index = L3Agent::METRICS.iter().position(|metric| metric.name == name);
        self.figures[index.unwrap_or_else(|| panic!("no metric {name}"))]
    }
}

pub fn config(value: Value) -> Config {
    serde_json::from_value(value).expect("the configuration is valid")
}

/// A component with its engine, for several replications.
pub struct Bench {
    pub agent: L3Agent,
    pub engine: Engine<Event>,
    pub horizon: SimTime,
}

impl Bench {
    pub fn new(value: Value) -> Self {
        Self {
            agent: L3Agent::new("l3_agent", config(value)),
            engine: Engine::default(),
            horizon: SimTime::from_nanos(86_400_000_000_000),
        }
    }

    pub fn replication(&mut self, replication: u64) -> Outcome {
        self.engine.reset(StreamSeed { master: 1, replication });
        let limits = self.limits();
        let end = self.engine.run(&mut self.agent, limits);
        self.outcome(end)
    }

    /// Goes on with what has come in since the run ended.
    pub fn resume(&mut self) -> Outcome {
        let limits = self.limits();
        let end = self.engine.resume(&mut self.agent, limits);
        self.outcome(end)
    }

    fn limits(&self) -> Limits {
        Limits { horizon: self.horizon, ..Limits::default() }
    }

    fn outcome(&self, end: RunEnd) -> Outcome {
        let mut figures = vec![f64::NAN; L3Agent::METRICS.len()];
        self.agent.measure(self.engine.now(), &mut figures);
        Outcome {
            figures,
            converged: self.agent.converged(),
            end,
            fingerprint: self.engine.fingerprint(),
        }
    }

    /// The mean of a figure over `count` replications.
    pub fn mean(&mut self, name: &str, count: u64) -> f64 {
        (0..count).map(|replication| self.replication(replication).get(name)).sum::<f64>()
            / count as f64
    }
}

/// One replication.
pub fn run(value: Value) -> Outcome {
    Bench::new(value).replication(0)
}

/// Asserts that `got` is within `share` of `expected`.
#[track_caller]
pub fn assert_close(what: &str, got: f64, expected: f64, share: f64) {
    let error = got / expected - 1.0;
    assert!(
        error.abs() <= share,
        "{what}: got {got}, expected {expected} within {} %, error {:.1} %",
        share * 100.0,
        error * 100.0
    );
}
