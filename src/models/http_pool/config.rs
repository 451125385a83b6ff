//! What a user sets: clients, network, server, handler, host.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::handler_config::HandlerConfig;
use super::server_config::ServerConfig;
use crate::engine::SimDuration;
use crate::quantities::{DurationDistribution, Rate};

/// What a user sets of an HTTP worker pool behind a listen backlog.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Who sends requests, how many, and how long they wait.
    pub clients: ClientConfig,
    /// TCP as Linux does it.
    pub network: NetworkConfig,
    /// The program that answers.
    pub server: ServerConfig,
    /// What a request does.
    pub handler: HandlerConfig,
    /// The machine that the server runs on.
    pub host: HostConfig,
}

/// How requests come in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Each user sends its next request when the last is answered or given up.
    #[default]
    Closed,
    /// Every request at once at time 0, each by a user of its own.
    Burst,
    /// A Poisson stream of `rate`, whatever becomes of the requests.
    Open,
    /// At the times in `arrival_times`.
    Trace,
    /// Only those that other components ask for, on the input `request`.
    External,
}

/// Who gets how many of the requests of a closed loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestSplit {
    /// Each user has the same number (`hey`, and the load generator of the measurements).
    #[default]
    Even,
    /// Whoever is free takes the next (`ab`).
    Shared,
}

/// What a client's time limit is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeoutMode {
    /// One deadline from the call of `connect()` to the end of the answer.
    #[default]
    Total,
    /// One limit for connecting, another from then on (`requests`' pair of timeouts).
    Phase,
}

/// Who sends requests, how many, and how long they wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClientConfig {
    /// How requests come in.
    pub arrival: Arrival,
    /// Users of a closed loop.
    #[schemars(range(min = 1, max = 100_000), extend("x-unit" = "users", "x-source" = "workload"))]
    pub users: u32,
    /// Requests in all, not counting retries.
    #[schemars(range(min = 1, max = 1_000_000_000), extend("x-unit" = "requests", "x-source" = "workload"))]
    pub requests: u64,
    /// How a closed loop's requests are divided among its users.
    pub request_split: RequestSplit,
    /// Arrivals of an open stream.
    #[schemars(extend("x-source" = "workload"))]
    pub rate: Rate,
    /// Arrival times of a trace, in ascending order; taken up to `requests`.
    #[schemars(extend("x-source" = "workload"))]
    pub arrival_times: Vec<SimDuration>,
    /// A closed-loop user's pause between an answer and the next request.
    #[schemars(extend("x-source" = "workload"))]
    pub think_time: DurationDistribution,
    /// No request (or retry) starts from this time on; none for no such limit.
    #[schemars(extend("x-source" = "workload"))]
    pub stop_issuing_after: Option<SimDuration>,
    /// The limit on a whole attempt, or on each phase of it; none to wait for ever.
    #[schemars(extend("x-source" = "sonic-mgmt PR 6709 (10 s), y_cable_simulated.py.j2 (5 s)"))]
    pub timeout: Option<SimDuration>,
    /// What `timeout` is about.
    pub timeout_mode: TimeoutMode,
    /// The limit on connecting, instead of `timeout` in mode `phase`.
    #[schemars(extend("x-source" = "sonic-mgmt PR 16651 (3.5 s)"))]
    pub connect_timeout: Option<SimDuration>,
    /// The limit from connected to answered, instead of `timeout` in mode `phase`.
    #[schemars(extend("x-source" = "sonic-mgmt PR 16651 (30 s)"))]
    pub read_timeout: Option<SimDuration>,
    /// What is done about an attempt that failed.
    pub retry: RetryConfig,
    /// Send the next request of a user on the same connection where the server allows it.
    #[schemars(extend("x-source" = "workload"))]
    pub keep_alive: bool,
    /// How long a client takes to get its whole request across after it has connected. A process
    /// that has accepted the connection waits for it, unless it is gthread's or the proxy's.
    #[schemars(extend("x-source" = "workload"))]
    pub request_transfer: SimDuration,
    /// How long an answer that is larger than the socket's buffer takes to the client. Its
    /// handler waits for it, unless a proxy takes it off its hands.
    #[schemars(extend("x-source" = "workload"))]
    pub answer_transfer: SimDuration,
    /// Peers that connected at time 0 before all others and never send anything.
    #[schemars(range(min = 0, max = 100_000), extend("x-unit" = "connections", "x-source" = "sonic-mgmt PR 15226"))]
    pub silent_peers: u32,
    /// Requests at time 0 before all others whose handler waits this long, each by a client of
    /// its own without a time limit.
    #[schemars(extend("x-source" = "workload"))]
    pub background: Vec<SimDuration>,
    /// Processor time of one client thread for a `connect()`; 0 for clients on other machines.
    #[schemars(extend("x-source" = "measured, case z03"))]
    pub connect_cpu: SimDuration,
    /// The same for sending the request.
    #[schemars(extend("x-source" = "measured, case z03"))]
    pub send_cpu: SimDuration,
    /// The same for what follows sending while the server is at work already: waiting in the
    /// kernel, and on a loopback the receiver's side of the protocol.
    #[schemars(extend("x-source" = "measured, case z03"))]
    pub settle_cpu: SimDuration,
    /// The same for reading the answer and closing.
    #[schemars(extend("x-source" = "measured, case z03"))]
    pub receive_cpu: SimDuration,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            arrival: Arrival::Closed,
            users: 20,
            requests: 2000,
            request_split: RequestSplit::Even,
            rate: Rate::per_second(40.0).expect("a constant above 0"),
            arrival_times: Vec::new(),
            think_time: SimDuration::ZERO.into(),
            stop_issuing_after: None,
            timeout: None,
            timeout_mode: TimeoutMode::Total,
            connect_timeout: None,
            read_timeout: None,
            retry: RetryConfig::default(),
            keep_alive: false,
            request_transfer: SimDuration::ZERO,
            answer_transfer: SimDuration::ZERO,
            silent_peers: 0,
            background: Vec::new(),
            connect_cpu: SimDuration::ZERO,
            send_cpu: SimDuration::ZERO,
            settle_cpu: SimDuration::ZERO,
            receive_cpu: SimDuration::ZERO,
        }
    }
}

