//! Timelines of made-up events.

use super::*;
use crate::engine::trace::{Chain, Instant, Level, Link, Span};
use crate::engine::{SimDuration, SimTime};

fn at(millis: u64) -> SimTime {
    SimTime::from_nanos(millis * 1_000_000)
}

fn trace() -> Trace {
    let busy = Lane { component: 0, lane: 0 };
    let path = Lane { component: 0, lane: 5 };
    let span = |lane, name, start, end, value| Span {
        lane,
        name,
        start: at(start),
        end: at(end),
        value,
        open: false,
    };
    let mut trace = Trace::default();
    trace.name_server(busy, "main loop");
    trace.name_lane(path, "<path> \"3\"");
    trace.spans = vec![
        span(busy, "route batch", 0, 500, 1024),
        span(busy, "port notification", 500, 501, 1),
        span(busy, "route batch", 501, 1000, 1024),
        span(path, "publication", 100, 300, 0),
        span(path, "notification queue", 300, 1000, 2),
        // It overlaps the one before.
        span(path, "LAG pass", 900, 1200, 0),
    ];
    let instant = |name, time| Instant { lane: path, name, time: at(time), value: 0 };
    trace.instants = vec![instant("down", 100), instant("pruned", 1200)];
    let level = |time, value| Level { component: 0, name: "routes waiting", time: at(time), value };
    trace.levels = vec![level(0, 2048.0), level(500, 1024.5)];
    let link = |from, to| Link { name: "handled by", from: (busy, at(from)), to: (path, at(to)) };
    // Nothing goes on at the end of the second.
    trace.links = vec![link(501, 1000), link(0, 1500)];
    trace.chains = vec![Chain {
        lane: path,
        name: "outage",
        number: 7,
        start: at(100),
        end: at(1200),
        outcome: "pruned",
        open: false,
        server: None,
        parts: vec![("computing", SimDuration::from_millis(300)), ("nothing", SimDuration::ZERO)],
    }];
    trace
}

