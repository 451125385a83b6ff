//! The state of one ASIC's control plane and its events.

use std::collections::VecDeque;

use super::config::{CarrierSource, Config, Direction, LinkKind};
use super::era::Switches;
use super::executors::LeastRecentlyUsed;
use super::flaps::FlapPlan;
use super::link_set::LinkSet;
use super::main_loop::MainLoop;
use super::measures::Measures;
use super::programmer::Programmer;
use super::ring::RingThread;
use super::route_table::{Entry, RouteTable};
use super::service::{Cost, Service};
use super::syncd::{Notification, Syncd};
use super::timeline::Timeline;
use super::traffic::{Stage, Traffic};
use crate::engine::{Component, Engine, PriorityClass, SimTime, Stream, StreamSource, Timer};

/// Output: a path's traffic has moved to others, or the path is in use again.
pub const OUTPUT_PATH_SETTLED: u16 = 0;
/// Input: a link comes up; the other input, 0, takes it down.
pub const INPUT_LINK_UP: u16 = 1;

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The next planned change of a link.
    Flap,
    /// syncd's next message reaches orchagent.
    Delivery,
    /// The step of the main loop that is under way ends.
    LoopStep,
    /// The step of the ring thread that is under way ends.
    RingStep,
    /// fpmsyncd writes routes while the loop has nothing to do.
    RouteArrival,
    /// Async: the flush of a partial pipeline by the select timeout.
    Flush,
    /// Async: syncd has served a request.
    SyncdDone,
    /// teamd and teamsyncd have seen the link's carrier change.
    Teamd(u16),
    /// bgpd has seen the link's state change.
    Bgp(u16),
    /// Something far away makes FRR write every route again.
    RemoteChange,
}

/// A path: a port-channel or a routed port.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub teamd_timer: Timer,
    pub bgp_timer: Timer,
    /// Physically up.
    pub up: bool,
    /// As the kernel sees it.
    pub carrier: bool,
}

/// SONiC orchagent over SAI with syncd, teamd and FRR around it. See the [module](super).
#[derive(Debug)]
pub struct Orchagent {
    pub(super) name: String,
    pub(super) config: Config,
    pub(super) switches: Switches,
    pub(super) service: Service,
    pub(super) teamd_reaction: Cost,
    pub(super) bgp_reaction: Cost,
    pub(super) bgp_establishment: Cost,
    remote_interval: Cost,
    remote_changes_left: u32,
    pub(super) pop_order: Stream,
    pub(super) flaps: FlapPlan,
    pub(super) links: Vec<Link>,
    pub(super) traffic: Traffic,
    pub(super) table: RouteTable,
    /// Next hops that orchagent has flagged IFDOWN.
    pub(super) if_down: LinkSet,
    /// Entries whose next hops are all IFDOWN.
    pub(super) stuck: Vec<Entry>,
    pub(super) syncd: Syncd,
    pub(super) executors: LeastRecentlyUsed,
    /// Messages in PortsOrch's queue.
    pub(super) notifications: VecDeque<Notification>,
    /// Links whose notification came in during the iteration under way.
    pub(super) residual: Vec<u16>,
    pub(super) lag_keys: KeyQueue,
    pub(super) lag_member_keys: KeyQueue,
    pub(super) neighbour_keys: KeyQueue,
    /// Neighbour deletions that wait until no group refers to them.
    pub(super) pending_neighbours: Vec<u16>,
    pub(super) main_loop: MainLoop,
    pub(super) ring: RingThread,
    pub(super) programmer: Programmer,
    pub(super) batch: Vec<Entry>,
    pub(super) measures: Measures,
    pub(super) timeline: Timeline,
    pub(super) timers: Option<Timers>,
}

/// Timers that exist once.
#[derive(Clone, Copy, Debug)]
pub struct Timers {
    pub flap: Timer,
    pub delivery: Timer,
    pub loop_step: Timer,
    pub ring_step: Timer,
    pub route_arrival: Timer,
    pub flush: Timer,
    pub syncd: Timer,
    pub remote_change: Timer,
}

