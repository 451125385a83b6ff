//! A traced replication reduced to what pictures show of it, as `timeline.json` keeps it beside the
//! results: a picture has so many pixels, and a record no more than it takes to fill them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Timeline;
use crate::engine::SimTime;
use crate::engine::trace::{Chain, Lane, Span};

/// The file.
pub const FILE: &str = "timeline.json";
/// Version of its format.
const VERSION: u32 = 2;
/// How many instants of the time axis are told apart.
const RESOLUTION: f64 = 1_000.0;
/// Most steps of a share of time; beyond, what is shown is its average over stretches.
const MOST_STEPS: usize = 400;
/// In the name of a counter that is a share of time.
const SHARE: &str = "share";
/// A window that is longer than so many of its longest chain shows that chain's surroundings only.
const MOST_CHAINS: f64 = 20.0;
/// A window around one chain is widened until it has so many spans.
const FEW_SPANS: usize = 6;
/// From so many parts of the resolution on, spans that follow each other are told apart.
const SEEN: f64 = 6.0;
/// Most lanes, and how many of them are left to those that wait for the others.
const MOST_LANES: usize = 24;
const LEFT_TO_WAITING: usize = 6;
/// Most rows within a lane whose spans overlap.
const MOST_ROWS: u16 = 12;

/// Since when a counter was how much.
type Steps = Vec<(f64, f64)>;

/// What pictures show of one replication.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    version: u32,
    /// The configuration.
    pub configuration: String,
    /// Which replication, and why this one.
    pub replication: String,
    /// When it ended, in seconds.
    pub end: f64,
    /// What was counted.
    pub levels: Vec<Level>,
    /// What happened, by kind.
    pub events: Vec<Events>,
    /// What lasted, lane by lane, in the time of `window`.
    pub lanes: Vec<LaneRecord>,
    /// How many lanes there were, with those that are left out; 0 where that is not known.
    #[serde(default)]
    pub lanes_in_all: usize,
    /// From when to when the lanes are shown, in seconds.
    pub window: (f64, f64),
    /// Whether more went on than a record holds, so that it ends before the replication.
    #[serde(default)]
    pub ends_early: bool,
    /// Whether the replication ended before what was asked for had come about.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
}

/// A counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Of what.
    pub name: String,
    /// Since when it was how much.
    pub steps: Vec<(f64, f64)>,
}

/// Events of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Events {
    /// What.
    pub name: String,
    /// How many there were.
    pub count: usize,
    /// When, in seconds; those that would fall into one pixel once.
    pub times: Vec<f64>,
}

/// A lane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaneRecord {
    /// Who.
    pub name: String,
    /// How many rows it takes, as spans that overlap go to different ones.
    pub rows: u16,
    /// What lasted.
    pub spans: Vec<Bar>,
    /// What happened.
    pub marks: Vec<Moment>,
}

/// Something that happened; several alike, one after the other, where a picture could not tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// What.
    pub name: String,
    /// When, in seconds.
    pub time: f64,
}

/// Something that lasted; several alike, one after the other, where a picture could not tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// What.
    pub name: String,
    /// The row in its lane.
    pub row: u16,
    /// From when to when, in seconds.
    pub ends: (f64, f64),
    /// It was still going on when the replication ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

impl Record {
    /// Of the replication of `configuration` that `replication` describes.
    #[must_use]
    pub fn new(timeline: Timeline<'_>, configuration: &str, replication: String) -> Self {
        let trace = timeline.trace;
        let ends = trace.spans.iter().map(|span| span.end);
        let ends = ends.chain(trace.instants.iter().map(|instant| instant.time));
        let end = ends.chain(trace.levels.iter().map(|level| level.time)).max();
        let unfinished = !trace.left.is_empty();
        // One that was cut off lasted until then, whatever happened last.
        let cut = Some(trace.end).filter(|_| unfinished);
        let end = seconds(end.max(cut).unwrap_or(SimTime::ZERO));
        let (shown, lanes_in_all) = lanes(timeline);
        let window = window(timeline, &shown, end);
        Self {
            version: VERSION,
            configuration: configuration.to_owned(),
            replication,
            end,
            levels: levels(timeline, end),
            events: events(timeline, end),
            lanes: shown.into_iter().map(|lane| lane_record(timeline, lane, window)).collect(),
            lanes_in_all,
            window,
            ends_early: !trace.has_room(),
            unfinished,
        }
    }

    /// True when there is nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty() && self.lanes.is_empty()
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// From JSON; nothing if it is of another version.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().filter(|record: &Self| record.version == VERSION)
    }
}

/// In whole microseconds, so that a file has no digits without meaning.
fn seconds(time: SimTime) -> f64 {
    (time.as_seconds() * 1e6).round() / 1e6
}

