//! Users and their attempts.

use std::collections::VecDeque;

use rand_distr::{Distribution as _, Exp1};

use super::component::{Event, HttpPool, Tag};
use super::config::{Arrival, RequestSplit};
use super::connection::{Hop, NONE, Purpose};
use super::draws::attempt_key;
use super::measurement::Outcome;
use crate::engine::{Engine, SimDuration, SimTime, Timer};
use crate::resources::Step;

/// What a client is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientState {
    /// Nothing left to do.
    Done,
    /// Thinks before its next request.
    Thinking,
    /// Pauses before it tries again.
    Pausing,
    /// Has an attempt under way.
    Trying,
}

/// One user, or the client of one request of an open stream.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    pub state: ClientState,
    pub timer: Timer,
    pub connection: u32,
    /// Who it is, whichever entry of the list it has, and which of its requests is at hand: what is
    /// drawn for a request depends on these.
    pub user: u64,
    pub number: u64,
    /// Requests still to begin.
    pub remaining: u64,
    /// The request at hand, counted from 1.
    pub serial: u64,
    /// The request at hand, in [`super::asked::AskedRequests`].
    pub asked: u32,
    /// Which port the request at hand is about.
    pub port: u64,
    pub retries: u32,
    pub next_pause: SimDuration,
    pub first_attempt: SimTime,
    pub paused: SimDuration,
    /// Belongs to a single request of an open stream.
    pub single: bool,
}

/// What the client program does next with its processor.
#[derive(Clone, Copy, Debug)]
pub enum ClientAction {
    Connect(u32),
    Send { connection: u32, client: u32, serial: u64 },
    Settle,
    Receive { client: u32, serial: u64, outcome: Outcome },
}

/// The client program: one thread that does one thing after another.
#[derive(Clone, Debug, Default)]
pub struct ClientThread {
    pub actions: VecDeque<ClientAction>,
    pub busy: bool,
}

