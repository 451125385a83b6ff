//! Figures of replications that the horizon cuts off: bounds, and marked as such everywhere.

use std::fs;

use convsim::engine::{SimDuration, SimTime};
use convsim::experiment::summary::Summariser;
use convsim::experiment::{self, PointSummary, Status, all_points};
use convsim::scenario::{LoadOptions, Scenario, load};
use convsim::statistics::{Estimate, Sense};

use crate::cut::CASES;
use crate::{convsim, scenario};

const REPLICATIONS: u64 = 6;

pub fn loaded(name: &str, points: &[usize]) -> Scenario {
    let set = vec!["run.antithetic=false".to_owned()];
    let options = LoadOptions { set, ..LoadOptions::default() };
    let mut scenario = load(&scenario(&format!("{name}.json")), &options).unwrap();
    scenario.points = points.iter().map(|&point| scenario.points[point].clone()).collect();
    scenario
}

fn summaries(scenario: &Scenario) -> Vec<PointSummary> {
    let mut summariser = Summariser::of_run(&scenario.run, &scenario.columns());
    let batches = all_points(scenario, 0..REPLICATIONS);
    experiment::run(scenario, &batches, 2, &mut [&mut summariser]).unwrap();
    summariser.finish()
}

/// What a shorter run says of a figure must be so of the longer one.
pub fn agree(short: Estimate, long: Estimate) -> bool {
    let rounding = 1e-9 * long.value.abs();
    match short.sense {
        _ if long.value.is_nan() => true,
        Sense::Whole => short.value.is_nan() || (short.value - long.value).abs() <= rounding,
        Sense::AtLeast => short.value <= long.value + rounding,
        Sense::AtMost => short.value >= long.value - rounding,
        Sense::SoFar => {
            short.interval.low <= long.value + rounding
                && short.interval.high >= long.value - rounding
        }
    }
}

#[test]
fn what_a_shorter_run_says_of_a_figure_is_so_of_a_longer_one_in_every_model() {
    let (mut bounds, mut finals) = (0, 0);
    for (name, points) in CASES {
        let scenario = loaded(name, points);
        let columns = scenario.columns();
        let long = summaries(&scenario);
        // Of a run that is itself cut off nothing more is known.
        let done =
            |s: &PointSummary| Status::ALL.iter().all(|of| !of.is_cut_off() || s.count(*of) == 0);
        let end = |point: usize| {
            let (row, _) = experiment::replay(&scenario, point, 0);
            row.end
        };
        let longest = (0..points.len()).map(end).max().unwrap();
        for share in [0.2, 0.55, 0.97] {
            let mut short = scenario.clone();
            let end = longest.since(SimTime::ZERO).as_nanos() as f64 * share;
            short.run.horizon = SimDuration::from_nanos(end as u64);
            for (point, (short, long)) in summaries(&short).iter().zip(&long).enumerate() {
                if !done(long) {
                    continue;
                }
                for (column, (short, long)) in
                    columns.iter().zip(short.metrics.iter().zip(&long.metrics))
                {
                    let at = format!("{name}, point {point}, cut at {share}: {}", column.name);
                    for (short, long) in
                        [(short.mean, long.mean), (short.p50, long.p50), (short.p95, long.p95)]
                    {
                        assert!(agree(short, long), "{at}: {short:?}, and later {long:?}");
                        bounds += usize::from(short.sense == Sense::AtLeast);
                        finals += usize::from(short.sense == Sense::Whole);
                    }
                }
            }
        }
    }
    assert!(bounds > 300 && finals > 300, "{bounds} bounds, {finals} final figures");
}

