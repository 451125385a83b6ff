//! How pictures tell of figures that come from replications which were cut off.

use super::drawing::{Align, Drawing, Place};
use super::style::INK;
use crate::report::number::mark;
use crate::report::stored::{Figure, StoredPoint};
use crate::statistics::Sense;

/// What the mean of `metric` at `point` says of the figure.
#[must_use]
pub fn sense(point: &StoredPoint, metric: &str) -> Sense {
    let mean = point.figure(metric, Figure::Mean);
    if mean.value.is_finite() { mean.sense } else { Sense::Whole }
}

/// What the marks before figures mean, if there are any.
#[must_use]
pub fn legend<'s>(points: impl Iterator<Item = &'s StoredPoint>, metric: &str) -> String {
    let senses: Vec<Sense> = points.map(|point| sense(point, metric)).collect();
    let told = |wanted: Sense, what: &str| {
        let any = senses.contains(&wanted);
        any.then(|| format!("{}: cut off, {what}", mark(wanted)))
    };
    let all = [told(Sense::AtLeast, "at least this"), told(Sense::SoFar, "this so far")];
    all.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// An arrow over a value that is at least what is shown, a tilde over one that is so only until
/// it was cut off.
pub fn sign(drawing: &mut Drawing, (x, y): Place, sense: Sense) {
    let sign = match sense {
        Sense::Whole => return,
        Sense::AtLeast => "↑",
        Sense::AtMost => "↓",
        Sense::SoFar => "~",
    };
    drawing.text((x, y - 11.0), sign.to_owned(), INK, Align::Centre);
}
