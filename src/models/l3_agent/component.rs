//! The component: its state, its events, and when it is done.

use std::collections::VecDeque;

use super::config::Config;
use super::lanes::Lanes;
use super::liveness::LivenessState;
use super::metrics::{Account, Durations};
use super::program::ProgramBuilder;
use super::queue::RouterQueue;
use super::real_time::RealTime;
use super::rpc::Rpc;
use super::settings::Settings;
use super::sync::SyncState;
use super::timeline::Timeline;
use super::workers::Worker;
use super::workload::UpdateKind;
use super::workload_state::{Arrivals, BootState, PortUpdateJob};
use crate::engine::{Component, Engine, SimDuration, SimTime, Stream, StreamSource, Timer};
use crate::resources::{Handoff, InterpreterId, ProcessorSharingCpu, StepEvent, StepExecutor};

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// On the host's cores, locks and timers.
    Host(StepEvent),
    /// A worker's call has ended.
    Worker(u32),
    /// The agent looks whether it must sync fully.
    SyncCheck,
    /// A call of the full sync has ended.
    SyncReply,
    /// A report is due.
    ReportDue,
    /// A report reaches the server.
    ReportArrived,
    /// The agent has the answer to its report or goes on without.
    ReportAnswered,
    /// The server looks for dead agents.
    ServerCheck,
    /// The agent stops yielding.
    Stall,
    /// The agent goes on.
    StallOver,
    /// A port update arrives.
    PortUpdate,
    /// A router update arrives.
    RouterUpdate,
    /// A VM boots.
    Boot,
    /// A command at real-time priority leaves its core.
    Core(u32),
    /// A grace period that such commands wait for has ended.
    GracePeriod,
}

impl From<StepEvent> for Event {
    fn from(event: StepEvent) -> Self {
        Self::Host(event)
    }
}

/// Who submitted a job to the host: the upper half of its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Worker,
    PortUpdate,
    Lane,
    Report,
}

impl Owner {
    pub(super) const fn tag(self, index: u32) -> u64 {
        ((self as u64) << 32) | index as u64
    }

    pub(super) const fn of(tag: u64) -> (Self, u32) {
        let owner = match tag >> 32 {
            0 => Self::Worker,
            1 => Self::PortUpdate,
            2 => Self::Lane,
            _ => Self::Report,
        };
        (owner, tag as u32)
    }
}

/// Random streams by purpose.
#[derive(Debug)]
pub(super) struct Streams {
    pub backoff: Stream,
    pub liveness: Stream,
    pub port_updates: Stream,
    pub router_updates: Stream,
    pub boots: Stream,
}

impl Streams {
    fn new(seed: StreamSource, name: &str) -> Self {
        let stream = |purpose| seed.stream(name, purpose);
        Self {
            backoff: stream("rpc backoff"),
            liveness: stream("liveness"),
            port_updates: stream("port updates"),
            router_updates: stream("router updates"),
            boots: stream("vm boots"),
        }
    }
}

/// What is counted during a run.
#[derive(Debug)]
pub(super) struct Figures {
    pub router_time: Durations,
    pub queue_wait: Durations,
    /// Of processed routers.
    pub router_account: Account,
    /// Of all workers or lanes.
    pub worker_account: Account,
    pub arp_entries: u64,
    pub processed: u64,
    pub failed: u64,
    pub given_up: u64,
    pub port_update_time: Durations,
    /// Of all port updates.
    pub port_update_account: Account,
    pub port_updates_ignored: u64,
    pub port_updates_cached: u64,
    pub last: LastReady,
}

/// What was ready last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastReady {
    pub asked: SimTime,
    pub started: SimTime,
    pub ready: SimTime,
    pub account: Account,
}

impl Figures {
    fn new() -> Self {
        Self {
            router_time: Durations::new(),
            queue_wait: Durations::new(),
            router_account: Account::default(),
            worker_account: Account::default(),
            arp_entries: 0,
            processed: 0,
            failed: 0,
            given_up: 0,
            port_update_time: Durations::new(),
            port_update_account: Account::default(),
            port_updates_ignored: 0,
            port_updates_cached: 0,
            last: LastReady::default(),
        }
    }

