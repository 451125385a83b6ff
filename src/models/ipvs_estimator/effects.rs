//! Keys that contradict each other, and keys that have no effect beside others.

use super::algorithm::Algorithm;
use super::config::{BackgroundOn, Change, Config, Cost, Governor, Part, Preset, Traffic};
use crate::engine::{SimDuration, SimTime};
use crate::models::model::Finding;

/// A start that fails is repeated so much later.
const RETRY: SimDuration = SimDuration::from_millis(100);

pub(super) fn check(config: &Config, findings: &mut Vec<Finding>) {
    check_old_timer(config, findings);
    check_cost(config, findings);
    check_clocks(&config.cost, findings);
    check_changes(config, findings);
    check_traffic(config, findings);
    check_idle_keys(config, findings);
    check_deletions(config, findings);
}

/// Two keys of which one makes the other meaningless.
fn error(findings: &mut Vec<Finding>, path: &str, problem: &str, allowed: &str) {
    findings.push(Finding::error(path, problem, allowed));
}

fn check_old_timer(config: &Config, findings: &mut Vec<Finding>) {
    if config.preset != Preset::OldTimer {
        return;
    }
    let switches = [
        ("chain_max", config.chain_max.is_some()),
        ("calc_phase", config.calc_phase.is_some()),
        ("temp_list", config.temp_list.is_some()),
        ("cache_factor", config.cache_factor.is_some()),
        ("est_max_threads", config.est_max_threads.is_some()),
        ("est_cpulist_cpus", config.est_cpulist_cpus.is_some()),
        ("est_nice", config.est_nice != 0),
        ("single_chain", config.single_chain),
        ("host.console_line", !config.host.console_line.is_zero()),
        ("host.failed_starts", config.host.failed_starts > 0),
    ];
    let allowed = "not set with preset old_timer";
    for (path, _) in switches.iter().filter(|(_, set)| *set) {
        error(findings, path, "preset is old_timer, which has no kthreads", allowed);
    }
    for (index, change) in config.changes.iter().enumerate() {
        for (key, set) in [
            ("est_cpulist_cpus", change.est_cpulist_cpus.is_some()),
            ("est_nice", change.est_nice.is_some()),
        ] {
            if set {
                let path = format!("changes.{index}.{key}");
                error(findings, &path, "preset is old_timer, which has no kthreads", allowed);
            }
        }
    }
}

fn check_cost(config: &Config, findings: &mut Vec<Finding>) {
    let (cost, standard) = (&config.cost, Cost::default());
    if cost.numa_nodes > config.possible_cpus {
        let problem =
            format!("{} nodes, but possible_cpus is {}", cost.numa_nodes, config.possible_cpus);
        findings.push(Finding::error("cost.numa_nodes", problem, "at most possible_cpus"));
    }
    let parts = [
        ("cost.read_cost_ns", cost.read_cost_ns != standard.read_cost_ns),
        ("cost.numa_nodes", cost.numa_nodes != standard.numa_nodes),
        ("cost.numa_remote_factor", cost.numa_remote_factor != standard.numa_remote_factor),
    ];
    if cost.estimate.is_some() {
        for (path, _) in parts.iter().filter(|(_, set)| *set) {
            let problem = "cost.estimate is the whole cost of an estimate, NUMA included";
            error(findings, path, problem, "not set beside cost.estimate");
        }
    } else if cost.numa_nodes == 1 && parts[2].1 {
        let problem = "has no effect: cost.numa_nodes is 1";
        let allowed = "cost.numa_nodes above 1, or not set";
        findings.push(Finding::warning("cost.numa_remote_factor", problem, allowed));
    }
}

/// Clocks that lie where none can be.
fn check_clocks(cost: &Cost, findings: &mut Vec<Finding>) {
    for (index, clock) in cost.clocks.iter().enumerate() {
        if !(cost.lowest_clock..=1.0).contains(clock) {
            let path = format!("cost.clocks.{index}");
            let problem = format!("{clock} with cost.lowest_clock {}", cost.lowest_clock);
            findings.push(Finding::error(&path, problem, "from cost.lowest_clock to 1"));
        }
    }
}

