//! How often either of two is 1, pair by pair: the difference and the ratio of the two rates, which
//! have the same random numbers in common.

use statrs::distribution::{Binomial, Discrete};

use super::interval::{Estimate, Interval, normal_quantile};
use super::paired::Contrast;
use super::rate::{Rate, no_likelier};

/// Pairs of which either is 0 or 1, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairedRates {
    both: u64,
    only_first: u64,
    only_second: u64,
    neither: u64,
    /// How many pairs belong together and count as one; 0 and 1 if each is independent.
    group: u64,
}

impl PairedRates {
    /// Of values of which each is 1 where it happened and 0 where not.
    #[must_use]
    pub fn of(pairs: &[(f64, f64)]) -> Self {
        let mut rates = Self::default();
        for (first, second) in pairs {
            *match (*first > 0.5, *second > 0.5) {
                (true, true) => &mut rates.both,
                (true, false) => &mut rates.only_first,
                (false, true) => &mut rates.only_second,
                (false, false) => &mut rates.neither,
            } += 1;
        }
        rates
    }

    /// So many pairs as `group` says belong together and count as one: as if they always came out
    /// alike, which is the worst that can be.
    #[must_use]
    pub const fn grouped(self, group: u64) -> Self {
        Self { group, ..self }
    }

    /// The first less the second, or divided by it.
    #[must_use]
    pub fn contrasted(self, contrast: Contrast, confidence: f64) -> Estimate {
        if self.count() == 0 {
            return Estimate::UNKNOWN;
        }
        match contrast {
            Contrast::Difference => self.difference(confidence),
            Contrast::Ratio => self.ratio(confidence),
        }
    }

    /// The p value of "either happens equally often": the exact form of the test of McNemar (1947),
    /// over the pairs in which they differ. NaN without pairs.
    #[must_use]
    pub fn p_value(self) -> f64 {
        if self.count() == 0 {
            return f64::NAN;
        }
        let differ = self.only_first + self.only_second;
        let Ok(either) = Binomial::new(0.5, differ) else { return f64::NAN };
        no_likelier(0..=differ, self.only_first, |k| either.ln_pmf(k))
    }

    const fn count(self) -> u64 {
        self.both + self.only_first + self.only_second + self.neither
    }

    fn rates(self) -> [Rate; 2] {
        [self.only_first, self.only_second]
            .map(|only| Rate::new(self.both + only, self.count()).grouped(self.group))
    }

    /// Newcombe (1998), "Improved confidence intervals for the difference between binomial
    /// proportions based on paired data", Statistics in Medicine 17, 2635-2650, method 10: the score
    /// limits of both rates, put together with their correlation.
    fn difference(self, confidence: f64) -> Estimate {
        let [first, second] = self.rates().map(|rate| rate.estimate(confidence));
        let correlation = self.correlation();
        let apart = |x: f64, y: f64| (x * x - 2.0 * correlation * x * y + y * y).max(0.0).sqrt();
        let [below, above] =
            [first, second].map(|of| of.value - of.interval.low).map(|width| width.max(0.0));
        let [first_above, second_above] =
            [first, second].map(|of| (of.interval.high - of.value).max(0.0));
        let value = first.value - second.value;
        let interval = Interval {
            low: (value - apart(below, second_above)).max(-1.0),
            high: (value + apart(first_above, above)).min(1.0),
        };
        Estimate::new(value, interval)
    }

    /// The correlation phi of the two, corrected for continuity where it is positive; 0 where one of
    /// them is always the same.
    fn correlation(self) -> f64 {
        let group = self.group.max(1) as f64;
        let [both, first, second, neither] =
            [self.both, self.only_first, self.only_second, self.neither]
                .map(|count| count as f64 / group);
        let rows = (both + first) * (second + neither) * (both + second) * (first + neither);
        if rows <= 0.0 {
            return 0.0;
        }
        let together = both * neither - first * second;
        let half = self.count() as f64 / group / 2.0;
        let corrected = if together > 0.0 { (together - half).max(0.0) } else { together };
        corrected / rows.sqrt()
    }

    /// Bonett and Price (2006), "Confidence intervals for a ratio of binomial proportions based on
    /// paired data", Statistics in Medicine 25, 3039-3047: the hybrid of two score intervals, as
    /// Fagerland, Lydersen and Laake (2014), Statistics in Medicine 33, 2850-2875, give it. Pairs
    /// in which nothing happened say nothing about a ratio. Unbounded above when the second may be 0.
    fn ratio(self, confidence: f64) -> Estimate {
        let group = self.group.max(1) as f64;
        let [both, first, second] =
            [self.both, self.only_first, self.only_second].map(|count| count as f64 / group);
        let (happened, differ) = (both + first + second, first + second);
        let (first, second) = (both + first, both + second);
        if happened == 0.0 {
            return Estimate::new(f64::NAN, Interval { low: 0.0, high: f64::INFINITY });
        }
        let spread = |hits: f64| ((1.0 - (hits + 1.0) / (happened + 2.0)) / (hits + 1.0)).sqrt();
        let narrower = ((differ + 2.0) / ((first + 1.0) * (second + 1.0))).sqrt()
            / (spread(first) + spread(second));
        let z = narrower * normal_quantile(confidence);
        let [first, second] = [first, second].map(|hits| score(hits, happened, z));
        let value = first.value / second.value;
        let high = if second.interval.low > 0.0 {
            first.interval.high / second.interval.low
        } else {
            f64::INFINITY
        };
        Estimate::new(value, Interval { low: first.interval.low / second.interval.high, high })
    }
}

