//! OrchDaemon's loop: select one executor, run it to its end, sweep, again.
//!
//! Nothing is preempted. An iteration is a chain of steps on one timer; a step's effects take
//! place when it ends.

use super::component::{Event, Orchagent};
use super::config::{LinkKind, Mode};
use super::era::{MAX_NOTIFICATION_POP, NotificationPop, RouteConsumer, RouteTransport};
use super::executors::Executor;
use super::programmer::{Progress, Surroundings};
use super::route_table::Entry;
use super::service::scaled;
use super::syncd::{FLUSH_INTERVAL, Notification};
use super::traffic::Stage;
use crate::engine::{Engine, PriorityClass, SimDuration, SimTime};

/// What the loop is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Waiting in select.
    #[default]
    Idle,
    /// Busy with something from before the run.
    InitialBusy,
    /// Handling one port notification.
    Notification(Notification),
    /// Handling one LAG_TABLE key.
    Lag { link: u16, up: bool },
    /// Handling one LAG_MEMBER_TABLE key.
    LagMember { link: u16, up: bool },
    /// Trying neighbour deletions.
    Neighbours,
    /// Popping routes.
    Pop,
    /// Programming the popped batch.
    Program,
    /// The ring is full: the loop spins until a slot is free.
    RingFull,
    /// A consumer of another table waits until the ring is empty and idle.
    RingPoll(Executor),
    /// The sweep, or a pass that found nothing.
    Sweep,
    /// Nothing but empty route pops, one after the other.
    Spin { since: SimTime, each: SimDuration, count: u64 },
}

/// The loop's own state.
#[derive(Debug, Default)]
pub struct MainLoop {
    pub phase: Phase,
    pub iteration_started: SimTime,
    /// Notifications that the pass under way still handles.
    notifications_left: usize,
    /// Notifications that had been read when the iteration began.
    read: usize,
    /// True while notifications are handled in the sweep after another executor.
    sweeping: bool,
    keys: Vec<(u16, bool)>,
    /// How much longer than the mean the batch under way takes.
    pub factor: f64,
    /// Keys popped for the batch under way.
    pub popped: u64,
}

impl MainLoop {
    pub fn reset(&mut self) {
        self.phase = Phase::Idle;
        self.iteration_started = SimTime::ZERO;
        self.notifications_left = 0;
        self.read = 0;
        self.sweeping = false;
        self.keys.clear();
        self.factor = 1.0;
        self.popped = 0;
    }
}

