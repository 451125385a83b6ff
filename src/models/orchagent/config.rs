//! What a user sets of orchagent and of what surrounds it.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::era::{EmptyNextHopGroup, Era, NotificationPop, RouteConsumer, RouteTransport};
use crate::engine::SimDuration;
use crate::quantities::{DurationDistribution, Rate};

/// Route updates per second unless set.
const UPDATE_RATE: NonZeroU32 = NonZeroU32::new(20_000).unwrap();

/// Most port-channels or routed ports on one ASIC.
pub const MAX_LINKS: u32 = 512;

/// SONiC orchagent, syncd, teamd and FRR on one ASIC, and the links that flap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Which swss behaviour: presets of `route_consumer`, `port_notifications`, `route_transport`
    /// and `empty_next_hop_group`, each of which can be set on its own.
    #[schemars(extend("x-source" = "swss commits #1992, #3269, #3595, #3910, #4578"))]
    pub era: Era,
    /// How SAI calls reach syncd.
    #[schemars(extend("x-source" = "swss:orchagent/main.cpp -s, -z; swss_vars.j2 (sync unless disabled)"))]
    pub mode: Mode,
    /// Whether the executors' declared priorities take effect. They do not in any released swss.
    #[schemars(extend("x-source" = "swss:orchagent/orch.h class Executor; sonic-buildimage#10662"))]
    pub priority_mode: PriorityMode,
    /// Keys taken from Redis by one `pops()` (orchagent `-b`).
    #[schemars(range(min = 1, max = 1_000_000), extend("x-unit" = "keys", "x-source" = "sonic-buildimage:dockers/docker-orchagent/orchagent.sh: -b 1024"))]
    pub pop_batch_size: u32,
    /// Entries of one SAI bulk call (orchagent `-k`): a batch of 1024 is two calls, 1000 + 24.
    #[schemars(range(min = 1, max = 1_000_000), extend("x-unit" = "entries", "x-source" = "swss:orchagent/orchdaemon.cpp gMaxBulkSize"))]
    pub bulk_chunk_size: u32,
    /// Overrides the era: how much the route consumer pops before it drains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_consumer: Option<RouteConsumer>,
    /// Overrides the era: how many port notifications one pass handles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port_notifications: Option<NotificationPop>,
    /// Overrides the era: how routes come from fpmsyncd.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_transport: Option<RouteTransport>,
    /// Overrides the era: what becomes of routes whose next-hop group has lost its last member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty_next_hop_group: Option<EmptyNextHopGroup>,
    /// Whether a port notification replaces a queued one that says the same of the same port.
    #[schemars(extend("x-source" = "swss-common LruDedup queue, at HEAD of 2026; not in the eras A and B"))]
    pub deduplicate_notifications: bool,
    /// The ring thread for routes (orchagent `-R`).
    pub ring: Ring,
    /// What each step of the main loop costs.
    pub costs: Costs,
    /// Links, routes and what is under way when the run starts.
    pub topology: Topology,
    /// Which links flap, and when.
    pub flap: Flap,
    /// teamd and teamsyncd.
    pub teamd: Teamd,
    /// bgpd and zebra.
    pub bgp: Bgp,
    /// fpmsyncd.
    pub fpmsyncd: Fpmsyncd,
}

/// How SAI calls reach syncd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Each call blocks orchagent until syncd has answered, over Redis.
    #[default]
    Sync,
    /// Calls return at once and queue up in syncd, first in first out.
    Async,
    /// As `sync`, over ZMQ: set the costs of the SAI calls accordingly.
    ZmqSync,
}

/// How the next executor is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PriorityMode {
    /// The least recently used of the ready ones: what really happens.
    #[default]
    Lru,
    /// The one with the highest declared priority, the least recently used among equals.
    Honoured,
}

/// The ring thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ring {
    /// Whether popped route batches go to a thread of their own.
    #[schemars(extend("x-source" = "swss #3242, DEVICE_METADATA ring_thread_enabled"))]
    pub enabled: bool,
    /// Batches that the ring holds (its size less one).
    #[schemars(range(min = 1, max = 100_000), extend("x-unit" = "batches", "x-source" = "swss RING_SIZE 30, one slot stays free"))]
    pub slots: u32,
    /// How long a consumer of another table sleeps before it looks again whether the ring is
    /// empty and idle.
    #[schemars(extend("x-minimum" = "1 ms", "x-source" = "swss Executor::processAnyTask"))]
    pub poll_interval: SimDuration,
}

