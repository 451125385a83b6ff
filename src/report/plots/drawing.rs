//! A picture as a list of marks, and its way into SVG and PNG through `plotters`.
//!
//! What is in the list can be asserted: which letters stand where, and that nothing leaves its
//! axes. The backends only paint it.

use std::collections::BTreeSet;
use std::path::Path;

use plotters::prelude::{
    BitMapBackend, Circle, DrawingArea, DrawingBackend, IntoDrawingArea, PathElement, Polygon,
    Rectangle, SVGBackend,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBColor, ShapeStyle, TextStyle};

use super::style::{FONT_HEIGHT, PAPER, TEXT, TITLE, font, has, in_font, text_width};

/// A position or a size: right and down, in pixels of a slide.
pub type Place = (f64, f64);

/// Something drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A line through points.
    Line {
        /// Its points.
        points: Vec<Place>,
        /// Its colour.
        colour: RGBColor,
        /// Its width.
        width: f64,
        /// Lengths of a dash and of the gap after it.
        dash: Option<(f64, f64)>,
    },
    /// A filled area.
    Area {
        /// Its corners.
        points: Vec<Place>,
        /// Its colour.
        colour: RGBColor,
        /// 0 to 1.
        opacity: f64,
    },
    /// A filled rectangle.
    Box {
        /// Its corners.
        area: Area,
        /// Its colour.
        colour: RGBColor,
        /// 0 to 1.
        opacity: f64,
    },
    /// A filled circle.
    Dot {
        /// Its centre.
        at: Place,
        /// Its radius.
        radius: f64,
        /// Its colour.
        colour: RGBColor,
    },
    /// A line of letters.
    Text {
        /// The middle of its height, at the side it is aligned to.
        at: Place,
        /// What it says.
        text: String,
        /// Size of its letters.
        size: f64,
        /// Its colour.
        colour: RGBColor,
        /// The side it is aligned to.
        align: Align,
    },
}

/// Where a text is in relation to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// To the right of it.
    Left,
    /// Around it.
    Centre,
    /// To the left of it.
    Right,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Its left side.
    pub left: f64,
    /// Its upper side.
    pub top: f64,
    /// Its right side.
    pub right: f64,
    /// Its lower side.
    pub bottom: f64,
}

impl Area {
    /// True when the two have more than an edge in common.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// True when `other` lies in it, give or take `slack`.
    #[must_use]
    pub fn holds(&self, other: &Self, slack: f64) -> bool {
        other.left >= self.left - slack
            && other.right <= self.right + slack
            && other.top >= self.top - slack
            && other.bottom <= self.bottom + slack
    }
}

impl Mark {
    /// The rectangle around it.
    #[must_use]
    pub fn bounds(&self) -> Area {
        match self {
            Self::Line { points, .. } | Self::Area { points, .. } => {
                let over = |pick: fn(&Place) -> f64, with: fn(f64, f64) -> f64, start: f64| {
                    points.iter().map(pick).fold(start, with)
                };
                Area {
                    left: over(|p| p.0, f64::min, f64::INFINITY),
                    top: over(|p| p.1, f64::min, f64::INFINITY),
                    right: over(|p| p.0, f64::max, f64::NEG_INFINITY),
                    bottom: over(|p| p.1, f64::max, f64::NEG_INFINITY),
                }
            }
            Self::Box { area, .. } => *area,
            Self::Dot { at, .. } => Area { left: at.0, top: at.1, right: at.0, bottom: at.1 },
            Self::Text { at, text, size, align, .. } => {
                let width = text_width(text, *size);
                let left = match align {
                    Align::Left => at.0,
                    Align::Centre => at.0 - width / 2.0,
                    Align::Right => at.0 - width,
                };
                let half = size * 0.5;
                Area { left, top: at.1 - half, right: left + width, bottom: at.1 + half }
            }
        }
    }
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Its width and height.
    pub size: Place,
    /// What is drawn, the lowest first.
    pub marks: Vec<Mark>,
    /// Where data may be drawn, with the marks (by index) that are data there.
    pub panels: Vec<(Area, std::ops::Range<usize>)>,
    /// Where a point of the scenario is, for a page that points it out.
    pub anchors: Vec<Anchor>,
}

/// Where a point of the scenario is in a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// The point's identity.
    pub point: String,
    /// What stands for it: around a dot, a cell, a row, or a line at its figure.
    pub area: Area,
    /// Whether a ring goes around it rather than a box.
    pub round: bool,
}

impl Drawing {
    /// An empty picture.
    #[must_use]
    pub const fn new(size: Place) -> Self {
        Self { size, marks: Vec::new(), panels: Vec::new(), anchors: Vec::new() }
    }

    /// Draws a solid line.
    pub fn line(&mut self, points: Vec<Place>, colour: RGBColor, width: f64) {
        self.marks.push(Mark::Line { points, colour, width, dash: None });
    }

