//! What cannot be run is named, with what is allowed, and so is what has no effect.

use convsim::engine::SimDuration;
use convsim::models::l3_agent::L3Agent;
use convsim::models::{Model, Severity};
use convsim::scenario::{LoadOptions, load};
use serde_json::{Value, json};

use crate::run::config;

fn problems(value: Value) -> Vec<(Severity, String)> {
    let findings = L3Agent::check(&config(value));
    findings.into_iter().map(|finding| (finding.severity, finding.path)).collect()
}

#[test]
fn impossible_configurations_are_errors() {
    let error = |path: &str| (Severity::Error, path.to_owned());
    let chunk = json!({ "agent": { "sync_chunk": 10, "sync_chunk_min": 32 } });
    assert_eq!(problems(chunk), [error("agent.sync_chunk")]);
    let zero =
        json!({ "agent": { "rpc_timeout": "0 s" }, "liveness": { "report_interval": "0 s" } });
    assert_eq!(problems(zero), [error("agent.rpc_timeout"), error("liveness.report_interval")]);
    for (value, path) in [
        (json!({ "commands": { "entry": "dash_n", "program": "true" } }), "commands.entry"),
        (json!({ "commands": { "form": "batch", "program": "true" } }), "commands.form"),
        (
            json!({ "commands": { "form": "batch", "program": "iptables_restore_nft" } }),
            "commands.form",
        ),
        (json!({ "commands": { "rules": 5 } }), "commands.rules"),
        (json!({ "commands": { "privsep": "empty", "helper": "sudo" } }), "commands.helper"),
        (json!({ "commands": { "privsep": "empty", "form": "batch" } }), "commands.form"),
        (json!({ "commands": { "privsep": "empty", "rules": 5 } }), "commands.rules"),
        (json!({ "commands": { "privsep": "empty", "entry": "none" } }), "commands.entry"),
        (json!({ "commands": { "privsep": "empty", "real_time": true } }), "commands.real_time"),
        (json!({ "commands": {}, "workload": { "routers": 5 } }), "commands"),
        (
            json!({ "workload": { "vm_boots": { "count": 5, "deadline": "0 s" } } }),
            "workload.vm_boots.deadline",
        ),
        (
            json!({ "workload": { "routers": 0, "vm_boots": { "count": 1 },
                "router_updates": { "count": 5 } } }),
            "workload.router_updates.count",
        ),
    ] {
        assert_eq!(problems(value.clone()), [error(path)], "{value}");
    }
    let no_router = json!({ "workload": { "routers": 0, "port_updates": { "count": 5 } } });
    assert!(problems(no_router).contains(&error("workload.port_updates.count")));
}

#[test]
fn hopeless_configurations_are_warnings() {
    let storm = json!({ "era": "liberty", "workload": { "routers": 3000 } });
    assert_eq!(problems(storm), [(Severity::Warning, "server.per_router".to_owned())]);
    assert_eq!(problems(json!({ "workload": { "routers": 0 } })).len(), 1);
    assert_eq!(problems(json!({})), []);
}

/// A key that is set but has no effect beside the others is pointed out.
#[test]
fn keys_without_effect_are_warnings() {
    for (value, path) in [
        (json!({ "commands": {}, "era": "liberty" }), "era"),
        (json!({ "helper": "plain", "commands": { "helper": "sudo" } }), "helper"),
        (json!({ "commands": {}, "agent": { "workers": 3 } }), "agent"),
        (json!({ "commands": {}, "server": { "agents": 3 } }), "server"),
        (json!({ "commands": {}, "liveness": { "stall": "9 s" } }), "liveness"),
        (json!({ "commands": {}, "host": { "privsep_cpu": "1 ms" } }), "host.privsep_cpu"),
        (json!({ "commands": {}, "host": { "batch_line": "1 ms" } }), "host.batch_line"),
        (
            json!({ "commands": { "privsep": "empty" }, "host": { "spawn_cpu": "1 ms" } }),
            "host.spawn_cpu",
        ),
        (
            json!({ "commands": { "entry": "none" }, "host": { "namespaces": 5 } }),
            "host.namespaces",
        ),
        (json!({ "commands": { "real_time": true } }), "commands.real_time"),
        (
            json!({ "commands": { "caller": "python", "helper": "rootwrap_daemon" } }),
            "commands.caller",
        ),
        (json!({ "era": "liberty", "agent": { "sync_chunk": 64 } }), "agent.sync_chunk"),
        (json!({ "agent": { "fanout_workers": 3 } }), "agent.fanout_workers"),
        (json!({ "agent": { "daemon_lock": false } }), "agent.daemon_lock"),
        (json!({ "era": "liberty", "agent": { "privsep_lock": true } }), "agent.privsep_lock"),
        (json!({ "era": "liberty", "host": { "privsep_cpu": "1 ms" } }), "host.privsep_cpu"),
        (json!({ "host": { "batch_line": "1 ms" } }), "host.batch_line"),
        (json!({ "liveness": { "stall_at": "9 s" } }), "liveness.stall_at"),
        (json!({ "liveness": { "dead_limit": "200 s" } }), "liveness.dead_limit"),
        (json!({ "workload": { "vm_boots": { "deadline": "5 s" } } }), "workload.vm_boots"),
        (json!({ "workload": { "port_updates": { "rate": "5/s" } } }), "workload.port_updates"),
        (json!({ "workload": { "router_updates": { "rate": "5/s" } } }), "workload.router_updates"),
    ] {
        assert_eq!(problems(value.clone()), [(Severity::Warning, path.to_owned())], "{value}");
    }
}

