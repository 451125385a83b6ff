//! What keeps a run from its end, and what the user is told of it.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::*;

/// The end of `text` after the only place where `before` is.
fn after<'t>(text: &'t str, before: &str) -> &'t str {
    text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}")).1
}

#[test]
fn an_interrupted_run_keeps_what_is_complete_and_says_how_to_go_on() {
    for (signal, exit) in [("INT", 130), ("TERM", 143)] {
        let place = Place::with_scenario("links", "");
        // So many replications that it cannot end by itself.
        let arguments =
            ["run", "links.json", "--fresh", "--replications", "1000000000", "--seed=9"];
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("convsim"))
            .args(arguments)
            .current_dir(place.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let journal = place.path("outputs/links/rows.journal");
        while fs::metadata(&journal).map_or(0, |data| data.len()) < 1 << 16 {
            thread::sleep(Duration::from_millis(5));
        }
        let kill =
            Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(exit));
        let mut text = String::new();
        child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        assert!(text.contains("links: interrupted; "), "{text}");
        assert_eq!(
            after(&text, "to go on from there: ").trim_end(),
            "convsim run links.json --replications 1000000000 --seed=9"
        );
        let kept: u64 = after(&text, "interrupted; ").split(' ').next().unwrap().parse().unwrap();
        assert!(kept > 0);
        // The first point has all that is asked for here, the others none of it.
        let output = place.convsim(&["run", "links.json", "--seed=9", "--no-plots"]);
        assert_eq!(stderr(&output), "links: 10 of 40 replications are there already\n");
    }
}

#[test]
fn a_full_disk_is_reported_and_what_was_complete_is_used() {
    let place = Place::with_scenario("links", "");
    let many = ["run", "links.json", "--no-plots", "--replications", "200", "--output"];
    assert_eq!(code(&place.convsim(&[&many[..], &["whole"]].concat())), 0);
    let limited = |blocks: u32| {
        let limited = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
        Command::new("sh")
            .args(["-c", &limited])
            .arg(assert_cmd::cargo::cargo_bin("convsim"))
            .args([&many[..], &["full"]].concat())
            .current_dir(place.path(""))
            .output()
            .unwrap()
    };
    // Not even the head of the journal fits into one block of 512 bytes.
    let output = limited(1);
    assert_eq!(code(&output), 2, "{}", stdout(&output));
    assert!(stderr(&output).contains("File too large"), "{}", stderr(&output));
    // No file may grow beyond 32 KiB, which the journal needs several times over.
    let output = limited(64);
    assert_eq!(code(&output), 2, "{}", stdout(&output));
    assert!(stderr(&output).contains("File too large"), "{}", stderr(&output));
    assert!(!place.path("full/links/results.csv").exists());
    let resumed = place.convsim(&[&many[..], &["full"]].concat());
    assert_eq!(code(&resumed), 0);
    assert!(stderr(&resumed).contains("replications are there already"), "{}", stderr(&resumed));
    for name in ["results.csv", "results.parquet", "summary.csv", "summary.json", "manifest.json"] {
        let of = |folder: &str| fs::read(place.path(folder).join("links").join(name)).unwrap();
        assert!(of("full") == of("whole"), "{name}");
    }
}

/// Nobody, root neither, can make a folder there.
#[cfg(target_os = "linux")]
#[test]
fn a_read_only_folder_is_reported_before_anything_is_simulated() {
    let place = Place::with_scenario("links", "");
    let endless = ["run", "links.json", "--replications", "1000000000"];
    let output = place.convsim(&[&endless[..], &["--output", "/sys/kernel"]].concat());
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("/sys/kernel/links"), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
}

#[test]
fn a_point_that_fails_is_rows_with_a_status_and_exit_code_3() {
    let place = Place::empty();
    // Users who think for 456 years: the second time is past the end of representable time.
    place.write(
        "users.json",
        r#"{
          "name": "users",
          "components": { "web": { "model": "http_pool", "clients": { "users": 5, "requests": 50 } } },
          "configurations": [
            { "name": "fine", "set": { "web.clients.think_time": "1 s" } },
            { "name": "endless", "set": { "web.clients.think_time": "4000000 h" } }
          ],
          "run": { "replications": 20, "horizon": "5124095 h" }
        }"#,
    );
    for words in [
        &["compare", "users.json", "fine", "endless"][..],
        &["solve", "users.json", "--minimise", "elapsed", "--indifference", "1 s"],
        &["check", "checked.json"],
        &["sensitivity", "users.json", "--vary", "web.clients.think_time=1 s..4000000 h"],
    ] {
        let text = place.read("users.json").replace(
            r#""run":"#,
            r#""expect": [{ "configuration": "fine", "metric": "ok", "at_least": 50, "source": "s" },
              { "configuration": "endless", "metric": "ok", "at_most": 50, "source": "s" }], "run":"#,
        );
        place.write("checked.json", &text);
        let output = place.convsim(words);
        assert_eq!(code(&output), 3, "{words:?}: {}", stdout(&output));
        assert!(!stdout(&output).contains("held       endless"), "{}", stdout(&output));
    }
    place.convsim(&["check", "checked.json", "--junit", "junit.xml"]);
    let junit = place.read("junit.xml");
    assert!(junit.contains("errors=\"1\"") && junit.contains("20 replications failed"), "{junit}");
    let output = place.convsim(&["run", "users.json", "--no-plots", "--progress", "json"]);
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    let csv = place.read("outputs/users/results.csv");
    assert_eq!(
        csv.lines().filter(|row| row.contains(",fine,") && row.contains("converged")).count(),
        20
    );
    assert_eq!(
        csv.lines()
            .filter(|row| row.contains(",endless,") && row.contains("time_overflow"))
            .count(),
        20
    );
    let text = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("endless: something scheduled past the end of time"), "{text}");
    let summary: serde_json::Value =
        serde_json::from_str(&place.read("outputs/users/summary.json")).unwrap();
    assert_eq!(summary["points"][0]["statuses"]["converged"], 20);
    assert_eq!(summary["points"][1]["statuses"]["time_overflow"], 20);
    // The last line of progress.
    let line: serde_json::Value =
        serde_json::from_str(stderr(&output).lines().last().unwrap()).unwrap();
    for (key, value) in [
        ("done", 40),
        ("total", 40),
        ("failed", 20),
        ("points", 2),
        ("points_done", 2),
        ("points_failed", 1),
    ] {
        assert_eq!(line[key], value, "{key} in {line}");
    }
    assert!(line["rate"].as_f64().unwrap() > 0.0 && line["elapsed"].as_f64().is_some());
    assert_eq!((&line["scenario"], line["left"].as_f64()), (&"users".into(), Some(0.0)));
    // Reading it again from what is stored says the same.
    let again = place.convsim(&["run", "users.json", "--no-plots"]);
    assert_eq!(code(&again), 3);
}

#[test]
fn nothing_is_shown_of_progress_where_there_is_no_terminal() {
    let place = Place::with_scenario("links", "");
    let output = place.convsim(&["run", "links.json", "--no-plots", "--replications", "3000"]);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
}
