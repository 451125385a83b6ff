//! The commands that only look at scenarios: schema, describe, new, plan.

use assert_cmd::Command;
use convsim::models::ModelKind;
use convsim::scenario::{LoadOptions, load};

/// What the command prints, which ends well.
fn output(words: &[&str]) -> String {
    let mut command = Command::cargo_bin("convsim").unwrap();
    let output = command.env_remove("COLUMNS").args(words).assert().success();
    String::from_utf8(output.get_output().stdout.clone()).unwrap()
}

#[test]
fn the_shipped_schema_is_what_the_command_prints() {
    let printed = output(&["schema"]);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/scenario.schema.json");
    if std::env::var_os("CONVSIM_WRITE_SCHEMA").is_some() {
        std::fs::write(path, &printed).unwrap();
    }
    let shipped = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        printed == shipped,
        "the schema has changed; write it anew with `convsim schema`, or with this test and the \
         environment variable CONVSIM_WRITE_SCHEMA set"
    );
}

#[test]
fn a_description_names_every_parameter_and_metric_with_its_default() {
    for kind in ModelKind::ALL {
        let text = output(&["describe", kind.name()]);
        println!("{text}");
        for metric in kind.metrics() {
            assert!(text.contains(metric.name), "{}", metric.name);
        }
        let defaults = serde_json::to_value(kind.default_config()).unwrap();
        for key in defaults.as_object().unwrap().keys() {
            assert!(text.contains(&format!("\n  {key}")), "{key}");
        }
        let json = output(&["describe", kind.name(), "--format", "json"]);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["models"][0]["model"], kind.name());
    }
}

#[test]
fn every_parameter_says_where_its_default_comes_from_and_what_it_is() {
    for kind in ModelKind::ALL {
        let all = convsim::scenario::parameters::parameters(*kind);
        for parameter in convsim::scenario::parameters::flatten(&all) {
            let path = format!("{}.{}", kind.name(), parameter.path);
            assert!(!parameter.description.is_empty(), "{path} has no description");
        }
    }
}

#[test]
fn a_new_scenario_loads_and_setting_every_default_in_it_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for kind in ModelKind::ALL {
        let path = folder.path().join(format!("{}.json", kind.name()));
        let words = ["new", kind.name(), "--output", path.to_str().unwrap()];
        output(&words);
        let plain = load(&path, &LoadOptions::default()).unwrap();
        assert_eq!(plain.points.len(), 1);

        let again = Command::cargo_bin("convsim").unwrap().args(words).assert().code(2);
        let told = String::from_utf8(again.get_output().stderr.clone()).unwrap();
        assert!(told.contains("exists already"), "{told}");

        // A mark in front of a setting has no single blank behind it.
        let text = std::fs::read_to_string(&path).unwrap();
        println!("{text}");
        let explains = |rest: &str| rest.starts_with(' ') && !rest.starts_with("  ");
        let set: Vec<String> = text
            .lines()
            .map(|line| match line.trim_start().strip_prefix("//") {
                Some(rest) if !explains(rest) => rest.to_owned(),
                _ => line.to_owned(),
            })
            .collect();
        std::fs::write(&path, set.join("\n")).unwrap();
        let with_defaults = match load(&path, &LoadOptions::default()) {
            Ok(scenario) => scenario,
            Err(error) => panic!("{:?}", miette::Report::new(*error)),
        };
        assert_eq!(with_defaults.points[0].id, plain.points[0].id);
    }
}

#[test]
fn a_plan_lists_every_point_with_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.json");
    std::fs::write(
        &path,
        r#"{
          "name": "plan",
          "components": { "o": { "model": "orchagent" } },
          "configurations": [{ "name": "small", "set": { "o.pop_batch_size": 8 } }],
          "sweep": { "o.pop_batch_size": "32..128:log2" },
          "run": { "replications": 10 }
        }"#,
    )
    .unwrap();
    let words = ["plan", path.to_str().unwrap(), "--set", "run.seed=9"];
    let words =
        [&words[..], &["--where", "o.pop_batch_size < 100", "--max-points", "100"]].concat();
    let text = output(&words);
    println!("{text}");
    assert!(text.contains("3 points x 10 replications = 30 tasks; seed 9"), "{text}");
    assert!(text.contains("o.pop_batch_size"), "{text}");
    let json = output(&[&words[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(text.contains("1 of the 3 points of the sweep are cut by \"where\""), "{text}");
    assert_eq!((&json["tasks"], &json["cut_points"]), (&30.into(), &1.into()));
    assert_eq!(json["points"][0]["parameters"]["o.pop_batch_size"], 8);
    assert_eq!(json["points"][1]["configuration"], "o.pop_batch_size=32");
}
