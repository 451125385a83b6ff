//! After warm-up no event allocates: neither in the engine nor in the resources.
//!
//! A counting allocator needs `unsafe`; the library forbids it, this test is not part of it.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use convsim::engine::{
    Component, Engine, Limits, Root, RunEnd, SimDuration, Stream, StreamSeed, Timer,
};
use convsim::quantities::{DurationDistribution, DurationSampler};
use convsim::resources::{
    Handoff, InterpreterId, LockId, PoolId, ServerPool, Step, StepEvent, StepExecutor,
};

thread_local! {
    /// Allocations of this thread: the test harness has others.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

/// Without a destructor and constant from the start, so that counting does not allocate.
fn count() {
    ALLOCATIONS.with(|allocations| allocations.set(allocations.get() + 1));
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's duties are those of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const USERS: u32 = 20;
const WARM_UP_EVENTS: u64 = 200_000;
const EVENTS: u64 = 1_000_000;

#[derive(Clone, Copy)]
enum Event {
    /// The user issues a request.
    Issue {
        user: u32,
    },
    /// The user gives up.
    GiveUp {
        user: u32,
    },
    /// The server is done with what it serves.
    Served {
        server: u32,
    },
    Host(StepEvent),
}

impl From<StepEvent> for Event {
    fn from(event: StepEvent) -> Self {
        Self::Host(event)
    }
}

/// 20 users, 8 servers and a timer for each request that is cancelled on success.
struct ClosedSystem {
    pool: ServerPool<u32>,
    think: DurationSampler,
    service: DurationSampler,
    patience: SimDuration,
    stream: Option<Stream>,
    issue: Vec<Timer>,
    give_up: Vec<Timer>,
    servers: Vec<(Timer, Option<u32>)>,
    idle: Vec<u32>,
    given_up: u64,
    cancelled: u64,
}

impl ClosedSystem {
    fn new() -> Self {
        let exponential =
            |millis| DurationDistribution::Exponential { mean: SimDuration::from_millis(millis) };
        Self {
            pool: ServerPool::new(8),
            think: exponential(5).sampler(),
            service: exponential(10).sampler(),
            patience: SimDuration::from_millis(60),
            stream: None,
            issue: Vec::new(),
            give_up: Vec::new(),
            servers: Vec::new(),
            idle: Vec::new(),
            given_up: 0,
            cancelled: 0,
        }
    }

    fn serve<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, server: u32, user: u32) {
        let Some(stream) = &mut self.stream else { return };
        let of = &mut self.servers[server as usize];
        of.1 = Some(user);
        engine.arm(of.0, self.service.sample(stream), Event::Served { server });
    }

    fn think<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, user: u32) {
        let Some(stream) = &mut self.stream else { return };
        let think = self.think.sample(stream);
        engine.arm(self.issue[user as usize], think, Event::Issue { user });
    }
}

impl Component for ClosedSystem {
    type Event = Event;

    fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.stream = Some(engine.stream("closed", "all"));
        self.pool.reset();
        for timers in [&mut self.issue, &mut self.give_up] {
            timers.clear();
            timers.extend((0..USERS).map(|_| engine.add_timer()));
        }
        self.servers.clear();
        self.idle.clear();
        for server in 0..self.pool.servers() as u32 {
            self.servers.push((engine.add_timer(), None));
            self.idle.push(server);
        }
        (self.given_up, self.cancelled) = (0, 0);
        for user in 0..USERS {
            self.think(engine, user);
        }
    }

    fn handle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
        let now = engine.now();
        match event {
            Event::Issue { user } => {
                let timer = self.give_up[user as usize];
                engine.arm(timer, self.patience, Event::GiveUp { user });
                if self.pool.arrive(now, user) {
                    let server = self.idle.pop().expect("a server was free");
                    self.serve(engine, server, user);
                }
            }
            Event::GiveUp { user } => {
                self.given_up += 1;
                if !self.pool.withdraw(now, user) {
                    // The server goes on for nobody.
                    let mut serving = self.servers.iter_mut().map(|of| &mut of.1);
                    if let Some(of) = serving.find(|of| **of == Some(user)) {
                        *of = None;
                    }
                }
                self.think(engine, user);
            }
            Event::Served { server } => {
                if let Some(user) = self.servers[server as usize].1 {
                    let cancelled = engine.disarm(self.give_up[user as usize]);
                    self.cancelled += u64::from(cancelled);
                    self.think(engine, user);
                }
                match self.pool.finish(now) {
                    Some(user) => self.serve(engine, server, user),
                    None => self.idle.push(server),
                }
            }
            Event::Host(_) => {}
        }
    }
}

