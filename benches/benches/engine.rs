//! The workloads on convsim's engine alone, for following it over time.

use convsim::engine::Timer;
use convsim_benches::contenders::ConvsimContender;
use convsim_benches::workloads::{ClosedSystem, FiveStations, Hold, Increments, Mm1};
use convsim_benches::{Contender, Model};
use divan::Bencher;
use divan::counter::ItemsCount;

/// Events in one sample.
const EVENTS: u64 = 200_000;

fn main() {
    divan::main();
}

fn advance<M: Model<Timer>>(bencher: Bencher<'_, '_>, model: M) {
    let mut contender = ConvsimContender::new(model);
    bencher.counter(ItemsCount::new(EVENTS)).bench_local(|| contender.advance(EVENTS));
}

#[divan::bench(args = [10, 1_000, 100_000, 1_000_000], sample_count = 20)]
fn hold(bencher: Bencher, pending: u32) {
    advance(bencher, Hold::new(pending, Increments::Exponential));
}

#[divan::bench(args = [1_000], sample_count = 20)]
fn bimodal_hold(bencher: Bencher, pending: u32) {
    advance(bencher, Hold::new(pending, Increments::Bimodal));
}

#[divan::bench(sample_count = 20)]
fn mm1(bencher: Bencher) {
    // More customers than all samples serve.
    advance(bencher, Mm1::new(u64::MAX));
}

#[divan::bench(sample_count = 20)]
fn closed_system(bencher: Bencher) {
    advance(bencher, ClosedSystem::default());
}

#[divan::bench(sample_count = 20)]
fn five_stations(bencher: Bencher) {
    advance(bencher, FiveStations::default());
}
