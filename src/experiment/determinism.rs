//! Whether the same seed gives the same events.

use std::fmt;

use super::row::Row;
use super::worker::{Worker, WorldWorker};
use crate::engine::{HandledEvent, SimTime};
use crate::scenario::Scenario;

/// Where two runs of one replication parted.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// The configuration.
    pub configuration: String,
    /// What differed first.
    pub difference: Difference,
}

/// What differed first.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// An event.
    Event {
        /// Its number, counted from 0.
        number: usize,
        /// In the run of fresh components; `None` when that run had ended.
        fresh: Option<EventPlace>,
        /// In the run of reused components; `None` when that run had ended.
        reused: Option<EventPlace>,
    },
    /// The events were the same, a figure was not.
    Figure {
        /// Name of the column.
        column: String,
        /// In the run of fresh components.
        fresh: f64,
        /// In the run of reused components.
        reused: f64,
    },
    /// A run failed or ended in another way.
    Ending {
        /// How the run of fresh components ended.
        fresh: String,
        /// How the run of reused components ended.
        reused: String,
    },
    /// Two runs differed, two more did not: something other than the seed decides.
    NotAgain,
}

/// An event as a reader can find it.
#[derive(Clone, Debug, PartialEq)]
pub struct EventPlace {
    /// When.
    pub time: SimTime,
    /// Name of the component.
    pub component: String,
    /// The number of its timer.
    pub timer: u32,
}

impl fmt::Display for EventPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ns, {}, timer {}", self.time.as_nanos(), self.component, self.timer)
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |place: &Option<EventPlace>| match place {
            Some(place) => place.to_string(),
            None => "the run had ended".to_owned(),
        };
        write!(formatter, "{}: ", self.configuration)?;
        match &self.difference {
            Difference::Event { number, fresh, reused } => write!(
                formatter,
                "event {number} differs: {} in fresh components, {} in reused ones",
                text(fresh),
                text(reused)
            ),
            Difference::Figure { column, fresh, reused } => write!(
                formatter,
                "the events are the same, but {column} is {fresh} in fresh components and \
                 {reused} in reused ones"
            ),
            Difference::Ending { fresh, reused } => write!(
                formatter,
                "the run of fresh components ended \"{fresh}\", that of reused ones \"{reused}\""
            ),
            Difference::NotAgain => formatter.write_str(
                "two runs differed, but not when they were watched: something other than the seed \
                 decides",
            ),
        }
    }
}

/// Runs the first replication of each point twice, once with fresh components and once with
/// components that have run another replication before, and compares every event and figure.
#[must_use]
pub fn check_determinism(scenario: &Scenario) -> Vec<Divergence> {
    (0..scenario.points.len()).filter_map(|point| check_point(scenario, point)).collect()
}

fn check_point(scenario: &Scenario, point: usize) -> Option<Divergence> {
    let mut worker = WorldWorker::new(scenario);
    let fresh = worker.replicate(point, 0);
    worker.replicate(point, 1);
    let reused = worker.replicate(point, 0);
    if same(&fresh, &reused) {
        return None;
    }
    let configuration = scenario.points[point].configuration.clone();
    Some(Divergence { configuration, difference: find_difference(scenario, point) })
}

/// True when all that a row says is the same, figures to the bit.
fn same(fresh: &Row, reused: &Row) -> bool {
    let bits = |row: &Row| row.figures.iter().map(|figure| figure.to_bits()).collect::<Vec<_>>();
    let rest = |row: &Row| (row.status, row.end, row.events, row.fingerprint, row.message.clone());
    rest(fresh) == rest(reused) && bits(fresh) == bits(reused)
}

/// Runs both again with a log of every event, which would take too much memory to keep when
/// there is nothing to find.
fn find_difference(scenario: &Scenario, point: usize) -> Difference {
    let mut worker = WorldWorker::new(scenario);
    let (fresh, fresh_log) = logged(&mut worker, point);
    worker.replicate(point, 1);
    let (reused, reused_log) = logged(&mut worker, point);
    first_event(scenario, &fresh_log, &reused_log)
        .or_else(|| first_ending(&fresh, &reused))
        .or_else(|| first_figure(scenario, &fresh, &reused))
        .unwrap_or(Difference::NotAgain)
}

fn logged(worker: &mut WorldWorker<'_>, point: usize) -> (Row, Vec<HandledEvent>) {
    worker.engine().start_log();
    let row = worker.replicate(point, 0);
    (row, worker.engine().take_log())
}

fn first_event(
    scenario: &Scenario,
    fresh: &[HandledEvent],
    reused: &[HandledEvent],
) -> Option<Difference> {
    let length = fresh.len().max(reused.len());
    let number = (0..length).find(|&number| fresh.get(number) != reused.get(number))?;
    let place = |event: &HandledEvent| EventPlace {
        time: event.time,
        component: scenario
            .components
            .get(usize::from(event.owner))
            .map_or_else(String::new, |(name, _)| name.clone()),
        timer: event.timer,
    };
    Some(Difference::Event {
        number,
        fresh: fresh.get(number).map(place),
        reused: reused.get(number).map(place),
    })
}

fn first_ending(fresh: &Row, reused: &Row) -> Option<Difference> {
    let ending = |row: &Row| match &row.message {
        Some(message) => format!("{}: {message}", row.status.name()),
        None => row.status.name().to_owned(),
    };
    (ending(fresh) != ending(reused))
        .then(|| Difference::Ending { fresh: ending(fresh), reused: ending(reused) })
}

fn first_figure(scenario: &Scenario, fresh: &Row, reused: &Row) -> Option<Difference> {
    let pairs = fresh.figures.iter().zip(&reused.figures);
    let column = pairs.clone().position(|(a, b)| a.to_bits() != b.to_bits())?;
    let (&fresh, &reused) = pairs.clone().nth(column)?;
    let column = scenario.columns().get(column)?.name.clone();
    Some(Difference::Figure { column, fresh, reused })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Status;

    #[test]
    fn a_figure_that_differs_in_its_last_bit_is_found() {
        let row = |figure: f64| Row {
            point: 0,
            replication: 0,
            status: Status::Converged,
            end: SimTime::ZERO,
            events: 3,
            fingerprint: 5,
            figures: vec![f64::NAN, figure],
            message: None,
        };
        assert!(same(&row(1.0), &row(1.0)));
        assert!(!same(&row(1.0), &row(1.0_f64.next_up())));
    }

    #[test]
    fn a_divergence_names_time_component_and_timer() {
        let divergence = Divergence {
            configuration: "pop 128".to_owned(),
            difference: Difference::Event {
                number: 41,
                fresh: Some(EventPlace {
                    time: SimTime::from_nanos(1_500),
                    component: "orchagent".to_owned(),
                    timer: 3,
                }),
                reused: None,
            },
        };
        assert_eq!(
            divergence.to_string(),
            "pop 128: event 41 differs: 1500 ns, orchagent, timer 3 in fresh components, the run \
             had ended in reused ones"
        );
    }
}
