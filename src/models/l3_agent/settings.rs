//! A configuration resolved to what the component runs: operations with their costs and locks.

use super::config::{ArpMethod, Config, Helper, HostPreset, NamespaceEntry, PrivsepCall, Program};
use super::costs::{CLOSED_DESCRIPTOR, CostTable, Split, cores, cost_table, privsep_cost};
use super::era::Rules;
use super::real_time::Pieces;
use super::workload::{Caller, CommandForm, Commands};

/// One command or privsep call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operation {
    /// Its cost.
    pub cost: Split,
    /// Whether the agent's one lock is held during it.
    pub locked: bool,
    /// Processes that the agent has spawned by it.
    pub spawns: u32,
}

/// What is done for each of a number of entries: up to two operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loop {
    /// First this, then that.
    pub operations: [Option<Operation>; 2],
}

impl Loop {
    const fn one(operation: Operation) -> Self {
        Self { operations: [Some(operation), None] }
    }

    const fn two(first: Operation, second: Operation) -> Self {
        Self { operations: [Some(first), Some(second)] }
    }
}

/// The ARP entries of a subnet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArpPlan {
    /// Once per subnet, before the entries.
    pub before: Option<Operation>,
    /// For each entry.
    pub entry: Loop,
    /// All entries in one batch: `entry` once, and this for each line.
    pub line: Option<Split>,
}

/// A list of commands run by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommandPlan {
    /// Operations to run.
    pub count: u32,
    /// In flight at once.
    pub concurrency: u32,
    /// Each of them.
    pub each: Operation,
    /// Before the first, once.
    pub first: Split,
    /// Each of them as it runs at real-time priority beside others.
    pub real_time: Option<Pieces>,
}

/// Everything that is fixed before a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What all cores together do when busy, in cores.
    pub cores: f64,
    /// The agent's rules.
    pub rules: Rules,
    /// Routers of the full sync and routers that come with VM boots.
    pub routers: u32,
    /// All routers.
    pub all_routers: u32,
    /// A command for a router besides its ARP entries.
    pub command: Loop,
    /// ARP entries.
    pub arp: ArpPlan,
    /// Commands run by themselves.
    pub commands: Option<CommandPlan>,
}

impl Settings {
    /// Resolves `config`.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let workload = &config.workload;
        let boots = &workload.vm_boots;
        let routers = workload.routers;
        let all_routers = routers.saturating_add(boots.count.div_ceil(boots.per_router.max(1)));
        let rules = Rules::of(config, all_routers);
        let namespaces =
            f64::from(config.host.namespaces.unwrap_or(if config.commands.is_some() {
                1
            } else {
                all_routers
            }));
        let costs = Costs { config, table: cost_table(config.host.preset), namespaces };
        Self {
            cores: config.host.cores.unwrap_or(cores(config.host.preset)),
            rules,
            routers,
            all_routers,
            command: Loop::one(costs.agent_spawn()),
            arp: costs.arp_plan(rules.arp_method),
            commands: config.commands.as_ref().map(|commands| costs.command_plan(commands)),
        }
    }
}

struct Costs<'a> {
    config: &'a Config,
    table: CostTable,
    namespaces: f64,
}

