//! HTTP worker pool behind a listen backlog: the mux simulator of SONiC's dual-ToR testbeds, and
//! any Flask or gunicorn server like it.
//!
//! ```text
//!  client                kernel                         server
//!  connect() --SYN--> full? dropped: again after 1, 3, 7 s
//!            <-SYN-ACK-- half open (or a cookie)
//!  established --ACK--> full? dropped: the request comes again after 0.2, 0.4, 0.8 ... s
//!                       accept queue (backlog + 1) --> accept --> [thread] --> handler
//!  timeout: leaves; what is queued or running is still executed, for nobody
//! ```
//!
//! Mechanisms, with their sources in the modules:
//! - `listen_queue`: the listening socket. What does not fit is dropped, never refused.
//! - `timer_wheel`: retransmissions fire in batches on the kernel's timer wheel. This is why a
//!   burst into a short backlog comes back as waves, each of which admits backlog + 1.
//! - `network`: which segment meets which queue; orphans that go on retransmitting.
//! - `clients`: closed loops, bursts, open streams; timeouts and retries.
//! - `server`: the accept rules of Werkzeug single and threaded, gunicorn sync and gthread. What
//!   serves one by one closes a connection before it accepts the next.
//! - `keep_alive`: when a gthread worker closes connections that it keeps.
//! - `watchdog`: gunicorn's master kills a silent sync worker.
//! - `proxy`, `exchange`: nginx in front, with its own queue, timeouts (504), refusals (502), kept
//!   connections, and clients that leave (499).
//! - `program`: a request's steps on shared cores, the interpreter lock of each process, locks,
//!   child processes, and the main loop of `ovs-vswitchd`.
//!
//! Not modelled: barging at a handler's lock. A `threading.Lock` is a semaphore (CPython's
//! `PyThread_acquire_lock_timed`), whose release wakes the oldest waiter, but whoever asks before
//! that one runs has it, and the oldest goes to the end of the line. Here locks are first in, first
//! out: in case x07 the longest answer took 812 ms, two rounds, and 419 ms are predicted; the 99th
//! percentile is the same.
//!
//! Nor the intervals of single threads that wait for the interpreter. In CPython's `take_gil` each
//! waits on a condition for one switch interval after another, asks the holder to let go when one
//! has passed without a switch, and is woken in the order in which these waits began. Here the interval
//! counts from the last switch or the first waiter's coming, and who has waited longest is woken. Tried, errors in per cent of
//! what was measured (elapsed, p50, p95, p99):
//!
//! | | x02 | x05 | x14 |
//! |---|---|---|---|
//! | as it is | 1, 1, -1, 22 | 2, 2, -1, 1 | 5, 5, 1, 9 |
//! | the intervals alone | 1, -4, 15, 18 | 1, 0, 3, 8 | 4, 5, 1, 5 |
//! | the order alone | 1, 2, -2, -1 | 2, 3, -4, 6 | 19, 19, 20, 17 |
//! | both | 1, 1, -9, -15 | 1, 2, -8, -13 | 19, 19, 20, 17 |
//!
//! The tail of x02 comes right, but x14 (four threads, 20 ms asleep and 5.3 ms computing) takes a
//! fifth longer than it did, so it is not in. No other row differs by more than half a point.
//!
//! Not modelled either: loss on the network, `tcp_abort_on_overflow`, the kernel's
//! memory of round trip times within a run (`network.cached_rtt` sets it from outside). Cores are
//! shared as a fluid, or in time slices (`host.scheduling`), which the measurements don't ask for:
//! with them the tails of c06, x10 and x12 are the same, and a client on the same cores, whose
//! wake-ups preempt in Linux but not here, waits too long (x03, x04, z03).
//!
//! Against measurements: `docs/http-validation.md`, `docs/http-proxy.md`. Where a plausible property
//! has a counterexample
//! (each is a test in `tests/http_pool/properties.rs`, or shown by a scenario):
//! - A longer backlog never adds retransmissions to a burst, but it lowers the goodput of impatient
//!   clients: what a short one sheds at once, a long one keeps and serves for nobody.
//! - More patience never adds timeouts to a burst without retries. In a closed loop it also decides
//!   how often a user asks, so the number of timeouts of a run may rise with it.
//! - More workers add throughput only while they have something to do: a connection wakes every idle
//!   gthread worker, and those that come too late have computed for nothing; and more sync workers
//!   than cores, with an empty handler, take the cores from a client on the same host.
//! - The same patience holds for an open stream with a short backlog: who waits longer is served
//!   later, and others are turned away meanwhile.
//! - More threads don't end a collapse that retries keep up, until there are enough for the retries
//!   as well (`scenarios/http-metastable.json`); letting in less does.

mod accept_loop;
mod asked;
mod attempts;
mod check;
mod clients;
mod component;
mod config;
mod connection;
mod draws;
mod exchange;
mod facts;
mod handler_config;
mod keep_alive;
mod listen_queue;
mod measurement;
mod metrics;
mod network;
mod no_effect;
mod open;
mod presets;
mod program;
mod proxy;
mod proxy_config;
mod server;
mod server_config;
mod timeline;
mod timer_wheel;
mod watchdog;

pub use component::{Event, HttpPool};
pub use config::{
    Arrival, ClientConfig, Config, HostConfig, NetworkConfig, RequestSplit, RetryConfig,
    Scheduling, TimeoutMode,
};
pub use handler_config::{HandlerConfig, HandlerPreset, LockScope, ToggleConfig};
pub use proxy_config::{ProxyConfig, Upstream};
pub use server_config::{Overhead, ServerConfig, ServerPreset};
