//! What is counted while a replication runs.

use super::prices::RowTime;
use super::summary::Summary;
use super::task::{Task, TimeUse};
use crate::engine::{SimDuration, SimTime};

/// What a tick may take: `IPVS_EST_TICK`.
pub(super) const TICK_BUDGET: SimDuration = SimDuration::from_millis(40);

/// Time of the kthreads, added up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KthreadsTime {
    pub used: TimeUse,
    /// Sum of what each was there for.
    pub lived: SimDuration,
    /// Greatest CPU share of one.
    pub greatest_share: f64,
    /// There was one.
    pub any: bool,
}

impl KthreadsTime {
    /// Adds what `task` did until `now`.
    pub fn add(&mut self, task: &Task, now: SimTime) {
        let lived = now.since(task.counted_since);
        if !task.exists || lived.is_zero() {
            return;
        }
        let add = |sum: &mut SimDuration, more: SimDuration| *sum = sum.saturating_add(more);
        add(&mut self.used.estimating, task.used.estimating);
        add(&mut self.used.draining, task.used.draining);
        add(&mut self.used.calculating, task.used.calculating);
        add(&mut self.used.waiting, task.used.waiting);
        add(&mut self.used.sleeping, task.used.sleeping);
        add(&mut self.lived, lived);
        let share = task.used.busy().as_seconds() / lived.as_seconds();
        self.greatest_share = self.greatest_share.max(share);
        self.any = true;
    }
}

/// Counters and summaries. Ticks, lateness, periods and kthread time count from the end of the
/// warm-up.
#[derive(Clone, Debug, Default)]
pub(super) struct Observation {
    pub chain_time: Summary,
    pub tick_time: Summary,
    pub tick_elapsed: Summary,
    pub softirq: Summary,
    pub softirq_total: SimDuration,
    pub late: Summary,
    pub settling_late: u64,
    pub resets: u64,
    pub period: Summary,
    pub kthreads_time: KthreadsTime,
    pub most_kthreads: usize,
    /// From the creation of one kthread to that of the next, as long as their number grows.
    pub kthread_interval: Summary,
    last_created: SimTime,
    pub reloads: u64,
    pub failed_starts: u64,
    pub calc_time: Option<SimDuration>,
    pub min_est_ns: Option<u64>,
    /// Services linked when the first tick was late.
    pub services_at_first_late: Option<u64>,
    warm_up_end: SimTime,
    counting: bool,
}

impl Observation {
    pub fn reset(&mut self) {
        self.chain_time.clear();
        self.tick_time.clear();
        self.tick_elapsed.clear();
        self.softirq.clear();
        self.softirq_total = SimDuration::ZERO;
        self.late.clear();
        self.settling_late = 0;
        self.resets = 0;
        self.period.clear();
        self.kthreads_time = KthreadsTime::default();
        self.most_kthreads = 0;
        self.kthread_interval.clear();
        self.last_created = SimTime::ZERO;
        self.reloads = 0;
        self.failed_starts = 0;
        self.calc_time = None;
        self.min_est_ns = None;
        self.services_at_first_late = None;
        self.warm_up_end = SimTime::ZERO;
        self.counting = false;
    }

    pub fn warm_up_ended(&mut self, now: SimTime) {
        self.counting = true;
        self.warm_up_end = now;
        self.kthreads_time = KthreadsTime::default();
    }

    /// Counted time until `now`.
    pub fn window(&self, now: SimTime) -> SimDuration {
        if self.counting { now.since(self.warm_up_end) } else { SimDuration::ZERO }
    }

    /// A row that needed `time` was estimated in `elapsed`.
    pub fn tick(&mut self, time: RowTime, elapsed: SimDuration) {
        if self.counting {
            self.chain_time.add(time.chain);
            self.tick_time.add(time.tick);
            self.tick_elapsed.add(elapsed);
        }
    }

    /// The old timer walked all estimators. A walk that takes longer than a tick may counts as a
    /// late tick, so that the algorithms can be compared.
    pub fn softirq(&mut self, time: RowTime, services: u64) {
        if time.tick > TICK_BUDGET {
            self.services_at_first_late.get_or_insert(services);
        }
        if self.counting {
            self.chain_time.add(time.chain);
            self.tick_time.add(time.tick);
            self.tick_elapsed.add(time.tick);
            self.softirq.add(time.tick);
            self.softirq_total = self.softirq_total.saturating_add(time.tick);
            if time.tick > TICK_BUDGET {
                self.late.add(time.tick.saturating_sub(TICK_BUDGET));
            }
        }
    }

    /// A row is processed `behind` its time.
    pub fn late(&mut self, settling: bool, behind: SimDuration, services: u64) {
        if settling {
            self.settling_late += 1;
            return;
        }
        self.services_at_first_late.get_or_insert(services);
        if self.counting {
            self.late.add(behind);
        }
    }

    /// A kthread has dropped its backlog.
    pub fn backlog_dropped(&mut self) {
        if self.counting {
            self.resets += 1;
        }
    }

    /// The same row was due at `before` and now.
    pub fn period(&mut self, before: Option<SimTime>, now: SimTime) {
        if let Some(before) = before.filter(|&before| before >= self.warm_up_end && self.counting) {
            self.period.add(now.since(before));
        }
    }

    /// A kthread was created, and now there are `kthreads`.
    pub fn kthread_created(&mut self, now: SimTime, kthreads: usize) {
        if kthreads <= self.most_kthreads {
            return;
        }
        if self.most_kthreads > 0 {
            self.kthread_interval.add(now.since(self.last_created));
        }
        self.last_created = now;
        self.most_kthreads = kthreads;
    }

    pub fn calculated(&mut self, took: SimDuration, min_est_ns: Option<u64>) {
        self.calc_time = Some(took);
        self.min_est_ns = min_est_ns;
    }
}
