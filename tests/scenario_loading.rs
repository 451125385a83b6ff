//! What a fine scenario means: merging, overriding, sweeping, and what names a point.

use std::path::PathBuf;

use convsim::engine::SimDuration;
use convsim::models::ModelConfig;
use convsim::scenario::{LoadOptions, RelativeTo, Scenario, Statistic, load};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

fn load_with(text: &str, options: &LoadOptions) -> Scenario {
    let folder = Folder::new();
    let path = folder.write("scenario.json", text);
    load(&path, options).unwrap_or_else(|error| panic!("{:?}", miette::Report::new(*error)))
}

fn load_text(text: &str) -> Scenario {
    load_with(text, &LoadOptions::default())
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn names(scenario: &Scenario) -> Vec<&str> {
    scenario.points.iter().map(|point| point.configuration.as_str()).collect()
}

/// Each point's pop batch size in its only or first component.
fn batches(scenario: &Scenario) -> Vec<u64> {
    let batch = |config: &ModelConfig| {
        serde_json::to_value(config).unwrap()["pop_batch_size"].as_u64().unwrap()
    };
    scenario.points.iter().map(|point| batch(&point.components[0].1)).collect()
}

const CONFIGURED: &str = r#"{
  "name": "configured",
  "components": { "o": { "model": "orchagent", "pop_batch_size": 512 } },
  "configurations": [
    { "name": "large", "note": "as shipped", "set": { "o.pop_batch_size": 1024 } },
    { "name": "small", "set": { "o.pop_batch_size": 128 } },
    { "name": "plain" }
  ],
  "sweep": { "o.pop_batch_size": [32, 64] },
  "expect": [
    { "configuration": "large", "metric": "convergence_time", "at_most": "1 h" },
    { "configuration": "o.pop_batch_size=32", "metric": "convergence_time", "at_most": "1 h" }
  ]
}"#;

#[test]
fn a_scenario_without_configurations_has_one_called_base() {
    let scenario =
        load_text(r#"{ "name": "n", "components": { "o": { "model": "orchagent" } }, /* and */ }"#);
    assert_eq!(names(&scenario), ["base"]);
    assert_eq!(scenario.run.seed, 1);
    assert_eq!(scenario.run.horizon, SimDuration::from_whole_seconds(3600));
    assert!(scenario.points[0].axes.is_empty());
}

#[test]
fn configurations_come_first_and_then_the_grid() {
    let scenario = load_text(CONFIGURED);
    assert_eq!(
        names(&scenario),
        ["large", "small", "plain", "o.pop_batch_size=32", "o.pop_batch_size=64"]
    );
    assert_eq!(batches(&scenario), [1024, 128, 512, 32, 64]);
    assert_eq!(scenario.points[0].note.as_deref(), Some("as shipped"));
    assert_eq!(scenario.points[3].axes, [("o.pop_batch_size".to_owned(), 32.into())]);
    assert_eq!(scenario.expectations.len(), 2);
    assert!(scenario.expectations[0].origin.ends_with("scenario.json:11"));
}

#[test]
fn a_grid_can_start_from_named_configurations() {
    let scenario = load_text(
        r#"{
          "name": "n",
          "components": { "a": { "model": "orchagent" }, "b": { "model": "orchagent" } },
          "configurations": [
            { "name": "x", "set": { "a.pop_batch_size": 7 } },
            { "name": "y", "set": { "a.pop_batch_size": 8 } }
          ],
          "sweep": { "b.pop_batch_size": "1..4:log2" },
          "sweep_from": ["x", "y"]
        }"#,
    );
    assert_eq!(
        names(&scenario),
        [
            "x",
            "y",
            "x, b.pop_batch_size=1",
            "x, b.pop_batch_size=2",
            "x, b.pop_batch_size=4",
            "y, b.pop_batch_size=1",
            "y, b.pop_batch_size=2",
            "y, b.pop_batch_size=4"
        ]
    );
    assert_eq!(batches(&scenario), [7, 8, 7, 7, 7, 8, 8, 8]);
}

