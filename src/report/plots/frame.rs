//! What surrounds the data of most pictures: title, axes, grid, legend.

use plotters::style::RGBColor;

use super::axis::Axis;
use super::drawing::{Align, Area, Drawing, Mark, Place};
use super::style::{
    GRID, HEIGHT, INK, MARGIN, MUTED, PAPER, TEXT, TITLE, WIDTH, clipped, colour, dash, lines,
    text_width,
};

/// Room for a line of letters.
pub const LINE: f64 = TEXT * 1.4;
/// The least room for a line.
const TIGHT: f64 = TEXT + 0.5;
/// The widest a legend becomes.
const LEGEND: f64 = 250.0;
/// Length of a legend's sample.
const SAMPLE: f64 = 24.0;
/// Side of a swatch.
const SWATCH: f64 = 12.0;
/// Radius of a dot that is a value.
pub const DOT: f64 = 4.0;
/// The size of the cross where a value is missing.
pub const MISSING: f64 = 7.0;
/// Between the axis and the labels of its ticks.
const GAP: f64 = 8.0;

/// How a series looks in the legend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Look {
    /// The series number `.0`, a line.
    Curve(usize),
    /// A thin line with dashes.
    Thin(RGBColor),
    /// A filled box.
    Fill(RGBColor, f64),
    /// A small square of a colour: what a part of a bar is.
    Swatch(RGBColor),
    /// A dot.
    Dot(RGBColor),
    /// A ring around a dot, as [`ring`] draws it.
    Ring(RGBColor),
    /// What was measured, as [`measured`] draws it.
    Measured,
    /// Two ranges, one across and one up.
    Cross(RGBColor),
    /// Where there is no value, as [`missing`] draws it.
    Missing(RGBColor),
    /// A thin upright: when something happened.
    Upright(RGBColor),
    /// A bar whose end is torn off, as [`torn`] draws it.
    Torn(RGBColor),
}

/// One entry of the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// How it looks.
    pub look: Look,
    /// What it is.
    pub text: String,
}

/// Title and subtitle in the upper left corner; returns where they end.
pub fn heading(drawing: &mut Drawing, title: &str, subtitle: &str) -> f64 {
    let width = drawing.size.0 - 2.0 * MARGIN;
    let mut y = MARGIN + TITLE * 0.5;
    drawing.title((MARGIN, y), clipped(title, TITLE, width), INK);
    y += TITLE * 0.5 + LINE * 0.6;
    if !subtitle.is_empty() {
        drawing.text((MARGIN, y), clipped(subtitle, TEXT, width), MUTED, Align::Left);
        y += LINE * 0.5;
    }
    y + 6.0
}

/// The legend in the upper right corner below `top`; returns its left side.
pub fn legend(drawing: &mut Drawing, entries: &[Entry], top: f64) -> f64 {
    if entries.is_empty() {
        return drawing.size.0 - MARGIN;
    }
    let room = drawing.size.1 - top - MARGIN;
    let wrap = |most| -> Vec<Vec<String>> {
        entries.iter().map(|entry| lines(&entry.text, TEXT, LEGEND, most)).collect()
    };
    // Names in two lines where that leaves room for all, if need be without room between them.
    let two = wrap(2);
    let count = |wrapped: &[Vec<String>]| wrapped.iter().map(Vec::len).sum::<usize>() as f64;
    let roomy = (count(&two) + 0.3 * entries.len() as f64) * LINE <= room;
    let wrapped = if count(&two) * TIGHT <= room { two } else { wrap(1) };
    let width = wrapped.iter().flatten().map(|l| text_width(l, TEXT)).fold(0.0, f64::max);
    let left = drawing.size.0 - MARGIN - width - SAMPLE - GAP;
    let step = if roomy { LINE * 0.3 } else { 0.0 };
    let line = LINE.min(room / count(&wrapped));
    let mut y = top + LINE * 0.5;
    for (entry, lines) in entries.iter().zip(&wrapped) {
        sample(drawing, entry.look, (left, y));
        for text in lines {
            drawing.text((left + SAMPLE + GAP, y), text.clone(), INK, Align::Left);
            y += line;
        }
        y += step;
    }
    left - 22.0
}

/// One entry with a swatch for each of `names`.
#[must_use]
pub fn swatches(names: &[String], colours: &[RGBColor]) -> Vec<Entry> {
    let entry = |(name, colour): (&String, &RGBColor)| Entry {
        look: Look::Swatch(*colour),
        text: name.clone(),
    };
    names.iter().zip(colours).map(entry).collect()
}

