//! What is measured.

use hdrhistogram::Histogram;

use super::super::model::{Metric, Unit, WhenCut};
use crate::engine::SimDuration;
use crate::resources::Attribution;

const S: Unit = Unit::Seconds;
const N: Unit = Unit::Count;

/// The figures, in the order of `L3Agent::measure`.
pub const METRICS: &[Metric] = &[
    Metric::headline(
        "convergence_time",
        S,
        "Until all ARP entries are in place and nothing is left to do; for a command list until the last has ended.",
    ).final_with("convergence_time").growing(WhenCut::Grows),
    Metric::part(
        "convergence_time.asked",
        "convergence_time",
        S,
        "Until the router that was ready last was put into the queue: full sync, its timeouts, arrivals.",
    ),
    Metric::part("convergence_time.queue", "convergence_time", S, "That router in the queue."),
    Metric::part(
        "convergence_time.rpc",
        "convergence_time",
        S,
        "That router: calls to the server, with the sleep after a timeout.",
    ),
    Metric::part(
        "convergence_time.agent",
        "convergence_time",
        S,
        "That router: python work of the agent, with the wait for its interpreter.",
    ),
    Metric::part(
        "convergence_time.lock",
        "convergence_time",
        S,
        "That router: waiting for the lock of the rootwrap daemon or privsep.",
    ),
    Metric::part(
        "convergence_time.spawn_cpu",
        "convergence_time",
        S,
        "That router: commands and privsep calls computing.",
    ),
    Metric::part(
        "convergence_time.cpu_wait",
        "convergence_time",
        S,
        "That router: ready to compute while others had the cores.",
    ),
    Metric::part(
        "convergence_time.spawn_blocked",
        "convergence_time",
        S,
        "That router: commands blocked in the kernel.",
    ),
    Metric::part(
        "convergence_time.wait",
        "convergence_time",
        S,
        "That router: other waits of the workload.",
    ),
    Metric::headline(
        "router_time.mean",
        S,
        "From putting a router into the queue until it is processed, mean.",
    ),
    Metric::part("router_time.mean.queue", "router_time.mean", S, "Waiting for a worker."),
    Metric::part(
        "router_time.mean.rpc",
        "router_time.mean",
        S,
        "Calls to the server, with the sleep after a timeout.",
    ),
    Metric::part(
        "router_time.mean.agent",
        "router_time.mean",
        S,
        "Python work of the agent, with the wait for its interpreter.",
    ),
    Metric::part(
        "router_time.mean.lock",
        "router_time.mean",
        S,
        "Waiting for the lock of the rootwrap daemon or privsep.",
    ),
    Metric::part(
        "router_time.mean.spawn_cpu",
        "router_time.mean",
        S,
        "Commands and privsep calls computing.",
    ),
    Metric::part(
        "router_time.mean.cpu_wait",
        "router_time.mean",
        S,
        "Ready to compute while others had the cores.",
    ),
    Metric::part(
        "router_time.mean.spawn_blocked",
        "router_time.mean",
        S,
        "Commands blocked in the kernel.",
    ),
    Metric::part("router_time.mean.wait", "router_time.mean", S, "Other waits of the workload."),
    Metric::detail("router_time.p50", S, "The same, p50."),
    Metric::detail("router_time.p95", S, "The same, p95."),
    Metric::detail("router_time.p99", S, "The same, p99."),
    Metric::detail("router_time.max", S, "The same, max.").growing(WhenCut::Grows),
    Metric::detail(
        "worker_time",
        S,
        "Time of all workers with a router, or of all lanes of a command list, summed.",
    ).growing(WhenCut::Grows),
    Metric::part(
        "worker_time.rpc",
        "worker_time",
        S,
        "Calls to the server, with the sleep after a timeout.",
    ),
    Metric::part(
        "worker_time.agent",
        "worker_time",
        S,
        "Python work of the agent, with the wait for its interpreter.",
    ),
    Metric::part(
        "worker_time.lock",
        "worker_time",
        S,
        "Waiting for the lock of the rootwrap daemon or privsep.",
    ),
    Metric::part(
        "worker_time.spawn_cpu",
        "worker_time",
        S,
        "Commands and privsep calls computing.",
    ),
    Metric::part(
        "worker_time.cpu_wait",
        "worker_time",
        S,
        "Ready to compute while others had the cores.",
    ),
    Metric::part("worker_time.spawn_blocked", "worker_time", S, "Commands blocked in the kernel."),
    Metric::part("worker_time.wait", "worker_time", S, "Other waits of the workload."),
    Metric::detail("queue_wait.mean", S, "In the router queue, mean."),
    Metric::detail("queue_wait.p95", S, "The same, p95."),
    Metric::detail("queue_wait.max", S, "The same, greatest.").growing(WhenCut::Grows),
    Metric::detail("spawns", N, "Processes spawned by the agent.").growing(WhenCut::Grows),
    Metric::detail("privsep_calls", N, "Calls to privsep.").growing(WhenCut::Grows),
    Metric::detail("arp_entries", N, "ARP entries written, repetitions counted.").growing(WhenCut::Grows),
    Metric::headline("cpu_time", S, "Core-seconds used on the host.").growing(WhenCut::Grows),
    Metric::detail("cpu_utilisation", Unit::Share, "Share of the cores in use until convergence."),
    Metric::detail("rpc_calls", N, "Calls to the server, reports not counted.").growing(WhenCut::Grows),
    Metric::detail("rpc_timeouts", N, "Of them, those that timed out.").growing(WhenCut::Grows),
    Metric::headline("rpc_timeout_rate", Unit::Share, "Share of the calls that timed out."),
    Metric::detail("sync_time", S, "Until a full sync had been answered completely.").growing(WhenCut::GrowsFromStart),
    Metric::detail("full_syncs", N, "Full syncs begun.").growing(WhenCut::Grows),
    Metric::detail("full_sync_timeouts", N, "Full syncs ended by a timeout.").growing(WhenCut::Grows),
    Metric::detail("sync_chunk", N, "Routers in a chunk at the end.").more_is_better(),
    Metric::detail("updates_added", N, "Updates put into the queue.").growing(WhenCut::Grows),
    Metric::detail("updates_processed", N, "Updates processed.").growing(WhenCut::Grows).more_is_better(),
    Metric::detail("updates_failed", N, "Updates whose processing failed.").growing(WhenCut::Grows),
    Metric::detail("updates_dropped", N, "Updates dropped as stale.").growing(WhenCut::Grows),
    Metric::detail(
        "updates_given_up",
        N,
        "Updates given up after all tries, out of the failed ones.",
    ).growing(WhenCut::Grows),
    Metric::detail("updates_waiting", N, "Updates still waiting or in process at the end."),
    Metric::detail("heartbeats", N, "Reports received by the server.").growing(WhenCut::Grows).more_is_better(),
    Metric::detail(
        "heartbeat_misses",
        N,
        "Reports that were due and did not come in their interval.",
    ).growing(WhenCut::Grows),
    Metric::detail("heartbeat_timeouts", N, "Report calls that were not answered in time.").growing(WhenCut::Grows),
    Metric::detail("heartbeat_gap.max", S, "Longest time between two reports.").growing(WhenCut::Grows),
    Metric::headline(
        "seen_dead",
        Unit::Probability,
        "1 when the agent was without a report for agent_down_time, else 0; the mean over replications is the probability.",
    ).growing(WhenCut::Grows),
    Metric::detail("rescheduled_routers", N, "Routers that the server moved to other agents.").growing(WhenCut::Grows),
    Metric::detail("vm_boots", N, "VMs booted.").growing(WhenCut::Grows),
    Metric::detail("vm_timeouts", N, "VMs that gave up on metadata.").growing(WhenCut::Grows),
    Metric::headline("vm_timeout_rate", Unit::Share, "Share of the VMs that gave up on metadata."),
    Metric::detail("vm_wait.mean", S, "From a boot until its router is ready, mean."),
    Metric::detail("vm_wait.p50", S, "From a boot until its router is ready, p50."),
    Metric::detail("vm_wait.p95", S, "From a boot until its router is ready, p95."),
    Metric::detail("vm_wait.max", S, "From a boot until its router is ready, max.").growing(WhenCut::Grows),
    Metric::detail("port_updates", N, "Port updates for a router of this agent.").growing(WhenCut::Grows),
    Metric::detail("port_updates_ignored", N, "Port updates for routers elsewhere.").growing(WhenCut::Grows),
    Metric::detail(
        "port_updates_cached",
        N,
        "Port updates that waited for their router to be ready.",
    ).growing(WhenCut::Grows),
    Metric::detail(
        "port_update_time.mean",
        S,
        "From a port update until its entry is in place, mean.",
    ),
    Metric::detail(
        "port_update_time.p95",
        S,
        "From a port update until its entry is in place, p95.",
    ),
    Metric::detail(
        "port_update_time.max",
        S,
        "From a port update until its entry is in place, max.",
    ).growing(WhenCut::Grows),
];

