//! The interval of a rate: so many out of so many.

use statrs::distribution::{ContinuousCDF, Discrete, Gamma, Hypergeometric};

use super::interval::{Estimate, Interval, normal_quantile};
use super::paired::Contrast;

/// `hits` out of `trials`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// How often it happened.
    pub hits: u64,
    /// How often it could have.
    pub trials: u64,
    /// How many trials belong together, such as the two of an antithetic pair; 0 and 1 if each is
    /// independent of all others.
    group: u64,
}

impl Rate {
    /// Of values of which each is 1 where it happened and 0 where not; NaN does not count.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut rate = Self::new(0, 0);
        for value in values.into_iter().filter(|value| !value.is_nan()) {
            rate.trials += 1;
            rate.hits += u64::from(value > 0.5);
        }
        rate
    }

    /// `self - other` or `self / other`, as [`Rate::difference`] and [`Rate::ratio`] say.
    #[must_use]
    pub fn contrasted(self, other: Self, contrast: Contrast, confidence: f64) -> Estimate {
        match contrast {
            Contrast::Difference => self.difference(other, confidence),
            Contrast::Ratio => self.ratio(other, confidence),
        }
    }

    /// The p value of "the rates are equal", for trials that have nothing to do with each other: the
    /// exact test of Fisher (1935), two-sided by the sum of what is no likelier than what was seen.
    /// NaN without trials.
    #[must_use]
    pub fn p_value(self, other: Self) -> f64 {
        let (hits, trials) = (self.hits + other.hits, self.trials + other.trials);
        if self.trials == 0 || other.trials == 0 {
            return f64::NAN;
        }
        let Ok(of_both) = Hypergeometric::new(trials, hits, self.trials) else { return f64::NAN };
        no_likelier(
            (hits + self.trials).saturating_sub(trials)..=hits.min(self.trials),
            self.hits,
            |k| of_both.ln_pmf(k),
        )
    }
    /// Of trials of which each is independent of all others.
    #[must_use]
    pub const fn new(hits: u64, trials: u64) -> Self {
        Self { hits, trials, group: 1 }
    }

    /// So many trials as `group` says belong together, and count as one: as if they always came out
    /// alike, which is the worst that can be.
    #[must_use]
    pub const fn grouped(self, group: u64) -> Self {
        Self { group, ..self }
    }

    /// The share with the score interval of Wilson (1927), which is sound near 0 and 1 and for
    /// few trials, but for its end beside 0 and 1 after one to three events (or all but one to
    /// three): there it is the limit for a Poisson mean, as Brown, Cai and DasGupta (2001,
    /// "Interval Estimation for a Binomial Proportion", section 4.1) modify it. Without that one
    /// event in many trials rules out too much.
    #[must_use]
    pub fn estimate(self, confidence: f64) -> Estimate {
        if self.trials == 0 {
            return Estimate::UNKNOWN;
        }
        let share = self.hits as f64 / self.trials as f64;
        let trials = self.trials as f64 / self.group.max(1) as f64;
        let z = normal_quantile(confidence);
        let weight = z * z / trials;
        let centre = (share + weight / 2.0) / (1.0 + weight);
        let spread = (share * (1.0 - share) / trials + weight / (4.0 * trials)).sqrt();
        let half_width = z * spread / (1.0 + weight);
        let few = |events: f64| least_mean(events, trials, confidence) / trials;
        // Rounding must not push an end past the share itself.
        let interval = Interval {
            low: (centre - half_width).min(few(share * trials)).clamp(0.0, share),
            high: (centre + half_width).max(1.0 - few((1.0 - share) * trials)).clamp(share, 1.0),
        };
        Estimate::new(share, interval)
    }

    /// `self - other`, with the hybrid score interval of Newcombe (1998, method 10), for trials that
    /// have nothing to do with each other; [`super::paired_rates`] are for those that do.
    #[must_use]
    pub fn difference(self, other: Self, confidence: f64) -> Estimate {
        let (here, there) = (self.estimate(confidence), other.estimate(confidence));
        if here.value.is_nan() || there.value.is_nan() {
            return Estimate::UNKNOWN;
        }
        let value = here.value - there.value;
        let below = (here.value - here.interval.low).hypot(there.interval.high - there.value);
        let above = (here.interval.high - here.value).hypot(there.value - there.interval.low);
        Estimate::new(value, Interval { low: value - below, high: value + above })
    }

    /// `self / other`: the extremes over both Wilson intervals, each at a confidence that makes
    /// the two hold together (Bonferroni). Unbounded above when `other` may be 0.
    #[must_use]
    pub fn ratio(self, other: Self, confidence: f64) -> Estimate {
        let each = 1.0 - (1.0 - confidence) / 2.0;
        let (here, there) = (self.estimate(each), other.estimate(each));
        if here.value.is_nan() || there.value.is_nan() {
            return Estimate::UNKNOWN;
        }
        let high = if there.interval.low > 0.0 {
            here.interval.high / there.interval.low
        } else {
            f64::INFINITY
        };
        let value = here.value / there.value;
        Estimate::new(value, Interval { low: here.interval.low / there.interval.high, high })
    }
}

/// The least Poisson mean that is not ruled out by so few `events` in so many trials; infinite
/// where Wilson's end is sound.
fn least_mean(events: f64, trials: f64, confidence: f64) -> f64 {
    let few = if trials <= 50.0 { 2.0 } else { 3.0 };
    // A share times the trials may be off by rounding.
    if events < 1e-6 || events > few + 1e-6 {
        return f64::INFINITY;
    }
    Gamma::new(events, 1.0).map_or(f64::INFINITY, |mean| mean.inverse_cdf(1.0 - confidence))
}

