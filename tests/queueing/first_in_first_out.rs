//! Open stations with one line: M/M/1, M/M/c, M/D/1, M/G/1 and the Lindley recursion.

use convsim::engine::{Component, Engine, Limits, SimDuration, SimTime, Stream, StreamSeed, Timer};
use convsim::quantities::{DurationDistribution, DurationSampler};
use convsim::resources::ServerPool;

use crate::closed_forms::{mg1_wait, mmc_wait};
use crate::interval::{SERVICE, exponential, gaps, replicate};

const WARM_UP: u64 = 5_000;

#[derive(Clone, Copy)]
enum Event {
    Arrive,
    Served { server: u32 },
}

#[derive(Clone, Copy)]
struct Customer {
    arrived: SimTime,
    service: SimDuration,
}

/// M/G/c: stops after `customers` services beyond the warm-up.
struct Station {
    gap: DurationSampler,
    service: DurationSampler,
    customers: u64,
    pool: ServerPool<Customer>,
    streams: Option<(Stream, Stream)>,
    arrival: Option<Timer>,
    servers: Vec<(Timer, Customer)>,
    idle: Vec<u32>,
    served: u64,
    wait_seconds: f64,
    waits: Option<Vec<SimDuration>>,
}

impl Station {
    fn new(servers: u64, load: f64, service: &DurationDistribution, customers: u64) -> Self {
        Self {
            gap: gaps(load).sampler(),
            service: service.sampler(),
            customers,
            pool: ServerPool::new(servers),
            streams: None,
            arrival: None,
            servers: Vec::new(),
            idle: Vec::new(),
            served: 0,
            wait_seconds: 0.0,
            waits: None,
        }
    }

    /// In mean service times.
    fn mean_wait(&self) -> f64 {
        self.wait_seconds / self.customers as f64 / SERVICE.as_seconds()
    }

    fn next_arrival<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let (Some(timer), Some((arrivals, _))) = (self.arrival, &mut self.streams) else { return };
        engine.arm(timer, self.gap.sample(arrivals), Event::Arrive);
    }

    fn serve<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        server: u32,
        customer: Customer,
    ) {
        let wait = engine.now().since(customer.arrived);
        if self.served >= WARM_UP {
            self.wait_seconds += wait.as_seconds();
        }
        if let Some(waits) = &mut self.waits {
            waits.push(wait);
        }
        self.served += 1;
        if self.served == WARM_UP {
            self.pool.restart_statistics(engine.now());
        }
        if self.served == WARM_UP + self.customers {
            engine.stop();
        }
        self.servers[server as usize].1 = customer;
        engine.arm(self.servers[server as usize].0, customer.service, Event::Served { server });
    }
}

impl Component for Station {
    type Event = Event;

    fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.streams =
            Some((engine.stream("station", "arrivals"), engine.stream("station", "services")));
        self.pool.reset();
        self.arrival = Some(engine.add_timer());
        self.servers.clear();
        self.idle.clear();
        let nobody = Customer { arrived: SimTime::ZERO, service: SimDuration::ZERO };
        for server in 0..self.pool.servers() as u32 {
            self.servers.push((engine.add_timer(), nobody));
            self.idle.push(server);
        }
        self.served = 0;
        self.wait_seconds = 0.0;
        self.next_arrival(engine);
    }

    fn handle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
        let now = engine.now();
        match event {
            Event::Arrive => {
                let Some((_, services)) = &mut self.streams else { return };
                let customer = Customer { arrived: now, service: self.service.sample(services) };
                if self.pool.arrive(now, customer) {
                    let server = self.idle.pop().expect("a server was free");
                    self.serve(engine, server, customer);
                }
                self.next_arrival(engine);
            }
            Event::Served { server } => match self.pool.finish(now) {
                Some(customer) => self.serve(engine, server, customer),
                None => self.idle.push(server),
            },
        }
    }
}

/// Mean wait, utilisation and mean length of the line, by Little's law from the mean wait.
#[track_caller]
fn check(mut station: Station, load: f64, wait: f64) {
    let [waits, utilisations, lines] = replicate(&mut station, |station, engine| {
        let now = engine.now();
        [station.mean_wait(), station.pool.utilisation(now), station.pool.mean_waiting(now)]
    });
    waits.must_be("mean wait", wait, 0.02);
    lines.must_be("mean line", load * wait, 0.02);
    utilisations.must_be("utilisation", load / station.pool.servers() as f64, 0.005);
}

#[test]
fn one_exponential_server_waits_as_mm1() {
    check(Station::new(1, 0.7, &exponential(), 300_000), 0.7, mmc_wait(1, 0.7));
}

#[test]
fn several_exponential_servers_wait_as_erlang_c() {
    check(Station::new(3, 2.2, &exponential(), 300_000), 2.2, mmc_wait(3, 2.2));
    check(Station::new(8, 6.0, &exponential(), 700_000), 6.0, mmc_wait(8, 6.0));
}

#[test]
fn constant_services_wait_half_as_long() {
    let constant = DurationDistribution::constant(SERVICE);
    check(Station::new(1, 0.7, &constant, 200_000), 0.7, mg1_wait(0.7, 0.0));
}

#[test]
fn general_services_wait_as_pollaczek_khinchine() {
    let lognormal = DurationDistribution::Lognormal { mean: SERVICE, cv: 1.5 };
    check(Station::new(1, 0.6, &lognormal, 500_000), 0.6, mg1_wait(0.6, 1.5));
    let gamma = DurationDistribution::Gamma { mean: SERVICE, cv: 0.5 };
    check(Station::new(1, 0.7, &gamma, 200_000), 0.7, mg1_wait(0.7, 0.5));
}

#[test]
fn waits_equal_the_lindley_recursion_on_the_same_streams() {
    let seed = StreamSeed { master: 5, replication: 3 };
    let mut station = Station::new(1, 0.9, &exponential(), 200_000);
    station.waits = Some(Vec::new());
    Engine::new(seed).run(&mut station, Limits::default());
    let waits = station.waits.unwrap();
    assert_eq!(waits.len() as u64, 200_000 + WARM_UP);

    let mut arrivals = seed.stream("station", "arrivals");
    let mut services = seed.stream("station", "services");
    let (mut gap, mut service) = (gaps(0.9).sampler(), exponential().sampler());
    gap.sample(&mut arrivals);
    let mut wait = SimDuration::ZERO;
    for (customer, &simulated) in waits.iter().enumerate() {
        assert_eq!(simulated, wait, "customer {customer}");
        let until_free = wait.saturating_add(service.sample(&mut services));
        wait = until_free.saturating_sub(gap.sample(&mut arrivals));
    }
}
