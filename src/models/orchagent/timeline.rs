//! What the timeline of a traced run shows: the loop's iterations, what each path waits for, and
//! how much waits and is lost.
//!
//! The state is compared with what it was after the event before, so the mechanism itself knows
//! nothing of this. A run that is not traced pays one test per event.

use super::component::Orchagent;
use super::config::Mode;
use super::main_loop::Phase;
use super::traffic::Stage;
use crate::engine::trace::{Chain, Instant, Lane, Link, Span, Trace};
use crate::engine::{Engine, SimTime};

/// The lane of the main loop.
pub(super) const MAIN_LOOP: u32 = 0;
/// The lane of the ring thread.
pub(super) const RING: u32 = 1;
/// The lane of path 0; those of the others follow, and then that of syncd.
pub(super) const FIRST_PATH: u32 = 2;

/// The state after the last event.
#[derive(Debug, Default)]
pub struct Timeline {
    pub(super) paths: Vec<Path>,
    pub(super) iteration: Option<Iteration>,
    /// When the ring thread took up what it is busy with.
    pub(super) ring_since: Option<SimTime>,
    /// Async: since when syncd has had requests.
    pub(super) syncd_since: Option<SimTime>,
    levels: [f64; LEVELS.len()],
}

/// What is counted: routes that wait, notifications that wait, and the share of the traffic that
/// is lost.
const LEVELS: [&str; 3] = ["routes waiting", "notifications waiting", "traffic lost (%)"];

/// One path as of the last event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    pub(super) up: bool,
    /// What it waits for, since when, and how many notifications were before its own then.
    pub(super) waits: Option<(Stage, SimTime, i64)>,
    /// Since when it has waited, for one thing or another.
    pub(super) since: SimTime,
}

/// An iteration of the loop under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Iteration {
    pub(super) name: &'static str,
    pub(super) since: SimTime,
    /// Which one, by count.
    number: u64,
    /// Keys popped, or messages or keys handled.
    pub(super) size: i64,
    last: Phase,
}

impl Timeline {
    fn start(
        &mut self,
        paths: impl Iterator<Item = bool>,
        mode: Mode,
        trace: &mut Trace,
        component: u16,
    ) {
        self.paths.clear();
        self.paths.extend(paths.map(|up| Path { up, waits: None, since: SimTime::ZERO }));
        self.iteration = None;
        self.ring_since = None;
        self.syncd_since = None;
        self.levels = [-1.0; LEVELS.len()];
        // Those of other processes, which none of the servers here holds up.
        trace.alone.extend([Stage::Teamd, Stage::Bgp].map(|stage| (component, stage_name(stage))));
        trace.name_server(Lane { component, lane: MAIN_LOOP }, "main loop");
        trace.name_server(Lane { component, lane: RING }, "ring thread");
        for path in 0..self.paths.len() as u32 {
            trace.name_lane(Lane { component, lane: FIRST_PATH + path }, &format!("path {path}"));
        }
        if mode == Mode::Async {
            trace.name_server(Lane { component, lane: self.syncd_lane() }, "syncd");
        }
    }

    pub(super) fn syncd_lane(&self) -> u32 {
        FIRST_PATH + self.paths.len() as u32
    }
}

impl Orchagent {
    /// Begins the timeline, if the run is traced.
    pub(super) fn start_timeline<G: Copy>(&mut self, engine: &mut Engine<G>) {
        let component = engine.owner();
        if let Some(trace) = engine.trace() {
            let up = self.links.iter().map(|link| link.up);
            self.timeline.start(up, self.config.mode, trace, component);
        }
        self.record(engine);
    }

    /// Records what the event just handled has changed.
    #[inline]
    pub(super) fn record<G: Copy>(&mut self, engine: &mut Engine<G>) {
        let (now, component) = (engine.now(), engine.owner());
        if let Some(trace) = engine.trace() {
            self.record_loop(trace, component, now);
            self.record_ring(trace, component, now);
            self.record_syncd(trace, component, now);
            self.record_paths(trace, component, now);
            self.record_levels(trace, component, now);
        }
    }

    fn record_loop(&mut self, trace: &mut Trace, component: u16, now: SimTime) {
        let (phase, since) = (self.main_loop.phase, self.main_loop.iteration_started);
        let number = self.measures.iterations;
        let goes_on = |i: &Iteration| (i.since, i.number) == (since, number);
        if let Some(over) = self.timeline.iteration.take_if(|i| phase == Phase::Idle || !goes_on(i))
            && over.since < now
        {
            let lane = Lane { component, lane: MAIN_LOOP };
            let Iteration { name, since: start, size, .. } = over;
            trace.spans.push(Span { lane, name, start, end: now, value: size, open: false });
        }
        let Some(name) = name_of(phase) else { return };
        let fresh = Iteration { name, since, number, size: 0, last: Phase::Idle };
        let iteration = self.timeline.iteration.get_or_insert(fresh);
        if iteration.name == SWEEP {
            iteration.name = name;
        }
        match phase {
            _ if iteration.last == phase => {}
            Phase::Pop | Phase::Program => iteration.size = self.main_loop.popped as i64,
            Phase::Notification(_) if iteration.name == NOTIFICATION => iteration.size += 1,
            Phase::Lag { .. } | Phase::LagMember { .. } => iteration.size += 1,
            Phase::Spin { count, .. } => iteration.size = count as i64,
            _ => {}
        }
        iteration.last = phase;
    }

