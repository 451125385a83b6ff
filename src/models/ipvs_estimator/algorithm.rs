//! What a preset and its switches amount to.

use super::config::{Config, Preset};

/// Rows of a kthread: `IPVS_EST_NTICKS`.
pub(super) const ROWS: usize = 50;
/// Chains of a row in a build without PREEMPT_RCU: `IPVS_EST_CHAIN_FACTOR`,
/// `ALIGN_DOWN(2 * 1000 * 10 / 8 / 50, 8)`.
pub(super) const CHAIN_FACTOR: u32 = 48;
/// Delay in ticks that a new estimator asks for.
pub(super) const INITIAL_DELAY: usize = ROWS - 1;
/// `IPVS_EST_CPU_KTHREADS`: most kthreads for each allowed CPU.
pub(super) const KTHREADS_PER_CPU: u32 = 4;
/// Most kthreads of any version: a slot number has 16 bits, one value of which means "none".
pub(super) const MOST_KTHREADS: u32 = u16::MAX as u32;
/// `IPVS_EST_CHAIN_DEPTH` of v2 with its cost shared out over the CPUs: lvs-devel, 10 Sep 2022.
const V2_READS_PER_CHAIN: u32 = 1800;
/// v1: estimators of a kthread, `32 * 1024`.
const V1_PER_KTHREAD: u32 = 32 * 1024;
/// v1: consecutive estimators that go to one chain.
const V1_BURST: u32 = 64;
/// Chain length until the calc phase has found a better one.
const CHAIN_MAX_UNMEASURED: u32 = 8;

/// How estimators find their row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// The last row with room before a base row: v2 to final.
    LastAvailable,
    /// So many to one row, then the next: v1.
    Bursts(u32),
}

/// How much fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Chains of a row: `IPVS_EST_TICK_CHAINS`.
    pub chains: u32,
    /// Estimators of a chain.
    pub chain_max: u32,
    /// Estimators of a row.
    pub tick_max: u32,
    /// Estimators of a kthread.
    pub est_max_count: u32,
}

/// The algorithm to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Algorithm {
    /// One timer in softirq context instead of kthreads.
    pub old_timer: bool,
    pub placement: Placement,
    pub single_chain: bool,
    /// The chain length to start with, in units of a build with 48 chains.
    pub chain_max: u32,
    /// Whether the calc phase's result is applied.
    pub calc_applies: bool,
    pub calc_phase: bool,
    pub temp_list: bool,
    pub cache_factor: u32,
    pub threads: ThreadCap,
}

/// What bounds the number of kthreads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadCap {
    /// A fixed number.
    Fixed(u32),
    /// So many for each allowed CPU.
    PerCpu(u32),
}

impl Algorithm {
    /// The preset of `config` with the switches that it sets itself.
    pub fn resolve(config: &Config) -> Self {
        let v2_depth = (V2_READS_PER_CHAIN / config.possible_cpus.max(1)).max(2);
        let of_preset = match config.preset {
            Preset::OldTimer => Self {
                old_timer: true,
                placement: Placement::LastAvailable,
                single_chain: true,
                chain_max: u32::MAX / (CHAIN_FACTOR * ROWS as u32),
                calc_applies: false,
                calc_phase: false,
                temp_list: false,
                cache_factor: 1,
                threads: ThreadCap::Fixed(1),
            },
            Preset::V1 => Self {
                old_timer: false,
                placement: Placement::Bursts(V1_BURST),
                single_chain: true,
                chain_max: 1,
                calc_applies: false,
                calc_phase: false,
                temp_list: false,
                cache_factor: 1,
                threads: ThreadCap::Fixed(MOST_KTHREADS),
            },
            Preset::V2 => Self {
                placement: Placement::LastAvailable,
                old_timer: false,
                single_chain: config.single_chain,
                chain_max: v2_depth,
                calc_applies: false,
                calc_phase: false,
                temp_list: false,
                cache_factor: 1,
                threads: ThreadCap::Fixed(MOST_KTHREADS),
            },
            Preset::Final => Self {
                placement: Placement::LastAvailable,
                old_timer: false,
                single_chain: config.single_chain,
                chain_max: CHAIN_MAX_UNMEASURED,
                calc_applies: true,
                calc_phase: true,
                temp_list: true,
                cache_factor: 4,
                threads: ThreadCap::PerCpu(KTHREADS_PER_CPU),
            },
        };
        if of_preset.old_timer {
            return of_preset;
        }
        let calc_phase = config.calc_phase.unwrap_or(of_preset.calc_phase);
        Self {
            chain_max: config.chain_max.unwrap_or(of_preset.chain_max),
            calc_applies: calc_phase && config.chain_max.is_none(),
            calc_phase,
            temp_list: config.temp_list.unwrap_or(of_preset.temp_list),
            cache_factor: config.cache_factor.unwrap_or(of_preset.cache_factor),
            threads: config.est_max_threads.map_or(of_preset.threads, ThreadCap::Fixed),
            ..of_preset
        }
    }

    /// What fits when a chain of a 48-chain build takes `chain_max`: `ip_vs_est_set_params`.
    pub fn limits(&self, chain_max: u32) -> Limits {
        if let Placement::Bursts(_) = self.placement {
            // A chain of v1 has no bound of its own.
            let bound = V1_PER_KTHREAD;
            return Limits { chains: 1, chain_max: bound, tick_max: bound, est_max_count: bound };
        }
        let (chains, chain_max) = if self.single_chain {
            (1, chain_max.saturating_mul(CHAIN_FACTOR))
        } else {
            (CHAIN_FACTOR, chain_max)
        };
        let tick_max = chains.saturating_mul(chain_max);
        Limits { chains, chain_max, tick_max, est_max_count: tick_max.saturating_mul(ROWS as u32) }
    }

    /// Most kthreads with `cpus` allowed ones: `ip_vs_est_max_threads`.
    pub fn max_threads(&self, cpus: u32) -> u32 {
        match self.threads {
            ThreadCap::Fixed(threads) => threads,
            ThreadCap::PerCpu(threads) => threads.saturating_mul(cpus).clamp(1, MOST_KTHREADS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(edit: impl FnOnce(&mut Config)) -> Algorithm {
        let mut config = Config::default();
        edit(&mut config);
        Algorithm::resolve(&config)
    }

    #[test]
    fn both_builds_hold_the_same_number_of_estimators() {
        for single_chain in [false, true] {
            let algorithm = resolve(|config| config.single_chain = single_chain);
            let limits = algorithm.limits(39);
            assert_eq!((limits.tick_max, limits.est_max_count), (1872, 93_600));
        }
    }

    #[test]
    fn the_depth_of_v2_is_1800_over_the_cpus_but_at_least_2() {
        for (cpus, depth, est_max) in [
            (4, 450, 1_080_000),
            (16, 112, 268_800),
            (104, 17, 40_800),
            (1024, 2, 4800),
            (4096, 2, 4800),
        ] {
            let algorithm = resolve(|config| {
                config.preset = Preset::V2;
                config.possible_cpus = cpus;
            });
            assert_eq!(algorithm.chain_max, depth);
            assert_eq!(algorithm.limits(depth).est_max_count, est_max);
        }
    }

    #[test]
    fn the_final_version_starts_at_most_4_kthreads_for_each_allowed_cpu() {
        let algorithm = resolve(|_| {});
        assert_eq!(algorithm.max_threads(8), 32);
        assert_eq!(algorithm.max_threads(0), 1);
    }
}
