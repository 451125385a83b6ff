//! Heartbeats, what stops them, and what the server makes of it.
//!
//! A report is due every `report_interval` at a random phase. It leaves when the agent's
//! interpreter is free (a stalled agent sends none), reaches the server, and if it is a call the
//! agent waits for the answer, at most one interval. An agent whose last report is older than
//! `agent_down_time` is seen dead. For a stall of S seconds at a random phase that has the
//! probability clamp((S - 45 s) / 30 s, 0, 1): the last report is 0 to 30 s old when it begins.

use std::collections::VecDeque;

use rand::RngExt;

use super::component::{Event, L3Agent, Owner};
use crate::engine::{Engine, PriorityClass, SimDuration, SimTime, Timer};
use crate::resources::Step;

/// What is known of the agent's reports.
#[derive(Debug, Default)]
pub struct LivenessState {
    report_timer: Option<Timer>,
    arrival_timer: Option<Timer>,
    /// When reports that are on their way or wait at the server are done, in order.
    arrivals: VecDeque<SimTime>,
    answer_timer: Option<Timer>,
    check_timer: Option<Timer>,
    stall_timer: Option<Timer>,
    /// When the report that is under way was due.
    pub(super) due: SimTime,
    /// A report that is to be sent or waits for its answer.
    pub(super) reporting: bool,
    /// The answer is too late for the agent.
    unanswered: bool,
    /// The server has found that the agent was dead, and its answer says so.
    revived: bool,
    pub(super) last_seen: SimTime,
    /// Nothing stalls, or the stall is over and a report has come since.
    pub stall_is_over: bool,
    /// The agent's process stands still.
    pub stalled: bool,
    /// What the agent learns of when it goes on, in order.
    late: Vec<Event>,
    stalled_until: Option<SimTime>,
    pub(super) ended: bool,
    /// Received by the server.
    pub received: u64,
    /// Due and not received in their interval.
    pub missed: u64,
    /// Calls not answered in time.
    pub timeouts: u64,
    /// The longest time without a report.
    pub longest_gap: SimDuration,
    /// Seen dead at some time.
    pub seen_dead: bool,
    /// Routers moved to other agents.
    pub rescheduled: u64,
}

impl LivenessState {
    /// True when the answer that is on its way tells the agent to sync fully.
    #[must_use]
    pub fn brings_a_sync(&self) -> bool {
        self.revived && self.reporting && !self.unanswered
    }

    /// No more reports and checks.
    pub fn end<G: Copy>(&mut self, engine: &mut Engine<G>) {
        self.ended = true;
        self.arrivals.clear();
        let timers = [self.report_timer, self.arrival_timer, self.answer_timer, self.check_timer];
        for timer in timers.into_iter().flatten() {
            engine.disarm(timer);
        }
    }
}

