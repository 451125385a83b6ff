//! What is impossible or hopeless about a configuration.

use super::algorithm::{Algorithm, CHAIN_FACTOR};
use super::calc::chain_max_for;
use super::config::{Config, Preset};
use super::effects;
use super::observation::TICK_BUDGET;
use super::prices::Prices;
use crate::engine::{SimDuration, SimTime};
use crate::models::model::Finding;
use crate::quantities::DurationDistribution;

/// Tick rates that Linux can be built with.
const KERNEL_HZ: [u32; 4] = [100, 250, 300, 1000];
/// Estimators beyond which a sum that is drawn one by one takes too long.
const MANY_ESTIMATORS: u64 = 10_000;
/// Most estimators of a run: 8,333 kthreads of the shortest chains.
const MOST_ESTIMATORS: u64 = 20_000_000;
/// The longest run: 10 simulated days are 20 million ticks for each kthread.
const LONGEST_RUN: SimDuration = SimDuration::from_whole_seconds(864_000);

pub(super) fn check(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    check_times(config, &mut findings);
    check_workload(config, &mut findings);
    check_cost(config, &mut findings);
    check_switches(config, &mut findings);
    check_capacity(config, &mut findings);
    effects::check(config, &mut findings);
    findings
}

/// What a run that ends at `horizon` does not get to.
pub(super) fn check_horizon(config: &Config, horizon: SimDuration) -> Vec<Finding> {
    if config.observe_for <= horizon {
        return Vec::new();
    }
    vec![Finding::beyond("observe_for", config.observe_for, horizon)]
}

fn check_times(config: &Config, findings: &mut Vec<Finding>) {
    if !KERNEL_HZ.contains(&config.hz) {
        let problem = format!("hz is {}", config.hz);
        findings.push(Finding::error("hz", problem, "100, 250, 300 or 1000"));
    }
    if config.warm_up >= config.observe_for {
        let problem =
            format!("a warm-up of {} leaves nothing of the run to measure", config.warm_up);
        let allowed = format!("less than observe_for, which is {}", config.observe_for);
        findings.push(Finding::error("warm_up", problem, allowed));
    }
    if config.observe_for > LONGEST_RUN {
        let problem = format!("a run of {}", config.observe_for);
        findings.push(Finding::error("observe_for", problem, "at most 240 h"));
    }
    let mut last = SimDuration::ZERO;
    for (index, change) in config.changes.iter().enumerate() {
        let path = format!("changes.{index}.at");
        if change.at < last {
            let problem = format!("a change at {} after one at {last}", change.at);
            findings.push(Finding::error(&path, problem, "changes in order of time"));
        }
        if change.at >= config.observe_for {
            let problem = format!("a change at {}", change.at);
            let allowed = format!("before the end of the run at {}", config.observe_for);
            findings.push(Finding::warning(&path, problem, allowed));
        }
        last = change.at;
    }
    if let Some(step) = &config.traffic.step
        && step.at.saturating_add(step.spread) >= config.observe_for
    {
        let problem = format!("a step at {} over {}", step.at, step.spread);
        let allowed = format!("before the end of the run at {}", config.observe_for);
        findings.push(Finding::error("traffic.step.at", problem, allowed));
    }
}

fn check_workload(config: &Config, findings: &mut Vec<Finding>) {
    let workload = &config.workload;
    let per_service = 1 + u64::from(workload.destinations_per_service);
    let mut services = workload.initial_services;
    let mut deleted: u64 = 0;
    for (index, part) in workload.schedule.iter().enumerate() {
        services = services.saturating_add(part.add);
        deleted = deleted.saturating_add(part.delete);
        let path = format!("workload.schedule.{index}");
        if part.add == 0 && part.delete == 0 {
            let problem = "a part that neither adds nor deletes";
            findings.push(Finding::error(&path, problem, "add or delete of at least 1"));
        }
        let operations = part.add.max(part.delete) as f64;
        let length = SimDuration::from_seconds(operations / part.rate.as_per_second());
        if SimTime::ZERO.saturating_add(part.at).saturating_add(length)
            > SimTime::ZERO.saturating_add(config.observe_for)
        {
            let problem = format!("it takes until {} after {}", length, part.at);
            let allowed = format!("an end before that of the run at {}", config.observe_for);
            findings.push(Finding::warning(&path, problem, allowed));
        }
    }
    let estimators = services.saturating_mul(per_service);
    if estimators > MOST_ESTIMATORS {
        let problem = format!("{estimators} estimators in all");
        findings.push(Finding::error("workload", problem, "at most 20,000,000"));
    }
    if services == 0 {
        let allowed = "initial_services or a part of the schedule that adds";
        findings.push(Finding::warning("workload", "there is never a service", allowed));
    }
    if deleted > services {
        let problem = format!("{deleted} deletions of {services} services");
        findings.push(Finding::error("workload.schedule", problem, "no more than are added"));
    }
}

