//! One replication, lane by lane: who was busy with what, and who waited for what.

use plotters::style::RGBColor;

use super::axis::Axis;
use super::drawing::{Align, Area, Drawing, Mark};
use super::frame::{Entry, LINE, Look, heading, legend_above, legend_height, swatches, torn};
use super::pages::{Pages, joined};
use super::parts::{PartColours, REST};
use super::style::{
    GRID, HEIGHT, INK, MARGIN, MUTED, OTHER, PAPER, TEXT, WIDTH, clipped, colour, line_colours,
    text_width,
};
use super::timeline::unfinished;
use crate::models::Unit;
use crate::report::number::Scale;
use crate::report::timeline::{LaneRecord, Record};

/// Kinds of bars with a colour of their own; the others share the last.
const MOST_KINDS: usize = 7;
/// Kinds of events with a colour of their own; the others share that of letters.
const MOST_EVENTS: usize = 6;
/// The least height of a lane, which holds its name.
const LANE: f64 = 15.5;
/// The greatest: a few lanes need no whole slide.
const HIGH: f64 = 44.0;
/// The least width of a bar.
const HAIR: f64 = 1.0;
/// The widest the names of lanes become.
const NAMES: f64 = 200.0;
/// Where no more than one in so many lanes has anything there is nothing to see.
const EMPTY: usize = 8;
/// The share of the time that counts as all of it: what goes on before the first chain begins and
/// after the last ends is seldom missed.
const WHOLE: f64 = 0.9;

/// The pictures: so many lanes in each as have room, all with one axis and the same colours.
#[must_use]
pub fn gantt(record: &Record, parts: &PartColours) -> Vec<Drawing> {
    if record.lanes.is_empty() || record.window.0 >= record.window.1 || is_bare(record) {
        return Vec::new();
    }
    let chart = Chart::new(record, parts);
    let head = MARGIN + 54.0 + legend_height(&chart.entries);
    let foot = 2.0 * LINE + MARGIN + 4.0;
    let room = HEIGHT - head - foot;
    let pages = Pages::new(record.lanes.len(), (room / LANE).max(1.0) as usize);
    pages.draw(|note, page| chart.page(note, &record.lanes[page], HEIGHT - foot))
}

/// Whether almost all lanes are empty, or the few there are have one bar among them.
fn is_bare(record: &Record) -> bool {
    let lanes = record.lanes.iter().map(|lane| lane.spans.len() + lane.marks.len());
    let filled = lanes.clone().filter(|count| *count > 0).count();
    let (few, one) = (filled * EMPTY <= record.lanes.len(), lanes.sum::<usize>() <= 1);
    few || (one && record.lanes.len() > 1)
}

/// What the pages share.
struct Chart<'r> {
    record: &'r Record,
    /// Kinds of bars, the longest in sum first.
    kinds: Vec<String>,
    /// The colours of the kinds that have one of their own, and perhaps of the others.
    colours: Vec<RGBColor>,
    /// Kinds of events, in the order in which they first happened.
    events: Vec<&'r str>,
    /// The colours of the first of them.
    of_events: Vec<RGBColor>,
    entries: Vec<Entry>,
    /// Virtual time, in `unit`.
    axis: Axis,
    unit: Scale,
}

impl<'r> Chart<'r> {
    fn new(record: &'r Record, parts: &PartColours) -> Self {
        let kinds = kinds(record);
        let mut names: Vec<String> = kinds.iter().take(MOST_KINDS - 1).cloned().collect();
        names.extend((kinds.len() == MOST_KINDS).then(|| kinds[MOST_KINDS - 1].clone()));
        names.extend((kinds.len() > MOST_KINDS).then(|| REST.to_owned()));
        let colours = parts.colours(&names);
        let mut entries = swatches(&names, &colours);
        let marks = || record.lanes.iter().flat_map(|lane| &lane.marks);
        let happened = |name: &&str| marks().any(|mark| mark.name == **name);
        let events = record.events.iter().map(|events| events.name.as_str());
        let events: Vec<&str> = events.filter(happened).collect();
        // Of other colours than the bars, as long as there are any.
        let of_events: Vec<RGBColor> = line_colours(&colours)
            .chain((0..MOST_EVENTS).map(|index| colour(names.len() + index)))
            .take(events.len().min(MOST_EVENTS))
            .collect();
        for (name, own) in events.iter().zip(&of_events) {
            entries.push(Entry { look: Look::Upright(*own), text: (*name).to_owned() });
        }
        if events.len() > MOST_EVENTS {
            entries.push(Entry { look: Look::Upright(INK), text: "other events".to_owned() });
        }
        if record.lanes.iter().flat_map(|lane| &lane.spans).any(|bar| bar.open) {
            entries.push(Entry { look: Look::Torn(MUTED), text: STILL.to_owned() });
        }
        let unit = Scale::new(Unit::Seconds, record.window.1);
        let [low, high] = [record.window.0, record.window.1].map(|time| time * unit.factor());
        let axis = Axis::within(low, high);
        Self { record, kinds, colours, events, of_events, entries, axis, unit }
    }

