//! Random numbers that belong to a request, whenever and wherever it is served.
//!
//! Two configurations (other workers, threads, another backlog) serve the requests in another
//! order, and some not at all. So each request has streams of its own, one for each purpose, seeded
//! from its user, its number, and the attempt: request i of user u needs the same service in both,
//! and what differs between the two is the configuration alone.

use crate::engine::random::mix;
use crate::engine::{Engine, SimDuration, Stream, StreamSeed};
use crate::quantities::DurationSampler;

/// Names an attempt: what is drawn for it depends on this and on nothing else.
pub fn attempt_key(user: u64, serial: u64, attempt: u32) -> u64 {
    mix(mix(mix(user.wrapping_add(1)) ^ serial) ^ u64::from(attempt))
}

/// What a draw is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Cpu,
    Wait,
    Overshoot,
    Toggle,
    NoOp,
    Jitter,
    Think,
}

const PURPOSES: [&str; 7] = ["cpu", "wait", "overshoot", "toggle", "no-op", "jitter", "think"];

/// The streams of the request at hand, seeded when they are first drawn from.
#[derive(Clone, Debug)]
pub struct Draws {
    /// Of the replication.
    keys: [u64; PURPOSES.len()],
    streams: [Stream; PURPOSES.len()],
    seeded: u8,
    request: u64,
}

impl Default for Draws {
    fn default() -> Self {
        let stream = StreamSeed::default().stream("", "");
        let streams = std::array::from_fn(|_| stream.clone());
        Self { keys: [0; PURPOSES.len()], streams, seeded: 0, request: 0 }
    }
}

impl Draws {
    /// Draws anew for a replication.
    pub fn start<G: Copy>(&mut self, engine: &Engine<G>, component: &str) {
        for ((key, stream), purpose) in self.keys.iter_mut().zip(&mut self.streams).zip(PURPOSES) {
            // Kept, so that what is seeded from it is its complement if it is one.
            *stream = engine.stream(component, purpose);
            *key = stream.next_seed();
        }
        self.seeded = 0;
    }

    /// From now on for the attempt named `request`.
    #[inline]
    pub fn turn_to(&mut self, request: u64) {
        self.request = request;
        self.seeded = 0;
    }

    /// The stream of `purpose` for the request at hand.
    #[inline]
    pub fn stream(&mut self, purpose: Purpose) -> &mut Stream {
        let index = purpose as usize;
        if self.seeded & (1 << index) == 0 {
            self.seeded |= 1 << index;
            self.streams[index].reseed(mix(self.keys[index] ^ self.request));
        }
        &mut self.streams[index]
    }

    /// One value of `sampler`; a constant costs no stream.
    #[inline]
    pub fn sample(&mut self, sampler: &mut DurationSampler, purpose: Purpose) -> SimDuration {
        match sampler.constant() {
            Some(value) => value,
            None => sampler.sample(self.stream(purpose)),
        }
    }
}
