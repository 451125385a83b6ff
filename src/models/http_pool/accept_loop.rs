//! The accepting thread of servers that have one: Werkzeug threaded and gunicorn's gthread.
//!
//! It works in turns. A gthread turn accepts at most one connection and hands every readable one
//! to the pool (`ThreadWorker.run` in `gunicorn/workers/gthread.py`, version 23); a Werkzeug turn
//! accepts one connection and starts a thread for it.

use super::component::{Event, HttpPool, Tag};
use super::connection::ServerSide;
use super::presets::Accepting;
use crate::engine::{Engine, SimDuration};
use crate::resources::Step;

impl HttpPool {
    /// Starts a turn of an accepting thread if it is idle and has something to do.
    ///
    /// gthread polls nothing, not even connections it has accepted, while it holds
    /// `worker_connections`: `ThreadWorker.run` in gunicorn 23 then only waits for a request to
    /// finish, or for a kept connection to have been idle for too long. If none is in a thread and
    /// none is kept, that is for ever (gunicorn issues 3146 and 3407).
    pub(super) fn begin_turn<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
    ) {
        if self.turn_is_due(process) {
            let wakeup = self.wakeup_time(engine.now(), process);
            self.continue_turn(engine, process, wakeup);
        }
    }

    /// True when an idle accepting thread has something to do.
    pub(super) fn turn_is_due(&self, process: u16) -> bool {
        let limit = match self.server.accepting {
            Accepting::Pool => self.server.worker_connections,
            _ => u32::MAX,
        };
        let of = &self.processes[usize::from(process)];
        let something = !self.queue.is_empty() || !of.readable.is_empty();
        of.up && of.idle && !of.stopped && something && of.connections < limit
    }

    pub(super) fn continue_turn<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        wakeup: SimDuration,
    ) {
        let of = &mut self.processes[usize::from(process)];
        of.idle = false;
        of.turn_accepts = !self.queue.is_empty();
        of.turn_dispatches = of.readable.len();
        let accepts = u64::from(of.turn_accepts);
        // A thread for every connection is started as part of accepting it.
        let dispatches = match self.server.accepting {
            Accepting::Pool => of.turn_dispatches as u64,
            _ => accepts,
        };
        let work = self.server.accept_cpu.saturating_mul(accepts);
        let work = work.saturating_add(self.server.dispatch_cpu.saturating_mul(dispatches));
        let interpreter = of.resources.interpreter;
        let steps = [Step::Wait(wakeup), Step::Cpu { work, interpreter }];
        self.host.submit(engine, Tag::Turn(process).pack(), &steps);
    }

    /// A turn of an accepting thread is over.
    pub(super) fn turn_over<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
    ) {
        let of = &self.processes[usize::from(process)];
        let (accepts, dispatches) = (of.turn_accepts, of.turn_dispatches);
        // `while self.alive` in `ThreadWorker.run`, which comes after what a turn handles: the last
        // turn still accepts. A request that this turn hands on has not begun by then.
        let stops = of.retiring;
        if self.server.accepting == Accepting::Pool {
            for _ in 0..dispatches {
                self.dispatch(engine, process);
            }
        }
        if accepts && let Some(connection) = self.queue.accept() {
            self.tally.queue_is(engine.now(), self.queue.len());
            if self.server.accepting == Accepting::ThreadEach {
                self.start_thread(engine, process, connection);
                return;
            }
            self.take_accepted(engine, process, connection);
        }
        self.processes[usize::from(process)].stopped = stops;
        self.end_turn(engine, process);
    }

    /// An accepting thread begins its next turn, or sleeps.
    fn end_turn<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, process: u16) {
        let of = &mut self.processes[usize::from(process)];
        of.idle = true;
        of.active_until = Some(engine.now());
        of.waits_since = engine.now();
        self.close_overdue(engine, process);
        self.retire(engine, process);
        if self.turn_is_due(process) {
            self.continue_turn(engine, process, SimDuration::ZERO);
        } else {
            self.arm_look(engine, process);
        }
    }

    /// A thread for the connection. The accepting thread waits until it has run for the first time
    /// (`Thread.start` in CPython's `threading` waits for `_started`), so it queues for the
    /// interpreter twice for each connection.
    fn start_thread<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        connection: u32,
    ) {
        let interpreter = self.processes[usize::from(process)].resources.interpreter;
        let steps = [Step::Cpu { work: self.server.start_cpu, interpreter }];
        self.host.submit(engine, Tag::Start(process, connection).pack(), &steps);
    }

    pub(super) fn thread_started<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        connection: u32,
    ) {
        if self.accepted(engine, process, connection)
            && self.connections[connection].request_arrived
        {
            self.serve(engine, process, connection);
        }
        self.end_turn(engine, process);
    }

    fn take_accepted<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        connection: u32,
    ) {
        let open = &mut self.connections[connection];
        open.accepted = engine.now();
        open.server_side = ServerSide::Accepted(process);
        open.watched = true;
        let readable = open.request_arrived || open.is_abandoned();
        let of = &mut self.processes[usize::from(process)];
        of.connections += 1;
        if readable {
            of.readable.push_back(connection);
        }
    }

    /// Hands the first readable connection to the pool.
    fn dispatch<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, process: u16) {
        let of = &mut self.processes[usize::from(process)];
        let Some(connection) = of.readable.pop_front() else { return };
        self.connections[connection].watched = false;
        if let Some(place) = of.kept.iter().position(|&kept| kept == connection) {
            of.kept.remove(place);
        }
        if !self.connections[connection].request_arrived {
            // The peer has closed without a request.
            of.connections -= 1;
            self.connections[connection].server_side = ServerSide::Closed;
            self.forget(engine, connection);
        } else if of.busy_threads < self.server.threads {
            self.take_thread(engine, process, connection);
        } else {
            of.pool_queue.push_back(connection);
        }
    }

    pub(super) fn take_thread<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        connection: u32,
    ) {
        let of = &mut self.processes[usize::from(process)];
        of.busy_threads += 1;
        // `ThreadWorker.handle_request`: the last request says that the worker is to end, and
        // `resp.force_close()`, also when as many are kept as there may be.
        let begun = of.served + u64::from(of.busy_threads);
        of.retiring |= self.server.max_requests > 0 && begun >= self.server.max_requests;
        let most = self.server.worker_connections.saturating_sub(self.server.threads) as usize;
        self.connections[connection].closes = of.retiring || of.kept.len() >= most;
        self.serve(engine, process, connection);
    }
}