fn with_timeline<T>(use_it: impl Fn(Timeline<'_>) -> T) -> T {
    let components = ["orchagent".to_owned()];
    use_it(Timeline { components: &components, trace: &trace() })
}

#[test]
fn a_chrome_trace_has_whole_ids_and_no_overlap_within_a_lane() {
    let bytes = with_timeline(|timeline| {
        let mut output = Vec::new();
        write_chrome(timeline, &mut output).unwrap();
        output
    });
    let document: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let events = document["traceEvents"].as_array().unwrap();
    let mut ends: std::collections::BTreeMap<u64, f64> = std::collections::BTreeMap::new();
    for event in events {
        let kind = event["ph"].as_str().unwrap();
        assert!(["X", "C", "M", "s", "f"].contains(&kind), "{event}");
        assert!(event["pid"].is_u64(), "{event}");
        if kind == "M" {
            continue;
        }
        assert!(event["ts"].is_number() && event["tid"].is_u64(), "{event}");
        let (start, length) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64());
        if let (Some(length), true) = (length, length != Some(0.0)) {
            let end = ends.entry(event["tid"].as_u64().unwrap()).or_default();
            assert!(start >= *end, "{event}");
            *end = start + length;
        }
    }
    let names: Vec<&str> = events
        .iter()
        .filter(|event| event["name"] == "thread_name")
        .map(|event| event["args"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["main loop", "<path> \"3\"", "<path> \"3\" (2)"]);
    assert_eq!(events.iter().filter(|event| event["ph"] == "C").count(), 2);
    let ends: Vec<_> = events.iter().filter(|event| event["cat"] == "wait").collect();
    let kinds: Vec<_> = ends.iter().map(|event| event["ph"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["s", "f"]);
    assert_eq!((&ends[0]["id"], &ends[0]["ts"]), (&ends[1]["id"], &501_000.into()));
}

#[test]
fn touching_spans_touch_for_a_reader_that_cuts_nanoseconds_off() {
    let components = ["a".to_owned()];
    let lane = Lane { component: 0, lane: 0 };
    let mut trace = Trace::default();
    trace.name_server(lane, "worker");
    let mut ends = vec![20_511_204_108_u64];
    for step in 0..5_000_u64 {
        ends.push(ends[step as usize] + 1 + step * 7_919 % 1_000_003);
    }
    for pair in ends.windows(2) {
        let (start, end) = (SimTime::from_nanos(pair[0]), SimTime::from_nanos(pair[1]));
        trace.span(lane, "request", (start, end), 0);
    }
    let mut output = Vec::new();
    write_chrome(Timeline { components: &components, trace: &trace }, &mut output).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output).unwrap();
    let spans = document["traceEvents"].as_array().unwrap().iter();
    let nanos = |value: &serde_json::Value| (value.as_f64().unwrap() * 1e3) as u64;
    let read: Vec<(u64, u64)> = spans
        .filter(|event| event["ph"] == "X")
        .map(|event| (nanos(&event["ts"]), nanos(&event["dur"])))
        .collect();
    let exact: Vec<(u64, u64)> = ends.windows(2).map(|p| (p[0], p[1] - p[0])).collect();
    assert_eq!(read, exact);
}

#[test]
fn an_arrow_holds_on_to_what_is_open_at_its_ends() {
    let components = ["a".to_owned()];
    let lane = |lane| Lane { component: 0, lane };
    let mut trace = Trace::default();
    for (number, name) in [(0, "from"), (1, "to"), (2, "nothing")] {
        trace.name_lane(lane(number), name);
    }
    trace.span(lane(0), "work", (at(0), at(10)), 0);
    trace.span(lane(1), "wait", (at(10), at(20)), 0);
    trace.span(lane(2), "no time", (at(10), at(10)), 0);
    let link = |to| Link { name: "woken by", from: (lane(0), at(10)), to: (lane(to), at(10)) };
    trace.links = vec![link(1), link(2)];
    let mut output = Vec::new();
    write_chrome(Timeline { components: &components, trace: &trace }, &mut output).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output).unwrap();
    let events = document["traceEvents"].as_array().unwrap().iter();
    let arrows: Vec<(&str, f64)> = events
        .filter(|event| event["cat"] == "wait")
        .map(|event| (event["ph"].as_str().unwrap(), event["ts"].as_f64().unwrap()))
        .collect();
    // What ends at 10 ms is held a nanosecond earlier; what takes no time cannot be held.
    assert_eq!(arrows, [("s", 9_999.999), ("f", 10_000.0)]);
}

#[test]
fn a_record_is_read_back_as_it_was_and_knows_its_window() {
    let record = with_timeline(|timeline| Record::new(timeline, "pop 128", "0".to_owned()));
    assert_eq!(Record::read(&record.json()), Some(record.clone()));
    let names: Vec<&str> = record.lanes.iter().map(|lane| lane.name.as_str()).collect();
    assert_eq!(names, ["main loop", "<path> \"3\""]);
    // Two of the path's spans overlap.
    assert_eq!(record.lanes[1].rows, 2);
    assert!(record.window.0 < 0.1 && record.window.1 >= 1.2 && record.end == 1.2);
    assert_eq!(record.events[0].name, "down");
    assert!(Record::read("{}").is_none());
}

#[test]
fn many_steps_are_kept_as_their_extremes() {
    let components = ["a".to_owned()];
    let mut trace = Trace::default();
    for step in 0..100_000_u64 {
        let value = if step == 77_777 { 9.0 } else { (step % 2) as f64 };
        let time = SimTime::from_nanos(step * 1_000_000);
        for name in ["queue", "processor share (%)"] {
            trace.levels.push(Level { component: 0, name, time, value });
        }
    }
    let timeline = Timeline { components: &components, trace: &trace };
    let record = Record::new(timeline, "pop 128", "0".to_owned());
    let values = |index: usize| record.levels[index].steps.iter().map(|step| step.1);
    assert!(record.levels[0].steps.len() < 5_000);
    assert_eq!(values(0).fold(0.0, f64::max), 9.0);
    assert!(values(1).all(|share| (0.45..0.6).contains(&share)));
}

