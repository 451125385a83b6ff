//! What a replication says of a figure, also when it was cut off.
//!
//! A replication that ends at the horizon or with its event budget spent has figures of what had
//! happened until then. As figures of the whole they are bounds: what can only grow is at least as
//! much, a time that had not come about is at least as long as had gone by, and of anything else
//! nothing is known but what its unit allows.

use super::row::{Row, Status};
use crate::engine::{SimDuration, SimTime};
use crate::models::{Unit, WhenCut};
use crate::scenario::MetricColumn;

/// A figure lies between the two, which are equal where it is known; NaN where there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// It is at least this.
    pub low: f64,
    /// It is at most this: infinite for a time that may never come about.
    pub high: f64,
}

impl Known {
    /// No figure.
    pub const NONE: Self = Self { low: f64::NAN, high: f64::NAN };

    /// The figure; NaN where it is not known.
    #[must_use]
    pub const fn exact(self) -> f64 {
        if self.is_exact() { self.low } else { f64::NAN }
    }

    /// Whether it is known.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        self.low == self.high
    }

    /// Of a replication that was cut off with `figure`, or NaN, so far. `gone_by` is `None` of what
    /// may go either way; of what grows the time that had gone by since it began, NaN where that
    /// says nothing.
    #[must_use]
    pub fn cut(unit: Unit, figure: f64, gone_by: Option<f64>) -> Self {
        let (least, most) = match unit {
            Unit::Share | Unit::Probability => (0.0, 1.0),
            Unit::Ratio => (f64::NEG_INFINITY, f64::INFINITY),
            Unit::Seconds | Unit::Count | Unit::PerSecond => (0.0, f64::INFINITY),
        };
        let low = match gone_by {
            None => least,
            Some(_) if !figure.is_nan() => figure,
            Some(gone_by) if gone_by.is_nan() => least,
            Some(gone_by) => gone_by,
        };
        Self { low: low.min(most), high: most }
    }

    /// Whether there is a figure, known or not.
    #[must_use]
    pub const fn is_some(self) -> bool {
        !self.low.is_nan()
    }
}

impl From<f64> for Known {
    fn from(figure: f64) -> Self {
        Self { low: figure, high: figure }
    }
}

/// Reads a metric from rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    column: usize,
    unit: Unit,
    when_cut: WhenCut,
    /// The column that says when the metric's time began.
    since: Option<usize>,
    /// The column that has a figure when the metric's is final.
    final_with: Option<usize>,
    /// When replications end at the latest.
    horizon: SimTime,
}

impl Reading {
    /// Of the metric number `column` of `columns`, in replications that end at `horizon` at the latest.
    #[must_use]
    pub fn new(columns: &[MetricColumn], column: usize, horizon: SimDuration) -> Self {
        let horizon = SimTime::from_nanos(horizon.as_nanos());
        let MetricColumn { metric, .. } = columns[column];
        let since = match metric.when_cut {
            WhenCut::GrowsSince(name) => columns[column].beside(columns, name),
            _ => None,
        };
        let final_with = columns[column].final_with(columns);
        Self { column, unit: metric.unit, when_cut: metric.when_cut, since, final_with, horizon }
    }

    /// What `row` says of it.
    #[must_use]
    pub fn of(&self, row: &Row) -> Known {
        let figure = row.figures.get(self.column).copied().unwrap_or(f64::NAN);
        match row.status {
            status if status.is_failure() => Known::NONE,
            _ if self.is_cut(row) && !self.is_final(row) => self.cut(row, figure),
            // At rest: a time that had not come about never will.
            Status::NotConverged if figure.is_nan() && self.unit == Unit::Seconds => {
                f64::INFINITY.into()
            }
            _ => figure.into(),
        }
    }

    /// Whether `row` was cut off: also what all had come about in that was asked for may go on, with
    /// figures that still change, until the horizon ends it.
    #[must_use]
    pub fn is_cut(&self, row: &Row) -> bool {
        let goes_on = row.status == Status::Converged && row.end >= self.horizon;
        row.status.is_cut_off() || goes_on
    }

    /// The unit of the metric.
    #[must_use]
    pub const fn unit(&self) -> Unit {
        self.unit
    }

    /// Whether what a replication that was cut off has of it can only be too little.
    #[must_use]
    pub fn grows(&self) -> bool {
        self.when_cut != WhenCut::Unknown
    }

    fn is_final(&self, row: &Row) -> bool {
        let figure = self.final_with.and_then(|column| row.figures.get(column));
        figure.is_some_and(|figure| !figure.is_nan())
    }

