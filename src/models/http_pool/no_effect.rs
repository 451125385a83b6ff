//! Settings that do nothing with what else is set.

use super::config::{Arrival, ClientConfig, Config};
use super::handler_config::HandlerPreset;
use super::server_config::{ServerConfig, ServerPreset};
use crate::models::Finding;

/// Warns of what is set and has no effect.
pub fn check_effects(config: &Config, findings: &mut Vec<Finding>) {
    check_server(config, findings);
    check_clients(config, findings);
}

fn check_server(config: &Config, findings: &mut Vec<Finding>) {
    use ServerPreset::{GunicornGthread, GunicornSync, WerkzeugSingle, WerkzeugThreaded};
    let server = &config.server;
    let preset = server.preset;
    let default = ServerConfig::default();
    let gthread: &[ServerPreset] = &[GunicornGthread];
    let sync: &[ServerPreset] = &[GunicornSync];
    let keeping: &[ServerPreset] = &[WerkzeugThreaded, GunicornGthread];
    let all_but_gthread: &[ServerPreset] = &[WerkzeugSingle, WerkzeugThreaded, GunicornSync];
    let killed = server.worker_timeout.is_some_and(|timeout| !timeout.is_zero());
    let threads_of_toggle_all = config.handler.preset == HandlerPreset::MuxToggleAll;
    for (key, is_set, presets) in [
        ("threads", server.threads != default.threads, gthread),
        ("worker_connections", server.worker_connections.is_some(), gthread),
        ("worker_timeout", killed, sync),
        (
            "max_requests",
            server.max_requests != default.max_requests,
            &[GunicornSync, GunicornGthread],
        ),
        ("keep_alive_timeout", server.keep_alive_timeout.is_some(), keeping),
        ("request_timeout", server.request_timeout.is_some(), all_but_gthread),
        ("dispatch_cpu", server.dispatch_cpu.is_some(), keeping),
        ("start_cpu", server.start_cpu.is_some(), &[WerkzeugThreaded]),
        ("handoff_cpu", server.handoff_cpu.is_some() && !threads_of_toggle_all, keeping),
    ] {
        if is_set && !presets.contains(&preset) {
            findings.push(Finding::warning(
                &format!("server.{key}"),
                format!("has no effect with preset {}", name(preset)),
                format!("left out, or preset {}", names(presets)),
            ));
        }
    }
    let kept = config.clients.keep_alive && server.proxy.is_none()
        || server.proxy.as_ref().is_some_and(|proxy| proxy.keepalive > 0);
    let connections = server.worker_connections.unwrap_or(1000);
    if preset == GunicornGthread && kept && connections <= server.threads {
        findings.push(Finding::warning(
            "server.worker_connections",
            format!(
                "{connections}, with {} threads: gunicorn keeps at most worker_connections less \
                 threads, so every answer closes its connection",
                server.threads
            ),
            "more than server.threads",
        ));
    }
}

fn check_clients(config: &Config, findings: &mut Vec<Finding>) {
    let clients = &config.clients;
    let default = ClientConfig::default();
    if clients.rate != default.rate && clients.arrival != Arrival::Open {
        findings.push(Finding::warning(
            "clients.rate",
            "has no effect: it is the rate of an open stream",
            "left out, or clients.arrival: \"open\"",
        ));
    }
    let closes =
        matches!(config.server.preset, ServerPreset::WerkzeugSingle | ServerPreset::GunicornSync)
            || config.server.keep_alive == Some(false);
    if clients.keep_alive && closes && config.server.proxy.is_none() {
        findings.push(Finding::warning(
            "clients.keep_alive",
            "has no effect: this server closes every connection",
            "false, or server.preset werkzeug_threaded or gunicorn_gthread",
        ));
    }
}

fn names(presets: &[ServerPreset]) -> String {
    presets.iter().map(|preset| name(*preset)).collect::<Vec<_>>().join(" or ")
}

/// As it is written in a scenario.
fn name(preset: ServerPreset) -> &'static str {
    match preset {
        ServerPreset::WerkzeugSingle => "werkzeug_single",
        ServerPreset::WerkzeugThreaded => "werkzeug_threaded",
        ServerPreset::GunicornSync => "gunicorn_sync",
        ServerPreset::GunicornGthread => "gunicorn_gthread",
    }
}
