//! Building blocks that models share. They know nothing of any particular system, and only
//! [`step_program`] knows the engine: the others are plain state that is told the time.
//!
//! | block | what it is | its closed form |
//! |---|---|---|
//! | [`ServerPool`] | c servers behind one first-in first-out line | M/M/c, M/G/1, machine repair |
//! | [`BoundedQueue`] | a line with room for so many, which counts what it turns away | M/M/c/K |
//! | [`Mutex`] | one holder at a time, handed on in order or at random | M/M/1 |
//! | [`ProcessorSharingCpu`] | c cores shared by all that is runnable | M/G/1-PS, M/M/c |
//! | [`TimeSlicedCpu`] | the same with run queues and time slices | M/M/c |
//! | [`StepExecutor`] | jobs that are sequences of steps on all of these | |
//!
//! All keep time-weighted statistics ([`TimeAverage`]) and none allocates after warm-up.

pub mod bounded_queue;
mod core_load;
pub mod cores;
mod finish_heap;
pub mod mutex;
pub mod neighbours;
pub mod processor_sharing;
pub mod server_pool;
pub mod step_program;
pub mod time_average;
pub mod time_slices;

pub use bounded_queue::BoundedQueue;
pub use cores::Cores;
pub use mutex::{Handoff, Mutex};
pub use neighbours::Neighbours;
pub use processor_sharing::{CpuCompletion, ProcessorSharingCpu, Weight};
pub use server_pool::ServerPool;
pub use step_program::{
    Attribution, FinishedJob, InterpreterId, JobId, LockId, LoopId, PoolId, Step, StepEvent,
    StepExecutor,
};
pub use time_average::TimeAverage;
pub use time_slices::{TimeSlicedCpu, base_slice};
