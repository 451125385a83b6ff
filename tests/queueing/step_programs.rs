//! Step programs as closed networks of queues.

use convsim::engine::{
    Component, Engine, Limits, RunEnd, SimDuration, SimTime, Stream, StreamSeed,
};
use convsim::quantities::{DurationDistribution, DurationSampler};
use convsim::resources::{
    Attribution, Handoff, InterpreterId, LockId, Step, StepEvent, StepExecutor,
};

use crate::closed_forms::{birth_death, mean, mean_value_analysis};
use crate::interval::{SERVICE, exponential, replicate};

/// Jobs before anything is counted.
const WARM_UP: u64 = 5_000;

#[derive(Clone, Copy)]
struct Event(StepEvent);

impl From<StepEvent> for Event {
    fn from(event: StepEvent) -> Self {
        Self(event)
    }
}

/// What users do, over and over; every duration is exponential with mean `SERVICE` times a factor.
#[derive(Clone, Copy)]
enum Work {
    /// After thinking, compute.
    Compute { think: u64 },
    /// After thinking, take a lock for a while (a delay), then compute.
    LockAndCompute { think: u64 },
    /// After thinking, compute under an interpreter.
    Interpret { think: u64, interpreter: InterpreterId },
}

struct Users {
    host: StepExecutor<Event>,
    lock: LockId,
    work: Work,
    population: u64,
    wanted: u64,
    one: DurationSampler,
    streams: Option<[Stream; 3]>,
    finished: u64,
    since: SimTime,
    parts: Attribution,
}

impl Users {
    fn new(cores: u32, work: Work, population: u64, wanted: u64) -> Self {
        let mut host = StepExecutor::new(cores);
        let lock = host.add_lock(Handoff::Fifo);
        Self {
            host,
            lock,
            work,
            population,
            wanted,
            one: exponential().sampler(),
            streams: None,
            finished: 0,
            since: SimTime::ZERO,
            parts: Attribution::default(),
        }
    }

    fn submit<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, user: u64) {
        let Some([thinking, computing, holding]) = &mut self.streams else { return };
        let interpreter = match self.work {
            Work::Interpret { interpreter, .. } => Some(interpreter),
            _ => None,
        };
        let compute = Step::Cpu { work: self.one.sample(computing), interpreter };
        let think = |times: u64, one: SimDuration| Step::Wait(one.saturating_mul(times));
        let first = self.one.sample(thinking);
        match self.work {
            Work::Compute { think: times } | Work::Interpret { think: times, .. } => {
                self.host.submit(engine, user, &[think(times, first), compute]);
            }
            Work::LockAndCompute { think: times } => {
                let hold = Step::Wait(self.one.sample(holding));
                let (lock, unlock) = (Step::Lock(self.lock), Step::Unlock(self.lock));
                let steps = [think(times, first), lock, hold, unlock, compute];
                self.host.submit(engine, user, &steps);
            }
        }
    }

    /// Jobs in a mean service time.
    fn throughput(&self, now: SimTime) -> f64 {
        self.wanted as f64 / now.since(self.since).as_seconds() * SERVICE.as_seconds()
    }
}

impl Component for Users {
    type Event = Event;

    fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.host.start(engine, "host");
        self.streams =
            Some(["think", "compute", "hold"].map(|purpose| engine.stream("users", purpose)));
        self.finished = 0;
        self.parts = Attribution::default();
        for user in 0..self.population {
            self.submit(engine, user);
        }
    }

    fn handle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
        self.host.handle(engine, event.0);
        while let Some(job) = self.host.pop_finished() {
            assert_eq!(job.parts.total(), job.elapsed);
            self.finished += 1;
            if self.finished == WARM_UP {
                self.since = engine.now();
                self.parts = Attribution::default();
            }
            if self.finished == WARM_UP + self.wanted {
                engine.stop();
            }
            self.parts.add(&job.parts);
            self.submit(engine, job.tag);
        }
    }
}

#[test]
fn users_on_shared_cores_are_machine_repair() {
    let (cores, users, think) = (2, 12, 4);
    let birth = |state| (users - state) as f64 / think as f64;
    let p = birth_death(users, birth, |state| state.min(cores) as f64);
    let busy = mean(&p, |state| state.min(cores) as f64);
    let present = mean(&p, |state| state as f64);

    let work = Work::Compute { think };
    let mut station = Users::new(cores as u32, work, users as u64, 100_000);
    let [throughputs, sojourns] = replicate(&mut station, |station, engine| {
        let computing = station.parts.cpu.saturating_add(station.parts.cpu_wait).as_seconds();
        let sojourn = computing / station.wanted as f64 / SERVICE.as_seconds();
        [station.throughput(engine.now()), sojourn]
    });
    throughputs.must_be("throughput", busy, 0.01);
    sojourns.must_be("time on the cores", present / busy, 0.02);
}

