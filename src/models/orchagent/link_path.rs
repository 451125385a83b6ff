//! The path of a link event through orchagent: the notification, the next-hop groups, and, in
//! async mode, syncd's queue.

use super::component::{Event, Orchagent};
use super::config::{CarrierSource, LinkKind, Mode};
use super::syncd::{Notification, Request};
use crate::engine::{Engine, SimDuration};

impl Orchagent {
    /// True while a request keeps syncd from publishing link events.
    pub(super) fn syncd_is_busy(&self) -> bool {
        match self.config.mode {
            Mode::Async => !self.syncd.requests.is_empty(),
            Mode::Sync | Mode::ZmqSync => self.programmer.is_in_bulk(),
        }
    }

    /// PortsOrch has handled a port notification (`updatePortOperStatus`).
    pub(super) fn handled<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        message: Notification,
    ) {
        if !message.own {
            return;
        }
        self.measures.handled(engine.now(), message.raised);
        if self.config.topology.link == LinkKind::RoutedPort {
            self.apply_next_hop(engine, message.link, message.up);
        }
        if self.config.topology.carrier_source == CarrierSource::Orchagent {
            let set = Request::HostInterface { link: message.link, up: message.up };
            self.issue(engine, set, SimDuration::ZERO);
        }
    }

    /// How long it takes to remove `link` from the groups that hold it, or to add it.
    pub(super) fn next_hop_span(&mut self, link: u16) -> SimDuration {
        if self.config.mode == Mode::Async {
            return SimDuration::ZERO;
        }
        self.next_hop_cost(link)
    }

    fn next_hop_cost(&mut self, link: u16) -> SimDuration {
        let groups = self.table.live_with(link) * self.config.topology.families;
        self.service.next_hop_group_member.draw_sum(u64::from(groups))
    }

    /// orchagent flags the next hop and the ASIC's groups follow
    /// (`RouteOrch::invalidnexthopinNextHopGroup`).
    pub(super) fn apply_next_hop<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        link: u16,
        up: bool,
    ) {
        if !self.flap_is_partial() {
            if up { self.if_down.remove(link) } else { self.if_down.insert(link) }
        }
        let cost = if self.config.mode == Mode::Async {
            self.next_hop_cost(link)
        } else {
            SimDuration::ZERO
        };
        self.issue(engine, Request::NextHop { link, up }, cost);
    }

    /// A SAI call: in the sync modes its time has passed and it takes effect; in async mode it
    /// joins the pipeline.
    fn issue<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        request: Request,
        span: SimDuration,
    ) {
        if self.config.mode == Mode::Async {
            self.syncd.pipeline.push((span, request));
        } else {
            self.take_effect(engine, request);
        }
    }

    fn take_effect<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, request: Request) {
        match request {
            Request::HostInterface { link, up } => self.change_carrier(engine, link, up),
            Request::NextHop { link, up } => {
                self.traffic.set_pruned(engine.now(), link, !up);
                self.traffic.recompute(&self.table);
                self.note_settled(engine, link);
            }
            Request::Routes(entries) => {
                self.traffic.advance(engine.now());
                let count = entries.len() as u64;
                for entry in entries {
                    if let Some(version) = self.table.program(entry) {
                        self.table.remove_group(version, &self.if_down);
                    }
                }
                self.routes_programmed(engine, count);
            }
            Request::Other => {}
        }
    }

    /// Nothing to do at once: a full pipeline is flushed here, a partial one by the loop.
    pub(super) fn queue_handed_over<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if self.syncd.must_flush(engine.now()) {
            self.flush_pipeline(engine);
        }
    }

    /// Sends the pipeline to syncd.
    pub(super) fn flush_pipeline<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if let (Some(span), Some(timers)) = (self.syncd.flush(engine.now()), self.timers) {
            engine.arm(timers.syncd, span, Event::SyncdDone);
        }
    }

    /// Async: the request at the head of syncd's queue has been served.
    pub(super) fn syncd_done<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if let Some((span, request)) = self.syncd.requests.pop_front() {
            if matches!(request, Request::Routes(_)) {
                self.measures.syncd_route_time += span.as_seconds();
            }
            self.take_effect(engine, request);
        }
        // Between two requests syncd's mutex is free and waiting link events get through.
        let next = self.syncd.requests.front().map(|(span, _)| *span);
        if let (Some(span), Some(timers)) = (next, self.timers) {
            engine.arm(timers.syncd, span, Event::SyncdDone);
        }
        self.publish_waiting(engine);
    }
}
