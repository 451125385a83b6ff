//! What can be asserted of pictures.

use super::drawing::{Area, Mark};
use super::style::{INK, text_width};
use super::*;
use crate::engine::trace::{Chain, Lane, Level};
use crate::engine::{SimTime, Trace};
use crate::report::tests::{point, stored};
use crate::report::timeline::Timeline;
use crate::scenario::Point;

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
        ("many", named(&many), 12),
        ("dense", swept("", &dense), 12),
        ("single replication", named(&["a", "b"]), 1),
    ];
    let mut galleries: Vec<_> = all
        .into_iter()
        .map(|(name, points, replications)| {
            (name, plots(&stored(points, replications), None, None))
        })
        .collect();
    galleries.push(("few lanes", of_replication(&record(3, 2, 1))));
    galleries.push(("many lanes", of_replication(&record(40, 6, 12))));
    galleries
}

/// A replication with so many lanes, counters and kinds of events.
fn record(lanes: u32, levels: usize, kinds: usize) -> Record {
    const NAMES: [&str; 12] = [
        "down",
        "pruned",
        "SYN dropped",
        "SYN again",
        "ACK dropped: accept queue full",
        "answered",
        "read timeout",
        "connect timeout",
        "reset",
        "seen dead",
        "VM boots",
        "up",
    ];
    let mut trace = Trace::default();
    let at = |millis: u32| SimTime::from_nanos(u64::from(millis) * 1_000_000);
    let lane = |lane: u32| Lane { component: 0, lane };
    trace.name_server(lane(0), "main loop");
    for path in 1..lanes {
        trace.name_lane(lane(path), &format!("a path with quite a long name, {path}"));
        let (start, end) = (at(path * 37), at(path * 900));
        trace.span(lane(path), NAMES[path as usize % 12], (start, end), 0);
        trace.span(lane(path), "overlapping", (at(path * 40), at(path * 600)), 0);
        trace.instant(lane(path), NAMES[path as usize % kinds], end);
        let (name, outcome, parts) = ("outage", "pruned", Vec::new());
        let (lane, number, server) = (lane(path), 0, None);
        trace.chains.push(Chain { lane, name, number, start, end, outcome, server, parts });
    }
    for step in 0..2_000 {
        trace.span(lane(0), NAMES[step as usize % 9], (at(step * 20), at(step * 20 + 15)), 0);
        for name in &NAMES[..levels] {
            let (time, value) = (at(step * 20), f64::from(step * 7_919 % 1_000) * 98.7);
            trace.levels.push(Level { component: 0, name, time, value });
        }
    }
    let components = ["orchagent".to_owned()];
    let timeline = Timeline { components: &components, trace: &trace };
    Record::new(timeline, LONG, format!("17 ({LONG})"))
}

fn of_replication(record: &Record) -> Vec<Plot> {
    let plot = |kind: Kind| Plot {
        name: kind.name().to_owned(),
        kind,
        metric: String::new(),
        drawing: kind.of_replication(record).unwrap(),
    };
    vec![plot(Kind::Timeline), plot(Kind::Gantt)]
}

