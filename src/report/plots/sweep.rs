//! A metric against one swept parameter: mean with its interval, and the 95th percentile.

use plotters::style::RGBColor;
use serde_json::Value;

use super::axis::{Axis, short};
use super::cut;
use super::drawing::{Area, Drawing, Mark, Place};
use super::frame::{
    Entry, Look, MISSING, Panel, heading, legend, legend_capacity, measured, missing, one_for_each,
};
use super::pages::{Pages, joined};
use super::style::{BAND, CURVE, EXPECTED, HEIGHT, MARGIN, MUTED, WIDTH, colour, dash};
use crate::models::Unit;
use crate::quantities::duration::parse_duration;
use crate::quantities::rate::parse_rate;
use crate::report::number::Scale;
use crate::report::stored::{Figure, Stored, StoredColumn, StoredPoint, value_text};
use crate::statistics::{Sense, equal};

/// The share of an axis that can be seen.
const SEEN: f64 = 0.006;

/// Curves in one picture.
const MOST_CURVES: usize = 12;

/// How many points of which something is said are named.
const MOST_PLACES: usize = 6;

/// The values of a swept parameter, as numbers where all are numbers, durations or rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Swept {
    /// The path of the parameter.
    pub path: String,
    /// Each value once, in the order of the sweep, with its place on an axis and its text.
    pub values: Vec<(Value, f64, String)>,
}

impl Swept {
    /// The parameter `path` over all points that have it.
    #[must_use]
    pub fn new(stored: &Stored, path: &str) -> Self {
        let mut values: Vec<Value> = Vec::new();
        for value in stored.summary.points.iter().filter_map(|point| point.axes.get(path)) {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        let numbers: Option<Vec<f64>> = values.iter().map(number).collect();
        let place = |index: usize| numbers.as_ref().map_or(index as f64, |n| n[index]);
        let values = values.into_iter().enumerate().map(|(index, value)| {
            let text = tick_text(&value);
            (value, place(index), text)
        });
        Self { path: path.to_owned(), values: values.collect() }
    }

    /// Where `value` is on the axis.
    #[must_use]
    pub fn place(&self, value: &Value) -> Option<f64> {
        self.values.iter().find(|known| known.0 == *value).map(|known| known.1)
    }

    /// With a tick at each value.
    pub fn axis(&self) -> Axis {
        Axis::at_values(self.values.iter().map(|(_, place, text)| (*place, text.clone())).collect())
    }
}

/// A value as the label of a tick: `10k` for 10000.
fn tick_text(value: &Value) -> String {
    let text = value_text(value);
    let text = four_digits(&text).filter(|round| round.len() < text.len()).unwrap_or(text);
    let round = value.as_f64().map(short).filter(|round| round.len() < text.len());
    round.unwrap_or(text)
}

/// The number that `text` begins with to four significant digits, and what follows it.
fn four_digits(text: &str) -> Option<String> {
    let end = text.find(' ').unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok().filter(|number| *number != 0.0)?;
    let decimals = (3 - libm::floor(libm::log10(number.abs())) as i32).max(0) as usize;
    let round = format!("{number:.decimals$}");
    let round =
        if decimals > 0 { round.trim_end_matches('0').trim_end_matches('.') } else { &round };
    Some(format!("{round}{}", &text[end..]))
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => parse_duration(text)
            .ok()
            .map(crate::engine::SimDuration::as_seconds)
            .or_else(|| parse_rate(text).ok().map(|rate| rate.as_per_second())),
        _ => None,
    }
}

/// Points of a sweep from one configuration.
pub struct Series<'s> {
    /// The configuration; empty for the components as they stand.
    pub name: String,
    /// The same without the value that it has of what is swept: `8 workers` on an axis of workers.
    pub title: String,
    /// Each point with its place on the axis, in rising order.
    pub points: Vec<(f64, &'s StoredPoint)>,
}

/// The series of a sweep: one for each configuration that it starts from.
pub fn series<'s>(swept: &Swept, points: impl Iterator<Item = &'s StoredPoint>) -> Vec<Series<'s>> {
    let mut all: Vec<Series<'s>> = Vec::new();
    for point in points {
        let x = point.axes.get(&swept.path).and_then(|value| swept.place(value));
        let Some(x) = x else { continue };
        let name = point.base().to_owned();
        match all.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push((x, point)),
            None => {
                let title = without_swept(&name, &swept.path);
                all.push(Series { name, title, points: vec![(x, point)] });
            }
        }
    }
    for series in &mut all {
        series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    all
}

