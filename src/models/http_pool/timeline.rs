//! What the timeline of a traced run shows: a lane for each worker and each client, the queue, and
//! what is lost.
//!
//! A run that is not traced pays one test per event.

use super::component::HttpPool;
use super::connection::{ClientSide, Hop, NONE, Purpose, ServerSide};
use super::measurement::Failure;
use crate::engine::trace::{Chain, Lane, Link, Span, Trace};
use crate::engine::{Engine, SimDuration, SimTime};

const LEVELS: [&str; 4] =
    ["accept queue", "requests being served", "clients waiting", "processor share (%)"];

/// What an attempt is doing while a worker executes it.
pub(super) const BEING_SERVED: &str = "being served";
/// What a client does between its attempts, for whatever reason the last one failed.
const PAUSES: &str = "pauses";

/// The state after the last event.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    levels: [f64; LEVELS.len()],
    /// Lanes of clients that have a name.
    named: u32,
    /// Where the time of the last execution of a client's request went.
    parts: Vec<(&'static str, SimDuration)>,
}

impl HttpPool {
    /// Begins the timeline, if the run is traced.
    pub(super) fn start_timeline<G: Copy>(&mut self, engine: &mut Engine<G>) {
        let component = engine.owner();
        self.timeline.named = 0;
        self.timeline.levels = [-1.0; LEVELS.len()];
        if let Some(trace) = engine.trace() {
            trace.alone.push((component, PAUSES));
            for worker in 0..self.processes.len() as u32 {
                trace.name_server(Lane { component, lane: worker }, &format!("worker {worker}"));
            }
        }
        self.record_levels(engine);
    }

    /// Records what the event just handled has changed.
    #[inline]
    pub(super) fn record_levels<G: Copy>(&mut self, engine: &mut Engine<G>) {
        if engine.is_traced() {
            self.note_levels(engine);
        }
    }

    #[inline(never)]
    fn note_levels<G: Copy>(&mut self, engine: &mut Engine<G>) {
        let (now, component) = (engine.now(), engine.owner());
        let Some(trace) = engine.trace() else { return };
        let values = [
            self.queue.len() as f64,
            self.tally.being_served() as f64,
            self.active_clients as f64,
            self.host.cpu().busy_percent(),
        ];
        trace.levels(component, now, LEVELS, values, &mut self.timeline.levels);
        for client in self.timeline.named..self.clients.len() as u32 {
            trace.name_lane(self.client_lane(component, client), &format!("client {client}"));
        }
        self.timeline.named = self.clients.len() as u32;
    }

    pub(super) fn client_lane(&self, component: u16, client: u32) -> Lane {
        Lane { component, lane: self.processes.len() as u32 + client }
    }