/// What each step costs. Per-route costs of a batch are drawn as one sum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Costs {
    /// `select()` and the rest of one loop iteration that does not depend on the executor.
    #[schemars(extend("x-source" = "sonic-buildimage#27098: median scheduling gap 0.09 ms"))]
    pub select: DurationDistribution,
    /// Popping one route key: the Lua script runs inside Redis, which serves no one else meanwhile.
    #[schemars(extend("x-source" = "sonic-buildimage#16125: 8192 keys took more than 5.19 s on an S6100, at least 0.634 ms each"))]
    pub pop_per_key: DurationDistribution,
    /// Taking one route entry from the ZMQ queue, in the eras whose routes come over ZMQ.
    #[schemars(extend("x-source" = "swss-common#715: 10K entries in 120 ms, against 1796 ms through Redis"))]
    pub zmq_pop_per_entry: DurationDistribution,
    /// A pop that finds nothing: one EVALSHA and a sweep.
    #[schemars(extend("x-source" = "inferred: 0.1 to 0.3 ms"))]
    pub empty_pop: DurationDistribution,
    /// Parsing one route and filling the bulker.
    #[schemars(extend("x-source" = "assumption: inside the published per-route figures"))]
    pub prepare_per_route: DurationDistribution,
    /// Creating one route entry in SAI.
    #[schemars(extend("x-source" = "sonic-buildimage PR 21771: about 1500 routes/s"))]
    pub sai_create_route: DurationDistribution,
    /// Setting the next-hop group of one route entry in SAI.
    #[schemars(extend("x-source" = "sonic-buildimage PR 21771: about 1500 routes/s"))]
    pub sai_set_route: DurationDistribution,
    /// Removing one route entry in SAI.
    #[schemars(extend("x-source" = "sonic-buildimage PR 21771: about 1500 routes/s"))]
    pub sai_remove_route: DurationDistribution,
    /// One SAI bulk call, whatever its size.
    #[schemars(extend("x-source" = "assumption: inside the published per-route figures"))]
    pub sai_bulk_call: DurationDistribution,
    /// Publishing the response of one route and writing its state.
    #[schemars(extend("x-source" = "SONiC:doc/BGP/BGP-supress-fib-pending.md 7.5: 1000 in 0.641 s, 0.150 s pipelined"))]
    pub publish_per_route: DurationDistribution,
    /// What one route batch costs whatever its size.
    #[schemars(extend("x-source" = "platform dependent: 13 to 285 ms fitted to SONiC:doc/route-performance, 84 ms to swss#4515; calibrate"))]
    pub batch: DurationDistribution,
    /// Coefficient of variation of the time of a whole route batch (log-normal, mean 1).
    #[schemars(range(min = 0.0, max = 3.0), extend("x-unit" = "1", "x-source" = "sonic-buildimage#27098: quartiles 916 and 1315 ms of ROUTE_TABLE runs give 0.27"))]
    pub batch_variation: f64,
    /// Handling one port notification: database writes and the SAI set of the host interface.
    #[schemars(extend("x-source" = "swss#3180: 0.88 ms to 9.85 ms after the SAI callback"))]
    pub notification: DurationDistribution,
    /// From the ASIC's event to syncd's publication, when syncd is not busy.
    #[schemars(extend("x-source" = "swss#3180: 0.88 ms"))]
    pub notification_delivery: DurationDistribution,
    /// Handling one LAG_TABLE key, without the next-hop groups.
    #[schemars(extend("x-source" = "swss#3507: one synchronous SAI set 1.8 ms"))]
    pub lag: DurationDistribution,
    /// Handling one LAG_MEMBER_TABLE key: two SAI sets.
    #[schemars(extend("x-source" = "swss#3507: one synchronous SAI set 1.8 ms"))]
    pub lag_member: DurationDistribution,
    /// One attempt to delete a neighbour.
    #[schemars(extend("x-source" = "assumption: a map look-up"))]
    pub neighbour: DurationDistribution,
    /// Creating one next-hop group without its members.
    #[schemars(extend("x-source" = "swss#3507: one synchronous SAI call 1.8 ms"))]
    pub next_hop_group: DurationDistribution,
    /// Creating, or removing, one member of a next-hop group.
    #[schemars(extend("x-source" = "aristanetworks/sonic#59: at least 2.5 ms"))]
    pub next_hop_group_member: DurationDistribution,
    /// The `doTask` sweep over every Orch after each iteration, with nothing pending.
    #[schemars(extend("x-source" = "inferred: 0.1 to 0.3 ms with the empty pop"))]
    pub sweep: DurationDistribution,
    /// Trying one entry again that is still pending, in every sweep.
    #[schemars(extend("x-source" = "assumption: at most 0.1 to 0.2 s per flapped port in sum, or 128 keys could not have given 2 s"))]
    pub retry_per_entry: DurationDistribution,
}