/// Keys of a small Redis table and its executor's wake-ups.
#[derive(Clone, Debug, Default)]
pub struct KeyQueue {
    pub keys: Vec<(u16, bool)>,
    pub wake_ups: u32,
}

impl KeyQueue {
    /// Writes a key; one that waits already takes the new value.
    pub fn write(&mut self, link: u16, up: bool) {
        match self.keys.iter_mut().find(|(key, _)| *key == link) {
            Some((_, state)) => *state = up,
            None => {
                self.keys.push((link, up));
                self.wake_ups += 1;
            }
        }
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.wake_ups = 0;
    }
}

impl Orchagent {
    /// A control plane called `name`; everything is put in place by `start`.
    pub(super) fn build(name: &str, config: Config) -> Self {
        let switches = Switches::of(&config);
        Self {
            service: Service::new(&config),
            teamd_reaction: Cost::new(&config.teamd.reaction, "teamd.reaction"),
            bgp_reaction: Cost::new(&config.bgp.reaction, "bgp.reaction"),
            bgp_establishment: Cost::new(&config.bgp.establishment, "bgp.establishment"),
            remote_interval: Cost::new(
                &config.bgp.remote_change_interval,
                "bgp.remote_change_interval",
            ),
            remote_changes_left: 0,
            pop_order: StreamSource::default().stream(name, "pop order"),
            flaps: FlapPlan::new(&config),
            links: Vec::with_capacity(config.topology.paths as usize),
            traffic: Traffic::new(&config, &switches),
            table: RouteTable::new(&config, &switches),
            if_down: LinkSet::default(),
            stuck: Vec::new(),
            syncd: Syncd::default(),
            executors: LeastRecentlyUsed::default(),
            notifications: VecDeque::new(),
            residual: Vec::new(),
            lag_keys: KeyQueue::default(),
            lag_member_keys: KeyQueue::default(),
            neighbour_keys: KeyQueue::default(),
            pending_neighbours: Vec::new(),
            main_loop: MainLoop::default(),
            ring: RingThread::default(),
            programmer: Programmer::default(),
            batch: Vec::with_capacity(config.pop_batch_size.min(config.topology.routes) as usize),
            measures: Measures::default(),
            timeline: Timeline::default(),
            timers: None,
            name: name.to_owned(),
            config,
            switches,
        }
    }

    fn reset(&mut self, seed: StreamSource) {
        self.service.reset(seed, &self.name);
        self.teamd_reaction.reset(seed, &self.name);
        self.bgp_reaction.reset(seed, &self.name);
        self.bgp_establishment.reset(seed, &self.name);
        self.remote_interval.reset(seed, &self.name);
        self.remote_changes_left = self.config.bgp.remote_changes;
        self.pop_order = seed.stream(&self.name, "pop order");
        self.flaps.reset(&self.config, seed, &self.name);
        self.syncd.reset();
        self.executors.reset();
        self.notifications.clear();
        self.residual.clear();
        self.lag_keys.clear();
        self.lag_member_keys.clear();
        self.neighbour_keys.clear();
        self.pending_neighbours.clear();
        self.main_loop.reset();
        self.ring.reset();
        self.programmer.reset();
        self.batch.clear();
        self.stuck.clear();
        self.measures.reset();

        let topology = &self.config.topology;
        let paths = topology.paths as u16;
        let mut down = LinkSet::default();
        if self.config.flap.direction == Direction::Up {
            self.flaps.links().iter().for_each(|link| down.insert(*link));
        }
        self.if_down = down;
        self.traffic.reset(down);
        self.table.reset(LinkSet::first(paths).without(&down), topology.initial_backlog);
        self.traffic.recompute(&self.table);
        self.links.clear();
    }

