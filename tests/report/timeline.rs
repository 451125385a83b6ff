//! The timeline of one replication.

use std::collections::BTreeMap;

use convsim::experiment::{self, Batch, Row, RowSink, replay};
use convsim::report::timeline::{Timeline, explain, write_chrome};
use convsim::scenario::{LoadOptions, Scenario, load};

use crate::{convsim, scenario};

fn chassis() -> Scenario {
    load(&scenario("chassis-packet-pop-batch.json"), &LoadOptions::default()).unwrap()
}

#[derive(Default)]
pub struct Rows(pub Vec<Row>);

impl RowSink for Rows {
    fn row(&mut self, row: &Row) -> std::io::Result<()> {
        self.0.push(row.clone());
        Ok(())
    }
}

#[test]
fn a_replication_is_the_same_with_and_without_a_record() {
    let scenario = chassis();
    for point in [0, 1, 5] {
        let mut rows = Rows::default();
        experiment::run(&scenario, &[Batch { point, replications: 3..4 }], 1, &mut [&mut rows])
            .unwrap();
        let (row, trace) = replay(&scenario, point, 3);
        assert_eq!(row.fingerprint, rows.0[0].fingerprint);
        assert_eq!(
            row.figures.iter().map(|f| f.to_bits()).collect::<Vec<_>>(),
            rows.0[0].figures.iter().map(|f| f.to_bits()).collect::<Vec<_>>()
        );
        assert!(!trace.spans.is_empty());
    }
}

#[test]
fn the_stages_of_a_path_last_as_long_as_its_outage() {
    let scenario = chassis();
    let columns = scenario.columns();
    for point in [0, 1, 5] {
        let (row, trace) = replay(&scenario, point, 0);
        let mut outages: BTreeMap<u32, f64> = BTreeMap::new();
        // The first two lanes are threads.
        for span in trace.spans.iter().filter(|span| span.lane.lane >= 2) {
            let seconds = span.end.since(span.start).as_seconds();
            *outages.entry(span.lane.lane).or_default() += seconds;
        }
        let longest = outages.values().copied().fold(0.0, f64::max);
        let metric = columns.iter().position(|c| c.name == "path_outage.max").unwrap();
        // Routes that were written again without the path lose nothing before it is pruned, so
        // its traffic-weighted outage may be a little shorter.
        let outage = row.figures[metric];
        assert!(longest >= outage - 1e-9 && longest < outage * 1.01, "{longest} {outage}");
    }
}

