//! Work on a thread of its own, while the thread that asked for it waits for it and for Ctrl-C.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use convsim::experiment::solve::source::Watcher;
use convsim::experiment::{Batch, Row, RowSink};
use convsim::scenario::Scenario;

use crate::errors::ConvsimError;

/// How often Ctrl-C is looked for; a result is never waited for longer than it takes.
const LOOK: Duration = Duration::from_millis(50);

/// How far the work is, and whether it is still wanted. A sink that takes no row once it is not.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<Watched>);

#[derive(Debug, Default)]
struct Watched {
    unwanted: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    failed: AtomicU64,
    first_failed: OnceLock<Row>,
}

/// How many replications failed, how many were run, and what became of the first of those.
pub type Failures = (u64, u64, String);

impl Watch {
    /// These will be run.
    pub fn expect_batches(&mut self, batches: &[Batch]) {
        self.expect(batches.iter().map(|b| b.replications.end - b.replications.start).sum());
    }

    /// What failed so that the command line ends with code 3; nothing if all is well.
    pub fn failures(&self, scenario: &Scenario) -> Option<Failures> {
        let row = self.0.first_failed.get()?;
        let text = format!(
            "replication {} of \"{}\": {}, {}",
            row.replication,
            scenario.points[row.point].configuration,
            row.status.name(),
            row.message.as_deref().unwrap_or(row.status.meaning())
        );
        Some((self.0.failed.load(Ordering::Relaxed), self.progress().0, text))
    }

    /// Replications done, and how many there are in all as far as is known.
    fn progress(&self) -> (u64, u64) {
        (self.0.done.load(Ordering::Relaxed), self.0.total.load(Ordering::Relaxed))
    }
}

impl RowSink for Watch {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        if row.status.is_failure() {
            self.0.failed.fetch_add(1, Ordering::Relaxed);
            self.0.first_failed.get_or_init(|| row.clone());
        }
        self.0.done.fetch_add(1, Ordering::Relaxed);
        if self.0.unwanted.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        Ok(())
    }
}

impl Watcher for Watch {
    fn expect(&mut self, more: u64) {
        self.0.total.fetch_add(more, Ordering::Relaxed);
    }
}

/// Does `work` without holding the interpreter. On Ctrl-C this returns at once; the threads of the
/// work end with the replication that they are in, and nothing is left of it. `progress` is called
/// with (done, total) now and then; what it raises ends the work as well.
pub fn wait_for<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(Watch) -> T + Send + 'static,
) -> PyResult<T> {
    let watch = Watch::default();
    let (sender, mut receiver) = sync_channel(1);
    let worker = {
        let watch = watch.clone();
        thread::Builder::new().name("convsim".to_owned()).spawn(move || {
            // Nobody waits any more after Ctrl-C.
            let _ = sender.send(work(watch));
        })?
    };
    let look = || -> PyResult<()> {
        py.check_signals()?;
        match progress {
            Some(progress) => progress.call1(watch.progress()).map(|_| ()),
            None => Ok(()),
        }
    };
    let result = loop {
        let (received, back) = py.detach(move || (receiver.recv_timeout(LOOK), receiver));
        receiver = back;
        match received {
            Ok(result) => break result,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(ConvsimError::new_err("the simulation ended without a result"));
            }
        }
        if let Err(raised) = look() {
            watch.0.unwanted.store(true, Ordering::Relaxed);
            return Err(raised);
        }
    };
    // It has nothing left to do but to end.
    let _ = py.detach(|| worker.join());
    look()?;
    Ok(result)
}