impl L3Agent {
    pub(super) fn start_liveness<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let settings = &self.config.liveness;
        let mut arrivals = std::mem::take(&mut self.liveness.arrivals);
        arrivals.clear();
        let mut late = std::mem::take(&mut self.liveness.late);
        late.clear();
        let mut state = LivenessState { arrivals, late, ..LivenessState::default() };
        let phase = self.streams.liveness.random::<f64>() * settings.report_interval.as_seconds();
        let phase = SimDuration::from_seconds(phase);
        Self::arm(&mut state.report_timer, engine, phase, Event::ReportDue);
        // agents_db.py: every max(agent_down_time // 2, 1) seconds, the first after one to two.
        let interval = check_interval(settings.agent_down_time);
        let share = 1.0 + self.streams.liveness.random::<f64>();
        let first = SimDuration::from_seconds(interval.as_seconds() * share);
        Self::arm(&mut state.check_timer, engine, first, Event::ServerCheck);
        state.stall_is_over = settings.stall.is_zero();
        if !state.stall_is_over {
            Self::arm(&mut state.stall_timer, engine, settings.stall_at, Event::Stall);
        }
        self.liveness = state;
    }

    /// More has come after everything was done: reports go on, the time without work not counted.
    pub(super) fn resume_liveness<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let state = &mut self.liveness;
        state.ended = false;
        state.last_seen = engine.now();
        let interval = self.config.liveness.report_interval;
        Self::arm(&mut state.report_timer, engine, interval, Event::ReportDue);
        let interval = check_interval(self.config.liveness.agent_down_time);
        Self::arm(&mut state.check_timer, engine, interval, Event::ServerCheck);
    }

    /// Something blocks the agent's only thread: for a while none of its greenthreads runs, also
    /// none that waits for a command or an answer that has come.
    pub(super) fn begin_stall<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.note_stall(engine);
        self.liveness.stalled = true;
        self.host.hold(engine);
        let stall = self.config.liveness.stall;
        Self::arm(&mut self.liveness.stall_timer, engine, stall, Event::StallOver);
    }

    /// Timers that ran out meanwhile come first, as in eventlet's hub, then what else has come.
    pub(super) fn stall_over<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.note_stall_over(engine);
        self.liveness.stalled = false;
        self.liveness.stalled_until = Some(engine.now());
        self.host.release(engine);
        let mut late = std::mem::take(&mut self.liveness.late);
        for event in late.drain(..) {
            self.hear(engine, event);
        }
        self.liveness.late = late;
        self.start_port_updates(engine);
        self.dispatch(engine);
    }

    /// The agent's process hears of an event, when it goes on if it is stalled.
    pub(super) fn hear<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
        if self.liveness.stalled {
            self.liveness.late.push(event);
            return;
        }
        match event {
            Event::Worker(worker) => self.worker_answered(engine, worker),
            Event::SyncCheck => self.sync_check(engine),
            Event::SyncReply => self.sync_reply(engine),
            Event::ReportDue => self.report_due(engine),
            Event::ReportAnswered => self.report_answered(engine),
            _ => debug_assert!(false, "the agent's process has no part in {event:?}"),
        }
    }

    /// A report is due: it leaves when the interpreter is free.
    pub(super) fn report_due<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let interval = self.config.liveness.report_interval;
        self.liveness.due = engine.now();
        self.liveness.reporting = true;
        self.timeline.report_due(engine.now());
        if !self.settings.rules.report_is_call {
            self.timeline.next_report(engine.now().saturating_add(interval));
            Self::arm(&mut self.liveness.report_timer, engine, interval, Event::ReportDue);
        }
        // A nanosecond of work asks for the interpreter without taking time.
        let work = SimDuration::from_nanos(1);
        let step = Step::Cpu { work, interpreter: Some(self.interpreter) };
        self.host.submit(engine, Owner::Report.tag(0), &[step]);
    }

    pub(super) fn send_report<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if self.liveness.ended {
            return;
        }
        let now = engine.now();
        let service = self.service(0, 0);
        let done = if self.settings.rules.own_queue {
            now.saturating_add(service)
        } else {
            self.rpc.serve(now, service)
        };
        let takes = done.since(now);
        self.note_sent(engine);
        self.liveness.arrivals.push_back(done);
        if self.liveness.arrivals.len() == 1 {
            self.await_arrival(engine);
        }
        if self.settings.rules.report_is_call {
            let timeout = self.config.liveness.report_interval;
            self.liveness.unanswered = takes > timeout;
            let wait = takes.min(timeout);
            Self::arm(&mut self.liveness.answer_timer, engine, wait, Event::ReportAnswered);
        }
    }

    /// A report is known to the server before its answer, due at the same instant, is.
    fn await_arrival<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let state = &mut self.liveness;
        let Some(&time) = state.arrivals.front() else { return };
        let timer = *state.arrival_timer.get_or_insert_with(|| engine.add_timer());
        engine.arm_at(timer, time, PriorityClass::FIRST, Event::ReportArrived);
    }

    pub(super) fn report_arrived<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let now = engine.now();
        self.note_arrival(engine, self.liveness.last_seen);
        let gap = self.note_gap(now);
        self.liveness.arrivals.pop_front();
        self.await_arrival(engine);
        let state = &mut self.liveness;
        state.received += 1;
        state.last_seen = now;
        let dead = gap > self.config.liveness.agent_down_time;
        state.revived |= dead && self.settings.rules.report_is_call;
        if state.stalled_until.is_some_and(|end| end <= now) {
            state.stall_is_over = true;
        }
    }

    /// Looks at the time since the last report.
    fn note_gap(&mut self, now: SimTime) -> SimDuration {
        let settings = &self.config.liveness;
        let state = &mut self.liveness;
        let gap = now.since(state.last_seen);
        state.longest_gap = state.longest_gap.max(gap);
        state.seen_dead |= gap > settings.agent_down_time;
        let intervals = gap.as_seconds() / settings.report_interval.as_seconds();
        state.missed += ((intervals + 0.5) as u64).saturating_sub(1);
        gap
    }

    pub(super) fn report_answered<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.note_report(engine, self.liveness.due, !self.liveness.unanswered);
        let state = &mut self.liveness;
        state.reporting = false;
        if state.unanswered {
            state.timeouts += 1;
        }
        let revived = state.revived && !state.unanswered;
        if revived {
            state.revived = false;
        }
        // A fixed interval from due time to due time; at once when that has passed.
        let next = state.due.saturating_add(self.config.liveness.report_interval);
        let delay = next.since(engine.now());
        self.timeline.next_report(next.max(engine.now()));
        Self::arm(&mut state.report_timer, engine, delay, Event::ReportDue);
        if revived {
            self.want_sync(engine);
        }
    }

    /// The server moves the routers of an agent that has been dead for long.
    pub(super) fn server_check<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let settings = &self.config.liveness;
        let interval = check_interval(settings.agent_down_time);
        Self::arm(&mut self.liveness.check_timer, engine, interval, Event::ServerCheck);
        let silent = engine.now().since(self.liveness.last_seen);
        self.liveness.seen_dead |= silent > settings.agent_down_time;
        if !settings.automatic_failover || silent <= settings.dead_limit {
            return;
        }
        for router in 0..self.bound_routers() {
            self.queue.forget(router);
        }
        self.liveness.rescheduled += u64::from(self.bound_routers());
        self.moved = self.settings.routers;
    }
}

fn check_interval(agent_down_time: SimDuration) -> SimDuration {
    let seconds = agent_down_time.as_nanos() / 1_000_000_000 / 2;
    SimDuration::from_whole_seconds(seconds.max(1))
}
