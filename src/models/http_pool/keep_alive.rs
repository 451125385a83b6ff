//! Connections that a gthread worker keeps for further requests, and when it closes them.
//!
//! All from `gunicorn/workers/gthread.py`, version 23. `ThreadWorker.finish_request` gives a
//! connection back to the accepting thread, with a limit (`keepalive`, 2 s). That thread closes
//! what is overdue at the end of each of its turns (`murder_keepalived`), so it matters how it
//! waits (`run`):
//! - below `worker_connections` it polls, for 1 s at the most: an overdue connection is closed up to
//!   1 s late;
//! - at `worker_connections` it polls nothing and waits for a thread to finish, 1 s at the most;
//! - when no thread is at work, this wait is none (`concurrent.futures.wait` on nothing): it spins,
//!   and closes a connection when it is due.
//!
//! At `worker_connections` a kept connection may be overdue although its next request has come,
//! since that is not polled: it is closed, and its client is reset.
//!
//! A worker that is to end after its number of requests notices it when it has waited: its last turn
//! still accepts, and what is not in a thread by then is never served.
//!
//! What a spinning thread takes from the other processes on the host is not modelled.

use super::component::{Event, HttpPool};
use super::connection::ServerSide;
use super::network::Segment;
use crate::engine::{Engine, PriorityClass, SimDuration, SimTime};

/// `poller.select(1.0)` and `futures.wait(.., timeout=1.0)` in `ThreadWorker.run`.
const LONGEST_WAIT: SimDuration = SimDuration::from_whole_seconds(1);

impl HttpPool {
    /// A connection that the accepting thread watches has a request, or its client has closed it.
    /// One that is on its way back from a thread is watched later.
    pub(super) fn became_readable<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        connection: u32,
    ) {
        if self.connections[connection].watched {
            self.processes[usize::from(process)].readable.push_back(connection);
            self.begin_turn(engine, process);
        }
    }

    /// A thread gives the connection back.
    pub(super) fn keep_watching(&mut self, now: SimTime, process: u16, connection: u32) {
        let of = &mut self.processes[usize::from(process)];
        let open = &mut self.connections[connection];
        open.watched = true;
        let limit = self.server.keep_alive_timeout;
        open.kept_until = limit.map_or(SimTime::MAX, |limit| now.saturating_add(limit));
        of.kept.push_back(connection);
        if open.request_arrived || open.client_closed {
            of.readable.push_back(connection);
        }
    }

    /// The accepting thread has waited for long enough, or what it waited for is there.
    pub(super) fn look_at_kept<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
    ) {
        let of = &mut self.processes[usize::from(process)];
        if !of.up || !of.idle || of.stopped {
            return;
        }
        of.waits_since = engine.now();
        of.stopped = of.retiring;
        self.close_overdue(engine, process);
        self.retire(engine, process);
        self.begin_turn(engine, process);
        self.arm_look(engine, process);
    }

    /// `ThreadWorker.murder_keepalived`.
    pub(super) fn close_overdue<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
    ) {
        let now = engine.now();
        while let Some(&oldest) = self.processes[usize::from(process)].kept.front() {
            if self.connections[oldest].kept_until > now {
                return;
            }
            self.close_oldest_kept(engine, process);
        }
    }

    pub(super) fn close_oldest_kept<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
    ) {
        let of = &mut self.processes[usize::from(process)];
        let Some(connection) = of.kept.pop_front() else { return };
        self.close_unserved(engine, process, connection);
    }

    /// All that the accepting thread watches, kept or new.
    pub(super) fn close_watched<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
    ) {
        self.processes[usize::from(process)].kept.clear();
        for connection in self.connections.numbers() {
            let open = &self.connections[connection];
            if open.watched && open.server_side == ServerSide::Accepted(process) {
                self.close_unserved(engine, process, connection);
            }
        }
    }

    fn close_unserved<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        connection: u32,
    ) {
        let of = &mut self.processes[usize::from(process)];
        of.connections -= 1;
        if let Some(place) = of.readable.iter().position(|&other| other == connection) {
            of.readable.remove(place);
        }
        let open = &self.connections[connection];
        let unread = open.request_arrived && open.is_wanted();
        self.drop_connection(engine, process, connection);
        if unread && !self.is_upstream(connection) {
            // Closing a socket with unread data resets the connection.
            self.transmit_later(engine, connection, Segment::Reset);
        }
    }

    /// When an idle accepting thread looks at what it keeps.
    pub(super) fn arm_look<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, process: u16) {
        let of = &self.processes[usize::from(process)];
        let Some(timer) = of.look else { return };
        let oldest = of.kept.front().map(|&oldest| self.connections[oldest].kept_until);
        let due = if of.retiring { Some(engine.now()) } else { oldest };
        let waits = of.up && of.idle && !of.stopped;
        let Some(due) = due.filter(|due| *due < SimTime::MAX && waits) else {
            engine.disarm(timer);
            return;
        };
        let full = of.connections >= self.server.worker_connections;
        let spins = full && of.busy_threads == 0;
        let at = if spins {
            due
        } else {
            let waits = due.since(of.waits_since).as_nanos().div_ceil(LONGEST_WAIT.as_nanos());
            of.waits_since.saturating_add(LONGEST_WAIT.saturating_mul(waits.max(1)))
        };
        let at = at.max(engine.now());
        if engine.deadline(timer) != Some(at) {
            engine.arm_at(timer, at, PriorityClass::NORMAL, Event::Look(process));
        }
    }
}
