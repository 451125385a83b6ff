//! Cores with run queues and time slices, as Linux schedules them.
//!
//! Processor sharing is the limit of slices that are short against the work. When they are not,
//! who runs first is done first, and one of three jobs on two cores has a core of its own: means
//! are the same, tails are longer. The rules, from `kernel/sched/fair.c` of Linux 6.18:
//!
//! - A job that becomes runnable goes to an idle core if there is one, else to the one with the
//!   fewest (`select_task_rq_fair`, `sched_balance_find_dst_cpu`).
//! - Each core runs the job of its queue that has had the least (`pick_eevdf`, all weights equal); a
//!   newcomer starts level with the least of those that are there (`place_entity`).
//! - The running job is preempted at a tick, if it has had its slice since it was picked and another
//!   waits (`update_deadline`; without `HRTICK` nobody looks between ticks), or by a newcomer once
//!   it has had its slice (`protect_slice`).
//! - A core that has nothing left takes a waiting job from the longest queue (`sched_balance_newidle`).
//!   Between busy cores nothing moves: an imbalance of one is none.
//!
//! The slice is `sysctl_sched_base_slice`, 0.7 ms times 1 + log2 of the number of cores (at most 8;
//! `update_sysctl`). A switch itself costs nothing here.

use super::core_load::CoreLoad;
use super::processor_sharing::{CpuCompletion, CpuRemoval};
use crate::engine::{SimDuration, SimTime};

const NONE: u32 = u32::MAX;
/// `sysctl_sched_base_slice` on one core.
const BASE_SLICE: SimDuration = SimDuration::from_micros(700);

/// The slice of a job on a host with `cores` cores (`get_update_sysctl_factor`).
#[must_use]
pub fn base_slice(cores: u32) -> SimDuration {
    BASE_SLICE.saturating_mul(1 + u64::from(cores.clamp(1, 8).ilog2()))
}

#[derive(Clone, Debug, Default)]
struct Core {
    running: Option<u32>,
    /// Since when it runs without a break.
    picked: SimTime,
    /// Until when its progress is counted.
    counted: SimTime,
    waiting: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct SlicedJob {
    core: u32,
    work: SimDuration,
    left: SimDuration,
    /// What it has had, put level with the others when it came.
    level: u64,
    since: SimTime,
}

const ABSENT: SlicedJob = SlicedJob {
    core: NONE,
    work: SimDuration::ZERO,
    left: SimDuration::ZERO,
    level: 0,
    since: SimTime::ZERO,
};

/// Cores that each run one job at a time. The interface is that of [`super::ProcessorSharingCpu`].
#[derive(Clone, Debug)]
pub struct TimeSlicedCpu {
    cores: Vec<Core>,
    tick: SimDuration,
    slice: SimDuration,
    /// When the run's first tick is.
    phase: SimDuration,
    jobs: Vec<SlicedJob>,
    now: SimTime,
    load: CoreLoad,
    changes: u64,
}

impl TimeSlicedCpu {
    /// Idle cores (at least 1) with `slice` to a job, looked at every `tick` (above 0).
    #[must_use]
    pub fn new(cores: u32, tick: SimDuration, slice: SimDuration) -> Self {
        Self {
            cores: vec![Core::default(); cores.max(1) as usize],
            tick: tick.max(SimDuration::from_nanos(1)),
            slice,
            phase: SimDuration::ZERO,
            jobs: Vec::new(),
            now: SimTime::ZERO,
            load: CoreLoad::new(cores.max(1)),
            changes: 0,
        }
    }

    /// Idle at time zero again; `phase`, below a tick, is when the first tick comes.
    pub fn reset(&mut self, phase: SimDuration) {
        for core in &mut self.cores {
            core.running = None;
            core.picked = SimTime::ZERO;
            core.counted = SimTime::ZERO;
            core.waiting.clear();
        }
        self.phase = phase;
        self.jobs.fill(ABSENT);
        self.now = SimTime::ZERO;
        self.load.reset();
        self.changes += 1;
    }

    /// The length of a tick.
    #[must_use]
    pub fn tick(&self) -> SimDuration {
        self.tick
    }

    /// How many cores there are.
    #[must_use]
    pub fn cores(&self) -> u32 {
        self.cores.len() as u32
    }

    /// How many jobs are runnable.
    #[must_use]
    pub fn runnable(&self) -> u64 {
        self.load.jobs()
    }

    /// The share of the cores in use, in per cent.
    #[must_use]
    pub fn busy_percent(&self) -> f64 {
        self.load.busy_percent()
    }

    /// True when `job` is runnable.
    #[must_use]
    pub fn contains(&self, job: u32) -> bool {
        self.jobs.get(job as usize).is_some_and(|job| job.core != NONE)
    }

