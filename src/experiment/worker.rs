//! One replication at a time.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::row::{Row, Status};
use crate::engine::{Engine, Limits, RunEnd, SimTime, StableHash, StreamSeed};
use crate::models::World;
use crate::models::world::WorldEvent;
use crate::scenario::{Scenario, Seeding};

/// Runs replications on one thread.
pub trait Worker {
    /// Runs replication `replication` of point `point`.
    fn replicate(&mut self, point: usize, replication: u64) -> Row;
}

/// An engine and the components of the point being run, reused from one replication to the next.
pub struct WorldWorker<'s> {
    scenario: &'s Scenario,
    limits: Limits,
    engine: Engine<WorldEvent>,
    world: Option<(usize, World)>,
}

impl<'s> WorldWorker<'s> {
    /// For the points of `scenario`.
    #[must_use]
    pub fn new(scenario: &'s Scenario) -> Self {
        let limits = Limits {
            horizon: SimTime::ZERO.saturating_add(scenario.run.horizon),
            event_budget: scenario.run.event_budget,
        };
        Self { scenario, limits, engine: Engine::default(), world: None }
    }

    /// As [`Worker::replicate`], without protection from a fault in the model.
    fn run(&mut self, point: usize, replication: u64) -> Row {
        let run = &self.scenario.run;
        let master = match run.seeding {
            Seeding::Common => run.seed,
            Seeding::Independent => own_seed(run.seed, self.scenario.points[point].id),
        };
        let mirrored = run.antithetic && !replication.is_multiple_of(2);
        let replication_of_streams = if mirrored { replication - 1 } else { replication };
        self.engine.reset(StreamSeed { master, replication: replication_of_streams });
        if mirrored {
            self.engine.complement_streams();
        }
        let mut world = match self.world.take() {
            Some((of, world)) if of == point => world,
            _ => build(self.scenario, point),
        };
        let end = self.engine.run(&mut world, self.limits);
        world.trace_open(&mut self.engine);
        let mut figures = Vec::new();
        world.measure(self.engine.now(), &mut figures);
        let status = status(end, world.converged());
        if status.is_failure() {
            // What was measured until the engine could not go on says nothing.
            figures.fill(f64::NAN);
        }
        let row = Row {
            point,
            replication,
            status,
            end: self.engine.now(),
            events: self.engine.events_handled(),
            fingerprint: self.engine.fingerprint(),
            figures,
            message: None,
        };
        self.world = Some((point, world));
        row
    }

    /// The engine, for its log.
    pub(super) fn engine(&mut self) -> &mut Engine<WorldEvent> {
        &mut self.engine
    }
}

/// The master seed of a point that shares its streams with no other.
fn own_seed(seed: u64, point: u64) -> u64 {
    let mut hash = StableHash::new();
    hash.number(seed);
    hash.number(point);
    hash.finish()
}

fn build(scenario: &Scenario, point: usize) -> World {
    World::new(&scenario.points[point].components, scenario.connections.clone())
}

/// An observation that lasts to the horizon (an open-ended workload, a periodic timer) has
/// converged if its components say so; one cut short by a limit of the simulator has not.
fn status(end: RunEnd, converged: bool) -> Status {
    match end {
        RunEnd::EventBudget => Status::EventBudget,
        RunEnd::TimeOverflow => Status::TimeOverflow,
        RunEnd::TooManyTimers => Status::TooManyTimers,
        RunEnd::Idle | RunEnd::Stopped | RunEnd::Horizon if converged => Status::Converged,
        RunEnd::Idle | RunEnd::Stopped => Status::NotConverged,
        RunEnd::Horizon => Status::Horizon,
    }
}

impl Worker for WorldWorker<'_> {
    fn replicate(&mut self, point: usize, replication: u64) -> Row {
        let columns = self.scenario.components.iter().map(|(_, kind)| kind.metrics().len()).sum();
        match guarded(|| self.run(point, replication)) {
            Ok(row) => row,
            Err(message) => {
                // What the fault left behind is not to be trusted.
                self.engine = Engine::default();
                self.world = None;
                Row {
                    point,
                    replication,
                    status: Status::Failed,
                    end: SimTime::ZERO,
                    events: 0,
                    fingerprint: 0,
                    figures: vec![f64::NAN; columns],
                    message: Some(message),
                }
            }
        }
    }
}

thread_local! {
    static IN_MODEL: Cell<bool> = const { Cell::new(false) };
    static FAULT_PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `body`; a panic in it becomes its message with its place.
fn guarded<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    IN_MODEL.set(true);
    let result = catch_unwind(AssertUnwindSafe(body));
    IN_MODEL.set(false);
    result.map_err(|payload| {
        let text = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("a fault without a message");
        match FAULT_PLACE.take() {
            Some(place) => format!("{text} ({place})"),
            None => text.to_owned(),
        }
    })
}

/// Keeps a fault in a model off the terminal: it is reported as a row, with its place. To be
/// called once by a program, as it changes the panic hook of the process.
pub fn keep_model_panics_quiet() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if IN_MODEL.get() {
            FAULT_PLACE.set(info.location().map(ToString::to_string));
        } else {
            usual(info);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_in_a_model_becomes_its_message() {
        let divide =
            |by: u32| guarded(move || 1_u32.checked_div(by).expect("nothing to divide by"));
        assert_eq!(divide(1), Ok(1));
        assert!(divide(0).unwrap_err().contains("nothing to divide by"));
    }

    #[test]
    fn only_a_run_that_was_not_cut_short_converges() {
        assert_eq!(status(RunEnd::Idle, true), Status::Converged);
        assert_eq!(status(RunEnd::Horizon, true), Status::Converged);
        assert_eq!(status(RunEnd::Idle, false), Status::NotConverged);
        assert_eq!(status(RunEnd::Horizon, false), Status::Horizon);
        assert_eq!(status(RunEnd::EventBudget, true), Status::EventBudget);
    }
}
