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

/// 2000 toggles by 20 users on each of the three servers of the mux simulator.
#[divan::bench(args = ["S1 A 2000 toggles", "S1 B 2000 toggles", "S1 C 2000 toggles"], sample_count = 200)]
fn mux_simulator_servers(bencher: Bencher, configuration: &str) {
    replicate(bencher, "mux-simulator-servers.json", |point| point.configuration == configuration);
}

/// The largest points that are shipped: to be under 1 s.
#[divan::bench(args = ["final", "old timer"], sample_count = 5, sample_size = 1)]
fn ipvs_with_a_million_services(bencher: Bencher, algorithm: &str) {
    replicate(bencher, "ipvs-kube-proxy-scale.json", |point| {
        point.configuration.starts_with(algorithm)
            && point.axes.iter().any(|(_, value)| value.as_u64() == Some(1_000_000))
    });
}

/// As above: an agent's full sync of 5000 routers.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn l3_agent_with_5000_routers(bencher: Bencher) {
    replicate(bencher, "l3-agent-restart.json", |point| {
        point.axes.iter().any(|(_, value)| value.as_u64() == Some(5000))
    });
}
