//! The component: all state of a run, and the dispatch of its events.

use super::asked::AskedRequests;
use super::clients::{Client, ClientState, ClientThread};
use super::config::{Config, Scheduling};
use super::connection::{Connections, NONE};
use super::draws::Draws;
use super::listen_queue::ListenQueue;
use super::measurement::{Outside, Tally};
use super::metrics::METRICS;
use super::network::{Segment, data_clock};
use super::presets::{Accepting, Server, resolve};
use super::program::ProgramMaker;
use super::proxy::Proxy;
use super::server::Process;
use super::timeline::Timeline;
use super::timer_wheel::TimerWheel;
use crate::engine::{Component, Engine, SimDuration, SimTime, Stream, StreamSeed, Timer, Trace};
use crate::models::{Finding, Metric, Model, SignalDefinition, Unused};
use crate::quantities::DurationSampler;
use crate::resources::{Handoff, Step, StepEvent, StepExecutor, TimeSlicedCpu, base_slice};

use rand::RngExt;

/// What happens.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// On the host: a job computed, slept, was switched.
    Host(StepEvent),
    /// Retransmissions fire.
    Wheel,
    /// The next request of an open stream.
    Arrival,
    /// A client's pause is over, or its limit is reached.
    Client(u32),
    /// A segment arrives over a link with a round trip time.
    Segment(u32, Segment),
    /// A peer has sent nothing for too long.
    PeerSilent(u32),
    /// gunicorn's master looks at a worker.
    Watchdog(u16),
    /// A worker's successor is up.
    Booted(u16),
    /// A gthread worker's accepting thread looks for kept connections to close.
    Look(u16),
    /// The proxy has waited long enough for something.
    Exchange(u32),
}

impl From<StepEvent> for Event {
    fn from(event: StepEvent) -> Self {
        Self::Host(event)
    }
}

/// What a job on the host is for, packed into its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// The client program does what is first in its line.
    Client,
    /// A process wakes up to accept.
    Wakeup(u16),
    /// A turn of an accepting thread.
    Turn(u16),
    /// A thread started for a connection runs for the first time.
    Start(u16, u32),
    /// A request is executed.
    Serve(u16, u32),
    /// A thread gives back its connection, or has closed it ([`NONE`]).
    Close(u16, u32),
    /// A proxy worker does what is first in its line.
    Proxy(u16),
}

impl Tag {
    pub fn pack(self) -> u64 {
        let (kind, process, low) = match self {
            Self::Client => (0, 0, 0),
            Self::Wakeup(process) => (1, process, 0),
            Self::Turn(process) => (2, process, 0),
            Self::Serve(process, connection) => (3, process, connection),
            Self::Close(process, kept) => (4, process, kept),
            Self::Start(process, connection) => (5, process, connection),
            Self::Proxy(worker) => (6, worker, 0),
        };
        (kind << 48) | (u64::from(process) << 32) | u64::from(low)
    }

    pub fn unpack(tag: u64) -> Self {
        let (process, low) = ((tag >> 32) as u16, tag as u32);
        match tag >> 48 {
            0 => Self::Client,
            1 => Self::Wakeup(process),
            2 => Self::Turn(process),
            3 => Self::Serve(process, low),
            4 => Self::Close(process, low),
            5 => Self::Start(process, low),
            _ => Self::Proxy(process),
        }
    }
}

/// An HTTP worker pool behind a listen backlog, with its clients.
#[derive(Clone, Debug)]
pub struct HttpPool {
    name: String,
    pub(super) config: Config,
    pub(super) server: Server,
    /// From one end of the link to the other.
    pub(super) one_way: SimDuration,
    /// When data on a new connection is first sent again, and its retransmission timeout then:
    /// of clients, and of the proxy to the server.
    pub(super) client_clock: (SimDuration, SimDuration),
    pub(super) upstream_clock: (SimDuration, SimDuration),

    pub(super) host: StepExecutor<Event>,
    pub(super) programs: ProgramMaker,
    pub(super) steps: Vec<Step>,
    pub(super) processes: Vec<Process>,
    /// Idle processes of a server that accepts one by one.
    pub(super) idle: Vec<u16>,

    pub(super) queue: ListenQueue,
    /// Whether clients connect to the proxy; without one it is idle.
    pub(super) proxied: bool,
    pub(super) proxy: Proxy,
    pub(super) wheel: TimerWheel,
    pub(super) wheel_timer: Option<Timer>,
    pub(super) connections: Connections,
    pub(super) asked: AskedRequests,
    pub(super) due: Vec<u32>,
    pub(super) connected: Vec<u32>,