    /// Something happened to a segment of a connection.
    pub(super) fn note_segment<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
        what: &'static str,
    ) {
        let (now, component) = (engine.now(), engine.owner());
        let client = self.connections[connection].client;
        if let (Some(trace), true) = (engine.trace(), client != NONE) {
            trace.instant(self.client_lane(component, client), what, now);
        }
    }

    /// What an attempt on `connection` has waited for until `now`, one after the other.
    pub(super) fn phases(
        &self,
        connection: u32,
        now: SimTime,
    ) -> [(&'static str, (SimTime, SimTime)); 5] {
        let open = &self.connections[connection];
        let at_server = open.server_side != ServerSide::Unknown;
        let accepted = at_server && open.server_side != ServerSide::Queued;
        let proxied = open.hop == Hop::Proxy;
        let taken_up = accepted && !proxied && open.taken_up >= open.accepted && open.request_sent;
        let connected = open.client_side == ClientSide::Established;
        // On a kept connection that was before the attempt.
        let established = open.established.max(open.started);
        let ends = [
            (connected, established),
            (at_server, open.queued),
            (accepted, open.accepted),
            (taken_up, open.taken_up),
            (false, now),
        ];
        let third = if proxied { "with the proxy" } else { "waits for a worker" };
        // The handshake's last ACK was dropped: the client is connected, the server knows nothing.
        let dropped = "connected, but not in the accept queue";
        let names = ["connecting", dropped, "accept queue", third, BEING_SERVED];
        let mut start = open.started;
        let mut phases = [("", (start, start)); 5];
        for ((phase, name), (reached, end)) in phases.iter_mut().zip(names).zip(ends) {
            let end = if reached { end } else { now };
            *phase = (name, (start, end));
            start = end;
        }
        phases
    }

    /// An attempt has ended: what it waited for.
    pub(super) fn note_attempt<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        client: u32,
        connection: u32,
        outcome: Result<(), Failure>,
    ) {
        let (now, component) = (engine.now(), engine.owner());
        let Some(trace) = engine.trace() else { return };
        let lane = self.client_lane(component, client);
        for (name, ends) in self.phases(connection, now) {
            trace.span(lane, name, ends, 0);
        }
        let open = &self.connections[connection];
        let proxied = open.hop == Hop::Proxy;
        let what = match outcome {
            Ok(()) => "answered",
            Err(Failure::ConnectTimeout) => "connect timeout",
            Err(Failure::ReadTimeout) => "read timeout",
            Err(Failure::HttpError) => "HTTP error",
            Err(Failure::Reset) => "reset",
            Err(Failure::Refused) => "refused",
            Err(Failure::BadGateway) => "bad gateway",
            Err(Failure::GatewayTimeout) => "gateway timeout",
        };
        trace.instant(lane, what, now);
        self.timeline.parts.clear();
        if outcome.is_ok() {
            let mut of_server = open.parts.named();
            if let (true, Some(exchange)) = (proxied, self.proxy.exchange(open.exchange)) {
                let times = &exchange.times;
                self.timeline.parts.extend([
                    ("connecting to the server", times.retransmission),
                    ("in the server's accept queue", times.accept_queue),
                    ("waiting for a worker", times.thread_wait),
                ]);
                of_server = times.parts.named();
            }
            self.timeline.parts.extend(of_server);
        }
    }

    /// A client pauses before its next attempt.
    pub(super) fn note_pause<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        client: u32,
        pause: SimDuration,
    ) {
        let (now, component) = (engine.now(), engine.owner());
        if let Some(trace) = engine.trace() {
            let ends = (now, now.saturating_add(pause));
            trace.span(self.client_lane(component, client), PAUSES, ends, 0);
        }
    }

    /// A request has its outcome.
    pub(super) fn note_request<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        client: u32,
        outcome: &'static str,
    ) {
        let (end, component) = (engine.now(), engine.owner());
        let lane = self.client_lane(component, client);
        let of = &self.clients[client as usize];
        let (number, start) = (of.serial, of.first_attempt);
        if let Some(trace) = engine.trace() {
            let parts = std::mem::take(&mut self.timeline.parts);
            let (name, server, open) = ("request", None, false);
            trace.chains.push(Chain {
                lane,
                name,
                number,
                start,
                end,
                outcome,
                open,
                server,
                parts,
            });
        }
    }

    /// A worker has executed a request, or was killed while it did.
    pub(super) fn note_served<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        connection: u32,
    ) {
        let (now, component) = (engine.now(), engine.owner());
        let Some(trace) = engine.trace() else { return };
        let span = self.execution(component, process, connection, now);
        trace.span(span.lane, span.name, (span.start, span.end), span.value);
        trace.links.extend(self.served_by(span.lane, connection));
    }

    /// What a worker has executed of a request until `now`.
    pub(super) fn execution(
        &self,
        component: u16,
        process: u16,
        connection: u32,
        now: SimTime,
    ) -> Span {
        let open = &self.connections[connection];
        let lane = Lane { component, lane: u32::from(process) };
        let name = match (open.purpose, open.client) {
            (Purpose::Request, NONE) => "request for nobody",
            (Purpose::Request, _) => "request",
            _ => "request beside the workload",
        };
        let (start, value) = (open.taken_up, open.serial as i64);
        Span { lane, name, start, end: now, value, open: false }
    }

    /// From whoever asked to the worker, if somebody still waits.
    pub(super) fn served_by(&self, worker: Lane, connection: u32) -> Option<Link> {
        let open = &self.connections[connection];
        (open.client != NONE).then(|| {
            let from = (self.client_lane(worker.component, open.client), open.taken_up);
            Link { name: "served by", from, to: (worker, open.taken_up) }
        })
    }

    /// A worker process ends, or its successor is up.
    pub(super) fn note_worker<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        ended: Option<SimTime>,
    ) {
        let (now, component) = (engine.now(), engine.owner());
        let lane = Lane { component, lane: u32::from(process) };
        let Some(trace): Option<&mut Trace> = engine.trace() else { return };
        match ended {
            None => trace.instant(lane, "ends", now),
            Some(since) => trace.span(lane, "boots", (since, now), 0),
        }
    }
}