/// The entries of curves of which some lie on each other: `first` says which of them is drawn. Those
/// alike stand in one line, or one below the other where that has no room.
#[must_use]
pub fn one_for_each(entries: Vec<Entry>, first: impl Fn(usize) -> usize) -> Vec<Entry> {
    let mut kept: Vec<(usize, Vec<Entry>)> = Vec::new();
    for (index, entry) in entries.into_iter().enumerate() {
        let Some((_, alike)) = kept.iter_mut().find(|(known, _)| *known == first(index)) else {
            kept.push((index, vec![entry]));
            continue;
        };
        let Some(last) = alike.last_mut() else { continue };
        let text = format!("{} = {}", last.text, entry.text);
        if text_width(&text, TEXT) <= LEGEND {
            last.text = text;
        } else {
            let (look, text) = (last.look, format!("= {}", entry.text));
            alike.push(Entry { look, text });
        }
    }
    kept.into_iter().flat_map(|(_, alike)| alike).collect()
}

/// The entries of a legend above the data, by lines: each with where it begins.
fn legend_rows(entries: &[Entry]) -> Vec<Vec<(&Entry, f64)>> {
    let mut rows: Vec<Vec<(&Entry, f64)>> = vec![Vec::new()];
    let mut x = MARGIN;
    for entry in entries {
        let width = entry.look.width() + 6.0 + text_width(&entry.text, TEXT) + 24.0;
        if x + width > WIDTH - MARGIN && x > MARGIN {
            rows.push(Vec::new());
            x = MARGIN;
        }
        if let Some(row) = rows.last_mut() {
            row.push((entry, x));
        }
        x += width;
    }
    rows
}

/// How many lines of one entry each a legend beside the data holds that begins at `top`.
#[must_use]
pub fn legend_capacity(top: f64) -> usize {
    ((HEIGHT - top - MARGIN) / TIGHT) as usize
}

/// How much room [`legend_above`] takes.
#[must_use]
pub fn legend_height(entries: &[Entry]) -> f64 {
    legend_rows(entries).len() as f64 * LINE
}

/// A legend in lines above the data; returns where it ends.
pub fn legend_above(drawing: &mut Drawing, entries: &[Entry], top: f64) -> f64 {
    let mut y = top + LINE * 0.5;
    for row in legend_rows(entries) {
        for (entry, x) in row {
            sample(drawing, entry.look, (x, y));
            let left = x + entry.look.width() + 6.0;
            let text = clipped(&entry.text, TEXT, WIDTH - MARGIN - left);
            drawing.text((left, y), text, INK, Align::Left);
        }
        y += LINE;
    }
    y + 2.0
}

impl Look {
    /// The length of its sample.
    const fn width(self) -> f64 {
        match self {
            Self::Swatch(_) | Self::Dot(_) | Self::Ring(_) | Self::Upright(_) => SWATCH,
            _ => SAMPLE,
        }
    }
}

fn sample(drawing: &mut Drawing, look: Look, (x, y): Place) {
    let points = vec![(x, y), (x + SAMPLE, y)];
    match look {
        Look::Curve(index) => drawing.marks.push(Mark::Line {
            points,
            colour: colour(index),
            width: super::style::CURVE,
            dash: dash(index),
        }),
        Look::Thin(colour) => {
            let dash = Some((4.0, 3.0));
            drawing.marks.push(Mark::Line { points, colour, width: 1.2, dash });
        }
        Look::Cross(colour) => {
            let middle = x + SAMPLE / 2.0;
            drawing.line(vec![(middle - 8.0, y), (middle + 8.0, y)], colour, 1.2);
            drawing.line(vec![(middle, y - 6.0), (middle, y + 6.0)], colour, 1.2);
        }
        Look::Measured => measured(drawing, (x + SAMPLE / 2.0, y - 6.0), y + 6.0),
        Look::Swatch(colour) => {
            let area = Area { left: x, top: y - 6.0, right: x + SWATCH, bottom: y + 6.0 };
            drawing.marks.push(Mark::Box { area, colour, opacity: 1.0 });
        }
        Look::Dot(colour) => {
            let at = (x + SWATCH / 2.0, y);
            drawing.marks.push(Mark::Dot { at, radius: DOT, colour });
        }
        Look::Missing(colour) => missing(drawing, (x + SAMPLE / 2.0, y), colour),
        Look::Upright(colour) => {
            let middle = x + SWATCH / 2.0;
            let area =
                Area { left: middle - 1.0, top: y - 7.0, right: middle + 1.0, bottom: y + 7.0 };
            drawing.marks.push(Mark::Box { area, colour, opacity: 1.0 });
        }
        Look::Torn(colour) => {
            let area = Area { left: x, top: y - 6.0, right: x + SAMPLE, bottom: y + 6.0 };
            drawing.marks.push(torn(area, colour));
        }
        Look::Ring(colour) => ring(drawing, (x + SWATCH / 2.0, y), colour),
        Look::Fill(colour, opacity) => {
            let area = Area { left: x, top: y - 5.0, right: x + SAMPLE, bottom: y + 5.0 };
            drawing.marks.push(Mark::Box { area, colour, opacity });
        }
    }
}

