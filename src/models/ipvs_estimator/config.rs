//! What a user sets of the IPVS estimator.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::SimDuration;
use crate::quantities::{DurationDistribution, Rate};

pub use super::traffic::{Arrivals, ServiceGroup, Step, Traffic};

/// What a user sets of the IPVS estimator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The algorithm: sets the defaults of `chain_max`, `calc_phase`, `temp_list`, `cache_factor`
    /// and `est_max_threads`.
    #[schemars(extend("x-source" = "lvs-devel, 'ipvs: use kthreads for stats estimation', v1 to v7; Linux 6.2 net/netfilter/ipvs/ip_vs_est.c"))]
    pub preset: Preset,
    /// Possible CPUs: every estimate reads one counter of each.
    #[schemars(range(min = 1, max = 65_536), extend("x-unit" = "CPUs", "x-source" = "for_each_possible_cpu in ip_vs_chain_estimation"))]
    pub possible_cpus: u32,
    /// Timer interrupts per second: 100, 250, 300 or 1000. A tick is 2 * HZ / 50 jiffies.
    #[schemars(range(min = 100, max = 1000), extend("x-unit" = "1/s", "x-source" = "kernel configuration HZ; IPVS_EST_TICK in include/net/ip_vs.h"))]
    pub hz: u32,
    /// A build with PREEMPT_RCU: a row is one chain, 48 times as long, without a rescheduling
    /// point inside.
    #[schemars(extend("x-source" = "IPVS_EST_TICK_CHAINS in include/net/ip_vs.h"))]
    pub single_chain: bool,
    /// Estimators per chain, 1 to 100,000; by default max(1800 / CPUs, 2) in v2 and what the calc
    /// phase finds in `final`. Setting it leaves the calc phase without effect on the layout.
    #[schemars(range(min = 1, max = 100_000), extend("x-unit" = "estimators", "x-source" = "est_chain_max; lvs-devel, 10 Sep 2022"))]
    pub chain_max: Option<u32>,
    /// Whether kthread 0 measures the cost of an estimate before anything is estimated.
    #[schemars(extend("x-source" = "ip_vs_est_calc_limits"))]
    pub calc_phase: Option<bool>,
    /// Whether new estimators wait on kthread 0's temporary list; otherwise whoever adds a
    /// service links it into a chain.
    #[schemars(extend("x-source" = "est_temp_list, since v4"))]
    pub temp_list: Option<bool>,
    /// Passes over the cached test object in one loop of the calc phase: 4, or 1 in v4.
    #[schemars(range(min = 1, max = 64), extend("x-unit" = "passes", "x-source" = "cache_factor in ip_vs_est_calc_limits"))]
    pub cache_factor: Option<u32>,
    /// Most kthreads; by default 4 for each CPU of `est_cpulist_cpus` in `final`, unlimited before.
    #[schemars(range(min = 1, max = 65_535), extend("x-unit" = "kthreads", "x-source" = "IPVS_EST_CPU_KTHREADS, ip_vs_est_max_threads"))]
    pub est_max_threads: Option<u32>,
    /// CPUs that the kthreads may run on; by default all possible ones.
    #[schemars(range(min = 1, max = 65_536), extend("x-unit" = "CPUs", "x-source" = "sysctl net.ipv4.vs.est_cpulist"))]
    pub est_cpulist_cpus: Option<u32>,
    /// Niceness of the kthreads.
    #[schemars(range(min = -20, max = 19), extend("x-unit" = "nice", "x-source" = "sysctl net.ipv4.vs.est_nice"))]
    pub est_nice: i8,
    /// Whether anything is estimated.
    #[schemars(extend("x-source" = "sysctl net.ipv4.vs.run_estimation"))]
    pub run_estimation: bool,
    /// Whether the estimator of the namespace's totals is there too, as in a real kernel; without
    /// it the number of estimators is exactly that of the workload.
    #[schemars(extend("x-source" = "tot_stats in ip_vs_ctl.c"))]
    pub total_estimator: bool,
    /// Time from loading the module to the first service. kthread 0's clock starts with the
    /// module when that is at most 4 ticks ago, so the first estimate comes that much sooner
    /// than 49 ticks. 14.4 to 15.8 ms in three test logs of a Gold 6326; other logs do not show it,
    /// and their 1.909 to 1.954 s mean 6 to 51 ms.
    #[schemars(extend("x-source" = "ip_vs_est_kthread_start; lvs-devel test logs, Oct 2022: 'ipvs loaded' to 'starting estimator thread'"))]
    pub module_loaded_before: DurationDistribution,
    /// What an estimate costs.
    pub cost: Cost,
    /// Which services come and go.
    pub workload: Workload,
    /// What the services' counters count.
    pub traffic: Traffic,
    /// What else runs on the CPUs of the kthreads.
    pub host: Host,
    /// Changes of the sysctls during the run, in order of time.
    pub changes: Vec<Change>,
    /// Services that are followed one by one; with more, every n-th is. The chains themselves
    /// are always complete.
    #[schemars(range(min = 1, max = 100_000), extend("x-unit" = "services", "x-source" = "precision against run time"))]
    pub sampled_services: u32,
    /// Time before which ticks do not enter the figures of ticks, kthreads and errors.
    #[schemars(extend("x-source" = "three periods of 2 s are enough for the layout to settle"))]
    pub warm_up: SimDuration,
    /// Length of the run.
    #[schemars(extend("x-source" = "16 periods of 2 s bring a rate to within 1 %: 1 - 0.75^16"))]
    pub observe_for: SimDuration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            preset: Preset::Final,
            possible_cpus: 104,
            hz: 250,
            single_chain: false,
            chain_max: None,
            calc_phase: None,
            temp_list: None,
            cache_factor: None,
            est_max_threads: None,
            est_cpulist_cpus: None,
            est_nice: 0,
            run_estimation: true,
            total_estimator: true,
            module_loaded_before: SimDuration::from_millis(15).into(),
            cost: Cost::default(),
            workload: Workload::default(),
            traffic: Traffic::default(),
            host: Host::default(),
            changes: Vec::new(),
            sampled_services: 1000,
            warm_up: SimDuration::from_whole_seconds(6),
            observe_for: SimDuration::from_whole_seconds(60),
        }
    }
}

