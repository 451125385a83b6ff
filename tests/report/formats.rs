//! What is printed in which form, and that the documentation has every field.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::{convsim, scenario};

const FILE: &str = "chassis-packet-pop-batch.json";

fn printed(arguments: &[&str], format: &str) -> String {
    let output = tempfile::tempdir().unwrap();
    let mut command = convsim();
    command.current_dir(output.path()).arg(arguments[0]).arg(scenario(FILE));
    command.args(&arguments[1..]).args(["--format", format]);
    // An expectation may be undecided with so few replications.
    let output = command.assert();
    assert!(matches!(output.get_output().status.code(), Some(0 | 1)), "{arguments:?}");
    String::from_utf8(output.get_output().stdout.clone()).unwrap()
}

const COMMANDS: [&[&str]; 3] =
    [&["run", "--replications", "5", "--no-plots"], &["check", "--replications", "5"], &["plan"]];

#[test]
fn every_command_that_prints_results_knows_every_form() {
    for arguments in COMMANDS {
        let table = printed(arguments, "table");
        for line in table.lines() {
            assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
        }
        assert!(!table.contains('\x1b'), "no colour where nobody looks");
        assert!(printed(arguments, "markdown").contains("|:---"), "{arguments:?}");
        let csv = printed(arguments, "csv");
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        assert!(reader.records().map(Result::unwrap).count() >= 8, "{arguments:?}");
        let json: Value = serde_json::from_str(&printed(arguments, "json")).unwrap();
        assert_eq!(json["version"], 1, "{arguments:?}");
    }
}

#[test]
fn every_field_is_documented() {
    let documentation =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/json.md")).unwrap();
    let mut documents: Vec<Value> = COMMANDS
        .iter()
        .map(|arguments| serde_json::from_str(&printed(arguments, "json")).unwrap())
        .collect();
    let output = tempfile::tempdir().unwrap();
    let run = ["--replications", "5", "--quiet", "--output"];
    convsim().arg("run").arg(scenario(FILE)).args(run).arg(output.path()).assert().success();
    for name in ["manifest.json", "timeline.json"] {
        let file = output.path().join("chassis-packet-pop-batch").join(name);
        documents.push(serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap());
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
    const GIVEN: [&str; 6] =
        ["axes", "parameters", "resolved", "arguments", "documentation", "metrics"];
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                keys.insert(key.clone());
                if key == "metrics" {
                    entries[key].as_object().into_iter().flatten().for_each(|m| fields(m.1, keys));
                }
                if !GIVEN.contains(&key.as_str()) {
                    fields(value, keys);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| fields(item, keys)),
        _ => {}
    }
}
