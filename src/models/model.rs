//! What a model is.

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::{Component, Engine, SimDuration, SimTime, Trace};

/// A simulated system: a component with a configuration that a user writes and metrics that a
/// user reads.
///
/// An instance is made once per worker thread and run many times: [`Component::start`] puts it
/// back to its initial state, keeping its memory.
pub trait Model: Component + Sized {
    /// What a user sets. Every field has a doc comment, a default, and `x-source` and (for plain
    /// numbers) `x-unit` in its schema; the schema is what files are validated against and what
    /// `convsim describe` prints.
    type Config: Clone
        + Debug
        + Default
        + PartialEq
        + Serialize
        + DeserializeOwned
        + JsonSchema
        + Send
        + Sync;

    /// The name in scenario files.
    const NAME: &'static str;
    /// What it simulates, in one sentence.
    const SUMMARY: &'static str;
    /// What it tells other components.
    const OUTPUTS: &'static [SignalDefinition];
    /// What other components can tell it.
    const INPUTS: &'static [SignalDefinition];
    /// What is measured, in the order of [`Model::measure`].
    const METRICS: &'static [Metric];

    /// What is impossible (an error) or hopeless but legal (a warning) about a configuration
    /// whose fields are each within their range: relations between fields.
    fn check(config: &Self::Config) -> Vec<Finding>;

    /// Which keys have no part in a run with what else is set, whatever their value. It is only told
    /// to who has set one of them for no configuration that uses it.
    fn unused(_config: &Self::Config) -> Vec<Unused> {
        Vec::new()
    }

    /// All keys that [`Model::unused`] may name.
    fn sometimes_unused() -> Vec<&'static str> {
        Vec::new()
    }

    /// What never comes about because a run ends at `horizon`.
    fn check_horizon(_config: &Self::Config, _horizon: SimDuration) -> Vec<Finding> {
        Vec::new()
    }

    /// A component called `name`, by which its random streams are seeded.
    fn new(name: &str, config: Self::Config) -> Self;

    /// Another component's signal has come in on [`Model::INPUTS`]`[input]`.
    fn receive<G: Copy + From<Self::Event>>(
        &mut self,
        engine: &mut Engine<G>,
        input: u16,
        value: u64,
    );

    /// True once everything that the scenario asks of this component has come about.
    fn converged(&self) -> bool;

    /// Writes the figures of the run that ended at `end` in the order of [`Model::METRICS`];
    /// `f64::NAN` for what did not come about.
    fn measure(&self, end: SimTime, figures: &mut [f64]);

    /// Records what is still open when the run has ended at `end`, as spans until then, and what of
    /// the scenario is left to do. Called once, and only if the run is traced; it only reads, so
    /// that nothing depends on whether it is.
    fn trace_open(&self, trace: &mut Trace, component: u16, end: SimTime);
}

/// A named input or output of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalDefinition {
    /// The name in `connections`.
    pub name: &'static str,
    /// When it is sent, or what it does, and what its value is.
    pub summary: &'static str,
}

/// The unit of a metric. No figure of any is below 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// A number of things.
    Count,
    /// A share between 0 and 1.
    Share,
    /// Whether something came about in a replication: 1 if so, else 0. The mean over replications
    /// is its probability.
    Probability,
    /// A plain ratio.
    Ratio,
    /// Events per second.
    PerSecond,
}

impl Unit {
    /// The symbol in tables and column documentation.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Count | Self::Ratio => "1",
            Self::Share => "share",
            Self::Probability => "probability",
            Self::PerSecond => "1/s",
        }
    }
}

/// One figure of a replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The name in files, tables and expectations.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// What it is, in one sentence.
    pub summary: &'static str,
    /// Whether it is in the main table by default.
    pub headline: bool,
    /// For a part of another metric: that metric's name. The parts of a metric sum to it, and
    /// tell which mechanism the time went to.
    pub part_of: Option<&'static str>,
    /// Whether a greater figure is what one wants: of two replications the one with less is worse.
    pub more_is_better: bool,
    /// What its figure says of the whole when the replication was cut off.
    pub when_cut: WhenCut,
    /// The metric which, where it has a figure, says that this one's is that of the whole also
    /// when the replication was cut off later; it may be the metric itself.
    pub final_with: Option<&'static str>,
}