fn check_cost(config: &Config, findings: &mut Vec<Finding>) {
    let cost = &config.cost;
    let at_once = match &cost.estimate {
        None => true,
        Some(law) => matches!(
            law,
            DurationDistribution::Constant { .. }
                | DurationDistribution::Exponential { .. }
                | DurationDistribution::Gamma { .. }
                | DurationDistribution::Erlang { .. }
                | DurationDistribution::Normal { .. }
        ),
    };
    let estimators = config.workload.initial_services;
    if !at_once && estimators > MANY_ESTIMATORS {
        let problem = format!("each of {estimators} costs is drawn by itself");
        let allowed = "a constant, exponential, gamma, Erlang or normal cost runs much faster";
        findings.push(Finding::warning("cost.estimate", problem, allowed));
    }
    if cost.governor_factor.is_some() && cost.lowest_clock >= 1.0 {
        let problem = "the lowest clock is the highest, so nothing is slower at it";
        findings.push(Finding::error("cost.governor_factor", problem, "lowest_clock below 1"));
    }
    let algorithm = Algorithm::resolve(config);
    let prices = Prices::new(config, algorithm.cache_factor);
    let estimate_ns = prices.estimate_ns(prices.clock(cost.governor, 1.0));
    if cost.full_speed_ns(config.possible_cpus) <= 0.0 {
        let allowed = "a mean above 0";
        findings.push(Finding::error("cost.estimate", "an estimate costs nothing", allowed));
    }
    let shortest = estimate_ns * f64::from(CHAIN_FACTOR);
    if !algorithm.old_timer && shortest > TICK_BUDGET.as_nanos() as f64 {
        let problem = format!("an estimate takes {:.1} us", estimate_ns / 1e3);
        let allowed = "below 833 us, else a row of 48 chains of one does not fit into 40 ms";
        findings.push(Finding::warning("cost", problem, allowed));
    }
}

/// Whether the kthreads have room for all estimators and time for a full row.
fn check_capacity(config: &Config, findings: &mut Vec<Finding>) {
    let algorithm = Algorithm::resolve(config);
    if algorithm.old_timer {
        return;
    }
    let prices = Prices::new(config, algorithm.cache_factor);
    let chain_max = if algorithm.calc_applies {
        let idle = prices.clock(config.cost.governor, 0.0);
        chain_max_for(prices.undisturbed_calc_loop_ns(idle) as u64)
    } else {
        algorithm.chain_max
    };
    let limits = algorithm.limits(chain_max);
    let cpus = config.est_cpulist_cpus.unwrap_or(config.possible_cpus);
    let threads = algorithm.max_threads(cpus);
    let room = u64::from(limits.est_max_count) * u64::from(threads);
    let scheduled = config.workload.schedule.iter().map(|part| part.add);
    let services = scheduled.fold(config.workload.initial_services, u64::saturating_add);
    let per_service = 1 + u64::from(config.workload.destinations_per_service);
    let estimators = services.saturating_mul(per_service);
    if estimators > room {
        let problem = format!("{estimators} estimators, of which {threads} kthreads hold {room}");
        let allowed = "the rest is not estimated; allow more CPUs or kthreads".to_owned();
        let few =
            if config.est_max_threads.is_some() { "est_max_threads" } else { "est_cpulist_cpus" };
        findings.push(Finding::warning(few, problem, allowed));
    }
    let estimate_ns = prices.estimate_ns(prices.clock(config.cost.governor, 1.0));
    let row_ns = estimate_ns * f64::from(limits.tick_max);
    let v1 = limits.tick_max == limits.est_max_count;
    if !v1 && chain_max > 1 && row_ns > TICK_BUDGET.as_nanos() as f64 {
        let problem = format!("a full row of {} takes {:.1} ms", limits.tick_max, row_ns / 1e6);
        let allowed = "below 40 ms, else ticks are late once rows are full".to_owned();
        findings.push(Finding::warning("chain_max", problem, allowed));
    }
}

fn check_switches(config: &Config, findings: &mut Vec<Finding>) {
    let algorithm = Algorithm::resolve(config);
    if algorithm.calc_phase && !algorithm.temp_list {
        let problem = "a calc phase needs somewhere for the estimators to wait";
        findings.push(Finding::error("temp_list", problem, "true, or calc_phase false"));
    }
    if config.preset == Preset::V1 && config.chain_max.is_some() {
        let problem = "chains of v1 have no greatest length";
        findings.push(Finding::error("chain_max", problem, "not set with preset v1"));
    }
    if config.est_cpulist_cpus.is_some_and(|cpus| cpus > config.possible_cpus) {
        let problem = format!("more CPUs than the {} possible ones", config.possible_cpus);
        findings.push(Finding::error("est_cpulist_cpus", problem, "at most possible_cpus"));
    }
}