#[test]
fn threads_of_one_interpreter_are_machine_repair_with_one_server() {
    // Exponential work has no memory, so switching in its midst changes no mean.
    let (users, think) = (8, 6);
    let p = birth_death(users, |state| (users - state) as f64 / think as f64, |_| 1.0);
    let busy = 1.0 - p[0];
    let present = mean(&p, |state| state as f64);

    let mut station = Users::new(4, Work::Compute { think }, users as u64, 100_000);
    let interval = SimDuration::from_micros(500);
    let interpreter = station.host.add_interpreter(interval, Handoff::Fifo);
    station.work = Work::Interpret { think, interpreter };
    let [throughputs, sojourns] = replicate(&mut station, |station, engine| {
        let parts = &station.parts;
        assert_eq!(parts.cpu_wait, SimDuration::ZERO, "there are cores enough");
        let inside = parts.cpu.saturating_add(parts.interpreter_wait).as_seconds();
        let sojourn = inside / station.wanted as f64 / SERVICE.as_seconds();
        [station.throughput(engine.now()), sojourn]
    });
    throughputs.must_be("throughput", busy, 0.01);
    sojourns.must_be("time in the process", present / busy, 0.02);
}

#[test]
fn a_lock_a_core_and_thinking_are_a_product_form_network() {
    let mut station = Users::new(1, Work::LockAndCompute { think: 3 }, 6, 100_000);
    let [throughputs] =
        replicate(&mut station, |station, engine| [station.throughput(engine.now())]);
    throughputs.must_be("throughput", mean_value_analysis(&[1.0, 1.0], 3.0, 6), 0.01);
}

/// A toggle: under the lock of its bridge, two processes that each compute and are blocked.
struct Toggles {
    host: StepExecutor<Event>,
    bridges: u64,
    pool: convsim::resources::PoolId,
    cost: DurationSampler,
    stream: Option<Stream>,
    steps: Vec<Step>,
    children: Attribution,
}

impl Component for Toggles {
    type Event = Event;

    fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.host.start(engine, "host");
        let stream = self.stream.insert(engine.stream("toggles", "cost"));
        self.steps.clear();
        for bridge in 0..self.bridges as u32 {
            let lock = self.host.lock(bridge);
            self.steps.extend([Step::Fork { pool: self.pool, steps: 4 }, Step::Lock(lock)]);
            for _ in 0..2 {
                let [cpu, blocked] = [0; 2].map(|_| self.cost.sample(stream));
                self.steps.push(Step::Spawn { cpu, blocked });
            }
            self.steps.push(Step::Unlock(lock));
        }
        self.host.submit(engine, 0, &self.steps);
    }

    fn handle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
        self.host.handle(engine, event.0);
        while let Some(job) = self.host.pop_finished() {
            assert_eq!(job.parts.total(), job.parts.join_wait);
            self.children = job.children;
        }
    }
}

#[test]
fn a_fan_out_does_all_of_its_work_whatever_the_size_of_the_pool() {
    let mut elapsed = Vec::new();
    for threads in [1, 2, 4, 120] {
        let mut host = StepExecutor::new(2);
        for _ in 0..120 {
            host.add_lock(Handoff::Random);
        }
        let pool = host.add_pool(threads);
        let cost = DurationDistribution::Gamma { mean: SERVICE, cv: 0.5 }.sampler();
        let mut toggles = Toggles {
            host,
            bridges: 120,
            pool,
            cost,
            stream: None,
            steps: Vec::new(),
            children: Attribution::default(),
        };
        let mut engine = Engine::new(StreamSeed::default());
        assert_eq!(engine.run(&mut toggles, Limits::default()), RunEnd::Idle);
        let mut stream = StreamSeed::default().stream("toggles", "cost");
        let mut spent = [SimDuration::ZERO; 2];
        for _ in 0..240 {
            for part in &mut spent {
                *part = part.saturating_add(toggles.cost.sample(&mut stream));
            }
        }
        assert_eq!([toggles.children.spawn_cpu, toggles.children.spawn_blocked], spent);
        assert_eq!(toggles.children.lock_wait, SimDuration::ZERO);
        if threads == 1 {
            assert_eq!(engine.now().since(SimTime::ZERO), spent[0].saturating_add(spent[1]));
        }
        elapsed.push(engine.now());
    }
    assert!(elapsed.is_sorted_by(|slower, faster| slower > faster), "{elapsed:?}");
}
