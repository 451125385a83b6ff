//! How many jobs are on the cores of a host, and how many cores that keeps busy.

use crate::engine::SimTime;

/// The number of runnable jobs, and the core time that they use, over virtual time. It is two
/// [`super::TimeAverage`]s that change together: the jobs, and the jobs as far as there are cores.
/// Exact: both areas are kept in whole nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct CoreLoad {
    cores: u64,
    jobs: u64,
    since: SimTime,
    began: SimTime,
    /// Job-nanoseconds, and core-nanoseconds.
    runnable: u128,
    busy: u128,
}

impl CoreLoad {
    /// Nothing on `cores` cores.
    pub fn new(cores: u32) -> Self {
        let start = SimTime::ZERO;
        Self { cores: u64::from(cores), jobs: 0, since: start, began: start, runnable: 0, busy: 0 }
    }

    /// Back to nothing at time zero.
    pub fn reset(&mut self) {
        *self = Self::new(self.cores as u32);
    }

    /// Forgets what was until `now`, the end of the warm-up; the jobs stay.
    pub fn restart(&mut self, now: SimTime) {
        *self = Self { since: now, began: now, runnable: 0, busy: 0, ..*self };
    }

    /// There are so many jobs from `now` on.
    #[inline]
    pub fn set(&mut self, now: SimTime, jobs: u64) {
        let elapsed = now.since(self.since).as_nanos();
        // Most changes come in pairs at one instant: one job goes, another comes.
        if elapsed != 0 {
            self.runnable += u128::from(elapsed) * u128::from(self.jobs);
            self.busy += u128::from(elapsed) * u128::from(self.jobs.min(self.cores));
            self.since = now;
        }
        self.jobs = jobs;
    }

    /// The jobs now.
    #[inline]
    pub fn jobs(&self) -> u64 {
        self.jobs
    }

    /// The share of the cores in use now, in per cent.
    pub fn busy_percent(&self) -> f64 {
        self.jobs.min(self.cores) as f64 / self.cores.max(1) as f64 * 100.0
    }

    /// The average number of jobs until `now`; zero when no time has passed.
    pub fn mean_jobs(&self, now: SimTime) -> f64 {
        self.mean(now, self.area(now, self.runnable, self.jobs))
    }

    /// The average share of the cores in use until `now`, 0 to 1.
    pub fn utilisation(&self, now: SimTime) -> f64 {
        let area = self.area(now, self.busy, self.jobs.min(self.cores));
        self.mean(now, area) / self.cores as f64
    }

    /// Core-seconds used until `now`.
    pub fn busy_seconds(&self, now: SimTime) -> f64 {
        self.area(now, self.busy, self.jobs.min(self.cores)) * 1e-9
    }

    fn area(&self, now: SimTime, area: u128, level: u64) -> f64 {
        (area + u128::from(now.since(self.since).as_nanos()) * u128::from(level)) as f64
    }

    fn mean(&self, now: SimTime, area: f64) -> f64 {
        let span = now.since(self.began);
        if span.is_zero() { 0.0 } else { area / span.as_nanos() as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_jobs_than_cores_keep_all_cores_busy_and_no_more() {
        let at = SimTime::from_nanos;
        let mut load = CoreLoad::new(2);
        load.set(at(10), 1);
        load.set(at(20), 5);
        load.set(at(20), 3);
        load.set(at(30), 0);
        assert_eq!(load.mean_jobs(at(40)), (10.0 + 30.0) / 40.0);
        assert_eq!(load.utilisation(at(40)), (10.0 + 20.0) / 80.0);
        load.set(at(40), 1);
        load.restart(at(50));
        assert_eq!((load.mean_jobs(at(60)), load.busy_percent()), (1.0, 50.0));
    }
}
