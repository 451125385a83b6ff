//! SONiC orchagent over SAI: how long a link event waits behind route batches.
//!
//! ```text
//!  flap ──► syncd ──► notification queue ─┐            ┌─► HOSTIF set ─► carrier ─► teamd ─┐
//!           (mutex:                       ▼            │    (pass 1)                       │
//!            a bulk                 ┌───────────┐      │                                   ▼
//!            delays it)  ROUTE ───► │ main loop │ ─────┤                               LAG_TABLE
//!                        TABLE      └───────────┘      │                                   │
//!                          ▲         one executor      └─► prune next hop ◄── pass 2 ◄─────┘
//!                          │         per iteration          (traffic heals)
//!                      fpmsyncd ◄── FRR ◄── kernel link down
//! ```
//!
//! orchagent's main loop serves one ready executor per iteration, never preempted. The declared
//! priorities are without effect, so the least recently used one is next. While routes are being
//! reprogrammed, ROUTE_TABLE is always ready, and until April 2025 the port executor handled one
//! notification per pass: N queued link events cost N route batches, one after the other, and one
//! more until the LAG_TABLE pass that removes the next hop. The wait is proportional to the batch;
//! the time to program all routes is not (sonic-buildimage PR 21771, swss #3595).
//!
//! What is followed exactly: the iteration (pop, phases 1 to 3 of RouteOrch, bulk calls, sweep),
//! the key set with coalescing and random pops, publication behind syncd's current bulk, eras,
//! modes and the ring, FRR's wave of updates, the next-hop groups alive during churn, and the
//! traffic lost on each path at each instant. What is not: the order of keys within one batch
//! (it only decides which of its two bulk calls a route is in), CRM polling, the API mutex
//! between the ring thread and the main thread, and, in async mode, syncd's time for removing
//! next-hop groups that have lost their last route.
//!
//! - `config`: what a user sets, with sources; `era`: presets of swss behaviour.
//! - `component`: state and events; `flaps`: which link changes when.
//! - `main_loop`: select, executors, the sweep; `executors`: who is next; `ring`: the ring thread.
//! - `programmer`: one batch from parsing to publishing; `route_table`, `bgp_scan`: what waits,
//!   what is programmed, what FRR writes.
//! - `link_path`, `syncd`: from the notification to the ASIC.
//! - `traffic`: the loss and what it is due to; `metrics`, `measures`: what is reported;
//!   `timeline`: what a traced run records.

mod bgp_scan;
mod component;
pub mod config;
pub mod era;
mod executors;
mod flaps;
mod link_path;
mod link_set;
mod main_loop;
mod measures;
mod metrics;
mod open;
mod programmer;
mod ring;
mod route_table;
mod service;
mod syncd;
mod timeline;
mod traffic;

pub use component::{Event, Orchagent};
pub use config::Config;

use crate::engine::{Engine, SimTime, Trace};
use crate::models::model::{Finding, Metric, Model, SignalDefinition};
use config::{LinkKind, MAX_LINKS};

/// Most changes that FRR's state of the paths can go through in one replication.
const MAX_CHANGES: u64 = 60_000;
/// Most messages in the notification queue over one replication.
const MAX_MESSAGES: u64 = 1_000_000;

impl Model for Orchagent {
    type Config = Config;

