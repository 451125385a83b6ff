//! Pictures with a row for each configuration: where the time went, and how far each is from the
//! first.

use std::ops::Range;

use plotters::style::RGBColor;

use super::axis::Axis;
use super::cut;
use super::drawing::{Align, Area, Drawing, Mark};
use super::frame::{LINE, heading, legend_above, legend_height, swatches};
use super::pages::{Pages, joined};
use super::parts::{PartColours, REST, title};
use super::style::{
    GRID, HEIGHT, INK, MARGIN, MUTED, OTHER, PAPER, TEXT, WIDTH, colour, lines, text_width,
};
use super::sweep::capital;
use crate::experiment::comparison::Pairing;
use crate::report::number::{Scale, mark};
use crate::report::stored::{Figure, Stored, StoredColumn, StoredPoint};
use crate::statistics::paired::Contrast;
use crate::statistics::{Estimate, Interval, Sense};

/// Parts beside each other; the smaller ones are summed up.
const MOST_PARTS: usize = 6;
/// A part that is nowhere more than this share is not shown by itself.
const LEAST_SHARE: f64 = 0.005;
/// The widest the names of configurations become.
const NAMES: f64 = 270.0;
/// The least height of a row.
const ROW: f64 = 20.0;
/// The same where names take two lines.
const ROW_OF_TWO: f64 = 28.0;
/// Rows in all pages; of a long sweep those are kept that are evenly spread.
const MOST_ROWS: usize = 24;
/// Width of the border between parts.
const BORDER: f64 = 1.0;
/// Stands for the figure of a row that has none, as no replication got so far.
const NO_FIGURE: &str = "no figure";

/// Rows with an axis below them.
pub(in crate::report) struct Rows {
    /// Where the bars are.
    pub area: Area,
    axis: Axis,
    /// Height of a row.
    pub step: f64,
}

impl Rows {
    /// How many rows called `names` have room below `above`.
    pub fn capacity<S: AsRef<str>>(names: &[S], above: f64) -> usize {
        let room = HEIGHT - above - 2.0 * LINE - MARGIN;
        let long = names.iter().any(|name| text_width(name.as_ref(), TEXT) > NAMES);
        (room / if long { ROW_OF_TWO } else { ROW }).max(1.0) as usize
    }

    /// Draws everything but the data; `column` is what is left free at the right.
    pub fn draw(
        drawing: &mut Drawing,
        names: &[&str],
        top: f64,
        axis: Axis,
        title: &str,
        column: f64,
    ) -> Self {
        // Room at the right for the half of the last label.
        let right = drawing.size.0 - MARGIN - column.max(24.0);
        let bottom = drawing.size.1 - MARGIN - 2.0 * LINE;
        let step = (bottom - top) / names.len().max(1) as f64;
        let most = if step >= ROW_OF_TWO { 2 } else { 1 };
        let line = (LINE * 0.9).min(step / 2.0);
        let wrapped: Vec<Vec<String>> =
            names.iter().map(|name| lines(name, TEXT, NAMES, most)).collect();
        let widest = wrapped.iter().flatten().map(|l| text_width(l, TEXT)).fold(0.0, f64::max);
        let area = Area { left: MARGIN + widest + 12.0, top, right, bottom };
        let rows = Self { area, axis, step };
        for (value, label) in rows.axis.roomy_ticks(area.right - area.left) {
            let x = rows.x(*value);
            drawing.line(vec![(x, top), (x, bottom)], GRID, 1.0);
            drawing.text((x, bottom + LINE * 0.7), label.clone(), INK, Align::Centre);
        }
        let middle = f64::midpoint(area.left, area.right);
        let below = drawing.size.1 - MARGIN - LINE * 0.4;
        drawing.text((middle, below), title, MUTED, Align::Centre);
        for (index, lines) in wrapped.iter().enumerate() {
            let first = rows.middle(index) - (lines.len() as f64 - 1.0) * line / 2.0;
            for (number, text) in lines.iter().enumerate() {
                let at = (area.left - 12.0, first + number as f64 * line);
                drawing.text(at, text.clone(), INK, Align::Right);
            }
        }
        rows
    }