/// What would only come after the end of the run.
#[test]
fn work_beyond_the_horizon_is_an_error() {
    let beyond = |value: Value| {
        let horizon = SimDuration::from_whole_seconds(60);
        let found = L3Agent::check_horizon(&config(value), horizon);
        found.into_iter().map(|finding| finding.path).collect::<Vec<_>>()
    };
    for (value, path) in [
        (json!({ "vm_boots": { "count": 5, "start": "60 s" } }), "workload.vm_boots.start"),
        (json!({ "port_updates": { "count": 5, "start": "2 h" } }), "workload.port_updates.start"),
        (
            json!({ "router_updates": { "count": 5, "start": "2 h" } }),
            "workload.router_updates.start",
        ),
    ] {
        assert_eq!(beyond(json!({ "workload": value })), [path]);
    }
    let stall = json!({ "liveness": { "stall": "5 s", "stall_at": "60 s" } });
    assert_eq!(beyond(stall), ["liveness.stall_at"]);
    assert_eq!(
        beyond(json!({ "agent": { "sync_start_delay": "60 s" } })),
        ["agent.sync_start_delay"]
    );
    assert!(beyond(json!({ "workload": { "vm_boots": { "start": "2 h" } } })).is_empty());
}

/// What the scenario file's reader says, with `--set` as on the command line.
fn reading(set: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scenario.json");
    let text = json!({ "name": "t", "components": { "l3": { "model": "l3_agent", "commands": {} } },
        "run": { "replications": 1 } });
    std::fs::write(&path, text.to_string()).expect("it can be written");
    let options = LoadOptions { set: vec![set.to_owned()], ..LoadOptions::default() };
    load(&path, &options).map_or_else(|error| format!("{error:?}"), |_| String::new())
}

#[test]
fn a_name_that_json_takes_for_something_else_is_explained() {
    let told = reading("l3.commands.program=true");
    assert!(told.contains("in quotation marks"), "{told}");
    assert_eq!(reading("l3.commands.program=\"true\""), "");
    assert_eq!(reading("l3.commands.helper=privsep"), "");
    assert_eq!(reading("l3.commands.helper=plain"), "");
}

/// An interval of a nanosecond would be 10^9 events a second, for ever.
#[test]
fn intervals_have_a_least_length() {
    for key in ["liveness.report_interval", "agent.sync_check_interval", "agent.rpc_timeout"] {
        let told = reading(&format!("l3.{key}=1 ns"));
        assert!(told.contains("shorter than 1 ms"), "{key}: {told}");
    }
}

#[test]
fn unknown_keys_and_wrong_units_are_refused() {
    for value in [
        json!({ "helpers": "sudo" }),
        json!({ "era": "mitaka" }),
        json!({ "agent": { "rpc_timeout": 60 } }),
        json!({ "workload": { "routers": -1 } }),
        json!({ "workload": { "vm_boots": { "rate": "0/s" } } }),
    ] {
        let read = serde_json::from_value::<convsim::models::l3_agent::Config>(value.clone());
        assert!(read.is_err(), "{value}");
    }
}
