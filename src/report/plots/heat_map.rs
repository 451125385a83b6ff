//! A metric over two swept parameters, with the numbers in the cells.

use serde_json::Value;

use super::drawing::{Align, Area, Drawing, Mark};
use super::frame::{LINE, heading};
use super::style::{
    HEIGHT, INK, MARGIN, MUTED, TARGET, TEXT, WIDTH, clipped, heat, on_heat, text_width,
};
use super::sweep::{Swept, capital, short_path};
use crate::report::number::Scale;
use crate::report::stored::{Figure, Stored, StoredColumn, StoredPoint};

/// The least height of a cell.
const CELL: f64 = 26.0;

/// The picture for the two axes of a sweep, or `None` where points have not exactly two or are no grid.
#[must_use]
pub fn heat_map(stored: &Stored, column: &StoredColumn) -> Option<Drawing> {
    let points: Vec<_> = stored.summary.points.iter().filter(|p| p.axes.len() == 2).collect();
    let paths: Vec<&String> = points.first()?.axes.keys().collect();
    let (down, across) = (Swept::new(stored, paths[0]), Swept::new(stored, paths[1]));
    // Of a sweep from several configurations, the first.
    let cell = |row: &Value, column_value: &Value| {
        let found = points.iter().find(|point| {
            point.axes.get(paths[0]) == Some(row) && point.axes.get(paths[1]) == Some(column_value)
        });
        found.copied()
    };
    let cells: Vec<Vec<Option<&StoredPoint>>> = down
        .values
        .iter()
        .map(|row| across.values.iter().map(|value| cell(&row.0, &value.0)).collect())
        .collect();
    // Sampled points, and lists that advance together, are no grid.
    let known = cells.iter().flatten().flatten().count();
    if known * 2 < down.values.len() * across.values.len() {
        return None;
    }
    let figure = |point: &StoredPoint| point.figure(&column.name, Figure::Mean).value;
    let figures: Vec<Vec<f64>> = cells
        .iter()
        .map(|row| row.iter().map(|point| point.map_or(f64::NAN, figure)).collect())
        .collect();
    let scale = Scale::for_values(column.unit(), figures.iter().flatten().copied());
    let shade = Shade::new(figures.iter().flatten().copied());

    let height = (MARGIN * 2.0 + 60.0 + 2.2 * LINE + CELL * down.values.len() as f64).max(HEIGHT);
    let mut drawing = Drawing::new((WIDTH, height.ceil()));
    let names = (short_path(paths[0]), short_path(paths[1]));
    let title = format!("{} by {} and {}", capital(&column.title()), names.0, names.1);
    let targets = targets(stored, &column.name, &points);
    let mut subtitle = format!("{}; rows: {}", scale.heading("mean"), paths[0]);
    if !targets.is_empty() {
        let texts: Vec<String> = targets.iter().map(|target| scale.bound(*target)).collect();
        subtitle.push_str(&format!("; line: target {}", texts.join(", ")));
    }
    let top = heading(&mut drawing, &title, &subtitle) + 4.0;
    let widest = down.values.iter().map(|v| text_width(&v.2, TEXT)).fold(0.0, f64::max);
    let area = Area {
        left: MARGIN + widest + 10.0,
        top,
        right: WIDTH - MARGIN,
        bottom: drawing.size.1 - MARGIN - 2.0 * LINE,
    };
    let cell_size = (
        (area.right - area.left) / across.values.len() as f64,
        (area.bottom - area.top) / down.values.len() as f64,
    );
    for (index, (_, _, text)) in down.values.iter().enumerate() {
        let y = area.top + cell_size.1 * (index as f64 + 0.5);
        drawing.text((area.left - 10.0, y), text.clone(), INK, Align::Right);
    }
    for (index, (_, _, text)) in across.values.iter().enumerate() {
        let x = area.left + cell_size.0 * (index as f64 + 0.5);
        let text = clipped(text, TEXT, cell_size.0 - 4.0);
        drawing.text((x, area.bottom + LINE * 0.6), text, INK, Align::Centre);
    }
    let middle = (f64::midpoint(area.left, area.right), drawing.size.1 - MARGIN - TEXT * 0.4);
    drawing.text(middle, paths[1].clone(), MUTED, Align::Centre);
    let first = drawing.marks.len();
    for (row, figures) in figures.iter().enumerate() {
        for (column, figure) in figures.iter().enumerate() {
            let corner =
                (area.left + cell_size.0 * column as f64, area.top + cell_size.1 * row as f64);
            draw_cell(&mut drawing, corner, cell_size, &shade, *figure, scale);
            if let Some(point) = cells[row][column] {
                let (left, top) = corner;
                let (right, bottom) = (left + cell_size.0 - 1.5, top + cell_size.1 - 1.5);
                drawing.anchor(&point.id, Area { left, top, right, bottom });
            }
        }
    }
    for target in targets {
        contour(&mut drawing, area, cell_size, &figures, target);
    }
    drawing.panels.push((area, first..drawing.marks.len()));
    Some(drawing)
}

