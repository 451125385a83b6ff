//! The ring thread (orchagent `-R`): it programs route batches beside the main loop.
//!
//! Only ROUTE_TABLE goes through the ring (swss `Executor::processAnyTask`). Notifications bypass
//! it; a consumer of any other table sleeps until the ring is empty and idle, and the main loop
//! spins while the ring is full.

use std::collections::VecDeque;

use super::component::{Event, Orchagent};
use super::executors::Executor;
use super::main_loop::Phase;
use super::programmer::Progress;
use super::route_table::Entry;
use crate::engine::{Engine, SimDuration};

/// The thread that programs route batches in ring mode.
#[derive(Debug, Default)]
pub struct RingThread {
    batches: VecDeque<(Vec<Entry>, f64)>,
    spare: Vec<Vec<Entry>>,
    busy: bool,
}

impl RingThread {
    pub fn reset(&mut self) {
        while let Some((mut batch, _)) = self.batches.pop_front() {
            batch.clear();
            self.spare.push(batch);
        }
        self.busy = false;
    }

    /// True when nothing is queued and nothing is being programmed.
    pub fn is_idle(&self) -> bool {
        !self.busy && self.batches.is_empty()
    }
}

impl Orchagent {
    /// The consumer of another table looks again whether the ring is empty and idle.
    pub(super) fn poll_ring<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        executor: Executor,
    ) {
        if self.ring.is_idle() {
            self.measures.iterations += 1;
            self.run(engine, executor, SimDuration::ZERO);
        } else {
            let interval = self.config.ring.poll_interval;
            self.step(engine, Phase::RingPoll(executor), interval);
        }
    }

    /// Hands the popped batch to the ring, or spins while it is full.
    pub(super) fn push_to_ring<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if self.ring.batches.len() >= self.config.ring.slots as usize {
            self.main_loop.phase = Phase::RingFull;
            return;
        }
        let mut batch = self.ring.spare.pop().unwrap_or_default();
        batch.append(&mut self.batch);
        self.ring.batches.push_back((batch, self.main_loop.factor));
        if !self.ring.busy {
            self.ring_next(engine);
        }
        self.sweep(engine);
    }

    fn ring_next<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let Some((mut batch, factor)) = self.ring.batches.pop_front() else { return };
        self.ring.busy = true;
        let progress = self.with_programmer(|programmer, stuck, around| {
            programmer.begin(&mut batch, stuck, factor, around)
        });
        self.ring.spare.push(batch);
        self.ring_follow(engine, progress);
        if self.main_loop.phase == Phase::RingFull {
            self.push_to_ring(engine);
        }
    }

    pub(super) fn ring_step<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let progress = self.advance_programmer(engine);
        self.ring_follow(engine, progress);
    }

    fn ring_follow<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, progress: Progress) {
        match (progress, self.timers) {
            (Progress::Busy { span, .. }, Some(timers)) => {
                self.measures.route_pass_time += span.as_seconds();
                engine.arm(timers.ring_step, span, Event::RingStep);
            }
            _ => {
                self.ring.busy = false;
                self.ring_next(engine);
            }
        }
    }
}