    /// A link changes physically.
    pub(super) fn change_link<G>(&mut self, engine: &mut Engine<G>, link: u16, up: bool)
    where
        G: Copy + From<Event>,
    {
        let now = engine.now();
        let Some(state) = self.links.get_mut(usize::from(link)) else { return };
        if state.up == up {
            return;
        }
        state.up = up;
        self.measures.first_change.get_or_insert(now);
        self.measures.last_change = Some(now);
        self.traffic.set_dead(now, link, !up);
        self.traffic.recompute(&self.table);
        self.traffic.set_stage(now, link, Stage::Publication);
        for message in 1..=self.config.flap.messages {
            let own = message == self.config.flap.messages;
            self.syncd.unpublished.push_back(Notification { link, up, own, raised: now });
        }
        if self.config.topology.carrier_source == CarrierSource::Driver {
            self.change_carrier(engine, link, up);
        }
        self.publish(engine);
        self.note_settled(engine, link);
    }

    /// The kernel's carrier changes: teamd or, on a routed port, bgpd will notice.
    pub(super) fn change_carrier<G>(&mut self, engine: &mut Engine<G>, link: u16, up: bool)
    where
        G: Copy + From<Event>,
    {
        let state = &mut self.links[usize::from(link)];
        if state.carrier == up {
            return;
        }
        state.carrier = up;
        let teamd_timer = state.teamd_timer;
        match self.config.topology.link {
            LinkKind::PortChannel => {
                self.traffic.set_stage(engine.now(), link, Stage::Teamd);
                engine.arm(teamd_timer, self.teamd_reaction.draw(), Event::Teamd(link));
            }
            LinkKind::RoutedPort => self.notify_bgp(engine, link, up),
        }
    }

    /// teamsyncd writes the LAG's and its member's new state.
    fn teamd_reacts<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, link: u16) {
        let up = self.links[usize::from(link)].carrier;
        self.traffic.set_stage(engine.now(), link, Stage::LagPass);
        self.lag_member_keys.write(link, up);
        if !self.flap_is_partial() {
            self.lag_keys.write(link, up);
            if !up {
                self.neighbour_keys.write(link, up);
            }
            self.notify_bgp(engine, link, up);
        }
        self.wake(engine);
    }

    /// True when a flap leaves members of the port-channel up.
    pub(super) fn flap_is_partial(&self) -> bool {
        let members = self.config.topology.members;
        self.config.topology.link == LinkKind::PortChannel
            && self.config.flap.members.is_some_and(|down| down < members)
    }

    fn notify_bgp<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, link: u16, up: bool) {
        if !self.config.bgp.enabled {
            return;
        }
        let reaction = if up { self.bgp_establishment.draw() } else { self.bgp_reaction.draw() };
        engine.arm(self.links[usize::from(link)].bgp_timer, reaction, Event::Bgp(link));
    }

    /// FRR takes the link out of its paths, or back in, and writes every route again.
    fn bgp_reacts<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, link: u16) {
        let mut members = self.table.current_members();
        if self.links[usize::from(link)].carrier {
            members.insert(link);
        } else {
            members.remove(link);
        }
        if members != self.table.current_members() {
            self.write_all_routes(engine, members);
        }
    }

    fn remote_change<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.write_all_routes(engine, self.table.current_members());
        self.arm_remote_change(engine);
    }

    fn arm_remote_change<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if let (1.., Some(timers)) = (self.remote_changes_left, self.timers) {
            self.remote_changes_left -= 1;
            engine.arm(timers.remote_change, self.remote_interval.draw(), Event::RemoteChange);
        }
    }

    /// FRR writes every route, with `members` as next hops.
    fn write_all_routes<G>(&mut self, engine: &mut Engine<G>, members: LinkSet)
    where
        G: Copy + From<Event>,
    {
        let now = engine.now();
        self.traffic.advance(now);
        self.table.change_paths(now, members);
        self.traffic.recompute(&self.table);
        self.measures.churn_started.get_or_insert(now);
        self.arm_route_arrival(engine);
    }

    /// Hands link events to orchagent, unless a request keeps syncd busy: its mutex is held for
    /// a whole request (sairedis:Syncd.cpp `processEvent`, `syncProcessNotification`).
    pub(super) fn publish<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if !self.syncd_is_busy() {
            self.publish_waiting(engine);
        }
    }

    /// Hands over the link events that wait, syncd being between two requests.
    pub(super) fn publish_waiting<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let Some(timers) = self.timers else { return };
        while let Some(message) = self.syncd.unpublished.pop_front() {
            let due = engine.now().saturating_add(self.service.notification_delivery.draw());
            // Messages keep their order whatever their own delays.
            let due = self.syncd.in_delivery.back().map_or(due, |(last, _)| due.max(*last));
            self.syncd.in_delivery.push_back((due, message));
        }
        if let (Some((due, _)), false) =
            (self.syncd.in_delivery.front(), engine.is_armed(timers.delivery))
        {
            engine.arm_at(timers.delivery, *due, PriorityClass::NORMAL, Event::Delivery);
        }
    }

    fn deliver<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let now = engine.now();
        while let Some((_, message)) = self.syncd.in_delivery.pop_front_if(|(due, _)| *due <= now) {
            self.queue_notification(now, message);
        }
        if let (Some((due, _)), Some(timers)) = (self.syncd.in_delivery.front(), self.timers) {
            engine.arm_at(timers.delivery, *due, PriorityClass::NORMAL, Event::Delivery);
        }
        self.wake(engine);
    }

    fn queue_notification(&mut self, now: SimTime, message: Notification) {
        let repeats = |queued: &Notification| {
            (queued.link, queued.up, queued.own) == (message.link, message.up, message.own)
        };
        if self.config.deduplicate_notifications {
            // The newest of equal messages counts, at its own place: were the older one kept, a
            // link that goes up, down and up again would end as down.
            self.notifications.retain(|queued| !repeats(queued));
        }
        self.notifications.push_back(message);
        if message.own && self.traffic.stage(message.link) == Stage::Publication {
            self.traffic.set_stage(now, message.link, Stage::ResidualBatch);
            self.residual.push(message.link);
        }
    }

    fn flap<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if let Some(change) = self.flaps.next() {
            self.change_link(engine, change.link, change.up);
        }
        self.arm_flap(engine);
    }

    fn arm_flap<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if let (Some(due), Some(timers)) = (self.flaps.peek(), self.timers) {
            engine.arm_at(timers.flap, due, PriorityClass::NORMAL, Event::Flap);
        }
    }

    /// Notes the instant at which nothing is lost any more and every living path is in use.
    pub(super) fn note_settled<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        link: u16,
    ) {
        let settled = self.traffic.is_settled();
        if settled && !self.measures.is_settled {
            self.measures.settled = Some(engine.now());
            engine.emit(OUTPUT_PATH_SETTLED, u64::from(link));
        }
        self.measures.is_settled = settled;
    }
}

