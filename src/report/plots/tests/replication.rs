//! Pictures of one replication.

use super::*;
use crate::engine::trace::{Chain, Lane, Level};
use crate::engine::{SimTime, Trace};
use crate::report::timeline::Timeline;

/// A replication with so many lanes, counters and kinds of events.
pub fn record(lanes: u32, levels: usize, kinds: usize) -> Record {
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
        let (name, outcome, parts, open) = ("outage", "pruned", Vec::new(), false);
        let (lane, number, server) = (lane(path), 0, None);
        trace.chains.push(Chain { lane, name, number, start, end, outcome, open, server, parts });
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

pub fn of_replication(record: &Record) -> Vec<Plot> {
    let kinds = [Kind::Timeline, Kind::Gantt];
    kinds
        .into_iter()
        .flat_map(|kind| kind.of_replication(record, kind.name(), &PartColours::default()))
        .collect()
}

fn gantt(record: &Record) -> Vec<Plot> {
    Kind::Gantt.of_replication(record, "gantt", &PartColours::default())
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
fn what_was_still_going_on_has_a_torn_end_and_the_legend_says_so() {
    let torn = |record: &Record| -> usize {
        let plot = &gantt(record)[0];
        let areas =
            |marks: &[Mark]| marks.iter().filter(|m| matches!(m, Mark::Area { .. })).count();
        let lanes = plot.drawing.panels.iter();
        lanes.map(|(_, data)| areas(&plot.drawing.marks[data.clone()])).sum()
    };
    let said = |record: &Record| {
        let texts = texts(&gantt(record)[0]);
        let legend = texts.iter().any(|text| text == "still going on at the end");
        (legend, texts[1].starts_with("not converged by"))
    };
    let whole = record(3, 2, 1);
    assert_eq!((torn(&whole), said(&whole)), (0, (false, false)));
    let mut cut = whole;
    cut.unfinished = true;
    let last = cut.lanes[1].spans.last_mut().unwrap();
    last.open = true;
    assert_eq!((torn(&cut), said(&cut)), (1, (true, true)));
    assert!(
        texts(&Kind::Timeline.of_replication(&cut, "timeline", &PartColours::default())[0])[1]
            .contains("not converged")
    );
}

#[test]
fn a_gantt_chart_says_what_each_colour_is_and_who_each_lane_is() {
    let texts = texts(&gantt(&record(3, 2, 1))[0]);
    for text in ["main loop", "overlapping", "other"] {
        assert!(texts.contains(&text.to_owned()), "{text}: {texts:?}");
    }
    assert!(texts.iter().any(|text| text.starts_with("a path with quite a long")), "{texts:?}");
}

#[test]
fn a_gantt_chart_says_which_lanes_and_how_much_of_the_time_it_leaves_out() {
    let subtitle = |record: &Record| texts(&gantt(record)[0])[1].clone();
    let mut part = record(40, 2, 1);
    assert!(subtitle(&part).starts_with("page 1 of 2; 24 of 40 lanes"), "{}", subtitle(&part));
    (part.window, part.end) = ((0.0, 4.2), 96.0);
    assert!(subtitle(&part).starts_with("page 1 of 2; 24 of 40 lanes; first 4.2 s of 96 s"));
    part.window = (7.5, 7.52);
    assert!(
        subtitle(&part).starts_with("page 1 of 2; 24 of 40 lanes; 20 ms of 96 s, from 7.5 s on")
    );
    let mut whole = record(3, 2, 1);
    whole.window = (0.0, whole.end);
    assert!(!subtitle(&whole).contains(" of "), "{}", subtitle(&whole));
}

#[test]
fn lanes_and_counters_that_do_not_fit_go_on_in_the_next_picture() {
    let many = record(40, 6, 12);
    let charts = gantt(&many);
    let lanes: usize = charts.iter().map(|plot| plot.drawing.panels.len()).sum();
    assert_eq!(lanes, many.lanes.len());
    let pages = Kind::Timeline.of_replication(&many, "timeline", &PartColours::default());
    assert!(pages.len() > 1);
    assert_eq!(pages[1].name, "timeline-2");
    let all: Vec<String> = pages.iter().flat_map(texts).collect();
    for level in &many.levels {
        assert_eq!(all.iter().filter(|text| **text == level.name).count(), 1, "{}", level.name);
    }
    let said = &texts(&pages[1])[1];
    assert!(said.starts_with("page 2 of") && said.contains("events are named on the first"));
    assert!(texts(&pages[0])[1].contains("the 8 rarest of 12 kinds of events"));
}

#[test]
fn what_happened_has_the_colour_of_its_kind_in_the_lanes_and_in_the_legend() {
    let record = record(8, 2, 3);
    let plot = &gantt(&record)[0];
    let marks = &plot.drawing.marks;
    let uprights = |marks: &[Mark]| {
        let upright = |mark: &Mark| match mark {
            Mark::Box { area, colour, .. } if (area.right - area.left - 2.0).abs() < 1e-6 => {
                Some((colour.0, colour.1, colour.2))
            }
            _ => None,
        };
        marks.iter().filter_map(upright).collect::<std::collections::BTreeSet<_>>()
    };
    let first = plot.drawing.panels.iter().map(|panel| panel.1.start).min().unwrap();
    let in_lanes: std::collections::BTreeSet<_> =
        plot.drawing.panels.iter().flat_map(|(_, data)| uprights(&marks[data.clone()])).collect();
    let in_legend = uprights(&marks[..first]);
    assert_eq!(in_legend.len(), 3);
    assert!(in_legend.is_subset(&in_lanes), "{in_legend:?} {in_lanes:?}");
    let texts = texts(plot);
    for events in &record.events {
        assert!(texts.contains(&events.name), "{}: {texts:?}", events.name);
    }
}

#[test]
fn the_axis_of_a_short_time_has_the_unit_that_the_subtitle_has() {
    let mut short = record(3, 2, 1);
    (short.window, short.end) = ((0.0, 0.02), 0.03);
    for plot in of_replication(&short) {
        assert!(texts(&plot).contains(&"virtual time (ms)".to_owned()), "{}", plot.name);
        assert!(texts(&plot).contains(&"10".to_owned()), "{:?}", texts(&plot));
    }
    assert!(texts(&gantt(&short)[0])[1].contains("20 ms of 30 ms"));
}

#[test]
fn a_gantt_chart_of_one_bar_in_many_lanes_is_not_drawn() {
    let mut bare = record(6, 2, 1);
    for (index, lane) in bare.lanes.iter_mut().enumerate() {
        lane.marks.clear();
        lane.spans.truncate(usize::from(index == 0));
    }
    assert!(gantt(&bare).is_empty());
    assert!(!gantt(&record(6, 2, 1)).is_empty());
}
