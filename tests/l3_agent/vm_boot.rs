//! VMs that boot and need their router within a deadline.

use serde_json::{Value, json};

use crate::run::{Bench, Outcome, run};

fn boots(workers: u32, host: Value) -> Outcome {
    run(json!({
        "era": "stein", "helper": "sudo_rootwrap", "host": host,
        "agent": { "workers": workers },
        "workload": { "routers": 0, "ports_per_subnet": 30,
            "vm_boots": { "count": 300, "deadline": "120 s" } },
    }))
}

/// Launchpad 1813787, on a host whose commands are blocked most of the time.
#[test]
fn a_larger_pool_saves_vms_where_commands_wait() {
    let host = json!({ "cores": 16, "spawn_cpu": "10 ms", "spawn_blocked": "130 ms" });
    let (small, large) = (boots(8, host.clone()), boots(32, host));
    assert!(small.get("vm_timeout_rate") > 0.2, "{}", small.get("vm_timeout_rate"));
    assert_eq!(large.get("vm_timeout_rate"), 0.0);
}

/// With two cores and a Python start-up per command the pool is not what is short.
#[test]
fn a_larger_pool_saves_nothing_where_the_cores_are_busy() {
    let (small, large) = (boots(8, json!({ "cores": 2 })), boots(32, json!({ "cores": 2 })));
    let (few, many) = (small.get("vm_timeout_rate"), large.get("vm_timeout_rate"));
    assert!(few > 0.2);
    assert!((many - few).abs() < 0.1 || many > few, "{few} and {many}");
}

/// A notification goes before the routers of a full sync (priority), but not before those that
/// workers already have.
#[test]
fn a_boot_during_a_resync_passes_the_queue() {
    let outcome = run(json!({
        "era": "liberty", "helper": "sudo",
        "workload": { "routers": 500, "ports_per_subnet": 50,
            "vm_boots": { "count": 20, "rate": "1/s", "start": "60 s" } },
    }));
    assert_eq!(outcome.get("vm_boots"), 20.0);
    assert!(outcome.get("vm_wait.max") < 0.2 * outcome.get("convergence_time"));
}

#[test]
fn a_longer_deadline_never_adds_timeouts() {
    let rate = |deadline: &str| {
        Bench::new(json!({
            "era": "stein", "workload": { "routers": 0, "ports_per_subnet": 30,
                "vm_boots": { "count": 60, "deadline": deadline } },
        }))
        .mean("vm_timeout_rate", 3)
    };
    let rates = ["1 s", "20 s", "60 s", "120 s", "600 s"].map(rate);
    assert!(rates.is_sorted_by(|first, second| first >= second), "{rates:?}");
    assert!(rates[0] > 0.9);
}