impl Component for Orchagent {
    type Event = Event;

    fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.reset(engine.streams());
        self.timers = Some(Timers {
            flap: engine.add_timer(),
            delivery: engine.add_timer(),
            loop_step: engine.add_timer(),
            ring_step: engine.add_timer(),
            route_arrival: engine.add_timer(),
            flush: engine.add_timer(),
            syncd: engine.add_timer(),
            remote_change: engine.add_timer(),
        });
        for link in 0..self.config.topology.paths as u16 {
            let up = !self.if_down.contains(link);
            let teamd_timer = engine.add_timer();
            let bgp_timer = engine.add_timer();
            self.links.push(Link { teamd_timer, bgp_timer, up, carrier: up });
        }
        if self.table.has_work() {
            self.measures.churn_started = Some(engine.now());
        }
        self.arm_flap(engine);
        self.arm_remote_change(engine);
        self.start_loop(engine);
        self.start_timeline(engine);
    }

    #[inline]
    fn handle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
        match event {
            Event::LoopStep => self.loop_step(engine),
            Event::RingStep => self.ring_step(engine),
            Event::RouteArrival => self.wake(engine),
            Event::Flap => self.flap(engine),
            Event::Delivery => self.deliver(engine),
            Event::Flush => self.flush_pipeline(engine),
            Event::SyncdDone => self.syncd_done(engine),
            Event::Teamd(link) => self.teamd_reacts(engine, link),
            Event::Bgp(link) => self.bgp_reacts(engine, link),
            Event::RemoteChange => self.remote_change(engine),
        }
        self.record(engine);
    }
}
