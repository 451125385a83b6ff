//! One parameter at a time.

use super::{Effect, Effects};
use crate::experiment::known::Known;
use crate::experiment::solve::probe::estimate;
use crate::experiment::solve::shape::change;
use crate::scenario::Statistic;
use crate::statistics::Estimate;

/// The measure that is a change.
pub const CHANGE: &str = "low to high";

/// Which end of which parameter each point is at: first none, then low and high in turn.
#[must_use]
pub fn design(parameters: usize) -> Vec<Vec<Option<f64>>> {
    let base = vec![None; parameters];
    let at = |parameter: usize, end: f64| {
        let mut point = base.clone();
        point[parameter] = Some(end);
        point
    };
    let ends = (0..parameters).flat_map(|parameter| [at(parameter, 0.0), at(parameter, 1.0)]);
    std::iter::once(base.clone()).chain(ends).collect()
}

/// The figure as the scenario stands, and what each parameter does to it.
#[must_use]
pub fn effects(figures: &[Vec<f64>], statistic: Statistic, confidence: f64) -> (Estimate, Effects) {
    let Some((base, ends)) = figures.split_first() else {
        return (Estimate::UNKNOWN, Effects::new(Vec::new(), (0, 0)));
    };
    // What some replications lack is not known from the others.
    let complete = |values: &[f64]| values.iter().all(|value| value.is_finite());
    let figure = |values: &[f64]| {
        if complete(values) { estimate(values, statistic, confidence) } else { Estimate::UNKNOWN }
    };
    let known = |values: &[f64]| -> Vec<Known> { values.iter().map(|&v| v.into()).collect() };
    let effect = |(parameter, ends): (usize, &[Vec<f64>])| {
        let (low, high) = (&ends[0], &ends[1]);
        let swing = if complete(low) && complete(high) {
            let size = low.iter().chain(high).fold(0.0_f64, |most, value| most.max(value.abs()));
            change(&known(low), &known(high), statistic, confidence).without_noise(size)
        } else {
            Estimate::UNKNOWN
        };
        let measures = vec![
            ("at the low end", figure(low)),
            ("at the high end", figure(high)),
            (CHANGE, swing),
        ];
        let middle = figure(base).value;
        // A parameter whose both ends are on one side matters, too.
        let reach = [low, high].map(|values| (figure(values).value - middle).abs());
        let rank = reach.into_iter().chain([swing.value.abs()]).fold(0.0, f64::max);
        Effect { parameter, measures, rank }
    };
    let used = figures.iter().filter(|values| complete(values)).count();
    let effects = ends.chunks_exact(2).enumerate().map(effect).collect();
    (figure(base), Effects::new(effects, (used, figures.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_parameter_has_its_two_ends_and_the_greatest_swing_comes_first() {
        let design = design(2);
        assert_eq!(design.len(), 5);
        assert_eq!(design[3], [None, Some(0.0)]);
        // f = x + 10 y with noise that all points share; x and y stand at 0.5.
        let figures: Vec<Vec<f64>> = design
            .iter()
            .map(|point| {
                let at = |i: usize| point[i].unwrap_or(0.5);
                (0..20).map(|r| at(0) + 10.0 * at(1) + f64::from(r % 7)).collect()
            })
            .collect();
        let (base, effects) = effects(&figures, Statistic::Mean, 0.95);
        assert!(base.interval.half_width() > 0.5);
        let first = &effects.effects[0];
        assert_eq!(first.parameter, 1);
        let (_, swing) = first.measures[2];
        assert!((swing.value - 10.0).abs() < 1e-9 && swing.interval.half_width() < 1e-9);
        assert_eq!(effects.used, (5, 5));
    }

    #[test]
    fn an_end_that_some_replications_lack_is_not_known_from_the_others() {
        let mut figures: Vec<Vec<f64>> = (0..5).map(|p| vec![f64::from(p), 9.0, 7.0]).collect();
        figures[2][1] = f64::NAN;
        let (base, effects) = effects(&figures, Statistic::Mean, 0.95);
        assert!(base.value.is_finite());
        let of = |parameter| effects.effects.iter().find(|e| e.parameter == parameter).unwrap();
        assert!(of(0).measures[0].1.value.is_finite());
        assert!(of(0).measures[1].1.value.is_nan() && of(0).measures[2].1.value.is_nan());
        assert!(of(1).measures.iter().all(|measure| measure.1.value.is_finite()));
        assert_eq!(effects.used, (4, 5));
    }
}