/// A bar whose right end is torn off: it went on, beyond what is known.
#[must_use]
pub fn torn(area: Area, colour: RGBColor) -> Mark {
    /// How high a tooth is, and how deep.
    const TOOTH: (f64, f64) = (4.0, 5.0);
    let Area { left, top, right, bottom } = area;
    let teeth = ((bottom - top) / TOOTH.0).round().max(2.0) as u32;
    let depth = TOOTH.1.min((right - left) * 0.6);
    let step = (bottom - top) / f64::from(teeth);
    let mut points = vec![(left, top), (right, top)];
    for tooth in 0..teeth {
        let at = top + step * f64::from(tooth);
        points.extend([(right - depth, at + step * 0.5), (right, at + step)]);
    }
    points.push((left, bottom));
    Mark::Area { points, colour, opacity: 1.0 }
}

/// A ring with room for a dot that stays apart from it, whatever the colour of either.
pub fn ring(drawing: &mut Drawing, at: Place, colour: RGBColor) {
    drawing.marks.push(Mark::Dot { at, radius: DOT + 3.0, colour });
    drawing.marks.push(Mark::Dot { at, radius: DOT + 1.25, colour: PAPER });
}

/// A small cross where a value is missing.
pub fn missing(drawing: &mut Drawing, (x, y): Place, colour: RGBColor) {
    let half = MISSING / 2.0;
    drawing.line(vec![(x - half, y - half), (x + half, y + half)], colour, 1.6);
    drawing.line(vec![(x - half, y + half), (x + half, y - half)], colour, 1.6);
}

/// A measured range from `top` down to `bottom`: an upright with a bar at each end.
pub fn measured(drawing: &mut Drawing, (x, top): Place, bottom: f64) {
    drawing.line(vec![(x, top), (x, bottom)], INK, 2.0);
    for y in [top, bottom] {
        drawing.line(vec![(x - 6.0, y), (x + 6.0, y)], INK, 2.0);
    }
}

/// A panel with two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Where the data are.
    pub area: Area,
    /// From left to right.
    pub x: Axis,
    /// From the bottom upwards.
    pub y: Axis,
}

impl Panel {
    /// Draws axes into `outer`, which holds labels too. `x_title` is below.
    pub fn draw(drawing: &mut Drawing, outer: Area, x: Axis, y: Axis, x_title: &str) -> Self {
        let widest = y.ticks.iter().map(|tick| text_width(&tick.1, TEXT)).fold(0.0, f64::max);
        let area = Area {
            left: outer.left + widest + GAP,
            top: outer.top + TEXT * 0.5,
            right: outer.right,
            bottom: outer.bottom - 2.0 * LINE - 4.0,
        };
        let panel = Self { area, x, y };
        panel.rows(drawing);
        let labels = panel.x.roomy_ticks(area.right - area.left);
        // The labels at the ends stay within the panel's width.
        for (value, label) in labels {
            let at = panel.place(*value, panel.y.low).0;
            let half = text_width(label, TEXT) / 2.0;
            let centre = at.clamp(outer.left + half, drawing.size.0 - half);
            drawing.line(vec![(at, area.bottom), (at, area.bottom + 5.0)], MUTED, 1.0);
            let below = area.bottom + 7.0 + TEXT * 0.5;
            drawing.text((centre, below), label.clone(), INK, Align::Centre);
        }
        drawing.line(vec![(area.left, area.bottom), (area.right, area.bottom)], MUTED, 1.0);
        let title = clipped(x_title, TEXT, area.right - area.left);
        let middle = f64::midpoint(area.left, area.right);
        drawing.text((middle, outer.bottom - TEXT * 0.5), title, MUTED, Align::Centre);
        panel
    }

    /// The lines of the grid with their labels.
    fn rows(&self, drawing: &mut Drawing) {
        let Area { left, right, .. } = self.area;
        for (value, _) in &self.y.ticks {
            let y = self.place(self.x.low, *value).1;
            drawing.line(vec![(left, y), (right, y)], GRID, 1.0);
        }
        for (value, label) in self.y.tall_ticks(self.area.bottom - self.area.top) {
            let y = self.place(self.x.low, *value).1;
            drawing.text((left - GAP, y), label.clone(), INK, Align::Right);
        }
    }

    /// Where a pair of values is.
    #[must_use]
    pub fn place(&self, x: f64, y: f64) -> Place {
        let Area { left, right, top, bottom } = self.area;
        (left + (right - left) * self.x.share(x), bottom - (bottom - top) * self.y.share(y))
    }

    /// Draws data; what `draw` adds must stay in the panel.
    pub fn data(&self, drawing: &mut Drawing, draw: impl FnOnce(&mut Drawing)) {
        let first = drawing.marks.len();
        draw(drawing);
        drawing.panels.push((self.area, first..drawing.marks.len()));
    }
}
