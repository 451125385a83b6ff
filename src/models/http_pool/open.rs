//! What is still open when a traced run has ended.

use super::clients::ClientState;
use super::component::{HttpPool, Tag};
use super::connection::{Hop, NONE};
use super::timeline::BEING_SERVED;
use crate::engine::trace::{Chain, Lane, Trace};
use crate::engine::{SimDuration, SimTime};
use crate::models::Model;
use crate::resources::Attribution;

/// Where time went, by name.
type Parts = Vec<(&'static str, SimDuration)>;

/// A request that a worker is executing, and where its time went so far.
type Execution = (u32, Attribution);

impl HttpPool {
    /// Ends what is going on at `end`, and says what is left to do.
    pub(super) fn record_open(&self, trace: &mut Trace, component: u16, end: SimTime) {
        let mut executions: Vec<Execution> = Vec::new();
        for job in self.host.open_jobs(end) {
            let Tag::Serve(process, connection) = Tag::unpack(job.tag) else { continue };
            let span = self.execution(component, process, connection, end);
            trace.open_span(span.lane, span.name, (span.start, end), span.value);
            trace.links.extend(self.served_by(span.lane, connection));
            executions.push((connection, job.parts));
        }
        for (process, state) in self.processes.iter().enumerate().filter(|(_, state)| !state.up) {
            let lane = Lane { component, lane: process as u32 };
            trace.open_span(lane, "boots", (state.watchdog_phase, end), 0);
        }
        for client in 0..self.clients.len() as u32 {
            self.record_open_request(trace, component, (client, end), &executions);
        }
        if !self.converged() {
            self.record_left(trace, component);
        }
    }

    fn record_open_request(
        &self,
        trace: &mut Trace,
        component: u16,
        (index, end): (u32, SimTime),
        executions: &[Execution],
    ) {
        let client = &self.clients[index as usize];
        let lane = self.client_lane(component, index);
        let connection = client.connection;
        // Before an attempt the client has no connection, or one that its last request was on.
        let begun = client.state == ClientState::Trying
            && connection != NONE
            && self.connections[connection].serial == client.serial;
        match client.state {
            ClientState::Done | ClientState::Thinking => return,
            ClientState::Trying if begun => {
                for (name, (start, until)) in self.phases(connection, end) {
                    if until < end {
                        trace.span(lane, name, (start, until), 0);
                    } else {
                        trace.open_span(lane, name, (start, until), 0);
                    }
                }
            }
            ClientState::Trying => {
                let spans = trace.spans.iter().filter(|span| span.lane == lane);
                let last = spans.map(|span| span.end).max().unwrap_or_default();
                let since = last.max(client.first_attempt);
                trace.open_span(lane, CLIENT_PROGRAM, (since, end), 0);
            }
            // A pause was recorded when it began.
            ClientState::Pausing => {}
        }
        let start = client.first_attempt;
        let mut parts = trace.sums(lane, start);
        if begun {
            self.refine(&mut parts, connection, end, executions);
        }
        let known = parts.iter().fold(SimDuration::ZERO, |sum, part| sum.saturating_add(part.1));
        let rest = end.since(start).saturating_sub(known);
        match parts.iter_mut().find(|(name, _)| *name == CLIENT_PROGRAM) {
            Some((_, part)) => *part = part.saturating_add(rest),
            None if rest.is_zero() => {}
            None => parts.push((CLIENT_PROGRAM, rest)),
        }
        trace.chains.push(Chain {
            lane,
            name: "request",
            number: client.serial,
            start,
            end,
            outcome: "not answered",
            open: true,
            server: None,
            parts,
        });
    }

    /// Puts what the server, or the proxy, does about the attempt under way in the place of what the
    /// client knows of it.
    fn refine(&self, parts: &mut Parts, connection: u32, end: SimTime, executions: &[Execution]) {
        let open = &self.connections[connection];
        let exchange = self.proxy.exchange(open.exchange).filter(|_| open.hop == Hop::Proxy);
        let (coarse, finer) = match exchange.map(|exchange| exchange.upstream) {
            None => (BEING_SERVED, self.execution_parts(connection, executions)),
            Some(NONE) => return,
            Some(upstream) => (WITH_THE_PROXY, self.upstream_parts(upstream, end, executions)),
        };
        let sum = finer.iter().fold(SimDuration::ZERO, |sum, part| sum.saturating_add(part.1));
        if let Some((_, part)) = parts.iter_mut().rfind(|(name, _)| *name == coarse)
            && sum <= *part
        {
            *part = part.saturating_sub(sum);
            parts.extend(finer);
            parts.retain(|(_, part)| !part.is_zero());
        }
    }

    fn upstream_parts(&self, upstream: u32, end: SimTime, executions: &[Execution]) -> Parts {
        let names = [
            "connecting to the server",
            "connected, but not in the server's accept queue",
            "in the server's accept queue",
            "waiting for a worker",
        ];
        let phases = self.phases(upstream, end);
        let before = names.into_iter().zip(phases);
        let mut parts: Parts =
            before.map(|(name, (_, (start, until)))| (name, until.since(start))).collect();
        parts.extend(self.execution_parts(upstream, executions));
        parts
    }

    fn execution_parts(&self, connection: u32, executions: &[Execution]) -> Parts {
        let own = executions.iter().find(|(of, _)| *of == connection);
        own.map_or_else(Vec::new, |(_, parts)| parts.named().to_vec())
    }

    fn record_left(&self, trace: &mut Trace, component: u16) {
        let of = |state: ClientState| {
            self.clients.iter().filter(|client| client.state == state).count() as u64
        };
        trace.left(component, "requests without an answer", of(ClientState::Trying));
        trace.left(
            component,
            "requests pausing before they are tried again",
            of(ClientState::Pausing),
        );
        let own = self.clients.iter().map(|client| client.remaining).sum::<u64>();
        let to_come = self.to_arrive + self.shared_requests + own;
        trace.left(component, "requests not begun", to_come);
        trace.left(component, "connections in the accept queue", self.queue.len() as u64);
    }
}

const CLIENT_PROGRAM: &str = "waiting for the client program";
const WITH_THE_PROXY: &str = "with the proxy";
