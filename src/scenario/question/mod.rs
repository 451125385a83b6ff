//! The questions that a file asks beside its points: `solve` and `sensitivity`.
//!
//! They are kept as the command line writes them, so that a word of the command line can take the
//! place of each; what they ask for is checked with the file.

mod entry;
mod read;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) use entry::{SensitivityEntry, SolveEntry};
pub(super) use read::Asked;

/// Most values of a parameter that is bisected. Few of them are run, whatever `--max-points` says, but
/// each is a point that is kept.
pub const MOST_VALUES: usize = 400_000;

/// What `convsim solve` is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveQuestion {
    /// Which value is wanted.
    pub goal: SolveGoal,
    /// `path=values`.
    pub parameter: Option<String>,
    /// What must hold, for the largest and the smallest: `packet_loss_duration.p99<=2s`.
    pub target: Option<String>,
    /// What is to be least or greatest.
    pub metric: Option<String>,
    /// The difference that matters, for the least and the greatest.
    pub indifference: Option<String>,
    /// `path=values` of another parameter, with an answer for each.
    pub along: Option<String>,
    /// What it starts from, or the candidates.
    pub configurations: Vec<String>,
    /// How sure the whole answer is to be.
    pub confidence: Option<f64>,
    /// Replications of the first look at a value.
    pub replications: Option<u64>,
    /// The most replications that a value gets.
    pub max_replications: Option<u64>,
}

impl SolveQuestion {
    /// Nothing but the goal is said.
    #[must_use]
    pub const fn new(goal: SolveGoal) -> Self {
        Self {
            goal,
            parameter: None,
            target: None,
            metric: None,
            indifference: None,
            along: None,
            configurations: Vec::new(),
            confidence: None,
            replications: None,
            max_replications: None,
        }
    }
}

/// In words, after `convsim solve` or `solve:`.
impl fmt::Display for SolveQuestion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = |text: &Option<String>| text.clone().unwrap_or_default();
        if self.goal.has_target() {
            let wanted = self.goal.name();
            write!(
                formatter,
                "the {wanted} {} with {}",
                said(&self.parameter),
                said(&self.target)
            )?;
        } else {
            let least = if self.goal == SolveGoal::Minimise { "least" } else { "greatest" };
            let (metric, zone) = (said(&self.metric), said(&self.indifference));
            write!(formatter, "the {least} {metric}, to {zone}")?;
            if let Some(parameter) = &self.parameter {
                write!(formatter, ", of {parameter}")?;
            }
        }
        if let Some(along) = &self.along {
            write!(formatter, ", for each {along}")?;
        }
        match &self.configurations[..] {
            [] => Ok(()),
            names if self.goal.has_target() || self.parameter.is_some() => {
                write!(formatter, ", from {}", names.join(", "))
            }
            names => write!(formatter, ", of {}", names.join(", ")),
        }
    }
}

/// In words, after `sensitivity:`.
impl fmt::Display for SensitivityQuestion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let method = match self.method {
            SensitivityMethod::Tornado => "one parameter at a time",
            SensitivityMethod::Morris => "elementary effects",
            SensitivityMethod::Sobol => "shares of the variance",
        };
        write!(formatter, "{method} of ")?;
        match &self.metrics[..] {
            [] => formatter.write_str("the metrics of the main table")?,
            names => formatter.write_str(&names.join(", "))?,
        }
        write!(formatter, " over {}", self.vary.join(", "))?;
        match &self.configuration {
            Some(name) => write!(formatter, ", from {name}"),
            None => Ok(()),
        }
    }
}

/// What `convsim sensitivity` is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SensitivityQuestion {
    /// `path=range` of each parameter.
    pub vary: Vec<String>,
    /// How.
    pub method: SensitivityMethod,
    /// The figures; empty for the means of the metrics in the main table.
    pub metrics: Vec<String>,
    /// What it starts from.
    pub configuration: Option<String>,
    /// Of Morris' design.
    pub trajectories: Option<u16>,
    /// Of Sobol's design.
    pub samples: Option<usize>,
    /// Of each point.
    pub replications: Option<u64>,
}

/// Which value is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SolveGoal {
    /// The largest value of the parameter that meets the target.
    Largest,
    /// The smallest value of the parameter that meets the target.
    Smallest,
    /// The value of the parameter, or the configuration, with the least mean of the metric.
    Minimise,
    /// The value of the parameter, or the configuration, with the greatest mean of the metric.
    Maximise,
}

impl SolveGoal {
    /// True for a value that meets a target, false for the best of several.
    #[must_use]
    pub const fn has_target(self) -> bool {
        matches!(self, Self::Largest | Self::Smallest)
    }

    /// The word in files and, with two dashes, on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Largest => "largest",
            Self::Smallest => "smallest",
            Self::Minimise => "minimise",
            Self::Maximise => "maximise",
        }
    }
}

/// How an analysis of sensitivity is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SensitivityMethod {
    /// One parameter at a time, from its low to its high end.
    #[default]
    Tornado,
    /// Screening by elementary effects (Morris).
    Morris,
    /// Shares of the variance (Sobol), the most thorough and the most expensive.
    Sobol,
}
