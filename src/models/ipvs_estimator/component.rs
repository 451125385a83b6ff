//! The component: its state, and what each event leads to.

use super::algorithm::Algorithm;
use super::calc::Calc;
use super::calc_phase::Relink;
use super::clock::Jiffies;
use super::config::{Config, Governor};
use super::host::{Background, HostCpu};
use super::layout::{Layout, Tag};
use super::observation::Observation;
use super::prices::{Prices, RowTime, uniform};
use super::rates::Rates;
use super::task::{Task, TimeUse};
use super::temp_list::TempList;
use super::timeline::Timeline;
use super::workload::Plan;
use crate::engine::{
    Component, Engine, PriorityClass, SimDuration, SimTime, Stream, StreamSource, Timer,
};
use crate::quantities::DurationSampler;

/// The tag of the estimator of the namespace's totals.
pub(super) const TOTAL: Tag = 0;
/// The tag of the first followed estimator.
pub(super) const FIRST_FOLLOWED: Tag = 1;

/// What happens.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A kthread's sleep is over, or it has just been started.
    Wake {
        /// Slot of the kthread.
        slot: u32,
    },
    /// Some kthread's work is done.
    CpuDone,
    /// A part of the schedule begins or ends.
    Workload,
    /// A sysctl is written.
    Change,
    /// Kthreads that could not be started are tried again.
    Reload,
    /// The old timer goes off.
    SoftirqBegin,
    /// The old timer has walked all estimators.
    SoftirqEnd,
    /// Figures count from now on.
    WarmUpEnd,
    /// The run is over.
    End,
}

/// Timers other than those of the kthreads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    pub workload: Timer,
    pub change: Timer,
    pub reload: Timer,
    pub softirq: Timer,
    pub warm_up: Timer,
    pub end: Timer,
}

/// Streams, one per purpose.
#[derive(Debug)]
pub(super) struct Streams {
    pub cost: Stream,
    pub calc: Stream,
    pub traffic: Stream,
    pub deletion: Stream,
}

impl Streams {
    fn new(seed: StreamSource, name: &str) -> Self {
        Self {
            cost: seed.stream(name, "cost"),
            calc: seed.stream(name, "calc"),
            traffic: seed.stream(name, "traffic"),
            deletion: seed.stream(name, "deletion"),
        }
    }
}

/// The estimators of one network namespace.
#[derive(Debug)]
pub struct IpvsEstimator {
    pub(super) name: String,
    pub(super) config: Config,
    pub(super) algorithm: Algorithm,
    pub(super) prices: Prices,
    pub(super) layout: Layout,
    pub(super) temp_list: TempList,
    pub(super) rates: Rates,
    pub(super) plan: Plan,
    pub(super) host: HostCpu,
    pub(super) tasks: Vec<Task>,
    pub(super) seen: Observation,
    /// When the old timer went off last, and what its walk takes.
    pub(super) softirq_began: Option<SimTime>,
    pub(super) softirq_time: Option<RowTime>,
    pub(super) streams: Streams,
    pub(super) jiffies: Jiffies,
    pub(super) timers: Option<Timers>,
    module_age: DurationSampler,
    /// There has been a service: `enable`.
    pub(super) enabled: bool,
    pub(super) run_estimation: bool,
    pub(super) cpulist_cpus: u32,
    /// Attempts to start a kthread that will fail.
    pub(super) failing_starts: u32,
    /// The cpufreq governor in force.
    pub(super) governor: Governor,
    pub(super) next_change: usize,
    /// kthread 0 has to calculate the limits before anything is estimated: `est_calc_phase`.
    pub(super) calc_phase: bool,
    pub(super) calc: Calc,
    pub(super) calc_began: SimTime,
    pub(super) relink: Relink,
    /// Every how many estimators one is followed.
    pub(super) follow_every: u64,
    /// Estimators ever added for services.
    pub(super) added: u64,
    pub(super) removed: u64,
    /// When the run was over.
    pub(super) ended: Option<SimTime>,
    pub(super) timeline: Timeline,
}

impl IpvsEstimator {
    /// A component called `name`.
    pub(super) fn build(name: &str, config: Config) -> Self {
        let algorithm = Algorithm::resolve(&config);
        let cpus = config.est_cpulist_cpus.unwrap_or(config.possible_cpus);
        Self {
            name: name.to_owned(),
            prices: Prices::new(&config, algorithm.cache_factor),
            layout: Layout::new(&algorithm),
            temp_list: TempList::default(),
            rates: Rates::new(&config.traffic, config.warm_up),
            plan: Plan::new(&config.workload),
            host: HostCpu::new(cpus, Background::of(&config)),
            tasks: Vec::new(),
            seen: Observation::default(),
            softirq_began: None,
            softirq_time: None,
            streams: Streams::new(StreamSource::default(), name),
            jiffies: Jiffies::new(config.hz, 0.0),
            timers: None,
            module_age: config.module_loaded_before.sampler(),
            enabled: false,
            run_estimation: config.run_estimation,
            cpulist_cpus: cpus,
            failing_starts: 0,
            governor: config.cost.governor,
            next_change: 0,
            calc_phase: algorithm.calc_phase,
            calc: Calc::default(),
            calc_began: SimTime::ZERO,
            relink: Relink::default(),
            follow_every: 1,
            added: 0,
            removed: 0,
            ended: None,
            timeline: Timeline::default(),
            algorithm,
            config,
        }
    }

