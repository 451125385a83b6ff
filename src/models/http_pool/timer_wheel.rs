//! Retransmission timers on the kernel's timer wheel.
//!
//! Linux rounds a timer up to the granularity of its level of the wheel (`calc_wheel_index` in
//! `kernel/time/timer.c`: 64 buckets a level, each level eight times coarser) and runs a whole
//! bucket at once, the timer that was armed last first (`enqueue_timer` adds at the head). This
//! is why the retransmissions of a burst come back as one batch, and why a SYN that is due after
//! 1 s is seen after 1.000 to 1.036 s, one that is due after 4 s up to a quarter of a second late.

use crate::engine::{SimDuration, SimTime};

const NONE: u32 = u32::MAX;
/// Each level is 2^3 times coarser than the one before (`LVL_CLK_SHIFT`).
const LEVEL_SHIFT: u32 = 3;
/// The first level reaches this many ticks ahead (`LVL_SIZE - 1`).
const FIRST_LEVEL: u64 = 63;
const LEVELS: u32 = 9;

#[derive(Clone, Copy, Debug)]
struct Link {
    previous: u32,
    next: u32,
    /// When the bucket fires; `SimTime::MAX` for an entry that is not armed.
    fires: SimTime,
}

const UNLINKED: Link = Link { previous: NONE, next: NONE, fires: SimTime::MAX };

#[derive(Clone, Copy, Debug)]
struct Bucket {
    fires: SimTime,
    head: u32,
}

/// Timers that expire in batches. Entries are small numbers chosen by the owner.
#[derive(Clone, Debug, Default)]
pub struct TimerWheel {
    /// Nanoseconds of a tick; 0 for timers that are not rounded.
    tick: u64,
    /// Where the run's start lies on the wheel.
    offset: u64,
    links: Vec<Link>,
    /// Buckets in use, the latest first.
    buckets: Vec<Bucket>,
}

impl TimerWheel {
    /// Empties the wheel for a replication. `offset` says where on the wheel the run starts.
    pub fn reset(&mut self, tick: SimDuration, offset: SimDuration) {
        self.tick = tick.as_nanos();
        self.offset = offset.as_nanos();
        self.links.clear();
        self.buckets.clear();
    }

    /// When a timer of `delay` armed at `now` fires.
    #[must_use]
    pub fn firing_time(&self, now: SimTime, delay: SimDuration) -> SimTime {
        if self.tick == 0 {
            return now.saturating_add(delay);
        }
        let here = (now.as_nanos() + self.offset) / self.tick;
        let ticks = delay.as_nanos().div_ceil(self.tick);
        let mut level = 0;
        while level < LEVELS - 1 && ticks >= FIRST_LEVEL << (LEVEL_SHIFT * level) {
            level += 1;
        }
        let shift = LEVEL_SHIFT * level;
        let at = (((here + ticks) >> shift) + 1) << shift;
        SimTime::from_nanos((at * self.tick).saturating_sub(self.offset)).max(now)
    }

    /// Arms `entry`, which must not be armed.
    pub fn arm(&mut self, entry: u32, now: SimTime, delay: SimDuration) {
        let fires = self.firing_time(now, delay);
        if entry as usize >= self.links.len() {
            self.links.resize(entry as usize + 1, UNLINKED);
        }
        debug_assert!(self.links[entry as usize].fires == SimTime::MAX);
        let place = self.buckets.partition_point(|bucket| bucket.fires > fires);
        let next = match self.buckets.get_mut(place) {
            Some(bucket) if bucket.fires == fires => std::mem::replace(&mut bucket.head, entry),
            _ => {
                self.buckets.insert(place, Bucket { fires, head: entry });
                NONE
            }
        };
        if next != NONE {
            self.links[next as usize].previous = entry;
        }
        self.links[entry as usize] = Link { previous: NONE, next, fires };
    }

    /// True when `entry` is armed.
    #[must_use]
    pub fn is_armed(&self, entry: u32) -> bool {
        self.links.get(entry as usize).is_some_and(|link| link.fires != SimTime::MAX)
    }

    /// Removes `entry`; false when it was not armed.
    pub fn disarm(&mut self, entry: u32) -> bool {
        if !self.is_armed(entry) {
            return false;
        }
        let link = self.links[entry as usize];
        self.links[entry as usize] = UNLINKED;
        if link.next != NONE {
            self.links[link.next as usize].previous = link.previous;
        }
        if link.previous != NONE {
            self.links[link.previous as usize].next = link.next;
            return true;
        }
        let place = self.buckets.partition_point(|bucket| bucket.fires > link.fires);
        if link.next == NONE {
            self.buckets.remove(place);
        } else {
            self.buckets[place].head = link.next;
        }
        true
    }

    /// When the next bucket fires.
    #[must_use]
    pub fn next(&self) -> Option<SimTime> {
        self.buckets.last().map(|bucket| bucket.fires)
    }

    /// Appends what fires at `now` to `due`, the entry armed last first.
    pub fn take_due(&mut self, now: SimTime, due: &mut Vec<u32>) {
        while let Some(bucket) = self.buckets.last().copied().filter(|b| b.fires <= now) {
            self.buckets.pop();
            let mut entry = bucket.head;
            while entry != NONE {
                let next = self.links[entry as usize].next;
                self.links[entry as usize] = UNLINKED;
                due.push(entry);
                entry = next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wheel() -> TimerWheel {
        let mut wheel = TimerWheel::default();
        wheel.reset(SimDuration::from_millis(4), SimDuration::ZERO);
        wheel
    }

    fn fires_ms(wheel: &TimerWheel, now_ms: u64, delay_ms: u64) -> u64 {
        let now = SimTime::from_nanos(now_ms * 1_000_000);
        wheel.firing_time(now, SimDuration::from_millis(delay_ms)).as_nanos() / 1_000_000
    }

    /// From a tick of the second level on (a SYN retransmission), 204 ms timers that double give
    /// the clock that was measured: 208, 416, 832, 1664, 3328 ms.
    #[test]
    fn the_data_clock_is_the_measured_one() {
        let wheel = wheel();
        let mut now = 1024;
        let mut copies = vec![];
        for rto in [204, 204, 408, 816, 1632] {
            now = fires_ms(&wheel, now, rto);
            copies.push(now - 1024);
        }
        assert_eq!(copies, [208, 416, 832, 1664, 3328]);
    }

    #[test]
    fn a_second_is_late_by_up_to_36_ms_and_four_seconds_by_up_to_a_quarter() {
        let wheel = wheel();
        for now in 0..2048 {
            let syn = fires_ms(&wheel, now, 1000) - now;
            assert!((1000..=1036).contains(&syn), "{syn}");
            let third = fires_ms(&wheel, now, 4000) - now;
            assert!((4000..=4260).contains(&third), "{third}");
        }
    }

    #[test]
    fn a_bucket_fires_whole_and_the_last_armed_first() {
        let mut wheel = wheel();
        let second = SimDuration::from_whole_seconds(1);
        for entry in 0..4 {
            wheel.arm(entry, SimTime::from_nanos(u64::from(entry) * 1_000_000), second);
        }
        wheel.disarm(1);
        wheel.disarm(1);
        let mut due = vec![];
        let fires = wheel.next().unwrap();
        wheel.take_due(fires, &mut due);
        assert_eq!(due, [3, 2, 0]);
        assert_eq!(wheel.next(), None);
    }
}
