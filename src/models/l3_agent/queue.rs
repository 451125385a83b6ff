//! The agent's router queue: `ResourceProcessingQueue` and `ExclusiveResourceProcessor` of
//! Neutron (agent/common/resource_processing_queue.py).
//!
//! - The queue is ordered by (priority, timestamp, arrival). A router stands in it once, at the
//!   place of its best update: a better one raises it in place.
//! - One worker at a time processes a router. Another worker that takes an update of it hands the
//!   update to the first and is free again.
//! - An update no newer than the last fetched state of its router is dropped.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use priority_queue::PriorityQueue;

use crate::engine::SimTime;

/// One update of a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// Its level, lowest first.
    pub level: u8,
    /// The state it knows of: an update no newer than what was fetched is dropped.
    pub timestamp: SimTime,
    /// Order of arrival.
    pub sequence: u64,
    /// When it was put into the queue.
    pub enqueued: SimTime,
    /// How often it may still be put into the queue.
    pub tries: i64,
    /// Whether the router must be fetched first (a sync brings it along).
    pub needs_fetch: bool,
}

type Key = Reverse<(u8, SimTime, u64)>;

impl Update {
    const fn key(&self) -> Key {
        Reverse((self.level, self.timestamp, self.sequence))
    }
}

/// An update in the order of its key.
#[derive(Clone, Debug)]
struct Waiting(Update);

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.0.key() == other.0.key()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.key().cmp(&other.0.key())
    }
}

/// Hashes a router's number by one multiplication. The order of the queue does not depend on it.
#[derive(Clone, Debug, Default)]
pub struct RouterHasher(u64);

impl Hasher for RouterHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
}

/// What a router has in the queue and with its worker.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// The first is the one that the router has its place in the queue by.
    updates: BinaryHeap<Waiting>,
    /// Handed to the worker that is processing the router.
    handed_over: VecDeque<Update>,
    busy: bool,
    /// How often a worker has been given an update of it.
    taken: u32,
    /// The state that was fetched last and has been processed.
    processed: Option<SimTime>,
}

/// Where updates ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Put into the queue.
    pub added: u64,
    /// Given to a worker.
    pub taken: u64,
    /// Dropped as stale.
    pub dropped: u64,
}

/// The router queue.
#[derive(Debug, Default)]
pub struct RouterQueue {
    queue: PriorityQueue<u32, Key, BuildHasherDefault<RouterHasher>>,
    entries: Vec<Entry>,
    sequence: u64,
    handed_over: u64,
    waiting: u64,
    tally: Tally,
}

impl RouterQueue {
    /// Empty again for `routers` routers; keeps the memory.
    pub fn reset(&mut self, routers: u32) {
        self.queue.clear();
        self.entries.resize_with(routers as usize, Entry::default);
        for entry in &mut self.entries {
            entry.updates.clear();
            entry.handed_over.clear();
            entry.busy = false;
            entry.taken = 0;
            entry.processed = None;
        }
        self.sequence = 0;
        self.handed_over = 0;
        self.waiting = 0;
        self.tally = Tally::default();
    }

    /// Puts an update of `router` into the queue.
    pub fn add(&mut self, router: u32, mut update: Update) {
        update.sequence = self.sequence;
        self.sequence += 1;
        self.tally.added += 1;
        self.waiting += 1;
        self.entries[router as usize].updates.push(Waiting(update));
        self.queue.push_increase(router, update.key());
    }

    /// The next router that a worker can process, with its update; stale updates and those of
    /// routers that are being processed are dealt with on the way. The router is then busy.
    pub fn take(&mut self) -> Option<(u32, Update)> {
        while let Some((router, _)) = self.queue.pop() {
            let entry = &mut self.entries[router as usize];
            let Waiting(update) = entry.updates.pop()?;
            self.waiting -= 1;
            if let Some(Waiting(next)) = entry.updates.peek() {
                self.queue.push(router, next.key());
            }
            if entry.busy {
                entry.handed_over.push_back(update);
                self.handed_over += 1;
            } else if entry.is_stale(&update) {
                self.tally.dropped += 1;
            } else {
                entry.busy = true;
                entry.taken += 1;
                self.tally.taken += 1;
                return Some((router, update));
            }
        }
        None
    }

