//! Routes on their way from FRR to the ASIC: ROUTE_TABLE and what has been programmed.
//!
//! FRR's state of the paths changes with each peer that goes down or up. Every such state is a
//! [`Version`]: the set of next hops that FRR then writes with each route, and, once a route with
//! it has been programmed, one next-hop group for each address family. The table knows for each
//! route the version last written to ROUTE_TABLE and the version programmed.

use std::collections::VecDeque;

use rand::RngExt;

use super::bgp_scan::{BgpScan, Stretch};
use super::config::Config;
use super::era::{RouteConsumer, RouteTransport, Switches};
use super::link_set::LinkSet;
use crate::engine::{SimTime, Stream};

/// Number of a [`Version`].
pub type VersionId = u16;

const UNPROGRAMMED: VersionId = VersionId::MAX;

/// One state of the paths as FRR sees them.
#[derive(Clone, Debug)]
pub struct Version {
    /// The next hops FRR writes with a route; none when the route is withdrawn.
    pub members: LinkSet,
    /// Routes programmed with it.
    pub routes: u32,
    /// Whether its next-hop groups exist.
    has_group: bool,
    /// True when it has no next hops: FRR withdraws the route.
    is_withdrawal: bool,
}

impl Version {
    fn new(members: LinkSet, routes: u32) -> Self {
        Self { members, routes, has_group: routes > 0, is_withdrawal: members.is_empty() }
    }
}

/// A route popped from the table with the version it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub key: u32,
    pub version: VersionId,
}

/// What programming a route takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Remove the route entry. Removes are flushed first, then creates, then sets
    /// (swss:bulker.h `EntityBulker::flush`).
    Remove,
    /// Create the route entry.
    Create,
    /// Set its next-hop group.
    Set,
    /// Nothing: it is not there and is not to be.
    Nothing,
}

/// A run of writes in the ZMQ queue.
#[derive(Clone, Copy, Debug)]
struct Segment {
    stretch: Stretch,
    version: VersionId,
}

/// ROUTE_TABLE and the programmed routes.
#[derive(Debug)]
pub struct RouteTable {
    routes: u32,
    transport: RouteTransport,
    scan: BgpScan,
    versions: Vec<Version>,
    /// Versions with programmed routes.
    live: Vec<VersionId>,
    written: Vec<VersionId>,
    programmed: Vec<VersionId>,
    /// Routes of which the ASIC has no entry: not programmed yet, or withdrawn.
    absent: u32,
    /// Redis: the keys waiting, in no order, and a bit for each.
    waiting: Vec<u32>,
    is_waiting: Vec<u64>,
    /// ZMQ: the writes waiting.
    segments: VecDeque<Segment>,
    segment_entries: u64,
    /// Wake-ups of the executor not yet used: one PUBLISH for each key newly added, one used by
    /// each pass, so that empty passes follow once the keys are gone.
    wake_ups: u64,
    /// For merging within a batch: where each key stands in the batch, if the stamp is current.
    merge: Option<Merge>,
}

#[derive(Debug)]
struct Merge {
    stamp: u32,
    stamps: Vec<u32>,
    places: Vec<u32>,
}

impl RouteTable {
    pub fn new(config: &Config, switches: &Switches) -> Self {
        let routes = config.topology.routes;
        let size = routes as usize;
        let keeps_duplicates = switches.route_transport == RouteTransport::Zmq
            || switches.route_consumer == RouteConsumer::UntilEmpty;
        let merge = keeps_duplicates.then(|| Merge {
            stamp: 0,
            stamps: vec![0; size],
            places: vec![0; size],
        });
        Self {
            routes,
            transport: switches.route_transport,
            scan: BgpScan::new(routes, &config.bgp, &config.fpmsyncd),
            versions: Vec::new(),
            live: Vec::new(),
            written: vec![0; size],
            programmed: vec![0; size],
            absent: 0,
            waiting: Vec::with_capacity(size),
            is_waiting: vec![0; size.div_ceil(64)],
            segments: VecDeque::new(),
            segment_entries: 0,
            wake_ups: 0,
            merge,
        }
    }

    /// Back to the start: all routes written with `members`; the first `backlog` of them wait to
    /// be programmed, the others are.
    pub fn reset(&mut self, members: LinkSet, backlog: u32) {
        self.scan.reset();
        self.versions.clear();
        self.live.clear();
        self.written.fill(0);
        self.programmed.fill(0);
        self.programmed[..backlog as usize].fill(UNPROGRAMMED);
        self.waiting.clear();
        self.is_waiting.fill(0);
        self.segments.clear();
        self.segment_entries = 0;
        self.wake_ups = 0;
        let programmed = self.routes - backlog;
        self.absent = if members.is_empty() { self.routes } else { backlog };
        self.versions.push(Version::new(members, programmed));
        if programmed > 0 {
            self.live.push(0);
        }
        self.write(Stretch { start: 0, length: backlog }, 0);
    }

