use std::collections::VecDeque;

use convsim::engine::Stream;
use hdrhistogram::Histogram;
use rand_distr::{Bernoulli, Distribution};

use super::variates::{exponential, fold, stream};
use crate::{Agenda, Handle, Model};

const INTERARRIVAL_MEAN_NS: f64 = 1e6;
/// Servers of each station and their mean service time; the loads are 0.56 to 0.89.
const STATIONS: [(u32, f64); 5] = [(1, 0.6e6), (2, 1.4e6), (4, 2.0e6), (2, 1.6e6), (1, 0.8e6)];
/// How many of those that leave the last station start again at the first.
const RETURN_SHARE: f64 = 0.1;

/// Five stations in a row, some customers going round again, with the statistics that a model
/// keeps: wait histograms, moments of the sojourn, time averages of queue and busy servers.
#[derive(Debug)]
pub struct FiveStations<T> {
    arrivals: Stream,
    routing: Stream,
    returns: Bernoulli,
    arrival_timer: Option<T>,
    stations: Vec<Station<T>>,
    whole: Moments,
    digest: u64,
}

#[derive(Debug)]
struct Station<T> {
    service: Stream,
    service_mean_ns: f64,
    servers: Vec<Server<T>>,
    idle: Vec<u32>,
    queue: VecDeque<Customer>,
    waits: Histogram<u64>,
    sojourns: Moments,
    queued: TimeAverage,
    busy: TimeAverage,
}

#[derive(Clone, Copy, Debug)]
struct Server<T> {
    timer: T,
    serving: Customer,
}

#[derive(Clone, Copy, Debug, Default)]
struct Customer {
    entered: u64,
    came_to_station: u64,
}

/// Running mean and sum of squared deviations (Welford, 1962).
#[derive(Debug, Default)]
struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    #[inline]
    fn record(&mut self, value: f64) {
        self.count += 1;
        let deviation = value - self.mean;
        self.mean += deviation / self.count as f64;
        self.squares += deviation * (value - self.mean);
    }
}

#[derive(Debug, Default)]
struct TimeAverage {
    level: u64,
    since: u64,
    integral: u64,
}

impl TimeAverage {
    #[inline]
    fn set(&mut self, now: u64, level: u64) {
        self.integral = self.integral.wrapping_add(self.level * (now - self.since));
        self.since = now;
        self.level = level;
    }
}

#[derive(Clone, Copy, Debug)]
pub enum FiveStationsEvent {
    Arrival,
    ServiceEnds { station: u32, server: u32 },
}

impl<T> Default for FiveStations<T> {
    fn default() -> Self {
        Self {
            arrivals: stream("five stations", "arrival"),
            routing: stream("five stations", "routing"),
            returns: Bernoulli::new(RETURN_SHARE).expect("a share is a probability"),
            arrival_timer: None,
            stations: Vec::new(),
            whole: Moments::default(),
            digest: 0,
        }
    }
}

impl<T: Handle> FiveStations<T> {
    #[inline]
    fn arm_arrival<A: Agenda<T, Self>>(agenda: &mut A) {
        let model = agenda.model();
        if let Some(timer) = model.arrival_timer {
            let delay = exponential(&mut model.arrivals, INTERARRIVAL_MEAN_NS);
            agenda.arm(timer, delay, FiveStationsEvent::Arrival);
        }
    }

    #[inline]
    fn enter<A: Agenda<T, Self>>(agenda: &mut A, station: u32, entered: u64) {
        let now = agenda.now();
        let state = &mut agenda.model().stations[station as usize];
        let customer = Customer { entered, came_to_station: now };
        if let Some(server) = state.idle.pop() {
            state.busy.set(now, (state.servers.len() - state.idle.len()) as u64);
            Self::serve(agenda, station, server, customer);
        } else {
            state.queue.push_back(customer);
            state.queued.set(now, state.queue.len() as u64);
        }
    }

    #[inline]
    fn serve<A: Agenda<T, Self>>(agenda: &mut A, station: u32, server: u32, customer: Customer) {
        let now = agenda.now();
        let state = &mut agenda.model().stations[station as usize];
        state.waits.saturating_record(now - customer.came_to_station);
        state.servers[server as usize].serving = customer;
        let timer = state.servers[server as usize].timer;
        let delay = exponential(&mut state.service, state.service_mean_ns);
        agenda.arm(timer, delay, FiveStationsEvent::ServiceEnds { station, server });
    }

    #[inline]
    fn service_ends<A: Agenda<T, Self>>(agenda: &mut A, station: u32, server: u32) {
        let now = agenda.now();
        let state = &mut agenda.model().stations[station as usize];
        let served = state.servers[server as usize].serving;
        state.sojourns.record((now - served.came_to_station) as f64);
        if let Some(next) = state.queue.pop_front() {
            state.queued.set(now, state.queue.len() as u64);
            Self::serve(agenda, station, server, next);
        } else {
            state.idle.push(server);
            state.busy.set(now, (state.servers.len() - state.idle.len()) as u64);
        }
        if station as usize + 1 < STATIONS.len() {
            Self::enter(agenda, station + 1, served.entered);
            return;
        }
        let model = agenda.model();
        if model.returns.sample(&mut model.routing) {
            Self::enter(agenda, 0, served.entered);
        } else {
            model.whole.record((now - served.entered) as f64);
            model.digest = fold(model.digest, now - served.entered);
        }
    }
}

impl<T: Handle> Model<T> for FiveStations<T> {
    type Event = FiveStationsEvent;

    const CANCELS: bool = false;

    fn start<A: Agenda<T, Self>>(agenda: &mut A) {
        for (index, (servers, service_mean_ns)) in STATIONS.into_iter().enumerate() {
            let server = |_| Server { timer: agenda.add_timer(), serving: Customer::default() };
            let station = Station {
                servers: (0..servers).map(server).collect(),
                service: stream("five stations", &format!("service {index}")),
                service_mean_ns,
                idle: (0..servers).collect(),
                queue: VecDeque::new(),
                waits: Histogram::new_with_bounds(1, 1 << 40, 2).expect("valid bounds"),
                sojourns: Moments::default(),
                queued: TimeAverage::default(),
                busy: TimeAverage::default(),
            };
            agenda.model().stations.push(station);
        }
        let timer = agenda.add_timer();
        agenda.model().arrival_timer = Some(timer);
        Self::arm_arrival(agenda);
    }

    #[inline]
    fn handle<A: Agenda<T, Self>>(agenda: &mut A, event: FiveStationsEvent) {
        match event {
            FiveStationsEvent::Arrival => {
                Self::arm_arrival(agenda);
                let now = agenda.now();
                Self::enter(agenda, 0, now);
            }
            FiveStationsEvent::ServiceEnds { station, server } => {
                Self::service_ends(agenda, station, server);
            }
        }
    }

    fn digest(&self) -> u64 {
        self.stations.iter().fold(self.digest, |digest, station| {
            fold(fold(digest, station.queued.integral), station.busy.integral)
        })
    }
}
