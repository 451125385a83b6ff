//! Relations between settings that the schema cannot say.

use super::config::{Arrival, ClientConfig, Config, TimeoutMode};
use super::handler_config::{HandlerPreset, ToggleConfig};
use super::no_effect::check_effects;
use super::presets::DEFAULT_WORKER_TIMEOUT;
use super::server_config::ServerPreset;
use crate::engine::SimDuration;
use crate::models::Finding;

/// Most timers that a run may need; the engine has room for about a million.
const MOST_USERS: u64 = 200_000;

/// What is impossible or hopeless about a configuration.
pub fn check(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    check_server(config, &mut findings);
    check_clients(config, &mut findings);
    check_timeouts(config, &mut findings);
    check_proxy(config, &mut findings);
    check_network(config, &mut findings);
    check_handler(config, &mut findings);
    check_effects(config, &mut findings);
    findings
}

fn check_server(config: &Config, findings: &mut Vec<Finding>) {
    let server = &config.server;
    let werkzeug =
        matches!(server.preset, ServerPreset::WerkzeugSingle | ServerPreset::WerkzeugThreaded);
    if server.workers == 0 {
        findings.push(Finding::error("server.workers", "0 workers serve nothing", "1 or more"));
    }
    if server.threads == 0 {
        findings.push(Finding::error("server.threads", "0 threads serve nothing", "1 or more"));
    }
    if werkzeug && server.workers > 1 {
        findings.push(Finding::error(
            "server.workers",
            format!("{} workers, but Werkzeug's own server is one process", server.workers),
            "1, or a gunicorn preset",
        ));
    }
    let connections = server.worker_connections.unwrap_or(1000);
    if server.preset == ServerPreset::GunicornGthread && connections < server.threads {
        findings.push(Finding::error(
            "server.threads",
            format!(
                "{} threads, but a worker accepts only {connections} connections",
                server.threads
            ),
            "at most worker_connections",
        ));
    }
    if server.keep_alive == Some(true)
        && matches!(server.preset, ServerPreset::WerkzeugSingle | ServerPreset::GunicornSync)
    {
        findings.push(Finding::error(
            "server.keep_alive",
            "true, but this kind of server closes every connection",
            "false, or preset werkzeug_threaded or gunicorn_gthread",
        ));
    }
    if let (Some(backlog), somaxconn) = (server.backlog, config.network.somaxconn)
        && backlog > somaxconn
    {
        findings.push(Finding::warning(
            "server.backlog",
            format!("{backlog}, but the kernel cuts it to network.somaxconn = {somaxconn}"),
            "at most network.somaxconn",
        ));
    }
    let killed_after = server.worker_timeout.unwrap_or(DEFAULT_WORKER_TIMEOUT);
    let service = shortest_service(config);
    if server.preset == ServerPreset::GunicornSync
        && !killed_after.is_zero()
        && killed_after < service
    {
        findings.push(Finding::warning(
            "server.worker_timeout",
            format!(
                "{killed_after} is shorter than the shortest service, {service}: the master kills \
                 the worker of nearly every request"
            ),
            "longer than the service, or 0 s for never",
        ));
    }
    if server.watchdog_interval.is_zero() {
        findings.push(Finding::error("server.watchdog_interval", "0 s", "above 0"));
    }
}

fn check_proxy(config: &Config, findings: &mut Vec<Finding>) {
    let Some(proxy) = &config.server.proxy else { return };
    for (path, limit) in [
        ("server.proxy.connect_timeout", proxy.connect_timeout),
        ("server.proxy.read_timeout", proxy.read_timeout),
        ("server.proxy.client_header_timeout", proxy.client_header_timeout),
    ] {
        if limit.is_zero() {
            findings.push(Finding::error(path, "0 s", "above 0"));
        }
    }
    let closes =
        matches!(config.server.preset, ServerPreset::WerkzeugSingle | ServerPreset::GunicornSync);
    if proxy.keepalive > 0 && (closes || config.server.keep_alive == Some(false)) {
        findings.push(Finding::warning(
            "server.proxy.keepalive",
            "has no effect: this server closes every connection",
            "0, or preset werkzeug_threaded or gunicorn_gthread",
        ));
    }
    if proxy.backlog > config.network.somaxconn {
        findings.push(Finding::warning(
            "server.proxy.backlog",
            format!(
                "{}, but the kernel cuts it to network.somaxconn = {}",
                proxy.backlog, config.network.somaxconn
            ),
            "at most network.somaxconn",
        ));
    }
    let service = shortest_service(config);
    if proxy.read_timeout < service {
        findings.push(Finding::warning(
            "server.proxy.read_timeout",
            format!(
                "{} is shorter than the shortest service, {service}: every answer is a 504",
                proxy.read_timeout
            ),
            "longer than the service",
        ));
    }
    // Each request takes two connections of a worker while the server has it.
    let most = u64::from(proxy.workers) * u64::from(proxy.worker_connections.saturating_sub(2));
    let users = match config.clients.arrival {
        Arrival::Closed => u64::from(config.clients.users),
        Arrival::Burst => config.clients.requests,
        _ => 0,
    };
    if 2 * users > most {
        findings.push(Finding::warning(
            "server.proxy.worker_connections",
            format!("{users} clients need two connections each, and there are {most}"),
            "at least two for each client, and two more",
        ));
    }
}