/// `name` without the words that say how much it has of what `path` ends with.
fn without_swept(name: &str, path: &str) -> String {
    let last = path.rsplit('.').next().unwrap_or(path).replace('_', " ");
    let says = |part: &&str| {
        let (number, what) = part.trim().split_once(' ').unwrap_or((part, ""));
        let what = what.strip_suffix('s').unwrap_or(what);
        number.parse::<f64>().is_ok() && what == last.strip_suffix('s').unwrap_or(&last)
    };
    let kept: Vec<&str> = name.split(", ").filter(|part| !says(part)).collect();
    kept.join(", ")
}

/// What an expectation allows and what was measured, where the point it speaks of is on the axis.
struct Allowed<'s> {
    x: f64,
    /// Number of the series that the point is of.
    series: usize,
    /// What is expected of the mean.
    bounds: Option<(f64, f64)>,
    measured: Option<(f64, f64)>,
    source: &'s str,
}

/// Bounds for the mean of `metric`, and the range of what was recorded; a point of the sweep is found
/// by its identity, so that an expectation for a named configuration counts where the sweep passes
/// through it.
fn allowed<'s>(stored: &'s Stored, metric: &str, all: &[Series<'_>]) -> Vec<Allowed<'s>> {
    let of = |name: &str| stored.summary.points.iter().find(|point| point.configuration == name);
    let place = |configuration: &str| {
        let id = &of(configuration)?.id;
        let found = |(index, series): (usize, &Series<'_>)| {
            let point = series.points.iter().find(|(_, point)| point.id == *id)?;
            Some((index, point.0))
        };
        all.iter().enumerate().find_map(found)
    };
    let expectations = stored.summary.expectations.iter();
    let about = expectations.filter(|e| e.metric == metric && e.statistic == "mean" && !e.relative);
    let expected = about.filter_map(|expectation| {
        let (series, x) = place(&expectation.configuration)?;
        let low = expectation.at_least.unwrap_or(f64::NEG_INFINITY);
        let high = expectation.at_most.unwrap_or(f64::INFINITY);
        let (measured, source) = (expectation.measured, expectation.source.as_str());
        Some(Allowed { x, series, bounds: Some((low, high)), measured, source })
    });
    let recorded = stored.summary.recorded.iter().filter(|recorded| recorded.metric == metric);
    let recorded = recorded.filter_map(|recorded| {
        let (series, x) = place(&recorded.configuration)?;
        let measured = Some((*recorded.values.first()?, *recorded.values.last()?));
        Some(Allowed { x, series, bounds: None, measured, source: recorded.source.as_str() })
    });
    expected.chain(recorded).collect()
}

/// The pictures, so many curves in each; none where no point has exactly this one axis.
#[must_use]
pub fn sweep(stored: &Stored, column: &StoredColumn, path: &str) -> Vec<Drawing> {
    let swept = Swept::new(stored, path);
    let points = stored.summary.points.iter().filter(|point| point.axes.len() == 1);
    let all = series(&swept, points);
    if all.is_empty() {
        return Vec::new();
    }
    let metric = column.name.as_str();
    let points = || all.iter().flat_map(|series| &series.points);
    if !points().any(|(_, point)| point.figure(metric, Figure::Mean).value.is_finite()) {
        return Vec::new();
    }
    let possible = Scale::new(column.unit(), 1.0);
    let figures = || {
        points().flat_map(|(_, point)| {
            let mean = possible.possible(point.figure(metric, Figure::Mean));
            let p95 = point.figure(metric, Figure::P95).value;
            [mean.value, mean.interval.low, mean.interval.high, p95]
        })
    };
    let allowed = allowed(stored, metric, &all);
    let ends = |a: &Allowed<'_>| {
        let none = (f64::NAN, f64::NAN);
        let [(least, most), (low, high)] = [a.bounds.unwrap_or(none), a.measured.unwrap_or(none)];
        [least, most, low, high]
    };
    let bounds = || allowed.iter().flat_map(ends);
    // The unit suits all that the axis shows, not the means alone.
    let scale = Scale::for_axis(column.unit(), figures().chain(bounds()));
    let y = Axis::for_figures(figures().chain(bounds()).map(|value| value * scale.factor()));
    let y = if column.unit() == Unit::Count { y.of_counts() } else { y };
    let pages = Pages::new(all.len(), MOST_CURVES);
    pages.draw(|note, page| {
        Page { stored, column, swept: &swept, scale, y: &y }.draw(note, &all[page])
    })
}

