//! How each kind of server takes connections and serves them.

use std::collections::VecDeque;

use rand::RngExt;

use super::component::{Event, HttpPool, Tag};
use super::connection::{Hop, NONE, Purpose, ServerSide};
use super::measurement::Failure;
use super::presets::Accepting;
use super::program::{ProcessResources, Service, cooled_down, scale};
use crate::engine::{Engine, SimDuration, SimTime, Timer};
use crate::resources::{JobId, Step};

/// A worker process.
#[derive(Clone, Debug)]
pub struct Process {
    pub resources: ProcessResources,
    /// False from its end until its successor accepts.
    pub up: bool,
    /// Its accepting thread sleeps until there is something to do.
    pub idle: bool,
    /// When its accepting thread last did something; `None` before it did anything.
    pub active_until: Option<SimTime>,
    /// By how much the computing for the last request differed from the mean.
    pub variation: f64,
    /// What a process that serves one by one is serving, and since when.
    pub current: u32,
    pub job: Option<JobId>,
    pub began: SimTime,
    pub served: u64,
    /// Its last request has begun (gunicorn's `alive` is false), and whether its accepting thread has
    /// noticed.
    pub retiring: bool,
    pub stopped: bool,
    /// Accepted connections (gthread's `nr_conns`).
    pub connections: u32,
    /// Readable connections that its accepting thread has not handed on.
    pub readable: VecDeque<u32>,
    /// Pool threads at work, and connections waiting for one.
    pub busy_threads: u32,
    pub pool_queue: VecDeque<u32>,
    /// Idle kept connections, the oldest first (gthread's `_keep`), when its accepting thread looks
    /// at them next, and since when it has been waiting.
    pub kept: VecDeque<u32>,
    pub look: Option<Timer>,
    pub waits_since: SimTime,
    /// What the turn of the accepting thread under way handles.
    pub turn_accepts: bool,
    pub turn_dispatches: usize,
    pub watchdog: Option<Timer>,
    pub watchdog_phase: SimTime,
}

impl Process {
    /// A process that is up and idle.
    pub fn new(resources: ProcessResources) -> Self {
        Self {
            resources,
            up: true,
            idle: true,
            active_until: None,
            variation: 1.0,
            current: NONE,
            job: None,
            began: SimTime::ZERO,
            served: 0,
            retiring: false,
            stopped: false,
            connections: 0,
            readable: VecDeque::new(),
            busy_threads: 0,
            pool_queue: VecDeque::new(),
            kept: VecDeque::new(),
            look: None,
            waits_since: SimTime::ZERO,
            turn_accepts: false,
            turn_dispatches: 0,
            watchdog: None,
            watchdog_phase: SimTime::ZERO,
        }
    }

    /// A successor begins with nothing.
    pub fn restart(&mut self) {
        self.up = true;
        self.idle = true;
        self.active_until = None;
        self.variation = 1.0;
        self.current = NONE;
        self.job = None;
        self.served = 0;
        self.retiring = false;
        self.stopped = false;
        self.connections = 0;
        self.readable.clear();
        self.busy_threads = 0;
        self.pool_queue.clear();
        self.kept.clear();
        self.waits_since = SimTime::ZERO;
    }
}

