//! What it costs to have a privileged command run: per host, per helper, per program.
//!
//! A command's cost is a sum of parts, so that combinations which nobody measured can be asked:
//!
//! ```text
//! caller (fork and exec)  +  helper  +  namespace entry  +  program
//! ```
//!
//! Each part is split into CPU work and blocked time (kernel grace periods and waits during which
//! no core is used), because concurrency helps only with the second once the cores are busy.
//!
//! The parts of [`HostPreset::Measured`] were fitted on the rows of
//! `scenarios/data/spawn-measurements.csv` whose role is `calibration` (concurrency 1 and 1, 5, 20,
//! 100 or 500 commands) and on the line fits of the same machine: for modes without such rows, and
//! for three small parts that single rows do not settle (`ip -n`, a line of a batch, the first
//! sudo). `docs/l3-validation.md` shows them against all rows and lines. Nothing was fitted on
//! several commands at once: `real_time` predicts those.

use super::config::{Helper, HostPreset, NamespaceEntry, PrivsepCall, Program};

const MILLISECOND: f64 = 1e6;
const MICROSECOND: f64 = 1e3;

/// CPU work and blocked time of something, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Split {
    /// Work on a core.
    pub cpu: f64,
    /// Waiting that uses no core.
    pub blocked: f64,
}

impl Split {
    /// From milliseconds.
    #[must_use]
    pub const fn millis(cpu: f64, blocked: f64) -> Self {
        Self { cpu: cpu * MILLISECOND, blocked: blocked * MILLISECOND }
    }

    /// From microseconds of CPU work.
    #[must_use]
    pub const fn micros(cpu: f64) -> Self {
        Self { cpu: cpu * MICROSECOND, blocked: 0.0 }
    }

    /// Both parts `count` times.
    #[must_use]
    pub fn times(self, count: f64) -> Self {
        Self { cpu: self.cpu * count, blocked: self.blocked * count }
    }

    /// CPU work and blocked time together, in nanoseconds.
    #[must_use]
    pub fn total(self) -> f64 {
        self.cpu + self.blocked
    }
}

impl std::ops::Add for Split {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { cpu: self.cpu + other.cpu, blocked: self.blocked + other.blocked }
    }
}

/// The cost table of a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostTable {
    /// fork and exec of `/bin/true` by a shell.
    pub fork_exec: Split,
    /// More when the caller is Python (`Popen` and `communicate`).
    pub python_caller: Split,
    /// `ip neigh` over `/bin/true`.
    pub ip_neigh: Split,
    /// `ip address` over `/bin/true`.
    pub ip_address: Split,
    /// `ip -n NS` over `ip`.
    pub dash_n: Split,
    /// `ip netns exec NS` before the program.
    pub netns_exec: Split,
    /// More for each namespace present, for both ways of entering one: the copy of the mount
    /// table.
    pub per_namespace: Split,
    /// Of sudo.
    pub sudo: Split,
    /// Of the first sudo of a run, once.
    pub sudo_first: Split,
    /// Of `neutron-rootwrap` run as root: a Python start-up.
    pub rootwrap: Split,
    /// Of `sudo neutron-rootwrap`.
    pub sudo_rootwrap: Split,
    /// Of a call to the rootwrap daemon.
    pub rootwrap_daemon: Split,
    /// Of a call to the privsep daemon that has a command run.
    pub privsep: Split,
    /// A line of `ip -batch` with `neigh replace`.
    pub neigh_line: Split,
    /// A line of `ip -batch` with `address` on three devices.
    pub address_line: Split,
    /// The spawn of a batch where it is known to differ from that of a single command.
    pub batch_spawn: Option<Split>,
}

/// Closing one file descriptor in a Python 2 helper: 400 ms / 1,048,576 (Launchpad 1796267).
pub const CLOSED_DESCRIPTOR: Split = Split::micros(0.381);

/// The cores of `host`, all together when busy: two of the measured machine; beside its neighbours
/// what 2 to 8 commands at once gained there, 1.2 to 1.45 times (a fit); not reported for the others.
#[must_use]
pub const fn cores(host: HostPreset) -> f64 {
    match host {
        HostPreset::Measured => 2.0,
        HostPreset::MeasuredShared => 1.3,
        HostPreset::Bug2015 | HostPreset::Rootwrap2014 => 4.0,
    }
}

