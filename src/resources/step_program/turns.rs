//! Main loops: one turn serves all who waited when it began.
//!
//! A process built around a poll loop (`ovs-vswitchd`) answers a caller at the end of the turn that
//! began after the call came in. Callers who wait together share a turn, so the cost of a turn
//! is divided among them: neither a server of one at a time nor a plain delay.
//!
//! A loop either sleeps between turns while nobody waits, or goes on turning until all submitted
//! jobs have had the turns that their programs hold: then a caller first waits for the rest of a
//! turn that serves nobody.

use std::mem;

use super::executor::{StepEvent, StepExecutor};
use super::job::{LoopId, Step};
use super::running::add;
use super::state::{Job, State};
use crate::engine::{SimDuration, SimTime};
use crate::resources::Weight;

/// A main loop.
#[derive(Clone, Debug)]
pub(super) struct MainLoop {
    /// Core time of a turn.
    turn: SimDuration,
    /// What each job that is served adds to it.
    per_job: SimDuration,
    /// Turns on while anybody will still ask.
    restless: bool,
    /// Turns that submitted jobs have not had yet.
    to_come: u64,
    /// The slot by which it computes on the shared cores.
    slot: u32,
    serving: Vec<u32>,
    waiting: Vec<u32>,
}

impl<E: Copy + From<StepEvent>> StepExecutor<E> {
    /// Makes a main loop whose turns take `turn` on the shared cores and `per_job` more for each
    /// job served; above 0 together.
    pub fn add_loop(&mut self, turn: SimDuration, per_job: SimDuration) -> LoopId {
        let [serving, waiting] = [Vec::new(), Vec::new()];
        let (restless, to_come) = (false, 0);
        self.loops.push(MainLoop { turn, per_job, restless, to_come, slot: 0, serving, waiting });
        LoopId(self.loops.len() as u32 - 1)
    }

    /// Lets a main loop whose turns take time go on turning until all submitted jobs have had the
    /// turns in their programs.
    pub fn keep_turning(&mut self, of: LoopId) {
        let of_loop = &mut self.loops[of.0 as usize];
        of_loop.restless = !of_loop.turn.is_zero();
    }

    /// Counts the turns in `steps` of a job that begins.
    pub(super) fn expect_turns(&mut self, steps: &[Step]) {
        if self.loops.iter().any(|of_loop| of_loop.restless) {
            for of in steps.iter().filter_map(turn_of) {
                self.loops[of.0 as usize].to_come += 1;
            }
        }
    }

    /// Takes back the turns in the steps that a job will not take.
    pub(super) fn forget_turns(&mut self, slot: u32) {
        if self.loops.iter().all(|of_loop| !of_loop.restless) {
            return;
        }
        let Job { program, next, end, .. } = self.jobs[slot as usize];
        let left = &self.programs[program as usize][next as usize..end as usize];
        for of in left.iter().filter_map(turn_of) {
            self.loops[of.0 as usize].to_come -= 1;
        }
    }

    /// Gives each loop a slot of its own for the replication.
    pub(super) fn start_loops(&mut self, now: SimTime) {
        for index in 0..self.loops.len() {
            let slot = self.take_slot(now, 0, Weight::NORMAL);
            self.jobs[slot as usize].state = State::Looping(LoopId(index as u32));
            let of = &mut self.loops[index];
            of.slot = slot;
            of.to_come = 0;
            of.serving.clear();
            of.waiting.clear();
        }
    }

    pub(super) fn ask_turn(&mut self, now: SimTime, slot: u32, of: LoopId) {
        self.enter(now, slot, State::AwaitingTurn(of));
        self.loops[of.0 as usize].waiting.push(slot);
    }

    /// Begins a turn of every loop that is between turns and has reason to. Called when no job
    /// can go on at this instant, so that who was served and asks again at once is in time.
    pub(super) fn begin_turns(&mut self, now: SimTime) {
        for of_loop in &mut self.loops {
            let asleep = of_loop.waiting.is_empty() && of_loop.to_come == 0;
            if asleep || self.cpu.contains(of_loop.slot) {
                continue;
            }
            mem::swap(&mut of_loop.serving, &mut of_loop.waiting);
            let served = of_loop.serving.len() as u64;
            let work = of_loop.turn.saturating_add(of_loop.per_job.saturating_mul(served));
            self.cpu.add(now, of_loop.slot, work, Weight::NORMAL);
        }
    }

    /// The turn is over: all that it served go on.
    pub(super) fn end_turn(&mut self, now: SimTime, of: LoopId) {
        let of_loop = &mut self.loops[of.0 as usize];
        let mut served = mem::take(&mut of_loop.serving);
        if of_loop.restless {
            of_loop.to_come -= served.len() as u64;
        }
        for slot in served.drain(..) {
            let job = &mut self.jobs[slot as usize];
            add(&mut job.parts.spawn_blocked, now.since(job.since));
            self.make_ready(now, slot);
        }
        self.loops[of.0 as usize].serving = served;
    }

    pub(super) fn withdraw_from_turn(&mut self, slot: u32, of: LoopId) {
        let of_loop = &mut self.loops[of.0 as usize];
        of_loop.waiting.retain(|&waiting| waiting != slot);
        of_loop.serving.retain(|&serving| serving != slot);
        if of_loop.restless {
            of_loop.to_come -= 1;
        }
    }
}

fn turn_of(step: &Step) -> Option<LoopId> {
    match step {
        Step::Turn(of) => Some(*of),
        _ => None,
    }
}