/// Where the time of a worker went while it had a router, or of a command list's lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Calls to the server, with the sleep after a timeout.
    pub rpc: SimDuration,
    /// On the host.
    pub host: Attribution,
}

impl Account {
    /// Adds all parts of `other`.
    pub fn add(&mut self, other: &Self) {
        self.rpc = self.rpc.saturating_add(other.rpc);
        self.host.add(&other.host);
    }

    /// Seconds of: calls, the agent's own computing and its wait for the interpreter, the
    /// daemon's lock, the commands' computing, the cores being busy, commands being blocked,
    /// other waits.
    #[must_use]
    pub fn seconds(&self) -> [f64; 7] {
        let host = &self.host;
        [
            self.rpc.as_seconds(),
            host.cpu.as_seconds() + host.interpreter_wait.as_seconds(),
            host.lock_wait.as_seconds(),
            host.spawn_cpu.as_seconds(),
            host.cpu_wait.as_seconds(),
            host.spawn_blocked.as_seconds(),
            host.wait.as_seconds() + host.pool_wait.as_seconds() + host.join_wait.as_seconds(),
        ]
    }
}

/// A distribution of durations with its exact mean.
#[derive(Debug)]
pub struct Durations {
    /// In microseconds, three digits.
    histogram: Histogram<u64>,
    sum: f64,
    greatest: SimDuration,
}