/// What the figure of a replication that was cut off, at the horizon or with its events spent,
/// says of what it would have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenCut {
    /// Nothing: a mean, a quantile, a share or a rate may go either way.
    Unknown,
    /// At least that much: a total, or the greatest of something.
    Grows,
    /// The same; a time that has not come about is at least as long as the replication.
    GrowsFromStart,
    /// The same; a time that has not come about is at least as long as the replication after the
    /// instant that this metric tells, in seconds.
    GrowsSince(&'static str),
}

impl Metric {
    /// A figure in the main table.
    #[must_use]
    pub const fn headline(name: &'static str, unit: Unit, summary: &'static str) -> Self {
        Self {
            name,
            unit,
            summary,
            headline: true,
            part_of: None,
            more_is_better: matches!(unit, Unit::PerSecond),
            when_cut: WhenCut::Unknown,
            final_with: None,
        }
    }

    /// A figure in the files only.
    #[must_use]
    pub const fn detail(name: &'static str, unit: Unit, summary: &'static str) -> Self {
        Self {
            name,
            unit,
            summary,
            headline: false,
            part_of: None,
            more_is_better: matches!(unit, Unit::PerSecond),
            when_cut: WhenCut::Unknown,
            final_with: None,
        }
    }

    /// A part of the metric `whole`: `name` is `whole.part`.
    #[must_use]
    pub const fn part(
        name: &'static str,
        whole: &'static str,
        unit: Unit,
        summary: &'static str,
    ) -> Self {
        Self {
            name,
            unit,
            summary,
            headline: false,
            part_of: Some(whole),
            more_is_better: matches!(unit, Unit::PerSecond),
            when_cut: WhenCut::Unknown,
            final_with: None,
        }
    }

    /// The same, of which a replication that was cut off has at least what it has.
    #[must_use]
    pub const fn growing(self, when_cut: WhenCut) -> Self {
        Self { when_cut, ..self }
    }

    /// The same, of which more is better, as of anything done in a second.
    #[must_use]
    pub const fn more_is_better(self) -> Self {
        Self { more_is_better: true, ..self }
    }

    /// The same, whose figure does not change any more once `metric` has one.
    #[must_use]
    pub const fn final_with(self, metric: &'static str) -> Self {
        Self { final_with: Some(metric), ..self }
    }
}

/// A key that has no effect with what else is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unused {
    /// The key, from the component's configuration downwards.
    pub path: &'static str,
    /// That it has no effect, and why.
    pub problem: &'static str,
    /// What to do.
    pub allowed: &'static str,
}

impl From<Unused> for Finding {
    fn from(unused: Unused) -> Self {
        Self::warning(unused.path, unused.problem, unused.allowed)
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The scenario cannot be run.
    Error,
    /// Legal, but the result will disappoint.
    Warning,
}

/// Something about a configuration that its schema cannot say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Where: keys from the component's configuration downwards, for instance `flap.count`.
    pub path: String,
    /// What is wrong, with the value.
    pub problem: String,
    /// What is allowed, or what to do.
    pub allowed: String,
}

impl Finding {
    /// Something impossible.
    #[must_use]
    pub fn error(path: &str, problem: impl Into<String>, allowed: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            path: path.to_owned(),
            problem: problem.into(),
            allowed: allowed.into(),
        }
    }

    /// Something asked for at `at`, which the run does not reach.
    #[must_use]
    pub fn beyond(path: &str, at: SimDuration, horizon: SimDuration) -> Self {
        let problem = format!("{at} is not reached: the run ends at run.horizon, {horizon}");
        Self::error(path, problem, "before run.horizon, or a later horizon")
    }

    /// Something legal but hopeless.
    #[must_use]
    pub fn warning(path: &str, problem: impl Into<String>, allowed: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(path, problem, allowed) }
    }
}
