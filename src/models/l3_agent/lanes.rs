//! A list of commands run by itself: `xargs -P` over it, or a loop.

use super::component::{Event, L3Agent, LastReady, Owner};
use super::costs::Split;
use super::metrics::Account;
use super::program::ProgramKey;
use crate::engine::{Engine, SimTime};
use crate::resources::Attribution;

/// Takes that a list is split into at most, so that millions of commands cost no more.
const MOST_TAKES: u32 = 100_000;

/// The list and who works on it.
#[derive(Debug, Default)]
pub struct Lanes {
    /// Commands that no lane has taken.
    remaining: u32,
    /// Commands that a lane takes at a time: one, unless there are very many.
    take: u32,
    running: u32,
    accounts: Vec<Account>,
    /// When each lane took what it runs.
    taken: Vec<SimTime>,
}

impl Lanes {
    /// Commands that no lane has taken.
    #[must_use]
    pub fn remaining(&self) -> u32 {
        self.remaining
    }

    /// A lane takes its next commands: how many, if there are any.
    pub fn take(&mut self) -> Option<u32> {
        let count = self.remaining.min(self.take);
        if count == 0 {
            return None;
        }
        self.remaining -= count;
        self.running += 1;
        Some(count)
    }

    /// True when all commands have ended.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.remaining == 0 && self.running == 0
    }

    /// A lane begins what it has taken.
    pub fn begin(&mut self, lane: u32, now: SimTime) {
        self.taken[lane as usize] = now;
    }

    /// When a lane began what it has taken.
    #[must_use]
    pub fn began(&self, lane: u32) -> SimTime {
        self.taken[lane as usize]
    }

    /// Lanes at work.
    #[must_use]
    pub fn running(&self) -> u32 {
        self.running
    }
}

impl L3Agent {
    pub(super) fn start_lanes<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let Some(plan) = self.settings.commands else { return };
        self.lanes.remaining = plan.count;
        self.lanes.take = plan.count.div_ceil(MOST_TAKES).max(1);
        self.lanes.running = 0;
        self.lanes.accounts.clear();
        self.lanes.accounts.resize(plan.concurrency as usize, Account::default());
        self.lanes.taken.clear();
        self.lanes.taken.resize(plan.concurrency as usize, SimTime::ZERO);
        self.real_time.reset();
        if plan.real_time.is_some() {
            return self.start_real_time(engine, plan.concurrency);
        }
        for lane in 0..plan.concurrency {
            let first = if lane == 0 { plan.first } else { Split::default() };
            self.run_lane(engine, lane, first);
        }
    }

    /// What the first command costs on top.
    pub(super) fn first_cost(&self) -> Split {
        self.settings.commands.map_or_else(Split::default, |plan| plan.first)
    }

    fn run_lane<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, lane: u32, first: Split) {
        let Some(plan) = self.settings.commands else { return };
        let Some(count) = self.lanes.take() else { return };
        self.lanes.begin(lane, engine.now());
        let item = self.lanes.remaining;
        self.builder.begin(ProgramKey { stage: ProgramKey::COMMAND, item, time: 0 });
        if first.total() > 0.0 {
            self.builder.spawn(first, plan.each.locked);
        }
        self.builder.operation(&plan.each, count);
        self.host.submit(engine, Owner::Lane.tag(lane), self.builder.steps());
    }

    pub(super) fn lane_done<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        lane: u32,
        parts: &Attribution,
    ) {
        self.note_commands(engine, lane, parts);
        self.account_lane(engine.now(), lane, parts);
        self.run_lane(engine, lane, Split::default());
    }

    /// What a lane took has ended.
    pub(super) fn account_lane(&mut self, now: SimTime, lane: u32, parts: &Attribution) {
        self.lanes.running -= 1;
        self.figures.worker_account.host.add(parts);
        let account = &mut self.lanes.accounts[lane as usize];
        account.host.add(parts);
        let (asked, started) = (SimTime::ZERO, SimTime::ZERO);
        self.figures.last = LastReady { asked, started, ready: now, account: *account };
    }
}