    fn record_ring(&mut self, trace: &mut Trace, component: u16, now: SimTime) {
        let idle = self.ring.is_idle();
        match self.timeline.ring_since {
            None if !idle => self.timeline.ring_since = Some(now),
            Some(start) if idle => {
                self.timeline.ring_since = None;
                trace.span(Lane { component, lane: RING }, ROUTE_BATCHES, (start, now), 0);
            }
            _ => {}
        }
    }

    /// Async: syncd works off its queue beside orchagent.
    fn record_syncd(&mut self, trace: &mut Trace, component: u16, now: SimTime) {
        let idle = self.syncd.requests.is_empty();
        match self.timeline.syncd_since {
            None if !idle => self.timeline.syncd_since = Some(now),
            Some(start) if idle => {
                self.timeline.syncd_since = None;
                let lane = Lane { component, lane: self.timeline.syncd_lane() };
                trace.span(lane, REQUESTS, (start, now), 0);
            }
            _ => {}
        }
    }

    fn record_paths(&mut self, trace: &mut Trace, component: u16, now: SimTime) {
        for index in 0..self.timeline.paths.len() {
            let (path, up) = (index as u16, self.links[index].up);
            let lane = Lane { component, lane: FIRST_PATH + u32::from(path) };
            let waits = self.traffic.is_unsettled(path).then(|| self.traffic.stage(path));
            let known = &mut self.timeline.paths[index];
            if known.up != up {
                known.up = up;
                let name = if up { "up" } else { "down" };
                trace.instants.push(Instant { lane, name, time: now, value: 0 });
            }
            if known.waits.map(|(stage, _, _)| stage) == waits {
                continue;
            }
            match known.waits.take() {
                Some((stage, start, value)) => {
                    let name = stage_name(stage);
                    trace.spans.push(Span { lane, name, start, end: now, value, open: false });
                    if let Some(iteration) = self.timeline.iteration {
                        let main_loop = Lane { component, lane: MAIN_LOOP };
                        let (from, to) = ((main_loop, iteration.since), (lane, now));
                        trace.links.push(Link { name: "handled by", from, to });
                    }
                }
                None => known.since = now,
            }
            if waits.is_none() {
                let outcome = if up { "in use again" } else { "pruned" };
                trace.instants.push(Instant { lane, name: outcome, time: now, value: 0 });
                let name = if up { "return" } else { "outage" };
                let (start, end, server) = (known.since, now, None);
                let (number, parts, open) = (0, Vec::new(), false);
                trace.chains.push(Chain {
                    lane,
                    name,
                    number,
                    start,
                    end,
                    outcome,
                    open,
                    server,
                    parts,
                });
            }
            let own = self.notifications.iter().position(|m| m.own && m.link == path);
            known.waits = waits.map(|stage| (stage, now, own.unwrap_or(0) as i64));
        }
    }

    fn record_levels(&mut self, trace: &mut Trace, component: u16, time: SimTime) {
        let levels = [
            self.table.backlog() as f64,
            self.notifications.len() as f64,
            self.traffic.loss_rate() * 100.0,
        ];
        trace.levels(component, time, LEVELS, levels, &mut self.timeline.levels);
    }
}

/// What the ring thread is busy with, and syncd.
pub(super) const ROUTE_BATCHES: &str = "route batches";
pub(super) const REQUESTS: &str = "requests";
const NOTIFICATION: &str = "port notification";
const SWEEP: &str = "sweep";

/// The iteration that a phase belongs to; a sweep belongs to the one before it.
fn name_of(phase: Phase) -> Option<&'static str> {
    Some(match phase {
        Phase::Idle => return None,
        Phase::InitialBusy => "busy from before",
        Phase::Notification(_) => NOTIFICATION,
        Phase::Lag { .. } => "LAG_TABLE pass",
        Phase::LagMember { .. } => "LAG_MEMBER_TABLE pass",
        Phase::Neighbours => "NEIGH_TABLE pass",
        Phase::Pop | Phase::Program | Phase::RingFull => "route batch",
        Phase::RingPoll(_) => "waits for the ring",
        Phase::Sweep => SWEEP,
        Phase::Spin { .. } => "empty pops",
    })
}

/// What a path waits for, as its span is called.
pub(super) const fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Publication => "publication",
        Stage::ResidualBatch => "residual batch",
        Stage::NotificationQueue => "notification queue",
        Stage::NotificationPass => "notification pass",
        Stage::Teamd => "teamd",
        Stage::LagPass => "LAG pass",
        Stage::Pruning => "pruning",
        Stage::RouteProgramming => "route programming",
        Stage::Bgp => "bgp",
    }
}