    /// Estimators that one service brings: its own and those of its real servers.
    pub(super) fn estimators_per_service(&self) -> u64 {
        1 + u64::from(self.config.workload.destinations_per_service)
    }

    /// Services in chains.
    pub(super) fn services_linked(&self) -> u64 {
        let total = u64::from(self.config.total_estimator);
        self.layout.linked().saturating_sub(total) / self.estimators_per_service()
    }

    /// The clock of a CPU that kthreads or softirqs kept busy for the share `load` of late,
    /// beside the background.
    pub(super) fn clock(&self, load: f64) -> f64 {
        let background = Background::of(&self.config).load(self.cpulist_cpus);
        self.prices.clock(self.governor, (load + background).min(1.0))
    }

    fn reset<G: Copy + From<Event>>(&mut self, engine: &Engine<G>) {
        self.streams = Streams::new(engine.streams(), &self.name);
        let mut clock = engine.stream(&self.name, "clock");
        self.jiffies = Jiffies::new(self.config.hz, uniform(&mut clock));
        self.prices.rewind();
        self.module_age.rewind();
        self.cpulist_cpus = self.config.est_cpulist_cpus.unwrap_or(self.config.possible_cpus);
        let scheduled = self.config.workload.schedule.iter().map(|part| part.add);
        let services = scheduled.fold(self.config.workload.initial_services, u64::saturating_add);
        let estimators = services.saturating_mul(self.estimators_per_service());
        let sampled = u64::from(self.config.sampled_services);
        self.follow_every = estimators.div_ceil(sampled).max(1);
        // Without a schedule of its own, what other components add is followed.
        let followed =
            if estimators == 0 { sampled } else { estimators.div_ceil(self.follow_every) };
        let followed = followed as usize;
        let tags = followed + FIRST_FOLLOWED as usize;
        self.layout.reset(&self.algorithm, self.cpulist_cpus, tags);
        let mut phases = engine.stream(&self.name, "step");
        self.rates.reset(tags, &mut phases, &mut engine.stream(&self.name, "rate"));
        self.temp_list.clear();
        self.plan.restart();
        self.tasks.clear();
        self.seen.reset();
        self.softirq_began = None;
        self.softirq_time = None;
        self.enabled = false;
        self.run_estimation = self.config.run_estimation;
        self.governor = self.config.cost.governor;
        self.failing_starts = self.config.host.failed_starts;
        self.next_change = 0;
        self.calc_phase = self.algorithm.calc_phase;
        self.calc = Calc::default();
        self.added = 0;
        self.removed = 0;
        self.ended = None;
    }

    fn end<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let (now, component) = (engine.now(), engine.owner());
        if let Some(trace) = engine.trace() {
            self.record_open_work(trace, component, now);
        }
        for slot in 0..self.tasks.len() {
            self.halt_task(engine, slot);
        }
        self.host.disarm(engine);
        if let Some(timers) = self.timers {
            engine.disarm(timers.workload);
            engine.disarm(timers.change);
            engine.disarm(timers.reload);
            engine.disarm(timers.softirq);
        }
        self.ended = Some(engine.now());
    }

    fn warm_up_ended(&mut self, now: SimTime) {
        self.seen.warm_up_ended(now);
        for task in &mut self.tasks {
            task.used = TimeUse::default();
            task.counted_since = now;
        }
    }

    pub(super) fn sample_module_age(&mut self, stream: &mut Stream) -> SimDuration {
        self.module_age.sample(stream)
    }
}

impl Component for IpvsEstimator {
    type Event = Event;

    fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.reset(engine);
        let mut timer = || engine.add_timer();
        let timers = Timers {
            workload: timer(),
            change: timer(),
            reload: timer(),
            softirq: timer(),
            warm_up: timer(),
            end: timer(),
        };
        self.timers = Some(timers);
        let end = self.config.observe_for;
        self.host.start(engine, self.cpulist_cpus, self.config.est_nice);
        engine.arm_at(
            timers.end,
            SimTime::ZERO.saturating_add(end),
            PriorityClass::LAST,
            Event::End,
        );
        engine.arm(timers.warm_up, self.config.warm_up, Event::WarmUpEnd);
        self.start_timeline(engine);
        self.load_module(engine);
        for _ in 0..self.config.workload.initial_services {
            self.add_service(engine, SimTime::ZERO);
        }
        self.sync(engine);
        self.arm_workload(engine);
        self.arm_change(engine);
        self.host.arm(engine, Event::CpuDone);
        self.record(engine);
    }

    fn handle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
        self.sync(engine);
        match event {
            Event::Wake { slot } => self.wake(engine, slot as usize),
            Event::CpuDone => {
                while let Some(done) = self.host.complete(engine.now()) {
                    self.work_done(engine, done);
                }
            }
            Event::Workload => self.arm_workload(engine),
            Event::Change => self.change(engine),
            Event::Reload => self.start_tasks(engine),
            Event::SoftirqBegin => self.softirq_begin(engine),
            Event::SoftirqEnd => self.softirq_end(engine),
            Event::WarmUpEnd => self.warm_up_ended(engine.now()),
            Event::End => return self.end(engine),
        }
        self.host.arm(engine, Event::CpuDone);
        self.record(engine);
    }
}
