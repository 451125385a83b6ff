use std::fmt;

use desque::SimState;
use desque::serial::{OkEvent, Simulation};

use crate::{Agenda, Contender, Model};

/// The crate `desque` with time in `u64`. It has no cancelling, so that a stale event recognises
/// itself by its generation and does nothing.
#[derive(Debug)]
pub struct DesqueContender<M: Model<u32>> {
    simulation: Simulation<State<M>, u64>,
}

impl<M: Model<u32>> DesqueContender<M> {
    /// `model` with its first events armed.
    pub fn new(model: M) -> Self {
        let state = State { model, left: 0, generations: Vec::new() };
        let mut simulation = Simulation::new(state, 0);
        M::start(&mut simulation);
        Self { simulation }
    }
}

impl<M: Model<u32>> Contender for DesqueContender<M> {
    fn advance(&mut self, events: u64) {
        self.simulation.state_mut().left = events;
        // No event of these fails.
        let _ = self.simulation.run();
    }

    fn digest(&self) -> u64 {
        self.simulation.state().model.digest()
    }
}

#[derive(Debug)]
struct State<M> {
    model: M,
    left: u64,
    generations: Vec<u32>,
}

impl<M> SimState<u64> for State<M> {
    fn is_complete(&self, _: &u64) -> bool {
        self.left == 0
    }
}

struct Due<M: Model<u32>> {
    timer: u32,
    generation: u32,
    event: M::Event,
}

impl<M: Model<u32>> fmt::Debug for Due<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.event.fmt(formatter)
    }
}

impl<M: Model<u32>> OkEvent<State<M>, u64> for Due<M> {
    fn execute(&mut self, simulation: &mut Simulation<State<M>, u64>) {
        let state = simulation.state_mut();
        if M::CANCELS && state.generations[self.timer as usize] != self.generation {
            return;
        }
        state.left -= 1;
        M::handle(simulation, self.event);
    }
}

impl<M: Model<u32>> Agenda<u32, M> for Simulation<State<M>, u64> {
    #[inline]
    fn model(&mut self) -> &mut M {
        &mut self.state_mut().model
    }

    #[inline]
    fn now(&self) -> u64 {
        *self.current_time()
    }

    fn add_timer(&mut self) -> u32 {
        let generations = &mut self.state_mut().generations;
        generations.push(0);
        generations.len() as u32 - 1
    }

    #[inline]
    fn arm(&mut self, timer: u32, delay: u64, event: M::Event) {
        let generation = if M::CANCELS { self.state().generations[timer as usize] } else { 0 };
        // Only an instant that has passed is refused.
        let _ = self.schedule_with_delay(Due::<M> { timer, generation, event }, delay);
    }

    #[inline]
    fn disarm(&mut self, timer: u32) {
        self.state_mut().generations[timer as usize] += 1;
    }
}
