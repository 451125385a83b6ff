//! Figures over replications, each with its interval. It knows nothing of simulation.
//!
//! - [`moments`]: running mean and variance, and the Student-t interval of a mean.
//! - [`quantile`]: quantiles and their order-statistic intervals.
//! - [`rate`]: the Wilson interval of a rate.
//! - [`paired`]: differences and ratios of two configurations on common random numbers.
//! - [`paired_rates`]: the same of what is 0 or 1.
//! - [`independent`]: the same where the replications have nothing to do with each other.
//! - [`multiple`]: the correction of several p values by Holm.
//! - [`noise`]: what rounding alone makes of equal figures.
//! - [`selection`]: the best of several, with a guaranteed probability of choosing right.
//!
//! Replications are independent of each other; every interval here rests on that.

pub mod grouped;
pub mod independent;
pub mod interval;
pub mod moments;
pub mod multiple;
pub mod noise;
pub mod paired;
pub mod paired_rates;
pub mod quantile;
pub mod rate;
pub mod selection;

pub use interval::{Estimate, Interval, Sense};
pub use moments::Moments;
pub use noise::equal;
pub use quantile::Sorted;
pub use rate::Rate;

#[cfg(test)]
mod coverage;
