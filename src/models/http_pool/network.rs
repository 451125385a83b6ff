//! Segments between clients and the listening socket, and their retransmission.

use super::clients::ClientAction;
use super::component::{Event, HttpPool};
use super::config::{NetworkConfig, TimeoutMode};
use super::connection::{ClientSide, Hop, NONE, Purpose, ServerSide};
use super::listen_queue::{ListenQueue, SynOutcome};
use super::measurement::{Failure, Outcome};
use crate::engine::{Engine, PriorityClass, SimDuration, SimTime};

/// The kernel gives up data of an orphaned socket after so many retransmissions
/// (`tcp_orphan_retries` in `net/ipv4/tcp_timer.c`).
const ORPHAN_RETRIES: u32 = 8;
/// `net.ipv4.tcp_retries2`.
const DATA_RETRIES: u32 = 15;
/// What the kernel measures as round trip over loopback.
const LOOPBACK_RTT: SimDuration = SimDuration::from_micros(100);

/// A segment under way on a link with a round trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    Syn,
    SynAck,
    Request,
    Answer(Outcome),
    /// The server's side is closed, and says so.
    Reset,
    /// Nobody listens.
    Refused,
    /// No segment: a connection that the proxy keeps has been idle for too long.
    KeptForTooLong,
}

/// A connection's timer on the wheel: of the client's retransmissions, or of the SYN-ACK's.
fn client_entry(connection: u32) -> u32 {
    connection * 2
}

fn server_entry(connection: u32) -> u32 {
    connection * 2 + 1
}

