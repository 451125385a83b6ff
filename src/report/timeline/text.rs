//! The timeline for a terminal: a line for each thing that happened, in order of time.

use super::Timeline;
use crate::engine::trace::Lane;
use crate::engine::{SimDuration, SimTime};
use crate::quantities::duration::format_duration;
use crate::report::terminal::hanging;
use std::collections::BTreeMap;

/// The widest the column with the names of lanes becomes.
const NAMES: usize = 32;

/// What is said of something that the end of the replication cut off.
pub(super) const STILL: &str = ", and still at the end";

/// The whole timeline. Something that lasted stands where it began, with how long it lasted and who
/// brought it about.
#[must_use]
pub fn text(timeline: Timeline<'_>) -> String {
    let several = timeline.components.len() > 1;
    let place = |lane| {
        let name = timeline.lane(lane);
        if several { format!("{}/{name}", timeline.component(lane.component)) } else { name }
    };
    let links = timeline.trace.links.iter();
    let causes: BTreeMap<(Lane, SimTime), Lane> =
        links.map(|link| (link.to, link.from.0)).collect();
    let mut lines: Vec<(SimTime, u8, String, String)> = Vec::new();
    for instant in &timeline.trace.instants {
        let what = with_value(instant.name, instant.value);
        lines.push((instant.time, 0, place(instant.lane), what));
    }
    for span in &timeline.trace.spans {
        let lasted = format_duration(rounded(span.end.since(span.start)));
        let cause = causes.get(&(span.lane, span.start));
        let cause = cause.map_or_else(String::new, |lane| format!("  <- {}", place(*lane)));
        let open = if span.open { STILL } else { "" };
        let what = format!("{}  {lasted}{open}{cause}", with_value(span.name, span.value));
        lines.push((span.start, 1, place(span.lane), what));
    }
    lines.sort_by_key(|line| (line.0, line.1));
    let width = lines.iter().map(|line| line.2.chars().count()).max().unwrap_or(0).min(NAMES);
    let mut text = String::new();
    for (time, _, lane, what) in lines {
        let start = format!("{}  ", seconds(time));
        let indent = start.len() + width + 2;
        text.push_str(&hanging(&start, indent, &format!("{lane:width$}  {what}")));
    }
    text
}

/// An instant in seconds, aligned.
pub(super) fn seconds(time: SimTime) -> String {
    format!("{:11.6} s", time.as_seconds())
}

/// To whole microseconds once that is no more than a thousandth.
pub(super) fn rounded(span: SimDuration) -> SimDuration {
    let nanos = span.as_nanos();
    let unit = if nanos >= 1_000_000_000 {
        1_000_000
    } else if nanos >= 1_000_000 {
        1_000
    } else {
        1
    };
    SimDuration::from_nanos((nanos + unit / 2) / unit * unit)
}

fn with_value(name: &str, value: i64) -> String {
    if value == 0 { name.to_owned() } else { format!("{name} [{value}]") }
}