/// Links, routes and what is under way when the run starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Topology {
    /// Equal-cost paths: port-channels or routed ports, each a next hop of every route.
    #[schemars(range(min = 1, max = 512), extend("x-unit" = "links", "x-source" = "sonic-buildimage#21586: 16 uplinks"))]
    pub paths: u32,
    /// What a path is.
    #[schemars(extend("x-source" = "sonic-mgmt:tests/snappi_tests/bgp: uplink port-channels"))]
    pub link: LinkKind,
    /// Member ports of each port-channel.
    #[schemars(range(min = 1, max = 64), extend("x-unit" = "ports", "x-source" = "sonic-mgmt:tests/snappi_tests/variables.py: one member in all but one"))]
    pub members: u32,
    /// Routes, over all address families.
    #[schemars(range(min = 1, max = 4_000_000), extend("x-unit" = "routes", "x-source" = "sonic-buildimage#21586: 30K IPv4 + 30K IPv6"))]
    pub routes: u32,
    /// Address families, each with next-hop groups of its own.
    #[schemars(range(min = 1, max = 2), extend("x-unit" = "families", "x-source" = "sonic-buildimage#21586: IPv4 and IPv6"))]
    pub families: u32,
    /// Whether a route that has lost every uplink is covered by another (the default route over
    /// the hubs).
    #[schemars(extend("x-source" = "sonic-mgmt:tests/snappi_tests/bgp: hubs announce a default route"))]
    pub backup_route: bool,
    /// Who drops the kernel's carrier when the ASIC reports a link down.
    #[schemars(extend("x-source" = "SONiC link-event-damping HLD; SONiC#194 for the driver (Mellanox)"))]
    pub carrier_source: CarrierSource,
    /// Where the traffic of a member goes that has been pruned from its group.
    #[schemars(extend("x-source" = "assumption: the loss formula of sonic-mgmt's test weights each path's outage with its share before the flap; `all_members` is the other extreme"))]
    pub rehash: Rehash,
    /// Routes that wait in ROUTE_TABLE, not yet programmed, when the run starts. They are new
    /// routes: they carry no traffic, and count as no loss, until they are programmed.
    #[schemars(range(min = 0, max = 4_000_000), extend("x-unit" = "routes", "x-source" = "the scenario's question"))]
    pub initial_backlog: u32,
    /// How long the loop is still busy with something else when the run starts.
    #[schemars(extend("x-source" = "the scenario's question"))]
    pub initial_busy: SimDuration,
}

/// What a path is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// A LAG: the next hop sits on the port-channel, and only the LAG_TABLE pass prunes it.
    #[default]
    PortChannel,
    /// A routed port: the notification pass prunes its next hop.
    RoutedPort,
}

/// Who drops the kernel's carrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CarrierSource {
    /// orchagent, by the host interface's SAI attribute, in the notification pass.
    #[default]
    Orchagent,
    /// The kernel driver, at the port's own event.
    Driver,
}

/// Where the traffic of a pruned member goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rehash {
    /// To members that are up: every path loses just its own share.
    #[default]
    Surviving,
    /// To all members still in the group, also dead ones that are not pruned yet.
    AllMembers,
}