/// The targets for the mean of `metric` in the grid, each once: what an expectation about one of its
/// points has as its only bound. What must lie between two bounds is a figure to be met, no target,
/// and what is expected of a configuration that is not in the grid says nothing about it.
fn targets(stored: &Stored, metric: &str, grid: &[&StoredPoint]) -> Vec<f64> {
    let id = |name: &str| {
        let found = stored.summary.points.iter().find(|point| point.configuration == name);
        found.map(|point| point.id.as_str())
    };
    let in_grid = |name: &str| id(name).is_some_and(|id| grid.iter().any(|point| point.id == id));
    let expectations = stored.summary.expectations.iter();
    let about = expectations.filter(|e| e.metric == metric && e.statistic == "mean" && !e.relative);
    let mut bounds: Vec<f64> = about
        .filter(|expectation| in_grid(&expectation.configuration))
        .filter_map(|expectation| match (expectation.at_least, expectation.at_most) {
            (Some(bound), None) | (None, Some(bound)) => Some(bound),
            _ => None,
        })
        .collect();
    bounds.sort_by(f64::total_cmp);
    bounds.dedup();
    bounds
}

/// A line between the cells on either side of `target`.
fn contour(
    drawing: &mut Drawing,
    area: Area,
    (width, height): (f64, f64),
    figures: &[Vec<f64>],
    target: f64,
) {
    let above = |row: usize, column: usize| {
        let figure = figures.get(row).and_then(|row| row.get(column)).copied();
        figure.filter(|figure| figure.is_finite()).map(|figure| figure > target)
    };
    let differ = |a: Option<bool>, b: Option<bool>| a.zip(b).is_some_and(|(a, b)| a != b);
    for (row, cells) in figures.iter().enumerate() {
        for column in 0..cells.len() {
            let (left, top) = (area.left + width * column as f64, area.top + height * row as f64);
            let (right, bottom) = (left + width - 0.75, top + height - 0.75);
            if differ(above(row, column), above(row, column + 1)) {
                drawing.line(vec![(right, top), (right, bottom)], TARGET, 3.0);
            }
            if differ(above(row, column), above(row + 1, column)) {
                drawing.line(vec![(left, bottom), (right, bottom)], TARGET, 3.0);
            }
        }
    }
}

fn draw_cell(
    drawing: &mut Drawing,
    (left, top): (f64, f64),
    (width, height): (f64, f64),
    shade: &Shade,
    figure: f64,
    scale: Scale,
) {
    let (right, bottom) = (left + width - 1.5, top + height - 1.5);
    let share = shade.share(figure);
    let area = Area { left, top, right, bottom };
    let centre = (f64::midpoint(left, right), f64::midpoint(top, bottom));
    if figure.is_finite() {
        drawing.marks.push(Mark::Box { area, colour: heat(share), opacity: 1.0 });
    }
    let text =
        if figure.is_finite() { three_digits(figure * scale.factor()) } else { "–".into() };
    if text_width(&text, TEXT) <= width - 4.0 {
        drawing.text(centre, text, on_heat(share), Align::Centre);
    }
}

/// From figures to shades; by ratio where they spread widely.
struct Shade {
    low: f64,
    high: f64,
    log: bool,
}

impl Shade {
    fn new(figures: impl Iterator<Item = f64>) -> Self {
        let finite = figures.filter(|figure| figure.is_finite());
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = finite.fold(ends, |(low, high), f| (low.min(f), high.max(f)));
        Self { low, high, log: low > 0.0 && high / low > 20.0 }
    }

    fn share(&self, figure: f64) -> f64 {
        if !figure.is_finite() || self.high <= self.low {
            return 0.0;
        }
        if self.log {
            libm::log(figure / self.low) / libm::log(self.high / self.low)
        } else {
            (figure - self.low) / (self.high - self.low)
        }
    }
}

/// Three significant digits.
fn three_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = (2 - libm::floor(libm::log10(value.abs())) as i32).clamp(0, 6) as usize;
    format!("{value:.decimals$}")
}
