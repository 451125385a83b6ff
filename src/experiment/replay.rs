//! One replication again, with a record of what happened when.

use super::row::Row;
use super::worker::{Worker, WorldWorker};
use crate::engine::Trace;
use crate::scenario::Scenario;

/// Runs replication `replication` of point `point` and records it. The row is that of the
/// replication run without a record: recording changes nothing.
#[must_use]
pub fn replay(scenario: &Scenario, point: usize, replication: u64) -> (Row, Trace) {
    let mut worker = WorldWorker::new(scenario);
    worker.engine().start_trace();
    let row = worker.replicate(point, replication);
    let trace = worker.engine().take_trace().map(|trace| *trace).unwrap_or_default();
    (row, trace)
}
