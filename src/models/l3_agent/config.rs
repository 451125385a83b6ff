//! What a user sets of the L3 agent, its host, its server and its work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::workload::{Commands, Workload};
use crate::engine::SimDuration;

/// What a user sets of an L3 agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Which Neutron: sets how an ARP entry is written, the worker pool, the queue's priorities,
    /// and how the agent syncs, calls and reports. `agent` overrides single switches.
    #[schemars(extend("x-source" = "Neutron commits 5c4b0aeba5, d7a6827e43, 781f730eb1, 837c9283ab, 5f2758bb80, 6699134f3e"))]
    pub era: Era,
    /// The root helper through which the agent has commands run.
    #[schemars(extend("x-source" = "Neutron option root_helper: code default sudo, deployments sudo neutron-rootwrap"))]
    pub helper: Helper,
    /// The host and what a command costs on it.
    pub host: Host,
    /// Switches of the agent that override the era's.
    pub agent: Agent,
    /// The Neutron server that answers the agent's calls.
    pub server: Server,
    /// Heartbeats and when the server holds the agent for dead.
    pub liveness: Liveness,
    /// Routers, ports, restarts, updates and VM boots.
    pub workload: Workload,
    /// A list of commands run by themselves in place of the agent, as in a benchmark.
    pub commands: Option<Commands>,
}

/// A Neutron release and what changed with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Era {
    /// 7.0, as in the bug report of October 2015: two spawns per ARP entry, 8 workers, one sync
    /// call for all routers, fixed timeouts, heartbeats without answer.
    Liberty,
    /// 8.0 and 9.0: two spawns per entry, sync in chunks, timeouts that double, heartbeat calls.
    Newton,
    /// 10 to 12: one spawn and one privsep call per entry.
    Ocata,
    /// 13: two privsep calls per entry.
    Rocky,
    /// 14 and 15: as many workers as routers, 8 to 32.
    Stein,
    /// 16 and later: one privsep call per entry, one existence check per subnet.
    Ussuri,
    /// 2025: 32 threads, related routers before all others.
    #[default]
    Master,
    /// `master` with all entries of a namespace written by one `ip -batch`; no release does this.
    Batched,
}

/// How one ARP entry is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArpMethod {
    /// `ip -o link show` and `ip neigh replace`, each a command in the namespace.
    TwoSpawns,
    /// `ip -o link show` as a command, the entry by privsep.
    SpawnAndPrivsep,
    /// Both by privsep.
    TwoPrivsep,
    /// The entry by privsep, the existence check once per subnet.
    OnePrivsep,
    /// One `ip -batch` for all entries of a subnet.
    Batched,
}

/// What stands between the agent and root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Helper {
    /// Nothing: the caller is root.
    Plain,
    /// Another name of `plain`.
    None,
    /// `sudo`.
    Sudo,
    /// `neutron-rootwrap` run as root: a Python start-up per command.
    Rootwrap,
    /// `sudo neutron-rootwrap`.
    #[default]
    SudoRootwrap,
    /// The rootwrap daemon: one command at a time per agent since oslo.rootwrap 5.9 (Launchpad
    /// 1654287), see `agent.daemon_lock`.
    RootwrapDaemon,
    /// The privsep daemon runs the command (Neutron, `execute_process` in
    /// privileged/agent/linux/utils.py): an empty privsep call and a spawn by Python. A sum of
    /// measured parts, not itself measured. For calls that spawn nothing see `commands.privsep`
    /// and `agent.arp_method`.
    Privsep,
}

/// How a command gets into its namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NamespaceEntry {
    /// It runs in the host's.
    None,
    /// `ip -n NS`: only for the program ip.
    DashN,
    /// `ip netns exec NS`.
    #[default]
    NetnsExec,
}

/// A program that is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// `/bin/true`: nothing but fork and exec.
    True,
    /// `ip neigh show` or `ip neigh replace`.
    #[default]
    IpNeigh,
    /// `ip address` on three devices, as in the bug report.
    IpAddress,
    /// `ip netns list`.
    IpNetnsList,
    /// `ip netns add`.
    IpNetnsAdd,
    /// `ip netns delete`.
    IpNetnsDelete,
    /// `iptables-legacy-restore` of `rules` rules.
    IptablesRestoreLegacy,
    /// `iptables-nft-restore` of `rules` rules.
    IptablesRestoreNft,
}