/// What the pages of a sweep share.
struct Page<'s> {
    stored: &'s Stored,
    column: &'s StoredColumn,
    swept: &'s Swept,
    scale: Scale,
    y: &'s Axis,
}

impl Page<'_> {
    fn draw(&self, note: &str, all: &[Series<'_>]) -> Drawing {
        let (column, swept) = (self.column, self.swept);
        let (metric, factor) = (column.name.as_str(), self.scale.factor());
        let allowed = allowed(self.stored, metric, all);
        let mut drawing = Drawing::new((WIDTH, HEIGHT));
        let what = self.scale.heading(&format!("{}, mean", column.title()));
        let value = |point: &StoredPoint| point.figure(metric, Figure::Mean).value;
        let missing = places(swept, all, "no value", |point| !value(point).is_finite());
        let sense = |wanted: Sense| move |point: &StoredPoint| cut::sense(point, metric) == wanted;
        let least = places(swept, all, "↑ cut off, at least this", sense(Sense::AtLeast));
        let so_far = places(swept, all, "~ cut off, this so far", sense(Sense::SoFar));
        let title = format!("{} by {}", capital(&column.title()), short_path(&swept.path));
        let top = heading(&mut drawing, &title, &joined(&[note, &what, &missing, &least, &so_far]));
        let points: Vec<&StoredPoint> =
            all.iter().flat_map(|series| &series.points).map(|(_, point)| *point).collect();
        let first = |index| first_alike(all, index, metric);
        let mut entries = entries(self.stored, all, &points, metric, (self.y, factor), first);
        if allowed.iter().any(|allowed| allowed.bounds.is_some()) {
            let text = "range expected of the mean".to_owned();
            let shade = if all.len() > 1 { MUTED } else { EXPECTED };
            entries.push(Entry { look: Look::Fill(shade, 0.35), text });
        }
        let room = legend_capacity(top + 8.0).saturating_sub(entries.len());
        entries.extend(sources(&allowed, room));
        let right = legend(&mut drawing, &entries, top + 8.0);
        let outer = Area { left: MARGIN, top: top + 4.0, right, bottom: HEIGHT - MARGIN + 6.0 };
        let panel = Panel::draw(&mut drawing, outer, swept.axis(), self.y.clone(), &swept.path);
        panel.data(&mut drawing, |drawing| {
            for allowed in &allowed {
                // Of several curves it must be seen which is meant.
                let own = colour(allowed.series);
                let shade = if all.len() > 1 { own } else { EXPECTED };
                range(drawing, &panel, allowed, factor, (shade, own));
            }
            let drawn = |index: &usize| first(*index) == *index;
            for (index, series) in all.iter().enumerate().filter(|(index, _)| drawn(index)) {
                curve(drawing, &panel, index, series, metric, self.scale);
            }
            for (x, (low, high)) in allowed.iter().filter_map(|a| Some((a.x, a.measured?))) {
                let top = panel.place(x, high * factor);
                measured(drawing, top, panel.place(x, low * factor).1);
            }
        });
        drawing
    }
}

/// Says where `what` is so of points. That no replication had a value or that some were cut off,
/// left unsaid, would flatter what does not get done.
fn places(
    swept: &Swept,
    all: &[Series<'_>],
    what: &str,
    is_so: impl Fn(&StoredPoint) -> bool,
) -> String {
    let text = |series: &Series<'_>, x: f64| {
        let value = swept.values.iter().find(|(_, place, _)| *place == x);
        let value = value.map_or("", |(.., text)| text.as_str());
        let named = all.len() > 1 && !series.title.is_empty();
        if named { format!("{value} ({})", series.title) } else { value.to_owned() }
    };
    let points = all.iter().flat_map(|series| series.points.iter().map(move |p| (series, p)));
    let such = points.filter(|(_, (_, point))| is_so(point));
    let such: Vec<String> = such.map(|(series, (x, _))| text(series, *x)).collect();
    match such.len() {
        0 => String::new(),
        count if count > MOST_PLACES => {
            let first = such[..MOST_PLACES].join(", ");
            format!("{what} at {first} and {} more", count - MOST_PLACES)
        }
        _ => format!("{what} at {}", such.join(", ")),
    }
}