    fn reset(&mut self) {
        self.router_time.reset();
        self.queue_wait.reset();
        self.port_update_time.reset();
        self.router_account = Account::default();
        self.worker_account = Account::default();
        self.port_update_account = Account::default();
        self.arp_entries = 0;
        self.processed = 0;
        self.failed = 0;
        self.given_up = 0;
        self.port_updates_ignored = 0;
        self.port_updates_cached = 0;
        self.last = LastReady::default();
    }
}

/// The L3 agent with its host and its server.
#[derive(Debug)]
pub struct L3Agent {
    pub(super) name: String,
    pub(super) config: Config,
    pub(super) settings: Settings,
    pub(super) host: StepExecutor<Event>,
    pub(super) interpreter: InterpreterId,
    pub(super) builder: ProgramBuilder,
    pub(super) rpc: Rpc,
    pub(super) queue: RouterQueue,
    pub(super) workers: Vec<Worker>,
    /// Workers without a router, the one that is free longest first.
    pub(super) free_workers: VecDeque<u32>,
    pub(super) sync: SyncState,
    pub(super) liveness: LivenessState,
    pub(super) port_updates: Arrivals,
    pub(super) port_update_jobs: PortUpdateJob,
    pub(super) router_updates: Arrivals,
    pub(super) boots: BootState,
    /// Port updates that wait for their router to be ready.
    pub(super) cached_entries: Vec<u32>,
    /// Routers whose device exists, so that port updates no longer wait.
    pub(super) has_device: Vec<bool>,
    /// Routers that the server moved to other agents.
    pub(super) moved: u32,
    pub(super) lanes: Lanes,
    pub(super) real_time: RealTime,
    pub(super) streams: Streams,
    pub(super) figures: Figures,
    pub(super) timeline: Timeline,
    pub(super) finished: bool,
}

impl L3Agent {
    pub(super) fn build(name: &str, config: Config) -> Self {
        let settings = Settings::of(&config);
        let mut host = StepExecutor::on(ProcessorSharingCpu::with_capacity(settings.cores));
        // A greenthread keeps the interpreter until it waits for something.
        let interpreter = host.add_interpreter(SimDuration::MAX, Handoff::Fifo);
        let lock = host.add_lock(Handoff::Fifo);
        let seed = StreamSource::default();
        let builder =
            ProgramBuilder::new(config.host.variation, lock, seed.stream(name, "command cost"));
        let rpc = Rpc::new(
            config.server.rpc_workers,
            config.agent.rpc_timeout,
            settings.rules.rpc_backoff,
        );
        Self {
            name: name.to_owned(),
            host,
            interpreter,
            builder,
            rpc,
            queue: RouterQueue::default(),
            workers: vec![Worker::default(); settings.rules.workers as usize],
            free_workers: VecDeque::new(),
            sync: SyncState::default(),
            liveness: LivenessState::default(),
            port_updates: Arrivals::default(),
            port_update_jobs: PortUpdateJob::default(),
            router_updates: Arrivals::default(),
            boots: BootState::new(),
            cached_entries: Vec::new(),
            has_device: Vec::new(),
            moved: 0,
            lanes: Lanes::default(),
            real_time: RealTime::default(),
            streams: Streams::new(seed, name),
            figures: Figures::new(),
            timeline: Timeline::default(),
            finished: false,
            config,
            settings,
        }
    }

    /// How long a call takes at the server, for so many routers and ports: agents that ask the
    /// same at once share its workers.
    pub(super) fn service(&self, routers: u32, ports: u32) -> SimDuration {
        let server = &self.config.server;
        let alone = server
            .base
            .saturating_add(server.per_router.saturating_mul(u64::from(routers)))
            .saturating_add(server.per_port.saturating_mul(u64::from(ports)));
        let stretch = f64::from(server.agents) / f64::from(server.rpc_workers);
        if stretch <= 1.0 {
            return alone;
        }
        SimDuration::from_seconds(alone.as_seconds() * stretch)
    }

