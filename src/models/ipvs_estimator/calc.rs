//! The calc phase: how kthread 0 finds the chain length.
//!
//! Twelve tests, with 20 ms of sleep before the first, fifth and ninth so that the frequency can
//! rise. A test times `loops * cache_factor` passes over one cached object; what it takes divided by
//! `loops` stands for one uncached estimate. The least of the tests counts, and as many estimators go
//! into a chain as fit into 95 us. Source: `ip_vs_est_calc_limits`.

/// Tests of a calc phase.
pub(super) const TESTS: u32 = 12;
/// Tests between two sleeps.
pub(super) const TESTS_PER_GROUP: u32 = 4;
/// What a chain may take, in nanoseconds.
const CHAIN_GOAL_NS: u64 = 95_000;
/// A test that took no longer is below the clock's resolution: more loops next time.
const SHORTEST_TEST_NS: u64 = 1_000;
/// A test that took this long was disturbed.
const LONGEST_TEST_NS: u64 = 1_000_000_000;
/// Chain length when no test counted.
const CHAIN_MAX_UNMEASURED: u32 = 8;

/// The calc phase's own state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Calc {
    /// Tests done.
    pub tests: u32,
    loops: u64,
    least_ns: Option<u64>,
}

impl Default for Calc {
    fn default() -> Self {
        Self { tests: 0, loops: 1, least_ns: None }
    }
}

impl Calc {
    /// Nanoseconds that the passes of the next test take, when one loop takes `loop_ns`.
    pub fn test_ns(&self, loop_ns: f64) -> f64 {
        loop_ns * self.loops as f64
    }

    /// A test took `took_ns`.
    pub fn record(&mut self, took_ns: u64) {
        self.tests += 1;
        if took_ns <= SHORTEST_TEST_NS {
            self.loops *= 2;
        } else if took_ns < LONGEST_TEST_NS {
            let of_loop = took_ns / self.loops;
            self.least_ns = Some(self.least_ns.map_or(of_loop, |least| least.min(of_loop)));
        }
    }

    /// Whether kthread 0 sleeps before the next test.
    pub fn sleeps_next(&self) -> bool {
        self.tests.is_multiple_of(TESTS_PER_GROUP)
    }

    pub fn is_done(&self) -> bool {
        self.tests >= TESTS
    }

    /// The least that a test measured for an estimate, in nanoseconds: `min_est`.
    pub fn least_ns(&self) -> Option<u64> {
        self.least_ns
    }

    /// Estimators for a chain: `est_chain_max`.
    pub fn chain_max(&self) -> u32 {
        self.least_ns.map_or(CHAIN_MAX_UNMEASURED, chain_max_for)
    }
}

/// Estimators for a chain when one is found to cost `least_ns`.
pub(super) fn chain_max_for(least_ns: u64) -> u32 {
    match CHAIN_GOAL_NS.checked_div(least_ns) {
        None => CHAIN_MAX_UNMEASURED,
        Some(fitting) => u32::try_from(fitting).unwrap_or(u32::MAX).max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calculate(loop_ns: f64) -> Calc {
        let mut calc = Calc::default();
        while !calc.is_done() {
            calc.record(calc.test_ns(loop_ns) as u64);
        }
        calc
    }

    #[test]
    fn the_printed_calc_lines_come_out() {
        for (min_est, chain_max, est_max_count) in [
            (508, 187, 448_800),
            (494, 192, 460_800),
            (407, 233, 559_200),
            (412, 230, 552_000),
            (496, 191, 458_400),
            (656, 144, 345_600),
            (7319, 12, 28_800),
            (2834, 33, 79_200),
            (2444, 38, 91_200),
            (2418, 39, 93_600),
            (2627, 36, 86_400),
            (1775, 53, 127_200),
            (66_250, 1, 2400),
        ] {
            let calc = calculate(f64::from(min_est));
            assert_eq!(calc.least_ns(), Some(min_est as u64));
            assert_eq!(calc.chain_max(), chain_max);
            assert_eq!(calc.chain_max() * 2400, est_max_count);
        }
    }

    #[test]
    fn a_test_below_the_clocks_resolution_doubles_the_loops_and_is_lost() {
        let mut calc = Calc::default();
        calc.record(calc.test_ns(400.0) as u64);
        calc.record(calc.test_ns(400.0) as u64);
        assert_eq!(calc.least_ns(), None);
        calc.record(calc.test_ns(400.0) as u64);
        assert_eq!(calc.least_ns(), Some(400));
    }

    #[test]
    fn a_disturbed_test_does_not_count_and_without_any_the_chain_length_is_8() {
        let mut calc = Calc::default();
        calc.record(LONGEST_TEST_NS);
        assert_eq!((calc.least_ns(), calc.chain_max()), (None, 8));
    }

    #[test]
    fn an_estimate_dearer_than_a_whole_chain_still_gets_one_place() {
        assert_eq!(calculate(210_000.0).chain_max(), 1);
    }

    #[test]
    fn the_sleeps_are_before_tests_0_4_and_8() {
        let mut calc = Calc::default();
        let mut sleeps = Vec::new();
        while !calc.is_done() {
            if calc.sleeps_next() {
                sleeps.push(calc.tests);
            }
            calc.record(2000);
        }
        assert_eq!(sleeps, [0, 4, 8]);
    }
}
