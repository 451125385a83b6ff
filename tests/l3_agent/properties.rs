//! What must hold for every configuration.

use convsim::engine::SimTime;
use convsim::models::Model;
use convsim::models::l3_agent::L3Agent;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::run::{Bench, Outcome, run};

const ERAS: [&str; 8] =
    ["liberty", "newton", "ocata", "rocky", "stein", "ussuri", "master", "batched"];
const HELPERS: [&str; 4] = ["sudo", "sudo_rootwrap", "rootwrap_daemon", "rootwrap"];

fn any_config() -> impl Strategy<Value = Value> {
    let counts = (0..40_u32, 0..3_u32, 0..40_u32, 0..30_u32, 0..30_u32, 0..20_u32);
    let shapes = (0..8_usize, 0..4_usize, 1..12_u32, 0.0..0.6_f64, 0..100_u32);
    (counts, shapes).prop_map(|(counts, shapes)| {
        let (routers, subnets, ports, port_updates, router_updates, boots) = counts;
        let (era, helper, workers, failure, stall) = shapes;
        json!({
            "era": ERAS[era], "helper": HELPERS[helper],
            "agent": { "workers": workers, "failure_share": failure, "commands_per_router": 3 },
            "liveness": { "stall": format!("{stall} s"), "stall_at": "5 s" },
            "workload": {
                "routers": routers, "subnets_per_router": subnets, "ports_per_subnet": ports,
                "port_updates": { "count": port_updates, "rate": "5/s", "local_share": 0.7 },
                "router_updates": { "count": router_updates, "rate": "5/s" },
                "vm_boots": { "count": boots, "per_router": 2, "rate": "2/s" },
            },
        })
    })
}

/// The parts of every whole sum to it.
fn assert_parts_sum(outcome: &Outcome) {
    for whole in ["convergence_time", "router_time.mean", "worker_time"] {
        let parts = L3Agent::METRICS.iter().filter(|metric| metric.part_of == Some(whole));
        let sum: f64 = parts.map(|metric| outcome.get(metric.name)).sum();
        let expected = outcome.get(whole);
        if !expected.is_nan() {
            assert!((sum - expected).abs() <= 1e-9 * (1.0 + expected), "{whole}: {sum} {expected}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn updates_are_conserved_and_parts_sum_to_their_whole(value in any_config(), cut in 1..20_000_u64) {
        let mut bench = Bench::new(value);
        let outcome = bench.replication(0);
        let count = |name| outcome.get(name);
        prop_assert_eq!(
            count("updates_added"),
            count("updates_processed") + count("updates_failed") + count("updates_dropped")
                + count("updates_waiting")
        );
        prop_assert_eq!(count("updates_waiting"), 0.0);
        prop_assert_eq!(outcome.converged, count("updates_given_up") == 0.0);
        assert_parts_sum(&outcome);
        let fingerprint = outcome.fingerprint;
        // Cut short at any moment, what came in is still accounted for.
        bench.horizon = SimTime::from_nanos(cut * 1_000_000);
        let outcome = bench.replication(0);
        let count = |name| outcome.get(name);
        prop_assert_eq!(
            count("updates_added"),
            count("updates_processed") + count("updates_failed") + count("updates_dropped")
                + count("updates_waiting")
        );
        bench.horizon = SimTime::MAX;
        // The same seed gives the same run, also in a used component.
        prop_assert_eq!(bench.replication(0).fingerprint, fingerprint);
    }
}

/// Common random numbers: with one worker or many, a router costs the same CPU work.
#[test]
fn the_worker_pool_does_not_change_what_a_router_costs() {
    let cpu_time = |workers: u32| {
        let config = json!({ "era": "liberty", "agent": { "workers": workers },
            "workload": { "routers": 30, "subnets_per_router": 2, "ports_per_subnet": 10 } });
        Bench::new(config).replication(3).get("cpu_time")
    };
    assert!((cpu_time(1) - cpu_time(8)).abs() < 1e-6);
    assert!((cpu_time(1) - cpu_time(32)).abs() < 1e-6);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// One worker at a time leaves no order to choose: whatever costs more takes longer.
    #[test]
    fn a_dearer_command_never_makes_one_worker_faster(
        era in 0..8_usize, helper in 0..4_usize, cpu in 1..30_u32, blocked in 0..30_u32,
        factor in 1..4_u32, routers in 1..20_u32
    ) {
        let time = |factor: u32| run(json!({
            "era": ERAS[era], "helper": HELPERS[helper],
            "host": { "spawn_cpu": format!("{} ms", cpu * factor),
                "spawn_blocked": format!("{} ms", blocked * factor) },
            "agent": { "workers": 1, "commands_per_router": 3 },
            "workload": { "routers": routers, "ports_per_subnet": 5 },
        }));
        let (cheap, dear) = (time(1), time(factor));
        for metric in ["convergence_time", "worker_time", "cpu_time"] {
            let least = cheap.get(metric) * (1.0 - 1e-9);
            prop_assert!(dear.get(metric) >= least, "{}", metric);
        }
    }

    /// The same for a list of commands, as many at once as one likes.
    #[test]
    fn a_dearer_command_never_shortens_a_list(
        count in 1..200_u32, concurrency in 1..9_u32, cpu in 1..30_u32, blocked in 0..30_u32,
        more in 0..30_u32
    ) {
        let time = |more: u32| run(json!({
            "host": { "variation": 0, "spawn_cpu": format!("{} ms", cpu + more),
                "spawn_blocked": format!("{blocked} ms") },
            "commands": { "count": count, "concurrency": concurrency, "real_time": false },
        })).get("convergence_time");
        prop_assert!(time(more) >= time(0) * (1.0 - 1e-9));
    }
}
