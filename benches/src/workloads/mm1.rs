use std::collections::VecDeque;

use convsim::engine::Stream;
use hdrhistogram::Histogram;

use super::variates::{exponential, fold, stream};
use crate::{Agenda, Handle, Model};

const INTERARRIVAL_MEAN_NS: f64 = 1e9;
const SERVICE_MEAN_NS: f64 = 0.8e9;

/// One server, Poisson arrivals, exponential services, first come first served, utilisation 0.8.
#[derive(Debug)]
pub struct Mm1<T> {
    arrivals: Stream,
    services: Stream,
    still_to_arrive: u64,
    timers: Option<Timers<T>>,
    /// When each waiting customer came.
    waiting: VecDeque<u64>,
    busy: bool,
    waits: Waits,
}

#[derive(Clone, Copy, Debug)]
struct Timers<T> {
    arrival: T,
    departure: T,
}

#[derive(Clone, Copy, Debug)]
pub enum Mm1Event {
    Arrival,
    Departure,
}

impl<T> Mm1<T> {
    /// With this many customers.
    pub fn new(customers: u64) -> Self {
        let (arrivals, services) = streams();
        Self {
            arrivals,
            services,
            still_to_arrive: customers,
            timers: None,
            waiting: VecDeque::new(),
            busy: false,
            waits: Waits::default(),
        }
    }

    /// What was collected.
    pub fn waits(&self) -> &Waits {
        &self.waits
    }

    #[inline]
    fn begin_service(&mut self, wait: u64) -> u64 {
        self.busy = true;
        self.waits.record(wait);
        exponential(&mut self.services, SERVICE_MEAN_NS)
    }
}

impl<T: Handle> Model<T> for Mm1<T> {
    type Event = Mm1Event;

    const CANCELS: bool = false;

    fn start<A: Agenda<T, Self>>(agenda: &mut A) {
        let timers = Timers { arrival: agenda.add_timer(), departure: agenda.add_timer() };
        agenda.model().timers = Some(timers);
        let delay = exponential(&mut agenda.model().arrivals, INTERARRIVAL_MEAN_NS);
        agenda.arm(timers.arrival, delay, Mm1Event::Arrival);
    }

    #[inline]
    fn handle<A: Agenda<T, Self>>(agenda: &mut A, event: Mm1Event) {
        let now = agenda.now();
        let model = agenda.model();
        let Some(timers) = model.timers else {
            return;
        };
        match event {
            Mm1Event::Arrival => {
                model.still_to_arrive -= 1;
                let next = (model.still_to_arrive > 0)
                    .then(|| exponential(&mut model.arrivals, INTERARRIVAL_MEAN_NS));
                if model.busy {
                    model.waiting.push_back(now);
                } else {
                    let service = model.begin_service(0);
                    agenda.arm(timers.departure, service, Mm1Event::Departure);
                }
                if let Some(delay) = next {
                    agenda.arm(timers.arrival, delay, Mm1Event::Arrival);
                }
            }
            Mm1Event::Departure => {
                if let Some(came) = model.waiting.pop_front() {
                    let service = model.begin_service(now - came);
                    agenda.arm(timers.departure, service, Mm1Event::Departure);
                } else {
                    model.busy = false;
                }
            }
        }
    }

    fn digest(&self) -> u64 {
        self.waits.digest
    }
}

/// The waits before service, for their mean and 99th percentile.
#[derive(Debug)]
pub struct Waits {
    count: u64,
    sum: u64,
    histogram: Histogram<u64>,
    digest: u64,
}

impl Default for Waits {
    fn default() -> Self {
        // About 18 minutes; a longer wait counts as that. Two digits keep it within the cache.
        let histogram = Histogram::new_with_bounds(1, 1 << 40, 2).expect("valid bounds");
        Self { count: 0, sum: 0, histogram, digest: 0 }
    }
}

impl Waits {
    #[inline]
    fn record(&mut self, wait: u64) {
        self.count += 1;
        self.sum += wait;
        self.histogram.saturating_record(wait);
        self.digest = fold(self.digest, wait);
    }

    /// The mean in seconds.
    pub fn mean_seconds(&self) -> f64 {
        self.sum as f64 / self.count as f64 / 1e9
    }

    /// The 99th percentile in seconds, to two digits.
    pub fn p99_seconds(&self) -> f64 {
        self.histogram.value_at_quantile(0.99) as f64 / 1e9
    }

    /// A hash over every wait in order.
    pub fn digest(&self) -> u64 {
        self.digest
    }
}

/// The same waits without any simulation: a customer waits for what is left of its
/// predecessor's wait and service when it comes (Lindley, 1952).
pub fn lindley(customers: u64) -> Waits {
    let (mut arrivals, mut services) = streams();
    let mut waits = Waits::default();
    let mut left = 0_u64;
    for _ in 0..customers {
        let wait = left.saturating_sub(exponential(&mut arrivals, INTERARRIVAL_MEAN_NS));
        waits.record(wait);
        left = wait + exponential(&mut services, SERVICE_MEAN_NS);
    }
    waits
}

fn streams() -> (Stream, Stream) {
    (stream("mm1", "arrival"), stream("mm1", "service"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contender;
    use crate::contenders::ConvsimContender;

    #[test]
    fn every_simulated_wait_equals_the_lindley_recursion_to_the_nanosecond() {
        let customers = 1_000_000;
        let mut simulated = ConvsimContender::new(Mm1::new(customers));
        simulated.advance(u64::MAX);
        let simulated = simulated.model().waits();
        let expected = lindley(customers);
        assert_eq!(simulated.count, customers);
        assert_eq!(simulated.digest, expected.digest);
        assert_eq!(simulated.mean_seconds(), expected.mean_seconds());
        assert_eq!(simulated.p99_seconds(), expected.p99_seconds());
    }

    #[test]
    fn the_mean_wait_is_that_of_theory() {
        // rho / (1 - rho) services: 0.8 / 0.2 * 0.8 s. A million customers of this queue give the
        // mean within 2 % or so, as their waits are correlated.
        let waits = lindley(1_000_000);
        assert!((waits.mean_seconds() - 3.2).abs() < 0.1, "{}", waits.mean_seconds());
    }
}
