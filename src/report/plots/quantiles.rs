//! Recorded figures against the simulated distribution, quantile by quantile: a panel for each
//! configuration that has been recorded often enough.

use super::axis::Axis;
use super::drawing::{Align, Area, Drawing, Mark, Place};
use super::frame::{DOT, Entry, LINE, Look, Panel, heading, legend_above};
use super::pages::{Pages, joined};
use super::style::{BAND, HEIGHT, INK, MARGIN, MUTED, TEXT, WIDTH, clipped, colour, text_width};
use super::sweep::capital;
use crate::report::number::Scale;
use crate::report::stored::{Stored, StoredColumn, StoredRecorded};
use crate::statistics::quantile::{order_statistic_range, quantile_of_sorted};

/// Fewer recorded values than this are no distribution.
pub const LEAST: usize = 5;
/// Panels side by side.
const ACROSS: usize = 3;
/// Dots in a panel; of more values those are drawn that are evenly spread over the ranks.
const MOST_DOTS: usize = 200;
/// Quantiles that are named, where there are enough values to have them.
const NAMED: [(f64, &str); 3] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99")];

/// What one panel shows.
struct Pair<'s> {
    name: &'s str,
    recorded: Vec<f64>,
    simulated: Vec<f64>,
    /// The unit that suits both.
    scale: Scale,
}

/// The pictures, a few panels in each; none where nothing was recorded of the metric often enough.
#[must_use]
pub fn quantiles(stored: &Stored, column: &StoredColumn) -> Vec<Drawing> {
    let mut pairs = pairs(stored, &column.name);
    if pairs.is_empty() {
        return Vec::new();
    }
    for pair in &mut pairs {
        let own = pair.recorded.iter().chain(&pair.simulated).copied();
        pair.scale = Scale::for_axis(column.unit(), own);
        let own = pair.recorded.iter_mut().chain(&mut pair.simulated);
        own.for_each(|value| *value *= pair.scale.factor());
    }
    let confidence = stored.summary.confidence;
    let title = format!("{}: recorded against simulated quantiles", capital(&column.title()));
    let entry = |look, text: String| Entry { look, text };
    let band = format!(
        "where {} % of recorded values would be if the simulation were right",
        confidence * 100.0
    );
    let entries = [
        entry(Look::Dot(colour(0)), "recorded value".to_owned()),
        entry(Look::Thin(MUTED), "both alike".to_owned()),
        entry(Look::Fill(colour(0), BAND), band),
    ];
    let what = "each dot is one recorded value and the simulated quantile of its rank";
    Pages::new(pairs.len(), ACROSS).draw(|note, page| {
        let pairs = &pairs[page];
        let mut drawing = Drawing::new((WIDTH, HEIGHT));
        let top = heading(&mut drawing, &title, &joined(&[note, what]));
        let top = legend_above(&mut drawing, &entries, top);
        let size = ((WIDTH - 2.0 * MARGIN) / pairs.len() as f64, HEIGHT - top - MARGIN);
        for (index, pair) in pairs.iter().enumerate() {
            let corner = (MARGIN + size.0 * index as f64, top);
            panel(&mut drawing, corner, size, pair, confidence);
        }
        drawing
    })
}

/// Recorded and simulated values in rising order, of each recording that has enough.
fn pairs<'s>(stored: &'s Stored, metric: &str) -> Vec<Pair<'s>> {
    let enough =
        |recorded: &&StoredRecorded| recorded.metric == metric && recorded.values.len() >= LEAST;
    let pair = |recorded: &'s StoredRecorded| {
        let points = &stored.summary.points;
        let index = points.iter().position(|p| p.configuration == recorded.configuration)?;
        let values = stored.values(index, metric).iter().copied();
        let mut simulated: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        simulated.sort_unstable_by(f64::total_cmp);
        let recorded_values = recorded.values.clone();
        let name = recorded.configuration.as_str();
        let scale = Scale::PLAIN;
        let known = !simulated.is_empty();
        known.then_some(Pair { name, recorded: recorded_values, simulated, scale })
    };
    stored.summary.recorded.iter().filter(enough).filter_map(pair).collect()
}

