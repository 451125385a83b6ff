//! What is printed in which form, and that the documentation has every field.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::{convsim, scenario};

const FILE: &str = "chassis-packet-pop-batch.json";

/// The words of a command line, with the scenario in place of FILE.
fn printed(words: &[&str], format: &str) -> String {
    let output = tempfile::tempdir().unwrap();
    let mut command = convsim();
    command.current_dir(output.path());
    for word in words {
        if *word == "FILE" {
            command.arg(scenario(FILE))
        } else {
            command.arg(word)
        };
    }
    // An expectation may be undecided with so few replications.
    let output = command.args(["--format", format]).assert();
    assert!(matches!(output.get_output().status.code(), Some(0 | 1)), "{words:?}");
    String::from_utf8(output.get_output().stdout.clone()).unwrap()
}

const FEW: [&str; 3] = ["FILE", "--replications", "5"];
const VALUES: &str = "orchagent.pop_batch_size=32,64";

/// Every command that prints results.
fn commands() -> Vec<Vec<&'static str>> {
    let run = [&["run"][..], &FEW, &["--no-plots"]].concat();
    let check = [&["check"][..], &FEW].concat();
    let search = [&["solve"][..], &FEW, &["--parameter", VALUES]].concat();
    let best = ["--minimise", "packet_loss_duration", "--indifference", "1 s"];
    let best = [&search[..], &best].concat();
    let sensitivity = [&["sensitivity"][..], &FEW].concat();
    let compare = [&["compare", "FILE", "pop 1024", "pop 128"][..], &FEW[1..]].concat();
    let describe = vec!["describe", "orchagent"];
    vec![run, check, vec!["plan", "FILE"], search, best, sensitivity, compare, describe]
}

#[test]
fn every_command_that_prints_results_knows_every_form() {
    for words in commands() {
        let table = printed(&words, "table");
        for line in table.lines() {
            assert!(line.chars().count() <= 80, "{words:?}: {line}");
        }
        assert!(!table.contains('\x1b'), "no colour where nobody looks");
        let markdown = printed(&words, "markdown");
        assert!(markdown.contains("|:---") || markdown.contains("|---:"), "{words:?}");
        let csv = printed(&words, "csv");
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        assert!(reader.records().map(Result::unwrap).count() >= 2, "{words:?}");
        let json: Value = serde_json::from_str(&printed(&words, "json")).unwrap();
        assert_eq!(json["version"], 1, "{words:?}");
        assert_eq!(json["convsim"], env!("CARGO_PKG_VERSION"), "{words:?}");
    }
}

#[test]
fn the_rows_of_several_scenarios_are_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["lua-pop-stall.json", "zmq-drain.json"];
    let output = convsim()
        .current_dir(folder.path())
        .arg("run")
        .args(files.map(scenario))
        .args(["--replications", "2", "--no-plots", "--format", "csv"])
        .assert();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    assert_eq!(
        reader.headers().unwrap().iter().take(3).collect::<Vec<_>>(),
        ["scenario", "point", "configuration"]
    );
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let names: BTreeSet<&str> = rows.iter().map(|row| &row[0]).collect();
    assert_eq!(names, BTreeSet::from(["lua-pop-stall", "zmq-drain"]));
    assert!(rows.iter().all(|row| &row[1] != "point"));
}

#[test]
fn names_from_a_scenario_stand_for_themselves_in_markdown() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(scenario(FILE)).unwrap();
    let name = "a_b_*c* `d` <e> | f & g";
    assert!(text.contains("\"pop 128\""));
    fs::write(folder.path().join(FILE), text.replace("\"pop 128\"", &format!("\"{name}\"")))
        .unwrap();
    let escaped = "a_b\\_\\*c\\* \\`d\\` &lt;e> \\| f &amp; g";
    for words in [
        &["run", FILE, "--no-plots", "--replications", "3"][..],
        &["check", FILE, "--replications", "3"],
        &["plan", FILE],
        &["compare", FILE, "pop 1024", name, "--replications", "3"],
        &[
            "sensitivity",
            FILE,
            "--configuration",
            name,
            "--replications",
            "3",
            "--metric",
            "packet_loss_duration",
            "--vary",
            "orchagent.flap.messages=1..2",
        ],
    ] {
        let output = convsim()
            .current_dir(folder.path())
            .args(words)
            .args(["--format", "markdown"])
            .assert();
        let output = output.get_output();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(escaped), "{words:?}: {text}{error}");
        assert!(!text.contains("*c* `d`"), "{words:?}: {text}");
    }
}

/// `script` gives the command a terminal of its own.
#[cfg(target_os = "linux")]
#[test]
fn verdicts_are_coloured_on_a_terminal_and_not_where_no_color_is_set() {
    let seen = |no_color: &str| {
        let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/lua-pop-stall.json");
        let command = format!("'{}' check '{scenario}'", env!("CARGO_BIN_EXE_convsim"));
        let output = std::process::Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .envs([("TERM", "xterm"), ("NO_COLOR", no_color)])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let coloured = seen("");
    assert!(coloured.contains("\x1b[32mheld\x1b[0m"), "{coloured}");
    assert!(!coloured.contains("\\u001b"), "{coloured}");
    let plain = seen("1");
    assert!(plain.contains("held") && !plain.contains("\x1b[32m"), "{plain}");
}

#[test]
fn every_field_is_documented() {
    let documentation =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/json.md")).unwrap();
    let mut documents: Vec<Value> = commands()
        .iter()
        .map(|words| serde_json::from_str(&printed(words, "json")).unwrap())
        .collect();
    let output = tempfile::tempdir().unwrap();
    let run = ["--replications", "5", "--quiet", "--output"];
    convsim().arg("run").arg(scenario(FILE)).args(run).arg(output.path()).assert().success();
    for name in ["manifest.json", "timeline.json"] {
        let file = output.path().join("chassis-packet-pop-batch").join(name);
        documents.push(serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap());
    }
    let section = |name: &str| {
        let (_, rest) = documentation.split_once(&format!("\n## `{name}`")).unwrap();
        rest.split("\n## ").next().unwrap()
    };
    for name in ["summary.json", "timeline.json"] {
        let file = output.path().join("chassis-packet-pop-batch").join(name);
        let document: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let version = format!("| `version` | {} |", document["version"]);
        assert!(section(name).contains(&version), "{name}: {version}");
    }
    let mut keys = BTreeSet::new();
    documents.iter().for_each(|document| fields(document, &mut keys));
    for key in keys {
        let documented = documentation.contains(&format!("`{key}`"))
            || documentation.contains(&format!(".{key}`"))
            || documentation.contains(&format!("`{key}[]`"))
            || documentation.contains(&format!(".{key}[]`"));
        assert!(documented, "{key}");
    }
}

/// The names of all fields but those that a scenario gives.
fn fields(value: &Value, keys: &mut BTreeSet<String>) {
    const GIVEN: [&str; 8] = [
        "axes",
        "parameters",
        "resolved",
        "arguments",
        "documentation",
        "metrics",
        "measures",
        "default",
    ];
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                keys.insert(key.clone());
                if key == "metrics" {
                    entries[key].as_object().into_iter().flatten().for_each(|m| fields(m.1, keys));
                }
                if !GIVEN.contains(&key.as_str()) || value.is_array() {
                    fields(value, keys);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| fields(item, keys)),
        _ => {}
    }
}
