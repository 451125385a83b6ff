//! Many replications at once, handed over in order.
//!
//! Workers claim blocks of consecutive replications in task order and put the rows into a bounded
//! reorder buffer, from which the calling thread takes them in task order. A worker that is too
//! far ahead of the slowest one waits, so memory stays bounded; the one that holds the next row
//! never waits, so there is no deadlock.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::row::Row;
use super::worker::Worker;

/// Consecutive replications of one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Index of the point.
    pub point: usize,
    /// Which replications.
    pub replications: Range<u64>,
}

/// Rows that may be waiting for an earlier one.
const WINDOW: u64 = 4_096;
/// Most replications claimed at once: enough that claiming costs nothing beside the shortest.
const LARGEST_BLOCK: u64 = 64;
/// A block that takes less than this is too small.
const SHORT_BLOCK: Duration = Duration::from_millis(1);

/// Runs all `batches` with a worker from `make_worker` on each of `threads` threads; `take` gets the
/// rows on this thread in the order of the batches.
///
/// # Errors
/// The first error of `take`, or of starting the threads.
pub fn run_batches<W: Worker>(
    batches: &[Batch],
    threads: usize,
    make_worker: impl Fn() -> W + Sync,
    mut take: impl FnMut(Row) -> io::Result<()>,
) -> io::Result<()> {
    let total: u64 = batches
        .iter()
        .map(|batch| batch.replications.end.saturating_sub(batch.replications.start))
        .sum();
    if total == 0 {
        return Ok(());
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("worker {index}"))
        .build()
        .map_err(io::Error::other)?;
    let buffer = ReorderBuffer::new(batches);
    pool.in_place_scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|_| work(&buffer, make_worker()));
        }
        let _close = CloseOnDrop { buffer: &buffer, only_when_panicking: false };
        let mut left = total;
        let mut rows = Vec::new();
        while left > 0 && buffer.take_ready(&mut rows) {
            left -= rows.len() as u64;
            rows.drain(..).try_for_each(&mut take)?;
        }
        Ok(())
    })
}

/// What one worker thread does until nothing is left to claim.
fn work<W: Worker>(buffer: &ReorderBuffer<'_>, mut worker: W) {
    let _close = CloseOnDrop { buffer, only_when_panicking: true };
    let mut size = 1;
    let mut rows = Vec::new();
    while let Some(block) = buffer.claim(size) {
        let started = Instant::now();
        rows.extend(block.replications.map(|r| worker.replicate(block.point, r)));
        if started.elapsed() < SHORT_BLOCK {
            size = (size * 2).min(LARGEST_BLOCK);
        }
        buffer.put(block.first_task, &mut rows);
    }
}

/// A block of consecutive tasks.
struct Block {
    first_task: u64,
    point: usize,
    replications: Range<u64>,
}

struct ReorderBuffer<'b> {
    batches: &'b [Batch],
    state: Mutex<State>,
    /// Something for the taker to see.
    ready: Condvar,
    /// Something for the workers to see.
    room: Condvar,
}

#[derive(Default)]
struct State {
    /// Where the next block is claimed.
    batch: usize,
    /// Replications of that batch already claimed.
    claimed_of_batch: u64,
    /// Tasks claimed so far.
    claimed: u64,
    /// Tasks handed over so far.
    taken: u64,
    /// Rows from task `taken` on.
    rows: VecDeque<Option<Row>>,
    closed: bool,
}

impl<'b> ReorderBuffer<'b> {
    fn new(batches: &'b [Batch]) -> Self {
        let state = Mutex::new(State::default());
        Self { batches, state, ready: Condvar::new(), room: Condvar::new() }
    }

    /// The state is consistent between any two statements that can panic, so a poisoned lock is
    /// still good.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next block of at most `size` tasks; `None` when there is none left.
    fn claim(&self, size: u64) -> Option<Block> {
        let mut state = self.lock();
        while !state.closed && state.claimed >= state.taken + WINDOW {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return None;
        }
        loop {
            let batch = self.batches.get(state.batch)?;
            let from = batch.replications.start + state.claimed_of_batch;
            let to = batch.replications.end.min(from.saturating_add(size));
            if from < to {
                let block =
                    Block { first_task: state.claimed, point: batch.point, replications: from..to };
                state.claimed += to - from;
                state.claimed_of_batch += to - from;
                return Some(block);
            }
            state.batch += 1;
            state.claimed_of_batch = 0;
        }
    }