#[test]
fn a_bound_is_marked_in_tables_files_pictures_and_sentences() {
    let output = tempfile::tempdir().unwrap();
    let mut command = convsim();
    command.arg("run").arg(scenario("chassis-packet-pop-batch.json"));
    command.args(["--replications", "12", "--horizon", "20 s", "--output"]).arg(output.path());
    let run = command.assert().success();
    let told = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in ["≥", "..?", "≥ is at least so much, as they were cut off", "it is at least"] {
        assert!(words.contains(text), "{text}: {told}");
    }
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
    let folder = output.path().join("chassis-packet-pop-batch");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert!(read("summary.json").contains(r#""sense": "at_least""#));
    assert!(read("report.html").contains('≥'));
    for (picture, text) in [
        ("attribution-packet-loss-duration", "≥: cut off, at least this"),
        ("distribution-packet-loss-duration", "cut off"),
    ] {
        assert!(read(&format!("plots/{picture}.svg")).contains(text), "{picture}");
    }
    let sweep = read("plots/sweep-packet-loss-duration.svg");
    assert!(sweep.contains("↑ cut off, at least this at"), "{sweep}");
    let header = read("summary.csv").lines().next().unwrap().to_owned();
    assert!(header.ends_with(",cut,precision_reached"), "{header}");
}

/// All links have settled, and the main loop goes on.
#[test]
fn what_goes_on_after_convergence_until_the_horizon_is_a_bound_in_tables_and_pictures() {
    let output = tempfile::tempdir().unwrap();
    let mut command = convsim();
    command.arg("run").arg(scenario("chassis-packet-pop-batch.json"));
    command.args(["--configuration", "pop 1024", "--configuration", "pop 128"]);
    command.args(["--set", r#"run.metrics=["convergence_time", "loop_iterations"]"#]);
    command.args(["--replications", "6", "--horizon", "153.24 s", "--output"]).arg(output.path());
    let run = command.assert().success();
    let told = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    assert!(told.contains("loop_iterations: ≥ is at least so much"), "{told}");
    let folder = output.path().join("chassis-packet-pop-batch");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let rows = read("results.csv");
    assert_eq!(rows.matches(",converged,153.24,").count(), 5);
    let summary: serde_json::Value = serde_json::from_str(&read("summary.json")).unwrap();
    let metrics = |point: usize| summary["points"][point]["metrics"].clone();
    assert_eq!(metrics(0)["loop_iterations"]["cut"], 6);
    for (point, name) in [(0, "convergence_time"), (1, "loop_iterations")] {
        assert!(metrics(point)[name].get("cut").is_none(), "{name}");
    }
    // No pair is left of which a difference could be told.
    assert!(!folder.join("plots/difference-loop-iterations.svg").exists());
    assert!(folder.join("plots/difference-convergence-time.svg").exists());
}

/// The pairs that are left are those that were soon over: their interval need not hold the truth.
#[test]
fn a_difference_without_the_pairs_that_were_cut_off_has_no_interval() {
    let output = tempfile::tempdir().unwrap();
    let mut command = convsim();
    command.arg("run").arg(scenario("chassis-packet-pop-batch.json"));
    command.args(["--configuration", "pop 1024", "--configuration", "pop 128"]);
    command.args(["--replications", "12", "--horizon", "27 s", "--quiet", "--output"]);
    command.arg(output.path()).assert().success();
    let picture = "chassis-packet-pop-batch/plots/difference-packet-loss-duration.svg";
    let drawn = fs::read_to_string(output.path().join(picture)).unwrap();
    for text in ["~: without the pairs that were cut off", "(?..?) in ", " of 12"] {
        assert!(drawn.contains(text), "{text}: {drawn}");
    }
}

/// A client that pauses before it tries again has no connection, and has not got its answer.
#[test]
fn who_pauses_at_the_horizon_has_not_converged() {
    let output = tempfile::tempdir().unwrap();
    let file = output.path().join("pause.json");
    let text = r#"{
      "name": "pause",
      "components": { "web": {
        "model": "http_pool",
        "clients": {
          "users": 1, "requests": 1, "timeout": "1 s", "retry": { "attempts": 1, "pause": "60 s" }
        },
        "server": { "preset": "werkzeug_threaded", "overhead": "none" },
        "handler": { "wait": "3 s" }
      } },
      "run": { "replications": 2 }
    }"#;
    fs::write(&file, text).unwrap();
    for (horizon, status) in [("30 s", "horizon"), ("600 s", "converged")] {
        let mut command = convsim();
        command.arg("run").arg(&file).args(["--no-plots", "--quiet", "--fresh", "--output"]);
        command.arg(output.path()).args(["--horizon", horizon]).assert().success();
        let rows = fs::read_to_string(output.path().join("pause/results.csv")).unwrap();
        assert_eq!(rows.matches(&format!(",{status},")).count(), 2, "{rows}");
    }
}
