//! Screening by elementary effects.
//!
//! A trajectory starts somewhere on a grid in the unit cube and changes one coordinate after the
//! other by Δ; each change gives one elementary effect, the change of the figure divided by Δ
//! (Morris 1991, Technometrics 33, 161-174). With p levels Δ = p / (2 (p - 1)), which reaches every
//! level equally often. μ* is the mean of the absolute effects (Campolongo, Cariboni and Saltelli
//! 2007), the influence of a parameter in the figure's unit over its whole range; σ, their standard
//! deviation, is large where the effect depends on other parameters or is not linear.

use rand::RngExt;
use rand::seq::SliceRandom;

use super::{Effect, Effects, RESAMPLES, percentile_interval};
use crate::engine::StreamSeed;
use crate::statistics::Moments;

/// Levels of the grid.
const LEVELS: u32 = 4;

/// Fewer trajectories tell nothing: Campolongo, Cariboni and Saltelli (2007) speak of 4 to 10.
pub const LEAST_TRAJECTORIES: usize = 4;
/// Effects that differ by no more than this share of their size differ by rounding.
const ROUNDING: f64 = 1e-12;

/// A walk through the cube.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// Its points, one more than there are parameters.
    pub points: Vec<Vec<f64>>,
    /// Which parameter each step changes.
    pub order: Vec<usize>,
}

/// Random trajectories.
#[must_use]
pub fn design(parameters: usize, trajectories: usize, seed: u64) -> Vec<Trajectory> {
    let mut stream = StreamSeed { master: seed, replication: 0 }.stream("sensitivity", "morris");
    let levels = f64::from(LEVELS);
    let delta = levels / (2.0 * (levels - 1.0));
    let one = |_| {
        // Start at a level from which Δ leads up within the cube, or its mirror image.
        let mut point: Vec<f64> = (0..parameters)
            .map(|_| f64::from(stream.random_range(0..LEVELS / 2)) / (levels - 1.0))
            .collect();
        let down: Vec<bool> = (0..parameters).map(|_| stream.random()).collect();
        for (coordinate, down) in point.iter_mut().zip(&down) {
            if *down {
                *coordinate = 1.0 - *coordinate;
            }
        }
        let mut order: Vec<usize> = (0..parameters).collect();
        order.shuffle(&mut stream);
        let mut points = vec![point.clone()];
        for &parameter in &order {
            point[parameter] += if down[parameter] { -delta } else { delta };
            point[parameter] = point[parameter].clamp(0.0, 1.0);
            points.push(point.clone());
        }
        Trajectory { points, order }
    };
    (0..trajectories).map(one).collect()
}

/// μ*, μ and σ of each parameter, with bootstrap intervals over the trajectories. `figures` are
/// those of the trajectories' points in order; a trajectory without one of them is left out.
#[must_use]
pub fn effects(trajectories: &[Trajectory], figures: &[f64], confidence: f64) -> Effects {
    let parameters = trajectories.first().map_or(0, |trajectory| trajectory.order.len());
    let mut all: Vec<Vec<f64>> = Vec::new();
    let walks = trajectories.iter().zip(figures.chunks_exact(parameters + 1));
    for (trajectory, figures) in walks {
        let mut own = vec![f64::NAN; parameters];
        for (step, &parameter) in trajectory.order.iter().enumerate() {
            let moved = trajectory.points[step + 1][parameter] - trajectory.points[step][parameter];
            own[parameter] = (figures[step + 1] - figures[step]) / moved;
        }
        if own.iter().all(|effect| effect.is_finite()) {
            all.push(own);
        }
    }
    let mut stream = StreamSeed::default().stream("sensitivity", "bootstrap");
    let draw = |_| (0..all.len()).map(|_| stream.random_range(0..all.len())).collect();
    let resamples: Vec<Vec<usize>> =
        if all.is_empty() { Vec::new() } else { (0..RESAMPLES).map(draw).collect() };
    let effect = |parameter: usize| {
        let of = |rows: &mut dyn Iterator<Item = usize>| {
            let (mut absolute, mut signed) = (Moments::new(), Moments::new());
            for row in rows {
                absolute.add(all[row][parameter].abs());
                signed.add(all[row][parameter]);
            }
            let spread = signed.standard_deviation();
            let none = spread <= ROUNDING * absolute.mean();
            [absolute.mean(), signed.mean(), if none { 0.0 } else { spread }]
        };
        let values = of(&mut (0..all.len()));
        let again: Vec<[f64; 3]> =
            resamples.iter().map(|rows| of(&mut rows.iter().copied())).collect();
        let measure = |at: usize| {
            let figures = again.iter().map(|values| values[at]).collect();
            percentile_interval(figures, values[at], confidence)
        };
        let measures = vec![("μ*", measure(0)), ("μ", measure(1)), ("σ", measure(2))];
        Effect { parameter, measures, rank: values[0] }
    };
    let effects = (0..parameters).map(effect).collect();
    Effects::new(effects, (all.len(), trajectories.len())).of_too_few(LEAST_TRAJECTORIES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(parameters: usize, function: impl Fn(&[f64]) -> f64) -> Effects {
        let design = design(parameters, 50, 1);
        let points = design.iter().flat_map(|trajectory| &trajectory.points);
        let figures: Vec<f64> = points.map(|point| function(point)).collect();
        effects(&design, &figures, 0.95)
    }

    #[test]
    fn trajectories_stay_in_the_cube_and_move_each_coordinate_once() {
        for trajectory in design(5, 100, 3) {
            for (step, &parameter) in trajectory.order.iter().enumerate() {
                let (from, to) = (&trajectory.points[step], &trajectory.points[step + 1]);
                for i in 0..5 {
                    let moved = (to[i] - from[i]).abs();
                    let expected = if i == parameter { 2.0 / 3.0 } else { 0.0 };
                    assert!((moved - expected).abs() < 1e-12);
                    assert!((0.0..=1.0).contains(&to[i]));
                }
            }
        }
    }

    #[test]
    fn a_linear_function_has_its_coefficients_and_no_spread() {
        let effects = screen(3, |x| 2.0 * x[0] - 7.0 * x[1] + 0.5 * x[2]);
        let order: Vec<usize> = effects.effects.iter().map(|effect| effect.parameter).collect();
        assert_eq!(order, [1, 0, 2]);
        let [(_, star), (_, mu), (_, sigma)] = effects.effects[0].measures[..] else { panic!() };
        assert!((star.value - 7.0).abs() < 1e-9 && (mu.value + 7.0).abs() < 1e-9);
        assert_eq!((sigma.value, sigma.interval.half_width()), (0.0, 0.0));
        assert!(star.interval.half_width() < 1e-9);
        assert_eq!(effects.used, (50, 50));
    }

    #[test]
    fn an_interaction_shows_as_spread_and_a_bystander_as_nothing() {
        let effects = screen(3, |x| 8.0 * x[0] * x[1]);
        let of = |parameter: usize| {
            let effect = effects.effects.iter().find(|e| e.parameter == parameter).unwrap();
            effect.measures.iter().map(|(_, estimate)| estimate.value).collect::<Vec<f64>>()
        };
        assert!(of(0)[2] > 1.0 && of(1)[2] > 1.0);
        assert_eq!(of(2), [0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_trajectory_without_a_figure_is_left_out() {
        let design = design(2, 4, 1);
        let mut figures: Vec<f64> = (0..12).map(f64::from).collect();
        figures[4] = f64::NAN;
        assert_eq!(effects(&design, &figures, 0.95).used, (3, 4));
    }
}
