//! A lock that each of a stream of jobs takes once is M/M/1, whatever the order of handing it on.

use convsim::engine::{Component, Engine, SimTime, Stream, Timer};
use convsim::quantities::DurationSampler;
use convsim::resources::{Handoff, Mutex};

use crate::closed_forms::mmc_wait;
use crate::interval::{SERVICE, exponential, gaps, replicate};

/// Releases before anything is counted.
const WARM_UP: u64 = 5_000;
const LOAD: f64 = 0.7;

#[derive(Clone, Copy)]
enum Event {
    Arrive,
    Release,
}

struct Station {
    gap: DurationSampler,
    holding: DurationSampler,
    lock: Mutex<SimTime>,
    streams: Option<[Stream; 3]>,
    timers: Option<[Timer; 2]>,
    wanted: u64,
    released: u64,
    waits: [f64; 2],
}

impl Station {
    fn new(handoff: Handoff, wanted: u64) -> Self {
        Self {
            gap: gaps(LOAD).sampler(),
            holding: exponential().sampler(),
            lock: Mutex::new(handoff),
            streams: None,
            timers: None,
            wanted,
            released: 0,
            waits: [0.0; 2],
        }
    }

    fn hold<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, arrived: SimTime) {
        let wait = engine.now().since(arrived).as_seconds() / SERVICE.as_seconds();
        if self.released >= WARM_UP {
            self.waits[0] += wait;
            self.waits[1] += wait * wait;
        }
        if let (Some([_, holdings, _]), Some([_, timer])) = (&mut self.streams, self.timers) {
            engine.arm(timer, self.holding.sample(holdings), Event::Release);
        }
    }

    fn next_arrival<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if let (Some([arrivals, ..]), Some([timer, _])) = (&mut self.streams, self.timers) {
            engine.arm(timer, self.gap.sample(arrivals), Event::Arrive);
        }
    }
}

impl Component for Station {
    type Event = Event;

    fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.lock.reset();
        self.streams =
            Some(["arrivals", "holdings", "handoff"].map(|purpose| engine.stream("lock", purpose)));
        self.timers = Some([engine.add_timer(), engine.add_timer()]);
        self.released = 0;
        self.waits = [0.0; 2];
        self.next_arrival(engine);
    }

    fn handle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
        let now = engine.now();
        match event {
            Event::Arrive => {
                if self.lock.acquire(now, now) {
                    self.hold(engine, now);
                }
                self.next_arrival(engine);
            }
            Event::Release => {
                self.released += 1;
                if self.released == WARM_UP {
                    self.lock.restart_statistics(now);
                }
                if self.released == WARM_UP + self.wanted {
                    engine.stop();
                }
                let Some([_, _, handoff]) = &mut self.streams else { return };
                if let Some(next) = self.lock.release(now, handoff) {
                    self.hold(engine, next);
                }
            }
        }
    }
}

/// The second moment of the wait over its square mean tells the orders apart.
#[track_caller]
fn check(handoff: Handoff, second_moment: f64) {
    let mut station = Station::new(handoff, 300_000);
    let [waits, squares, held, waiting] = replicate(&mut station, |station, engine| {
        let now = engine.now();
        let [wait, square] = station.waits.map(|sum| sum / station.wanted as f64);
        [wait, square, station.lock.utilisation(now), station.lock.mean_waiting(now)]
    });
    let wait = mmc_wait(1, LOAD);
    waits.must_be("mean wait", wait, 0.02);
    waiting.must_be("mean number waiting", LOAD * wait, 0.02);
    held.must_be("share of the time held", LOAD, 0.005);
    squares.must_be("second moment of the wait", second_moment, 0.06);
}

/// E[W^2] of M/M/1, first in first out: 2 rho / (1 - rho)^2.
fn second_moment_in_order() -> f64 {
    2.0 * LOAD / ((1.0 - LOAD) * (1.0 - LOAD))
}

#[test]
fn a_lock_handed_on_in_order_is_mm1() {
    check(Handoff::Fifo, second_moment_in_order());
}

#[test]
fn a_lock_handed_on_at_random_has_the_same_mean_wait_and_a_longer_tail() {
    // Random order multiplies the second moment by 1 / (1 - rho / 2): Kingman, On queues in which
    // customers are served in random order, 1962.
    check(Handoff::Random, second_moment_in_order() / (1.0 - LOAD / 2.0));
}