fn check_changes(config: &Config, findings: &mut Vec<Finding>) {
    for (index, change) in config.changes.iter().enumerate() {
        if *change == (Change { at: change.at, ..Change::default() }) {
            let path = format!("changes.{index}");
            let problem = format!("at {} nothing changes", change.at);
            let allowed = "one of est_cpulist_cpus, est_nice, run_estimation and governor";
            findings.push(Finding::error(&path, problem, allowed));
        }
        if change.est_cpulist_cpus.is_some_and(|cpus| cpus > config.possible_cpus) {
            let path = format!("changes.{index}.est_cpulist_cpus");
            let problem = format!("more CPUs than the {} possible ones", config.possible_cpus);
            findings.push(Finding::error(&path, problem, "at most possible_cpus"));
        }
    }
}

fn check_traffic(config: &Config, findings: &mut Vec<Finding>) {
    let (traffic, standard) = (&config.traffic, Traffic::default());
    if !traffic.groups.is_empty() {
        for (path, set) in [
            ("traffic.rate", traffic.rate != standard.rate),
            ("traffic.rate_cv", traffic.rate_cv > 0.0),
            ("traffic.step", traffic.step.is_some()),
        ] {
            if set {
                let problem = "traffic.groups say it for each group";
                error(findings, path, problem, "not set beside traffic.groups");
            }
        }
    }
    for (index, group) in traffic.groups.iter().enumerate() {
        let mut settled = SimDuration::ZERO;
        for (change_index, change) in group.changes.iter().enumerate() {
            let path = format!("traffic.groups.{index}.changes.{change_index}.at");
            if change.at < settled {
                let problem =
                    format!("a change at {} while one before it lasts until {settled}", change.at);
                let allowed = "changes in order of time, each after the spread of the one before";
                findings.push(Finding::error(&path, problem, allowed));
            }
            settled = change.at.saturating_add(change.spread);
            if settled >= config.observe_for {
                let problem = format!("a change at {} over {}", change.at, change.spread);
                let allowed = format!("before the end of the run at {}", config.observe_for);
                findings.push(Finding::error(&path, problem, allowed));
            }
        }
    }
    if traffic.step.as_ref().is_some_and(|step| step.factor == 1.0) {
        let problem = "a step to the same rate";
        findings.push(Finding::warning("traffic.step.factor", problem, "other than 1"));
    }
}

/// A key that is set, but of no effect: whether so, its path, and what is the reason.
type IdleKey = (bool, &'static str, &'static str);

fn check_idle_keys(config: &Config, findings: &mut Vec<Finding>) {
    let keys = idle_switches(config).into_iter().chain(idle_costs(config));
    for (_, path, problem) in keys.filter(|(idle, ..)| *idle) {
        findings.push(Finding::warning(path, problem, "not set"));
    }
}

fn idle_switches(config: &Config) -> [IdleKey; 7] {
    let algorithm = Algorithm::resolve(config);
    let (host, standard) = (&config.host, Config::default());
    let enabled = |change: &Change| change.run_estimation == Some(true);
    let retries = RETRY.saturating_mul(u64::from(host.failed_starts));
    let totals = config.total_estimator || algorithm.old_timer;
    let module_age = config.module_loaded_before != standard.module_loaded_before;
    let by_load = governors(config).any(|governor| governor == Governor::Ondemand);
    [
        (
            !config.run_estimation && !config.changes.iter().any(enabled),
            "run_estimation",
            "false, and no change sets it to true: nothing is ever estimated",
        ),
        (
            config.cache_factor.is_some() && !algorithm.calc_phase && !algorithm.old_timer,
            "cache_factor",
            "has no effect: there is no calc phase",
        ),
        (
            config.single_chain && config.preset == Preset::V1,
            "single_chain",
            "has no effect: a row of preset v1 is one chain",
        ),
        (
            module_age && !totals,
            "module_loaded_before",
            "has no effect: total_estimator is false, so kthread 0 starts with the first service",
        ),
        (
            host.background_on == BackgroundOn::EstCpulist && host.background_tasks == 0,
            "host.background_on",
            "has no effect: host.background_tasks is 0",
        ),
        (
            host.background_tasks > 0 && algorithm.old_timer && !by_load,
            "host.background_tasks",
            "has no effect: preset old_timer runs in softirq context, and cost.governor is not ondemand",
        ),
        (
            host.failed_starts > 0 && retries >= config.observe_for,
            "host.failed_starts",
            "no kthread starts before the run is over at observe_for",
        ),
    ]
}

