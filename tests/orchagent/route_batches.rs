//! Route batches: what they cost and what they cost others.

use serde_json::json;

use crate::support::{bare, busy, close, run, with};

#[test]
fn loss_grows_in_proportion_to_the_batch_while_programming_time_does_not() {
    let flap = json!({ "flap": { "count": 14, "interval": "0 s", "first_at": "100 ms" } });
    let at = |batch| run(with(busy(batch, "1 ms", 120_000), flap.clone()), 1);
    let (small, large) = (at(250), at(2000));
    let ratio = large.mean("path_outage.mean") / small.mean("path_outage.mean");
    assert!((7.5..8.5).contains(&ratio), "{ratio}");
    close(large.mean("route_programming_time"), 120.0, 1e-3);
    close(small.mean("route_programming_time"), 120.0, 1e-3);
}

#[test]
fn waves_over_the_same_prefixes_coalesce_in_redis_and_not_in_zmq() {
    // Fourteen peers go down, one after the other as their notifications are handled, and each
    // makes FRR write 6000 routes. Redis gets back no more than has been popped since.
    let flap = json!({
        "topology": { "initial_backlog": 0 }, "bgp": { "enabled": true },
        "flap": { "count": 14, "interval": "70 ms" }
    });
    let config = with(bare(1000, "1 ms", 6000), flap);
    let redis = run(config.clone(), 1).mean("route_operations");
    let zmq = with(config, json!({ "route_transport": "zmq" }));
    let zmq = run(zmq, 1).mean("route_operations");
    assert!((6000.0..6000.0 + 14.0 * 1000.0).contains(&redis), "{redis}");
    assert!(zmq > 2.0 * redis, "{zmq} against {redis}");
}

#[test]
fn empty_pops_follow_the_backlog_one_for_each_key_less_the_passes() {
    let runs = run(with(bare(1000, "1 ms", 60_000), json!({ "flap": { "count": 0 } })), 1);
    close(runs.mean("route_batches"), 60.0, 0.0);
    close(runs.mean("empty_pops"), 60_000.0 - 60.0, 0.0);
}

#[test]
fn each_peer_that_goes_down_leaves_next_hop_groups_behind_during_churn() {
    let config = json!({ "flap": { "count": 14 } });
    let runs = run(config, 10);
    // One group a family for each state of the paths that still has routes: 10 to 30 in all.
    let most = runs.mean("most_next_hop_groups");
    assert!((10.0..=30.0).contains(&most), "{most}");
}

#[test]
fn the_route_rate_is_affine_in_the_batch() {
    // Seconds for each route: p + F / batch.
    for (batch, expected) in [(100_u32, 0.001 + 0.1 / 100.0), (1000, 0.001 + 0.1 / 1000.0)] {
        let config = with(
            bare(batch, "1 ms", 60_000),
            json!({
                "flap": { "count": 0 }, "costs": { "batch": "100 ms" }
            }),
        );
        close(run(config, 1).mean("route_rate") * expected, 1.0, 1e-6);
    }
}

/// On average over phases. In a single run it can happen: where the batch boundary falls decides.
#[test]
fn a_smaller_pop_batch_never_lengthens_the_wait_for_a_notification() {
    let mut last = 0.0;
    for batch in [32, 64, 128, 256, 512, 1024, 2048] {
        let wait = run(json!({ "pop_batch_size": batch }), 60).mean("notification_wait.mean");
        assert!(wait > last, "batch {batch}: {wait} after {last}");
        last = wait;
    }
}

#[test]
fn a_cost_of_each_batch_puts_a_floor_under_the_wait_and_a_price_on_small_batches() {
    let at = |batch: u32| {
        let config = json!({ "pop_batch_size": batch, "costs": { "batch": "50 ms" } });
        let runs = run(config, 30);
        (runs.mean("notification_wait.mean"), runs.mean("route_programming_time"))
    };
    let ((small, small_time), (large, large_time)) = (at(8), at(64));
    // An eighth of the batch, but not an eighth of the wait.
    assert!(small > 0.3 * large, "{small} against {large}");
    assert!(small_time > 2.5 * large_time, "{small_time} against {large_time}");
}

#[test]
fn a_later_flap_makes_frr_write_routes_again_that_had_been_programmed() {
    let runs = run(json!({ "pop_batch_size": 1024 }), 20);
    let operations = runs.mean("route_operations");
    assert!(operations > 60_000.0 && operations < 2.0 * 60_000.0, "{operations}");
    assert!(runs.mean("route_churn_time") > runs.mean("route_programming_time"));
}
