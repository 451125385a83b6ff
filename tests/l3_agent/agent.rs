//! Queue, workers, retries, port updates.

use convsim::models::Model as _;
use serde_json::json;

use crate::run::{Bench, assert_close, run};

/// More workers help as long as commands are blocked, and not once the cores are busy.
#[test]
fn workers_help_only_while_commands_wait() {
    let time = |workers: u32, preset: &str| {
        run(json!({
            "era": "liberty", "helper": "sudo", "host": { "preset": preset, "cores": 2 },
            "agent": { "workers": workers, "router_cpu": "0 s" },
            "workload": { "routers": 64, "ports_per_subnet": 20 },
        }))
        .get("convergence_time")
    };
    let bug = time(1, "bug2015") / time(8, "bug2015");
    assert!((6.0..8.0).contains(&bug), "blocked three quarters of the time: {bug}");
    let measured = time(1, "measured") / time(8, "measured");
    assert!((1.9..2.3).contains(&measured), "two cores: {measured}");
    assert_close("32 instead of 8", time(32, "measured"), time(8, "measured"), 0.03);
}

#[test]
fn a_failed_router_is_tried_six_times_and_given_up() {
    let outcome = run(json!({
        "agent": { "failure_share": 1.0 }, "helper": "sudo",
        "workload": { "routers": 10, "ports_per_subnet": 1 },
    }));
    assert!(!outcome.converged);
    assert_eq!(outcome.get("updates_failed"), 60.0);
    assert_eq!(outcome.get("updates_given_up"), 10.0);
}

#[test]
fn a_burst_of_updates_of_one_router_is_processed_once_more_at_most() {
    let outcome = run(json!({
        "helper": "sudo", "workload": { "routers": 1, "ports_per_subnet": 50,
            "router_updates": { "count": 100, "rate": "1000/s", "start": "2 s" } },
    }));
    assert_eq!(outcome.get("updates_added"), 101.0);
    assert!(outcome.get("updates_processed") <= 4.0, "{}", outcome.get("updates_processed"));
    assert!(outcome.get("updates_dropped") >= 97.0);
}

/// A fanout update does not wait for the router queue, even while a resync fills it.
#[test]
fn a_port_update_passes_by_the_queue() {
    let outcome = run(json!({
        "era": "liberty", "helper": "sudo", "host": { "cores": 16 },
        "workload": { "routers": 400, "ports_per_subnet": 50,
            "port_updates": { "count": 200, "rate": "10/s", "start": "30 s" } },
    }));
    let sum = outcome.get("port_updates") + outcome.get("port_updates_cached");
    assert_eq!(sum, 200.0);
    assert!(outcome.get("port_updates") > 0.0);
    assert!(outcome.get("port_update_time.p95") < 0.1, "two commands");
    assert!(outcome.get("queue_wait.p95") > 10.0);
}

/// Those that come while the router's last entries are being written, too, and those for routers
/// without subnets.
#[test]
fn every_local_port_update_is_written() {
    for (subnets, ports, expected) in [(1, 250, 270.0), (2, 125, 270.0), (0, 250, 20.0)] {
        let outcome = run(json!({
            "era": "newton", "helper": "sudo_rootwrap",
            "workload": { "routers": 1, "subnets_per_router": subnets, "ports_per_subnet": ports,
                "port_updates": { "count": 20, "rate": "1/s", "start": "5 s" } },
        }));
        assert_eq!(outcome.get("arp_entries"), expected, "{subnets} subnets");
    }
    let outcome = run(json!({
        "era": "newton", "helper": "rootwrap_daemon", "agent": { "failure_share": 0.1 },
        "workload": { "routers": 100, "ports_per_subnet": 50,
            "port_updates": { "count": 2000, "rate": "20/s", "start": "1 s" } },
    }));
    assert_eq!(outcome.get("updates_given_up"), 0.0);
    assert_eq!(outcome.get("arp_entries"), 7000.0);
}

