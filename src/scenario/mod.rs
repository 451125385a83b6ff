//! The scenario file format.
//!
//! - [`types`]: a scenario that has been read and validated.

pub mod types;

pub use types::{Expectation, MetricColumn, Point, RelativeTo, RunSettings, Scenario, Statistic};
