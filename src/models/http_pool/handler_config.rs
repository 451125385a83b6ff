//! What a request does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::SimDuration;
use crate::quantities::DurationDistribution;

/// What kind of request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HandlerPreset {
    /// Lock, compute, wait, spawn, unlock, each as far as it is set.
    #[default]
    Plain,
    /// The mux simulator's POST for one port: `Mux.set_active_side`.
    MuxToggle,
    /// The mux simulator's POST for all ports: `Muxes.set_active_side`.
    MuxToggleAll,
}

/// Which lock a request holds while it works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LockScope {
    /// None.
    #[default]
    None,
    /// One lock for the whole process.
    Process,
    /// One lock for each port and process, as the mux simulator's `threading.Lock` per bridge.
    Port,
}

/// What a request does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HandlerConfig {
    /// What kind of request.
    pub preset: HandlerPreset,
    /// Preset `plain`: the lock that is held from before `cpu` to after the last spawn.
    pub lock: LockScope,
    /// Preset `plain`: interpreted computing.
    #[schemars(extend("x-source" = "handler"))]
    pub cpu: DurationDistribution,
    /// Preset `plain`: sleeping or waiting for something elsewhere, after `cpu`.
    #[schemars(extend("x-source" = "handler"))]
    pub wait: DurationDistribution,
    /// Preset `plain`: child processes one after another, after `wait`.
    #[schemars(range(min = 0, max = 10_000), extend("x-unit" = "processes", "x-source" = "handler"))]
    pub spawns: u32,
    /// Ports (mux bridges). Request n is about port n modulo this.
    #[schemars(range(min = 1, max = 10_000), extend("x-unit" = "ports", "x-source" = "sonic-mgmt dualtor testbeds: 120"))]
    pub ports: u32,
    /// Presets `mux_*`: what one toggle costs.
    pub toggle: ToggleConfig,
    /// Preset `mux_toggle_all`: threads that share the ports of a request
    /// (`MUXES_CONCURRENCY`, 4 since PR 16508; 1 for the loop before).
    #[schemars(range(min = 1, max = 10_000), extend("x-unit" = "threads", "x-source" = "sonic-mgmt mux_simulator.py MUXES_CONCURRENCY, PR 16508"))]
    pub pool_threads: u32,
    /// Preset `mux_toggle_all`: interpreted computing for the answer, for each port.
    #[schemars(extend("x-source" = "mux_simulator.py Muxes.set_active_side"))]
    pub status_cpu: SimDuration,
}

impl Default for HandlerConfig {
    fn default() -> Self {
        Self {
            preset: HandlerPreset::Plain,
            lock: LockScope::None,
            cpu: SimDuration::ZERO.into(),
            wait: SimDuration::ZERO.into(),
            spawns: 0,
            ports: 120,
            toggle: ToggleConfig::default(),
            pool_threads: 4,
            status_cpu: SimDuration::from_micros(20),
        }
    }
}

/// What one toggle of a mux costs. It is `calls` child processes (`ovs-ofctl`) one after another
/// under the port's lock. Each call is: start it, let it compute, then a part that only one call
/// at a time can be in (`serial`) and a part that overlaps (`delay`), then `turns` turns of the
/// main loop of `ovs-vswitchd`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToggleConfig {
    /// Child processes of a toggle: `del-flows` and `add-flow`.
    #[schemars(range(min = 1, max = 1000), extend("x-unit" = "processes", "x-source" = "sonic-mgmt ansible/roles/vm_set/files/mux_simulator.py Mux.set_active_side"))]
    pub calls: u32,
    /// Share of requests whose port is on the asked side already, which start no process.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "share", "x-source" = "Mux.set_active_side; `random` makes it one half"))]
    pub no_op_share: f64,
    /// Interpreted computing of the handler itself, no-op or not.
    #[schemars(extend("x-source" = "measured, rows noop_u1 of scenarios/data/mux_simulator_ovs.json"))]
    pub handler_cpu: SimDuration,
    /// The serial work of a no-op.
    #[schemars(extend("x-source" = "measured, rows noop_u1"))]
    pub no_op_serial: DurationDistribution,
    /// Starting a child: processor time of the server, under its interpreter lock.
    #[schemars(extend("x-source" = "measured, rows one_u1, one_u2, one_u4"))]
    pub parent_cpu: SimDuration,
    /// Processor time of the child.
    #[schemars(extend("x-source" = "measured, raw_ovs_ofctl_ms_per_call"))]
    pub child_cpu: SimDuration,
    /// The part of a call that excludes all other calls.
    #[schemars(extend("x-source" = "sonic-mgmt PR 16164 (readings S1 and S2)"))]
    pub serial: DurationDistribution,
    /// The part of a call that overlaps with anything.
    #[schemars(extend("x-source" = "sonic-mgmt PR 16164 (readings S1 and S2)"))]
    pub delay: DurationDistribution,
    /// Turns of the switch's main loop that a call needs, each begun after the call asked for it.
    #[schemars(range(min = 0, max = 1000), extend("x-unit" = "turns", "x-source" = "OpenFlow: hello exchange, flow_mod with barrier"))]
    pub turns: u32,
    /// Processor time of one turn of the main loop, however many calls it serves.
    #[schemars(extend("x-source" = "measured, rows one_u1, one_u2, one_u4"))]
    pub turn_cpu: SimDuration,
    /// What each call that is served adds to a turn.
    #[schemars(extend("x-source" = "measured, rows one_u1, one_u2, one_u4"))]
    pub turn_cpu_per_call: SimDuration,
    /// Whether the main loop goes on turning while calls are under way, not only while one waits
    /// for a turn.
    #[schemars(extend("x-source" = "measured, busy_pct of the rows one_u1, one_u2, one_u4: a whole core beside what the calls compute"))]
    pub keeps_turning: bool,
}

impl Default for ToggleConfig {
    fn default() -> Self {
        Self {
            calls: 2,
            no_op_share: 0.0,
            handler_cpu: SimDuration::ZERO,
            no_op_serial: SimDuration::ZERO.into(),
            parent_cpu: SimDuration::ZERO,
            child_cpu: SimDuration::ZERO,
            serial: SimDuration::ZERO.into(),
            delay: SimDuration::ZERO.into(),
            turns: 0,
            turn_cpu: SimDuration::ZERO,
            turn_cpu_per_call: SimDuration::ZERO,
            keeps_turning: false,
        }
    }
}
