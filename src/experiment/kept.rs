//! The figures of a few metrics at a few points, kept while rows go by.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::bounds::KnownValues;
use super::known::{Known, Reading};
use super::row::{Row, RowSink, Status};
use crate::engine::SimDuration;
use crate::scenario::{MetricColumn, RunSettings};
use crate::statistics::Rate;

/// The figures of a few metrics at a few points, and no others.
#[derive(Clone, Debug)]
pub struct KeptValues {
    /// When replications end at the latest.
    horizon: SimDuration,
    points: BTreeMap<usize, KeptPoint>,
}

#[derive(Clone, Debug, Default)]
struct KeptPoint {
    /// By column.
    columns: BTreeMap<usize, KeptColumn>,
    replications: u64,
    failed: u64,
    converged: u64,
    /// The hash over the events of the first replication, and whether others have another.
    fingerprint: Option<u64>,
    differ: bool,
}

impl KeptValues {
    /// For the metrics number `wanted` of `columns` at `points`.
    #[must_use]
    pub fn of(
        run: &RunSettings,
        columns: &[MetricColumn],
        points: &[usize],
        wanted: &[usize],
    ) -> Self {
        let mut kept = Self::none(run);
        for &point in points {
            wanted.iter().for_each(|&column| kept.keep(columns, point, Some(column)));
        }
        kept
    }

    /// Of no metric yet.
    pub(super) fn none(run: &RunSettings) -> Self {
        Self { horizon: run.horizon, points: BTreeMap::new() }
    }

    fn column(&self, point: usize, column: usize) -> Option<&KeptColumn> {
        self.points.get(&point)?.columns.get(&column)
    }

    /// The figures of `column` at `point`, replication by replication, NaN where there is none, where
    /// it never came about and where, as the replication was cut off, it is not known.
    #[must_use]
    pub fn values(&self, point: usize, column: usize) -> &[f64] {
        self.column(point, column).map_or(&[], |kept| kept.exact.as_slice())
    }

    /// The same with what is known of those that are not.
    #[must_use]
    pub fn known(&self, point: usize, column: usize) -> KnownValues {
        let Some(kept) = self.column(point, column) else { return KnownValues::default() };
        let mut values = KnownValues::exactly(&kept.exact);
        for (&replication, known) in &kept.bounded {
            values.set(replication, *known);
        }
        values
    }

    /// Whether in some replications of `point` the figure of `column` is not known, as they were
    /// cut off, or never came about.
    #[must_use]
    pub fn lacks_what_was_cut_off(&self, point: usize, column: usize) -> bool {
        self.column(point, column).is_some_and(|kept| !kept.bounded.is_empty())
    }

    /// Whether all replications of `point` have the same figure in `column` though not the same
    /// events.
    pub(super) fn are_alike(&self, point: usize, column: usize) -> bool {
        let differ = self.points.get(&point).is_some_and(|kept| kept.differ);
        let values = self.values(point, column);
        differ && values.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// In how many replications the figure of `column` has bounds only, at one of `points` or more.
    pub(super) fn cut(&self, points: impl Iterator<Item = usize>, column: usize) -> u64 {
        let bounded = points.filter_map(|point| Some(self.column(point, column)?.bounded.iter()));
        let open =
            |(replication, known): (&usize, &Known)| (!known.is_exact()).then_some(*replication);
        bounded.flatten().filter_map(open).collect::<BTreeSet<_>>().len() as u64
    }

    /// How many replications did not converge, of those that did not fail.
    #[must_use]
    pub fn not_converged(&self, point: usize) -> Rate {
        self.points.get(&point).map_or(Rate::default(), |kept| {
            let trials = kept.replications - kept.failed;
            Rate::new(trials - kept.converged, trials)
        })
    }

    /// Replications of `point` so far.
    #[must_use]
    pub fn replications(&self, point: usize) -> u64 {
        self.points.get(&point).map_or(0, |kept| kept.replications)
    }

    /// The points whose figures are kept, in ascending order.
    pub fn points(&self) -> impl Iterator<Item = usize> {
        self.points.keys().copied()
    }

    /// Replications of all these points that failed.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.points.values().map(|kept| kept.failed).sum()
    }

    pub(super) fn keep(&mut self, columns: &[MetricColumn], point: usize, column: Option<usize>) {
        let kept = self.points.entry(point).or_default();
        if let Some(column) = column {
            let reading = || Reading::new(columns, column, self.horizon);
            kept.columns.entry(column).or_insert_with(|| KeptColumn::new(reading()));
        }
    }
}

impl RowSink for KeptValues {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        let Some(kept) = self.points.get_mut(&row.point) else { return Ok(()) };
        kept.replications += 1;
        kept.failed += u64::from(row.status.is_failure());
        kept.converged += u64::from(row.status == Status::Converged);
        kept.differ |= *kept.fingerprint.get_or_insert(row.fingerprint) != row.fingerprint;
        kept.columns.values_mut().for_each(|column| column.take(row));
        Ok(())
    }
}

/// The figures of a metric, in the order of replications.
#[derive(Clone, Debug)]
struct KeptColumn {
    reading: Reading,
    /// NaN where there is none or it is not known.
    exact: Vec<f64>,
    /// By replication, what is known of figures that are not: never, or bounds.
    bounded: BTreeMap<usize, Known>,
}

impl KeptColumn {
    const fn new(reading: Reading) -> Self {
        Self { reading, exact: Vec::new(), bounded: BTreeMap::new() }
    }

    fn take(&mut self, row: &Row) {
        let known = self.reading.of(row);
        let exact = if known.exact().is_finite() { known.low } else { f64::NAN };
        if known.is_some() && exact.is_nan() {
            self.bounded.insert(self.exact.len(), known);
        }
        self.exact.push(exact);
    }
}
