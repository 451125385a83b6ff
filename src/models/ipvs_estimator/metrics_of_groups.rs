//! What is measured for each group of services.

use super::metrics::Entry;
use crate::models::model::{Metric, Unit};

macro_rules! group {
    ($name:literal, $index:literal) => {
        [
            (
                Metric::detail(
                    concat!($name, ".rate_convergence_time"),
                    Unit::Seconds,
                    concat!("`rate_convergence_time` of ", $name, " in traffic.groups."),
                ),
                |r| r.of_group($index).mean_convergence(),
            ),
            (
                Metric::detail(
                    concat!($name, ".rates_not_converged"),
                    Unit::Share,
                    concat!("`rates_not_converged` of ", $name, "."),
                ),
                |r| r.of_group($index).unconverged,
            ),
            (
                Metric::detail(
                    concat!($name, ".rate_error"),
                    Unit::Ratio,
                    concat!("`rate_error` of ", $name, "."),
                ),
                |r| r.of_group($index).error.mean(),
            ),
            (
                Metric::detail(
                    concat!($name, ".rate_error.max"),
                    Unit::Ratio,
                    concat!("`rate_error.max` of ", $name, "."),
                ),
                |r| r.of_group($index).error.greatest(),
            ),
            (
                Metric::detail(
                    concat!($name, ".reported_rate_ratio"),
                    Unit::Ratio,
                    concat!("`reported_rate_ratio` of ", $name, "."),
                ),
                |r| r.of_group($index).ratio.mean(),
            ),
        ]
    };
}

/// Figures of each group.
pub(super) const OF_GROUP: usize = 5;

/// Of all groups, in order; none where there is no such group.
pub(super) const GROUPS: [[Entry; OF_GROUP]; super::traffic::MOST_GROUPS] =
    [group!("group_1", 0), group!("group_2", 1), group!("group_3", 2), group!("group_4", 3)];
