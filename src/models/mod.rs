//! The models, one folder per real system, and what they have in common.
//!
//! - [`model`]: what a model is: its configuration, its metrics, its signals.
//! - [`world`]: several components of one scenario on one clock.
//! - [`l3_agent`]: Neutron's L3 agent and the commands it spawns.
//! - [`orchagent`]: SONiC orchagent over SAI.
//! - [`ipvs_estimator`]: the rate estimator of IPVS.
//!
//! A model's folder reads like a chapter: `mod.rs` tells the mechanism with its sources,
//! `config.rs` what a user sets, `component.rs` the state and its events, `metrics.rs` what is
//! measured. To add a model, write the folder and name it once in `models!` of `world.rs`.

pub mod ipvs_estimator;
pub mod l3_agent;
pub mod model;
pub mod orchagent;
pub mod world;

pub use model::{Finding, Metric, Model, Severity, SignalDefinition, Unit};
pub use world::{Connection, ModelConfig, ModelKind, World};
