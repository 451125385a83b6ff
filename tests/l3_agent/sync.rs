//! The full sync, with and without chunks.

use convsim::engine::{RunEnd, SimTime};
use serde_json::{Value, json};

use crate::run::{Bench, Outcome, run};

fn hour(config: Value) -> Outcome {
    let mut bench = Bench::new(config);
    bench.horizon = SimTime::from_nanos(3_600_000_000_000);
    bench.replication(0)
}

fn restart(era: &str, routers: u32, agent: Value) -> Value {
    json!({ "era": era, "helper": "rootwrap_daemon", "agent": agent,
        "server": { "per_router": "40 ms", "rpc_workers": 4 },
        "workload": { "routers": routers, "ports_per_subnet": 5 } })
}

/// Launchpad 1516260: thousands of routers in one call time out, and the agent asks again for ever.
#[test]
fn a_sync_in_one_call_never_ends_with_thousands_of_routers() {
    let outcome = hour(restart("liberty", 3000, json!({})));
    assert_eq!(outcome.end, RunEnd::Horizon);
    assert!(!outcome.converged);
    assert!(outcome.get("convergence_time").is_nan());
    assert!(outcome.get("full_syncs") > 50.0);
    assert_eq!(outcome.get("full_sync_timeouts"), outcome.get("full_syncs") - 1.0);
    assert_eq!(outcome.get("updates_added"), 0.0);
}

#[test]
fn a_sync_in_chunks_ends_without_a_timeout() {
    let outcome = hour(restart("newton", 3000, json!({})));
    assert!(outcome.converged);
    assert_eq!(outcome.get("full_syncs"), 1.0);
    assert_eq!(outcome.get("rpc_timeouts"), 0.0);
    assert_eq!(outcome.get("updates_processed"), 3000.0);
}

/// Only the chunks are changed, so they and nothing else end the storm.
#[test]
fn chunks_alone_end_the_storm() {
    assert!(hour(restart("liberty", 3000, json!({ "sync_in_chunks": true }))).converged);
    assert!(hour(restart("liberty", 1000, json!({}))).converged);
}

/// Neutron 0ffab0930c: timeouts that double let even the one call through, late.
#[test]
fn doubling_timeouts_end_the_storm_late() {
    let outcome = hour(restart("liberty", 3000, json!({ "rpc_backoff": true })));
    assert!(outcome.converged);
    assert!(outcome.get("full_sync_timeouts") >= 2.0);
    assert!(outcome.get("sync_time") > 60.0 + 120.0);
}

/// 256 routers take 128 s: 60 s is too short, and 64 s for half of them is within 120 s.
#[test]
fn a_timeout_halves_the_chunk_and_a_sync_grows_it() {
    let mut config = restart("newton", 600, json!({}));
    config["server"]["per_router"] = json!("500 ms");
    let outcome = run(config.clone());
    assert!(outcome.converged);
    assert_eq!(outcome.get("full_sync_timeouts"), 1.0);
    assert_eq!(outcome.get("sync_chunk"), 160.0);
    config["agent"]["rpc_backoff"] = json!(false);
    let outcome = run(config);
    assert_eq!(outcome.get("full_sync_timeouts"), 2.0, "256, 128, then 64 fit into 60 s");
    assert_eq!(outcome.get("sync_chunk"), 96.0);
}

#[test]
fn the_chunk_is_never_halved_below_its_least() {
    let mut config = restart("newton", 600, json!({ "rpc_backoff": false }));
    config["server"]["per_router"] = json!("5 s");
    let outcome = hour(config);
    assert!(!outcome.converged);
    assert_eq!(outcome.get("sync_chunk"), 32.0);
}
