//! What can be asserted of pictures.

mod calibration;
mod files;
mod heat_map;
mod replication;
mod rows;
mod sweep;

use super::drawing::{Area, Mark};
use super::*;
use crate::report::stored::{Figure, Stored, StoredPoint, StoredRecorded};
use crate::report::tests::{point, stored};
use crate::scenario::Point;
use replication::{of_replication, record};

fn named(names: &[&str]) -> Vec<Point> {
    names.iter().zip(1..).map(|(name, id)| point(id, name, &[])).collect()
}

fn swept(base: &str, sizes: &[u64]) -> Vec<Point> {
    let one = |(size, id): (&u64, u64)| {
        let name = format!("{base}orchagent.pop_batch_size={size}");
        point(id, &name, &[("orchagent.pop_batch_size", *size)])
    };
    sizes.iter().zip(100..).map(one).collect()
}

fn grid() -> Vec<Point> {
    let one = |(row, column): (u64, u64)| {
        let name = format!("orchagent.flap.count={row}, orchagent.pop_batch_size={column}");
        let axes = [("orchagent.flap.count", row), ("orchagent.pop_batch_size", column)];
        point(row * 10_000 + column, &name, &axes)
    };
    let rows = [1_u64, 7, 14];
    rows.iter().flat_map(|r| [32_u64, 128, 1024].map(|c| (*r, c))).map(one).collect()
}

/// A grid of so many rows and columns.
fn grid_of(rows: u64, columns: u64) -> Vec<Point> {
    let one = |n: u64| {
        let (row, column) = (100 + n / columns, 100 + n % columns);
        let name = format!("orchagent.flap.count={row}, orchagent.pop_batch_size={column}");
        let axes = [("orchagent.flap.count", row), ("orchagent.pop_batch_size", column)];
        point(row * 10_000 + column, &name, &axes)
    };
    (0..rows * columns).map(one).collect()
}

/// A sweep from each of many configurations.
fn many_curves() -> Vec<Point> {
    let of = |base: u64| {
        let points = swept(&format!("{LONG} {base}, "), &[64, 128, 256]);
        points.into_iter().map(move |point| Point { id: point.id + 1_000 * base, ..point })
    };
    (0..25).flat_map(of).collect()
}

/// `results` without the figures of `points`, as where nothing got done.
fn without_figures(mut results: Stored, points: &[usize]) -> Stored {
    results.take_as_complete();
    for point in points {
        results.summary.points[*point].forget_figures();
        results.values[*point].values_mut().for_each(|values| values.fill(f64::NAN));
    }
    results
}

/// Three parameters at once.
fn cube() -> Vec<Point> {
    let one = |n: u64| {
        let axes = [
            ("orchagent.flap.count", 1 + n / 9),
            ("orchagent.flap.messages", 1 + n / 3 % 3),
            ("orchagent.pop_batch_size", 64 << (n % 3)),
        ];
        let settings: Vec<String> = axes.iter().map(|(path, v)| format!("{path}={v}")).collect();
        point(n + 1, &settings.join(", "), &axes)
    };
    (0..27).map(one).collect()
}

/// Two parameters that are sampled, so that no value comes twice.
fn sampled() -> Vec<Point> {
    let one = |n: u64| {
        let axes =
            [("orchagent.flap.count", 1 + n * 7 % 31), ("orchagent.pop_batch_size", 64 + n * 13)];
        let settings: Vec<String> = axes.iter().map(|(path, v)| format!("{path}={v}")).collect();
        point(n + 1, &settings.join(", "), &axes)
    };
    (0..31).map(one).collect()
}