#[test]
fn set_wins_over_configurations_and_ends_a_sweep_of_the_same_path() {
    let options = LoadOptions {
        set: strings(&["o.pop_batch_size=9", "run.seed=77", "run.horizon=5 s"]),
        ..LoadOptions::default()
    };
    let scenario = load_with(CONFIGURED, &options);
    assert_eq!(names(&scenario), ["large", "small", "plain"]);
    assert_eq!(batches(&scenario), [9, 9, 9]);
    assert_eq!(scenario.run.seed, 77);
    assert_eq!(scenario.run.horizon, SimDuration::from_whole_seconds(5));
    assert_eq!(scenario.expectations.len(), 1);
    assert_eq!(scenario.warnings.len(), 3, "{:?}", scenario.warnings);
    assert!(scenario.warnings[0].contains("--set fixes it"));
    assert!(scenario.warnings[1].contains("the command line removed it"));
    assert!(scenario.warnings[2].contains("made for the file as it is, without --set"));
    assert_eq!(scenario.resolved["run"]["seed"], 77);
}

#[test]
fn vary_replaces_the_axis_of_its_path_and_keeps_the_others() {
    let text = r#"{
      "name": "n",
      "components": { "a": { "model": "orchagent" }, "b": { "model": "orchagent" } },
      "sweep": { "a.pop_batch_size": [1, 2], "b.pop_batch_size": [3, 4] }
    }"#;
    let options =
        LoadOptions { vary: strings(&["a.pop_batch_size=10..30:linear:3"]), ..Default::default() };
    let scenario = load_with(text, &options);
    assert_eq!(batches(&scenario)[1..], [10, 10, 20, 20, 30, 30]);
    assert_eq!(names(&scenario)[1], "a.pop_batch_size=10, b.pop_batch_size=3");
}

#[test]
fn choosing_a_configuration_drops_the_sweep_unless_one_is_asked_for() {
    let chosen = LoadOptions { configurations: strings(&["small"]), ..Default::default() };
    assert_eq!(names(&load_with(CONFIGURED, &chosen)), ["small"]);
    let varied = LoadOptions { vary: strings(&["o.pop_batch_size=5,6"]), ..chosen };
    let scenario = load_with(CONFIGURED, &varied);
    assert_eq!(
        names(&scenario),
        ["small", "small, o.pop_batch_size=5", "small, o.pop_batch_size=6"]
    );
    assert_eq!(batches(&scenario), [128, 5, 6]);
    assert!(scenario.expectations.is_empty());
}

#[test]
fn the_resolved_scenario_means_the_same_without_the_command_line() {
    let options = LoadOptions {
        set: strings(&["run.seed=3"]),
        vary: strings(&["o.pop_batch_size=5,6"]),
        configurations: strings(&["small", "large"]),
        ..LoadOptions::default()
    };
    let scenario = load_with(CONFIGURED, &options);
    let mut resolved = scenario.resolved.clone();
    // What the command line removed is a warning with it, and an error without it.
    resolved.as_object_mut().unwrap().remove("expect");
    let again = load_text(&resolved.to_string());
    assert_eq!(names(&again), names(&scenario));
    let ids = |scenario: &Scenario| scenario.points.iter().map(|p| p.id).collect::<Vec<_>>();
    assert_eq!(ids(&again), ids(&scenario));
    assert_eq!(again.run, scenario.run);
}

