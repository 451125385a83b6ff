//! Every workload on every contender in turn, round by round in one process, so that whatever
//! else the machine does hits all alike. Prints rates, ratios, and whether the targets hold.

use std::hint::black_box;
use std::time::{Duration, Instant};

use convsim_benches::Contender;
use convsim_benches::contenders::{
    ConvsimContender, DesqueContender, HeapContender, SimcoreContender,
};
use convsim_benches::workloads::{ClosedSystem, FiveStations, Hold, Increments, Mm1, lindley};

const ROUNDS: usize = 15;
const NAMES: [&str; 4] = ["convsim", "BinaryHeap", "desque", "simcore"];
const BINARY_HEAP: usize = 1;
const DESQUE: usize = 2;
const MM1_CUSTOMERS: u64 = 1_000_000;

/// Convsim must reach `least` times the rate of a peer.
struct Target {
    peer: usize,
    least: f64,
}

struct Workload {
    name: &'static str,
    /// Events in one round.
    events: u64,
    targets: &'static [Target],
    /// Makes the contenders, in the order of `NAMES`.
    make: fn() -> [Box<dyn Contender>; 4],
    /// Whether each round starts afresh and runs until nothing is left.
    afresh: bool,
}

macro_rules! contenders {
    ($model:expr) => {
        || {
            [
                Box::new(ConvsimContender::new($model)),
                Box::new(HeapContender::new($model)),
                Box::new(DesqueContender::new($model)),
                Box::new(SimcoreContender::new($model)),
            ]
        }
    };
}

const NEVER_BELOW_HEAP: &[Target] = &[Target { peer: BINARY_HEAP, least: 1.0 }];

const WORKLOADS: [Workload; 8] = [
    Workload {
        name: "hold 10",
        events: 1_000_000,
        targets: NEVER_BELOW_HEAP,
        make: contenders!(Hold::new(10, Increments::Exponential)),
        afresh: false,
    },
    Workload {
        name: "hold 1e3",
        events: 500_000,
        targets: NEVER_BELOW_HEAP,
        make: contenders!(Hold::new(1_000, Increments::Exponential)),
        afresh: false,
    },
    Workload {
        name: "hold 1e5",
        events: 300_000,
        targets: NEVER_BELOW_HEAP,
        make: contenders!(Hold::new(100_000, Increments::Exponential)),
        afresh: false,
    },
    Workload {
        name: "hold 1e6",
        events: 150_000,
        targets: NEVER_BELOW_HEAP,
        make: contenders!(Hold::new(1_000_000, Increments::Exponential)),
        afresh: false,
    },
    Workload {
        name: "bimodal 1e3",
        events: 500_000,
        targets: &[Target { peer: BINARY_HEAP, least: 2.0 }],
        make: contenders!(Hold::new(1_000, Increments::Bimodal)),
        afresh: false,
    },
    Workload {
        name: "M/M/1",
        events: 2 * MM1_CUSTOMERS,
        targets: &[Target { peer: DESQUE, least: 1.3 }],
        make: contenders!(Mm1::new(MM1_CUSTOMERS)),
        afresh: true,
    },
    Workload {
        name: "cancel",
        events: 1_000_000,
        targets: &[Target { peer: BINARY_HEAP, least: 1.5 }, Target { peer: DESQUE, least: 2.0 }],
        make: contenders!(ClosedSystem::default()),
        afresh: false,
    },
    Workload {
        name: "five stations",
        events: 1_000_000,
        targets: &[],
        make: contenders!(FiveStations::default()),
        afresh: false,
    },
];

/// What one workload took: for each round, the time of each contender.
struct Measured {
    events: u64,
    rounds: Vec<[Duration; 4]>,
}

impl Measured {
    /// Million events per second in the contender's best round.
    fn best_rate(&self, contender: usize) -> f64 {
        let best = self.rounds.iter().map(|times| times[contender]).min().unwrap_or_default();
        self.events as f64 / best.as_secs_f64() / 1e6
    }

    /// Convsim's rate over the peer's: the median of the rounds.
    fn ratio(&self, peer: usize) -> f64 {
        let of_round = |times: &[Duration; 4]| times[peer].as_secs_f64() / times[0].as_secs_f64();
        let mut ratios: Vec<f64> = self.rounds.iter().map(of_round).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[ratios.len() / 2]
    }
}

fn measure(workload: &Workload) -> Measured {
    let mut contenders = (workload.make)();
    // The first round warms up and is not counted.
    let mut rounds = Vec::new();
    for round in 0..=ROUNDS {
        if workload.afresh {
            contenders = (workload.make)();
        }
        let mut times = [Duration::ZERO; 4];
        for turn in 0..contenders.len() {
            let index = (round + turn) % contenders.len();
            let start = Instant::now();
            contenders[index].advance(black_box(workload.events));
            times[index] = start.elapsed();
        }
        if round > 0 {
            rounds.push(times);
        }
        for (contender, name) in contenders.iter().zip(NAMES) {
            assert_eq!(
                contender.digest(),
                contenders[0].digest(),
                "{}: {name} did not do the same as convsim",
                workload.name
            );
        }
        if workload.name == "M/M/1" && round == 0 {
            let expected = lindley(MM1_CUSTOMERS).digest();
            assert_eq!(contenders[0].digest(), expected, "waits differ from the Lindley recursion");
        }
    }
    Measured { events: workload.events, rounds }
}

fn main() {
    // `cargo bench -- NAME` measures the workloads whose name contains NAME.
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let wanted =
        |workload: &&Workload| filter.as_ref().is_none_or(|part| workload.name.contains(part));
    println!("Best of {ROUNDS} rounds in million events per second; median ratio of the rounds.\n");
    println!(
        "| workload      | convsim | BinaryHeap | desque | simcore | / BinaryHeap | / desque | / simcore |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut verdicts = Vec::new();
    for workload in WORKLOADS.iter().filter(wanted) {
        let measured = measure(workload);
        let rate = |contender| measured.best_rate(contender);
        println!(
            "| {:13} | {:7.1} | {:10.1} | {:6.1} | {:7.1} | {:12.2} | {:8.2} | {:9.2} |",
            workload.name,
            rate(0),
            rate(1),
            rate(2),
            rate(3),
            measured.ratio(1),
            measured.ratio(2),
            measured.ratio(3),
        );
        for Target { peer, least } in workload.targets {
            let ratio = measured.ratio(*peer);
            let verdict = if ratio >= *least { "reached" } else { "NOT reached" };
            let (name, peer) = (workload.name, NAMES[*peer]);
            verdicts.push(format!("{name}: {ratio:.2} times {peer}, target {least}: {verdict}"));
        }
    }
    println!();
    for verdict in verdicts {
        println!("{verdict}");
    }
}
