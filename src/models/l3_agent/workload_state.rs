//! What arrives during a run: port updates, router updates, VM boots.

use std::collections::VecDeque;

use rand::RngExt;
use rand_distr::{Distribution as _, Exp1};

use super::component::{Event, L3Agent, LastReady, Owner};
use super::metrics::{Account, Durations};
use super::program::ProgramKey;
use super::workload::UpdateKind;
use crate::engine::{Engine, SimDuration, SimTime, Stream, Timer};
use crate::quantities::Rate;
use crate::resources::Attribution;

/// Arrivals still to come.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// How many.
    pub remaining: u32,
    rate: Option<Rate>,
    timer: Option<Timer>,
}

impl Arrivals {
    fn start<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        (count, rate, start): (u32, Option<Rate>, SimDuration),
        event: Event,
        random: &mut Stream,
    ) {
        self.remaining = count;
        self.rate = rate;
        self.timer = None;
        if count > 0 {
            let delay = start.saturating_add(self.interval(random));
            L3Agent::arm(&mut self.timer, engine, delay, event);
        }
    }

    /// One has come: arms the next.
    fn next<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        event: Event,
        random: &mut Stream,
    ) {
        self.remaining -= 1;
        if self.remaining > 0 {
            let delay = self.interval(random);
            L3Agent::arm(&mut self.timer, engine, delay, event);
        }
    }

    fn interval(&self, random: &mut Stream) -> SimDuration {
        let Some(rate) = self.rate else { return SimDuration::ZERO };
        let one: f64 = Exp1.sample(random);
        SimDuration::from_seconds(one / rate.as_per_second())
    }
}

/// A port update that is waiting for a dispatcher thread or being written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PortUpdateSlot {
    pub(super) arrived: SimTime,
    pub(super) started: SimTime,
}

/// Port updates with the dispatcher.
#[derive(Debug, Default)]
pub struct PortUpdateJob {
    pub(super) slots: Vec<PortUpdateSlot>,
    free: Vec<u32>,
    /// When those arrived that wait for a thread.
    pub(super) waiting: VecDeque<SimTime>,
    running: u32,
    /// How many have been begun.
    begun: u32,
}

impl PortUpdateJob {
    /// True when none is waiting or being written.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.running == 0 && self.waiting.is_empty()
    }

    /// Port updates that wait for a thread.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn reset(&mut self) {
        self.slots.clear();
        self.free.clear();
        self.waiting.clear();
        self.running = 0;
        self.begun = 0;
    }
}

/// VM boots.
#[derive(Debug)]
pub struct BootState {
    /// Boots still to come.
    pub arrivals: Arrivals,
    /// When each VM booted.
    booted: Vec<SimTime>,
    /// From a boot until its router is ready.
    pub wait: Durations,
    /// VMs that waited longer than the deadline, out of those that were served.
    late: u64,
}

impl BootState {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self { arrivals: Arrivals::default(), booted: Vec::new(), wait: Durations::new(), late: 0 }
    }

    /// VMs that have booted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.booted.len() as u64
    }

    fn serve(&mut self, wait: SimDuration, deadline: SimDuration) {
        self.wait.record(wait);
        self.late += u64::from(wait > deadline);
    }
}

