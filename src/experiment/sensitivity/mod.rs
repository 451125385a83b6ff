//! Which parameters a figure depends on.
//!
//! - [`tornado`]: one parameter at a time, from its low to its high end, all others as they are.
//! - [`morris`]: screening by elementary effects all over the ranges (Morris 1991).
//! - [`sobol`]: shares of the variance, first-order and total (Sobol 1993, Saltelli et al. 2010).
//!
//! Designs are in the unit cube, a coordinate for each parameter; estimators take figures and know
//! nothing of simulation. Every point has the same replications on common random numbers, so
//! that what is analysed is one function, the figure over these very replications; its noise does
//! not pass for an effect of a parameter.

pub mod morris;
pub mod sobol;
pub mod tornado;

use crate::statistics::quantile::quantile_of;
use crate::statistics::{Estimate, Interval};

/// Resamples of a bootstrap.
const RESAMPLES: usize = 1_000;

/// A figure of a parameter: its name and its value with interval.
pub type Measure = (&'static str, Estimate);

/// What is known about one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Index of the parameter.
    pub parameter: usize,
    /// Its measures, in the order of a reader; the last but in [`sobol`] decides the rank.
    pub measures: Vec<Measure>,
    /// How much the figure depends on it, for the order.
    pub rank: f64,
}

/// What is known about all parameters, the most important first.
#[derive(Clone, Debug, PartialEq)]
pub struct Effects {
    /// By parameter.
    pub effects: Vec<Effect>,
    /// How many points, trajectories or samples there are, and how many have all their figures.
    pub used: (usize, usize),
}

impl Effects {
    /// From so few that nothing can be told of them: what was estimated is taken back.
    fn of_too_few(mut self, least: usize) -> Self {
        if self.used.0 < least {
            for effect in &mut self.effects {
                effect.measures.iter_mut().for_each(|(_, estimate)| *estimate = Estimate::UNKNOWN);
                effect.rank = f64::NAN;
            }
            self.effects.sort_by_key(|effect| effect.parameter);
        }
        self
    }

    fn new(mut effects: Vec<Effect>, used: (usize, usize)) -> Self {
        let rank =
            |effect: &Effect| if effect.rank.is_nan() { f64::NEG_INFINITY } else { effect.rank };
        effects.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
        Self { effects, used }
    }
}

/// The percentile interval of a bootstrap around `value`.
fn percentile_interval(mut figures: Vec<f64>, value: f64, confidence: f64) -> Estimate {
    figures.retain(|figure| !figure.is_nan());
    if figures.is_empty() || value.is_nan() {
        return Estimate::new(value, Interval::UNBOUNDED);
    }
    let tail = (1.0 - confidence) / 2.0;
    let low = quantile_of(&mut figures, tail).min(value);
    let high = quantile_of(&mut figures, 1.0 - tail).max(value);
    Estimate::new(value, Interval { low, high })
}
