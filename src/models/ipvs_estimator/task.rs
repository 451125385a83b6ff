//! A kthread's task: what it is doing, and what its time went to.

use super::host::Done;
use super::prices::RowTime;
use crate::engine::{SimDuration, SimTime, Timer};

/// What a kthread is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    /// It has no task: not started, stopped, or gone.
    Stopped,
    /// Its task has been woken for the first time.
    Starting,
    /// Until its row is due.
    Sleeping,
    /// Between tests of the calc phase.
    CalcSleep,
    /// A test of the calc phase, whose passes take so long.
    CalcTest(u64),
    /// Moving estimators to the temporary list.
    Relinking,
    /// Linking estimators from the temporary list.
    Draining,
    /// Estimating a row since an instant.
    Estimating(SimTime, RowTime),
}

/// What the time of a kthread goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct TimeUse {
    pub estimating: SimDuration,
    pub draining: SimDuration,
    pub calculating: SimDuration,
    pub waiting: SimDuration,
    pub sleeping: SimDuration,
}

impl TimeUse {
    /// CPU time.
    pub fn busy(&self) -> SimDuration {
        self.estimating.saturating_add(self.draining).saturating_add(self.calculating)
    }
}

/// How busy a kthread has kept its CPU since its last row: what a governor that looks at the
/// load once per row sees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Load {
    since: SimTime,
    work: SimDuration,
}

impl Load {
    /// From `now` on.
    pub fn from(now: SimTime) -> Self {
        Self { since: now, work: SimDuration::ZERO }
    }

    pub fn add(&mut self, work: SimDuration) {
        self.work = self.work.saturating_add(work);
    }

    /// The share of the time until `now`, from when on the next window counts.
    pub fn take(&mut self, now: SimTime) -> f64 {
        let window = now.since(self.since);
        let share =
            if window.is_zero() { 0.0 } else { self.work.as_seconds() / window.as_seconds() };
        *self = Self::from(now);
        share
    }
}

/// A kthread's task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub timer: Timer,
    pub state: State,
    /// Since when it has been in its state.
    pub since: SimTime,
    /// When its next row is due, in jiffies.
    pub est_timer: i64,
    /// It is still behind from starting or from a calc phase.
    pub settling: bool,
    /// When its row 0 was due last, if it has run since.
    pub last_wrap: Option<SimTime>,
    pub used: TimeUse,
    pub load: Load,
    /// Since when `used` counts.
    pub counted_since: SimTime,
    /// Its kthread's chains exist.
    pub exists: bool,
}

impl Task {
    /// Books its sleep up to `now`, if it sleeps.
    pub fn book_sleep(&mut self, now: SimTime) {
        if matches!(self.state, State::Sleeping | State::Starting | State::CalcSleep) {
            let spent = now.since(self.since.max(self.counted_since));
            self.used.sleeping = self.used.sleeping.saturating_add(spent);
        }
    }

    /// Books its work up to `now`; of work that was begun before the figures count, the part that
    /// lies after.
    pub fn book(&mut self, now: SimTime, done: &Done) {
        let whole = now.since(self.since);
        let counted = now.since(self.counted_since);
        let part = |spent: SimDuration| {
            if counted >= whole {
                return spent;
            }
            SimDuration::from_seconds(
                spent.as_seconds() * counted.as_seconds() / whole.as_seconds(),
            )
        };
        let used = &mut self.used;
        used.waiting = used.waiting.saturating_add(part(done.waited));
        let of_state = match self.state {
            State::Estimating(..) => &mut used.estimating,
            State::Draining => &mut used.draining,
            _ => &mut used.calculating,
        };
        *of_state = of_state.saturating_add(part(done.work));
    }
}