fn check_clients(config: &Config, findings: &mut Vec<Finding>) {
    let clients = &config.clients;
    if clients.requests == 0 {
        findings.push(Finding::error("clients.requests", "0 requests", "1 or more"));
    }
    if clients.arrival == Arrival::Closed && clients.users == 0 {
        findings.push(Finding::error("clients.users", "0 users", "1 or more"));
    }
    if clients.arrival == Arrival::Burst && clients.requests > MOST_USERS {
        findings.push(Finding::error(
            "clients.requests",
            format!("a burst of {} clients", clients.requests),
            format!("at most {MOST_USERS}"),
        ));
    }
    if clients.arrival == Arrival::Closed && u64::from(clients.users) > clients.requests {
        findings.push(Finding::warning(
            "clients.users",
            format!(
                "{} users for {} requests: some have nothing to do",
                clients.users, clients.requests
            ),
            "at most clients.requests",
        ));
    }
    if clients.arrival == Arrival::Trace {
        let times = &clients.arrival_times;
        if times.is_empty() {
            findings.push(Finding::error(
                "clients.arrival_times",
                "a trace without times",
                "one time or more",
            ));
        }
        if times.windows(2).any(|pair| pair[0] > pair[1]) {
            findings.push(Finding::error(
                "clients.arrival_times",
                "not in order",
                "ascending times",
            ));
        }
    }
}

fn check_timeouts(config: &Config, findings: &mut Vec<Finding>) {
    let clients = &config.clients;
    if clients.timeout_mode == TimeoutMode::Total {
        for (path, given) in [
            ("clients.connect_timeout", clients.connect_timeout),
            ("clients.read_timeout", clients.read_timeout),
        ] {
            if given.is_some() {
                findings.push(Finding::error(
                    path,
                    "has no meaning in mode total",
                    "clients.timeout_mode: \"phase\"",
                ));
            }
        }
    }
    let [connecting, reading] = limit_keys(clients);
    let limits =
        [(connecting, clients.limit_on_connecting()), (reading, clients.limit_on_reading())];
    for (place, (path, limit)) in limits.into_iter().enumerate() {
        let told = place == 1 && path == connecting;
        if limit.is_some_and(SimDuration::is_zero) && !told {
            findings.push(Finding::error(path, "0 s: every attempt fails at once", "above 0"));
        }
    }
    check_round_trip(config, findings);
    let service = shortest_service(config);
    let Some(limit) = clients.limit_on_reading().filter(|limit| *limit < service) else { return };
    let problem =
        format!("{limit} is shorter than the shortest service, {service}: no attempt can succeed");
    let unlimited = clients.retry.attempts >= 1_000_000 && clients.retry.within.is_none();
    findings.push(if unlimited {
        Finding::error(
            reading,
            format!("{problem}, and retries never end"),
            "longer, or limited retries",
        )
    } else {
        Finding::warning(reading, problem, "longer than the service")
    });
}

/// Which keys set the limits on connecting and on reading.
fn limit_keys(clients: &ClientConfig) -> [&'static str; 2] {
    let phase = clients.timeout_mode == TimeoutMode::Phase;
    let own = |given: Option<SimDuration>, path| {
        if phase && given.is_some() { path } else { "clients.timeout" }
    };
    [
        own(clients.connect_timeout, "clients.connect_timeout"),
        own(clients.read_timeout, "clients.read_timeout"),
    ]
}

