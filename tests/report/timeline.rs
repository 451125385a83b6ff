//! The timeline of one replication.

use std::collections::BTreeMap;

use convsim::experiment::{self, Batch, Row, RowSink, replay};
use convsim::scenario::{LoadOptions, Scenario, load};

use crate::{convsim, scenario};

fn chassis() -> Scenario {
    load(&scenario("chassis-packet-pop-batch.json"), &LoadOptions::default()).unwrap()
}

#[derive(Default)]
struct Rows(Vec<Row>);

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
    let events = document["traceEvents"].as_array().unwrap();
    assert!(events.iter().all(|e| ["X", "C", "M"].contains(&e["ph"].as_str().unwrap())));
}