    pub(super) clients: Vec<Client>,
    pub(super) free_clients: Vec<u32>,
    pub(super) client_thread: ClientThread,
    /// Clients with an attempt under way.
    pub(super) active_clients: u64,
    pub(super) shared_requests: u64,
    /// Requests so far that came by a client of their own.
    pub(super) singles: u64,
    pub(super) to_arrive: u64,
    pub(super) arrival_timer: Option<Timer>,

    pub(super) think: DurationSampler,
    pub(super) wakeup: DurationSampler,
    pub(super) cold_wakeup: DurationSampler,
    pub(super) first_wakeup: DurationSampler,
    pub(super) arrivals: Stream,
    pub(super) client_draws: Draws,
    pub(super) wakeup_stream: Stream,
    pub(super) race: Stream,
    pub(super) respawn: Stream,

    pub(super) tally: Tally,
    pub(super) timeline: Timeline,
}

impl HttpPool {
    fn build(name: &str, config: Config) -> Self {
        let server = resolve(&config.server);
        let cores = config.host.cores;
        let mut host = match config.host.scheduling {
            Scheduling::Fluid => StepExecutor::new(cores),
            Scheduling::TimeSlices => {
                let tick = config.network.tick;
                StepExecutor::with_time_slices(TimeSlicedCpu::new(cores, tick, base_slice(cores)))
            }
        };
        let mut programs = ProgramMaker::new(&config, &server, &mut host);
        let processes = (0..server.workers)
            .map(|_| {
                // Where one thread is alone, nobody else wants its interpreter.
                let threaded = server.accepting != Accepting::OneByOne
                    || config.handler.preset == super::HandlerPreset::MuxToggleAll;
                let interval = config.host.switch_interval;
                let interpreter = threaded.then(|| host.add_interpreter(interval, Handoff::Fifo));
                if let (Some(interpreter), Some(handoff)) = (interpreter, &server.handoff_cpu) {
                    host.set_handoff(interpreter, handoff.sampler());
                }
                Process::new(programs.add_process(&mut host, interpreter))
            })
            .collect();
        let network = &config.network;
        let stream = || StreamSeed::default().stream("", "");
        Self {
            name: name.to_owned(),
            one_way: SimDuration::from_nanos(network.round_trip.as_nanos() / 2),
            client_clock: data_clock(network, network.round_trip),
            upstream_clock: data_clock(network, SimDuration::ZERO),
            host,
            programs,
            steps: Vec::new(),
            processes,
            idle: Vec::new(),
            queue: ListenQueue::new(server.backlog, network.somaxconn, network.syncookies),
            proxied: config.server.proxy.is_some(),
            proxy: Proxy::new(
                config.server.proxy.clone().unwrap_or_default(),
                network.somaxconn,
                network.syncookies,
            ),
            wheel: TimerWheel::default(),
            wheel_timer: None,
            connections: Connections::default(),
            asked: AskedRequests::default(),
            due: Vec::new(),
            connected: Vec::new(),
            clients: Vec::new(),
            free_clients: Vec::new(),
            client_thread: ClientThread::default(),
            active_clients: 0,
            shared_requests: 0,
            singles: 0,
            to_arrive: 0,
            arrival_timer: None,
            think: config.clients.think_time.sampler(),
            wakeup: server.wakeup.sampler(),
            cold_wakeup: server.cold_wakeup.sampler(),
            first_wakeup: server.first_wakeup.sampler(),
            arrivals: stream(),
            client_draws: Draws::default(),
            wakeup_stream: stream(),
            race: stream(),
            respawn: stream(),
            tally: Tally::default(),
            timeline: Timeline::default(),
            config,
            server,
        }
    }

    /// Events of the host, as long as nothing else happens.
    fn host_goes_on<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, first: StepEvent) {
        let mut next = Some(first);
        while let Some(event) = next {
            self.host.begin(engine, event);
            while let Some(job) = self.host.next_finished() {
                let tag = Tag::unpack(job.tag);
                if let Tag::Serve(_, connection) = tag {
                    self.connections[connection].parts = job.parts;
                }
                self.host.drop_finished();
                self.finished(engine, tag);
            }
            self.record_levels(engine);
            next = self.host.go_on(engine);
        }
    }

    fn finished<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, job: Tag) {
        match job {
            Tag::Client => self.client_acted(engine),
            Tag::Wakeup(process) => self.accept_next(engine, process),
            Tag::Turn(process) => self.turn_over(engine, process),
            Tag::Start(process, connection) => self.thread_started(engine, process, connection),
            Tag::Serve(process, connection) => self.served(engine, process, connection),
            Tag::Close(process, kept) => self.closed(engine, process, kept),
            Tag::Proxy(worker) => self.proxy_acted(engine, worker),
        }
    }
}

impl Component for HttpPool {
    type Event = Event;

    fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.wheel_timer = Some(engine.add_timer());
        self.arrival_timer = Some(engine.add_timer());
        self.arrivals = engine.stream(&self.name, "arrivals");
        self.client_draws.start(engine, &self.name);
        self.wakeup_stream = engine.stream(&self.name, "wakeup");
        self.race = engine.stream(&self.name, "race");
        self.respawn = engine.stream(&self.name, "respawn");
        let mut phase = engine.stream(&self.name, "phase");
        let tick = self.config.network.tick;
        // Anywhere within the coarsest level of the wheel that a retransmission uses.
        let offset = phase.random_range(0..=tick.as_nanos().saturating_mul(4096));
        let tick = if self.config.network.timer_wheel { tick } else { SimDuration::ZERO };
        self.wheel.reset(tick, SimDuration::from_nanos(offset));
        self.host.start(engine, &self.name);
        self.programs.start(engine, &self.name);
        self.queue.reset();
        self.proxy.reset();
        self.connections.reset();
        self.asked.reset();
        self.clients.clear();
        self.free_clients.clear();
        self.client_thread.actions.clear();
        self.client_thread.busy = false;
        self.active_clients = 0;
        self.singles = 0;
        self.tally.reset();
        self.idle.clear();
        for (index, process) in self.processes.iter_mut().enumerate() {
            process.restart();
            process.watchdog = Some(engine.add_timer());
            process.look = Some(engine.add_timer());
            // The master's first look of the run.
            let interval = self.server.watchdog_interval.as_nanos();
            process.watchdog_phase = SimTime::from_nanos(phase.random_range(0..=interval));
            self.idle.push(index as u16);
        }
        self.idle.reverse();
        if self.server.accepting != Accepting::OneByOne {
            self.idle.clear();
        }
        self.think.rewind();
        self.start_timeline(engine);
        self.start_clients(engine);
        self.record_levels(engine);
    }

    fn handle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
        match event {
            Event::Host(event) => return self.host_goes_on(engine, event),
            Event::Wheel => self.wheel_fired(engine),
            Event::Arrival => self.arrival(engine),
            Event::Client(client) => self.client_timer(engine, client),
            Event::Segment(connection, segment) => {
                self.segment_arrived(engine, connection, segment);
            }
            Event::PeerSilent(connection) => self.peer_silent(engine, connection),
            Event::Watchdog(process) => self.look_at_worker(engine, process),
            Event::Booted(process) => self.booted(engine, process),
            Event::Look(process) => self.look_at_kept(engine, process),
            Event::Exchange(exchange) => self.exchange_timer(engine, exchange),
        }
        self.record_levels(engine);
    }
}

impl Model for HttpPool {
    type Config = Config;
    const NAME: &'static str = "http_pool";
    const SUMMARY: &'static str =
        "An HTTP server (Werkzeug, gunicorn) behind a Linux listen backlog, with its clients";
    const OUTPUTS: &'static [SignalDefinition] = &[SignalDefinition {
        name: "executed",
        summary: "A request has been executed for a client that is there; the value is its port.",
    }];
    const INPUTS: &'static [SignalDefinition] = &[SignalDefinition {
        name: "request",
        summary: "A client sends one request about the port in the value.",
    }];
    const METRICS: &'static [Metric] = METRICS;

    fn check(config: &Config) -> Vec<Finding> {
        super::check::check(config)
    }

    fn unused(config: &Config) -> Vec<Unused> {
        super::no_effect::unused(config)
    }

    fn sometimes_unused() -> Vec<&'static str> {
        super::no_effect::keys()
    }

    fn new(name: &str, config: Config) -> Self {
        Self::build(name, config)
    }

    fn receive<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, _: u16, value: u64) {
        self.single_request(engine, value);
        self.record_levels(engine);
    }

    fn converged(&self) -> bool {
        // Who thinks or pauses has no connection, and yet has not got what was asked for.
        let done = |client: &Client| client.state == ClientState::Done && client.connection == NONE;
        self.clients.iter().all(done) && self.to_arrive == 0
    }

    fn measure(&self, end: SimTime, figures: &mut [f64]) {
        let outside = Outside {
            accept_queue_greatest: self.queue.greatest() as f64,
            overflows: self.queue.overflows as f64,
            half_open_drops: self.queue.half_open_drops as f64,
            cookies: self.queue.cookies as f64,
            cpu_utilisation: self.host.cpu().utilisation(end),
            proxy_queue_greatest: self.proxy.queue.greatest() as f64,
            proxy_overflows: self.proxy.queue.overflows as f64,
        };
        self.tally.measure(&outside, figures);
    }

    fn trace_open(&self, trace: &mut Trace, component: u16, end: SimTime) {
        self.record_open(trace, component, end);
    }
}