#[test]
fn a_file_inherits_what_it_does_not_say() {
    let folder = Folder::new();
    std::fs::create_dir(folder.0.path().join("deep")).unwrap();
    folder.write(
        "base.json",
        r#"{
          "name": "base", "description": "from base", "sources": ["one", "two"],
          "components": { "o": { "model": "orchagent", "pop_batch_size": 5 } },
          "run": { "seed": 4, "replications": 7 },
          "sweep": { "o.pop_batch_size": [1] }
        }"#,
    );
    let middle = r#"{ "extends": "../base.json", "run": { "seed": 5 }, "sources": ["three"] }"#;
    folder.write("deep/middle.json", middle);
    let path = folder.write(
        "child.json",
        r#"{ "extends": "deep/middle.json", "name": "child", "sweep": null,
             "configurations": [{ "name": "c", "set": { "o.pop_batch_size": 6 } }] }"#,
    );
    let scenario = load(&path, &LoadOptions::default()).unwrap();
    assert_eq!(scenario.name, "child");
    assert_eq!(scenario.description, "from base");
    assert_eq!(scenario.sources, ["three"]);
    assert_eq!((scenario.run.seed, scenario.run.replications), (5, 7));
    assert_eq!(names(&scenario), ["c"]);
    assert_eq!(batches(&scenario), [6]);
    assert!(scenario.resolved.get("extends").is_none());
    let names = scenario.files.iter().map(|file| file.file_name().unwrap().to_string_lossy());
    assert_eq!(names.collect::<Vec<_>>(), ["child.json", "middle.json", "base.json"]);
}

#[test]
fn a_point_is_named_by_what_it_means_and_not_by_how_it_is_written() {
    let id = |text: &str| load_text(text).points[0].id;
    let plain = id(r#"{ "name": "a", "components": { "o": { "model": "orchagent" } } }"#);
    let default = {
        let scenario =
            load_text(r#"{ "name": "a", "components": { "o": { "model": "orchagent" } } }"#);
        batches(&scenario)[0]
    };
    // A default that is written down, another name of the scenario, of the configuration.
    let written = format!(
        r#"{{ "components": {{ "o": {{ "pop_batch_size": {default}.0, "model": "orchagent" }} }}, "name": "b",
             "configurations": [{{ "name": "x" }}], "run": {{ "seed": 9 }} }}"#
    );
    assert_eq!(id(&written), plain);
    // Another value, another component's name, another component.
    for other in [
        r#"{ "name": "a", "components": { "o": { "model": "orchagent", "pop_batch_size": 3 } } }"#,
        r#"{ "name": "a", "components": { "p": { "model": "orchagent" } } }"#,
        r#"{ "name": "a", "components": { "o": { "model": "orchagent" }, "p": { "model": "orchagent" } } }"#,
    ] {
        assert_ne!(id(other), plain, "{other}");
    }
}

#[test]
fn expectations_become_bounds_in_the_metrics_unit() {
    let scenario = load_text(
        r#"{
          "name": "n",
          "components": { "o": { "model": "orchagent" } },
          "configurations": [{ "name": "a" }, { "name": "b" }],
          "expect": [
            { "configuration": "a", "metric": "convergence_time", "statistic": "p95", "between": ["500 ms", "2 s"], "source": "s" },
            { "configuration": "a", "metric": "convergence_time", "equals": "10 s", "within": "5 %" },
            { "configuration": "a", "metric": "convergence_time", "equals": "10 s", "within": "1 s" },
            { "configuration": "a", "metric": "convergence_time", "ratio_to": "b", "at_least": 2, "at_most": 10 },
            { "configuration": "a", "metric": "convergence_time", "difference_to": "b", "at_least": "-3 s" },
            { "configuration": "a", "statistic": "not_converged", "at_most": "1 %" },
            { "configuration": "a", "metric": "route_rate", "difference_to": "b", "between": ["-110/s", "0/s"] }
          ]
        }"#,
    );
    let expect = &scenario.expectations;
    let bounds: Vec<_> = expect.iter().map(|e| (e.at_least, e.at_most)).collect();
    assert_eq!(
        bounds,
        [
            (Some(0.5), Some(2.0)),
            (Some(9.5), Some(10.5)),
            (Some(9.0), Some(11.0)),
            (Some(2.0), Some(10.0)),
            (Some(-3.0), None),
            (None, Some(0.01)),
            (Some(-110.0), Some(0.0))
        ]
    );
    assert_eq!(expect[0].statistic, Statistic::P95);
    assert_eq!(expect[0].source, "s");
    assert_eq!(expect[1].statistic, Statistic::Mean);
    assert_eq!(expect[3].relative_to, Some(RelativeTo::Ratio("b".to_owned())));
    assert_eq!(expect[4].relative_to, Some(RelativeTo::Difference("b".to_owned())));
    assert_eq!(expect[5].statistic, Statistic::NotConverged);
}