fn new_histogram() -> Histogram<u64> {
    // It fails only for bounds or digits out of range, which these constants are not.
    Histogram::new_with_bounds(1, LONGEST, 3).expect("constant bounds are valid")
}

/// Microseconds of 36 hours: what is longer counts as that in quantiles.
const LONGEST: u64 = 36 * 3_600 * 1_000_000;

impl Durations {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { histogram: new_histogram(), sum: 0.0, greatest: SimDuration::ZERO }
    }

    /// Nothing again; keeps the memory.
    pub fn reset(&mut self) {
        self.histogram.reset();
        self.sum = 0.0;
        self.greatest = SimDuration::ZERO;
    }

    /// Adds a value.
    pub fn record(&mut self, value: SimDuration) {
        self.histogram.saturating_record((value.as_nanos() / 1_000).max(1));
        self.sum += value.as_seconds();
        self.greatest = self.greatest.max(value);
    }

    /// How many.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The mean in seconds; NaN without values.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sum / self.count() as f64
    }

    /// A quantile in seconds; NaN without values.
    #[must_use]
    pub fn quantile(&self, share: f64) -> f64 {
        if self.count() == 0 {
            return f64::NAN;
        }
        self.histogram.value_at_quantile(share) as f64 / 1e6
    }

    /// The greatest in seconds; NaN without values.
    #[must_use]
    pub fn greatest(&self) -> f64 {
        if self.count() == 0 { f64::NAN } else { self.greatest.as_seconds() }
    }
}