    const NAME: &'static str = "orchagent";
    const SUMMARY: &'static str =
        "SONiC orchagent over SAI: link events and route programming share one loop";
    const OUTPUTS: &'static [SignalDefinition] = &[SignalDefinition {
        name: "settled",
        summary: "Nothing is lost any more and every living path is in use; the value is the path changed last.",
    }];
    const INPUTS: &'static [SignalDefinition] = &[
        SignalDefinition {
            name: "link_down",
            summary: "The link whose number is the value (modulo the number of paths) goes down.",
        },
        SignalDefinition {
            name: "link_up",
            summary: "The link whose number is the value (modulo the number of paths) comes up.",
        },
    ];
    const METRICS: &'static [Metric] = metrics::METRICS;

    fn check(config: &Config) -> Vec<Finding> {
        check_topology(config).into_iter().chain(check_flap(config)).collect()
    }

    fn new(name: &str, config: Config) -> Self {
        Self::build(name, config)
    }

    fn receive<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, input: u16, value: u64) {
        let link = (value % u64::from(self.config.topology.paths)) as u16;
        self.change_link(engine, link, input == component::INPUT_LINK_UP);
        self.record(engine);
    }

    fn converged(&self) -> bool {
        let programs_routes = self.table.has_work() || self.programmer.is_busy();
        self.flaps.is_over() && self.traffic.is_settled() && !programs_routes
    }

    fn measure(&self, end: SimTime, figures: &mut [f64]) {
        metrics::write(self, end, figures);
    }

    fn trace_open(&self, trace: &mut Trace, component: u16, end: SimTime) {
        self.record_open(trace, component, end);
    }
}

fn check_topology(config: &Config) -> Vec<Finding> {
    let topology = &config.topology;
    let mut findings = Vec::new();
    if topology.paths > MAX_LINKS {
        findings.push(Finding::error(
            "topology.paths",
            format!("{} paths", topology.paths),
            format!("at most {MAX_LINKS}"),
        ));
    }
    if topology.initial_backlog > topology.routes {
        findings.push(Finding::error(
            "topology.initial_backlog",
            format!("{} routes wait of {} in all", topology.initial_backlog, topology.routes),
            "at most topology.routes",
        ));
    }
    if config.ring.enabled && config.ring.poll_interval.is_zero() {
        findings.push(Finding::error(
            "ring.poll_interval",
            "0 s: the consumer would look again at one instant for ever",
            "above 0 s; swss sleeps 500 ms",
        ));
    }
    if topology.link == LinkKind::RoutedPort && topology.members > 1 {
        findings.push(Finding::error(
            "topology.members",
            format!("{} members of a routed port", topology.members),
            "1, or topology.link \"port_channel\"",
        ));
    }
    findings
}

fn check_flap(config: &Config) -> Vec<Finding> {
    let (flap, topology) = (&config.flap, &config.topology);
    let mut findings = Vec::new();
    if flap.count > topology.paths {
        findings.push(Finding::error(
            "flap.count",
            format!("{} of {} paths flap", flap.count, topology.paths),
            "at most topology.paths",
        ));
    }
    if flap.members.is_some_and(|members| members > topology.members) {
        findings.push(Finding::error(
            "flap.members",
            format!("{} of {} members go down", flap.members.unwrap_or(0), topology.members),
            "at most topology.members",
        ));
    }
    if flap.repeat > 1 && flap.return_after.is_none() {
        findings.push(Finding::error(
            "flap.repeat",
            format!("{} flaps of a link that does not return", flap.repeat),
            "1, or set flap.return_after",
        ));
    }
    let changes =
        u64::from(flap.count) * u64::from(flap.repeat) * 2 + u64::from(config.bgp.remote_changes);
    if changes > MAX_CHANGES {
        findings.push(Finding::error(
            "flap.repeat",
            format!("{changes} changes that make FRR write every route"),
            format!("at most {MAX_CHANGES}: flap.count x flap.repeat x 2 + bgp.remote_changes"),
        ));
    }
    if changes * u64::from(flap.messages) > MAX_MESSAGES {
        findings.push(Finding::error(
            "flap.messages",
            format!("{} messages in one replication", changes * u64::from(flap.messages)),
            format!(
                "at most {MAX_MESSAGES}: flap.count times flap.repeat times 2 times flap.messages"
            ),
        ));
    }
    let all_down = flap.count == topology.paths && flap.return_after.is_none();
    if all_down && !topology.backup_route && flap.direction == config::Direction::Down {
        findings.push(Finding::warning(
            "topology.backup_route",
            "every path goes down for good and no other route covers the traffic: it never converges",
            "leave a path up, set flap.return_after, or set topology.backup_route",
        ));
    }
    findings
}