    /// The average number of runnable jobs.
    #[must_use]
    pub fn mean_runnable(&self, now: SimTime) -> f64 {
        self.load.mean_jobs(now)
    }

    /// The average share of the cores in use, 0 to 1.
    #[must_use]
    pub fn utilisation(&self, now: SimTime) -> f64 {
        self.load.utilisation(now)
    }

    /// Core-seconds used until `now`.
    #[must_use]
    pub fn busy_seconds(&self, now: SimTime) -> f64 {
        self.load.busy_seconds(now)
    }

    /// A number that differs whenever the next completion may have moved.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Makes `job` runnable until it has got `work`.
    pub fn add(&mut self, now: SimTime, job: u32, work: SimDuration) {
        self.advance(now);
        let index = job as usize;
        if index >= self.jobs.len() {
            self.jobs.resize(index + 1, ABSENT);
        }
        let load = |core: &Core| core.waiting.len() + usize::from(core.running.is_some());
        let target = (0..self.cores.len()).min_by_key(|&core| (load(&self.cores[core]), core));
        let target = target.unwrap_or(0);
        let level = self.least_level(target);
        self.jobs[index] = SlicedJob { core: target as u32, work, left: work, level, since: now };
        let core = &mut self.cores[target];
        core.waiting.push(job);
        let picked = core.picked;
        let unprotected = |running: u32| {
            now.since(picked) >= self.slice && !self.jobs[running as usize].left.is_zero()
        };
        if core.running.is_none_or(unprotected) {
            self.pick(target);
        }
        self.population_changed(self.load.jobs() + 1);
    }

    /// Takes `job` off before it is done; `None` when it was not runnable.
    pub fn remove(&mut self, now: SimTime, job: u32) -> Option<CpuRemoval> {
        if !self.contains(job) {
            return None;
        }
        self.advance(now);
        let SlicedJob { work, left, since, .. } = self.jobs[job as usize];
        self.take_off(job);
        Some(CpuRemoval {
            remaining: left,
            done: work.saturating_sub(left),
            elapsed: now.since(since),
        })
    }

    /// Takes off one job that is done by `now`; call it until it returns `None`.
    pub fn complete(&mut self, now: SimTime) -> Option<CpuCompletion> {
        self.advance(now);
        let done = |core: &Core| core.running.filter(|&job| self.jobs[job as usize].left.is_zero());
        let job = self.cores.iter().find_map(done)?;
        let SlicedJob { work, since, .. } = self.jobs[job as usize];
        self.take_off(job);
        Some(CpuCompletion { job, work, elapsed: now.since(since) })
    }

    /// When the next job is done, or preempted, if none comes or goes before.
    #[must_use]
    pub fn next_completion(&self) -> Option<SimTime> {
        self.cores.iter().filter_map(|core| self.next_of(core)).min()
    }

    fn next_of(&self, core: &Core) -> Option<SimTime> {
        let left = self.jobs[core.running? as usize].left;
        let done = core.counted.saturating_add(left);
        Some(if core.waiting.is_empty() { done } else { done.min(self.preemption(core)) })
    }

    /// The first tick at which the running job has had its slice.
    fn preemption(&self, core: &Core) -> SimTime {
        let earliest = core.picked.saturating_add(self.slice).as_nanos();
        let (tick, phase) = (self.tick.as_nanos(), self.phase.as_nanos());
        let ticks = earliest.saturating_sub(phase).div_ceil(tick);
        SimTime::from_nanos(phase.saturating_add(ticks.saturating_mul(tick)))
    }

    /// Counts progress until `now`, and preempts what is to be preempted then.
    fn advance(&mut self, now: SimTime) {
        if now == self.now {
            return;
        }
        self.now = now;
        self.changes += 1;
        for index in 0..self.cores.len() {
            let core = &mut self.cores[index];
            let span = now.since(core.counted);
            core.counted = now;
            let Some(job) = core.running else { continue };
            let job = &mut self.jobs[job as usize];
            job.left = job.left.saturating_sub(span);
            job.level += span.as_nanos();
            let over = job.left.is_zero();
            let core = &self.cores[index];
            if !over && !core.waiting.is_empty() && self.preemption(core) <= now {
                self.pick(index);
            }
        }
    }

    /// Runs the job of the core that has had the least; of equals the one that waited longest.
    fn pick(&mut self, index: usize) {
        let core = &mut self.cores[index];
        if let Some(running) = core.running.take() {
            core.waiting.push(running);
        }
        let jobs = &self.jobs;
        let place =
            (0..core.waiting.len()).min_by_key(|&at| (jobs[core.waiting[at] as usize].level, at));
        core.running = place.map(|place| core.waiting.remove(place));
        core.picked = self.now;
        core.counted = self.now;
    }

