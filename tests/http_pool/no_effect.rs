//! Every key of the configuration either changes a run or is said to have no effect.

use std::collections::BTreeSet;

use convsim::models::http_pool::{Config, HttpPool, ProxyConfig};
use convsim::models::{Model, Severity};
use serde_json::{Value, json};

use crate::harness::{Bench, config};

/// Small workloads in which one thing or another matters.
fn base(name: &str) -> Value {
    match name {
        "closed" => json!({
            "clients": {
                "users": 6, "requests": 40, "think_time": "3 ms", "timeout": "60 ms",
                "retry": { "attempts": 3, "pause": "5 ms", "factor": 2.0, "longest_pause": "8 ms" },
            },
            "handler": { "cpu": "2 ms", "wait": "20 ms", "lock": "process", "spawns": 1 },
            "host": { "sleep_overshoot": "1 ms", "cpu_cv": 0.2, "cores": 1 },
        }),
        "ports" => json!({
            "clients": { "users": 6, "requests": 40 },
            "handler": { "wait": "20 ms", "lock": "port", "ports": 3 },
        }),
        "burst" => json!({
            "clients": { "arrival": "burst", "requests": 40, "timeout": "18 s" },
            "server": { "preset": "werkzeug_single", "backlog": 2 },
            "handler": { "wait": "20 ms" },
        }),
        "slow burst" => json!({
            "clients": { "arrival": "burst", "requests": 60, "timeout": "18 s" },
            "server": { "preset": "werkzeug_single", "backlog": 24 },
            "handler": { "wait": "100 ms" },
        }),
        "phase" => json!({
            "clients": {
                "arrival": "burst", "requests": 40, "timeout": "5 s", "timeout_mode": "phase",
            },
            "server": { "preset": "werkzeug_single", "backlog": 2 },
            "handler": { "wait": "20 ms" },
        }),
        "phases" => json!({
            "clients": {
                "arrival": "burst", "requests": 40, "timeout_mode": "phase",
                "connect_timeout": "2 s", "read_timeout": "3 s",
            },
            "server": { "preset": "werkzeug_single", "backlog": 2 },
            "handler": { "wait": "20 ms" },
        }),
        "open" => json!({
            "clients": { "arrival": "open", "rate": "100/s", "requests": 40 },
            "server": { "preset": "gunicorn_gthread", "overhead": "none" },
        }),
        "trace" => json!({
            "clients": {
                "arrival": "trace", "requests": 3, "arrival_times": ["1 ms", "2 ms", "9 ms"],
            },
            "handler": { "wait": "20 ms" },
        }),
        "external" => json!({ "clients": { "arrival": "external" } }),
        "sync" => json!({
            "clients": { "users": 6, "requests": 40 },
            "server": {
                "preset": "gunicorn_sync", "workers": 2, "worker_timeout": "40 ms",
                "watchdog_interval": "20 ms", "max_requests": 5, "boot_time": "30 ms",
            },
            "handler": { "wait": { "distribution": "exponential", "mean": "30 ms" } },
        }),
        "silent" => json!({
            "clients": { "users": 6, "requests": 40, "timeout": "1 s", "silent_peers": 1 },
            "server": { "preset": "werkzeug_single", "request_timeout": "50 ms" },
        }),
        "gthread" => json!({
            "clients": { "users": 6, "requests": 40, "think_time": "30 ms", "keep_alive": true },
            "server": {
                "preset": "gunicorn_gthread", "threads": 2, "worker_connections": 6,
                "keep_alive_timeout": "10 ms",
            },
            "handler": { "wait": "20 ms" },
        }),
        "proxied" => json!({
            "clients": {
                "users": 6, "requests": 60, "think_time": "30 ms", "keep_alive": true,
                "timeout": "40 ms", "request_transfer": "5 ms", "answer_transfer": "5 ms",
            },
            "server": {
                "preset": "gunicorn_gthread", "threads": 2,
                "proxy": { "keepalive": 2, "request_cpu": "100 us", "answer_cpu": "100 us" },
            },
            "handler": { "wait": "20 ms" },
        }),
        "proxied burst" => json!({
            "clients": { "arrival": "burst", "requests": 60, "timeout": "10 s" },
            "server": {
                "preset": "gunicorn_sync", "backlog": 2,
                "proxy": { "backlog": 9, "request_cpu": "1 ms" },
            },
            "handler": { "wait": "20 ms" },
        }),
        "toggle" => json!({
            "clients": { "users": 6, "requests": 40 },
            "server": { "preset": "werkzeug_threaded", "overhead": "none" },
            "handler": { "preset": "mux_toggle", "toggle": {
                "no_op_share": 0.5, "no_op_serial": "1 ms", "serial": "2 ms", "delay": "3 ms",
                "handler_cpu": "1 ms", "parent_cpu": "1 ms", "child_cpu": "2 ms", "turns": 1,
                "turn_cpu": "2 ms", "turn_cpu_per_call": "1 ms",
            } },
        }),
        "toggle all" => json!({
            "clients": { "users": 2, "requests": 6 },
            "server": { "preset": "werkzeug_single" },
            "handler": {
                "preset": "mux_toggle_all", "ports": 6, "toggle": { "delay": "3 ms" },
            },
        }),
        other => panic!("no base {other}"),
    }
}