impl Costs<'_> {
    /// A command that the agent has run in a router's namespace.
    fn agent_spawn(&self) -> Operation {
        let commands = Commands { caller: Caller::Python, ..Commands::default() };
        Operation {
            cost: self.spawn(&commands),
            locked: self.is_locked(self.config.helper),
            spawns: 1,
        }
    }

    fn is_locked(&self, helper: Helper) -> bool {
        let agent = &self.config.agent;
        match helper {
            Helper::RootwrapDaemon => agent.daemon_lock,
            Helper::Privsep => agent.privsep_lock,
            _ => false,
        }
    }

    fn privsep(&self, call: PrivsepCall) -> Operation {
        let mut cost = privsep_cost(call).0;
        if let Some(cpu) = self.config.host.privsep_cpu {
            cost.cpu = cpu.as_nanos() as f64;
        }
        Operation { cost, locked: self.config.agent.privsep_lock, spawns: 0 }
    }

    /// The cost of one spawned command.
    fn spawn(&self, commands: &Commands) -> Split {
        self.overridden(
            self.parts(commands).into_iter().fold(Split::default(), |sum, part| sum + part),
        )
    }

    /// Caller and helper, namespace entry, program.
    fn parts(&self, commands: &Commands) -> [Split; 3] {
        let (table, namespaces) = (&self.table, self.namespaces);
        [
            self.around_entry(commands),
            table.entry(commands.entry, namespaces),
            table.program(commands.program, f64::from(commands.rules), namespaces),
        ]
    }

    /// What comes before and after a command's time in its namespace: caller and helper.
    fn around_entry(&self, commands: &Commands) -> Split {
        let table = &self.table;
        let helper = commands.helper.unwrap_or(self.config.helper);
        let caller = match (commands.caller, helper) {
            // The daemon spawns, whoever asks it.
            (_, Helper::Privsep) => table.python_caller,
            (Caller::Shell, _) | (_, Helper::RootwrapDaemon) => Split::default(),
            (Caller::Python, _) => table.python_caller,
        };
        table.fork_exec + caller + table.helper(helper)
    }

    /// How `commands` run when they are at real-time priority and several at once.
    fn real_time(&self, commands: &Commands, each: &Operation) -> Option<Pieces> {
        let measured = self.config.host.preset == HostPreset::Measured;
        let applies = commands.real_time.unwrap_or(measured)
            && commands.concurrency > 1
            && commands.form == CommandForm::Single
            && commands.entry != NamespaceEntry::None
            && !each.locked;
        let [around, entry, program] = self.parts(commands).map(|part| part.cpu);
        let sum = around + entry + program;
        let share = if sum > 0.0 { (around + entry / 2.0) / sum } else { 1.0 };
        applies.then(|| Pieces::of(each.cost, share))
    }

    fn overridden(&self, mut cost: Split) -> Split {
        let host = &self.config.host;
        if let Some(cpu) = host.spawn_cpu {
            cost.cpu = cpu.as_nanos() as f64;
        }
        if let Some(blocked) = host.spawn_blocked {
            cost.blocked = blocked.as_nanos() as f64;
        }
        cost + CLOSED_DESCRIPTOR.times(f64::from(host.closed_descriptors))
    }

    fn line(&self, program: Program) -> Split {
        let preset = match program {
            Program::IpAddress => self.table.address_line,
            _ => self.table.neigh_line,
        };
        match self.config.host.batch_line {
            Some(line) => Split { cpu: line.as_nanos() as f64, blocked: 0.0 },
            None => preset,
        }
    }

    fn batch_spawn(&self, commands: &Commands) -> Split {
        match self.table.batch_spawn {
            Some(spawn) => self.overridden(spawn),
            None => self.spawn(commands),
        }
    }

    fn arp_plan(&self, method: ArpMethod) -> ArpPlan {
        let spawn = self.agent_spawn();
        let check = self.privsep(PrivsepCall::OneNetns);
        let write = self.privsep(PrivsepCall::TwoNetns);
        let (before, entry, line) = match method {
            ArpMethod::TwoSpawns => (None, Loop::two(spawn, spawn), None),
            ArpMethod::SpawnAndPrivsep => (None, Loop::two(spawn, write), None),
            ArpMethod::TwoPrivsep => (None, Loop::two(check, write), None),
            ArpMethod::OnePrivsep => (Some(check), Loop::one(write), None),
            ArpMethod::Batched => {
                let commands = Commands { caller: Caller::Python, ..Commands::default() };
                let batch = Operation { cost: self.batch_spawn(&commands), ..spawn };
                (None, Loop::one(batch), Some(self.line(Program::IpNeigh)))
            }
        };
        ArpPlan { before, entry, line }
    }

    fn command_plan(&self, commands: &Commands) -> CommandPlan {
        let helper = commands.helper.unwrap_or(self.config.helper);
        if let Some(call) = commands.privsep {
            return CommandPlan {
                count: commands.count,
                concurrency: commands.concurrency,
                each: self.privsep(call),
                first: privsep_cost(call).1,
                real_time: None,
            };
        }
        let (count, cost) = match commands.form {
            CommandForm::Single => (commands.count, self.spawn(commands)),
            CommandForm::Batch => {
                let lines = self.line(commands.program).times(f64::from(commands.count));
                // The program's own cost is in its lines, but one process is started.
                (1, self.batch_spawn(commands) + lines)
            }
        };
        let each = Operation { cost, locked: self.is_locked(helper), spawns: 1 };
        CommandPlan {
            count,
            concurrency: commands.concurrency,
            each,
            first: self.table.helper_first(helper),
            real_time: self.real_time(commands, &each),
        }
    }
}

/// True when the entry can be used with the program: `ip -n` is an option of ip.
#[must_use]
pub const fn fits(entry: NamespaceEntry, program: Program) -> bool {
    let of_ip = matches!(program, Program::IpNeigh | Program::IpAddress);
    !matches!(entry, NamespaceEntry::DashN) || of_ip
}
