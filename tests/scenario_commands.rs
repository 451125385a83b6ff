//! The commands that only look at scenarios: schema, describe, new, plan.

#[path = "../src/cli/describe.rs"]
mod describe;
#[path = "../src/cli/format.rs"]
mod format;
#[path = "../src/cli/new.rs"]
mod new;
#[path = "../src/cli/plan.rs"]
mod plan;
#[path = "../src/cli/schema.rs"]
mod schema;

use convsim::models::ModelKind;
use convsim::scenario::{LoadOptions, load};

fn output(run: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    run(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn the_shipped_schema_is_what_the_command_prints() {
    let printed = output(|out| {
        schema::execute(&schema::Args {}, out).unwrap();
    });
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
        let text = output(|out| {
            let args = describe::Args {
                model: Some(kind.name().to_owned()),
                format: describe::Format::Text,
            };
            describe::execute(&args, out).unwrap();
        });
        println!("{text}");
        for metric in kind.metrics() {
            assert!(text.contains(metric.name), "{}", metric.name);
        }
        let defaults = serde_json::to_value(kind.default_config()).unwrap();
        for key in defaults.as_object().unwrap().keys() {
            assert!(text.contains(&format!("\n  {key}")), "{key}");
        }
        let json = output(|out| {
            let args = describe::Args {
                model: Some(kind.name().to_owned()),
                format: describe::Format::Json,
            };
            describe::execute(&args, out).unwrap();
        });
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
        let args = new::Args { model: kind.name().to_owned(), output: Some(path.clone()) };
        new::execute(&args, &mut Vec::new()).unwrap();
        let plain = load(&path, &LoadOptions::default()).unwrap();
        assert_eq!(plain.points.len(), 1);

        let again = new::execute(&args, &mut Vec::new()).unwrap_err();
        assert!(again.to_string().contains("exists already"));

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
    let args = |format| plan::Args {
        file: path.clone(),
        overrides: plan::Overrides {
            set: vec!["run.seed=9".to_owned()],
            vary: Vec::new(),
            design: None,
            conditions: vec!["o.pop_batch_size < 100".to_owned()],
            configurations: Vec::new(),
            max_points: 100,
        },
        format,
    };
    let text = output(|out| {
        plan::execute(&args(format::Format::Table), out).unwrap();
    });
    println!("{text}");
    assert!(text.contains("3 points x 10 replications = 30 tasks; seed 9"), "{text}");
    assert!(text.contains("o.pop_batch_size"), "{text}");
    let json = output(|out| {
        plan::execute(&args(format::Format::Json), out).unwrap();
    });
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(text.contains("1 of the 3 points of the sweep are cut by \"where\""), "{text}");
    assert_eq!((&json["tasks"], &json["cut_points"]), (&30.into(), &1.into()));
    assert_eq!(json["points"][0]["parameters"]["o.pop_batch_size"], 8);
    assert_eq!(json["points"][1]["configuration"], "o.pop_batch_size=32");
}
