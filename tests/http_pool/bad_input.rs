//! What is impossible is an error, what is hopeless a warning.

use convsim::models::http_pool::HttpPool;
use convsim::models::{Finding, Model, Severity, Unused};
use serde_json::{Value, json};

use crate::harness::config;

/// What a user who writes `value` is told.
fn findings(value: Value) -> Vec<Finding> {
    let config = config(value.clone());
    let is_set = |unused: &Unused| {
        let keys = unused.path.split('.');
        keys.fold(&value, |within, key| &within[key]) != &Value::Null
    };
    let unused = HttpPool::unused(&config).into_iter().filter(is_set).map(Finding::from);
    HttpPool::check(&config).into_iter().chain(unused).collect()
}

fn only(value: Value) -> (Severity, String) {
    let mut all = findings(value);
    assert_eq!(all.len(), 1, "{all:?}");
    let finding = all.remove(0);
    (finding.severity, finding.path)
}

fn error(path: &str) -> (Severity, String) {
    (Severity::Error, path.to_owned())
}

fn warning(path: &str) -> (Severity, String) {
    (Severity::Warning, path.to_owned())
}

#[test]
fn the_default_has_no_findings() {
    assert_eq!(findings(json!({})), []);
}

#[test]
fn a_server_that_cannot_be_is_an_error() {
    let single = json!({ "server": { "preset": "werkzeug_single", "workers": 4 } });
    assert_eq!(only(single), error("server.workers"));
    let none = json!({ "server": { "preset": "gunicorn_sync", "workers": 0 } });
    assert_eq!(only(none), error("server.workers"));
    let threads = json!({ "server": { "preset": "gunicorn_gthread", "threads": 8, "worker_connections": 4 } });
    assert_eq!(only(threads), error("server.threads"));
    let kept = json!({ "server": { "preset": "gunicorn_sync", "keep_alive": true } });
    assert_eq!(only(kept), error("server.keep_alive"));
}

#[test]
fn a_loop_that_keeps_turning_in_no_time_would_never_end() {
    let toggle = json!({ "turns": 2, "turn_cpu_per_call": "1 ms", "keeps_turning": true });
    let handler = json!({ "preset": "mux_toggle", "toggle": toggle });
    assert_eq!(only(json!({ "handler": handler })), error("handler.toggle.turn_cpu"));
}

#[test]
fn a_negative_backlog_cannot_be_read() {
    let read = serde_json::from_value::<convsim::models::http_pool::Config>(
        json!({ "server": { "backlog": -1 } }),
    );
    assert!(read.is_err());
}

#[test]
fn a_timeout_below_the_service_is_hopeless_and_with_endless_retries_an_error() {
    let hopeless = json!({
        "clients": { "timeout": "10 ms" }, "handler": { "wait": "20 ms" }
    });
    assert_eq!(only(hopeless), warning("clients.timeout"));
    let endless = json!({
        "clients": { "timeout": "10 ms", "retry": { "attempts": 1_000_000 } },
        "handler": { "wait": "20 ms" }
    });
    assert_eq!(only(endless), error("clients.timeout"));
}

#[test]
fn a_backlog_that_the_kernel_cuts_is_a_warning() {
    let cut = json!({ "server": { "backlog": 2048 }, "network": { "somaxconn": 128 } });
    assert_eq!(only(cut), warning("server.backlog"));
}

#[test]
fn a_trace_must_have_ordered_times() {
    let empty = json!({ "clients": { "arrival": "trace" } });
    assert_eq!(only(empty), error("clients.arrival_times"));
    let unordered = json!({ "clients": { "arrival": "trace", "arrival_times": ["2 s", "1 s"] } });
    assert_eq!(only(unordered), error("clients.arrival_times"));
}

