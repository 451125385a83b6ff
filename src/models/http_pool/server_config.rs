//! What a user sets of the server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::proxy_config::ProxyConfig;
use crate::engine::SimDuration;
use crate::quantities::DurationDistribution;

/// A kind of server, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerPreset {
    /// Flask's own server, one request at a time (mux simulator until 2024-10).
    WerkzeugSingle,
    /// Flask's own server with a thread for every connection (mux simulator today).
    #[default]
    WerkzeugThreaded,
    /// gunicorn's sync workers: processes that each do one request at a time.
    GunicornSync,
    /// gunicorn's gthread workers: processes with an accepting thread and a thread pool.
    GunicornGthread,
}

/// The program that answers. What is not given comes from the preset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// Which kind of server.
    pub preset: ServerPreset,
    /// Worker processes (1 for Werkzeug).
    #[schemars(range(min = 1, max = 4096), extend("x-unit" = "processes", "x-source" = "gunicorn --workers"))]
    pub workers: u32,
    /// Threads of each gthread worker.
    #[schemars(range(min = 1, max = 4096), extend("x-unit" = "threads", "x-source" = "gunicorn --threads"))]
    pub threads: u32,
    /// The argument of `listen()`: 128 for Werkzeug (`LISTEN_QUEUE`), 2048 for gunicorn.
    #[schemars(range(min = 0, max = 1_000_000), extend("x-unit" = "connections", "x-source" = "werkzeug/serving.py LISTEN_QUEUE, gunicorn/config.py Backlog"))]
    pub backlog: Option<u32>,
    /// Connections that a gthread worker accepts at most (1000).
    #[schemars(range(min = 1, max = 1_000_000), extend("x-unit" = "connections", "x-source" = "gunicorn/config.py WorkerConnections"))]
    pub worker_connections: Option<u32>,
    /// A sync worker silent for longer is killed by its master (30 s; 0 s for never). A gthread
    /// worker's main thread always reports, so its threads are never killed.
    #[schemars(extend("x-source" = "gunicorn/config.py Timeout, gunicorn/arbiter.py murder_workers"))]
    pub worker_timeout: Option<SimDuration>,
    /// How often the master looks for silent workers.
    #[schemars(extend("x-minimum" = "1 ms", "x-source" = "gunicorn/arbiter.py Arbiter.sleep"))]
    pub watchdog_interval: SimDuration,
    /// A worker ends after so many requests and is replaced; 0 for never.
    #[schemars(range(min = 0, max = 1_000_000_000), extend("x-unit" = "requests", "x-source" = "gunicorn --max-requests"))]
    pub max_requests: u64,
    /// From the end of a worker until its successor accepts.
    #[schemars(extend("x-source" = "measured, case w01"))]
    pub boot_time: SimDuration,
    /// The server begins to listen this long after the start of the run; a connection before is
    /// refused. The mux simulator looks at each bridge first.
    #[schemars(extend("x-source" = "sonic-mgmt mux_simulator.py Muxes.__init__"))]
    pub listens_from: SimDuration,
    /// Whether connections are kept open for further requests. Werkzeug threaded and gthread can,
    /// the others cannot.
    #[schemars(extend("x-source" = "workload"))]
    pub keep_alive: Option<bool>,
    /// How long an idle kept connection stays open.
    #[schemars(extend("x-source" = "gunicorn/config.py Keepalive"))]
    pub keep_alive_timeout: Option<SimDuration>,
    /// How long a thread waits for a peer that sends nothing; none for ever. Werkzeug and sync
    /// workers block in this wait; gthread waits outside of its threads.
    #[schemars(extend("x-source" = "sonic-mgmt PR 15226: socket.setdefaulttimeout(60)"))]
    pub request_timeout: Option<SimDuration>,
    /// A reverse proxy between the clients and the server; none for no such thing. Silent peers
    /// connect to it as well, `clients.background` requests don't.
    pub proxy: Option<ProxyConfig>,
    /// Whether the processor times below have the measured defaults of the preset, or 0.
    pub overhead: Overhead,
    /// Accepting a connection: processor time of the accepting thread.
    #[schemars(extend("x-source" = "measured, cases b01 to z03"))]
    pub accept_cpu: Option<SimDuration>,
    /// Handing a readable connection to a thread (gthread's main thread), or starting a thread
    /// (Werkzeug threaded).
    #[schemars(extend("x-source" = "measured, cases b01 to z03"))]
    pub dispatch_cpu: Option<SimDuration>,
    /// The first steps of a thread that was started for a connection, for which the accepting
    /// thread waits (Werkzeug threaded).
    #[schemars(extend("x-source" = "CPython Lib/threading.py Thread.start; measured, case b02"))]
    pub start_cpu: Option<SimDuration>,
    /// Parsing and routing, before the handler.
    #[schemars(extend("x-source" = "measured, cases b01 to z03"))]
    pub before_cpu: Option<SimDuration>,
    /// Building and sending the answer.
    #[schemars(extend("x-source" = "measured, cases b01 to z03"))]
    pub after_cpu: Option<SimDuration>,
    /// Closing and going on, after the answer is out.
    #[schemars(extend("x-source" = "measured, cases b01 to z03"))]
    pub close_cpu: Option<SimDuration>,
    /// Taking up the interpreter again after a wait, in a process with several threads.
    #[schemars(extend("x-source" = "measured, cases b08 and b10"))]
    pub resume_cpu: Option<SimDuration>,
    /// What a thread that waits for the interpreter of its process computes to wake up once it is
    /// free; whoever asks for it meanwhile has it first. Lognormal with a coefficient of variation of 0.25 by default: with a
    /// constant one thread may come too late for seconds.
    #[schemars(extend("x-source" = "measured, 1030/s and 1520/s with an empty handler; CPython Python/ceval_gil.c drop_gil, take_gil"))]
    pub handoff_cpu: Option<DurationDistribution>,
    /// From a connection's arrival until an idle process runs.
    #[schemars(extend("x-source" = "measured, cases b01 to b04"))]
    pub wakeup: Option<DurationDistribution>,
    /// What comes on top of it when the process has been idle for long; after t it is this times
    /// `1 - exp(-t / cooling_time)`.
    #[schemars(extend("x-source" = "a third of the late sleeps of b05 to b12"))]
    pub cold_wakeup: Option<DurationDistribution>,
    /// What comes on top of it when the process has not done anything yet.
    #[schemars(extend("x-source" = "measured, case z01"))]
    pub first_wakeup: Option<DurationDistribution>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            preset: ServerPreset::default(),
            workers: 1,
            threads: 4,
            backlog: None,
            worker_connections: None,
            worker_timeout: None,
            watchdog_interval: SimDuration::from_whole_seconds(1),
            max_requests: 0,
            boot_time: SimDuration::from_millis(100),
            listens_from: SimDuration::ZERO,
            keep_alive: None,
            keep_alive_timeout: None,
            request_timeout: None,
            proxy: None,
            overhead: Overhead::Measured,
            accept_cpu: None,
            dispatch_cpu: None,
            start_cpu: None,
            before_cpu: None,
            after_cpu: None,
            close_cpu: None,
            resume_cpu: None,
            handoff_cpu: None,
            wakeup: None,
            cold_wakeup: None,
            first_wakeup: None,
        }
    }
}

/// Where the server's own processor times come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overhead {
    /// Measured with one user and with an empty handler, Python 3.11 on one 2-core machine (the
    /// cases `b01` to `z03` of `scenarios/data/http_measurements.json`).
    #[default]
    Measured,
    /// The server itself costs nothing.
    None,
}
