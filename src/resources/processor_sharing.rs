//! Processor sharing: cores shared by all that is runnable.
//!
//! With n runnable jobs of equal weight on c cores each progresses at the rate min(1, c/n). All
//! jobs of one weight have then attained the same service since any common instant, so a job that
//! arrives when the others have attained V leaves when they have attained V + work. One number
//! (V, the virtual time of the weight) and a heap of finishing values replace a rescan of all jobs:
//! O(log n) for an arrival or a departure.
//!
//! Jobs of several weights (the nice levels of Linux) share by water-filling: the rate of a job
//! is proportional to its weight, but no job gets more than one core, and what it cannot use goes
//! to the others. This is the fluid limit of a fair scheduler without migration cost. Each weight in
//! use adds one virtual time; with a single weight nothing is lost by it.
//!
//! Attained service is kept in nanoseconds with 32 fractional bits, rounded down by less than
//! 2^-32 ns whenever the number of jobs changes; a departure is rounded up to the next whole
//! nanosecond. So a job is never early, never more than about one nanosecond late, and never lost.

use super::core_load::CoreLoad;
use super::finish_heap::{Finish, FinishHeap, NOWHERE};
use super::neighbours::Neighbours;
use crate::engine::{Engine, SimDuration, SimTime, Timer};

/// Fractional bits of attained service.
const FRACTION_BITS: u32 = 32;
/// In one core.
const THOUSANDTHS: u64 = 1_000;
/// As many cores as a `u32` counts.
const MAX_CAPACITY: u64 = u32::MAX as u64 * THOUSANDTHS;

/// What share of the cores a job gets against others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight(u32);

impl Default for Weight {
    fn default() -> Self {
        Self::NORMAL
    }
}

impl Weight {
    /// The weight of nice level 0.
    pub const NORMAL: Self = Self(1024);

    /// Weights of the nice levels -20 to 19: `sched_prio_to_weight` in `kernel/sched/core.c` of
    /// Linux. One level is a factor of about 1.25.
    const OF_NICE: [u32; 40] = [
        88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, // -20 to -11
        9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586, 1277, // -10 to -1
        1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, // 0 to 9
        110, 87, 70, 56, 45, 36, 29, 23, 18, 15, // 10 to 19
    ];

    /// The weight of a nice level; levels outside -20 to 19 count as the nearest.
    #[must_use]
    pub fn of_nice(level: i8) -> Self {
        Self(Self::OF_NICE[(i32::from(level).clamp(-20, 19) + 20) as usize])
    }
}

/// A job whose work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuCompletion {
    /// The job.
    pub job: u32,
    /// What it asked for.
    pub work: SimDuration,
    /// How long it was runnable; not less than `work`.
    pub elapsed: SimDuration,
}

/// A job that was taken off before its work was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuRemoval {
    /// What it still needed, rounded up.
    pub remaining: SimDuration,
    /// What it got.
    pub done: SimDuration,
    /// How long it was runnable; not less than `done`.
    pub elapsed: SimDuration,
}

/// Jobs of one weight.
#[derive(Clone, Debug)]
struct Group {
    weight: u32,
    /// Service that a job would have attained had it been here since the group was last empty.
    attained: u128,
    finishes: FinishHeap,
    /// The rate of each job, in cores: a numerator and a denominator.
    rate: (u64, u64),
}

#[derive(Clone, Copy, Debug, Default)]
struct Runnable {
    group: u32,
    work: SimDuration,
    since: SimTime,
}

/// Cores shared by all runnable jobs.
///
/// Jobs are small numbers chosen by the owner (memory grows with the greatest). The owner keeps
/// one timer armed for [`ProcessorSharingCpu::next_completion`] and re-arms it after every call
/// that changes something; [`ProcessorSharingCpu::arm`] does that.
///
/// ```
/// use convsim::engine::{SimDuration, SimTime};
/// use convsim::resources::ProcessorSharingCpu;
///
/// let mut cpu = ProcessorSharingCpu::new(1);
/// cpu.add(SimTime::ZERO, 0, SimDuration::from_millis(10));
/// cpu.add(SimTime::ZERO, 1, SimDuration::from_millis(30));
/// let first = cpu.next_completion().unwrap();
/// assert_eq!(first.as_seconds(), 0.020); // both at half speed
/// assert_eq!(cpu.complete(first).unwrap().job, 0);
/// assert_eq!(cpu.next_completion().unwrap().as_seconds(), 0.040); // the rest at full speed
/// ```
#[derive(Clone, Debug)]
pub struct ProcessorSharingCpu {
    cores: u32,
    /// What all cores together do when all are busy, in thousandths of a core.
    capacity: u64,
    neighbours: Option<Neighbours>,
    now: SimTime,
    groups: Vec<Group>,
    /// Indices of `groups` by descending weight.
    by_weight: Vec<u32>,
    jobs: Vec<Runnable>,
    places: Vec<u32>,
    arrivals: u64,
    load: CoreLoad,
    /// Counts the changes that may move the next completion.
    changes: u64,
}

