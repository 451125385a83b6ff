//! A process that stands still for a while.

use super::executor::{StepEvent, StepExecutor};
use super::job::InterpreterId;
use super::running::{add, arm_switch};
use super::state::State;
use crate::engine::Engine;

impl<E: Copy + From<StepEvent>> StepExecutor<E> {
    /// From now until [`StepExecutor::release`] no job takes a step: an event loop that something
    /// blocks (eventlet's hub), a process stopped by a signal. Computing under an interpreter
    /// stands still and uses no core. What has left the process goes on (child processes, sleeps,
    /// computing without an interpreter), but its job learns of the end only at the release. That
    /// time counts as [`super::Attribution::interpreter_wait`].
    pub fn hold<G: Copy + From<E>>(&mut self, engine: &mut Engine<G>) {
        if self.held {
            return;
        }
        self.held = true;
        let now = engine.now();
        // What is done at this instant is done, and its interpreter passed on to one that pauses.
        self.collect_computed(engine);
        for number in 0..self.interpreters.len() {
            let Some(holder) = self.interpreters[number].lock.holder() else { continue };
            let Some(removal) = self.cpu.remove(now, holder) else { continue };
            let job = &mut self.jobs[holder as usize];
            add(&mut job.parts.cpu, removal.done);
            add(&mut job.parts.cpu_wait, removal.elapsed.saturating_sub(removal.done));
            let interpreter = InterpreterId(number as u32);
            self.enter(now, holder, State::Paused { interpreter, work: removal.remaining });
        }
        self.settle(engine);
    }

    /// Jobs go on where [`StepExecutor::hold`] found them, and learn what has ended since.
    pub fn release<G: Copy + From<E>>(&mut self, engine: &mut Engine<G>) {
        if !self.held {
            return;
        }
        self.held = false;
        let now = engine.now();
        for slot in 0..self.used as u32 {
            let job = &mut self.jobs[slot as usize];
            let waited = now.since(job.since);
            match job.state {
                State::Ready => add(&mut job.parts.interpreter_wait, waited),
                State::Paused { interpreter, work } => {
                    add(&mut job.parts.interpreter_wait, waited);
                    self.compute(
                        now,
                        slot,
                        work,
                        State::Computing { interpreter: Some(interpreter) },
                    );
                    let of_process = &self.interpreters[interpreter.0 as usize];
                    arm_switch::<E, G>(engine, of_process, interpreter);
                }
                _ => {}
            }
        }
        self.run_ready(engine);
        self.settle(engine);
    }
}