impl HttpPool {
    /// The workload begins: silent peers, background requests, then users.
    pub(super) fn start_clients<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        for _ in 0..self.config.clients.silent_peers {
            self.connect_beside(engine, Purpose::Silent);
        }
        for index in 0..self.config.clients.background.len() {
            self.connect_beside(engine, Purpose::Background(index as u32));
        }
        let requests = self.config.clients.requests;
        match self.config.clients.arrival {
            Arrival::Closed => self.start_users(engine, self.config.clients.users, requests),
            Arrival::Burst => {
                self.start_users(engine, requests.min(u64::from(u32::MAX)) as u32, requests);
            }
            Arrival::Open | Arrival::Trace => {
                self.to_arrive = self.config.clients.stream_length();
                self.arm_arrival(engine);
            }
            Arrival::External => {}
        }
    }

    fn start_users<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        users: u32,
        requests: u64,
    ) {
        let count = u64::from(users.max(1));
        self.shared_requests = 0;
        let even = self.config.clients.request_split == RequestSplit::Even
            || self.config.clients.arrival == Arrival::Burst;
        if !even {
            self.shared_requests = requests;
        }
        for user in 0..count {
            let share = requests / count + u64::from(user < requests % count);
            let client = self.add_client(engine, if even { share } else { 0 }, false);
            (self.clients[client as usize].port, self.clients[client as usize].user) = (user, user);
        }
        for user in 0..count as u32 {
            self.next_request(engine, user);
        }
    }

    fn add_client<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        remaining: u64,
        single: bool,
    ) -> u32 {
        let index = self.free_clients.pop().unwrap_or(self.clients.len() as u32);
        let timer = match self.clients.get(index as usize) {
            Some(old) => old.timer,
            None => engine.add_timer(),
        };
        let client = Client {
            state: ClientState::Done,
            timer,
            connection: NONE,
            user: 0,
            number: 0,
            remaining,
            serial: 0,
            asked: NONE,
            port: 0,
            retries: 0,
            next_pause: SimDuration::ZERO,
            first_attempt: SimTime::ZERO,
            paused: SimDuration::ZERO,
            single,
        };
        if index as usize == self.clients.len() {
            self.clients.push(client);
        } else {
            self.clients[index as usize] = client;
        }
        index
    }

    fn arm_arrival<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let (Some(timer), true) = (self.arrival_timer, self.to_arrive > 0) else { return };
        let clients = &self.config.clients;
        let delay = if clients.arrival == Arrival::Trace {
            let index = (clients.stream_length() - self.to_arrive) as usize;
            let Some(time) = clients.arrival_times.get(index) else { return };
            time.saturating_sub(engine.now().since(SimTime::ZERO))
        } else {
            let gap: f64 = Exp1.sample(&mut self.arrivals);
            SimDuration::from_seconds(gap / clients.rate.as_per_second())
        };
        engine.arm(timer, delay, Event::Arrival);
    }

    /// The next request of an open stream is here.
    pub(super) fn arrival<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.to_arrive -= 1;
        self.arm_arrival(engine);
        let port = self.config.clients.stream_length() - self.to_arrive - 1;
        self.single_request(engine, port);
    }

    /// A request by a client of its own.
    pub(super) fn single_request<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        port: u64,
    ) {
        let client = self.add_client(engine, 1, true);
        self.singles += 1;
        let of = &mut self.clients[client as usize];
        (of.port, of.user) = (port, self.singles);
        self.next_request(engine, client);
    }

    pub(super) fn may_issue(&self, now: SimTime) -> bool {
        let limit = self.config.clients.stop_issuing_after;
        limit.is_none_or(|limit| now.since(SimTime::ZERO) < limit)
    }

    /// Goes on to the client's next request, if it has one.
    pub(super) fn next_request<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        index: u32,
    ) {
        let may_issue = self.may_issue(engine.now());
        let client = &mut self.clients[index as usize];
        self.asked.release(std::mem::replace(&mut client.asked, NONE));
        if client.remaining > 0 && may_issue {
            client.remaining -= 1;
            client.number += 1;
        } else if self.shared_requests > 0 && !client.single && may_issue {
            // Whoever takes it, it is the same request.
            self.shared_requests -= 1;
            (client.user, client.number) = (u64::MAX, self.shared_requests);
        } else {
            self.client_done(engine, index);
            return;
        }
        client.serial += 1;
        if client.serial > 1 {
            // The users walk over the ports together: user u asks for ports u, u + users, ...
            client.port += u64::from(self.config.clients.users);
        }
        client.asked = self.asked.begin(client.port);
        client.retries = 0;
        client.paused = SimDuration::ZERO;
        client.next_pause = self.config.clients.retry.pause;
        client.first_attempt = engine.now();
        self.tally.requests += 1;
        self.try_request(engine, index);
    }

    fn client_done<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, index: u32) {
        let client = &mut self.clients[index as usize];
        client.state = ClientState::Done;
        let connection = std::mem::replace(&mut client.connection, NONE);
        let single = client.single;
        if connection != NONE {
            self.leave(engine, connection);
        }
        if single {
            self.free_clients.push(index);
        }
    }

    pub(super) fn try_request<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        index: u32,
    ) {
        self.clients[index as usize].state = ClientState::Trying;
        self.active_clients += 1;
        self.act(engine, ClientAction::Connect(index));
    }

    /// Has the client program do something, at once if that costs no processor time.
    pub(super) fn act<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        action: ClientAction,
    ) {
        let cost = self.client_cost(action);
        if cost.is_zero() && self.client_thread.actions.is_empty() && !self.client_thread.busy {
            self.do_action(engine, action);
            return;
        }
        self.client_thread.actions.push_back(action);
        self.next_action(engine);
    }

    fn client_cost(&self, action: ClientAction) -> SimDuration {
        let clients = &self.config.clients;
        match action {
            ClientAction::Connect(_) => clients.connect_cpu,
            ClientAction::Send { .. } => clients.send_cpu,
            ClientAction::Settle => clients.settle_cpu,
            ClientAction::Receive { .. } => clients.receive_cpu,
        }
    }

    fn next_action<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if self.client_thread.busy {
            return;
        }
        if let Some(&action) = self.client_thread.actions.front() {
            self.client_thread.busy = true;
            let work = self.client_cost(action);
            let steps = [Step::Cpu { work, interpreter: None }];
            self.host.submit(engine, Tag::Client.pack(), &steps);
        }
    }

    /// The client program has done what was first in its line.
    pub(super) fn client_acted<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if let Some(action) = self.client_thread.actions.pop_front() {
            self.do_action(engine, action);
        }
        self.client_thread.busy = false;
        self.next_action(engine);
    }

    fn do_action<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, action: ClientAction) {
        match action {
            ClientAction::Connect(client) => self.begin_attempt(engine, client),
            ClientAction::Send { connection, client, serial } => {
                let open = &self.connections[connection];
                if open.client == client && open.serial == serial {
                    self.send_request(engine, connection);
                    self.act(engine, ClientAction::Settle);
                }
            }
            ClientAction::Settle => {}
            ClientAction::Receive { client, serial, outcome } => {
                let of = &self.clients[client as usize];
                if of.serial == serial && of.state == ClientState::Trying {
                    self.attempt_over(engine, client, outcome);
                }
            }
        }
    }

    fn connect_beside<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, purpose: Purpose) {
        let connection = self.connections.open(NONE, 0, purpose, engine.now());
        if self.proxied && purpose == Purpose::Silent {
            self.connections[connection].hop = Hop::Proxy;
        }
        if let Purpose::Background(index) = purpose {
            self.connections[connection].request =
                attempt_key(u64::MAX, u64::from(index), u32::MAX);
        }
        self.connect(engine, connection);
    }
}
