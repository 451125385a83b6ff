//! Virtual time: an integer count of nanoseconds, so that runs are exact and repeatable.

use std::fmt;

/// Nanoseconds in one second.
pub const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// An instant of virtual time: nanoseconds since the start of the run (0 to about 584 years).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(u64);

/// A span of virtual time in nanoseconds (0 to about 584 years).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimDuration(u64);

impl SimTime {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// The last instant that can be represented.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the start of the run.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start of the run.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start of the run, rounded to the nearest `f64`.
    #[must_use]
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// `self + span`, or `None` past the end of representable time.
    #[must_use]
    pub const fn checked_add(self, span: SimDuration) -> Option<Self> {
        match self.0.checked_add(span.0) {
            Some(nanos) => Some(Self(nanos)),
            None => None,
        }
    }

    /// `self + span`, held at [`SimTime::MAX`].
    #[must_use]
    pub const fn saturating_add(self, span: SimDuration) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The span from `earlier` to `self`, zero when `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> SimDuration {
        SimDuration(self.0.saturating_sub(earlier.0))
    }
}

impl SimDuration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span that can be represented.
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `nanos` nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A span of `micros` microseconds, held at [`SimDuration::MAX`].
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// A span of `millis` milliseconds, held at [`SimDuration::MAX`].
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A span of whole `seconds`, held at [`SimDuration::MAX`].
    #[must_use]
    pub const fn from_whole_seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(NANOS_PER_SECOND))
    }

    /// The span nearest to `seconds`. Negative and NaN give zero; too large gives
    /// [`SimDuration::MAX`], which no event can be armed with.
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Self {
        // A float-to-integer cast saturates and maps NaN to 0. Half-up by hand: `f64::round`
        // is a library call, this is on the path of every variate.
        Self((seconds * NANOS_PER_SECOND as f64 + 0.5) as u64)
    }

    /// Whole nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds, rounded to the nearest `f64`.
    #[must_use]
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// True for a span of no time.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// `self + other`, held at [`SimDuration::MAX`].
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// `self - other`, or zero when `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `count` times `self`, held at [`SimDuration::MAX`].
    #[must_use]
    pub const fn saturating_mul(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} s", self.as_seconds())
    }
}

impl fmt::Display for SimDuration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} s", self.as_seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_nanosecond() {
        assert_eq!(SimDuration::from_seconds(1.5).as_nanos(), 1_500_000_000);
        assert_eq!(SimDuration::from_seconds(0.000_000_000_6).as_nanos(), 1);
        assert_eq!(SimDuration::from_seconds(0.000_000_000_4).as_nanos(), 0);
    }

    #[test]
    fn impossible_seconds_saturate() {
        assert_eq!(SimDuration::from_seconds(-1.0), SimDuration::ZERO);
        assert_eq!(SimDuration::from_seconds(f64::NAN), SimDuration::ZERO);
        assert_eq!(SimDuration::from_seconds(f64::INFINITY), SimDuration::MAX);
    }

    #[test]
    fn adding_past_the_end_of_time_is_reported() {
        let almost = SimTime::from_nanos(u64::MAX - 1);
        assert_eq!(almost.checked_add(SimDuration::from_nanos(1)), Some(SimTime::MAX));
        assert_eq!(almost.checked_add(SimDuration::from_nanos(2)), None);
    }
}