impl ProcessorSharingCpu {
    /// An idle CPU with `cores` cores (at least 1).
    #[must_use]
    pub fn new(cores: u32) -> Self {
        Self::with_capacity(f64::from(cores.max(1)))
    }

    /// An idle CPU whose cores together do the work of `capacity` undisturbed cores (at least
    /// 0.001, in thousandths): a fraction for cores that share physical ones or of which a
    /// hypervisor takes a part. A job alone gets one core's speed, or all of a capacity below 1.
    /// The number of cores, and with it the utilisation, is the capacity rounded up.
    ///
    /// ```
    /// use convsim::engine::{SimDuration, SimTime};
    /// use convsim::resources::ProcessorSharingCpu;
    ///
    /// let mut cpu = ProcessorSharingCpu::with_capacity(1.6);
    /// cpu.add(SimTime::ZERO, 0, SimDuration::from_millis(8));
    /// assert_eq!(cpu.next_completion().unwrap().as_seconds(), 0.008);
    /// cpu.add(SimTime::ZERO, 1, SimDuration::from_millis(8)); // 0.8 of a core each
    /// assert_eq!(cpu.next_completion().unwrap().as_seconds(), 0.010);
    /// ```
    #[must_use]
    pub fn with_capacity(capacity: f64) -> Self {
        let capacity = ((capacity * THOUSANDTHS as f64 + 0.5) as u64).clamp(1, MAX_CAPACITY);
        let cores = capacity.div_ceil(THOUSANDTHS) as u32;
        Self {
            cores,
            capacity,
            neighbours: None,
            now: SimTime::ZERO,
            groups: Vec::new(),
            by_weight: Vec::new(),
            jobs: Vec::new(),
            places: Vec::new(),
            arrivals: 0,
            load: CoreLoad::new(cores),
            changes: 0,
        }
    }

    /// Whole cores that are some of those on which other tasks run for ever. The jobs present at
    /// one time must then have one weight.
    #[must_use]
    pub fn beside(cores: u32, neighbours: Neighbours) -> Self {
        Self { neighbours: Some(neighbours), ..Self::new(cores) }
    }

    /// Idle at time zero again, for another replication; keeps the memory.
    pub fn reset(&mut self) {
        for group in &mut self.groups {
            group.finishes.clear();
            group.attained = 0;
        }
        self.places.fill(NOWHERE);
        self.now = SimTime::ZERO;
        self.arrivals = 0;
        self.changes += 1;
        self.load.reset();
    }

    /// Forgets the statistics until `now`, the end of the warm-up.
    pub fn restart_statistics(&mut self, now: SimTime) {
        self.load.restart(now);
    }

