//! What can be asserted of pictures.

use super::drawing::{Area, Mark};
use super::style::{INK, text_width};
use super::*;
use crate::engine::trace::{Chain, Lane, Level};
use crate::engine::{SimTime, Trace};
use crate::report::stored::{Figure, StoredPoint, StoredRecorded};
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
fn recorded(points: usize, count: usize) -> crate::report::stored::Stored {
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
fn pictures_of_a_record_that_is_full_say_so() {
    let mut full = record(3, 2, 1);
    full.ends_early = true;
    for (full, whole) in of_replication(&full).iter().zip(of_replication(&record(3, 2, 1))) {
        let said = |plot: &Plot| texts(plot).iter().any(|text| text.contains("ends early"));
        assert!(said(full) && !said(&whole));
    }
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

#[test]
fn a_gantt_chart_says_which_lanes_and_how_much_of_the_time_it_leaves_out() {
    let subtitle = |record: &Record| texts(&of_replication(record)[1])[1].clone();
    let mut part = record(40, 2, 1);
    assert!(subtitle(&part).starts_with("24 of 40 lanes; "), "{}", subtitle(&part));
    (part.window, part.end) = ((0.0, 4.2), 96.0);
    assert!(subtitle(&part).starts_with("24 of 40 lanes; first 4.2 s of 96 s; "));
    part.window = (7.5, 7.52);
    assert!(subtitle(&part).starts_with("24 of 40 lanes; 20 ms of 96 s, from 7.5 s on; "));
    let mut whole = record(3, 2, 1);
    whole.window = (0.0, whole.end);
    assert!(!subtitle(&whole).contains(" of "), "{}", subtitle(&whole));
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
    // One expectation says what was measured, of one configuration.
    let all = plots(&two, None, None).into_iter().filter(|plot| plot.kind != Kind::Calibration);
    for plot in all {
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
    let figure = |point: &StoredPoint| point.figure("packet_loss_duration", Figure::Mean).value;
    let figures: Vec<f64> = results.summary.points.iter().map(figure).collect();
    let bound = f64::midpoint(figures[1], figures[2]);
    let in_grid = results.summary.points[4].configuration.clone();
    let expectation = &mut results.summary.expectations[0];
    (expectation.relative, expectation.at_most) = (false, Some(bound));
    (expectation.statistic, expectation.at_least) = ("mean".to_owned(), None);
    expectation.configuration = in_grid;
    results.summary.expectations.truncate(1);
    let drawn = plots(&results, Some(Kind::HeatMap), Some("packet_loss_duration"));
    let (_, cells) = &drawn[0].drawing.panels[0];
    let lines = drawn[0].drawing.marks[cells.clone()].iter();
    // Figures fall from point to point: two cells of the first row are above the bound.
    assert_eq!(lines.filter(|mark| matches!(mark, Mark::Line { .. })).count(), 3);
    assert!(texts(&drawn[0]).iter().any(|text| text.contains("; line: target")));
    // A range to be met is no target, nor is what is expected of a point that is not in the grid.
    let lines = |results: &crate::report::stored::Stored| {
        let drawn = plots(results, Some(Kind::HeatMap), Some("packet_loss_duration"));
        drawn[0].drawing.marks.iter().filter(|m| matches!(m, Mark::Line { width: 3.0, .. })).count()
    };
    assert_eq!(lines(&results), 3);
    results.summary.expectations[0].at_least = Some(0.0);
    assert_eq!(lines(&results), 0);
    results.summary.expectations[0].at_least = None;
    results.summary.expectations[0].configuration = "pop 1024".to_owned();
    assert_eq!(lines(&results), 0);
}

fn names_of(plots: &[Plot]) -> Vec<&str> {
    plots.iter().map(|plot| plot.name.as_str()).collect()
}

#[test]
fn three_parameters_at_once_have_a_panel_each() {
    let drawn = plots(&stored(cube(), 12), Some(Kind::Sweep), Some("packet_loss_duration"));
    assert_eq!(names_of(&drawn), ["sweep-packet-loss-duration"]);
    assert_eq!(drawn[0].drawing.panels.len(), 3);
    let texts = texts(&drawn[0]);
    let held = "of the others each at: count = 1, messages = 1, pop batch size = 64";
    assert!(texts.iter().any(|text| text == held), "{texts:?}");
    // Each panel has the three points of its parameter.
    let dots = drawn[0].drawing.marks.iter().filter(|mark| matches!(mark, Mark::Dot { .. }));
    assert_eq!(dots.count(), 9);
}

#[test]
fn sampled_points_are_no_grid_and_are_all_shown() {
    let results = stored(sampled(), 12);
    assert!(plots(&results, Some(Kind::HeatMap), None).is_empty());
    let drawn = plots(&results, Some(Kind::Sweep), Some("packet_loss_duration"));
    let dots = drawn[0].drawing.marks.iter().filter(|mark| matches!(mark, Mark::Dot { .. }));
    // And one in the legend.
    assert_eq!(dots.count(), 2 * 31 + 1);
}

#[test]
fn recordings_are_held_beside_the_simulated_quantiles() {
    let kind = Some(Kind::Calibration);
    let drawn = plots(&recorded(3, 7), kind, None);
    let expected = ["quantiles", "measured"];
    let expected = expected.map(|form| format!("calibration-{form}-packet-loss-duration"));
    assert_eq!(names_of(&drawn), expected);
    assert_eq!(drawn[0].drawing.panels.len(), 3);
    // Seven values have a median and no 99th percentile.
    let named = |text: &str| texts(&drawn[0]).iter().filter(|known| *known == text).count();
    assert_eq!((named("p50"), named("p90"), named("p99")), (3, 0, 0));
    let many = plots(&recorded(1, 150), kind, None);
    assert!(["p50", "p90", "p99"].iter().any(|name| texts(&many[0]).contains(&(*name).to_owned())));
    let dots = |colour| move |m: &&Mark| matches!(m, Mark::Dot { colour: c, .. } if *c == colour);
    assert_eq!(many[0].drawing.marks.iter().filter(dots(style::colour(1))).count(), 3);
    // One value is a figure and no distribution; without any there is no picture.
    let once = plots(&recorded(2, 1), kind, None);
    assert_eq!(names_of(&once), expected[1..]);
    assert!(plots(&stored(named_points(), 12), kind, Some("notification_wait")).is_empty());
}

fn named_points() -> Vec<Point> {
    named(&["pop 1024", "pop 128"])
}

#[test]
fn what_was_measured_of_an_expectation_is_held_beside_what_came_out() {
    // The made-up expectations of "pop 1024": 12 to 15 s measured.
    let drawn = plots(&stored(named_points(), 40), Some(Kind::Calibration), None);
    assert_eq!(names_of(&drawn), ["calibration-measured-packet-loss-duration"]);
    let texts = texts(&drawn[0]);
    assert!(texts.contains(&"pop 1024".to_owned()), "{texts:?}");
    assert!(texts.contains(&"mean packet loss duration".to_owned()), "{texts:?}");
}

#[test]
fn points_without_a_figure_are_said_to_have_none() {
    let metric = "packet_loss_duration";
    let forget = |mut results: crate::report::stored::Stored, points: &[usize]| {
        for point in points {
            results.summary.points[*point].forget_figures();
            results.values[*point].values_mut().for_each(|values| values.fill(f64::NAN));
        }
        results
    };
    let said = |results: &_, kind| {
        let drawn = plots(results, Some(kind), Some(metric));
        texts(&drawn[0])
    };
    let one = swept("", &[32, 64, 128, 256]);
    let results = forget(stored(one, 12), &[2, 3]);
    let told = said(&results, Kind::Sweep);
    assert!(told[1].ends_with("; no value at 128, 256"), "{told:?}");
    let mut eras = swept("era A, ", &[64, 128]);
    eras.extend(swept("era B, ", &[64, 128]));
    let told = said(&forget(stored(eras, 12), &[3]), Kind::Sweep);
    assert!(told[1].ends_with("; no value at 128 (era B)"), "{told:?}");
    let many: Vec<u64> = (1..=12).collect();
    let told = said(&forget(stored(swept("", &many), 12), &[1, 2, 3, 4, 5, 6, 7, 8]), Kind::Sweep);
    assert!(told[1].ends_with("; no value at 2, 3, 4, 5, 6, 7 and 2 more"), "{told:?}");
    let told = said(&forget(stored(sampled(), 12), &[4]), Kind::Sweep);
    assert!(told[1].starts_with("no value at 1 of 31 points; "), "{told:?}");

    let three = || stored(named(&["pop 1024", "pop 128", "pop 64"]), 12);
    for kind in [Kind::Difference, Kind::Attribution] {
        let has = |text: &str, told: &[String]| told.iter().filter(|t| *t == text).count();
        let told = said(&forget(three(), &[2]), kind);
        assert_eq!((has("pop 64", &told), has("no figure", &told)), (1, 1), "{told:?}");
        assert_eq!(has("no figure", &said(&three(), kind)), 0);
    }
    let none = forget(three(), &[1, 2]);
    assert!(plots(&none, Some(Kind::Difference), Some(metric)).is_empty());
}

#[test]
fn what_misses_has_a_ring_around_its_dot_in_the_picture_and_in_the_legend() {
    let mut results = stored(named_points(), 40);
    let dots = |results: &crate::report::stored::Stored| {
        let drawn = plots(results, Some(Kind::Calibration), None);
        let marks = drawn[0].drawing.marks.iter();
        let dot = |mark: &Mark| match mark {
            Mark::Dot { radius, colour, .. } => Some((*colour, *radius > frame::DOT)),
            _ => None,
        };
        marks.filter_map(dot).collect::<Vec<_>>()
    };
    let outer = (style::TARGET, true);
    let count = |dots: &[_], which| dots.iter().filter(|dot| **dot == which).count();
    results.summary.expectations.iter_mut().for_each(|e| e.verdict = "ok".to_owned());
    let held = dots(&results);
    assert_eq!(count(&held, outer), 0);
    results.summary.expectations.iter_mut().for_each(|e| e.verdict = "MISSED".to_owned());
    let missed = dots(&results);
    // No mark of the legend is a dot in the colour of the ring; paper keeps both apart.
    assert!(count(&missed, outer) >= 2);
    assert_eq!(count(&missed, outer), count(&missed, (style::PAPER, true)));
    assert_eq!(missed.len(), held.len() + 2 * count(&missed, outer));
}

#[test]
fn a_legend_says_nothing_of_what_cannot_be_seen() {
    let mut results = stored(swept("", &[32, 64, 128, 256]), 12);
    let entries = |results: &crate::report::stored::Stored| {
        texts(&plots(results, Some(Kind::Sweep), Some("packet_loss_duration"))[0])
    };
    let band = "95 % interval of the mean".to_owned();
    assert!(entries(&results).contains(&band));
    // One dashed line is drawn, and one stands for it in the legend.
    let dashed = |results: &crate::report::stored::Stored| {
        let drawn = plots(results, Some(Kind::Sweep), Some("packet_loss_duration"));
        let marks = drawn[0].drawing.marks.iter();
        marks.filter(|mark| matches!(mark, Mark::Line { dash: Some(_), .. })).count()
    };
    assert_eq!(dashed(&results), 2);
    for point in &mut results.summary.points {
        point.forget_spread();
    }
    let without = entries(&results);
    assert!(!without.contains(&band) && !without.contains(&"95th percentile".to_owned()));
    assert_eq!(dashed(&results), 0);
}

#[test]
fn what_varies_in_no_replication_has_no_distribution() {
    let flat = stored(named_points(), 12);
    let has = |kind, metric| {
        plots(&flat, kind, Some(metric)).iter().any(|plot| plot.kind == Kind::Distribution)
    };
    assert!(has(None, "packet_loss_duration") && !has(None, "loop_iterations"));
    assert!(has(Some(Kind::Distribution), "loop_iterations"));
}

#[test]
fn a_bar_too_short_to_be_read_has_its_figure_beside_it() {
    let drawn = plots(&stored(named_points(), 40), Some(Kind::Attribution), None);
    let texts = texts(&drawn[0]);
    assert!(texts.iter().filter(|text| text.ends_with(" s")).count() >= 2, "{texts:?}");
}

#[test]
fn what_is_left_out_is_said() {
    let names: Vec<String> = (0..40).map(|n| format!("c{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for plot in plots(&stored(named(&names), 12), None, Some("packet_loss_duration")) {
        let said = |text: &String| text.contains("of 40 configurations, evenly spread");
        let shows_some = [Kind::Attribution, Kind::Difference, Kind::Distribution];
        assert!(!shows_some.contains(&plot.kind) || texts(&plot).iter().any(said), "{}", plot.name);
    }
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
