//! Measured figures against simulated ones: a mark for each expectation that says what was
//! measured, and for each recording, beside the line on which both are alike.

use super::axis::Axis;
use super::drawing::{Align, Area, Drawing, Mark, Place};
use super::frame::{DOT, Entry, Look, Panel, heading, legend, ring};
use super::style::{EXPECTED, HEIGHT, INK, MARGIN, MUTED, TARGET, TEXT, WIDTH, colour, text_width};
use super::sweep::capital;
use crate::report::number::Scale;
use crate::report::stored::{
    Figure, Stored, StoredColumn, StoredExpectation, StoredRecorded, words,
};
use crate::statistics::Estimate;
use crate::statistics::quantile::quantile_of_sorted;

/// With no more marks than this each of them is named, else only those that miss.
const FEW: usize = 14;

/// The verdict on an expectation that does not hold.
const MISSED: &str = "MISSED";
/// The share of an axis that a dot does not hide.
const SEEN: f64 = 0.035;
/// Marks that are further apart than this ratio are named, the furthest first.
const FAR: f64 = 1.2;
/// How many of them.
const MOST_FAR: usize = 12;

/// One mark.
struct Agreement<'s> {
    configuration: &'s str,
    /// Metric and figure over the replications; what shares a colour.
    series: String,
    /// Least, middle and greatest measured value.
    measured: [f64; 3],
    simulated: Estimate,
    /// What an expectation allows.
    allowed: Option<(f64, f64)>,
    missed: bool,
}

/// What the metrics that share a picture have in common: `latency` of `latency.p95`.
#[must_use]
pub fn stem(metric: &str) -> &str {
    match metric.rsplit_once('.') {
        Some((stem, "mean" | "p50" | "p90" | "p95" | "p99" | "min" | "max")) => stem,
        _ => metric,
    }
}

/// The picture for all metrics called `stem` or a figure of it, or `None` where none was measured.
#[must_use]
pub fn agreement(stored: &Stored, stem_name: &str) -> Option<Drawing> {
    let mut all = agreements(stored, stem_name);
    let column = stored.summary.columns.iter().find(|column| stem(&column.name) == stem_name)?;
    let possible = |estimate| Scale::new(column.unit(), 1.0).possible(estimate);
    all.iter_mut().for_each(|agreement| agreement.simulated = possible(agreement.simulated));
    let values = |a: &Agreement<'_>| {
        let (low, high) = a.allowed.unwrap_or((f64::NAN, f64::NAN));
        let interval = a.simulated.interval;
        let rest = [a.simulated.value, interval.low, interval.high, low, high];
        a.measured.into_iter().chain(rest).collect::<Vec<f64>>()
    };
    let finite = |all: &[Agreement<'_>]| -> Vec<f64> {
        all.iter().flat_map(values).filter(|value| value.is_finite()).collect()
    };
    if all.is_empty() {
        return None;
    }
    let scale = Scale::for_axis(column.unit(), finite(&all));
    all.iter_mut().for_each(|agreement| agreement.multiply(scale.factor()));
    let both = Axis::for_both(finite(&all));

    let mut drawing = Drawing::new((WIDTH, HEIGHT));
    let name = words(stem_name);
    let title = format!("{}: measured against simulated", capital(&name));
    let misses = all.iter().filter(|agreement| agreement.missed).count();
    let count = all.len();
    let figures = if count == 1 { "1 figure".to_owned() } else { format!("{count} figures") };
    let subtitle = match misses {
        0 => figures,
        _ => format!("{figures}, {misses} outside of what was expected"),
    };
    let top = heading(&mut drawing, &title, &subtitle);
    let mut series: Vec<&str> = Vec::new();
    for agreement in &all {
        if !series.contains(&agreement.series.as_str()) {
            series.push(&agreement.series);
        }
    }
    let entries = entries(&all, &series, &both, stored.summary.confidence);
    let right = legend(&mut drawing, &entries, top + 8.0);
    let y_title = scale.heading(&format!("Simulated {name}"));
    drawing.text((MARGIN, top + TEXT * 0.5), y_title, MUTED, Align::Left);
    let outer = Area { left: MARGIN, top: top + 1.4 * TEXT, right, bottom: HEIGHT - MARGIN + 6.0 };
    let x_title = scale.heading(&format!("Measured {name}"));
    let panel = Panel::draw(&mut drawing, outer, both.clone(), both.clone(), &x_title);
    panel.data(&mut drawing, |drawing| {
        for (low, high, x) in
            all.iter().filter_map(|a| a.allowed.map(|(low, high)| (low, high, a.measured[1])))
        {
            let clip = |bound: f64| bound.clamp(both.low, both.high);
            let (x, top) = panel.place(x, clip(high));
            let (left, right) = ((x - 4.0).max(panel.area.left), (x + 4.0).min(panel.area.right));
            let area = Area { left, top, right, bottom: panel.place(both.low, clip(low)).1 };
            drawing.marks.push(Mark::Box { area, colour: EXPECTED, opacity: 0.3 });
        }
        let points = vec![panel.place(both.low, both.low), panel.place(both.high, both.high)];
        let dash = Some((4.0, 3.0));
        drawing.marks.push(Mark::Line { points, colour: MUTED, width: 1.2, dash });
        for agreement in &all {
            let index = series.iter().position(|name| *name == agreement.series).unwrap_or(0);
            mark(drawing, &panel, agreement, index);
        }
    });
    names(&mut drawing, &panel, &all);
    for agreement in &all {
        let points = &stored.summary.points;
        let point = points.iter().find(|p| p.configuration == agreement.configuration);
        if let Some(point) = point.filter(|_| agreement.simulated.value.is_finite()) {
            let at = panel.place(agreement.measured[1], agreement.simulated.value);
            drawing.anchor_dot(&point.id, at);
        }
    }
    Some(drawing)
}