#[test]
fn recordings_become_sorted_figures_in_the_metrics_unit() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x.csv"), "at,ms\n1,40\n2, 0.25\n").unwrap();
    let path = folder.path().join("s.json");
    let text = r#"{
      "name": "n",
      "components": { "o": { "model": "orchagent" } },
      "configurations": [{ "name": "a" }, { "name": "b" }],
      "recorded": [
        { "configuration": "a", "metric": "convergence_time", "values": ["2 s", "500 ms"], "source": "lab" },
        { "configuration": "a", "metric": "convergence_time", "unit": "ms", "values": [3, "1 s"], "source": "lab" },
        { "configuration": "a", "metric": "route_rate", "unit": "/s", "values": [1500, 0.0], "source": "lab" },
        { "configuration": "b", "metric": "convergence_time", "file": "x.csv", "column": "ms", "unit": "ms", "source": "lab" }
      ]
    }"#;
    std::fs::write(&path, text).unwrap();
    let scenario = load(&path, &LoadOptions::default()).unwrap();
    let values: Vec<&[f64]> = scenario.recorded.iter().map(|r| &r.values[..]).collect();
    assert_eq!(values, [&[0.5, 2.0][..], &[0.003, 1.0], &[0.0, 1500.0], &[0.000_25, 0.04]]);
    assert_eq!(scenario.recorded[3].source, "lab");
    assert!(scenario.files.iter().any(|file| file.ends_with("x.csv")));
    // What the command line removes is not asked for.
    let only = LoadOptions { configurations: vec!["a".to_owned()], ..LoadOptions::default() };
    assert_eq!(load(&path, &only).unwrap().recorded.len(), 3);
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_accepted() {
    let text = CONFIGURED.replace('\n', "\r\n");
    assert_eq!(load_text(&format!("\u{feff}{text}")).points.len(), 5);
}

/// What comes again and again at an interval of nanoseconds would never end.
#[test]
fn an_interval_that_comes_again_for_ever_has_a_least_length() {
    for (model, key, least) in [
        ("orchagent", "ring.poll_interval", "1 ms"),
        ("http_pool", "server.watchdog_interval", "1 ms"),
        ("http_pool", "host.switch_interval", "1 us"),
        ("l3_agent", "liveness.report_interval", "1 ms"),
        ("l3_agent", "agent.sync_check_interval", "1 ms"),
        ("l3_agent", "agent.rpc_timeout", "1 ms"),
    ] {
        let text =
            format!(r#"{{ "name": "s", "components": {{ "c": {{ "model": "{model}" }} }} }}"#);
        let set = |value: &str| LoadOptions {
            set: vec![format!("c.{key}={value}")],
            ..LoadOptions::default()
        };
        load_with(&text, &set(least));
        let folder = Folder::new();
        let path = folder.write("scenario.json", &text);
        let error = load(&path, &set("1 ns")).unwrap_err();
        let told = format!("{:?}", miette::Report::new(*error));
        assert!(told.contains(&format!("shorter than {least}")), "{key}: {told}");
    }
}

#[test]
fn a_point_of_a_large_grid_is_what_it_is_alone() {
    let vary = |values: &str| LoadOptions {
        vary: vec![format!("o.pop_batch_size={values}")],
        ..LoadOptions::default()
    };
    let grid = load_with(CONFIGURED, &vary("1..3000"));
    assert_eq!(grid.points.len(), 3003);
    let alone = load_with(CONFIGURED, &vary("1,40,1500,3000"));
    let mut found = 0;
    for point in &alone.points {
        let same = |other: &&convsim::scenario::Point| other.configuration == point.configuration;
        let other = grid.points.iter().find(same).unwrap();
        assert_eq!(format!("{other:?}"), format!("{point:?}"));
        found += 1;
    }
    assert_eq!(found, 7);
}

#[test]
fn what_is_wrong_with_one_point_of_a_large_grid_is_all_that_is_wrong() {
    let folder = Folder::new();
    let text = r#"{ "name": "n", "components": {
        "o": { "model": "orchagent", "topology": { "paths": 64 } }
    } }"#;
    let path = folder.write("scenario.json", text);
    let wrong = |vary: &str| {
        let options = LoadOptions { vary: strings(&[vary]), ..LoadOptions::default() };
        let error = load(&path, &options).unwrap_err();
        error.problems().iter().map(|problem| problem.message()).collect::<Vec<_>>()
    };
    let [schema] = &wrong("o.pop_batch_size=0..2000")[..] else { panic!("one") };
    assert!(schema.contains("o.pop_batch_size") && schema.contains('0'), "{schema}");
    let [relation] = &wrong("o.flap.count=1..65")[..] else { panic!("one") };
    assert!(relation.contains("65 of 64 paths flap"), "{relation}");
}

