//! How a job takes its steps.

use super::executor::{StepEvent, StepExecutor};
use super::job::{InterpreterId, LockId, PoolId, Step};
use super::state::{Interpreter, Job, State};
use crate::engine::{Engine, SimDuration, SimTime};

impl<E: Copy + From<StepEvent>> StepExecutor<E> {
    pub(super) fn make_ready(&mut self, now: SimTime, slot: u32) {
        self.enter(now, slot, State::Ready);
        self.ready.push_back(slot);
    }

    pub(super) fn run_ready<G: Copy + From<E>>(&mut self, engine: &mut Engine<G>) {
        if self.held {
            return;
        }
        while let Some(slot) = self.ready.pop_front() {
            while self.take_step(engine, slot) {}
        }
        self.begin_turns(engine.now());
    }

    /// Takes the next step; true when the job goes on at once.
    pub(super) fn take_step<G: Copy + From<E>>(
        &mut self,
        engine: &mut Engine<G>,
        slot: u32,
    ) -> bool {
        let now = engine.now();
        let job = &mut self.jobs[slot as usize];
        if job.next == job.end {
            return self.end_of_program(now, slot);
        }
        let (program, next) = (job.program as usize, job.next as usize);
        job.next += 1;
        match self.programs[program][next] {
            Step::Cpu { work, .. } | Step::Spawn { cpu: work, blocked: SimDuration::ZERO }
                if work.is_zero() =>
            {
                true
            }
            Step::Cpu { work, interpreter: None } => {
                self.compute(now, slot, work, State::Computing { interpreter: None });
                false
            }
            Step::Cpu { work, interpreter: Some(interpreter) } => {
                self.ask_interpreter(engine, slot, interpreter, work);
                false
            }
            Step::Spawn { cpu, blocked } if cpu.is_zero() => {
                self.block(engine, slot, blocked, State::SpawnBlocked);
                false
            }
            Step::Spawn { cpu, blocked } => {
                self.compute(now, slot, cpu, State::SpawnComputing { blocked });
                false
            }
            Step::Wait(duration) if duration.is_zero() => true,
            Step::Wait(duration) => {
                self.block(engine, slot, duration, State::Waiting);
                false
            }
            Step::Lock(lock) => {
                let taken = self.locks[lock.0 as usize].acquire(now, slot);
                if !taken {
                    self.enter(now, slot, State::AwaitingLock(lock));
                }
                taken
            }
            Step::Unlock(lock) => {
                debug_assert_eq!(self.locks[lock.0 as usize].holder(), Some(slot));
                self.release_lock(now, lock);
                true
            }
            Step::Turn(of) => {
                self.ask_turn(now, slot, of);
                false
            }
            Step::Fork { pool, steps } => {
                self.fork(now, slot, pool, steps);
                true
            }
            Step::Join if self.jobs[slot as usize].children_left == 0 => true,
            Step::Join => {
                self.enter(now, slot, State::Joining);
                false
            }
        }
    }

    pub(super) fn enter(&mut self, now: SimTime, slot: u32, state: State) {
        let job = &mut self.jobs[slot as usize];
        job.state = state;
        job.since = now;
    }

    pub(super) fn compute(&mut self, now: SimTime, slot: u32, work: SimDuration, state: State) {
        if let (true, State::Computing { interpreter: Some(interpreter) }) = (self.held, state) {
            return self.enter(now, slot, State::Paused { interpreter, work });
        }
        self.enter(now, slot, state);
        self.cpu.add(now, slot, work, self.jobs[slot as usize].weight);
    }

    pub(super) fn block<G: Copy + From<E>>(
        &mut self,
        engine: &mut Engine<G>,
        slot: u32,
        duration: SimDuration,
        state: State,
    ) {
        self.enter(engine.now(), slot, state);
        let job = &mut self.jobs[slot as usize];
        let timer = *job.timer.get_or_insert_with(|| engine.add_timer());
        engine.arm(timer, duration, E::from(StepEvent::Waited { slot }));
    }

    pub(super) fn release_lock(&mut self, now: SimTime, lock: LockId) {
        if let Some(next) = self.locks[lock.0 as usize].release(now, &mut self.random) {
            let job = &mut self.jobs[next as usize];
            add(&mut job.parts.lock_wait, now.since(job.since));
            self.make_ready(now, next);
        }
    }

    pub(super) fn ask_interpreter<G: Copy + From<E>>(
        &mut self,
        engine: &mut Engine<G>,
        slot: u32,
        interpreter: InterpreterId,
        work: SimDuration,
    ) {
        let now = engine.now();
        let of_process = &mut self.interpreters[interpreter.0 as usize];
        if of_process.lock.acquire(now, slot) {
            if of_process.lock.waiting() > 0 {
                arm_switch::<E, G>(engine, of_process, interpreter);
            }
            self.compute(now, slot, work, State::Computing { interpreter: Some(interpreter) });
            return;
        }
        if of_process.lock.waiting() == 1 {
            arm_switch::<E, G>(engine, of_process, interpreter);
        }
        self.enter(now, slot, State::AwaitingInterpreter { interpreter, work });
    }

    pub(super) fn release_interpreter<G: Copy + From<E>>(
        &mut self,
        engine: &mut Engine<G>,
        interpreter: InterpreterId,
    ) {
        let now = engine.now();
        let of_process = &mut self.interpreters[interpreter.0 as usize];
        if of_process.handoff.is_some() {
            of_process.lock.release_to_nobody(now);
            if let Some(timer) = of_process.timer {
                engine.disarm(timer);
            }
            self.wake_for_interpreter(now, interpreter);
            return;
        }
        let next = of_process.lock.release(now, &mut self.random);
        arm_switch::<E, G>(engine, of_process, interpreter);
        let Some(next) = next else { return };
        let job = &mut self.jobs[next as usize];
        if let State::AwaitingInterpreter { work, .. } = job.state {
            add(&mut job.parts.interpreter_wait, now.since(job.since));
            self.compute(now, next, work, State::Computing { interpreter: Some(interpreter) });
        }
    }

