//! What the timeline of a traced run shows: the full sync, a lane for each worker and each router,
//! reports, and what waits.
//!
//! A run that is not traced pays one test per event.

use std::collections::VecDeque;

use super::component::L3Agent;
use super::metrics::Account;
use crate::engine::trace::{Chain, Lane, Link, Trace};
use crate::engine::{Engine, SimDuration, SimTime};
use crate::resources::Attribution;

const LEVELS: [&str; 5] = [
    "updates waiting",
    "busy workers",
    "port updates waiting",
    "commands running",
    "processor share (%)",
];

/// The lane of the full sync. Those of the workers follow, or of a list of commands.
pub(super) const SYNC: u32 = 0;

pub(super) const REPORT: &str = "report";
pub(super) const NO_REPORT: &str = "without a report";
pub(super) const UNSENT: &str = "due, but the agent could not send it";
pub(super) const STALLED: &str = "stalled";
pub(super) const QUEUED: &str = "waits in the queue";
pub(super) const NO_THREAD: &str = "waits for a thread";
pub(super) const WRITES: &str = "writes the entry";
pub(super) const COMMANDS: &str = "commands";

/// The state after the last event.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    levels: [f64; LEVELS.len()],
    seen_dead: bool,
    pub(super) stalled_since: SimTime,
    /// Reports on their way: when each was due, and when it left.
    sent: VecDeque<(SimTime, SimTime)>,
    /// When the report under way was due by the clock, which a stalled agent does not hear.
    due: SimTime,
    /// When the next one is.
    next_due: Option<SimTime>,
}

