use super::*;
use crate::engine::{Component, Engine, Limits, RunEnd, SimDuration, SimTime, StreamSeed, Timer};
use crate::quantities::DurationDistribution;
use crate::resources::Handoff;

#[derive(Clone, Copy)]
enum Event {
    Host(StepEvent),
    Kill,
    Hold,
    Release,
}

impl From<StepEvent> for Event {
    fn from(event: StepEvent) -> Self {
        Self::Host(event)
    }
}

/// Submits programs at time zero, kills some, and keeps what finishes when.
struct Script {
    host: StepExecutor<Event>,
    programs: Vec<Vec<Step>>,
    kill: Option<(SimDuration, usize)>,
    /// When the executor is held and released.
    hold: Option<(SimDuration, SimDuration)>,
    /// Whether it goes on with [`StepExecutor::go_on`].
    goes_on: bool,
    ids: Vec<JobId>,
    timer: Option<Timer>,
    done: Vec<(u64, u64, FinishedJob)>,
}

impl Script {
    fn new(host: StepExecutor<Event>, programs: Vec<Vec<Step>>) -> Self {
        Self {
            host,
            programs,
            kill: None,
            hold: None,
            goes_on: false,
            ids: Vec::new(),
            timer: None,
            done: Vec::new(),
        }
    }

    /// (tag, finishing time in ms) in order of finishing.
    fn run(&mut self) -> Vec<(u64, u64)> {
        let mut engine = Engine::new(StreamSeed::default());
        assert_eq!(engine.run(self, Limits::default()), RunEnd::Idle);
        self.done.iter().map(|&(tag, nanos, _)| (tag, nanos / 1_000_000)).collect()
    }

    fn collect(&mut self, now: SimTime) {
        while let Some(job) = self.host.pop_finished() {
            assert_eq!(job.parts.total(), job.elapsed);
            self.done.push((job.tag, now.as_nanos(), job));
        }
    }

    fn parts(&self, tag: u64) -> Attribution {
        self.done.iter().find(|done| done.0 == tag).map(|done| done.2.parts).unwrap_or_default()
    }
}

impl Component for Script {
    type Event = Event;

    fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.host.start(engine, "script");
        self.done.clear();
        self.ids.clear();
        for (tag, program) in self.programs.iter().enumerate() {
            self.ids.push(self.host.submit(engine, tag as u64, program));
        }
        assert_eq!(self.host.pop_finished(), None, "no job is done within submit");
        if let Some((delay, _)) = self.kill {
            let timer = engine.add_timer();
            engine.arm(timer, delay, Event::Kill);
            self.timer = Some(timer);
        }
        if let Some((hold, release)) = self.hold {
            for (delay, event) in [(hold, Event::Hold), (release, Event::Release)] {
                let timer = engine.add_timer();
                engine.arm(timer, delay, event);
            }
        }
    }

    fn handle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
        match (event, self.kill) {
            (Event::Host(event), _) if self.goes_on => {
                let mut next = Some(event);
                while let Some(event) = next {
                    self.host.begin(engine, event);
                    self.collect(engine.now());
                    next = self.host.go_on(engine);
                }
            }
            (Event::Host(event), _) => self.host.handle(engine, event),
            (Event::Kill, Some((_, index))) => {
                assert!(self.host.kill(engine, self.ids[index]));
                assert!(!self.host.kill(engine, self.ids[index]), "a job dies once");
            }
            (Event::Kill, None) => {}
            (Event::Hold, _) => self.host.hold(engine),
            (Event::Release, _) => self.host.release(engine),
        }
        self.collect(engine.now());
    }
}

fn ms(millis: u64) -> SimDuration {
    SimDuration::from_millis(millis)
}

fn cpu(millis: u64) -> Step {
    Step::Cpu { work: ms(millis), interpreter: None }
}

#[test]
fn an_empty_program_is_done_at_once() {
    let mut script = Script::new(StepExecutor::new(1), vec![vec![], vec![cpu(0), Step::Join]]);
    assert_eq!(script.run(), [(0, 0), (1, 0)]);
}