impl Agreement<'_> {
    /// How far the figures are from each other: the logarithm of their ratio.
    fn apart(&self) -> f64 {
        let ratio = self.simulated.value / self.measured[1];
        if ratio > 0.0 { libm::log(ratio).abs() } else { 0.0 }
    }

    fn multiply(&mut self, factor: f64) {
        self.measured.iter_mut().for_each(|value| *value *= factor);
        self.simulated.value *= factor;
        self.simulated.interval.low *= factor;
        self.simulated.interval.high *= factor;
        self.allowed = self.allowed.map(|(low, high)| (low * factor, high * factor));
    }
}

fn agreements<'s>(stored: &'s Stored, stem_name: &str) -> Vec<Agreement<'s>> {
    let expected = |expectation: &'s StoredExpectation| {
        let (low, high) = expectation.measured?;
        let statistic = expectation.statistic.as_str();
        let fits = !expectation.relative && statistic != "not_converged";
        (fits && stem(&expectation.metric) == stem_name).then(|| Agreement {
            configuration: &expectation.configuration,
            series: series_name(&expectation.metric, statistic),
            measured: [low, f64::midpoint(low, high), high],
            simulated: expectation.got(),
            allowed: Some(bounds(expectation)),
            missed: expectation.verdict == MISSED,
        })
    };
    let recorded = |recorded: &'s StoredRecorded| {
        let points = &stored.summary.points;
        let point = points.iter().find(|p| p.configuration == recorded.configuration)?;
        let (least, greatest) = (recorded.values.first()?, recorded.values.last()?);
        // The bounds of an expectation for the same figure, if it does not say what was measured.
        let expectation = stored.summary.expectations.iter().find(|expectation| {
            expectation.configuration == recorded.configuration
                && expectation.metric == recorded.metric
                && expectation.statistic == "p50"
                && !expectation.relative
                && expectation.measured.is_none()
        });
        (stem(&recorded.metric) == stem_name).then(|| Agreement {
            configuration: &recorded.configuration,
            series: series_name(&recorded.metric, "p50"),
            measured: [*least, quantile_of_sorted(&recorded.values, 0.5), *greatest],
            simulated: point.figure(&recorded.metric, Figure::P50),
            allowed: expectation.map(bounds),
            missed: expectation.is_some_and(|expectation| expectation.verdict == MISSED),
        })
    };
    let expected = stored.summary.expectations.iter().filter_map(expected);
    let all = expected.chain(stored.summary.recorded.iter().filter_map(recorded));
    all.filter(|agreement| agreement.simulated.value.is_finite()).collect()
}

fn bounds(expectation: &StoredExpectation) -> (f64, f64) {
    let (least, most) = (expectation.at_least, expectation.at_most);
    (least.unwrap_or(f64::NEG_INFINITY), most.unwrap_or(f64::INFINITY))
}

fn series_name(metric: &str, statistic: &str) -> String {
    let metric = words(metric);
    match statistic {
        "mean" => format!("mean {metric}"),
        "p50" => format!("median {metric}"),
        "min" => format!("least {metric}"),
        "max" => format!("greatest {metric}"),
        other => format!("{other} of {metric}"),
    }
}

