//! Goal seek: which value of a parameter meets a target, and how sure that is.
//!
//! - [`source`]: where figures come from: a scenario, or in tests a formula.
//! - [`probe`]: one value with the figures it has so far, and whether it meets the target.
//! - [`search`]: bisection over an ascending list of values.
//! - [`shape`]: whether the figure rises or falls along the values, by paired tests.
//! - [`mod@best`]: the best of several, with a guaranteed probability of choosing right.
//!
//! **Error control.** A value is looked at with more and more replications until the interval of
//! its figure lies on one side of the target. All intervals of all looks at all values hold
//! together with at least the confidence asked for: the error is shared equally among them
//! (Bonferroni), over all values that could be looked at and not only those that were, so that the
//! path of the search and common random numbers between values don't matter. So every "meets" and
//! every "does not meet" is right, all at once, at that confidence. What no run has shown, that
//! values in between behave as those beside them, rests on monotonicity, which is tested.

pub mod best;
pub mod probe;
pub mod search;
pub mod shape;
pub mod source;

#[cfg(test)]
mod tests;

pub use best::{Best, Chosen, Objective, best};
pub use probe::{Meets, Probe};
pub use search::{Answer, Goal, Search, Solution};
pub use shape::{Shape, Step};
pub use source::{ScenarioSource, Source};

/// How many replications a value gets, and how sure the whole is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Confidence of all intervals together.
    pub confidence: f64,
    /// Replications of the first look at a value.
    pub fewest: u64,
    /// Replications after which a value is left undecided.
    pub most: u64,
    /// How many values could be looked at in all, in this search and in others whose answers are
    /// to hold together with its.
    pub values: usize,
}

impl Settings {
    /// Replications at each look: twice as many as at the one before.
    pub fn looks(&self) -> impl Iterator<Item = u64> {
        let (fewest, most) = (self.fewest.max(1), self.most.max(self.fewest).max(1));
        std::iter::successors(Some(fewest), move |&done| {
            (done < most).then(|| done.saturating_mul(2).min(most))
        })
    }

    /// Confidence of each interval, so that all of them hold together.
    #[must_use]
    pub fn each(&self) -> f64 {
        let intervals = self.values.max(1) as f64 * self.looks().count() as f64;
        1.0 - (1.0 - self.confidence) / intervals
    }
}