#[test]
fn two_jobs_on_one_core_stretch_each_other() {
    let mut script = Script::new(StepExecutor::new(1), vec![vec![cpu(10)], vec![cpu(30)]]);
    assert_eq!(script.run(), [(0, 20), (1, 40)]);
    assert_eq!(script.parts(0).cpu_wait, ms(10));
    assert_eq!(script.parts(1).cpu_wait, ms(10));
}

#[test]
fn a_spawn_computes_beside_others_and_is_blocked_alone() {
    let spawn = Step::Spawn { cpu: ms(10), blocked: ms(40) };
    let mut script = Script::new(StepExecutor::new(1), vec![vec![spawn], vec![spawn]]);
    assert_eq!(script.run(), [(0, 60), (1, 60)]);
    let parts = script.parts(0);
    assert_eq!((parts.spawn_cpu, parts.cpu_wait, parts.spawn_blocked), (ms(10), ms(10), ms(40)));
}

#[test]
fn a_lock_is_held_across_steps_and_handed_on_in_order() {
    let mut host = StepExecutor::new(4);
    let lock = host.add_lock(Handoff::Fifo);
    let program = vec![Step::Lock(lock), cpu(5), Step::Wait(ms(5)), Step::Unlock(lock), cpu(1)];
    let mut script = Script::new(host, vec![program; 3]);
    assert_eq!(script.run(), [(0, 11), (1, 21), (2, 31)]);
    assert_eq!(script.parts(2).lock_wait, ms(20));
}

#[test]
fn threads_of_one_interpreter_use_one_core() {
    let mut host = StepExecutor::new(4);
    let interpreter = host.add_interpreter(SimDuration::MAX, Handoff::Fifo);
    let program = vec![Step::Cpu { work: ms(10), interpreter: Some(interpreter) }];
    let mut script = Script::new(host, vec![program; 3]);
    assert_eq!(script.run(), [(0, 10), (1, 20), (2, 30)]);
    assert_eq!(script.parts(2).interpreter_wait, ms(20));
}

#[test]
fn a_long_computation_yields_the_interpreter_after_each_switch_interval() {
    let mut host = StepExecutor::new(2);
    let interpreter = host.add_interpreter(ms(5), Handoff::Fifo);
    let step = |millis| vec![Step::Cpu { work: ms(millis), interpreter: Some(interpreter) }];
    let mut script = Script::new(host, vec![step(12), step(2), step(7)]);
    // 0: 0-5 | 1: 5-7 | 2: 7-12 | 0: 12-17 | 2: 17-19 | 0: 19-21
    assert_eq!(script.run(), [(1, 7), (2, 19), (0, 21)]);
    assert_eq!(script.parts(0).cpu, ms(12));
    assert_eq!(script.parts(0).interpreter_wait, ms(9));
}

#[test]
fn a_fan_out_takes_as_long_as_its_pool_needs() {
    let mut host = StepExecutor::new(8);
    let pool = host.add_pool(2);
    let mut program = vec![cpu(1)];
    for _ in 0..5 {
        program.extend([Step::Fork { pool, steps: 2 }, cpu(3), Step::Wait(ms(7))]);
    }
    program.extend([Step::Join, cpu(1)]);
    let mut script = Script::new(host, vec![program]);
    assert_eq!(script.run(), [(0, 32)]);
    assert_eq!(script.parts(0).join_wait, ms(30));
    let children = script.done[0].2.children;
    assert_eq!((children.cpu, children.wait), (ms(15), ms(35)));
    assert_eq!(children.pool_wait, ms(10 + 10 + 20));
}

#[test]
fn a_program_that_ends_waits_for_its_children() {
    let mut host = StepExecutor::new(1);
    let pool = host.add_pool(u64::MAX);
    let program = vec![Step::Fork { pool, steps: 1 }, Step::Wait(ms(4))];
    let mut script = Script::new(host, vec![program]);
    assert_eq!(script.run(), [(0, 4)]);
}