const BASES: [&str; 16] = [
    "closed",
    "ports",
    "burst",
    "slow burst",
    "phase",
    "phases",
    "open",
    "trace",
    "external",
    "sync",
    "silent",
    "gthread",
    "proxied",
    "proxied burst",
    "toggle",
    "toggle all",
];

/// Each key, another value of it, and a base in which that makes a difference.
fn keys() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("clients.arrival", json!("burst"), "closed"),
        ("clients.users", json!(3), "closed"),
        ("clients.requests", json!(30), "closed"),
        ("clients.request_split", json!("shared"), "closed"),
        ("clients.rate", json!("50/s"), "open"),
        ("clients.arrival_times", json!(["1 ms", "3 ms", "9 ms"]), "trace"),
        ("clients.think_time", json!("2 ms"), "closed"),
        ("clients.stop_issuing_after", json!("50 ms"), "closed"),
        ("clients.timeout", json!("50 ms"), "closed"),
        ("clients.timeout_mode", json!("phase"), "burst"),
        ("clients.connect_timeout", json!("500 ms"), "phase"),
        ("clients.read_timeout", json!("500 ms"), "phase"),
        ("clients.retry.attempts", json!(1), "closed"),
        ("clients.retry.pause", json!("6 ms"), "closed"),
        ("clients.retry.factor", json!(1.5), "closed"),
        ("clients.retry.longest_pause", json!("7 ms"), "closed"),
        ("clients.retry.first_at_once", json!(true), "closed"),
        ("clients.retry.within", json!("61 ms"), "closed"),
        ("clients.keep_alive", json!(true), "closed"),
        ("clients.request_transfer", json!("4 ms"), "closed"),
        ("clients.answer_transfer", json!("4 ms"), "closed"),
        ("clients.silent_peers", json!(3), "closed"),
        ("clients.background", json!(["30 ms"]), "closed"),
        ("clients.connect_cpu", json!("100 us"), "closed"),
        ("clients.send_cpu", json!("100 us"), "closed"),
        ("clients.settle_cpu", json!("100 us"), "closed"),
        ("clients.receive_cpu", json!("100 us"), "closed"),
        ("network.somaxconn", json!(1), "burst"),
        ("network.syncookies", json!(false), "burst"),
        ("network.syn_linear_timeouts", json!(4), "burst without cookies"),
        ("network.syn_retries", json!(1), "burst without cookies"),
        ("network.synack_retries", json!(0), "slow burst"),
        ("network.initial_rto", json!("500 ms"), "burst"),
        ("network.min_rto", json!("300 ms"), "burst"),
        ("network.cached_rtt", json!("250 ms"), "burst"),
        ("network.tick", json!("10 ms"), "burst"),
        ("network.timer_wheel", json!(false), "burst"),
        ("network.round_trip", json!("3 ms"), "closed"),
        ("server.preset", json!("werkzeug_single"), "closed"),
        ("server.workers", json!(3), "sync"),
        ("server.threads", json!(3), "gthread"),
        ("server.backlog", json!(5), "burst"),
        ("server.worker_connections", json!(3), "gthread"),
        ("server.worker_timeout", json!("70 ms"), "sync"),
        ("server.watchdog_interval", json!("30 ms"), "sync"),
        ("server.max_requests", json!(4), "sync"),
        ("server.boot_time", json!("20 ms"), "sync"),
        ("server.listens_from", json!("5 ms"), "closed"),
        ("server.keep_alive", json!(false), "gthread"),
        ("server.keep_alive_timeout", json!("1 s"), "gthread"),
        ("server.request_timeout", json!("20 ms"), "silent"),
        ("server.proxy", json!({}), "closed"),
        ("server.proxy.workers", json!(2), "proxied burst"),
        ("server.proxy.worker_connections", json!(8), "proxied"),
        ("server.proxy.backlog", json!(20), "proxied burst"),
        ("server.proxy.upstream", json!("unix"), "proxied burst"),
        ("server.proxy.connect_timeout", json!("500 ms"), "proxied burst"),
        ("server.proxy.read_timeout", json!("25 ms"), "proxied"),
        ("server.proxy.client_header_timeout", json!("1 ms"), "proxied"),
        ("server.proxy.client_keepalive_timeout", json!("3 ms"), "proxied"),
        ("server.proxy.keepalive", json!(1), "proxied"),
        ("server.proxy.keepalive_timeout", json!("1 ms"), "proxied"),
        ("server.proxy.keepalive_requests", json!(2), "proxied"),
        ("server.proxy.max_conns", json!(2), "proxied"),
        ("server.proxy.ignore_client_abort", json!(true), "proxied"),
        ("server.proxy.buffering", json!(false), "proxied"),
        ("server.proxy.request_cpu", json!("300 us"), "proxied"),
        ("server.proxy.answer_cpu", json!("300 us"), "proxied"),
        ("server.overhead", json!("none"), "closed"),
        ("server.accept_cpu", json!("300 us"), "closed"),
        ("server.dispatch_cpu", json!("300 us"), "closed"),
        ("server.start_cpu", json!("300 us"), "closed"),
        ("server.before_cpu", json!("100 us"), "closed"),
        ("server.after_cpu", json!("300 us"), "closed"),
        ("server.close_cpu", json!("300 us"), "closed"),
        ("server.resume_cpu", json!("300 us"), "closed"),
        ("server.handoff_cpu", json!("300 us"), "closed"),
        ("server.wakeup", json!("300 us"), "closed"),
        ("server.cold_wakeup", json!("300 us"), "closed"),
        ("server.first_wakeup", json!("300 us"), "closed"),
        ("handler.preset", json!("mux_toggle"), "closed"),
        ("handler.lock", json!("none"), "closed"),
        ("handler.cpu", json!("1 ms"), "closed"),
        ("handler.wait", json!("10 ms"), "closed"),
        ("handler.spawns", json!(2), "closed"),
        ("handler.ports", json!(2), "ports"),
        ("handler.pool_threads", json!(2), "toggle all"),
        ("handler.status_cpu", json!("1 ms"), "toggle all"),
        ("handler.toggle.calls", json!(1), "toggle"),
        ("handler.toggle.no_op_share", json!(0.1), "toggle"),
        ("handler.toggle.handler_cpu", json!("3 ms"), "toggle"),
        ("handler.toggle.no_op_serial", json!("3 ms"), "toggle"),
        ("handler.toggle.parent_cpu", json!("3 ms"), "toggle"),
        ("handler.toggle.child_cpu", json!("3 ms"), "toggle"),
        ("handler.toggle.serial", json!("3 ms"), "toggle"),
        ("handler.toggle.delay", json!("5 ms"), "toggle"),
        ("handler.toggle.turns", json!(2), "toggle"),
        ("handler.toggle.turn_cpu", json!("3 ms"), "toggle"),
        ("handler.toggle.turn_cpu_per_call", json!("3 ms"), "toggle"),
        ("handler.toggle.keeps_turning", json!(true), "toggle"),
        ("host.cores", json!(2), "closed"),
        ("host.scheduling", json!("time_slices"), "closed"),
        ("host.switch_interval", json!("1 ms"), "closed"),
        ("host.sleep_overshoot", json!("3 ms"), "closed"),
        ("host.cooling_time", json!("5 ms"), "closed"),
        ("host.cpu_cv", json!(0.5), "closed"),
        ("host.spawn_parent_cpu", json!("3 ms"), "closed"),
        ("host.spawn_child_cpu", json!("3 ms"), "closed"),
    ]
}

