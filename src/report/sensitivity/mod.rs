//! Which parameters a figure depends on: tables, CSV, JSON.

mod pictures;

pub use pictures::plots;

use serde_json::{Value, json};

use super::document::{Document, TextTable};
use super::number::Scale;
use super::results_csv::Number;
use crate::experiment::sensitivity::morris::LEAST_TRAJECTORIES;
use crate::experiment::sensitivity::sobol::LEAST_SAMPLES;
use crate::experiment::sensitivity::tornado::CHANGE;
use crate::experiment::sensitivity::{Effect, Effects};
use crate::models::Unit;
use crate::scenario::MetricColumn;
use crate::scenario::target::FigureOf;
use crate::scenario::varied::Varied;
use crate::statistics::{Estimate, Interval};
use crate::wording::counted;

/// How the figures were analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// One parameter at a time.
    Tornado,
    /// Elementary effects.
    Morris,
    /// Shares of the variance.
    Sobol,
}

impl Method {
    /// The name in files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tornado => "tornado",
            Self::Morris => "morris",
            Self::Sobol => "sobol",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Tornado => "one parameter at a time",
            Self::Morris => "elementary effects (Morris)",
            Self::Sobol => "shares of the variance (Sobol)",
        }
    }

    /// What the figures of the table mean.
    const fn meaning(self) -> &'static str {
        match self {
            Self::Tornado => {
                "each parameter at the two ends of its range, all others as they are; \"low to \
                 high\" is over pairs of replications"
            }
            Self::Morris => {
                "μ*: how much the figure changes over the whole range of the parameter, on average \
                 over the ranges of the others; μ: the same with its sign; σ: how much that change \
                 varies, large where the parameter acts together with others or not linearly"
            }
            Self::Sobol => {
                "first-order: the share of the variance over all ranges that the parameter explains \
                 by itself; total: with all it does together with others, so what would be left if \
                 all others were known"
            }
        }
    }

    /// How many of them it takes; a tornado has no design.
    const fn least(self) -> Option<usize> {
        match self {
            Self::Tornado => None,
            Self::Morris => Some(LEAST_TRAJECTORIES),
            Self::Sobol => Some(LEAST_SAMPLES),
        }
    }

    /// What gives more of them.
    const fn option(self) -> &'static str {
        match self {
            Self::Tornado => "points",
            Self::Morris => "--trajectories",
            Self::Sobol => "--samples",
        }
    }

    /// What [`Effects::used`] counts.
    const fn sample(self) -> &'static str {
        match self {
            Self::Tornado => "points",
            Self::Morris => "trajectories",
            Self::Sobol => "samples",
        }
    }
}

/// The analysis of one figure.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The figure.
    pub figure: FigureOf,
    /// The figure as the scenario stands, if that was run.
    pub base: Option<Estimate>,
    /// What each parameter does.
    pub effects: Effects,
}

impl Analysis {
    /// Whether an interval of a share of the variance goes far to where no share can be.
    fn beyond_one(&self) -> bool {
        let measures = self.effects.effects.iter().flat_map(|effect| &effect.measures);
        let shares = measures.filter(|(name, _)| matches!(*name, "first-order" | "total"));
        let beyond = |interval: Interval| {
            interval.is_bounded() && (interval.high > 1.0 + FAR || interval.low < -FAR)
        };
        shares.into_iter().any(|(_, estimate)| beyond(estimate.interval))
    }
}

/// An end of an interval this far below 0 or above 1 is told of; nearer ones come of every sample.
const FAR: f64 = 0.05;

/// What an analysis is reported from.
#[derive(Clone, Debug)]
pub struct SensitivityReport<'r> {
    /// The scenario's name.
    pub scenario: &'r str,
    /// The configuration that it starts from; none for the components as they stand.
    pub configuration: Option<&'r str>,
    /// Columns of the scenario.
    pub columns: &'r [MetricColumn],
    /// How.
    pub method: Method,
    /// The parameters with their ranges.
    pub spans: &'r [Varied],
    /// How many points were run.
    pub points: usize,
    /// Replications of each.
    pub replications: u64,
    /// Of the intervals.
    pub confidence: f64,
    /// By figure.
    pub analyses: Vec<Analysis>,
}

impl SensitivityReport<'_> {
    /// The unit of the measures.
    fn unit(&self, analysis: &Analysis) -> Unit {
        match self.method {
            Method::Sobol => Unit::Ratio,
            Method::Tornado | Method::Morris => analysis.figure.unit(self.columns),
        }
    }

    fn scale(&self, analysis: &Analysis) -> Scale {
        if self.method == Method::Sobol {
            // An estimate of a share of the variance may lie below 0.
            return Scale::PLAIN;
        }
        let measures = analysis.effects.effects.iter().flat_map(|effect| &effect.measures);
        let base = analysis.base.iter().map(|base| base.value);
        Scale::for_values(self.unit(analysis), measures.map(|(_, e)| e.value).chain(base))
    }
}

impl SensitivityReport<'_> {
    /// The unit of the measure `name` where figures are in that of `scale`: all but the figures at
    /// the ends of a tornado and shares of the variance are changes.
    fn measure_scale(&self, scale: Scale, name: &str) -> Scale {
        let change = self.method == Method::Morris || name == CHANGE;
        if change { scale.of_difference() } else { scale }
    }
}

