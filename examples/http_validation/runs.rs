//! Running the model on a configuration.

use convsim::engine::{Engine, Limits, SimTime, StreamSeed};
use convsim::models::Model;
use convsim::models::http_pool::{Config, HttpPool};

const REPLICATIONS: u64 = 41;
const HORIZON: SimTime = SimTime::from_nanos(600_000_000_000);

/// The figures of all replications.
pub struct Runs(Vec<Vec<f64>>);

impl Runs {
    /// Runs all replications of a configuration.
    pub fn predict(config: &Config) -> Self {
        let mut pool = HttpPool::new("http", config.clone());
        let mut engine = Engine::new(StreamSeed::default());
        let limits = Limits { horizon: HORIZON, ..Limits::default() };
        let runs = (0..REPLICATIONS).map(|replication| {
            engine.reset(StreamSeed { master: 1, replication });
            engine.run(&mut pool, limits);
            let mut figures = vec![f64::NAN; HttpPool::METRICS.len()];
            pool.measure(engine.now(), &mut figures);
            figures
        });
        Self(runs.collect())
    }

    /// A metric's values, those that came about.
    pub fn of(&self, metric: &str) -> Vec<f64> {
        let index = HttpPool::METRICS.iter().position(|known| known.name == metric);
        let value = |figures: &Vec<f64>| figures[index?].is_finite().then_some(figures[index?]);
        self.0.iter().filter_map(value).collect()
    }
}
