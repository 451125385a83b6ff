//! What must hold whatever the settings, and where it does not.

use serde_json::{Value, json};

use crate::harness::{Bench, Figures, config, run};

const SERVERS: [&str; 4] =
    ["werkzeug_single", "werkzeug_threaded", "gunicorn_sync", "gunicorn_gthread"];

fn closed(server: &str, backlog: u32, timeout: Option<&str>, wait: &str) -> Value {
    json!({
        "clients": { "users": 60, "requests": 600, "timeout": timeout },
        "server": { "preset": server, "backlog": backlog },
        "handler": { "wait": wait },
    })
}

/// Every attempt has one outcome, and what was executed had a client or had lost it.
fn assert_conserved(figures: &Figures) {
    let outcomes = ["ok", "timeouts", "http_errors", "resets", "refused"];
    let sum: u64 = outcomes.iter().map(|outcome| figures.count(outcome)).sum();
    assert_eq!(figures.count("attempts"), sum);
    assert!(figures.count("executed") <= figures.count("attempts"));
    assert_eq!(figures.count("executed") - figures.count("executed.wasted"), figures.count("ok"));
}

#[test]
fn every_attempt_has_exactly_one_outcome() {
    for server in SERVERS {
        for backlog in [0, 3, 128] {
            for timeout in [None, Some("30 ms"), Some("1200 ms")] {
                assert_conserved(&run(closed(server, backlog, timeout, "5 ms")));
            }
        }
    }
}

#[test]
fn the_parts_of_a_request_sum_to_its_time() {
    let mut value = closed("gunicorn_gthread", 3, Some("1 s"), "5 ms");
    value["handler"]["lock"] = json!("process");
    value["handler"]["spawns"] = json!(1);
    value["clients"]["retry"] = json!({ "attempts": 5, "pause": "100 ms" });
    let figures = run(value);
    let parts = [
        "failed_attempts",
        "retry_pause",
        "retransmission",
        "accept_queue",
        "worker_wait",
        "lock",
        "cpu",
        "spawn",
        "wait",
        "fan_out",
        "client",
    ];
    let sum: f64 = parts.iter().map(|part| figures.of(&format!("request_time.{part}"))).sum();
    let whole = figures.of("request_time");
    assert!(whole > 0.0 && (sum - whole).abs() < 1e-9, "{sum} of {whole}");
}

#[test]
fn more_workers_or_threads_or_cores_never_lower_throughput() {
    let throughput = |path: &str, key: &str, value: u32| {
        let mut config = json!({
            "clients": { "users": 40, "requests": 2000 },
            "server": { "preset": "gunicorn_gthread", "threads": 2, "overhead": "none" },
            "handler": { "cpu": "1 ms", "wait": "10 ms" },
        });
        config[path][key] = json!(value);
        run(config).of("throughput")
    };
    for (path, key) in [("server", "workers"), ("server", "threads"), ("host", "cores")] {
        let series: Vec<f64> =
            [1, 2, 4, 8, 16].iter().map(|&value| throughput(path, key, value)).collect();
        // What differs below a thousandth is the end of the run, when users run out.
        assert!(series.windows(2).all(|pair| pair[1] >= pair[0] * 0.999), "{key}: {series:?}");
    }
}

/// Threads that compute for constant times and come for the interpreter in step: with a constant
/// time to wake up for it, one request of the first case took 2 s and all others 21 ms.
#[test]
fn no_thread_starves_at_the_interpreter() {
    for (preset, threads, users, wait, cpu) in [
        ("gunicorn_gthread", 6, 8, "10 ms", "2 ms"),
        ("gunicorn_gthread", 2, 10, "0 s", "5 ms"),
        ("gunicorn_gthread", 8, 20, "5 ms", "2 ms"),
        ("werkzeug_threaded", 4, 4, "0 s", "10 ms"),
    ] {
        let figures = run(json!({
            "clients": { "users": users, "requests": 800 },
            "host": { "cores": 2 },
            "server": { "preset": preset, "workers": 1, "threads": threads },
            "handler": { "wait": wait, "cpu": cpu },
        }));
        let (p95, longest) = (figures.of("latency.p95"), figures.of("latency.max"));
        assert!(longest < 6.0 * p95, "{preset} {threads} {users}: {longest} s, p95 {p95} s");
    }
}

#[test]
fn a_longer_backlog_never_adds_retransmissions_to_a_burst() {
    let sent_again = |backlog: u32| {
        let figures = run(json!({
            "clients": { "arrival": "burst", "requests": 150 },
            "server": { "preset": "werkzeug_single", "backlog": backlog },
            "handler": { "wait": "20 ms" },
        }));
        figures.count("retransmissions.syn") + figures.count("retransmissions.data")
    };
    let series: Vec<u64> = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256].map(sent_again).to_vec();
    assert!(series.windows(2).all(|pair| pair[1] <= pair[0]), "{series:?}");
    assert_eq!(series.last(), Some(&0));
}

#[test]
fn timeouts_never_rise_with_patience_when_nobody_retries() {
    for server in SERVERS {
        let timeouts = |timeout: &&str| {
            let mut value = closed(server, 4096, Some(timeout), "20 ms");
            value["clients"]["arrival"] = json!("burst");
            value["clients"]["requests"] = json!(60);
            run(value).count("timeouts")
        };
        let series: Vec<u64> =
            ["10 ms", "50 ms", "200 ms", "600 ms", "2 s"].iter().map(timeouts).collect();
        assert!(series.windows(2).all(|pair| pair[1] <= pair[0]), "{server}: {series:?}");
    }
}

/// The counterexample: in a closed loop an impatient user issues its next request sooner, so
/// patience can raise the number of timeouts of a run in which each user has a fixed number of
/// requests. With a short backlog a quick timeout sheds load; see the module's documentation.
#[test]
fn a_longer_backlog_lowers_goodput_when_clients_are_impatient() {
    let goodput = |backlog: u32| {
        let figures = run(json!({
            "clients": { "users": 20, "requests": 400, "timeout": "250 ms" },
            "server": { "preset": "werkzeug_single", "backlog": backlog },
            "handler": { "wait": "20 ms" },
        }));
        figures.count("ok")
    };
    // Cases t09 and t02: shedding keeps half of the answers, queueing nearly none.
    assert!(goodput(8) > 150 && goodput(128) < 40, "{} {}", goodput(8), goodput(128));
}

#[test]
fn a_reused_model_runs_as_a_fresh_one() {
    for server in SERVERS {
        let value = closed(server, 3, Some("200 ms"), "5 ms");
        let mut reused = Bench::new(config(value.clone()));
        let first: Vec<u64> =
            (0..3).map(|replication| reused.run(replication).fingerprint).collect();
        for (replication, fingerprint) in (0..3).zip(&first) {
            let fresh = Bench::new(config(value.clone())).run(replication).fingerprint;
            assert_eq!(fresh, *fingerprint, "{server}, replication {replication}");
        }
    }
}
