//! Open stations with limited room: M/M/c/K and M/M/c/c.

use convsim::engine::{Component, Engine, SimTime, Stream, Timer};
use convsim::quantities::DurationSampler;
use convsim::resources::{BoundedQueue, ServerPool};

use crate::closed_forms::{birth_death, erlang_b, mean};
use crate::interval::{SERVICE, exponential, gaps, replicate};

/// Arrivals before anything is counted.
const WARM_UP: u64 = 5_000;

#[derive(Clone, Copy)]
enum Event {
    Arrive,
    Served { server: u32 },
}

/// M/M/c with room for `queue.capacity()` waiting customers.
struct Station {
    gap: DurationSampler,
    service: DurationSampler,
    arrivals_wanted: u64,
    servers: ServerPool<SimTime>,
    queue: BoundedQueue<SimTime>,
    streams: Option<(Stream, Stream)>,
    arrival: Option<Timer>,
    timers: Vec<Timer>,
    idle: Vec<u32>,
    arrived: u64,
    started: u64,
    wait_seconds: f64,
}

impl Station {
    fn new(servers: u64, room: usize, load: f64, arrivals_wanted: u64) -> Self {
        Self {
            gap: gaps(load).sampler(),
            service: exponential().sampler(),
            arrivals_wanted,
            servers: ServerPool::new(servers),
            queue: BoundedQueue::new(room),
            streams: None,
            arrival: None,
            timers: Vec::new(),
            idle: Vec::new(),
            arrived: 0,
            started: 0,
            wait_seconds: 0.0,
        }
    }

    fn next_arrival<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let (Some(timer), Some((arrivals, _))) = (self.arrival, &mut self.streams) else { return };
        engine.arm(timer, self.gap.sample(arrivals), Event::Arrive);
    }

    fn serve<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, arrived: SimTime) {
        assert!(self.servers.arrive(engine.now(), arrived), "a server was free");
        self.started += 1;
        self.wait_seconds += engine.now().since(arrived).as_seconds();
        let (Some(server), Some((_, services))) = (self.idle.pop(), &mut self.streams) else {
            return;
        };
        let service = self.service.sample(services);
        engine.arm(self.timers[server as usize], service, Event::Served { server });
    }

    fn arrive<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let now = engine.now();
        self.arrived += 1;
        if self.arrived == WARM_UP {
            self.queue.restart_statistics(now);
            self.servers.restart_statistics(now);
            self.started = 0;
            self.wait_seconds = 0.0;
        }
        if self.servers.busy() < self.servers.servers() {
            self.serve(engine, now);
        } else {
            self.queue.push(now, now);
        }
        if self.arrived == WARM_UP + self.arrivals_wanted {
            engine.stop();
        }
        self.next_arrival(engine);
    }
}

impl Component for Station {
    type Event = Event;

    fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.streams =
            Some((engine.stream("station", "arrivals"), engine.stream("station", "services")));
        self.servers.reset();
        self.queue.reset();
        self.arrival = Some(engine.add_timer());
        self.timers.clear();
        self.idle.clear();
        for server in 0..self.servers.servers() as u32 {
            self.timers.push(engine.add_timer());
            self.idle.push(server);
        }
        self.arrived = 0;
        self.next_arrival(engine);
    }

    fn handle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
        match event {
            Event::Arrive => self.arrive(engine),
            Event::Served { server } => {
                let now = engine.now();
                assert!(self.servers.finish(now).is_none(), "the line is outside of the pool");
                self.idle.push(server);
                if let Some(arrived) = self.queue.pop(now) {
                    self.serve(engine, arrived);
                }
            }
        }
    }
}

#[test]
fn a_full_waiting_room_loses_and_delays_as_mmck() {
    let (servers, room, load) = (3, 5, 3.0);
    let p = birth_death(servers + room, |_| load, |state| state.min(servers) as f64);
    let loss = p[servers + room];
    let line = mean(&p, |state| state.saturating_sub(servers) as f64);

    let mut station = Station::new(servers as u64, room, load, 200_000);
    let [losses, lines, waits, busy] = replicate(&mut station, |station, engine| {
        let now = engine.now();
        [
            station.queue.overflows() as f64 / station.arrivals_wanted as f64,
            station.queue.mean_length(now),
            station.wait_seconds / station.started as f64 / SERVICE.as_seconds(),
            station.servers.mean_busy(now),
        ]
    });
    losses.must_be("share lost", loss, 0.02);
    lines.must_be("mean line", line, 0.02);
    waits.must_be("mean wait of the accepted", line / (load * (1.0 - loss)), 0.02);
    busy.must_be("busy servers", load * (1.0 - loss), 0.01);
    assert_eq!(station.queue.greatest_length(), room as u64);
}

#[test]
fn servers_without_a_waiting_room_lose_as_erlang_b() {
    let mut station = Station::new(8, 0, 6.0, 200_000);
    let [losses] = replicate(&mut station, |station, _| {
        [station.queue.overflows() as f64 / station.arrivals_wanted as f64]
    });
    losses.must_be("share lost", erlang_b(8, 6.0), 0.02);
}
