//! gunicorn's master: it looks at its workers once a second and kills those that are silent.
//!
//! A sync worker reports before it accepts (`SyncWorker.run_for_one` in
//! `gunicorn/workers/sync.py`), so it is silent for as long as a request takes. The master
//! (`Arbiter.murder_workers` in `gunicorn/arbiter.py`) aborts a worker whose last report is older
//! than the timeout; the request's client gets a 500.

use super::component::{Event, HttpPool};
use super::connection::{NONE, ServerSide};
use super::measurement::Failure;
use crate::engine::{Engine, PriorityClass, SimDuration, SimTime};
use rand::RngExt;

/// `time.sleep(0.1 * random.random())` in gunicorn's `Arbiter.spawn_workers`.
const LONGEST_PAUSE: SimDuration = SimDuration::from_millis(100);

impl HttpPool {
    /// Has the master look at a worker that has begun something.
    pub(super) fn watch<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, process: u16) {
        let Some(limit) = self.server.worker_timeout else { return };
        let of = &self.processes[usize::from(process)];
        let Some(timer) = of.watchdog.filter(|timer| !engine.is_armed(*timer)) else { return };
        let interval = self.server.watchdog_interval.as_nanos().max(1);
        let since_phase = of.began.saturating_add(limit).since(of.watchdog_phase).as_nanos();
        // The first look at which the last report is older than the timeout.
        let looks = since_phase / interval + 1;
        let nanos = of.watchdog_phase.as_nanos().saturating_add(looks.saturating_mul(interval));
        let look = SimTime::from_nanos(nanos);
        engine.arm_at(timer, look, PriorityClass::NORMAL, Event::Watchdog(process));
    }

    /// The master looks at a worker.
    pub(super) fn look_at_worker<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        process: u16,
    ) {
        let Some(limit) = self.server.worker_timeout else { return };
        let of = &mut self.processes[usize::from(process)];
        if of.current == NONE {
            return;
        }
        if engine.now().since(of.began) <= limit {
            self.watch(engine, process);
            return;
        }
        let (connection, job) = (of.current, of.job.take());
        of.current = NONE;
        if let Some(job) = job {
            self.note_served(engine, process, connection);
            self.host.kill(engine, job);
            self.tally.serving(engine.now(), -1);
        }
        self.connections[connection].server_side = ServerSide::Closed;
        self.end_process(engine, process);
        // The end of the worker wakes the master up, which starts another, pauses for up to
        // 100 ms (`Arbiter.spawn_workers`), and begins to count anew.
        let pause = self.respawn.random_range(0..=LONGEST_PAUSE.as_nanos());
        let of = &mut self.processes[usize::from(process)];
        of.watchdog_phase = of.watchdog_phase.saturating_add(SimDuration::from_nanos(pause));
        if !self.connections[connection].is_wanted() {
            self.forget(engine, connection);
        } else if job.is_some() {
            self.answer(engine, connection, Err(Failure::HttpError));
        } else {
            self.broken(engine, connection, Failure::Reset);
        }
    }
}