    /// The worker of `router` is done with an update: the next that was handed to it, or `None`
    /// and the router is free. `processed` is the state that it has processed, if it succeeded.
    pub fn finish(&mut self, router: u32, processed: Option<SimTime>) -> Option<Update> {
        let entry = &mut self.entries[router as usize];
        entry.processed = entry.processed.max(processed);
        while let Some(update) = entry.handed_over.pop_front() {
            self.handed_over -= 1;
            if entry.is_stale(&update) {
                self.tally.dropped += 1;
            } else {
                entry.taken += 1;
                self.tally.taken += 1;
                return Some(update);
            }
        }
        entry.busy = false;
        None
    }

    /// Drops all waiting updates of `router`.
    pub fn forget(&mut self, router: u32) {
        let entry = &mut self.entries[router as usize];
        let count = entry.updates.len() as u64;
        entry.updates.clear();
        self.queue.remove(&router);
        self.waiting -= count;
        self.tally.dropped += count;
    }

    /// How often a worker has been given an update of `router`.
    #[must_use]
    pub fn taken(&self, router: u32) -> u32 {
        self.entries[router as usize].taken
    }

    /// True once `router` has been processed.
    #[must_use]
    pub fn is_processed(&self, router: u32) -> bool {
        self.entries[router as usize].processed.is_some()
    }

    /// Updates that wait, with the workers or in the queue.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.waiting + self.handed_over
    }

    /// The updates that wait, each with its router, router by router.
    pub fn open(&self) -> impl Iterator<Item = (u32, &Update)> {
        self.entries.iter().enumerate().flat_map(|(router, entry)| {
            let queued = entry.updates.iter().map(|Waiting(update)| update);
            queued.chain(&entry.handed_over).map(move |update| (router as u32, update))
        })
    }

    /// Where updates ended.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally
    }
}

impl Entry {
    fn is_stale(&self, update: &Update) -> bool {
        self.processed.is_some_and(|processed| update.timestamp <= processed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(level: u8, second: u64) -> Update {
        let timestamp = SimTime::from_nanos(second * 1_000_000_000);
        Update { level, timestamp, sequence: 0, enqueued: timestamp, tries: 5, needs_fetch: true }
    }

    fn queue(routers: u32) -> RouterQueue {
        let mut queue = RouterQueue::default();
        queue.reset(routers);
        queue
    }

    #[test]
    fn a_better_update_raises_a_queued_router_in_place() {
        let mut queue = queue(3);
        for router in 0..3 {
            queue.add(router, update(2, u64::from(router)));
        }
        queue.add(2, update(1, 9));
        let order: Vec<u32> =
            std::iter::from_fn(|| queue.take()).map(|(router, _)| router).collect();
        assert_eq!(order, [2, 0, 1]);
    }

    #[test]
    fn an_update_older_than_the_fetched_state_is_dropped() {
        let mut queue = queue(1);
        queue.add(0, update(1, 1));
        queue.add(0, update(2, 2));
        let (router, _) = queue.take().expect("an update waits");
        assert_eq!(queue.finish(router, Some(SimTime::from_nanos(5_000_000_000))), None);
        assert!(queue.take().is_none());
        assert_eq!(queue.tally(), Tally { added: 2, taken: 1, dropped: 1 });
    }

    #[test]
    fn an_update_of_a_busy_router_goes_to_its_worker() {
        let mut queue = queue(2);
        queue.add(0, update(1, 1));
        assert_eq!(queue.take().map(|(router, _)| router), Some(0));
        queue.add(0, update(1, 7));
        queue.add(1, update(1, 8));
        assert_eq!(queue.take().map(|(router, _)| router), Some(1));
        assert_eq!(queue.waiting(), 1);
        let next = queue.finish(0, Some(SimTime::from_nanos(1_000_000_000)));
        assert_eq!(next.map(|update| update.timestamp.as_seconds()), Some(7.0));
        assert_eq!(queue.finish(0, next.map(|update| update.timestamp)), None);
    }
}