/// What a client does about an attempt that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetryConfig {
    /// Attempts after the first; 0 for none.
    #[schemars(range(min = 0, max = 1_000_000), extend("x-unit" = "attempts", "x-source" = "sonic-mgmt tests/dualtor/files/y_cable_simulated.py.j2, mux_simulator_control.py"))]
    pub attempts: u32,
    /// The pause before the second and later retries, and before the first unless
    /// `first_at_once`.
    #[schemars(extend("x-source" = "y_cable_simulated.py.j2 (1 s), urllib3 backoff_factor"))]
    pub pause: SimDuration,
    /// The pause grows by this factor from retry to retry (urllib3's back-off: 2).
    #[schemars(range(min = 1.0, max = 10.0), extend("x-unit" = "ratio", "x-source" = "urllib3 Retry.get_backoff_time"))]
    pub factor: f64,
    /// The longest pause that growth leads to.
    #[schemars(extend("x-source" = "urllib3 Retry.DEFAULT_BACKOFF_MAX"))]
    pub longest_pause: SimDuration,
    /// The first retry comes without a pause, as in urllib3.
    pub first_at_once: bool,
    /// An attempt that fails this long after the first one began, or later, is the last; none for no
    /// limit.
    #[schemars(extend("x-source" = "y_cable_simulated.py.j2 (30 s)"))]
    pub within: Option<SimDuration>,
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self {
            attempts: 0,
            pause: SimDuration::ZERO,
            factor: 1.0,
            longest_pause: SimDuration::from_whole_seconds(120),
            first_at_once: false,
            within: None,
        }
    }
}

/// TCP as Linux does it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkConfig {
    /// `net.core.somaxconn`: the backlog is at most this (4096 since Linux 5.4, 128 before).
    #[schemars(range(min = 0, max = 1_000_000), extend("x-unit" = "connections", "x-source" = "Linux Documentation/networking/ip-sysctl.rst"))]
    pub somaxconn: u32,
    /// `net.ipv4.tcp_syncookies`: answer with a cookie when too many handshakes are half open,
    /// instead of dropping the SYN.
    #[schemars(extend("x-source" = "Linux Documentation/networking/ip-sysctl.rst"))]
    pub syncookies: bool,
    /// `net.ipv4.tcp_syn_linear_timeouts`: so many SYN retransmissions are 1 s apart before the
    /// interval doubles (4 since Linux 6.5; 0 is the behaviour before).
    #[schemars(range(min = 0, max = 127), extend("x-unit" = "retransmissions", "x-source" = "Linux commit ccce324dabfe; net/ipv4/tcp_timer.c tcp_retransmit_timer"))]
    pub syn_linear_timeouts: u32,
    /// `net.ipv4.tcp_syn_retries`: after so many SYN retransmissions, the linear ones not counted,
    /// the connection fails.
    #[schemars(range(min = 1, max = 127), extend("x-unit" = "retransmissions", "x-source" = "Linux ip-sysctl.rst"))]
    pub syn_retries: u32,
    /// `net.ipv4.tcp_synack_retries`.
    #[schemars(range(min = 0, max = 127), extend("x-unit" = "retransmissions", "x-source" = "Linux ip-sysctl.rst"))]
    pub synack_retries: u32,
    /// Initial retransmission timeout (`TCP_TIMEOUT_INIT`).
    #[schemars(extend("x-source" = "Linux include/net/tcp.h TCP_TIMEOUT_INIT"))]
    pub initial_rto: SimDuration,
    /// Least retransmission timeout of data (`TCP_RTO_MIN`).
    #[schemars(extend("x-source" = "Linux include/net/tcp.h TCP_RTO_MIN"))]
    pub min_rto: SimDuration,
    /// The round trip time that Linux remembers of this destination from earlier connections
    /// (`net/ipv4/tcp_metrics.c`): data of a new connection then has the retransmission timeout
    /// `rtt + max(2 rtt, min_rto)`. 0 for none.
    #[schemars(extend("x-source" = "Linux net/ipv4/tcp_metrics.c tcp_init_metrics"))]
    pub cached_rtt: SimDuration,
    /// One tick of the kernel's clock (4 ms for HZ=250). Timers expire in batches on its grid.
    #[schemars(extend("x-source" = "Linux CONFIG_HZ"))]
    pub tick: SimDuration,
    /// Timers are rounded up to the kernel's timer wheel; without it each fires on its own.
    #[schemars(extend("x-source" = "Linux kernel/time/timer.c calc_wheel_index"))]
    pub timer_wheel: bool,
    /// Round trip between client and server.
    #[schemars(extend("x-source" = "network"))]
    pub round_trip: SimDuration,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            somaxconn: 4096,
            syncookies: true,
            syn_linear_timeouts: 0,
            syn_retries: 6,
            synack_retries: 5,
            initial_rto: SimDuration::from_whole_seconds(1),
            min_rto: SimDuration::from_millis(200),
            cached_rtt: SimDuration::ZERO,
            tick: SimDuration::from_millis(4),
            timer_wheel: true,
            round_trip: SimDuration::ZERO,
        }
    }
}

