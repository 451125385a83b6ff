//! The cores of a host, shared in one way or the other.

use super::processor_sharing::{CpuCompletion, CpuRemoval, ProcessorSharingCpu, Weight};
use super::time_slices::TimeSlicedCpu;
use crate::engine::{Engine, SimDuration, SimTime, Timer};

/// Cores as a fluid, or with run queues and time slices.
#[derive(Clone, Debug)]
pub enum Cores {
    /// Every runnable job progresses at once.
    Shared(ProcessorSharingCpu),
    /// Each core runs one job at a time. Weights count for nothing.
    Sliced(TimeSlicedCpu),
}

macro_rules! either {
    ($of:expr, $cpu:ident => $what:expr) => {
        match $of {
            Cores::Shared($cpu) => $what,
            Cores::Sliced($cpu) => $what,
        }
    };
}

impl Cores {
    /// How many there are.
    #[must_use]
    pub fn cores(&self) -> u32 {
        either!(self, cpu => cpu.cores())
    }

    /// How many jobs are runnable.
    #[must_use]
    pub fn runnable(&self) -> u64 {
        either!(self, cpu => cpu.runnable())
    }

    /// The share of the cores in use, in per cent.
    #[must_use]
    pub fn busy_percent(&self) -> f64 {
        either!(self, cpu => cpu.busy_percent())
    }

    /// The average share of the cores in use, 0 to 1.
    #[must_use]
    pub fn utilisation(&self, now: SimTime) -> f64 {
        either!(self, cpu => cpu.utilisation(now))
    }

    /// Core-seconds used until `now`.
    #[must_use]
    pub fn busy_seconds(&self, now: SimTime) -> f64 {
        either!(self, cpu => cpu.busy_seconds(now))
    }

    /// The average number of runnable jobs.
    #[must_use]
    pub fn mean_runnable(&self, now: SimTime) -> f64 {
        either!(self, cpu => cpu.mean_runnable(now))
    }

    pub(super) fn contains(&self, job: u32) -> bool {
        either!(self, cpu => cpu.contains(job))
    }

    #[inline]
    pub(super) fn changes(&self) -> u64 {
        either!(self, cpu => cpu.changes())
    }

    #[inline]
    pub(super) fn add(&mut self, now: SimTime, job: u32, work: SimDuration, weight: Weight) {
        match self {
            Self::Shared(cpu) => cpu.add_weighted(now, job, work, weight),
            Self::Sliced(cpu) => cpu.add(now, job, work),
        }
    }

    pub(super) fn remove(&mut self, now: SimTime, job: u32) -> Option<CpuRemoval> {
        either!(self, cpu => cpu.remove(now, job))
    }

    #[inline]
    pub(super) fn complete(&mut self, now: SimTime) -> Option<CpuCompletion> {
        either!(self, cpu => cpu.complete(now))
    }

    #[inline]
    pub(super) fn next_completion(&self) -> Option<SimTime> {
        either!(self, cpu => cpu.next_completion())
    }

    /// Whether a timer that is armed anew for the same instant keeps its place among the events of
    /// that instant.
    #[inline]
    pub(super) fn keeps_its_place(&self) -> bool {
        matches!(self, Self::Shared(_))
    }

    #[inline]
    pub(super) fn arm<G: Copy>(&self, engine: &mut Engine<G>, timer: Timer, event: impl Into<G>) {
        match self {
            Self::Shared(cpu) => cpu.arm(engine, timer, event),
            Self::Sliced(cpu) => match cpu.next_completion() {
                None => {
                    engine.disarm(timer);
                }
                Some(time) => engine.arm(timer, time.since(engine.now()), event),
            },
        }
    }
}