/// What `name` came to, and where its time went; it waited for no server in particular.
pub(super) fn chain(
    lane: Lane,
    (name, outcome): (&'static str, &'static str),
    (start, end): (SimTime, SimTime),
    parts: Vec<(&'static str, SimDuration)>,
) -> Chain {
    Chain { lane, name, number: 0, start, end, outcome, open: false, server: None, parts }
}

impl Timeline {
    /// Reports that are on their way arrive no more.
    pub(super) fn forget_sent(&mut self) {
        self.sent.clear();
    }

    /// When the oldest report that has not arrived was due, and when it left, both at `end` at the
    /// latest.
    pub(super) fn oldest(&self, reporting: bool, end: SimTime) -> (SimTime, SimTime) {
        let unsent = if reporting { Some(self.due) } else { self.next_due };
        let unsent = (unsent.unwrap_or(end).min(end), end);
        self.sent.front().copied().unwrap_or(unsent)
    }

    /// The agent hears at `now` that a report is due.
    pub(super) fn report_due(&mut self, now: SimTime) {
        self.due = self.next_due.take().map_or(now, |due| due.min(now));
    }

    /// When the next report is due.
    pub(super) fn next_report(&mut self, due: SimTime) {
        self.next_due = Some(due);
    }
}

impl L3Agent {
    /// Begins the timeline, if the run is traced.
    pub(super) fn start_timeline<G: Copy>(&mut self, engine: &mut Engine<G>) {
        let component = engine.owner();
        self.timeline = Timeline { levels: [-1.0; LEVELS.len()], ..Timeline::default() };
        let at = |lane| Lane { component, lane };
        if let Some(trace) = engine.trace() {
            trace.name_lane(at(SYNC), "full sync");
            let commands = self.settings.commands;
            let (count, what) = match commands {
                Some(plan) => (plan.concurrency, "commands"),
                None => (self.workers.len() as u32, "worker"),
            };
            for worker in 0..count {
                trace.name_server(at(1 + worker), &format!("{what} {worker}"));
            }
            if commands.is_none() {
                trace.name_lane(at(self.reports_lane()), "reports");
                trace.name_lane(at(self.reports_lane() + 1), "port updates");
                for router in 0..self.settings.all_routers {
                    trace.name_lane(at(self.router_lane(router)), &format!("router {router}"));
                }
            }
        }
        self.record(engine);
    }

    pub(super) fn reports_lane(&self) -> u32 {
        1 + self.workers.len() as u32
    }

    pub(super) fn router_lane(&self, router: u32) -> u32 {
        self.reports_lane() + 2 + router
    }

    /// Records what the event just handled has changed.
    #[inline]
    pub(super) fn record<G: Copy>(&mut self, engine: &mut Engine<G>) {
        let (now, component) = (engine.now(), engine.owner());
        let Some(trace) = engine.trace() else { return };
        let workers = if self.settings.commands.is_some() { 0 } else { self.busy_workers() };
        let values = [
            self.queue.waiting() as f64,
            workers as f64,
            self.port_update_jobs.waiting() as f64,
            f64::from(self.lanes.running()),
            self.host.cpu().busy_percent() + self.real_time.busy_percent(),
        ];
        trace.levels(component, now, LEVELS, values, &mut self.timeline.levels);
        if self.liveness.seen_dead && !self.timeline.seen_dead {
            self.timeline.seen_dead = true;
            trace.instant(Lane { component, lane: self.reports_lane() }, "seen dead", now);
        }
    }

    fn traced<G: Copy>(engine: &mut Engine<G>, lane: u32) -> Option<(&mut Trace, Lane, SimTime)> {
        let (now, component) = (engine.now(), engine.owner());
        engine.trace().map(|trace| (trace, Lane { component, lane }, now))
    }

    /// The agent stalls from now on.
    pub(super) fn note_stall<G: Copy>(&mut self, engine: &Engine<G>) {
        self.timeline.stalled_since = engine.now();
    }

    /// The stall is over.
    pub(super) fn note_stall_over<G: Copy>(&mut self, engine: &mut Engine<G>) {
        let since = self.timeline.stalled_since;
        if let Some((trace, lane, now)) = Self::traced(engine, self.reports_lane()) {
            trace.span(lane, STALLED, (since, now), 0);
        }
    }

    /// The agent has the answer to the report that was due at `due`, or goes on without.
    pub(super) fn note_report<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        due: SimTime,
        answered: bool,
    ) {
        if let Some((trace, lane, now)) = Self::traced(engine, self.reports_lane()) {
            let name = if answered { REPORT } else { "report not answered in time" };
            trace.span(lane, name, (due, now), 0);
            let outcome = if answered { "answered" } else { "not answered in time" };
            trace.chains.push(chain(lane, ("report", outcome), (due, now), Vec::new()));
        }
    }

    /// The report that is due leaves.
    pub(super) fn note_sent<G: Copy>(&mut self, engine: &mut Engine<G>) {
        let times = (self.timeline.due, engine.now());
        if engine.trace().is_some() {
            self.timeline.sent.push_back(times);
        }
    }

    /// A report reaches the server, which had the one before at `last`: why so late, if it is.
    pub(super) fn note_arrival<G: Copy>(&mut self, engine: &mut Engine<G>, last: SimTime) {
        let Some((due, sent)) = self.timeline.sent.pop_front() else { return };
        let late = self.is_gap(engine.now().since(last));
        if let (true, Some((trace, lane, now))) = (late, Self::traced(engine, self.reports_lane()))
        {
            let due = due.max(last);
            let parts = vec![
                ("until the report was due", due.since(last)),
                (UNSENT, sent.since(due)),
                ("on its way to the server, and in its queue", now.since(sent.max(due))),
            ];
            trace.span(lane, NO_REPORT, (last, now), 0);
            trace.chains.push(chain(lane, (NO_REPORT, "the next came"), (last, now), parts));
        }
    }

    /// Whether a time between two reports is a tenth longer than it should be.
    pub(super) fn is_gap(&self, between: SimDuration) -> bool {
        between.as_seconds() > 1.1 * self.config.liveness.report_interval.as_seconds()
    }

    /// Everything is done, and nobody waits any more for the answer to the last report.
    pub(super) fn note_last_report<G: Copy>(&mut self, engine: &mut Engine<G>) {
        if self.awaits_an_answer()
            && let Some((trace, lane, now)) = Self::traced(engine, self.reports_lane())
        {
            trace.open_span(lane, REPORT, (self.liveness.due, now), 0);
        }
    }

    /// Whether a report is due or on its way, and the agent waits for the answer.
    pub(super) fn awaits_an_answer(&self) -> bool {
        self.liveness.reporting && self.settings.rules.report_is_call && !self.liveness.ended
    }

    /// A router's update was taken from the queue by a worker.
    pub(super) fn note_taken<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        worker: u32,
        router: u32,
        queued: SimTime,
    ) {
        let lane = self.router_lane(router);
        if let Some((trace, lane, now)) = Self::traced(engine, lane) {
            trace.span(lane, QUEUED, (queued, now), 0);
            let worker = Lane { lane: 1 + worker, ..lane };
            trace.links.push(Link { name: "taken by", from: (lane, now), to: (worker, now) });
        }
    }

    /// A worker has done something for a router since `since`.
    pub(super) fn note_stage<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        router: u32,
        name: &'static str,
        since: SimTime,
    ) {
        if let Some((trace, lane, now)) = Self::traced(engine, self.router_lane(router)) {
            trace.span(lane, name, (since, now), 0);
        }
    }

    /// Something happened to a router.
    pub(super) fn note_router<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        router: u32,
        what: &'static str,
    ) {
        if let Some((trace, lane, now)) = Self::traced(engine, self.router_lane(router)) {
            trace.instant(lane, what, now);
        }
    }

    /// A router that was asked for at `asked` is ready.
    pub(super) fn note_ready<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        router: u32,
        asked: SimTime,
        account: &Account,
    ) {
        if let Some((trace, lane, end)) = Self::traced(engine, self.router_lane(router)) {
            trace.instant(lane, "ready", end);
            let mut parts = vec![("calls to the server", account.rpc)];
            parts.extend(account.host.named());
            trace.chains.push(chain(lane, ("update", "ready"), (asked, end), parts));
        }
    }

    /// A port update has been written.
    pub(super) fn note_port_update<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        (arrived, started): (SimTime, SimTime),
        account: &Account,
    ) {
        let lane = self.reports_lane() + 1;
        if let Some((trace, lane, end)) = Self::traced(engine, lane) {
            trace.span(lane, NO_THREAD, (arrived, started), 0);
            trace.span(lane, WRITES, (started, end), 0);
            let parts = account.host.named().to_vec();
            trace.chains.push(chain(lane, ("port update", "written"), (arrived, end), parts));
        }
    }

    /// A lane of a list of commands has run some.
    pub(super) fn note_commands<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        lane: u32,
        parts: &Attribution,
    ) {
        let started = self.lanes.began(lane);
        if let Some((trace, lane, end)) = Self::traced(engine, 1 + lane) {
            trace.span(lane, COMMANDS, (started, end), 0);
            let done = chain(lane, (COMMANDS, "done"), (started, end), parts.named().to_vec());
            trace.chains.push(Chain { server: Some(lane), ..done });
        }
    }
}