#[test]
fn the_worst_replication_is_found_and_explained() {
    let output = convsim()
        .arg("trace")
        .arg(scenario("chassis-packet-pop-batch.json"))
        .args(["--pick", "worst", "--metric", "packet_loss_duration", "--replications", "5"])
        .arg("--explain")
        .assert()
        .success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    for part in
        ["down at", "-> publication", "-> notification queue", "x route batch", "-> pruned at"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_worst_replication_by_what_should_be_much_is_that_with_the_least() {
    let file = scenario("http-backlog-overflow.json");
    let options = LoadOptions {
        set: vec!["run.replications=12".to_owned(), "run.horizon=3 s".to_owned()],
        ..LoadOptions::default()
    };
    let loaded = load(&file, &options).unwrap();
    let columns = loaded.columns();
    let ok = columns.iter().position(|column| column.name == "ok").unwrap();
    let mut rows = Rows::default();
    let batch = Batch { point: 0, replications: 0..12 };
    experiment::run(&loaded, &[batch], 1, &mut [&mut rows]).unwrap();
    let answered: Vec<f64> = rows.0.iter().map(|row| row.figures[ok]).collect();
    let least = answered.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(answered.iter().any(|count| *count > least), "{answered:?}");
    let output = convsim()
        .arg("trace")
        .arg(&file)
        .args(["--set", "run.replications=12", "--set", "run.horizon=3 s", "--explain"])
        .args(["--pick", "worst", "--metric", "ok"])
        .assert()
        .success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    let number = text.split(", replication ").nth(1).and_then(|rest| rest.split(':').next());
    let chosen: usize = number.unwrap().trim().parse().unwrap();
    assert_eq!(answered[chosen], least, "{answered:?}");
}

#[test]
fn a_replication_beyond_those_of_the_run_is_said_to_be() {
    let note = |replication: &str| {
        let output = convsim()
            .arg("trace")
            .arg(scenario("chassis-packet-pop-batch.json"))
            .args(["--text", "--set", "run.replications=20", "--replication", replication])
            .assert()
            .success();
        String::from_utf8_lossy(&output.get_output().stderr).into_owned()
    };
    assert!(
        note("20").contains("replication 20 is beyond the 20 replications of the run, 0 to 19")
    );
    assert_eq!(note("19"), "");
}

#[test]
fn the_chrome_trace_is_small_and_well_formed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json");
    convsim()
        .arg("trace")
        .arg(scenario("chassis-packet-pop-batch.json"))
        .args(["--configuration", "pop 128", "--output"])
        .arg(&file)
        .assert()
        .success();
    let text = std::fs::read(&file).unwrap();
    assert!(text.len() < 20_000_000);
    let document: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert!(document["traceEvents"].as_array().unwrap().len() > 1_000);
}

/// Scenarios of each model, one with and one without what can be switched off.
const EACH_MODEL: [&str; 7] = [
    "chassis-packet-pop-batch",
    "http-backlog-overflow",
    "mux-simulator-servers",
    "ipvs-kube-proxy-scale",
    "l3-agent-vm-boot",
    "l3-agent-liveness",
    "dvr-arp-batch",
];

#[test]
fn every_model_says_what_was_waited_for_without_changing_it() {
    for name in EACH_MODEL {
        let scenario = load(&scenario(&format!("{name}.json")), &LoadOptions::default()).unwrap();
        for point in [0, 1] {
            let mut rows = Rows::default();
            let batch = Batch { point, replications: 0..1 };
            experiment::run(&scenario, &[batch], 1, &mut [&mut rows]).unwrap();
            let (row, trace) = replay(&scenario, point, 0);
            assert_eq!(row.fingerprint, rows.0[0].fingerprint, "{name}");
            assert!(!trace.levels.is_empty() && !trace.chains.is_empty(), "{name}, point {point}");
            for chain in &trace.chains {
                let within = |span: &&convsim::engine::trace::Span| {
                    span.lane == chain.lane && span.start >= chain.start && span.end <= chain.end
                };
                assert!(chain.start <= chain.end, "{name}: {chain:?}");
                assert!(
                    chain.start == chain.end || trace.spans.iter().rev().any(|s| within(&s)),
                    "{name}: {chain:?}"
                );
                assert!(trace.lane_names.iter().any(|(lane, _)| *lane == chain.lane), "{name}");
            }
            let components: Vec<String> =
                scenario.components.iter().map(|(name, _)| name.clone()).collect();
            let timeline = Timeline { components: &components, trace: &trace };
            well_formed(name, timeline);
            let text = explain(timeline, 1);
            assert!(text.contains("-> ") && text.contains(" after "), "{name}: {text}");
        }
    }
}

/// As the format's documentation asks: whole ids, no span across another in its thread, and arrows
/// with both ends on something that is going on, the second not before the first.
pub fn well_formed(name: &str, timeline: Timeline<'_>) {
    let mut output = Vec::new();
    write_chrome(timeline, &mut output).unwrap();
    assert!(output.len() < 20_000_000, "{name}: {}", output.len());
    let document: serde_json::Value = serde_json::from_slice(&output).unwrap();
    let mut slices: BTreeMap<(u64, u64), Vec<(f64, f64)>> = BTreeMap::new();
    let mut arrows: BTreeMap<u64, Vec<serde_json::Value>> = BTreeMap::new();
    for event in document["traceEvents"].as_array().unwrap() {
        let whole = |key: &str| event[key].as_u64().unwrap_or_else(|| panic!("{name}: {event}"));
        match event["ph"].as_str().unwrap() {
            "M" => assert!(event["args"].is_object() && event["pid"].is_u64()),
            "C" => assert!(event["ts"].is_number() && event["args"].is_object()),
            "X" => {
                let (start, length) =
                    (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
                assert!(start >= 0.0 && length >= 0.0, "{name}: {event}");
                let slices = slices.entry((whole("pid"), whole("tid"))).or_default();
                slices.push((start, start + length));
            }
            "s" | "f" => arrows.entry(whole("id")).or_default().push(event.clone()),
            other => panic!("{name}: {other}"),
        }
    }
    for spans in slices.values_mut() {
        spans.retain(|(start, end)| start < end);
        spans.sort_by(|a, b| a.partial_cmp(b).unwrap());
        // Rounding of nanoseconds to a float of microseconds.
        assert!(spans.windows(2).all(|pair| pair[1].0 >= pair[0].1 - 1e-3), "{name}");
    }
    for ends in arrows.values() {
        assert_eq!(ends.iter().map(|e| e["ph"].as_str().unwrap()).collect::<Vec<_>>(), ["s", "f"]);
        assert!(ends[0]["ts"].as_f64() <= ends[1]["ts"].as_f64(), "{name}: {ends:?}");
        for end in ends {
            let thread = (end["pid"].as_u64().unwrap(), end["tid"].as_u64().unwrap());
            let time = end["ts"].as_f64().unwrap();
            let on = |span: &(f64, f64)| span.0 - 1e-3 <= time && time <= span.1 + 1e-3;
            assert!(slices[&thread].iter().any(on), "{name}: {end}");
        }
    }
}

#[test]
fn a_picture_of_any_replication_is_drawn_by_name() {
    let folder = tempfile::tempdir().unwrap();
    convsim()
        .current_dir(folder.path())
        .arg("trace")
        .arg(scenario("http-backlog-overflow.json"))
        .args(["--replication", "2", "--plot", "timeline", "--plot", "gantt"])
        .assert()
        .success();
    let plots = folder.path().join("outputs/http-backlog-overflow/plots");
    let names: Vec<String> = std::fs::read_dir(plots)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    for end in ["-2-timeline.svg", "-2-timeline.png", "-2-gantt.svg", "-2-gantt.png"] {
        assert!(names.iter().any(|name| name.ends_with(end)), "{end}: {names:?}");
    }
}

#[test]
fn pictures_go_where_the_timeline_goes() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--output", "there/mine.json", "--plot", "timeline", "--plot", "gantt"];
    convsim()
        .current_dir(folder.path())
        .arg("trace")
        .arg(scenario("chassis-packet-pop-batch.json"))
        .args(arguments)
        .assert()
        .success();
    let names = |place: &str| {
        let entries = std::fs::read_dir(folder.path().join(place)).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names(""), ["there"]);
    let written = names("there");
    for name in ["mine.json", "mine-gantt.svg", "mine-gantt.png", "mine-timeline.svg"] {
        assert!(written.contains(&name.to_owned()), "{name}: {written:?}");
    }
}

#[test]
fn the_time_without_a_report_is_explained() {
    let explained = |configuration: &str| {
        let output = convsim()
            .arg("trace")
            .arg(scenario("l3-agent-liveness.json"))
            .args(["--configuration", configuration, "--explain", "--chains", "1"])
            .assert()
            .success();
        let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = explained("stalled 60 s");
    for part in [
        "reports: without a report from",
        "the next came after",
        "-> stalled 60 s",
        "of which due, but the agent could not send it",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_folder_is_no_file_for_a_timeline() {
    let folder = tempfile::tempdir().unwrap();
    let output = convsim()
        .arg("trace")
        .arg(scenario("lua-pop-stall.json"))
        .arg("--output")
        .arg(folder.path())
        .assert()
        .code(2);
    let text = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("which is a folder") && text.contains("allowed: a file"), "{text}");
}