fn entries(all: &[Agreement<'_>], series: &[&str], axis: &Axis, confidence: f64) -> Vec<Entry> {
    let entry = |look, text: &str| Entry { look, text: text.to_owned() };
    let dot = |(index, name): (usize, &&str)| entry(Look::Dot(colour(index)), name);
    let mut entries: Vec<Entry> = series.iter().enumerate().map(dot).collect();
    entries.push(entry(Look::Thin(MUTED), "both alike"));
    // No more than a dot hides it.
    let seen = |(low, high): (f64, f64)| axis.share(high) - axis.share(low) > SEEN;
    if all.iter().any(|agreement| agreement.allowed.is_some_and(seen)) {
        entries.push(entry(Look::Fill(EXPECTED, 0.3), "range expected of the simulated figure"));
    }
    if all.iter().any(|agreement| agreement.missed) {
        entries.push(entry(Look::Ring(TARGET), "outside of what was expected"));
    }
    let text = format!(
        "across: least to greatest measured; up: {} % interval of the simulated",
        confidence * 100.0
    );
    entries.push(entry(Look::Cross(MUTED), &text));
    entries
}

fn mark(drawing: &mut Drawing, panel: &Panel, agreement: &Agreement<'_>, index: usize) {
    let [least, middle, greatest] = agreement.measured;
    let Estimate { value, interval, .. } = agreement.simulated;
    let colour = colour(index);
    drawing.line(vec![panel.place(least, value), panel.place(greatest, value)], colour, 1.2);
    if interval.is_bounded() {
        let ends = [interval.low, interval.high].map(|end| panel.place(middle, end));
        drawing.line(ends.to_vec(), colour, 1.2);
    }
    let at = panel.place(middle, value);
    if agreement.missed {
        ring(drawing, at, TARGET);
    }
    drawing.marks.push(Mark::Dot { at, radius: DOT, colour });
}

/// Names the marks that miss or are far apart, and all of a few, where there is room.
fn names(drawing: &mut Drawing, panel: &Panel, all: &[Agreement<'_>]) {
    let dot = |agreement: &Agreement<'_>| {
        let (x, y) = panel.place(agreement.measured[1], agreement.simulated.value);
        let (left, right, top, bottom) = (x - 5.0, x + 5.0, y - 5.0, y + 5.0);
        Area { left, top, right, bottom }
    };
    // Dots and the lines across and up.
    let lines = |agreement: &Agreement<'_>| {
        let [least, middle, greatest] = agreement.measured;
        let Estimate { value, interval, .. } = agreement.simulated;
        let around = |a: Place, b: Place| Area {
            left: a.0.min(b.0) - 1.0,
            top: a.1.min(b.1) - 1.0,
            right: a.0.max(b.0) + 1.0,
            bottom: a.1.max(b.1) + 1.0,
        };
        let across = around(panel.place(least, value), panel.place(greatest, value));
        let up = around(panel.place(middle, interval.low), panel.place(middle, interval.high));
        [Some(across), interval.is_bounded().then_some(up)].into_iter().flatten()
    };
    let mut taken: Vec<Area> = all.iter().map(dot).chain(all.iter().flat_map(lines)).collect();
    // The line on which both are alike, piece by piece.
    let Area { left, right, top, bottom } = panel.area;
    taken.extend((0..100).map(|n| {
        let part = |share: f64| (left + (right - left) * share, bottom - (bottom - top) * share);
        let (from, to) = (part(f64::from(n) / 100.0), part(f64::from(n + 1) / 100.0));
        Area { left: from.0, right: to.0, top: to.1, bottom: from.1 }
    }));
    let mut told: Vec<&str> = Vec::new();
    let mut named: Vec<&Agreement<'_>> = all.iter().collect();
    named.sort_by(|a, b| b.missed.cmp(&a.missed).then(b.apart().total_cmp(&a.apart())));
    if all.len() > FEW {
        named.retain(|agreement| agreement.missed || agreement.apart() > libm::log(FAR));
        let misses = named.iter().filter(|agreement| agreement.missed).count();
        named.truncate(misses.max(MOST_FAR));
    }
    for agreement in named {
        let name = agreement.configuration;
        if told.contains(&name) {
            continue;
        }
        let around = dot(agreement);
        let Some(place) = free(panel.area, around, text_width(name, TEXT), &taken) else {
            continue;
        };
        told.push(name);
        taken.push(place);
        let at: Place = (place.left, f64::midpoint(place.top, place.bottom));
        drawing.text(at, name, INK, Align::Left);
    }
}

/// A place for a name of `width` beside `dot` that touches nothing `taken`.
fn free(panel: Area, dot: Area, width: f64, taken: &[Area]) -> Option<Area> {
    let (x, y) = (f64::midpoint(dot.left, dot.right), f64::midpoint(dot.top, dot.bottom));
    let half = TEXT * 0.5;
    // Beside it, above and below, then ever further out to both sides.
    let beside = [(dot.right + 3.0, y), (dot.left - 3.0 - width, y)];
    let above = [-1.0, 1.0].map(|side| (x - width / 2.0, y + side * (half + 7.0)));
    let further = [8.0, 16.0].into_iter().flat_map(|far| {
        [(dot.right + 2.0, y + half + far), (dot.left - 2.0 - width, y - half - far)]
    });
    let areas = beside.into_iter().chain(above).chain(further).map(|(left, y)| Area {
        left,
        top: y - half,
        right: left + width,
        bottom: y + half,
    });
    let fine =
        |area: &Area| panel.holds(area, 0.0) && taken.iter().all(|other| !other.overlaps(area));
    areas.into_iter().find(fine)
}

/// The stems that have something measured, in the order of the columns.
#[must_use]
pub fn stems(stored: &Stored) -> Vec<&StoredColumn> {
    let measured = |name: &str| {
        let summary = &stored.summary;
        let expectations = summary.expectations.iter();
        expectations.filter(|e| e.measured.is_some() && !e.relative).any(|e| e.metric == name)
            || summary.recorded.iter().any(|recorded| recorded.metric == name)
    };
    let mut found: Vec<&StoredColumn> = Vec::new();
    for column in stored.summary.columns.iter().filter(|column| measured(&column.name)) {
        if found.iter().all(|known| stem(&known.name) != stem(&column.name)) {
            found.push(column);
        }
    }
    found
}
