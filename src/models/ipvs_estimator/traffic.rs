//! What a user sets of the traffic of the services.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::SimDuration;
use crate::quantities::Rate;

/// Most groups of services: the figures of each have names of their own.
pub(super) const MOST_GROUPS: usize = 4;

/// What the services' counters count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Traffic {
    /// Connections, packets or bytes of one service in a second.
    #[schemars(extend("x-source" = "the user's services"))]
    pub rate: Rate,
    /// How they arrive.
    #[schemars(extend("x-source" = "a fluid shows the estimator's own error alone"))]
    pub arrivals: Arrivals,
    /// How much the rates of services differ: coefficient of variation of a factor that each
    /// service has for good; lognormal, of mean 1.
    #[schemars(range(min = 0.0, max = 100.0), extend("x-unit" = "1", "x-source" = "the user's services; 0: all have the same rate"))]
    pub rate_cv: f64,
    /// A change of the rate; without one, convergence counts from a service's addition.
    pub step: Option<Step>,
    /// Groups of services with rates of their own, in place of `rate`, `rate_cv` and `step`; at
    /// most 4. Figures are given over all and, as `group_1` and so on, for each.
    #[schemars(length(max = 4))]
    pub groups: Vec<ServiceGroup>,
    /// A reported rate has converged once it is within this share of the true one.
    #[schemars(range(min = 0.000_1, max = 0.9), extend("x-unit" = "share", "x-source" = "the user's tolerance"))]
    pub tolerance: f64,
}

/// A group of services.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServiceGroup {
    /// How many of the services, in proportion to those of the other groups. Of those that are
    /// followed one by one every group gets its share, evenly over the run of additions.
    #[schemars(range(min = 0.000_1, max = 1_000_000.0), extend("x-unit" = "1", "x-source" = "the user's services"))]
    pub share: f64,
    /// Connections, packets or bytes of one service in a second, on average over the group.
    #[schemars(extend("x-source" = "the user's services"))]
    pub rate: Rate,
    /// How much the rates within the group differ, as `traffic.rate_cv`.
    #[schemars(range(min = 0.0, max = 100.0), extend("x-unit" = "1", "x-source" = "the user's services"))]
    pub rate_cv: f64,
    /// When the rates change, in order of time. Convergence counts from the last change.
    #[schemars(length(max = 100))]
    pub changes: Vec<Step>,
}

/// A change of the services' rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Step {
    /// When the first service changes.
    #[schemars(extend("x-source" = "the user's question"))]
    pub at: SimDuration,
    /// Each service changes at a random instant within this time after `at`: one period, so that
    /// all phases between step and estimate are met.
    #[schemars(extend("x-source" = "the period of 2 s"))]
    pub spread: SimDuration,
    /// The rate from then on over the one at the start.
    #[schemars(range(min = 0.0, max = 1_000_000.0), extend("x-unit" = "1", "x-source" = "the user's question"))]
    pub factor: f64,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            rate: default_rate(),
            arrivals: Arrivals::Fluid,
            rate_cv: 0.0,
            step: None,
            groups: Vec::new(),
            tolerance: 0.05,
        }
    }
}

impl Default for ServiceGroup {
    fn default() -> Self {
        Self { share: 1.0, rate: default_rate(), rate_cv: 0.0, changes: Vec::new() }
    }
}

impl Default for Step {
    fn default() -> Self {
        Self {
            at: SimDuration::from_whole_seconds(30),
            spread: SimDuration::from_whole_seconds(2),
            factor: 2.0,
        }
    }
}

/// How what is counted arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Fluid,
    /// At random, as a Poisson process.
    Poisson,
}

/// 1000/s.
fn default_rate() -> Rate {
    Rate::whole(NonZeroU32::MIN.saturating_add(999))
}

impl Traffic {
    /// The groups as they are simulated: where none is given, one of all services.
    #[must_use]
    pub fn resolved(&self) -> Vec<ServiceGroup> {
        if !self.groups.is_empty() {
            return self.groups.clone();
        }
        let changes = self.step.iter().cloned().collect();
        vec![ServiceGroup { share: 1.0, rate: self.rate, rate_cv: self.rate_cv, changes }]
    }
}
