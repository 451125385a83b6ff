//! syncd: it publishes link events between requests, and in async mode works off a queue.

use std::collections::VecDeque;

use super::route_table::Entry;
use crate::engine::{SimDuration, SimTime};

/// Commands after which the sairedis pipeline is sent (swss-common:redispipeline.h).
pub const PIPELINE_COMMANDS: usize = 128;
/// How long a partial pipeline can wait for a flush (swss:orchdaemon.cpp `OrchDaemon::start`).
pub const FLUSH_INTERVAL: SimDuration = SimDuration::from_millis(1000);

/// A message on its way to PortsOrch's notification queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification {
    pub link: u16,
    pub up: bool,
    /// False for a foreign message that shares the channel.
    pub own: bool,
    /// When the link event happened.
    pub raised: SimTime,
}

/// A request in syncd's queue (async mode).
#[derive(Debug)]
pub enum Request {
    /// A bulk of route entries.
    Routes(Vec<Entry>),
    /// The host interface's operational status, which drops or raises the kernel's carrier.
    HostInterface { link: u16, up: bool },
    /// The next hop's members removed from, or added to, the groups.
    NextHop { link: u16, up: bool },
    /// Anything that takes time and changes nothing that is followed.
    Other,
}

/// syncd's own state.
#[derive(Debug, Default)]
pub struct Syncd {
    /// Link events that wait for the end of the request being served.
    pub unpublished: VecDeque<Notification>,
    /// Published messages with the time at which they reach orchagent.
    pub in_delivery: VecDeque<(SimTime, Notification)>,
    /// Async: requests in the pipeline that has not been flushed.
    pub pipeline: Vec<(SimDuration, Request)>,
    pub last_flush: SimTime,
    /// Async: requests in syncd's queue; the first is being served.
    pub requests: VecDeque<(SimDuration, Request)>,
    /// Async: when the queue will be empty.
    pub free_at: SimTime,
    /// Async: the longest that a request would have had to wait.
    pub longest_backlog: SimDuration,
}

impl Syncd {
    pub fn reset(&mut self) {
        self.unpublished.clear();
        self.in_delivery.clear();
        self.pipeline.clear();
        self.last_flush = SimTime::ZERO;
        self.requests.clear();
        self.free_at = SimTime::ZERO;
        self.longest_backlog = SimDuration::ZERO;
    }

    /// True when the pipeline is full or its time has come.
    pub fn must_flush(&self, now: SimTime) -> bool {
        self.pipeline.len() >= PIPELINE_COMMANDS
            || (!self.pipeline.is_empty() && now.since(self.last_flush) >= FLUSH_INTERVAL)
    }

    /// Sends the pipeline to syncd's queue. Returns how long the first request will take if
    /// syncd was idle.
    pub fn flush(&mut self, now: SimTime) -> Option<SimDuration> {
        self.last_flush = now;
        let was_idle = self.requests.is_empty();
        for (span, request) in self.pipeline.drain(..) {
            self.free_at = self.free_at.max(now).saturating_add(span);
            self.requests.push_back((span, request));
        }
        self.longest_backlog = self.longest_backlog.max(self.free_at.since(now));
        if was_idle { self.requests.front().map(|(span, _)| *span) } else { None }
    }
}
