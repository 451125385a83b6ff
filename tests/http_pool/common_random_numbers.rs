//! What is drawn for a request depends on the request, not on the server that serves it.

use serde_json::{Value, json};

use crate::harness::{Bench, assert_close, config};

const REPLICATIONS: u64 = 40;

fn closed(server: Value, split: &str) -> Vec<(f64, f64, f64)> {
    let mut bench = Bench::new(config(json!({
        "clients": { "users": 12, "requests": 240, "request_split": split },
        "server": server,
        "handler": { "wait": { "distribution": "lognormal", "mean": "20 ms", "cv": 1.5 } },
    })));
    (0..REPLICATIONS)
        .map(|replication| {
            let figures = bench.run(replication);
            let wait = figures.of("request_time.wait");
            (wait, figures.of("elapsed"), figures.of("latency.mean"))
        })
        .collect()
}

fn sync(workers: u32) -> Value {
    json!({ "preset": "gunicorn_sync", "workers": workers, "overhead": "none" })
}

/// Every request is served once in all of these, in another order in each, so the services that
/// were drawn sum to the same in every replication.
#[test]
fn other_workers_threads_and_proxies_see_the_same_services() {
    for split in ["even", "shared"] {
        let base = closed(sync(1), split);
        let others = [
            sync(2),
            sync(7),
            json!({ "preset": "werkzeug_threaded" }),
            json!({ "preset": "gunicorn_gthread", "workers": 2, "threads": 3 }),
            json!({ "preset": "gunicorn_gthread", "threads": 8, "proxy": { "keepalive": 4 } }),
            json!({ "preset": "gunicorn_sync", "workers": 3, "max_requests": 20 }),
        ];
        for server in others {
            for (one, other) in base.iter().zip(closed(server.clone(), split)) {
                assert_close(&format!("{server} {split}"), other.0, one.0, 1e-7);
            }
        }
    }
}

#[test]
fn replications_differ() {
    let waits: Vec<f64> = closed(sync(1), "even").iter().map(|figures| figures.0).collect();
    assert!(waits.windows(2).all(|pair| pair[0] != pair[1]));
}

/// What pairing is for: two configurations go up and down together, so their difference varies
/// far less than either.
#[test]
fn the_difference_of_two_worker_counts_varies_less_than_either() {
    let deviation = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64)
            .sqrt()
    };
    let latencies = |workers| -> Vec<f64> {
        closed(sync(workers), "shared").iter().map(|figures| figures.2).collect()
    };
    let (two, four) = (latencies(2), latencies(4));
    // With twice the workers a wait is half as long, so the difference is the smaller of the two.
    let difference: Vec<f64> = two.iter().zip(&four).map(|(two, four)| two - 2.0 * four).collect();
    let (single, paired) = (deviation(&two), deviation(&difference));
    assert!(paired < 0.35 * single, "{paired} of {single}");
    let shifted: Vec<f64> =
        two.iter().zip(four.iter().cycle().skip(7)).map(|(two, four)| two - 2.0 * four).collect();
    assert!(deviation(&shifted) > single, "unpaired, it varies more than one alone");
}