/// Results with recordings of `count` values of each of `points` points, and a measured figure.
fn recorded(points: usize, count: usize) -> Stored {
    let names: Vec<String> = (0..points).map(|n| format!("{LONG} {n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut stored = stored(named(&names), 40);
    let figure = |point: &StoredPoint| point.figure("packet_loss_duration", Figure::Mean).value;
    let recordings = stored.summary.points.iter().enumerate().map(|(index, point)| {
        let value = |n: usize| figure(point) * (0.7 + 0.1 * index as f64 + 0.02 * n as f64);
        StoredRecorded {
            configuration: point.configuration.clone(),
            metric: "packet_loss_duration".to_owned(),
            values: (0..count).map(value).collect(),
            source: "lab".to_owned(),
        }
    });
    stored.summary.recorded = recordings.collect();
    stored
}

const LONG: &str = "pop 1024, pruned traffic hashed to dead members too, as before the fix of 2025";

/// Scenarios of many shapes, with the pictures of each.
fn galleries() -> Vec<(&'static str, Vec<Plot>)> {
    let mut with_sweep = named(&["pop 1024", "pop 128"]);
    with_sweep.extend(swept("", &[32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]));
    let mut two_eras = swept("era A, ", &[64, 128, 256]);
    two_eras.extend(swept("era B, ", &[64, 128, 256]));
    let names: Vec<String> = (0..40).map(|n| format!("{LONG} {n}")).collect();
    let many: Vec<&str> = names.iter().map(String::as_str).collect();
    let dense: Vec<u64> = (1..=60).map(|n| n * 1_000_003).collect();
    let all = [
        ("one", named(&["base"]), 40),
        ("two", named(&["pop 1024", "pop 128"]), 40),
        ("sweep", with_sweep, 40),
        ("eras", two_eras, 40),
        ("grid", grid(), 40),
        ("cube", cube(), 12),
        ("sampled", sampled(), 12),
        ("many", named(&many), 12),
        ("dense", swept("", &dense), 12),
        ("single replication", named(&["a", "b"]), 1),
        ("great grid", grid_of(40, 30), 2),
        ("many curves", many_curves(), 2),
    ];
    let mut galleries: Vec<_> = all
        .into_iter()
        .map(|(name, points, replications)| {
            (name, plots(&stored(points, replications), None, None))
        })
        .collect();
    for (name, points, count) in
        [("recorded", 3, 7), ("much recorded", 12, 150), ("recorded once", 40, 1)]
    {
        galleries.push((name, plots(&recorded(points, count), None, None)));
    }
    galleries.push(("few lanes", of_replication(&record(3, 2, 1))));
    galleries.push(("many lanes", of_replication(&record(40, 6, 12))));
    galleries
}

fn texts(plot: &Plot) -> Vec<String> {
    let text = |mark: &Mark| match mark {
        Mark::Text { text, .. } => Some(text.clone()),
        _ => None,
    };
    plot.drawing.marks.iter().filter_map(text).collect()
}

fn all_pictures(mut check: impl FnMut(&str, &Plot)) {
    for (gallery, plots) in galleries() {
        assert!(gallery == "single replication" || !plots.is_empty(), "{gallery}");
        for plot in &plots {
            check(&format!("{gallery}, {}", plot.name), plot);
        }
    }
}

#[test]
fn every_picture_has_the_size_of_a_slide_and_letters_that_can_be_read_there() {
    all_pictures(|name, plot| {
        assert_eq!(plot.drawing.size, (960.0, 400.0), "{name}");
        for mark in &plot.drawing.marks {
            assert!(!matches!(mark, Mark::Text { size, .. } if *size < 11.0), "{name}: {mark:?}");
        }
    });
}

#[test]
fn no_two_pictures_have_one_name() {
    for (gallery, plots) in galleries() {
        let mut names = names_of(&plots);
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "{gallery}");
    }
}

#[test]
fn data_stay_within_their_axes() {
    all_pictures(|name, plot| {
        assert!(!plot.drawing.panels.is_empty(), "{name}");
        for (area, range) in &plot.drawing.panels {
            for mark in &plot.drawing.marks[range.clone()] {
                let bounds = mark.bounds();
                let finite = [bounds.left, bounds.top, bounds.right, bounds.bottom];
                assert!(finite.iter().all(|v| v.is_finite()), "{name}: {mark:?}");
                // Letters may stand a little over the edge of a bar.
                assert!(area.holds(&bounds, 1.0), "{name}: {mark:?} leaves {area:?}");
            }
        }
    });
}

#[test]
fn labels_do_not_collide_and_stay_in_the_picture() {
    all_pictures(|name, plot| {
        let picture =
            Area { left: 0.0, top: 0.0, right: plot.drawing.size.0, bottom: plot.drawing.size.1 };
        let letters: Vec<&Mark> =
            plot.drawing.marks.iter().filter(|m| matches!(m, Mark::Text { .. })).collect();
        for (index, mark) in letters.iter().enumerate() {
            let bounds = mark.bounds();
            assert!(picture.holds(&bounds, 0.0), "{name}: {mark:?} is cut");
            for other in &letters[..index] {
                assert!(!bounds.overlaps(&other.bounds()), "{name}: {mark:?} hits {other:?}");
            }
        }
    });
}

#[test]
fn every_point_of_a_sweep_is_found_in_its_picture() {
    all_pictures(|name, plot| {
        let (wide, high) = plot.drawing.size;
        let picture = Area { left: 0.0, top: 0.0, right: wide, bottom: high };
        assert!(plot.drawing.anchors.iter().all(|a| picture.holds(&a.area, 0.0)), "{name}");
    });
    let stored = stored(swept("", &[32, 64, 128, 256]), 12);
    for plot in plots(&stored, None, Some("packet_loss_duration")) {
        let found = |id: &str| plot.drawing.anchors.iter().any(|anchor| anchor.point == id);
        let first = usize::from(plot.kind == Kind::Difference);
        assert!(stored.summary.points[first..].iter().all(|p| found(&p.id)), "{}", plot.name);
    }
}

#[test]
fn every_series_has_an_entry() {
    let two = stored(named(&["pop 1024", "pop 128"]), 40);
    let mut kinds = Vec::new();
    // One expectation says what was measured, of one configuration.
    let all = plots(&two, None, None).into_iter().filter(|plot| plot.kind != Kind::Calibration);
    for plot in all {
        let texts = texts(&plot);
        kinds.push(plot.kind);
        if plot.kind != Kind::Difference {
            assert!(texts.contains(&"pop 1024".to_owned()), "{}: {texts:?}", plot.name);
        }
        // Two of its replications did not get so far, which a distribution says.
        let other = |text: &String| text.starts_with("pop 128");
        assert!(texts.iter().any(other), "{}: {texts:?}", plot.name);
        if plot.kind == Kind::Attribution {
            for part in ["notification queue", "residual batch"] {
                assert!(texts.contains(&part.to_owned()), "{}: {texts:?}", plot.name);
            }
        }
    }
    assert!(kinds.contains(&Kind::Attribution) && kinds.contains(&Kind::Distribution));
    assert!(!kinds.contains(&Kind::Sweep) && !kinds.contains(&Kind::HeatMap));
    let mut eras = swept("era A, ", &[64, 128, 256]);
    eras.extend(swept("era B, ", &[64, 128, 256]));
    let sweep = plots(&stored(eras, 40), Some(Kind::Sweep), Some("packet_loss_duration"));
    let texts = texts(&sweep[0]);
    assert!(texts.contains(&"era A".to_owned()) && texts.contains(&"era B".to_owned()));
}

fn names_of(plots: &[Plot]) -> Vec<&str> {
    plots.iter().map(|plot| plot.name.as_str()).collect()
}

fn named_points() -> Vec<Point> {
    named(&["pop 1024", "pop 128"])
}