#[test]
fn a_killed_job_passes_on_its_lock_its_threads_and_its_share_of_the_cores() {
    let mut host = StepExecutor::new(1);
    let lock = host.add_lock(Handoff::Fifo);
    let pool = host.add_pool(1);
    let child = [Step::Fork { pool, steps: 1 }, cpu(100)];
    let mut killed = vec![Step::Lock(lock)];
    killed.extend(child.repeat(3));
    let waiting = vec![Step::Lock(lock), cpu(5), Step::Unlock(lock)];
    let pooled = vec![Step::Fork { pool, steps: 1 }, Step::Wait(ms(3))];
    let mut script = Script::new(host, vec![killed, waiting, pooled]);
    script.kill = Some((ms(10), 0));
    assert_eq!(script.run(), [(2, 13), (1, 15)]);
    assert_eq!(script.parts(1).lock_wait, ms(10));
}

#[test]
fn a_replication_does_not_depend_on_the_one_before() {
    let mut host = StepExecutor::new(2);
    let lock = host.add_lock(Handoff::Random);
    let interpreter = host.add_interpreter(ms(5), Handoff::Random);
    let programs: Vec<_> = (1..12)
        .map(|index| {
            let work = Step::Cpu { work: ms(index), interpreter: Some(interpreter) };
            vec![work, Step::Lock(lock), Step::Wait(ms(index)), Step::Unlock(lock), work]
        })
        .collect();
    let mut script = Script::new(host, programs);
    let mut engine = Engine::new(StreamSeed::default());
    let mut fingerprints = Vec::new();
    for replication in [0, 1, 0] {
        engine.reset(StreamSeed { master: 1, replication });
        assert_eq!(engine.run(&mut script, Limits::default()), RunEnd::Idle);
        assert_eq!(script.done.len(), 11);
        fingerprints.push(engine.fingerprint());
    }
    assert_eq!(fingerprints[0], fingerprints[2]);
    assert_ne!(fingerprints[0], fingerprints[1], "the handoff is random");
}

/// Many ties: all durations are whole milliseconds.
#[test]
fn to_go_on_without_the_list_of_events_changes_nothing_in_a_run() {
    let run = |goes_on: bool| {
        let mut host = StepExecutor::new(2);
        let lock = host.add_lock(Handoff::Random);
        let interpreters = [ms(5), ms(3)].map(|interval| {
            let interpreter = host.add_interpreter(interval, Handoff::Fifo);
            host.set_handoff(interpreter, DurationDistribution::from(ms(1)).sampler());
            interpreter
        });
        let programs = (1..24)
            .map(|index| {
                let interpreter = Some(interpreters[index as usize % 2]);
                let work = Step::Cpu { work: ms(index % 7), interpreter };
                let spawn = Step::Spawn { cpu: ms(2), blocked: ms(index % 3) };
                let locked = [Step::Lock(lock), Step::Wait(ms(index)), Step::Unlock(lock)];
                [[work, spawn, work].as_slice(), &locked, &[work]].concat()
            })
            .collect();
        let mut script = Script::new(host, programs);
        script.goes_on = goes_on;
        script.kill = Some((ms(12), 5));
        script.hold = Some((ms(20), ms(31)));
        let mut engine = Engine::new(StreamSeed::default());
        assert_eq!(engine.run(&mut script, Limits::default()), RunEnd::Idle);
        (engine.fingerprint(), engine.events_handled(), script.done)
    };
    let (fingerprint, events, done) = run(true);
    assert_eq!(done.len(), 22);
    assert_eq!((fingerprint, events, done), run(false));
}

/// Turns of 10 ms: who asks first has the first to itself, who asks during it gets the next, and
/// so does who was served and asks again at once, all three together.
#[test]
fn a_turn_of_a_main_loop_serves_all_who_waited_when_it_began() {
    let mut host = StepExecutor::new(2);
    let of = host.add_loop(SimDuration::from_millis(10), SimDuration::ZERO);
    let twice = vec![Step::Turn(of), Step::Turn(of)];
    let late = vec![Step::Wait(SimDuration::from_millis(5)), Step::Turn(of)];
    let mut script = Script::new(host, vec![twice, vec![Step::Turn(of)], late]);
    assert_eq!(script.run(), [(1, 20), (2, 20), (0, 20)]);
    assert_eq!(script.parts(2).spawn_blocked, SimDuration::from_millis(15));
}

