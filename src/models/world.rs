//! Several components of one scenario on one clock, joined by signals.

use serde::Serialize;

use super::http_pool::HttpPool;
use super::ipvs_estimator::IpvsEstimator;
use super::l3_agent::L3Agent;
use super::model::{Finding, Metric, Model, SignalDefinition, Unused};
use super::orchagent::Orchagent;
use crate::engine::{Component, Engine, Root, SimDuration, SimTime, Trace};

/// From an output of one component to an input of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Index of the sending component.
    pub sender: u16,
    /// Which of its outputs.
    pub output: u16,
    /// Index of the receiving component.
    pub receiver: u16,
    /// Which of its inputs.
    pub input: u16,
}

/// Names every model once: the enums over models and their dispatch.
macro_rules! models {
    ($($variant:ident),+ $(,)?) => {
        /// Which model.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ModelKind {
            $(#[doc = concat!("[`", stringify!($variant), "`].")] $variant,)+
        }

        /// The configuration of a component: a model and what a user set of it.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum ModelConfig {
            $(#[doc = concat!("Of an [`", stringify!($variant), "`].")]
              $variant(Box<<$variant as Model>::Config>),)+
        }

        /// A component of any model.
        #[derive(Debug)]
        enum AnyModel {
            $($variant(Box<$variant>),)+
        }

        /// An event of any model.
        #[derive(Clone, Copy, Debug)]
        pub enum WorldEvent {
            $(#[doc = concat!("Of an [`", stringify!($variant), "`].")]
              $variant(<$variant as Component>::Event),)+
        }

        $(impl From<<$variant as Component>::Event> for WorldEvent {
            #[inline]
            fn from(event: <$variant as Component>::Event) -> Self {
                Self::$variant(event)
            }
        })+

        impl ModelKind {
            /// Every model, in the order in which they are listed to a user.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in scenario files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $variant::NAME,)+ }
            }

            /// What it simulates.
            #[must_use]
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$variant => $variant::SUMMARY,)+ }
            }

            /// What is measured.
            #[must_use]
            pub const fn metrics(self) -> &'static [Metric] {
                match self { $(Self::$variant => $variant::METRICS,)+ }
            }

            /// What it tells other components.
            #[must_use]
            pub const fn outputs(self) -> &'static [SignalDefinition] {
                match self { $(Self::$variant => $variant::OUTPUTS,)+ }
            }

            /// What other components can tell it.
            #[must_use]
            pub const fn inputs(self) -> &'static [SignalDefinition] {
                match self { $(Self::$variant => $variant::INPUTS,)+ }
            }

            /// The schema of its configuration, without the key `model`.
            pub fn config_schema(self, generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                match self {
                    $(Self::$variant => generator.subschema_for::<<$variant as Model>::Config>(),)+
                }
            }

            /// Reads a configuration, without the key `model`. Everything not given has its
            /// default.
            ///
            /// # Errors
            /// The place and reason of what cannot be read. The scenario layer has validated the
            /// value against the schema before, so this finds only what a schema cannot say.
            pub fn read_config(
                self,
                value: serde_json::Value,
            ) -> Result<ModelConfig, serde_path_to_error::Error<serde_json::Error>> {
                match self {
                    $(Self::$variant => serde_path_to_error::deserialize(value)
                        .map(|config| ModelConfig::$variant(Box::new(config))),)+
                }
            }

            /// As [`ModelKind::read_config`], from anything, without the place of what cannot be read.
            ///
            /// # Errors
            /// The reason of what cannot be read.
            pub fn config_from<'de, D: serde::Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<ModelConfig, D::Error> {
                match self {
                    $(Self::$variant => serde::Deserialize::deserialize(deserializer)
                        .map(|config| ModelConfig::$variant(Box::new(config))),)+
                }
            }

            /// The default configuration.
            #[must_use]
            pub fn default_config(self) -> ModelConfig {
                match self { $(Self::$variant => ModelConfig::$variant(Box::default()),)+ }
            }
        }

        impl ModelConfig {
            /// The model it configures.
            #[must_use]
            pub const fn kind(&self) -> ModelKind {
                match self { $(Self::$variant(_) => ModelKind::$variant,)+ }
            }

            /// What is impossible or hopeless about it; see [`Model::check`].
            #[must_use]
            pub fn check(&self) -> Vec<Finding> {
                match self { $(Self::$variant(config) => $variant::check(config),)+ }
            }

            /// The keys that have no effect with what else is set; see [`Model::unused`].
            #[must_use]
            pub fn unused(&self) -> Vec<Unused> {
                match self { $(Self::$variant(config) => $variant::unused(config),)+ }
            }

            /// The keys of which that may be said; see [`Model::sometimes_unused`].
            #[must_use]
            pub fn sometimes_unused(&self) -> Vec<&'static str> {
                match self { $(Self::$variant(_) => $variant::sometimes_unused(),)+ }
            }

            /// What never comes about before `horizon`; see [`Model::check_horizon`].
            #[must_use]
            pub fn check_horizon(&self, horizon: SimDuration) -> Vec<Finding> {
                match self { $(Self::$variant(config) => $variant::check_horizon(config, horizon),)+ }
            }

            fn build(&self, name: &str) -> AnyModel {
                match self {
                    $(Self::$variant(config) =>
                        AnyModel::$variant(Box::new($variant::new(name, (**config).clone()))),)+
                }
            }
        }

        impl AnyModel {
            fn start(&mut self, engine: &mut Engine<WorldEvent>) {
                match self { $(Self::$variant(model) => Component::start(&mut **model, engine),)+ }
            }

            #[inline]
            fn handle(&mut self, engine: &mut Engine<WorldEvent>, event: WorldEvent) {
                match (self, event) {
                    $((Self::$variant(model), WorldEvent::$variant(event)) => Component::handle(&mut **model, engine, event),)+
                    // A timer's event is of the model that owns the timer.
                    #[allow(unreachable_patterns)]
                    _ => debug_assert!(false, "an event reached a component of another model"),
                }
            }

            fn receive(&mut self, engine: &mut Engine<WorldEvent>, input: u16, value: u64) {
                match self { $(Self::$variant(model) => model.receive(engine, input, value),)+ }
            }

            fn converged(&self) -> bool {
                match self { $(Self::$variant(model) => model.converged(),)+ }
            }

            fn measure(&self, end: SimTime, figures: &mut [f64]) {
                match self { $(Self::$variant(model) => model.measure(end, figures),)+ }
            }

            fn trace_open(&self, trace: &mut Trace, component: u16, end: SimTime) {
                match self { $(Self::$variant(model) => model.trace_open(trace, component, end),)+ }
            }

            fn metrics(&self) -> &'static [Metric] {
                match self { $(Self::$variant(_) => $variant::METRICS,)+ }
            }
        }
    };
}

