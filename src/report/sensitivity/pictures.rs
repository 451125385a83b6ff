//! The pictures of an analysis: a tornado, and bars of Sobol or Morris measures.

use plotters::style::RGBColor;

use super::{Analysis, Method, SensitivityReport};
use crate::experiment::sensitivity::Effect;
use crate::report::plots::axis::Axis;
use crate::report::plots::bars::Rows;
use crate::report::plots::drawing::{Align, Area, Drawing, Mark};
use crate::report::plots::frame::{LINE, heading, legend_above, legend_height, swatches};
use crate::report::plots::pages::{Pages, joined, named};
use crate::report::plots::style::{HEIGHT, INK, MARGIN, MUTED, TEXT, WIDTH, colour, text_width};
use crate::report::plots::{Kind, Plot, file_name};
use crate::statistics::Estimate;

/// A picture for each figure.
#[must_use]
pub fn plots(report: &SensitivityReport<'_>) -> Vec<Plot> {
    let of_analysis = |analysis: &Analysis| -> Vec<Plot> {
        let metric = analysis.figure.text(report.columns);
        let name = format!("{}-{}", report.method.name(), file_name(&metric));
        let pages = match report.method {
            Method::Tornado => tornado(report, analysis),
            Method::Morris | Method::Sobol => bars(report, analysis),
        };
        let kind = Kind::Sensitivity;
        let plot = |(name, drawing)| Plot { name, kind, metric: metric.clone(), drawing };
        named(&name, pages).into_iter().map(plot).collect()
    };
    report.analyses.iter().flat_map(of_analysis).collect()
}

/// Parameters with their ranges, as labels of rows.
fn labels(report: &SensitivityReport<'_>, effects: &[Effect]) -> Vec<String> {
    let label = |effect: &Effect| {
        let span = &report.spans[effect.parameter];
        let name = span.path.split_once('.').map_or(span.path.as_str(), |(_, name)| name);
        format!("{name} {}", span.text)
    };
    effects.iter().map(label).collect()
}

/// A picture with a row for each parameter, on as many pages as that takes.
struct Picture<'r> {
    report: &'r SensitivityReport<'r>,
    /// The figure, as it is said.
    figure: String,
    /// Below the title.
    what: String,
    /// What the colours stand for.
    names: [String; 2],
    /// Height above the rows.
    above: f64,
    axis: Axis,
    /// Below the axis.
    below: String,
}

impl Picture<'_> {
    /// Draws `effects`; `beside` is the text at the right of a row, `rows` what is in them.
    fn pages(
        &self,
        effects: &[Effect],
        beside: impl Fn(&Effect) -> Option<String>,
        rows: impl Fn(&mut Drawing, &Rows, &[Effect]),
    ) -> Vec<Drawing> {
        let Self { report, figure, what, names, above, axis, below } = self;
        let title = format!("What the {figure} depends on");
        let pages = Pages::new(effects.len(), Rows::capacity(&labels(report, effects), *above));
        pages.draw(|note, page| {
            let effects = &effects[page];
            let mut drawing = Drawing::new((WIDTH, HEIGHT));
            let top = heading(&mut drawing, &title, &joined(&[note, what]));
            let top = legend_above(&mut drawing, &swatches(names, &two()), top);
            let texts: Vec<Option<String>> = effects.iter().map(&beside).collect();
            let widths = texts.iter().flatten().map(|text| text_width(text, TEXT) + 24.0);
            let room = widths.fold(0.0, f64::max);
            let labels = labels(report, effects);
            let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
            let frame = Rows::draw(&mut drawing, &labels, top + 4.0, axis.clone(), below, room);
            rows(&mut drawing, &frame, effects);
            for (index, text) in texts.into_iter().enumerate() {
                let place = (WIDTH - MARGIN, frame.middle(index));
                if let Some(text) = text {
                    drawing.text(place, text, INK, Align::Right);
                }
            }
            drawing
        })
    }
}

/// A bar from `line` to the estimate, with its interval.
fn bar(
    drawing: &mut Drawing,
    frame: &Rows,
    (line, which): (f64, usize),
    (top, bottom): (f64, f64),
    (estimate, factor): (Estimate, f64),
) {
    let at = frame.x(estimate.value * factor);
    let area = Area { left: line.min(at), right: line.max(at), top, bottom };
    drawing.marks.push(Mark::Box { area, colour: colour(which), opacity: 1.0 });
    whisker(drawing, frame, f64::midpoint(top, bottom), estimate, factor);
}

/// The estimates with the ends of their intervals, as they are shown.
fn shown(estimates: impl Iterator<Item = Estimate>, factor: f64) -> impl Iterator<Item = f64> {
    estimates.flat_map(move |estimate| {
        [estimate.value, estimate.interval.low, estimate.interval.high].map(|v| v * factor)
    })
}