#[test]
fn updates_for_routers_elsewhere_are_ignored() {
    let outcome = run(json!({
        "helper": "sudo", "workload": { "routers": 10, "ports_per_subnet": 1,
            "port_updates": { "count": 1000, "rate": "100/s", "start": "10 s", "local_share": 0.1 } },
    }));
    let local = outcome.get("port_updates") + outcome.get("port_updates_cached");
    assert!((60.0..150.0).contains(&local), "{local}");
    assert_eq!(local + outcome.get("port_updates_ignored"), 1000.0);
}

/// One lock for all workers makes the daemon's agent serial, whatever the pool.
#[test]
fn the_daemons_lock_is_where_the_time_goes() {
    let config = json!({
        "era": "liberty", "helper": "rootwrap_daemon", "host": { "cores": 8 },
        "server": { "per_router": "0 s" },
        "workload": { "routers": 40, "ports_per_subnet": 20 },
    });
    let outcome = run(config.clone());
    assert!(outcome.get("worker_time.lock") > 0.6 * outcome.get("worker_time"));
    let commands = outcome.get("spawns");
    assert_close("167 per second", outcome.get("convergence_time"), commands / 167.0, 0.05);
    let mut unlocked = config;
    unlocked["agent"] = json!({ "daemon_lock": false });
    assert!(run(unlocked).get("convergence_time") < outcome.get("convergence_time") / 3.0);
}

/// Slices make a loop coarser; the result hardly changes with the number of entries per slice.
#[test]
fn entries_run_together_take_as_long_as_one_by_one() {
    // 32 commands run one by one, 320 ten at a time: the same work ten times over.
    let time = |ports: u32, routers: u32| {
        Bench::new(json!({
            "era": "liberty", "helper": "sudo", "host": { "preset": "bug2015", "cores": 2 },
            "agent": { "commands_per_router": 0, "router_cpu": "0 s" },
            "server": { "base": "0 s", "per_router": "0 s", "per_port": "0 s" },
            "workload": { "routers": routers, "ports_per_subnet": ports },
        }))
        .mean("convergence_time", 5)
    };
    assert_close("ten at a time", time(320, 64), time(32, 640), 0.03);
}

/// Launchpad 1407410: the first sync waited for a periodic interval.
#[test]
fn a_late_first_sync_delays_everything_by_as_much() {
    let time = |delay: &str| {
        let config = json!({ "helper": "sudo", "agent": { "sync_start_delay": delay },
            "workload": { "routers": 5 } });
        run(config).get("convergence_time")
    };
    assert!((time("60 s") - time("0 s") - 60.0).abs() < 1e-9);
}

/// Another component may have work for the agent after it was done with its own.
#[test]
fn a_signal_after_the_end_is_worked_on() {
    let mut bench = Bench::new(json!({ "helper": "sudo", "workload": { "routers": 5 } }));
    let before = bench.replication(0);
    assert!(before.converged);
    bench.agent.receive(&mut bench.engine, 0, 7);
    let after = bench.resume();
    assert!(after.converged);
    assert_eq!(after.get("updates_processed"), before.get("updates_processed") + 1.0);
    bench.agent.receive(&mut bench.engine, 1, 0);
    let after = bench.resume();
    assert_eq!(after.get("full_syncs"), 2.0);
    assert_eq!(after.get("updates_processed"), 11.0);
}

/// The timeline has a span for each router and one for the sync.
#[test]
fn a_traced_run_shows_who_had_which_router() {
    let mut bench = Bench::new(json!({ "helper": "sudo", "workload": { "routers": 5 } }));
    bench.engine.start_trace();
    bench.replication(0);
    let trace = bench.engine.take_trace().expect("the run was traced");
    let routers = trace.spans.iter().filter(|span| span.name == "router");
    let mut numbers: Vec<i64> = routers.map(|span| span.value).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
    assert_eq!(trace.spans.iter().filter(|span| span.name == "full sync").count(), 1);
}
