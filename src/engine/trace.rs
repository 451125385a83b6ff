//! What a run did when, for the timeline: spans, instants and counters.
//!
//! Off by default; a component asks [`super::Engine::trace`] and records only if there is one.

use super::time::SimTime;

/// Where in the timeline something is drawn: a component's lane, for instance one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lane {
    /// Index of the component.
    pub component: u16,
    /// The lane within the component; the component's model names it.
    pub lane: u32,
}

/// Something that lasted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Where it is drawn.
    pub lane: Lane,
    /// What it was.
    pub name: &'static str,
    /// When it began.
    pub start: SimTime,
    /// When it ended.
    pub end: SimTime,
    /// A figure that goes with it, for instance the size of a batch.
    pub value: i64,
}

/// Something that happened at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instant {
    /// Where it is drawn.
    pub lane: Lane,
    /// What it was.
    pub name: &'static str,
    /// When.
    pub time: SimTime,
    /// A figure that goes with it.
    pub value: i64,
}

/// A level from an instant on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Index of the component.
    pub component: u16,
    /// Of what.
    pub name: &'static str,
    /// Since when.
    pub time: SimTime,
    /// How much.
    pub value: f64,
}

/// The record of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// What lasted, in the order in which it ended.
    pub spans: Vec<Span>,
    /// What happened, in order.
    pub instants: Vec<Instant>,
    /// Levels, in order of time.
    pub levels: Vec<Level>,
    /// Names of lanes, in the order in which they were given.
    pub lane_names: Vec<(Lane, String)>,
}

impl Trace {
    /// Forgets what was recorded, keeping the memory.
    pub fn clear(&mut self) {
        self.spans.clear();
        self.instants.clear();
        self.levels.clear();
        self.lane_names.clear();
    }

    /// Says what a lane is; a lane without a name is shown by its number.
    pub fn name_lane(&mut self, lane: Lane, name: &str) {
        self.lane_names.push((lane, name.to_owned()));
    }
}
