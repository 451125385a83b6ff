//! The same workloads on convsim's engine, on std's `BinaryHeap`, and on the crates `desque` and
//! `simcore`.
//!
//! A workload is written once, as a [`Model`] over an [`Agenda`]; each of the [`contenders`]
//! is an agenda. All draw the same variates from the same streams and must end in the same
//! state, so that what differs is the engine and nothing else.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod contenders;
pub mod workloads;

use std::fmt::Debug;

/// A handle to a timer of an agenda.
pub trait Handle: Copy + Debug + 'static {}
impl<T: Copy + Debug + 'static> Handle for T {}

/// What is simulated. Times are nanoseconds.
pub trait Model<T: Handle>: Sized + 'static {
    /// What can happen.
    type Event: Copy + Debug + 'static;

    /// Whether [`Agenda::disarm`] is ever called; a contender may skip its bookkeeping if not.
    const CANCELS: bool;

    /// Adds the timers and arms the first events.
    fn start<A: Agenda<T, Self>>(agenda: &mut A);

    /// Something that was armed is due now.
    fn handle<A: Agenda<T, Self>>(agenda: &mut A, event: Self::Event);

    /// A figure over everything that happened, equal for two runs only if they did the same.
    fn digest(&self) -> u64;
}

/// A clock with pending events, joined with the model that it drives.
pub trait Agenda<T: Handle, M: Model<T>> {
    /// The model.
    fn model(&mut self) -> &mut M;

    /// The current instant.
    fn now(&self) -> u64;

    /// Another timer.
    fn add_timer(&mut self) -> T;

    /// Arms an idle `timer` to go off after `delay`.
    fn arm(&mut self, timer: T, delay: u64, event: M::Event);

    /// Cancels what `timer` is armed for.
    fn disarm(&mut self, timer: T);
}

/// An engine with a model on it.
pub trait Contender {
    /// Handles up to `events` further events, fewer if nothing is left to happen.
    fn advance(&mut self, events: u64);

    /// [`Model::digest`] of the model.
    fn digest(&self) -> u64;
}
