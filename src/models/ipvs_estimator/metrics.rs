//! What is measured, each figure beside its definition.

use super::component::IpvsEstimator;
use super::metrics_of_groups::{GROUPS, OF_GROUP};
use super::observation::{KthreadsTime, TICK_BUDGET};
use super::rates::{Accuracy, FirstEstimateParts};
use super::traffic::MOST_GROUPS;
use crate::engine::{SimDuration, SimTime};
use crate::models::model::{Metric, Unit};

/// A replication that has ended.
pub(super) struct Results<'a> {
    model: &'a IpvsEstimator,
    window_s: f64,
    /// What the old timer took.
    softirq: SimDuration,
    time: KthreadsTime,
    accuracy: Accuracy,
    of_groups: [Accuracy; MOST_GROUPS],
    first: FirstEstimateParts,
}

impl<'a> Results<'a> {
    pub fn new(model: &'a IpvsEstimator, end: SimTime) -> Self {
        // Where the run was cut off, what is under way counts as far as it has come.
        let mut under_way = model.ended.is_none().then(|| model.host.clone());
        let end = model.ended.unwrap_or(end);
        let mut time = model.seen.kthreads_time;
        if !model.algorithm.old_timer {
            for (slot, task) in model.tasks.iter().enumerate() {
                let mut task = *task;
                if let Some(host) = &mut under_way {
                    task.book_sleep(end);
                    host.cancel(end, slot).iter().for_each(|done| task.book(end, done));
                }
                time.add(&task, end);
            }
        }
        let walk = model.softirq_began.filter(|_| under_way.is_some());
        let walk = walk.filter(|_| model.softirq_time.is_some());
        let walk = walk.map_or(SimDuration::ZERO, |began| end.since(began));
        Self {
            softirq: model.seen.softirq_total.saturating_add(walk.min(model.seen.window(end))),
            model,
            window_s: model.seen.window(end).as_seconds(),
            time,
            accuracy: model.rates.accuracy(end, None),
            of_groups: std::array::from_fn(|group| model.rates.accuracy_of_group(end, group)),
            first: model.rates.mean_first_parts(),
        }
    }

    fn per_kthread(&self, seconds: f64) -> f64 {
        if self.model.algorithm.old_timer {
            f64::NAN
        } else {
            seconds / self.time.lived.as_seconds()
        }
    }

    fn of_kthreads(&self, number: u32) -> f64 {
        if self.model.algorithm.old_timer { f64::NAN } else { f64::from(number) }
    }

    pub fn of_group(&self, index: usize) -> &Accuracy {
        &self.of_groups[index]
    }

    fn cores_used(&self) -> f64 {
        (self.time.used.busy().as_seconds() + self.softirq.as_seconds()) / self.window_s
    }
}

/// A metric and its figure.
pub(super) type Entry = (Metric, fn(&Results) -> f64);

const fn headline(name: &'static str, unit: Unit, summary: &'static str) -> Metric {
    Metric::headline(name, unit, summary)
}

const fn detail(name: &'static str, unit: Unit, summary: &'static str) -> Metric {
    Metric::detail(name, unit, summary)
}

const FIRST: &str = "time_to_first_estimate";
const TIME: &str = "kthread_time";

