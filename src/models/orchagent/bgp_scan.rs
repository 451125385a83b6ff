//! The wave of route updates that FRR sends through fpmsyncd after a peer's link has changed.
//!
//! bgpd's work queue holds a prefix at most once. A peer that goes down schedules every prefix it
//! had announced; those already scheduled stay where they are and will see the newest state when
//! their turn comes. Over a table that every peer announces this is one scan around the table
//! that starts afresh, from where it is, whenever a peer changes. It is therefore never stepped
//! prefix by prefix: how far it has come at an instant is computed.

use super::config::{Bgp, Fpmsyncd};
use crate::engine::{SimDuration, SimTime};

/// Progress of the scan around the route table.
#[derive(Clone, Debug)]
pub struct BgpScan {
    routes: u32,
    nanos_per_route: f64,
    /// Routes that become visible in Redis together.
    quantum: u32,
    /// How long the last, partial quantum waits for company.
    tail_delay: SimDuration,
    started: SimTime,
    /// Where the scan stood when it started.
    position: u32,
    /// Routes to write, counted from `position`; zero when no scan is under way.
    total: u32,
    /// Routes already handed out by [`BgpScan::advance`].
    applied: u32,
}

/// A stretch of the table, which may wrap around its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub start: u32,
    pub length: u32,
}

impl BgpScan {
    pub fn new(routes: u32, bgp: &Bgp, fpmsyncd: &Fpmsyncd) -> Self {
        let read_commands = u64::from(fpmsyncd.read_batch) * u64::from(fpmsyncd.commands_per_route);
        // swss:fpmsyncd.cpp: with fewer pending commands than the threshold the pipeline is
        // flushed after each read; otherwise when it is full, or idle for a while.
        let at_once = read_commands < u64::from(fpmsyncd.immediate_flush_below);
        let (quantum, tail_delay) = if at_once {
            (fpmsyncd.read_batch, SimDuration::ZERO)
        } else {
            let full = fpmsyncd.pipeline_size / fpmsyncd.commands_per_route;
            (full.max(1), fpmsyncd.idle_flush)
        };
        Self {
            routes,
            nanos_per_route: 1e9 / bgp.update_rate.as_per_second(),
            quantum,
            tail_delay,
            started: SimTime::ZERO,
            position: 0,
            total: 0,
            applied: 0,
        }
    }

    pub fn reset(&mut self) {
        self.started = SimTime::ZERO;
        self.position = 0;
        self.total = 0;
        self.applied = 0;
    }

    /// Schedules every route again. The caller has advanced the scan to `now`.
    pub fn restart(&mut self, now: SimTime) {
        self.position = (self.position + self.applied) % self.routes;
        self.started = now;
        self.total = self.routes;
        self.applied = 0;
    }

    /// True while routes are still to come.
    pub fn is_under_way(&self) -> bool {
        self.applied < self.total
    }

    /// Routes not handed out yet.
    pub fn left(&self) -> u64 {
        u64::from(self.total.saturating_sub(self.applied))
    }

    /// The routes that have become visible since the last call.
    pub fn advance(&mut self, now: SimTime) -> Option<Stretch> {
        if !self.is_under_way() {
            return None;
        }
        let visible = self.visible(now);
        let length = visible - self.applied;
        if length == 0 {
            return None;
        }
        let start = (self.position + self.applied) % self.routes;
        self.applied = visible;
        Some(Stretch { start, length })
    }

    /// When the next routes become visible.
    pub fn next_visible(&self) -> Option<SimTime> {
        if !self.is_under_way() {
            return None;
        }
        let full = (self.applied / self.quantum + 1).saturating_mul(self.quantum);
        let (count, delay) = if full <= self.total {
            (full, SimDuration::ZERO)
        } else {
            (self.total, self.tail_delay)
        };
        // One nanosecond beyond the ceiling, so that `visible` counts the route despite rounding.
        let span = SimDuration::from_nanos((f64::from(count) * self.nanos_per_route) as u64 + 2);
        Some(self.started.saturating_add(span).saturating_add(delay))
    }

    fn visible(&self, now: SimTime) -> u32 {
        let elapsed = now.since(self.started).as_nanos() as f64;
        let produced = (elapsed / self.nanos_per_route).min(f64::from(self.total)) as u32;
        let whole = produced / self.quantum * self.quantum;
        let finished_after =
            f64::from(self.total) * self.nanos_per_route + self.tail_delay.as_nanos() as f64;
        let visible =
            if produced == self.total && elapsed >= finished_after { self.total } else { whole };
        visible.max(self.applied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantities::Rate;

    fn scan(fpmsyncd: Fpmsyncd) -> BgpScan {
        let bgp = Bgp {
            update_rate: Rate::per_second(1000.0).expect("a constant above 0"),
            ..Bgp::default()
        };
        BgpScan::new(1050, &bgp, &fpmsyncd)
    }

    fn at(millis: u64) -> SimTime {
        SimTime::ZERO.saturating_add(SimDuration::from_millis(millis))
    }

    #[test]
    fn a_restart_schedules_each_route_once_from_where_the_scan_stands() {
        let mut scan = scan(Fpmsyncd::default());
        scan.restart(SimTime::ZERO);
        assert_eq!(scan.advance(at(301)), Some(Stretch { start: 0, length: 300 }));
        scan.restart(at(301));
        assert_eq!(scan.advance(at(310)), None, "a read batch is 100 routes");
        assert_eq!(scan.advance(at(5_000)), Some(Stretch { start: 300, length: 1050 }));
        assert!(!scan.is_under_way());
    }

    #[test]
    fn routes_are_visible_when_the_scan_says_so() {
        let mut scan = scan(Fpmsyncd::default());
        scan.restart(at(7));
        let mut seen = 0;
        while let Some(time) = scan.next_visible() {
            let stretch = scan.advance(time).expect("routes at the promised instant");
            seen += stretch.length;
        }
        assert_eq!(seen, 1050);
    }

    #[test]
    fn a_large_read_waits_for_a_full_pipeline_or_for_idleness() {
        let fpmsyncd = Fpmsyncd { read_batch: 500, pipeline_size: 3000, ..Fpmsyncd::default() };
        let mut scan = scan(fpmsyncd);
        scan.restart(SimTime::ZERO);
        assert_eq!(scan.advance(at(999)), None);
        assert_eq!(scan.advance(at(1001)), Some(Stretch { start: 0, length: 1000 }));
        assert_eq!(scan.advance(at(1500)), None);
        assert_eq!(scan.advance(at(1551)), Some(Stretch { start: 1000, length: 50 }));
    }
}