    pub fn x(&self, value: f64) -> f64 {
        self.area.left + (self.area.right - self.area.left) * self.axis.share(value)
    }

    pub fn middle(&self, index: usize) -> f64 {
        self.area.top + self.step * (index as f64 + 0.5)
    }

    /// Notes where points are: those of `rows` at their rows, others of the scenario at their
    /// figure, if that is on the axis.
    fn anchor<'s>(
        &self,
        drawing: &mut Drawing,
        stored: &'s Stored,
        rows: &[&'s StoredPoint],
        figure: impl Fn(usize, &StoredPoint) -> f64,
    ) {
        for (index, point) in rows.iter().enumerate() {
            let (middle, half) = (self.middle(index), self.step / 2.0 - 1.0);
            let area = Area { top: middle - half, bottom: middle + half, ..self.area };
            drawing.anchor(&point.id, area);
        }
        for (index, point) in stored.summary.points.iter().enumerate() {
            let value = figure(index, point);
            if rows.iter().all(|row| row.id != point.id) && self.axis.holds(value) {
                drawing.anchor_line(&point.id, self.area, self.x(value));
            }
        }
    }

    pub fn data(&self, drawing: &mut Drawing, draw: impl FnOnce(&mut Drawing)) {
        let first = drawing.marks.len();
        draw(drawing);
        drawing.panels.push((self.area, first..drawing.marks.len()));
    }
}

/// Says so where not all are shown.
#[must_use]
pub fn how_many(shown: usize, of: usize) -> String {
    if shown < of {
        format!("{shown} of {of} configurations, evenly spread")
    } else {
        String::new()
    }
}

/// What tells the rows apart: of points of a sweep the last words of the paths with their values,
/// and the configuration they start from only where that differs.
pub(super) fn row_names(points: &[&StoredPoint]) -> Vec<String> {
    let start = |point: &StoredPoint| {
        let places = point.axes.keys().filter_map(|path| {
            let mark = format!(", {path}=");
            point.configuration.find(&mark)
        });
        places.min()
    };
    let base = |point: &StoredPoint| {
        start(point).map_or(String::new(), |at| point.configuration[..at].to_owned())
    };
    let alike = points.iter().all(|point| start(point).is_some())
        && points.iter().all(|point| base(point) == base(points[0]));
    let name = |point: &&StoredPoint| {
        let Some(at) = start(point) else { return point.configuration.clone() };
        let mut text = point.configuration[if alike { at + 2 } else { 0 }..].to_owned();
        for path in point.axes.keys() {
            let last = path.rsplit('.').next().unwrap_or(path);
            let others = point.axes.keys().filter(|other| other.rsplit('.').next() == Some(last));
            if others.count() == 1 {
                text = text.replace(&format!("{path}="), &format!("{}=", last.replace('_', " ")));
            }
        }
        text
    };
    points.iter().map(name).collect()
}

/// The points that get a row, and how many could have.
fn rows(stored: &Stored) -> (Vec<(usize, &StoredPoint)>, usize) {
    shown(stored, MOST_ROWS)
}

/// The points that a picture of configurations has room for, `most`, evenly spread over those that
/// there are, and how many these are: the named configurations, and the sweep where there is at most
/// one of them.
pub(super) fn shown(stored: &Stored, most: usize) -> (Vec<(usize, &StoredPoint)>, usize) {
    let points = stored.summary.points.iter().enumerate();
    let (swept, named): (Vec<_>, Vec<_>) = points.partition(|(_, point)| !point.axes.is_empty());
    let mut rows = named;
    if rows.len() <= 1 {
        rows.extend(swept);
    }
    let count = rows.len();
    if count > most {
        rows = (0..most).map(|n| rows[n * (count - 1) / (most - 1)]).collect();
    }
    (rows, count)
}

