//! Whatever jobs do, and whoever is killed: no job is lost, nothing stays held, every nanosecond
//! is attributed.

use convsim::engine::{Component, Engine, Limits, RunEnd, SimDuration, StreamSeed, Timer};
use convsim::resources::{
    Handoff, InterpreterId, JobId, LockId, PoolId, Step, StepEvent, StepExecutor,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

#[derive(Clone, Copy)]
enum Event {
    Host(StepEvent),
    Submit { job: u32 },
    Kill { job: u32 },
}

impl From<StepEvent> for Event {
    fn from(event: StepEvent) -> Self {
        Self::Host(event)
    }
}

/// Part of a program that leaves no lock held.
#[derive(Clone, Debug)]
enum Block {
    Cpu { work: u64, interpreter: Option<u8> },
    Wait(u64),
    Spawn { cpu: u64, blocked: u64 },
    Locked { lock: u8, inside: Vec<Block> },
    Fork { pool: u8, child: Vec<Block> },
    Join,
}

#[derive(Clone, Debug)]
struct Job {
    at: u64,
    program: Vec<Block>,
    kill_after: Option<u64>,
}

/// Few distinct durations, so that much happens at one instant.
fn duration() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0_u64), 1..4_u64, (1..40_u64).prop_map(|tenths| tenths * 100_000)]
}

fn plain() -> impl Strategy<Value = Block> {
    prop_oneof![
        (duration(), prop::option::of(0..2_u8))
            .prop_map(|(work, interpreter)| Block::Cpu { work, interpreter }),
        duration().prop_map(Block::Wait),
        (duration(), duration()).prop_map(|(cpu, blocked)| Block::Spawn { cpu, blocked }),
    ]
}

fn programs() -> impl Strategy<Value = Vec<Block>> {
    let locked = (0..2_u8, prop::collection::vec(plain(), 0..3))
        .prop_map(|(lock, inside)| Block::Locked { lock, inside });
    let block = prop_oneof![3 => plain(), 1 => locked].boxed();
    let child = prop::collection::vec(block.clone(), 0..4);
    let fork = (0..2_u8, child).prop_map(|(pool, child)| Block::Fork { pool, child });
    prop::collection::vec(prop_oneof![3 => block, 2 => fork, 1 => Just(Block::Join)], 0..8)
}

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    let job = (duration(), programs(), prop::option::weighted(0.3, duration()))
        .prop_map(|(at, program, kill_after)| Job { at, program, kill_after });
    prop::collection::vec(job, 1..12)
}

struct Script {
    host: StepExecutor<Event>,
    locks: [LockId; 2],
    interpreters: [InterpreterId; 2],
    pools: [PoolId; 2],
    jobs: Vec<Job>,
    timers: Vec<(Timer, Option<JobId>)>,
    finished: Vec<u64>,
    killed: Vec<u64>,
}

impl Script {
    fn new(cores: u32, handoff: Handoff, jobs: Vec<Job>) -> Self {
        let mut host = StepExecutor::new(cores);
        let locks = [(); 2].map(|()| host.add_lock(handoff));
        let intervals = [SimDuration::MAX, SimDuration::from_micros(500)];
        let interpreters = intervals.map(|interval| host.add_interpreter(interval, handoff));
        let pools = [1, 3].map(|threads| host.add_pool(threads));
        Self {
            host,
            locks,
            interpreters,
            pools,
            jobs,
            timers: Vec::new(),
            finished: Vec::new(),
            killed: Vec::new(),
        }
    }

    fn steps(&self, blocks: &[Block], steps: &mut Vec<Step>) {
        let nanos = SimDuration::from_nanos;
        for block in blocks {
            match block {
                Block::Cpu { work, interpreter } => {
                    let interpreter = interpreter.map(|i| self.interpreters[usize::from(i)]);
                    steps.push(Step::Cpu { work: nanos(*work), interpreter });
                }
                Block::Wait(duration) => steps.push(Step::Wait(nanos(*duration))),
                Block::Spawn { cpu, blocked } => {
                    steps.push(Step::Spawn { cpu: nanos(*cpu), blocked: nanos(*blocked) });
                }
                Block::Locked { lock, inside } => {
                    let lock = self.locks[usize::from(*lock)];
                    steps.push(Step::Lock(lock));
                    self.steps(inside, steps);
                    steps.push(Step::Unlock(lock));
                }
                Block::Fork { pool, child } => {
                    let at = steps.len();
                    steps.push(Step::Join);
                    self.steps(child, steps);
                    let length = (steps.len() - at - 1) as u32;
                    steps[at] = Step::Fork { pool: self.pools[usize::from(*pool)], steps: length };
                }
                Block::Join => steps.push(Step::Join),
            }
        }
    }