    /// Wakes who has waited longest for a free interpreter. It has to run before it can take it
    /// (`drop_gil` frees the lock and signals; `take_gil` looks again after waking up), and whoever
    /// asks in the meantime has it.
    pub(super) fn wake_for_interpreter(&mut self, now: SimTime, interpreter: InterpreterId) {
        let of_process = &mut self.interpreters[interpreter.0 as usize];
        let Some(handoff) = &mut of_process.handoff else { return };
        let Some(woken) = of_process.lock.wake(now) else { return };
        let handoff = handoff.sample(&mut self.wakeups);
        let job = &mut self.jobs[woken as usize];
        if let State::AwaitingInterpreter { work, .. } = job.state {
            add(&mut job.parts.interpreter_wait, now.since(job.since));
            self.compute(now, woken, handoff, State::WakingUp { interpreter, work });
        }
    }

    pub(super) fn withdraw_from_interpreter<G: Copy + From<E>>(
        &mut self,
        engine: &mut Engine<G>,
        slot: u32,
        interpreter: InterpreterId,
    ) {
        let of_process = &mut self.interpreters[interpreter.0 as usize];
        of_process.lock.withdraw(engine.now(), slot);
        if let (0, Some(timer)) = (of_process.lock.waiting(), of_process.timer) {
            engine.disarm(timer);
        }
    }

    /// Takes the interpreter from its holder for one that waits.
    pub(super) fn switch<G: Copy + From<E>>(
        &mut self,
        engine: &mut Engine<G>,
        interpreter: InterpreterId,
    ) {
        let now = engine.now();
        let of_process = &self.interpreters[interpreter.0 as usize];
        let switched = of_process.timer.is_some_and(|timer| engine.is_armed(timer));
        let (Some(holder), false) = (of_process.lock.holder(), switched) else { return };
        if of_process.lock.waiting() == 0 {
            return;
        }
        let passed_on = of_process.handoff.is_none();
        let Some(removal) = self.cpu.remove(now, holder) else { return };
        let job = &mut self.jobs[holder as usize];
        add(&mut job.parts.cpu, removal.done);
        add(&mut job.parts.cpu_wait, removal.elapsed.saturating_sub(removal.done));
        self.release_interpreter(engine, interpreter);
        let work = removal.remaining;
        if passed_on {
            self.ask_interpreter(engine, holder, interpreter, work);
        } else {
            // It waits until another has had it (`FORCE_SWITCHING`).
            self.interpreters[interpreter.0 as usize].lock.wait(now, holder);
            self.enter(now, holder, State::AwaitingInterpreter { interpreter, work });
        }
    }

    pub(super) fn collect_computed<G: Copy + From<E>>(&mut self, engine: &mut Engine<G>) {
        let now = engine.now();
        while let Some(done) = self.cpu.complete(now) {
            let job = &mut self.jobs[done.job as usize];
            add(&mut job.parts.cpu_wait, done.elapsed.saturating_sub(done.work));
            match job.state {
                State::Looping(of) => self.end_turn(now, of),
                State::SpawnComputing { blocked } => {
                    add(&mut job.parts.spawn_cpu, done.work);
                    if blocked.is_zero() {
                        self.make_ready(now, done.job);
                    } else {
                        self.block(engine, done.job, blocked, State::SpawnBlocked);
                    }
                }
                State::WakingUp { interpreter, work } => {
                    add(&mut job.parts.cpu, done.work);
                    self.ask_interpreter(engine, done.job, interpreter, work);
                }
                State::Computing { interpreter } => {
                    add(&mut job.parts.cpu, done.work);
                    self.make_ready(now, done.job);
                    if let Some(interpreter) = interpreter {
                        self.release_interpreter(engine, interpreter);
                    }
                }
                _ => debug_assert!(false, "a job computed without being on the cores"),
            }
        }
    }

    pub(super) fn fork(&mut self, now: SimTime, slot: u32, pool: PoolId, steps: u32) {
        let Job { tag, weight, program, next, end, .. } = self.jobs[slot as usize];
        let after = next.saturating_add(steps).min(end);
        let parent = &mut self.jobs[slot as usize];
        parent.next = after;
        parent.children_left += 1;
        let child = self.take_slot(now, tag, weight);
        let job = &mut self.jobs[child as usize];
        (job.program, job.next, job.end) = (program, next, after);
        (job.parent, job.pool) = (slot, Some(pool));
        if self.pools[pool.0 as usize].arrive(now, child) {
            self.make_ready(now, child);
        } else {
            self.enter(now, child, State::AwaitingThread(pool));
        }
    }
}

/// Keeps the switch timer armed for one interval from now while somebody waits.
pub(super) fn arm_switch<E, G>(
    engine: &mut Engine<G>,
    of_process: &Interpreter,
    interpreter: InterpreterId,
) where
    E: From<StepEvent>,
    G: Copy + From<E>,
{
    let Some(timer) = of_process.timer else { return };
    if of_process.lock.waiting() == 0 || of_process.switch_interval == SimDuration::MAX {
        engine.disarm(timer);
    } else {
        let event = StepEvent::Switch { interpreter: interpreter.0 };
        engine.arm(timer, of_process.switch_interval, E::from(event));
    }
}

/// Adds to a part of an attribution.
pub(super) fn add(part: &mut SimDuration, span: SimDuration) {
    *part = part.saturating_add(span);
}
