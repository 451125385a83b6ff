use super::*;
use crate::engine::{Stream, StreamSeed};

const DRAWS: u64 = 200_000;

fn stream(purpose: &str) -> Stream {
    StreamSeed { master: 7, replication: 0 }.stream("distribution", purpose)
}

const fn ms(millis: u64) -> SimDuration {
    SimDuration::from_millis(millis)
}

/// A law with its exact mean and variance in seconds; `None` where the variance is infinite or
/// so heavy-tailed that a sample does not estimate it.
struct Case {
    name: &'static str,
    law: DurationDistribution,
    mean: f64,
    variance: Option<f64>,
}

fn case(name: &'static str, law: DurationDistribution, mean: f64, variance: f64) -> Case {
    Case { name, law, mean, variance: Some(variance) }
}

fn gamma_function(x: f64) -> f64 {
    libm::tgamma(x)
}

/// One of each kind with the moments of the textbook.
fn cases() -> Vec<Case> {
    let square = |x: f64| x * x;
    let weibull_mean = 0.010 * gamma_function(1.5);
    let exponential = DurationDistribution::Exponential { mean: ms(30) };
    let mixture = DurationDistribution::Mixture {
        parts: vec![
            MixturePart { weight: 3.0, duration: DurationDistribution::constant(ms(10)) },
            MixturePart { weight: 1.0, duration: exponential.clone() },
        ],
    };
    let values = vec![ms(1), ms(2), ms(6)];
    let order = EmpiricalOrder::Resample;
    // Normal truncated at 0 with mean 10, deviation 10: a = -1, h = phi(1) / Phi(1).
    let hazard = 0.241_970_724_519_143_37 / 0.841_344_746_068_542_9;
    let truncated_mean = 0.010 * (1.0 + hazard);
    let truncated_variance = square(0.010) * (1.0 - hazard - square(hazard));
    vec![
        case("constant", DurationDistribution::constant(ms(40)), 0.040, 0.0),
        case("exponential", exponential, 0.030, square(0.030)),
        case(
            "uniform",
            DurationDistribution::Uniform { min: ms(10), max: ms(50) },
            0.030,
            square(0.040) / 12.0,
        ),
        case(
            "normal",
            DurationDistribution::Normal { mean: ms(50), cv: 0.1 },
            0.050,
            0.005 * 0.005,
        ),
        case(
            "normal truncated at 0",
            DurationDistribution::Normal { mean: ms(10), cv: 1.0 },
            truncated_mean,
            truncated_variance,
        ),
        case(
            "lognormal",
            DurationDistribution::Lognormal { mean: ms(2), cv: 0.3 },
            0.002,
            square(0.002 * 0.3),
        ),
        case("gamma", DurationDistribution::Gamma { mean: ms(5), cv: 0.7 }, 0.005, square(0.0035)),
        case(
            "erlang",
            DurationDistribution::Erlang { mean: ms(20), stages: 4 },
            0.020,
            square(0.020) / 4.0,
        ),
        case(
            "weibull",
            DurationDistribution::Weibull { scale: ms(10), shape: 2.0 },
            weibull_mean,
            square(0.010) * gamma_function(2.0) - square(weibull_mean),
        ),
        // x_min a / (a - 1) and x_min^2 a / ((a - 1)^2 (a - 2)).
        case("pareto", DurationDistribution::Pareto { min: ms(1), shape: 6.0 }, 0.0012, 6e-8),
        Case {
            name: "pareto without variance",
            law: DurationDistribution::Pareto { min: ms(1), shape: 1.9 },
            mean: 0.0019 / 0.9,
            variance: None,
        },
        case(
            "triangular",
            DurationDistribution::Triangular { min: ms(10), mode: ms(20), max: ms(60) },
            0.030,
            // (a^2 + b^2 + c^2 - ab - ac - bc) / 18
            (100.0 + 400.0 + 3600.0 - 200.0 - 600.0 - 1200.0) * 1e-6 / 18.0,
        ),
        case(
            "mixture",
            mixture,
            0.015,
            0.75 * square(0.010) + 0.25 * 2.0 * square(0.030) - square(0.015),
        ),
        case("empirical", DurationDistribution::Empirical { values, order }, 0.003, 14e-6 / 3.0),
    ]
}

/// Mean and variance of `draws` values.
fn moments(draws: u64, mut draw: impl FnMut() -> SimDuration) -> (f64, f64) {
    let values: Vec<f64> = (0..draws).map(|_| draw().as_seconds()).collect();
    let mean = values.iter().sum::<f64>() / draws as f64;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, squares / (draws - 1) as f64)
}

fn assert_close(what: &str, got: f64, expected: f64, relative: f64) {
    // A rounding error where exactly nothing is expected.
    let error = (got - expected).abs() - 1e-20;
    assert!(error <= relative * expected.abs(), "{what}: {got} instead of {expected}");
}

#[test]
fn every_law_has_the_mean_and_variance_of_the_textbook() {
    for Case { name, law, mean, variance } in cases() {
        law.check().unwrap();
        assert_close(&format!("stated mean of {name}"), law.mean_seconds(), mean, 1e-9);
        let (mut sampler, mut random) = (law.sampler(), stream(name));
        let (sampled_mean, sampled_variance) = moments(DRAWS, || sampler.sample(&mut random));
        match variance {
            Some(variance) => {
                // Five standard errors of the mean; that of the variance depends on the fourth
                // moment, and 5 % covers the heaviest tail here.
                let error = 5.0 * libm::sqrt(variance / DRAWS as f64);
                assert!(
                    (sampled_mean - mean).abs() <= error + 1e-12,
                    "mean of {name}: {sampled_mean} instead of {mean}"
                );
                assert_close(&format!("variance of {name}"), sampled_variance, variance, 0.05);
            }
            None => assert_close(&format!("mean of {name}"), sampled_mean, mean, 0.02),
        }
    }
}