#[test]
fn a_gantt_chart_says_what_each_colour_is_and_who_each_lane_is() {
    let plots = of_replication(&record(3, 2, 1));
    let texts = texts(&plots[1]);
    for text in ["main loop", "overlapping", "other"] {
        assert!(texts.contains(&text.to_owned()), "{text}: {texts:?}");
    }
    assert!(texts.iter().any(|text| text.starts_with("a path with quite a long")), "{texts:?}");
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
    for plot in plots(&two, None, None) {
        let texts = texts(&plot);
        kinds.push(plot.kind);
        if plot.kind != Kind::Difference {
            assert!(texts.contains(&"pop 1024".to_owned()), "{}: {texts:?}", plot.name);
        }
        assert!(texts.contains(&"pop 128".to_owned()), "{}: {texts:?}", plot.name);
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

#[test]
fn a_heat_map_has_the_number_of_every_cell() {
    let drawn = plots(&stored(grid(), 12), Some(Kind::HeatMap), Some("packet_loss_duration"));
    let (_, cells) = &drawn[0].drawing.panels[0];
    let marks = &drawn[0].drawing.marks[cells.clone()];
    assert_eq!(marks.iter().filter(|mark| matches!(mark, Mark::Text { .. })).count(), 9);
    // Nothing expected of these points: no line.
    assert!(!marks.iter().any(|mark| matches!(mark, Mark::Line { .. })));
}

#[test]
fn a_heat_map_has_a_line_where_the_expected_bound_is_crossed() {
    let mut results = stored(grid(), 12);
    let figure = |point: &crate::report::stored::StoredPoint| {
        point.figure("packet_loss_duration", crate::report::stored::Figure::Mean).value
    };
    let figures: Vec<f64> = results.summary.points.iter().map(figure).collect();
    let bound = f64::midpoint(figures[1], figures[2]);
    let expectation = &mut results.summary.expectations[0];
    (expectation.relative, expectation.at_most) = (false, Some(bound));
    expectation.statistic = "mean".to_owned();
    results.summary.expectations.truncate(1);
    let drawn = plots(&results, Some(Kind::HeatMap), Some("packet_loss_duration"));
    let (_, cells) = &drawn[0].drawing.panels[0];
    let lines = drawn[0].drawing.marks[cells.clone()].iter();
    // Figures fall from point to point: two cells of the first row are above the bound.
    assert_eq!(lines.filter(|mark| matches!(mark, Mark::Line { .. })).count(), 3);
    assert!(texts(&drawn[0]).iter().any(|text| text.contains("expected bound")));
}

#[test]
fn what_was_measured_is_marked_with_its_source() {
    let mut points = named(&["pop 1024"]);
    points.extend(swept("", &[64, 128, 1024]));
    points[0].id = points[3].id;
    let drawn = plots(&stored(points, 40), Some(Kind::Sweep), Some("packet_loss_duration"));
    let texts = texts(&drawn[0]);
    assert!(texts.iter().any(|text| text.starts_with("measured: sonic-buildimage")), "{texts:?}");
}

#[test]
fn the_same_results_give_the_same_bytes() {
    let points = || named(&["pop 1024", "pop 128", "pop 64"]);
    let svgs = |plots: Vec<Plot>| -> Vec<String> {
        plots.iter().map(|plot| plot.drawing.svg().unwrap()).collect()
    };
    let first = svgs(plots(&stored(points(), 40), None, None));
    assert_eq!(first, svgs(plots(&stored(points(), 40), None, None)));
    assert!(first.iter().all(|svg| svg.contains("<text") && !svg.contains("<image")));
}

#[test]
fn files_are_whole_and_named_after_what_they_show() {
    let folder = tempfile::tempdir().unwrap();
    let drawn = plots(
        &stored(named(&["pop 1024", "pop 128"]), 12),
        Some(Kind::Attribution),
        Some("packet_loss_duration"),
    );
    let written = write(&drawn, folder.path()).unwrap();
    assert_eq!(written, [folder.path().join("attribution-packet-loss-duration.svg")]);
    let png = std::fs::read(written[0].with_extension("png")).unwrap();
    assert_eq!(&png[1..4], b"PNG");
    let size = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((size(16), size(20)), (1920, 800));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn the_bounds_of_a_text_are_where_it_stands() {
    let mark = Mark::Text {
        at: (100.0, 50.0),
        text: "0.5".to_owned(),
        size: 10.0,
        colour: INK,
        align: drawing::Align::Right,
    };
    let bounds = mark.bounds();
    assert_eq!((bounds.right, bounds.top, bounds.bottom), (100.0, 45.0, 55.0));
    assert!((bounds.left - (100.0 - text_width("0.5", 10.0))).abs() < 1e-9);
}
