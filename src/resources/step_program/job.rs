//! What a job does and where its time went.

use crate::engine::SimDuration;

/// A lock of a [`super::StepExecutor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockId(pub(super) u32);

/// An interpreter lock of a [`super::StepExecutor`]: one thread of a process computes at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterpreterId(pub(super) u32);

/// A thread pool of a [`super::StepExecutor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolId(pub(super) u32);

/// A main loop of a [`super::StepExecutor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopId(pub(super) u32);

/// A submitted job. It stays valid after the job is done, and then names nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobId {
    pub(super) slot: u32,
    pub(super) generation: u32,
}

/// One step of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Compute for `work` on the shared cores; with an interpreter, only while holding its lock.
    /// Steps in a row under one interpreter ask for the lock anew.
    Cpu {
        /// Core time.
        work: SimDuration,
        /// The interpreter that must be held meanwhile.
        interpreter: Option<InterpreterId>,
    },
    /// Do nothing on this host: sleep, or await something outside.
    Wait(SimDuration),
    /// Take a lock, waiting for it if need be.
    Lock(LockId),
    /// Let a lock go.
    Unlock(LockId),
    /// Run a child process to its end: first it computes on the shared cores, outside of any
    /// interpreter, then it is blocked without using them (for instance in a kernel grace period).
    Spawn {
        /// Core time.
        cpu: SimDuration,
        /// Blocked time.
        blocked: SimDuration,
    },
    /// Wait for a whole turn of a main loop that begins from now on. One turn serves all that
    /// wait for it.
    Turn(LoopId),
    /// Hand the next `steps` steps to a thread of a pool as a child job, and go on after them.
    Fork {
        /// The pool.
        pool: PoolId,
        /// How many of the following steps are the child's.
        steps: u32,
    },
    /// Wait until all children are done. The end of a job joins as well.
    Join,
}

/// Where the time of a job went. The parts sum to its elapsed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attribution {
    /// Its own computing.
    pub cpu: SimDuration,
    /// Runnable, while others had the cores (also during a spawn's computing).
    pub cpu_wait: SimDuration,
    /// Waiting for an interpreter lock.
    pub interpreter_wait: SimDuration,
    /// Waiting for locks.
    pub lock_wait: SimDuration,
    /// Computing of its child processes.
    pub spawn_cpu: SimDuration,
    /// Blocked in its child processes, or waiting for a main loop.
    pub spawn_blocked: SimDuration,
    /// Waiting as its program says.
    pub wait: SimDuration,
    /// A child job: waiting for a thread of its pool.
    pub pool_wait: SimDuration,
    /// Waiting for its child jobs.
    pub join_wait: SimDuration,
}

impl Attribution {
    /// The sum of the parts.
    #[must_use]
    pub fn total(&self) -> SimDuration {
        let parts = [
            self.cpu,
            self.cpu_wait,
            self.interpreter_wait,
            self.lock_wait,
            self.spawn_cpu,
            self.spawn_blocked,
            self.wait,
            self.pool_wait,
            self.join_wait,
        ];
        parts.into_iter().fold(SimDuration::ZERO, SimDuration::saturating_add)
    }

    /// The parts with their names, for a reader.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, SimDuration); 9] {
        [
            ("computing", self.cpu),
            ("waiting for a core", self.cpu_wait),
            ("waiting for the interpreter", self.interpreter_wait),
            ("waiting for a lock", self.lock_wait),
            ("commands computing", self.spawn_cpu),
            ("commands blocked", self.spawn_blocked),
            ("waiting as its program says", self.wait),
            ("waiting for a thread", self.pool_wait),
            ("waiting for child jobs", self.join_wait),
        ]
    }

    /// Adds each part of `other`.
    pub fn add(&mut self, other: &Self) {
        let sum = |part: &mut SimDuration, of: SimDuration| *part = part.saturating_add(of);
        sum(&mut self.cpu, other.cpu);
        sum(&mut self.cpu_wait, other.cpu_wait);
        sum(&mut self.interpreter_wait, other.interpreter_wait);
        sum(&mut self.lock_wait, other.lock_wait);
        sum(&mut self.spawn_cpu, other.spawn_cpu);
        sum(&mut self.spawn_blocked, other.spawn_blocked);
        sum(&mut self.wait, other.wait);
        sum(&mut self.pool_wait, other.pool_wait);
        sum(&mut self.join_wait, other.join_wait);
    }
}

/// A job that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinishedJob {
    /// The tag it was submitted with.
    pub tag: u64,
    /// Which job it was.
    pub id: JobId,
    /// From submission to end: the sum of `parts`.
    pub elapsed: SimDuration,
    /// Where its own time went.
    pub parts: Attribution,
    /// Where the time of all its child jobs went, summed over them.
    pub children: Attribution,
}
