//! Workers: what is done for a router from the queue.
//!
//! ```text
//! take -> [fetch the router] -> agent's work and commands -> for each subnet:
//!             |                                        ask for its ports -> write the entries
//!             +-- timeout: put into the queue again (sync priority), given up after all tries
//! ```

use super::component::{Event, L3Agent, LastReady, Owner};
use super::metrics::Account;
use super::program::ProgramKey;
use super::queue::Update;
use super::rpc::{Method, Outcome};
use super::workload::UpdateKind;
use crate::engine::trace::{Lane, Span};
use crate::engine::{Engine, SimTime, Timer};
use crate::resources::{Attribution, Step};

/// What a worker does next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    #[default]
    Free,
    /// Fetching its router.
    Fetch,
    /// The agent's own work and the commands for the router.
    Router,
    /// Asking for the ports of a subnet.
    Ports(u32),
    /// Writing the entries of a subnet.
    Entries(u32),
}

impl Stage {
    /// What a worker does for its router, as its span is called.
    pub(super) const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::Free => return None,
            Self::Fetch => "fetches the router",
            Self::Router => "runs commands",
            Self::Ports(_) => "asks for ports",
            Self::Entries(_) => "writes entries",
        })
    }
}

/// A worker and the router that it has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Worker {
    pub(super) stage: Stage,
    pub(super) router: u32,
    pub(super) update: Option<Update>,
    /// The state that is being processed.
    state: SimTime,
    pub(super) started: SimTime,
    /// Since when it has been in its stage.
    pub(super) since: SimTime,
    pub(super) called: SimTime,
    timed_out: bool,
    pub(super) account: Account,
    entries: u32,
    /// Of `entries`, those that had come before the router's device existed.
    cached: u32,
    timer: Option<Timer>,
}

impl Worker {
    /// Where the time of its router went until `end`, what goes on included: a call, or `job`.
    pub(super) fn account_at(&self, end: SimTime, job: Option<&Attribution>) -> Account {
        let mut account = self.account;
        if matches!(self.stage, Stage::Fetch | Stage::Ports(_)) {
            account.rpc = account.rpc.saturating_add(end.since(self.called));
        }
        if let Some(parts) = job {
            account.host.add(parts);
        }
        account
    }
}

/// Records what lasted from `start` until now, if the run is traced. Lane 0 is the full sync,
/// lane n worker n - 1.
pub(super) fn trace_span<G: Copy>(
    engine: &mut Engine<G>,
    lane: u32,
    name: &'static str,
    start: SimTime,
    value: i64,
) {
    let (component, end) = (engine.owner(), engine.now());
    if let Some(trace) = engine.trace() {
        let lane = Lane { component, lane };
        trace.spans.push(Span { lane, name, start, end, value, open: false });
    }
}

