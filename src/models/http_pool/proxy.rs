//! nginx in front of the server: its workers, and how they take clients' connections.
//!
//! ```text
//!  client --> accept queue (511 + 1) --> worker: one event after another
//!                                          |-- an idle kept connection to the server
//!                                          +-- or a new one --> the server's accept queue
//!  502: refused, a full Unix socket, max_conns    504: connect_timeout, read_timeout
//!  500: no worker_connection for the server's side    closed: none for the client's side
//!  499: the client left; the server's side is closed, what it has of the request it executes
//! ```
//!
//! Sources: nginx 1.22 `src/event/ngx_event_accept.c` (accepts first, then looks for a free
//! connection), `src/core/ngx_connection.c` (`ngx_drain_connections`: idle kept connections give
//! way), `src/http/ngx_http_upstream.c` (`ngx_http_upstream_next` with one peer: a timeout is a
//! 504, what else goes wrong with the connection a 502; `ngx_http_upstream_check_broken_connection`:
//! 499), Linux `net/unix/af_unix.c` (`unix_stream_connect`: `EAGAIN` when the queue is full, by the
//! same `>` as TCP's).

use std::collections::VecDeque;

use super::component::{Event, HttpPool, Tag};
use super::connection::{Hop, NONE, Purpose, ServerSide};
use super::listen_queue::ListenQueue;
use super::network::Segment;
use super::proxy_config::ProxyConfig;
use crate::engine::{Engine, SimDuration, SimTime, Timer};
use crate::resources::{Attribution, Step};

/// Connections of a worker that are its own: the listening socket, and the channel to the master
/// (`ngx_event_process_init`, `ngx_worker_process_init`).
const OWN_CONNECTIONS: u32 = 2;

/// What a worker does next with its processor. Numbers of exchanges come with their generation,
/// because the client may have left meanwhile.
#[derive(Clone, Copy, Debug)]
pub enum ProxyAction {
    Accept,
    Forward(ExchangeId),
    Return(ExchangeId, super::measurement::Outcome),
}

/// An exchange that may be over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangeId {
    pub index: u32,
    generation: u32,
}

/// A worker process.
#[derive(Clone, Debug, Default)]
pub struct ProxyWorker {
    actions: VecDeque<ProxyAction>,
    busy: bool,
    /// Its `worker_connections` in use.
    pub connections: u32,
    /// Kept connections to the server, the one used last at the end.
    pub idle: Vec<u32>,
}

/// Where the time of an answered request went on the server's side.
#[derive(Clone, Copy, Debug, Default)]
pub struct UpstreamTimes {
    pub retransmission: SimDuration,
    pub accept_queue: SimDuration,
    pub thread_wait: SimDuration,
    pub parts: Attribution,
}

/// A client's connection that a worker has accepted, with what it does for it.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    pub generation: u32,
    pub worker: u16,
    /// The client's connection; [`NONE`] after it was closed.
    pub front: u32,
    /// The connection to the server while a request is under way there.
    pub upstream: u32,
    /// For the limits on the client, on connecting, and on the answer.
    pub timer: Timer,
    /// When the request was passed on, and when the answer came.
    pub asked: SimTime,
    pub answered: SimTime,
    /// When the answer left for the client.
    pub returned: SimTime,
    pub times: UpstreamTimes,
}

/// The proxy.
#[derive(Clone, Debug)]
pub struct Proxy {
    pub settings: ProxyConfig,
    pub queue: ListenQueue,
    pub workers: Vec<ProxyWorker>,
    pub exchanges: Vec<Exchange>,
    free: Vec<u32>,
    /// Requests under way at the server, for `max_conns`.
    pub under_way: u32,
}

impl Proxy {
    /// What is done about a client's connection, if anything is.
    pub fn exchange(&self, index: u32) -> Option<&Exchange> {
        self.exchanges.get(index as usize)
    }

    pub fn new(settings: ProxyConfig, somaxconn: u32, syncookies: bool) -> Self {
        Self {
            queue: ListenQueue::new(settings.backlog, somaxconn, syncookies),
            workers: vec![ProxyWorker::default(); settings.workers as usize],
            exchanges: Vec::new(),
            free: Vec::new(),
            under_way: 0,
            settings,
        }
    }

    /// Nothing under way; keeps the memory.
    pub fn reset(&mut self) {
        self.queue.reset();
        for worker in &mut self.workers {
            worker.actions.clear();
            worker.idle.clear();
            worker.busy = false;
            worker.connections = 0;
        }
        self.exchanges.clear();
        self.free.clear();
        self.under_way = 0;
    }

    fn begin(&mut self, exchange: Exchange) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.exchanges[index as usize] = exchange;
                index
            }
            None => {
                self.exchanges.push(exchange);
                self.exchanges.len() as u32 - 1
            }
        }
    }

    /// Gives the entry back; numbers of it that are still about are worth nothing from now on.
    pub fn end(&mut self, index: u32) {
        let exchange = &mut self.exchanges[index as usize];
        exchange.generation = exchange.generation.wrapping_add(1);
        self.free.push(index);
    }

    pub fn id(&self, index: u32) -> ExchangeId {
        ExchangeId { index, generation: self.exchanges[index as usize].generation }
    }

    fn is_alive(&self, id: ExchangeId) -> bool {
        self.exchanges[id.index as usize].generation == id.generation
    }

    /// Whether the worker has a connection to spare.
    pub fn has_connection(&self, worker: u16) -> bool {
        let used = self.workers[usize::from(worker)].connections + OWN_CONNECTIONS;
        used < self.settings.worker_connections
    }
}