#[test]
fn a_wrong_setting_is_named_by_the_key_that_was_set() {
    assert_eq!(only(json!({ "network": { "min_rto": "0 s" } })), error("network.min_rto"));
    assert_eq!(only(json!({ "network": { "initial_rto": "0 s" } })), error("network.initial_rto"));
    let phase = |key: &str, limit: &str| {
        only(json!({
            "clients": { "timeout": "5 s", "timeout_mode": "phase", key: limit },
            "handler": { "wait": "20 ms" }
        }))
    };
    assert_eq!(phase("connect_timeout", "0 s"), error("clients.connect_timeout"));
    assert_eq!(phase("read_timeout", "10 ms"), warning("clients.read_timeout"));
    assert_eq!(only(json!({ "clients": { "timeout": "0 s" } })), error("clients.timeout"));
}

#[test]
fn a_sync_worker_that_is_killed_in_every_request_is_a_warning() {
    let sync = |wait: &str, timeout: Value| {
        findings(json!({
            "server": { "preset": "gunicorn_sync", "worker_timeout": timeout },
            "handler": { "wait": wait },
        }))
        .len()
    };
    let hopeless =
        json!({ "server": { "preset": "gunicorn_sync" }, "handler": { "wait": "60 s" } });
    assert_eq!(only(hopeless), warning("server.worker_timeout"));
    assert_eq!((sync("60 s", json!("0 s")), sync("60 s", json!("90 s"))), (0, 0));
    assert_eq!((sync("20 s", json!(null)), sync("20 s", json!("10 s"))), (0, 1));
}

/// The handshake takes one round trip, request and answer another.
#[test]
fn a_link_that_is_too_long_for_the_patience_of_its_clients_is_a_warning() {
    let link = |round_trip: &str, clients: Value| {
        findings(json!({ "clients": clients, "network": { "round_trip": round_trip } }))
    };
    let total = json!({ "timeout": "5 s" });
    assert_eq!(link("2400 ms", total.clone()), []);
    assert_eq!(link("2600 ms", total)[0].path, "clients.timeout");
    let phase = json!({ "timeout_mode": "phase", "connect_timeout": "3 s", "read_timeout": "5 s" });
    assert_eq!(link("2600 ms", phase.clone()), []);
    assert_eq!(link("4 s", phase)[0].path, "clients.connect_timeout");
}

#[test]
fn settings_without_effect_are_warnings() {
    for (preset, key, value) in [
        ("gunicorn_sync", "threads", json!(8)),
        ("werkzeug_single", "worker_connections", json!(10)),
        ("gunicorn_gthread", "worker_timeout", json!("10 s")),
        ("werkzeug_threaded", "max_requests", json!(10)),
        ("gunicorn_sync", "keep_alive_timeout", json!("5 s")),
        ("gunicorn_gthread", "request_timeout", json!("5 s")),
        ("gunicorn_sync", "dispatch_cpu", json!("5 us")),
        ("gunicorn_gthread", "start_cpu", json!("5 us")),
        ("werkzeug_single", "handoff_cpu", json!("5 us")),
    ] {
        let set = json!({ "server": { "preset": preset, key: value } });
        assert_eq!(only(set), warning(&format!("server.{key}")));
    }
    assert_eq!(only(json!({ "clients": { "rate": "10/s" } })), warning("clients.rate"));
    let kept =
        json!({ "server": { "preset": "gunicorn_sync" }, "clients": { "keep_alive": true } });
    assert_eq!(only(kept), warning("clients.keep_alive"));
    let none = json!({
        "server": { "preset": "gunicorn_gthread", "threads": 4, "worker_connections": 4 },
        "clients": { "keep_alive": true },
    });
    assert_eq!(only(none), warning("server.worker_connections"));
}

#[test]
fn toggles_that_take_no_time_are_a_warning() {
    let free = json!({ "handler": { "preset": "mux_toggle", "toggle": { "calls": 3 } } });
    assert_eq!(only(free), warning("handler.toggle"));
    let costly = json!({ "handler": { "preset": "mux_toggle", "toggle": { "delay": "1 ms" } } });
    assert_eq!(findings(costly), []);
}
