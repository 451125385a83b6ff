//! Heartbeats, stalls, and what the server makes of them.

use convsim::engine::SimTime;
use serde_json::{Value, json};

use crate::run::{Bench, Outcome, assert_close, run};

fn stalled(seconds: u32) -> Value {
    json!({ "liveness": { "stall": format!("{seconds} s") }, "workload": { "routers": 0 } })
}

/// P = clamp((S - 45) / 30, 0, 1) for a stall of S seconds: the last report is 0 to 30 s old when
/// it begins and the agent is dead at 75 s.
#[test]
fn a_stall_is_seen_with_the_probability_of_its_closed_form() {
    const COUNT: u64 = 2000;
    for seconds in [10, 44, 50, 60, 70, 76, 120] {
        let got = Bench::new(stalled(seconds)).mean("seen_dead", COUNT);
        let expected = ((f64::from(seconds) - 45.0) / 30.0).clamp(0.0, 1.0);
        // Four standard deviations of a share of 2000.
        let width = 4.0 * (expected * (1.0 - expected) / COUNT as f64).sqrt();
        assert!((got - expected).abs() <= width + 1e-3, "{seconds} s: {got}, expected {expected}");
    }
}

/// The same while eight workers keep two cores and the interpreter busy: a stall is elapsed time in
/// which no greenthread runs, not work that competes with commands for the cores.
#[test]
fn a_busy_agents_stall_is_seen_with_the_same_probability() {
    const COUNT: u64 = 300;
    for (helper, seconds) in
        [("sudo", 50), ("sudo", 60), ("sudo", 70), ("sudo_rootwrap", 60), ("rootwrap_daemon", 60)]
    {
        let mut bench = Bench::new(json!({
            "era": "newton", "helper": helper, "host": { "cores": 2 },
            "agent": { "router_cpu": "50 ms" },
            "liveness": { "stall_at": "40 s", "stall": format!("{seconds} s") },
            "workload": { "routers": 2000, "ports_per_subnet": 20 },
        }));
        bench.horizon = SimTime::from_nanos(145_000_000_000);
        let got = bench.mean("seen_dead", COUNT);
        let expected = (f64::from(seconds) - 45.0) / 30.0;
        // Four standard deviations, and the wait of a report for the interpreter.
        let width = 4.0 * (expected * (1.0 - expected) / COUNT as f64).sqrt() + 0.02;
        assert!(
            (got - expected).abs() <= width,
            "{helper}, {seconds} s: {got}, expected {expected}"
        );
    }
}

/// Commands under way end during the stall, but nothing follows them: the whole time is lost.
#[test]
fn nothing_of_the_agent_goes_on_during_a_stall() {
    let outcome = |stall: &str| {
        run(json!({
            "era": "newton", "helper": "sudo", "host": { "cores": 2, "variation": 0 },
            "liveness": { "stall_at": "20 s", "stall": stall },
            "workload": { "routers": 300, "ports_per_subnet": 20,
                "port_updates": { "count": 50, "rate": "10/s", "start": "22 s" } },
        }))
    };
    let (without, stalled) = (outcome("0 s"), outcome("60 s"));
    let added = stalled.get("convergence_time") - without.get("convergence_time");
    // At most eight commands of 9 ms each on two cores end meanwhile.
    assert!((59.9..=60.1).contains(&added), "{added} s later");
    for name in ["spawns", "arp_entries", "updates_processed", "rpc_calls"] {
        assert_eq!(stalled.get(name), without.get(name), "{name}");
    }
    assert_close("work", stalled.get("cpu_time"), without.get("cpu_time"), 1e-6);
    assert!(stalled.get("port_update_time.max") > 50.0, "casts wait for the agent");
}

#[test]
fn a_healthy_agent_is_never_seen_dead() {
    let mut bench = Bench::new(json!({ "workload": { "routers": 300, "ports_per_subnet": 100 } }));
    for replication in 0..5 {
        let outcome = bench.replication(replication);
        assert!(outcome.converged);
        assert!(outcome.get("heartbeats") > 2.0);
        assert_eq!(outcome.get("heartbeat_misses"), 0.0);
        assert_eq!(outcome.get("seen_dead"), 0.0);
    }
}

fn with_routers(era: &str, seconds: u32, failover: bool) -> Outcome {
    run(json!({
        "era": era, "helper": "sudo",
        "liveness": { "stall": format!("{seconds} s"), "stall_at": "20 s",
            "automatic_failover": failover },
        "workload": { "routers": 20, "ports_per_subnet": 10 },
    }))
}

/// Neutron 3b6bd917e4: the answer to a report tells a revived agent to sync fully.
#[test]
fn a_revived_agent_syncs_again_where_reports_are_calls() {
    assert_eq!(with_routers("newton", 200, false).get("full_syncs"), 2.0);
    assert_eq!(with_routers("liberty", 200, false).get("full_syncs"), 1.0);
    assert_eq!(with_routers("newton", 20, false).get("full_syncs"), 1.0);
}

#[test]
fn routers_move_only_with_automatic_failover_and_after_the_dead_limit() {
    assert_eq!(with_routers("newton", 300, true).get("rescheduled_routers"), 20.0);
    assert_eq!(with_routers("newton", 300, false).get("rescheduled_routers"), 0.0);
    assert_eq!(with_routers("newton", 100, true).get("rescheduled_routers"), 0.0);
}

/// Neutron 7267d75fdd: reports used to wait behind the other calls at the server.
#[test]
fn reports_that_wait_behind_a_sync_come_late() {
    let gap = |own_queue: bool| {
        run(json!({
            "era": "liberty", "helper": "sudo", "agent": { "rpc_timeout": "300 s" },
            "liveness": { "own_queue": own_queue },
            "workload": { "routers": 4000, "ports_per_subnet": 0, "subnets_per_router": 0 },
        }))
    };
    assert!(gap(false).get("heartbeat_gap.max") > 75.0);
    assert_eq!(gap(false).get("seen_dead"), 1.0);
    assert!(gap(true).get("heartbeat_gap.max") < 31.0);
}

/// Casts go on every interval, so a server that is behind receives each of them, all late.
#[test]
fn reports_behind_a_long_line_arrive_one_by_one() {
    let outcome = run(json!({
        "era": "liberty", "helper": "sudo", "server": { "per_router": "100 ms" },
        "agent": { "rpc_timeout": "600 s" }, "liveness": { "own_queue": false },
        "workload": { "routers": 4000, "ports_per_subnet": 0, "subnets_per_router": 0 },
    }));
    // One sync call of 400 s: 13 or 14 reports wait behind it and all arrive.
    let due = (outcome.get("convergence_time") / 30.0).floor();
    assert!(outcome.get("heartbeats") >= due - 1.0, "{} of {due}", outcome.get("heartbeats"));
    assert!(outcome.get("heartbeat_gap.max") > 390.0);
}
