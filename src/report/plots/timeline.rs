//! One replication over virtual time: what was counted, with what happened marked above it.

use super::axis::{Axis, short};
use super::drawing::{Align, Area, Drawing, Mark, Place};
use super::frame::{LINE, heading};
use super::pages::joined;
use super::style::{
    BAND, GRID, HEIGHT, INK, MARGIN, MOST_SERIES, MUTED, TEXT, WIDTH, clipped, colour, text_width,
};
use crate::models::Unit;
use crate::report::number::Scale;
use crate::report::timeline::{Events, Level, Record};

/// Height of a row of events.
const ROW: f64 = 17.0;
/// The least height of a counter's panel.
const PANEL: f64 = 28.0;
/// Between a panel and the next.
const GAP: f64 = 9.0;
/// Kinds of events with a row of their own; the rarest are the most telling.
const MOST_KINDS: usize = 8;
/// As few events as can be drawn through all panels.
const FEW: usize = 60;
/// The widest the names of events become.
const NAMES: f64 = 190.0;

/// What a picture says of a record that is full.
pub const ENDS_EARLY: &str = "the record ends early, being full";

/// What a picture says of a replication that ended before all had come about.
pub fn unfinished(record: &Record) -> Option<String> {
    let end = Scale::new(Unit::Seconds, record.end).bound(record.end);
    record.unfinished.then(|| format!("not converged by {end}"))
}

/// The pictures: the first with what happened, and as many counters in each as have room.
#[must_use]
pub fn timeline(record: &Record) -> Vec<Drawing> {
    if record.levels.is_empty() || record.end <= 0.0 {
        return Vec::new();
    }
    let events = kinds(&record.events);
    let foot = 2.0 * LINE + MARGIN;
    let fit = |head: f64| ((HEIGHT - head - foot) / (PANEL + LINE + GAP)).max(1.0) as usize;
    let head = MARGIN + 48.0;
    let first = fit(head + events.len() as f64 * ROW + GAP / 2.0);
    let (on_first, rest) = record.levels.split_at(first.min(record.levels.len()));
    let mut groups = vec![on_first];
    groups.extend(rest.chunks(fit(head)));
    let axes: Vec<Axis> = record.levels.iter().map(axis_of).collect();
    let ticks = axes.iter().flat_map(|axis| [axis.ticks.first(), axis.ticks.last()]).flatten();
    let widest = ticks.map(|tick| text_width(&tick.1, TEXT)).fold(0.0, f64::max);
    let names = events.iter().map(|events| text_width(&label(events), TEXT)).fold(0.0, f64::max);
    let left = MARGIN + widest.max(names.min(NAMES)) + 8.0;
    let unit = Scale::new(Unit::Seconds, record.end);
    let x = Axis::within(0.0, record.end * unit.factor());
    let frame = Frame { left, right: WIDTH - MARGIN - 24.0, x, unit, bottom: HEIGHT - foot };
    let count = groups.len();
    let mut index = 0;
    let page = |(number, levels): (usize, &[Level])| {
        let note = match (number, count) {
            (_, 1) => String::new(),
            (0, _) => format!("page 1 of {count}"),
            (_, _) => format!("page {} of {count}; events are named on the first", number + 1),
        };
        let shown = index..index + levels.len();
        index = shown.end;
        frame.page(
            record,
            &note,
            (&events, number == 0),
            (levels, &axes[shown.clone()], shown.start),
        )
    };
    groups.into_iter().enumerate().map(page).collect()
}

fn label(events: &Events) -> String {
    format!("{} ({})", events.name, events.count)
}

/// The kinds that get a row, in the order in which they first happened.
fn kinds(all: &[Events]) -> Vec<&Events> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|index| all[*index].count);
    order.truncate(MOST_KINDS);
    order.sort_unstable();
    order.into_iter().map(|index| &all[index]).collect()
}

fn axis_of(level: &Level) -> Axis {
    let values = level.steps.iter().map(|step| step.1);
    let most = values.clone().fold(0.0, f64::max);
    let least = values.fold(0.0, f64::min);
    let axis = Axis::linear(least, if most > least { most } else { least + 1.0 });
    let counted = level.steps.iter().all(|step| step.1.fract() == 0.0);
    let mut axis = if counted { axis.of_counts() } else { axis };
    // A label that stands alone needs no decimals of the ticks that are not shown.
    axis.ticks.iter_mut().for_each(|tick| tick.1 = short(tick.0));
    axis
}

/// What all panels share.
struct Frame {
    left: f64,
    right: f64,
    /// Where the panels end at the latest.
    bottom: f64,
    /// Virtual time, in `unit`.
    x: Axis,
    unit: Scale,
}

