//! Replications that the horizon cuts off: what was going on then is in the trace as far as it went.

use std::collections::{BTreeMap, BTreeSet};

use convsim::engine::trace::{Chain, Lane, Span, Trace};
use convsim::engine::{SimDuration, SimTime};
use convsim::experiment::{self, Batch, Row, Status, replay};
use convsim::report::timeline::{Record, Timeline, explain, text};
use convsim::scenario::{LoadOptions, Scenario, load};

use crate::timeline::{Rows, well_formed};
use crate::{convsim, scenario};

/// Scenarios of each model and mode, each with some of its points.
pub const CASES: [(&str, &[usize]); 12] = [
    ("chassis-packet-pop-batch", &[0, 5]),
    ("era-a-port-up", &[0]),
    ("http-backlog-overflow", &[0, 2]),
    ("http-metastable", &[0]),
    ("http-proxy", &[0, 1]),
    ("mux-simulator-servers", &[0, 1, 4]),
    ("ipvs-kube-proxy-scale", &[0, 1, 6]),
    ("l3-agent-restart", &[0, 1]),
    ("l3-agent-vm-boot", &[0]),
    ("l3-agent-liveness", &[0, 1]),
    ("dvr-arp-batch", &[0]),
    ("l3-spawn-modes", &[0, 1, 2]),
];
/// Where a replication is cut, as shares of its whole length.
const CUTS: [f64; 4] = [0.07, 0.31, 0.503, 0.9];
/// What is only recorded of what has no outcome, or once it is long enough.
const ONLY_OPEN: [&str; 3] =
    ["waits for the next check", "waiting for the client program", "without a report"];

fn loaded(name: &str, set: &[&str]) -> Scenario {
    let set = set.iter().map(|text| (*text).to_owned()).collect();
    let options = LoadOptions { set, ..LoadOptions::default() };
    load(&scenario(&format!("{name}.json")), &options).unwrap()
}

fn cut_at(scenario: &Scenario, end: SimTime) -> Scenario {
    let mut cut = scenario.clone();
    cut.run.horizon = end.since(SimTime::ZERO);
    cut
}

/// Each case with the whole replication and with what is left of it when it is cut.
fn each_cut(mut check: impl FnMut(&str, &Scenario, (&Row, &Trace), (&Row, &Trace))) {
    for (name, points) in CASES {
        let whole = loaded(name, &[]);
        for &point in points {
            let (row, trace) = replay(&whole, point, 0);
            for share in CUTS {
                let nanos = (row.end.as_nanos() as f64 * share) as u64;
                let cut = cut_at(&whole, SimTime::from_nanos(nanos));
                let (cut_row, cut_trace) = replay(&cut, point, 0);
                let at = format!("{name}, point {point}, cut at {:.6} s", nanos as f64 * 1e-9);
                check(&at, &cut, (&row, &trace), (&cut_row, &cut_trace));
            }
        }
    }
}

/// How long something is going on in each lane up to `end`; each of several at once counts.
fn busy(trace: &Trace, end: SimTime) -> BTreeMap<Lane, u64> {
    let mut busy: BTreeMap<Lane, u64> = BTreeMap::new();
    let spans = trace.spans.iter().filter(|span| !ONLY_OPEN.contains(&span.name));
    for span in spans.filter(|span| span.start < end) {
        *busy.entry(span.lane).or_default() += span.end.min(end).since(span.start).as_nanos();
    }
    busy
}

#[test]
fn the_lanes_of_a_cut_replication_are_as_busy_as_those_of_the_whole_one_until_then() {
    each_cut(|at, scenario, (_, whole), (row, cut)| {
        let (mut expected, found) = (busy(whole, row.end), busy(cut, row.end));
        let mut found: BTreeMap<Lane, u64> = found;
        if scenario.name.starts_with("ipvs") {
            // Rows that are due at the cut, but whose kthread gives up its backlog later.
            expected.retain(|lane, _| lane.lane % 2 == 0);
            found.retain(|lane, _| lane.lane % 2 == 0);
        }
        assert_eq!(found, expected, "{at}");
    });
}

#[test]
fn cutting_records_nothing_that_changes_a_row() {
    each_cut(|at, scenario, _, (row, _)| {
        let mut rows = Rows::default();
        let batch = Batch { point: row.point, replications: 0..1 };
        experiment::run(scenario, &[batch], 1, &mut [&mut rows]).unwrap();
        let untraced = &rows.0[0];
        assert_eq!((row.fingerprint, row.status), (untraced.fingerprint, untraced.status), "{at}");
        let bits = |row: &Row| row.figures.iter().map(|f| f.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(row), bits(untraced), "{at}");
    });
}

