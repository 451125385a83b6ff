//! The full sync: `fetch_and_sync_all_routers` of Neutron's l3/agent.py.
//!
//! In chunks: the identifiers of all routers, then their state in chunks, each put into the queue
//! as it comes. A timeout halves the chunk (not below the least) and the sync begins anew at the
//! next check; a sync that succeeds adds the least chunk (not above the greatest). Before that
//! (Launchpad 1516260): one call for all routers, which begins anew after each timeout, for ever
//! when the server needs longer.

use super::component::{Event, L3Agent};
use super::rpc::{Method, Outcome};
use super::workers::trace_span;
use super::workload::UpdateKind;
use crate::engine::{Engine, SimTime, Timer};

/// What the sync waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    /// The identifiers of all routers.
    Identifiers,
    /// The state of the routers from this one on.
    Chunk(u32),
}

/// Where the full sync is.
#[derive(Debug, Default)]
pub struct SyncState {
    wanted: bool,
    /// Since when it has been wanted.
    pub(super) wanted_since: SimTime,
    phase: Phase,
    chunk: u32,
    /// Routers in the chunk that was asked for.
    asked: u32,
    timed_out: bool,
    pub(super) began: SimTime,
    check_timer: Option<Timer>,
    call_timer: Option<Timer>,
    /// When a sync had been answered completely for the first time.
    pub answered: Option<SimTime>,
    /// Begun.
    pub begun: u64,
    /// Ended by a timeout.
    pub timeouts: u64,
}

impl SyncState {
    /// True when none is wanted or under way.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        !self.wanted && self.phase == Phase::Idle
    }

    /// True while a call is under way.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.phase != Phase::Idle
    }

    /// Routers in a chunk.
    #[must_use]
    pub fn chunk(&self) -> u32 {
        self.chunk
    }

    /// No more checks.
    pub fn end<G: Copy>(&mut self, engine: &mut Engine<G>) {
        if let Some(timer) = self.check_timer {
            engine.disarm(timer);
        }
    }
}

impl L3Agent {
    /// An agent that starts syncs fully.
    pub(super) fn start_sync<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.sync =
            SyncState { chunk: self.config.agent.sync_chunk.max(1), ..SyncState::default() };
        if self.settings.routers > 0 {
            self.sync.wanted = true;
            let delay = self.config.agent.sync_start_delay;
            Self::arm(&mut self.sync.check_timer, engine, delay, Event::SyncCheck);
        }
    }

    /// The agent must sync fully.
    pub(super) fn want_sync<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if self.settings.routers == 0 || self.sync.wanted {
            return;
        }
        self.sync.wanted = true;
        self.sync.wanted_since = engine.now();
        let interval = self.config.agent.sync_check_interval;
        Self::arm(&mut self.sync.check_timer, engine, interval, Event::SyncCheck);
    }

    pub(super) fn sync_check<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if !self.sync.wanted || self.sync.phase != Phase::Idle {
            return;
        }
        self.sync.begun += 1;
        self.sync.began = engine.now();
        if self.settings.rules.sync_in_chunks {
            self.sync.phase = Phase::Identifiers;
            self.sync_call(engine, Method::GetRouterIds, 0);
        } else {
            self.ask_for_chunk(engine, 0);
        }
    }

    fn ask_for_chunk<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, from: u32) {
        // The server moves routers to other agents from the end of the list.
        let left = self.bound_routers().saturating_sub(from);
        let most = if self.settings.rules.sync_in_chunks { self.sync.chunk } else { left };
        self.sync.asked = left.min(most);
        self.sync.phase = Phase::Chunk(from);
        self.sync_call(engine, Method::SyncRouters, self.sync.asked);
    }

    fn sync_call<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        method: Method,
        routers: u32,
    ) {
        let now = engine.now();
        let service = self.service(routers, 0);
        let (at, timed_out) = match self.rpc.call(now, method, service, &mut self.streams.backoff) {
            Outcome::Answered(at) => (at, false),
            Outcome::TimedOut(at) => (at, true),
        };
        self.sync.timed_out = timed_out;
        Self::arm(&mut self.sync.call_timer, engine, at.since(now), Event::SyncReply);
    }

    pub(super) fn sync_reply<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if self.sync.timed_out {
            self.sync_failed(engine);
            return;
        }
        let next = match self.sync.phase {
            Phase::Chunk(from) => {
                let timestamp = self.sync.began;
                for router in from..from + self.sync.asked {
                    self.enqueue(engine, router, UpdateKind::Sync, timestamp, true);
                }
                from + self.sync.asked
            }
            _ => 0,
        };
        if next < self.bound_routers() {
            self.ask_for_chunk(engine, next);
            return;
        }
        trace_span(engine, 0, "full sync", self.sync.began, i64::from(next));
        self.sync.phase = Phase::Idle;
        self.sync.wanted = false;
        self.sync.answered.get_or_insert(engine.now());
        let agent = &self.config.agent;
        let grown = self.sync.chunk.saturating_add(agent.sync_chunk_min);
        self.sync.chunk = grown.min(agent.sync_chunk);
    }

    fn sync_failed<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.sync.timeouts += 1;
        trace_span(engine, 0, "full sync timed out", self.sync.began, 0);
        let least = self.config.agent.sync_chunk_min.min(self.config.agent.sync_chunk);
        self.sync.chunk = (self.sync.chunk / 2).max(least).max(1);
        self.sync.phase = Phase::Idle;
        let interval = self.config.agent.sync_check_interval;
        Self::arm(&mut self.sync.check_timer, engine, interval, Event::SyncCheck);
    }

    /// Routers of the full sync that the server has not moved.
    pub(super) fn bound_routers(&self) -> u32 {
        self.settings.routers - self.moved
    }
}
