//! Points that fill a space: Latin hypercube and scrambled Sobol designs.
//!
//! What a design gives depends on the run's seed and on the names of the paths, not on their
//! order. The first points of a Sobol design are those of any smaller one, so that a larger one
//! reuses all that was computed; a Latin hypercube of another size has other points.

use std::collections::BTreeSet;

use rand::{Rng, RngExt as _};

use super::axes::{Axis, read_path};
use super::part;
use crate::engine::StableHash;
use crate::engine::random::{Stream, StreamSeed};
use crate::models::ModelKind;
use crate::scenario::file::{SampleDesign, SampleEntry};
use crate::scenario::node::Node;
use crate::scenario::overrides::model_of;
use crate::scenario::path::Path;
use crate::scenario::problem::{Problem, Problems};
use crate::scenario::schema_kind::takes_whole_numbers;
use crate::scenario::span::Span;

/// A path with the range that its values are drawn from.
struct Range {
    path: Path,
    span: Span,
    origin: crate::scenario::source::Origin,
}

/// Reads the sampled points of the scenario `tree` as one axis of all their paths; also how many
/// points were the same as an earlier one after rounding.
pub fn read_sample(
    tree: &Node,
    components: &[String],
    seed: u64,
    problems: &mut Problems,
) -> Option<(Axis, u64)> {
    let node = tree.get("sample")?;
    let SampleEntry { design, points, .. } = part(node)?;
    let mut ranges = Vec::new();
    for entry in node.get("ranges").map_or(&[][..], Node::entries) {
        let Some(path) = read_path(entry, components, "sample.ranges", problems) else { continue };
        let (Some(text), origin) = (entry.value.as_text(), entry.value.origin) else { continue };
        let model = tree.get("components").and_then(|all| all.get(path.component()));
        let whole = model
            .and_then(model_of)
            .is_some_and(|kind: ModelKind| takes_whole_numbers(kind, &path));
        match Span::read(text, whole) {
            Ok(span) => ranges.push(Range { path, span, origin }),
            Err(problem) => {
                problems.add(problem, &format!("sample.ranges.{path}"), Some(origin));
            }
        }
    }
    if ranges.len() > MOST_RANGES {
        let allowed = format!("at most {MOST_RANGES} ranges");
        let problem = Problem::WrongLength { length: ranges.len(), allowed };
        problems.add(problem, "sample.ranges", Some(node.origin));
        return None;
    }
    if ranges.is_empty() || points == 0 || points > MOST_POINTS {
        // Reported by the check against the schema, or above.
        return None;
    }
    let names: Vec<String> = ranges.iter().map(|range| range.path.to_string()).collect();
    let shares = match design {
        SampleDesign::LatinHypercube => latin_hypercube(&names, points as usize, seed),
        SampleDesign::Sobol => sobol(&names, points as usize, seed),
    };
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for point in shares {
        let values: Vec<_> =
            ranges.iter().zip(&point).map(|(range, &share)| range.span.value(share)).collect();
        if seen.insert(values.iter().map(ToString::to_string).collect::<Vec<_>>()) {
            let node = |(value, range): (_, &Range)| Node::from_json(value, range.origin);
            rows.push(values.iter().zip(&ranges).map(node).collect());
        }
    }
    let coincident = points - rows.len() as u64;
    Some((Axis { paths: ranges.into_iter().map(|range| range.path).collect(), rows }, coincident))
}

/// Most points of a sample: as far as the Sobol sequence goes.
pub const MOST_POINTS: u64 = 1 << 16;
/// Most ranges of a sample: the dimensions of the Sobol sequence.
const MOST_RANGES: usize = sobol_burley::NUM_DIMENSIONS as usize;

/// `count` points, one in each of `count` equal parts of every axis (McKay, Beckman and Conover,
/// 1979). An axis is shuffled by a stream of its own.
#[must_use]
pub fn latin_hypercube(names: &[String], count: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut points = vec![Vec::with_capacity(names.len()); count];
    for name in names {
        let mut stream =
            StreamSeed { master: seed, replication: 0 }.stream("latin hypercube", name);
        let mut parts: Vec<usize> = (0..count).collect();
        shuffle(&mut parts, &mut stream);
        for (point, part) in points.iter_mut().zip(parts) {
            let within: f64 = stream.random();
            // Rounding must not move it into the next part.
            let share = (part as f64 + within) / count as f64;
            point.push(share.min(((part + 1) as f64 / count as f64).next_down()));
        }
    }
    points
}