#[test]
fn what_is_open_ends_with_the_replication_and_nothing_lasts_longer() {
    let mut open_of: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    each_cut(|at, scenario, _, (row, cut)| {
        for span in &cut.spans {
            assert!(span.end <= row.end && span.start <= span.end, "{at}: {span:?}");
            assert!(!span.open || span.end == row.end, "{at}: {span:?}");
        }
        let open = cut.spans.iter().filter(|span| span.open).map(|span| span.name);
        open_of.entry(scenario.name.clone()).or_default().extend(open);
    });
    for (scenario, names) in [
        ("chassis-packet-pop-batch", ["route batch", "notification queue"]),
        ("http-backlog-overflow", ["connecting", "request"]),
        ("mux-simulator-servers", ["being served", "request"]),
        ("l3-agent-restart", ["full sync", "router"]),
        ("l3-agent-vm-boot", ["router", "writes entries"]),
        ("l3-spawn-modes", ["commands", "commands"]),
    ] {
        for name in names {
            assert!(open_of[scenario].contains(name), "{scenario}: {:?}", open_of[scenario]);
        }
    }
}

#[test]
fn what_has_no_outcome_says_where_all_of_its_time_went() {
    each_cut(|at, _, _, (row, cut)| {
        for chain in cut.chains.iter().filter(|chain| chain.open) {
            assert!(chain.start <= chain.end && chain.end == row.end, "{at}: {chain:?}");
            let sum: u64 = chain.parts.iter().map(|(_, part)| part.as_nanos()).sum();
            assert_eq!(sum, chain.end.since(chain.start).as_nanos(), "{at}: {chain:?}");
            let within = |span: &&Span| {
                span.lane == chain.lane && span.start >= chain.start && span.end == chain.end
            };
            let open = cut.spans.iter().any(|span| within(&span) && span.open);
            assert!(open || chain.start == chain.end, "{at}: {chain:?}");
        }
    });
}

#[test]
fn a_cut_trace_is_well_formed_and_its_arrows_point_forwards_in_time() {
    each_cut(|at, scenario, _, (_, cut)| {
        let components: Vec<String> = scenario.components.iter().map(|c| c.0.clone()).collect();
        well_formed(at, Timeline { components: &components, trace: cut });
    });
}

#[test]
fn an_explanation_of_a_cut_replication_begins_with_what_is_left_and_has_no_outcome() {
    each_cut(|at, scenario, _, (row, cut)| {
        let components: Vec<String> = scenario.components.iter().map(|c| c.0.clone()).collect();
        let timeline = Timeline { components: &components, trace: cut };
        let text = explain(timeline, 1);
        assert_eq!(row.status != Status::Converged, !cut.left.is_empty(), "{at}: {:?}", cut.left);
        if row.status == Status::Converged {
            return;
        }
        assert!(text.starts_with("Not converged by"), "{at}: {text}");
        let open: Vec<&Chain> = cut.chains.iter().filter(|chain| chain.open).collect();
        let start = open.iter().map(|chain| chain.start).min();
        if let Some(start) = start.filter(|start| *start < row.end) {
            let longest = open.iter().filter(|chain| chain.start == start);
            let outcomes: BTreeSet<&str> = longest.map(|chain| chain.outcome).collect();
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(&format!("from {:.3} s,", start.as_seconds())), "{at}: {text}");
            assert!(outcomes.iter().any(|outcome| text.contains(outcome)), "{at}: {text}");
            assert!(text.contains("and still at the end"), "{at}: {text}");
        }
        assert!(Record::new(timeline, "cut", "0".to_owned()).unfinished, "{at}");
    });
}

/// The level of a counter times how long it was so, in seconds, until `end`.
fn area(trace: &Trace, name: &str, end: SimTime) -> f64 {
    let steps: Vec<(SimTime, f64)> =
        trace.levels.iter().filter(|level| level.name == name).map(|l| (l.time, l.value)).collect();
    let ends = steps.iter().skip(1).map(|step| step.0).chain([end]);
    steps.iter().zip(ends).map(|((start, value), end)| value * end.since(*start).as_seconds()).sum()
}

/// Seconds in which the lanes of servers are busy; each of several at once counts.
fn served(trace: &Trace) -> f64 {
    let spans = trace.spans.iter().filter(|span| trace.servers.contains(&span.lane));
    spans.map(|span| span.end.since(span.start).as_seconds()).sum()
}

#[test]
fn the_lanes_of_workers_are_as_busy_as_the_model_says_that_they_were() {
    each_cut(|at, scenario, _, (row, cut)| {
        let counter = match scenario.components[0].1.name() {
            "http_pool" => "requests being served",
            "l3_agent" if scenario.name.contains("spawn") || scenario.name.contains("arp") => {
                "commands running"
            }
            "l3_agent" => "busy workers",
            _ => return,
        };
        let boots = cut.spans.iter().filter(|span| span.name == "boots");
        let boots: f64 = boots.map(|span| span.end.since(span.start).as_seconds()).sum();
        let (found, counted) = (served(cut) - boots, area(cut, counter, row.end));
        assert!((found - counted).abs() < 1e-6 * counted.max(1.0), "{at}: {found} {counted}");
    });
}

