//! Programming one popped batch: RouteOrch's `doTask` and the bulker's `flush`.
//!
//! Phase 1 parses the entries and creates the next-hop groups they need; phase 2 flushes removes,
//! creates and sets in bulk calls of at most `bulk_chunk_size`; phase 3 publishes the responses
//! and removes the groups that have lost their last route (swss:routeorch.cpp, bulker.h).
//! The main loop steps it, or the ring thread does.

use super::config::Mode;
use super::link_set::LinkSet;
use super::route_table::{Entry, Operation, RouteTable, VersionId};
use super::service::{Service, scaled};
use super::syncd::Request;
use crate::engine::SimDuration;

/// A batch being programmed.
#[derive(Debug, Default)]
pub struct Programmer {
    /// The entries in the order of the bulk calls.
    entries: Vec<Entry>,
    /// What they take: runs of one operation with the place at which each ends.
    runs: Vec<(Operation, usize)>,
    /// For sorting a batch of mixed operations.
    sorted: Vec<(Operation, Entry)>,
    /// Entries before this one are programmed (sync) or handed to syncd (async).
    done: usize,
    factor: f64,
    orphans: Vec<VersionId>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    Preparing,
    /// The bulk call that ends before this entry is under way.
    Bulk(usize),
    Publishing,
}

/// What the programmer needs of its surroundings.
pub struct Surroundings<'a> {
    pub table: &'a mut RouteTable,
    pub service: &'a mut Service,
    /// Next hops flagged IFDOWN, which are left out of new groups.
    pub if_down: LinkSet,
    pub families: u64,
    pub bulk_chunk_size: usize,
    pub mode: Mode,
    /// Async: requests handed to syncd, with how long it will take to serve each.
    pub handed_over: &'a mut Vec<(SimDuration, Request)>,
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Something that occupies the thread for a while, and syncd with it if `in_syncd`.
    Busy { span: SimDuration, in_syncd: bool },
    /// The batch is done.
    Done,
}

impl Programmer {
    pub fn reset(&mut self) {
        self.entries.clear();
        self.runs.clear();
        self.done = 0;
        self.orphans.clear();
        self.phase = Phase::Idle;
    }

    /// Takes the entries of `batch`, leaving those to `stuck` whose next hops are all IFDOWN
    /// (swss #3394, #3520), and begins with phase 1.
    pub fn begin(
        &mut self,
        batch: &mut Vec<Entry>,
        stuck: &mut Vec<Entry>,
        factor: f64,
        around: &mut Surroundings<'_>,
    ) -> Progress {
        self.reset();
        self.factor = factor;
        let parsed = batch.len() as u64;
        let mut groups = SimDuration::ZERO;
        let mut is_plain = around.table.is_complete();
        // Neighbouring entries mostly have one version, and what depends on it alone is cheap.
        let mut previous = None;
        for entry in batch.iter() {
            if previous == Some(entry.version) {
                continue;
            }
            previous = Some(entry.version);
            let members = around.table.version(entry.version).members;
            if members.without(&around.if_down).is_empty() {
                is_plain = false;
            } else {
                groups = groups.saturating_add(create_groups(entry.version, around));
            }
        }
        if is_plain {
            std::mem::swap(&mut self.entries, batch);
            self.runs.push((Operation::Set, self.entries.len()));
        } else {
            self.arrange(batch, stuck, around);
        }
        self.phase = Phase::Preparing;
        let prepare = around.service.prepare_per_route.draw_sum(parsed);
        let fixed = around.service.batch.draw();
        let mut span = prepare.saturating_add(fixed);
        if around.mode == Mode::Async {
            around.handed_over.push((groups, Request::Other));
        } else {
            span = span.saturating_add(groups);
        }
        Progress::Busy { span: scaled(span, factor), in_syncd: false }
    }

