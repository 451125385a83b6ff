//! What is still open when a traced run has ended.

use super::component::Orchagent;
use super::timeline::{FIRST_PATH, MAIN_LOOP, REQUESTS, RING, ROUTE_BATCHES, stage_name};
use crate::engine::SimTime;
use crate::engine::trace::{Chain, Lane, Trace};
use crate::models::Model;

impl Orchagent {
    /// Ends what is going on at `end`, and says what is left to do.
    pub(super) fn record_open(&self, trace: &mut Trace, component: u16, end: SimTime) {
        let at = |lane| Lane { component, lane };
        let known = &self.timeline;
        if let Some(iteration) = known.iteration {
            let ends = (iteration.since, end);
            trace.open_span(at(MAIN_LOOP), iteration.name, ends, iteration.size);
        }
        if let Some(since) = known.ring_since {
            trace.open_span(at(RING), ROUTE_BATCHES, (since, end), 0);
        }
        if let Some(since) = known.syncd_since {
            let left = self.syncd.requests.len() as i64;
            trace.open_span(at(known.syncd_lane()), REQUESTS, (since, end), left);
        }
        for (path, state) in known.paths.iter().enumerate() {
            let Some((stage, since, value)) = state.waits else { continue };
            let lane = at(FIRST_PATH + path as u32);
            trace.open_span(lane, stage_name(stage), (since, end), value);
            let (name, outcome) =
                if state.up { ("return", "not in use again") } else { ("outage", "not pruned") };
            trace.chains.push(Chain {
                lane,
                name,
                number: 0,
                start: state.since,
                end,
                outcome,
                open: true,
                server: None,
                parts: trace.sums(lane, state.since),
            });
        }
        if !self.converged() {
            self.record_left(trace, component);
        }
    }

    fn record_left(&self, trace: &mut Trace, component: u16) {
        let unsettled =
            (0..self.links.len() as u16).filter(|path| self.traffic.is_unsettled(*path));
        trace.left(component, "paths not settled", unsettled.count() as u64);
        let lost = (self.traffic.loss_rate() * 100.0).ceil() as u64;
        trace.left(component, "per cent of the traffic still lost", lost);
        trace.left(component, "events of links not published", self.syncd.unpublished.len() as u64);
        trace.left(component, "notifications waiting", self.notifications.len() as u64);
        trace.left(component, "requests waiting for syncd", self.syncd.requests.len() as u64);
        trace.left(component, "updates of routes waiting", self.table.backlog());
        trace.left(component, "updates of routes in the batch under way", self.programmer.left());
        trace.left(component, "updates of routes on their way from FRR", self.table.to_come());
        trace.left(component, "changes of links to come", self.flaps.left() as u64);
    }
}