impl L3Agent {
    /// Puts an update into the queue and has a free worker look.
    pub(super) fn enqueue<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        router: u32,
        kind: UpdateKind,
        timestamp: SimTime,
        brought_along: bool,
    ) {
        let update = Update {
            level: self.settings.rules.level(kind),
            timestamp,
            sequence: 0,
            enqueued: engine.now(),
            tries: i64::from(self.config.agent.tries) - 1,
            needs_fetch: !brought_along,
        };
        self.queue.add(router, update);
        self.dispatch(engine);
    }

    /// Gives waiting routers to free workers.
    pub(super) fn dispatch<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if self.liveness.stalled {
            return;
        }
        while let Some(&worker) = self.free_workers.front() {
            let Some((router, update)) = self.queue.take() else { return };
            self.free_workers.pop_front();
            self.begin(engine, worker, router, update);
        }
    }

    fn begin<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        worker: u32,
        router: u32,
        update: Update,
    ) {
        let now = engine.now();
        self.figures.queue_wait.record(now.since(update.enqueued));
        self.note_taken(engine, worker, router, update.enqueued);
        let state = &mut self.workers[worker as usize];
        state.router = router;
        state.update = Some(update);
        state.started = now;
        state.since = now;
        state.account = Account::default();
        state.entries = 0;
        if update.needs_fetch {
            state.state = now;
            state.stage = Stage::Fetch;
            self.call(engine, worker, Method::SyncRouters, 1, 0);
        } else {
            state.state = update.timestamp;
            self.process(engine, worker);
        }
    }

    fn call<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        worker: u32,
        method: Method,
        routers: u32,
        ports: u32,
    ) {
        let now = engine.now();
        let service = self.service(routers, ports);
        let outcome = self.rpc.call(now, method, service, &mut self.streams.backoff);
        let state = &mut self.workers[worker as usize];
        let (at, timed_out) = match outcome {
            Outcome::Answered(at) => (at, false),
            Outcome::TimedOut(at) => (at, true),
        };
        state.called = now;
        state.timed_out = timed_out;
        Self::arm(&mut state.timer, engine, at.since(now), Event::Worker(worker));
    }

    /// A worker's call has ended.
    pub(super) fn worker_answered<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        worker: u32,
    ) {
        self.note_stage_over(engine, worker);
        let state = &mut self.workers[worker as usize];
        let waited = engine.now().since(state.called);
        state.account.rpc = state.account.rpc.saturating_add(waited);
        match (state.timed_out, state.stage) {
            (true, _) => self.fail(engine, worker),
            (false, Stage::Ports(subnet)) => self.write_entries(engine, worker, subnet),
            (false, _) => self.process(engine, worker),
        }
    }

    /// For the timeline: what the worker has done until now.
    fn note_stage_over<G: Copy>(&mut self, engine: &mut Engine<G>, worker: u32) {
        let state = &mut self.workers[worker as usize];
        let since = std::mem::replace(&mut state.since, engine.now());
        let (Some(name), router) = (state.stage.name(), state.router) else { return };
        self.note_stage(engine, router, name, since);
    }

    /// The agent's own work and the commands for the router.
    fn process<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, worker: u32) {
        self.workers[worker as usize].stage = Stage::Router;
        let router = self.workers[worker as usize].router;
        let agent = &self.config.agent;
        let time = self.queue.taken(router);
        self.builder.begin(ProgramKey { stage: 0, item: router, time });
        let interpreter = Some(self.interpreter);
        self.builder.push(Step::Cpu { work: agent.router_cpu, interpreter });
        self.builder.push(Step::Wait(agent.router_wait));
        self.builder.repeat(&self.settings.command, agent.commands_per_router);
        self.host.submit(engine, Owner::Worker.tag(worker), self.builder.steps());
    }

    fn write_entries<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        worker: u32,
        subnet: u32,
    ) {
        let workload = &self.config.workload;
        let state = &mut self.workers[worker as usize];
        state.stage = Stage::Entries(subnet);
        let mut entries = workload.ports_per_subnet;
        if subnet + 1 == workload.subnets_per_router {
            // Updates that came before the router was ready are replayed.
            // From now on its device exists, and an update is written by itself.
            let router = state.router as usize;
            self.has_device[router] = true;
            state.cached = std::mem::take(&mut self.cached_entries[router]);
            entries = entries.saturating_add(state.cached);
        }
        state.entries += entries;
        let (item, time) = (state.router, self.queue.taken(state.router));
        self.builder.begin(ProgramKey { stage: subnet + 1, item, time });
        self.builder.arp(&self.settings.arp, entries);
        self.host.submit(engine, Owner::Worker.tag(worker), self.builder.steps());
    }

    /// The host has done what a worker asked for.
    pub(super) fn worker_computed<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        worker: u32,
        parts: &Attribution,
    ) {
        self.note_stage_over(engine, worker);
        let state = &mut self.workers[worker as usize];
        state.account.host.add(parts);
        let next = match state.stage {
            Stage::Entries(subnet) => subnet + 1,
            _ => 0,
        };
        if next < self.config.workload.subnets_per_router {
            state.stage = Stage::Ports(next);
            let ports = self.config.workload.ports_per_subnet;
            self.call(engine, worker, Method::GetPortsBySubnet, 0, ports);
            return;
        }
        let (item, time) = (state.router, self.queue.taken(state.router));
        self.builder.begin(ProgramKey { stage: ProgramKey::FAILURE, item, time });
        if self.builder.chance() < self.config.agent.failure_share {
            self.fail(engine, worker);
        } else {
            self.succeed(engine, worker);
        }
    }

    fn succeed<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, worker: u32) {
        let now = engine.now();
        let state = self.workers[worker as usize];
        let asked = state.update.map_or(state.started, |update| update.enqueued);
        let figures = &mut self.figures;
        figures.processed += 1;
        figures.arp_entries += u64::from(state.entries);
        figures.router_time.record(now.since(asked));
        figures.router_account.add(&state.account);
        figures.last =
            LastReady { asked, started: state.started, ready: now, account: state.account };
        self.note_ready(engine, state.router, asked, &state.account);
        let first = !self.queue.is_processed(state.router);
        self.workers[worker as usize].cached = 0;
        self.leave(engine, worker, Some(state.state));
        self.write_late_entries(engine, state.router);
        if first {
            self.router_ready(now, state.router);
        }
    }

    /// Puts the router into the queue again, `_resync_router` in Neutron's l3/agent.py.
    fn fail<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, worker: u32) {
        self.figures.failed += 1;
        let state = self.workers[worker as usize];
        self.note_router(engine, state.router, "timed out, put into the queue again");
        // What was written with a router that failed is written again with its next attempt.
        self.workers[worker as usize].cached = 0;
        self.cached_entries[state.router as usize] += state.cached;
        match state.update {
            Some(update) if update.tries >= 0 => {
                let again = Update {
                    level: self.settings.rules.level(UpdateKind::Sync),
                    timestamp: engine.now(),
                    enqueued: engine.now(),
                    tries: update.tries - 1,
                    needs_fetch: true,
                    ..update
                };
                self.queue.add(state.router, again);
            }
            _ => self.figures.given_up += 1,
        }
        self.leave(engine, worker, None);
    }

    fn leave<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        worker: u32,
        processed: Option<SimTime>,
    ) {
        let state = &mut self.workers[worker as usize];
        self.figures.worker_account.add(&state.account);
        let router = state.router;
        let name = if processed.is_some() { "router" } else { "router failed" };
        trace_span(engine, worker + 1, name, state.started, i64::from(router));
        match self.queue.finish(router, processed) {
            Some(update) => self.begin(engine, worker, router, update),
            None => {
                state.stage = Stage::Free;
                state.update = None;
                self.free_workers.push_back(worker);
                self.dispatch(engine);
            }
        }
    }

    /// Routers that workers have now.
    pub(super) fn busy_workers(&self) -> u64 {
        (self.workers.len() - self.free_workers.len()) as u64
    }
}
