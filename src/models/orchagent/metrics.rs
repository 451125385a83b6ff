//! What is measured.

use super::component::Orchagent;
use super::config::Mode;
use super::traffic::STAGES;
use crate::engine::{SimDuration, SimTime};
use crate::models::model::{Metric, Unit, WhenCut};

const PLD: &str = "packet_loss_duration";

/// The figures of a replication, in the order in which [`write`] fills them.
pub const METRICS: &[Metric] = &[
    Metric::headline(
        PLD,
        Unit::Seconds,
        "Packets lost over the packet rate before the flap: the traffic-weighted mean outage over all paths (sonic-mgmt:tests/snappi_tests/bgp).",
    ).final_with("convergence_time").growing(WhenCut::Grows),
    Metric::part(
        "packet_loss_duration.publication",
        PLD,
        Unit::Seconds,
        "Until syncd, busy with a bulk, publishes the link event.",
    ).final_with("convergence_time"),
    Metric::part(
        "packet_loss_duration.residual_batch",
        PLD,
        Unit::Seconds,
        "Until the loop iteration ends that was running when the notification came in.",
    ).final_with("convergence_time"),
    Metric::part(
        "packet_loss_duration.notification_queue",
        PLD,
        Unit::Seconds,
        "In PortsOrch's notification queue, behind other notifications and the route batches between them.",
    ).final_with("convergence_time"),
    Metric::part(
        "packet_loss_duration.notification_pass",
        PLD,
        Unit::Seconds,
        "In the pass that handles the notification.",
    ).final_with("convergence_time"),
    Metric::part(
        "packet_loss_duration.teamd",
        PLD,
        Unit::Seconds,
        "teamd's and teamsyncd's reaction to the carrier.",
    ).final_with("convergence_time"),
    Metric::part(
        "packet_loss_duration.lag_pass",
        PLD,
        Unit::Seconds,
        "Waiting for the LAG_TABLE pass, usually one route batch.",
    ).final_with("convergence_time"),
    Metric::part(
        "packet_loss_duration.pruning",
        PLD,
        Unit::Seconds,
        "Removing the next hop from the next-hop groups.",
    ).final_with("convergence_time"),
    Metric::part(
        "packet_loss_duration.route_programming",
        PLD,
        Unit::Seconds,
        "Until routes whose group is empty have been programmed again.",
    ).final_with("convergence_time"),
    Metric::part(
        "packet_loss_duration.bgp",
        PLD,
        Unit::Seconds,
        "Until FRR knows that the last path of a group is gone.",
    ).final_with("convergence_time"),
    Metric::headline(
        "convergence_time",
        Unit::Seconds,
        "From the first flap until nothing is lost any more and every living path is in use.",
    ).final_with("convergence_time").growing(WhenCut::GrowsSince("first_change")),
    Metric::headline(
        "route_programming_time",
        Unit::Seconds,
        "What programming every route of the table once takes at the measured pace: routes times the time in route passes over the routes programmed.",
    ),
    Metric::detail(
        "route_churn_time",
        Unit::Seconds,
        "From the first route update until the last one is programmed; later flaps make FRR write routes again that had been programmed.",
    ).growing(WhenCut::Grows),
    Metric::detail("route_rate", Unit::PerSecond, "Routes programmed over route_churn_time."),
    Metric::detail(
        "route_operations",
        Unit::Count,
        "Routes programmed, each time it was programmed.",
    ).growing(WhenCut::Grows),
    Metric::detail("path_outage.mean", Unit::Seconds, "Mean outage of the paths that had one.").final_with("convergence_time"),
    Metric::detail("path_outage.p50", Unit::Seconds, "Median outage of those paths.").final_with("convergence_time"),
    Metric::detail("path_outage.p95", Unit::Seconds, "95th percentile of their outages.").final_with("convergence_time"),
    Metric::detail("path_outage.max", Unit::Seconds, "The longest outage of a path.").final_with("convergence_time").growing(WhenCut::Grows),
    Metric::detail(
        "notification_wait.mean",
        Unit::Seconds,
        "Mean time from a link event until its notification has been handled.",
    ),
    Metric::detail("notification_wait.p50", Unit::Seconds, "Median of that time."),
    Metric::detail("notification_wait.p95", Unit::Seconds, "95th percentile of that time."),
    Metric::detail("notification_wait.p99", Unit::Seconds, "99th percentile of that time."),
    Metric::detail("notification_wait.max", Unit::Seconds, "The longest such time.").growing(WhenCut::Grows),
    Metric::detail(
        "notification_wait.first",
        Unit::Seconds,
        "That time for the notification handled first.",
    ),
    Metric::detail(
        "notification_wait.last",
        Unit::Seconds,
        "That time for the notification handled last.",
    ),
    Metric::detail(
        "notification_gap",
        Unit::Seconds,
        "Mean time from one notification handled to the next.",
    ),
    Metric::detail(
        "route_batch_time",
        Unit::Seconds,
        "b: mean time of a route pass that popped exactly pop_batch_size keys.",
    ),
    Metric::detail(
        "first_change",
        Unit::Seconds,
        "From the start of the replication until the first link changes.",
    ).final_with("first_change"),
    Metric::detail(
        "flap_spread",
        Unit::Seconds,
        "S: from the first change of a link to the last one.",
    ).growing(WhenCut::Grows),
    Metric::detail(
        "churn_delay",
        Unit::Seconds,
        "T0: from the first change of a link until FRR writes the first route.",
    ),
    Metric::detail("loop_iterations", Unit::Count, "Iterations of the main loop.").growing(WhenCut::Grows),
    Metric::detail("route_batches", Unit::Count, "Passes that popped routes.").growing(WhenCut::Grows),
    Metric::detail(
        "empty_pops",
        Unit::Count,
        "Passes of the route executor that found no key: one PUBLISH a key, many keys a pop.",
    ).growing(WhenCut::Grows),
    Metric::detail("longest_pass", Unit::Seconds, "The longest iteration of the main loop.").growing(WhenCut::Grows),
    Metric::detail(
        "longest_pop",
        Unit::Seconds,
        "The longest run of the Lua script that pops routes: Redis serves no one else meanwhile.",
    ).growing(WhenCut::Grows),
    Metric::detail("most_next_hop_groups", Unit::Count, "Most next-hop groups in use at one time.").growing(WhenCut::Grows),
    Metric::detail(
        "longest_syncd_backlog",
        Unit::Seconds,
        "Async: the longest that a request sent then would have waited for syncd.",
    ).growing(WhenCut::Grows),
];