/// Stacked bars of the parts of a metric, page by page; none where it has no parts.
#[must_use]
pub fn attribution(stored: &Stored, column: &StoredColumn) -> Vec<Drawing> {
    let (rows, of) = rows(stored);
    let mean = |point: &StoredPoint, name: &str| point.figure(name, Figure::Mean).value;
    let finite = |value: f64| if value.is_finite() { value.max(0.0) } else { 0.0 };
    let mut parts = stored.parts(&column.name);
    let total = |name: &str| rows.iter().map(|(_, point)| finite(mean(point, name))).sum::<f64>();
    parts.sort_by(|a, b| total(&b.name).total_cmp(&total(&a.name)));
    let whole = |point: &StoredPoint| mean(point, &column.name);
    let visible =
        |name: &str| rows.iter().any(|(_, point)| mean(point, name) / whole(point) >= LEAST_SHARE);
    let shown = parts.iter().filter(|part| visible(&part.name)).count();
    let kept = if shown > MOST_PARTS { MOST_PARTS - 1 } else { shown };
    if kept == 0 || rows.is_empty() {
        return Vec::new();
    }
    // Sorted by total, a part may show at one point only and yet stand late.
    let (mut first, later): (Vec<_>, Vec<_>) = parts.into_iter().partition(|p| visible(&p.name));
    let mut rest: Vec<&StoredColumn> = first.split_off(kept);
    rest.extend(later);
    let bar = |&(_, point): &(usize, &'_ StoredPoint)| {
        let of = |part: &&StoredColumn| finite(mean(point, &part.name));
        let others: f64 = rest.iter().map(of).sum();
        first.iter().map(of).chain([others]).collect()
    };
    let widths: Vec<Vec<f64>> = rows.iter().map(bar).collect();
    let others = widths.iter().any(|parts| parts.last().is_some_and(|other| *other > 0.0));
    let part_name = |part: &&StoredColumn| title(&column.name, &part.name);
    let mut names: Vec<String> = first.iter().map(part_name).collect();
    names.extend(others.then(|| REST.to_owned()));
    let mut colours = PartColours::of(&stored.summary.columns).colours(&names);
    colours.resize(first.len() + 1, OTHER);
    let how_many = how_many(rows.len(), of);
    let points = rows.into_iter().map(|(_, point)| point).collect();
    Stacks { stored, column, points, widths, names, colours, how_many }.pages()
}

/// The bars of an attribution.
struct Stacks<'s> {
    stored: &'s Stored,
    column: &'s StoredColumn,
    points: Vec<&'s StoredPoint>,
    /// Of each bar the parts, the last what is left.
    widths: Vec<Vec<f64>>,
    names: Vec<String>,
    colours: Vec<RGBColor>,
    how_many: String,
}

