//! Where figures come from.

use std::io;

use crate::experiment::known::{Known, Reading};
use crate::experiment::row::{Row, RowSink, Status};
use crate::experiment::{self, Batch};
use crate::scenario::Scenario;
use crate::scenario::target::FigureOf;

/// Gives the figures of replications.
pub trait Source {
    /// What is known of the figures of each batch, by replication. Batches name a value by its index.
    ///
    /// # Errors
    /// What keeps them from being had.
    fn figures(&mut self, batches: &[Batch]) -> io::Result<Vec<Vec<Known>>>;
}

/// The points of a scenario.
pub struct ScenarioSource<'s> {
    scenario: &'s Scenario,
    /// The points that are meant, by index of the value.
    points: Vec<usize>,
    /// Of the metric; none for "did not converge".
    reading: Option<Reading>,
    threads: usize,
    progress: &'s mut dyn Watcher,
    failed: u64,
}

/// Is told what goes on.
pub trait Watcher: RowSink {
    /// So many more replications will be run.
    fn expect(&mut self, replications: u64);
}

impl<'s> ScenarioSource<'s> {
    /// The figure `figure` of `points` of `scenario`.
    pub fn new(
        scenario: &'s Scenario,
        points: Vec<usize>,
        figure: FigureOf,
        threads: usize,
        progress: &'s mut dyn Watcher,
    ) -> Self {
        let columns = scenario.columns();
        let reading =
            figure.column.map(|column| Reading::new(&columns, column, scenario.run.horizon));
        Self { scenario, points, reading, threads, progress, failed: 0 }
    }

    /// How many replications failed with a fault in a model.
    #[must_use]
    pub const fn failed(&self) -> u64 {
        self.failed
    }
}

impl Source for ScenarioSource<'_> {
    fn figures(&mut self, batches: &[Batch]) -> io::Result<Vec<Vec<Known>>> {
        let count = |batch: &Batch| batch.replications.end.saturating_sub(batch.replications.start);
        let tasks: Vec<Batch> = batches
            .iter()
            .map(|batch| Batch {
                point: self.points[batch.point],
                replications: batch.replications.clone(),
            })
            .collect();
        self.progress.expect(tasks.iter().map(count).sum());
        let mut taken = Taken { reading: self.reading, values: Vec::new(), failed: 0 };
        let sinks: &mut [&mut dyn RowSink] = &mut [&mut taken, &mut *self.progress];
        experiment::run(self.scenario, &tasks, self.threads, sinks)?;
        self.failed += taken.failed;
        let mut values = taken.values.into_iter();
        Ok(tasks.iter().map(|task| values.by_ref().take(count(task) as usize).collect()).collect())
    }
}

/// The rows' figures in the order in which they come.
struct Taken {
    reading: Option<Reading>,
    values: Vec<Known>,
    failed: u64,
}

impl RowSink for Taken {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        self.failed += u64::from(row.status.is_failure());
        self.values.push(figure_of(row, self.reading));
        Ok(())
    }
}

/// The figure of a row: 1 for "did not converge" where that is asked.
fn figure_of(row: &Row, reading: Option<Reading>) -> Known {
    match reading {
        Some(reading) => reading.of(row),
        None if row.status.is_failure() => Known::NONE,
        None => f64::from(u8::from(row.status != Status::Converged)).into(),
    }
}
