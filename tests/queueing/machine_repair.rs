//! Closed stations: N users who think and then queue for c servers (machine repair).

use convsim::engine::{Component, Engine, SimDuration, SimTime, Stream, Timer};
use convsim::quantities::{DurationDistribution, DurationSampler};
use convsim::resources::ServerPool;

use crate::closed_forms::{birth_death, mean};
use crate::interval::{SERVICE, exponential, replicate};

/// Services before anything is counted.
const WARM_UP: u64 = 5_000;

#[derive(Clone, Copy)]
enum Event {
    Thought { user: u32 },
    Served { user: u32 },
}

struct Station {
    think: DurationSampler,
    service: DurationSampler,
    pool: ServerPool<u32>,
    users: Vec<(Timer, Stream)>,
    population: u32,
    wanted: u64,
    served: u64,
    since: SimTime,
}

impl Station {
    /// Thinking takes `think` mean service times on average.
    fn new(servers: u64, population: u32, think: &DurationDistribution, wanted: u64) -> Self {
        Self {
            think: think.sampler(),
            service: exponential().sampler(),
            pool: ServerPool::new(servers),
            users: Vec::new(),
            population,
            wanted,
            served: 0,
            since: SimTime::ZERO,
        }
    }

    fn think<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, user: u32) {
        let (timer, stream) = &mut self.users[user as usize];
        engine.arm(*timer, self.think.sample(stream), Event::Thought { user });
    }

    fn serve<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, user: u32) {
        let (timer, stream) = &mut self.users[user as usize];
        engine.arm(*timer, self.service.sample(stream), Event::Served { user });
    }
}

impl Component for Station {
    type Event = Event;

    fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.pool.reset();
        self.served = 0;
        self.users.clear();
        for user in 0..self.population {
            let stream = engine.stream("users", &format!("user {user}"));
            self.users.push((engine.add_timer(), stream));
            self.think(engine, user);
        }
    }

    fn handle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
        let now = engine.now();
        match event {
            Event::Thought { user } => {
                if self.pool.arrive(now, user) {
                    self.serve(engine, user);
                }
            }
            Event::Served { user } => {
                self.served += 1;
                if self.served == WARM_UP {
                    self.pool.restart_statistics(now);
                    self.since = now;
                }
                if self.served == WARM_UP + self.wanted {
                    engine.stop();
                }
                if let Some(next) = self.pool.finish(now) {
                    self.serve(engine, next);
                }
                self.think(engine, user);
            }
        }
    }
}

#[track_caller]
fn check(servers: usize, population: u32, think: f64, thinking: &DurationDistribution) {
    let users = population as usize;
    let birth = |state| (users - state) as f64 / think;
    let p = birth_death(users, birth, |state| state.min(servers) as f64);
    let busy = mean(&p, |state| state.min(servers) as f64);
    let line = mean(&p, |state| state.saturating_sub(servers) as f64);

    let mut station = Station::new(servers as u64, population, thinking, 100_000);
    let [throughputs, utilisations, lines] = replicate(&mut station, |station, engine| {
        let now = engine.now();
        let seconds = now.since(station.since).as_seconds();
        [
            station.wanted as f64 / seconds * SERVICE.as_seconds(),
            station.pool.utilisation(now),
            station.pool.mean_waiting(now),
        ]
    });
    throughputs.must_be("throughput", busy, 0.01);
    utilisations.must_be("utilisation", busy / servers as f64, 0.01);
    lines.must_be("mean line", line, 0.02);
}

fn mean_thinking(think: f64) -> SimDuration {
    SimDuration::from_seconds(think * SERVICE.as_seconds())
}

#[test]
fn users_of_one_server_queue_as_in_machine_repair() {
    check(1, 8, 6.0, &DurationDistribution::Exponential { mean: mean_thinking(6.0) });
}

#[test]
fn users_of_several_servers_queue_as_in_machine_repair() {
    check(3, 20, 5.0, &DurationDistribution::Exponential { mean: mean_thinking(5.0) });
}

#[test]
fn only_the_mean_of_the_think_time_matters() {
    check(3, 20, 5.0, &DurationDistribution::constant(mean_thinking(5.0)));
}