fn set(mut value: Value, path: &str, to: &Value) -> Value {
    let mut within = &mut value;
    for key in path.split('.') {
        within = &mut within[key];
    }
    *within = to.clone();
    value
}

fn base_of(name: &str) -> Value {
    match name.strip_suffix(" without cookies") {
        Some(name) => set(base(name), "network.syncookies", &json!(false)),
        None => base(name),
    }
}

/// All figures of a replication, bit for bit, and its events.
fn row(config: Config) -> (Vec<u64>, u64) {
    let figures = Bench::new(config).run(0);
    let values = HttpPool::METRICS.iter().map(|metric| figures.of(metric.name).to_bits());
    (values.collect(), figures.fingerprint)
}

fn is_possible(config: &Config) -> bool {
    HttpPool::check(config).iter().all(|finding| finding.severity != Severity::Error)
}

fn is_unused(config: &Config, path: &str) -> bool {
    HttpPool::unused(config).iter().any(|unused| unused.path == path)
}

/// The keys that hold a value, not a group of further keys.
fn leaves(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value.as_object() {
        Some(keys) if !keys.contains_key("distribution") => {
            for (key, value) in keys {
                let within = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                leaves(value, &within, found);
            }
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

#[test]
fn every_key_of_the_configuration_is_in_the_table() {
    let mut all = BTreeSet::from(["server.proxy".to_owned()]);
    let mut everything = Config::default();
    everything.server.proxy = Some(ProxyConfig::default());
    leaves(&serde_json::to_value(&everything).unwrap(), "", &mut all);
    let table: BTreeSet<String> = keys().into_iter().map(|(path, ..)| path.to_owned()).collect();
    assert_eq!(table, all);
    let ruled: Vec<_> = BASES
        .iter()
        .flat_map(|name| HttpPool::unused(&config(base(name))))
        .filter(|unused| !all.contains(unused.path))
        .collect();
    assert_eq!(ruled, [], "a rule about a key that is not there");
}

#[test]
fn every_key_changes_a_run_that_it_is_about() {
    let changes_nothing = |(path, value, name): &(&str, Value, &str)| {
        let before = base_of(name);
        let after = config(set(before.clone(), path, value));
        assert!(is_possible(&after), "{path} in {name}");
        assert!(!is_unused(&after, path), "{path} in {name}");
        row(after) == row(config(before))
    };
    let silent: Vec<_> = keys().into_iter().filter(changes_nothing).collect();
    assert_eq!(silent, []);
}

#[test]
fn a_key_that_is_said_to_have_no_effect_has_none() {
    let mut said = BTreeSet::new();
    for name in BASES {
        let before = row(config(base(name)));
        for (path, value, _) in keys() {
            if path.starts_with("server.proxy.") && base(name)["server"]["proxy"].is_null() {
                continue;
            }
            let after = config(set(base(name), path, &value));
            if !is_possible(&after) || !is_unused(&after, path) {
                continue;
            }
            said.insert(path);
            assert_eq!(row(after), before, "{path} in {name}");
        }
    }
    assert!(said.len() > 30, "{said:?}");
}

/// What the table cannot say by another value: it is told to who writes the default down, too.
#[test]
fn a_default_that_is_written_down_without_effect_is_a_warning() {
    let unused = |value: Value| -> Vec<_> {
        let unused = HttpPool::unused(&config(value));
        unused.iter().map(|unused| unused.path).collect()
    };
    let sync = json!({ "server": { "preset": "gunicorn_sync", "threads": 4 } });
    assert!(unused(sync).contains(&"server.threads"));
    for arrival in ["burst", "open"] {
        let thinking = json!({ "clients": { "arrival": arrival, "think_time": "1 ms" } });
        assert!(unused(thinking).contains(&"clients.think_time"), "{arrival}");
        let users = json!({ "clients": { "arrival": arrival, "users": 20 } });
        assert!(unused(users).contains(&"clients.users"), "{arrival}");
    }
    let within = json!({ "clients": { "retry": { "attempts": 0, "within": "30 s" } } });
    assert!(unused(within).contains(&"clients.retry.within"));
}
