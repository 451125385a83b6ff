//! One request through the proxy: passed on, answered, failed, or left by its client.

use super::clients::ClientState;
use super::component::{Event, HttpPool};
use super::connection::{ClientSide, Connection, Hop, NONE, Purpose, ServerSide};
use super::measurement::{Failure, Outcome};
use super::network::Segment;
use super::proxy::{ProxyAction, UpstreamTimes};
use super::proxy_config::Upstream;
use crate::engine::{Engine, SimDuration};

impl HttpPool {
    /// The request of a client's connection has arrived at the proxy.
    pub(super) fn proxy_request_readable<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        front: u32,
    ) {
        let open = &self.connections[front];
        let (ServerSide::Accepted(worker), index) = (open.server_side, open.exchange) else {
            return;
        };
        engine.disarm(self.proxy.exchanges[index as usize].timer);
        let id = self.proxy.id(index);
        self.proxy_act(engine, worker, ProxyAction::Forward(id));
    }

    /// Passes a request on: over a kept connection, or over a new one.
    pub(super) fn forward<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, index: u32) {
        let now = engine.now();
        let exchange = &mut self.proxy.exchanges[index as usize];
        exchange.asked = now;
        exchange.times = UpstreamTimes::default();
        let (worker, front) = (exchange.worker, exchange.front);
        let Connection { client, serial, request, asked, .. } = self.connections[front];
        let limit = self.proxy.settings.max_conns;
        if limit > 0 && self.proxy.under_way >= limit {
            self.fail(engine, index, Failure::BadGateway);
            return;
        }
        if let Some(kept) = self.proxy.workers[usize::from(worker)].idle.pop() {
            self.tally.upstream_reused += 1;
            self.proxy.under_way += 1;
            self.proxy.exchanges[index as usize].upstream = kept;
            let open = &mut self.connections[kept];
            (open.client, open.serial, open.exchange) = (client, serial, index);
            open.request = request;
            (open.started, open.queued, open.accepted) = (now, now, now);
            if let Some(timer) = open.network_timer {
                engine.disarm(timer);
            }
            self.carry(kept, asked);
            self.ask(engine, kept);
            return;
        }
        if !self.spare_connection(engine, worker) {
            self.fail(engine, index, Failure::HttpError);
            return;
        }
        let upstream = self.connections.open(client, serial, Purpose::Request, now);
        let open = &mut self.connections[upstream];
        (open.hop, open.exchange, open.request) = (Hop::Upstream, index, request);
        self.carry(upstream, asked);
        self.tally.upstream_opened += 1;
        self.proxy.under_way += 1;
        self.proxy.workers[usize::from(worker)].connections += 1;
        self.proxy.exchanges[index as usize].upstream = upstream;
        self.connect_upstream(engine, index, upstream);
    }

    fn connect_upstream<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        index: u32,
        upstream: u32,
    ) {
        if self.proxy.settings.upstream == Upstream::Tcp {
            let timer = self.proxy.exchanges[index as usize].timer;
            engine.arm(timer, self.proxy.settings.connect_timeout, Event::Exchange(index));
            self.connect(engine, upstream);
        } else if self.is_listening(engine.now()) && self.handshake_complete(engine, upstream) {
            self.connections[upstream].client_side = ClientSide::Established;
            self.ask(engine, upstream);
        } else {
            self.upstream_failed(engine, upstream, Failure::BadGateway);
        }
    }

    /// Sends the request over a connection that stands.
    pub(super) fn ask<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, upstream: u32) {
        let open = &mut self.connections[upstream];
        open.requests += 1;
        let index = open.exchange;
        let timer = self.proxy.exchanges[index as usize].timer;
        engine.arm(timer, self.proxy.settings.read_timeout, Event::Exchange(index));
        self.send_request(engine, upstream);
    }

    /// The server's answer is at the proxy.
    pub(super) fn upstream_answered<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        upstream: u32,
        outcome: Outcome,
    ) {
        let open = &self.connections[upstream];
        let index = open.exchange;
        let kept = matches!(open.server_side, ServerSide::Accepted(_))
            && open.requests < self.proxy.settings.keepalive_requests;
        let exchange = &mut self.proxy.exchanges[index as usize];
        exchange.answered = engine.now();
        exchange.times = UpstreamTimes {
            retransmission: open.queued.since(open.started),
            accept_queue: open.accepted.since(open.queued),
            thread_wait: open.taken_up.since(open.accepted),
            parts: open.parts,
        };
        let worker = exchange.worker;
        if kept {
            self.keep(engine, worker, index, upstream);
        } else {
            self.let_go(engine, index);
        }
        let id = self.proxy.id(index);
        self.proxy_act(engine, worker, ProxyAction::Return(id, outcome));
    }

    /// Keeps the connection to the server for another request, the oldest of too many gives way.
    fn keep<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        worker: u16,
        index: u32,
        upstream: u32,
    ) {
        self.proxy.under_way -= 1;
        let exchange = &mut self.proxy.exchanges[index as usize];
        exchange.upstream = NONE;
        engine.disarm(exchange.timer);
        self.connections[upstream].exchange = NONE;
        let limit = self.proxy.settings.keepalive_timeout;
        self.arm_network_timer(engine, upstream, limit, Segment::KeptForTooLong);
        let of = &mut self.proxy.workers[usize::from(worker)];
        of.idle.push(upstream);
        if of.idle.len() > self.proxy.settings.keepalive as usize {
            let oldest = of.idle.remove(0);
            self.close_kept(engine, worker, oldest);
        }
    }

    /// The proxy closes the connection to the server on which a request was under way.
    fn let_go<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, index: u32) {
        let exchange = &mut self.proxy.exchanges[index as usize];
        let upstream = std::mem::replace(&mut exchange.upstream, NONE);
        engine.disarm(exchange.timer);
        if upstream == NONE {
            return;
        }
        self.proxy.workers[usize::from(exchange.worker)].connections -= 1;
        self.proxy.under_way -= 1;
        self.connections[upstream].exchange = NONE;
        self.leave(engine, upstream);
    }

    /// The connection to the server has come to nothing.
    pub(super) fn upstream_failed<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        upstream: u32,
        why: Failure,
    ) {
        match self.connections[upstream].exchange {
            NONE => self.drop_kept(engine, upstream),
            index => {
                self.let_go(engine, index);
                self.fail(engine, index, why);
            }
        }
    }

    fn fail<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, index: u32, why: Failure) {
        let exchange = &mut self.proxy.exchanges[index as usize];
        exchange.answered = engine.now();
        let (id, worker) = (self.proxy.id(index), self.proxy.exchanges[index as usize].worker);
        self.proxy_act(engine, worker, ProxyAction::Return(id, Err(why)));
    }

    /// The answer, the server's or the proxy's own, leaves for the client.
    pub(super) fn return_answer<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        index: u32,
        outcome: Outcome,
    ) {
        let front = self.proxy.exchanges[index as usize].front;
        if front == NONE {
            self.end_exchange(engine, index);
            return;
        }
        let exchange = &mut self.proxy.exchanges[index as usize];
        exchange.returned = engine.now();
        if outcome.is_ok() && self.config.clients.keep_alive {
            let limit = self.proxy.settings.client_keepalive_timeout;
            engine.arm(exchange.timer, limit, Event::Exchange(index));
        }
        self.connections[front].request_arrived = false;
        let delay = match outcome {
            Ok(()) if self.proxy.settings.buffering => self.config.clients.answer_transfer,
            _ => SimDuration::ZERO,
        };
        let delay = delay.saturating_add(self.one_way);
        self.arm_network_timer(engine, front, delay, Segment::Answer(outcome));
    }

    /// A limit is reached: on the client's request, on connecting, or on the server's answer.
    pub(super) fn exchange_timer<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        index: u32,
    ) {
        let exchange = self.proxy.exchanges[index as usize];
        if exchange.upstream != NONE {
            self.let_go(engine, index);
            self.fail(engine, index, Failure::GatewayTimeout);
            return;
        }
        // The client has sent nothing: its connection is closed.
        let front = exchange.front;
        self.proxy.exchanges[index as usize].front = NONE;
        self.end_exchange(engine, index);
        let open = &mut self.connections[front];
        open.server_side = ServerSide::Closed;
        open.exchange = NONE;
        let client = open.client;
        if client == NONE {
            self.forget(engine, front);
        } else if self.clients[client as usize].state == ClientState::Trying {
            self.transmit_later(engine, front, Segment::Reset);
        }
    }

    /// The client of a connection that a worker has accepted lets go of it: it has its answer, or
    /// has given up.
    pub(super) fn front_left<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, front: u32) {
        let index = self.connections[front].exchange;
        let upstream = self.proxy.exchanges[index as usize].upstream;
        self.proxy.exchanges[index as usize].front = NONE;
        self.connections[front].server_side = ServerSide::Closed;
        self.forget(engine, front);
        if upstream != NONE && self.proxy.settings.ignore_client_abort {
            // It goes on for nobody; the client's side is closed.
            self.connections[upstream].client = NONE;
            return;
        }
        self.tally.client_aborts += u64::from(upstream != NONE);
        self.let_go(engine, index);
        self.end_exchange(engine, index);
    }

    fn end_exchange<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, index: u32) {
        let exchange = &self.proxy.exchanges[index as usize];
        engine.disarm(exchange.timer);
        self.proxy.workers[usize::from(exchange.worker)].connections -= 1;
        self.proxy.end(index);
    }
}