/// The table of `host`.
#[must_use]
pub const fn cost_table(host: HostPreset) -> CostTable {
    match host {
        HostPreset::Measured => MEASURED,
        HostPreset::MeasuredShared => MEASURED_SHARED,
        HostPreset::Bug2015 => BUG_2015,
        HostPreset::Rootwrap2014 => ROOTWRAP_2014,
    }
}

/// Two-core virtual machine, Linux 6.18, iproute2 6.1, sudo 1.9.13, Python 3.11, measured
/// processes at real-time priority. CPU parts from user + system time per command; what remains
/// of the elapsed time is blocked.
const MEASURED: CostTable = CostTable {
    fork_exec: Split::millis(1.16, 0.0),
    python_caller: Split::millis(0.05, 0.0),
    ip_neigh: Split::millis(0.62, 0.0),
    ip_address: Split::millis(0.87, 0.0),
    dash_n: Split::millis(0.15, 0.40),
    netns_exec: Split::millis(1.65, 0.40),
    per_namespace: Split::micros(1.8),
    sudo: Split::millis(4.72, 0.0),
    sudo_first: Split::millis(0.5, 0.0),
    rootwrap: Split::millis(93.5, 0.0),
    sudo_rootwrap: Split::millis(99.4, 0.0),
    rootwrap_daemon: Split::millis(2.2, 0.0),
    privsep: Split::millis(0.255, 0.0),
    neigh_line: Split::micros(4.2),
    address_line: Split::micros(28.0),
    batch_spawn: None,
};

/// A fit: the same machine at normal priority beside neighbours: elapsed time per command netns 5.42,
/// sudo 11.65, `ip a` 12.44, rootwrap 116, sudo rootwrap 143 ms, batch 4.97 ms + 9.2 us a line.
/// What was not measured there is 1.4 times [`MEASURED`], as the netns and sudo modes are. The
/// additional time is CPU contention by the neighbours and is counted as CPU work.
const MEASURED_SHARED: CostTable = CostTable {
    fork_exec: Split::millis(1.62, 0.0),
    python_caller: Split::millis(0.07, 0.0),
    ip_neigh: Split::millis(0.87, 0.0),
    ip_address: Split::millis(1.66, 0.0),
    dash_n: Split::millis(0.21, 0.56),
    netns_exec: Split::millis(2.37, 0.56),
    per_namespace: Split::micros(2.5),
    sudo: Split::millis(6.23, 0.0),
    sudo_first: Split::millis(0.0, 0.0),
    rootwrap: Split::millis(110.6, 0.0),
    sudo_rootwrap: Split::millis(137.6, 0.0),
    rootwrap_daemon: Split::millis(3.1, 0.0),
    privsep: Split::millis(0.357, 0.0),
    neigh_line: Split::micros(9.2),
    address_line: Split::micros(39.0),
    batch_spawn: None,
};

/// A fit: the host of Launchpad bug 1511134, solved from the figures of the report. Of one `sudo ip netns exec NS ip a` only the sum is known:
/// 2.437 s / 51 = 47.8 ms elapsed, 10.6 ms of it user + system time. A batch of 51 lines took
/// 46 ms and one of 500 lines was 250 times faster than 500 commands (95.6 ms), which gives
/// 0.11 ms a line and 40.3 ms for the spawn; its CPU part is taken as that of a command.
const BUG_2015: CostTable = CostTable {
    fork_exec: Split::millis(0.0, 0.0),
    python_caller: Split::millis(0.0, 0.0),
    ip_neigh: Split::millis(0.0, 0.0),
    ip_address: Split::millis(0.0, 0.0),
    dash_n: Split::millis(10.6, 37.2),
    netns_exec: Split::millis(10.6, 37.2),
    per_namespace: Split::micros(0.0),
    sudo: Split::millis(0.0, 0.0),
    sudo_first: Split::millis(0.0, 0.0),
    rootwrap: Split::millis(139.0, 0.0),
    sudo_rootwrap: Split::millis(139.0, 0.0),
    rootwrap_daemon: Split::millis(2.2, 0.0),
    privsep: Split::millis(0.255, 0.0),
    neigh_line: Split::micros(111.0),
    address_line: Split::micros(111.0),
    batch_spawn: Some(Split::millis(10.6, 29.7)),
};