fn idle_costs(config: &Config) -> [IdleKey; 5] {
    let algorithm = Algorithm::resolve(config);
    let (cost, standard) = (&config.cost, Cost::default());
    [
        (
            cost.governor_factor.is_some()
                && governors(config).all(|governor| governor == Governor::Performance),
            "cost.governor_factor",
            "has no effect: cost.governor is performance throughout",
        ),
        (
            !cost.clocks.is_empty()
                && governors(config).all(|governor| governor != Governor::Ondemand),
            "cost.clocks",
            "has no effect: cost.governor is not ondemand",
        ),
        (
            cost.calc_noise > 0.0 && !algorithm.calc_phase,
            "cost.calc_noise",
            "has no effect: there is no calc phase",
        ),
        (
            cost.relink != standard.relink && algorithm.old_timer,
            "cost.relink",
            "has no effect: preset is old_timer, which has no chains to link into",
        ),
        (
            cost.calc_ratio != standard.calc_ratio && cost.calc_value.is_some(),
            "cost.calc_ratio",
            "has no effect: cost.calc_value says what the calc phase measures",
        ),
    ]
}

/// All governors of a run, in order.
fn governors(config: &Config) -> impl Iterator<Item = Governor> {
    let changed = config.changes.iter().filter_map(|change| change.governor);
    std::iter::once(config.cost.governor).chain(changed)
}

/// Deletions of services that are not there yet.
fn check_deletions(config: &Config, findings: &mut Vec<Finding>) {
    let workload = &config.workload;
    let (added, deleted) = workload.schedule.iter().fold((0_u64, 0_u64), |(add, delete), part| {
        (add.saturating_add(part.add), delete.saturating_add(part.delete))
    });
    if deleted > workload.initial_services.saturating_add(added) {
        // Reported as such.
        return;
    }
    // Between the beginnings and ends of parts the number of services moves one way, so that is
    // where it is least.
    let mut instants: Vec<SimTime> = workload.schedule.iter().flat_map(ends).collect();
    instants.sort_unstable();
    for at in instants {
        let sum = |count: fn(&Part) -> u64| -> u64 {
            workload.schedule.iter().map(|part| done(part, at).min(count(part))).sum()
        };
        let there = workload.initial_services.saturating_add(sum(|part| part.add));
        let deletions = sum(|part| part.delete);
        if deletions > there {
            let deletes = |part: &&Part| part.delete > 0 && done(part, at) > 0;
            let index = workload.schedule.iter().rposition(|part| deletes(&part)).unwrap_or(0);
            let path = format!("workload.schedule.{index}.delete");
            let problem = format!(
                "{deletions} deletions by {}, but initial_services and additions make {there}",
                at.since(SimTime::ZERO)
            );
            findings.push(Finding::error(&path, problem, "deletions after the additions"));
            return;
        }
    }
}

/// The first and the last operation of a part.
fn ends(part: &Part) -> [SimTime; 2] {
    let operations = part.add.max(part.delete).saturating_sub(1) as f64;
    let length = SimDuration::from_seconds(operations / part.rate.as_per_second());
    let begin = SimTime::ZERO.saturating_add(part.at);
    [begin, begin.saturating_add(length)]
}

/// Operations of a part up to `at`.
fn done(part: &Part, at: SimTime) -> u64 {
    let begin = SimTime::ZERO.saturating_add(part.at);
    if at < begin {
        return 0;
    }
    // A nanosecond for the rounding of instants.
    let since = at.since(begin).as_seconds() + 1e-9;
    ((since * part.rate.as_per_second()) as u64).saturating_add(1).min(part.add.max(part.delete))
}