/// A call that spawns nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrivsepCall {
    /// A privsep call without work.
    Empty,
    /// A pyroute2 neighbour request on a socket that is kept.
    KeptSocket,
    /// pyroute2 opening one namespace socket, as an existence check does.
    OneNetns,
    /// pyroute2 opening two namespace sockets, as writing an entry does in Neutron.
    TwoNetns,
    /// pyroute2 0.9.7 without privsep, one namespace socket.
    InProcessOneNetns,
    /// pyroute2 0.9.7 without privsep, two namespace sockets.
    InProcessTwoNetns,
    /// pyroute2 0.5.19 without privsep, one namespace socket.
    #[serde(rename = "in_process_one_netns_0_5_19")]
    InProcessOneNetns0519,
    /// pyroute2 0.5.19 without privsep, two namespace sockets.
    #[serde(rename = "in_process_two_netns_0_5_19")]
    InProcessTwoNetns0519,
}

/// A host whose command costs are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HostPreset {
    /// Two-core virtual machine, Linux 6.18, measured for convsim at real-time priority.
    #[default]
    Measured,
    /// The same machine at normal priority beside busy neighbours.
    MeasuredShared,
    /// The host of Launchpad bug 1511134: 10.6 ms of CPU and 37.2 ms blocked per command.
    Bug2015,
    /// Hosts of the rootwrap daemon specification: 164 ms per command with rootwrap, 25 ms without.
    Rootwrap2014,
}

/// The host and what a command costs on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Host {
    /// Whose costs.
    #[schemars(extend("x-source" = "measurements for convsim; Launchpad 1511134; specification rootwrap-daemon-mode"))]
    pub preset: HostPreset,
    /// CPU cores shared by the agent and all that it spawns. A fraction says what all cores
    /// together do when busy (shared physical cores, a hypervisor's share). One command alone
    /// runs at full speed from 1 core on; commands at real-time priority use whole ones. By preset
    /// where not given: 2 for `measured`, 1.3 for `measured_shared` (fitted on what concurrency
    /// gained there), 4 for the others, whose cores are not reported.
    #[schemars(range(min = 0.1, max = 1024.0), extend("x-unit" = "cores", "x-source" = "2: the measuring machine; 1.3: 2 to 8 at once beside neighbours gained 1.2 to 1.45 times"))]
    pub cores: Option<f64>,
    /// Network namespaces present; 1 per router where not given.
    #[schemars(range(min = 0, max = 1_000_000), extend("x-unit" = "namespaces", "x-source" = "workload: a DVR router has its own"))]
    pub namespaces: Option<u32>,
    /// Coefficient of variation of a single command's cost; gamma distributed.
    #[schemars(range(min = 0.0, max = 2.0), extend("x-unit" = "1", "x-source" = "published deviations: rootwrap 0.15, sudo 0.11, plain 0.24; measured maximum over median 1.05 to 1.4"))]
    pub variation: f64,
    /// CPU work of a spawned command, whatever the helper; the preset's sum where not given. For
    /// instance 269 ms for an Open vSwitch command through rootwrap in 2014.
    #[schemars(extend("x-source" = "own measurement: user + system time"))]
    pub spawn_cpu: Option<SimDuration>,
    /// Blocked time of a spawned command: elapsed less CPU time; the preset's where not given.
    #[schemars(extend("x-source" = "own measurement: elapsed less user + system time"))]
    pub spawn_blocked: Option<SimDuration>,
    /// File descriptors that a Python 2 helper closes one by one before each command, 0.38 us
    /// each: the soft limit, 1,048,576 in some containers.
    #[schemars(range(min = 0, max = 1_073_741_816), extend("x-unit" = "descriptors", "x-source" = "Launchpad 1796267, oslo.rootwrap c0a8699: 400 ms more per command at 1,048,576"))]
    pub closed_descriptors: u32,
    /// CPU work of a privsep call; the preset's for its kind where not given.
    #[schemars(extend("x-source" = "own measurement"))]
    pub privsep_cpu: Option<SimDuration>,
    /// CPU work of a line of `ip -batch`; the preset's where not given.
    #[schemars(extend("x-source" = "own measurement"))]
    pub batch_line: Option<SimDuration>,
}

impl Default for Host {
    fn default() -> Self {
        Self {
            preset: HostPreset::default(),
            cores: None,
            namespaces: None,
            variation: 0.15,
            spawn_cpu: None,
            spawn_blocked: None,
            closed_descriptors: 0,
            privsep_cpu: None,
            batch_line: None,
        }
    }
}