/// Fisher and Yates. The bias of the remainder is below 2^-48 for any number of points allowed.
fn shuffle(items: &mut [usize], stream: &mut Stream) {
    for last in (1..items.len()).rev() {
        let other = (stream.next_u64() % (last as u64 + 1)) as usize;
        items.swap(last, other);
    }
}

/// The first `count` points of an Owen-scrambled Sobol sequence (Burley, 2020). The dimensions are
/// given out in the order of the names.
#[must_use]
pub fn sobol(names: &[String], count: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    let dimension = |name: &String| sorted.iter().position(|other| *other == name);
    let dimensions: Vec<u32> =
        names.iter().map(|name| dimension(name).unwrap_or_default() as u32).collect();
    let mut hash = StableHash::new();
    hash.number(seed);
    hash.text("sobol");
    let scramble = (hash.finish() >> 32) as u32;
    let share =
        |index: u32, dimension: u32| f64::from(sobol_burley::sample(index, dimension, scramble));
    (0..count as u32)
        .map(|index| dimensions.iter().map(|&dimension| share(index, dimension)).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|index| format!("a.path{index}")).collect()
    }

    /// How many shares fall into each of `parts` equal parts.
    fn counts(shares: impl Iterator<Item = f64>, parts: usize) -> Vec<usize> {
        let mut counts = vec![0; parts];
        shares.for_each(|share| counts[(share * parts as f64) as usize] += 1);
        counts
    }

    proptest! {
        #[test]
        fn a_latin_hypercube_has_one_point_in_each_part_of_every_axis(
            axes in 1_usize..6, points in 1_usize..200, seed: u64
        ) {
            let sample = latin_hypercube(&names(axes), points, seed);
            for axis in 0..axes {
                // Multiplying need not undo dividing, so the ends of the parts decide.
                let ends: Vec<f64> = (1..=points).map(|end| end as f64 / points as f64).collect();
                let mut parts: Vec<usize> = sample
                    .iter()
                    .map(|point| ends.partition_point(|&end| end <= point[axis]))
                    .collect();
                parts.sort_unstable();
                prop_assert_eq!(parts, (0..points).collect::<Vec<_>>());
            }
        }

        #[test]
        fn a_larger_sobol_design_starts_with_the_smaller(
            axes in 1_usize..6, points in 1_usize..200, more in 0_usize..200, seed: u64
        ) {
            let small = sobol(&names(axes), points, seed);
            let large = sobol(&names(axes), points + more, seed);
            prop_assert_eq!(&large[..points], &small[..]);
        }

        #[test]
        fn a_power_of_two_of_sobol_points_is_stratified_on_every_axis(
            axes in 1_usize..9, bits in 0_u32..9, seed: u64
        ) {
            let count = 1_usize << bits;
            let sample = sobol(&names(axes), count, seed);
            for axis in 0..axes {
                let counts = counts(sample.iter().map(|point| point[axis]), count);
                prop_assert_eq!(counts, vec![1; count]);
            }
        }

        #[test]
        fn the_order_of_the_paths_does_not_matter(points in 1_usize..50, seed: u64) {
            let forwards = names(4);
            let backwards: Vec<String> = forwards.iter().rev().cloned().collect();
            for design in [latin_hypercube, sobol] {
                let mut turned = design(&backwards, points, seed);
                turned.iter_mut().for_each(|point| point.reverse());
                prop_assert_eq!(design(&forwards, points, seed), turned);
            }
        }
    }

    #[test]
    fn another_seed_gives_other_points() {
        for design in [latin_hypercube, sobol] {
            assert_ne!(design(&names(2), 8, 1), design(&names(2), 8, 2));
        }
    }

    /// Pairs of axes fill the square: 16 points, one in each cell of 4 x 4.
    #[test]
    fn sobol_points_fill_the_square() {
        for seed in 0..20 {
            let sample = sobol(&names(2), 16, seed);
            let cells = sample.iter().map(|point| {
                let cell = |share: f64| (share * 4.0).floor() / 4.0;
                cell(point[0]) / 4.0 + cell(point[1])
            });
            // cell(x)/4 + cell(y) numbers the cells in sixteenths.
            assert_eq!(counts(cells, 16), [1; 16], "seed {seed}");
        }
    }
}
