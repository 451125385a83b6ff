//! What a run did when, for the timeline: spans, instants and counters.
//!
//! Off by default; a component asks [`super::Engine::trace`] and records only if there is one.

use super::time::{SimDuration, SimTime};

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
    /// A figure that goes with it, for instance the size of a batch; for what someone waited for, how
    /// many were before.
    pub value: i64,
    /// It was still going on when the replication ended, and is known up to there only.
    pub open: bool,
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

/// From what made something happen to what happened, each within something that lasted there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// What it says.
    pub name: &'static str,
    /// Where and when it begins.
    pub from: (Lane, SimTime),
    /// Where and when it ends.
    pub to: (Lane, SimTime),
}

/// What someone waited for, from its beginning to its outcome: a request, the outage of a path.
/// What it consists of are the spans and instants of its lane in that time.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Where it is.
    pub lane: Lane,
    /// What it was.
    pub name: &'static str,
    /// Which one of its lane; 0 where there is no need to tell.
    pub number: u64,
    /// When it began.
    pub start: SimTime,
    /// When it had its outcome.
    pub end: SimTime,
    /// The outcome; of one that is open, what had not come about.
    pub outcome: &'static str,
    /// The replication ended before it had an outcome.
    pub open: bool,
    /// Whom it waited for; none of the component's servers in particular without.
    pub server: Option<Lane>,
    /// What is known of where its time went beside its spans.
    pub parts: Vec<(&'static str, SimDuration)>,
}

/// How many of what a component had not done when the replication ended, though it was to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Index of the component.
    pub component: u16,
    /// Of what, as it follows a number: the first word is a plural, or has none.
    pub what: &'static str,
    /// How many.
    pub count: u64,
}

/// A record ends when it has this much, so that a long run does not fill the memory (48 bytes each).
pub const MOST_RECORDS: usize = 1_500_000;

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
    /// Lanes of those that the others wait for: threads, workers.
    pub servers: Vec<Lane>,
    /// Names of spans, by component, in which one waits for none of those: a pause of one's own.
    pub alone: Vec<(u16, &'static str)>,
    /// What led to what.
    pub links: Vec<Link>,
    /// What was waited for, in the order in which it ended.
    pub chains: Vec<Chain>,
    /// What was left to do when the replication ended; nothing where all that was asked for came
    /// about.
    pub left: Vec<Left>,
    /// When the replication ended; zero as long as it goes on.
    pub end: SimTime,
}

impl Trace {
    /// Forgets what was recorded, keeping the memory.
    pub fn clear(&mut self) {
        self.spans.clear();
        self.instants.clear();
        self.levels.clear();
        self.lane_names.clear();
        self.servers.clear();
        self.alone.clear();
        self.links.clear();
        self.chains.clear();
        self.left.clear();
        self.end = SimTime::ZERO;
    }

    /// False once it holds [`MOST_RECORDS`].
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.spans.len() + self.instants.len() + self.levels.len() < MOST_RECORDS
    }

    /// Records something that lasted, if it did.
    pub fn span(&mut self, lane: Lane, name: &'static str, ends: (SimTime, SimTime), value: i64) {
        let (start, end) = ends;
        if start < end {
            self.spans.push(Span { lane, name, start, end, value, open: false });
        }
    }

    /// Records something that was still going on when the replication ended.
    pub fn open_span(
        &mut self,
        lane: Lane,
        name: &'static str,
        (start, end): (SimTime, SimTime),
        value: i64,
    ) {
        if start < end {
            self.spans.push(Span { lane, name, start, end, value, open: true });
        }
    }

    /// Records how much was left to do, if anything was.
    pub fn left(&mut self, component: u16, what: &'static str, count: u64) {
        if count > 0 {
            self.left.push(Left { component, what, count });
        }
    }

    /// How long what has begun in `lane` since `from` took, by name, in the order in which it began.
    #[must_use]
    pub fn sums(&self, lane: Lane, from: SimTime) -> Vec<(&'static str, SimDuration)> {
        let mut sums: Vec<(&'static str, SimDuration)> = Vec::new();
        for span in self.spans.iter().filter(|span| span.lane == lane && span.start >= from) {
            let took = span.end.since(span.start);
            match sums.iter_mut().find(|(name, _)| *name == span.name) {
                Some((_, sum)) => *sum = sum.saturating_add(took),
                None => sums.push((span.name, took)),
            }
        }
        sums
    }

    /// The replication has ended at `end`: what was to last longer is open.
    pub fn cut(&mut self, end: SimTime) {
        self.end = end;
        for span in self.spans.iter_mut().filter(|span| span.end > end) {
            (span.end, span.open) = (end, true);
        }
        self.spans.retain(|span| !span.open || span.start < span.end);
    }

    /// Records something that happened.
    pub fn instant(&mut self, lane: Lane, name: &'static str, time: SimTime) {
        self.instants.push(Instant { lane, name, time, value: 0 });
    }

    /// Records those of `values` that are no longer as in `known`.
    pub fn levels<const N: usize>(
        &mut self,
        component: u16,
        time: SimTime,
        names: [&'static str; N],
        values: [f64; N],
        known: &mut [f64; N],
    ) {
        for ((name, value), known) in names.into_iter().zip(values).zip(known) {
            if *known != value {
                *known = value;
                self.levels.push(Level { component, name, time, value });
            }
        }
    }

    /// Says what a lane is that others wait for.
    pub fn name_server(&mut self, lane: Lane, name: &str) {
        self.name_lane(lane, name);
        self.servers.push(lane);
    }

    /// Says what a lane is; a lane without a name is shown by its number.
    pub fn name_lane(&mut self, lane: Lane, name: &str) {
        self.lane_names.push((lane, name.to_owned()));
    }
}
