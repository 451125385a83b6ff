//! Two components on one clock, joined by signals: a tandem of M/M/1 stations.

use convsim::engine::{Component, Engine, Root, SimDuration, SimTime, Stream, Timer};
use convsim::quantities::DurationSampler;
use convsim::resources::ServerPool;

use crate::interval::{SERVICE, exponential, gaps, replicate};

/// Services before anything is counted.
const WARM_UP: u64 = 5_000;
const LOAD: f64 = 0.6;

/// Output 0 of both stations: a customer has been served.
const SERVED: u16 = 0;

#[derive(Clone, Copy)]
struct Served;

#[derive(Clone, Copy)]
struct Arrived;

#[derive(Clone, Copy)]
enum Event {
    Served(Served),
    Arrived(Arrived),
}

impl From<Served> for Event {
    fn from(event: Served) -> Self {
        Self::Served(event)
    }
}

impl From<Arrived> for Event {
    fn from(event: Arrived) -> Self {
        Self::Arrived(event)
    }
}

/// Sends a signal for each customer.
struct Source {
    gap: DurationSampler,
    stream: Option<Stream>,
    timer: Option<Timer>,
}

impl Component for Source {
    type Event = Arrived;

    fn start<G: Copy + From<Arrived>>(&mut self, engine: &mut Engine<G>) {
        self.stream = Some(engine.stream("source", "gaps"));
        self.timer = Some(engine.add_timer());
        if let (Some(timer), Some(stream)) = (self.timer, &mut self.stream) {
            engine.arm(timer, self.gap.sample(stream), Arrived);
        }
    }

    fn handle<G: Copy + From<Arrived>>(&mut self, engine: &mut Engine<G>, event: Arrived) {
        engine.emit(SERVED, 0);
        if let (Some(timer), Some(stream)) = (self.timer, &mut self.stream) {
            engine.arm(timer, self.gap.sample(stream), event);
        }
    }
}

/// One server, fed by signals; emits one for each customer served.
struct Station {
    name: &'static str,
    service: DurationSampler,
    pool: ServerPool<SimTime>,
    stream: Option<Stream>,
    timer: Option<Timer>,
    serving: SimTime,
    served: u64,
    sojourn: SimDuration,
}

impl Station {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            service: exponential().sampler(),
            pool: ServerPool::new(1),
            stream: None,
            timer: None,
            serving: SimTime::ZERO,
            served: 0,
            sojourn: SimDuration::ZERO,
        }
    }

    fn receive<G: Copy + From<Served>>(&mut self, engine: &mut Engine<G>) {
        let now = engine.now();
        if self.pool.arrive(now, now) {
            self.serve(engine, now);
        }
    }

    fn serve<G: Copy + From<Served>>(&mut self, engine: &mut Engine<G>, arrived: SimTime) {
        self.serving = arrived;
        if let (Some(timer), Some(stream)) = (self.timer, &mut self.stream) {
            engine.arm(timer, self.service.sample(stream), Served);
        }
    }

    fn mean_sojourn(&self) -> f64 {
        self.sojourn.as_seconds() / (self.served - WARM_UP) as f64 / SERVICE.as_seconds()
    }
}

impl Component for Station {
    type Event = Served;

    fn start<G: Copy + From<Served>>(&mut self, engine: &mut Engine<G>) {
        self.pool.reset();
        self.stream = Some(engine.stream(self.name, "services"));
        self.timer = Some(engine.add_timer());
        self.served = 0;
        self.sojourn = SimDuration::ZERO;
    }

    fn handle<G: Copy + From<Served>>(&mut self, engine: &mut Engine<G>, _: Served) {
        let now = engine.now();
        self.served += 1;
        if self.served > WARM_UP {
            self.sojourn = self.sojourn.saturating_add(now.since(self.serving));
        }
        engine.emit(SERVED, self.served);
        if let Some(next) = self.pool.finish(now) {
            self.serve(engine, next);
        }
    }
}

/// Source, first and second station in a row, as components 0, 1 and 2.
struct Tandem {
    source: Source,
    stations: [Station; 2],
    wanted: u64,
}

impl Root for Tandem {
    type Event = Event;

    fn start(&mut self, engine: &mut Engine<Event>) {
        engine.want_signals(true);
        engine.set_owner(0);
        Component::start(&mut self.source, engine);
        for (station, owner) in self.stations.iter_mut().zip(1..) {
            engine.set_owner(owner);
            Component::start(station, engine);
        }
    }

    fn handle(&mut self, engine: &mut Engine<Event>, event: Event) {
        match event {
            Event::Arrived(event) => Component::handle(&mut self.source, engine, event),
            Event::Served(event) => {
                let station = &mut self.stations[usize::from(engine.owner()) - 1];
                Component::handle(station, engine, event);
            }
        }
        let mut index = 0;
        while let Some(signal) = engine.signal(index) {
            index += 1;
            if let Some(next) = self.stations.get_mut(usize::from(signal.sender)) {
                engine.set_owner(signal.sender + 1);
                next.receive(engine);
            } else if signal.value == WARM_UP + self.wanted {
                engine.stop();
            }
        }
        engine.clear_signals();
    }
}

#[test]
fn stations_joined_by_signals_are_each_mm1() {
    let mut tandem = Tandem {
        source: Source { gap: gaps(LOAD).sampler(), stream: None, timer: None },
        stations: [Station::new("first"), Station::new("second")],
        wanted: 200_000,
    };
    let [firsts, seconds] = replicate(&mut tandem, |tandem, _| {
        [0, 1].map(|index| tandem.stations[index].mean_sojourn())
    });
    // Burke's theorem: what leaves the first is Poisson again.
    firsts.must_be("mean sojourn in the first", 1.0 / (1.0 - LOAD), 0.02);
    seconds.must_be("mean sojourn in the second", 1.0 / (1.0 - LOAD), 0.02);
}