/// The figure at both ends of each parameter's range, around the figure as the scenario stands.
fn tornado(report: &SensitivityReport<'_>, analysis: &Analysis) -> Vec<Drawing> {
    let effects = &analysis.effects.effects;
    if !has_picture(report, analysis) {
        return Vec::new();
    }
    let scale = report.scale(analysis);
    let factor = scale.factor();
    let base = analysis.base.map_or(f64::NAN, |base| base.value);
    let ends = |effect: &Effect| -> [Estimate; 2] {
        let of = |end: usize| effect.measures.get(end).map_or(Estimate::UNKNOWN, |m| m.1);
        [of(0), of(1)].map(|estimate| scale.possible(estimate))
    };
    let values = shown(effects.iter().flat_map(&ends), factor);
    let (least, most) = extent(values.chain([base * factor]));
    let figure = analysis.figure.text(report.columns).replace('_', " ");
    let percent = report.confidence * 100.0;
    let picture = Picture {
        report,
        what: format!("one parameter at a time, with {percent} % intervals; line: as it stands"),
        names: ["low end of the range", "high end of the range"].map(str::to_owned),
        above: MARGIN + 60.0 + LINE,
        axis: Axis::linear(least, most),
        below: scale.heading(&figure),
        figure,
    };
    let swing = |effect: &Effect| Some(scale.of_difference().plus_minus(effect.measures.get(2)?.1));
    picture.pages(effects, swing, |drawing, frame, effects| {
        let line = frame.x(base * factor);
        frame.data(drawing, |drawing| {
            for (index, effect) in effects.iter().enumerate() {
                for (end, estimate) in ends(effect).into_iter().enumerate() {
                    if !estimate.value.is_finite() || !base.is_finite() {
                        continue;
                    }
                    let half = (frame.step * 0.32).min(13.0);
                    // Both ends may lie on one side: each has its own half of the row.
                    let rows = match end {
                        0 => (frame.middle(index) - half, frame.middle(index)),
                        _ => (frame.middle(index), frame.middle(index) + half),
                    };
                    bar(drawing, frame, (line, end), rows, (estimate, factor));
                }
            }
            if base.is_finite() {
                let ends = vec![(line, frame.area.top), (line, frame.area.bottom)];
                drawing.line(ends, MUTED, 1.5);
            }
        });
    })
}

/// Whether there is anything to draw: a figure at an end of a range and, of a tornado, one as the
/// scenario stands.
pub(super) fn has_picture(report: &SensitivityReport<'_>, analysis: &Analysis) -> bool {
    let base = report.method != Method::Tornado
        || analysis.base.is_some_and(|base| base.value.is_finite());
    let mut measures = analysis.effects.effects.iter().flat_map(|effect| &effect.measures);
    base && measures.any(|(_, estimate)| estimate.value.is_finite())
}

/// Two measures of each parameter beside each other: first-order and total, or μ* and σ.
fn bars(report: &SensitivityReport<'_>, analysis: &Analysis) -> Vec<Drawing> {
    let effects = &analysis.effects.effects;
    if !has_picture(report, analysis) {
        return Vec::new();
    }
    let scale = report.scale(analysis);
    let factor = scale.factor();
    let sobol = report.method == Method::Sobol;
    let places = if sobol { [0, 1] } else { [0, 2] };
    let measures = |effect: &Effect| {
        places.map(|place| effect.measures.get(place).map_or(Estimate::UNKNOWN, |m| m.1))
    };
    let values = shown(effects.iter().flat_map(&measures), factor);
    let (least, most) = extent(values.chain(if sobol { [0.0, 1.0] } else { [0.0, 0.0] }));
    let names = if sobol {
        ["first-order: by itself", "total: with all it does together with others"]
    } else {
        ["μ*: change over the whole range", "σ: how much that change varies"]
    };
    let names = names.map(str::to_owned);
    let figure = analysis.figure.text(report.columns).replace('_', " ");
    let percent = report.confidence * 100.0;
    let what = if sobol { "shares of the variance (Sobol)" } else { "elementary effects (Morris)" };
    let picture = Picture {
        report,
        what: format!("{what} over the ranges, with {percent} % bootstrap intervals"),
        above: MARGIN + 60.0 + legend_height(&swatches(&names, &two())),
        names,
        axis: Axis::linear(least, most),
        below: if sobol {
            "share of the variance".to_owned()
        } else {
            scale.of_difference().heading(&figure)
        },
        figure,
    };
    picture.pages(
        effects,
        |_| None,
        |drawing, frame, effects| {
            let zero = frame.x(0.0);
            frame.data(drawing, |drawing| {
                for (index, effect) in effects.iter().enumerate() {
                    for (place, estimate) in measures(effect).into_iter().enumerate() {
                        if !estimate.value.is_finite() {
                            continue;
                        }
                        let half = (frame.step * 0.34).min(15.0);
                        let middle = frame.middle(index);
                        let rows = if place == 0 {
                            (middle - half, middle - 1.0)
                        } else {
                            (middle + 1.0, middle + half)
                        };
                        bar(drawing, frame, (zero, place), rows, (estimate, factor));
                    }
                }
                drawing.line(vec![(zero, frame.area.top), (zero, frame.area.bottom)], MUTED, 1.5);
            });
        },
    )
}

/// An interval over the end of a bar.
fn whisker(drawing: &mut Drawing, frame: &Rows, y: f64, estimate: Estimate, factor: f64) {
    if !estimate.interval.is_bounded() {
        return;
    }
    let ends = [estimate.interval.low, estimate.interval.high].map(|end| frame.x(end * factor));
    if ends[1] - ends[0] < 1.0 {
        return;
    }
    drawing.line(vec![(ends[0], y), (ends[1], y)], INK, 1.4);
    for x in ends {
        drawing.line(vec![(x, y - 3.0), (x, y + 3.0)], INK, 1.4);
    }
}

/// The least and the greatest finite value.
fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let finite = values.filter(|value| value.is_finite());
    let (least, most) = finite.fold(start, |(least, most), v| (least.min(v), most.max(v)));
    if least <= most { (least, most) } else { (0.0, 1.0) }
}

/// The colours of the two bars of a row.
fn two() -> [RGBColor; 2] {
    [colour(0), colour(1)]
}
