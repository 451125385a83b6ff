//! The empirical distribution of a metric for each configuration: how many replications stay
//! below a figure, and, on a logarithmic scale, how many exceed it.

use super::axis::Axis;
use super::bars::{row_names, shown};
use super::drawing::{Align, Area, Drawing, Mark, Place};
use super::frame::{Entry, LINE, Look, Panel, heading, legend, one_for_each};
use super::style::{CURVE, HEIGHT, MARGIN, MOST_SERIES, MUTED, WIDTH, colour, dash};
use super::sweep::capital;
use crate::models::Unit;
use crate::report::number::Scale;
use crate::report::stored::{Figure, Stored, StoredColumn, StoredPoint};
use crate::statistics::{Sense, equal};

/// Curves that are still told apart in one picture.
const MOST_CURVES: usize = 9;

/// The picture, or `None` where no metric came about twice.
#[must_use]
pub fn distribution(stored: &Stored, column: &StoredColumn) -> Option<Drawing> {
    let (all_samples, of) = samples(stored, &column.name);
    let chosen = all_samples.len();
    let (samples, without): (Vec<_>, Vec<_>) =
        all_samples.into_iter().partition(|sample| !sample.values.is_empty());
    let all = || samples.iter().flat_map(|sample| sample.values.iter().copied());
    let scale = Scale::for_axis(column.unit(), all());
    let figures = || all().map(|value| value * scale.factor());
    let counted = column.unit() == Unit::Count && all().all(|value| value.fract() == 0.0);
    let x = match counted && scale.factor() == 1.0 {
        true => Axis::of_whole_numbers(figures()),
        false => Axis::for_figures(figures()),
    };
    let longest = samples.iter().map(|sample| sample.values.len()).max();
    longest.filter(|most| *most > 1)?;
    let most = samples.iter().map(Sample::size).max()?;

    let mut drawing = Drawing::new((WIDTH, HEIGHT));
    let title = format!("Distribution of {}", column.title());
    let subtitle = super::bars::how_many(chosen, of);
    let top = heading(&mut drawing, &title, &subtitle);
    let entry = |(index, sample): (usize, &Sample)| {
        let (known, all) = (sample.values.len(), sample.replications);
        // What a curve leaves out would flatter it unsaid.
        let of = match (sample.beyond, sample.so_far) {
            (0, 0) if known < all => format!(" (figure in {known} of {all})"),
            (0, 0) => String::new(),
            (0, cut) => format!(" (so far: {cut} of {all} cut off)"),
            (beyond, _) => format!(" ({beyond} of {all} cut off)"),
        };
        Entry { look: Look::Curve(index), text: format!("{}{of}", sample.name) }
    };
    let first = |index: usize| {
        let own = &samples[index];
        let alike = |other: &Sample| {
            let mut pairs = other.values.iter().zip(&own.values);
            (other.values.len(), other.beyond) == (own.values.len(), own.beyond)
                && pairs.all(|(one, other)| equal(*one, *other))
        };
        samples.iter().position(alike).unwrap_or(index)
    };
    let all_entries: Vec<Entry> = samples.iter().enumerate().map(entry).collect();
    let mut entries = one_for_each(all_entries, first);
    let none = |sample: &Sample| Entry {
        look: Look::Missing(MUTED),
        text: match sample.beyond {
            0 => format!("{}: no figure", sample.name),
            _ => format!("{}: all cut off", sample.name),
        },
    };
    entries.extend(without.iter().map(none));
    let right = legend(&mut drawing, &entries, top + LINE + 8.0);
    let middle = f64::midpoint(MARGIN, right);
    let x_title = scale.heading(&capital(&column.title()));
    let below: Vec<(f64, String)> =
        [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| (share, format!("{:.0} %", share * 100.0))).into();
    let below = Axis { low: 0.0, high: 1.0, log: false, ticks: below };
    let above = tail_axis(most);
    for (tail, left, right, y, name) in [
        (false, MARGIN, middle - 12.0, below, "share of replications at or below"),
        (true, middle + 12.0, right, above, "share above, logarithmic"),
    ] {
        drawing.text((left, top + LINE * 0.5), name, MUTED, Align::Left);
        let outer = Area { left, top: top + LINE + 4.0, right, bottom: HEIGHT - MARGIN + 6.0 };
        let panel = Panel::draw(&mut drawing, outer, x.clone(), y, &x_title);
        panel.data(&mut drawing, |drawing| {
            let curves = samples.iter().enumerate().filter(|(index, _)| first(*index) == *index);
            for (index, sample) in curves {
                let values: Vec<f64> =
                    sample.values.iter().map(|value| value * scale.factor()).collect();
                let points = steps(&panel, &values, sample.size(), tail);
                let (colour, dash) = (colour(index), dash(index));
                drawing.marks.push(Mark::Line { points, colour, width: CURVE, dash });
            }
        });
        for point in &stored.summary.points {
            let mean = point.figure(&column.name, Figure::Mean).value * scale.factor();
            if panel.x.holds(mean) {
                drawing.anchor_line(&point.id, panel.area, panel.place(mean, panel.y.low).0);
            }
        }
    }
    Some(drawing)
}