    /// FRR's paths have become `members`: every route will be written again.
    pub fn change_paths(&mut self, now: SimTime, members: LinkSet) {
        self.synchronise(now);
        self.versions.push(Version::new(members, 0));
        self.scan.restart(now);
    }

    /// The next hops FRR writes at present.
    pub fn current_members(&self) -> LinkSet {
        self.versions.last().map_or_else(LinkSet::default, |version| version.members)
    }

    /// Brings in the routes that fpmsyncd has written up to `now`.
    pub fn synchronise(&mut self, now: SimTime) {
        if let Some(stretch) = self.scan.advance(now) {
            let version = (self.versions.len() - 1) as VersionId;
            self.write(stretch, version);
        }
    }

    /// When fpmsyncd writes next.
    pub fn next_write(&self) -> Option<SimTime> {
        self.scan.next_visible()
    }

    /// Routes that wait to be popped.
    pub fn backlog(&self) -> u64 {
        self.waiting.len() as u64 + self.segment_entries
    }

    /// True while routes wait or are still to be written.
    pub fn has_work(&self) -> bool {
        self.backlog() > 0 || self.scan.is_under_way()
    }

    /// Routes still to be brought in, written or not.
    pub fn to_come(&self) -> u64 {
        self.scan.left()
    }

    /// Wake-ups of the executor that are not used yet.
    pub fn wake_ups(&self) -> u64 {
        match self.transport {
            RouteTransport::Redis => self.wake_ups,
            RouteTransport::Zmq => u64::from(self.segment_entries > 0),
        }
    }

    /// Uses up to `count` wake-ups.
    pub fn use_wake_ups(&mut self, count: u64) {
        self.wake_ups = self.wake_ups.saturating_sub(count);
    }

    /// A new batch begins: what is popped from now on is merged by key.
    pub fn begin_batch(&mut self) {
        if let Some(merge) = &mut self.merge {
            merge.stamp += 1;
        }
    }

    /// Pops up to `limit` entries into `batch` and returns how many were popped: in Redis random
    /// keys (SPOP), in ZMQ the oldest.
    pub fn pop(&mut self, limit: u64, random: &mut Stream, batch: &mut Vec<Entry>) -> u64 {
        match self.transport {
            RouteTransport::Redis => self.pop_keys(limit, random, batch),
            RouteTransport::Zmq => self.pop_segments(limit, batch),
        }
    }

    /// True when the ASIC has an entry of every route, so that only [`Operation::Set`] and
    /// [`Operation::Remove`] are left.
    pub fn is_complete(&self) -> bool {
        self.absent == 0
    }

    /// What it takes to program `entry`.
    pub fn operation(&self, entry: Entry) -> Operation {
        let programmed = self.programmed[entry.key as usize];
        let is_there = programmed != UNPROGRAMMED && !self.version(programmed).is_withdrawal;
        let is_to_be = !self.version(entry.version).is_withdrawal;
        match (is_there, is_to_be) {
            (true, true) => Operation::Set,
            (true, false) => Operation::Remove,
            (false, true) => Operation::Create,
            (false, false) => Operation::Nothing,
        }
    }

    /// Programs `entry`. Returns the version that has lost its last route by it.
    pub fn program(&mut self, entry: Entry) -> Option<VersionId> {
        let old = std::mem::replace(&mut self.programmed[entry.key as usize], entry.version);
        if old == entry.version {
            return None;
        }
        let new = &mut self.versions[usize::from(entry.version)];
        new.routes += 1;
        let (is_new, is_withdrawal) = (new.routes == 1, new.is_withdrawal);
        if is_new {
            self.live.push(entry.version);
        }
        self.absent += u32::from(is_withdrawal);
        if old == UNPROGRAMMED {
            self.absent -= 1;
            return None;
        }
        let old_version = &mut self.versions[usize::from(old)];
        self.absent -= u32::from(old_version.is_withdrawal);
        old_version.routes -= 1;
        if old_version.routes > 0 {
            return None;
        }
        self.live.retain(|version| *version != old);
        Some(old)
    }

    /// Creates the next-hop groups of `version` unless they exist or it has no next hops; returns
    /// how many members each gets.
    pub fn create_group(&mut self, version: VersionId, if_down: &LinkSet) -> Option<u64> {
        let version = &mut self.versions[usize::from(version)];
        if version.has_group || version.is_withdrawal {
            return None;
        }
        version.has_group = true;
        Some(u64::from(version.members.without(if_down).len()))
    }