    /// Writes a line of letters.
    pub fn text(&mut self, at: Place, text: impl Into<String>, colour: RGBColor, align: Align) {
        self.marks.push(Mark::Text { at, text: text.into(), size: TEXT, colour, align });
    }

    /// Writes the title.
    pub fn title(&mut self, at: Place, text: impl Into<String>, colour: RGBColor) {
        let (text, align) = (text.into(), Align::Left);
        self.marks.push(Mark::Text { at, text, size: TITLE, colour, align });
    }

    /// The letters for which the PNG has a box, as the font lacks them.
    #[must_use]
    pub fn letters_without_glyph(&self) -> BTreeSet<char> {
        let text = |mark: &Mark| match mark {
            Mark::Text { text, .. } => text.chars().filter(|letter| !has(*letter)).collect(),
            _ => Vec::new(),
        };
        self.marks.iter().flat_map(text).collect()
    }

    /// Notes that `point` is in `area`.
    pub fn anchor(&mut self, point: &str, area: Area) {
        self.anchors.push(Anchor { point: point.to_owned(), area, round: false });
    }

    /// Notes that `point` is the dot at `at`.
    pub fn anchor_dot(&mut self, point: &str, (x, y): Place) {
        const RADIUS: f64 = 8.0;
        let (left, right, top, bottom) = (x - RADIUS, x + RADIUS, y - RADIUS, y + RADIUS);
        let area = Area { left, top, right, bottom };
        self.anchors.push(Anchor { point: point.to_owned(), area, round: true });
    }

    /// Notes that the figure of `point` is at `x` in `panel`; nothing if that is beyond it.
    pub fn anchor_line(&mut self, point: &str, panel: Area, x: f64) {
        if (panel.left..=panel.right).contains(&x) {
            self.anchor(point, Area { left: x - 0.5, right: x + 0.5, ..panel });
        }
    }

    /// The picture as SVG. Text stays text.
    ///
    /// # Errors
    /// What the backend says.
    pub fn svg(&self) -> Result<String, DrawError> {
        // The backend knows whole pixels only: drawn larger, and shown in the size asked for.
        const ZOOM: f64 = 4.0;
        let size = ((self.size.0 * ZOOM) as u32, (self.size.1 * ZOOM) as u32);
        let mut text = String::new();
        {
            let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
            self.paint(&root, &Medium::Svg, ZOOM)?;
            root.present().map_err(failed)?;
        }
        let drawn = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
        let shown = format!("width=\"{}\" height=\"{}\"", self.size.0, self.size.1);
        Ok(text.replacen(&drawn, &shown, 1))
    }

    /// Writes the picture as PNG with two pixels for each of a slide.
    ///
    /// # Errors
    /// What the backend and the file system say.
    pub fn write_png(&self, path: &Path) -> Result<(), DrawError> {
        let (size, pixels) = self.pixels()?;
        let mut file = BitMapBackend::new(path, size);
        file.blit_bitmap((0, 0), size, &pixels).map_err(failed)?;
        file.present().map_err(failed)
    }

    /// The width, height and colours of the PNG.
    fn pixels(&self) -> Result<((u32, u32), Vec<u8>), DrawError> {
        // Twice as large again, then averaged: the backend has no soft edges of its own.
        const ZOOM: usize = 4;
        let (wide, high) = (self.size.0 as usize * ZOOM, self.size.1 as usize * ZOOM);
        let mut pixels = vec![0; wide * high * 3];
        {
            let backend = BitMapBackend::with_buffer(&mut pixels, (wide as u32, high as u32));
            let root = backend.into_drawing_area();
            self.paint(&root, &Medium::Bitmap, ZOOM as f64)?;
            root.present().map_err(failed)?;
        }
        Ok(((wide as u32 / 2, high as u32 / 2), halved(&pixels, wide, high)))
    }

    fn paint<D: DrawingBackend>(
        &self,
        root: &DrawingArea<D, plotters::coord::Shift>,
        medium: &Medium,
        zoom: f64,
    ) -> Result<(), DrawError> {
        root.fill(&PAPER).map_err(failed)?;
        self.marks.iter().try_for_each(|mark| paint(root, mark, medium, zoom))
    }
}

/// What is painted on.
enum Medium {
    Svg,
    Bitmap,
}

impl Medium {
    /// What the backend calls the size of letters with an em of 1, and how far it misses the
    /// middle of their height.
    const fn letters(&self) -> (f64, f64) {
        match self {
            // It writes its size over 1.24.
            Self::Svg => (1.24, 0.0),
            Self::Bitmap => (FONT_HEIGHT, 0.17),
        }
    }
}

/// Why a picture could not be made.
#[derive(Debug, thiserror::Error)]
#[error("a picture cannot be drawn: {0}")]
pub struct DrawError(String);

