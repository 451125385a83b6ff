//! From what a user wrote to what the component runs: presets filled in.

use super::server_config::{Overhead, ServerConfig, ServerPreset};
use crate::engine::SimDuration;
use crate::quantities::DurationDistribution;

/// How a server takes connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepting {
    /// A process accepts one connection, serves it, and accepts the next.
    OneByOne,
    /// A thread accepts and starts another thread for every connection.
    ThreadEach,
    /// A thread accepts all it may and hands what is readable to a pool of threads.
    Pool,
}

/// A server with every switch set.
#[derive(Clone, Debug)]
pub struct Server {
    pub accepting: Accepting,
    pub workers: u32,
    pub threads: u32,
    pub backlog: u32,
    pub worker_connections: u32,
    /// `None` for a worker that is never killed.
    pub worker_timeout: Option<SimDuration>,
    pub watchdog_interval: SimDuration,
    pub max_requests: u64,
    pub boot_time: SimDuration,
    pub listens_from: SimDuration,
    pub keep_alive: bool,
    pub keep_alive_timeout: Option<SimDuration>,
    pub request_timeout: Option<SimDuration>,
    pub accept_cpu: SimDuration,
    pub dispatch_cpu: SimDuration,
    pub before_cpu: SimDuration,
    pub after_cpu: SimDuration,
    pub close_cpu: SimDuration,
    pub resume_cpu: SimDuration,
    pub start_cpu: SimDuration,
    pub handoff_cpu: Option<DurationDistribution>,
    pub wakeup: DurationDistribution,
    pub cold_wakeup: DurationDistribution,
    pub first_wakeup: DurationDistribution,
}

/// Processor times of a kind of server in microseconds: accept, dispatch, before, after, close,
/// resume, hand-over, start.
///
/// Fitted on the calibration cases alone: idle latency (b01 to b04), cost of a sleep by kind (b05
/// to b12), and capacity with an empty handler (2600/s, 1030/s, 4600/s with two workers, 1520/s).
/// Only the sums are pinned by these; the division follows what each phase does. The hand-over is
/// what the two capacities with threads leave for it.
const fn overhead_micros(preset: ServerPreset) -> [u64; 8] {
    match preset {
        ServerPreset::WerkzeugSingle => [40, 0, 180, 65, 90, 0, 0, 0],
        ServerPreset::WerkzeugThreaded => [90, 130, 310, 160, 145, 80, 65, 40],
        ServerPreset::GunicornSync => [30, 0, 70, 50, 110, 0, 0, 0],
        ServerPreset::GunicornGthread => [70, 100, 150, 120, 95, 80, 80, 0],
    }
}

/// gunicorn's `timeout` (`gunicorn/config.py`).
pub const DEFAULT_WORKER_TIMEOUT: SimDuration = SimDuration::from_whole_seconds(30);

/// How much the time to wake up for the interpreter varies: as the measured host's computing does
/// (`host.cpu_cv` of `scenarios/http-validation.json`).
const HANDOFF_CV: f64 = 0.25;
/// Mean time from an arrival until an idle process runs: a wake-up of a sleeping thread.
const WAKEUP: SimDuration = SimDuration::from_micros(10);
/// What is added after long idleness, on average. A long sleep in an idle process ends 1.27 ms late
/// (`HostConfig::cooling_time`); about a third of that is taken to be the wake-up, the rest the
/// interpreter's cold caches.
const COLD_WAKEUP: SimDuration = SimDuration::from_micros(400);
/// What is added for a process that has not done anything yet: the first answers of z01 are 0.8
/// to 1.3 ms later than warm ones.
const FIRST_WAKEUP: SimDuration = SimDuration::from_micros(800);

/// Fills in what the user left to the preset.
pub fn resolve(config: &ServerConfig) -> Server {
    use ServerPreset::{GunicornGthread, GunicornSync, WerkzeugSingle, WerkzeugThreaded};
    let preset = config.preset;
    let gunicorn = matches!(preset, GunicornSync | GunicornGthread);
    let measured = config.overhead == Overhead::Measured;
    let micros = if measured { overhead_micros(preset) } else { [0; 8] };
    let cpu = |given: Option<SimDuration>, index: usize| {
        given.unwrap_or(SimDuration::from_micros(micros[index]))
    };
    let wakeup = |given: &Option<DurationDistribution>, mean: SimDuration| match given {
        Some(given) => given.clone(),
        None if measured => DurationDistribution::Exponential { mean },
        None => SimDuration::ZERO.into(),
    };
    Server {
        accepting: match preset {
            WerkzeugSingle | GunicornSync => Accepting::OneByOne,
            WerkzeugThreaded => Accepting::ThreadEach,
            GunicornGthread => Accepting::Pool,
        },
        workers: config.workers,
        threads: config.threads,
        backlog: config.backlog.unwrap_or(if gunicorn { 2048 } else { 128 }),
        worker_connections: config.worker_connections.unwrap_or(1000),
        worker_timeout: config
            .worker_timeout
            .or((preset == GunicornSync).then_some(DEFAULT_WORKER_TIMEOUT))
            .filter(|timeout| preset == GunicornSync && !timeout.is_zero()),
        watchdog_interval: config.watchdog_interval,
        max_requests: if gunicorn { config.max_requests } else { 0 },
        boot_time: config.boot_time,
        listens_from: config.listens_from,
        // gunicorn's `keepalive` of 0 keeps none.
        keep_alive: config
            .keep_alive
            .unwrap_or(matches!(preset, WerkzeugThreaded | GunicornGthread))
            && !(gunicorn && config.keep_alive_timeout.is_some_and(SimDuration::is_zero)),
        keep_alive_timeout: config.keep_alive_timeout.or(match preset {
            GunicornGthread => Some(SimDuration::from_whole_seconds(2)),
            // A thread of Werkzeug waits for the next request as it does for the first.
            _ => config.request_timeout,
        }),
        request_timeout: config.request_timeout,
        accept_cpu: cpu(config.accept_cpu, 0),
        dispatch_cpu: cpu(config.dispatch_cpu, 1),
        before_cpu: cpu(config.before_cpu, 2),
        after_cpu: cpu(config.after_cpu, 3),
        close_cpu: cpu(config.close_cpu, 4),
        resume_cpu: cpu(config.resume_cpu, 5),
        start_cpu: cpu(config.start_cpu, 7),
        handoff_cpu: config.handoff_cpu.clone().or_else(|| {
            let mean = SimDuration::from_micros(micros[6]);
            (!mean.is_zero()).then_some(DurationDistribution::Lognormal { mean, cv: HANDOFF_CV })
        }),
        wakeup: wakeup(&config.wakeup, WAKEUP),
        cold_wakeup: wakeup(&config.cold_wakeup, COLD_WAKEUP),
        first_wakeup: wakeup(&config.first_wakeup, FIRST_WAKEUP),
    }
}