/// An algorithm of the estimator's history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Up to Linux 6.1: one timer walks all estimators in softirq context every 2 s.
    OldTimer,
    /// 50 chains of about 655, up to 32 * 1024 estimators in a kthread.
    V1,
    /// 48 chains a row, each of max(1800 / CPUs, 2) estimators.
    V2,
    /// Linux 6.2 and later: the calc phase finds the chain length.
    #[default]
    Final,
}

/// What an estimate costs.
///
/// - At the highest clock: `read_cost_ns` * `possible_cpus` * NUMA factor, where the NUMA factor is
///   `1 / numa_nodes + (1 - 1 / numa_nodes) * numa_remote_factor`. Or, as measured on a machine
///   with its CPUs and nodes, `estimate`: then none of these may be given.
/// - Either is multiplied by the slowdown of a low clock (`governor`) and by a factor common to
///   the row (`tick_cv`).
/// - What the calc phase measures at the highest clock is that cost over `calc_ratio`, or else
///   `calc_value`; it is multiplied by the slowdown of the clock alone, and by `calc_noise`.
///
/// A pass over a cached object, as the calc phase times it, is work of the core alone and takes
/// longer as the clock is lower. A real estimate holds the same work and, on top of it, waits for
/// memory, which the core's clock does not change. So a low clock slows the calc phase more than
/// the estimates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cost {
    /// Reading the counters of one CPU for one estimator. The default is 268 ms / 50,000
    /// estimators / 104 CPUs; 13 to 62 ns have been seen.
    #[schemars(range(min = 0.1, max = 100_000.0), extend("x-unit" = "ns", "x-source" = "lvs-devel, 10 Sep 2022: 268 ms for 50,000 services on 104 CPUs"))]
    pub read_cost_ns: f64,
    /// The whole cost of an estimate at the highest clock, in place of `read_cost_ns`, the CPUs and
    /// the NUMA keys. Use a constant,
    /// exponential, gamma, Erlang or normal one when there are many services: their sums are
    /// drawn at once.
    #[schemars(extend("x-source" = "measured time of a chain over its length"))]
    pub estimate: Option<DurationDistribution>,
    /// NUMA nodes over which the CPUs are spread evenly.
    #[schemars(range(min = 1, max = 64), extend("x-unit" = "nodes", "x-source" = "machines of 1, 2 and 4 nodes in lvs-devel, 10 Sep 2022"))]
    pub numa_nodes: u32,
    /// How much dearer a read from another node is.
    #[schemars(range(min = 1.0, max = 20.0), extend("x-unit" = "1", "x-source" = "perf annotate: 76.5 % of the time is the first load of each line; usually 1.5 to 3"))]
    pub numa_remote_factor: f64,
    /// The cpufreq governor, for the calc phase and for the estimates; `changes` may set another
    /// one later.
    #[schemars(extend("x-source" = "drivers/cpufreq/cpufreq_ondemand.c; lvs-devel, tests of v5 and v6 under several governors"))]
    pub governor: Governor,
    /// The lowest clock over the highest. From `min_est` at the highest over that at the lowest:
    /// 1775 / 7379 on a Gold 6326 (the default), 8230 / 66,250 on a Kunpeng 920; 1.2 / 3.2 GHz on
    /// an EPYC 7601.
    #[schemars(range(min = 0.01, max = 1.0), extend("x-unit" = "share", "x-source" = "lvs-devel, v5 and v6 test logs: min_est under each governor; the CPU's data sheet"))]
    pub lowest_clock: f64,
    /// Clocks between the lowest and the highest, over the highest, where the CPU has only a few:
    /// ondemand then sets the nearest of all (`CPUFREQ_RELATION_C`). Any clock where none is given.
    #[schemars(length(max = 64), extend("x-source" = "drivers/cpufreq/cpufreq_ondemand.c, od_update; acpi-cpufreq shows three on an EPYC 7601"))]
    pub clocks: Vec<f64>,
    /// How much dearer an estimate is at the lowest clock than at the highest. By default it
    /// follows from `lowest_clock` and from the share of an estimate that is work of the core:
    /// a cached pass over an estimate, 1 / (4 * `calc_ratio`). 1.4 to 5.6 have been seen.
    #[schemars(range(min = 1.0, max = 100.0), extend("x-unit" = "1", "x-source" = "measured tick time over that with the performance governor"))]
    pub governor_factor: Option<f64>,
    /// Coefficient of variation of a tick's cost, common to its estimators (cache and memory
    /// pressure); lognormal.
    #[schemars(range(min = 0.0, max = 3.0), extend("x-unit" = "1", "x-source" = "lvs-devel, 10 Sep 2022: max over median is 1.05 to 1.62"))]
    pub tick_cv: f64,
    /// Real cost of an estimate over what a test of the calc phase measures for it (4 passes over
    /// a cached object), both at the highest clock. 1 is the design point; 0.36 to 2 have been seen.
    #[schemars(range(min = 0.01, max = 100.0), extend("x-unit" = "1", "x-source" = "lvs-devel, v4 to v6 tests: tick time over 48 * est_chain_max * min_est"))]
    pub calc_ratio: f64,
    /// What a test of the calc phase measures (`min_est`) at the highest clock, in place of the
    /// cost over `calc_ratio`.
    #[schemars(extend("x-source" = "the kernel's debug line 'calc: chain_max=..., min_est=...'"))]
    pub calc_value: Option<SimDuration>,
    /// Mean excess of a test of the calc phase over the least possible, exponential; the least
    /// of 12 tests counts. 0 to 1 covers the spread between loads.
    #[schemars(range(min = 0.0, max = 100.0), extend("x-unit" = "1", "x-source" = "92 loads on a Gold 6326: est_chain_max of 30 to 39 in 90, 40 to 49 in 2"))]
    pub calc_noise: f64,
    /// Linking or unlinking one estimator.
    #[schemars(extend("x-source" = "lvs-devel, v4: 345,600 estimators relinked in 86.28 ms"))]
    pub relink: SimDuration,
}