impl HttpPool {
    /// The client's `connect()`.
    pub(super) fn connect<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
    ) {
        self.transmit(engine, connection, Segment::Syn);
    }

    fn transmit<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
        segment: Segment,
    ) {
        if self.one_way.is_zero() || self.is_upstream(connection) {
            self.segment_arrived(engine, connection, segment);
        } else {
            self.arm_network_timer(engine, connection, self.one_way, segment);
        }
    }

    /// The same, but never within the call: what is refused or failed at once may be tried again
    /// at once.
    pub(super) fn transmit_later<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
        segment: Segment,
    ) {
        let delay = if self.is_upstream(connection) { SimDuration::ZERO } else { self.one_way };
        self.arm_network_timer(engine, connection, delay, segment);
    }

    pub(super) fn arm_network_timer<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
        delay: SimDuration,
        segment: Segment,
    ) {
        let open = &mut self.connections[connection];
        let timer = *open.network_timer.get_or_insert_with(|| engine.add_timer());
        engine.arm(timer, delay, Event::Segment(connection, segment));
    }

    pub(super) fn segment_arrived<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
        segment: Segment,
    ) {
        match segment {
            Segment::Syn => {
                if self.syn_arrived(engine, connection) {
                    self.transmit(engine, connection, Segment::SynAck);
                }
            }
            Segment::SynAck => self.established(engine, connection),
            Segment::Request => self.request_arrived(engine, connection),
            Segment::Answer(outcome) => self.answer_arrived(engine, connection, outcome),
            Segment::Reset => self.broken(engine, connection, Failure::Reset),
            Segment::Refused => self.broken(engine, connection, Failure::Refused),
            Segment::KeptForTooLong => self.drop_kept(engine, connection),
        }
    }

    /// The connection has come to nothing, and whoever opened it gets to know.
    pub(super) fn broken<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
        why: Failure,
    ) {
        let open = &self.connections[connection];
        if open.hop == Hop::Upstream {
            let timed_out = matches!(why, Failure::ConnectTimeout | Failure::ReadTimeout);
            let why = if timed_out { Failure::GatewayTimeout } else { Failure::BadGateway };
            self.upstream_failed(engine, connection, why);
        } else if open.client != NONE {
            self.attempt_over(engine, open.client, Err(why));
        } else {
            self.forget(engine, connection);
        }
    }

    /// Whether the server has begun to listen; a proxy always does.
    pub(super) fn is_listening(&self, now: SimTime) -> bool {
        now.since(SimTime::ZERO) >= self.server.listens_from
    }

    fn queue_of(&mut self, connection: u32) -> &mut ListenQueue {
        match self.connections[connection].hop {
            Hop::Proxy => &mut self.proxy.queue,
            Hop::Server | Hop::Upstream => &mut self.queue,
        }
    }

    /// True when the server answers. Otherwise the client's clock runs.
    fn syn_arrived<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
    ) -> bool {
        let proxied = self.connections[connection].hop == Hop::Proxy;
        if !proxied && !self.is_listening(engine.now()) {
            self.transmit_later(engine, connection, Segment::Refused);
            return false;
        }
        match self.queue_of(connection).syn() {
            SynOutcome::Dropped => {
                self.note_segment(engine, connection, "SYN dropped");
                let delay = self.syn_timeout(self.connections[connection].syns);
                self.arm_wheel(engine, client_entry(connection), delay);
                false
            }
            SynOutcome::HalfOpen => {
                self.connections[connection].half_open = true;
                true
            }
            SynOutcome::Cookie => true,
        }
    }

    /// From the n-th SYN (n from 0) to the next: `tcp_retransmit_timer` doubles the interval after
    /// `tcp_syn_linear_timeouts` retransmissions.
    fn syn_timeout(&self, retransmissions: u32) -> SimDuration {
        let doublings = retransmissions.saturating_sub(self.config.network.syn_linear_timeouts);
        self.config.network.initial_rto.saturating_mul(1 << doublings.min(30))
    }

    /// From the n-th copy of the request (0 for the first transmission) to the next: the tail-loss
    /// probe comes after one timeout, the first retransmission one timeout later, and then the
    /// interval doubles (`tcp_schedule_loss_probe`, `tcp_rearm_rto`, `tcp_retransmit_timer`).
    fn data_timeout(&self, upstream: bool, copies: u32) -> SimDuration {
        let (probe, rto) = if upstream { self.upstream_clock } else { self.client_clock };
        match copies {
            0 => probe.min(rto),
            _ => rto.saturating_mul(1 << (copies - 1).min(30)),
        }
    }

    /// For the client the connection stands; its last ACK reaches the server, and it sends.
    fn established<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, connection: u32) {
        self.client_established(engine, connection);
        self.handshake_complete(engine, connection);
        self.begin_sending(engine, connection);
    }

    fn client_established<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
    ) {
        let open = &mut self.connections[connection];
        open.client_side = ClientSide::Established;
        open.established = engine.now();
        let client = open.client;
        let theirs = client != NONE && open.hop != Hop::Upstream;
        if self.config.clients.timeout_mode == TimeoutMode::Phase && theirs {
            let timer = self.clients[client as usize].timer;
            match self.config.clients.limit_on_reading() {
                Some(limit) => engine.arm(timer, limit, Event::Client(client)),
                None => {
                    engine.disarm(timer);
                }
            }
        }
    }

    fn begin_sending<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, connection: u32) {
        let open = &self.connections[connection];
        match open.purpose {
            Purpose::Silent => {}
            Purpose::Background(_) => self.send_request(engine, connection),
            Purpose::Request if open.hop == Hop::Upstream => self.ask(engine, connection),
            Purpose::Request => {
                let (client, serial) = (open.client, open.serial);
                if client != NONE {
                    self.act(engine, ClientAction::Send { connection, client, serial });
                }
            }
        }
    }

    /// The handshake's last ACK is at the server: true when the connection is in the queue.
    pub(super) fn handshake_complete<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
    ) -> bool {
        let half_open = self.connections[connection].half_open;
        if !self.queue_of(connection).complete(connection, half_open) {
            self.note_segment(engine, connection, "ACK dropped: accept queue full");
            let synacks = self.connections[connection].synacks;
            if half_open && synacks == 0 && !self.wheel.is_armed(server_entry(connection)) {
                let delay = self.config.network.initial_rto;
                self.arm_wheel(engine, server_entry(connection), delay);
            }
            return false;
        }
        self.disarm_wheel(engine, server_entry(connection));
        let open = &mut self.connections[connection];
        open.half_open = false;
        open.server_side = ServerSide::Queued;
        open.queued = engine.now();
        self.tally.retransmitted += u64::from(open.syns + open.copies > 0);
        if open.hop == Hop::Proxy {
            self.proxy_connection_queued(engine);
        } else {
            self.tally.queue_is(engine.now(), self.queue.len());
            self.connection_queued(engine);
        }
        true
    }

    /// The client's first transmission of the request.
    pub(super) fn send_request<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
    ) {
        let open = &mut self.connections[connection];
        open.request_sent = true;
        // With buffering the proxy takes the time that a slow client takes, otherwise the server.
        let buffered = self.proxy.settings.buffering;
        let transfer = match open.hop {
            Hop::Server => self.config.clients.request_transfer,
            Hop::Proxy if buffered => self.config.clients.request_transfer,
            Hop::Upstream if !buffered => self.config.clients.request_transfer,
            Hop::Proxy | Hop::Upstream => SimDuration::ZERO,
        };
        if transfer.is_zero() {
            self.transmit(engine, connection, Segment::Request);
        } else {
            let delay = transfer.saturating_add(self.one_way);
            self.arm_network_timer(engine, connection, delay, Segment::Request);
        }
    }

    fn request_arrived<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, connection: u32) {
        let server_side = self.connections[connection].server_side;
        if server_side == ServerSide::Closed {
            self.transmit_later(engine, connection, Segment::Reset);
            return;
        }
        if server_side == ServerSide::Unknown && !self.handshake_complete(engine, connection) {
            let open = &self.connections[connection];
            let delay = self.data_timeout(open.hop == Hop::Upstream, open.copies);
            self.arm_wheel(engine, client_entry(connection), delay);
            return;
        }
        self.disarm_wheel(engine, client_entry(connection));
        self.connections[connection].request_arrived = true;
        if self.connections[connection].hop == Hop::Proxy {
            self.proxy_request_readable(engine, connection);
        } else {
            self.request_readable(engine, connection);
        }
    }

    /// The server's answer leaves for the client, if there still is one.
    pub(super) fn answer<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
        outcome: Outcome,
    ) {
        self.transmit(engine, connection, Segment::Answer(outcome));
    }

    fn answer_arrived<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
        outcome: Outcome,
    ) {
        let open = &self.connections[connection];
        if open.hop == Hop::Upstream {
            self.upstream_answered(engine, connection, outcome);
            return;
        }
        let (client, serial) = (open.client, open.serial);
        if client == NONE {
            if open.server_side == ServerSide::Closed {
                self.forget(engine, connection);
            }
            return;
        }
        engine.disarm(self.clients[client as usize].timer);
        self.act(engine, ClientAction::Receive { client, serial, outcome });
    }

    /// The client lets go of the connection: it has its answer, or has given up.
    pub(super) fn leave<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, connection: u32) {
        let open = &mut self.connections[connection];
        open.client = NONE;
        open.client_closed = true;
        match (open.server_side, open.client_side) {
            (ServerSide::Accepted(_), _) if open.hop == Hop::Proxy => {
                self.front_left(engine, connection);
            }
            (ServerSide::Closed, _) => self.forget(engine, connection),
            // A connect given up costs the server nothing.
            (ServerSide::Unknown, ClientSide::Connecting) => {
                self.orphan_ends(engine, connection);
            }
            // An orphan goes on retransmitting what it has sent; without data it is closed, and
            // what the server has of it is half open until its own clock has run out.
            (ServerSide::Unknown, ClientSide::Established) => {
                if !open.request_sent {
                    self.orphan_ends(engine, connection);
                }
            }
            (ServerSide::Queued, _) => {}
            (ServerSide::Accepted(process), _) => {
                if !open.request_arrived {
                    self.peer_closed(engine, process, connection);
                }
            }
        }
    }

    fn orphan_ends<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, connection: u32) {
        if std::mem::take(&mut self.connections[connection].half_open) {
            self.queue_of(connection).forget_half_open();
        }
        self.forget(engine, connection);
    }

    /// Both sides are done with the connection.
    pub(super) fn forget<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
    ) {
        self.disarm_wheel(engine, client_entry(connection));
        self.disarm_wheel(engine, server_entry(connection));
        let open = &self.connections[connection];
        for timer in [open.network_timer, open.server_timer].into_iter().flatten() {
            engine.disarm(timer);
        }
        self.carry(connection, NONE);
        self.connections.close(connection);
    }

    fn arm_wheel<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        entry: u32,
        delay: SimDuration,
    ) {
        self.wheel.arm(entry, engine.now(), delay);
        self.follow_wheel(engine);
    }

    fn disarm_wheel<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, entry: u32) {
        if self.wheel.disarm(entry) {
            self.follow_wheel(engine);
        }
    }

    fn follow_wheel<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let Some(timer) = self.wheel_timer else { return };
        match self.wheel.next() {
            Some(time) if engine.deadline(timer) == Some(time) => {}
            Some(time) => engine.arm_at(timer, time, PriorityClass::NORMAL, Event::Wheel),
            None => {
                engine.disarm(timer);
            }
        }
    }

    /// A bucket of retransmissions fires. All its segments reach the server before any of the
    /// handshakes that they lead to is complete: first every SYN and request, then the ACKs, and
    /// the requests of those that have just connected after that.
    pub(super) fn wheel_fired<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let mut due = std::mem::take(&mut self.due);
        let mut connected = std::mem::take(&mut self.connected);
        self.wheel.take_due(engine.now(), &mut due);
        for &entry in &due {
            let connection = entry / 2;
            if entry == server_entry(connection) {
                self.retransmit_synack(engine, connection);
            } else if self.connections[connection].client_side == ClientSide::Connecting {
                self.retransmit_syn(engine, connection, &mut connected);
            } else {
                self.retransmit_request(engine, connection);
            }
        }
        for &connection in &connected {
            self.client_established(engine, connection);
            self.handshake_complete(engine, connection);
        }
        for &connection in &connected {
            self.begin_sending(engine, connection);
        }
        due.clear();
        connected.clear();
        (self.due, self.connected) = (due, connected);
        self.follow_wheel(engine);
    }

    fn retransmit_syn<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
        connected: &mut Vec<u32>,
    ) {
        // `tcp_write_timeout` adds the linear ones to `tcp_syn_retries`.
        let network = &self.config.network;
        let most = network.syn_retries.saturating_add(network.syn_linear_timeouts);
        let open = &mut self.connections[connection];
        if open.syns >= most {
            self.broken(engine, connection, Failure::ConnectTimeout);
            return;
        }
        open.syns += 1;
        self.tally.syn_retransmissions += 1;
        self.note_segment(engine, connection, "SYN again");
        if !self.one_way.is_zero() && !self.is_upstream(connection) {
            self.transmit(engine, connection, Segment::Syn);
        } else if self.syn_arrived(engine, connection) {
            connected.push(connection);
        }
    }

    fn retransmit_request<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
    ) {
        let open = &mut self.connections[connection];
        if open.copies >= if open.is_abandoned() { ORPHAN_RETRIES } else { DATA_RETRIES } {
            if open.is_wanted() {
                self.broken(engine, connection, Failure::ReadTimeout);
            } else {
                self.orphan_ends(engine, connection);
            }
            return;
        }
        open.copies += 1;
        self.tally.data_retransmissions += 1;
        self.note_segment(engine, connection, "request sent again");
        self.transmit(engine, connection, Segment::Request);
    }

    /// The server's SYN-ACK again: the client's answer to it is one more chance for the queue.
    fn retransmit_synack<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
    ) {
        let open = &mut self.connections[connection];
        if open.synacks >= self.config.network.synack_retries {
            open.half_open = false;
            self.queue_of(connection).forget_half_open();
            return;
        }
        open.synacks += 1;
        let next = self.config.network.initial_rto.saturating_mul(1 << open.synacks.min(30));
        self.tally.synack_retransmissions += 1;
        self.note_segment(engine, connection, "SYN-ACK again");
        if !self.handshake_complete(engine, connection) {
            self.arm_wheel(engine, server_entry(connection), next);
        }
    }
}

/// When data on a new connection is first sent again, and its retransmission timeout from then on
/// (`tcp_schedule_loss_probe`, `tcp_init_metrics`).
pub(super) fn data_clock(
    network: &NetworkConfig,
    round_trip: SimDuration,
) -> (SimDuration, SimDuration) {
    let rtt = LOOPBACK_RTT.max(round_trip);
    let probe = network.min_rto.saturating_add(rtt.saturating_mul(2));
    let cached = network.cached_rtt;
    let timeout = if cached.is_zero() {
        network.min_rto.max(rtt.saturating_mul(2)).saturating_add(rtt)
    } else {
        cached.saturating_add(network.min_rto.max(cached.saturating_mul(2)))
    };
    (probe, timeout)
}
