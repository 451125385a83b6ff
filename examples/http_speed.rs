//! How long replications of the HTTP pool model take, on one core.
//!
//! ```sh
//! cargo run --release --example http_speed                    # every configuration
//! cargo run --release --example http_speed -- "sync" 1000000  # those named like this
//! ```
//!
//! A time is the best of several replications, which is the least disturbed one.

use std::time::{Duration, Instant};

use convsim::engine::{Engine, Limits, StreamSeed};
use convsim::models::Model;
use convsim::models::http_pool::{Config, HttpPool};
use serde_json::{Value, json};

const ROUNDS: u64 = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let named = arguments.next().unwrap_or_default();
    let requests: u64 = arguments.next().map_or(Ok(1_000_000), |text| text.parse())?;
    println!("| 20 users | requests | s | events | ns a request | for 40,000, ms |");
    println!("|---|---|---|---|---|---|");
    for (name, server) in servers().into_iter().filter(|(name, _)| name.contains(&named)) {
        let long = measure(&server, requests)?;
        let short = measure(&server, 40_000)?;
        println!(
            "| {name} | {requests} | {:.3} | {} | {:.0} | {:.2} |",
            long.0.as_secs_f64(),
            long.1,
            long.0.as_secs_f64() * 1e9 / requests as f64,
            short.0.as_secs_f64() * 1e3,
        );
    }
    Ok(())
}

/// The best time of a replication, and its events.
fn measure(server: &Value, requests: u64) -> Result<(Duration, u64), serde_json::Error> {
    let config: Config = serde_json::from_value(json!({
        "clients": { "users": 20, "requests": requests, "timeout": "5 s" },
        "server": server,
        "handler": { "wait": "20 ms" },
    }))?;
    let mut pool = HttpPool::new("http", config);
    let mut engine = Engine::new(StreamSeed::default());
    let mut best = Duration::MAX;
    for replication in 0..ROUNDS {
        engine.reset(StreamSeed { master: 1, replication });
        let start = Instant::now();
        engine.run(&mut pool, Limits::default());
        best = best.min(start.elapsed());
    }
    Ok((best, engine.events_handled()))
}

fn servers() -> Vec<(&'static str, Value)> {
    let none = |preset: &str| json!({ "preset": preset, "workers": 1, "overhead": "none" });
    let measured = |preset: &str| json!({ "preset": preset, "workers": 1 });
    let mut sync = none("gunicorn_sync");
    sync["workers"] = json!(4);
    let mut measured_sync = measured("gunicorn_sync");
    measured_sync["workers"] = json!(4);
    let mut proxied = sync.clone();
    proxied["proxy"] = json!({});
    vec![
        ("sync, 4 workers", sync),
        ("sync, 4 workers, overhead", measured_sync),
        ("single", none("werkzeug_single")),
        ("threaded", none("werkzeug_threaded")),
        ("threaded, overhead", measured("werkzeug_threaded")),
        ("gthread, 4 threads", none("gunicorn_gthread")),
        ("gthread, 4 threads, overhead", measured("gunicorn_gthread")),
        ("sync behind the proxy", proxied),
    ]
}