/// The handshake takes a round trip, request and answer another.
fn check_round_trip(config: &Config, findings: &mut Vec<Finding>) {
    let clients = &config.clients;
    let round_trip = config.network.round_trip;
    let answered = match clients.timeout_mode {
        TimeoutMode::Total => round_trip.saturating_mul(2),
        TimeoutMode::Phase => round_trip,
    };
    let [connecting, reading] = limit_keys(clients);
    let needs = [
        (connecting, clients.limit_on_connecting(), round_trip),
        (reading, clients.limit_on_reading(), answered),
    ];
    let short = |limit: Option<SimDuration>, least| {
        limit.filter(|limit| !limit.is_zero() && *limit < least)
    };
    let first = needs
        .into_iter()
        .find_map(|(path, limit, least)| short(limit, least).map(|limit| (path, limit, least)));
    if let Some((path, limit, least)) = first {
        findings.push(Finding::warning(
            path,
            format!(
                "{limit}, but with a round trip of {round_trip} it takes {least} at the least: no \
                 attempt can succeed"
            ),
            "longer, or a shorter network.round_trip",
        ));
    }
}

/// A lower bound of the time that a request takes when it is alone, as far as it is constant.
fn shortest_service(config: &Config) -> SimDuration {
    let handler = &config.handler;
    let constant = |distribution: &crate::quantities::DurationDistribution| match distribution {
        crate::quantities::DurationDistribution::Constant { value } => *value,
        crate::quantities::DurationDistribution::Uniform { min, .. }
        | crate::quantities::DurationDistribution::Pareto { min, .. } => *min,
        _ => SimDuration::ZERO,
    };
    match handler.preset {
        HandlerPreset::Plain => constant(&handler.cpu).saturating_add(constant(&handler.wait)),
        HandlerPreset::MuxToggle if handler.toggle.no_op_share > 0.0 => SimDuration::ZERO,
        HandlerPreset::MuxToggle => {
            let call =
                constant(&handler.toggle.serial).saturating_add(constant(&handler.toggle.delay));
            call.saturating_mul(u64::from(handler.toggle.calls))
        }
        HandlerPreset::MuxToggleAll => {
            constant(&handler.toggle.serial).saturating_mul(u64::from(handler.ports))
        }
    }
}

fn check_network(config: &Config, findings: &mut Vec<Finding>) {
    let network = &config.network;
    let tick = network.tick;
    if network.timer_wheel
        && !(SimDuration::from_millis(1)..=SimDuration::from_millis(10)).contains(&tick)
    {
        findings.push(Finding::error(
            "network.tick",
            format!("{tick}"),
            "1 ms to 10 ms (HZ of 1000 to 100)",
        ));
    }
    for (path, timeout) in
        [("network.initial_rto", network.initial_rto), ("network.min_rto", network.min_rto)]
    {
        if timeout.is_zero() {
            findings.push(Finding::error(path, "a retransmission timeout of 0 s", "above 0"));
        }
    }
}

fn check_handler(config: &Config, findings: &mut Vec<Finding>) {
    let toggle = &config.handler.toggle;
    if toggle.turns > 0 && toggle.turn_cpu.is_zero() && toggle.turn_cpu_per_call.is_zero() {
        findings.push(Finding::error(
            "handler.toggle.turn_cpu",
            "turns that take no time",
            "above 0",
        ));
    }
    if toggle.turns > 0 && toggle.keeps_turning && toggle.turn_cpu.is_zero() {
        findings.push(Finding::error(
            "handler.toggle.turn_cpu",
            "turns without end, since they take no time by themselves and keeps_turning is set",
            "above 0",
        ));
    }
    let ToggleConfig { calls, no_op_share, .. } = *toggle;
    let free = ToggleConfig { calls, no_op_share, ..Default::default() };
    if config.handler.preset != HandlerPreset::Plain && *toggle == free {
        findings.push(Finding::warning(
            "handler.toggle",
            "a toggle takes no time, since none of its costs is set (the preset has none)",
            "serial, delay, child_cpu, turns, ..., as in scenarios/mux-simulator-servers.json",
        ));
    }
    if config.handler.preset == HandlerPreset::Plain && *toggle != Default::default() {
        findings.push(Finding::warning(
            "handler.toggle",
            "has no meaning with preset plain",
            "handler.preset: \"mux_toggle\" or \"mux_toggle_all\"",
        ));
    }
}
