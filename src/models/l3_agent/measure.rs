//! From the state at the end of a run to its figures.

use super::super::model::Model;
use super::component::{Figures, L3Agent, Owner};
use super::metrics::Account;
use super::workers::Stage;
use crate::engine::SimTime;

/// Writes figures one after another.
struct Writer<'a> {
    figures: &'a mut [f64],
    next: usize,
}

impl Writer<'_> {
    fn put(&mut self, values: &[f64]) {
        for value in values {
            if let Some(place) = self.figures.get_mut(self.next) {
                *place = *value;
            }
            self.next += 1;
        }
    }

    fn count(&mut self, values: &[u64]) {
        for value in values {
            self.put(&[*value as f64]);
        }
    }
}

/// What was done in a run.
struct Spent {
    /// By workers, or lanes of a command list.
    workers: Account,
    port_updates: Account,
    /// Core-seconds of commands at real-time priority.
    real_time: f64,
}

impl Spent {
    fn cpu_seconds(&self) -> f64 {
        let of =
            |account: &Account| account.host.cpu.as_seconds() + account.host.spawn_cpu.as_seconds();
        of(&self.workers) + of(&self.port_updates)
    }
}

/// `part` of `whole`; NaN of nothing.
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

impl L3Agent {
    pub(super) fn write_figures(&self, end: SimTime, figures: &mut [f64]) {
        let mut writer = Writer { figures, next: 0 };
        let spent = self.spent(end);
        self.write_times(&spent, &mut writer);
        self.write_work(end, &spent, &mut writer);
        self.write_updates(&mut writer);
        self.write_clients(end, &mut writer);
        debug_assert_eq!(writer.next, Self::METRICS.len(), "one figure for each metric");
    }

    /// What was done until `end`. Where the run was cut off, what was under way counts as far as it
    /// had come.
    fn spent(&self, end: SimTime) -> Spent {
        let Figures { worker_account, port_update_account, .. } = &self.figures;
        let mut spent = Spent {
            workers: *worker_account,
            port_updates: *port_update_account,
            real_time: self.real_time.busy_seconds(),
        };
        if self.converged() {
            return spent;
        }
        let jobs = self.host.open_jobs(end);
        for (index, worker) in self.workers.iter().enumerate() {
            if worker.stage != Stage::Free {
                let own = Owner::Worker.tag(index as u32);
                let job = jobs.iter().find(|job| job.tag == own);
                spent.workers.add(&worker.account_at(end, job.map(|job| &job.parts)));
            }
        }
        for job in &jobs {
            match Owner::of(job.tag).0 {
                Owner::Lane => spent.workers.host.add(&job.parts),
                Owner::PortUpdate => spent.port_updates.host.add(&job.parts),
                Owner::Worker | Owner::Report => {}
            }
        }
        let taken = |lane| end.since(self.lanes.began(lane));
        for (_, parts) in self.real_time.open(taken) {
            spent.workers.host.add(&parts);
        }
        spent.real_time += self.real_time.open_busy(taken).as_seconds();
        spent
    }

    fn write_times(&self, spent: &Spent, writer: &mut Writer) {
        let state = &self.figures;
        let last = &state.last;
        if self.converged() {
            writer.put(&[last.ready.as_seconds(), last.asked.as_seconds()]);
            writer.put(&[last.started.since(last.asked).as_seconds()]);
            writer.put(&last.account.seconds());
        } else {
            writer.put(&[f64::NAN; 10]);
        }
        let processed = state.processed as f64;
        let parts = state.router_account.seconds();
        let whole = state.router_time.mean();
        let in_hand: f64 = parts.iter().sum();
        writer.put(&[whole, whole - in_hand / processed]);
        writer.put(&parts.map(|part| part / processed));
        for quantile in [0.5, 0.95, 0.99] {
            writer.put(&[state.router_time.quantile(quantile)]);
        }
        writer.put(&[state.router_time.greatest()]);
        let parts = spent.workers.seconds();
        writer.put(&[parts.iter().sum()]);
        writer.put(&parts);
        let wait = &state.queue_wait;
        writer.put(&[wait.mean(), wait.quantile(0.95), wait.greatest()]);
    }

    fn write_work(&self, end: SimTime, spent: &Spent, writer: &mut Writer) {
        writer.count(&[self.builder.spawns, self.builder.privsep_calls, self.figures.arp_entries]);
        // A job that computes alone counts fully, also on a fraction of a core.
        let busy = self.host.cpu().busy_seconds(end) + spent.real_time;
        writer.put(&[spent.cpu_seconds(), busy / self.whole_cores() / end.as_seconds()]);
        let (calls, timed_out) = (self.rpc.calls(), self.rpc.timed_out());
        writer.count(&[calls, timed_out]);
        writer.put(&[share(timed_out, calls)]);
        let answered = self.sync.answered;
        writer.put(&[answered.map_or(f64::NAN, SimTime::as_seconds)]);
        writer.count(&[self.sync.begun, self.sync.timeouts, u64::from(self.sync.chunk())]);
    }

    fn whole_cores(&self) -> f64 {
        f64::from(self.host.cpu().cores())
    }

    fn write_updates(&self, writer: &mut Writer) {
        let tally = self.queue.tally();
        let state = &self.figures;
        let inside = self.queue.waiting() + self.busy_workers();
        writer.count(&[tally.added, state.processed, state.failed, tally.dropped]);
        writer.count(&[state.given_up, inside]);
    }

    fn write_clients(&self, end: SimTime, writer: &mut Writer) {
        let live = &self.liveness;
        writer.count(&[live.received, live.missed, live.timeouts]);
        writer.put(&[live.longest_gap.as_seconds(), f64::from(u8::from(live.seen_dead))]);
        writer.count(&[live.rescheduled]);
        let (boots, timeouts) = (self.boots.count(), self.vm_timeouts(end));
        writer.count(&[boots, timeouts]);
        writer.put(&[share(timeouts, boots)]);
        let wait = &self.boots.wait;
        writer.put(&[wait.mean(), wait.quantile(0.5), wait.quantile(0.95), wait.greatest()]);
        let state = &self.figures;
        let time = &state.port_update_time;
        writer.count(&[time.count(), state.port_updates_ignored, state.port_updates_cached]);
        writer.put(&[time.mean(), time.quantile(0.95), time.greatest()]);
    }
}