#[test]
fn the_text_is_in_order_of_time() {
    insta::assert_snapshot!(with_timeline(text));
}

#[test]
fn the_chain_says_what_was_waited_for_and_what_went_on_meanwhile() {
    insta::assert_snapshot!(with_timeline(|timeline| explain(timeline, 3)));
}

/// The trace above, cut at 800 ms.
fn cut_trace() -> Trace {
    let mut trace = trace();
    trace.cut(at(800));
    trace.instants.retain(|instant| instant.time <= at(800));
    trace.links.clear();
    let chain = &mut trace.chains[0];
    (chain.end, chain.outcome, chain.open) = (at(800), "not pruned", true);
    chain.parts = vec![("notification queue", SimDuration::from_millis(500))];
    trace.left(0, "paths not settled", 1);
    trace.left(0, "updates of routes waiting", 1024);
    trace
}

#[test]
fn what_was_cut_off_is_open_in_the_json_and_no_other() {
    let components = ["orchagent".to_owned()];
    let mut output = Vec::new();
    write_chrome(Timeline { components: &components, trace: &cut_trace() }, &mut output).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output).unwrap();
    let events = document["traceEvents"].as_array().unwrap().iter();
    let spans = events.filter(|event| event["ph"] == "X" && event["dur"] != 0);
    let open = |event: &serde_json::Value| event["args"]["open"] == true;
    let ends: Vec<(bool, f64)> = spans
        .map(|event| (open(event), event["ts"].as_f64().unwrap() + event["dur"].as_f64().unwrap()))
        .collect();
    assert!(ends.iter().all(|(open, end)| *open == (*end == 800_000.0)), "{ends:?}");
    assert_eq!(ends.iter().filter(|(open, _)| *open).count(), 2);
}

#[test]
fn the_chain_that_was_cut_off_says_what_is_left() {
    let components = ["orchagent".to_owned()];
    let trace = cut_trace();
    insta::assert_snapshot!(explain(Timeline { components: &components, trace: &trace }, 3));
}

#[test]
fn an_arrow_never_points_back_in_time() {
    let components = ["a".to_owned()];
    let lane = |lane| Lane { component: 0, lane };
    let mut trace = Trace::default();
    trace.span(lane(0), "begins late", (at(10), at(20)), 0);
    trace.span(lane(1), "wait", (at(0), at(10)), 0);
    trace.span(lane(2), "work", (at(5), at(20)), 0);
    let link = |from| Link { name: "by", from: (lane(from), at(10)), to: (lane(1), at(10)) };
    trace.links = vec![link(0), link(2)];
    let mut output = Vec::new();
    write_chrome(Timeline { components: &components, trace: &trace }, &mut output).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output).unwrap();
    let events = document["traceEvents"].as_array().unwrap().iter();
    let arrows: Vec<(&str, f64)> = events
        .filter(|event| event["cat"] == "wait")
        .map(|event| (event["ph"].as_str().unwrap(), event["ts"].as_f64().unwrap()))
        .collect();
    // The wait is held a nanosecond before its end, when the first of the two had not begun.
    assert_eq!(arrows, [("s", 9_999.999), ("f", 9_999.999)]);
}

