//! A binary heap of jobs by the attained service at which they finish, with removal.

/// A job and the attained service at which it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Finish {
    /// Attained service at which the job is done.
    pub attained: u128,
    /// Order of arrival, which breaks ties.
    pub arrival: u64,
    /// The job.
    pub job: u32,
}

/// Where a job that is in no heap stands.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Jobs, the one that finishes first on top. The caller keeps the places of all jobs, because a
/// job is in one of several heaps at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct FinishHeap {
    entries: Vec<Finish>,
}

impl FinishHeap {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn clear(&mut self) {
        self.entries.clear();
    }

    #[inline]
    pub fn first(&self) -> Option<&Finish> {
        self.entries.first()
    }

    #[inline]
    pub fn insert(&mut self, entry: Finish, places: &mut [u32]) {
        self.entries.push(entry);
        self.sift_up(self.entries.len() - 1, entry, places);
    }

    /// Takes out the entry at `place`.
    #[inline]
    pub fn remove(&mut self, place: usize, places: &mut [u32]) -> Option<Finish> {
        let last = self.entries.pop()?;
        let removed = if place == self.entries.len() {
            last
        } else {
            let removed = self.entries[place];
            self.fill(place, last, places);
            removed
        };
        places[removed.job as usize] = NOWHERE;
        Some(removed)
    }

    /// The last entry may belong above or below the gap.
    #[inline(never)]
    fn fill(&mut self, place: usize, last: Finish, places: &mut [u32]) {
        if place > 0 && last < self.entries[(place - 1) / 2] {
            self.sift_up(place, last, places);
        } else {
            self.sift_down(place, last, places);
        }
    }

    #[inline]
    fn sift_up(&mut self, mut place: usize, entry: Finish, places: &mut [u32]) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.entries[parent] < entry {
                break;
            }
            self.put(place, self.entries[parent], places);
            place = parent;
        }
        self.put(place, entry, places);
    }

    fn sift_down(&mut self, mut place: usize, entry: Finish, places: &mut [u32]) {
        loop {
            let mut child = 2 * place + 1;
            if child >= self.entries.len() {
                break;
            }
            if child + 1 < self.entries.len() && self.entries[child + 1] < self.entries[child] {
                child += 1;
            }
            if entry < self.entries[child] {
                break;
            }
            self.put(place, self.entries[child], places);
            place = child;
        }
        self.put(place, entry, places);
    }

    #[inline]
    fn put(&mut self, place: usize, entry: Finish, places: &mut [u32]) {
        self.entries[place] = entry;
        places[entry.job as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const JOBS: usize = 64;

    proptest! {
        /// Against the plainest form there is; few distinct values force ties.
        #[test]
        fn entries_leave_in_order_whatever_is_removed_between(
            steps in prop::collection::vec((0..JOBS, 0..3_u8, 0..200_u128), 1..600),
        ) {
            let mut heap = FinishHeap::default();
            let mut places = vec![NOWHERE; JOBS];
            let mut twin = BTreeMap::new();
            for ((job, action, attained), arrival) in steps.into_iter().zip(0..) {
                match (places[job], action) {
                    (NOWHERE, _) => {
                        let entry = Finish { attained, arrival, job: job as u32 };
                        heap.insert(entry, &mut places);
                        twin.insert((attained, arrival), job as u32);
                    }
                    (place, 0) => {
                        let entry = heap.remove(place as usize, &mut places).unwrap();
                        prop_assert_eq!(twin.remove(&(entry.attained, entry.arrival)), Some(job as u32));
                    }
                    (_, 1) => {
                        let entry = heap.remove(0, &mut places).unwrap();
                        let first = twin.pop_first().unwrap();
                        prop_assert_eq!(((entry.attained, entry.arrival), entry.job), first);
                    }
                    _ => {}
                }
                prop_assert_eq!(heap.len(), twin.len());
                let first = heap.first().map(|entry| (entry.attained, entry.arrival));
                prop_assert_eq!(first, twin.keys().next().copied());
            }
            prop_assert_eq!(places.iter().filter(|place| **place != NOWHERE).count(), twin.len());
        }
    }
}
