//! What the panel of a sweep needs: for each of its points the figures, the attribution and where
//! it is in the pictures. The page holds it as JSON; its script only shows and hides.

use serde::Serialize;

use super::super::attribution::percent;
use super::super::number::Scale;
use super::super::plots::{Plot, part_title};
use super::super::stored::{Figure, Stored, StoredColumn, StoredPoint, value_text};
use super::scale;

/// The panel's data.
#[derive(Debug, Serialize)]
pub struct WhatIf {
    /// What can be chosen.
    pub axes: Vec<Axis>,
    /// What is shown of the choice.
    metrics: Vec<Metric>,
    confidence: f64,
    /// The choices.
    pub points: Vec<Choice>,
}

/// A selector.
#[derive(Debug, Serialize)]
pub struct Axis {
    /// The path of the parameter; its key in the link.
    pub path: String,
    /// Its values, in the order of the sweep.
    values: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Metric {
    title: String,
    summary: String,
    unit: &'static str,
    parts: Vec<String>,
}

/// A point of the sweep.
#[derive(Debug, Serialize)]
pub struct Choice {
    name: String,
    /// For each axis the index of the value.
    at: Vec<usize>,
    not_converged: String,
    replications: u64,
    /// For each metric.
    figures: Vec<Figures>,
    marks: Vec<Spot>,
    /// The values themselves, for the table.
    #[serde(skip)]
    pub values: Vec<String>,
    /// Which point of the results.
    #[serde(skip)]
    pub index: usize,
}

#[derive(Debug, Serialize)]
struct Figures {
    mean: String,
    interval: String,
    p50: String,
    p95: String,
    p99: String,
    /// The shares of the parts in the mean, as numbers and as text.
    shares: Vec<(Option<f64>, String)>,
}

/// Where a choice is in a picture.
#[derive(Debug, Serialize)]
struct Spot {
    plot: usize,
    /// Left, top, width, height, in the picture's own pixels.
    area: [f64; 4],
    round: bool,
}

/// The key of the configuration that a sweep starts from; no path of a parameter has no dot.
const FROM: &str = "from";

/// The data, or `None` where nothing is swept.
pub fn what_if(stored: &Stored, plots: &[Plot]) -> Option<WhatIf> {
    let swept: Vec<(usize, &StoredPoint)> =
        stored.summary.points.iter().enumerate().filter(|(_, p)| !p.axes.is_empty()).collect();
    if swept.len() < 2 {
        return None;
    }
    let axes = axes(swept.iter().map(|(_, point)| *point));
    let columns = stored.main_columns();
    let scales: Vec<Scale> = columns.iter().map(|column| scale(stored, column)).collect();
    let metric = |(column, scale): (&&StoredColumn, &Scale)| Metric {
        title: column.title(),
        summary: column.summary.clone(),
        unit: scale.symbol(),
        parts: stored.parts(&column.name).iter().map(|part| part_title(column, part)).collect(),
    };
    let metrics = columns.iter().zip(&scales).map(metric).collect();
    let choice = |(index, point): (usize, &StoredPoint)| {
        let values: Vec<String> = axes.iter().map(|axis| value_of(point, &axis.path)).collect();
        let place = |(axis, value): (&Axis, &String)| {
            axis.values.iter().position(|known| known == value).unwrap_or(0)
        };
        let of = |(column, scale): (&&StoredColumn, &Scale)| figures(stored, point, column, *scale);
        Choice {
            name: point.configuration.clone(),
            at: axes.iter().zip(&values).map(place).collect(),
            not_converged: percent(point.not_converged().value),
            replications: point.replications,
            figures: columns.iter().zip(&scales).map(of).collect(),
            marks: marks(&point.id, plots),
            values,
            index,
        }
    };
    let points = swept.into_iter().map(choice).collect();
    let confidence = stored.summary.confidence * 100.0;
    Some(WhatIf { axes, metrics, confidence, points })
}

/// A selector for each parameter that is swept, after one for the configurations that the sweep
/// starts from, where there are several.
fn axes<'s>(points: impl Iterator<Item = &'s StoredPoint> + Clone) -> Vec<Axis> {
    let mut paths: Vec<&str> = vec![FROM];
    for path in points.clone().flat_map(|point| point.axes.keys()) {
        if !paths.contains(&path.as_str()) {
            paths.push(path);
        }
    }
    let axis = |path: &str| {
        let mut values: Vec<String> = Vec::new();
        for value in points.clone().map(|point| value_of(point, path)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        Axis { path: path.to_owned(), values }
    };
    let all = paths.into_iter().map(axis);
    all.filter(|axis| axis.path != FROM || axis.values.len() > 1).collect()
}

fn value_of(point: &StoredPoint, path: &str) -> String {
    if path == FROM {
        return point.base().to_owned();
    }
    point.axes.get(path).map_or_else(|| "–".to_owned(), value_text)
}

fn figures(stored: &Stored, point: &StoredPoint, column: &StoredColumn, scale: Scale) -> Figures {
    let of = |figure| point.figure(&column.name, figure);
    let with_interval = |(value, interval): (String, String)| match interval.as_str() {
        "" => value,
        interval => format!("{value} ({})", interval.replace("..", " to ")),
    };
    let quantiles = scale.ascending([Figure::P50, Figure::P95, Figure::P99].map(of));
    let [p50, p95, p99] = quantiles.map(with_interval);
    let mean = of(Figure::Mean);
    let share = |part: &&StoredColumn| {
        let share = point.figure(&part.name, Figure::Mean).value / mean.value;
        let rounded = (share * 1e4).round() / 1e4;
        (share.is_finite().then_some(rounded), percent(share))
    };
    Figures {
        mean: scale.value(mean),
        interval: scale.interval(mean).replace("..", " to "),
        p50,
        p95,
        p99,
        shares: stored.parts(&column.name).iter().map(share).collect(),
    }
}

fn marks(id: &str, plots: &[Plot]) -> Vec<Spot> {
    let of_plot = |(plot, drawing): (usize, &Plot)| {
        let anchors = drawing.drawing.anchors.iter().filter(|anchor| anchor.point == id);
        let spot = |anchor: &crate::report::plots::drawing::Anchor| {
            let area = anchor.area;
            let sides = [area.left, area.top, area.right - area.left, area.bottom - area.top];
            let area = sides.map(|side| (side * 10.0).round() / 10.0);
            Spot { plot, area, round: anchor.round }
        };
        anchors.map(spot).collect::<Vec<_>>()
    };
    plots.iter().enumerate().flat_map(of_plot).collect()
}

/// `value` as JSON that can stand within a `script` element of HTML: nothing in it can end the
/// element or begin a comment.
pub fn embedded(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let text = serde_json::to_string(value)?;
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                safe.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            _ => safe.push(letter),
        }
    }
    Ok(safe)
}