/// Whether no figure differs from one replication to the next, so that there is no distribution to
/// show.
#[must_use]
pub fn is_flat(stored: &Stored, column: &StoredColumn) -> bool {
    let same = |sample: &Sample| match (sample.values.first(), sample.values.last()) {
        (Some(least), Some(greatest)) => equal(*least, *greatest),
        _ => true,
    };
    samples(stored, &column.name).0.iter().all(same)
}

/// The figures of one curve.
struct Sample {
    name: String,
    /// Those that came about, in rising order.
    values: Vec<f64>,
    replications: usize,
    /// Those that were cut off and are longer than it had come to: of them a curve says only that
    /// they are not at or below.
    beyond: usize,
    /// Those that are in it with what they had come to, though nothing is known of the whole.
    so_far: usize,
}

impl Sample {
    /// What the shares are of.
    fn size(&self) -> usize {
        self.values.len() + self.beyond
    }
}

/// The samples of all curves, and how many there could be.
fn samples(stored: &Stored, metric: &str) -> (Vec<Sample>, usize) {
    let (chosen, count) = shown(stored, MOST_CURVES.min(MOST_SERIES));
    let names = row_names(&chosen.iter().map(|(_, point)| *point).collect::<Vec<_>>());
    let sample = |((index, point), name): ((usize, &StoredPoint), String)| {
        let cut = point.cut(metric);
        let grows = cut > 0 && point.figure(metric, Figure::Mean).sense == Sense::AtLeast;
        let all = match grows {
            true => stored.final_values(index, metric),
            false => stored.values(index, metric),
        };
        let mut values: Vec<f64> = all.iter().copied().filter(|v| v.is_finite()).collect();
        values.sort_unstable_by(f64::total_cmp);
        let (beyond, so_far) = if grows { (cut, 0) } else { (0, cut) };
        Sample { name, values, replications: all.len(), beyond, so_far }
    };
    (chosen.into_iter().zip(names).map(sample).collect(), count)
}

/// From one in `most` to all of them.
fn tail_axis(most: usize) -> Axis {
    let low = 1.0 / most as f64;
    let marks: &[f64] = if most <= 100 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let first = libm::floor(libm::log10(low)) as i32;
    let shares = (first..=0)
        .flat_map(|decade| marks.iter().map(move |mark| super::axis::decimal(*mark, decade)));
    let tick = |share: f64| (share, format!("{} %", super::axis::short(share * 100.0)));
    let ticks = shares.filter(|share| (low * 0.999..=1.0).contains(share)).map(tick).collect();
    Axis { low, high: 1.0, log: true, ticks }
}

/// The steps of a distribution of which `values` are the least, sorted; its tail ends at the greatest.
fn steps(panel: &Panel, values: &[f64], size: usize, tail: bool) -> Vec<Place> {
    let count = size as f64;
    let share = |below: f64| if tail { 1.0 - below / count } else { below / count };
    let mut points: Vec<Place> = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let before = panel.place(*value, share(index as f64));
        let after = panel.place(*value, share(index as f64 + 1.0));
        let last = index + 1 == values.len();
        // Many steps fall into one pixel; only those that show are kept.
        let near =
            |point: &Place| (point.0 - after.0).abs() < 0.25 && (point.1 - after.1).abs() < 0.25;
        if !last && points.last().is_some_and(near) {
            continue;
        }
        points.push(before);
        if !(tail && last && size == values.len()) {
            points.push(after);
        }
    }
    points
}