impl Default for Cost {
    fn default() -> Self {
        Self {
            read_cost_ns: 268e6 / 50_000.0 / 104.0,
            estimate: None,
            numa_nodes: 1,
            numa_remote_factor: 2.0,
            governor: Governor::Performance,
            lowest_clock: 1775.0 / 7379.0,
            clocks: Vec::new(),
            governor_factor: None,
            tick_cv: 0.0,
            calc_ratio: 1.0,
            calc_value: None,
            calc_noise: 0.0,
            relink: SimDuration::from_nanos(250),
        }
    }
}

/// A cpufreq governor: what sets the clock of a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Governor {
    /// The highest clock.
    #[default]
    Performance,
    /// In proportion to the load of the kthread's CPU since its last row, the highest above 95 %.
    /// The calc phase sleeps nearly all the time, so it runs at the lowest clock unless
    /// `host.background_tasks` keep the CPU busy.
    Ondemand,
    /// The lowest clock.
    Powersave,
}

/// Which services come and go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Workload {
    /// Services that are added at the start, all at once.
    #[schemars(range(min = 0, max = 20_000_000), extend("x-unit" = "services", "x-source" = "up to 1,000,000 in lvs-devel, 2022"))]
    pub initial_services: u64,
    /// Real servers of each service; each has an estimator of its own.
    #[schemars(range(min = 0, max = 10_000), extend("x-unit" = "servers", "x-source" = "ip_vs_start_estimator in ip_vs_ctl.c, for services and destinations"))]
    pub destinations_per_service: u32,
    /// Services added or deleted later, one part after the other or at the same time.
    pub schedule: Vec<Part>,
}

