//! Durations of one kind within a replication.

use hdrhistogram::Histogram;

use crate::engine::SimDuration;

/// Count, exact mean and greatest value, and quantiles to three digits.
#[derive(Clone, Debug)]
pub(super) struct Summary {
    count: u64,
    sum_ns: u128,
    greatest: SimDuration,
    /// In microseconds; `None` only if its bounds were refused, which they are not.
    histogram: Option<Histogram<u32>>,
}

/// Longest duration that the histogram tells apart: 10,000 s.
const LONGEST_US: u64 = 10_000_000_000;

impl Default for Summary {
    fn default() -> Self {
        Self {
            count: 0,
            sum_ns: 0,
            greatest: SimDuration::ZERO,
            histogram: Histogram::new_with_bounds(1, LONGEST_US, 3).ok(),
        }
    }
}

impl Summary {
    pub fn clear(&mut self) {
        self.count = 0;
        self.sum_ns = 0;
        self.greatest = SimDuration::ZERO;
        if let Some(histogram) = &mut self.histogram {
            histogram.clear();
        }
    }

    pub fn add(&mut self, duration: SimDuration) {
        self.count += 1;
        self.sum_ns += u128::from(duration.as_nanos());
        self.greatest = self.greatest.max(duration);
        if let Some(histogram) = &mut self.histogram {
            histogram.saturating_record((duration.as_nanos() + 500) / 1000);
        }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Seconds; NaN when there was none.
    pub fn mean(&self) -> f64 {
        self.sum_ns as f64 / self.count as f64 * 1e-9
    }

    /// Seconds; NaN when there was none.
    pub fn greatest(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.greatest.as_seconds() }
    }

    /// Seconds; NaN when there was none.
    pub fn quantile(&self, share: f64) -> f64 {
        match &self.histogram {
            Some(histogram) if self.count > 0 => histogram.value_at_quantile(share) as f64 * 1e-6,
            _ => f64::NAN,
        }
    }
}
