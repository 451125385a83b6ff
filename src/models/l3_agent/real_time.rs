//! A list of commands at real-time priority, several at once: how those of the measurements ran.
//!
//! Entering a mount namespace and leaving it again each end in an expedited RCU grace period:
//! `namespace_unlock` in the kernel's `fs/namespace.c`, after the old `/sys` is unmounted and when the
//! namespace is torn down at exit. A kernel thread of normal priority has to run for one
//! (`rcu_exp_gp_kthread_worker`). It stays on the core where it ran last, and a command of real-time
//! priority on that core keeps it out until it ends or waits for a grace period itself:
//!
//! ```text
//!  core 0, with the worker   | A computes      |gp| A computes     |gp| ...
//!  core 1                    | B computes | . . waits . . |gp| B computes | . . waits . . |gp|
//! ```
//!
//! So the command on the worker's core never waits and the others wait for what that one still has
//! to do, half of it on average: of two at once the second does 1 / 1.5 of the work of the first,
//! and two cores do that of 1.67. Commands that enter no namespace wait for nothing, and at
//! normal priority the worker gets its core at once: neither is run here.
//!
//! Commands of one real-time priority do not share a core: each keeps it until it waits or ends.
//!
//! Where the time between the two grace periods begins within a command is not measured: half of
//! the namespace entry is counted before the first. Commands of 5 to 100 ms hardly depend on it.

use std::collections::VecDeque;

use super::component::{Event, L3Agent};
use super::costs::Split;
use super::program::ProgramKey;
use crate::engine::{Engine, SimDuration, SimTime, Timer};
use crate::resources::Attribution;

/// The core on which the worker of the grace periods stays.
const WORKER_CORE: usize = 0;

/// A command as work, a grace period, work and another grace period; nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pieces {
    /// Work before the first grace period.
    pub before: f64,
    /// Work after it.
    pub after: f64,
    /// Each of the two.
    pub grace: f64,
}

impl Pieces {
    /// A command of `cost` of whose work the share `before` comes before its first grace period.
    #[must_use]
    pub fn of(cost: Split, before: f64) -> Self {
        if cost.blocked <= 0.0 {
            return Self { before: cost.cpu, after: 0.0, grace: 0.0 };
        }
        let first = cost.cpu * before;
        Self { before: first, after: cost.cpu - first, grace: cost.blocked / 2.0 }
    }
}

/// Where a command is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Before,
    FirstGrace,
    After,
    SecondGrace,
}

/// One of the commands in flight.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    stage: Stage,
    /// Since when it has been waiting for a core or for a grace period.
    since: SimTime,
    last_core: Option<usize>,
    before: SimDuration,
    after: SimDuration,
    grace: SimDuration,
    parts: Attribution,
}

impl Lane {
    fn work(&self) -> SimDuration {
        if self.stage == Stage::Before { self.before } else { self.after }
    }
}

/// Where a command in flight is.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// It wants a core.
    Ready,
    /// It computes.
    Core,
    /// It waits for a grace period.
    Grace,
}

/// Cores, the commands on them, and grace periods.
#[derive(Debug, Default)]
pub struct RealTime {
    lanes: Vec<Lane>,
    /// Which lane each core runs.
    cores: Vec<Option<u32>>,
    core_timers: Vec<Timer>,
    /// Lanes that want a core, the one that has waited longest first.
    ready: VecDeque<u32>,
    /// Lanes that want the next grace period.
    waiting: Vec<u32>,
    /// Lanes that the grace period under way is for; none when there is none.
    served: Vec<u32>,
    /// Those of a grace period that has just ended.
    ended: Vec<u32>,
    grace_timer: Option<Timer>,
    /// Core time used.
    busy: SimDuration,
}

impl RealTime {
    /// Core-seconds used.
    #[must_use]
    pub fn busy_seconds(&self) -> f64 {
        self.busy.as_seconds()
    }

    /// The share of the cores in use, in per cent; 0 when nothing runs here.
    #[must_use]
    pub fn busy_percent(&self) -> f64 {
        let running = self.cores.iter().flatten().count();
        running as f64 / self.cores.len().max(1) as f64 * 100.0
    }

    /// The commands in flight by lane, each with where its time went of the `taken` since it was
    /// begun.
    pub fn open(&self, taken: impl Fn(u32) -> SimDuration) -> Vec<(u32, Attribution)> {
        let ready = self.ready.iter().map(|lane| (*lane, Place::Ready));
        let computing = self.cores.iter().flatten().map(|lane| (*lane, Place::Core));
        let blocked = self.waiting.iter().chain(&self.served).map(|lane| (*lane, Place::Grace));
        let open = |(lane, place): (u32, Place)| {
            let mut parts = self.lanes[lane as usize].parts;
            let rest = taken(lane).saturating_sub(parts.total());
            let part = match place {
                Place::Ready => &mut parts.cpu_wait,
                Place::Core => &mut parts.spawn_cpu,
                Place::Grace => &mut parts.spawn_blocked,
            };
            *part = part.saturating_add(rest);
            (lane, parts)
        };
        ready.chain(computing).chain(blocked).map(open).collect()
    }

    /// Core time of the commands that have a core, of the `taken` since each was begun.
    pub fn open_busy(&self, taken: impl Fn(u32) -> SimDuration) -> SimDuration {
        let rest =
            |lane: &u32| taken(*lane).saturating_sub(self.lanes[*lane as usize].parts.total());
        let running = self.cores.iter().flatten();
        running.map(rest).fold(SimDuration::ZERO, SimDuration::saturating_add)
    }