impl Frame {
    /// One picture with the counters `levels`, the first of which is the number `first` of all; with
    /// `named` the events have rows of their own.
    fn page(
        &self,
        record: &Record,
        note: &str,
        (events, named): (&[&Events], bool),
        (levels, axes, first): (&[Level], &[Axis], usize),
    ) -> Drawing {
        let mut drawing = Drawing::new((WIDTH, HEIGHT));
        let title = format!("{}, replication {}", record.configuration, record.replication);
        let early = if record.ends_early { ENDS_EARLY } else { "" };
        let kinds = record.events.len();
        let rarest = match events.len() {
            shown if shown < kinds => format!("the {shown} rarest of {kinds} kinds of events"),
            _ => String::new(),
        };
        let what = "what was counted and what happened over virtual time";
        let cut = unfinished(record).unwrap_or_default();
        let subtitle = joined(&[note, &cut, early, &rarest, what]);
        let mut y = heading(&mut drawing, &title, &subtitle) + 4.0;
        for (index, kind) in events.iter().enumerate().filter(|_| named) {
            let text = clipped(&label(kind), TEXT, NAMES);
            drawing.text((self.left - 8.0, y + ROW / 2.0), text, INK, Align::Right);
            self.ticks(&mut drawing, (y + 2.0, y + ROW - 2.0), &kind.times, index, 1.0);
            y += ROW;
        }
        if named && !events.is_empty() {
            y += GAP / 2.0;
        }
        let panel = (self.bottom - y) / levels.len() as f64 - LINE - GAP;
        // Few events are drawn through all panels.
        let few = events.iter().map(|kind| kind.times.len()).sum::<usize>() <= FEW;
        for (index, (level, axis)) in levels.iter().zip(axes).enumerate() {
            drawing.text((self.left, y + LINE * 0.5), level.name.clone(), INK, Align::Left);
            let (top, bottom) = (y + LINE, y + LINE + panel);
            let area = Area { left: self.left, top, right: self.right, bottom };
            self.level(&mut drawing, area, level, axis, first + index);
            for (index, kind) in events.iter().enumerate().filter(|_| few) {
                self.ticks(&mut drawing, (area.top, area.bottom), &kind.times, index, 0.25);
            }
            y = area.bottom + GAP;
        }
        self.time_axis(&mut drawing, y - GAP);
        drawing
    }

    fn x(&self, time: f64) -> f64 {
        self.at(time * self.unit.factor())
    }

    fn at(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * self.x.share(value)
    }

    /// A thin bar at each of `times`.
    fn ticks(
        &self,
        drawing: &mut Drawing,
        (top, bottom): (f64, f64),
        times: &[f64],
        index: usize,
        opacity: f64,
    ) {
        let area = Area { left: self.left - 1.0, top, right: self.right + 1.0, bottom };
        let start = drawing.marks.len();
        let colour = colour((index + 1) % MOST_SERIES);
        for time in times {
            let x = self.x(*time);
            let area = Area { left: x - 0.75, top, right: x + 0.75, bottom };
            drawing.marks.push(Mark::Box { area, colour, opacity });
        }
        drawing.panels.push((area, start..drawing.marks.len()));
    }

    fn level(&self, drawing: &mut Drawing, area: Area, level: &Level, axis: &Axis, index: usize) {
        let y = |value: f64| area.bottom - (area.bottom - area.top) * axis.share(value);
        for (value, label) in [axis.ticks.first(), axis.ticks.last()].into_iter().flatten() {
            drawing.line(vec![(area.left, y(*value)), (area.right, y(*value))], GRID, 1.0);
            drawing.text((area.left - 8.0, y(*value)), label.clone(), INK, Align::Right);
        }
        let mut points: Vec<Place> = Vec::new();
        // The last one holds until the end.
        let steps = level.steps.iter().map(|(time, value)| (self.x(*time), *value));
        let last = level.steps.last().map(|step| (self.right, step.1));
        for (x, value) in steps.chain(last) {
            let at = (x, y(value));
            if let Some(last) = points.last().copied() {
                points.push((at.0, last.1));
            }
            points.push(at);
        }
        let start = drawing.marks.len();
        if let (Some(first), Some(last)) = (points.first().copied(), points.last().copied()) {
            let base = y(0.0_f64.clamp(axis.low, axis.high));
            let mut filled = points.clone();
            filled.extend([(last.0, base), (first.0, base)]);
            let colour = colour(index % MOST_SERIES);
            drawing.marks.push(Mark::Area { points: filled, colour, opacity: BAND });
            drawing.marks.push(Mark::Line { points, colour, width: 1.5, dash: None });
        }
        drawing.panels.push((area, start..drawing.marks.len()));
    }

    fn time_axis(&self, drawing: &mut Drawing, bottom: f64) {
        drawing.line(vec![(self.left, bottom), (self.right, bottom)], MUTED, 1.0);
        for (value, label) in self.x.roomy_ticks(self.right - self.left) {
            let x = self.at(*value);
            drawing.line(vec![(x, bottom), (x, bottom + 5.0)], MUTED, 1.0);
            drawing.text((x, bottom + 7.0 + TEXT * 0.5), label.clone(), INK, Align::Centre);
        }
        let middle = f64::midpoint(self.left, self.right);
        drawing.text(
            (middle, bottom + 12.0 + TEXT * 1.5),
            self.unit.heading("virtual time"),
            MUTED,
            Align::Centre,
        );
    }
}
