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
        (
            json!({ "possible_cpus": 4, "changes": [{ "at": "5 s", "est_cpulist_cpus": 5 }] }),
            "changes.0.est_cpulist_cpus",
        ),
        (json!({ "changes": [{ "at": "5 s" }] }), "changes.0"),
        (json!({ "preset": "old_timer", "est_nice": 5 }), "est_nice"),
        (json!({ "preset": "old_timer", "est_cpulist_cpus": 8 }), "est_cpulist_cpus"),
        (
            json!({ "preset": "old_timer", "changes": [{ "at": "5 s", "est_nice": 5 }] }),
            "changes.0.est_nice",
        ),
        (json!({ "possible_cpus": 2, "cost": { "numa_nodes": 4 } }), "cost.numa_nodes"),
        (json!({ "cost": { "estimate": "5 us", "read_cost_ns": 20 } }), "cost.read_cost_ns"),
        (json!({ "cost": { "estimate": "5 us", "numa_nodes": 2 } }), "cost.numa_nodes"),
        (
            json!({ "cost": { "estimate": "5 us", "numa_remote_factor": 3 } }),
            "cost.numa_remote_factor",
        ),
        (json!({ "cost": { "lowest_clock": 0.5, "clocks": [0.4] } }), "cost.clocks.0"),
        // 600 a second come from 10 s on, and go from 9 s on.
        (
            json!({ "workload": { "initial_services": 0, "schedule": [
                { "at": "10 s", "add": 600 }, { "at": "9 s", "delete": 10 }
            ] } }),
            "workload.schedule.1.delete",
        ),
        // They go faster than they come.
        (
            json!({ "workload": { "initial_services": 0, "schedule": [
                { "at": "10 s", "add": 600 }, { "at": "10 s", "delete": 600, "rate": "700/s" }
            ] } }),
            "workload.schedule.1.delete",
        ),
        (json!({ "traffic": { "rate": "5/s", "groups": [{}] } }), "traffic.rate"),
        (json!({ "traffic": { "step": {}, "groups": [{}] } }), "traffic.step"),
        (json!({ "traffic": { "rate_cv": 1, "groups": [{}] } }), "traffic.rate_cv"),
        (
            json!({ "traffic": { "groups": [{ "changes": [{ "at": "9 s" }, { "at": "10 s" }] }] } }),
            "traffic.groups.0.changes.1.at",
        ),
        (
            json!({ "traffic": { "groups": [{}, { "changes": [{ "at": "60 s" }] }] } }),
            "traffic.groups.1.changes.0.at",
        ),
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
            "est_max_threads",
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
        (json!({ "run_estimation": false }), "run_estimation"),
        (json!({ "host": { "background_on": "est_cpulist" } }), "host.background_on"),
        (json!({ "host": { "failed_starts": 600 } }), "host.failed_starts"),
        (json!({ "cost": { "governor_factor": 2 } }), "cost.governor_factor"),
        (json!({ "cost": { "clocks": [0.5] } }), "cost.clocks"),
        (
            json!({ "preset": "old_timer", "host": { "background_tasks": 9 } }),
            "host.background_tasks",
        ),
        (json!({ "cost": { "calc_ratio": 2, "calc_value": "5 us" } }), "cost.calc_ratio"),
        (json!({ "cost": { "numa_remote_factor": 3 } }), "cost.numa_remote_factor"),
        (json!({ "preset": "v2", "cost": { "calc_noise": 0.1 } }), "cost.calc_noise"),
        (json!({ "preset": "v2", "cache_factor": 1 }), "cache_factor"),
        (json!({ "preset": "old_timer", "cost": { "calc_noise": 0.1 } }), "cost.calc_noise"),
        (json!({ "preset": "old_timer", "cost": { "relink": "1 us" } }), "cost.relink"),
        (json!({ "preset": "v1", "single_chain": true }), "single_chain"),
        (
            json!({ "total_estimator": false, "module_loaded_before": "5 ms" }),
            "module_loaded_before",
        ),
        (json!({ "traffic": { "step": { "factor": 1 } } }), "traffic.step.factor"),
    ] {
        assert_eq!(findings(json.clone(), Severity::Warning), [path], "{json}");
        assert!(findings(json.clone(), Severity::Error).is_empty(), "{json}");
    }
}

/// Each finding says which other key it is about.
#[test]
fn a_contradiction_names_both_keys() {
    for (json, other) in [
        (json!({ "preset": "old_timer", "est_nice": 5 }), "preset"),
        (json!({ "possible_cpus": 2, "cost": { "numa_nodes": 4 } }), "possible_cpus"),
        (json!({ "cost": { "estimate": "5 us", "read_cost_ns": 20 } }), "cost.estimate"),
        (json!({ "traffic": { "rate": "5/s", "groups": [{}] } }), "traffic.groups"),
        (json!({ "cost": { "calc_ratio": 2, "calc_value": "5 us" } }), "cost.calc_value"),
        (json!({ "cost": { "governor_factor": 2 } }), "cost.governor"),
        (
            json!({ "workload": { "initial_services": 0, "schedule": [
                { "at": "10 s", "add": 600 }, { "at": "9 s", "delete": 10 }
            ] } }),
            "initial_services",
        ),
    ] {
        let found = IpvsEstimator::check(&config(json.clone()));
        assert!(found.iter().any(|finding| finding.problem.contains(other)), "{json}: {found:?}");
    }
}

#[test]
fn deletions_as_fast_as_additions_are_possible() {
    for schedule in [
        json!([{ "add": 600, "delete": 600 }]),
        json!([{ "add": 600, "rate": "700/s" }, { "at": "1 ms", "delete": 600, "rate": "600/s" }]),
        json!([{ "add": 600, "at": "5 s" }, { "at": "1 s", "delete": 100 }]),
    ] {
        let json = json!({ "workload": { "initial_services": 100, "schedule": schedule } });
        assert!(findings(json.clone(), Severity::Error).is_empty(), "{json}");
    }
}

#[test]
fn a_run_that_ends_before_the_observation_is_an_error() {
    let beyond = |seconds| {
        let found = IpvsEstimator::check_horizon(
            &Config::default(),
            convsim::engine::SimDuration::from_whole_seconds(seconds),
        );
        found.into_iter().map(|finding| finding.path).collect::<Vec<_>>()
    };
    assert_eq!(beyond(59), ["observe_for"]);
    assert!(beyond(60).is_empty());
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
