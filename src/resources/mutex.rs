//! A lock.

use std::collections::VecDeque;

use rand::{Rng, RngExt};

use super::time_average::TimeAverage;
use crate::engine::SimTime;

/// Who gets a lock that is released.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handoff {
    /// Who has waited longest.
    #[default]
    Fifo,
    /// Any of those who wait, equally likely: a lock that wakes whom the operating system
    /// chooses (for instance Python's `threading.Lock`) gives no order.
    Random,
}

/// One holder at a time.
///
/// ```
/// use convsim::engine::{SimTime, StreamSeed};
/// use convsim::resources::{Handoff, Mutex};
///
/// let mut random = StreamSeed::default().stream("doc", "handoff");
/// let mut lock = Mutex::new(Handoff::Fifo);
/// assert!(lock.acquire(SimTime::ZERO, 'a'));
/// assert!(!lock.acquire(SimTime::ZERO, 'b'));
/// assert_eq!(lock.release(SimTime::from_nanos(1), &mut random), Some('b'));
/// assert_eq!(lock.holder(), Some('b'));
/// ```
#[derive(Clone, Debug)]
pub struct Mutex<J> {
    handoff: Handoff,
    holder: Option<J>,
    waiters: VecDeque<J>,
    held: TimeAverage,
    waiting: TimeAverage,
}

impl<J: Copy> Mutex<J> {
    /// A free lock.
    #[must_use]
    pub fn new(handoff: Handoff) -> Self {
        Self {
            handoff,
            holder: None,
            waiters: VecDeque::new(),
            held: TimeAverage::default(),
            waiting: TimeAverage::default(),
        }
    }

    /// Free at time zero again; keeps the memory.
    pub fn reset(&mut self) {
        self.holder = None;
        self.waiters.clear();
        self.held.reset();
        self.waiting.reset();
    }

    /// Forgets the statistics until `now`, the end of the warm-up.
    pub fn restart_statistics(&mut self, now: SimTime) {
        self.held.restart(now);
        self.waiting.restart(now);
    }

    /// `job` wants the lock: true when it has it now, false when it waits.
    #[inline]
    pub fn acquire(&mut self, now: SimTime, job: J) -> bool {
        if self.holder.is_none() {
            self.holder = Some(job);
            self.held.set(now, 1);
            return true;
        }
        self.waiters.push_back(job);
        self.waiting.set(now, self.waiters.len() as u64);
        false
    }

    /// The holder lets go: the new holder, or `None` when nobody waits. `random` is drawn from
    /// only under [`Handoff::Random`] with at least two waiting.
    #[inline]
    pub fn release<R: Rng>(&mut self, now: SimTime, random: &mut R) -> Option<J> {
        debug_assert!(self.holder.is_some(), "a free lock was released");
        self.holder = match (self.handoff, self.waiters.len()) {
            (Handoff::Random, waiting @ 2..) => {
                self.waiters.swap_remove_back(random.random_range(0..waiting))
            }
            _ => self.waiters.pop_front(),
        };
        match self.holder {
            Some(_) => self.waiting.set(now, self.waiters.len() as u64),
            None => self.held.set(now, 0),
        }
        self.holder
    }

    /// `job` waits even if nobody has the lock.
    pub fn wait(&mut self, now: SimTime, job: J) {
        self.waiters.push_back(job);
        self.waiting.set(now, self.waiters.len() as u64);
    }

    /// The holder lets go without handing the lock on: whoever asks next has it.
    pub fn release_to_nobody(&mut self, now: SimTime) {
        self.holder = None;
        self.held.set(now, 0);
    }

    /// Takes the job that has waited longest out of the line.
    pub fn wake(&mut self, now: SimTime) -> Option<J> {
        let woken = self.waiters.pop_front();
        self.waiting.set(now, self.waiters.len() as u64);
        woken
    }

    /// Takes a waiting job out, O(waiting); false when it did not wait.
    pub fn withdraw(&mut self, now: SimTime, job: J) -> bool
    where
        J: PartialEq,
    {
        let place = self.waiters.iter().position(|waiting| *waiting == job);
        if let Some(place) = place {
            self.waiters.remove(place);
            self.waiting.set(now, self.waiters.len() as u64);
        }
        place.is_some()
    }

    /// Who has it.
    #[must_use]
    pub fn holder(&self) -> Option<J> {
        self.holder
    }

    /// How many wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiters.len()
    }

    /// The share of the time it was held, 0 to 1.
    #[must_use]
    pub fn utilisation(&self, now: SimTime) -> f64 {
        self.held.mean(now)
    }

    /// The average number of waiting jobs.
    #[must_use]
    pub fn mean_waiting(&self, now: SimTime) -> f64 {
        self.waiting.mean(now)
    }
}