#[test]
fn a_limit_of_points_is_for_those_that_are_run() {
    let few = LoadOptions {
        configurations: strings(&["large"]),
        max_points: 2,
        ..LoadOptions::default()
    };
    let scenario = load_with(CONFIGURED, &few);
    assert_eq!((names(&scenario), scenario.expectations.len()), (vec!["large"], 1));
    let solve = r#"{
      "name": "asking", "components": { "o": { "model": "orchagent" } },
      "solve": { "goal": "largest", "target": "convergence_time<=1 s",
                 "parameter": { "path": "o.pop_batch_size", "values": "32..4096" } }
    }"#;
    let scenario = load_with(solve, &LoadOptions { max_points: 2, ..LoadOptions::default() });
    let parameter = scenario.solve.unwrap().parameter.unwrap();
    assert_eq!(parameter, "o.pop_batch_size=32..4096");
}

/// 4 threads are the default. Who writes them down wants something of them, if only in one of
/// several configurations.
#[test]
fn a_setting_that_no_configuration_uses_is_told_to_who_has_written_it_down() {
    let warnings = |server: &str, presets: &str, other: &str| {
        let text = format!(
            r#"{{
              "name": "n",
              "components": {{ "http": {{ "model": "http_pool", "server": {server} }} }},
              "configurations": [{{ "name": "as it is" }}, {{ "name": "other", "set": {{ {other} }} }}],
              "sweep": {{ "http.server.preset": [{presets}] }}
            }}"#
        );
        load_text(&text).warnings
    };
    let both = r#""gunicorn_gthread", "gunicorn_sync""#;
    let neither = r#""werkzeug_single", "gunicorn_sync""#;
    let threads = r#"{ "threads": 4 }"#;
    let none = Vec::<String>::new();
    assert_eq!(warnings(r#"{ "workers": 1 }"#, neither, ""), none);
    assert_eq!(warnings(threads, both, ""), none);
    assert_eq!(warnings(threads, neither, r#""http.server.preset": "gunicorn_gthread""#), none);
    let told = warnings(threads, neither, "");
    assert_eq!(told.len(), 1, "{told:?}");
    for part in ["http.server.threads", "only a gthread worker has a pool", "more: "] {
        assert!(told[0].contains(part), "{told:?}");
    }
    let set = r#""http.server.threads": 8"#;
    // A sweep goes on from the components, not from a configuration.
    let told = warnings("{}", both, set);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("other"), "{told:?}");
}

/// A warning that comes of everything is read by nobody.
#[test]
fn no_scenario_that_comes_with_the_program_has_a_setting_without_effect() {
    for file in std::fs::read_dir("scenarios").unwrap() {
        let path = file.unwrap().path();
        let is_scenario = path.extension().is_some_and(|of| of == "json")
            && !path.ends_with("scenario.schema.json");
        if is_scenario {
            let warnings = load(&path, &LoadOptions::default()).unwrap().warnings;
            let idle: Vec<_> = warnings.iter().filter(|w| w.contains("no effect")).collect();
            assert!(idle.is_empty(), "{}: {idle:?}", path.display());
        }
    }
}
