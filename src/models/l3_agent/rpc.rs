//! Calls to the Neutron server: its pool of workers, and the agent's timeouts.

use rand::RngExt;

use crate::engine::{SimDuration, SimTime, Stream};

/// A method of the server whose timeout is kept by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The identifiers of all routers.
    GetRouterIds,
    /// The state of routers: one, a chunk, or all.
    SyncRouters,
    /// The ports of a subnet.
    GetPortsBySubnet,
}

const METHODS: usize = 3;

/// Doubling stops at so many times the configured timeout: `_BackingOffContextWrapper` of Neutron's
/// common/rpc.py, 10 times.
const MAX_TIMEOUT_FACTOR: u64 = 10;

/// How a call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// An answer at this instant.
    Answered(SimTime),
    /// The caller goes on at this instant without one.
    TimedOut(SimTime),
}

/// The server and the agent's client of it.
#[derive(Debug)]
pub struct Rpc {
    /// When each worker of the server is free.
    free_at: Vec<SimTime>,
    timeout: SimDuration,
    backoff: bool,
    timeouts_of: [SimDuration; METHODS],
    calls: u64,
    timed_out: u64,
}

impl Rpc {
    /// A server with `workers` workers; a call times out after `timeout`, and after twice as long
    /// from then on when `backoff`.
    #[must_use]
    pub fn new(workers: u32, timeout: SimDuration, backoff: bool) -> Self {
        Self {
            free_at: vec![SimTime::ZERO; workers.max(1) as usize],
            timeout,
            backoff,
            timeouts_of: [timeout; METHODS],
            calls: 0,
            timed_out: 0,
        }
    }

    /// As at the start; keeps the memory.
    pub fn reset(&mut self) {
        self.free_at.fill(SimTime::ZERO);
        self.timeouts_of = [self.timeout; METHODS];
        self.calls = 0;
        self.timed_out = 0;
    }

    /// When a request that comes in `now` and takes `service` is done: first in, first out.
    pub fn serve(&mut self, now: SimTime, service: SimDuration) -> SimTime {
        let mut first = 0;
        for worker in 1..self.free_at.len() {
            if self.free_at[worker] < self.free_at[first] {
                first = worker;
            }
        }
        let done = self.free_at[first].max(now).saturating_add(service);
        self.free_at[first] = done;
        done
    }

    /// Calls `method`. The server works even for a caller that has given up. With backoff
    /// (Neutron common/rpc.py, `_BackingOffContextWrapper`) a timeout doubles the method's
    /// timeout and the caller sleeps a uniform part of the configured timeout before it fails.
    pub fn call(
        &mut self,
        now: SimTime,
        method: Method,
        service: SimDuration,
        random: &mut Stream,
    ) -> Outcome {
        self.calls += 1;
        let done = self.serve(now, service);
        let timeout = &mut self.timeouts_of[method as usize];
        let expiry = now.saturating_add(*timeout);
        if done <= expiry {
            return Outcome::Answered(done);
        }
        self.timed_out += 1;
        if !self.backoff {
            return Outcome::TimedOut(expiry);
        }
        let cap = self.timeout.saturating_mul(MAX_TIMEOUT_FACTOR);
        *timeout = timeout.saturating_mul(2).min(cap);
        let sleep = SimDuration::from_seconds(self.timeout.as_seconds() * random.random::<f64>());
        Outcome::TimedOut(expiry.saturating_add(sleep))
    }

    /// Calls made, reports not counted.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Calls that timed out.
    #[must_use]
    pub fn timed_out(&self) -> u64 {
        self.timed_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::StreamSeed;

    const MINUTE: SimDuration = SimDuration::from_whole_seconds(60);

    fn call(rpc: &mut Rpc, at: u64, service: u64) -> Outcome {
        let now = SimTime::from_nanos(at * 1_000_000_000);
        let mut random = StreamSeed::default().stream("test", "backoff");
        rpc.call(now, Method::SyncRouters, SimDuration::from_whole_seconds(service), &mut random)
    }

    #[test]
    fn an_abandoned_call_still_occupies_the_server() {
        let mut rpc = Rpc::new(1, MINUTE, false);
        assert_eq!(call(&mut rpc, 0, 100), Outcome::TimedOut(SimTime::from_nanos(60_000_000_000)));
        assert_eq!(call(&mut rpc, 61, 10), Outcome::Answered(SimTime::from_nanos(110_000_000_000)));
    }

    #[test]
    fn a_timeout_doubles_up_to_ten_times_and_sleeps_at_most_the_first() {
        let mut rpc = Rpc::new(1000, MINUTE, true);
        for expected in [60.0, 120.0, 240.0, 480.0, 600.0, 600.0] {
            match call(&mut rpc, 0, 10_000) {
                Outcome::TimedOut(at) => {
                    assert!((expected..=expected + 60.0).contains(&at.as_seconds()), "{at}");
                }
                Outcome::Answered(at) => panic!("answered at {at}"),
            }
        }
        assert!(matches!(call(&mut rpc, 0, 599), Outcome::Answered(_)));
    }
}
