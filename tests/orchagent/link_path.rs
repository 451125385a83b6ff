//! From a link event to healed traffic, worked out by hand.

use serde_json::json;

use crate::support::{busy, close, run, with};

/// With passes of exactly `b` and nothing else that takes time, the k-th of N ports that go down
/// at once is handled at boundary k and heals one pass after that, when teamd has had its 50 ms.
#[test]
fn each_queued_notification_costs_one_route_batch_and_the_lag_pass_one_more() {
    let config = with(
        busy(1000, "1 ms", 60_000),
        json!({
            // In the middle of the first batch of 1 s.
            "flap": { "count": 14, "interval": "0 s", "first_at": "500 ms" }
        }),
    );
    let runs = run(config, 1);
    // Handled at 1, 2, ... 14 s; healed at 2, 3, ... 15 s; all went down at 0.5 s.
    close(runs.mean("notification_wait.first"), 0.5, 1e-6);
    close(runs.mean("notification_wait.last"), 13.5, 1e-6);
    close(runs.mean("notification_gap"), 1.0, 1e-6);
    close(runs.mean("convergence_time"), 14.5, 1e-6);
    let mean_outage = (1..=14).map(|k| f64::from(k) + 0.5).sum::<f64>() / 14.0;
    close(runs.mean("path_outage.mean"), mean_outage, 1e-6);
    close(runs.mean("packet_loss_duration"), mean_outage * 14.0 / 16.0, 1e-6);
}

#[test]
fn three_messages_a_flap_cost_three_batches_each() {
    let config = with(
        busy(1000, "1 ms", 60_000),
        json!({
            "flap": { "count": 4, "interval": "0 s", "first_at": "500 ms", "messages": 3 }
        }),
    );
    let runs = run(config, 1);
    // The last messages are handled at 3, 6, 9 and 12 s.
    close(runs.mean("notification_wait.first"), 2.5, 1e-6);
    close(runs.mean("notification_wait.last"), 11.5, 1e-6);
}

#[test]
fn a_routed_port_needs_no_second_pass() {
    let flap = json!({ "flap": { "count": 3, "interval": "0 s", "first_at": "500 ms" } });
    let lag = run(with(busy(1000, "1 ms", 60_000), flap.clone()), 1);
    let routed = with(busy(1000, "1 ms", 60_000), flap);
    let routed = run(with(routed, json!({ "topology": { "link": "routed_port" } })), 1);
    close(lag.mean("path_outage.mean") - routed.mean("path_outage.mean"), 1.0, 1e-6);
}

#[test]
fn a_driver_that_drops_the_carrier_itself_makes_the_queue_irrelevant() {
    let config = with(
        busy(1000, "1 ms", 60_000),
        json!({
            "topology": { "carrier_source": "driver" },
            "flap": { "count": 14, "interval": "0 s", "first_at": "500 ms" }
        }),
    );
    let runs = run(config, 1);
    // teamd's keys wait together and are popped together at the first boundary.
    close(runs.mean("path_outage.max"), 0.5, 1e-6);
    close(runs.mean("notification_wait.last"), 13.5, 1e-6);
}

#[test]
fn an_idle_loop_handles_a_link_event_in_9_85_milliseconds() {
    // swss#3180: SAI callback to orchagent 0.88 ms, to the host interface 9.85 ms.
    let runs =
        run(json!({ "flap": { "count": 1, "latency": "0 s" }, "costs": { "select": "0 s" } }), 1);
    close(runs.mean("notification_wait.first"), 9.85e-3, 1e-6);
}

#[test]
fn a_notification_is_published_when_the_running_bulk_call_ends() {
    // A batch of 1024 is bulk calls of 1000 and 24 entries: 1 s and 24 ms. An event in the first
    // waits 0.7 s for syncd and 24 ms for the pass to end.
    let config = with(
        busy(1024, "1 ms", 1024),
        json!({
            "flap": { "count": 1, "first_at": "300 ms" }, "teamd": { "reaction": "1 ms" }
        }),
    );
    let runs = run(config, 1);
    close(runs.mean("packet_loss_duration.publication") * 16.0, 0.7, 1e-6);
    close(runs.mean("packet_loss_duration.residual_batch") * 16.0, 0.024, 1e-6);
}

