//! What each Neutron release does, and how the single switches override it.

use super::config::{Agent, ArpMethod, Config, Era, Liveness};
use super::workload::UpdateKind;

/// How many workers a release has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pool {
    /// Always so many.
    Fixed(u32),
    /// As many as routers, within bounds (837c9283ab, Launchpad 1813787).
    Routers { least: u32, most: u32 },
}

/// What a release does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Release {
    arp_method: ArpMethod,
    pool: Pool,
    /// Related routers go before all others.
    related_first: bool,
    /// Sync in chunks (0e97feb0f3), timeouts that double (0ffab0930c), reports that are calls
    /// (3b6bd917e4) with a queue of their own (7267d75fdd): all between 7.0 and 9.0.
    since_newton: bool,
}

const fn release(era: Era) -> Release {
    let (arp_method, pool) = match era {
        Era::Liberty | Era::Newton => (ArpMethod::TwoSpawns, Pool::Fixed(8)),
        Era::Ocata => (ArpMethod::SpawnAndPrivsep, Pool::Fixed(8)),
        Era::Rocky => (ArpMethod::TwoPrivsep, Pool::Fixed(8)),
        Era::Stein => (ArpMethod::TwoPrivsep, Pool::Routers { least: 8, most: 32 }),
        Era::Ussuri => (ArpMethod::OnePrivsep, Pool::Routers { least: 8, most: 32 }),
        Era::Master => (ArpMethod::OnePrivsep, Pool::Fixed(32)),
        Era::Batched => (ArpMethod::Batched, Pool::Fixed(32)),
    };
    Release {
        arp_method,
        pool,
        related_first: matches!(era, Era::Stein | Era::Ussuri | Era::Master | Era::Batched),
        since_newton: !matches!(era, Era::Liberty),
    }
}

/// The rules of one configuration: the era's, where no switch overrides them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// How an ARP entry is written.
    pub arp_method: ArpMethod,
    /// Workers that take routers from the queue.
    pub workers: u32,
    /// Related routers go before all others.
    pub related_first: bool,
    /// A full sync asks in chunks.
    pub sync_in_chunks: bool,
    /// A timeout doubles the method's timeout.
    pub rpc_backoff: bool,
    /// Reports have a queue of their own at the server.
    pub own_queue: bool,
    /// A report is a call.
    pub report_is_call: bool,
}

impl Rules {
    /// The rules of `config`, whose agent has `routers` routers.
    #[must_use]
    pub fn of(config: &Config, routers: u32) -> Self {
        let release = release(config.era);
        let Agent { arp_method, workers, sync_in_chunks, rpc_backoff, .. } = config.agent;
        let Liveness { own_queue, report_is_call, .. } = config.liveness;
        let pool = match release.pool {
            Pool::Fixed(workers) => workers,
            Pool::Routers { least, most } => routers.clamp(least, most),
        };
        Self {
            arp_method: arp_method.unwrap_or(release.arp_method),
            workers: workers.unwrap_or(pool).max(1),
            related_first: release.related_first,
            sync_in_chunks: sync_in_chunks.unwrap_or(release.since_newton),
            rpc_backoff: rpc_backoff.unwrap_or(release.since_newton),
            own_queue: own_queue.unwrap_or(release.since_newton),
            report_is_call: report_is_call.unwrap_or(release.since_newton),
        }
    }

    /// The level of an update in the queue, lowest first: `PRIORITY_*` in Neutron's l3/agent.py.
    #[must_use]
    pub const fn level(&self, kind: UpdateKind) -> u8 {
        match (kind, self.related_first) {
            (UpdateKind::Related, true) => 0,
            (UpdateKind::Rpc, true) => 1,
            (UpdateKind::Sync, true) => 2,
            (UpdateKind::PrefixDelegation, true) => 3,
            (UpdateKind::Related | UpdateKind::Rpc, false) => 0,
            (UpdateKind::Sync, false) => 1,
            (UpdateKind::PrefixDelegation, false) => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(era: Era, routers: u32) -> Rules {
        Rules::of(&Config { era, ..Config::default() }, routers)
    }

    #[test]
    fn the_worker_pool_follows_the_release() {
        assert_eq!(rules(Era::Liberty, 5000).workers, 8);
        assert_eq!(rules(Era::Stein, 3).workers, 8);
        assert_eq!(rules(Era::Stein, 20).workers, 20);
        assert_eq!(rules(Era::Ussuri, 5000).workers, 32);
        assert_eq!(rules(Era::Master, 3).workers, 32);
    }

    #[test]
    fn a_prefix_delegation_comes_last_and_a_related_router_first_in_new_releases() {
        let (old, new) = (rules(Era::Liberty, 1), rules(Era::Master, 1));
        assert!(old.level(UpdateKind::PrefixDelegation) > old.level(UpdateKind::Sync));
        assert!(new.level(UpdateKind::PrefixDelegation) > new.level(UpdateKind::Sync));
        assert!(new.level(UpdateKind::Related) < new.level(UpdateKind::Rpc));
        assert_eq!(old.level(UpdateKind::Related), old.level(UpdateKind::Rpc));
    }

    #[test]
    fn a_switch_overrides_the_release() {
        let mut config = Config { era: Era::Liberty, ..Config::default() };
        assert!(!Rules::of(&config, 1).sync_in_chunks);
        config.agent.sync_in_chunks = Some(true);
        config.agent.workers = Some(3);
        let rules = Rules::of(&config, 1);
        assert!(rules.sync_in_chunks);
        assert_eq!(rules.workers, 3);
    }
}
