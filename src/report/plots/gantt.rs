//! One replication, lane by lane: who was busy with what, and who waited for what.

use super::axis::Axis;
use super::drawing::{Align, Area, Drawing, Mark};
use super::frame::{LINE, heading, legend_above, legend_height, swatches};
use super::style::{GRID, HEIGHT, INK, MARGIN, MUTED, TEXT, WIDTH, clipped, colour, text_width};
use crate::models::Unit;
use crate::report::number::Scale;
use crate::report::timeline::{LaneRecord, Record};

/// Kinds with a colour of their own; the others share the last.
const MOST_KINDS: usize = 7;
/// Height of a lane.
const LANE: f64 = 20.0;
/// The least width of a bar.
const HAIR: f64 = 1.0;
/// The widest the names of lanes become.
const NAMES: f64 = 170.0;
/// Kinds of events that are named.
const MOST_EVENTS: usize = 6;
/// The share of the time that counts as all of it: what goes on before the first chain begins and
/// after the last ends is seldom missed.
const WHOLE: f64 = 0.9;

/// The picture.
#[must_use]
pub fn gantt(record: &Record) -> Option<Drawing> {
    if record.lanes.is_empty() || record.window.0 >= record.window.1 {
        return None;
    }
    let kinds = kinds(record);
    let mut names: Vec<String> = kinds.iter().take(MOST_KINDS - 1).cloned().collect();
    names.extend((kinds.len() == MOST_KINDS).then(|| kinds[MOST_KINDS - 1].clone()));
    names.extend((kinds.len() > MOST_KINDS).then(|| "other".to_owned()));
    let entries = swatches(&names);
    let head = MARGIN + 54.0 + legend_height(&entries);
    let foot = 2.0 * LINE + MARGIN + 4.0;
    let count = record.lanes.len() as f64;
    // A few lanes need no whole slide.
    let step = ((HEIGHT - head - foot) / count).clamp(LANE, 1.6 * LANE);
    let height = (head + count * step + foot).ceil();
    let mut drawing = Drawing::new((WIDTH, height));
    let title = format!("{}, replication {}", record.configuration, record.replication);
    let top = heading(&mut drawing, &title, &subtitle(record));
    let top = legend_above(&mut drawing, &entries, top + 2.0) + 4.0;
    let widest = record.lanes.iter().map(|lane| text_width(&lane.name, TEXT)).fold(0.0, f64::max);
    let area = Area {
        left: MARGIN + widest.min(NAMES) + 10.0,
        top,
        right: WIDTH - MARGIN - 24.0,
        bottom: height - foot,
    };
    let area = Area { bottom: area.top + step * count, ..area };
    let axis = Axis::within(record.window.0, record.window.1);
    let x = |time: f64| area.left + (area.right - area.left) * axis.share(time);
    for (time, label) in axis.roomy_ticks(area.right - area.left) {
        drawing.line(vec![(x(*time), area.top), (x(*time), area.bottom)], GRID, 1.0);
        let below = area.bottom + 6.0 + TEXT * 0.5;
        drawing.text((x(*time), below), label.clone(), INK, Align::Centre);
    }
    let middle = f64::midpoint(area.left, area.right);
    let below = area.bottom + 10.0 + TEXT * 1.5;
    drawing.text((middle, below), "virtual time (s)", MUTED, Align::Centre);
    for (index, lane) in record.lanes.iter().enumerate() {
        let top = area.top + step * index as f64;
        let name = clipped(&lane.name, TEXT, NAMES);
        drawing.text((area.left - 10.0, top + step / 2.0), name, INK, Align::Right);
        let area = Area { top, bottom: top + step, ..area };
        draw_lane(&mut drawing, area, lane, &kinds, x);
    }
    Some(drawing)
}

fn draw_lane(
    drawing: &mut Drawing,
    area: Area,
    lane: &LaneRecord,
    kinds: &[String],
    x: impl Fn(f64) -> f64,
) {
    let start = drawing.marks.len();
    let inset = 2.5;
    let row = (area.bottom - area.top - 2.0 * inset) / f64::from(lane.rows);
    for bar in &lane.spans {
        let kind = kinds.iter().position(|kind| *kind == bar.name).unwrap_or(MOST_KINDS);
        let top = area.top + inset + row * f64::from(bar.row);
        // What is too short to be seen is shown as wide as a hair; between two that can be told
        // apart there is a gap.
        let left = x(bar.ends.0);
        let right = x(bar.ends.1);
        let right = if right - left > 4.0 { right - 0.8 } else { right };
        let right = right.max(left + HAIR).min(area.right);
        let area = Area { left: left.min(right), top, right, bottom: top + row };
        let colour = colour(kind.min(MOST_KINDS - 1));
        drawing.marks.push(Mark::Box { area, colour, opacity: 1.0 });
    }
    for mark in &lane.marks {
        let at = x(*mark);
        let (left, right) = ((at - 0.75).max(area.left), (at + 0.75).min(area.right));
        let area = Area { left, top: area.top + 0.5, right, bottom: area.bottom - 0.5 };
        drawing.marks.push(Mark::Box { area, colour: INK, opacity: 1.0 });
    }
    drawing.panels.push((area, start..drawing.marks.len()));
}

/// What lasts in the lanes that are shown, the longest in sum first.
fn kinds(record: &Record) -> Vec<String> {
    let mut kinds: Vec<(&str, f64)> = Vec::new();
    for bar in record.lanes.iter().flat_map(|lane| &lane.spans) {
        let length = bar.ends.1 - bar.ends.0;
        match kinds.iter_mut().find(|(name, _)| *name == bar.name) {
            Some((_, sum)) => *sum += length,
            None => kinds.push((&bar.name, length)),
        }
    }
    kinds.sort_by(|a, b| b.1.total_cmp(&a.1));
    kinds.into_iter().map(|(name, _)| name.to_owned()).collect()
}

/// What is left out comes first: what does not fit is cut at the end.
fn subtitle(record: &Record) -> String {
    let mut said: Vec<String> = Vec::new();
    if record.lanes.len() < record.lanes_in_all {
        said.push(format!("{} of {} lanes", record.lanes.len(), record.lanes_in_all));
    }
    said.extend(time_shown(record));
    if record.ends_early {
        said.push(super::timeline::ENDS_EARLY.trim_start_matches("; ").to_owned());
    }
    if record.lanes.iter().any(|lane| !lane.marks.is_empty()) {
        let events = record.events.iter().take(MOST_EVENTS);
        let names: Vec<&str> = events.map(|events| events.name.as_str()).collect();
        let more = if record.events.len() > MOST_EVENTS { " and others" } else { "" };
        said.push(format!("uprights: {}{more}", names.join(", ")));
    }
    said.join("; ")
}

/// Which part of the time is drawn, where it is not about all of it.
fn time_shown(record: &Record) -> Option<String> {
    let (start, end) = record.window;
    if end - start >= WHOLE * record.end {
        return None;
    }
    let text = |time: f64| Scale::new(Unit::Seconds, time).bound(time);
    let (length, all) = (text(end - start), text(record.end));
    Some(if start <= 0.0 {
        format!("first {length} of {all}")
    } else {
        format!("{length} of {all}, from {} on", text(start))
    })
}