/// Switches of the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Agent {
    /// How an ARP entry is written; the era's where not given.
    #[schemars(extend("x-source" = "Neutron l3/dvr_local_router.py, _update_arp_entry, by era"))]
    pub arp_method: Option<ArpMethod>,
    /// Workers that take routers from the queue; the era's where not given.
    #[schemars(range(min = 1, max = 10_000), extend("x-unit" = "workers", "x-source" = "Neutron l3/agent.py: GreenPool(8); 8 to 32 since 837c9283ab; 32 since 6699134f3e"))]
    pub workers: Option<u32>,
    /// Whether a full sync asks for routers in chunks; the era's where not given.
    #[schemars(extend("x-source" = "Neutron 0e97feb0f3, Launchpad 1516260"))]
    pub sync_in_chunks: Option<bool>,
    /// Routers in the first chunk of a full sync.
    #[schemars(range(min = 1, max = 100_000), extend("x-unit" = "routers", "x-source" = "Neutron l3/agent.py, SYNC_ROUTERS_MAX_CHUNK_SIZE 256"))]
    pub sync_chunk: u32,
    /// Routers in the smallest chunk after halving; also what a successful sync adds.
    #[schemars(range(min = 1, max = 100_000), extend("x-unit" = "routers", "x-source" = "Neutron l3/agent.py, SYNC_ROUTERS_MIN_CHUNK_SIZE 32"))]
    pub sync_chunk_min: u32,
    /// From the agent's start to its first full sync: nothing since fff86b689e, one periodic
    /// interval (up to 60 s) before.
    #[schemars(extend("x-source" = "Launchpad 1407410, Neutron fff86b689e"))]
    pub sync_start_delay: SimDuration,
    /// How often the agent looks whether it must sync fully.
    #[schemars(extend("x-minimum" = "1 ms", "x-source" = "Neutron l3/agent.py, periodic task every 1 s; one periodic interval of 40 s before fff86b689e"))]
    pub sync_check_interval: SimDuration,
    /// Timeout of a call.
    #[schemars(extend("x-minimum" = "1 ms", "x-source" = "oslo.messaging rpc_response_timeout 60 s"))]
    pub rpc_timeout: SimDuration,
    /// Whether a timeout doubles the method's timeout (up to 10 times) and the caller sleeps a
    /// random part of the first timeout; the era's where not given.
    #[schemars(extend("x-source" = "Neutron common/rpc.py since 0ffab0930c"))]
    pub rpc_backoff: Option<bool>,
    /// How often an update whose processing fails is put into the queue again before it is given
    /// up: it is processed `tries` + 1 times at most. Neutron takes one off at each addition, the
    /// first included, and gives up once it is below 0.
    #[schemars(range(min = 0, max = 1000), extend("x-unit" = "repetitions", "x-source" = "Neutron resource_processing_queue.py: ResourceUpdate(tries=5), add, hit_retry_limit"))]
    pub tries: u32,
    /// Chance that processing a router fails at its end, besides failures by timeout.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "share", "x-source" = "none published: a what-if"))]
    pub failure_share: f64,
    /// Commands for a router besides its ARP entries (interfaces, addresses, routes, iptables).
    #[schemars(range(min = 0, max = 100_000), extend("x-unit" = "commands", "x-source" = "31: specification rootwrap-daemon-mode, 14 min / 139 ms / 192 routers"))]
    pub commands_per_router: u32,
    /// The agent's own Python work per router, one router at a time. Not published: 5 to 50 ms.
    #[schemars(extend("x-source" = "assumed, range 5 to 50 ms"))]
    pub router_cpu: SimDuration,
    /// Waiting per router that is neither command nor call.
    #[schemars(extend("x-source" = "0 unless a recording says otherwise"))]
    pub router_wait: SimDuration,
    /// Dispatcher threads for fanout updates.
    #[schemars(range(min = 1, max = 10_000), extend("x-unit" = "threads", "x-source" = "oslo.messaging executor_thread_pool_size 64"))]
    pub fanout_workers: u32,
    /// Whether a call to the rootwrap daemon holds the agent's one lock.
    #[schemars(extend("x-source" = "oslo.rootwrap client.py since 7711a6c, October 2017"))]
    pub daemon_lock: bool,
    /// Whether privsep calls of one agent run one at a time, as before oslo.privsep f368430
    /// (`thread_pool_size`, as many threads as cores since).
    #[schemars(extend("x-source" = "oslo.privsep f368430f13, release note add_thread_pool_size"))]
    pub privsep_lock: bool,
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            arp_method: None,
            workers: None,
            sync_in_chunks: None,
            sync_chunk: 256,
            sync_chunk_min: 32,
            sync_start_delay: SimDuration::ZERO,
            sync_check_interval: SimDuration::from_whole_seconds(1),
            rpc_timeout: SimDuration::from_whole_seconds(60),
            rpc_backoff: None,
            tries: 5,
            failure_share: 0.0,
            commands_per_router: 31,
            router_cpu: SimDuration::from_millis(10),
            router_wait: SimDuration::ZERO,
            fanout_workers: 64,
            daemon_lock: true,
            privsep_lock: false,
        }
    }
}