#[test]
fn a_sum_has_the_mean_and_variance_of_that_many_draws() {
    const COUNT: u64 = 12;
    for Case { name, law, mean, variance } in cases() {
        let Some(variance) = variance else { continue };
        let (mut sampler, mut random) = (law.sampler(), stream(name));
        let draws = 40_000;
        let sums = moments(draws, || sampler.sample_sum(COUNT, &mut random));
        let mut random = stream("one by one");
        let loops = moments(draws, || {
            (0..COUNT)
                .fold(SimDuration::ZERO, |sum, _| sum.saturating_add(sampler.sample(&mut random)))
        });
        let (mean, variance) = (mean * COUNT as f64, variance * COUNT as f64);
        let error = 5.0 * libm::sqrt(variance / draws as f64) + 1e-9;
        for (how, (got_mean, got_variance)) in [("at once", sums), ("one by one", loops)] {
            assert!((got_mean - mean).abs() <= error, "mean of {name} {how}: {got_mean}, {mean}");
            assert_close(&format!("variance of {name} {how}"), got_variance, variance, 0.06);
        }
    }
}

#[test]
fn a_sum_of_none_is_zero_and_of_one_is_a_draw_of_the_law() {
    for Case { name, law, .. } in cases() {
        let mut sampler = law.sampler();
        assert_eq!(sampler.sample_sum(0, &mut stream(name)), SimDuration::ZERO);
    }
    let mut constant = DurationDistribution::constant(ms(3)).sampler();
    assert_eq!(constant.sample_sum(5, &mut stream("constant")), ms(15));
    assert_eq!(constant.sample_sum(u64::MAX, &mut stream("constant")), SimDuration::MAX);
}

#[test]
fn bounded_laws_stay_within_their_bounds() {
    let within = |law: DurationDistribution, least: u64, most: u64| {
        let (mut sampler, mut random) = (law.sampler(), stream("bounds"));
        for _ in 0..20_000 {
            let value = sampler.sample(&mut random);
            assert!(ms(least) <= value && value <= ms(most), "{law:?} gave {value}");
        }
    };
    within(DurationDistribution::Uniform { min: ms(10), max: ms(50) }, 10, 50);
    within(DurationDistribution::Triangular { min: ms(1), mode: ms(1), max: ms(5) }, 1, 5);
    within(DurationDistribution::Triangular { min: ms(4), mode: ms(4), max: ms(4) }, 4, 4);
    within(DurationDistribution::Pareto { min: ms(2), shape: 1.5 }, 2, u64::MAX / 1_000_000);
    within(DurationDistribution::Normal { mean: ms(10), cv: 0.0 }, 10, 10);
}

#[test]
fn a_replay_goes_round_and_starts_again_when_rewound() {
    let values = vec![ms(3), ms(1), ms(2)];
    let law = DurationDistribution::Empirical { values, order: EmpiricalOrder::Replay };
    let (mut sampler, mut random) = (law.sampler(), stream("replay"));
    let mut next = |sampler: &mut DurationSampler| sampler.sample(&mut random);
    let first: Vec<_> = (0..4).map(|_| next(&mut sampler)).collect();
    assert_eq!(first, [ms(3), ms(1), ms(2), ms(3)]);
    sampler.rewind();
    assert_eq!(next(&mut sampler), ms(3));
}

#[test]
fn the_first_draws_of_every_law_never_change() {
    let drawn: Vec<(&str, [u64; 3])> = cases()
        .into_iter()
        .map(|Case { name, law, .. }| {
            let (mut sampler, mut random) = (law.sampler(), stream("golden"));
            (name, std::array::from_fn(|_| sampler.sample(&mut random).as_nanos()))
        })
        .collect();
    assert_eq!(drawn, GOLDEN);
}

/// Nanoseconds.
const GOLDEN: [(&str, [u64; 3]); 14] = [
    ("constant", [40_000_000, 40_000_000, 40_000_000]),
    ("exponential", [11_102_972, 18_094_652, 12_975_820]),
    ("uniform", [44_464_372, 35_398_271, 15_468_016]),
    ("normal", [52_439_054, 51_479_270, 41_922_239]),
    ("normal truncated at 0", [14_878_108, 12_958_540, 8_616_367]),
    ("lognormal", [2_210_592, 2_089_468, 1_192_195]),
    ("gamma", [5_947_421, 849_949, 2_393_459]),
    ("erlang", [23_411_591, 6_807_826, 12_669_444]),
    ("weibull", [6_083_577, 7_766_306, 6_576_681]),
    ("pareto", [1_063_625, 1_105_752, 1_074_750]),
    ("pareto without variance", [1_215_055, 1_373_621, 1_255_641]),
    ("triangular", [43_363_251, 32_979_888, 18_267_418]),
    ("mixture", [18_094_652, 10_000_000, 10_000_000]),
    ("empirical", [6_000_000, 2_000_000, 1_000_000]),
];