/// Whether `from` and `to` are apart on an axis: below it is less than the width of a curve.
fn apart(y: &Axis, from: f64, to: f64) -> bool {
    from.is_finite() && to.is_finite() && (y.share(from) - y.share(to)).abs() > SEEN
}

/// Whether the 95th percentile of any of `points` is apart from the mean.
fn has_p95(points: &[&StoredPoint], metric: &str, y: &Axis, factor: f64) -> bool {
    let figure = |point: &StoredPoint, figure| point.figure(metric, figure).value * factor;
    points.iter().any(|p| apart(y, figure(p, Figure::Mean), figure(p, Figure::P95)))
}

/// The first of the series whose curve is that of the series number `index`.
fn first_alike(all: &[Series<'_>], index: usize, metric: &str) -> usize {
    all[..index].iter().position(|one| same_curve(one, &all[index], metric)).unwrap_or(index)
}

/// Whether two curves lie on each other, with their intervals.
pub fn same_curve(one: &Series<'_>, other: &Series<'_>, metric: &str) -> bool {
    let figures = |point: &StoredPoint| {
        let mean = point.figure(metric, Figure::Mean);
        let p95 = point.figure(metric, Figure::P95).value;
        [mean.value, mean.interval.low, mean.interval.high, p95]
    };
    let alike = |(one, other): (&(f64, &StoredPoint), &(f64, &StoredPoint))| {
        let [own, others] = [figures(one.1), figures(other.1)];
        one.0 == other.0 && own.iter().zip(others).all(|(own, other)| equal(*own, other))
    };
    one.points.len() == other.points.len() && one.points.iter().zip(&other.points).all(alike)
}

/// What the legend says of the curves, of which `first` says which is drawn for each: no more than there is to see of `points` on an axis `y`.
pub fn entries(
    stored: &Stored,
    all: &[Series<'_>],
    points: &[&StoredPoint],
    metric: &str,
    (y, factor): (&Axis, f64),
    first: impl Fn(usize) -> usize,
) -> Vec<Entry> {
    let named = |(index, series): (usize, &Series<'_>)| {
        let name = if series.title.is_empty() { "mean" } else { series.title.as_str() };
        Entry { look: Look::Curve(index), text: name.to_owned() }
    };
    let named: Vec<Entry> = all.iter().enumerate().map(named).collect();
    let mut entries = one_for_each(named, first);
    let interval = |point: &StoredPoint| point.figure(metric, Figure::Mean).interval;
    let ends = points.iter().map(|point| interval(point));
    if ends.into_iter().any(|ends| apart(y, ends.low * factor, ends.high * factor)) {
        let percent = format!("{:.4}", stored.summary.confidence * 100.0);
        let percent = percent.trim_end_matches('0').trim_end_matches('.');
        let text = format!("{percent} % interval of the mean");
        entries.push(Entry { look: Look::Fill(colour(0), BAND), text });
    }
    if has_p95(points, metric, y, factor) {
        entries.push(Entry { look: Look::Thin(MUTED), text: "95th percentile".to_owned() });
    }
    if points.iter().any(|point| !point.figure(metric, Figure::Mean).value.is_finite()) {
        entries.push(Entry { look: Look::Missing(MUTED), text: "no value".to_owned() });
    }
    entries
}

/// What an expectation allows, with edges in the colour of the curve that it is about.
fn range(
    drawing: &mut Drawing,
    panel: &Panel,
    allowed: &Allowed<'_>,
    factor: f64,
    (shade, edge): (RGBColor, RGBColor),
) {
    let Some((low, high)) = allowed.bounds else { return };
    // An open end reaches the end of the axis, and so is clipped there.
    let clip = |bound: f64| (bound * factor).clamp(panel.y.low, panel.y.high);
    let (x, top) = panel.place(allowed.x, clip(high));
    let bottom = panel.place(panel.x.low, clip(low)).1;
    // One value is shown as a line.
    let room = (4.0 - (bottom - top)).max(0.0) / 2.0;
    let area = Area {
        left: (x - 9.0).max(panel.area.left),
        top: (top - room).max(panel.area.top),
        right: (x + 9.0).min(panel.area.right),
        bottom: (bottom + room).min(panel.area.bottom),
    };
    drawing.marks.push(Mark::Box { area, colour: shade, opacity: 0.35 });
    for (y, bound) in [(area.top, high), (area.bottom, low)] {
        if bound.is_finite() {
            let ends = vec![(area.left, y), (area.right, y)];
            drawing.line(ends, edge, 1.0);
        }
    }
}

/// Where the measured figures come from, each source once, in no more than `room` entries.
fn sources(allowed: &[Allowed<'_>], room: usize) -> Vec<Entry> {
    let mut sources: Vec<&str> = Vec::new();
    for allowed in allowed.iter().filter(|allowed| allowed.measured.is_some()) {
        // What follows a colon is the figure itself.
        let source = allowed.source.split(": ").next().unwrap_or_default();
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    let count = sources.len();
    let kept = if count > room { room.saturating_sub(1).max(1) } else { count };
    let entry = |(index, source): (usize, &str)| {
        let more = if index + 1 == kept && kept < count {
            format!(" and {} more sources", count - kept)
        } else {
            String::new()
        };
        Entry { look: Look::Measured, text: format!("measured: {source}{more}") }
    };
    sources.into_iter().take(kept).enumerate().map(entry).collect()
}

/// A curve of the mean with its interval, and the 95th percentile. Where a point has no value there is
/// a gap, with a cross on the axis: to join its neighbours would say that it lies between them.
pub fn curve(
    drawing: &mut Drawing,
    panel: &Panel,
    index: usize,
    series: &Series<'_>,
    metric: &str,
    scale: Scale,
) {
    let factor = scale.factor();
    let runs = |figure: &dyn Fn(&StoredPoint) -> f64| -> Vec<Vec<Place>> {
        let groups =
            series.points.chunk_by(|a, b| figure(a.1).is_finite() == figure(b.1).is_finite());
        let known = groups.filter(|group| figure(group[0].1).is_finite());
        let place = |(x, point): &(f64, &StoredPoint)| panel.place(*x, figure(point) * factor);
        known.map(|group| group.iter().map(place).collect()).collect()
    };
    let mean = |point: &StoredPoint| scale.possible(point.figure(metric, Figure::Mean));
    let bounded = |point: &StoredPoint| mean(point).interval.is_bounded();
    let lower = runs(&|p| if bounded(p) { mean(p).interval.low } else { f64::NAN });
    let upper = runs(&|p| if bounded(p) { mean(p).interval.high } else { f64::NAN });
    for (lower, upper) in lower.into_iter().zip(upper).filter(|(lower, _)| lower.len() > 1) {
        let points = lower.into_iter().chain(upper.into_iter().rev()).collect();
        drawing.marks.push(Mark::Area { points, colour: colour(index), opacity: BAND });
    }
    let mut lines = |points: Vec<Vec<Place>>, width: f64, dash: Option<(f64, f64)>| {
        for points in points.into_iter().filter(|points| points.len() > 1) {
            drawing.marks.push(Mark::Line { points, colour: colour(index), width, dash });
        }
    };
    // Only what the legend names: where the two are alike, dashes beside a curve tell nothing.
    let own: Vec<&StoredPoint> = series.points.iter().map(|(_, point)| *point).collect();
    if has_p95(&own, metric, &panel.y, factor) {
        lines(runs(&|point| point.figure(metric, Figure::P95).value), 1.2, Some((4.0, 3.0)));
    }
    lines(runs(&|point| mean(point).value), CURVE, dash(index));
    for (x, point) in &series.points {
        let value = mean(point).value;
        if value.is_finite() {
            let at = panel.place(*x, value * factor);
            drawing.marks.push(Mark::Dot { at, radius: 3.6, colour: colour(index) });
            cut::sign(drawing, at, cut::sense(point, metric));
            drawing.anchor_dot(&point.id, at);
        } else {
            // Beside each other where several curves lack the same point.
            let (x, bottom) = panel.place(*x, panel.y.low);
            let half = MISSING / 2.0 + 1.0;
            let at = (x + index as f64 * (MISSING + 2.0))
                .clamp(panel.area.left + half, panel.area.right - half);
            missing(drawing, (at, bottom - half), colour(index));
        }
    }
}

/// The last key of a path, for a title.
#[must_use]
pub fn short_path(path: &str) -> String {
    path.rsplit('.').next().unwrap_or(path).replace('_', " ")
}

/// With a capital letter at the start.
#[must_use]
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
