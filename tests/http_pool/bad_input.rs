//! What is impossible is an error, what is hopeless a warning.

use convsim::models::http_pool::HttpPool;
use convsim::models::{Finding, Model, Severity};
use serde_json::{Value, json};

use crate::harness::config;

fn findings(value: Value) -> Vec<Finding> {
    HttpPool::check(&config(value))
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
