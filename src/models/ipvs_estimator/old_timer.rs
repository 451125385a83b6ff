//! The old timer: all estimators in one softirq, on one CPU.
//!
//! It sets itself again for 2 s after the walk is done, so the period is 2 s plus the walk plus the
//! timer wheel's rounding, while the rates are still scaled for 2 s. Source: `estimation_timer` in
//! `ip_vs_est.c` up to Linux 6.1. Softirq context is not preempted by tasks, so background load does
//! not lengthen it. Services added meanwhile wait for the lock, and are not in the walk.

use super::component::{Event, IpvsEstimator};
use crate::engine::{Engine, PriorityClass, SimTime};

/// The old timer walks one list: that of the only chain that is ever used.
const LIST_ROW: usize = super::algorithm::INITIAL_DELAY;
/// Seconds that the timer is set for.
const PERIOD_S: i64 = 2;

impl IpvsEstimator {
    /// Sets the timer in jiffy `now`.
    pub(super) fn arm_softirq<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, now: i64) {
        let until = self.jiffies.wheel_expiry(now, PERIOD_S * i64::from(self.config.hz));
        if let Some(timers) = self.timers {
            engine.arm_at(timers.softirq, until, PriorityClass::NORMAL, Event::SoftirqBegin);
        }
    }

    /// When the timer goes off next; now while the walk is under way.
    pub(super) fn softirq_due<G: Copy + From<Event>>(&self, engine: &Engine<G>) -> SimTime {
        let deadline = self.timers.and_then(|timers| engine.deadline(timers.softirq));
        deadline.filter(|_| self.softirq_time.is_none()).unwrap_or(engine.now())
    }

    /// The timer goes off: the walk begins.
    pub(super) fn softirq_begin<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let now = engine.now();
        let before = self.softirq_began.replace(now);
        self.seen.period(before, now);
        let estimators = self.layout.get(0).map_or(0, |list| list.tick_len(LIST_ROW));
        let skipped = !self.run_estimation || estimators == 0;
        if skipped {
            self.softirq_time = None;
            return self.arm_softirq(engine, self.jiffies.at(now));
        }
        // Between two walks this work's CPU is idle, and the governor cannot run during one.
        let clock = self.clock(0.0);
        let time = self.prices.row(estimators, estimators, clock, &mut self.streams.cost);
        self.softirq_time = Some(time);
        if let Some(timers) = self.timers {
            engine.arm(timers.softirq, time.tick, Event::SoftirqEnd);
        }
    }

    /// The walk is done.
    pub(super) fn softirq_end<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let now = engine.now();
        let begin = self.softirq_began.unwrap_or(SimTime::ZERO);
        self.estimate_row(0, LIST_ROW, begin, now);
        if let Some(time) = self.softirq_time.take() {
            let services = self.services_linked();
            self.seen.softirq(time, services);
            self.note_walk(engine, begin, time);
        }
        self.arm_softirq(engine, self.jiffies.at(now));
    }
}
