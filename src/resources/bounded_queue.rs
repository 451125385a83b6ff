//! A line with limited room.

use std::collections::VecDeque;

use super::time_average::TimeAverage;
use crate::engine::SimTime;

/// A first-in first-out line with room for `capacity` jobs, which counts what it turns away: an
/// accept queue, the waiting room of M/M/c/K.
///
/// ```
/// use convsim::engine::SimTime;
/// use convsim::resources::BoundedQueue;
///
/// let mut queue = BoundedQueue::new(1);
/// assert!(queue.push(SimTime::ZERO, 'a'));
/// assert!(!queue.push(SimTime::ZERO, 'b'));
/// assert_eq!((queue.pop(SimTime::ZERO), queue.overflows()), (Some('a'), 1));
/// ```
#[derive(Clone, Debug)]
pub struct BoundedQueue<J> {
    capacity: usize,
    line: VecDeque<J>,
    length: TimeAverage,
    accepted: u64,
    overflows: u64,
}

impl<J: Copy> BoundedQueue<J> {
    /// An empty line with room for `capacity` jobs, which may be none.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            line: VecDeque::new(),
            length: TimeAverage::default(),
            accepted: 0,
            overflows: 0,
        }
    }

    /// Empty at time zero again; keeps the memory.
    pub fn reset(&mut self) {
        self.line.clear();
        self.length.reset();
        self.accepted = 0;
        self.overflows = 0;
    }

    /// Forgets the statistics until `now`, the end of the warm-up.
    pub fn restart_statistics(&mut self, now: SimTime) {
        self.length.restart(now);
        self.accepted = 0;
        self.overflows = 0;
    }

    /// Queues `job`; false, and one overflow more, when there is no room.
    #[inline]
    pub fn push(&mut self, now: SimTime, job: J) -> bool {
        if self.line.len() >= self.capacity {
            self.overflows += 1;
            return false;
        }
        self.accepted += 1;
        self.line.push_back(job);
        self.length.set(now, self.line.len() as u64);
        true
    }

    /// Takes the job that has waited longest.
    #[inline]
    pub fn pop(&mut self, now: SimTime) -> Option<J> {
        let job = self.line.pop_front();
        if job.is_some() {
            self.length.set(now, self.line.len() as u64);
        }
        job
    }

    /// Takes a waiting job out, O(length); false when it was not in the line.
    pub fn withdraw(&mut self, now: SimTime, job: J) -> bool
    where
        J: PartialEq,
    {
        let place = self.line.iter().position(|waiting| *waiting == job);
        if let Some(place) = place {
            self.line.remove(place);
            self.length.set(now, self.line.len() as u64);
        }
        place.is_some()
    }

    /// Jobs in the line, the one that has waited longest first.
    pub fn iter(&self) -> impl Iterator<Item = J> + '_ {
        self.line.iter().copied()
    }

    /// Jobs in the line.
    #[must_use]
    pub fn len(&self) -> usize {
        self.line.len()
    }

    /// True when nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// True when the next job would be turned away.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.line.len() >= self.capacity
    }

    /// Room for so many.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Jobs taken in.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Jobs turned away.
    #[must_use]
    pub fn overflows(&self) -> u64 {
        self.overflows
    }

    /// The average length.
    #[must_use]
    pub fn mean_length(&self, now: SimTime) -> f64 {
        self.length.mean(now)
    }

    /// The longest it has been.
    #[must_use]
    pub fn greatest_length(&self) -> u64 {
        self.length.greatest()
    }
}