    /// Sorts out the stuck entries and orders the others by operation.
    fn arrange(
        &mut self,
        batch: &mut Vec<Entry>,
        stuck: &mut Vec<Entry>,
        around: &Surroundings<'_>,
    ) {
        self.sorted.clear();
        for entry in batch.drain(..) {
            let members = around.table.version(entry.version).members;
            if !members.is_empty() && members.without(&around.if_down).is_empty() {
                stuck.push(entry);
            } else {
                self.sorted.push((around.table.operation(entry), entry));
            }
        }
        self.sorted.sort_by_key(|(operation, _)| *operation);
        for (operation, entry) in &self.sorted {
            self.entries.push(*entry);
            match self.runs.last_mut() {
                Some((last, end)) if last == operation => *end += 1,
                _ => self.runs.push((*operation, self.entries.len())),
            }
        }
    }

    /// The step under way has ended: its effects take place, and the next begins.
    pub fn advance(&mut self, around: &mut Surroundings<'_>) -> Progress {
        match self.phase {
            Phase::Idle => return Progress::Done,
            Phase::Preparing => {}
            Phase::Bulk(end) => {
                for entry in &self.entries[self.done..end] {
                    self.orphans.extend(around.table.program(*entry));
                }
                self.done = end;
            }
            Phase::Publishing => {
                self.phase = Phase::Idle;
                return Progress::Done;
            }
        }
        if around.mode == Mode::Async {
            self.hand_over(around);
        }
        if self.done < self.entries.len() { self.next_bulk(around) } else { self.publish(around) }
    }

    /// True while a batch is under way.
    pub fn is_busy(&self) -> bool {
        self.phase != Phase::Idle
    }

    /// Entries of the batch under way that are not programmed yet.
    pub fn left(&self) -> u64 {
        if self.is_busy() { (self.entries.len() - self.done) as u64 } else { 0 }
    }

    /// True while a bulk call of this batch keeps syncd busy.
    pub fn is_in_bulk(&self) -> bool {
        matches!(self.phase, Phase::Bulk(_))
    }

    /// Entries programmed so far.
    pub fn done(&self) -> usize {
        self.done
    }

    fn next_bulk(&mut self, around: &mut Surroundings<'_>) -> Progress {
        let (operation, end) = self.bulk_end(around.bulk_chunk_size);
        let count = (end - self.done) as u64;
        self.phase = Phase::Bulk(end);
        let span = scaled(around.service.bulk(operation, count), self.factor);
        Progress::Busy { span, in_syncd: true }
    }

    /// A bulk call holds entries of one operation, at most `chunk` of them.
    fn bulk_end(&self, chunk: usize) -> (Operation, usize) {
        let run = self.runs.iter().find(|(_, end)| *end > self.done);
        let (operation, end) = run.copied().unwrap_or((Operation::Nothing, self.entries.len()));
        (operation, end.min(self.done + chunk))
    }

    fn hand_over(&mut self, around: &mut Surroundings<'_>) {
        while self.done < self.entries.len() {
            let (operation, end) = self.bulk_end(around.bulk_chunk_size);
            let chunk = self.entries[self.done..end].to_vec();
            let span = scaled(around.service.bulk(operation, chunk.len() as u64), self.factor);
            around.handed_over.push((span, Request::Routes(chunk)));
            self.done = end;
        }
    }

    fn publish(&mut self, around: &mut Surroundings<'_>) -> Progress {
        self.phase = Phase::Publishing;
        let mut span = around.service.publish_per_route.draw_sum(self.entries.len() as u64);
        for version in self.orphans.drain(..) {
            if let Some(members) = around.table.remove_group(version, &around.if_down) {
                let groups = around.service.next_hop_groups(around.families, members);
                span = span.saturating_add(groups);
            }
        }
        Progress::Busy { span: scaled(span, self.factor), in_syncd: false }
    }
}

/// Creates the groups of `version` unless they exist.
fn create_groups(version: VersionId, around: &mut Surroundings<'_>) -> SimDuration {
    match around.table.create_group(version, &around.if_down) {
        Some(members) => around.service.next_hop_groups(around.families, members),
        None => SimDuration::ZERO,
    }
}
