//! The traffic over the paths: what is lost, since when, and to which mechanism.
//!
//! The loss is integrated exactly between changes. Each dead path that has not been pruned is in
//! one [`Stage`]; its share of the loss is booked to that stage, so that the parts sum to the
//! whole whatever overlaps.

use super::config::{Config, Rehash};
use super::era::{EmptyNextHopGroup, Switches};
use super::link_set::LinkSet;
use super::route_table::RouteTable;
use crate::engine::{SimDuration, SimTime};

/// What a path that loses traffic waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// syncd to publish the link event.
    Publication,
    /// The loop iteration that was running when the notification came in.
    ResidualBatch,
    /// Its turn in the notification queue.
    NotificationQueue,
    /// The pass that handles its notification.
    NotificationPass,
    /// teamd and teamsyncd.
    Teamd,
    /// The LAG_TABLE pass (in a partial loss the LAG_MEMBER_TABLE pass).
    LagPass,
    /// The removal of its next hop from the groups.
    Pruning,
    /// Routes to be programmed again: the group is empty.
    RouteProgramming,
    /// FRR to write the routes again: the group is empty.
    Bgp,
}

/// Every stage, in the order of the metrics.
pub const STAGES: [Stage; 9] = [
    Stage::Publication,
    Stage::ResidualBatch,
    Stage::NotificationQueue,
    Stage::NotificationPass,
    Stage::Teamd,
    Stage::LagPass,
    Stage::Pruning,
    Stage::RouteProgramming,
    Stage::Bgp,
];

/// Loss rates of one path since the last change.
#[derive(Clone, Copy, Debug, Default)]
struct PathRate {
    /// Share of the path's own traffic that is lost.
    outage: f64,
    /// Share of all traffic that is lost on this path.
    loss: f64,
}

/// The loss of the traffic.
#[derive(Clone, Debug)]
pub struct Traffic {
    paths: u16,
    /// Share of a path's members that a flap takes down.
    weight: f64,
    rehash: Rehash,
    backup_route: bool,
    swap_empty_group: bool,
    /// Paths that are physically down.
    dead: LinkSet,
    /// Paths removed from the groups in the ASIC.
    pruned: LinkSet,
    stages: Vec<Stage>,
    rates: Vec<PathRate>,
    losing: Vec<u16>,
    /// Loss rate of routes whose group has no living member, beyond that of its dead members.
    rest: f64,
    rest_stage: Stage,
    /// Share of the routes whose group has no living member.
    without_path: f64,
    /// True while programming routes cannot make a difference: no version, programmed or not,
    /// would lose anything.
    is_calm: bool,
    since: SimTime,
    outages: Vec<f64>,
    parts: [f64; STAGES.len()],
}

impl Traffic {
    pub fn new(config: &Config, switches: &Switches) -> Self {
        let paths = config.topology.paths as u16;
        let members = config.topology.members;
        let down = config.flap.members.unwrap_or(members).min(members);
        Self {
            paths,
            weight: f64::from(down) / f64::from(members),
            rehash: config.topology.rehash,
            backup_route: config.topology.backup_route,
            swap_empty_group: switches.empty_next_hop_group
                == EmptyNextHopGroup::SwapToDefaultRoute,
            dead: LinkSet::default(),
            pruned: LinkSet::default(),
            stages: vec![Stage::Publication; usize::from(paths)],
            rates: vec![PathRate::default(); usize::from(paths)],
            losing: Vec::with_capacity(usize::from(paths)),
            rest: 0.0,
            rest_stage: Stage::Bgp,
            without_path: 0.0,
            is_calm: false,
            since: SimTime::ZERO,
            outages: vec![0.0; usize::from(paths)],
            parts: [0.0; STAGES.len()],
        }
    }

    /// Back to the start, with the paths `down` dead and pruned.
    pub fn reset(&mut self, down: LinkSet) {
        self.dead = down;
        self.pruned = down;
        self.stages.fill(Stage::Publication);
        self.rates.fill(PathRate::default());
        self.losing.clear();
        self.rest = 0.0;
        self.without_path = 0.0;
        self.since = SimTime::ZERO;
        self.outages.fill(0.0);
        self.parts = [0.0; STAGES.len()];
    }