    /// Nothing has run.
    pub fn reset(&mut self) {
        self.lanes.clear();
        self.cores.clear();
        self.core_timers.clear();
        self.ready.clear();
        self.waiting.clear();
        self.served.clear();
        self.grace_timer = None;
        self.busy = SimDuration::ZERO;
    }

    /// The ready lane that ran on `core` last, or else the one that has waited longest.
    fn take_ready(&mut self, core: usize) -> Option<u32> {
        let lanes = &self.lanes;
        let at_home = |&lane: &u32| lanes[lane as usize].last_core == Some(core);
        let position = self.ready.iter().position(at_home).unwrap_or(0);
        self.ready.remove(position)
    }
}

fn nanos(value: f64) -> SimDuration {
    SimDuration::from_nanos((value + 0.5) as u64)
}

impl L3Agent {
    pub(super) fn start_real_time<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        concurrency: u32,
    ) {
        let state = &mut self.real_time;
        state.lanes.resize(concurrency as usize, Lane::default());
        state.cores.resize((self.settings.cores as usize).max(1), None);
        for _ in 0..state.cores.len() {
            state.core_timers.push(engine.add_timer());
        }
        state.grace_timer = Some(engine.add_timer());
        for lane in 0..concurrency {
            let first = if lane == 0 { self.first_cost() } else { Split::default() };
            self.next_command(engine.now(), lane, first);
        }
        self.run_cores(engine);
    }

    /// The lane's next command wants a core, if there is one left.
    fn next_command(&mut self, now: SimTime, lane: u32, first: Split) {
        let Some(plan) = self.settings.commands else { return };
        let (Some(pieces), Some(count)) = (plan.real_time, self.lanes.take()) else { return };
        let item = self.lanes.remaining();
        self.builder.begin(ProgramKey { stage: ProgramKey::COMMAND, item, time: 0 });
        let factor = self.builder.count(&plan.each, count);
        let state = &mut self.real_time;
        let last_core = state.lanes[lane as usize].last_core;
        state.lanes[lane as usize] = Lane {
            since: now,
            last_core,
            before: nanos(first.total() + pieces.before * factor),
            after: nanos(pieces.after * factor),
            grace: nanos(pieces.grace * factor),
            ..Lane::default()
        };
        state.ready.push_back(lane);
        self.lanes.begin(lane, now);
    }

    /// Gives free cores to ready lanes; what is left of the worker's core goes to a grace period.
    fn run_cores<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let now = engine.now();
        let state = &mut self.real_time;
        for core in 0..state.cores.len() {
            if state.cores[core].is_some() {
                continue;
            }
            let Some(index) = state.take_ready(core) else { break };
            let lane = &mut state.lanes[index as usize];
            let waited = now.since(lane.since);
            lane.parts.cpu_wait = lane.parts.cpu_wait.saturating_add(waited);
            lane.last_core = Some(core);
            state.cores[core] = Some(index);
            engine.arm(state.core_timers[core], lane.work(), Event::Core(core as u32));
        }
        let may_begin = state.served.is_empty() && state.cores[WORKER_CORE].is_none();
        if let (true, Some(&first), Some(timer)) =
            (may_begin, state.waiting.first(), state.grace_timer)
        {
            std::mem::swap(&mut state.served, &mut state.waiting);
            engine.arm(timer, state.lanes[first as usize].grace, Event::GracePeriod);
        }
    }

    /// The command on `core` waits for a grace period, or has ended.
    pub(super) fn core_freed<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, core: u32) {
        let now = engine.now();
        let state = &mut self.real_time;
        let Some(index) = state.cores[core as usize].take() else { return };
        let lane = &mut state.lanes[index as usize];
        let work = lane.work();
        lane.parts.spawn_cpu = lane.parts.spawn_cpu.saturating_add(work);
        state.busy = state.busy.saturating_add(work);
        lane.since = now;
        if lane.grace.is_zero() {
            self.command_done(engine, index);
        } else {
            lane.stage =
                if lane.stage == Stage::Before { Stage::FirstGrace } else { Stage::SecondGrace };
            state.waiting.push(index);
        }
        self.run_cores(engine);
    }

    /// A grace period has ended for all that waited when it began.
    pub(super) fn grace_period_over<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let now = engine.now();
        let state = &mut self.real_time;
        std::mem::swap(&mut state.ended, &mut state.served);
        for position in 0..self.real_time.ended.len() {
            let state = &mut self.real_time;
            let index = state.ended[position];
            let lane = &mut state.lanes[index as usize];
            let waited = now.since(lane.since);
            lane.parts.spawn_blocked = lane.parts.spawn_blocked.saturating_add(waited);
            lane.since = now;
            if lane.stage == Stage::FirstGrace {
                lane.stage = Stage::After;
                state.ready.push_back(index);
            } else {
                self.command_done(engine, index);
            }
        }
        self.real_time.ended.clear();
        self.run_cores(engine);
    }

    fn command_done<G: Copy>(&mut self, engine: &mut Engine<G>, lane: u32) {
        let (now, parts) = (engine.now(), self.real_time.lanes[lane as usize].parts);
        self.note_commands(engine, lane, &parts);
        self.account_lane(now, lane, &parts);
        self.next_command(now, lane, Split::default());
    }
}
