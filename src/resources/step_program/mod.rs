//! Jobs that are sequences of steps on shared cores, locks, interpreters and thread pools.
//!
//! A model says what a request or a command does ("compute 2 ms under the interpreter lock, take
//! the lock of bridge 7, spawn a process that computes 3 ms and is blocked 12 ms, let go"), draws the
//! durations, and hands the steps to a [`StepExecutor`], which runs any number of such jobs at once
//! and tells where each one's time went ([`Attribution`], to the nanosecond).
//!
//! ```text
//!              +--------- Cpu (no interpreter) ---------+
//!              v                                        |
//!  submit -> next step -- Cpu -> interpreter lock -> cores (processor sharing) -> next step ...
//!              |-- Lock ---> waits for the lock          ^     |
//!              |-- Spawn --> ----------------------------+     +-> blocked (timer)
//!              |-- Wait ---> timer
//!              |-- Turn ---> the next turn of a main loop that serves all who wait for it
//!              |-- Fork ---> a child job queues for a thread of a pool
//!              +-- Join ---> waits for all children
//! ```

mod ending;
mod executor;
mod hold;
mod job;
mod open;
mod running;
mod state;
#[cfg(test)]
mod tests;
mod turns;

pub use executor::{StepEvent, StepExecutor};
pub use job::{Attribution, FinishedJob, InterpreterId, JobId, LockId, LoopId, PoolId, Step};
