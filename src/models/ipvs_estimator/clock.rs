//! The kernel's clock: jiffies, and when a timer goes off.

use crate::engine::{SimTime, time::NANOS_PER_SECOND};

/// Levels of the timer wheel have 64 buckets each and grow eightfold in granularity.
const FIRST_LEVEL: i64 = 63;
const LEVEL_SHIFT: u32 = 3;
const LEVELS: u32 = 9;

/// Jiffies of `1 / hz`, with the run's start somewhere inside one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jiffies {
    hz: u32,
    /// How far into a jiffy the run starts, in nanoseconds.
    phase_ns: u64,
}

impl Jiffies {
    /// `phase` of the first jiffy (0 to 1) has passed at time zero.
    pub fn new(hz: u32, phase: f64) -> Self {
        let length_ns = NANOS_PER_SECOND as f64 / f64::from(hz);
        Self { hz, phase_ns: (phase * length_ns) as u64 }
    }

    /// Jiffies begun since the one in which the run started.
    pub fn at(&self, time: SimTime) -> i64 {
        let nanos = u128::from(time.as_nanos()) + u128::from(self.phase_ns);
        (nanos * u128::from(self.hz) / u128::from(NANOS_PER_SECOND)) as i64
    }

    /// When jiffy number `jiffy` begins; time zero for those before the start.
    pub fn start_of(&self, jiffy: i64) -> SimTime {
        let nanos = (jiffy.max(0) as u128 * u128::from(NANOS_PER_SECOND))
            .div_ceil(u128::from(self.hz)) as u64;
        SimTime::from_nanos(nanos.saturating_sub(self.phase_ns))
    }

    /// When a timer set in jiffy `now` for `delay` jiffies later goes off: rounded up to the next
    /// jiffy of its level's granularity, so never early. Source: `calc_index` and
    /// `calc_wheel_index` in `kernel/time/timer.c` since Linux 4.8.
    pub fn wheel_expiry(&self, now: i64, delay: i64) -> SimTime {
        let mut level = 0;
        while level + 1 < LEVELS && delay >= FIRST_LEVEL << (LEVEL_SHIFT * level) {
            level += 1;
        }
        let shift = LEVEL_SHIFT * level;
        self.start_of((((now + delay) >> shift) + 1) << shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jiffy_begins_when_it_is_first_seen() {
        for hz in [100, 250, 300, 1000] {
            let jiffies = Jiffies::new(hz, 0.37);
            for jiffy in [1, 2, 3, 299, 300, 301, 12_345] {
                let start = jiffies.start_of(jiffy);
                let before = SimTime::from_nanos(start.as_nanos() - 1);
                assert_eq!((jiffies.at(before), jiffies.at(start)), (jiffy - 1, jiffy), "{hz}");
            }
        }
    }

    #[test]
    fn a_sleep_of_a_tick_ends_one_jiffy_late_and_a_timer_of_2_s_up_to_8_or_64() {
        let slow = Jiffies::new(250, 0.0);
        assert_eq!(slow.wheel_expiry(0, 10), slow.start_of(11));
        assert_eq!(slow.wheel_expiry(0, 500), slow.start_of(504));
        let fast = Jiffies::new(1000, 0.0);
        assert_eq!(fast.wheel_expiry(1, 2000), fast.start_of(2048));
    }
}