    /// What a program computes, waits and is blocked for: (cpu, wait, spawn cpu, blocked).
    fn demand(blocks: &[Block]) -> [u64; 4] {
        let mut sum = [0; 4];
        for block in blocks {
            let part = match block {
                Block::Cpu { work, .. } => [*work, 0, 0, 0],
                Block::Wait(duration) => [0, *duration, 0, 0],
                Block::Spawn { cpu, blocked } => [0, 0, *cpu, *blocked],
                Block::Locked { inside, .. } => Self::demand(inside),
                Block::Fork { child, .. } => Self::demand(child),
                Block::Join => [0; 4],
            };
            sum = std::array::from_fn(|index| sum[index] + part[index]);
        }
        sum
    }
}

impl Component for Script {
    type Event = Event;

    fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.host.start(engine, "script");
        for (job, index) in self.jobs.iter().zip(0..) {
            let timer = engine.add_timer();
            engine.arm(timer, SimDuration::from_nanos(job.at), Event::Submit { job: index });
            self.timers.push((timer, None));
        }
    }

    fn handle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
        match event {
            Event::Host(event) => self.host.handle(engine, event),
            Event::Submit { job } => {
                let index = job as usize;
                let mut steps = Vec::new();
                self.steps(&self.jobs[index].program, &mut steps);
                let id = self.host.submit(engine, u64::from(job), &steps);
                self.timers[index].1 = Some(id);
                if let Some(after) = self.jobs[index].kill_after {
                    let delay = SimDuration::from_nanos(after);
                    engine.arm(self.timers[index].0, delay, Event::Kill { job });
                }
            }
            Event::Kill { job } => {
                let id = self.timers[job as usize].1.unwrap();
                let was_finished = self.finished.contains(&u64::from(job));
                if self.host.kill(engine, id) {
                    assert!(!was_finished);
                    self.killed.push(u64::from(job));
                }
            }
        }
        while let Some(done) = self.host.pop_finished() {
            assert_eq!(done.parts.total(), done.elapsed);
            let all = |part: fn(&convsim::resources::Attribution) -> SimDuration| {
                part(&done.parts).as_nanos() + part(&done.children).as_nanos()
            };
            let spent = [
                all(|parts| parts.cpu),
                all(|parts| parts.wait),
                all(|parts| parts.spawn_cpu),
                all(|parts| parts.spawn_blocked),
            ];
            assert_eq!(spent, Self::demand(&self.jobs[done.tag as usize].program));
            self.finished.push(done.tag);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_job_ends_once_and_leaves_nothing_behind(
        cores in 1_u32..4,
        random in any::<bool>(),
        jobs in jobs(),
    ) {
        let handoff = if random { Handoff::Random } else { Handoff::Fifo };
        let count = jobs.len() as u64;
        let mut script = Script::new(cores, handoff, jobs);
        let mut engine = Engine::new(StreamSeed::default());
        let limits = Limits { event_budget: 100_000, ..Limits::default() };
        prop_assert_eq!(engine.run(&mut script, limits), RunEnd::Idle);

        let mut ended = [script.finished.clone(), script.killed.clone()].concat();
        ended.sort_unstable();
        prop_assert_eq!(ended, (0..count).collect::<Vec<_>>());
        prop_assert_eq!(script.host.cpu().runnable(), 0);
        for lock in script.locks {
            prop_assert_eq!(script.host.lock_state(lock).holder(), None);
        }
        for interpreter in script.interpreters {
            prop_assert_eq!(script.host.interpreter_state(interpreter).holder(), None);
        }
        for pool in script.pools {
            let pool = script.host.pool_state(pool);
            prop_assert_eq!((pool.busy(), pool.waiting()), (0, 0));
        }
    }
}
