//! One of several equal parts of a scenario's tasks, for several machines.
//!
//! A task belongs to a part by its identity alone, so the parts are disjoint and together the whole,
//! and running a part twice changes nothing. A scenario with a fixed number of replications is
//! split replication by replication; one with a stopping rule point by point, because the rule
//! needs all replications of a point.

use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;

use super::precision::settle_replications;
use super::schedule::Batch;
use super::store::{RowsAt, StoreError};
use crate::engine::random::mix;
use crate::scenario::Scenario;

/// Whether `folder` has every row of the part `shard` of `scenario`.
///
/// # Errors
/// If its rows are those of something else, or cannot be read.
pub fn is_complete(folder: &Path, scenario: &Scenario, shard: Shard) -> Result<bool, StoreError> {
    let stored = RowsAt::open(folder, scenario)?;
    let mut complete = true;
    let settled = settle_replications(scenario, |tasks, sink| {
        let own = shard.tasks(scenario, tasks);
        complete = stored.missing(&own).is_empty();
        match sink {
            // The rule says nothing about a point that is not complete.
            Some(_) if !complete => Err(io::ErrorKind::NotFound.into()),
            Some(sink) => stored.replay(&own, &mut [sink]),
            None => Ok(()),
        }
    });
    match settled {
        Err(error) if complete => Err(StoreError::Io(error)),
        _ => Ok(complete),
    }
}

/// Most parts.
const MOST: u64 = 1_000_000;

/// Part `number` of `count`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    number: u64,
    count: u64,
}

impl Shard {
    /// Part `number` of `count`; `None` unless 1 <= number <= count <= 1,000,000.
    #[must_use]
    pub fn new(number: u64, count: u64) -> Option<Self> {
        ((1..=count).contains(&number) && count <= MOST).then_some(Self { number, count })
    }

    /// Those of `tasks` that belong to this part.
    #[must_use]
    pub fn tasks(self, scenario: &Scenario, tasks: &[Batch]) -> Vec<Batch> {
        let mut own = Vec::new();
        for task in tasks {
            let point = task.point;
            let mut mine = task.replications.clone();
            if self.count == 1 {
                own.push(task.clone());
            } else if scenario.run.precision.is_some() {
                if self.has(scenario, point, 0) {
                    own.push(task.clone());
                }
            } else if let Some(first) = mine.find(|&r| self.has(scenario, point, r)) {
                let rest = (first..task.replications.end).step_by(self.count as usize);
                own.extend(rest.map(|r| Batch { point, replications: r..r + 1 }));
            }
        }
        own
    }

    /// The part that replication `replication` of `point` belongs to, of as many as this one is of.
    #[must_use]
    pub fn of_task(self, scenario: &Scenario, point: usize, replication: u64) -> Self {
        let start = mix(scenario.points[point].id) % self.count;
        let along = if scenario.run.precision.is_some() { 0 } else { replication % self.count };
        Self { number: (start + along) % self.count + 1, count: self.count }
    }

    fn has(self, scenario: &Scenario, point: usize, replication: u64) -> bool {
        self.of_task(scenario, point, replication) == self
    }

    /// The name of its folder.
    #[must_use]
    pub fn folder(self) -> String {
        format!("{}-of-{}", self.number, self.count)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(number, count)| {
            Self::new(number.trim().parse().ok()?, count.trim().parse().ok()?)
        });
        parts.ok_or_else(|| format!("write NUMBER/COUNT, from 1/{MOST} to {MOST}/{MOST}, or auto"))
    }
}