const ENTRIES: &[Entry] = &[
    (
        headline(
            "chain_time",
            Unit::Seconds,
            "Mean time of a row's longest chain: how long a kthread goes without a rescheduling point; of the whole walk for the old timer.",
        ),
        |r| r.model.seen.chain_time.mean(),
    ),
    (detail("chain_time.max", Unit::Seconds, "The longest chain time."), |r| {
        r.model.seen.chain_time.greatest()
    }),
    (
        headline(
            "tick_time",
            Unit::Seconds,
            "Mean CPU time of a row that is not empty; of the whole walk for the old timer.",
        ),
        |r| r.model.seen.tick_time.mean(),
    ),
    (detail("tick_time.p50", Unit::Seconds, "The median tick time."), |r| {
        r.model.seen.tick_time.quantile(0.5)
    }),
    (detail("tick_time.p99", Unit::Seconds, "The 99th percentile of the tick time."), |r| {
        r.model.seen.tick_time.quantile(0.99)
    }),
    (headline("tick_time.max", Unit::Seconds, "The longest tick time."), |r| {
        r.model.seen.tick_time.greatest()
    }),
    (
        detail(
            "tick_elapsed.max",
            Unit::Seconds,
            "The longest time from the start of a row to its end, with waiting for a CPU.",
        ),
        |r| r.model.seen.tick_elapsed.greatest(),
    ),
    (
        headline(
            "tick_budget",
            Unit::Share,
            "The longest tick time as a share of the 40 ms of a tick; above 1 when it does not fit.",
        ),
        |r| r.model.seen.tick_time.greatest() / TICK_BUDGET.as_seconds(),
    ),
    (
        headline(
            "late_ticks",
            Unit::Count,
            "Rows begun after they were due, without those just after a start or a calc phase; for the old timer, walks longer than 40 ms.",
        ),
        |r| r.model.seen.late.count() as f64,
    ),
    (detail("lateness.mean", Unit::Seconds, "By how much late ticks were late."), |r| {
        r.model.seen.late.mean()
    }),
    (
        detail("lateness.max", Unit::Seconds, "The greatest lateness; 0 when no tick was late."),
        |r| if r.model.seen.late.count() == 0 { 0.0 } else { r.model.seen.late.greatest() },
    ),
    (
        detail(
            "late_ticks_settling",
            Unit::Count,
            "Rows begun late while a kthread caught up with its start or a calc phase; over the whole run.",
        ),
        |r| r.model.seen.settling_late as f64,
    ),
    (
        headline(
            "services_at_first_late_tick",
            Unit::Count,
            "Services in chains when a tick was late for the first time, in the whole run; none if none was.",
        ).more_is_better(),
        |r| r.model.seen.services_at_first_late.map_or(f64::NAN, |services| services as f64),
    ),
    (
        detail(
            "backlog_resets",
            Unit::Count,
            "Times a kthread was more than 320 ms behind and gave up its backlog.",
        ),
        |r| r.model.seen.resets as f64,
    ),
    (
        detail(
            "period",
            Unit::Seconds,
            "Mean time from one turn of the same row to the next over all kthreads, however full; 2 s by design.",
        ),
        |r| r.model.seen.period.mean(),
    ),
    (detail("period.max", Unit::Seconds, "The longest period."), |r| {
        r.model.seen.period.greatest()
    }),
    (headline("kthreads", Unit::Count, "Kthreads at the end."), |r| {
        if r.model.algorithm.old_timer { 0.0 } else { r.model.layout.kthreads() as f64 }
    }),
    (detail("kthreads.max", Unit::Count, "Most kthreads at a time."), |r| {
        if r.model.algorithm.old_timer { 0.0 } else { r.model.seen.most_kthreads as f64 }
    }),
    (
        detail(
            "kthread_interval",
            Unit::Seconds,
            "Mean time from the creation of one kthread to that of the next, in the whole run; none with fewer than two.",
        ),
        |r| r.model.seen.kthread_interval.mean(),
    ),
    (headline("kthread_cpu", Unit::Share, "Mean CPU share of a kthread."), |r| {
        r.per_kthread(r.time.used.busy().as_seconds())
    }),
    (detail("kthread_cpu.max", Unit::Share, "CPU share of the busiest kthread."), |r| {
        if r.time.any { r.time.greatest_share } else { f64::NAN }
    }),
    (
        headline(
            "cpu_used",
            Unit::Count,
            "CPUs that estimation keeps busy, kthreads and softirq together.",
        ),
        |r| r.cores_used(),
    ),
    (detail(TIME, Unit::Share, "The time of a kthread, all of it."), |r| {
        r.per_kthread(
            (r.time
                .used
                .busy()
                .saturating_add(r.time.used.waiting)
                .saturating_add(r.time.used.sleeping))
            .as_seconds(),
        )
    }),
    (Metric::part("kthread_time.estimating", TIME, Unit::Share, "Reading counters."), |r| {
        r.per_kthread(r.time.used.estimating.as_seconds())
    }),
    (
        Metric::part(
            "kthread_time.draining",
            TIME,
            Unit::Share,
            "Linking estimators from the temporary list.",
        ),
        |r| r.per_kthread(r.time.used.draining.as_seconds()),
    ),
    (
        Metric::part(
            "kthread_time.calculating",
            TIME,
            Unit::Share,
            "Tests of the calc phase and unlinking after it.",
        ),
        |r| r.per_kthread(r.time.used.calculating.as_seconds()),
    ),
    (
        Metric::part(
            "kthread_time.waiting_for_cpu",
            TIME,
            Unit::Share,
            "Runnable, but others had the CPU.",
        ),
        |r| r.per_kthread(r.time.used.waiting.as_seconds()),
    ),
    (Metric::part("kthread_time.sleeping", TIME, Unit::Share, "Nothing was due.").more_is_better(), |r| {
        r.per_kthread(r.time.used.sleeping.as_seconds())
    }),
    (
        headline(
            "not_estimated",
            Unit::Count,
            "Estimators on the temporary list at the end: over the cap on kthreads, or estimation is off.",
        ),
        |r| r.model.temp_list.len() as f64,
    ),
    (
        detail(
            "estimators",
            Unit::Count,
            "Estimators in chains at the end, with that of the totals.",
        ).more_is_better(),
        |r| r.model.layout.linked() as f64,
    ),
    (
        detail(
            "estimators_added",
            Unit::Count,
            "Estimators ever added for services and their real servers.",
        ),
        |r| r.model.added as f64,
    ),
    (detail("estimators_removed", Unit::Count, "Estimators ever removed."), |r| {
        r.model.removed as f64
    }),
    (detail("chain_max", Unit::Count, "Estimators that fit in a chain at the end.").more_is_better(), |r| {
        r.of_kthreads(r.model.layout.limits().chain_max)
    }),
    (detail("est_max_count", Unit::Count, "Estimators that fit in a kthread at the end.").more_is_better(), |r| {
        r.of_kthreads(r.model.layout.limits().est_max_count)
    }),
    (detail("est_max_threads", Unit::Count, "Most kthreads allowed at the end."), |r| {
        r.of_kthreads(r.model.layout.max_threads())
    }),
    (
        detail("min_est", Unit::Seconds, "What the last calc phase found an estimate to cost."),
        |r| r.model.seen.min_est_ns.map_or(f64::NAN, |ns| ns as f64 * 1e-9),
    ),
    (
        detail(
            "calc_time",
            Unit::Seconds,
            "From the start of kthread 0 to the end of the last calc phase, with the unlinking.",
        ),
        |r| r.model.seen.calc_time.map_or(f64::NAN, |time| time.as_seconds()),
    ),
    (detail("reloads", Unit::Count, "Times a sysctl restarted the kthreads."), |r| {
        r.model.seen.reloads as f64
    }),
    (detail("failed_starts", Unit::Count, "Attempts to start a kthread that failed."), |r| {
        r.model.seen.failed_starts as f64
    }),
    (
        headline(
            FIRST,
            Unit::Seconds,
            "Mean time from a service's addition to its first estimate.",
        ),
        |r| r.model.rates.first_estimate.mean(),
    ),
    (
        Metric::part(
            "time_to_first_estimate.temp_list",
            FIRST,
            Unit::Seconds,
            "On the temporary list.",
        ),
        |r| r.first.temp_list,
    ),
    (
        Metric::part(
            "time_to_first_estimate.row",
            FIRST,
            Unit::Seconds,
            "In a chain until its row was due.",
        ),
        |r| r.first.row,
    ),
    (
        Metric::part(
            "time_to_first_estimate.late",
            FIRST,
            Unit::Seconds,
            "From when the row was due until the estimate: timer rounding, lateness, and the estimators before it in the row.",
        ),
        |r| r.first.late,
    ),
    (
        detail(
            "time_to_first_estimate.p95",
            Unit::Seconds,
            "The 95th percentile of the time to the first estimate.",
        ),
        |r| r.model.rates.first_estimate.quantile(0.95),
    ),
    (
        detail(
            "time_to_first_estimate.max",
            Unit::Seconds,
            "The longest time to the first estimate.",
        ),
        |r| r.model.rates.first_estimate.greatest(),
    ),
    (
        detail(
            "first_raw_ratio",
            Unit::Ratio,
            "Mean of the first raw rate over the true one: the first interval over 2 s.",
        ),
        |r| r.model.rates.first_raw.mean(),
    ),
    (
        headline(
            "rate_convergence_time",
            Unit::Seconds,
            "Mean time from the last change of its rate, or else from a service's addition, from which its reported rate stays within the tolerance of the true one.",
        ),
        |r| r.accuracy.mean_convergence(),
    ),
    (
        detail(
            "rate_convergence_time.p95",
            Unit::Seconds,
            "The 95th percentile of the rate convergence time.",
        ),
        |r| r.accuracy.convergence_quantile(0.95),
    ),
    (
        detail("rate_convergence_time.max", Unit::Seconds, "The longest rate convergence time."),
        |r| r.accuracy.convergence_quantile(1.0),
    ),
    (
        headline(
            "rates_not_converged",
            Unit::Share,
            "Share of the services whose reported rate is not within the tolerance at the end.",
        ),
        |r| r.accuracy.unconverged,
    ),
    (
        headline(
            "rate_error",
            Unit::Ratio,
            "Mean relative error of the reported rates at the end.",
        ),
        |r| r.accuracy.error.mean(),
    ),
    (
        detail(
            "rate_error.max",
            Unit::Ratio,
            "Greatest relative error of a reported rate at the end.",
        ),
        |r| r.accuracy.error.greatest(),
    ),
    (
        detail("reported_rate_ratio", Unit::Ratio, "Mean of reported over true rate at the end."),
        |r| r.accuracy.ratio.mean(),
    ),
    (
        detail(
            "raw_error",
            Unit::Ratio,
            "Mean relative error of the raw rate of one interval, after the warm-up and without those that hold a change.",
        ),
        |r| r.model.rates.raw_error.mean(),
    ),
    (detail("raw_error.max", Unit::Ratio, "Greatest relative error of such a raw rate."), |r| {
        r.model.rates.raw_error.greatest()
    }),
    (
        headline(
            "softirq_stall",
            Unit::Seconds,
            "Mean time for which the old timer holds a CPU in softirq context; 0 without it.",
        ),
        |r| if r.model.seen.softirq.count() == 0 { 0.0 } else { r.model.seen.softirq.mean() },
    ),
    (detail("softirq_stall.max", Unit::Seconds, "The longest such stall."), |r| {
        if r.model.seen.softirq.count() == 0 { 0.0 } else { r.model.seen.softirq.greatest() }
    }),
];

const LENGTH: usize = ENTRIES.len() + MOST_GROUPS * OF_GROUP;

const TABLE: [Metric; LENGTH] = {
    let mut table = [ENTRIES[0].0; LENGTH];
    let mut index = 0;
    while index < LENGTH {
        let of_group = index.saturating_sub(ENTRIES.len());
        table[index] = if index < ENTRIES.len() {
            ENTRIES[index].0
        } else {
            GROUPS[of_group / OF_GROUP][of_group % OF_GROUP].0
        };
        index += 1;
    }
    table
};

/// What is measured.
pub(super) const METRICS: &[Metric] = &TABLE;

/// Writes the figures in the order of [`METRICS`].
pub(super) fn measure(model: &IpvsEstimator, end: SimTime, figures: &mut [f64]) {
    let results = Results::new(model, end);
    let entries = ENTRIES.iter().chain(GROUPS.as_flattened());
    for (figure, (_, value)) in figures.iter_mut().zip(entries) {
        *figure = value(&results);
    }
}
