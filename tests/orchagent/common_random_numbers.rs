//! How many replications common random numbers save on the headline scenario.
//!
//! The number of replications for a given half-width goes with the variance, so what is saved is
//! the variance with independent replications over that of pairs. For the *difference* of two
//! configurations the most that any coupling can save is `(s1² + s2²) / (s1 - s2)²`, where s1 and s2
//! are their standard deviations: a loss that is seven times shorter also varies seven times less,
//! and what varies in the one alone cannot cancel. That is 1.37 for pop batches of 1024 and 128.
//! For their *ratio*, which is what is claimed of them, the relative spreads count; these are
//! alike.

use std::path::Path;

use convsim::experiment::{self, Batch, KeptValues};
use convsim::scenario::{LoadOptions, load};
use convsim::statistics::independent::Independent;
use convsim::statistics::paired::{Contrast, Pairs};
use convsim::statistics::{Estimate, Moments};

const REPLICATIONS: u64 = 1_000;

/// The loss durations of two configurations of the headline scenario, by replication.
fn losses(names: [&str; 2], set: &[&str]) -> [Vec<f64>; 2] {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/chassis-packet-pop-batch.json");
    let options = LoadOptions {
        configurations: names.iter().map(|name| (*name).to_owned()).collect(),
        set: set.iter().map(|text| (*text).to_owned()).collect(),
        ..LoadOptions::default()
    };
    let scenario = load(&path, &options).unwrap();
    let column = scenario.columns().iter().position(|c| c.name == "packet_loss_duration").unwrap();
    let mut kept = KeptValues::of(&scenario.run, &scenario.columns(), &[0, 1], &[column]);
    let batches = [0, 1].map(|point| Batch { point, replications: 0..REPLICATIONS });
    experiment::run(&scenario, &batches, 2, &mut [&mut kept]).unwrap();
    let point =
        |name: &str| scenario.points.iter().position(|point| point.configuration == name).unwrap();
    names.map(|name| kept.values(point(name), column).to_vec())
}

/// How many times fewer replications pairs need for the same half-width.
fn saved([first, second]: &[Vec<f64>; 2], contrast: Contrast) -> f64 {
    let width = |estimate: Estimate| estimate.interval.half_width();
    let independent = width(Independent::new(first, second).means(contrast, 0.95));
    let paired = width(Pairs::new(first, second).means(contrast, 0.95));
    (independent / paired).powi(2)
}

#[test]
fn the_ratio_of_1024_to_128_needs_five_times_fewer_replications() {
    let losses = losses(["pop 1024", "pop 128"], &[]);
    let ratio = saved(&losses, Contrast::Ratio);
    assert!(ratio >= 5.0, "{ratio}");
}

#[test]
fn their_difference_saves_nearly_all_that_any_coupling_could() {
    let losses = losses(["pop 1024", "pop 128"], &[]);
    let difference = saved(&losses, Contrast::Difference);
    let [s1, s2] =
        [0, 1].map(|side| losses[side].iter().copied().collect::<Moments>().standard_deviation());
    let most = (s1 * s1 + s2 * s2) / ((s1 - s2) * (s1 - s2));
    assert!(most < 1.5, "{most}");
    assert!(difference > 0.9 * most && difference < most, "{difference} of {most}");
}
