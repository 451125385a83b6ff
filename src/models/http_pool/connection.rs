//! Connections: one slab entry for each, from the first SYN until both sides are done with it.

use crate::engine::{SimTime, Timer};
use crate::resources::Attribution;

/// No client, no connection.
pub const NONE: u32 = u32::MAX;

/// How far the client has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientSide {
    /// The SYN is out, no answer yet.
    Connecting,
    /// The SYN was answered: for the client the connection stands.
    Established,
}

/// Where the server has the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerSide {
    /// Nowhere, or at most half open.
    Unknown,
    /// In the accept queue.
    Queued,
    /// With a process.
    Accepted(u16),
    /// Done.
    Closed,
}

/// Which listening socket the connection leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// From a client to the server.
    Server,
    /// From a client to the proxy in front of it.
    Proxy,
    /// From the proxy to the server.
    Upstream,
}

/// What the connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A request of the workload.
    Request,
    /// Nothing is ever sent.
    Silent,
    /// A long request beside the workload, by its index.
    Background(u32),
}

/// One connection.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    /// The client, or [`NONE`] once it has left.
    pub client: u32,
    pub hop: Hop,
    /// What the proxy does about it; [`NONE`] without one, and for a kept connection to the server.
    pub exchange: u32,
    /// The attempt that it is for, by which its service is drawn.
    pub request: u64,
    /// Requests that the proxy has sent on it.
    pub requests: u64,
    /// Which of the client's requests this is.
    pub serial: u64,
    /// What the server is asked to do, in [`super::asked::AskedRequests`]; known when the client
    /// has left, too.
    pub asked: u32,
    pub purpose: Purpose,
    pub client_side: ClientSide,
    pub server_side: ServerSide,
    /// Remembered by the server as half open (not by a cookie).
    pub half_open: bool,
    /// The client has sent its request at least once.
    pub request_sent: bool,
    /// The request is in the server's socket.
    pub request_arrived: bool,
    /// The client has closed its end.
    pub client_closed: bool,
    /// gthread: its accepting thread watches it for a request, and until when it is kept.
    pub watched: bool,
    pub kept_until: SimTime,
    /// gthread: it is not kept after the answer.
    pub closes: bool,
    /// Retransmissions of the SYN, of the request, of the SYN-ACK.
    pub syns: u32,
    pub copies: u32,
    pub synacks: u32,
    pub started: SimTime,
    /// When it stood for the client.
    pub established: SimTime,
    pub queued: SimTime,
    pub accepted: SimTime,
    /// When a thread took the request up.
    pub taken_up: SimTime,
    /// Where the time of its execution went.
    pub parts: Attribution,
    /// For a server's wait for a peer that sends nothing.
    pub server_timer: Option<Timer>,
    /// For segments under way.
    pub network_timer: Option<Timer>,
}

impl Connection {
    fn new(client: u32, serial: u64, purpose: Purpose, now: SimTime) -> Self {
        Self {
            client,
            hop: Hop::Server,
            exchange: NONE,
            request: 0,
            requests: 0,
            serial,
            asked: NONE,
            purpose,
            client_side: ClientSide::Connecting,
            server_side: ServerSide::Unknown,
            half_open: false,
            request_sent: false,
            request_arrived: false,
            client_closed: false,
            watched: false,
            kept_until: now,
            closes: false,
            syns: 0,
            copies: 0,
            synacks: 0,
            started: now,
            established: now,
            queued: now,
            accepted: now,
            taken_up: now,
            parts: Attribution::default(),
            server_timer: None,
            network_timer: None,
        }
    }
}

impl Connection {
    /// Whether somebody waits for an answer on it, or may ask again.
    pub fn is_wanted(&self) -> bool {
        self.client != NONE || self.exchange != NONE
    }

    /// Whether it was for a request, and whoever asked has left.
    pub fn is_abandoned(&self) -> bool {
        !self.is_wanted() && self.purpose == Purpose::Request
    }
}

/// All connections of a run. Entries are reused, so memory follows the most that ever coexisted.
#[derive(Clone, Debug, Default)]
pub struct Connections {
    entries: Vec<Connection>,
    free: Vec<u32>,
}

impl Connections {
    /// None; keeps the memory.
    pub fn reset(&mut self) {
        self.entries.clear();
        self.free.clear();
    }

    /// A new connection.
    pub fn open(&mut self, client: u32, serial: u64, purpose: Purpose, now: SimTime) -> u32 {
        let mut connection = Connection::new(client, serial, purpose, now);
        match self.free.pop() {
            Some(index) => {
                let old = &mut self.entries[index as usize];
                connection.server_timer = old.server_timer;
                connection.network_timer = old.network_timer;
                *old = connection;
                index
            }
            None => {
                self.entries.push(connection);
                self.entries.len() as u32 - 1
            }
        }
    }

    /// The numbers of all entries, in use or not.
    pub fn numbers(&self) -> std::ops::Range<u32> {
        0..self.entries.len() as u32
    }

    /// Gives the entry back.
    pub fn close(&mut self, index: u32) {
        self.free.push(index);
    }
}

impl std::ops::Index<u32> for Connections {
    type Output = Connection;

    fn index(&self, index: u32) -> &Connection {
        &self.entries[index as usize]
    }
}

impl std::ops::IndexMut<u32> for Connections {
    fn index_mut(&mut self, index: u32) -> &mut Connection {
        &mut self.entries[index as usize]
    }
}
