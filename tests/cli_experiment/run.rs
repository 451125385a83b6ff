use std::fs;
use std::process::{Command, Stdio};

use super::*;

const FILES: [&str; 8] = [
    "manifest.json",
    "report.html",
    "results.csv",
    "results.parquet",
    "rows.journal",
    "summary.csv",
    "summary.json",
    "timeline.json",
];

#[test]
fn a_run_prints_its_table_and_writes_its_files() {
    let place = Place::with_scenario("links", "");
    let output = place.convsim(&["run", "links.json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    for part in
        ["links", "4 points x 10 replications", "convergence_time", "large", "outputs/links"]
    {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(files(&place.path("outputs/links")), FILES);
    assert_eq!(place.read("outputs/links/results.csv").lines().count(), 1 + 4 * 10);
    assert!(stderr(&output).is_empty());
}

#[test]
fn the_files_do_not_depend_on_the_number_of_threads() {
    let place = Place::with_scenario("links", &expect("mean", r#""at_least": "0 s""#));
    for threads in ["1", "2", "5"] {
        let output = place.convsim(&[
            "run",
            "links.json",
            "--threads",
            threads,
            "--replications",
            "150",
            "--output",
            threads,
        ]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    }
    for name in FILES {
        let with = |threads: &str| fs::read(place.path(threads).join("links").join(name)).unwrap();
        assert_eq!(with("1"), with("2"), "{name}");
        assert_eq!(with("1"), with("5"), "{name}");
    }
}

#[test]
fn every_format_is_printed() {
    let place = Place::with_scenario("links", &expect("mean", r#""at_least": "0 s""#));
    let print = |format: &str| {
        let output = place.convsim(&["run", "links.json", "--format", format]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        stdout(&output)
    };
    assert_eq!(print("json"), place.read("outputs/links/summary.json"));
    assert_eq!(print("csv"), place.read("outputs/links/summary.csv"));
    assert!(print("markdown").starts_with("## links\n"));
    let json: serde_json::Value = serde_json::from_str(&print("json")).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!(json["points"][0]["replications"], 10);
    assert_eq!(json["expectations"][0]["verdict"], "held");
}

#[test]
fn quiet_prints_nothing() {
    let place = Place::with_scenario("links", "");
    let output = place.convsim(&["run", "links.json", "--quiet"]);
    assert_eq!(code(&output), 0);
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
    assert_eq!(files(&place.path("outputs/links")), FILES);
}

#[test]
fn overrides_are_in_the_manifest() {
    let place = Place::with_scenario("links", "");
    let output = place.convsim(&[
        "run",
        "links.json",
        "--configuration",
        "small",
        "--seed",
        "3",
        "--replications",
        "2",
        "--horizon",
        "60 s",
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let manifest: serde_json::Value =
        serde_json::from_str(&place.read("outputs/links/manifest.json")).unwrap();
    assert_eq!(manifest["run"]["seed"], 3);
    assert_eq!(manifest["run"]["replications"], 2);
    assert_eq!(manifest["run"]["horizon"], "60 s");
    assert_eq!(manifest["arguments"]["configuration"][0], "small");
    assert_eq!(manifest["points"].as_array().unwrap().len(), 1);
}

#[test]
fn a_run_reports_expectations_but_does_not_fail_on_them() {
    let place = Place::with_scenario("links", &expect("mean", r#""at_most": "1 ns""#));
    let output = place.convsim(&["run", "links.json"]);
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).contains("MISSED"));
}

#[test]
fn events_are_the_same_each_time() {
    let place = Place::with_scenario("links", "");
    let output = place.convsim(&["run", "links.json", "--check-determinism"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    insta::assert_snapshot!(stderr(&output));
}

#[test]
fn a_folder_that_cannot_be_written_is_found_before_simulating() {
    let place = Place::with_scenario("links", "");
    place.write("taken", "a file where a folder should be");
    // So many replications that simulating first would take too long.
    let output =
        place.convsim(&["run", "links.json", "--output", "taken", "--replications", "1000000000"]);
    assert_eq!(code(&output), 2);
    assert!(output.stdout.is_empty());
    insta::assert_snapshot!(stderr(&output));
    assert_eq!(place.read("taken"), "a file where a folder should be");
}

#[test]
fn two_scenarios_of_one_name_are_refused() {
    let place = Place::with_scenario("links", "");
    place.write("other.json", &scenario("links", ""));
    let output = place.convsim(&["run", "links.json", "other.json"]);
    assert_eq!(code(&output), 2);
    insta::assert_snapshot!(stderr(&output));
}

#[test]
fn what_is_wrong_with_any_file_is_reported_at_once() {
    let place = Place::with_scenario("links", "");
    let output = place.convsim(&["run", "missing.json", "links.json", "absent.json"]);
    assert_eq!(code(&output), 2);
    let text = stderr(&output);
    assert!(text.contains("missing.json") && text.contains("absent.json"), "{text}");
    assert!(!place.path("outputs").exists());
}

#[test]
fn bad_usage_is_exit_code_2() {
    let place = Place::with_scenario("links", "");
    for arguments in [
        &["run"][..],
        &["fly"],
        &["run", "links.json", "--threads", "0"],
        &["run", "links.json", "--replications", "0"],
        &["run", "links.json", "--format", "png"],
    ] {
        assert_eq!(code(&place.convsim(arguments)), 2, "{arguments:?}");
    }
}

#[test]
fn help_says_what_there_is_and_what_exit_codes_mean() {
    for command in ["", "run", "check", "compare", "solve", "sensitivity"] {
        let arguments: &[&str] =
            if command.is_empty() { &["--help"] } else { &[command, "--help"] };
        let output = Place::empty().convsim(arguments);
        assert_eq!(code(&output), 0);
        insta::assert_snapshot!(format!("help_{command}"), stdout(&output));
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::with_scenario("links", "");
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("convsim"))
        .args(["run", "links.json", "--replications", "30"])
        .current_dir(place.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    assert_eq!(files(&place.path("outputs/links")), FILES);
}

#[test]
fn progress_can_be_had_as_json() {
    let place = Place::with_scenario("links", "");
    let output = place.convsim(&["run", "links.json", "--progress", "json", "--quiet"]);
    let text = stderr(&output);
    let line: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&line["done"], &line["total"]), (&40.into(), &40.into()));
}
