//! Comparisons of replications that the horizon cuts off: what a shorter run says of two
//! configurations is so of the longer one.

use convsim::engine::{SimDuration, SimTime};
use convsim::experiment::bounds::KnownValues;
use convsim::experiment::comparison::{Compared, Exceeded, Pairing, Sides, Threshold, compare};
use convsim::experiment::{self, KeptValues, all_points};
use convsim::scenario::{MetricColumn, Scenario, Statistic};

use crate::bounds::{agree, loaded};
use crate::cut::CASES;

const REPLICATIONS: u64 = 8;
const THRESHOLDS: [(Statistic, f64); 8] = [
    (Statistic::Mean, 0.05),
    (Statistic::Mean, -0.05),
    (Statistic::Mean, 0.0),
    (Statistic::P50, 0.5),
    (Statistic::P50, -0.5),
    (Statistic::Min, 0.05),
    (Statistic::Max, 0.05),
    (Statistic::Max, -0.05),
];

/// What is known of each column at the first two points.
fn known(scenario: &Scenario, columns: &[MetricColumn]) -> Vec<[KnownValues; 2]> {
    let all: Vec<usize> = (0..columns.len()).collect();
    let mut kept = KeptValues::of(&scenario.run, columns, &[0, 1], &all);
    let mut batches = all_points(scenario, 0..REPLICATIONS);
    batches.retain(|batch| batch.point < 2);
    experiment::run(scenario, &batches, 2, &mut [&mut kept]).unwrap();
    all.iter().map(|&column| [0, 1].map(|point| kept.known(point, column))).collect()
}

struct Told {
    compared: Vec<Compared>,
    /// By column, by threshold.
    exceeded: Vec<Vec<Option<Exceeded>>>,
}

fn told(scenario: &Scenario, columns: &[MetricColumn]) -> Told {
    let known = known(scenario, columns);
    let sides: Vec<Sides<'_>> = columns
        .iter()
        .zip(&known)
        .map(|(column, [first, second])| Sides {
            metric: &column.name,
            unit: column.metric.unit,
            first,
            second,
            groups: [1, 1],
        })
        .collect();
    let exceeded = |side: &Sides<'_>| {
        let one = |(statistic, change)| {
            Threshold { statistic, change }.exceeded(*side, Pairing::Paired, 0.95)
        };
        THRESHOLDS.into_iter().map(one).collect()
    };
    Told {
        compared: compare(&sides, Pairing::Paired, 0.95),
        exceeded: sides.iter().map(exceeded).collect(),
    }
}

#[test]
fn what_a_shorter_comparison_says_is_so_of_a_longer_one_in_every_model() {
    let (mut bounds, mut verdicts, mut undecided) = (0, 0, 0);
    for (name, points) in CASES.into_iter().filter(|(_, points)| points.len() > 1) {
        let scenario = loaded(name, points);
        let columns = scenario.columns();
        let long = told(&scenario, &columns);
        let end = |point: usize| experiment::replay(&scenario, point, 0).0.end;
        let longest = end(0).max(end(1)).since(SimTime::ZERO).as_nanos();
        for share in [0.2, 0.55, 0.97] {
            let mut short = scenario.clone();
            short.run.horizon = SimDuration::from_nanos((longest as f64 * share) as u64);
            let short = told(&short, &columns);
            for (place, column) in columns.iter().enumerate() {
                let at = format!("{name}, cut at {share}: {}", column.name);
                let (one, whole) = (&short.compared[place], &long.compared[place]);
                // Of what is itself cut off nothing more is known.
                if whole.cut != [0, 0] {
                    continue;
                }
                for (what, one, whole) in [
                    ("A", one.first, whole.first),
                    ("B", one.second, whole.second),
                    ("B - A", one.difference, whole.difference),
                    ("B / A", one.ratio, whole.ratio),
                ] {
                    assert!(agree(one, whole), "{at}, {what}: {one:?}, and later {whole:?}");
                }
                bounds += usize::from(one.cut != [0, 0] && one.difference.value.is_finite());
                for (threshold, (one, whole)) in
                    THRESHOLDS.iter().zip(short.exceeded[place].iter().zip(&long.exceeded[place]))
                {
                    let is_told = !one.is_some_and(Exceeded::is_undecided);
                    verdicts += usize::from(is_told);
                    undecided += usize::from(!is_told);
                    let same = one.is_some() == whole.is_some();
                    assert!(!is_told || same, "{at}, {threshold:?}: {one:?}, later {whole:?}");
                }
            }
        }
    }
    assert!(bounds > 50, "{bounds} differences by bounds");
    assert!(verdicts > 500 && undecided > 100, "{verdicts} verdicts, {undecided} undecided");
}
