use std::collections::VecDeque;

use convsim::engine::Stream;

use super::variates::{exponential, fold, stream};
use crate::{Agenda, Handle, Model};

const USERS: usize = 20;
const SERVERS: usize = 8;
const THINK_MEAN_NS: f64 = 1e8;
const SERVICE_MEAN_NS: f64 = 1e8;
/// Ten services: about one request in 10,000 times out.
const TIMEOUT_NS: u64 = 1_000_000_000;

/// 20 users who think, send a request to 8 servers and wait for the answer at most 1 s. Each
/// request arms a timeout, which its success cancels; a server finishes what its user has given
/// up.
#[derive(Debug)]
pub struct ClosedSystem<T> {
    thinking: Stream,
    service: Stream,
    users: Vec<User<T>>,
    servers: Vec<Server<T>>,
    idle: Vec<u32>,
    queue: VecDeque<Request>,
    succeeded: u64,
    timed_out: u64,
    digest: u64,
}

#[derive(Clone, Copy, Debug)]
struct User<T> {
    think: T,
    timeout: T,
    /// The request that it waits for, or the number of its next one while it thinks.
    request: u32,
}

#[derive(Clone, Copy, Debug)]
struct Server<T> {
    timer: T,
    serving: Request,
}

#[derive(Clone, Copy, Debug, Default)]
struct Request {
    user: u32,
    number: u32,
}

#[derive(Clone, Copy, Debug)]
pub enum ClosedSystemEvent {
    ThinkingEnds { user: u32 },
    ServiceEnds { server: u32 },
    TimesOut { user: u32 },
}

impl<T> Default for ClosedSystem<T> {
    fn default() -> Self {
        Self {
            thinking: stream("closed system", "thinking"),
            service: stream("closed system", "service"),
            users: Vec::new(),
            servers: Vec::new(),
            idle: Vec::new(),
            queue: VecDeque::new(),
            succeeded: 0,
            timed_out: 0,
            digest: 0,
        }
    }
}

impl<T: Handle> ClosedSystem<T> {
    /// How many requests timed out, for one that succeeded.
    pub fn timeouts_per_success(&self) -> f64 {
        self.timed_out as f64 / self.succeeded as f64
    }

    #[inline]
    fn send_user_thinking<A: Agenda<T, Self>>(agenda: &mut A, user: u32) {
        let model = agenda.model();
        let state = &mut model.users[user as usize];
        state.request += 1;
        let timer = state.think;
        let delay = exponential(&mut model.thinking, THINK_MEAN_NS);
        agenda.arm(timer, delay, ClosedSystemEvent::ThinkingEnds { user });
    }

    #[inline]
    fn serve<A: Agenda<T, Self>>(agenda: &mut A, server: u32, request: Request) {
        let model = agenda.model();
        let state = &mut model.servers[server as usize];
        state.serving = request;
        let timer = state.timer;
        let delay = exponential(&mut model.service, SERVICE_MEAN_NS);
        agenda.arm(timer, delay, ClosedSystemEvent::ServiceEnds { server });
    }

    #[inline]
    fn thinking_ends<A: Agenda<T, Self>>(agenda: &mut A, user: u32) {
        let model = agenda.model();
        let User { timeout, request, .. } = model.users[user as usize];
        let request = Request { user, number: request };
        let idle = model.idle.pop();
        if idle.is_none() {
            model.queue.push_back(request);
        }
        agenda.arm(timeout, TIMEOUT_NS, ClosedSystemEvent::TimesOut { user });
        if let Some(server) = idle {
            Self::serve(agenda, server, request);
        }
    }

    #[inline]
    fn service_ends<A: Agenda<T, Self>>(agenda: &mut A, server: u32) {
        let now = agenda.now();
        let model = agenda.model();
        let Request { user, number } = model.servers[server as usize].serving;
        let User { timeout, request, .. } = model.users[user as usize];
        if request == number {
            model.succeeded += 1;
            model.digest = fold(model.digest, now);
            agenda.disarm(timeout);
            Self::send_user_thinking(agenda, user);
        }
        let model = agenda.model();
        while let Some(next) = model.queue.pop_front() {
            if model.users[next.user as usize].request == next.number {
                Self::serve(agenda, server, next);
                return;
            }
        }
        model.idle.push(server);
    }
}

impl<T: Handle> Model<T> for ClosedSystem<T> {
    type Event = ClosedSystemEvent;

    const CANCELS: bool = true;

    fn start<A: Agenda<T, Self>>(agenda: &mut A) {
        for server in 0..SERVERS {
            let timer = agenda.add_timer();
            agenda.model().servers.push(Server { timer, serving: Request::default() });
            agenda.model().idle.push(server as u32);
        }
        for user in 0..USERS {
            let (think, timeout) = (agenda.add_timer(), agenda.add_timer());
            agenda.model().users.push(User { think, timeout, request: 0 });
            Self::send_user_thinking(agenda, user as u32);
        }
    }

    #[inline]
    fn handle<A: Agenda<T, Self>>(agenda: &mut A, event: ClosedSystemEvent) {
        match event {
            ClosedSystemEvent::ThinkingEnds { user } => Self::thinking_ends(agenda, user),
            ClosedSystemEvent::ServiceEnds { server } => Self::service_ends(agenda, server),
            ClosedSystemEvent::TimesOut { user } => {
                agenda.model().timed_out += 1;
                Self::send_user_thinking(agenda, user);
            }
        }
    }

    fn digest(&self) -> u64 {
        fold(fold(self.digest, self.succeeded), self.timed_out)
    }
}