impl HttpPool {
    /// A connection has entered the accept queue.
    pub(super) fn connection_queued<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        match self.server.accepting {
            Accepting::OneByOne => {
                let idle = self.idle.len();
                if idle > 0 {
                    let at = if idle == 1 { 0 } else { self.race.random_range(0..idle) };
                    let process = self.idle.swap_remove(at);
                    self.wake(engine, process);
                }
            }
            // Every idle accepting thread wakes up; who comes too late finds nothing.
            Accepting::ThreadEach | Accepting::Pool => {
                for process in 0..self.processes.len() as u16 {
                    self.begin_turn(engine, process);
                }
            }
        }
    }

    /// How long an idle process takes to run: the longer the colder it is, by the law of late
    /// sleeps.
    pub(super) fn wakeup_time(&mut self, now: SimTime, process: u16) -> SimDuration {
        let wakeup = self.wakeup.sample(&mut self.wakeup_stream);
        let Some(active) = self.processes[usize::from(process)].active_until else {
            return wakeup.saturating_add(self.first_wakeup.sample(&mut self.wakeup_stream));
        };
        let cold = self.cold_wakeup.sample(&mut self.wakeup_stream);
        if cold.is_zero() {
            return wakeup;
        }
        let factor = cooled_down(now.since(active), self.config.host.cooling_time);
        wakeup.saturating_add(SimDuration::from_seconds(cold.as_seconds() * factor))
    }

    fn wake<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, process: u16) {
        let wakeup = self.wakeup_time(engine.now(), process);
        self.processes[usize::from(process)].idle = false;
        self.accept_after(engine, process, wakeup, self.server.accept_cpu);
    }

    /// A process that serves one by one accepts after a while of waiting and then computing.
    fn accept_after<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        wait: SimDuration,
        work: SimDuration,
    ) {
        if wait.is_zero() && work.is_zero() {
            return self.accept_next(engine, process);
        }
        let of = &self.processes[usize::from(process)];
        let work = scale(work, of.variation);
        let steps = [Step::Wait(wait), Step::Cpu { work, interpreter: of.resources.interpreter }];
        self.host.submit(engine, Tag::Wakeup(process).pack(), &steps);
    }

    /// A process that serves one by one is done with a connection, but for the closing: `shutdown`
    /// and `close` come before the loop gets to `accept` again (`BaseServer.shutdown_request` in
    /// CPython's `socketserver`, `SyncWorker.handle` in `gunicorn/workers/sync.py`), so that
    /// the answered client may be back before there is room in the queue.
    fn close_one<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, process: u16) {
        let work = self.server.close_cpu;
        if work.is_zero() {
            return self.closed_one(engine, process);
        }
        if !self.queue.is_empty() && !self.is_spent(process) {
            // There is something to accept as soon as that is done.
            let work = work.saturating_add(self.server.accept_cpu);
            return self.accept_after(engine, process, SimDuration::ZERO, work);
        }
        let of = &self.processes[usize::from(process)];
        let work = scale(work, of.variation);
        let interpreter = of.resources.interpreter;
        let tag = Tag::Close(process, NONE).pack();
        self.host.submit(engine, tag, &[Step::Cpu { work, interpreter }]);
    }

    fn closed_one<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, process: u16) {
        if self.is_spent(process) {
            self.end_process(engine, process);
        } else {
            self.look_for_next(engine, process);
        }
    }

    /// A process that serves one by one accepts what is in the queue, if anything is.
    fn look_for_next<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, process: u16) {
        let work = if self.queue.is_empty() { SimDuration::ZERO } else { self.server.accept_cpu };
        self.accept_after(engine, process, SimDuration::ZERO, work);
    }

    /// A process that serves one by one takes the next connection off the queue or goes to sleep.
    pub(super) fn accept_next<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
    ) {
        let now = engine.now();
        while let Some(connection) = self.queue.accept() {
            self.tally.queue_is(now, self.queue.len());
            if !self.accepted(engine, process, connection) {
                continue;
            }
            let of = &mut self.processes[usize::from(process)];
            of.current = connection;
            of.began = now;
            if self.connections[connection].request_arrived {
                self.serve_one(engine, process, connection);
            }
            self.watch(engine, process);
            return;
        }
        let of = &mut self.processes[usize::from(process)];
        of.idle = true;
        of.active_until = Some(now);
        of.current = NONE;
        if let Some(watchdog) = of.watchdog {
            engine.disarm(watchdog);
        }
        self.idle.push(process);
    }

    /// The server has the connection now. False when there is nothing more to do with it: its
    /// client left without having sent anything.
    pub(super) fn accepted<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        connection: u32,
    ) -> bool {
        let open = &mut self.connections[connection];
        open.accepted = engine.now();
        open.server_side = ServerSide::Accepted(process);
        if open.request_arrived {
            return true;
        }
        if open.is_abandoned() {
            open.server_side = ServerSide::Closed;
            self.forget(engine, connection);
            return false;
        }
        if let (Some(limit), false) =
            (self.server.request_timeout, self.server.accepting == Accepting::Pool)
        {
            self.arm_server_timer(engine, connection, limit);
        }
        true
    }

    fn arm_server_timer<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
        limit: SimDuration,
    ) {
        let open = &mut self.connections[connection];
        let timer = *open.server_timer.get_or_insert_with(|| engine.add_timer());
        engine.arm(timer, limit, Event::PeerSilent(connection));
    }

    fn serve_one<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        connection: u32,
    ) {
        let job = self.serve(engine, process, connection);
        self.processes[usize::from(process)].job = Some(job);
    }

    pub(super) fn serve<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        connection: u32,
    ) -> JobId {
        self.connections[connection].taken_up = engine.now();
        let open = self.connections[connection];
        let port = self.asked.port(open.asked);
        let wait = match open.purpose {
            Purpose::Background(index) => {
                self.config.clients.background.get(index as usize).copied()
            }
            Purpose::Request | Purpose::Silent => None,
        };
        self.tally.serving(engine.now(), 1);
        self.steps.clear();
        let of = &mut self.processes[usize::from(process)];
        let service = Service { request: open.request, port, wait };
        of.variation = self.programs.append(&mut self.steps, &of.resources, &service);
        self.host.submit(engine, Tag::Serve(process, connection).pack(), &self.steps)
    }

    /// A request has been executed: the answer goes out.
    pub(super) fn served<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        connection: u32,
    ) {
        self.processes[usize::from(process)].served += 1;
        self.note_served(engine, process, connection);
        self.note_executed(engine, connection);
        match self.server.accepting {
            Accepting::OneByOne => {
                let of = &mut self.processes[usize::from(process)];
                (of.current, of.job) = (NONE, None);
                self.finish(engine, connection);
                self.close_one(engine, process);
            }
            Accepting::ThreadEach | Accepting::Pool => {
                let kept = self.finish(engine, connection);
                let work = self.server.close_cpu;
                let interpreter = self.processes[usize::from(process)].resources.interpreter;
                let tag = Tag::Close(process, if kept { connection } else { NONE }).pack();
                self.host.submit(engine, tag, &[Step::Cpu { work, interpreter }]);
            }
        }
    }

    fn note_executed<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, connection: u32) {
        let now = engine.now();
        self.tally.serving(now, -1);
        let open = &self.connections[connection];
        if open.purpose != Purpose::Request {
            return;
        }
        let wasted = open.client == NONE;
        self.tally.executed += 1;
        self.tally.wasted += u64::from(wasted);
        let port = self.asked.port(open.asked);
        if self.asked.execute(open.asked) {
            self.tally.requests_executed += 1;
            self.tally.last_executed = now;
        }
        if !wasted {
            engine.emit(0, port % u64::from(self.config.handler.ports));
        }
    }

    /// Answers and, unless it is kept, closes. True when it is kept.
    fn finish<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, connection: u32) -> bool {
        let open = &mut self.connections[connection];
        let here = open.is_wanted();
        let asked = match open.hop {
            Hop::Upstream => self.proxy.settings.keepalive > 0,
            Hop::Server | Hop::Proxy => self.config.clients.keep_alive,
        };
        let keep = here && asked && self.server.keep_alive && !open.closes;
        if keep {
            open.request_arrived = false;
            open.request_sent = false;
            if let (Some(limit), Accepting::ThreadEach) =
                (self.server.keep_alive_timeout, self.server.accepting)
            {
                self.arm_server_timer(engine, connection, limit);
            }
        } else {
            open.server_side = ServerSide::Closed;
        }
        if here {
            self.answer(engine, connection, Ok(()));
        } else {
            self.forget(engine, connection);
        }
        keep
    }

    /// A thread has closed its connection, or given it back to be watched.
    pub(super) fn closed<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        kept: u32,
    ) {
        match self.server.accepting {
            Accepting::OneByOne => return self.closed_one(engine, process),
            Accepting::ThreadEach => return,
            Accepting::Pool => {}
        }
        let of = &mut self.processes[usize::from(process)];
        let full = of.connections >= self.server.worker_connections;
        of.busy_threads -= 1;
        if kept == NONE {
            of.connections -= 1;
        } else {
            self.keep_watching(engine.now(), process, kept);
        }
        let of = &mut self.processes[usize::from(process)];
        if let Some(next) = of.pool_queue.pop_front() {
            self.take_thread(engine, process, next);
        }
        if self.is_spent(process) {
            self.retire(engine, process);
        }
        if full {
            // This is what the accepting thread was waiting for.
            self.look_at_kept(engine, process);
        } else {
            self.begin_turn(engine, process);
            self.arm_look(engine, process);
        }
    }

    fn is_spent(&self, process: u16) -> bool {
        let limit = self.server.max_requests;
        limit > 0 && self.processes[usize::from(process)].served >= limit
    }

    /// A pool worker whose accepting thread has stopped ends once its threads have served what was
    /// handed to them. What it had accepted and not handed on ends with it: gunicorn issue 3038.
    pub(super) fn retire<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, process: u16) {
        let of = &self.processes[usize::from(process)];
        if of.up && of.stopped && of.busy_threads == 0 && of.pool_queue.is_empty() {
            self.close_watched(engine, process);
            self.end_process(engine, process);
        }
    }

    /// The process ends; its successor comes up after the boot time.
    pub(super) fn end_process<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
    ) {
        self.note_worker(engine, process, None);
        let of = &mut self.processes[usize::from(process)];
        of.up = false;
        of.idle = false;
        of.watchdog_phase = engine.now();
        self.tally.restarts += 1;
        if let Some(timer) = of.watchdog {
            engine.arm(timer, self.server.boot_time, Event::Booted(process));
        }
    }

    pub(super) fn booted<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, process: u16) {
        let ended = self.processes[usize::from(process)].watchdog_phase;
        self.note_worker(engine, process, Some(ended));
        self.processes[usize::from(process)].restart();
        match self.server.accepting {
            Accepting::OneByOne => self.look_for_next(engine, process),
            Accepting::ThreadEach | Accepting::Pool => self.begin_turn(engine, process),
        }
    }

    /// The request of a connection has arrived.
    pub(super) fn request_readable<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
    ) {
        let ServerSide::Accepted(process) = self.connections[connection].server_side else {
            return;
        };
        if let Some(timer) = self.connections[connection].server_timer {
            engine.disarm(timer);
        }
        match self.server.accepting {
            Accepting::OneByOne => self.serve_one(engine, process, connection),
            Accepting::ThreadEach => {
                self.serve(engine, process, connection);
            }
            Accepting::Pool => self.became_readable(engine, process, connection),
        }
    }

    /// The client of an accepted connection has left without a request.
    pub(super) fn peer_closed<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        connection: u32,
    ) {
        if self.server.accepting == Accepting::Pool {
            // The end of the stream. Noticed when the accepting thread polls.
            self.became_readable(engine, process, connection);
        } else {
            self.drop_connection(engine, process, connection);
        }
    }

    /// A peer has sent nothing for too long.
    pub(super) fn peer_silent<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        connection: u32,
    ) {
        let ServerSide::Accepted(process) = self.connections[connection].server_side else {
            return;
        };
        self.drop_connection(engine, process, connection);
    }

    /// The server closes a connection without a request on it. Its client, if it is still there,
    /// finds that out when it uses it.
    pub(super) fn drop_connection<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
        connection: u32,
    ) {
        self.connections[connection].server_side = ServerSide::Closed;
        let open = &self.connections[connection];
        if self.is_upstream(connection) && !open.client_closed {
            self.broken(engine, connection, Failure::Reset);
        } else if !open.is_wanted() {
            self.forget(engine, connection);
        }
        let of = &mut self.processes[usize::from(process)];
        if self.server.accepting == Accepting::OneByOne && of.current == connection {
            of.current = NONE;
            self.close_one(engine, process);
        }
    }
}
