//! Jobs that are not done, as if they ended now.

use super::executor::{StepEvent, StepExecutor};
use super::job::{FinishedJob, JobId};
use super::running::add;
use super::state::{NONE, State};
use crate::engine::SimTime;
use crate::resources::Cores;

impl<E: Copy + From<StepEvent>> StepExecutor<E> {
    /// The submitted jobs that are not done at `now`, no earlier than the last event, each with
    /// where its time went until then. For what is left when a run ends; nothing changes.
    #[must_use]
    pub fn open_jobs(&self, now: SimTime) -> Vec<FinishedJob> {
        let mut cpu = self.cpu.clone();
        (0..self.used as u32).filter_map(|slot| self.open_job(&mut cpu, now, slot)).collect()
    }

    fn open_job(&self, cpu: &mut Cores, now: SimTime, slot: u32) -> Option<FinishedJob> {
        let job = &self.jobs[slot as usize];
        if job.parent != NONE || matches!(job.state, State::Free | State::Looping(_)) {
            return None;
        }
        let mut parts = job.parts;
        let since = now.since(job.since);
        match job.state {
            State::Computing { .. } | State::WakingUp { .. } | State::SpawnComputing { .. } => {
                let removal = cpu.remove(now, slot)?;
                let is_spawn = matches!(job.state, State::SpawnComputing { .. });
                add(if is_spawn { &mut parts.spawn_cpu } else { &mut parts.cpu }, removal.done);
                add(&mut parts.cpu_wait, removal.elapsed.saturating_sub(removal.done));
            }
            State::Ready | State::Paused { .. } | State::AwaitingInterpreter { .. } => {
                add(&mut parts.interpreter_wait, since);
            }
            State::AwaitingLock(_) => add(&mut parts.lock_wait, since),
            State::AwaitingThread(_) => add(&mut parts.pool_wait, since),
            State::Waiting => add(&mut parts.wait, since),
            State::SpawnBlocked | State::AwaitingTurn(_) => add(&mut parts.spawn_blocked, since),
            State::Joining => add(&mut parts.join_wait, since),
            State::Free | State::Looping(_) => {}
        }
        let id = JobId { slot, generation: job.generation };
        let elapsed = now.since(job.began);
        debug_assert_eq!(parts.total(), elapsed, "the parts of a job sum to its time");
        Some(FinishedJob { tag: job.tag, id, elapsed, parts, children: job.children })
    }
}
