//! What is impossible or hopeless about a configuration.

use super::super::model::Finding;
use super::check_commands::check_commands;
use super::config::{Agent, ArpMethod, Config, Helper, Host, Liveness};
use super::settings::Settings;
use super::workload::{PortUpdates, RouterUpdates, VmBoots, Workload};
use crate::engine::SimDuration;

/// Largest number of routers that one agent is simulated with, those of VM boots included.
const MOST_ROUTERS: u32 = 1_000_000;

pub(super) fn check(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(commands) = &config.commands {
        check_commands(config, commands, &mut findings);
        return findings;
    }
    check_workload(config, &mut findings);
    check_agent(config, &mut findings);
    check_liveness(config, &mut findings);
    warn_of_idle(idle_workload_keys(&config.workload), &mut findings);
    warn_of_idle(idle_agent_keys(config), &mut findings);
    findings
}

/// What a run that ends at `horizon` does not get to.
pub(super) fn check_horizon(config: &Config, horizon: SimDuration) -> Vec<Finding> {
    let (workload, liveness) = (&config.workload, &config.liveness);
    if config.commands.is_some() {
        return Vec::new();
    }
    [
        ("workload.port_updates.start", workload.port_updates.count, workload.port_updates.start),
        (
            "workload.router_updates.start",
            workload.router_updates.count,
            workload.router_updates.start,
        ),
        ("workload.vm_boots.start", workload.vm_boots.count, workload.vm_boots.start),
        ("agent.sync_start_delay", workload.routers, config.agent.sync_start_delay),
        ("liveness.stall_at", u32::from(!liveness.stall.is_zero()), liveness.stall_at),
    ]
    .into_iter()
    .filter(|(_, count, at)| *count > 0 && *at >= horizon)
    .map(|(path, _, at)| Finding::beyond(path, at, horizon))
    .collect()
}

/// A key that is set, but of no effect: whether so, its path, and which other key is the reason.
pub(super) type IdleKey = (bool, &'static str, &'static str);

pub(super) fn warn_of_idle(keys: impl IntoIterator<Item = IdleKey>, findings: &mut Vec<Finding>) {
    for (idle, path, reason) in keys {
        if idle {
            let problem = format!("has no effect: {reason}");
            findings.push(Finding::warning(path, problem, "not set"));
        }
    }
}

fn check_workload(config: &Config, findings: &mut Vec<Finding>) {
    let workload = &config.workload;
    let all = Settings::of(config).all_routers;
    if all > MOST_ROUTERS {
        findings.push(Finding::error(
            "workload.routers",
            format!("{all} routers, those of VM boots included"),
            format!("at most {MOST_ROUTERS}"),
        ));
    }
    if all == 0 && config.liveness.stall.is_zero() {
        findings.push(Finding::warning(
            "workload.routers",
            "no router and no VM: nothing will happen",
            "at least one of workload.routers and workload.vm_boots.count above 0",
        ));
    }
    if workload.router_updates.count > 0 && workload.routers == 0 {
        findings.push(Finding::error(
            "workload.router_updates.count",
            "router updates are for the routers of the full sync, but workload.routers is 0",
            "workload.routers above 0",
        ));
    }
    if workload.port_updates.count > 0 && all == 0 {
        findings.push(Finding::error(
            "workload.port_updates.count",
            "port updates are for routers, but workload.routers and workload.vm_boots.count are 0",
            "at least one of them above 0",
        ));
    }
    if workload.vm_boots.count > 0 && workload.vm_boots.deadline.is_zero() {
        findings.push(Finding::error(
            "workload.vm_boots.deadline",
            "0 s: each of workload.vm_boots.count gives up as it boots",
            "above 0 s",
        ));
    }
}

fn check_agent(config: &Config, findings: &mut Vec<Finding>) {
    let agent = &config.agent;
    if agent.sync_chunk < agent.sync_chunk_min {
        findings.push(Finding::error(
            "agent.sync_chunk",
            format!("{} is below sync_chunk_min {}", agent.sync_chunk, agent.sync_chunk_min),
            "at least agent.sync_chunk_min",
        ));
    }
    if agent.rpc_timeout.is_zero() {
        findings.push(Finding::error("agent.rpc_timeout", "0 s", "above 0 s"));
    }
    if agent.sync_check_interval.is_zero() {
        findings.push(Finding::error("agent.sync_check_interval", "0 s", "above 0 s"));
    }
    if agent.failure_share >= 1.0 {
        findings.push(Finding::warning(
            "agent.failure_share",
            "every router fails until it is given up",
            "below 1",
        ));
    }
    let settings = Settings::of(config);
    let asked = if settings.rules.sync_in_chunks { agent.sync_chunk_min } else { settings.routers };
    let server = &config.server;
    let stretch = (f64::from(server.agents) / f64::from(server.rpc_workers)).max(1.0);
    let seconds = server.per_router.as_seconds() * f64::from(asked.min(settings.routers)) * stretch;
    let most = agent.rpc_timeout.as_seconds() * if settings.rules.rpc_backoff { 10.0 } else { 1.0 };
    if seconds > most && most > 0.0 {
        findings.push(Finding::warning(
            "server.per_router",
            format!("the smallest sync call takes {seconds:.0} s, longer than any timeout: the agent syncs for ever"),
            "shorter, fewer routers, or agent.sync_in_chunks",
        ));
    }
}

