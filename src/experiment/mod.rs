//! Running a scenario: every replication of every point, in parallel, with results that do not
//! depend on the number of threads.
//!
//! ```text
//!   batches ──► workers (one engine and world each) ──► reorder buffer ──► row sinks
//!   (point,                  [worker]                     [schedule]       store, kept values,
//!    replications)                                                         progress
//!
//!   store ──► row sinks: CSV, summary, kept values; the same whether the rows are new or old
//! ```
//!
//! - [`row`]: what one replication gives, and who takes it ([`RowSink`]).
//! - [`worker`]: one replication at a time.
//! - [`schedule`]: many at once, handed over in task order.
//! - [`store`], `journal`: rows on the disk, so that nothing complete is run again.
//! - `fan_out`: the same rows for several sinks, each on a thread of its own.
//! - [`known`]: what a replication says of a figure, also when it was cut off.
//! - [`kept`]: the figures that a verdict, a comparison or a search needs, and no others.
//! - [`precision`]: how many replications a point needs.
//! - [`shard`]: equal parts for several machines.
//! - [`summary`]: figures of a point over its replications.
//! - [`expectation`]: whether what a scenario expects came out.
//! - [`comparison`]: two configurations on common random numbers.
//! - [`sensitivity`]: which parameters a figure depends on.
//! - [`solve`]: which value of a parameter meets a target; the best of several.
//! - [`mod@replay`]: one replication again, traced.
//! - [`determinism`]: whether the same seed gives the same events.
//!
//! Replication r of every point has the same random streams (common random numbers), so two
//! configurations are compared pair by pair.

pub mod bounds;
pub mod comparison;
pub mod determinism;
pub mod expectation;
mod fan_out;
mod journal;
pub mod kept;
pub mod known;
pub mod precision;
pub mod replay;
pub mod row;
pub mod schedule;
pub mod sensitivity;
pub mod shard;
pub mod solve;
pub mod store;
pub mod summary;
pub mod worker;

use std::io;
use std::ops::Range;

pub use determinism::{Divergence, check_determinism};
pub use expectation::{Judgement, Verdict, judge};
pub use fan_out::fan_out;
pub use kept::KeptValues;
pub use replay::replay;
pub use row::{Row, RowSink, Status};
pub use schedule::Batch;
pub use shard::Shard;
pub use store::{Store, StoreError};
pub use summary::{MetricSummary, PointSummary, Summariser, summarise};
pub use worker::keep_model_panics_quiet;

use crate::scenario::Scenario;
use worker::WorldWorker;

/// Replications `replications` of every point of a scenario, point by point.
#[must_use]
pub fn all_points(scenario: &Scenario, replications: Range<u64>) -> Vec<Batch> {
    (0..scenario.points.len())
        .map(|point| Batch { point, replications: replications.clone() })
        .collect()
}

/// Runs `batches` of `scenario` on `threads` threads and hands the rows to every sink, in the
/// order of the batches whatever the number of threads.
///
/// # Errors
/// The first error of a sink, or of starting the threads.
pub fn run(
    scenario: &Scenario,
    batches: &[Batch],
    threads: usize,
    sinks: &mut [&mut dyn RowSink],
) -> io::Result<()> {
    schedule::run_batches(
        batches,
        threads,
        || WorldWorker::new(scenario),
        |row| sinks.iter_mut().try_for_each(|sink| sink.row(&row)),
    )
}
