//! The CPUs that the kthreads may run on, shared with what else runs there.

use super::config::{BackgroundOn, Config};
use crate::engine::{Engine, SimDuration, SimTime, Timer};
use crate::resources::{CpuCompletion, Neighbours, ProcessorSharingCpu, Weight};

/// The allowed CPUs with their background load. Kthread `slot` is job `slot`.
#[derive(Clone, Debug)]
pub(super) struct HostCpu {
    cpu: ProcessorSharingCpu,
    background: Background,
    weight: Weight,
    timer: Option<Timer>,
}

/// Tasks that always want a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Background {
    tasks: u32,
    /// CPUs of the host, on which they run; `None` when they run where the kthreads do.
    cpus: Option<u32>,
}

impl Background {
    pub fn of(config: &Config) -> Self {
        let cpus = match config.host.background_on {
            BackgroundOn::AllCpus => Some(config.possible_cpus),
            BackgroundOn::EstCpulist => None,
        };
        Self { tasks: config.host.background_tasks, cpus }
    }

    /// The CPUs that they run on while the kthreads may use `allowed` ones.
    fn cpus(self, allowed: u32) -> u32 {
        self.cpus.unwrap_or(allowed).max(1)
    }

    /// How busy they keep a CPU of the kthreads, of which there are `allowed`.
    pub fn load(self, allowed: u32) -> f64 {
        (f64::from(self.tasks) / f64::from(self.cpus(allowed))).min(1.0)
    }
}

/// A kthread's work is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Done {
    pub slot: usize,
    pub work: SimDuration,
    /// Time that it was runnable without running at full speed.
    pub waited: SimDuration,
}

impl HostCpu {
    pub fn new(cpus: u32, background: Background) -> Self {
        Self { cpu: shared(cpus, background), background, weight: Weight::NORMAL, timer: None }
    }

    /// Only the background runs.
    pub fn start<G: Copy>(&mut self, engine: &mut Engine<G>, cpus: u32, nice: i8) {
        self.timer = Some(engine.add_timer());
        self.weight = Weight::of_nice(nice);
        self.set_cpus(cpus);
    }

    /// The allowed CPUs are others. No kthread may be running.
    pub fn set_cpus(&mut self, cpus: u32) {
        if cpus.max(1) == self.cpu.cores() {
            self.cpu.reset();
        } else {
            self.cpu = shared(cpus, self.background);
        }
    }

    pub fn set_nice(&mut self, nice: i8) {
        self.weight = Weight::of_nice(nice);
    }

    pub fn has_nice(&self, nice: i8) -> bool {
        self.weight == Weight::of_nice(nice)
    }

    /// Kthread `slot` wants to run for `work`.
    pub fn run(&mut self, now: SimTime, slot: usize, work: SimDuration) {
        self.cpu.add_weighted(now, slot as u32, work, self.weight);
    }

    /// Takes kthread `slot` off the CPU; what it has done.
    pub fn cancel(&mut self, now: SimTime, slot: usize) -> Option<Done> {
        let removal = self.cpu.remove(now, slot as u32)?;
        let waited = removal.elapsed.saturating_sub(removal.done);
        Some(Done { slot, work: removal.done, waited })
    }

    /// Takes one kthread whose work is done by `now`.
    pub fn complete(&mut self, now: SimTime) -> Option<Done> {
        let CpuCompletion { job, work, elapsed } = self.cpu.complete(now)?;
        Some(Done { slot: job as usize, work, waited: elapsed.saturating_sub(work) })
    }

    /// The share of the CPUs in use, in per cent: of all where the background runs on all.
    pub fn busy_percent(&self) -> f64 {
        let allowed = self.cpu.cores();
        let cpus = self.background.cpus(allowed);
        let kthreads = self.cpu.runnable().min(u64::from(allowed));
        let busy = (u64::from(self.background.tasks) + kthreads).min(u64::from(cpus));
        busy as f64 / f64::from(cpus) * 100.0
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

fn shared(cpus: u32, background: Background) -> ProcessorSharingCpu {
    let neighbours = Neighbours { tasks: background.tasks, cores: background.cpus(cpus) };
    ProcessorSharingCpu::beside(cpus, neighbours)
}