/// Users whose requests compute under an interpreter, take a lock, spawn, and fan out to a pool.
struct StepUsers {
    host: StepExecutor<Event>,
    lock: LockId,
    interpreter: InterpreterId,
    pool: PoolId,
    cost: DurationSampler,
    stream: Option<Stream>,
    finished: u64,
}

impl StepUsers {
    fn new() -> Self {
        let mut host = StepExecutor::new(2);
        let lock = host.add_lock(Handoff::Random);
        let interpreter = host.add_interpreter(SimDuration::from_millis(5), Handoff::Random);
        let pool = host.add_pool(4);
        let mean = SimDuration::from_millis(4);
        let cost = DurationDistribution::Exponential { mean }.sampler();
        Self { host, lock, interpreter, pool, cost, stream: None, finished: 0 }
    }

    fn submit<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, user: u64) {
        let Some(stream) = &mut self.stream else { return };
        let [work, wait, cpu, blocked] = [0; 4].map(|_| self.cost.sample(stream));
        let compute = Step::Cpu { work, interpreter: Some(self.interpreter) };
        let spawn = Step::Spawn { cpu, blocked };
        let fork = Step::Fork { pool: self.pool, steps: 2 };
        let (lock, unlock) = (Step::Lock(self.lock), Step::Unlock(self.lock));
        let pause = Step::Wait(wait);
        let steps = [
            pause,
            compute,
            lock,
            spawn,
            unlock,
            fork,
            compute,
            spawn,
            fork,
            pause,
            compute,
            Step::Join,
        ];
        self.host.submit(engine, user, &steps);
    }
}

impl Component for StepUsers {
    type Event = Event;

    fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.host.start(engine, "host");
        self.stream = Some(engine.stream("users", "cost"));
        self.finished = 0;
        for user in 0..u64::from(USERS) {
            self.submit(engine, user);
        }
    }

    fn handle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
        let Event::Host(event) = event else { return };
        self.host.handle(engine, event);
        while let Some(job) = self.host.pop_finished() {
            self.finished += 1;
            self.submit(engine, job.tag);
        }
    }
}

fn allocations(run: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    run();
    ALLOCATIONS.with(Cell::get) - before
}

fn must_not_allocate_after_warm_up<R: Root>(root: &mut R) {
    assert!(allocations(|| drop(std::hint::black_box(Box::new(1)))) > 0, "allocations are counted");
    let mut engine = Engine::new(StreamSeed::default());
    let to = |event_budget| Limits { event_budget, ..Limits::default() };
    assert_eq!(engine.run(root, to(WARM_UP_EVENTS)), RunEnd::EventBudget);

    let during = allocations(|| {
        assert_eq!(engine.resume(root, to(WARM_UP_EVENTS + EVENTS)), RunEnd::EventBudget);
    });
    assert_eq!(during, 0, "of {EVENTS} events");

    let again = allocations(|| {
        engine.reset(StreamSeed { master: 0, replication: 1 });
        assert_eq!(engine.run(root, to(WARM_UP_EVENTS)), RunEnd::EventBudget);
    });
    assert_eq!(again, 0, "in a further replication");
}

#[test]
fn a_closed_system_that_cancels_timeouts_does_not_allocate() {
    let mut system = ClosedSystem::new();
    must_not_allocate_after_warm_up(&mut system);
    assert!(system.cancelled > 10_000 && system.given_up > 100, "both happened");
}

#[test]
fn step_programs_do_not_allocate() {
    let mut users = StepUsers::new();
    must_not_allocate_after_warm_up(&mut users);
    assert!(users.finished > 10_000);
}