/// The share of `hits` in `trials` with Wilson's interval at `z` standard errors.
fn score(hits: f64, trials: f64, z: f64) -> Estimate {
    let square = z * z;
    let root = z * (square + 4.0 * hits * (1.0 - hits / trials)).max(0.0).sqrt();
    let end = |root: f64| (2.0 * hits + square + root) / (2.0 * (trials + square));
    let low = if hits == 0.0 { 0.0 } else { end(-root).max(0.0) };
    Estimate::new(hits / trials, Interval { low, high: end(root).min(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn rates(both: u64, only_first: u64, only_second: u64, neither: u64) -> PairedRates {
        PairedRates { both, only_first, only_second, neither, group: 1 }
    }

    fn assert_near(estimate: Estimate, low: f64, high: f64) {
        let Interval { low: l, high: h } = estimate.interval;
        assert!((l - low).abs() < 1e-4 && (h - high).abs() < 1e-4, "{l} to {h}");
    }

    #[test]
    fn paired_differences_are_those_of_newcombe_1998() {
        let difference = |of: PairedRates| of.contrasted(Contrast::Difference, 0.95);
        // Statistics in Medicine 17, 2635-2650, table III, method 10.
        assert_near(difference(rates(36, 14, 0, 0)), 0.1528, 0.4167);
        // 0.0569 to 0.3404 there: the end of the score interval of 48 of 50 is that of a Poisson
        // mean here, a little wider.
        let one = difference(rates(36, 12, 2, 0)).interval;
        assert!((one.low - 0.0569).abs() < 1e-4 && (0.3404..0.342).contains(&one.high), "{one:?}");
        // Complete response before and after consolidation, as in Fagerland et al. (2014).
        assert_near(difference(rates(59, 6, 16, 80)), -0.1186, -0.0046);
        assert_eq!(rates(9, 9, 9, 9).contrasted(Contrast::Difference, 0.95).value, 0.0);
    }

    #[test]
    fn paired_ratios_are_those_of_bonett_and_price_2006() {
        let ratio = |of: PairedRates| of.contrasted(Contrast::Ratio, 0.95);
        // Both examples of Fagerland et al. (2014).
        assert_near(ratio(rates(1, 1, 7, 12)), 0.0677, 0.9227);
        assert_near(ratio(rates(59, 6, 16, 80)), 0.7579, 0.9910);
        assert_eq!(ratio(rates(0, 4, 0, 9)).interval.high, f64::INFINITY);
        assert!(ratio(rates(0, 0, 0, 9)).value.is_nan());
        assert_eq!(ratio(rates(0, 0, 3, 9)).interval.low, 0.0);
    }

    #[test]
    fn what_differs_by_its_p_value_differs_by_its_intervals() {
        // 7 pairs against none: the p value is 2 / 2^7.
        for both in [0, 9, 20, 33] {
            let of = rates(both, 7, 0, 33 - both);
            assert!((of.p_value() - 0.015625).abs() < 1e-12);
            let difference = of.contrasted(Contrast::Difference, 0.95).interval;
            assert!(difference.low > 0.0 && difference.low < 0.175, "{difference:?}");
            let ratio = of.contrasted(Contrast::Ratio, 0.95).interval;
            assert!(ratio.low > 1.0, "{ratio:?}");
        }
    }

    #[test]
    fn the_first_against_the_second_is_the_reverse_of_the_second_against_the_first() {
        let (one, other) = (rates(9, 7, 2, 22), rates(9, 2, 7, 22));
        for contrast in [Contrast::Difference, Contrast::Ratio] {
            let [a, b] = [one, other].map(|of| of.contrasted(contrast, 0.95).interval);
            let turned = |end: f64| match contrast {
                Contrast::Difference => -end,
                Contrast::Ratio => 1.0 / end,
            };
            assert!((a.low - turned(b.high)).abs() < 1e-9, "{a:?} {b:?}");
            assert!((a.high - turned(b.low)).abs() < 1e-9, "{a:?} {b:?}");
        }
    }

    #[test]
    fn pairs_that_belong_together_count_as_one() {
        for contrast in [Contrast::Difference, Contrast::Ratio] {
            let halves = rates(18, 14, 4, 44).grouped(2).contrasted(contrast, 0.95);
            assert_eq!(halves, rates(9, 7, 2, 22).contrasted(contrast, 0.95));
        }
    }
}