impl HttpPool {
    /// A client's connection is in the proxy's accept queue: the least busy worker will take it.
    pub(super) fn proxy_connection_queued<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
    ) {
        let load = |worker: &ProxyWorker| worker.actions.len() + usize::from(worker.busy);
        let workers = self.proxy.workers.iter().enumerate();
        let least = workers.min_by_key(|(index, worker)| (load(worker), *index));
        if let Some((worker, _)) = least {
            self.proxy_act(engine, worker as u16, ProxyAction::Accept);
        }
    }

    /// Has a worker do something, at once if that costs no processor time.
    pub(super) fn proxy_act<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        worker: u16,
        action: ProxyAction,
    ) {
        let cost = self.proxy_cost(action);
        let of = &mut self.proxy.workers[usize::from(worker)];
        if cost.is_zero() && of.actions.is_empty() && !of.busy {
            self.do_proxy_action(engine, worker, action);
            return;
        }
        of.actions.push_back(action);
        self.next_proxy_action(engine, worker);
    }

    fn proxy_cost(&self, action: ProxyAction) -> SimDuration {
        match action {
            ProxyAction::Accept => SimDuration::ZERO,
            ProxyAction::Forward(_) => self.proxy.settings.request_cpu,
            ProxyAction::Return(..) => self.proxy.settings.answer_cpu,
        }
    }

    fn next_proxy_action<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, worker: u16) {
        let of = &mut self.proxy.workers[usize::from(worker)];
        if of.busy {
            return;
        }
        if let Some(&action) = of.actions.front() {
            of.busy = true;
            let work = self.proxy_cost(action);
            let steps = [Step::Cpu { work, interpreter: None }];
            self.host.submit(engine, Tag::Proxy(worker).pack(), &steps);
        }
    }

    /// A worker has done what was first in its line.
    pub(super) fn proxy_acted<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        worker: u16,
    ) {
        if let Some(action) = self.proxy.workers[usize::from(worker)].actions.pop_front() {
            self.do_proxy_action(engine, worker, action);
        }
        self.proxy.workers[usize::from(worker)].busy = false;
        self.next_proxy_action(engine, worker);
    }

    fn do_proxy_action<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        worker: u16,
        action: ProxyAction,
    ) {
        match action {
            ProxyAction::Accept => self.proxy_accept(engine, worker),
            ProxyAction::Forward(id) if self.proxy.is_alive(id) => self.forward(engine, id.index),
            ProxyAction::Return(id, outcome) if self.proxy.is_alive(id) => {
                self.return_answer(engine, id.index, outcome);
            }
            ProxyAction::Forward(_) | ProxyAction::Return(..) => {}
        }
    }

    fn proxy_accept<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, worker: u16) {
        let Some(front) = self.proxy.queue.accept() else { return };
        let open = &mut self.connections[front];
        open.accepted = engine.now();
        let left = open.client == NONE && open.purpose == Purpose::Request;
        let (here, arrived) = (open.client != NONE, open.request_arrived);
        if !self.spare_connection(engine, worker) {
            self.tally.proxy_closed += 1;
            self.connections[front].server_side = ServerSide::Closed;
            if here {
                self.transmit_later(engine, front, Segment::Reset);
            } else {
                self.forget(engine, front);
            }
            return;
        }
        if left {
            // The end of the stream is behind the request: read, and let go.
            self.tally.client_aborts += u64::from(arrived);
            self.connections[front].server_side = ServerSide::Closed;
            self.forget(engine, front);
            return;
        }
        let free = self.proxy.free.last().map(|&index| self.proxy.exchanges[index as usize]);
        let (generation, timer) = match free {
            Some(old) => (old.generation, old.timer),
            None => (0, engine.add_timer()),
        };
        let exchange = self.proxy.begin(Exchange {
            generation,
            worker,
            front,
            upstream: NONE,
            timer,
            asked: engine.now(),
            answered: engine.now(),
            returned: engine.now(),
            times: UpstreamTimes::default(),
        });
        self.proxy.workers[usize::from(worker)].connections += 1;
        let open = &mut self.connections[front];
        open.server_side = ServerSide::Accepted(worker);
        open.exchange = exchange;
        if arrived {
            let id = self.proxy.id(exchange);
            self.proxy_act(engine, worker, ProxyAction::Forward(id));
        } else {
            let limit = self.proxy.settings.client_header_timeout;
            engine.arm(timer, limit, Event::Exchange(exchange));
        }
    }

    /// Whether the worker has a connection to spare, if need be by closing one that is kept.
    pub(super) fn spare_connection<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        worker: u16,
    ) -> bool {
        if self.proxy.has_connection(worker) {
            return true;
        }
        let idle = &mut self.proxy.workers[usize::from(worker)].idle;
        if idle.is_empty() {
            return false;
        }
        let oldest = idle.remove(0);
        self.close_kept(engine, worker, oldest);
        true
    }

    /// The proxy closes a kept connection to the server.
    pub(super) fn close_kept<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        worker: u16,
        upstream: u32,
    ) {
        self.proxy.workers[usize::from(worker)].connections -= 1;
        if let Some(timer) = self.connections[upstream].network_timer {
            engine.disarm(timer);
        }
        self.leave(engine, upstream);
    }

    /// A kept connection to the server is no more: the server closed it, or it was idle for too
    /// long.
    pub(super) fn drop_kept<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        upstream: u32,
    ) {
        for worker in 0..self.proxy.workers.len() {
            let idle = &mut self.proxy.workers[worker].idle;
            if let Some(place) = idle.iter().position(|&kept| kept == upstream) {
                idle.remove(place);
                self.close_kept(engine, worker as u16, upstream);
                return;
            }
        }
    }

    /// Whether the connection is the proxy's to the server.
    pub(super) fn is_upstream(&self, connection: u32) -> bool {
        self.connections[connection].hop == Hop::Upstream
    }
}