impl Stacks<'_> {
    fn pages(&self) -> Vec<Drawing> {
        let entries = swatches(&self.names, &self.colours);
        let head = MARGIN + 50.0 + legend_height(&entries);
        let labels = row_names(&self.points);
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let pages = Pages::new(labels.len(), Rows::capacity(&labels, head));
        pages.draw(|note, page| {
            let mut drawing = Drawing::new((WIDTH, HEIGHT));
            let title = format!("Where the {} goes", self.column.title());
            let cut = cut::legend(self.points.iter().copied(), &self.column.name);
            let top = heading(&mut drawing, &title, &joined(&[note, &cut, &self.how_many]));
            let top = legend_above(&mut drawing, &entries, top + 4.0);
            self.page(&mut drawing, top, page);
            drawing
        })
    }

    fn page(&self, drawing: &mut Drawing, top: f64, page: Range<usize>) {
        let labels = row_names(&self.points);
        let labels: Vec<&str> = labels[page.clone()].iter().map(String::as_str).collect();
        let (points, widths) = (&self.points[page.clone()], &self.widths[page]);
        let column = self.column;
        // Bars of all pages have one axis.
        let sums = || self.widths.iter().map(|parts| parts.iter().sum::<f64>());
        let scale = Scale::for_values(column.unit(), sums());
        let most = sums().fold(0.0, f64::max) * scale.factor();
        let axis = Axis::linear(0.0, if most > 0.0 { most } else { 1.0 });
        let below = scale.heading(&format!("mean {}", column.title()));
        let whole = |point: &StoredPoint| point.figure(&column.name, Figure::Mean).value;
        // A bar may be too short to be read.
        let text = |point: &&StoredPoint| {
            let mean = whole(point);
            let scale = Scale::new(column.unit(), mean.abs());
            let mark = mark(cut::sense(point, &column.name));
            if mean.is_finite() {
                format!("{mark}{}", scale.bound(mean))
            } else {
                NO_FIGURE.to_owned()
            }
        };
        let sums: Vec<String> = points.iter().map(text).collect();
        let widest = sums.iter().map(|text| text_width(text, TEXT)).fold(0.0, f64::max);
        let frame = Rows::draw(drawing, &labels, top, axis, &below, widest + 24.0);
        for (index, text) in sums.into_iter().enumerate() {
            drawing.text((WIDTH - MARGIN, frame.middle(index)), text, INK, Align::Right);
        }
        frame.data(drawing, |drawing| {
            for (index, parts) in widths.iter().enumerate() {
                stack(drawing, &frame, index, (parts, &self.colours), scale.factor());
            }
        });
        let figure = |_, point: &StoredPoint| whole(point) * scale.factor();
        frame.anchor(drawing, self.stored, points, figure);
    }
}

/// One bar; shares that have room are written into it.
fn stack(
    drawing: &mut Drawing,
    frame: &Rows,
    row: usize,
    (parts, colours): (&[f64], &[RGBColor]),
    factor: f64,
) {
    let sum: f64 = parts.iter().sum();
    let half = (frame.step * 0.36).min(20.0);
    let mut start = 0.0;
    for (part, &colour) in parts.iter().zip(colours) {
        let (left, right) = (frame.x(start * factor), frame.x((start + part) * factor));
        start += part;
        if right - left < 0.05 {
            continue;
        }
        let middle = frame.middle(row);
        let area = Area { left, top: middle - half, right, bottom: middle + half };
        drawing.marks.push(Mark::Box { area, colour, opacity: 1.0 });
        // Without colour neighbours are told apart by a border.
        if right - left > 3.0 * BORDER {
            drawing.line(vec![(right, area.top), (right, area.bottom)], PAPER, BORDER);
        }
        let share = format!("{:.0} %", part / sum * 100.0);
        if text_width(&share, TEXT) + 8.0 <= right - left {
            let centre = f64::midpoint(left, right);
            drawing.text((centre, middle), share, on(colour), Align::Centre);
        }
    }
}

/// Letters that show on `colour`: its luminance decides.
fn on(colour: RGBColor) -> RGBColor {
    let part = |part: u8, weight: f64| f64::from(part) * weight;
    let light = part(colour.0, 0.299) + part(colour.1, 0.587) + part(colour.2, 0.114);
    if light > 135.0 { INK } else { PAPER }
}

