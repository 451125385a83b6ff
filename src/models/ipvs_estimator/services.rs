//! Services and sysctls: what the administrator does.

use rand::RngExt;

use super::algorithm::INITIAL_DELAY;
use super::component::{Event, FIRST_FOLLOWED, IpvsEstimator, TOTAL};
use super::kthread::Creation;
use super::layout::{Place, Tag, UNTAGGED};
use crate::engine::{Engine, PriorityClass, SimTime};

impl IpvsEstimator {
    /// The module is loaded, shortly before the first service: the namespace's totals have an
    /// estimator from now on, and the old timer runs.
    pub(super) fn load_module<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let mut stream = engine.stream(&self.name, "module");
        let age = self.sample_module_age(&mut stream);
        let now = self.jiffies.at(SimTime::ZERO);
        let jiffy = now - (self.jiffies.at(SimTime::ZERO.saturating_add(age)) - now);
        if self.algorithm.old_timer {
            self.layout.ensure_first();
            self.arm_softirq(engine, jiffy);
        }
        if self.config.total_estimator {
            self.start_estimator(engine, TOTAL, SimTime::ZERO, Creation::AtLoad(jiffy));
        }
    }

    /// Does what the schedule has for the time until now.
    pub(super) fn sync<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let now = engine.now();
        while let Some(operation) = self.plan.take(now) {
            if operation.add {
                self.add_service(engine, operation.at);
            }
            if operation.delete {
                self.delete_service(engine);
            }
        }
    }

    /// The kthreads look at the schedule at each of their ticks; this is for when none runs.
    pub(super) fn arm_workload<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let landmark = self.plan.next_landmark(engine.now());
        if let (Some(timers), Some(at)) = (self.timers, landmark) {
            engine.arm_at(timers.workload, at, PriorityClass::NORMAL, Event::Workload);
        }
    }

    /// A service with its real servers was added at `at`.
    pub(super) fn add_service<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        at: SimTime,
    ) {
        for _ in 0..self.estimators_per_service() {
            let tag = self.next_tag();
            self.added += 1;
            if tag != UNTAGGED {
                self.rates.added(tag, at);
            }
            self.start_estimator(engine, tag, at, Creation::Now);
        }
        if !self.enabled {
            self.enabled = true;
            if !self.algorithm.old_timer {
                self.start_tasks(engine);
            }
        }
    }

    fn next_tag(&self) -> Tag {
        if !self.added.is_multiple_of(self.follow_every) {
            return UNTAGGED;
        }
        // What other components add beyond a schedule is not followed.
        let tag = self.added / self.follow_every + u64::from(FIRST_FOLLOWED);
        if tag < self.layout.tags() as u64 { tag as Tag } else { UNTAGGED }
    }

    /// `ip_vs_start_estimator`.
    fn start_estimator<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        tag: Tag,
        at: SimTime,
        creation: Creation,
    ) {
        if self.algorithm.temp_list {
            if self.layout.ensure_first() {
                self.kthread_created(engine, 0, creation);
            }
            self.temp_list.push(INITIAL_DELAY, tag);
        } else if !self.link(engine, INITIAL_DELAY, tag, at, creation) {
            self.temp_list.push(INITIAL_DELAY, tag);
        }
    }

    /// Links an estimator into a chain; false when no kthread may be created for it.
    pub(super) fn link<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        delay: usize,
        tag: Tag,
        at: SimTime,
        creation: Creation,
    ) -> bool {
        let Some(enqueued) = self.layout.enqueue(delay, tag) else {
            return false;
        };
        if enqueued.created {
            self.kthread_created(engine, enqueued.place.kthread as usize, creation);
        }
        if tag >= FIRST_FOLLOWED && tag != UNTAGGED {
            let due = if self.algorithm.old_timer {
                self.softirq_due(engine)
            } else {
                self.due(enqueued.place)
            };
            self.rates.linked(tag, at, due);
        }
        true
    }

    /// Deletes a service: as many estimators as a service has, each chosen at random.
    pub(super) fn delete_service<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        for _ in 0..self.estimators_per_service() {
            if self.added > self.removed {
                self.delete_estimator(engine);
                self.removed += 1;
            }
        }
    }

    fn delete_estimator<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let all = self.layout.linked() + self.temp_list.len();
        loop {
            let index = self.streams.deletion.random_range(0..all);
            let waiting = index.checked_sub(self.layout.linked());
            let tag = match waiting {
                Some(waiting) => match self.temp_list.nth(waiting) {
                    Some((_, TOTAL)) | None => continue,
                    Some((run, tag)) => {
                        self.temp_list.remove_from(run);
                        tag
                    }
                },
                None => match self.layout.nth(index) {
                    Some((_, TOTAL)) | None => continue,
                    Some((place, tag)) => {
                        self.unlink(engine, place, tag);
                        tag
                    }
                },
            };
            if tag != UNTAGGED {
                self.rates.removed(tag);
            }
            break;
        }
        if self.temp_list.is_empty() && !self.algorithm.old_timer && self.layout.free_first() {
            self.kthread_destroyed(engine, 0);
        }
    }

    /// Takes an estimator out of its chain: `ip_vs_stop_estimator`.
    pub(super) fn unlink<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        place: Place,
        tag: Tag,
    ) {
        if self.layout.remove(place, tag) {
            self.kthread_destroyed(engine, place.kthread as usize);
        }
    }

    pub(super) fn arm_change<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let next = self.config.changes.get(self.next_change);
        if let (Some(timers), Some(change)) = (self.timers, next) {
            let at = SimTime::ZERO.saturating_add(change.at);
            engine.arm_at(timers.change, at, PriorityClass::NORMAL, Event::Change);
        }
    }

    /// A sysctl is written: the kthreads are stopped, and started with what is in force now. Or
    /// the governor changes, which they do not notice.
    pub(super) fn change<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let Some(change) = self.config.changes.get(self.next_change).cloned() else {
            return;
        };
        self.next_change += 1;
        self.governor = change.governor.unwrap_or(self.governor);
        self.arm_change(engine);
        // `ipvs_proc_est_nice` and `ipvs_proc_run_estimation` look at the value, while
        // `ipvs_proc_est_cpumask_set` does not (net/netfilter/ipvs/ip_vs_ctl.c).
        let reloads = change.est_cpulist_cpus.is_some()
            || change.est_nice.is_some_and(|nice| !self.host.has_nice(nice))
            || change.run_estimation.is_some_and(|on| on != self.run_estimation);
        if !reloads {
            return;
        }
        for slot in 0..self.tasks.len() {
            self.stop_task(engine, slot);
        }
        if let Some(run_estimation) = change.run_estimation {
            self.run_estimation = run_estimation;
        }
        if let Some(nice) = change.est_nice {
            self.host.set_nice(nice);
        }
        if let Some(cpus) = change.est_cpulist_cpus {
            self.cpulist_cpus = cpus;
            self.layout.set_max_threads(self.algorithm.max_threads(cpus));
            self.host.set_cpus(cpus);
            self.calc_phase = self.algorithm.calc_phase;
        }
        if self.enabled && !self.algorithm.old_timer {
            self.seen.reloads += 1;
            self.start_tasks(engine);
        }
    }

    /// Nothing is to be estimated: `ip_vs_est_stopped`.
    pub(super) fn is_stopped(&self) -> bool {
        !self.run_estimation || self.cpulist_cpus == 0
    }
}
