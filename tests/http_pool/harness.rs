//! Runs a configuration and reads its figures by name.

use convsim::engine::{Engine, Limits, RunEnd, SimTime, StreamSeed};
use convsim::models::Model;
use convsim::models::http_pool::{Config, Event, HttpPool};
use serde_json::Value;

pub fn config(value: Value) -> Config {
    serde_json::from_value(value).expect("a configuration of the test is readable")
}

/// The figures of one replication.
pub struct Figures {
    values: Vec<f64>,
    pub fingerprint: u64,
}

impl Figures {
    pub fn of(&self, metric: &str) -> f64 {
        let place = HttpPool::METRICS.iter().position(|known| known.name == metric);
        self.values[place.unwrap_or_else(|| panic!("no metric {metric}"))]
    }

    pub fn count(&self, metric: &str) -> u64 {
        self.of(metric) as u64
    }
}

/// A model that can be run again and again, as an experiment does.
pub struct Bench {
    pool: HttpPool,
    engine: Engine<Event>,
}

impl Bench {
    pub fn new(config: Config) -> Self {
        let pool = HttpPool::new("http", config);
        Self { pool, engine: Engine::new(StreamSeed::default()) }
    }

    pub fn run(&mut self, replication: u64) -> Figures {
        self.engine.reset(StreamSeed { master: 7, replication });
        let horizon = SimTime::from_nanos(1_000_000_000_000_000);
        let end = self.engine.run(&mut self.pool, Limits { horizon, event_budget: 200_000_000 });
        assert_eq!(end, RunEnd::Idle);
        let mut values = vec![f64::NAN; HttpPool::METRICS.len()];
        self.pool.measure(self.engine.now(), &mut values);
        Figures { values, fingerprint: self.engine.fingerprint() }
    }
}

/// Whether all that was asked for comes about.
pub fn converges(value: Value) -> bool {
    let mut bench = Bench::new(config(value));
    bench.run(0);
    bench.pool.converged()
}

/// The first replication of a configuration.
pub fn run(value: Value) -> Figures {
    Bench::new(config(value)).run(0)
}

/// `actual` is within `share` of `expected`.
pub fn assert_close(what: &str, actual: f64, expected: f64, share: f64) {
    assert!(
        (actual - expected).abs() <= share * expected.abs(),
        "{what}: {actual}, expected {expected} within {share}"
    );
}