    /// Arms a timer that lives as long as the run, made at the first use.
    pub(super) fn arm<G: Copy + From<Event>>(
        timer: &mut Option<Timer>,
        engine: &mut Engine<G>,
        delay: SimDuration,
        event: Event,
    ) {
        let timer = *timer.get_or_insert_with(|| engine.add_timer());
        engine.arm(timer, delay, event);
    }

    /// True when nothing that was asked for is left to do.
    fn is_idle(&self) -> bool {
        self.queue.waiting() == 0
            && self.free_workers.len() == self.workers.len()
            && self.sync.is_idle()
            && self.port_updates.remaining == 0
            && self.router_updates.remaining == 0
            && self.boots.arrivals.remaining == 0
            && self.port_update_jobs.is_idle()
            && self.liveness.stall_is_over
            && !self.liveness.brings_a_sync()
    }

    /// Another component's signal: input 0 is a router update, input 1 a full sync.
    pub(super) fn signalled<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        input: u16,
        value: u64,
    ) {
        if self.settings.commands.is_some() || self.settings.routers == 0 {
            return;
        }
        if self.finished {
            self.finished = false;
            self.resume_liveness(engine);
        }
        if input == 0 {
            let router = (value % u64::from(self.settings.routers)) as u32;
            self.enqueue(engine, router, UpdateKind::Rpc, engine.now(), false);
        } else {
            self.want_sync(engine);
        }
    }

    /// Ends the periodic work once everything is done, so that the run ends.
    fn finish_when_idle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if self.finished || self.settings.commands.is_some() || !self.is_idle() {
            return;
        }
        self.finished = true;
        self.note_last_report(engine);
        self.timeline.forget_sent();
        self.liveness.end(engine);
        self.sync.end(engine);
    }

    fn collect<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        while let Some(job) = self.host.pop_finished() {
            let (owner, index) = Owner::of(job.tag);
            match owner {
                Owner::Worker => self.worker_computed(engine, index, &job.parts),
                Owner::PortUpdate => self.port_update_done(engine, index, &job.parts),
                Owner::Lane => self.lane_done(engine, index, &job.parts),
                Owner::Report => self.send_report(engine),
            }
        }
    }
}

impl Component for L3Agent {
    type Event = Event;

    fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let seed = engine.streams();
        self.host.start(engine, &self.name);
        self.builder.reset(seed.stream(&self.name, "command cost"));
        self.streams = Streams::new(seed, &self.name);
        self.figures.reset();
        self.finished = false;
        if self.settings.commands.is_some() {
            self.start_timeline(engine);
            self.start_lanes(engine);
            self.record(engine);
            return;
        }
        let routers = self.settings.all_routers;
        self.rpc.reset();
        self.queue.reset(routers);
        self.cached_entries.clear();
        self.cached_entries.resize(routers as usize, 0);
        self.has_device.clear();
        self.has_device.resize(routers as usize, false);
        self.moved = 0;
        self.free_workers.clear();
        self.free_workers.extend(0..self.settings.rules.workers);
        for worker in &mut self.workers {
            *worker = Worker::default();
        }
        self.start_timeline(engine);
        self.start_sync(engine);
        self.start_liveness(engine);
        self.start_arrivals(engine);
        self.finish_when_idle(engine);
    }

    fn handle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
        match event {
            Event::Host(event) => {
                self.host.handle(engine, event);
                self.collect(engine);
            }
            Event::Worker(_)
            | Event::SyncCheck
            | Event::SyncReply
            | Event::ReportDue
            | Event::ReportAnswered => self.hear(engine, event),
            Event::ReportArrived => self.report_arrived(engine),
            Event::ServerCheck => self.server_check(engine),
            Event::Stall => self.begin_stall(engine),
            Event::StallOver => self.stall_over(engine),
            Event::PortUpdate => self.port_update(engine),
            Event::RouterUpdate => self.router_update(engine),
            Event::Boot => self.boot(engine),
            Event::Core(core) => self.core_freed(engine, core),
            Event::GracePeriod => self.grace_period_over(engine),
        }
        self.finish_when_idle(engine);
        self.record(engine);
    }
}