/// The whole report.
#[must_use]
pub fn document(report: &SensitivityReport<'_>) -> Document {
    let from = report.configuration.map(|name| format!(", from {name}")).unwrap_or_default();
    let mut document =
        Document::new(format!("{}: {}{from}", report.scenario, report.method.title()));
    for analysis in &report.analyses {
        let scale = report.scale(analysis);
        let figure = analysis.figure.text(report.columns);
        let name = figure.clone();
        document.paragraph(match analysis.base {
            Some(base) if !base.value.is_finite() => {
                format!("{figure}: no figure as the scenario stands")
            }
            Some(base) => {
                let unit = scale.symbol();
                let (value, interval) = (scale.value(base), scale.interval(base));
                format!("{figure}: {value} {unit} ({interval}) as the scenario stands")
            }
            None => figure,
        });
        document.table(table(report, analysis, scale));
        if !pictures::has_picture(report, analysis) {
            document.note(format!("there is no picture of {name}: it has no figure to draw"));
        }
        let (used, all) = analysis.effects.used;
        if used < all {
            document.note(format!(
                "{} of {all} {} are left out: the figure did not come about in some replications",
                all - used,
                report.method.sample()
            ));
        }
        if let Some(least) = report.method.least().filter(|least| used < *least) {
            document.note(format!(
                "{} left: nothing can be told from fewer than {least}, so there are no figures; give \
                 more {}, or a longer --horizon where replications are cut off",
                match used {
                    0 => "none is".to_owned(),
                    1 => "only 1 is".to_owned(),
                    _ => format!("only {used} are"),
                },
                report.method.option()
            ));
        } else if analysis.beyond_one() {
            document.note(
                "a share of the variance is at most 1; an end of an interval beyond that, or below 0, \
                 says how little so many samples tell: more --samples narrow it",
            );
        }
    }
    document.note(report.method.meaning());
    document.note(format!(
        "{} x {} on common random numbers; intervals at {} %{}",
        counted(report.points, "point"),
        counted(report.replications, "replication"),
        report.confidence * 100.0,
        match report.method {
            Method::Tornado => "",
            Method::Morris => ", by bootstrap over the trajectories",
            Method::Sobol => ", by bootstrap over the samples",
        }
    ));
    document
}

fn table(report: &SensitivityReport<'_>, analysis: &Analysis, scale: Scale) -> TextTable {
    let effects = &analysis.effects.effects;
    let names = effects.first().map_or(&[][..], |effect| &effect.measures);
    let mut heading = vec!["parameter".to_owned(), "range".to_owned()];
    let of = |name: &str| report.measure_scale(scale, name);
    heading.extend(names.iter().map(|(name, _)| of(name).heading(name)));
    // Where all are of one component its name tells nothing.
    let component = |span: &Varied| span.path.split_once('.').map(|(name, _)| name.to_owned());
    let first = report.spans.first().and_then(component);
    let alike = report.spans.iter().all(|span| component(span) == first);
    let short = |span: &Varied| match span.path.split_once('.') {
        Some((_, path)) if alike => path.to_owned(),
        _ => span.path.clone(),
    };
    let row = |effect: &Effect| {
        let span = &report.spans[effect.parameter];
        let figure = |(name, estimate): &(&str, Estimate)| {
            let scale = of(name);
            format!("{}\n{}", scale.value(*estimate), scale.interval(*estimate))
        };
        let names = [short(span), span.text.clone()];
        names.into_iter().chain(effect.measures.iter().map(figure)).collect()
    };
    TextTable { heading, words: 2, rows: effects.iter().map(row).collect() }
}

/// A line for each measure of each parameter of each figure. Times are in seconds, shares between 0
/// and 1.
///
/// # Errors
/// What the writer says.
pub fn csv(report: &SensitivityReport<'_>) -> std::io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let heading = ["figure", "unit", "parameter", "range", "measure", "value", "low", "high"];
    writer.write_record(heading)?;
    for analysis in &report.analyses {
        let figure = analysis.figure.text(report.columns);
        let unit = report.unit(analysis).symbol();
        for effect in &analysis.effects.effects {
            let span = &report.spans[effect.parameter];
            for (measure, estimate) in &effect.measures {
                let numbers = [estimate.value, estimate.interval.low, estimate.interval.high];
                let numbers = numbers.map(|number| Number(number).to_string());
                let words = [&figure, unit, &span.path, &span.text, measure];
                writer.write_record(words.into_iter().chain(numbers.iter().map(String::as_str)))?;
            }
        }
    }
    writer.into_inner().map_err(|error| std::io::Error::other(error.to_string()))
}

/// For programs. Times are in seconds, shares between 0 and 1; `null` is an open end.
#[must_use]
pub fn json(report: &SensitivityReport<'_>) -> Value {
    let estimate = super::solve::estimate_json;
    let effect = |effect: &Effect| {
        let measures: serde_json::Map<String, Value> = effect
            .measures
            .iter()
            .map(|(name, value)| ((*name).to_owned(), estimate(*value)))
            .collect();
        let span = &report.spans[effect.parameter];
        json!({ "parameter": span.path, "range": span.text, "measures": measures })
    };
    let analysis = |analysis: &Analysis| {
        json!({
            "figure": analysis.figure.text(report.columns),
            "unit": report.unit(analysis).symbol(),
            "as_it_stands": analysis.base.map(estimate),
            "used": analysis.effects.used.0,
            "of": analysis.effects.used.1,
            "parameters": analysis.effects.effects.iter().map(effect).collect::<Vec<_>>(),
        })
    };
    json!({
        "version": 1,
        "convsim": env!("CARGO_PKG_VERSION"),
        "scenario": report.scenario,
        "configuration": report.configuration,
        "method": report.method.name(),
        "points": report.points,
        "replications": report.replications,
        "confidence": report.confidence,
        "figures": report.analyses.iter().map(analysis).collect::<Vec<_>>(),
    })
}