fn check_liveness(config: &Config, findings: &mut Vec<Finding>) {
    let liveness = &config.liveness;
    if liveness.report_interval.is_zero() {
        findings.push(Finding::error("liveness.report_interval", "0 s", "above 0 s"));
    } else if liveness.agent_down_time < liveness.report_interval {
        findings.push(Finding::warning(
            "liveness.agent_down_time",
            "shorter than report_interval: a healthy agent is seen dead",
            "at least twice liveness.report_interval",
        ));
    }
    if liveness.dead_limit < liveness.agent_down_time {
        findings.push(Finding::warning(
            "liveness.dead_limit",
            "shorter than agent_down_time: routers move before the agent is seen dead",
            "at least liveness.agent_down_time",
        ));
    }
}

fn idle_workload_keys(workload: &Workload) -> [IdleKey; 3] {
    let Workload { port_updates, router_updates, vm_boots, .. } = workload;
    [
        (
            port_updates.count == 0 && *port_updates != PortUpdates::default(),
            "workload.port_updates",
            "its count is 0",
        ),
        (
            router_updates.count == 0 && *router_updates != RouterUpdates::default(),
            "workload.router_updates",
            "its count is 0",
        ),
        (
            vm_boots.count == 0 && *vm_boots != VmBoots::default(),
            "workload.vm_boots",
            "its count is 0",
        ),
    ]
}

fn idle_agent_keys(config: &Config) -> Vec<IdleKey> {
    let Config { agent, host, liveness, workload, helper, .. } = config;
    let (standard, alive) = (Agent::default(), Liveness::default());
    let rules = Settings::of(config).rules;
    let method = rules.arp_method;
    let by_privsep = !matches!(method, ArpMethod::TwoSpawns | ArpMethod::Batched);
    let never_locked = *helper != Helper::Privsep && !by_privsep;
    let Host { batch_line, privsep_cpu, .. } = host;
    vec![
        (
            agent.sync_chunk != standard.sync_chunk && !rules.sync_in_chunks,
            "agent.sync_chunk",
            "agent.sync_in_chunks is false, by itself or by the era",
        ),
        (
            agent.sync_chunk_min != standard.sync_chunk_min && !rules.sync_in_chunks,
            "agent.sync_chunk_min",
            "agent.sync_in_chunks is false, by itself or by the era",
        ),
        (
            !agent.sync_start_delay.is_zero() && workload.routers == 0,
            "agent.sync_start_delay",
            "workload.routers is 0, so nothing is synced",
        ),
        (
            agent.fanout_workers != standard.fanout_workers && workload.port_updates.count == 0,
            "agent.fanout_workers",
            "workload.port_updates.count is 0",
        ),
        (
            !agent.daemon_lock && *helper != Helper::RootwrapDaemon,
            "agent.daemon_lock",
            "helper is not rootwrap_daemon",
        ),
        (
            agent.privsep_lock && never_locked,
            "agent.privsep_lock",
            "neither helper nor agent.arp_method (by itself or by the era) uses privsep",
        ),
        (
            privsep_cpu.is_some() && !by_privsep,
            "host.privsep_cpu",
            "agent.arp_method, by itself or by the era, makes no privsep calls",
        ),
        (
            batch_line.is_some() && method != ArpMethod::Batched,
            "host.batch_line",
            "agent.arp_method, by itself or by the era, is not batched",
        ),
        (
            liveness.stall.is_zero() && liveness.stall_at != alive.stall_at,
            "liveness.stall_at",
            "liveness.stall is 0 s",
        ),
        (
            !liveness.automatic_failover && liveness.dead_limit != alive.dead_limit,
            "liveness.dead_limit",
            "liveness.automatic_failover is false",
        ),
    ]
}
