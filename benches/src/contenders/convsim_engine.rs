use convsim::engine::{Component, Engine, Limits, SimDuration, StreamSeed, Timer};

use crate::{Agenda, Contender, Model};

/// convsim's engine as any component uses it: fingerprint, limits and trace hook included.
#[derive(Debug)]
pub struct ConvsimContender<M: Model<Timer>> {
    engine: Engine<M::Event>,
    component: Adapter<M>,
    /// The limit counts from the start of the run.
    event_budget: u64,
}

impl<M: Model<Timer>> ConvsimContender<M> {
    /// `model` with its first events armed.
    pub fn new(model: M) -> Self {
        let mut contender = Self {
            engine: Engine::new(StreamSeed::default()),
            component: Adapter { model },
            event_budget: 0,
        };
        let limits = Limits { event_budget: 0, ..Limits::default() };
        contender.engine.run(&mut contender.component, limits);
        contender
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.component.model
    }
}

impl<M: Model<Timer>> Contender for ConvsimContender<M> {
    fn advance(&mut self, events: u64) {
        self.event_budget = self.event_budget.saturating_add(events);
        let limits = Limits { event_budget: self.event_budget, ..Limits::default() };
        self.engine.resume(&mut self.component, limits);
    }

    fn digest(&self) -> u64 {
        self.component.model.digest()
    }
}

#[derive(Debug)]
struct Adapter<M> {
    model: M,
}

impl<M: Model<Timer>> Component for Adapter<M> {
    type Event = M::Event;

    fn start<G: Copy + From<M::Event>>(&mut self, engine: &mut Engine<G>) {
        M::start(&mut Joined { model: &mut self.model, engine });
    }

    #[inline]
    fn handle<G: Copy + From<M::Event>>(&mut self, engine: &mut Engine<G>, event: M::Event) {
        M::handle(&mut Joined { model: &mut self.model, engine }, event);
    }
}

struct Joined<'a, M, G> {
    model: &'a mut M,
    engine: &'a mut Engine<G>,
}

impl<M: Model<Timer>, G: Copy + From<M::Event>> Agenda<Timer, M> for Joined<'_, M, G> {
    #[inline]
    fn model(&mut self) -> &mut M {
        self.model
    }

    #[inline]
    fn now(&self) -> u64 {
        self.engine.now().as_nanos()
    }

    fn add_timer(&mut self) -> Timer {
        self.engine.add_timer()
    }

    #[inline]
    fn arm(&mut self, timer: Timer, delay: u64, event: M::Event) {
        self.engine.arm(timer, SimDuration::from_nanos(delay), event);
    }

    #[inline]
    fn disarm(&mut self, timer: Timer) {
        self.engine.disarm(timer);
    }
}