models!(Orchagent, HttpPool, IpvsEstimator, L3Agent);

/// The components of one scenario. Run it with [`Engine::run`].
#[derive(Debug)]
pub struct World {
    components: Vec<AnyModel>,
    connections: Vec<Connection>,
}

impl World {
    /// Builds the components, in order, and wires them.
    #[must_use]
    pub fn new(components: &[(String, ModelConfig)], connections: Vec<Connection>) -> Self {
        let components = components.iter().map(|(name, config)| config.build(name)).collect();
        Self { components, connections }
    }

    /// True once every component has what the scenario asks of it.
    #[must_use]
    pub fn converged(&self) -> bool {
        self.components.iter().all(AnyModel::converged)
    }

    /// The figures of the run that ended at `end`, component after component.
    pub fn measure(&self, end: SimTime, figures: &mut Vec<f64>) {
        figures.clear();
        for component in &self.components {
            let from = figures.len();
            figures.resize(from + component.metrics().len(), f64::NAN);
            component.measure(end, &mut figures[from..]);
        }
    }

    /// If the run, which has ended, is traced: records what is still open. Nothing once the record is
    /// full, as it lacks what came before.
    pub fn trace_open(&self, engine: &mut Engine<WorldEvent>) {
        let end = engine.now();
        let Some(trace) = engine.trace() else { return };
        trace.cut(end);
        for (index, component) in self.components.iter().enumerate() {
            component.trace_open(trace, index as u16, end);
        }
    }

    /// Hands every signal that was just sent to the inputs it is connected to, including those
    /// that are sent while doing so.
    fn deliver(&mut self, engine: &mut Engine<WorldEvent>) {
        let mut index = 0;
        while let Some(signal) = engine.signal(index) {
            index += 1;
            for connection in &self.connections {
                if (connection.sender, connection.output) == (signal.sender, signal.output) {
                    engine.set_owner(connection.receiver);
                    let receiver = &mut self.components[usize::from(connection.receiver)];
                    receiver.receive(engine, connection.input, signal.value);
                }
            }
        }
        engine.clear_signals();
    }
}

impl Root for World {
    type Event = WorldEvent;

    fn start(&mut self, engine: &mut Engine<WorldEvent>) {
        engine.want_signals(!self.connections.is_empty());
        for (index, component) in self.components.iter_mut().enumerate() {
            engine.set_owner(index as u16);
            component.start(engine);
        }
        self.deliver(engine);
    }

    #[inline]
    fn handle(&mut self, engine: &mut Engine<WorldEvent>, event: WorldEvent) {
        self.components[usize::from(engine.owner())].handle(engine, event);
        if !self.connections.is_empty() {
            self.deliver(engine);
        }
    }
}