/// Turns of 10 ms: a caller at 5 ms waits for the turn that began at 0 for nobody.
#[test]
fn a_loop_that_keeps_turning_lets_a_caller_wait_for_the_rest_of_a_turn() {
    let mut host = StepExecutor::new(2);
    let of = host.add_loop(SimDuration::from_millis(10), SimDuration::ZERO);
    host.keep_turning(of);
    let late = vec![Step::Wait(SimDuration::from_millis(5)), Step::Turn(of)];
    let mut script = Script::new(host, vec![late]);
    assert_eq!(script.run(), [(0, 20)]);
}

/// The second caller would ask at 100 ms; killed at 12 ms, it leaves the loop nothing to turn for
/// beyond the turn under way.
#[test]
fn a_loop_stops_turning_once_those_it_turned_for_are_gone() {
    let mut host = StepExecutor::new(2);
    let of = host.add_loop(SimDuration::from_millis(10), SimDuration::ZERO);
    host.keep_turning(of);
    let wait = Step::Wait(SimDuration::from_millis(100));
    let mut script =
        Script::new(host, vec![vec![Step::Turn(of)], vec![wait, Step::Turn(of), Step::Turn(of)]]);
    script.kill = Some((SimDuration::from_millis(12), 1));
    assert_eq!(script.run(), [(0, 10)]);
    let busy = script.host.cpu().busy_seconds(crate::engine::SimTime::from_nanos(1_000_000_000));
    assert_eq!(busy, 0.020);
}

#[test]
fn who_waited_for_an_interpreter_pays_for_the_handoff() {
    let mut host = StepExecutor::new(2);
    let interpreter = host.add_interpreter(SimDuration::MAX, Handoff::Fifo);
    let handoff: DurationDistribution = SimDuration::from_millis(2).into();
    host.set_handoff(interpreter, handoff.sampler());
    let work = SimDuration::from_millis(10);
    let program = vec![Step::Cpu { work, interpreter: Some(interpreter) }];
    let mut script = Script::new(host, vec![program.clone(), program]);
    assert_eq!(script.run(), [(0, 10), (1, 22)]);
}

/// One core, held from 5 to 25 ms: a computes 10 ms under the interpreter, b after it, c has a child
/// process that is done meanwhile, d waits for 15 ms and then computes by itself.
#[test]
fn a_held_process_stands_still_while_its_children_run_on() {
    let mut host = StepExecutor::new(1);
    let interpreter = host.add_interpreter(ms(100), Handoff::Fifo);
    let python = |work| Step::Cpu { work: ms(work), interpreter: Some(interpreter) };
    let child = Step::Spawn { cpu: ms(4), blocked: ms(3) };
    let programs = vec![
        vec![python(10)],
        vec![python(2)],
        vec![child, Step::Wait(ms(1))],
        vec![Step::Wait(ms(15)), cpu(1)],
    ];
    let mut script = Script::new(host, programs);
    script.hold = Some((ms(5), ms(25)));
    // Until 5 ms a and c have 2.5 ms of the core each; c's child is done at 6.5 + 3 ms.
    // From 25 ms on a has 7.5 ms left and d 1 ms: d at 27 ms, a at 33.5 ms, b at 35.5 ms.
    assert_eq!(script.run(), [(2, 26), (3, 27), (0, 33), (1, 35)]);
    assert_eq!(script.parts(0).interpreter_wait, ms(20));
    assert_eq!(script.parts(0).cpu, ms(10));
    assert_eq!(script.parts(2).interpreter_wait.as_nanos(), 15_500_000);
    assert_eq!(script.parts(3).interpreter_wait, ms(10));
    assert_eq!(script.parts(3).wait, ms(15));
}

#[test]
fn a_job_that_is_killed_while_its_process_is_held_leaves_the_interpreter_to_the_next() {
    let mut host = StepExecutor::new(1);
    let interpreter = host.add_interpreter(SimDuration::MAX, Handoff::Fifo);
    let program = vec![Step::Cpu { work: ms(10), interpreter: Some(interpreter) }];
    let mut script = Script::new(host, vec![program.clone(), program]);
    script.hold = Some((ms(5), ms(25)));
    script.kill = Some((ms(15), 0));
    assert_eq!(script.run(), [(1, 35)]);
    assert_eq!(script.parts(1).interpreter_wait, ms(25));
}