/// Which links flap, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Flap {
    /// How many paths flap.
    #[schemars(range(min = 0, max = 512), extend("x-unit" = "links", "x-source" = "swss#3520: 14+ interfaces"))]
    pub count: u32,
    /// Whether the links go down, or are down at the start and come up.
    #[schemars(extend("x-source" = "sonic-mgmt:tests/snappi_tests/bgp: shutdown on the fanout"))]
    pub direction: Direction,
    /// When the first flap command is given.
    #[schemars(extend("x-source" = "the scenario's question"))]
    pub first_at: SimDuration,
    /// From one flap command to the next; drawn for each gap.
    #[schemars(extend("x-source" = "sonic-mgmt flap_fanout_ports: 50 ms sleep between the commands"))]
    pub interval: DurationDistribution,
    /// From a flap command to the link's change; drawn for each link. Commands run concurrently,
    /// so that the spread of the flaps follows from `interval` and this.
    #[schemars(extend("x-source" = "inferred: 1 to 2 s for a shutdown on the fanout switch over ssh"))]
    pub latency: DurationDistribution,
    /// In which order the links flap.
    #[schemars(extend("x-source" = "sonic-mgmt flap_fanout_ports: list order"))]
    pub order: Order,
    /// Member ports that go down with each flap; all of them unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64), extend("x-unit" = "ports", "x-source" = "the scenario's question"))]
    pub members: Option<u32>,
    /// Messages that each port's flap puts into the port notification queue: 1 for a clean event,
    /// more if it bounces or foreign messages share the channel. The port's own comes last.
    #[schemars(range(min = 1, max = 10_000), extend("x-unit" = "messages", "x-source" = "no source: 1 is a clean link down; nothing public shows 3"))]
    pub messages: u32,
    /// How long a link stays down (or up) before it returns; it stays unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-source" = "the scenario's question"))]
    pub return_after: Option<SimDuration>,
    /// How often each link flaps; more than once needs `return_after`.
    #[schemars(range(min = 1, max = 10_000), extend("x-unit" = "flaps", "x-source" = "the scenario's question"))]
    pub repeat: u32,
    /// From one flap of a link to its next; at least `return_after` whatever is drawn.
    #[schemars(extend("x-source" = "the scenario's question"))]
    pub period: DurationDistribution,
}

/// Whether links go down or come up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Up at the start; each flap takes a link down.
    #[default]
    Down,
    /// Down at the start; each flap brings a link up.
    Up,
}

/// In which order links flap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// By number.
    #[default]
    Sequential,
    /// Shuffled for each replication.
    Random,
}

/// teamd and teamsyncd.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Teamd {
    /// From the kernel's carrier event to the LAG_TABLE key.
    #[schemars(extend("x-source" = "inferred: event driven, tens of ms (swss:cfgmgr/teammgr.cpp, teamsyncd.cpp)"))]
    pub reaction: DurationDistribution,
}

/// bgpd and zebra.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bgp {
    /// Whether a link that goes down or up makes FRR write its routes again.
    #[schemars(extend("x-source" = "sonic-mgmt test: one BGP peer behind each uplink"))]
    pub enabled: bool,
    /// From the kernel's link down to the first route update.
    #[schemars(extend("x-source" = "assumption: event driven (FRR fast external failover); no published figure"))]
    pub reaction: DurationDistribution,
    /// From the link up to the first route update of the re-established session.
    #[schemars(extend("x-source" = "FRR templates: connect retry 10 s"))]
    pub establishment: DurationDistribution,
    /// Route updates that bgpd and zebra hand to fpmsyncd.
    #[schemars(extend("x-source" = "assumption: no published figure for 60K routes over 16 paths"))]
    pub update_rate: Rate,
    /// How often something beyond these links (other line cards, other routers) makes FRR write
    /// every route again.
    #[schemars(range(min = 0, max = 30_000), extend("x-unit" = "changes", "x-source" = "the scenario's question"))]
    pub remote_changes: u32,
    /// From the start to the first such change, and from each to the next.
    #[schemars(extend("x-source" = "the scenario's question"))]
    pub remote_change_interval: DurationDistribution,
}

/// fpmsyncd's pipeline to Redis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fpmsyncd {
    /// Route messages taken from the FPM socket at once.
    #[schemars(range(min = 1, max = 1_000_000), extend("x-unit" = "routes", "x-source" = "assumption: a 40 KB read of messages of some 400 bytes"))]
    pub read_batch: u32,
    /// Redis commands of one route.
    #[schemars(range(min = 1, max = 1000), extend("x-unit" = "commands", "x-source" = "swss-common producerstatetable: SADD, HSET, PUBLISH"))]
    pub commands_per_route: u32,
    /// Fewer pending commands than this are flushed at once.
    #[schemars(range(min = 0, max = 10_000_000), extend("x-unit" = "commands", "x-source" = "swss:fpmsyncd/fpmsyncd.cpp #3241"))]
    pub immediate_flush_below: u32,
    /// Commands after which the pipeline flushes itself.
    #[schemars(range(min = 1, max = 10_000_000), extend("x-unit" = "commands", "x-source" = "swss:fpmsyncd #3241: 50000; 128 before November 2024"))]
    pub pipeline_size: u32,
    /// Idle time after which the rest is flushed.
    #[schemars(extend("x-source" = "swss:fpmsyncd/fpmsyncd.cpp #3241"))]
    pub idle_flush: SimDuration,
}