/// The names of what several components count or are say whose it is.
fn name(timeline: Timeline<'_>, component: u16, name: &str) -> String {
    if timeline.components.len() > 1 {
        format!("{}: {name}", timeline.component(component))
    } else {
        name.to_owned()
    }
}

fn levels(timeline: Timeline<'_>, end: f64) -> Vec<Level> {
    let mut all: Vec<((u16, &str), Steps)> = Vec::new();
    for level in &timeline.trace.levels {
        let key = (level.component, level.name);
        let step = (seconds(level.time), level.value);
        match all.iter_mut().find(|(known, _)| *known == key) {
            Some((_, steps)) => steps.push(step),
            None => all.push((key, vec![step])),
        }
    }
    // What never changes tells nothing.
    all.retain(|(_, steps)| steps.len() > 1 || steps.iter().any(|step| step.1 != 0.0));
    all.into_iter()
        .map(|((component, of), steps)| Level {
            name: name(timeline, component, of),
            steps: if of.contains(SHARE) {
                averaged(&steps, end)
            } else {
                thinned(&steps, end / RESOLUTION)
            },
        })
        .collect()
}

/// The first, least, greatest and last step of each stretch of `width`.
fn thinned(steps: &[(f64, f64)], width: f64) -> Steps {
    let stretch = |step: &(f64, f64)| if width > 0.0 { (step.0 / width) as u64 } else { 0 };
    let mut kept = Vec::new();
    for group in steps.chunk_by(|a, b| stretch(a) == stretch(b)) {
        if let [first, .., last] = group
            && group.len() > 4
        {
            let values = || group.iter().map(|step| step.1);
            let (least, most) = (
                values().fold(f64::INFINITY, f64::min),
                values().fold(f64::NEG_INFINITY, f64::max),
            );
            kept.extend([*first, (first.0, least), (first.0, most), *last]);
        } else {
            kept.extend_from_slice(group);
        }
    }
    kept
}

/// The average of each stretch of time, where there are too many steps to see.
fn averaged(steps: &[(f64, f64)], end: f64) -> Steps {
    if steps.len() <= MOST_STEPS {
        return steps.to_vec();
    }
    let width = end / MOST_STEPS as f64;
    let mut areas = vec![0.0; MOST_STEPS];
    let ends = steps.iter().skip(1).map(|step| step.0).chain([end]);
    for ((start, value), end) in steps.iter().zip(ends) {
        let mut from = *start;
        let mut stretch = (from / width) as usize;
        while from < end && stretch < MOST_STEPS {
            let to = ((stretch + 1) as f64 * width).min(end);
            areas[stretch] += (to - from).max(0.0) * value;
            (from, stretch) = (to, stretch + 1);
        }
    }
    let rounded = |value: f64| (value * 1e6).round() / 1e6;
    let step = |(index, area): (usize, f64)| (rounded(index as f64 * width), rounded(area / width));
    areas.into_iter().enumerate().map(step).collect()
}

fn events(timeline: Timeline<'_>, end: f64) -> Vec<Events> {
    let mut all: Vec<Events> = Vec::new();
    for instant in &timeline.trace.instants {
        let time = seconds(instant.time);
        let of = name(timeline, instant.lane.component, instant.name);
        let known = match all.iter_mut().position(|events| events.name == of) {
            Some(known) => known,
            None => {
                all.push(Events { name: of, count: 0, times: Vec::new() });
                all.len() - 1
            }
        };
        let events = &mut all[known];
        events.count += 1;
        if events.times.last().is_none_or(|last| time - last > end / RESOLUTION) {
            events.times.push(time);
        }
    }
    all
}

/// The lanes to show: those that the others wait for, then those of the longest chains, or the
/// busiest where there are no chains; and how many there are in all.
fn lanes(timeline: Timeline<'_>) -> (Vec<Lane>, usize) {
    let trace = timeline.trace;
    let mut busy: BTreeMap<Lane, f64> = BTreeMap::new();
    for span in &trace.spans {
        *busy.entry(span.lane).or_default() += span.end.since(span.start).as_seconds();
    }
    let is_server = |lane: &Lane| trace.servers.contains(lane);
    let (mut servers, mut others): (Vec<_>, Vec<_>) =
        busy.into_iter().partition(|(lane, _)| is_server(lane));
    let longest_first = |lanes: &mut Vec<(Lane, f64)>| {
        lanes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    };
    longest_first(&mut servers);
    let mut all: BTreeSet<Lane> = servers.iter().chain(&others).map(|(lane, _)| *lane).collect();
    let mut chains: BTreeMap<Lane, f64> = BTreeMap::new();
    for chain in trace.chains.iter().filter(|chain| !is_server(&chain.lane)) {
        let length = chains.entry(chain.lane).or_default();
        *length = length.max(chain.end.since(chain.start).as_seconds());
    }
    if !chains.is_empty() {
        all.extend(chains.keys());
        others = chains.into_iter().collect();
    }
    servers.truncate(MOST_LANES - others.len().min(LEFT_TO_WAITING));
    longest_first(&mut others);
    others.truncate(MOST_LANES - servers.len());
    servers.sort_by_key(|(lane, _)| *lane);
    others.sort_by_key(|(lane, _)| *lane);
    (servers.into_iter().chain(others).map(|(lane, _)| lane).collect(), all.len())
}