    /// Removes the next-hop groups of `version` unless a route uses them; returns how many
    /// members each had.
    pub fn remove_group(&mut self, version: VersionId, if_down: &LinkSet) -> Option<u64> {
        let version = &mut self.versions[usize::from(version)];
        if version.routes > 0 || !version.has_group {
            return None;
        }
        version.has_group = false;
        Some(u64::from(version.members.without(if_down).len()))
    }

    /// True when a newer write of the entry's route waits or has been popped.
    pub fn is_superseded(&self, entry: Entry) -> bool {
        self.written[entry.key as usize] != entry.version
    }

    pub fn version(&self, version: VersionId) -> &Version {
        &self.versions[usize::from(version)]
    }

    /// Versions with programmed routes.
    pub fn live(&self) -> &[VersionId] {
        &self.live
    }

    /// Live versions with `link` among their next hops.
    pub fn live_with(&self, link: u16) -> u32 {
        let holds = |version: &&VersionId| self.version(**version).members.contains(link);
        self.live.iter().filter(holds).count() as u32
    }

    /// Every version so far, also those that no route is programmed with.
    pub fn versions(&self) -> &[Version] {
        &self.versions
    }

    pub fn routes(&self) -> u32 {
        self.routes
    }

    fn write(&mut self, stretch: Stretch, version: VersionId) {
        if self.transport == RouteTransport::Zmq {
            if stretch.length > 0 {
                self.segments.push_back(Segment { stretch, version });
                self.segment_entries += u64::from(stretch.length);
            }
            let (first, second) = split(stretch, self.routes);
            self.written[first].fill(version);
            self.written[second].fill(version);
            return;
        }
        let (first, second) = split(stretch, self.routes);
        for range in [first, second] {
            self.written[range.clone()].fill(version);
            self.add_keys(range);
        }
    }

    /// Adds the keys of `range` that are not waiting already, a word of bits at a time.
    fn add_keys(&mut self, range: std::ops::Range<usize>) {
        let mut key = range.start;
        while key < range.end {
            let word = key / 64;
            let end = ((word + 1) * 64).min(range.end);
            let width = end - key;
            let mask = (u64::MAX >> (64 - width)) << (key % 64);
            let mut fresh = mask & !self.is_waiting[word];
            self.is_waiting[word] |= mask;
            self.wake_ups += u64::from(fresh.count_ones());
            while fresh != 0 {
                self.waiting.push(word as u32 * 64 + fresh.trailing_zeros());
                fresh &= fresh - 1;
            }
            key = end;
        }
    }

    fn pop_keys(&mut self, limit: u64, random: &mut Stream, batch: &mut Vec<Entry>) -> u64 {
        let count = limit.min(self.waiting.len() as u64);
        let Self { waiting, is_waiting, written, merge, .. } = self;
        let popped = (0..count).map(|_| {
            let place = random.random_range(0..waiting.len() as u32);
            let key = waiting.swap_remove(place as usize);
            is_waiting[key as usize / 64] &= !(1 << (key % 64));
            Entry { key, version: written[key as usize] }
        });
        match merge {
            None => batch.extend(popped),
            Some(merge) => popped.for_each(|entry| merge.add(batch, entry)),
        }
        count
    }

    fn pop_segments(&mut self, limit: u64, batch: &mut Vec<Entry>) -> u64 {
        let count = limit.min(self.segment_entries);
        let mut left = count;
        while left > 0 {
            let Some(segment) = self.segments.front_mut() else { break };
            let take = left.min(u64::from(segment.stretch.length)) as u32;
            for offset in 0..take {
                let key = (segment.stretch.start + offset) % self.routes;
                let entry = Entry { key, version: segment.version };
                match &mut self.merge {
                    None => batch.push(entry),
                    Some(merge) => merge.add(batch, entry),
                }
            }
            segment.stretch.start = (segment.stretch.start + take) % self.routes;
            segment.stretch.length -= take;
            if segment.stretch.length == 0 {
                self.segments.pop_front();
            }
            left -= u64::from(take);
        }
        self.segment_entries -= count;
        count
    }
}

impl Merge {
    /// Adds an entry to the batch; a later SET of the same key replaces the earlier one
    /// (swss:orch.cpp `addToSync`).
    fn add(&mut self, batch: &mut Vec<Entry>, entry: Entry) {
        let key = entry.key as usize;
        if self.stamps[key] == self.stamp {
            batch[self.places[key] as usize] = entry;
        } else {
            self.stamps[key] = self.stamp;
            self.places[key] = batch.len() as u32;
            batch.push(entry);
        }
    }
}

/// A stretch as one range of keys, or two when it wraps around the table's end.
fn split(stretch: Stretch, routes: u32) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    let start = stretch.start as usize;
    let end = start + stretch.length as usize;
    let routes = routes as usize;
    if end <= routes { (start..end, 0..0) } else { (start..routes, 0..end - routes) }
}
