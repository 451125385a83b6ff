//! convsim answers one question before anyone touches a device: with this configuration, how long
//! does the control plane take to converge, and how often do its clients time out?
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod cli;
pub mod engine;
pub mod experiment;
pub mod models;
pub mod quantities;
pub mod report;
pub mod resources;
pub mod scenario;
pub mod statistics;
mod wording;

pub use cli::{Ended, execute, execute_within, front};
