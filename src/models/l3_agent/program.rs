//! From operations to the steps of a job on the host, with their costs drawn.

use rand::RngExt;

use super::costs::Split;
use super::settings::{ArpPlan, Loop, Operation};
use crate::engine::random::mix;
use crate::engine::{SimDuration, Stream};
use crate::quantities::{DurationDistribution, DurationSampler};
use crate::resources::{LockId, Step};

/// Most slices of a loop. A loop of more entries runs several of them as one step: the cost of a
/// slice is the sum of its entries' (drawn as such), so that work and blocked time are exact and
/// only the interleaving with other workers is coarser than it is in reality.
pub const SLICES: u32 = 32;

/// What a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramKey {
    /// Which kind of program: 0 the router itself, n its subnet n - 1, and the constants here.
    pub stage: u32,
    /// The router, command or update.
    pub item: u32,
    /// How often the router has been processed before.
    pub time: u32,
}

impl ProgramKey {
    /// Whether a router fails.
    pub const FAILURE: u32 = u32::MAX;
    /// A port update.
    pub const PORT_UPDATE: u32 = u32::MAX - 1;
    /// A command of a list.
    pub const COMMAND: u32 = u32::MAX - 2;
}

/// Draws costs and builds steps.
#[derive(Debug)]
pub struct ProgramBuilder {
    /// Of mean 1 s: the factor on a command's cost. `None` when costs do not vary.
    factor: Option<DurationSampler>,
    /// What the stream of each program is derived from.
    base: u64,
    random: Stream,
    lock: LockId,
    steps: Vec<Step>,
    /// Processes spawned by what was built since the start.
    pub spawns: u64,
    /// Privsep calls, likewise.
    pub privsep_calls: u64,
}

/// Below this a coefficient of variation cannot be told from none.
const LEAST_VARIATION: f64 = 0.001;

impl ProgramBuilder {
    /// Costs vary with the coefficient `variation`; locked operations take `lock`.
    #[must_use]
    pub fn new(variation: f64, lock: LockId, random: Stream) -> Self {
        let one = SimDuration::from_whole_seconds(1);
        let factor = (variation >= LEAST_VARIATION)
            .then(|| DurationDistribution::Gamma { mean: one, cv: variation }.sampler());
        Self { factor, base: 0, random, lock, steps: Vec::new(), spawns: 0, privsep_calls: 0 }
    }

    /// As at the start of a replication.
    pub fn reset(&mut self, mut random: Stream) {
        self.base = random.next_seed();
        self.random = random;
        self.steps.clear();
        self.spawns = 0;
        self.privsep_calls = 0;
    }

    /// Begins another program. Its costs depend on `key` (what it is for) and not on what was
    /// built before, so that a router costs the same whichever worker has it, and when.
    pub fn begin(&mut self, key: ProgramKey) {
        self.steps.clear();
        let stage = mix(self.base ^ u64::from(key.stage));
        let seed = mix(mix(stage ^ u64::from(key.item)) ^ u64::from(key.time));
        self.random.reseed(seed);
    }

    /// A draw from the present program's stream, 0 to 1.
    pub fn chance(&mut self) -> f64 {
        self.random.random()
    }

    /// Adds a step as it is.
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// The program built since [`ProgramBuilder::begin`].
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Does `entry` for `count` entries, one after another.
    pub fn repeat(&mut self, entry: &Loop, count: u32) {
        let slices = count.min(SLICES);
        for slice in 0..slices {
            let entries = count / slices + u32::from(slice < count % slices);
            for operation in entry.operations.iter().flatten() {
                self.operation(operation, entries);
            }
        }
    }

    /// Writes `entries` ARP entries of one subnet.
    pub fn arp(&mut self, plan: &ArpPlan, entries: u32) {
        if entries == 0 {
            return;
        }
        if let Some(before) = &plan.before {
            self.operation(before, 1);
        }
        match plan.line {
            None => self.repeat(&plan.entry, entries),
            Some(line) => {
                for operation in plan.entry.operations.iter().flatten() {
                    let cost = operation.cost + line.times(f64::from(entries));
                    self.operation(&Operation { cost, ..*operation }, 1);
                }
            }
        }
    }

    /// Does `operation` `count` times in a row as one step.
    pub fn operation(&mut self, operation: &Operation, count: u32) {
        let factor = self.count(operation, count);
        self.spawn(operation.cost.times(factor), operation.locked);
    }

    /// Counts `operation` as done `count` times, and draws by how much its cost is to be
    /// multiplied for that.
    pub fn count(&mut self, operation: &Operation, count: u32) -> f64 {
        if operation.spawns > 0 {
            self.spawns += u64::from(operation.spawns) * u64::from(count);
        } else {
            self.privsep_calls += u64::from(count);
        }
        self.draw(count)
    }

    /// A cost without variation.
    pub fn spawn(&mut self, cost: Split, locked: bool) {
        let nanos = |value: f64| SimDuration::from_nanos((value + 0.5) as u64);
        let step = Step::Spawn { cpu: nanos(cost.cpu), blocked: nanos(cost.blocked) };
        if locked {
            self.steps.extend([Step::Lock(self.lock), step, Step::Unlock(self.lock)]);
        } else {
            self.steps.push(step);
        }
    }

    /// The sum of the factors of `count` commands.
    fn draw(&mut self, count: u32) -> f64 {
        match &mut self.factor {
            None => f64::from(count),
            Some(factor) => factor.sample_sum(u64::from(count), &mut self.random).as_seconds(),
        }
    }
}
