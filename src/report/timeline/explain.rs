//! Why something took as long as it did: the chain of what each lane waited for, with what its
//! component was busy with meanwhile.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Timeline;
use super::text::rounded;
use crate::engine::SimDuration;
use crate::engine::trace::{Lane, Span};
use crate::quantities::duration::format_duration;

/// A component's first lane is what everything else in it waits for.
const BUSY: u32 = 0;
/// What lasted less than this share of its chain is not broken down.
const WORTH_BREAKING_DOWN: f64 = 0.02;

/// A chain for each lane that something happened to, in the order in which they begin.
#[must_use]
pub fn explain(timeline: Timeline<'_>) -> String {
    let mut text = String::new();
    let instants = || timeline.trace.instants.iter();
    let mut lanes = timeline.lanes();
    // In the order in which their chains begin.
    lanes.sort_by_key(|lane| instants().find(|i| i.lane == *lane).map(|i| i.time));
    for lane in lanes.into_iter().filter(|lane| lane.lane != BUSY) {
        let mut instants = instants().filter(|i| i.lane == lane);
        // What has no beginning has no cause to tell.
        let Some(first) = instants.next() else { continue };
        let spans: Vec<&Span> =
            timeline.trace.spans.iter().filter(|span| span.lane == lane).collect();
        let name = timeline.lane(lane);
        let at = |time: crate::engine::SimTime| format!("{:.3} s", time.as_seconds());
        let _ = write!(text, "{name} {} at {}", first.name, at(first.time));
        let total = spans.iter().map(|span| span.end.since(span.start).as_seconds()).sum::<f64>();
        let mut marks = instants.peekable();
        for span in &spans {
            while let Some(mark) = marks.next_if(|mark| mark.time <= span.start) {
                let _ = write!(text, "\n    {} at {}", mark.name, at(mark.time));
            }
            let lasted = span.end.since(span.start);
            let _ = write!(text, "\n    -> {} {}", span.name, short(lasted));
            if lasted.as_seconds() >= total * WORTH_BREAKING_DOWN {
                text.push_str(&meanwhile(timeline, lane, span));
            }
        }
        for mark in marks {
            let _ = write!(text, "\n    -> {} at {}", mark.name, at(mark.time));
        }
        text.push_str("\n\n");
    }
    if text.is_empty() {
        text.push_str("nothing that has a beginning was recorded; see --text\n");
    }
    text
}

/// How much of `span` its component was busy with what, ended or under way in it.
fn meanwhile(timeline: Timeline<'_>, lane: Lane, span: &Span) -> String {
    let busy = Lane { lane: BUSY, ..lane };
    let mut kinds: BTreeMap<&str, (u64, SimDuration)> = BTreeMap::new();
    for other in timeline.trace.spans.iter().filter(|other| other.lane == busy) {
        let (start, end) = (other.start.max(span.start), other.end.min(span.end));
        if start < end {
            let (count, sum) = kinds.entry(other.name).or_default();
            *count += 1;
            *sum = sum.saturating_add(end.since(start));
        }
    }
    let mut kinds: Vec<(&str, (u64, SimDuration))> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, (_, sum))| std::cmp::Reverse(*sum));
    let part = |(name, (count, sum)): &(&str, (u64, SimDuration))| {
        format!("{count} x {name} {}", short(*sum))
    };
    let mut parts: Vec<String> = Vec::new();
    if span.value > 0 {
        parts.push(format!("behind {} at its beginning", span.value));
    }
    parts.extend(kinds.iter().map(part));
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

fn short(span: SimDuration) -> String {
    format_duration(rounded(span))
}
