//! The CPUs that the kthreads may run on, shared with what else runs there.

use crate::engine::{Engine, SimDuration, SimTime, Timer};
use crate::resources::{CpuCompletion, ProcessorSharingCpu, Weight};

/// The allowed CPUs with their background load. Kthread `slot` is job `background + slot`.
#[derive(Clone, Debug)]
pub(super) struct HostCpu {
    cpu: ProcessorSharingCpu,
    background: u32,
    weight: Weight,
    timer: Option<Timer>,
}

/// A kthread's work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Done {
    pub slot: usize,
    pub work: SimDuration,
    /// Time that it was runnable without running at full speed.
    pub waited: SimDuration,
}

impl HostCpu {
    pub fn new(cpus: u32, background: u32) -> Self {
        let weight = Weight::NORMAL;
        Self { cpu: ProcessorSharingCpu::new(cpus), background, weight, timer: None }
    }

    /// Only the background runs, and goes on until after `end`.
    pub fn start<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        cpus: u32,
        nice: i8,
        end: SimDuration,
    ) {
        self.timer = Some(engine.add_timer());
        self.weight = Weight::of_nice(nice);
        self.set_cpus(engine.now(), cpus, end);
    }

    /// The allowed CPUs are others. No kthread may be running.
    pub fn set_cpus(&mut self, now: SimTime, cpus: u32, end: SimDuration) {
        if cpus.max(1) == self.cpu.cores() {
            self.cpu.reset();
        } else {
            self.cpu = ProcessorSharingCpu::new(cpus);
        }
        // More than a task can get in the whole run, even with a CPU of its own.
        let endless = end.saturating_mul(2).saturating_add(SimDuration::from_whole_seconds(1));
        for task in 0..self.background {
            self.cpu.add(now, task, endless);
        }
    }

    pub fn set_nice(&mut self, nice: i8) {
        self.weight = Weight::of_nice(nice);
    }

    /// Kthread `slot` wants to run for `work`.
    pub fn run(&mut self, now: SimTime, slot: usize, work: SimDuration) {
        self.cpu.add_weighted(now, self.background + slot as u32, work, self.weight);
    }

    /// Takes kthread `slot` off the CPU; what it has done.
    pub fn cancel(&mut self, now: SimTime, slot: usize) -> Option<Done> {
        let removal = self.cpu.remove(now, self.background + slot as u32)?;
        let waited = removal.elapsed.saturating_sub(removal.done);
        Some(Done { slot, work: removal.done, waited })
    }

    /// Takes one kthread whose work is done by `now`.
    pub fn complete(&mut self, now: SimTime) -> Option<Done> {
        let CpuCompletion { job, work, elapsed } = self.cpu.complete(now)?;
        let slot = job.checked_sub(self.background)? as usize;
        Some(Done { slot, work, waited: elapsed.saturating_sub(work) })
    }

    /// The share of the CPUs in use, in per cent.
    pub fn busy_percent(&self) -> f64 {
        self.cpu.busy_percent()
    }

    /// Keeps the timer armed for the next completion. To be called after any change.
    pub fn arm<G: Copy>(&self, engine: &mut Engine<G>, event: impl Into<G>) {
        if let Some(timer) = self.timer {
            self.cpu.arm(engine, timer, event);
        }
    }

    /// Nothing is to happen any more.
    pub fn disarm<G: Copy>(&self, engine: &mut Engine<G>) {
        if let Some(timer) = self.timer {
            engine.disarm(timer);
        }
    }
}