/// The time of the chains that are shown, or around the longest where that is little of it; all of
/// it without chains.
fn window(timeline: Timeline<'_>, shown: &[Lane], end: f64) -> (f64, f64) {
    let chains: Vec<&Chain> =
        timeline.trace.chains.iter().filter(|chain| shown.contains(&chain.lane)).collect();
    let first = chains.iter().map(|chain| seconds(chain.start)).fold(f64::INFINITY, f64::min);
    let last = chains.iter().map(|chain| seconds(chain.end)).fold(0.0, f64::max);
    let longest = chains.iter().min_by_key(|chain| Reverse(chain.end.since(chain.start)));
    if let Some(longest) = longest {
        let (start, end) = (seconds(longest.start), seconds(longest.end));
        if end > start && last - first > (end - start) * MOST_CHAINS {
            return around(timeline, shown, (start, end), last);
        }
    }
    if first < last {
        let room = (last - first) * 0.03;
        ((first - room).max(0.0), (last + room).min(end.max(last)))
    } else {
        (0.0, end)
    }
}

/// The surroundings of what went on between `start` and `end`: as little as it takes to see some of
/// what else went on.
fn around(
    timeline: Timeline<'_>,
    shown: &[Lane],
    (start, end): (f64, f64),
    last: f64,
) -> (f64, f64) {
    let spans: Vec<(f64, f64)> = timeline
        .trace
        .spans
        .iter()
        .filter(|span| shown.contains(&span.lane))
        .map(|span| (seconds(span.start), seconds(span.end)))
        .collect();
    let mut room = (end - start) * MOST_CHAINS / 6.0;
    loop {
        let window = ((start - room).max(0.0), (end + room).min(last));
        let within = spans.iter().filter(|span| span.0 < window.1 && span.1 > window.0).count();
        if within >= FEW_SPANS.min(spans.len()) || room >= last {
            return window;
        }
        room *= 1.5;
    }
}

fn lane_record(timeline: Timeline<'_>, lane: Lane, window: (f64, f64)) -> LaneRecord {
    let width = (window.1 - window.0) / RESOLUTION;
    let mut spans: Vec<&Span> =
        timeline.trace.spans.iter().filter(|span| span.lane == lane).collect();
    spans.sort_by_key(|span| (span.start, span.end));
    let mut bars: Vec<Bar> = Vec::new();
    // For each row: when it is free again, and its last bar.
    let mut rows: Vec<(SimTime, Option<usize>)> = Vec::new();
    for span in spans {
        let ends = (seconds(span.start).max(window.0), seconds(span.end).min(window.1));
        let row = rows.iter().position(|(free, _)| *free <= span.start);
        let row = row.unwrap_or_else(|| {
            rows.push((SimTime::ZERO, None));
            rows.len() - 1
        });
        rows[row].0 = span.end;
        if ends.0 >= ends.1 {
            continue;
        }
        match rows[row].1.map(|last| &mut bars[last]) {
            // Both long enough to be seen stay apart.
            Some(last)
                if last.name == span.name
                    && ends.0 - last.ends.1 < width
                    && !last.open
                    && (ends.1 - ends.0).min(last.ends.1 - last.ends.0) < SEEN * width =>
            {
                last.ends.1 = ends.1;
                last.open = span.open;
            }
            _ => {
                rows[row].1 = Some(bars.len());
                let (name, row) = (span.name.to_owned(), (row as u16) % MOST_ROWS);
                bars.push(Bar { name, row, ends, open: span.open });
            }
        }
    }
    let mut marks: Vec<Moment> = Vec::new();
    for instant in timeline.trace.instants.iter().filter(|instant| instant.lane == lane) {
        let time = seconds(instant.time);
        let name = name(timeline, lane.component, instant.name);
        let last = marks.iter().rfind(|mark| mark.name == name);
        let far = last.is_none_or(|last| time - last.time > width);
        if far && (window.0..=window.1).contains(&time) {
            marks.push(Moment { name, time });
        }
    }
    let name = name(timeline, lane.component, &timeline.lane(lane));
    LaneRecord { name, rows: (rows.len() as u16).clamp(1, MOST_ROWS), spans: bars, marks }
}
