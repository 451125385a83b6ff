//! One replication of each shipped model's headline scenario, on one core.

use std::path::Path;

use convsim::engine::{Engine, Limits, SimTime, StreamSeed};
use convsim::models::World;
use convsim::scenario::{self, LoadOptions, Point, Scenario};
use divan::Bencher;

fn main() {
    divan::main();
}

fn load(file: &str) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios").join(file);
    match scenario::load(&path, &LoadOptions::default()) {
        Ok(scenario) => scenario,
        Err(error) => panic!("{:?}", miette::Report::new(*error)),
    }
}

fn replicate(bencher: Bencher<'_, '_>, file: &str, choose: impl Fn(&Point) -> bool) {
    let scenario = load(file);
    let point = scenario.points.iter().find(|point| choose(point)).expect("the point exists");
    let mut world = World::new(&point.components, scenario.connections.clone());
    let mut engine = Engine::new(StreamSeed::default());
    let limits = Limits {
        horizon: SimTime::ZERO.saturating_add(scenario.run.horizon),
        event_budget: scenario.run.event_budget,
    };
    let mut replication = 0;
    bencher.bench_local(|| {
        engine.reset(StreamSeed { master: scenario.run.seed, replication });
        replication += 1;
        engine.run(&mut world, limits)
    });
}

/// 60K routes, 14 of 16 port-channels flap: to be under 1 ms at pop batch 128.
#[divan::bench(args = ["pop 1024", "pop 128"], sample_count = 200)]
fn chassis_packet_pop_batch(bencher: Bencher, configuration: &str) {
    replicate(bencher, "chassis-packet-pop-batch.json", |point| {
        point.configuration == configuration
    });
}
