//! The average of a level over virtual time.

use crate::engine::SimTime;

/// A level that changes at instants, and its time-weighted average: a queue length, a number of
/// busy servers. Exact: the area under the level is kept in whole level-nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct TimeAverage {
    level: u64,
    greatest: u64,
    since: SimTime,
    began: SimTime,
    area: u128,
}

impl TimeAverage {
    /// Back to level zero at time zero.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Forgets what was until `now`, the end of the warm-up; the level stays.
    pub fn restart(&mut self, now: SimTime) {
        *self = Self { level: self.level, greatest: self.level, since: now, began: now, area: 0 };
    }

    /// The level is `level` from `now` on.
    #[inline]
    pub fn set(&mut self, now: SimTime, level: u64) {
        if level == self.level {
            return;
        }
        self.area += u128::from(now.since(self.since).as_nanos()) * u128::from(self.level);
        self.since = now;
        self.level = level;
        self.greatest = self.greatest.max(level);
    }

    /// The level now.
    #[must_use]
    pub fn level(&self) -> u64 {
        self.level
    }

    /// The greatest level since the start or the last [`TimeAverage::restart`].
    #[must_use]
    pub fn greatest(&self) -> u64 {
        self.greatest
    }

    /// The area under the level until `now`, in level-seconds.
    #[must_use]
    pub fn area_seconds(&self, now: SimTime) -> f64 {
        self.area(now) * 1e-9
    }

    /// The average until `now`; zero when no time has passed.
    #[must_use]
    pub fn mean(&self, now: SimTime) -> f64 {
        let span = now.since(self.began);
        if span.is_zero() { 0.0 } else { self.area(now) / span.as_nanos() as f64 }
    }

    /// In level-nanoseconds.
    fn area(&self, now: SimTime) -> f64 {
        let open = u128::from(now.since(self.since).as_nanos()) * u128::from(self.level);
        (self.area + open) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_counts_for_as_long_as_it_held() {
        let mut length = TimeAverage::default();
        length.set(SimTime::from_nanos(10), 4);
        length.set(SimTime::from_nanos(15), 1);
        assert_eq!(length.mean(SimTime::from_nanos(20)), 25.0 / 20.0);
        assert_eq!(length.greatest(), 4);
    }

    #[test]
    fn a_restart_forgets_the_warm_up_but_not_the_level() {
        let mut length = TimeAverage::default();
        length.set(SimTime::ZERO, 7);
        length.restart(SimTime::from_nanos(100));
        length.set(SimTime::from_nanos(150), 1);
        assert_eq!(length.mean(SimTime::from_nanos(200)), 4.0);
    }
}
