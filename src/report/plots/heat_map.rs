//! A metric over two swept parameters, with the numbers in the cells.

use std::ops::Range;

use serde_json::Value;

use super::cut;
use super::drawing::{Align, Area, Drawing, Mark, Place};
use super::frame::{LINE, heading};
use super::pages::{Pages, joined};
use super::style::{
    HEIGHT, INK, MARGIN, MUTED, TARGET, TEXT, WIDTH, clipped, heat, on_heat, text_width,
};
use super::sweep::{Swept, capital, short_path};
use crate::report::number::{Scale, mark};
use crate::report::stored::{Figure, Stored, StoredColumn, StoredPoint};
use crate::statistics::equal;

/// The least height of a cell.
const CELL: f64 = 17.0;
/// The least width of a cell: that of its number.
const WIDE: f64 = 46.0;
/// The widest the values of the rows become.
const NAMES: f64 = 200.0;
/// Width of the line of a target.
const TARGET_WIDTH: f64 = 3.0;
/// What tells the lines of several targets apart, and how it is said.
const LINES: [(&str, Option<(f64, f64)>); 3] =
    [("line", None), ("dashes", Some((7.0, 4.0))), ("dots", Some((2.5, 2.5)))];
/// Behind the dash of a cell whose point has no value.
const NO_VALUE: f64 = 0.06;

/// The pictures for the two axes of a sweep, as many cells in each as have room for their numbers; none
/// where points have not exactly two or are no grid.
#[must_use]
pub fn heat_map(stored: &Stored, column: &StoredColumn) -> Vec<Drawing> {
    let points: Vec<_> = stored.summary.points.iter().filter(|p| p.axes.len() == 2).collect();
    let Some(first) = points.first() else { return Vec::new() };
    let paths: Vec<&String> = first.axes.keys().collect();
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
        return Vec::new();
    }
    let figure = |point: &StoredPoint| point.figure(&column.name, Figure::Mean).value;
    let figures: Vec<Vec<f64>> = cells
        .iter()
        .map(|row| row.iter().map(|point| point.map_or(f64::NAN, figure)).collect())
        .collect();
    if !figures.iter().flatten().any(|figure| figure.is_finite()) {
        return Vec::new();
    }
    let scale = Scale::for_values(column.unit(), figures.iter().flatten().copied());
    let shade = Shade::new(figures.iter().flatten().copied(), scale.factor());
    let targets = targets(stored, &column.name, &points);
    Map { column, down, across, cells, figures, scale, shade, targets }.pages()
}

/// The grid.
struct Map<'s> {
    column: &'s StoredColumn,
    down: Swept,
    across: Swept,
    /// Row by row; nothing where a combination was not run.
    cells: Vec<Vec<Option<&'s StoredPoint>>>,
    figures: Vec<Vec<f64>>,
    scale: Scale,
    shade: Shade,
    targets: Vec<f64>,
}