    fn put(&self, first_task: u64, rows: &mut Vec<Row>) {
        let mut state = self.lock();
        let offset = (first_task - state.taken) as usize;
        let needed = offset + rows.len();
        if state.rows.len() < needed {
            state.rows.resize_with(needed, || None);
        }
        for (index, row) in rows.drain(..).enumerate() {
            state.rows[offset + index] = Some(row);
        }
        if offset == 0 {
            self.ready.notify_one();
        }
    }

    /// Moves the next rows in task order to `ready`, at least one; false once closed.
    fn take_ready(&self, ready: &mut Vec<Row>) -> bool {
        let mut state = self.lock();
        loop {
            while let Some(row) = state.rows.front_mut().and_then(Option::take) {
                state.rows.pop_front();
                ready.push(row);
            }
            if !ready.is_empty() {
                state.taken += ready.len() as u64;
                self.room.notify_all();
                return true;
            }
            if state.closed {
                return false;
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&self) {
        self.lock().closed = true;
        self.ready.notify_all();
        self.room.notify_all();
    }
}

/// Lets the other side go when this one ends early.
struct CloseOnDrop<'a, 'b> {
    buffer: &'a ReorderBuffer<'b>,
    only_when_panicking: bool,
}

impl Drop for CloseOnDrop<'_, '_> {
    fn drop(&mut self) {
        if !self.only_when_panicking || std::thread::panicking() {
            self.buffer.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::Status;
    use super::*;
    use crate::engine::SimTime;

    /// Gives rows without simulating; some take longer than others.
    struct Fake;

    impl Worker for Fake {
        fn replicate(&mut self, point: usize, replication: u64) -> Row {
            if (point as u64 + replication).is_multiple_of(97) {
                std::thread::sleep(Duration::from_micros(300));
            }
            Row {
                point,
                replication,
                status: Status::Converged,
                end: SimTime::ZERO,
                events: 0,
                fingerprint: 0,
                figures: Vec::new(),
                message: None,
            }
        }
    }

    fn order(batches: &[Batch], threads: usize) -> Vec<(usize, u64)> {
        let mut order = Vec::new();
        run_batches(
            batches,
            threads,
            || Fake,
            |row| {
                order.push((row.point, row.replication));
                Ok(())
            },
        )
        .unwrap();
        order
    }

    #[test]
    fn rows_come_in_task_order_on_any_number_of_threads() {
        let batches = [
            Batch { point: 2, replications: 0..3 },
            Batch { point: 0, replications: 5..5 },
            Batch { point: 0, replications: 100..10_100 },
            Batch { point: 1, replications: 0..1 },
        ];
        let expected: Vec<(usize, u64)> = batches
            .iter()
            .flat_map(|batch| batch.replications.clone().map(|r| (batch.point, r)))
            .collect();
        for threads in [1, 2, 7] {
            assert_eq!(order(&batches, threads), expected, "{threads} threads");
        }
    }

    #[test]
    fn nothing_to_do_is_done_at_once() {
        assert!(order(&[], 2).is_empty());
        assert!(order(&[Batch { point: 0, replications: 0..0 }], 2).is_empty());
    }

    #[test]
    fn a_sink_that_cannot_take_a_row_stops_the_run() {
        let batches = [Batch { point: 0, replications: 0..1_000_000 }];
        let mut taken = 0;
        let result = run_batches(
            &batches,
            2,
            || Fake,
            |_| {
                taken += 1;
                if taken == 10 { Err(io::Error::other("disk full")) } else { Ok(()) }
            },
        );
        assert_eq!(result.unwrap_err().to_string(), "disk full");
        assert_eq!(taken, 10);
    }
}
