//! What is still open when a traced run has ended.

use super::algorithm::ROWS;
use super::component::IpvsEstimator;
use super::task::State;
use super::timeline::{ESTIMATED, ESTIMATES, NOT_BEGUN, WALKS, lane_of, work_name};
use crate::engine::trace::{Chain, Lane, Link, Trace};
use crate::engine::{SimDuration, SimTime};
use crate::models::Model;

/// What one that was due has not come to, and where its time went so far.
type Outcome = (&'static str, Vec<(&'static str, SimDuration)>);

impl IpvsEstimator {
    /// Ends what is going on at `end`, unless the observation had ended before, and says what is
    /// left to do.
    pub(super) fn record_open(&self, trace: &mut Trace, component: u16, end: SimTime) {
        if self.ended.is_none() {
            self.record_open_work(trace, component, end);
        }
        if !self.converged() {
            let list = self.temp_list.len();
            trace.left(component, "estimators on the temporary list", list);
            let rates = self.rates.not_converged();
            trace.left(component, "services among those followed whose rate is not close", rates);
            let parts = u64::from(!self.plan.is_done());
            trace.left(component, "part or more of the schedule to come", parts);
        }
    }

    /// Ends at `end` what kthreads, or the old timer, are doing, and the wait of the rows that are
    /// due.
    pub(super) fn record_open_work(&self, trace: &mut Trace, component: u16, end: SimTime) {
        if let (Some(begin), Some(_)) = (self.softirq_began, self.softirq_time) {
            let lane = lane_of(component, 0);
            trace.open_span(lane, WALKS, (begin, end), 0);
            let outcome = ("not done", vec![("computing in softirq", end.since(begin))]);
            let name = ("walk over estimators:", self.layout.linked());
            chain(trace, (lane, lane), name, (begin, end), outcome);
        }
        let mut host = self.host.clone();
        for (slot, task) in self.tasks.iter().enumerate() {
            let kthread = lane_of(component, slot);
            let used = host.cancel(end, slot).unwrap_or_default();
            match task.state {
                State::Estimating(begin, time) => {
                    let value = (time.tick.as_nanos() / 1000) as i64;
                    trace.open_span(kthread, ESTIMATES, (begin, end), value);
                    let due = self.jiffies.start_of(task.est_timer);
                    if due < begin {
                        let used = [("computing", used.work), ("waiting for a core", used.waited)];
                        self.record_row(trace, slot, kthread, (due, begin, end), used);
                    }
                    self.record_overdue(trace, slot, kthread, 1, end);
                }
                State::Sleeping | State::Draining => {
                    self.record_overdue(trace, slot, kthread, 0, end);
                }
                _ => {}
            }
            if let Some(name) = work_name(task.state) {
                trace.open_span(kthread, name, (task.since, end), 0);
            }
        }
    }

    /// A late row that is being estimated since `begin`.
    fn record_row(
        &self,
        trace: &mut Trace,
        slot: usize,
        kthread: Lane,
        (due, begin, end): (SimTime, SimTime, SimTime),
        used: [(&'static str, SimDuration); 2],
    ) {
        let lane = Lane { lane: kthread.lane + 1, ..kthread };
        trace.span(lane, NOT_BEGUN, (due, begin), 0);
        trace.open_span(lane, ESTIMATED, (begin, end), 0);
        trace.links.push(Link { name: "estimated by", from: (lane, begin), to: (kthread, begin) });
        let row = self.layout.get(slot).map_or(0, |of| of.est_row);
        let mut parts = vec![("waiting for the kthread", begin.since(due))];
        parts.extend(used);
        let outcome = ("not estimated to its end", parts);
        chain(trace, (lane, kthread), ("row", row as u64), (due, end), outcome);
    }

    /// The rows that are due, from the one `first` after the row that the kthread is at.
    fn record_overdue(
        &self,
        trace: &mut Trace,
        slot: usize,
        kthread: Lane,
        first: usize,
        end: SimTime,
    ) {
        let (Some(of), task) = (self.layout.get(slot), &self.tasks[slot]) else { return };
        let lane = Lane { lane: kthread.lane + 1, ..kthread };
        for after in first..ROWS {
            let due = self.jiffies.start_of(task.est_timer + after as i64 * self.tick());
            if due >= end {
                return;
            }
            let row = (of.est_row + after) % ROWS;
            if of.tick_len(row) > 0 {
                trace.open_span(lane, NOT_BEGUN, (due, end), 0);
                let outcome = ("not begun", vec![("waiting for the kthread", end.since(due))]);
                chain(trace, (lane, kthread), ("row", row as u64), (due, end), outcome);
            }
        }
    }
}

/// What has no outcome yet.
fn chain(
    trace: &mut Trace,
    (lane, server): (Lane, Lane),
    (name, number): (&'static str, u64),
    (start, end): (SimTime, SimTime),
    (outcome, parts): Outcome,
) {
    let (open, server) = (true, Some(server));
    trace.chains.push(Chain { lane, name, number, start, end, outcome, open, server, parts });
}
