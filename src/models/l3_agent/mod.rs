//! Neutron's L3 agent and the commands that it spawns.
//!
//! With distributed routers (DVR) the agent writes an ARP entry for every port of every subnet of
//! a router, and used to spawn one or two privileged commands for each. Launchpad bug 1511134
//! measured 51 of them at 2.437 s and the same 51 lines in one `ip -batch` at 0.046 s. This model
//! says what that does to an agent: how long until all entries are in place, how many calls and
//! heartbeats time out meanwhile, how many VMs give up waiting for their router.
//!
//! ```text
//!  server                     agent                                       host
//!  ------                     -----                                       ----
//!  [workers] <-- calls --- full sync (chunks) --+
//!      |                                        v
//!      +--- router updates ------------> [router queue] -> workers -> commands ---> [cores]
//!      |                                   by priority     (one per     |  lock of     ^
//!      +--- port updates (to all) ---> dispatcher threads   router)     |  the daemon  |
//!      |                                        |                       +--- blocked --+
//!      +<-- reports every 30 s ---- interpreter-+
//! ```
//!
//! - [`costs`]: a command as CPU work and blocked time, by host, helper and program.
//! - `era`: what each Neutron release does.
//! - `queue`: the router queue; `workers`: what is done for a router.
//! - `sync`, `liveness`: full sync, heartbeats; `rpc`: the server and timeouts.
//! - `workload_state`: port updates, router updates, VM boots; `lanes`: commands by themselves, and
//!   `real_time`: several of them at once at real-time priority.
//! - [`config`], [`workload`]: what a user sets; `metrics`: what is measured.
//!
//! A loop of more than 32 entries runs several entries as one step (`program`). The cores
//! are shared by processor sharing; a worker's commands hold no core while they are blocked.
//!
//! # What a user should know
//!
//! - More workers help only while commands are blocked or calls are waited for. On a host whose
//!   cores are busy with commands 32 workers are as slow as 8, and a rootwrap daemon lets one
//!   command through at a time whatever the workers and cores.
//! - A daemon's command and the privsep calls of other workers hold each other up: with 32 workers of
//!   `master` on two cores a resync takes a quarter longer than either the lock or the cores
//!   alone would make it (`scenarios/l3-agent-restart.json`).
//! - Costs without any variation (`host.variation` 0) keep workers in step: they compute together
//!   and are blocked together, which real commands never do for long. The default is 0.15.
//! - The measured commands ran at real-time priority, which makes two at once slower than at normal
//!   priority: `real_time` says why. `commands.real_time` switches it off; an agent is without it.
//! - The server's costs are not published: `server` states the range of each.
//!
//! A stall (`liveness.stall`) is elapsed time in which the agent's process stands still: commands
//! under way end, answers and casts that come wait. What is left out of it: a call whose answer
//! comes during a stall longer than its timeout counts as answered.
//!
//! Left out: HA routers, SNAT ports and allowed address pairs (count them as ports), the start of
//! the rootwrap daemon (100 ms once) and of privsep, deletions, and the agent's work for casts
//! that it ignores.

mod check;
mod check_commands;
mod component;

pub mod config;
pub mod costs;
mod era;
mod lanes;
mod liveness;
mod measure;
mod metrics;
mod open;
mod program;
mod queue;
mod real_time;
mod rpc;
mod settings;
mod sync;
mod timeline;
mod workers;
pub mod workload;
mod workload_state;

pub use component::{Event, L3Agent};
pub use config::Config;

use super::model::{Finding, Metric, Model, SignalDefinition};
use crate::engine::{Engine, SimDuration, SimTime, Trace};

impl Model for L3Agent {
    type Config = Config;
    const NAME: &'static str = "l3_agent";
    const SUMMARY: &'static str =
        "Neutron's L3 agent: routers, ARP entries and the commands it spawns for them";
    const OUTPUTS: &'static [SignalDefinition] = &[];
    const INPUTS: &'static [SignalDefinition] = &[
        SignalDefinition {
            name: "router_update",
            summary: "A notification for the router whose number is the value, modulo the routers",
        },
        SignalDefinition { name: "full_sync", summary: "The agent syncs all routers again" },
    ];
    const METRICS: &'static [Metric] = metrics::METRICS;

    fn check(config: &Config) -> Vec<Finding> {
        check::check(config)
    }

    fn check_horizon(config: &Config, horizon: SimDuration) -> Vec<Finding> {
        check::check_horizon(config, horizon)
    }

    fn new(name: &str, config: Config) -> Self {
        Self::build(name, config)
    }

    fn receive<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, input: u16, value: u64) {
        self.signalled(engine, input, value);
    }

    fn converged(&self) -> bool {
        match self.settings.commands {
            Some(_) => self.lanes.is_done(),
            None => self.finished && self.figures.given_up == 0,
        }
    }

    fn measure(&self, end: SimTime, figures: &mut [f64]) {
        self.write_figures(end, figures);
    }

    fn trace_open(&self, trace: &mut Trace, component: u16, end: SimTime) {
        self.record_open(trace, component, end);
    }
}
