//! Settings that do nothing with what else is set.
//!
//! One table: each rule names a key, when it is switched off (and then says nothing, even if it is
//! written down), when it has a part in a run, and what to tell its user otherwise. A key without a
//! rule always has a part, or one that depends on the run: a limit that is never reached, a
//! backlog that is never full. `tests/http_pool/no_effect.rs` holds every key of the configuration
//! against this table.

use super::config::{Arrival, ClientConfig, Config, RequestSplit, Scheduling, TimeoutMode};
use super::facts::{Facts, is_zero};
use super::handler_config::{HandlerPreset, LockScope};
use super::presets::Accepting;
use super::proxy_config::{ProxyConfig, Upstream};
use super::server_config::ServerPreset;
use crate::engine::SimDuration;
use crate::models::{Finding, Unused};

/// A key, and what it needs.
struct Rule {
    unused: Unused,
    is_off: fn(&Config) -> bool,
    is_used: fn(&Facts<'_>) -> bool,
}

/// The keys that would have no effect if they were set.
pub fn unused(config: &Config) -> Vec<Unused> {
    let facts = Facts::of(config);
    let idle = |rule: &&Rule| !(rule.is_off)(config) && !(rule.is_used)(&facts);
    RULES.iter().filter(idle).map(|rule| rule.unused).collect()
}

/// The keys that have a rule.
pub fn keys() -> Vec<&'static str> {
    RULES.iter().map(|rule| rule.unused.path).collect()
}

