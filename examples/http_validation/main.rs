//! Predicts measured cases of real HTTP servers and prints measured, predicted and error.
//!
//! `cargo run --release --example http_validation -- [MEASUREMENTS] [CASE ...]`

mod case;

use case::{Case, Measurements};
use convsim::engine::{Engine, Limits, SimTime, StreamSeed};
use convsim::models::Model;
use convsim::models::http_pool::{Config, HttpPool};

const REPLICATIONS: u64 = 41;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or("scenarios/data/http_measurements.json".to_owned());
    let wanted: Vec<String> = arguments.collect();
    let measurements: Measurements = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    for case in &measurements.cases {
        if !wanted.is_empty() && !wanted.contains(&case.id) {
            continue;
        }
        let Some(config) = case.config(measurements.cores) else { continue };
        let runs = predict(&config);
        print_case(case, &runs);
    }
    Ok(())
}

/// The figures of all replications, by metric.
struct Runs(Vec<Vec<f64>>);

impl Runs {
    fn of(&self, metric: &str) -> Vec<f64> {
        let Some(index) = HttpPool::METRICS.iter().position(|m| m.name == metric) else {
            return vec![f64::NAN];
        };
        let mut values: Vec<f64> =
            self.0.iter().map(|figures| figures[index]).filter(|v| !v.is_nan()).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    fn median(&self, metric: &str) -> f64 {
        let values = self.of(metric);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

fn predict(config: &Config) -> Runs {
    let mut pool = HttpPool::new("http", config.clone());
    let mut engine = Engine::new(StreamSeed::default());
    let limits = Limits { horizon: SimTime::from_nanos(300_000_000_000), ..Limits::default() };
    let runs = (0..REPLICATIONS).map(|replication| {
        engine.reset(StreamSeed { master: 1, replication });
        engine.run(&mut pool, limits);
        let mut figures = vec![f64::NAN; HttpPool::METRICS.len()];
        pool.measure(engine.now(), &mut figures);
        figures
    });
    Runs(runs.collect())
}

fn print_case(case: &Case, runs: &Runs) {
    let rows = [
        ("elapsed", "elapsed_s", 1.0),
        ("ok", "ok", 1.0),
        ("timeouts", "timeouts", 1.0),
        ("timeouts.connect", "connect_timeouts", 1.0),
        ("http_errors", "http_errors", 1.0),
        ("latency.p50", "p50_ms", 1e3),
        ("latency.p95", "p95_ms", 1e3),
        ("latency.p99", "p99_ms", 1e3),
        ("latency.max", "max_ms", 1e3),
        ("executed", "server_handled_after_drain", 1.0),
        ("accept_queue.overflows", "ListenOverflows", 1.0),
        ("half_open.cookies", "TCPReqQFullDoCookies", 1.0),
    ];
    println!("{} {} ({})", case.id, case.server, case.role.as_deref().unwrap_or("predict"));
    for (metric, measured, scale) in rows {
        let of = runs.of(metric);
        let (Some(median), Some((low, high))) =
            (case.repeats.median(measured), case.repeats.range(measured))
        else {
            continue;
        };
        let predicted = runs.median(metric) * scale;
        if median == 0.0 && predicted == 0.0 {
            continue;
        }
        let (first, last) =
            (of.first().copied().unwrap_or(f64::NAN), of.last().copied().unwrap_or(f64::NAN));
        println!(
            "   {metric:24} measured {median:10.3} [{low:10.3} {high:10.3}]  predicted {predicted:10.3} [{:10.3} {:10.3}]  {:+6.1} %",
            first * scale,
            last * scale,
            100.0 * (predicted / median - 1.0),
        );
    }
}
