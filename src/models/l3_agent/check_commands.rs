//! What is impossible or without effect in a list of commands run by themselves.

use super::super::model::Finding;
use super::check::{IdleKey, warn_of_idle};
use super::config::{Agent, Config, Helper, NamespaceEntry, Program};
use super::settings::fits;
use super::workload::{Caller, CommandForm, Commands, Workload};

pub(super) fn check_commands(config: &Config, commands: &Commands, findings: &mut Vec<Finding>) {
    let error = |findings: &mut Vec<Finding>, path: &str, problem: String, allowed: &str| {
        findings.push(Finding::error(path, problem, allowed));
    };
    if config.workload != Workload::default() {
        let problem = "commands are run in place of the agent, so nothing of workload is done";
        error(findings, "commands", problem.to_owned(), "one of commands and workload");
    }
    if let Some(call) = commands.privsep {
        check_privsep(commands, &format!("{call:?}"), findings);
    } else {
        check_spawned(commands, findings);
    }
    let lanes_idle = commands.concurrency > commands.count;
    if commands.form == CommandForm::Single && lanes_idle {
        findings.push(Finding::warning(
            "commands.concurrency",
            format!("{} at once, but only {} in all", commands.concurrency, commands.count),
            "at most commands.count",
        ));
    }
    warn_of_idle(idle_keys(config, commands), findings);
}

/// A privsep call spawns nothing: whatever says how and what to spawn contradicts it.
fn check_privsep(commands: &Commands, call: &str, findings: &mut Vec<Finding>) {
    let standard = Commands::default();
    for (path, set) in [
        ("commands.helper", commands.helper.is_some()),
        ("commands.form", commands.form != standard.form),
        ("commands.program", commands.program != standard.program),
        ("commands.entry", commands.entry != standard.entry),
        ("commands.caller", commands.caller != standard.caller),
        ("commands.real_time", commands.real_time.is_some()),
        ("commands.rules", commands.rules != standard.rules),
    ] {
        if set {
            let problem =
                format!("commands.privsep is set ({call}): a call that spawns no command");
            findings.push(Finding::error(path, problem, "not set beside commands.privsep"));
        }
    }
}

fn check_spawned(commands: &Commands, findings: &mut Vec<Finding>) {
    if !fits(commands.entry, commands.program) {
        findings.push(Finding::error(
            "commands.entry",
            "`ip -n` cannot run another program than ip, which commands.program is",
            "netns_exec, or none",
        ));
    }
    let of_tables =
        matches!(commands.program, Program::IptablesRestoreLegacy | Program::IptablesRestoreNft);
    if commands.rules > 0 && !of_tables {
        findings.push(Finding::error(
            "commands.rules",
            format!("{} rules, but commands.program reads none", commands.rules),
            "0, or commands.program iptables_restore_legacy or iptables_restore_nft",
        ));
    }
    if commands.form != CommandForm::Batch {
        return;
    }
    if !matches!(commands.program, Program::IpNeigh | Program::IpAddress) {
        findings.push(Finding::error(
            "commands.form",
            "`ip -batch` reads lines for ip, which commands.program is not (or not of known cost)",
            "single, or commands.program ip_neigh or ip_address",
        ));
    }
    if commands.concurrency > 1 {
        findings.push(Finding::warning(
            "commands.concurrency",
            format!("a batch is one process, concurrency {} changes nothing", commands.concurrency),
            "1",
        ));
    }
}

/// Keys for the agent, which does not run, and keys for another kind of command.
fn idle_keys(config: &Config, commands: &Commands) -> Vec<IdleKey> {
    let standard = Config::default();
    let Agent { daemon_lock, privsep_lock, .. } = config.agent;
    let agent = Agent { daemon_lock, privsep_lock, ..Agent::default() };
    let helper = commands.helper.unwrap_or(config.helper);
    let (spawns, batch) = (commands.privsep.is_none(), commands.form == CommandForm::Batch);
    let locked = helper == Helper::RootwrapDaemon && daemon_lock
        || helper == Helper::Privsep && privsep_lock;
    let lists_namespaces = commands.program == Program::IpNetnsList;
    let enters = commands.entry != NamespaceEntry::None;
    let together = commands.concurrency > 1 && !batch && enters && !locked;
    vec![
        (
            config.helper != standard.helper
                && commands.helper.is_some_and(|helper| helper != config.helper),
            "helper",
            "commands.helper says it for the list",
        ),
        (config.era != standard.era, "era", "commands are run in place of the agent"),
        (config.agent != agent, "agent", "commands are run in place of the agent"),
        (config.server != standard.server, "server", "commands are run in place of the agent"),
        (
            config.liveness != standard.liveness,
            "liveness",
            "commands are run in place of the agent",
        ),
        (
            config.host.privsep_cpu.is_some() && spawns,
            "host.privsep_cpu",
            "commands.privsep is not set",
        ),
        (config.host.batch_line.is_some() && !batch, "host.batch_line", "commands.form is single"),
        (
            config.host.spawn_cpu.is_some() && !spawns,
            "host.spawn_cpu",
            "commands.privsep spawns nothing",
        ),
        (
            config.host.spawn_blocked.is_some() && !spawns,
            "host.spawn_blocked",
            "commands.privsep spawns nothing",
        ),
        (
            config.host.closed_descriptors > 0 && !spawns,
            "host.closed_descriptors",
            "commands.privsep spawns nothing",
        ),
        (
            config.host.namespaces.is_some() && !(spawns && (enters || lists_namespaces)),
            "host.namespaces",
            "commands.entry is none, or commands.privsep spawns nothing",
        ),
        (
            spawns && commands.caller == Caller::Python && helper == Helper::RootwrapDaemon,
            "commands.caller",
            "with helper rootwrap_daemon the daemon spawns, whoever asks it",
        ),
        (
            spawns && commands.real_time == Some(true) && !together,
            "commands.real_time",
            "only several commands at once that enter a namespace without a common lock wait for each other",
        ),
    ]
}
