//! The eras of swss: which behaviour was in the field when, as presets of individual switches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::Config;

/// A range of swss commits with the same behaviour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Era {
    /// November 2021 (#1992) to 9 October 2024 (#3269): the route consumer pops its whole backlog
    /// before one drain; one port notification per pass.
    A,
    /// 9 October 2024 to 12 April 2025, and before November 2021: one pop per pass; one port
    /// notification per pass.
    #[default]
    B1,
    /// Since 12 April 2025 (#3595): one pop per pass; all port notifications per pass, also in
    /// every sweep.
    B2,
    /// ZMQ routes, mid-2025 to October 2025 (#3910): pops until empty, then one drain.
    Z1,
    /// ZMQ routes, October 2025 to May 2026 (#4578): one pop per pass.
    Z2,
    /// ZMQ routes since May 2026: pops until empty, the batch is unbounded.
    Z3,
}

/// How much the route consumer pops before it drains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RouteConsumer {
    /// One `pops()` of at most `pop_batch_size` keys.
    OnePop,
    /// `pops()` until nothing is left, then one drain over all of it.
    UntilEmpty,
}

/// How many port notifications one pass handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotificationPop {
    /// The oldest one.
    One,
    /// All that are queued (at most 2048), also in the sweep after any executor's pass.
    All,
}

/// How routes come from fpmsyncd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RouteTransport {
    /// A Redis key set: a key that is written again before it is popped is popped once, and keys
    /// are popped in random order.
    Redis,
    /// A ZMQ queue: every write is an entry, first in first out.
    Zmq,
}

/// What becomes of routes whose next-hop group has lost its last member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EmptyNextHopGroup {
    /// They lose traffic until each has been programmed again.
    ReprogramRoutes,
    /// The group takes over the default route's next hops at once (swss #3389, March 2025).
    SwapToDefaultRoute,
}

/// Most notifications taken by one `pops()` (swss-common:notificationconsumer.h).
pub const MAX_NOTIFICATION_POP: usize = 2048;

/// The switches in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switches {
    /// How much the route consumer pops before it drains.
    pub route_consumer: RouteConsumer,
    /// How many port notifications one pass handles.
    pub port_notifications: NotificationPop,
    /// How routes come from fpmsyncd.
    pub route_transport: RouteTransport,
    /// What becomes of routes whose next-hop group is empty.
    pub empty_next_hop_group: EmptyNextHopGroup,
}

impl Era {
    /// The era's switches.
    #[must_use]
    pub const fn switches(self) -> Switches {
        use EmptyNextHopGroup::{ReprogramRoutes, SwapToDefaultRoute};
        use NotificationPop::{All, One};
        use RouteConsumer::{OnePop, UntilEmpty};
        use RouteTransport::{Redis, Zmq};
        let (route_consumer, port_notifications, route_transport, empty_next_hop_group) = match self
        {
            Self::A => (UntilEmpty, One, Redis, ReprogramRoutes),
            Self::B1 => (OnePop, One, Redis, ReprogramRoutes),
            Self::B2 => (OnePop, All, Redis, SwapToDefaultRoute),
            Self::Z1 | Self::Z3 => (UntilEmpty, All, Zmq, SwapToDefaultRoute),
            Self::Z2 => (OnePop, All, Zmq, SwapToDefaultRoute),
        };
        Switches { route_consumer, port_notifications, route_transport, empty_next_hop_group }
    }
}

impl Switches {
    /// The switches of `config`: its era's, but for those it sets itself.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let era = config.era.switches();
        Self {
            route_consumer: config.route_consumer.unwrap_or(era.route_consumer),
            port_notifications: config.port_notifications.unwrap_or(era.port_notifications),
            route_transport: config.route_transport.unwrap_or(era.route_transport),
            empty_next_hop_group: config.empty_next_hop_group.unwrap_or(era.empty_next_hop_group),
        }
    }
}
