//! What is compared is the same work.

use convsim_benches::Contender;
use convsim_benches::contenders::{
    ConvsimContender, DesqueContender, HeapContender, SimcoreContender,
};
use convsim_benches::workloads::{ClosedSystem, FiveStations, Hold, Increments, Mm1};

/// Runs a model on every contender, in two parts, and demands equal digests after each.
macro_rules! assert_agreement {
    ($model:expr) => {
        let mut contenders: [Box<dyn Contender>; 4] = [
            Box::new(ConvsimContender::new($model)),
            Box::new(HeapContender::new($model)),
            Box::new(DesqueContender::new($model)),
            Box::new(SimcoreContender::new($model)),
        ];
        for events in [10_000, 50_001] {
            let digests = contenders.each_mut().map(|contender| {
                contender.advance(events);
                contender.digest()
            });
            assert_eq!(digests, [digests[0]; 4]);
        }
    };
}

#[test]
fn all_engines_run_the_same_hold_model() {
    assert_agreement!(Hold::new(1_000, Increments::Exponential));
    assert_agreement!(Hold::new(1_000, Increments::Bimodal));
}

#[test]
fn all_engines_run_the_same_queue_to_its_end() {
    assert_agreement!(Mm1::new(20_000));
}

#[test]
fn all_engines_run_the_same_closed_system() {
    assert_agreement!(ClosedSystem::default());
}

#[test]
fn all_engines_run_the_same_five_stations() {
    assert_agreement!(FiveStations::default());
}

#[test]
fn a_few_requests_of_the_closed_system_time_out() {
    let mut contender = HeapContender::new(ClosedSystem::default());
    contender.advance(2_000_000);
    let share = contender.model().timeouts_per_success();
    assert!((1e-5..1e-3).contains(&share), "{share}");
}