const fn millis(millis: u64) -> DurationDistribution {
    DurationDistribution::constant(SimDuration::from_millis(millis))
}

const fn micros(micros: u64) -> DurationDistribution {
    DurationDistribution::constant(SimDuration::from_micros(micros))
}

impl Default for Config {
    fn default() -> Self {
        Self {
            era: Era::B1,
            mode: Mode::Sync,
            priority_mode: PriorityMode::Lru,
            pop_batch_size: 1024,
            bulk_chunk_size: 1000,
            route_consumer: None,
            port_notifications: None,
            route_transport: None,
            empty_next_hop_group: None,
            deduplicate_notifications: false,
            ring: Ring::default(),
            costs: Costs::default(),
            topology: Topology::default(),
            flap: Flap::default(),
            teamd: Teamd::default(),
            bgp: Bgp::default(),
            fpmsyncd: Fpmsyncd::default(),
        }
    }
}

impl Default for Ring {
    fn default() -> Self {
        Self { enabled: false, slots: 29, poll_interval: SimDuration::from_millis(500) }
    }
}

impl Default for Costs {
    fn default() -> Self {
        let sai_route = micros(667);
        Self {
            select: micros(90),
            pop_per_key: micros(634),
            zmq_pop_per_entry: micros(12),
            empty_pop: micros(200),
            prepare_per_route: micros(0),
            sai_create_route: sai_route.clone(),
            sai_set_route: sai_route.clone(),
            sai_remove_route: sai_route,
            sai_bulk_call: micros(0),
            publish_per_route: micros(641),
            batch: micros(0),
            batch_variation: 0.27,
            notification: micros(8_970),
            notification_delivery: micros(880),
            lag: micros(1_800),
            lag_member: micros(3_600),
            neighbour: micros(100),
            next_hop_group: micros(1_800),
            next_hop_group_member: micros(2_500),
            sweep: micros(100),
            retry_per_entry: micros(100),
        }
    }
}

impl Default for Topology {
    fn default() -> Self {
        Self {
            paths: 16,
            link: LinkKind::PortChannel,
            members: 1,
            routes: 60_000,
            families: 2,
            backup_route: true,
            carrier_source: CarrierSource::Orchagent,
            rehash: Rehash::Surviving,
            initial_backlog: 0,
            initial_busy: SimDuration::ZERO,
        }
    }
}

impl Default for Flap {
    fn default() -> Self {
        Self {
            count: 14,
            direction: Direction::Down,
            first_at: SimDuration::ZERO,
            interval: millis(50),
            latency: DurationDistribution::Uniform {
                min: SimDuration::from_whole_seconds(1),
                max: SimDuration::from_whole_seconds(2),
            },
            order: Order::Sequential,
            members: None,
            messages: 1,
            return_after: None,
            repeat: 1,
            period: DurationDistribution::constant(SimDuration::from_whole_seconds(60)),
        }
    }
}

impl Default for Teamd {
    fn default() -> Self {
        Self { reaction: millis(50) }
    }
}

impl Default for Bgp {
    fn default() -> Self {
        Self {
            enabled: true,
            reaction: millis(10),
            establishment: DurationDistribution::Uniform {
                min: SimDuration::ZERO,
                max: SimDuration::from_whole_seconds(10),
            },
            update_rate: Rate::whole(UPDATE_RATE),
            remote_changes: 0,
            remote_change_interval: DurationDistribution::Exponential {
                mean: SimDuration::from_whole_seconds(10),
            },
        }
    }
}

impl Default for Fpmsyncd {
    fn default() -> Self {
        Self {
            read_batch: 100,
            commands_per_route: 3,
            immediate_flush_below: 500,
            pipeline_size: 50_000,
            idle_flush: SimDuration::from_millis(500),
        }
    }
}