#[test]
fn flaps_spread_wider_than_the_passes_they_cost_do_not_queue() {
    let narrow = json!({ "flap": { "count": 10, "interval": "0 s", "first_at": "1100 ms" } });
    let wide = json!({ "flap": { "count": 10, "interval": "3 s", "first_at": "1100 ms" } });
    let narrow = run(with(busy(1000, "1 ms", 120_000), narrow), 1);
    let wide = run(with(busy(1000, "1 ms", 120_000), wide), 1);
    assert!(narrow.mean("packet_loss_duration.notification_queue") > 2.0);
    close(wide.mean("packet_loss_duration.notification_queue"), 0.0, 1e-9);
    assert!(wide.mean("path_outage.max") <= 2.0);
}

#[test]
fn a_queue_collapses_when_the_backlog_ends() {
    // Three batches only: the ports behind them are handled at once.
    let config = with(
        busy(1000, "1 ms", 3000),
        json!({
            "flap": { "count": 14, "interval": "0 s", "first_at": "500 ms" }
        }),
    );
    assert!(run(config, 1).mean("convergence_time") < 3.0);
}

#[test]
fn a_flap_of_one_member_costs_its_share_until_the_member_is_disabled() {
    let config = with(
        busy(1000, "1 ms", 60_000),
        json!({
            "topology": { "members": 2 },
            "flap": { "count": 1, "members": 1, "first_at": "500 ms" }
        }),
    );
    let runs = run(config, 1);
    // Handled at 1 s, disabled at 2 s; half of one path of sixteen.
    close(runs.mean("packet_loss_duration"), 1.5 / 32.0, 1e-6);
}

#[test]
fn losing_every_path_heals_at_once_only_where_the_group_swaps() {
    let all = json!({
        "bgp": { "enabled": true, "update_rate": "20000/s", "remote_changes": 0 },
        "flap": { "count": 16, "interval": "0 s" }
    });
    let reprogram = run(with(busy(1000, "1 ms", 6000), all.clone()), 20);
    let swap = with(busy(1000, "1 ms", 6000), all);
    let swap = run(with(swap, json!({ "empty_next_hop_group": "swap_to_default_route" })), 20);
    assert!(reprogram.converged.iter().all(|converged| *converged));
    assert!(swap.converged.iter().all(|converged| *converged));
    assert!(
        swap.mean("packet_loss_duration") < 0.5 * reprogram.mean("packet_loss_duration"),
        "{} against {}",
        swap.mean("packet_loss_duration"),
        reprogram.mean("packet_loss_duration")
    );
    assert!(reprogram.mean("packet_loss_duration.route_programming") > 0.0);
}

#[test]
fn hashing_to_dead_members_loses_more_than_each_paths_own_share() {
    let flap = json!({ "flap": { "count": 14, "interval": "0 s", "first_at": "500 ms" } });
    let config = with(busy(1000, "1 ms", 60_000), flap);
    let own = run(config.clone(), 1);
    let all = run(with(config, json!({ "topology": { "rehash": "all_members" } })), 1);
    // Until the first heals at 2 s, 14 of 16 lose; then 13 of 15, 12 of 14, ... 1 of 3.
    let expected = 1.5 * 14.0 / 16.0
        + (1..14).map(|pruned| f64::from(14 - pruned) / f64::from(16 - pruned)).sum::<f64>();
    close(all.mean("packet_loss_duration"), expected, 1e-6);
    assert!(all.mean("packet_loss_duration") > own.mean("packet_loss_duration"));
}

#[test]
fn links_that_come_up_are_in_use_after_their_lag_pass() {
    let config = with(
        busy(1000, "1 ms", 60_000),
        json!({
            "flap": { "count": 3, "direction": "up", "interval": "0 s", "first_at": "500 ms" }
        }),
    );
    let runs = run(config, 1);
    close(runs.mean("packet_loss_duration"), 0.0, 1e-12);
    // Handled at 1, 2 and 3 s, in use one pass later.
    close(runs.mean("convergence_time"), 3.5, 1e-6);
}
