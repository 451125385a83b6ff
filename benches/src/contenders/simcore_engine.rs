use std::cell::RefCell;
use std::rc::Rc;

use serde::{Serialize, Serializer};
use simcore::event::EventId;
use simcore::{Event, EventHandler, Simulation, SimulationContext};

use crate::{Agenda, Contender, Model};

/// The crate `simcore`. Its time is `f64`, here counting nanoseconds, which is exact below 2^53.
pub struct SimcoreContender<M: Model<u32>> {
    simulation: Simulation,
    handler: Rc<RefCell<Handler<M>>>,
}

impl<M: Model<u32>> SimcoreContender<M> {
    /// `model` with its first events armed.
    pub fn new(model: M) -> Self {
        let mut simulation = Simulation::new(0);
        let context = simulation.create_context("model");
        let handler = Rc::new(RefCell::new(Handler { model, context, pending: Vec::new() }));
        simulation.add_handler("model", handler.clone());
        M::start(&mut *handler.borrow_mut());
        Self { simulation, handler }
    }
}

impl<M: Model<u32>> Contender for SimcoreContender<M> {
    fn advance(&mut self, events: u64) {
        for _ in 0..events {
            if !self.simulation.step() {
                break;
            }
        }
    }

    fn digest(&self) -> u64 {
        self.handler.borrow().model.digest()
    }
}

struct Handler<M> {
    model: M,
    context: SimulationContext,
    /// Each timer's event, only kept for a model that cancels.
    pending: Vec<EventId>,
}

#[derive(Clone)]
struct Due<E>(E);

impl<E> Serialize for Due<E> {
    /// Asked for by `simcore` for its log, which is off.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<M: Model<u32>> EventHandler for Handler<M> {
    fn on(&mut self, event: Event) {
        if let Ok(due) = event.data.downcast::<Due<M::Event>>() {
            M::handle(self, due.0);
        }
    }
}

impl<M: Model<u32>> Agenda<u32, M> for Handler<M> {
    #[inline]
    fn model(&mut self) -> &mut M {
        &mut self.model
    }

    #[inline]
    fn now(&self) -> u64 {
        self.context.time() as u64
    }

    fn add_timer(&mut self) -> u32 {
        self.pending.push(0);
        self.pending.len() as u32 - 1
    }

    #[inline]
    fn arm(&mut self, timer: u32, delay: u64, event: M::Event) {
        let id = self.context.emit_self(Due(event), delay as f64);
        if M::CANCELS {
            self.pending[timer as usize] = id;
        }
    }

    #[inline]
    fn disarm(&mut self, timer: u32) {
        self.context.cancel_event(self.pending[timer as usize]);
    }
}
