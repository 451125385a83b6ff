//! What is still open when a traced run has ended.

use super::component::{L3Agent, Owner};
use super::timeline::{
    COMMANDS, NO_REPORT, NO_THREAD, QUEUED, REPORT, STALLED, SYNC, UNSENT, WRITES, chain,
};
use super::workers::Worker;
use crate::engine::trace::{Chain, Lane, Trace};
use crate::engine::{SimDuration, SimTime};
use crate::models::Model;
use crate::resources::{Attribution, FinishedJob};

/// Where time went, by name.
type Parts = Vec<(&'static str, SimDuration)>;

/// What is recorded, of which component, and until when.
struct Open<'t> {
    trace: &'t mut Trace,
    component: u16,
    end: SimTime,
}

impl Open<'_> {
    fn lane(&self, lane: u32) -> Lane {
        Lane { component: self.component, lane }
    }

    /// Something that is going on since `since`.
    fn span(&mut self, lane: u32, name: &'static str, since: SimTime, value: i64) {
        let (lane, end) = (self.lane(lane), self.end);
        self.trace.open_span(lane, name, (since, end), value);
    }

    /// Something that was waited for since `start`, and what has not come about.
    fn chain(
        &mut self,
        lane: u32,
        names: (&'static str, &'static str),
        start: SimTime,
        parts: Parts,
    ) {
        let parts = parts.into_iter().filter(|(_, time)| !time.is_zero()).collect();
        let known = chain(self.lane(lane), names, (start, self.end), parts);
        self.trace.chains.push(Chain { open: true, ..known });
    }
}

impl L3Agent {
    /// Ends what is going on at `end`, and says what is left to do.
    pub(super) fn record_open(&self, trace: &mut Trace, component: u16, end: SimTime) {
        let mut open = Open { trace, component, end };
        let jobs = self.host.open_jobs(end);
        if self.settings.commands.is_some() {
            self.record_open_commands(&mut open, &jobs);
        } else {
            self.record_open_sync(&mut open);
            self.record_open_workers(&mut open, &jobs);
            self.record_open_queue(&mut open);
            self.record_open_port_updates(&mut open, &jobs);
            self.record_open_reports(&mut open);
        }
        if !self.converged() {
            self.record_left(&mut open);
        }
    }

    fn record_open_commands(&self, open: &mut Open<'_>, jobs: &[FinishedJob]) {
        let of_lane = |job: &FinishedJob| match Owner::of(job.tag) {
            (Owner::Lane, lane) => Some((lane, job.parts)),
            _ => None,
        };
        let mut running: Vec<(u32, Attribution)> = jobs.iter().filter_map(of_lane).collect();
        running.extend(self.real_time.open(|lane| open.end.since(self.lanes.began(lane))));
        running.sort_by_key(|(lane, _)| *lane);
        for (lane, parts) in running {
            let began = self.lanes.began(lane);
            open.span(1 + lane, COMMANDS, began, 0);
            open.chain(1 + lane, (COMMANDS, "not done"), began, parts.named().to_vec());
            if let Some(last) = open.trace.chains.last_mut() {
                last.server = Some(last.lane);
            }
        }
    }

    fn record_open_sync(&self, open: &mut Open<'_>) {
        if self.sync.is_idle() {
            return;
        }
        if self.sync.is_under_way() {
            open.span(SYNC, "full sync", self.sync.began, 0);
        }
        let (since, lane) = (self.sync.wanted_since, open.lane(SYNC));
        let calls = open.trace.spans.iter().filter(|s| s.lane == lane && s.start >= since);
        let calls: Vec<_> = calls.map(|span| (span.start, span.end)).collect();
        let mut free = since;
        for (start, end) in calls {
            open.trace.span(lane, NEXT_CHECK, (free, start), 0);
            free = end;
        }
        open.span(SYNC, NEXT_CHECK, free, 0);
        let parts = open.trace.sums(lane, since);
        open.chain(SYNC, ("full sync", "not answered"), since, parts);
    }