    /// How many cores there are.
    #[must_use]
    pub fn cores(&self) -> u32 {
        self.cores
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
        self.places.get(job as usize).is_some_and(|&place| place != NOWHERE)
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

    /// Makes `job` runnable until it has got `work`, at the normal weight.
    pub fn add(&mut self, now: SimTime, job: u32, work: SimDuration) {
        self.add_weighted(now, job, work, Weight::NORMAL);
    }

    /// Makes `job` runnable until it has got `work`.
    #[inline]
    pub fn add_weighted(&mut self, now: SimTime, job: u32, work: SimDuration, weight: Weight) {
        debug_assert!(!self.contains(job), "job {job} is runnable already");
        self.advance(now);
        let index = job as usize;
        if index >= self.jobs.len() {
            self.make_room(index);
        }
        let group = match self.groups.first() {
            Some(first) if first.weight == weight.0 => 0,
            _ => self.group_of(weight),
        };
        self.jobs[index] = Runnable { group, work, since: now };
        let group = &mut self.groups[group as usize];
        let attained = group.attained + (u128::from(work.as_nanos()) << FRACTION_BITS);
        let finish = Finish { attained, arrival: self.arrivals, job };
        self.arrivals += 1;
        group.finishes.insert(finish, &mut self.places);
        self.population_changed(self.load.jobs() + 1);
    }

    /// Takes `job` off before it is done; `None` when it was not runnable.
    pub fn remove(&mut self, now: SimTime, job: u32) -> Option<CpuRemoval> {
        if !self.contains(job) {
            return None;
        }
        self.advance(now);
        let Runnable { group, work, since } = self.jobs[job as usize];
        let group = &mut self.groups[group as usize];
        let finish = group.finishes.remove(self.places[job as usize] as usize, &mut self.places)?;
        let missing = finish.attained.saturating_sub(group.attained);
        let remaining = SimDuration::from_nanos(ceil_shift(missing));
        if group.finishes.is_empty() {
            group.attained = 0;
        }
        self.population_changed(self.load.jobs() - 1);
        Some(CpuRemoval {
            remaining,
            done: work.saturating_sub(remaining),
            elapsed: now.since(since),
        })
    }

    #[cold]
    fn make_room(&mut self, index: usize) {
        self.jobs.resize(index + 1, Runnable::default());
        self.places.resize(index + 1, NOWHERE);
    }

    /// Takes off one job that is done by `now`, the earliest to finish first. Call it until it
    /// returns `None`: several jobs may finish at one instant.
    #[inline]
    pub fn complete(&mut self, now: SimTime) -> Option<CpuCompletion> {
        self.advance(now);
        let group = match self.groups.as_mut_slice() {
            [group] => Some(group).filter(|group| group.is_done()),
            groups => groups.iter_mut().find(|group| group.is_done()),
        }?;
        let finish = group.finishes.remove(0, &mut self.places)?;
        if group.finishes.is_empty() {
            group.attained = 0;
        }
        self.population_changed(self.load.jobs() - 1);
        let Runnable { work, since, .. } = self.jobs[finish.job as usize];
        Some(CpuCompletion { job: finish.job, work, elapsed: now.since(since) })
    }

    /// When the next job is done if none comes or goes before.
    #[inline]
    #[must_use]
    pub fn next_completion(&self) -> Option<SimTime> {
        let delay = match self.groups.as_slice() {
            [group] => group.time_to_finish(),
            groups => groups.iter().filter_map(Group::time_to_finish).min(),
        };
        delay.map(|delay| self.now.saturating_add(delay))
    }

    /// A number that differs whenever something has happened since that may have moved
    /// [`ProcessorSharingCpu::next_completion`].
    #[inline]
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Keeps `timer` armed for the next completion.
    #[inline]
    pub fn arm<G: Copy>(&self, engine: &mut Engine<G>, timer: Timer, event: impl Into<G>) {
        match self.next_completion() {
            None => {
                engine.disarm(timer);
            }
            // Work that ends with time itself never ends: the engine reports the overflow.
            Some(SimTime::MAX) => engine.arm(timer, SimDuration::MAX, event),
            Some(time) if engine.deadline(timer) == Some(time) => {}
            Some(time) => engine.arm(timer, time.since(engine.now()), event),
        }
    }

    /// Lets every job progress until `now`.
    #[inline]
    fn advance(&mut self, now: SimTime) {
        if now > self.now {
            self.progress_until(now);
        }
    }

    #[inline(never)]
    fn progress_until(&mut self, now: SimTime) {
        let elapsed = now.since(self.now).as_nanos();
        self.now = now;
        self.changes += 1;
        match self.groups.as_mut_slice() {
            [group] => group.advance(elapsed),
            groups => groups.iter_mut().for_each(|group| group.advance(elapsed)),
        }
    }

    #[inline(never)]
    fn group_of(&mut self, weight: Weight) -> u32 {
        if let Some(index) = self.groups.iter().position(|group| group.weight == weight.0) {
            return index as u32;
        }
        let index = self.groups.len() as u32;
        self.groups.push(Group {
            weight: weight.0,
            attained: 0,
            finishes: FinishHeap::default(),
            rate: (1, 1),
        });
        self.by_weight.push(index);
        let groups = &self.groups;
        self.by_weight.sort_by_key(|&index| u32::MAX - groups[index as usize].weight);
        index
    }

    #[inline]
    fn population_changed(&mut self, runnable: u64) {
        self.changes += 1;
        self.load.set(self.now, runnable);
        match self.groups.as_mut_slice() {
            [group] if self.neighbours.is_none() => {
                // One weight, the usual case: each job gets a core, or all get the same share.
                let jobs = group.finishes.len() as u64 * THOUSANDTHS;
                group.rate = if jobs <= self.capacity { (1, 1) } else { (self.capacity, jobs) };
            }
            _ => self.share_anew(),
        }
    }

    /// Shares the cores: by weight, at most one core each, the heaviest served first.
    #[inline(never)]
    fn share_anew(&mut self) {
        if let Some(neighbours) = self.neighbours {
            let bound = self.capacity / THOUSANDTHS;
            for group in self.groups.iter_mut().filter(|group| !group.finishes.is_empty()) {
                group.rate = neighbours.rate(bound, group.finishes.len() as u64, group.weight());
            }
            return;
        }
        let mut capacity = self.capacity;
        let mut weights: u64 =
            self.groups.iter().map(|group| group.finishes.len() as u64 * group.weight()).sum();
        for &index in &self.by_weight {
            let group = &mut self.groups[index as usize];
            let jobs = group.finishes.len() as u64;
            let of_group = jobs * group.weight();
            if jobs == 0 {
                continue;
            }
            if group.weight() * capacity >= weights * THOUSANDTHS {
                group.rate = (1, 1);
                capacity -= jobs * THOUSANDTHS;
                weights -= of_group;
            } else if of_group == weights {
                group.rate = (capacity, jobs * THOUSANDTHS);
            } else {
                group.rate = (group.weight() * capacity, weights * THOUSANDTHS);
            }
        }
    }
}

impl Group {
    fn weight(&self) -> u64 {
        u64::from(self.weight)
    }

