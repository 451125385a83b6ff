//! One attempt after another: how it begins, how it ends, and what the client does then.

use super::clients::{Client, ClientAction, ClientState};
use super::component::{Event, HttpPool};
use super::config::{Arrival, TimeoutMode};
use super::connection::{ClientSide, Hop, NONE, Purpose, ServerSide};
use super::draws::{self, attempt_key};
use super::measurement::{Failure, Outcome};
use super::proxy::UpstreamTimes;
use crate::engine::{Engine, SimDuration, SimTime};

impl HttpPool {
    pub(super) fn begin_attempt<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        index: u32,
    ) {
        let now = engine.now();
        self.tally.attempts += 1;
        let Client { user, number, serial, retries, timer, asked, connection: kept, .. } =
            self.clients[index as usize];
        let request = attempt_key(user, number, retries);
        let started = SimTime::from_nanos(
            now.as_nanos() - self.config.clients.connect_cpu.as_nanos().min(now.as_nanos()),
        );
        if kept != NONE && self.connections[kept].server_side != ServerSide::Closed {
            self.connections[kept].request = request;
            self.carry(kept, asked);
            self.reuse_connection(engine, index, kept, started);
            return;
        }
        if kept != NONE {
            // Closed by the server meanwhile, which a client sees before it sends.
            self.leave(engine, kept);
        }
        let connection = self.connections.open(index, serial, Purpose::Request, started);
        self.connections[connection].request = request;
        self.carry(connection, asked);
        if self.proxied {
            self.connections[connection].hop = Hop::Proxy;
        }
        self.clients[index as usize].connection = connection;
        if let Some(limit) = self.config.clients.limit_on_connecting() {
            engine.arm(timer, limit, Event::Client(index));
        }
        self.connect(engine, connection);
    }

    /// The connection carries the request from now on, whatever it carried before.
    pub(super) fn carry(&mut self, connection: u32, asked: u32) {
        self.asked.hold(asked);
        let before = std::mem::replace(&mut self.connections[connection].asked, asked);
        self.asked.release(before);
    }

    fn reuse_connection<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        index: u32,
        kept: u32,
        started: SimTime,
    ) {
        let Client { serial, timer, .. } = self.clients[index as usize];
        let connection = &mut self.connections[kept];
        connection.serial = serial;
        connection.started = started;
        connection.queued = started;
        connection.accepted = started;
        if let Some(limit) = self.config.clients.limit_on_reading() {
            engine.arm(timer, limit, Event::Client(index));
        }
        self.act(engine, ClientAction::Send { connection: kept, client: index, serial });
    }

    /// A client's timer: a pause is over, or an attempt has taken too long.
    pub(super) fn client_timer<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        index: u32,
    ) {
        let client = self.clients[index as usize];
        match client.state {
            ClientState::Done => {}
            ClientState::Thinking => self.next_request(engine, index),
            ClientState::Pausing if self.may_issue(engine.now()) => {
                self.try_request(engine, index);
            }
            ClientState::Pausing => self.request_failed(engine, index),
            ClientState::Trying => {
                let connecting = client.connection != NONE
                    && self.connections[client.connection].client_side == ClientSide::Connecting;
                let why = if connecting { Failure::ConnectTimeout } else { Failure::ReadTimeout };
                self.attempt_over(engine, index, Err(why));
            }
        }
    }

    /// An attempt has ended in one way or another.
    pub(super) fn attempt_over<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        index: u32,
        outcome: Outcome,
    ) {
        let now = engine.now();
        self.active_clients -= 1;
        let Client { timer, connection, .. } = self.clients[index as usize];
        engine.disarm(timer);
        self.tally.outcome(now);
        let started = self.connections[connection].started;
        match outcome {
            Ok(()) => self.tally.attempt_ok(now.since(started)),
            Err(why) => self.tally.attempt_failed(why, now.since(started)),
        }
        self.note_attempt(engine, index, connection, outcome);
        let kept = outcome.is_ok() && self.keeps_alive(connection);
        if outcome.is_ok() {
            self.attribute(index, connection, now);
        }
        if !kept {
            self.clients[index as usize].connection = NONE;
            self.leave(engine, connection);
        }
        if outcome.is_ok() {
            self.note_request(engine, index, "answered");
            self.request_over(engine, index);
        } else {
            self.retry(engine, index);
        }
    }

    /// Adds where the time of an answered request went.
    fn attribute(&mut self, index: u32, connection: u32, now: SimTime) {
        let client = &self.clients[index as usize];
        let open = &self.connections[connection];
        let (upstream, in_proxy) = match open.hop {
            Hop::Proxy => {
                let exchange = &self.proxy.exchanges[open.exchange as usize];
                let whole = exchange.answered.since(exchange.asked);
                let sent = exchange.returned.since(open.accepted);
                (exchange.times, sent.saturating_sub(whole))
            }
            Hop::Server | Hop::Upstream => {
                let thread_wait = open.taken_up.since(open.accepted);
                let parts = open.parts;
                (UpstreamTimes { thread_wait, parts, ..Default::default() }, SimDuration::ZERO)
            }
        };
        let parts = &upstream.parts;
        let nanos = |spans: &[SimDuration]| spans.iter().map(|span| span.as_nanos()).sum::<u64>();
        let before = open.started.since(client.first_attempt);
        let time = &mut self.tally.time;
        time.total += now.since(client.first_attempt).as_nanos();
        time.retry_pause += client.paused.as_nanos();
        time.failed_attempts += before.saturating_sub(client.paused).as_nanos();
        time.retransmission += nanos(&[open.queued.since(open.started), upstream.retransmission]);
        time.accept_queue += nanos(&[open.accepted.since(open.queued), upstream.accept_queue]);
        time.proxy += in_proxy.as_nanos();
        let thread_wait = upstream.thread_wait;
        time.worker_wait += nanos(&[thread_wait, parts.interpreter_wait, parts.pool_wait]);
        time.lock += nanos(&[parts.lock_wait]);
        time.cpu += nanos(&[parts.cpu, parts.cpu_wait]);
        time.spawn += nanos(&[parts.spawn_cpu, parts.spawn_blocked]);
        time.wait += nanos(&[parts.wait]);
        time.fan_out += nanos(&[parts.join_wait]);
    }

    fn keeps_alive(&self, connection: u32) -> bool {
        self.config.clients.keep_alive
            && matches!(self.connections[connection].server_side, ServerSide::Accepted(_))
    }

    fn retry<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, index: u32) {
        let now = engine.now();
        let retry = &self.config.clients.retry;
        let client = &mut self.clients[index as usize];
        let pause = if retry.first_at_once && client.retries == 0 {
            SimDuration::ZERO
        } else {
            let pause = client.next_pause;
            let grown = SimDuration::from_seconds(pause.as_seconds() * retry.factor);
            client.next_pause = grown.min(retry.longest_pause);
            pause
        };
        let passed = now.since(client.first_attempt);
        let in_time = retry.within.is_none_or(|within| passed < within);
        if client.retries >= retry.attempts || !in_time {
            self.request_failed(engine, index);
            return;
        }
        client.retries += 1;
        client.paused = client.paused.saturating_add(pause);
        client.state = ClientState::Pausing;
        engine.arm(client.timer, pause, Event::Client(index));
        self.note_pause(engine, index, pause);
    }

    fn request_failed<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, index: u32) {
        self.note_request(engine, index, "given up");
        self.tally.requests_failed += 1;
        self.tally.outcome(engine.now());
        self.request_over(engine, index);
    }

    fn request_over<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, index: u32) {
        let client = &mut self.clients[index as usize];
        self.client_draws.turn_to(attempt_key(client.user, client.number, 0));
        let think = self.client_draws.sample(&mut self.think, draws::Purpose::Think);
        // Only who may have another request thinks about it.
        let comes_back = !client.single && self.config.clients.arrival == Arrival::Closed;
        if think.is_zero() || !comes_back {
            self.next_request(engine, index);
            return;
        }
        client.state = ClientState::Thinking;
        engine.arm(client.timer, think, Event::Client(index));
    }
}

impl super::config::ClientConfig {
    /// How many requests an open stream has: a trace no more than its times.
    pub(super) fn stream_length(&self) -> u64 {
        match self.arrival {
            Arrival::Trace => self.requests.min(self.arrival_times.len() as u64),
            _ => self.requests,
        }
    }

    /// The limit that runs from `connect()`.
    pub(super) fn limit_on_connecting(&self) -> Option<SimDuration> {
        match self.timeout_mode {
            TimeoutMode::Total => self.timeout,
            TimeoutMode::Phase => self.connect_timeout.or(self.timeout),
        }
    }

    /// The limit that runs from the established connection (or a request on a kept one).
    pub(super) fn limit_on_reading(&self) -> Option<SimDuration> {
        match self.timeout_mode {
            TimeoutMode::Total => self.timeout,
            TimeoutMode::Phase => self.read_timeout.or(self.timeout),
        }
    }
}