/// A fit: hosts of 2013 and 2014 (neutron specification rootwrap-daemon-mode): a command through sudo
/// rootwrap in a namespace takes 164 ms, 139 ms more than through sudo alone. Only these sums
/// are known; both are taken as CPU work, as they are today.
const ROOTWRAP_2014: CostTable = CostTable {
    netns_exec: Split::millis(25.0, 0.0),
    dash_n: Split::millis(25.0, 0.0),
    batch_spawn: None,
    ..BUG_2015
};

/// A call through oslo.privsep and its one-time cost, measured on the host of
/// [`HostPreset::Measured`] (oslo.privsep 3.12, pyroute2 0.9.7 and 0.5.19). The split was not
/// measured: all of it is taken as CPU work.
#[must_use]
pub const fn privsep_cost(call: PrivsepCall) -> (Split, Split) {
    let (each, first) = match call {
        PrivsepCall::Empty => (0.255, 0.33),
        PrivsepCall::KeptSocket => (0.697, 0.97),
        // An empty call and one NetNS opened in the daemon.
        PrivsepCall::OneNetns => (8.34, 0.84),
        PrivsepCall::TwoNetns => (16.8, 0.84),
        PrivsepCall::InProcessOneNetns => (8.08, 0.0),
        PrivsepCall::InProcessTwoNetns => (15.19, 0.0),
        PrivsepCall::InProcessOneNetns0519 => (8.95, 0.0),
        PrivsepCall::InProcessTwoNetns0519 => (16.04, 0.0),
    };
    (Split::millis(each, 0.0), Split::millis(first, 0.0))
}

impl CostTable {
    /// A program over `/bin/true`, with `namespaces` present.
    #[must_use]
    pub fn program(&self, program: Program, rules: f64, namespaces: f64) -> Split {
        match program {
            Program::True => Split::default(),
            Program::IpNeigh => self.ip_neigh,
            Program::IpAddress => self.ip_address,
            // 1.9, 2.2, 3.0, 5.0, 8.8 ms at 1, 50, 200, 500, 1000 namespaces, all of the command.
            Program::IpNetnsList => Split::millis(0.74, 0.0) + Split::micros(6.9).times(namespaces),
            // Add 2.2 to 2.6 ms and delete 2.2 ms, all of the command.
            Program::IpNetnsAdd => Split::millis(1.24, 0.0),
            Program::IpNetnsDelete => Split::millis(1.04, 0.0),
            // 3.2 ms + 3.4 us a rule, with `ip netns exec`.
            Program::IptablesRestoreLegacy => Split::micros(3.5).times(rules),
            // 10 to 14 ms + 15 us a rule, with `ip netns exec`.
            Program::IptablesRestoreNft => {
                Split::millis(8.8, 0.0) + Split::micros(15.5).times(rules)
            }
        }
    }

    /// Getting into a namespace when `namespaces` are present.
    #[must_use]
    pub fn entry(&self, entry: NamespaceEntry, namespaces: f64) -> Split {
        let copy = self.per_namespace.times(namespaces);
        match entry {
            NamespaceEntry::None => Split::default(),
            NamespaceEntry::DashN => self.dash_n + copy,
            NamespaceEntry::NetnsExec => self.netns_exec + copy,
        }
    }

    /// A helper's cost for each command.
    #[must_use]
    pub const fn helper(&self, helper: Helper) -> Split {
        match helper {
            Helper::Plain | Helper::None => Split::millis(0.0, 0.0),
            Helper::Sudo => self.sudo,
            Helper::Rootwrap => self.rootwrap,
            Helper::SudoRootwrap => self.sudo_rootwrap,
            Helper::RootwrapDaemon => self.rootwrap_daemon,
            Helper::Privsep => self.privsep,
        }
    }

    /// A helper's cost once, before its first command.
    #[must_use]
    pub const fn helper_first(&self, helper: Helper) -> Split {
        match helper {
            Helper::Sudo => self.sudo_first,
            _ => Split::millis(0.0, 0.0),
        }
    }
}
