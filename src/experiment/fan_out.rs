//! The same rows for several sinks at once, each on a thread of its own.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use super::row::{Row, RowSink};

/// Rows that are handed over at once.
const BLOCK: usize = 256;
/// Blocks that may be waiting for a sink.
const WAITING: usize = 8;

/// Gives all rows that `replay` gives to one sink to each of `sinks`, in the same order. So many
/// rows are kept at once that none waits for another for long, and no more.
///
/// # Errors
/// The first error of a sink, in the order of `sinks`, else that of `replay`.
pub fn fan_out(
    sinks: &mut [&mut (dyn RowSink + Send)],
    replay: impl FnOnce(&mut dyn RowSink) -> io::Result<()>,
) -> io::Result<()> {
    thread::scope(|scope| {
        let mut senders = Vec::new();
        let mut ends = Vec::new();
        for sink in sinks {
            let (sender, receiver) = sync_channel::<Arc<Block>>(WAITING);
            senders.push(sender);
            ends.push(scope.spawn(move || {
                receiver.iter().try_for_each(|block| {
                    block.rows[..block.filled].iter().try_for_each(|row| sink.row(row))
                })
            }));
        }
        let mut blocks = Blocks { senders, rows: Vec::new(), filled: 0, sent: VecDeque::new() };
        let replayed = replay(&mut blocks).and_then(|()| blocks.hand_over());
        // A sink ends when nothing more can come.
        drop(blocks);
        for end in ends {
            match end.join() {
                Ok(result) => result?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        replayed
    })
}

/// A block of rows, of which the first so many count.
struct Block {
    rows: Vec<Row>,
    filled: usize,
}

/// Collects rows and hands them over to all sinks.
struct Blocks {
    senders: Vec<SyncSender<Arc<Block>>>,
    /// Rows of which the first [`Blocks::filled`] count; the memory of the others is used again.
    rows: Vec<Row>,
    filled: usize,
    /// What was handed over and may still be read by a sink, the oldest first.
    sent: VecDeque<Arc<Block>>,
}

impl Blocks {
    fn hand_over(&mut self) -> io::Result<()> {
        let spare = match self.sent.front_mut().map(Arc::get_mut) {
            Some(Some(block)) => std::mem::take(&mut block.rows),
            // Every sink is that far behind, or nothing has been sent.
            _ => Vec::new(),
        };
        if spare.capacity() > 0 {
            self.sent.pop_front();
        }
        let rows = std::mem::replace(&mut self.rows, spare);
        let block = Arc::new(Block { rows, filled: std::mem::take(&mut self.filled) });
        // A sink that has gone says why when it is asked.
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        self.senders.iter().try_for_each(|sender| sender.send(Arc::clone(&block)).map_err(gone))?;
        self.sent.push_back(block);
        Ok(())
    }
}

impl RowSink for Blocks {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        match self.rows.get_mut(self.filled) {
            Some(used) => used.clone_from(row),
            None => self.rows.push(row.clone()),
        }
        self.filled += 1;
        if self.filled < BLOCK { Ok(()) } else { self.hand_over() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::Status;
    use super::*;
    use crate::engine::SimTime;

    struct Taken {
        replications: Vec<u64>,
        most: usize,
    }

    impl RowSink for Taken {
        fn row(&mut self, row: &Row) -> io::Result<()> {
            if self.replications.len() == self.most {
                return Err(io::Error::other("disk full"));
            }
            self.replications.push(row.replication);
            Ok(())
        }
    }

    fn rows(count: u64, sink: &mut dyn RowSink) -> io::Result<()> {
        (0..count).try_for_each(|replication| {
            sink.row(&Row {
                point: 0,
                replication,
                status: Status::Converged,
                end: SimTime::ZERO,
                events: 0,
                fingerprint: 0,
                figures: vec![0.5],
                message: None,
            })
        })
    }

    fn taken(most: usize) -> Taken {
        Taken { replications: Vec::new(), most }
    }

    #[test]
    fn every_sink_gets_every_row_in_order() {
        for count in [0, 1, 256, 257, 10_000] {
            let (mut first, mut second) = (taken(usize::MAX), taken(usize::MAX));
            fan_out(&mut [&mut first, &mut second], |sink| rows(count, sink)).unwrap();
            let all: Vec<u64> = (0..count).collect();
            assert_eq!((&first.replications, &second.replications), (&all, &all));
        }
    }

    #[test]
    fn a_sink_that_cannot_go_on_says_why() {
        let (mut first, mut second) = (taken(usize::MAX), taken(700));
        let result = fan_out(&mut [&mut first, &mut second], |sink| rows(1_000_000, sink));
        assert_eq!(result.unwrap_err().to_string(), "disk full");
        assert!(first.replications.len() < 100_000, "the others end soon");
    }

    #[test]
    fn what_cannot_be_replayed_is_an_error() {
        let mut sink = taken(usize::MAX);
        let result = fan_out(&mut [&mut sink], |sink| {
            rows(3, sink)?;
            Err(io::Error::other("a row is missing"))
        });
        assert_eq!(result.unwrap_err().to_string(), "a row is missing");
    }
}