    /// Books the loss since the last change; to be called before any change.
    pub fn advance(&mut self, now: SimTime) {
        let span = now.since(self.since);
        self.since = now;
        if span == SimDuration::ZERO || !self.is_losing() {
            return;
        }
        let seconds = span.as_seconds();
        for &path in &self.losing {
            let rate = self.rates[usize::from(path)];
            self.outages[usize::from(path)] += seconds * rate.outage;
            self.parts[self.stages[usize::from(path)] as usize] += seconds * rate.loss;
        }
        if self.without_path > 0.0 {
            self.parts[self.rest_stage as usize] += seconds * self.rest;
            self.outages.iter_mut().for_each(|outage| *outage += seconds * self.without_path);
        }
    }

    pub fn set_stage(&mut self, now: SimTime, path: u16, stage: Stage) {
        self.advance(now);
        self.stages[usize::from(path)] = stage;
    }

    pub fn stage(&self, path: u16) -> Stage {
        self.stages[usize::from(path)]
    }

    pub fn set_dead(&mut self, now: SimTime, path: u16, dead: bool) {
        self.advance(now);
        if dead { self.dead.insert(path) } else { self.dead.remove(path) }
    }

    pub fn set_pruned(&mut self, now: SimTime, path: u16, pruned: bool) {
        self.advance(now);
        if pruned { self.pruned.insert(path) } else { self.pruned.remove(path) }
    }

    /// True while anything is lost.
    pub fn is_losing(&self) -> bool {
        !self.losing.is_empty() || self.without_path > 0.0
    }

    /// The share of all traffic that is being lost.
    pub fn loss_rate(&self) -> f64 {
        let rates = self.losing.iter().map(|path| self.rates[usize::from(*path)].loss);
        rates.sum::<f64>() + self.rest
    }

    /// True while `path` is dead and in use, or alive and not in use.
    pub fn is_unsettled(&self, path: u16) -> bool {
        self.dead.contains(path) != self.pruned.contains(path)
    }

    /// True when nothing is lost and every living path is in use again.
    pub fn is_settled(&self) -> bool {
        !self.is_losing() && self.pruned.without(&self.dead).is_empty()
    }

    /// True when programming routes may make a difference.
    pub fn is_disturbed(&self) -> bool {
        !self.is_calm
    }

    /// Finds the rates anew after a change of paths or of programmed routes.
    pub fn recompute(&mut self, table: &RouteTable) {
        for &path in &self.losing {
            self.rates[usize::from(path)] = PathRate::default();
        }
        self.losing.clear();
        self.rest = 0.0;
        self.without_path = 0.0;
        let all_routes = f64::from(table.routes());
        for &id in table.live() {
            let version = table.version(id);
            let share = f64::from(version.routes) / all_routes;
            if version.members.is_empty() {
                if !self.backup_route {
                    self.rest += share;
                    self.without_path += share;
                }
                continue;
            }
            let in_use = version.members.without(&self.pruned);
            let dead = in_use.and(&self.dead);
            // A partly dead port-channel still carries the rest of its traffic.
            let has_living = self.weight < 1.0 || dead.len() < in_use.len();
            self.add_losses(share, in_use.len(), &dead, has_living);
        }
        self.is_calm = !self.is_losing()
            && table.versions().iter().all(|version| {
                let in_use = version.members.without(&self.pruned);
                !in_use.is_empty() && in_use.and(&self.dead).is_empty()
            });
        let frr_knows = table.current_members().and(&self.dead).is_empty();
        self.rest_stage = if frr_knows { Stage::RouteProgramming } else { Stage::Bgp };
    }

    fn add_losses(&mut self, share: f64, in_use: u32, dead: &LinkSet, has_living: bool) {
        if in_use == 0 && self.swap_empty_group && self.backup_route {
            return;
        }
        let own_share = match self.rehash {
            _ if !has_living => 1.0 / f64::from(self.paths),
            Rehash::Surviving => 1.0 / f64::from(self.paths),
            Rehash::AllMembers => 1.0 / f64::from(in_use.max(1)),
        };
        for path in dead.iter() {
            let rate = &mut self.rates[usize::from(path)];
            if rate.loss == 0.0 {
                self.losing.push(path);
            }
            rate.loss += share * own_share * self.weight;
            if has_living {
                rate.outage += share;
            }
        }
        if !has_living {
            // Then all of the routes' traffic is lost, on whichever path it used to go.
            self.rest += share * (1.0 - f64::from(dead.len()) * own_share).max(0.0);
            self.without_path += share;
        }
    }

    /// Seconds of all traffic lost in each stage, in the order of [`STAGES`].
    pub fn parts(&self) -> &[f64; STAGES.len()] {
        &self.parts
    }

    /// Seconds of its own traffic that each path has lost.
    pub fn outages(&self) -> &[f64] {
        &self.outages
    }
}
