//! What cannot be run is named, with what is allowed.

use convsim::models::ipvs_estimator::{Config, IpvsEstimator};
use convsim::models::{Model, Severity};
use serde_json::{Value, json};

use crate::support::config;

fn findings(json: Value, severity: Severity) -> Vec<String> {
    IpvsEstimator::check(&config(json))
        .into_iter()
        .filter(|finding| finding.severity == severity)
        .map(|finding| finding.path)
        .collect()
}

#[test]
fn the_default_is_without_findings() {
    assert!(IpvsEstimator::check(&Config::default()).is_empty());
}

#[test]
fn what_is_impossible_is_an_error_at_its_place() {
    for (json, path) in [
        (json!({ "hz": 128 }), "hz"),
        (json!({ "warm_up": "60 s" }), "warm_up"),
        (json!({ "observe_for": "1000 h" }), "observe_for"),
        (json!({ "preset": "old_timer", "single_chain": true }), "single_chain"),
        (json!({ "preset": "old_timer", "chain_max": 4 }), "chain_max"),
        (json!({ "preset": "v1", "chain_max": 4 }), "chain_max"),
        (json!({ "preset": "old_timer", "host": { "console_line": "5 ms" } }), "host.console_line"),
        (json!({ "preset": "old_timer", "host": { "failed_starts": 1 } }), "host.failed_starts"),
        (
            json!({ "cost": { "governor_factor": 2.0, "lowest_clock": 1.0 } }),
            "cost.governor_factor",
        ),
        (json!({ "temp_list": false }), "temp_list"),
        (json!({ "possible_cpus": 4, "est_cpulist_cpus": 5 }), "est_cpulist_cpus"),
        (json!({ "traffic": { "step": { "at": "60 s" } } }), "traffic.step.at"),
        (json!({ "workload": { "schedule": [{}] } }), "workload.schedule.0"),
        (json!({ "workload": { "schedule": [{ "delete": 2000 }] } }), "workload.schedule"),
        (
            json!({ "workload": { "initial_services": 5_000_000, "destinations_per_service": 9 } }),
            "workload",
        ),
        (
            json!({ "changes": [{ "at": "9 s", "est_nice": 1 }, { "at": "8 s", "est_nice": 2 }] }),
            "changes.1.at",
        ),
        (json!({ "cost": { "estimate": "0 s" } }), "cost.estimate"),
    ] {
        assert_eq!(findings(json.clone(), Severity::Error), [path], "{json}");
    }
}

#[test]
fn what_is_hopeless_is_a_warning() {
    for (json, path) in [
        (json!({ "workload": { "initial_services": 0 } }), "workload"),
        (json!({ "possible_cpus": 20_000 }), "cost"),
        (
            json!({ "est_max_threads": 1, "workload": { "initial_services": 50_000 } }),
            "est_cpulist_cpus",
        ),
        (json!({ "preset": "v2", "chain_max": 200 }), "chain_max"),
        (json!({ "changes": [{ "at": "70 s", "est_nice": 1 }] }), "changes.0.at"),
        (
            json!({ "workload": { "schedule": [{ "add": 60_000, "rate": "600/s" }] } }),
            "workload.schedule.0",
        ),
        (
            json!({
                "workload": { "initial_services": 20_000 },
                "cost": { "estimate": { "distribution": "lognormal", "mean": "5 us", "cv": 0.3 } }
            }),
            "cost.estimate",
        ),
    ] {
        assert_eq!(findings(json.clone(), Severity::Warning), [path], "{json}");
    }
}

#[test]
fn unknown_keys_and_units_are_refused() {
    for json in [
        json!({ "possible_cpu": 4 }),
        json!({ "warm_up": 5 }),
        json!({ "cost": { "relink": "250" } }),
        json!({ "preset": "v9" }),
        json!({ "cost": { "governor": "schedutil" } }),
        json!({ "changes": [{ "at": "5 s", "governor": "fast" }] }),
        json!({ "host": { "console_line": 5 } }),
        json!({ "host": { "failed_starts": -1 } }),
        json!({ "workload": { "schedule": [{ "rate": "0/s" }] } }),
    ] {
        assert!(serde_json::from_value::<Config>(json.clone()).is_err(), "{json}");
    }
}

#[test]
fn a_configuration_survives_being_written_and_read() {
    let written = serde_json::to_value(Config::default()).unwrap();
    assert_eq!(config(written), Config::default());
}

#[test]
fn metrics_are_told_apart_and_parts_have_their_whole() {
    let metrics = IpvsEstimator::METRICS;
    for (index, metric) in metrics.iter().enumerate() {
        assert!(metrics[..index].iter().all(|other| other.name != metric.name), "{}", metric.name);
        if let Some(whole) = metric.part_of {
            assert!(metrics.iter().any(|other| other.name == whole), "{whole}");
        }
    }
}
