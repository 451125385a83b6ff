//! Which link changes when, drawn at the start of a replication.

use rand::seq::SliceRandom;

use super::config::{Config, Direction, Order};
use crate::engine::{SimTime, StreamSource};
use crate::quantities::DurationSampler;

/// One change of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    pub at: SimTime,
    /// Among changes of one instant, the order in which they were planned.
    sequence: u32,
    pub link: u16,
    pub up: bool,
}

/// All changes of a replication, in order of time.
#[derive(Debug)]
pub struct FlapPlan {
    interval: DurationSampler,
    latency: DurationSampler,
    period: DurationSampler,
    links: Vec<u16>,
    changes: Vec<Change>,
    next: usize,
}

impl FlapPlan {
    pub fn new(config: &Config) -> Self {
        Self {
            interval: config.flap.interval.sampler(),
            latency: config.flap.latency.sampler(),
            period: config.flap.period.sampler(),
            links: Vec::new(),
            changes: Vec::new(),
            next: 0,
        }
    }

    pub fn reset(&mut self, config: &Config, seed: StreamSource, component: &str) {
        let flap = &config.flap;
        self.links.clear();
        self.links.extend(0..config.topology.paths as u16);
        if flap.order == Order::Random {
            self.links.shuffle(&mut seed.stream(component, "flap.order"));
        }
        self.links.truncate(flap.count as usize);

        let mut intervals = seed.stream(component, "flap.interval");
        let mut latencies = seed.stream(component, "flap.latency");
        let mut periods = seed.stream(component, "flap.period");
        for sampler in [&mut self.interval, &mut self.latency, &mut self.period] {
            sampler.rewind();
        }
        self.changes.clear();
        self.next = 0;
        let goes_up = flap.direction == Direction::Up;
        let mut command = SimTime::ZERO.saturating_add(flap.first_at);
        for index in 0..self.links.len() {
            let link = self.links[index];
            if index > 0 {
                command = command.saturating_add(self.interval.sample(&mut intervals));
            }
            let mut at = command.saturating_add(self.latency.sample(&mut latencies));
            for _ in 0..flap.repeat {
                self.plan(at, link, goes_up);
                if let Some(return_after) = flap.return_after {
                    self.plan(at.saturating_add(return_after), link, !goes_up);
                }
                let period = self.period.sample(&mut periods);
                at = at.saturating_add(period.max(flap.return_after.unwrap_or_default()));
            }
        }
        self.changes.sort_unstable();
    }

    fn plan(&mut self, at: SimTime, link: u16, up: bool) {
        let sequence = self.changes.len() as u32;
        self.changes.push(Change { at, sequence, link, up });
    }

    /// The links that flap.
    pub fn links(&self) -> &[u16] {
        &self.links
    }

    /// When the next change is due.
    pub fn peek(&self) -> Option<SimTime> {
        self.changes.get(self.next).map(|change| change.at)
    }

    /// Takes the next change.
    pub fn next(&mut self) -> Option<Change> {
        let change = self.changes.get(self.next).copied();
        self.next += 1;
        change
    }

    /// Changes that have not been taken.
    pub fn left(&self) -> usize {
        self.changes.len().saturating_sub(self.next)
    }

    /// True once every change has been taken.
    pub fn is_over(&self) -> bool {
        self.next >= self.changes.len()
    }
}