/// The mean paired difference of each configuration to the first, with its interval, page by page;
/// none where there is nothing to compare.
#[must_use]
pub fn difference(stored: &Stored, column: &StoredColumn) -> Vec<Drawing> {
    let (all, count) = rows(stored);
    let Some((&(baseline, first), others)) = all.split_first() else { return Vec::new() };
    let is_cut = |index: usize| stored.summary.points[index].cut(&column.name) > 0;
    let to_first = |index: usize| {
        let told = stored.contrasted([index, baseline], column, Contrast::Difference);
        // The pairs that are left are those that were soon over.
        match is_cut(index) || is_cut(baseline) {
            true => Estimate { interval: Interval::UNBOUNDED, sense: Sense::SoFar, ..told },
            false => told,
        }
    };
    let compared: Vec<(&StoredPoint, Estimate)> =
        others.iter().map(|&(index, point)| (point, to_first(index))).collect();
    // What is left out because one of the two was cut off would have changed the difference.
    let over = |index: usize| {
        let (have, of) = stored.pairs([index, baseline], column);
        if have < of { format!(" in {have} of {of}") } else { String::new() }
    };
    let over: Vec<String> = others.iter().map(|(index, _)| over(*index)).collect();
    if !compared.iter().any(|(_, estimate)| estimate.value.is_finite()) {
        return Vec::new();
    }
    let ends = || {
        let end = |(_, e): &(&StoredPoint, Estimate)| [e.value, e.interval.low, e.interval.high];
        compared.iter().flat_map(end).filter(|value| value.is_finite()).chain([0.0])
    };
    let scale = Scale::for_values(column.unit(), ends()).of_difference();
    let factor = scale.factor();
    let axis =
        Axis::linear(ends().fold(0.0, f64::min) * factor, ends().fold(0.0, f64::max) * factor);
    let title = format!("{}: difference to {}", capital(&column.title()), first.configuration);
    let percent = stored.summary.confidence * 100.0;
    let cut = match all.iter().any(|(index, _)| is_cut(*index)) {
        true => "~: without the pairs that were cut off",
        false => "",
    };
    let what = match stored.pairing() {
        Pairing::Paired => format!(
            "mean of paired differences with {percent} % interval; pairs share their random numbers"
        ),
        Pairing::Independent => {
            format!("difference of the means with {percent} % interval; independent replications")
        }
    };
    let how_many = how_many(all.len(), count);
    let below = scale.heading("difference");
    let labels = row_names(&compared.iter().map(|(point, _)| *point).collect::<Vec<_>>());
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let pages = Pages::new(labels.len(), Rows::capacity(&labels, MARGIN + 62.0));
    pages.draw(|note, page| {
        let (labels, over) = (&labels[page.clone()], &over[page.clone()]);
        let compared = &compared[page];
        let mut drawing = Drawing::new((WIDTH, HEIGHT));
        let top = heading(&mut drawing, &title, &joined(&[note, cut, &how_many, &what]));
        let figure = |((_, estimate), over): (&(&StoredPoint, Estimate), &String)| match estimate
            .value
            .is_finite()
        {
            true => scale.plus_minus(*estimate) + over,
            false => NO_FIGURE.to_owned(),
        };
        let figures: Vec<String> = compared.iter().zip(over).map(figure).collect();
        let widest = figures.iter().map(|text| text_width(text, TEXT)).fold(0.0, f64::max);
        let axis = axis.clone();
        let frame = Rows::draw(&mut drawing, labels, top + 6.0, axis, &below, widest + 24.0);
        let zero = frame.x(0.0);
        drawing.line(vec![(zero, frame.area.top), (zero, frame.area.bottom)], MUTED, 1.5);
        frame.data(&mut drawing, |drawing| {
            for (index, (_, estimate)) in compared.iter().enumerate() {
                whisker(drawing, &frame, index, *estimate, factor);
            }
        });
        let points: Vec<&StoredPoint> = compared.iter().map(|(point, _)| *point).collect();
        frame.anchor(&mut drawing, stored, &points, |index, _| to_first(index).value * factor);
        for (index, text) in figures.into_iter().enumerate() {
            drawing.text((WIDTH - MARGIN, frame.middle(index)), text, INK, Align::Right);
        }
        drawing
    })
}

fn whisker(drawing: &mut Drawing, frame: &Rows, row: usize, estimate: Estimate, factor: f64) {
    if !estimate.value.is_finite() {
        return;
    }
    let y = frame.middle(row);
    let colour = colour(if estimate.value > 0.0 { 1 } else { 0 });
    if estimate.interval.is_bounded() {
        let (low, high) =
            (frame.x(estimate.interval.low * factor), frame.x(estimate.interval.high * factor));
        drawing.line(vec![(low, y), (high, y)], colour, 3.0);
        for x in [low, high] {
            drawing.line(vec![(x, y - 6.0), (x, y + 6.0)], colour, 2.0);
        }
    }
    let at = (frame.x(estimate.value * factor), y);
    drawing.marks.push(Mark::Dot { at, radius: 4.5, colour });
}
