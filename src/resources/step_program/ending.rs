//! How jobs get a slot and how they end: at the end of their program, or killed.

use super::executor::{StepEvent, StepExecutor};
use super::job::{Attribution, FinishedJob, JobId, LockId};
use super::running::add;
use super::state::{Job, NONE, State};
use crate::engine::{Engine, SimTime};
use crate::resources::Weight;

impl<E: Copy + From<StepEvent>> StepExecutor<E> {
    pub(super) fn take_slot(&mut self, now: SimTime, tag: u64, weight: Weight) -> u32 {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.used += 1;
                if self.used > self.jobs.len() {
                    self.jobs.push(Job::vacant());
                    // All of them may be free at once, much later.
                    self.free.reserve(self.jobs.len());
                }
                self.used as u32 - 1
            }
        };
        let job = &mut self.jobs[slot as usize];
        job.tag = tag;
        job.generation = job.generation.wrapping_add(1);
        job.state = State::Ready;
        job.since = now;
        job.began = now;
        job.next = 0;
        job.parent = NONE;
        job.pool = None;
        job.children_left = 0;
        job.weight = weight;
        job.parts = Attribution::default();
        job.children = Attribution::default();
        slot
    }

    /// True when the job goes on at once, which it never does: it ends, or it joins first.
    pub(super) fn end_of_program(&mut self, now: SimTime, slot: u32) -> bool {
        let job = &self.jobs[slot as usize];
        if job.children_left > 0 {
            self.enter(now, slot, State::Joining);
            return false;
        }
        let Job { tag, generation, parent, .. } = *job;
        if parent == NONE {
            let id = JobId { slot, generation };
            let elapsed = now.since(job.began);
            debug_assert_eq!(job.parts.total(), elapsed, "the parts of a job sum to its time");
            let (parts, children) = (job.parts, job.children);
            self.finished.push_back(FinishedJob { tag, id, elapsed, parts, children });
        } else {
            let (parts, children) = (job.parts, job.children);
            let parent_job = &mut self.jobs[parent as usize];
            parent_job.children.add(&parts);
            parent_job.children.add(&children);
            self.child_gone(now, parent);
        }
        self.vacate(now, slot);
        false
    }

    fn child_gone(&mut self, now: SimTime, parent: u32) {
        let job = &mut self.jobs[parent as usize];
        job.children_left -= 1;
        if job.children_left == 0 && job.state == State::Joining {
            add(&mut job.parts.join_wait, now.since(job.since));
            self.make_ready(now, parent);
        }
    }

    /// Frees the slot and, for a child, its thread.
    fn vacate(&mut self, now: SimTime, slot: u32) {
        let job = &mut self.jobs[slot as usize];
        job.state = State::Free;
        let pool = job.pool.take();
        if job.parent == NONE {
            self.free_programs.push(job.program);
        }
        self.free.push(slot);
        let Some(pool) = pool else { return };
        if let Some(next) = self.pools[pool.0 as usize].finish(now) {
            let job = &mut self.jobs[next as usize];
            add(&mut job.parts.pool_wait, now.since(job.since));
            self.make_ready(now, next);
        }
    }

    /// Ends a job wherever it is. Rare, so it looks through all jobs and locks for what is its own.
    pub(super) fn end_early<G: Copy + From<E>>(&mut self, engine: &mut Engine<G>, slot: u32) {
        let now = engine.now();
        for child in 0..self.used as u32 {
            let job = &self.jobs[child as usize];
            if job.parent == slot && job.state != State::Free {
                self.end_early(engine, child);
            }
        }
        self.forget_turns(slot);
        match self.jobs[slot as usize].state {
            State::Computing { interpreter } => {
                self.cpu.remove(now, slot);
                if let Some(interpreter) = interpreter {
                    self.release_interpreter(engine, interpreter);
                }
            }
            State::WakingUp { interpreter, .. } => {
                self.cpu.remove(now, slot);
                if self.interpreters[interpreter.0 as usize].lock.holder().is_none() {
                    self.wake_for_interpreter(now, interpreter);
                }
            }
            State::SpawnComputing { .. } => {
                self.cpu.remove(now, slot);
            }
            State::Paused { interpreter, .. } => self.release_interpreter(engine, interpreter),
            State::AwaitingInterpreter { interpreter, .. } => {
                self.withdraw_from_interpreter(engine, slot, interpreter);
            }
            State::AwaitingLock(lock) => {
                self.locks[lock.0 as usize].withdraw(now, slot);
            }
            State::AwaitingThread(pool) => {
                // It has no thread that `vacate` could free.
                self.pools[pool.0 as usize].withdraw(now, slot);
                self.jobs[slot as usize].pool = None;
            }
            State::AwaitingTurn(of) => self.withdraw_from_turn(slot, of),
            State::Waiting | State::SpawnBlocked => {
                if let Some(timer) = self.jobs[slot as usize].timer {
                    engine.disarm(timer);
                }
            }
            State::Ready => self.ready.retain(|&ready| ready != slot),
            State::Joining | State::Free | State::Looping(_) => {}
        }
        for lock in 0..self.locks.len() {
            if self.locks[lock].holder() == Some(slot) {
                self.release_lock(now, LockId(lock as u32));
            }
        }
        let parent = self.jobs[slot as usize].parent;
        if parent != NONE {
            self.child_gone(now, parent);
        }
        self.vacate(now, slot);
    }
}
