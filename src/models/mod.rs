//! The models, one folder per real system, and what they have in common.
//!
//! - [`model`]: what a model is: its configuration, its metrics, its signals.
//! - [`world`]: several components of one scenario on one clock.
//! - [`orchagent`]: SONiC orchagent over SAI.
//! - [`http_pool`]: an HTTP server behind a listen backlog.
//! - [`ipvs_estimator`]: the rate estimator of IPVS.
//! - [`l3_agent`]: Neutron's L3 agent and the commands it spawns.
//!
//! A model's folder reads like a chapter: `mod.rs` tells the mechanism with its sources,
//! `config.rs` what a user sets, `component.rs` the state and its events, `metrics.rs` what is
//! measured. To add a model, write the folder and name it once in `models!` of `world.rs`.

pub mod http_pool;
pub mod ipvs_estimator;
pub mod l3_agent;
pub mod model;
pub mod orchagent;
pub mod world;

pub use model::{Finding, Metric, Model, Severity, SignalDefinition, Unit, Unused, WhenCut};
pub use world::{Connection, ModelConfig, ModelKind, World};
