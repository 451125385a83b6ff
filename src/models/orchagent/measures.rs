//! What is counted while the model runs.

use crate::engine::{SimDuration, SimTime};

/// Counters and instants of one replication.
#[derive(Debug, Default)]
pub struct Measures {
    pub first_change: Option<SimTime>,
    pub last_change: Option<SimTime>,
    pub settled: Option<SimTime>,
    pub is_settled: bool,
    pub churn_started: Option<SimTime>,
    pub last_programmed: Option<SimTime>,
    pub routes_programmed: u64,
    /// Seconds in passes of the route executor.
    pub route_pass_time: f64,
    /// Async: seconds in which syncd served route bulks.
    pub syncd_route_time: f64,
    /// Seconds in passes that popped a whole batch, and how many.
    pub full_pass_time: f64,
    pub full_passes: u64,
    pub iterations: u64,
    pub batches: u64,
    pub empty_pops: u64,
    pub longest_pass: SimDuration,
    pub longest_pop: SimDuration,
    pub most_groups: u64,
    /// From each link event until its notification had been handled, in order of handling.
    pub waits: Vec<SimDuration>,
    pub first_handled: Option<SimTime>,
    pub last_handled: Option<SimTime>,
}

impl Measures {
    pub fn reset(&mut self) {
        let mut waits = std::mem::take(&mut self.waits);
        waits.clear();
        *self = Self { waits, is_settled: true, ..Self::default() };
    }

    pub fn handled(&mut self, now: SimTime, raised: SimTime) {
        self.waits.push(now.since(raised));
        self.first_handled.get_or_insert(now);
        self.last_handled = Some(now);
    }
}
