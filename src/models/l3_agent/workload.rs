//! What the agent is given to do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::{Helper, NamespaceEntry, PrivsepCall, Program};
use crate::engine::SimDuration;
use crate::quantities::Rate;

/// Routers, ports, restarts, updates and VM boots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Workload {
    /// Routers that are bound to the agent when it starts and that its full sync brings.
    #[schemars(range(min = 0, max = 100_000), extend("x-unit" = "routers", "x-source" = "workload"))]
    pub routers: u32,
    /// Subnets of a router.
    #[schemars(range(min = 0, max = 1000), extend("x-unit" = "subnets", "x-source" = "workload"))]
    pub subnets_per_router: u32,
    /// Ports of a subnet that need an ARP entry: every fixed IP of a port that is no router's.
    #[schemars(range(min = 0, max = 100_000), extend("x-unit" = "ports", "x-source" = "workload"))]
    pub ports_per_subnet: u32,
    /// Port updates that the server sends to all agents.
    pub port_updates: PortUpdates,
    /// Router updates that the server sends to this agent.
    pub router_updates: RouterUpdates,
    /// VMs that boot on this host.
    pub vm_boots: VmBoots,
}

impl Default for Workload {
    fn default() -> Self {
        Self {
            routers: 100,
            subnets_per_router: 1,
            ports_per_subnet: 50,
            port_updates: PortUpdates::default(),
            router_updates: RouterUpdates::default(),
            vm_boots: VmBoots::default(),
        }
    }
}

/// `add_arp_entry` casts: each goes to all agents, outside the router queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PortUpdates {
    /// How many in all.
    #[schemars(range(min = 0, max = 10_000_000), extend("x-unit" = "updates", "x-source" = "workload"))]
    pub count: u32,
    /// How often, as a Poisson process; all at once where not given.
    #[schemars(extend("x-source" = "workload"))]
    pub rate: Option<Rate>,
    /// When the first may come.
    #[schemars(extend("x-source" = "workload"))]
    pub start: SimDuration,
    /// Share of the updates whose router is on this agent; the others it ignores.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "share", "x-source" = "workload"))]
    pub local_share: f64,
}

impl Default for PortUpdates {
    fn default() -> Self {
        Self { count: 0, rate: None, start: SimDuration::ZERO, local_share: 1.0 }
    }
}

/// `routers_updated` notifications: each puts one of the routers into the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RouterUpdates {
    /// How many in all.
    #[schemars(range(min = 0, max = 10_000_000), extend("x-unit" = "updates", "x-source" = "workload"))]
    pub count: u32,
    /// How often, as a Poisson process; all at once where not given.
    #[schemars(extend("x-source" = "workload"))]
    pub rate: Option<Rate>,
    /// When the first may come.
    #[schemars(extend("x-source" = "workload"))]
    pub start: SimDuration,
    /// Which kind of update, which decides its priority.
    #[schemars(extend("x-source" = "Neutron l3/agent.py, PRIORITY_*"))]
    pub kind: UpdateKind,
}

impl Default for RouterUpdates {
    fn default() -> Self {
        Self { count: 0, rate: None, start: SimDuration::ZERO, kind: UpdateKind::Rpc }
    }
}

/// Why a router is in the queue. Its priority depends on the era: RPC, sync, prefix delegation
/// until 2018; related, RPC, sync since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UpdateKind {
    /// A router related to one that changed; as an RPC in eras without it.
    Related,
    /// A notification by the server.
    Rpc,
    /// A full sync or a retry.
    Sync,
    /// A prefix delegation; as a sync in eras without it.
    PrefixDelegation,
}

/// VMs that boot on this host and ask for metadata through their router. The routers are new to
/// the agent: the server notifies it at each boot, and the VM is served once its router has been
/// processed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VmBoots {
    /// How many in all.
    #[schemars(range(min = 0, max = 1_000_000), extend("x-unit" = "VMs", "x-source" = "workload"))]
    pub count: u32,
    /// VMs behind one router; each further one finds it known.
    #[schemars(range(min = 1, max = 100_000), extend("x-unit" = "VMs", "x-source" = "workload"))]
    pub per_router: u32,
    /// How often, as a Poisson process; all at once where not given.
    #[schemars(extend("x-source" = "workload"))]
    pub rate: Option<Rate>,
    /// When the first may boot.
    #[schemars(extend("x-source" = "workload"))]
    pub start: SimDuration,
    /// From the boot until the VM has given up on metadata.
    #[schemars(extend("x-source" = "cloud-init, EC2 data source: max_wait 120 s; other images wait less"))]
    pub deadline: SimDuration,
}

impl Default for VmBoots {
    fn default() -> Self {
        Self {
            count: 0,
            per_router: 1,
            rate: None,
            start: SimDuration::ZERO,
            deadline: SimDuration::from_whole_seconds(120),
        }
    }
}

/// A list of commands run by themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Commands {
    /// Commands, or lines of one batch file.
    #[schemars(range(min = 1, max = 10_000_000), extend("x-unit" = "commands", "x-source" = "workload"))]
    pub count: u32,
    /// Commands in flight at once, as `xargs -P` keeps them.
    #[schemars(range(min = 1, max = 10_000), extend("x-unit" = "commands", "x-source" = "workload"))]
    pub concurrency: u32,
    /// One spawn for each, or one `ip -batch` with a line for each.
    pub form: CommandForm,
    /// What is run.
    pub program: Program,
    /// How it gets into its namespace.
    pub entry: NamespaceEntry,
    /// What stands between the caller and root; the component's `helper` where not given.
    pub helper: Option<Helper>,
    /// Whether the caller is a shell or Python.
    pub caller: Caller,
    /// A call that spawns nothing, in place of a command.
    pub privsep: Option<PrivsepCall>,
    /// Whether the commands run at real-time priority, as those of the measurements did; by default
    /// with `host.preset` `measured` only. Several at once that enter a namespace then wait for
    /// each other's grace periods.
    #[schemars(extend("x-source" = "own measurement: all processes at SCHED_RR 1; fs/namespace.c, namespace_unlock"))]
    pub real_time: Option<bool>,
    /// Rules in the file, for `iptables-restore`.
    #[schemars(range(min = 0, max = 10_000_000), extend("x-unit" = "rules", "x-source" = "workload"))]
    pub rules: u32,
}

impl Default for Commands {
    fn default() -> Self {
        Self {
            count: 51,
            concurrency: 1,
            form: CommandForm::Single,
            program: Program::IpNeigh,
            entry: NamespaceEntry::NetnsExec,
            helper: None,
            caller: Caller::Shell,
            privsep: None,
            real_time: None,
            rules: 0,
        }
    }
}

/// How commands are spawned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandForm {
    /// A process for each.
    #[default]
    Single,
    /// One process that reads them as lines.
    Batch,
}

/// Who spawns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Caller {
    /// A shell.
    #[default]
    Shell,
    /// Python's `Popen` and `communicate`.
    Python,
}