fn panel(
    drawing: &mut Drawing,
    (left, top): Place,
    (wide, high): Place,
    pair: &Pair<'_>,
    confidence: f64,
) {
    let Pair { name, recorded, simulated, scale } = pair;
    let (count, replications) = (recorded.len(), simulated.len());
    let up = scale.heading(&format!("{replications} simulated"));
    let size = format!("{count} recorded; up: {up}");
    let room = wide - 24.0;
    let name = clipped(name, TEXT, room);
    drawing.text((left, top + LINE * 0.5), name, INK, Align::Left);
    drawing.text((left, top + LINE * 1.4), clipped(&size, TEXT, room), MUTED, Align::Left);
    let outer =
        Area { left, top: top + 1.9 * LINE, right: left + wide - 24.0, bottom: top + high - 14.0 };
    let ranks = ranks(count);
    let at = |rank: usize| quantile_of_sorted(simulated, (rank as f64 - 0.5) / count as f64);
    let band: Vec<(f64, f64, f64)> = ranks
        .iter()
        .map(|&rank| {
            let (low, high) = order_statistic_range(rank as u64, count as u64, confidence);
            let ends = [low, high].map(|share| quantile_of_sorted(simulated, share));
            (ends[0], ends[1], at(rank))
        })
        .collect();
    let ends = band.iter().flat_map(|(low, high, y)| [*low, *high, *y]);
    let both = Axis::for_both(recorded.iter().copied().chain(ends));
    let x_title = scale.heading("recorded");
    let panel = Panel::draw(drawing, outer, both.clone(), both.clone(), &x_title);
    panel.data(drawing, |drawing| {
        let mut points: Vec<Place> = band.iter().map(|(low, _, y)| panel.place(*low, *y)).collect();
        points.extend(band.iter().rev().map(|(_, high, y)| panel.place(*high, *y)));
        drawing.marks.push(Mark::Area { points, colour: colour(0), opacity: BAND });
        let points = vec![panel.place(both.low, both.low), panel.place(both.high, both.high)];
        let dash = Some((4.0, 3.0));
        drawing.marks.push(Mark::Line { points, colour: MUTED, width: 1.2, dash });
        for &rank in &ranks {
            let place = panel.place(recorded[rank - 1], at(rank));
            drawing.marks.push(Mark::Dot { at: place, radius: DOT, colour: colour(0) });
        }
    });
    named(drawing, &panel, pair);
}

/// Marks the named quantiles that the recorded values have.
fn named(drawing: &mut Drawing, panel: &Panel, pair: &Pair<'_>) {
    let mut taken: Vec<Area> = Vec::new();
    let count = pair.recorded.len() as f64;
    let known = NAMED.into_iter().filter(|(share, _)| count * (1.0 - share) >= 0.99);
    for (share, name) in known {
        let quantile = |values: &[f64]| quantile_of_sorted(values, share);
        let at = panel.place(quantile(&pair.recorded), quantile(&pair.simulated));
        drawing.marks.push(Mark::Dot { at, radius: DOT + 1.0, colour: colour(1) });
        // Beside the diagonal there is room: below it, else above.
        let wide = text_width(name, TEXT);
        let (below, above) = (at.1 + 9.0, at.1 - 9.0);
        let places = [(at.0 + 9.0, below), (at.0 - 9.0 - wide, above), (at.0 - 9.0 - wide, below)];
        let area = |(left, y): Place| {
            let half = TEXT * 0.5;
            Area { left, top: y - half, right: left + wide, bottom: y + half }
        };
        let fine = |area: &Area| {
            panel.area.holds(area, 0.0) && taken.iter().all(|other| !other.overlaps(area))
        };
        let Some(place) = places.into_iter().map(area).find(fine) else { continue };
        taken.push(place);
        let at = (place.left, f64::midpoint(place.top, place.bottom));
        drawing.text(at, name, INK, Align::Left);
    }
}

/// The ranks that get a dot, counted from 1.
fn ranks(count: usize) -> Vec<usize> {
    if count <= MOST_DOTS {
        return (1..=count).collect();
    }
    (0..MOST_DOTS).map(|n| 1 + n * (count - 1) / (MOST_DOTS - 1)).collect()
}
