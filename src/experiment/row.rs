//! What one replication gives.

use std::io;
use std::mem::take;

use crate::engine::SimTime;

/// How a replication ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// What the scenario asks for came about.
    Converged,
    /// Nothing was left to happen, and it had not come about.
    NotConverged,
    /// It had not come about at the horizon.
    Horizon,
    /// It took more events than the budget.
    EventBudget,
    /// Something was scheduled past the end of representable time.
    TimeOverflow,
    /// It needed more timers than there are.
    TooManyTimers,
    /// A fault in the model; the row has a message and no figures.
    Failed,
}

impl Status {
    /// All, in the order in which they are counted.
    pub const ALL: [Self; 7] = [
        Self::Converged,
        Self::NotConverged,
        Self::Horizon,
        Self::EventBudget,
        Self::TimeOverflow,
        Self::TooManyTimers,
        Self::Failed,
    ];

    /// Its place in [`Status::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Whether the model or the engine could not go on, so that the figures say nothing; exit code
    /// 3.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::TimeOverflow | Self::TooManyTimers)
    }

    /// Whether more would have happened: the figures are of what had happened until then.
    #[must_use]
    pub const fn is_cut_off(self) -> bool {
        matches!(self, Self::Horizon | Self::EventBudget)
    }

    /// The name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::NotConverged => "not_converged",
            Self::Horizon => "horizon",
            Self::EventBudget => "event_budget",
            Self::TimeOverflow => "time_overflow",
            Self::TooManyTimers => "too_many_timers",
            Self::Failed => "failed",
        }
    }

    /// What it means, for a reader.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Converged => "what the scenario asks for came about",
            Self::NotConverged => "at rest without all that the scenario asks for",
            Self::Horizon => "still going at the horizon",
            Self::EventBudget => "still going when the event budget was spent",
            Self::TimeOverflow => "something scheduled past the end of time (584 years)",
            Self::TooManyTimers => "more timers needed than the engine has",
            Self::Failed => "a fault in the model",
        }
    }
}

/// One replication of one point.
#[derive(Debug, PartialEq)]
pub struct Row {
    /// Index of the point in the scenario.
    pub point: usize,
    /// The replication, counted from 0.
    pub replication: u64,
    /// How it ended.
    pub status: Status,
    /// Virtual time of the last event.
    pub end: SimTime,
    /// How many events were handled.
    pub events: u64,
    /// A hash over all events.
    pub fingerprint: u64,
    /// A figure for each column; NaN for what did not come about.
    pub figures: Vec<f64>,
    /// For [`Status::Failed`]: what went wrong, and where.
    pub message: Option<String>,
}

impl Row {
    /// A row of nothing, to be overwritten.
    pub(super) const fn blank() -> Self {
        Self {
            point: 0,
            replication: 0,
            status: Status::Failed,
            end: SimTime::ZERO,
            events: 0,
            fingerprint: 0,
            figures: Vec::new(),
            message: None,
        }
    }
}

impl Clone for Row {
    fn clone(&self) -> Self {
        Self { figures: self.figures.clone(), message: self.message.clone(), ..*self }
    }

    /// Keeps the memory, as rows are many.
    fn clone_from(&mut self, row: &Self) {
        self.figures.clone_from(&row.figures);
        self.message.clone_from(&row.message);
        let (figures, message) = (take(&mut self.figures), self.message.take());
        *self = Self { figures, message, ..*row };
    }
}

/// Takes rows as they complete, in the order of the tasks: point by point, replication by
/// replication. Nothing else keeps a row, so that memory does not grow with their number.
pub trait RowSink {
    /// Takes the next row.
    ///
    /// # Errors
    /// Whatever keeps it from taking it; the run then stops.
    fn row(&mut self, row: &Row) -> io::Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_is_at_its_place() {
        for (index, status) in Status::ALL.into_iter().enumerate() {
            assert_eq!(status.index(), index);
        }
    }
}