impl L3Agent {
    pub(super) fn start_arrivals<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        self.port_update_jobs.reset();
        self.boots.booted.clear();
        self.boots.wait.reset();
        self.boots.late = 0;
        let (workload, streams) = (&self.config.workload, &mut self.streams);
        let ports = &workload.port_updates;
        // Without a router there is nothing that an update could be for.
        let port_count = if self.settings.all_routers == 0 { 0 } else { ports.count };
        let of_ports = (port_count, ports.rate, ports.start);
        self.port_updates.start(engine, of_ports, Event::PortUpdate, &mut streams.port_updates);
        let routers = &workload.router_updates;
        let router_count = if self.settings.routers == 0 { 0 } else { routers.count };
        let of_routers = (router_count, routers.rate, routers.start);
        let random = &mut streams.router_updates;
        self.router_updates.start(engine, of_routers, Event::RouterUpdate, random);
        let boots = &workload.vm_boots;
        let of_boots = (boots.count, boots.rate, boots.start);
        self.boots.arrivals.start(engine, of_boots, Event::Boot, &mut streams.boots);
    }

    /// A cast goes to all agents; this one acts only if it has the router.
    pub(super) fn port_update<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let random = &mut self.streams.port_updates;
        let local = random.random::<f64>() < self.config.workload.port_updates.local_share;
        let router = random.random_range(0..self.settings.all_routers);
        self.port_updates.next(engine, Event::PortUpdate, random);
        if !local {
            self.figures.port_updates_ignored += 1;
        } else if !self.has_device[router as usize] {
            // Written with the router's other entries (Neutron d9fb3a66b4).
            self.figures.port_updates_cached += 1;
            self.cached_entries[router as usize] += 1;
        } else {
            self.port_update_jobs.waiting.push_back(engine.now());
            self.start_port_updates(engine);
        }
    }

    /// A router without subnets has no other entries to write the waiting ones with.
    pub(super) fn write_late_entries<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        router: u32,
    ) {
        self.has_device[router as usize] = true;
        let late = std::mem::take(&mut self.cached_entries[router as usize]);
        self.figures.port_updates_cached -= u64::from(late);
        for _ in 0..late {
            self.port_update_jobs.waiting.push_back(engine.now());
        }
        self.start_port_updates(engine);
    }

    pub(super) fn start_port_updates<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if self.liveness.stalled {
            return;
        }
        while self.port_update_jobs.running < self.config.agent.fanout_workers {
            let jobs = &mut self.port_update_jobs;
            let Some(arrived) = jobs.waiting.pop_front() else { return };
            jobs.running += 1;
            let slot = PortUpdateSlot { arrived, started: engine.now() };
            let index = match jobs.free.pop() {
                Some(index) => {
                    jobs.slots[index as usize] = slot;
                    index
                }
                None => {
                    jobs.slots.push(slot);
                    jobs.slots.len() as u32 - 1
                }
            };
            let stage = ProgramKey::PORT_UPDATE;
            self.builder.begin(ProgramKey { stage, item: jobs.begun, time: 0 });
            jobs.begun += 1;
            self.builder.arp(&self.settings.arp, 1);
            self.host.submit(engine, Owner::PortUpdate.tag(index), self.builder.steps());
        }
    }

    pub(super) fn port_update_done<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        index: u32,
        parts: &Attribution,
    ) {
        let now = engine.now();
        let slot = self.port_update_jobs.slots[index as usize];
        self.port_update_jobs.free.push(index);
        self.port_update_jobs.running -= 1;
        self.figures.arp_entries += 1;
        self.figures.port_update_time.record(now.since(slot.arrived));
        let account = Account { host: *parts, ..Account::default() };
        self.figures.port_update_account.add(&account);
        self.note_port_update(engine, (slot.arrived, slot.started), &account);
        self.figures.last =
            LastReady { asked: slot.arrived, started: slot.started, ready: now, account };
        self.start_port_updates(engine);
    }

    pub(super) fn router_update<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let random = &mut self.streams.router_updates;
        let router = random.random_range(0..self.settings.routers);
        self.router_updates.next(engine, Event::RouterUpdate, random);
        if router < self.bound_routers() {
            let kind = self.config.workload.router_updates.kind;
            self.enqueue(engine, router, kind, engine.now(), false);
        }
    }

    /// The server notifies the agent of the VM's router.
    pub(super) fn boot<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let now = engine.now();
        let boots = &self.config.workload.vm_boots;
        let vm = self.boots.booted.len() as u32;
        let router = self.settings.routers + vm / boots.per_router;
        self.boots.booted.push(now);
        self.boots.arrivals.next(engine, Event::Boot, &mut self.streams.boots);
        if self.queue.is_processed(router) {
            self.boots.serve(SimDuration::ZERO, boots.deadline);
        }
        self.note_router(engine, router, "VM boots");
        self.enqueue(engine, router, UpdateKind::Rpc, now, false);
    }

    /// A router has been processed for the first time: its VMs are served.
    pub(super) fn router_ready(&mut self, now: SimTime, router: u32) {
        let boots = &self.config.workload.vm_boots;
        let Some(index) = router.checked_sub(self.settings.routers) else { return };
        let first = index as usize * boots.per_router as usize;
        let last = (first + boots.per_router as usize).min(self.boots.booted.len());
        for vm in first..last {
            self.boots.serve(now.since(self.boots.booted[vm]), boots.deadline);
        }
    }

    /// VMs that have given up by `end`, served late or not at all.
    pub(super) fn vm_timeouts(&self, end: SimTime) -> u64 {
        let boots = &self.config.workload.vm_boots;
        let unserved = |vm: &usize| {
            let router = self.settings.routers + *vm as u32 / boots.per_router;
            !self.queue.is_processed(router) && end.since(self.boots.booted[*vm]) > boots.deadline
        };
        self.boots.late + (0..self.boots.booted.len()).filter(unserved).count() as u64
    }
}