fn failed(error: impl std::fmt::Display) -> DrawError {
    DrawError(error.to_string())
}

fn paint<D: DrawingBackend>(
    root: &DrawingArea<D, plotters::coord::Shift>,
    mark: &Mark,
    medium: &Medium,
    zoom: f64,
) -> Result<(), DrawError> {
    let pixel = |(x, y): Place| ((x * zoom).round() as i32, (y * zoom).round() as i32);
    let pixels =
        |points: &[Place]| -> Vec<(i32, i32)> { points.iter().map(|p| pixel(*p)).collect() };
    match mark {
        Mark::Line { points, colour, width, dash } => {
            let stroke_width = (width * zoom).round().max(1.0) as u32;
            let style = ShapeStyle { color: colour.to_rgba(), filled: false, stroke_width };
            let parts = dash.map_or_else(|| vec![points.clone()], |dash| dashes(points, dash));
            for part in parts {
                let part = pixels(&part);
                match medium {
                    Medium::Svg => root.draw(&PathElement::new(part, style)).map_err(failed)?,
                    Medium::Bitmap => stroke(root, part, style)?,
                }
            }
            Ok(())
        }
        Mark::Area { points, colour, opacity } => {
            root.draw(&Polygon::new(pixels(points), colour.mix(*opacity).filled())).map_err(failed)
        }
        Mark::Box { area, colour, opacity } => {
            let corners = [pixel((area.left, area.top)), pixel((area.right, area.bottom))];
            root.draw(&Rectangle::new(corners, colour.mix(*opacity).filled())).map_err(failed)
        }
        Mark::Dot { at, radius, colour } => root
            .draw(&Circle::new(pixel(*at), (radius * zoom).round() as i32, colour.filled()))
            .map_err(failed),
        Mark::Text { at, text, size, colour, align } => {
            let side = match align {
                Align::Left => HPos::Left,
                Align::Centre => HPos::Center,
                Align::Right => HPos::Right,
            };
            let (em, shift) = medium.letters();
            let font = font(size * em * zoom);
            let at = &(at.0, at.1 + size * shift);
            let style = TextStyle::from(font).color(colour).pos(Pos::new(side, VPos::Center));
            // A viewer of an SVG has other fonts as well.
            let text = match medium {
                Medium::Svg => text.into(),
                Medium::Bitmap => in_font(text),
            };
            root.draw_text(&text, &style, pixel(*at)).map_err(failed)
        }
    }
}

/// A line piece by piece with round corners. The bitmap backend makes one polygon of a whole line,
/// which leaves out what it covers twice: a line that goes up and down within its own width.
fn stroke<D: DrawingBackend>(
    root: &DrawingArea<D, plotters::coord::Shift>,
    mut points: Vec<(i32, i32)>,
    style: ShapeStyle,
) -> Result<(), DrawError> {
    points.dedup();
    for ends in points.windows(2) {
        root.draw(&PathElement::new(ends.to_vec(), style)).map_err(failed)?;
    }
    let radius = (style.stroke_width / 2) as i32;
    for corner in points.iter().skip(1).rev().skip(1) {
        root.draw(&Circle::new(*corner, radius, style.color.filled())).map_err(failed)?;
    }
    Ok(())
}

/// The pieces of a dashed line through `points`.
fn dashes(points: &[Place], (dash, gap): (f64, f64)) -> Vec<Vec<Place>> {
    let mut pieces = Vec::new();
    let mut piece: Vec<Place> = points.first().copied().into_iter().collect();
    let (mut drawn, mut left) = (true, dash);
    for ends in points.windows(2) {
        let (mut from, to) = (ends[0], ends[1]);
        loop {
            let length = f64::hypot(to.0 - from.0, to.1 - from.1);
            if length < left {
                left -= length;
                if drawn {
                    piece.push(to);
                }
                break;
            }
            let part = left / length;
            from = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
            if drawn {
                piece.push(from);
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece = vec![from];
            }
            drawn = !drawn;
            left = if drawn { dash } else { gap };
        }
    }
    if drawn && piece.first() != piece.last() {
        pieces.push(piece);
    }
    pieces
}

/// The picture with half as many pixels each way, each the mean of four.
fn halved(pixels: &[u8], wide: usize, high: usize) -> Vec<u8> {
    let mut half = Vec::with_capacity(pixels.len() / 4);
    for y in 0..high / 2 {
        let rows = [&pixels[2 * y * wide * 3..], &pixels[(2 * y + 1) * wide * 3..]];
        for x in 0..wide / 2 {
            for colour in 0..3 {
                let sum: u16 = rows
                    .iter()
                    .map(|row| u16::from(row[6 * x + colour]) + u16::from(row[6 * x + 3 + colour]))
                    .sum();
                half.push(((sum + 2) / 4) as u8);
            }
        }
    }
    half
}

#[cfg(test)]
mod tests;
