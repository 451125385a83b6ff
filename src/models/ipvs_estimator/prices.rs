//! What work costs.

use rand::RngExt;
use rand_distr::{Distribution as _, Exp1, StandardNormal};

use super::config::{Config, Cost, Governor};
use crate::engine::{SimDuration, Stream};
use crate::quantities::DurationSampler;

/// Passes over a cached object that the design takes for one uncached estimate.
const DESIGN_CACHE_FACTOR: f64 = 4.0;
/// Load beyond which the ondemand governor goes to the highest clock:
/// `MICRO_FREQUENCY_UP_THRESHOLD` in `drivers/cpufreq/cpufreq_ondemand.c`.
const UP_THRESHOLD: f64 = 0.95;

impl Cost {
    /// How much dearer reads are because CPUs are on several nodes: those of the other nodes cost
    /// `numa_remote_factor`.
    pub(super) fn numa_factor(&self) -> f64 {
        let local = 1.0 / f64::from(self.numa_nodes.max(1));
        local + (1.0 - local) * self.numa_remote_factor
    }

    /// Mean cost of an estimate at the highest clock, in nanoseconds.
    pub(super) fn full_speed_ns(&self, possible_cpus: u32) -> f64 {
        self.estimate.as_ref().map_or_else(
            || self.read_cost_ns * f64::from(possible_cpus) * self.numa_factor(),
            |estimate| estimate.mean_seconds() * 1e9,
        )
    }
}

/// Costs ready for drawing.
#[derive(Clone, Debug)]
pub(super) struct Prices {
    /// Mean cost of an estimate at the highest clock.
    full_speed_ns: f64,
    /// A law for the whole cost of each estimate.
    law: Option<DurationSampler>,
    lowest_clock: f64,
    /// All clocks in ascending order; none when any can be set.
    clocks: Vec<f64>,
    /// Share of an estimate at the highest clock that is work of the core.
    core_share: f64,
    /// Of the lognormal factor common to a tick, with mean 1.
    tick_sigma: f64,
    calc_loop_ns: f64,
    calc_noise: f64,
    relink: SimDuration,
}

/// The time that a row takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RowTime {
    /// Its longest chain.
    pub chain: SimDuration,
    /// All of it.
    pub tick: SimDuration,
}

impl Prices {
    pub fn new(config: &Config, cache_factor: u32) -> Self {
        let cost = &config.cost;
        let full_speed_ns = cost.full_speed_ns(config.possible_cpus);
        let cached_pass_ns = full_speed_ns / cost.calc_ratio / DESIGN_CACHE_FACTOR;
        let calc_loop_ns = cost.calc_value.map_or_else(
            || cached_pass_ns * f64::from(cache_factor),
            |value| value.as_nanos() as f64,
        );
        let of_lowest = 1.0 / cost.lowest_clock - 1.0;
        let core_share = match cost.governor_factor {
            Some(factor) if of_lowest > 0.0 => (factor - 1.0) / of_lowest,
            _ => (calc_loop_ns / f64::from(cache_factor) / full_speed_ns).min(1.0),
        };
        Self {
            full_speed_ns,
            law: cost.estimate.as_ref().map(|estimate| estimate.sampler()),
            lowest_clock: cost.lowest_clock,
            clocks: steps(cost),
            core_share,
            tick_sigma: libm::sqrt(libm::log1p(cost.tick_cv * cost.tick_cv)),
            calc_loop_ns,
            calc_noise: cost.calc_noise,
            relink: cost.relink,
        }
    }

    pub fn rewind(&mut self) {
        if let Some(law) = &mut self.law {
            law.rewind();
        }
    }

    /// The clock, over the highest, of a CPU that was busy for the share `load` of late:
    /// `od_update` in `drivers/cpufreq/cpufreq_ondemand.c`.
    pub fn clock(&self, governor: Governor, load: f64) -> f64 {
        match governor {
            Governor::Performance => 1.0,
            Governor::Ondemand if load > UP_THRESHOLD => 1.0,
            Governor::Ondemand => {
                self.nearest(self.lowest_clock + load * (1.0 - self.lowest_clock))
            }
            Governor::Powersave => self.lowest_clock,
        }
    }

