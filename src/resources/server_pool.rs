//! Servers behind one line.

use std::collections::VecDeque;

use super::time_average::TimeAverage;
use crate::engine::SimTime;

/// c servers and one first-in first-out line without limit: the station of M/M/c.
///
/// It keeps who waits and how many are busy; the owner times the services.
///
/// ```
/// use convsim::engine::SimTime;
/// use convsim::resources::ServerPool;
///
/// let mut pool = ServerPool::new(1);
/// assert!(pool.arrive(SimTime::ZERO, 'a')); // starts at once
/// assert!(!pool.arrive(SimTime::ZERO, 'b')); // waits
/// assert_eq!(pool.finish(SimTime::from_nanos(5)), Some('b')); // starts now
/// assert_eq!(pool.finish(SimTime::from_nanos(9)), None);
/// assert_eq!(pool.utilisation(SimTime::from_nanos(10)), 0.9);
/// ```
#[derive(Clone, Debug)]
pub struct ServerPool<J> {
    servers: u64,
    line: VecDeque<J>,
    busy: TimeAverage,
    waiting: TimeAverage,
}

impl<J: Copy> ServerPool<J> {
    /// Idle servers; `u64::MAX` for as many as it takes.
    #[must_use]
    pub fn new(servers: u64) -> Self {
        Self {
            servers,
            line: VecDeque::new(),
            busy: TimeAverage::default(),
            waiting: TimeAverage::default(),
        }
    }

    /// Idle at time zero again; keeps the memory.
    pub fn reset(&mut self) {
        self.line.clear();
        self.busy.reset();
        self.waiting.reset();
    }

    /// Forgets the statistics until `now`, the end of the warm-up.
    pub fn restart_statistics(&mut self, now: SimTime) {
        self.busy.restart(now);
        self.waiting.restart(now);
    }

    /// `job` comes: true when a server was free, so that its service starts now.
    #[inline]
    pub fn arrive(&mut self, now: SimTime, job: J) -> bool {
        let busy = self.busy.level();
        if busy < self.servers {
            self.busy.set(now, busy + 1);
            return true;
        }
        self.line.push_back(job);
        self.waiting.set(now, self.line.len() as u64);
        false
    }

    /// A service ends: the job whose service starts in its place, or `None` when nobody waits and
    /// the server becomes idle.
    #[inline]
    pub fn finish(&mut self, now: SimTime) -> Option<J> {
        let next = self.line.pop_front();
        if next.is_some() {
            self.waiting.set(now, self.line.len() as u64);
        } else {
            debug_assert!(self.busy.level() > 0, "a service ended in an idle pool");
            self.busy.set(now, self.busy.level().saturating_sub(1));
        }
        next
    }

    /// Takes a waiting job out of the line, O(line); false when it was not in it.
    pub fn withdraw(&mut self, now: SimTime, job: J) -> bool
    where
        J: PartialEq,
    {
        let place = self.line.iter().position(|waiting| *waiting == job);
        if let Some(place) = place {
            self.line.remove(place);
            self.waiting.set(now, self.line.len() as u64);
        }
        place.is_some()
    }

    /// Number of servers.
    #[must_use]
    pub fn servers(&self) -> u64 {
        self.servers
    }

    /// Servers at work.
    #[must_use]
    pub fn busy(&self) -> u64 {
        self.busy.level()
    }

    /// Jobs in the line.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.line.len()
    }

    /// The average share of the servers at work, 0 to 1.
    #[must_use]
    pub fn utilisation(&self, now: SimTime) -> f64 {
        self.busy.mean(now) / self.servers as f64
    }

    /// The average number of servers at work.
    #[must_use]
    pub fn mean_busy(&self, now: SimTime) -> f64 {
        self.busy.mean(now)
    }

    /// The average length of the line.
    #[must_use]
    pub fn mean_waiting(&self, now: SimTime) -> f64 {
        self.waiting.mean(now)
    }

    /// The longest the line has been.
    #[must_use]
    pub fn longest_line(&self) -> u64 {
        self.waiting.greatest()
    }
}