impl Map<'_> {
    /// Part by part where the grid has more cells than a picture has room for numbers.
    fn pages(&self) -> Vec<Drawing> {
        let widest = self.down.values.iter().map(|v| text_width(&v.2, TEXT)).fold(0.0, f64::max);
        let left = MARGIN + widest.min(NAMES) + 10.0;
        let area =
            Area { left, top: 0.0, right: WIDTH - MARGIN, bottom: HEIGHT - MARGIN - 2.0 * LINE };
        let room = area.bottom - MARGIN - 50.0;
        let rows = Pages::new(self.down.values.len(), (room / CELL) as usize);
        let wide = ((area.right - area.left) / WIDE) as usize;
        let columns = Pages::new(self.across.values.len(), wide);
        let parts: Vec<_> = rows
            .ranges()
            .iter()
            .flat_map(|rows| columns.ranges().iter().map(move |columns| (rows, columns)))
            .collect();
        Pages::new(parts.len(), 1).draw(|note, page| {
            let (rows, columns) = parts[page.start];
            self.part(note, area, rows.clone(), columns.clone())
        })
    }

    fn subtitle(&self, note: &str) -> String {
        let what = format!("{}; rows: {}", self.scale.heading("mean"), self.down.path);
        let run = || self.cells.iter().flatten().zip(self.figures.iter().flatten());
        let without = run().filter(|(point, figure)| point.is_some() && !figure.is_finite());
        let missing = match without.count() {
            0 => String::new(),
            count => {
                format!("–: no value ({count} of {})", run().filter(|r| r.0.is_some()).count())
            }
        };
        let not_run = if run().any(|(point, _)| point.is_none()) { "blank: not run" } else { "" };
        let bound = |(index, target): (usize, &f64)| {
            let line = LINES[index.min(LINES.len() - 1)].0;
            format!("{line}: target {}", self.scale.bound(*target))
        };
        let bounds: Vec<String> = self.targets.iter().enumerate().map(bound).collect();
        let bounds = bounds.join("; ");
        let cut = cut::legend(self.cells.iter().flatten().flatten().copied(), &self.column.name);
        joined(&[note, &what, &cut, &missing, not_run, &bounds])
    }

    fn part(&self, note: &str, area: Area, rows: Range<usize>, columns: Range<usize>) -> Drawing {
        let mut drawing = Drawing::new((WIDTH, HEIGHT));
        let names = (short_path(&self.down.path), short_path(&self.across.path));
        let title = format!("{} by {} and {}", capital(&self.column.title()), names.0, names.1);
        let top = heading(&mut drawing, &title, &self.subtitle(note)) + 4.0;
        let area = Area { top, ..area };
        let size = (
            (area.right - area.left) / columns.len() as f64,
            (area.bottom - area.top) / rows.len() as f64,
        );
        let corner = |row: usize, column: usize| {
            let (x, y) = ((column - columns.start) as f64, (row - rows.start) as f64);
            (area.left + size.0 * x, area.top + size.1 * y)
        };
        for row in rows.clone() {
            let at = (area.left - 10.0, corner(row, columns.start).1 + size.1 * 0.5);
            let text = clipped(&self.down.values[row].2, TEXT, NAMES);
            drawing.text(at, text, INK, Align::Right);
        }
        for column in columns.clone() {
            let at = (corner(rows.start, column).0 + size.0 * 0.5, area.bottom + LINE * 0.6);
            let text = clipped(&self.across.values[column].2, TEXT, size.0 - 4.0);
            drawing.text(at, text, INK, Align::Centre);
        }
        let middle = (f64::midpoint(area.left, area.right), HEIGHT - MARGIN - TEXT * 0.4);
        drawing.text(middle, self.across.path.clone(), MUTED, Align::Centre);
        let first = drawing.marks.len();
        let all = || rows.clone().flat_map(|row| columns.clone().map(move |column| (row, column)));
        for (row, column) in all() {
            let Some(point) = self.cells[row][column] else { continue };
            let (left, top) = corner(row, column);
            let mark = mark(cut::sense(point, &self.column.name));
            self.cell(&mut drawing, (left, top), size, (mark, self.figures[row][column]));
            let (right, bottom) = (left + size.0 - 1.5, top + size.1 - 1.5);
            drawing.anchor(&point.id, Area { left, top, right, bottom });
        }
        for index in 0..self.targets.len() {
            all().for_each(|at| self.contour(&mut drawing, corner(at.0, at.1), size, at, index));
        }
        drawing.panels.push((area, first..drawing.marks.len()));
        drawing
    }

    /// A line between the cells on either side of the target number `index`. Lines of several targets
    /// lie beside each other, each with dashes of its own.
    fn contour(
        &self,
        drawing: &mut Drawing,
        (left, top): Place,
        (width, height): Place,
        (row, column): (usize, usize),
        index: usize,
    ) {
        let target = self.targets[index];
        let (_, dash) = LINES[index.min(LINES.len() - 1)];
        let aside = (index as f64 - (self.targets.len() - 1) as f64 / 2.0) * TARGET_WIDTH;
        let above = |row: usize, column: usize| {
            let figure = self.figures.get(row).and_then(|row| row.get(column)).copied();
            figure.filter(|figure| figure.is_finite()).map(|figure| figure > target)
        };
        let differ = |a: Option<bool>, b: Option<bool>| a.zip(b).is_some_and(|(a, b)| a != b);
        let (right, bottom) = (left + width - 0.75 + aside, top + height - 0.75 + aside);
        let mut line = |points| {
            drawing.marks.push(Mark::Line { points, colour: TARGET, width: TARGET_WIDTH, dash });
        };
        if differ(above(row, column), above(row, column + 1)) {
            line(vec![(right, top), (right, bottom - aside)]);
        }
        if differ(above(row, column), above(row + 1, column)) {
            line(vec![(left, bottom), (right - aside, bottom)]);
        }
    }

    fn cell(
        &self,
        drawing: &mut Drawing,
        (left, top): Place,
        (width, height): Place,
        (mark, figure): (&str, f64),
    ) {
        let (right, bottom) = (left + width - 1.5, top + height - 1.5);
        let share = self.shade.share(figure);
        let area = Area { left, top, right, bottom };
        let known = figure.is_finite();
        let (colour, opacity) = if known { (heat(share), 1.0) } else { (INK, NO_VALUE) };
        drawing.marks.push(Mark::Box { area, colour, opacity });
        let text = || format!("{mark}{}", three_digits(figure * self.scale.factor()));
        let text = if known { text() } else { "–".into() };
        let centre = (f64::midpoint(left, right), f64::midpoint(top, bottom));
        drawing.text(centre, clipped(&text, TEXT, width - 2.0), on_heat(share), Align::Centre);
    }
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

/// From figures to shades; by ratio where they spread widely.
struct Shade {
    low: f64,
    high: f64,
    log: bool,
}

impl Shade {
    /// For figures that are shown times `factor`.
    fn new(figures: impl Iterator<Item = f64>, factor: f64) -> Self {
        let finite = figures.filter(|figure| figure.is_finite());
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = finite.fold(ends, |(low, high), f| (low.min(f), high.max(f)));
        // What no number in a cell shows is no difference to be seen.
        let alike = equal(low, high) || three_digits(low * factor) == three_digits(high * factor);
        let high = if alike { low } else { high };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_all_read_the_same_have_one_shade() {
        let figure = 0.001_32;
        for other in [figure * (1.0 + 1e-14), 0.001_322] {
            let shade = Shade::new([figure, other, figure].into_iter(), 1.0);
            assert_eq!((shade.share(figure), shade.share(other)), (0.0, 0.0));
        }
        assert!(Shade::new([1.0, 1.01].into_iter(), 1.0).share(1.01) > 0.0);
    }
}
