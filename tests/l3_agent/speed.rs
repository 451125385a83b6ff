//! How many events a replication costs: the bound on time without a clock.

use serde_json::json;

use crate::run::run;

/// The largest shipped case: 5000 routers of 50 ports.
#[test]
fn five_thousand_routers_converge() {
    let outcome = run(json!({
        "era": "newton", "helper": "rootwrap_daemon",
        "workload": { "routers": 5000, "ports_per_subnet": 50 },
    }));
    assert!(outcome.converged);
    assert_eq!(outcome.get("arp_entries"), 250_000.0);
}
