//! Open processor sharing: insensitive to the distribution, M/M/c by number, and by weights.

use convsim::engine::{Component, Engine, SimDuration, SimTime, Stream, Timer};
use convsim::quantities::distribution::MixturePart;
use convsim::quantities::{DurationDistribution, DurationSampler};
use convsim::resources::{ProcessorSharingCpu, Weight};

use crate::closed_forms::{discriminatory_sharing, mmc_wait};
use crate::interval::{SERVICE, exponential, gaps, replicate};

/// Completions before anything is counted.
const WARM_UP: u64 = 5_000;

#[derive(Clone, Copy)]
enum Event {
    Arrive { class: u32 },
    Computed,
}

/// One stream of arrivals.
struct Class {
    gap: DurationSampler,
    work: DurationSampler,
    weight: Weight,
    streams: Option<(Stream, Stream)>,
    timer: Option<Timer>,
    completed: u64,
    sojourn_seconds: f64,
    stretch: f64,
}

impl Class {
    fn new(load: f64, work: &DurationDistribution, weight: Weight) -> Self {
        Self {
            gap: gaps(load).sampler(),
            work: work.sampler(),
            weight,
            streams: None,
            timer: None,
            completed: 0,
            sojourn_seconds: 0.0,
            stretch: 0.0,
        }
    }

    /// In mean service times.
    fn mean_sojourn(&self) -> f64 {
        self.sojourn_seconds / self.completed as f64 / SERVICE.as_seconds()
    }
}

struct Station {
    classes: Vec<Class>,
    cpu: ProcessorSharingCpu,
    timer: Option<Timer>,
    jobs_wanted: u64,
    completed: u64,
    free: Vec<u32>,
    class_of: Vec<u32>,
}

impl Station {
    fn new(cores: u32, classes: Vec<Class>, jobs_wanted: u64) -> Self {
        Self {
            classes,
            cpu: ProcessorSharingCpu::new(cores),
            timer: None,
            jobs_wanted,
            completed: 0,
            free: Vec::new(),
            class_of: Vec::new(),
        }
    }

    fn next_arrival<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, class: u32) {
        let of = &mut self.classes[class as usize];
        if let (Some(timer), Some((arrivals, _))) = (of.timer, &mut of.streams) {
            engine.arm(timer, of.gap.sample(arrivals), Event::Arrive { class });
        }
    }

    fn arrive(&mut self, now: SimTime, class: u32) {
        let job = self.free.pop().unwrap_or_else(|| {
            self.class_of.push(0);
            self.class_of.len() as u32 - 1
        });
        self.class_of[job as usize] = class;
        let of = &mut self.classes[class as usize];
        if let Some((_, services)) = &mut of.streams {
            self.cpu.add_weighted(now, job, of.work.sample(services), of.weight);
        }
    }

    fn complete<G: Copy>(&mut self, engine: &mut Engine<G>) {
        let now = engine.now();
        while let Some(done) = self.cpu.complete(now) {
            assert!(done.elapsed >= done.work, "no job is done early");
            self.free.push(done.job);
            let class = &mut self.classes[self.class_of[done.job as usize] as usize];
            class.completed += 1;
            class.sojourn_seconds += done.elapsed.as_seconds();
            class.stretch += done.elapsed.as_seconds() / done.work.as_seconds().max(1e-9);
            self.completed += 1;
            if self.completed == WARM_UP {
                self.cpu.restart_statistics(now);
                for class in &mut self.classes {
                    (class.completed, class.sojourn_seconds, class.stretch) = (0, 0.0, 0.0);
                }
            }
            if self.completed == WARM_UP + self.jobs_wanted {
                engine.stop();
            }
        }
    }
}

impl Component for Station {
    type Event = Event;

    fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.cpu.reset();
        self.timer = Some(engine.add_timer());
        self.completed = 0;
        self.free.clear();
        self.class_of.clear();
        for class in 0..self.classes.len() as u32 {
            let name = format!("class {class}");
            let of = &mut self.classes[class as usize];
            of.streams = Some((engine.stream(&name, "arrivals"), engine.stream(&name, "work")));
            of.timer = Some(engine.add_timer());
            self.next_arrival(engine, class);
        }
    }

    fn handle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
        match event {
            Event::Arrive { class } => {
                self.arrive(engine.now(), class);
                self.next_arrival(engine, class);
            }
            Event::Computed => self.complete(engine),
        }
        if let Some(timer) = self.timer {
            self.cpu.arm(engine, timer, Event::Computed);
        }
    }
}

/// Two exponential phases with a coefficient of variation of 2, of balanced means.
fn hyperexponential() -> DurationDistribution {
    let share = 0.5 * (1.0 - (3.0_f64 / 5.0).sqrt());
    let part = |weight: f64| MixturePart {
        weight,
        duration: DurationDistribution::Exponential {
            mean: SimDuration::from_seconds(SERVICE.as_seconds() / (2.0 * weight)),
        },
    };
    DurationDistribution::Mixture { parts: vec![part(share), part(1.0 - share)] }
}

/// Mean sojourn and number on `cores`, which are those of M/M/c for any distribution (a symmetric
/// queue; Kelly, Reversibility and Stochastic Networks, section 3.3).
#[track_caller]
fn check_open(cores: u32, load: f64, work: &DurationDistribution, jobs: u64, relative: f64) {
    let sojourn = 1.0 + mmc_wait(cores as usize, load);
    let class = Class::new(load, work, Weight::NORMAL);
    let mut station = Station::new(cores, vec![class], jobs);
    let [sojourns, numbers, utilisations] = replicate(&mut station, |station, engine| {
        let now = engine.now();
        [
            station.classes[0].mean_sojourn(),
            station.cpu.mean_runnable(now),
            station.cpu.utilisation(now),
        ]
    });
    sojourns.must_be("mean sojourn", sojourn, relative);
    numbers.must_be("mean number", load * sojourn, relative);
    utilisations.must_be("utilisation", load / f64::from(cores), 0.01);
}

#[test]
fn the_mean_sojourn_on_one_core_does_not_depend_on_the_distribution() {
    check_open(1, 0.7, &exponential(), 200_000, 0.02);
    check_open(1, 0.7, &DurationDistribution::constant(SERVICE), 200_000, 0.02);
    check_open(1, 0.7, &hyperexponential(), 300_000, 0.02);
}

#[test]
fn several_cores_hold_as_many_jobs_as_mmc() {
    check_open(4, 3.2, &exponential(), 200_000, 0.02);
    check_open(4, 3.2, &DurationDistribution::constant(SERVICE), 200_000, 0.02);
}

#[test]
fn the_mean_stretch_is_the_same_for_short_and_long_jobs() {
    // E[sojourn | work] = work / (1 - load), so the mean of elapsed / work is 1 / (1 - load). Work
    // is bounded away from 0, so that the ratio has a small variance.
    let work = DurationDistribution::Uniform {
        min: SimDuration::from_micros(200),
        max: SimDuration::from_micros(1_800),
    };
    let class = Class::new(0.6, &work, Weight::NORMAL);
    let mut station = Station::new(1, vec![class], 200_000);
    let [stretches] = replicate(&mut station, |station, _| {
        [station.classes[0].stretch / station.classes[0].completed as f64]
    });
    stretches.must_be("mean stretch", 2.5, 0.02);
}

#[test]
fn weights_share_one_core_as_discriminatory_processor_sharing() {
    let (nice, loads) = (5, [0.4, 0.3]);
    let weights = [Weight::NORMAL, Weight::of_nice(nice)];
    let [first, second] = discriminatory_sharing([1.0, 1.0], loads, [1024.0, 335.0]);
    let classes = vec![
        Class::new(loads[0], &exponential(), weights[0]),
        Class::new(loads[1], &exponential(), weights[1]),
    ];
    let mut station = Station::new(1, classes, 300_000);
    let [firsts, seconds] = replicate(&mut station, |station, _| {
        [station.classes[0].mean_sojourn(), station.classes[1].mean_sojourn()]
    });
    firsts.must_be("mean sojourn at nice 0", first, 0.02);
    seconds.must_be("mean sojourn at nice 5", second, 0.02);
}