/// How the cores are shared by what is runnable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scheduling {
    /// As a fluid: everything progresses at once, at equal rates.
    #[default]
    Fluid,
    /// As Linux does it: a run queue for each core, and slices that end on a tick of
    /// `network.tick`. Means are the same, tails are longer.
    TimeSlices,
}

/// The machine that the server runs on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HostConfig {
    /// Cores, shared by server, child processes, and clients with processor times.
    #[schemars(range(min = 1, max = 100_000), extend("x-unit" = "cores", "x-source" = "host"))]
    pub cores: u32,
    /// How the cores are shared.
    pub scheduling: Scheduling,
    /// A Python thread that waits for its process's interpreter gets it after this time at the
    /// latest (`sys.getswitchinterval()`).
    #[schemars(extend("x-minimum" = "1 us", "x-source" = "CPython Python/ceval_gil.c: whole microseconds, 1 at the least"))]
    pub switch_interval: SimDuration,
    /// What a long sleep takes longer than it should on an idle host; one of s takes this times
    /// `1 - exp(-s / cooling_time)` longer.
    #[schemars(extend("x-source" = "measured, cases b05 to b12"))]
    pub sleep_overshoot: DurationDistribution,
    /// How fast an idle process cools down: caches, processor states. Measured: sleeps of 5, 20
    /// and 50 ms end 0.35, 0.90 and 1.18 ms late (means of b05 to b12 less b01 to b04), which is
    /// 1.27 ms with 17 ms.
    #[schemars(extend("x-source" = "measured, cases b05 to b12"))]
    pub cooling_time: SimDuration,
    /// Coefficient of variation of a request's own computing and of each child's (lognormal):
    /// caches, interrupts, the hypervisor.
    #[schemars(range(min = 0.0, max = 10.0), extend("x-unit" = "ratio", "x-source" = "measured, cases b01 to b04: 95th percentile 1.43 times the median"))]
    pub cpu_cv: f64,
    /// Starting a child process: processor time of the parent, under its interpreter lock. The
    /// parent sleeps in `vfork` with the lock until the child has called `execve`
    /// (`do_fork_exec` in CPython's `Modules/_posixsubprocess.c`), so that is part of it.
    #[schemars(extend("x-source" = "measured, cases b14 and b15"))]
    pub spawn_parent_cpu: SimDuration,
    /// A child process from `execve` to its end, for instance `/bin/true`. Only the sum of both is
    /// measured (b14, b15: 1.25 ms).
    #[schemars(extend("x-source" = "measured, cases b14 and b15"))]
    pub spawn_child_cpu: SimDuration,
}

impl Default for HostConfig {
    fn default() -> Self {
        Self {
            cores: 2,
            scheduling: Scheduling::Fluid,
            switch_interval: SimDuration::from_millis(5),
            sleep_overshoot: SimDuration::ZERO.into(),
            cooling_time: SimDuration::from_millis(17),
            cpu_cv: 0.0,
            spawn_parent_cpu: SimDuration::from_micros(800),
            spawn_child_cpu: SimDuration::from_micros(450),
        }
    }
}
