//! A metric against each of several parameters that are swept together, side by side: with the
//! others held still where the sweep is a grid, else over all points.

use std::collections::BTreeSet;

use serde_json::Value;

use super::axis::Axis;
use super::cut;
use super::drawing::{Align, Area, Drawing, Mark, Place};
use super::frame::{DOT, Entry, LINE, Look, Panel, heading, legend_above};
use super::pages::{Pages, joined};
use super::style::{HEIGHT, MARGIN, MUTED, TEXT, WIDTH, clipped, colour};
use super::sweep::{Series, Swept, capital, curve, entries, same_curve, series, short_path};
use crate::models::Unit;
use crate::quantities::duration::parse_duration;
use crate::report::number::Scale;
use crate::report::stored::{Figure, Stored, StoredColumn, StoredPoint, value_text};
use crate::statistics::Sense;
use crate::wording::counted;

/// Panels side by side.
const ACROSS: usize = 3;
/// More values than this get round ticks.
const MOST_TICKS: usize = 9;
/// Series that are told apart by their colour alone.
const MOST_BASES: usize = 7;

/// What one panel shows.
struct Slice<'s> {
    swept: Swept,
    series: Vec<Series<'s>>,
}

/// The pictures, a few panels in each; none where no more than one parameter is swept at once, or two
/// in a grid, which has a picture of its own.
#[must_use]
pub fn slices(stored: &Stored, column: &StoredColumn) -> Vec<Drawing> {
    let several = |point: &&StoredPoint| point.axes.len() >= 2;
    let points: Vec<&StoredPoint> = stored.summary.points.iter().filter(several).collect();
    let Some(first) = points.first() else { return Vec::new() };
    let paths: Vec<&str> = first.axes.keys().map(String::as_str).collect();
    let held: Vec<(&str, Value)> =
        paths.iter().map(|path| (*path, still(stored, path, &points))).collect();
    let held_slices = cut(stored, &paths, &points, |point, path| {
        held.iter()
            .filter(|(other, _)| *other != path)
            .all(|(other, value)| point.axes.get(*other) == Some(value))
    });
    let is_grid = held_slices.iter().all(|slice| slice.series.iter().any(|s| s.points.len() > 1));
    if is_grid && paths.len() == 2 {
        return Vec::new();
    }
    let slices = if is_grid { held_slices } else { cut(stored, &paths, &points, |_, _| true) };
    let title = format!("{} by each of {} parameters", capital(&column.title()), paths.len());
    let subtitle = if is_grid {
        let texts: Vec<String> = held
            .iter()
            .map(|(path, value)| format!("{} = {}", short_path(path), value_text(value)))
            .collect();
        format!("of the others each at: {}", texts.join(", "))
    } else {
        format!("a dot for each of {}; all parameters vary at once", counted(points.len(), "point"))
    };
    draw(stored, column, &slices, (&title, &subtitle), is_grid)
}

/// The value at which a parameter is held still: what the configuration that the sweep starts from
/// has, if the sweep has that, else the first of the sweep.
fn still(stored: &Stored, path: &str, points: &[&StoredPoint]) -> Value {
    let has = |value: &&Value| points.iter().any(|point| point.axes.get(path) == Some(value));
    let base = points.first().map_or("", |point| point.base());
    let configurations = stored.manifest.pointer("/resolved/configurations");
    let own = configurations
        .and_then(Value::as_array)
        .and_then(|all| all.iter().find(|one| one.get("name").is_some_and(|name| name == base)))
        .and_then(|one| one.get("set")?.get(path));
    let pointer = format!("/resolved/components/{}", path.replace('.', "/"));
    let component = stored.manifest.pointer(&pointer);
    let first = points.iter().find_map(|point| point.axes.get(path));
    own.or(component).filter(has).or(first).cloned().unwrap_or_default()
}

/// For each parameter the points that `belongs` says are of its panel.
fn cut<'s>(
    stored: &Stored,
    paths: &[&str],
    points: &[&'s StoredPoint],
    belongs: impl Fn(&StoredPoint, &str) -> bool,
) -> Vec<Slice<'s>> {
    let slice = |path: &&str| {
        let swept = Swept::new(stored, path);
        let own = points.iter().copied().filter(|point| belongs(point, path));
        let series = series(&swept, own);
        Slice { swept, series }
    };
    paths.iter().map(slice).collect()
}