impl Orchagent {
    /// The loop begins: at once, or after what it is still busy with.
    pub(super) fn start_loop<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let busy = self.config.topology.initial_busy;
        if busy.is_zero() {
            self.begin_iteration(engine);
        } else {
            self.step(engine, Phase::InitialBusy, busy);
        }
    }

    /// Something has become ready: an idle loop takes it up, a spinning one after the pop it is in.
    pub(super) fn wake<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        match self.main_loop.phase {
            Phase::Idle => self.begin_iteration(engine),
            Phase::Spin { since, each, count } => {
                self.table.synchronise(engine.now());
                if self.nothing_but_empty_pops() {
                    self.arm_route_arrival(engine);
                    return;
                }
                let elapsed = engine.now().since(since).as_nanos();
                let passes = elapsed.div_ceil(each.as_nanos().max(1)).max(1);
                if passes < count {
                    let boundary = since.saturating_add(each.saturating_mul(passes));
                    self.main_loop.phase = Phase::Spin { since, each, count: passes };
                    self.arm_step_at(engine, boundary);
                }
            }
            _ => {}
        }
    }

    pub(super) fn step<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        phase: Phase,
        span: SimDuration,
    ) {
        self.main_loop.phase = phase;
        if let Some(timers) = self.timers {
            engine.arm(timers.loop_step, span, Event::LoopStep);
        }
    }

    fn arm_step_at<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, at: SimTime) {
        if let Some(timers) = self.timers {
            engine.arm_at(timers.loop_step, at, PriorityClass::NORMAL, Event::LoopStep);
        }
    }

    /// The step under way has ended.
    pub(super) fn loop_step<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        match self.main_loop.phase {
            Phase::Idle => {}
            Phase::InitialBusy => self.begin_iteration(engine),
            Phase::Sweep => self.end_iteration(engine),
            Phase::Spin { count, .. } => {
                self.table.use_wake_ups(count);
                self.measures.empty_pops += count;
                self.measures.iterations += count;
                self.begin_iteration(engine);
            }
            Phase::Notification(message) => {
                self.handled(engine, message);
                self.next_notification(engine, SimDuration::ZERO);
            }
            Phase::Lag { link, up } => {
                self.apply_next_hop(engine, link, up);
                self.next_lag(engine, SimDuration::ZERO);
            }
            Phase::LagMember { link, up } => {
                if self.flap_is_partial() {
                    self.apply_next_hop(engine, link, up);
                }
                self.next_lag_member(engine, SimDuration::ZERO);
            }
            Phase::Neighbours => self.sweep(engine),
            Phase::Pop => self.popped(engine),
            Phase::Program => self.program(engine),
            Phase::RingFull => {}
            Phase::RingPoll(executor) => self.poll_ring(engine, executor),
        }
    }

    fn end_iteration<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let span = engine.now().since(self.main_loop.iteration_started);
        self.measures.longest_pass = self.measures.longest_pass.max(span);
        self.begin_iteration(engine);
    }

    /// One `select()`: everything that has arrived is read, one executor is chosen.
    fn begin_iteration<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let now = engine.now();
        for index in 0..self.residual.len() {
            let link = self.residual[index];
            if self.traffic.stage(link) == Stage::ResidualBatch {
                self.traffic.set_stage(now, link, Stage::NotificationQueue);
            }
        }
        self.residual.clear();
        if self.config.mode == Mode::Async && self.syncd.must_flush(now) {
            self.flush_pipeline(engine);
        }
        self.table.synchronise(now);
        self.main_loop.read = self.notifications.len();
        self.main_loop.sweeping = false;
        self.main_loop.iteration_started = now;
        let ready = [
            !self.notifications.is_empty(),
            self.lag_keys.wake_ups > 0,
            self.lag_member_keys.wake_ups > 0,
            self.neighbour_keys.wake_ups > 0,
            self.table.wake_ups() > 0,
        ];
        match self.executors.choose(self.config.priority_mode, ready) {
            None => self.become_idle(engine),
            Some(executor) => self.execute(engine, executor),
        }
    }

    fn become_idle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.main_loop.phase = Phase::Idle;
        self.arm_route_arrival(engine);
        if let (Mode::Async, Some(timers), false) =
            (self.config.mode, self.timers, self.syncd.pipeline.is_empty())
        {
            // select's timeout flushes what is left in the pipeline.
            engine.arm(timers.flush, FLUSH_INTERVAL, Event::Flush);
        }
    }

    pub(super) fn arm_route_arrival<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if !matches!(self.main_loop.phase, Phase::Idle | Phase::Spin { .. }) {
            return;
        }
        if let (Some(due), Some(timers)) = (self.table.next_write(), self.timers) {
            engine.arm_at(timers.route_arrival, due, PriorityClass::NORMAL, Event::RouteArrival);
        }
    }

    fn execute<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, executor: Executor) {
        let waits_for_ring = !matches!(executor, Executor::PortNotification | Executor::Route);
        if self.config.ring.enabled && waits_for_ring && !self.ring.is_idle() {
            let interval = self.config.ring.poll_interval;
            self.step(engine, Phase::RingPoll(executor), interval);
            return;
        }
        if executor == Executor::Route && self.nothing_but_empty_pops() {
            self.spin(engine);
            return;
        }
        self.measures.iterations += 1;
        let select = self.service.select.draw();
        self.run(engine, executor, select);
    }

    pub(super) fn run<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        executor: Executor,
        before: SimDuration,
    ) {
        match executor {
            Executor::PortNotification => {
                self.main_loop.notifications_left = match self.switches.port_notifications {
                    NotificationPop::One => 1,
                    NotificationPop::All => self.notifications.len().min(MAX_NOTIFICATION_POP),
                };
                self.next_notification(engine, before);
            }
            Executor::Lag => {
                self.lag_keys.wake_ups -= 1;
                self.main_loop.keys.clear();
                self.main_loop.keys.append(&mut self.lag_keys.keys);
                self.order_keys();
                self.next_lag(engine, before);
            }
            Executor::LagMember => {
                self.lag_member_keys.wake_ups -= 1;
                self.main_loop.keys.clear();
                self.main_loop.keys.append(&mut self.lag_member_keys.keys);
                self.order_keys();
                self.next_lag_member(engine, before);
            }
            Executor::Neighbour => self.try_neighbours(engine, before),
            Executor::Route => self.pop_routes(engine, before),
        }
    }

    /// Keys are processed in lexicographic order (`m_toSync` is a multimap); they are taken from
    /// the end.
    fn order_keys(&mut self) {
        self.main_loop.keys.sort_unstable_by(|a, b| b.cmp(a));
    }

    // --- port notifications ---------------------------------------------------------------

    fn next_notification<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        before: SimDuration,
    ) {
        let wanted = self.main_loop.notifications_left > 0;
        let Some(message) = (if wanted { self.notifications.pop_front() } else { None }) else {
            if self.main_loop.sweeping {
                self.end_sweep(engine)
            } else {
                self.sweep(engine)
            }
            return;
        };
        self.main_loop.notifications_left -= 1;
        let mut span = before.saturating_add(self.service.notification.draw());
        if message.own {
            if matches!(
                self.traffic.stage(message.link),
                Stage::Publication | Stage::ResidualBatch | Stage::NotificationQueue
            ) {
                self.traffic.set_stage(engine.now(), message.link, Stage::NotificationPass);
            }
            if self.config.topology.link == LinkKind::RoutedPort {
                span = span.saturating_add(self.next_hop_span(message.link));
            }
        }
        self.step(engine, Phase::Notification(message), span);
    }

    // --- LAG_TABLE, LAG_MEMBER_TABLE, NEIGH_TABLE -------------------------------------------

    fn next_lag<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, before: SimDuration) {
        let Some((link, up)) = self.main_loop.keys.pop() else {
            self.sweep_after(engine, before);
            return;
        };
        self.traffic.set_stage(engine.now(), link, Stage::Pruning);
        let span =
            before.saturating_add(self.service.lag.draw()).saturating_add(self.next_hop_span(link));
        self.step(engine, Phase::Lag { link, up }, span);
    }

    fn next_lag_member<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        before: SimDuration,
    ) {
        let Some((link, up)) = self.main_loop.keys.pop() else {
            self.sweep_after(engine, before);
            return;
        };
        if self.flap_is_partial() {
            self.traffic.set_stage(engine.now(), link, Stage::Pruning);
        }
        let span = before.saturating_add(self.service.lag_member.draw());
        self.step(engine, Phase::LagMember { link, up }, span);
    }

    fn try_neighbours<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        before: SimDuration,
    ) {
        self.neighbour_keys.wake_ups -= 1;
        let keys = self.neighbour_keys.keys.len() as u64;
        for (link, _) in self.neighbour_keys.keys.drain(..) {
            if !self.pending_neighbours.contains(&link) {
                self.pending_neighbours.push(link);
            }
        }
        let families = u64::from(self.config.topology.families);
        let span = before.saturating_add(self.service.neighbour.draw_sum(keys * families));
        self.step(engine, Phase::Neighbours, span);
    }

    // --- ROUTE_TABLE ------------------------------------------------------------------------

    /// True when the only thing ready is a route executor whose keys are all gone.
    fn nothing_but_empty_pops(&self) -> bool {
        self.table.wake_ups() > 0
            && self.table.backlog() == 0
            && self.notifications.is_empty()
            && self.lag_keys.wake_ups == 0
            && self.lag_member_keys.wake_ups == 0
            && self.neighbour_keys.wake_ups == 0
    }

    fn spin<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let each = self.service.empty_pop.draw().max(SimDuration::from_nanos(1));
        let count = self.table.wake_ups();
        let since = engine.now();
        self.step(engine, Phase::Spin { since, each, count }, each.saturating_mul(count));
        self.arm_route_arrival(engine);
    }

    fn pop_routes<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, before: SimDuration) {
        self.table.use_wake_ups(1);
        if self.table.backlog() == 0 && self.stuck.is_empty() {
            self.measures.empty_pops += 1;
            let span = before.saturating_add(self.service.empty_pop.draw());
            self.step(engine, Phase::Sweep, span);
            return;
        }
        self.main_loop.factor = self.service.batch_factor();
        self.measures.batches += 1;
        self.main_loop.popped = 0;
        self.table.begin_batch();
        self.take_up_stuck();
        self.pop_once(engine, before);
    }

    fn pop_once<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, before: SimDuration) {
        let limit = u64::from(self.config.pop_batch_size);
        let popped = self.table.pop(limit, &mut self.pop_order, &mut self.batch);
        self.main_loop.popped += popped;
        let pop = match self.switches.route_transport {
            RouteTransport::Redis => self.service.pop_per_key.draw_sum(popped),
            RouteTransport::Zmq => self.service.zmq_pop_per_entry.draw_sum(popped),
        };
        let pop = scaled(pop, self.main_loop.factor);
        if self.switches.route_transport == RouteTransport::Redis {
            self.measures.longest_pop = self.measures.longest_pop.max(pop);
        }
        self.step(engine, Phase::Pop, before.saturating_add(pop));
    }

    fn popped<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if self.switches.route_consumer == RouteConsumer::UntilEmpty {
            self.table.synchronise(engine.now());
            if self.table.backlog() > 0 {
                self.pop_once(engine, SimDuration::ZERO);
                return;
            }
        }
        if self.config.ring.enabled { self.push_to_ring(engine) } else { self.drain(engine) }
    }

    /// Entries whose next hops have come back are tried again; those written anew are dropped.
    fn take_up_stuck(&mut self) {
        let (table, if_down) = (&self.table, &self.if_down);
        self.batch.extend(self.stuck.extract_if(.., |entry| {
            !table.is_superseded(*entry)
                && !table.version(entry.version).members.without(if_down).is_empty()
        }));
        self.stuck.retain(|entry| !table.is_superseded(*entry));
    }

    fn drain<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let factor = self.main_loop.factor;
        let mut batch = std::mem::take(&mut self.batch);
        let progress = self.with_programmer(|programmer, stuck, around| {
            programmer.begin(&mut batch, stuck, factor, around)
        });
        self.batch = batch;
        self.follow(engine, progress);
    }

    fn program<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let progress = self.advance_programmer(engine);
        self.follow(engine, progress);
    }

    fn follow<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, progress: Progress) {
        match progress {
            // Steps that take no time are no events.
            Progress::Busy { span, .. } if span.is_zero() => self.program(engine),
            Progress::Busy { span, .. } => self.step(engine, Phase::Program, span),
            Progress::Done => {
                let started = self.main_loop.iteration_started;
                let seconds = engine.now().since(started).as_seconds();
                self.measures.route_pass_time += seconds;
                if self.main_loop.popped == u64::from(self.config.pop_batch_size) {
                    self.measures.full_pass_time += seconds;
                    self.measures.full_passes += 1;
                }
                self.sweep(engine);
            }
        }
    }

    /// Ends the programmer's step under way, with what follows from programmed routes.
    pub(super) fn advance_programmer<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
    ) -> Progress {
        let now = engine.now();
        let was_in_bulk = self.programmer.is_in_bulk();
        if was_in_bulk && self.traffic.is_disturbed() {
            self.traffic.advance(now);
        }
        let before = self.programmer.done();
        let progress = self.with_programmer(|programmer, _, around| programmer.advance(around));
        if was_in_bulk {
            let count = (self.programmer.done() - before) as u64;
            self.routes_programmed(engine, count);
        }
        if self.config.mode == Mode::Async {
            self.queue_handed_over(engine);
        }
        if was_in_bulk {
            // syncd lets go of its mutex between two requests.
            self.publish_waiting(engine);
        } else {
            self.publish(engine);
        }
        progress
    }

    /// What follows from routes having been programmed.
    pub(super) fn routes_programmed<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        count: u64,
    ) {
        self.measures.routes_programmed += count;
        self.measures.last_programmed = Some(engine.now());
        let groups = self.table.live().len() as u64 * u64::from(self.config.topology.families);
        self.measures.most_groups = self.measures.most_groups.max(groups);
        if self.traffic.is_disturbed() {
            self.traffic.recompute(&self.table);
            self.note_settled(engine, 0);
        }
    }

    pub(super) fn with_programmer(
        &mut self,
        step: impl FnOnce(
            &mut super::programmer::Programmer,
            &mut Vec<Entry>,
            &mut Surroundings<'_>,
        ) -> Progress,
    ) -> Progress {
        let mut around = Surroundings {
            table: &mut self.table,
            service: &mut self.service,
            if_down: self.if_down,
            families: u64::from(self.config.topology.families),
            bulk_chunk_size: self.config.bulk_chunk_size as usize,
            mode: self.config.mode,
            handed_over: &mut self.syncd.pipeline,
        };
        step(&mut self.programmer, &mut self.stuck, &mut around)
    }

    // --- the sweep --------------------------------------------------------------------------

    fn sweep_after<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, before: SimDuration) {
        if before.is_zero() {
            self.sweep(engine);
        } else {
            // The pass found nothing: its select still took time.
            let span = before.saturating_add(self.service.empty_pop.draw());
            self.step(engine, Phase::Sweep, span);
        }
    }

    /// `doTask()` on every Orch: since era B2 it also handles the notifications that had been
    /// read, then it tries again whatever is pending. It is skipped while the ring is busy.
    pub(super) fn sweep<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if self.config.ring.enabled && !self.ring.is_idle() {
            self.end_iteration(engine);
            return;
        }
        let read = self.main_loop.read.min(self.notifications.len());
        if self.switches.port_notifications == NotificationPop::All && read > 0 {
            self.main_loop.sweeping = true;
            self.main_loop.notifications_left = read;
            self.next_notification(engine, SimDuration::ZERO);
            return;
        }
        self.end_sweep(engine);
    }

    fn end_sweep<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.resolve_neighbours();
        let families = u64::from(self.config.topology.families);
        let pending = self.pending_neighbours.len() as u64 * families + self.stuck.len() as u64;
        let span = self.service.sweep.draw();
        let retries = self.service.retry_per_entry.draw_sum(pending);
        self.step(engine, Phase::Sweep, span.saturating_add(retries));
    }

    /// A neighbour can be deleted once no programmed group refers to it.
    fn resolve_neighbours(&mut self) {
        if !self.pending_neighbours.is_empty() {
            let table = &self.table;
            self.pending_neighbours.retain(|link| table.live_with(*link) > 0);
        }
    }
}