/// Writes the figures of the run that ended at `end`.
pub fn write(model: &Orchagent, end: SimTime, figures: &mut [f64]) {
    let mut traffic = model.traffic.clone();
    traffic.advance(end);
    let measures = &model.measures;
    let loss: f64 = traffic.parts().iter().sum();
    // While flaps are to come it is not known when it will be.
    let settled = measures.settled.filter(|_| measures.is_settled && model.flaps.is_over());
    let programmed = measures.routes_programmed as f64;
    let pass_time = match model.config.mode {
        Mode::Async => measures.route_pass_time.max(measures.syncd_route_time),
        Mode::Sync | Mode::ZmqSync => measures.route_pass_time,
    };
    let churn_time = span(measures.churn_started, measures.last_programmed);
    let mut outages: Vec<f64> = traffic.outages().iter().copied().filter(|o| *o > 0.0).collect();
    outages.sort_unstable_by(f64::total_cmp);
    let mut waits: Vec<f64> = measures.waits.iter().map(|wait| wait.as_seconds()).collect();
    waits.sort_unstable_by(f64::total_cmp);
    let wait_at = |wait: Option<&SimDuration>| wait.map_or(f64::NAN, |wait| wait.as_seconds());
    let gaps = measures.waits.len().saturating_sub(1);
    let gap = match (measures.first_handled, measures.last_handled) {
        (Some(first), Some(last)) if gaps > 0 => last.since(first).as_seconds() / gaps as f64,
        _ => f64::NAN,
    };

    let mut values = Vec::with_capacity(METRICS.len());
    values.push(loss);
    values.extend(STAGES.iter().zip(traffic.parts()).map(|(_, part)| *part));
    values.extend([
        span(measures.first_change, settled),
        ratio(f64::from(model.table.routes()) * pass_time, programmed),
        churn_time,
        ratio(programmed, churn_time),
        programmed,
        mean(&outages),
        quantile(&outages, 0.5),
        quantile(&outages, 0.95),
        quantile(&outages, 1.0),
        mean(&waits),
        quantile(&waits, 0.5),
        quantile(&waits, 0.95),
        quantile(&waits, 0.99),
        quantile(&waits, 1.0),
        wait_at(measures.waits.first()),
        wait_at(measures.waits.last()),
        gap,
        ratio(measures.full_pass_time, measures.full_passes as f64),
        measures.first_change.map_or(f64::NAN, SimTime::as_seconds),
        span(measures.first_change, measures.last_change),
        span(measures.first_change, measures.churn_started),
        measures.iterations as f64,
        measures.batches as f64,
        measures.empty_pops as f64,
        measures.longest_pass.as_seconds(),
        measures.longest_pop.as_seconds(),
        measures.most_groups as f64,
        model.syncd.longest_backlog.as_seconds(),
    ]);
    debug_assert_eq!(values.len(), METRICS.len());
    figures.copy_from_slice(&values);
}

/// Seconds from one instant to another, or NaN when either did not come.
fn span(from: Option<SimTime>, to: Option<SimTime>) -> f64 {
    match (from, to) {
        (Some(from), Some(to)) => to.since(from).as_seconds(),
        _ => f64::NAN,
    }
}

/// `a / b`, or NaN when there is nothing to divide by.
fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { f64::NAN }
}

fn mean(sorted: &[f64]) -> f64 {
    ratio(sorted.iter().sum(), sorted.len() as f64)
}

/// The smallest value that at least the share `p` of the sorted values do not exceed.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let rank = (p * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}