impl Default for Workload {
    fn default() -> Self {
        Self { initial_services: 1000, destinations_per_service: 0, schedule: Vec::new() }
    }
}

/// A part of the schedule: so many services added and deleted at a steady rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Part {
    /// When the first is added or deleted.
    #[schemars(extend("x-source" = "the user's script"))]
    pub at: SimDuration,
    /// Services to add, 0 to 20,000,000.
    #[schemars(range(min = 0, max = 20_000_000), extend("x-unit" = "services", "x-source" = "the user's script"))]
    pub add: u64,
    /// Services to delete, each chosen at random among those there are. When `add` is set too,
    /// each addition is followed by a deletion as long as there are both.
    #[schemars(range(min = 0, max = 20_000_000), extend("x-unit" = "services", "x-source" = "the user's script"))]
    pub delete: u64,
    /// How many additions (and deletions) a second. A shell loop of ipvsadm reaches 400 to 840.
    #[schemars(extend("x-source" = "lvs-devel test logs: 399, 600, 690 to 730 and 842 a second"))]
    pub rate: Rate,
}

impl Default for Part {
    fn default() -> Self {
        Self {
            at: SimDuration::ZERO,
            add: 0,
            delete: 0,
            rate: Rate::whole(NonZeroU32::MIN.saturating_add(599)),
        }
    }
}

/// What else runs on the CPUs of the kthreads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Host {
    /// Tasks of niceness 0 that always want a CPU: see `background_on`.
    #[schemars(range(min = 0, max = 100_000), extend("x-unit" = "tasks", "x-source" = "the user's host"))]
    pub background_tasks: u32,
    /// Where they run: on all possible CPUs, from where the scheduler moves them away as far as
    /// those of `est_cpulist_cpus` are busy with kthreads, or bound to the same as the kthreads.
    #[schemars(extend("x-source" = "kernel/sched/fair.c: load balancing over the allowed CPUs of a task"))]
    pub background_on: BackgroundOn,
    /// How long the kernel's line "starting estimator thread" takes on the console before the
    /// thread runs. Nothing without a serial console; 5.3 ms for its 53 characters at 115,200
    /// baud, as the gaps between other lines of the test logs show.
    #[schemars(extend("x-source" = "lvs-devel, v6 test log of an EPYC 7601: 91 and 37 characters in 8.66 and 3.95 ms"))]
    pub console_line: SimDuration,
    /// Attempts to start a kthread that fail, counted from the first of the run (no memory, say).
    /// Each is repeated a tenth of a second later.
    #[schemars(range(min = 0, max = 10_000), extend("x-unit" = "attempts", "x-source" = "est_reload_work_handler in ip_vs_ctl.c: repeated after HZ / 10"))]
    pub failed_starts: u32,
}

/// Where background tasks run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BackgroundOn {
    /// On any of the possible CPUs.
    #[default]
    AllCpus,
    /// Only on the CPUs of the kthreads.
    EstCpulist,
}

/// A change of the sysctls or of the governor. What is not given stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Change {
    /// When.
    #[schemars(extend("x-source" = "the user's question"))]
    pub at: SimDuration,
    /// CPUs of the new est_cpulist; 0 stops the kthreads. kthread 0 calculates the limits again
    /// and lays out all estimators anew.
    #[schemars(range(min = 0, max = 65_536), extend("x-unit" = "CPUs", "x-source" = "ipvs_proc_est_cpumask_set in ip_vs_ctl.c"))]
    pub est_cpulist_cpus: Option<u32>,
    /// The new niceness; the kthreads are restarted.
    #[schemars(range(min = -20, max = 19), extend("x-unit" = "nice", "x-source" = "ipvs_proc_est_nice in ip_vs_ctl.c"))]
    pub est_nice: Option<i8>,
    /// Whether to estimate from now on; the kthreads are stopped or started.
    #[schemars(extend("x-source" = "ipvs_proc_run_estimation in ip_vs_ctl.c"))]
    pub run_estimation: Option<bool>,
    /// The new governor. It restarts nothing: the chain length stays what the calc phase found
    /// under the old one.
    #[schemars(extend("x-source" = "cpupower frequency-set; lvs-devel, tests of v5: governor changed with a full kthread"))]
    pub governor: Option<Governor>,
}