fn draw(
    stored: &Stored,
    column: &StoredColumn,
    slices: &[Slice<'_>],
    (title, subtitle): (&str, &str),
    lines: bool,
) -> Vec<Drawing> {
    let metric = column.name.as_str();
    let points = || slices.iter().flat_map(|s| &s.series).flat_map(|s| &s.points);
    let possible = Scale::new(column.unit(), 1.0);
    let mean = |point: &StoredPoint| possible.possible(point.figure(metric, Figure::Mean));
    let figures = points().flat_map(|(_, point)| {
        let (mean, p95) = (mean(point), point.figure(metric, Figure::P95).value);
        let rest = if lines { [mean.interval.low, mean.interval.high, p95] } else { [f64::NAN; 3] };
        [mean.value].into_iter().chain(rest)
    });
    let figures: Vec<f64> = figures.collect();
    if !figures.iter().any(|figure| figure.is_finite()) {
        return Vec::new();
    }
    let scale = Scale::for_axis(column.unit(), figures.iter().copied());
    let factor = scale.factor();
    let y = Axis::for_figures(figures.into_iter().map(|value| value * factor));
    let y = if column.unit() == Unit::Count { y.of_counts() } else { y };

    let legend = legend_entries(stored, slices, metric, &y, factor, lines);
    let ids = |of: &dyn Fn(f64) -> bool| -> BTreeSet<&str> {
        let points = points().filter(|(_, point)| of(mean(point).value));
        points.map(|(_, point)| point.id.as_str()).collect()
    };
    let missing = match ids(&|value| !value.is_finite()).len() {
        0 => String::new(),
        count => format!("no value at {count} of {} points", ids(&|_| true).len()),
    };
    let cut = points().filter(|(_, point)| cut::sense(point, metric) != Sense::Whole);
    let cut: BTreeSet<&str> = cut.map(|(_, point)| point.id.as_str()).collect();
    let cut = match cut.len() {
        0 => String::new(),
        count => format!("cut off at {count} (↑: at least, ~: so far)"),
    };
    let y_title = scale.heading(&format!("{}, mean", column.title()));
    Pages::new(slices.len(), ACROSS).draw(|note, page| {
        let slices = &slices[page];
        let mut drawing = Drawing::new((WIDTH, HEIGHT));
        let top = heading(&mut drawing, title, &joined(&[note, &missing, &cut, subtitle]));
        let top = legend_above(&mut drawing, &legend, top);
        drawing.text((MARGIN, top + LINE * 0.5), y_title.clone(), MUTED, Align::Left);
        let (top, bottom) = (top + LINE, HEIGHT - MARGIN - 2.0);
        let step = (WIDTH - 2.0 * MARGIN) / slices.len().max(1) as f64;
        for (index, slice) in slices.iter().enumerate() {
            let left = MARGIN + step * index as f64;
            let area = Area { left, top, right: left + step - 22.0, bottom };
            let (x, unit) =
                if lines { (slice.swept.axis(), "") } else { spread_axis(&slice.swept) };
            let title = clipped(&format!("{}{unit}", slice.swept.path), TEXT, step - 70.0);
            let panel = Panel::draw(&mut drawing, area, x, y.clone(), &title);
            panel.data(&mut drawing, |drawing| {
                for (index, series) in slice.series.iter().enumerate() {
                    if lines && first_alike(slices, index, metric) < index {
                        continue;
                    }
                    if lines {
                        curve(drawing, &panel, index, series, metric, scale);
                    } else {
                        scatter(drawing, &panel, (index, series), metric, factor);
                    }
                }
            });
        }
        drawing
    })
}

fn legend_entries(
    stored: &Stored,
    slices: &[Slice<'_>],
    metric: &str,
    y: &Axis,
    factor: f64,
    lines: bool,
) -> Vec<Entry> {
    let Some(first) = slices.first() else { return Vec::new() };
    if lines {
        let series = slices.iter().flat_map(|slice| &slice.series);
        let points: Vec<_> = series.flat_map(|series| &series.points).map(|p| p.1).collect();
        let of = |index| first_alike(slices, index, metric);
        return entries(stored, &first.series, &points, metric, (y, factor), of);
    }
    let named = |(index, series): (usize, &Series<'_>)| Entry {
        look: Look::Dot(colour(index)),
        text: if series.name.is_empty() { "mean".to_owned() } else { series.name.clone() },
    };
    first.series.iter().take(MOST_BASES).enumerate().map(named).collect()
}

/// The first of the series that has the same curves in all panels as the series number `index`.
fn first_alike(slices: &[Slice<'_>], index: usize, metric: &str) -> usize {
    let alike = |first: &usize| {
        let pairs = slices.iter().map(|slice| (slice.series.get(*first), slice.series.get(index)));
        pairs.into_iter().all(|pair| match pair {
            (Some(one), Some(other)) => same_curve(one, other, metric),
            _ => false,
        })
    };
    (0..index).find(alike).unwrap_or(index)
}

/// An axis for many values, with round ticks and their unit.
fn spread_axis(swept: &Swept) -> (Axis, &'static str) {
    let own = swept.axis();
    if swept.values.len() <= MOST_TICKS {
        return (own, "");
    }
    let unit = match swept.values.first().and_then(|(value, ..)| value.as_str()) {
        Some(text) if text.contains('/') => " (1/s)",
        Some(text) if parse_duration(text).is_ok() => " (s)",
        // Words are in their order.
        Some(_) => return (own, ""),
        None => "",
    };
    let axis =
        if own.log { Axis::decades(own.low, own.high) } else { Axis::within(own.low, own.high) };
    (axis, unit)
}

fn scatter(
    drawing: &mut Drawing,
    panel: &Panel,
    (index, series): (usize, &Series<'_>),
    metric: &str,
    factor: f64,
) {
    for (x, point) in &series.points {
        let value = point.figure(metric, Figure::Mean).value;
        if !value.is_finite() {
            continue;
        }
        let at: Place = panel.place(*x, value * factor);
        drawing.marks.push(Mark::Dot { at, radius: DOT * 0.75, colour: colour(index) });
        cut::sign(drawing, at, cut::sense(point, metric));
        drawing.anchor_dot(&point.id, at);
    }
}