/// The probability of all outcomes that are no likelier than `seen`.
pub(super) fn no_likelier(
    outcomes: std::ops::RangeInclusive<u64>,
    seen: u64,
    ln_probability: impl Fn(u64) -> f64,
) -> f64 {
    // Outcomes that are equally likely differ by rounding.
    let most = ln_probability(seen) + 1e-9;
    let likely = outcomes.map(ln_probability).filter(|&of| of <= most);
    likely.map(libm::exp).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use statrs::distribution::Binomial;

    use super::*;

    fn assert_near(estimate: Estimate, low: f64, high: f64) {
        let Interval { low: l, high: h } = estimate.interval;
        assert!((l - low).abs() < 5e-5 && (h - high).abs() < 5e-5, "{l} to {h}");
    }

    #[test]
    fn wilson_intervals_are_those_of_newcombe_1998() {
        // Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3.
        assert_near(Rate::new(81, 263).estimate(0.95), 0.2553, 0.3662);
        assert_near(Rate::new(15, 148).estimate(0.95), 0.0624, 0.1605);
        assert_near(Rate::new(0, 20).estimate(0.95), 0.0, 0.1611);
        // The lower end of method 3 is 0.0061 here; the upper one stands.
        let one = Rate::new(1, 29).estimate(0.95).interval;
        assert!((one.high - 0.1718).abs() < 5e-5, "{one:?}");
    }

    #[test]
    fn one_event_rules_out_what_a_poisson_count_does() {
        // Brown, Cai and DasGupta (2001), equation 10: exp(-m) = 1 - 0.05 for one event.
        let low = |hits, trials| Rate::new(hits, trials).estimate(0.95).interval.low;
        assert!((low(1, 29) * 29.0 + libm::log(0.95)).abs() < 1e-6);
        assert!((low(1, 1_000) * 1_000.0 + libm::log(0.95)).abs() < 1e-6);
        // exp(-m) (1 + m) = 0.95, exp(-m) (1 + m + m²/2) = 0.95.
        assert!((low(2, 1_000) * 1_000.0 - 0.35536).abs() < 1e-4);
        assert!((low(3, 1_000) * 1_000.0 - 0.81769).abs() < 1e-4);
        // And alike when all but one happened.
        let high = Rate::new(28, 29).estimate(0.95).interval.high;
        assert!((1.0 - high - low(1, 29)).abs() < 1e-9);
    }

    /// What is rare: the truth lies below the interval in at most 8 % of experiments, and above it in
    /// none. Wilson's end alone is wrong in up to 16 % of them, namely whenever it happens at all.
    #[test]
    fn one_rare_event_rules_the_truth_out_seldom() {
        for trials in [50_u64, 100, 400] {
            for mean in [0.03, 0.06, 0.1, 0.17, 0.3, 0.5, 0.8, 1.0] {
                let truth = mean / trials as f64;
                let of = Binomial::new(truth, trials).unwrap();
                let missed: f64 = (0..=trials)
                    .filter(|&hits| Rate::new(hits, trials).estimate(0.95).interval.low > truth)
                    .map(|hits| of.pmf(hits))
                    .sum();
                assert!(missed < 0.08, "{missed} for {mean} of {trials}");
                if mean < 0.3 {
                    assert!(missed < 0.05, "{missed} for {mean} of {trials}");
                }
            }
        }
    }

    #[test]
    fn differences_are_those_of_newcombe_1998() {
        // Newcombe (1998), Statistics in Medicine 17, 873-890, table II, method 10: 56/70 - 48/80.
        let difference = Rate::new(56, 70).difference(Rate::new(48, 80), 0.95);
        assert_near(difference, 0.0524, 0.3339);
    }

    #[test]
    fn the_ratio_to_a_rate_that_may_be_zero_is_unbounded() {
        let ratio = Rate::new(5, 10).ratio(Rate::new(0, 10), 0.95);
        assert_eq!(ratio.interval.high, f64::INFINITY);
        assert!(ratio.interval.low > 0.5);
    }

    #[test]
    fn equal_rates_are_tested_as_by_fisher() {
        // The tea of Fisher (1935): three of four cups right, and one of four; (1 + 16 + 16 + 1)/70.
        let p_value = |a, b, c, d| Rate::new(a, b).p_value(Rate::new(c, d));
        assert!((p_value(3, 4, 1, 4) - 34.0 / 70.0).abs() < 1e-9);
        assert!((p_value(0, 20, 0, 30) - 1.0).abs() < 1e-9);
        // 2 / C(20, 10).
        assert!((p_value(10, 10, 0, 10) - 2.0 / 184_756.0).abs() < 1e-12);
        assert!(p_value(0, 0, 1, 2).is_nan());
    }

    #[test]
    fn no_trials_no_rate() {
        assert!(Rate::default().estimate(0.95).value.is_nan());
    }

    #[test]
    fn trials_that_belong_together_count_as_one() {
        let pairs = Rate::new(30, 526).grouped(2).estimate(0.95);
        let single = Rate::new(15, 263).estimate(0.95);
        assert_eq!(pairs, single);
        assert_near(Rate::new(0, 40).grouped(2).estimate(0.95), 0.0, 0.1611);
    }
}
