//! What a running job and an interpreter consist of.

use super::job::{Attribution, InterpreterId, LockId, LoopId, PoolId};
use crate::engine::{SimDuration, SimTime, Timer};
use crate::quantities::DurationSampler;
use crate::resources::{Mutex, Weight};

/// No job.
pub(super) const NONE: u32 = u32::MAX;

/// What a job is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Its slot is free.
    Free,
    /// About to take its next step.
    Ready,
    /// On the cores for a `Cpu` step.
    Computing {
        interpreter: Option<InterpreterId>,
    },
    /// On the cores for a `Spawn` step.
    SpawnComputing {
        blocked: SimDuration,
    },
    /// Waiting for an interpreter to compute `work` more.
    AwaitingInterpreter {
        interpreter: InterpreterId,
        work: SimDuration,
    },
    /// On the cores to wake up, for an interpreter that somebody else may take meanwhile.
    WakingUp {
        interpreter: InterpreterId,
        work: SimDuration,
    },
    /// Holding an interpreter while the executor is held, with `work` still to compute.
    Paused {
        interpreter: InterpreterId,
        work: SimDuration,
    },
    AwaitingLock(LockId),
    AwaitingThread(PoolId),
    Waiting,
    SpawnBlocked,
    AwaitingTurn(LoopId),
    /// The job of a main loop itself, on the cores or off.
    Looping(LoopId),
    Joining,
}

/// One job, or one free slot with its memory.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) tag: u64,
    pub(super) generation: u32,
    pub(super) state: State,
    /// When the present state began.
    pub(super) since: SimTime,
    pub(super) began: SimTime,
    /// Which program this job runs, its parent's if it is a child, and the range still to run.
    pub(super) program: u32,
    pub(super) next: u32,
    pub(super) end: u32,
    pub(super) parent: u32,
    pub(super) pool: Option<PoolId>,
    pub(super) children_left: u32,
    pub(super) weight: Weight,
    pub(super) parts: Attribution,
    pub(super) children: Attribution,
    pub(super) timer: Option<Timer>,
}

/// The interpreter lock of one process.
#[derive(Clone, Debug)]
pub(super) struct Interpreter {
    pub(super) lock: Mutex<u32>,
    pub(super) switch_interval: SimDuration,
    /// What a thread computes to wake up for it; none where it is handed on.
    pub(super) handoff: Option<DurationSampler>,
    pub(super) timer: Option<Timer>,
}

impl Job {
    /// A free slot without memory yet.
    pub(super) fn vacant() -> Self {
        Self {
            tag: 0,
            generation: 0,
            state: State::Free,
            since: SimTime::ZERO,
            began: SimTime::ZERO,
            program: NONE,
            next: 0,
            end: 0,
            parent: NONE,
            pool: None,
            children_left: 0,
            weight: Weight::NORMAL,
            parts: Attribution::default(),
            children: Attribution::default(),
            timer: None,
        }
    }
}