    fn record_open_workers(&self, open: &mut Open<'_>, jobs: &[FinishedJob]) {
        for (index, worker) in self.workers.iter().enumerate() {
            let Some(stage) = worker.stage.name() else { continue };
            let Worker { router, started, .. } = *worker;
            open.span(1 + index as u32, "router", started, i64::from(router));
            let lane = self.router_lane(router);
            open.span(lane, stage, worker.since, 0);
            let own = Owner::Worker.tag(index as u32);
            let job = jobs.iter().find(|job| job.tag == own);
            let account = worker.account_at(open.end, job.map(|job| &job.parts));
            let asked = worker.update.map_or(started, |update| update.enqueued);
            let mut parts = vec![(QUEUE, started.since(asked)), (CALLS, account.rpc)];
            parts.extend(account.host.named());
            open.chain(lane, ("update", "router not ready"), asked, parts);
        }
    }

    fn record_open_queue(&self, open: &mut Open<'_>) {
        for (router, update) in self.queue.open() {
            let lane = self.router_lane(router);
            open.span(lane, QUEUED, update.enqueued, 0);
            let parts = vec![(QUEUE, open.end.since(update.enqueued))];
            open.chain(lane, ("update", "not taken by a worker"), update.enqueued, parts);
        }
    }

    fn record_open_port_updates(&self, open: &mut Open<'_>, jobs: &[FinishedJob]) {
        let lane = self.reports_lane() + 1;
        let name = ("port update", "not written");
        for job in jobs {
            let (Owner::PortUpdate, index) = Owner::of(job.tag) else { continue };
            let slot = self.port_update_jobs.slots[index as usize];
            let at = open.lane(lane);
            open.trace.span(at, NO_THREAD, (slot.arrived, slot.started), 0);
            open.span(lane, WRITES, slot.started, 0);
            let mut parts = vec![("waiting for a dispatcher", slot.started.since(slot.arrived))];
            parts.extend(job.parts.named());
            open.chain(lane, name, slot.arrived, parts);
        }
        for &arrived in &self.port_update_jobs.waiting {
            open.span(lane, NO_THREAD, arrived, 0);
            let parts = vec![("waiting for a dispatcher", open.end.since(arrived))];
            open.chain(lane, name, arrived, parts);
        }
    }

    fn record_open_reports(&self, open: &mut Open<'_>) {
        let lane = self.reports_lane();
        if self.liveness.stalled {
            open.span(lane, STALLED, self.timeline.stalled_since, 0);
        }
        if self.awaits_an_answer() {
            let due = self.liveness.due;
            open.span(lane, REPORT, due, 0);
            let parts = vec![("waiting for the answer", open.end.since(due))];
            open.chain(lane, (REPORT, "not answered"), due, parts);
        }
        let last = self.liveness.last_seen;
        if !self.liveness.ended && self.is_gap(open.end.since(last)) {
            open.span(lane, NO_REPORT, last, 0);
            let (due, sent) = self.timeline.oldest(self.awaits_an_answer(), open.end);
            let due = due.max(last);
            let parts = vec![
                ("until the report was due", due.since(last)),
                (UNSENT, sent.since(due)),
                ("on its way to the server, and in its queue", open.end.since(sent.max(due))),
            ];
            open.chain(lane, (NO_REPORT, "none came"), last, parts);
        }
    }

    fn record_left(&self, open: &mut Open<'_>) {
        let mut left = |what, count| open.trace.left(open.component, what, count);
        if self.settings.commands.is_some() {
            left("commands running", u64::from(self.lanes.running()));
            left("commands not begun", u64::from(self.lanes.remaining()));
            return;
        }
        left("full sync not answered", u64::from(!self.sync.is_idle()));
        left("syncs that timed out", self.sync.timeouts);
        left("updates of routers waiting", self.queue.waiting());
        left("workers with a router", self.busy_workers());
        left("routers given up", self.figures.given_up);
        let to_come = self.router_updates.remaining + self.boots.arrivals.remaining;
        left("updates of routers and VM boots to come", u64::from(to_come));
        left("updates of ports waiting", self.port_update_jobs.waiting() as u64);
        left("updates of ports to come", u64::from(self.port_updates.remaining));
        left("stall without a report since", u64::from(!self.liveness.stall_is_over));
    }
}

const NEXT_CHECK: &str = "waits for the next check";
const QUEUE: &str = "waiting in the queue";
const CALLS: &str = "calls to the server";