/// The Neutron server: a first-in first-out pool of workers. A call takes
/// `base + routers * per_router + ports * per_port`, stretched by the agents that share the pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// Workers that answer calls.
    #[schemars(range(min = 1, max = 10_000), extend("x-unit" = "workers", "x-source" = "Neutron option rpc_workers: 1 at the least, half the cores in later releases"))]
    pub rpc_workers: u32,
    /// Agents that ask the same at the same time: each call takes agents / workers times longer.
    #[schemars(range(min = 1, max = 100_000), extend("x-unit" = "agents", "x-source" = "workload"))]
    pub agents: u32,
    /// Of any call.
    #[schemars(extend("x-source" = "assumed, range 2 to 20 ms"))]
    pub base: SimDuration,
    /// For each router of a sync. A sync of thousands of routers takes more than 60 s (Launchpad
    /// 1516260), so 12 ms (at 5000) to 60 ms (at 1000).
    #[schemars(extend("x-source" = "Launchpad 1516260, range 12 to 60 ms"))]
    pub per_router: SimDuration,
    /// For each port of a subnet that is asked for.
    #[schemars(extend("x-source" = "assumed, range 0.1 to 2 ms"))]
    pub per_port: SimDuration,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            rpc_workers: 1,
            agents: 1,
            base: SimDuration::from_millis(5),
            per_router: SimDuration::from_millis(40),
            per_port: SimDuration::from_micros(200),
        }
    }
}

/// Heartbeats and when the server holds the agent for dead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Liveness {
    /// From one report to the next.
    #[schemars(extend("x-minimum" = "1 ms", "x-source" = "Neutron option report_interval 30 s"))]
    pub report_interval: SimDuration,
    /// Without a report for so long, an agent is seen dead.
    #[schemars(extend("x-source" = "Neutron option agent_down_time 75 s"))]
    pub agent_down_time: SimDuration,
    /// Whether reports have a queue of their own at the server or wait behind other calls.
    #[schemars(extend("x-source" = "Neutron 7267d75fdd; the era's where not given"))]
    pub own_queue: Option<bool>,
    /// Whether a report is a call, whose answer tells a revived agent to sync fully.
    #[schemars(extend("x-source" = "Neutron 3b6bd917e4; the era's where not given"))]
    pub report_is_call: Option<bool>,
    /// Whether the server moves the routers of a dead agent to others.
    #[schemars(extend("x-source" = "Neutron option allow_automatic_l3agent_failover, off"))]
    pub automatic_failover: bool,
    /// Without a report for so long, routers are moved.
    #[schemars(extend("x-source" = "Neutron agentschedulers_db.py: dead limit 150 s"))]
    pub dead_limit: SimDuration,
    /// When the agent stops yielding.
    #[schemars(extend("x-source" = "a what-if"))]
    pub stall_at: SimDuration,
    /// For how long: elapsed time in which nothing of the agent goes on, as when something blocks
    /// eventlet's hub; 0 s for not at all. Commands under way run to their end, but nothing
    /// follows them before the stall is over. The agent is then seen dead with the probability
    /// clamp((stall - 45 s) / 30 s, 0, 1), idle or busy.
    #[schemars(extend("x-source" = "a what-if"))]
    pub stall: SimDuration,
}

impl Default for Liveness {
    fn default() -> Self {
        Self {
            report_interval: SimDuration::from_whole_seconds(30),
            agent_down_time: SimDuration::from_whole_seconds(75),
            own_queue: None,
            report_is_call: None,
            automatic_failover: false,
            dead_limit: SimDuration::from_whole_seconds(150),
            stall_at: SimDuration::from_whole_seconds(100),
            stall: SimDuration::ZERO,
        }
    }
}