    /// The clock nearest to `wanted` that can be set, the lower of two as near:
    /// `cpufreq_table_find_index_c` in `include/linux/cpufreq.h`.
    fn nearest(&self, wanted: f64) -> f64 {
        let distance = |clock: &f64| (clock - wanted).abs();
        let nearer = |first: &&f64, second: &&f64| distance(first).total_cmp(&distance(second));
        self.clocks.iter().min_by(nearer).copied().unwrap_or(wanted)
    }

    /// How much dearer an estimate is at `clock`: the core's part takes longer, waiting for memory
    /// does not.
    fn slowdown(&self, clock: f64) -> f64 {
        1.0 - self.core_share + self.core_share / clock
    }

    /// Mean cost of an estimate at `clock`, in nanoseconds.
    pub fn estimate_ns(&self, clock: f64) -> f64 {
        self.full_speed_ns * self.slowdown(clock)
    }

    /// Draws the time of a row of `estimators`, `longest` of them in its longest chain, at `clock`.
    pub fn row(
        &mut self,
        longest: u32,
        estimators: u32,
        clock: f64,
        random: &mut Stream,
    ) -> RowTime {
        let common = if self.tick_sigma > 0.0 {
            let z: f64 = StandardNormal.sample(random);
            libm::exp(self.tick_sigma * z - self.tick_sigma * self.tick_sigma / 2.0)
        } else {
            1.0
        };
        let factor = common * self.slowdown(clock);
        let chain = self.sum(longest, random) * factor;
        let others = self.sum(estimators - longest, random) * factor;
        RowTime { chain: from_ns(chain), tick: from_ns(chain + others) }
    }

    /// Nanoseconds of `count` estimates at the highest clock.
    fn sum(&mut self, count: u32, random: &mut Stream) -> f64 {
        match &mut self.law {
            None => f64::from(count) * self.full_speed_ns,
            Some(law) => law.sample_sum(u64::from(count), random).as_nanos() as f64,
        }
    }

    /// Draws how much dearer than possible a test of the calc phase is, and returns what one
    /// loop of it takes at `clock`, in nanoseconds.
    pub fn calc_loop_ns(&self, clock: f64, random: &mut Stream) -> f64 {
        let excess: f64 = Exp1.sample(random);
        self.undisturbed_calc_loop_ns(clock) * (1.0 + self.calc_noise * excess)
    }

    /// What an undisturbed loop takes at `clock`, in nanoseconds: passes over a cached object are
    /// work of the core alone.
    pub fn undisturbed_calc_loop_ns(&self, clock: f64) -> f64 {
        self.calc_loop_ns / clock
    }

    /// Linking or unlinking `count` estimators.
    pub fn relink(&self, count: u64) -> SimDuration {
        self.relink.saturating_mul(count)
    }
}

/// The clocks of a CPU that has only a few.
fn steps(cost: &Cost) -> Vec<f64> {
    if cost.clocks.is_empty() {
        return Vec::new();
    }
    let mut clocks = cost.clocks.clone();
    clocks.extend([cost.lowest_clock, 1.0]);
    clocks.sort_unstable_by(f64::total_cmp);
    clocks
}

/// The nearest duration to `nanos` nanoseconds.
pub(super) fn from_ns(nanos: f64) -> SimDuration {
    SimDuration::from_seconds(nanos * 1e-9)
}

/// How many of a Poisson process come when `mean` are expected: exact up to 64, beyond that by
/// the normal approximation, whose error is then below a hundredth of a deviation.
pub(super) fn poisson(mean: f64, random: &mut Stream) -> f64 {
    const EXACT_UP_TO: f64 = 64.0;
    if mean > EXACT_UP_TO {
        let z: f64 = StandardNormal.sample(random);
        return (mean + libm::sqrt(mean) * z).max(0.0);
    }
    let mut count = 0.0;
    let mut at: f64 = Exp1.sample(random);
    while at < mean {
        count += 1.0;
        let gap: f64 = Exp1.sample(random);
        at += gap;
    }
    count
}

