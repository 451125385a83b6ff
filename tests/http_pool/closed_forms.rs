//! Settings for which queueing theory has the answer. Long runs, so a few per cent are many
//! standard errors.

use serde_json::{Value, json};

use crate::harness::{assert_close, run};

/// An open Poisson stream into `workers` servers one by one, without any cost of its own.
fn open(rate: f64, workers: u32, wait: Value, more: Value) -> Value {
    let mut config = json!({
        "clients": { "arrival": "open", "rate": format!("{rate}/s"), "requests": 300_000 },
        "network": { "somaxconn": 100_000 },
        "server": { "preset": "gunicorn_sync", "workers": workers, "backlog": 100_000, "overhead": "none", "worker_timeout": "0 s" },
        "handler": { "wait": wait },
    });
    merge(&mut config, more);
    config
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

fn exponential(mean: &str) -> Value {
    json!({ "distribution": "exponential", "mean": mean })
}

/// The probability that an arrival waits, from Erlang's B by its recursion.
fn erlang_c(servers: u32, load: f64) -> f64 {
    let blocking = (1..=servers).fold(1.0, |b, n| load * b / (f64::from(n) + load * b));
    let utilisation = load / f64::from(servers);
    blocking / (1.0 - utilisation * (1.0 - blocking))
}

#[test]
fn one_worker_is_an_m_m_1() {
    let figures = run(open(70.0, 1, exponential("10 ms"), json!({})));
    assert_close("mean", figures.of("latency.mean"), 1.0 / (100.0 - 70.0), 0.03);
    // The sojourn of an M/M/1 is exponential.
    assert_close("p95", figures.of("latency.p95"), 20_f64.ln() / 30.0, 0.04);
}

#[test]
fn several_workers_are_an_m_m_c() {
    let figures = run(open(320.0, 4, exponential("10 ms"), json!({})));
    let expected = 0.010 + erlang_c(4, 3.2) / (400.0 - 320.0);
    assert_close("mean", figures.of("latency.mean"), expected, 0.03);
}

#[test]
fn threads_of_a_pool_are_an_m_m_c_too() {
    let server = json!({ "server": { "preset": "gunicorn_gthread", "workers": 1, "threads": 4, "worker_connections": 1_000_000, "worker_timeout": null } });
    let figures = run(open(320.0, 1, exponential("10 ms"), server));
    let expected = 0.010 + erlang_c(4, 3.2) / (400.0 - 320.0);
    assert_close("mean", figures.of("latency.mean"), expected, 0.03);
}

#[test]
fn constant_services_make_an_m_d_1() {
    let figures = run(open(80.0, 1, json!("10 ms"), json!({})));
    assert_close("mean", figures.of("latency.mean"), 0.010 + 0.8 * 0.010 / (2.0 * 0.2), 0.03);
}

/// With clients that give up connecting before the first retransmission, a full backlog is a loss
/// system: K = workers + backlog + 1.
#[test]
fn a_short_backlog_with_impatient_clients_is_an_m_m_c_k() {
    let more = json!({
        "clients": { "timeout_mode": "phase", "connect_timeout": "500 ms" },
        "server": { "backlog": 3 },
    });
    let figures = run(open(180.0, 2, exponential("10 ms"), more));
    let load: f64 = 1.8;
    let term = |n: i32| match n {
        0..=2 => load.powi(n) / [1.0, 1.0, 2.0][n as usize],
        _ => load.powi(n) / (2.0 * 2_f64.powi(n - 2)),
    };
    let lost = term(6) / (0..=6).map(term).sum::<f64>();
    assert_close("loss", figures.of("timeout_share"), lost, 0.04);
    assert_eq!(figures.count("accept_queue.greatest"), 4);
}

#[test]
fn users_that_think_are_the_machine_repair_model() {
    let (users, think, service): (u32, f64, f64) = (8, 0.050, 0.010);
    let figures = run(json!({
        "clients": { "users": users, "requests": 200_000, "think_time": exponential("50 ms") },
        "server": { "preset": "gunicorn_sync", "overhead": "none" },
        "handler": { "wait": exponential("10 ms") },
    }));
    // p(n) is proportional to N! / (N - n)! (service / think)^n.
    let mut weights = vec![1.0];
    for n in 0..users {
        weights.push(weights[n as usize] * f64::from(users - n) * service / think);
    }
    let idle = 1.0 / weights.iter().sum::<f64>();
    assert_close("throughput", figures.of("throughput"), (1.0 - idle) / service, 0.02);
}

/// Child processes compute on shared cores: the sojourn under processor sharing is s / (1 - rho)
/// whatever the distribution, here constant.
#[test]
fn child_processes_share_a_core_as_m_g_1_ps() {
    let figures = run(json!({
        "clients": { "arrival": "open", "rate": "70/s", "requests": 200_000 },
        "server": { "preset": "werkzeug_threaded", "overhead": "none", "backlog": 4096 },
        "handler": { "spawns": 1 },
        "host": { "cores": 1, "spawn_parent_cpu": "0 s", "spawn_child_cpu": "10 ms" },
    }));
    assert_close("mean", figures.of("latency.mean"), 0.010 / 0.3, 0.03);
}

/// Threads of one process compute one at a time, processes side by side.
#[test]
fn the_interpreter_lock_serialises_threads_but_not_processes() {
    let closed = |server: Value| {
        let figures = run(json!({
            "clients": { "users": 8, "requests": 800 },
            "server": server,
            "handler": { "cpu": "10 ms" },
            "host": { "cores": 4 },
        }));
        figures.of("throughput")
    };
    let threads = closed(json!({ "preset": "gunicorn_gthread", "threads": 4, "overhead": "none" }));
    let processes = closed(json!({ "preset": "gunicorn_sync", "workers": 4, "overhead": "none" }));
    assert_close("threads", threads, 100.0, 0.02);
    assert_close("processes", processes, 400.0, 0.02);
}