    fn least_level(&self, index: usize) -> u64 {
        let core = &self.cores[index];
        let jobs = core.waiting.iter().chain(&core.running);
        jobs.map(|&job| self.jobs[job as usize].level).min().unwrap_or(0)
    }

    fn take_off(&mut self, job: u32) {
        let index = self.jobs[job as usize].core as usize;
        self.jobs[job as usize].core = NONE;
        let core = &mut self.cores[index];
        if core.running == Some(job) {
            core.running = None;
            if core.waiting.is_empty() {
                self.pull(index);
            }
            self.pick(index);
        } else {
            core.waiting.retain(|&waiting| waiting != job);
        }
        self.population_changed(self.load.jobs() - 1);
    }

    /// An idle core takes a job that waits elsewhere, the one that would be next there.
    fn pull(&mut self, index: usize) {
        let lengths = (0..self.cores.len()).rev();
        let Some(from) = lengths.max_by_key(|&core| self.cores[core].waiting.len()) else { return };
        let jobs = &self.jobs;
        let waiting = &mut self.cores[from].waiting;
        let place = (0..waiting.len()).min_by_key(|&at| (jobs[waiting[at] as usize].level, at));
        if let Some(place) = place {
            let job = waiting.remove(place);
            self.jobs[job as usize].core = index as u32;
            self.jobs[job as usize].level = 0;
            self.cores[index].waiting.push(job);
        }
    }

    fn population_changed(&mut self, runnable: u64) {
        self.changes += 1;
        self.load.set(self.now, runnable);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> SimDuration {
        SimDuration::from_millis(millis)
    }

    /// Runs until nothing is left: (job, milliseconds).
    fn run(cpu: &mut TimeSlicedCpu) -> Vec<(u32, f64)> {
        let mut done = Vec::new();
        while let Some(next) = cpu.next_completion() {
            while let Some(completion) = cpu.complete(next) {
                done.push((completion.job, next.as_seconds() * 1e3));
            }
        }
        done
    }

    #[test]
    fn the_base_slice_grows_with_the_logarithm_of_the_cores() {
        assert_eq!(
            [1, 2, 4, 8, 64].map(|cores| base_slice(cores).as_nanos() / 1000),
            [700, 1400, 2100, 2800, 2800]
        );
    }

    /// Under processor sharing both would be done at 20 ms.
    #[test]
    fn two_jobs_take_turns_on_the_ticks() {
        let mut cpu = TimeSlicedCpu::new(1, ms(4), base_slice(1));
        cpu.add(SimTime::ZERO, 0, ms(10));
        cpu.add(SimTime::ZERO, 1, ms(10));
        // 0 until 4, 1 until 8, 0 until 12, 1 until 16, 0 until 18, 1 until 20.
        assert_eq!(run(&mut cpu), [(0, 18.0), (1, 20.0)]);
    }

    #[test]
    fn what_is_shorter_than_a_tick_is_served_in_order() {
        let mut cpu = TimeSlicedCpu::new(1, ms(4), base_slice(1));
        for job in 0..3 {
            cpu.add(SimTime::ZERO, job, ms(1));
        }
        assert_eq!(run(&mut cpu), [(0, 1.0), (1, 2.0), (2, 3.0)]);
    }

    /// Two cores, three jobs: one has a core of its own until it is done.
    #[test]
    fn an_imbalance_of_one_stays_until_a_core_is_idle() {
        let mut cpu = TimeSlicedCpu::new(2, ms(4), base_slice(2));
        for job in 0..3 {
            cpu.add(SimTime::ZERO, job, ms(12));
        }
        // 1 alone until 12; 0 and 2 share until then: 0 has had 8 and 2 4. Then 2 moves over.
        assert_eq!(run(&mut cpu), [(1, 12.0), (0, 16.0), (2, 20.0)]);
    }

    #[test]
    fn all_work_is_done_and_no_core_idles_beside_a_waiting_job() {
        let mut cpu = TimeSlicedCpu::new(3, ms(4), base_slice(3));
        for job in 0..20 {
            cpu.add(SimTime::ZERO, job, ms(u64::from(job) + 1));
        }
        let done = run(&mut cpu);
        assert_eq!(done.len(), 20);
        let end = SimTime::from_nanos((done.last().unwrap().1 * 1e6) as u64);
        assert!((cpu.busy_seconds(end) - 0.210).abs() < 1e-6, "{}", cpu.busy_seconds(end));
    }

    #[test]
    fn a_job_taken_off_tells_what_it_still_needed() {
        let mut cpu = TimeSlicedCpu::new(1, ms(4), base_slice(1));
        cpu.add(SimTime::ZERO, 0, ms(10));
        let removal = cpu.remove(SimTime::from_nanos(3_000_000), 0).unwrap();
        assert_eq!((removal.remaining, removal.done), (ms(7), ms(3)));
        assert_eq!(cpu.next_completion(), None);
    }
}