#[test]
fn a_short_chain_in_a_long_run_is_seen_with_its_neighbours() {
    let components = ["ipvs".to_owned()];
    let lane = Lane { component: 0, lane: 0 };
    let mut trace = Trace::default();
    trace.name_lane(lane, "rows");
    for row in 0..40_u64 {
        // Rows of 5 ms, two in succession every 2 s.
        let start = at(row / 2 * 2_000 + row % 2 * 40);
        let end = at(row / 2 * 2_000 + row % 2 * 40 + 5 + row % 3);
        trace.span(lane, "is estimated", (start, end), 0);
        trace.chains.push(Chain {
            lane,
            name: "row",
            number: row,
            start,
            end,
            outcome: "estimated",
            open: false,
            server: None,
            parts: Vec::new(),
        });
    }
    let timeline = Timeline { components: &components, trace: &trace };
    let record = Record::new(timeline, "final", "0".to_owned());
    let bars = record.lanes[0].spans.len();
    assert!((6..=20).contains(&bars), "{bars}: {:?}", record.window);
}

#[test]
fn spans_that_follow_each_other_are_told_apart_where_they_can_be_seen() {
    let components = ["agent".to_owned()];
    let bars = |count: u64| {
        let lane = Lane { component: 0, lane: 0 };
        let mut trace = Trace::default();
        trace.name_server(lane, "commands");
        for n in 0..count {
            trace.span(lane, "command", (at(n * 10), at(n * 10 + 10)), 0);
        }
        let timeline = Timeline { components: &components, trace: &trace };
        Record::new(timeline, "51", "0".to_owned()).lanes[0].spans.len()
    };
    assert_eq!(bars(51), 51);
    assert_eq!(bars(5_000), 1);
}

#[test]
fn every_worker_has_a_lane_and_those_left_out_are_counted() {
    let components = ["agent".to_owned()];
    let record = |workers: u32, clients: u32| {
        let mut trace = Trace::default();
        for number in 0..workers + clients {
            let lane = Lane { component: 0, lane: number };
            if number < workers {
                trace.name_server(lane, "worker");
            } else {
                trace.name_lane(lane, "client");
            }
            trace.span(lane, "busy", (at(0), at(100 + u64::from(number))), 0);
        }
        let timeline = Timeline { components: &components, trace: &trace };
        Record::new(timeline, "newton", "0".to_owned())
    };
    let shown = |workers, clients| {
        let record = record(workers, clients);
        let of = |name: &str| record.lanes.iter().filter(|lane| lane.name == name).count();
        (of("worker"), of("client"), record.lanes_in_all)
    };
    assert_eq!(shown(1, 20), (1, 20, 21));
    assert_eq!(shown(8, 64), (8, 16, 72));
    assert_eq!(shown(64, 2), (22, 2, 66));
    assert_eq!(shown(64, 64), (18, 6, 128));
}

#[test]
fn what_one_waits_out_by_oneself_names_nobody_and_no_lane_is_busy_longer_than_the_wait() {
    let [client, first, second] = [9, 0, 1].map(|lane| Lane { component: 0, lane });
    let span = |lane, name, start, end| Span {
        lane,
        name,
        start: at(start),
        end: at(end),
        value: 0,
        open: false,
    };
    let mut trace = Trace::default();
    trace.name_server(first, "worker 0");
    trace.name_server(second, "worker 1");
    trace.name_lane(client, "client 1");
    trace.alone.push((0, "pauses"));
    // Each worker has threads, which work at the same time.
    for lane in [first, second] {
        trace.spans.extend([0, 20, 40].map(|start| span(lane, "request", start, start + 900)));
    }
    trace.spans.extend([span(client, "queue", 100, 200), span(client, "pauses", 200, 300)]);
    let (start, end, parts) = (at(100), at(300), Vec::new());
    let (lane, number, server) = (client, 1, None);
    let (name, outcome, open) = ("request", "answered", false);
    trace.chains = vec![Chain { lane, name, number, start, end, outcome, open, server, parts }];
    let text = explain(Timeline { components: &["w".to_owned()], trace: &trace }, 1);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[1], "    -> queue 100 ms (6 x request on 2 workers, 100 ms of each)",
        "{text}"
    );
    assert_eq!(lines[2], "    -> pauses 100 ms", "{text}");
}