#[test]
fn the_time_of_workers_and_kthreads_counts_what_is_under_way_at_the_cut() {
    each_cut(|at, scenario, _, (row, cut)| {
        let columns = scenario.columns();
        let figure = |name: &str| {
            row.figures[columns.iter().position(|column| column.name == name).unwrap()]
        };
        if scenario.components[0].1.name() == "l3_agent" {
            let (found, counted) = (figure("worker_time"), served(cut));
            assert!((found - counted).abs() < 1e-6 * counted.max(1.0), "{at}: {found} {counted}");
        }
    });
    let whole = loaded("ipvs-kube-proxy-scale", &["ipvs.warm_up=0 s"]);
    let columns = whole.columns();
    let time = columns.iter().position(|column| column.name == "kthread_time").unwrap();
    for millis in [1_234, 3_071, 5_555] {
        let end = SimTime::ZERO.saturating_add(SimDuration::from_millis(millis));
        let (row, _) = replay(&cut_at(&whole, end), 1, 0);
        assert!((row.figures[time] - 1.0).abs() < 1e-6, "{millis}: {}", row.figures[time]);
    }
}

#[test]
fn the_paths_of_a_cut_replication_wait_as_long_as_the_model_says_that_they_were_out() {
    let whole = loaded("chassis-packet-pop-batch", &[]);
    let columns = whole.columns();
    let metric = columns.iter().position(|column| column.name == "path_outage.max").unwrap();
    for seconds in [4, 7, 11] {
        let end = SimTime::ZERO.saturating_add(SimDuration::from_whole_seconds(seconds));
        let (row, cut) = replay(&cut_at(&whole, end), 0, 0);
        let paths = busy(&cut, row.end).into_iter().filter(|(lane, _)| lane.lane >= 2);
        let longest = paths.map(|(_, nanos)| nanos as f64 * 1e-9).fold(0.0, f64::max);
        let outage = row.figures[metric];
        // As in a whole replication: traffic that left the path before it was pruned is not lost.
        assert!(outage > 0.0 && longest >= outage - 1e-9 && longest < outage * 1.01, "{longest}");
    }
}

#[test]
fn kthreads_that_are_observed_to_the_end_are_as_busy_as_their_metric_says() {
    for point in [1, 2] {
        let scenario = loaded("ipvs-kube-proxy-scale", &["ipvs.warm_up=0 s"]);
        let columns = scenario.columns();
        let (row, trace) = replay(&scenario, point, 0);
        let figure = |name: &str| {
            row.figures[columns.iter().position(|column| column.name == name).unwrap()]
        };
        let share = figure("kthread_time") - figure("kthread_time.sleeping");
        let lived = area(&trace, "kthreads", row.end);
        let (found, counted) = (served(&trace), share * lived);
        assert!((found - counted).abs() < 1e-3 * counted, "{point}: {found} {counted}");
    }
}

#[test]
fn a_replication_that_is_not_cut_has_nothing_left_and_no_chain_without_an_outcome() {
    for name in ["chassis-packet-pop-batch", "http-backlog-overflow", "l3-spawn-modes"] {
        let scenario = loaded(name, &[]);
        let (row, trace) = replay(&scenario, 0, 0);
        assert_eq!(row.status, Status::Converged);
        let open = trace.spans.iter().any(|span| span.open) || trace.chains.iter().any(|c| c.open);
        assert!(!open && trace.left.is_empty(), "{name}");
        assert_eq!(trace.end, row.end);
    }
}

#[test]
fn an_agent_whose_full_sync_never_is_answered_says_so() {
    let output = convsim()
        .arg("trace")
        .arg(scenario("l3-agent-restart.json"))
        .args(["--configuration", "Liberty, 3000 routers", "--explain", "--horizon", "20 min"])
        .assert()
        .success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "Not converged by 1200.000 s. Left: 1 full sync not answered, 19 syncs that timed out",
        "full sync: full sync from 0.000 s, not answered by the end at 1200.000 s, after 1200 s",
        "full sync timed out 60 s",
        "of which full sync timed out",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_worst_of_a_time_is_a_replication_that_never_came_to_it() {
    let output = convsim()
        .arg("trace")
        .arg(scenario("chassis-packet-pop-batch.json"))
        .args(["--replications", "12", "--horizon", "20 s", "--explain"])
        .args(["--pick", "worst", "--metric", "convergence_time"])
        .assert()
        .success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(text.contains(": horizon") && text.contains("Not converged by 20.000 s"), "{text}");
}

#[test]
fn what_is_still_going_on_is_said_in_the_text() {
    let scenario = loaded("chassis-packet-pop-batch", &[]);
    let end = SimTime::ZERO.saturating_add(SimDuration::from_whole_seconds(5));
    let (_, cut) = replay(&cut_at(&scenario, end), 0, 0);
    let components = ["orchagent".to_owned()];
    let text = text(Timeline { components: &components, trace: &cut });
    assert!(text.contains(", and still at the end"), "{text}");
}
