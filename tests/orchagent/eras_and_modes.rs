//! What changes with the era of swss and with the mode.

use serde_json::json;

use crate::support::{busy, close, run, with};

fn fourteen_at_once() -> serde_json::Value {
    with(
        busy(1000, "1 ms", 60_000),
        json!({
            "flap": { "count": 14, "interval": "0 s", "first_at": "500 ms" }
        }),
    )
}

#[test]
fn since_era_b2_all_notifications_are_handled_at_the_first_boundary() {
    let runs = run(with(fourteen_at_once(), json!({ "era": "b2" })), 1);
    close(runs.mean("notification_wait.max"), 0.5, 1e-6);
    // One more pass until the LAG keys are popped, all together.
    close(runs.mean("path_outage.max"), 1.5, 1e-6);
}

#[test]
fn honoured_priorities_would_drain_the_queue_between_two_batches() {
    let runs = run(with(fourteen_at_once(), json!({ "priority_mode": "honoured" })), 1);
    close(runs.mean("notification_wait.max"), 0.5, 1e-6);
}

#[test]
fn in_era_a_a_pass_is_the_whole_backlog_whatever_the_batch() {
    let config = with(fourteen_at_once(), json!({ "era": "a" }));
    let runs = run(config.clone(), 1);
    close(runs.mean("notification_wait.first"), 59.5, 1e-6);
    let smaller = run(with(config, json!({ "pop_batch_size": 128 })), 1);
    close(smaller.mean("notification_wait.first"), 59.5, 1e-6);
}

#[test]
fn swss_3595_alone_nearly_matches_a_batch_of_128() {
    let b2 = run(json!({ "era": "b2" }), 60).mean("packet_loss_duration");
    let small = run(json!({ "pop_batch_size": 128 }), 60).mean("packet_loss_duration");
    assert!(b2 < 2.0 * small, "{b2} against {small}");
}

#[test]
fn draining_until_empty_saves_the_fixed_cost_of_each_batch() {
    let config = with(
        busy(1000, "1 ms", 60_000),
        json!({
            "flap": { "count": 0 }, "costs": { "batch": "100 ms" }
        }),
    );
    let one_pop = run(with(config.clone(), json!({ "era": "z2" })), 1);
    let until_empty = run(with(config, json!({ "era": "z1" })), 1);
    close(one_pop.mean("route_churn_time") - until_empty.mean("route_churn_time"), 5.9, 1e-6);
}

#[test]
fn in_async_mode_requests_wait_behind_the_routes_in_syncd() {
    // sairedis#828: waves of routes in async mode make a GET wait more than a minute.
    let config = with(
        busy(1000, "10 ms", 6000),
        json!({
            "mode": "async", "flap": { "count": 0 }
        }),
    );
    let runs = run(config, 1);
    assert!(runs.mean("longest_syncd_backlog") > 50.0, "{}", runs.mean("longest_syncd_backlog"));
    // Programming takes as long as in sync mode: syncd is the bottleneck in both.
    close(runs.mean("route_churn_time"), 60.0, 2.0);
}

#[test]
fn in_async_mode_the_carrier_drops_only_when_syncd_gets_there() {
    let flap = json!({ "flap": { "count": 1, "first_at": "2 s" } });
    let config = with(busy(1000, "5 ms", 6000), flap);
    let runs = run(with(config, json!({ "mode": "async" })), 1);
    // All six batches are in syncd's queue by then: 30 s of work.
    assert!(runs.mean("path_outage.max") > 20.0, "{}", runs.mean("path_outage.max"));
}

#[test]
fn the_ring_handles_notifications_beside_the_batches_but_lag_keys_wait_until_it_is_idle() {
    let config = with(
        busy(1000, "1 ms", 20_000),
        json!({
            "ring": { "enabled": true },
            "flap": { "count": 1, "first_at": "500 ms" }
        }),
    );
    let runs = run(config, 1);
    // Published at the end of the ring thread's bulk call, and then not behind any batch.
    close(runs.mean("notification_wait.max"), 0.5, 1e-3);
    // Twenty batches of 1 s, looked at every 500 ms.
    let outage = runs.mean("path_outage.max");
    assert!((19.0..20.6).contains(&outage), "{outage}");
}

#[test]
fn routes_over_zmq_are_not_charged_the_lua_pop() {
    // swss-common#715: 10K entries in 120 ms.
    let config = with(
        busy(1000, "1 ms", 10_000),
        json!({
            "era": "z2", "flap": { "count": 0 },
            "costs": { "pop_per_key": "1 s", "zmq_pop_per_entry": "12 us" }
        }),
    );
    let runs = run(config, 1);
    close(runs.mean("route_programming_time"), 10.12, 1e-6);
    close(runs.mean("longest_pop"), 0.0, 0.0);
}

#[test]
fn a_link_that_goes_up_down_and_up_again_ends_up_where_the_queue_deduplicates() {
    let config = with(
        busy(1000, "1 ms", 60_000),
        json!({
            "deduplicate_notifications": true,
            "flap": { "count": 14, "repeat": 4, "return_after": "3 s", "period": "6 s" }
        }),
    );
    assert_eq!(run(config, 5).converged, [true; 5]);
}

#[test]
fn repeated_notifications_collapse_where_the_queue_deduplicates() {
    let config = with(
        busy(1000, "1 ms", 60_000),
        json!({
            "flap": { "count": 2, "interval": "0 s", "first_at": "500 ms", "messages": 5 }
        }),
    );
    let plain = run(config.clone(), 1);
    let deduplicated = run(with(config, json!({ "deduplicate_notifications": true })), 1);
    // Two links, each with one foreign and one own message left: boundaries 1 to 4.
    close(deduplicated.mean("notification_wait.last"), 3.5, 1e-6);
    close(plain.mean("notification_wait.last"), 9.5, 1e-6);
}
