//! IPVS rate estimation: how the Linux kernel keeps the rates of virtual services up to date.
//!
//! Each service (and real server) has counters on every possible CPU and an estimator. An estimate
//! sums the counters, takes what was counted since the last one as the count of 2 s, and moves the
//! reported rate a quarter of the way towards it. With n estimators on c CPUs that is n * c cache
//! misses every 2 s, and the question is who pays for them and when.
//!
//! ```text
//!  service added          kthread 0                          kthread k = 0 .. 4 * CPUs - 1
//!  ------------> temp     every 40 ms, before its row:       50 rows (ticks of 40 ms) of 48 chains
//!                list ----> 16 at a time into a row ------->  | chain | chain | ...  row 0
//!                                                             | chain | ...          row 1
//!   drain -> sleep until the row is due -> estimate its chains -> next row -> drain ...
//!             |                              (rescheduling point after each chain)
//!             +- overdue: no sleep; more than 320 ms: give up the backlog
//! ```
//!
//! - **Old timer** (to Linux 6.1): one timer walks all estimators in softirq context every 2 s,
//!   and that CPU does nothing else meanwhile.
//! - **v1**, **v2** (lvs-devel, Aug to Sep 2022): kthreads with chains of fixed or CPU-dependent
//!   length; whoever adds a service links it.
//! - **final** (Linux 6.2 and later): kthread 0 first measures what an estimate costs and sets the
//!   chain length so that a chain takes 95 us and a full tick about 12 % of 40 ms. New estimators wait
//!   on its temporary list; over 4 kthreads for each allowed CPU they are not estimated at all.
//!
//! What a user most needs to know, each with a test:
//! - A low clock slows the calc phase, which runs from the cache, more than the estimates, which
//!   wait for memory. An idle CPU under ondemand so finds short chains: 8 instead of 22 on an EPYC.
//!   A governor changed afterwards leaves the chains and lengthens the ticks.
//! - The old timer's rates are too high by half its walk and the timer wheel's rounding; a kthread's
//!   only when its 50 rows take more than 2 s together. Single late rows are caught up with.
//! - In `final` a dearer estimate can make ticks *shorter*: the chain length is a whole number, and at
//!   47.5 us an estimate it falls from 2 to 1. It never makes kthreads fewer.
//! - A new est_cpulist keeps the delays of a kthread's estimators, but where several full kthreads
//!   are laid out anew, kthread 0 fills up with those that are due first and delays grow by up to
//!   a second or two: one wrong interval.
//!
//! Files: [`config`] (with `traffic`) what a user sets; `algorithm` what a preset amounts to; `chains`, `layout` and
//! `temp_list` where estimators are; `calc` and `calc_phase` the measuring; `kthread` (with `task`)
//! and `old_timer` the two ways of running; `services` and `workload` what comes and goes; `rates`
//! what is reported and `groups` of what; `prices`, `clock`, `host` what things cost, the kernel's time,
//! the CPUs; `observation`, `summary` and `metrics` (with `metrics_of_groups`) what is measured; `check`
//! and `effects` what cannot be run.
//!
//! Simplifications: the rates are floating-point, the order of the chain's members is not kept (a
//! followed estimator is read in the middle of its chain's time), a row of a stopped task is not
//! estimated at all, creation of a task takes no time but for `host.console_line`, a governor looks at
//! the load once per row, background tasks are spread at once and evenly, and v1's order of rows is
//! inferred (64 consecutive estimators to a row, then the next row).
//!
//! Sources: `net/netfilter/ipvs/ip_vs_est.c`, `ip_vs_ctl.c`, `include/net/ip_vs.h` of Linux 6.2 (commit
//! 705dd3444081); `Documentation/networking/ipvs-sysctl.rst`; lvs-devel, "ipvs: use kthreads for
//! stats estimation", v1 to v7 with the test reports between, Aug to Nov 2022.

mod algorithm;
mod calc;
mod calc_phase;
mod chains;
mod check;
mod clock;
pub mod component;
pub mod config;
mod effects;
mod groups;
mod host;
mod kthread;
mod layout;
#[cfg(test)]
mod layout_tests;
mod metrics;
mod metrics_of_groups;
mod observation;
mod old_timer;
mod open;
mod prices;
mod rates;
mod services;
mod summary;
mod task;
mod temp_list;
mod timeline;
mod traffic;
mod workload;

pub use component::{Event, IpvsEstimator};
pub use config::Config;

use super::model::{Finding, Metric, Model, SignalDefinition};
use crate::engine::{Engine, SimDuration, SimTime, Trace};

/// Output: a row was begun late.
const OUTPUT_LATE_TICK: u16 = 0;
/// Input: services are added.
const INPUT_ADD_SERVICES: u16 = 0;
/// Most services that one signal adds or deletes.
const MOST_PER_SIGNAL: u64 = 1_000_000;

impl Model for IpvsEstimator {
    type Config = Config;

    const NAME: &'static str = "ipvs_estimator";
    const SUMMARY: &'static str = "The IPVS rate estimator of the Linux kernel, from the old timer to the kthreads of 6.2: ticks, \
         CPU, and how soon and how well rates are reported.";
    const OUTPUTS: &'static [SignalDefinition] = &[SignalDefinition {
        name: "late_tick",
        summary: "A row is begun late; the value is by how many microseconds.",
    }];
    const INPUTS: &'static [SignalDefinition] = &[
        SignalDefinition {
            name: "add_services",
            summary: "Adds as many services as the value says, at most 1,000,000.",
        },
        SignalDefinition {
            name: "delete_services",
            summary: "Deletes as many services, chosen at random, as the value says, at most 1,000,000.",
        },
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
        if self.ended.is_some() {
            return;
        }
        self.sync(engine);
        let now = engine.now();
        for _ in 0..value.min(MOST_PER_SIGNAL) {
            if input == INPUT_ADD_SERVICES {
                self.add_service(engine, now);
            } else {
                self.delete_service(engine);
            }
        }
        self.host.arm(engine, Event::CpuDone);
    }

    fn converged(&self) -> bool {
        let not_estimated = !self.temp_list.is_empty();
        self.plan.is_done() && !not_estimated && self.rates.all_converged()
    }

    fn measure(&self, end: SimTime, figures: &mut [f64]) {
        metrics::measure(self, end, figures);
    }

    fn trace_open(&self, trace: &mut Trace, component: u16, end: SimTime) {
        self.record_open(trace, component, end);
    }
}
