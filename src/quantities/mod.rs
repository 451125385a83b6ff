//! Quantities as a user writes them: durations, rates and distributions, each with its unit in
//! the text, its range in the JSON Schema, and one place where it is read.
//!
//! - [`duration`][]: `"650 us"`, `"40 ms"`, `"2 min"`.
//! - [`rate`][]: `"1500/s"`.
//! - [`distribution`][]: a duration that varies; [`sampler`][]: drawing it or a sum of it.

pub mod distribution;
pub mod duration;
pub mod rate;
pub mod sampler;

pub use distribution::DurationDistribution;
pub use rate::Rate;
pub use sampler::DurationSampler;
