//! What is impossible or hopeless about a configuration.

use super::super::model::Finding;
use super::config::Config;
use super::settings::{Settings, fits};
use super::workload::{CommandForm, Commands};

/// Largest number of routers that one agent is simulated with, those of VM boots included.
const MOST_ROUTERS: u32 = 1_000_000;

pub(super) fn check(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(commands) = &config.commands {
        check_commands(commands, &mut findings);
        return findings;
    }
    check_workload(config, &mut findings);
    check_agent(config, &mut findings);
    check_liveness(config, &mut findings);
    findings
}

fn check_commands(commands: &Commands, findings: &mut Vec<Finding>) {
    if commands.privsep.is_none() && !fits(commands.entry, commands.program) {
        findings.push(Finding::error(
            "commands.entry",
            "`ip -n` cannot run another program than ip",
            "netns_exec, or none",
        ));
    }
    if commands.form == CommandForm::Batch && commands.concurrency > 1 {
        findings.push(Finding::warning(
            "commands.concurrency",
            format!("a batch is one process, concurrency {} changes nothing", commands.concurrency),
            "1",
        ));
    }
    let lanes_idle = commands.concurrency > commands.count;
    if commands.form == CommandForm::Single && lanes_idle {
        findings.push(Finding::warning(
            "commands.concurrency",
            format!("{} at once, but only {} in all", commands.concurrency, commands.count),
            "at most commands.count",
        ));
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
        findings.push(Finding::warning(
            "workload.router_updates.count",
            "router updates are for the routers of the full sync, of which there are none",
            "workload.routers above 0",
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
