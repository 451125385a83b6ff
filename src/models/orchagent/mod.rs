//! SONiC orchagent over SAI.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{Finding, Metric, Model, SignalDefinition, Unit};
use crate::engine::{Component, Engine, SimDuration, SimTime, Timer};

/// What a user sets of orchagent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Keys popped from Redis at once (`-b`).
    #[schemars(range(min = 1, max = 1_000_000), extend("x-unit" = "keys", "x-source" = "sonic-buildimage PR 21771"))]
    pub pop_batch_size: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { pop_batch_size: 1024 }
    }
}

/// The component.
#[derive(Debug)]
pub struct Orchagent {
    config: Config,
    timer: Option<Timer>,
}

/// What happens.
#[derive(Clone, Copy, Debug)]
pub struct Event;

impl Component for Orchagent {
    type Event = Event;

    fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let timer = engine.add_timer();
        engine.arm(timer, SimDuration::from_millis(u64::from(self.config.pop_batch_size)), Event);
        self.timer = Some(timer);
    }

    fn handle<G: Copy + From<Event>>(&mut self, _: &mut Engine<G>, _: Event) {}
}

impl Model for Orchagent {
    type Config = Config;
    const NAME: &'static str = "orchagent";
    const SUMMARY: &'static str = "SONiC orchagent over SAI";
    const OUTPUTS: &'static [SignalDefinition] = &[];
    const INPUTS: &'static [SignalDefinition] = &[];
    const METRICS: &'static [Metric] =
        &[Metric::headline("convergence_time", Unit::Seconds, "Until the last path has healed.")];

    fn check(_: &Config) -> Vec<Finding> {
        Vec::new()
    }

    fn new(_: &str, config: Config) -> Self {
        Self { config, timer: None }
    }

    fn receive<G: Copy + From<Event>>(&mut self, _: &mut Engine<G>, _: u16, _: u64) {}

    fn converged(&self) -> bool {
        true
    }

    fn measure(&self, end: SimTime, figures: &mut [f64]) {
        figures[0] = end.as_seconds();
    }
}