/// A share between 0 and 1.
pub(super) fn uniform(random: &mut Stream) -> f64 {
    random.random()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::StreamSeed;

    #[test]
    fn the_cost_of_an_estimate_is_that_of_a_read_times_the_possible_cpus() {
        let config = Config::default();
        let mut prices = Prices::new(&config, 4);
        let mut random = StreamSeed::default().stream("test", "cost");
        let time = prices.row(16, 50_000, 1.0, &mut random);
        assert_eq!(time.tick, SimDuration::from_millis(268));
        assert_eq!(time.chain, SimDuration::from_nanos(85_760));
    }

    #[test]
    fn reads_from_other_nodes_multiply_the_cost() {
        let mut config = Config::default();
        config.cost.numa_nodes = 4;
        config.cost.numa_remote_factor = 3.0;
        assert!((config.cost.numa_factor() - 2.5).abs() < 1e-12);
    }

    #[test]
    fn a_low_clock_slows_the_calc_phase_more_than_the_estimates() {
        let mut config = Config::default();
        config.cost.lowest_clock = 0.25;
        let prices = Prices::new(&config, 4);
        // A cached pass is a quarter of an estimate at the design point: 3/4 + 4/4.
        assert!((prices.estimate_ns(0.25) / prices.estimate_ns(1.0) - 1.75).abs() < 1e-12);
        let loops = |clock| prices.undisturbed_calc_loop_ns(clock);
        assert!((loops(0.25) / loops(1.0) - 4.0).abs() < 1e-12);
        config.cost.governor_factor = Some(2.5);
        let given = Prices::new(&config, 4);
        assert!((given.estimate_ns(0.25) / given.estimate_ns(1.0) - 2.5).abs() < 1e-12);
    }

    #[test]
    fn ondemand_is_in_proportion_to_the_load_and_full_above_95_percent() {
        let mut config = Config::default();
        config.cost.lowest_clock = 0.2;
        let prices = Prices::new(&config, 4);
        for (load, clock) in [(0.0, 0.2), (0.5, 0.6), (0.95, 0.96), (0.951, 1.0), (1.0, 1.0)] {
            assert!((prices.clock(Governor::Ondemand, load) - clock).abs() < 1e-12, "{load}");
        }
        assert_eq!(prices.clock(Governor::Powersave, 1.0), 0.2);
        assert_eq!(prices.clock(Governor::Performance, 0.0), 1.0);
    }

    #[test]
    fn a_cpu_with_three_clocks_gets_the_nearest() {
        let mut config = Config::default();
        config.cost.lowest_clock = 0.375;
        config.cost.clocks = vec![0.53125];
        let prices = Prices::new(&config, 4);
        for (load, clock) in
            [(0.0, 0.375), (0.12, 0.375), (0.13, 0.53125), (0.6, 0.53125), (0.7, 1.0), (0.96, 1.0)]
        {
            assert_eq!(prices.clock(Governor::Ondemand, load), clock, "{load}");
        }
    }

    #[test]
    fn a_factor_common_to_a_tick_has_mean_1_and_the_variation_asked_for() {
        let mut config = Config::default();
        config.cost.tick_cv = 0.3;
        let mut prices = Prices::new(&config, 4);
        let mut random = StreamSeed::default().stream("test", "cost");
        let draws: Vec<f64> = (0..20_000)
            .map(|_| prices.row(0, 1000, 1.0, &mut random).tick.as_seconds() / 5.36e-3)
            .collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 19_999.0;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!((variance.sqrt() - 0.3).abs() < 0.01, "{variance}");
    }

    #[test]
    fn a_poisson_count_has_its_mean_and_variance() {
        let mut random = StreamSeed::default().stream("test", "poisson");
        for expected in [0.5, 20.0, 2000.0] {
            let draws: Vec<f64> = (0..20_000).map(|_| poisson(expected, &mut random)).collect();
            let mean = draws.iter().sum::<f64>() / draws.len() as f64;
            let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 19_999.0;
            assert!((mean / expected - 1.0).abs() < 0.03, "{mean}");
            assert!((variance / expected - 1.0).abs() < 0.05, "{variance}");
        }
    }
}