    /// The colour of a mark.
    fn of_event(&self, name: &str) -> RGBColor {
        let index = self.events.iter().position(|known| *known == name);
        index.and_then(|index| self.of_events.get(index)).copied().unwrap_or(INK)
    }

    fn page(&self, note: &str, lanes: &[LaneRecord], bottom: f64) -> Drawing {
        let record = self.record;
        let mut drawing = Drawing::new((WIDTH, HEIGHT));
        let title = format!("{}, replication {}", record.configuration, record.replication);
        let top = heading(&mut drawing, &title, &joined(&[note, &subtitle(record)]));
        let top = legend_above(&mut drawing, &self.entries, top + 2.0) + 4.0;
        let names = record.lanes.iter().map(|lane| text_width(&lane.name, TEXT));
        let left = MARGIN + names.fold(0.0, f64::max).min(NAMES) + 10.0;
        let step = ((bottom - top) / lanes.len() as f64).min(HIGH);
        let bottom = top + step * lanes.len() as f64;
        let area = Area { left, top, right: WIDTH - MARGIN - 24.0, bottom };
        let at = |value: f64| area.left + (area.right - area.left) * self.axis.share(value);
        let x = |time: f64| at(time * self.unit.factor());
        for (value, label) in self.axis.roomy_ticks(area.right - area.left) {
            drawing.line(vec![(at(*value), area.top), (at(*value), area.bottom)], GRID, 1.0);
            let below = area.bottom + 6.0 + TEXT * 0.5;
            drawing.text((at(*value), below), label.clone(), INK, Align::Centre);
        }
        let middle = f64::midpoint(area.left, area.right);
        let below = area.bottom + 10.0 + TEXT * 1.5;
        drawing.text((middle, below), self.unit.heading("virtual time"), MUTED, Align::Centre);
        for (index, lane) in lanes.iter().enumerate() {
            let top = area.top + step * index as f64;
            let name = clipped(&lane.name, TEXT, NAMES);
            drawing.text((area.left - 10.0, top + step / 2.0), name, INK, Align::Right);
            self.lane(&mut drawing, Area { top, bottom: top + step, ..area }, lane, x);
        }
        drawing
    }

    fn lane(&self, drawing: &mut Drawing, area: Area, lane: &LaneRecord, x: impl Fn(f64) -> f64) {
        let start = drawing.marks.len();
        let inset = 1.8;
        let row = (area.bottom - area.top - 2.0 * inset) / f64::from(lane.rows);
        for bar in &lane.spans {
            let kind = self.kinds.iter().position(|kind| *kind == bar.name).unwrap_or(MOST_KINDS);
            let top = area.top + inset + row * f64::from(bar.row);
            // What is too short to be seen is shown as wide as a hair; between two that can be
            // told apart there is a gap.
            let left = x(bar.ends.0);
            let right = x(bar.ends.1);
            let right = if right - left > 4.0 { right - 0.8 } else { right };
            let right = right.max(left + HAIR).min(area.right);
            let area = Area { left: left.min(right), top, right, bottom: top + row };
            let colour = self.colours.get(kind).copied().unwrap_or(OTHER);
            drawing.marks.push(if bar.open {
                torn(area, colour)
            } else {
                Mark::Box { area, colour, opacity: 1.0 }
            });
        }
        for mark in &lane.marks {
            // A rim keeps a mark apart from a bar of its colour.
            let colour = self.of_event(&mark.name);
            for (half, colour) in [(1.75, PAPER), (1.0, colour)] {
                let at = x(mark.time);
                let (left, right) = ((at - half).max(area.left), (at + half).min(area.right));
                let area = Area { left, top: area.top + 0.5, right, bottom: area.bottom - 0.5 };
                drawing.marks.push(Mark::Box { area, colour, opacity: 1.0 });
            }
        }
        drawing.panels.push((area, start..drawing.marks.len()));
    }
}

/// What the legend says of a torn end.
const STILL: &str = "still going on at the end";

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
    said.extend(unfinished(record));
    if record.lanes.len() < record.lanes_in_all {
        said.push(format!("{} of {} lanes", record.lanes.len(), record.lanes_in_all));
    }
    said.extend(time_shown(record));
    if record.ends_early {
        said.push(super::timeline::ENDS_EARLY.to_owned());
    }
    said.join("; ")
}

/// Which part of the time is drawn, where it is not about all of it.
fn time_shown(record: &Record) -> Option<String> {
    let (start, end) = record.window;
    // What goes on beyond the picture would look as if it ended with it.
    let goes_on = || record.lanes.iter().flat_map(|lane| &lane.spans).any(|bar| bar.open);
    let is_all = end - start >= WHOLE * record.end && !(end < record.end && goes_on());
    if is_all {
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