    #[inline]
    fn advance(&mut self, elapsed: u64) {
        if !self.finishes.is_empty() {
            self.attained += progress(elapsed, self.rate);
        }
    }

    /// Whether its first job has got what it asked for.
    #[inline]
    fn is_done(&self) -> bool {
        self.finishes.first().is_some_and(|finish| finish.attained <= self.attained)
    }

    /// Until the first job is done at the present rate, rounded up.
    #[inline]
    fn time_to_finish(&self) -> Option<SimDuration> {
        let missing = self.finishes.first()?.attained.saturating_sub(self.attained);
        let (numerator, denominator) = self.rate;
        if numerator == denominator {
            return Some(SimDuration::from_nanos(ceil_shift(missing)));
        }
        // Rounding up twice is rounding up once: ceil(ceil(a / b) / c) = ceil(a / (b c)).
        let nanos = match missing.checked_mul(u128::from(denominator)) {
            Some(scaled) => ceil_shift(scaled).div_ceil(numerator),
            None => u64::MAX,
        };
        Some(SimDuration::from_nanos(nanos))
    }
}

/// Attained service after `elapsed` nanoseconds at `rate`, rounded down.
#[inline]
fn progress(elapsed: u64, rate: (u64, u64)) -> u128 {
    if rate.0 == rate.1 { u128::from(elapsed) << FRACTION_BITS } else { shared(elapsed, rate) }
}

fn shared(elapsed: u64, (numerator, denominator): (u64, u64)) -> u128 {
    match (elapsed.checked_mul(numerator), u32::try_from(denominator)) {
        // Two divisions of 64 bits are several times faster than one of 128.
        (Some(product), Ok(_)) => {
            let whole = product / denominator;
            let fraction = ((product % denominator) << FRACTION_BITS) / denominator;
            (u128::from(whole) << FRACTION_BITS) + u128::from(fraction)
        }
        _ => {
            let product = u128::from(elapsed) * u128::from(numerator);
            let denominator = u128::from(denominator);
            let fraction = ((product % denominator) << FRACTION_BITS) / denominator;
            ((product / denominator) << FRACTION_BITS) + fraction
        }
    }
}

/// Attained service in whole nanoseconds, rounded up and held at `u64::MAX`.
#[inline]
fn ceil_shift(attained: u128) -> u64 {
    let below = (1_u128 << FRACTION_BITS) - 1;
    u64::try_from(attained.saturating_add(below) >> FRACTION_BITS).unwrap_or(u64::MAX)
}