    fn cut(&self, row: &Row, figure: f64) -> Known {
        let since = match self.when_cut {
            WhenCut::Unknown => return Known::cut(self.unit, figure, None),
            WhenCut::Grows => f64::NAN,
            WhenCut::GrowsFromStart => 0.0,
            WhenCut::GrowsSince(_) => {
                let began = self.since.and_then(|since| row.figures.get(since).copied());
                began.unwrap_or(f64::NAN)
            }
        };
        Known::cut(self.unit, figure, Some(row.end.as_seconds() - since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Metric;

    fn read(when_cut: WhenCut, unit: Unit, status: Status, figures: [f64; 2]) -> (f64, f64) {
        let metrics = [
            Metric { when_cut, ..Metric::headline("time", unit, "") },
            Metric::detail("began", Unit::Seconds, ""),
        ];
        let column = |metric: Metric| MetricColumn {
            name: metric.name.to_owned(),
            component: 0,
            metric,
            whole: None,
        };
        let columns = metrics.map(column);
        let row = Row {
            status,
            end: SimTime::from_nanos(10_000_000_000),
            figures: figures.to_vec(),
            ..Row::blank()
        };
        let known = Reading::new(&columns, 0, SimDuration::from_whole_seconds(600)).of(&row);
        (known.low, known.high)
    }

    #[test]
    fn what_was_cut_off_is_a_bound() {
        let cut = |when_cut, unit, figure| read(when_cut, unit, Status::Horizon, [figure, 4.0]);
        let (nan, infinite) = (f64::NAN, f64::INFINITY);
        assert_eq!(cut(WhenCut::Grows, Unit::Seconds, 3.0), (3.0, infinite));
        assert_eq!(cut(WhenCut::Grows, Unit::Seconds, nan), (0.0, infinite));
        assert_eq!(cut(WhenCut::GrowsFromStart, Unit::Seconds, nan), (10.0, infinite));
        assert_eq!(cut(WhenCut::GrowsSince("began"), Unit::Seconds, nan), (6.0, infinite));
        assert_eq!(cut(WhenCut::Unknown, Unit::Seconds, 3.0), (0.0, infinite));
        assert_eq!(cut(WhenCut::Unknown, Unit::Share, 0.0), (0.0, 1.0));
        assert_eq!(cut(WhenCut::Grows, Unit::Probability, 1.0), (1.0, 1.0));
        assert_eq!(cut(WhenCut::Unknown, Unit::Ratio, 1.0), (f64::NEG_INFINITY, infinite));
    }

    #[test]
    fn what_had_come_about_before_the_cut_is_known() {
        let metric = |name: &'static str| {
            let metric = Metric::headline(name, Unit::Seconds, "").growing(WhenCut::Grows);
            MetricColumn {
                name: name.to_owned(),
                component: 0,
                metric: metric.final_with("converged"),
                whole: None,
            }
        };
        let columns = [metric("loss"), metric("converged")];
        let known = |figures: [f64; 2]| {
            let row = Row { status: Status::Horizon, figures: figures.to_vec(), ..Row::blank() };
            let horizon = SimDuration::from_whole_seconds(600);
            [0, 1].map(|column| Reading::new(&columns, column, horizon).of(&row).exact())
        };
        assert_eq!(known([3.0, 5.0]), [3.0, 5.0]);
        assert!(known([3.0, f64::NAN]).iter().all(|figure| figure.is_nan()));
    }

    /// What goes on after all had come about that was asked for changes other figures until the end.
    #[test]
    fn what_had_converged_and_was_ended_by_the_horizon_is_final_only_where_it_says_so() {
        let metrics = [
            Metric::detail("batches", Unit::Count, "").growing(WhenCut::Grows),
            Metric::detail("loss", Unit::Seconds, "").final_with("loss"),
        ];
        let column = |metric: Metric| MetricColumn {
            name: metric.name.to_owned(),
            component: 0,
            metric,
            whole: None,
        };
        let columns = metrics.map(column);
        let known = |seconds: u64| {
            let end = SimTime::from_nanos(seconds * 1_000_000_000);
            let row =
                Row { status: Status::Converged, end, figures: vec![7.0, 2.0], ..Row::blank() };
            let horizon = SimDuration::from_whole_seconds(30);
            [0, 1].map(|column| {
                let known = Reading::new(&columns, column, horizon).of(&row);
                (known.low, known.high)
            })
        };
        assert_eq!(known(29), [(7.0, 7.0), (2.0, 2.0)]);
        assert_eq!(known(30), [(7.0, f64::INFINITY), (2.0, 2.0)]);
    }

    #[test]
    fn what_ended_is_known() {
        let of = |status, figure| read(WhenCut::Grows, Unit::Seconds, status, [figure, 4.0]);
        assert_eq!(of(Status::Converged, 3.0), (3.0, 3.0));
        assert!(of(Status::Converged, f64::NAN).0.is_nan());
        assert_eq!(of(Status::NotConverged, 3.0), (3.0, 3.0));
        assert_eq!(of(Status::NotConverged, f64::NAN), (f64::INFINITY, f64::INFINITY));
        assert!(of(Status::Failed, 3.0).0.is_nan());
        assert!(of(Status::TimeOverflow, 3.0).0.is_nan());
    }
}