const fn rule(
    path: &'static str,
    is_off: fn(&Config) -> bool,
    is_used: fn(&Facts<'_>) -> bool,
    problem: &'static str,
    allowed: &'static str,
) -> Rule {
    Rule { unused: Unused { path, problem, allowed }, is_off, is_used }
}

/// Every value of the key says something.
fn never(_: &Config) -> bool {
    false
}

/// Whether something is so of the proxy, if there is one.
fn proxy(config: &Config, is_so: fn(&ProxyConfig) -> bool) -> bool {
    config.server.proxy.as_ref().is_none_or(is_so)
}

/// Warns of what is set and has no effect because of a number.
pub fn check_effects(config: &Config, findings: &mut Vec<Finding>) {
    let facts = Facts::of(config);
    let connections = facts.server.worker_connections;
    let threads = facts.server.threads;
    let kept = facts.is_asked_to_keep() && facts.is(ServerPreset::GunicornGthread);
    if kept && connections <= threads {
        findings.push(Finding::warning(
            "server.worker_connections",
            format!(
                "{connections}, with {threads} threads: gunicorn keeps at most worker_connections \
                 less threads, so every answer closes its connection"
            ),
            "more than server.threads",
        ));
    }
}

const CLOSED: &str = "left out, or clients.arrival: \"closed\"";
const RETRIES: &str = "left out, or clients.retry.attempts above 0";
const GTHREAD: &str = "left out, or preset gunicorn_gthread";
const THREADED: &str = "left out, or preset werkzeug_threaded or gunicorn_gthread";
const KEPT: &str = "left out, or clients.keep_alive: true (server.proxy.keepalive behind a proxy)";
const PLAIN: &str = "left out, or handler.preset: \"plain\"";
const TOGGLE_ALL: &str = "left out, or handler.preset: \"mux_toggle_all\"";
const UPSTREAM_KEPT: &str = "left out, or server.proxy.keepalive above 0 and a server that keeps \
                             connections";

const RULES: &[Rule] = &[
    rule(
        "clients.users",
        never,
        |of| of.arrives(Arrival::Closed),
        "has no effect: only a closed loop has users who come back",
        CLOSED,
    ),
    rule(
        "clients.requests",
        never,
        |of| !of.arrives(Arrival::External),
        "has no effect: other components say how many requests there are",
        "left out, or another clients.arrival",
    ),
    rule(
        "clients.request_split",
        |config| config.clients.request_split == RequestSplit::Even,
        |of| of.arrives(Arrival::Closed),
        "has no effect: only a closed loop's requests are divided among users",
        CLOSED,
    ),
    rule(
        "clients.rate",
        never,
        |of| of.arrives(Arrival::Open),
        "has no effect: it is the rate of an open stream",
        "left out, or clients.arrival: \"open\"",
    ),
    rule(
        "clients.arrival_times",
        |config| config.clients.arrival_times.is_empty(),
        |of| of.arrives(Arrival::Trace),
        "has no effect: these are the times of a trace",
        "left out, or clients.arrival: \"trace\"",
    ),
    rule(
        "clients.think_time",
        |config| is_zero(&config.clients.think_time),
        |of| of.arrives(Arrival::Closed),
        "has no effect: only the users of a closed loop have a next request to think about",
        CLOSED,
    ),
    rule(
        "clients.stop_issuing_after",
        |config| config.clients.stop_issuing_after.is_none_or(SimDuration::is_zero),
        |of| !of.arrives(Arrival::Burst) || of.retries() > 0,
        "has no effect: all requests of a burst begin at time 0, and none is tried again",
        "left out, or clients.retry.attempts above 0",
    ),
    rule(
        "clients.timeout",
        |config| config.clients.timeout.is_none(),
        |of| {
            let ClientConfig { connect_timeout, read_timeout, .. } = &of.config.clients;
            connect_timeout.is_none() || read_timeout.is_none()
        },
        "has no effect: both phases have limits of their own",
        "left out, or one of connect_timeout and read_timeout left out",
    ),
    rule(
        "clients.timeout_mode",
        |config| config.clients.timeout_mode == TimeoutMode::Total,
        |of| of.gives_up(),
        "has no effect: there is no limit on an attempt",
        "left out, or clients.timeout, connect_timeout or read_timeout",
    ),
    rule(
        "clients.retry.pause",
        |config| config.clients.retry.pause.is_zero(),
        |of| of.pauses() > 0,
        "has no effect: no retry comes after a pause",
        "left out, or more clients.retry.attempts",
    ),
    rule(
        "clients.retry.factor",
        |config| config.clients.retry.factor == 1.0,
        |of| of.pauses() > 1 && !of.config.clients.retry.pause.is_zero(),
        "has no effect: there is no second pause that could be longer than the first",
        "left out, or a clients.retry.pause and more attempts",
    ),
    rule(
        "clients.retry.longest_pause",
        never,
        |of| {
            let retry = &of.config.clients.retry;
            let grows = retry.factor > 1.0 || retry.longest_pause < retry.pause;
            of.pauses() > 1 && grows && !retry.pause.is_zero()
        },
        "has no effect: no pause grows",
        "left out, or a clients.retry.pause with a factor above 1 and more attempts",
    ),
    rule(
        "clients.retry.first_at_once",
        |config| !config.clients.retry.first_at_once,
        |of| of.retries() > 0 && !of.config.clients.retry.pause.is_zero(),
        "has no effect: there is no pause that a first retry could do without",
        "left out, or clients.retry.attempts and pause above 0",
    ),
    rule(
        "clients.retry.within",
        |config| config.clients.retry.within.is_none(),
        |of| of.retries() > 0,
        "has no effect: nothing is tried again",
        RETRIES,
    ),
    rule(
        "clients.keep_alive",
        |config| !config.clients.keep_alive,
        |of| of.config.server.proxy.is_some() || of.server.keep_alive,
        "has no effect: this server closes every connection",
        "false, or server.preset werkzeug_threaded or gunicorn_gthread",
    ),
    rule(
        "network.tick",
        never,
        |of| of.config.network.timer_wheel || of.config.host.scheduling == Scheduling::TimeSlices,
        "has no effect: timers are not rounded to ticks, and nothing is scheduled by them",
        "left out, or network.timer_wheel: true or host.scheduling: \"time_slices\"",
    ),
    rule(
        "server.threads",
        never,
        |of| of.is(ServerPreset::GunicornGthread),
        "has no effect: only a gthread worker has a pool of threads",
        GTHREAD,
    ),
    rule(
        "server.worker_connections",
        |config| config.server.worker_connections.is_none(),
        |of| of.is(ServerPreset::GunicornGthread),
        "has no effect: only a gthread worker accepts connections beyond what it serves",
        GTHREAD,
    ),
    rule(
        "server.worker_timeout",
        |config| config.server.worker_timeout.is_none_or(SimDuration::is_zero),
        |of| of.is(ServerPreset::GunicornSync),
        "has no effect: only sync workers can be silent for too long",
        "left out, or preset gunicorn_sync",
    ),
    rule(
        "server.watchdog_interval",
        never,
        |of| of.server.worker_timeout.is_some(),
        "has no effect: no worker is killed for its silence",
        "left out, or preset gunicorn_sync with a worker_timeout",
    ),
    rule(
        "server.max_requests",
        |config| config.server.max_requests == 0,
        |of| of.is(ServerPreset::GunicornSync) || of.is(ServerPreset::GunicornGthread),
        "has no effect: only gunicorn replaces its workers",
        "left out, or preset gunicorn_sync or gunicorn_gthread",
    ),
    rule(
        "server.boot_time",
        never,
        |of| of.server.worker_timeout.is_some() || of.server.max_requests > 0,
        "has no effect: no worker is ever replaced",
        "left out, or a gunicorn preset with max_requests or (sync) worker_timeout",
    ),
    rule(
        "server.keep_alive",
        |config| config.server.keep_alive.is_none(),
        |of| of.closes_by_nature() || of.is_asked_to_keep(),
        "has no effect: nobody asks the server to keep a connection",
        KEPT,
    ),
    rule(
        "server.keep_alive_timeout",
        |config| config.server.keep_alive_timeout.is_none(),
        |of| {
            !of.closes_by_nature()
                && of.config.server.keep_alive != Some(false)
                && of.is_asked_to_keep()
        },
        "has no effect: no connection is kept",
        KEPT,
    ),
    rule(
        "server.request_timeout",
        |config| config.server.request_timeout.is_none(),
        |of| of.server.accepting != Accepting::Pool,
        "has no effect: no gthread thread waits for a request",
        "left out, or another preset",
    ),
    rule(
        "server.dispatch_cpu",
        |config| config.server.dispatch_cpu.is_none(),
        |of| of.server.accepting != Accepting::OneByOne,
        "has no effect: this server hands no connection to another thread",
        THREADED,
    ),
    rule(
        "server.start_cpu",
        |config| config.server.start_cpu.is_none(),
        |of| of.is(ServerPreset::WerkzeugThreaded),
        "has no effect: only Werkzeug threaded starts a thread for each connection",
        "left out, or preset werkzeug_threaded",
    ),
    rule(
        "server.resume_cpu",
        |config| config.server.resume_cpu.is_none(),
        |of| of.sleeps() || of.spawns(),
        "has no effect: no handler goes on after a wait",
        "left out, or preset plain with handler.wait or handler.spawns",
    ),
    rule(
        "server.handoff_cpu",
        |config| config.server.handoff_cpu.is_none(),
        |of| of.shares_interpreter(),
        "has no effect: one thread has the interpreter to itself",
        THREADED,
    ),
    rule(
        "server.proxy.connect_timeout",
        never,
        |of| of.proxy().upstream == Upstream::Tcp,
        "has no effect: a Unix socket connects or refuses at once",
        "left out, or server.proxy.upstream: \"tcp\"",
    ),
    rule(
        "server.proxy.client_keepalive_timeout",
        never,
        |of| of.config.clients.keep_alive,
        "has no effect: no client keeps its connection",
        "left out, or clients.keep_alive: true",
    ),
    rule(
        "server.proxy.keepalive_timeout",
        never,
        |of| of.proxy().keepalive > 0 && of.server.keep_alive,
        "has no effect: the proxy keeps no connection to the server",
        UPSTREAM_KEPT,
    ),
    rule(
        "server.proxy.keepalive_requests",
        never,
        |of| of.proxy().keepalive > 0 && of.server.keep_alive,
        "has no effect: the proxy keeps no connection to the server",
        UPSTREAM_KEPT,
    ),
    rule(
        "server.proxy.ignore_client_abort",
        |config| proxy(config, |proxy| !proxy.ignore_client_abort),
        |of| of.gives_up(),
        "has no effect: no client ever leaves before its answer",
        "left out, or clients.timeout",
    ),
    rule(
        "server.proxy.buffering",
        |config| proxy(config, |proxy| proxy.buffering),
        |of| {
            let ClientConfig { request_transfer, answer_transfer, .. } = &of.config.clients;
            !request_transfer.is_zero() || !answer_transfer.is_zero()
        },
        "has no effect: requests and answers take no time on their way",
        "left out, or clients.request_transfer or clients.answer_transfer",
    ),
    rule(
        "handler.lock",
        |config| config.handler.lock == LockScope::None,
        |of| of.is_plain() && !of.closes_by_nature(),
        "has no effect: a toggle holds the lock of its port, and what serves one request at a time \
         finds its locks free",
        "left out, or preset plain on werkzeug_threaded or gunicorn_gthread",
    ),
    rule(
        "handler.cpu",
        |config| is_zero(&config.handler.cpu),
        |of| of.is_plain(),
        "has no effect: a toggle's computing is handler.toggle.handler_cpu",
        PLAIN,
    ),
    rule(
        "handler.wait",
        |config| is_zero(&config.handler.wait),
        |of| of.is_plain(),
        "has no effect: what a toggle waits for is in handler.toggle",
        PLAIN,
    ),
    rule(
        "handler.spawns",
        |config| config.handler.spawns == 0,
        |of| of.is_plain(),
        "has no effect: a toggle's child processes are handler.toggle.calls",
        PLAIN,
    ),
    rule(
        "handler.pool_threads",
        never,
        |of| of.config.handler.preset == HandlerPreset::MuxToggleAll,
        "has no effect: only a request for all ports is divided among threads",
        TOGGLE_ALL,
    ),
    rule(
        "handler.status_cpu",
        never,
        |of| of.config.handler.preset == HandlerPreset::MuxToggleAll,
        "has no effect: only a request for all ports is answered with the status of all",
        TOGGLE_ALL,
    ),
    rule(
        "handler.toggle.no_op_serial",
        |config| is_zero(&config.handler.toggle.no_op_serial),
        |of| of.is_plain() || of.config.handler.toggle.no_op_share > 0.0,
        "has no effect: no toggle finds its port on the asked side",
        "left out, or handler.toggle.no_op_share above 0",
    ),
    rule(
        "handler.toggle.turn_cpu",
        |config| config.handler.toggle.turn_cpu.is_zero(),
        |of| of.is_plain() || of.config.handler.toggle.turns > 0,
        "has no effect: a call needs no turn of the main loop",
        "left out, or handler.toggle.turns above 0",
    ),
    rule(
        "handler.toggle.turn_cpu_per_call",
        |config| config.handler.toggle.turn_cpu_per_call.is_zero(),
        |of| of.is_plain() || of.config.handler.toggle.turns > 0,
        "has no effect: a call needs no turn of the main loop",
        "left out, or handler.toggle.turns above 0",
    ),
    rule(
        "handler.toggle.keeps_turning",
        |config| !config.handler.toggle.keeps_turning,
        |of| of.is_plain() || of.config.handler.toggle.turns > 0,
        "has no effect: a call needs no turn of the main loop",
        "left out, or handler.toggle.turns above 0",
    ),
    rule(
        "host.switch_interval",
        never,
        |of| of.shares_interpreter(),
        "has no effect: one thread has the interpreter to itself",
        THREADED,
    ),
    rule(
        "host.sleep_overshoot",
        |config| is_zero(&config.host.sleep_overshoot),
        |of| of.sleeps(),
        "has no effect: no handler sleeps",
        "left out, or preset plain with handler.wait",
    ),
    rule(
        "host.cooling_time",
        never,
        |of| {
            of.sleeps() && !is_zero(&of.config.host.sleep_overshoot)
                || !is_zero(&of.server.cold_wakeup)
        },
        "has no effect: neither sleeping nor waking up is the later the colder a process is",
        "left out, or host.sleep_overshoot or server.cold_wakeup",
    ),
    rule(
        "host.cpu_cv",
        |config| config.host.cpu_cv == 0.0,
        |of| of.computes(),
        "has no effect: neither the server itself nor a child process computes",
        "left out, or server.overhead: \"measured\"",
    ),
    rule(
        "host.spawn_parent_cpu",
        never,
        |of| of.spawns(),
        "has no effect: no handler starts a child process of this kind",
        "left out, or preset plain with handler.spawns",
    ),
    rule(
        "host.spawn_child_cpu",
        never,
        |of| of.spawns(),
        "has no effect: no handler starts a child process of this kind",
        "left out, or preset plain with handler.spawns",
    ),
];
