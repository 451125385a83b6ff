//! What the timeline of a traced run shows: what each kthread does, the rows that it is behind with,
//! and how much there is to estimate.
//!
//! A run that is not traced pays one test per event.

use super::component::IpvsEstimator;
use super::prices::RowTime;
use super::task::{State, Task};
use crate::engine::trace::{Chain, Lane, Link};
use crate::engine::{Engine, SimTime};

const LEVELS: [&str; 5] =
    ["services", "temporary list", "kthreads", "behind (ms)", "processor share (%)"];

pub(super) const ESTIMATES: &str = "estimates a row";
pub(super) const NOT_BEGUN: &str = "due, not begun";
pub(super) const ESTIMATED: &str = "is estimated";
pub(super) const WALKS: &str = "walks all estimators";

/// What a kthread does that is not a row.
pub(super) const fn work_name(state: State) -> Option<&'static str> {
    Some(match state {
        State::Draining => "links from the temporary list",
        State::CalcTest(_) => "tests a chain",
        State::Relinking => "moves to the temporary list",
        _ => return None,
    })
}

/// The state after the last event.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline {
    levels: [f64; LEVELS.len()],
    /// Kthreads whose lanes have a name.
    named: usize,
    /// How far behind its time the last row was, in milliseconds.
    behind: f64,
}

/// The lane of a kthread, or of the old timer; the next one is that of the rows that wait for it.
pub(super) const fn lane_of(component: u16, slot: usize) -> Lane {
    Lane { component, lane: 2 * slot as u32 }
}

impl IpvsEstimator {
    /// Begins the timeline.
    pub(super) fn start_timeline<G: Copy>(&mut self, engine: &mut Engine<G>) {
        self.timeline = Timeline { levels: [-1.0; LEVELS.len()], ..Timeline::default() };
        let component = engine.owner();
        if let (Some(trace), true) = (engine.trace(), self.algorithm.old_timer) {
            trace.name_server(lane_of(component, 0), "timer");
        }
    }

    /// Records what the event just handled has changed.
    #[inline]
    pub(super) fn record<G: Copy>(&mut self, engine: &mut Engine<G>) {
        let (now, component) = (engine.now(), engine.owner());
        let Some(trace) = engine.trace() else { return };
        let values = [
            self.services_linked() as f64,
            self.temp_list.len() as f64,
            if self.algorithm.old_timer { 0.0 } else { self.layout.kthreads() as f64 },
            self.timeline.behind,
            self.host.busy_percent(),
        ];
        trace.levels(component, now, LEVELS, values, &mut self.timeline.levels);
        if self.algorithm.old_timer {
            return;
        }
        for slot in self.timeline.named..self.tasks.len() {
            let lane = lane_of(component, slot);
            trace.name_server(lane, &format!("kthread {slot}"));
            let rows = Lane { lane: lane.lane + 1, ..lane };
            trace.name_lane(rows, &format!("rows of kthread {slot}"));
        }
        self.timeline.named = self.tasks.len();
    }

    /// A row that was due at `due` has been estimated since `begin`.
    pub(super) fn note_row<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        slot: usize,
        (due, begin): (SimTime, SimTime),
        time: RowTime,
    ) {
        let (end, component) = (engine.now(), engine.owner());
        self.timeline.behind = begin.since(due).as_seconds() * 1e3;
        let row = self.layout.get(slot).map_or(0, |kthread| kthread.est_row);
        let Some(trace) = engine.trace() else { return };
        let kthread = lane_of(component, slot);
        let value = (time.tick.as_nanos() / 1000) as i64;
        trace.span(kthread, ESTIMATES, (begin, end), value);
        if due >= begin {
            return;
        }
        // One that is late has waited for the kthread.
        let lane = Lane { lane: kthread.lane + 1, ..kthread };
        trace.span(lane, NOT_BEGUN, (due, begin), 0);
        trace.span(lane, ESTIMATED, (begin, end), 0);
        trace.links.push(Link { name: "estimated by", from: (lane, begin), to: (kthread, begin) });
        trace.chains.push(Chain {
            lane,
            name: "row",
            number: row as u64,
            start: due,
            end,
            outcome: "estimated",
            open: false,
            server: Some(kthread),
            parts: vec![
                ("computing", time.tick),
                ("waiting for a core", end.since(begin).saturating_sub(time.tick)),
            ],
        });
    }

    /// The old timer has walked all estimators since `begin`.
    pub(super) fn note_walk<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        begin: SimTime,
        time: RowTime,
    ) {
        let (end, component) = (engine.now(), engine.owner());
        let number = self.layout.linked();
        let Some(trace) = engine.trace() else { return };
        let lane = lane_of(component, 0);
        trace.span(lane, WALKS, (begin, end), 0);
        trace.chains.push(Chain {
            lane,
            name: "walk over estimators:",
            number,
            start: begin,
            end,
            outcome: "done",
            open: false,
            server: Some(lane),
            parts: vec![("computing in softirq", time.tick)],
        });
    }

    /// A kthread's work is done that is not a row.
    pub(super) fn note_work<G: Copy>(&mut self, engine: &mut Engine<G>, slot: usize) {
        let (end, component) = (engine.now(), engine.owner());
        let Some(trace) = engine.trace() else { return };
        if let Some(name) = work_name(self.tasks[slot].state) {
            trace.span(lane_of(component, slot), name, (self.tasks[slot].since, end), 0);
        }
    }

    /// A kthread is stopped in the middle of its work.
    pub(super) fn note_stopped<G: Copy>(&mut self, engine: &mut Engine<G>, slot: usize) {
        let (end, component) = (engine.now(), engine.owner());
        let Task { state, since, .. } = self.tasks[slot];
        if let (Some(trace), State::Estimating(begin, _)) = (engine.trace(), state) {
            trace.span(lane_of(component, slot), ESTIMATES, (begin, end), 0);
        } else if let (Some(trace), Some(name)) = (engine.trace(), work_name(state)) {
            trace.span(lane_of(component, slot), name, (since, end), 0);
        }
    }

    /// Something happened to a kthread.
    pub(super) fn note<G: Copy>(
        &mut self,
        engine: &mut Engine<G>,
        slot: usize,
        what: &'static str,
    ) {
        let (now, component) = (engine.now(), engine.owner());
        if let Some(trace) = engine.trace() {
            trace.instant(lane_of(component, slot), what, now);
        }
    }
}
