//! Whether the intervals hold what they promise: 1,000 repeated experiments on data with known
//! answers, fixed seed. A 95 % interval must cover in 93 to 97 % of them.

use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use super::paired::{Contrast, Pairs};
use super::*;
use crate::engine::{Stream, StreamSeed};
use crate::experiment::MetricSummary;
use crate::models::Unit;

const EXPERIMENTS: u64 = 1_000;

/// The share of experiments whose interval contains the truth.
fn coverage(truth: f64, mut experiment: impl FnMut(&mut Stream) -> Estimate) -> f64 {
    let covered = (0..EXPERIMENTS).filter(|&replication| {
        let mut stream = StreamSeed { master: 7, replication }.stream("coverage", "data");
        experiment(&mut stream).interval.contains(truth)
    });
    covered.count() as f64 / EXPERIMENTS as f64
}

fn exponential(stream: &mut Stream, count: usize) -> Vec<f64> {
    (0..count).map(|_| Exp1.sample(stream)).collect()
}

#[test]
fn the_interval_of_an_exponential_mean_covers_it() {
    let share = coverage(1.0, |stream| {
        exponential(stream, 200).into_iter().collect::<Moments>().mean_estimate(0.95)
    });
    assert!((0.93..=0.97).contains(&share), "{share}");
}

#[test]
fn the_interval_of_an_exponential_quantile_covers_it() {
    for (probability, count) in [(0.5, 201), (0.95, 400), (0.99, 2_000)] {
        let truth = -libm::log(1.0 - probability);
        let share = coverage(truth, |stream| {
            Sorted::new(exponential(stream, count)).quantile_estimate(probability, 0.95)
        });
        assert!((0.93..=0.97).contains(&share), "p{probability}: {share}");
    }
}

#[test]
fn the_interval_of_a_binomial_rate_covers_it() {
    for truth in [0.1, 0.3, 0.5] {
        let share = coverage(truth, |stream| {
            let hits = (0..400).filter(|_| stream.random::<f64>() < truth).count() as u64;
            Rate::new(hits, 400).estimate(0.95)
        });
        assert!((0.93..=0.97).contains(&share), "{truth}: {share}");
    }
}

/// Rare and few: here a Student-t interval covers in half of the experiments, because nothing
/// happened in the others. Wilson's is above 95 % on average; the count is discrete.
#[test]
fn the_interval_of_a_rare_probability_covers_it() {
    for (truth, count) in [(1.0 / 30.0, 20), (1.0 / 30.0, 50), (1.0 / 6.0, 20), (0.01, 100)] {
        let values = |stream: &mut Stream| -> Vec<f64> {
            (0..count).map(|_| f64::from(stream.random::<f64>() < truth)).collect()
        };
        let summary = |stream: &mut Stream| {
            MetricSummary::of_unit(Unit::Probability, values(stream), 0.95, 1).mean
        };
        let share = coverage(truth, summary);
        assert!((0.92..=0.99).contains(&share), "{truth} of {count}: {share}");
    }
}

#[test]
fn the_intervals_of_paired_contrasts_cover_them() {
    // first = common + own, second = common / 2 + own: means 2 and 1.5.
    let pairs = |stream: &mut Stream| {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for _ in 0..150 {
            let common: f64 = Exp1.sample(stream);
            let (a, b): (f64, f64) = (Exp1.sample(stream), Exp1.sample(stream));
            first.push(common + a);
            second.push(common / 2.0 + b);
        }
        Pairs::new(&first, &second)
    };
    let share = coverage(0.5, |stream| pairs(stream).means(Contrast::Difference, 0.95));
    assert!((0.93..=0.97).contains(&share), "difference: {share}");
    let share = coverage(2.0 / 1.5, |stream| pairs(stream).means(Contrast::Ratio, 0.95));
    assert!((0.93..=0.97).contains(&share), "ratio: {share}");
}

/// Two 0/1 figures that share a part of what decides them, from hardly related to nearly always
/// alike, and rare ones: the interval covers the truth in at least 92 % of experiments, and is not
/// rules out too much nowhere.
#[test]
fn the_intervals_of_paired_rates_cover_them() {
    for (first, second, shared, count) in [
        (0.3, 0.15, 0.5, 40),
        (0.3, 0.15, 0.9, 40),
        (0.5, 0.4, 0.0, 80),
        (0.5, 0.4, 0.8, 80),
        (0.9, 0.8, 0.7, 60),
        (0.05, 0.05, 0.9, 100),
        (0.03, 0.12, 0.5, 100),
    ] {
        let pairs = |stream: &mut Stream| {
            let pair = |stream: &mut Stream| {
                let common: f64 = stream.random();
                let mut happens = |probability: f64| {
                    let (alike, own): (f64, f64) = (stream.random(), stream.random());
                    f64::from(if alike < shared { common } else { own } < probability)
                };
                (happens(first), happens(second))
            };
            let (a, b): (Vec<f64>, Vec<f64>) = (0..count).map(|_| pair(stream)).unzip();
            Pairs::new(&a, &b)
        };
        for (contrast, truth) in
            [(Contrast::Difference, first - second), (Contrast::Ratio, first / second)]
        {
            let share = coverage(truth, |stream| pairs(stream).rates(1, contrast, 0.95));
            let case = format!("{contrast:?} of {first} and {second}, shared {shared}: {share}");
            assert!((0.925..=1.0).contains(&share), "{case}");
        }
    }
}

#[test]
fn the_bootstrap_interval_of_a_median_ratio_covers_it() {
    // Twice an independent exponential: the medians are as 2 to 1. 400 experiments, as each
    // resamples 2,000 times; the band is wider for that, and for the bootstrap being approximate.
    let covered = (0..400).filter(|&replication| {
        let mut stream = StreamSeed { master: 8, replication }.stream("coverage", "data");
        let first: Vec<f64> = exponential(&mut stream, 80).iter().map(|x| 2.0 * x).collect();
        let second = exponential(&mut stream, 80);
        Pairs::new(&first, &second).quantiles(0.5, Contrast::Ratio, 0.95).interval.contains(2.0)
    });
    let share = covered.count() as f64 / 400.0;
    assert!((0.92..=0.98).contains(&share), "{share}");
}
