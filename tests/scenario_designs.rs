//! Designs: grids, lists that advance together, sampling, conditions; and what names their points.

use std::collections::{BTreeMap, BTreeSet};

use convsim::scenario::{LoadOptions, Scenario, load};
use proptest::prelude::*;

fn try_load(rest: &str, options: &LoadOptions) -> Result<Scenario, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scenario.json");
    let text = format!(
        r#"{{
  "name": "designs",
  "components": {{
    "http": {{ "model": "http_pool", "server": {{ "preset": "gunicorn_gthread" }} }},
    "o": {{ "model": "orchagent" }}
  }},
  {rest}
}}
"#
    );
    std::fs::write(&path, text).unwrap();
    load(&path, options).map_err(|error| {
        let text = format!("{:?}", miette::Report::new(*error));
        text.replace(&folder.path().display().to_string(), "")
    })
}

fn fine(rest: &str) -> Scenario {
    try_load(rest, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn with(change: impl FnOnce(&mut LoadOptions)) -> Result<Scenario, String> {
    let mut options = LoadOptions::default();
    change(&mut options);
    try_load(r#""run": { "seed": 3 }"#, &options)
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// The swept points' names.
fn names(scenario: &Scenario) -> Vec<&str> {
    let swept = scenario.points.iter().filter(|point| !point.axes.is_empty());
    swept.map(|point| point.configuration.as_str()).collect()
}

/// The identities of the swept points.
fn ids(scenario: &Scenario) -> BTreeSet<u64> {
    let swept = scenario.points.iter().filter(|point| !point.axes.is_empty());
    swept.map(|point| point.id).collect()
}

fn numbers(scenario: &Scenario, path: &str) -> Vec<f64> {
    let swept = scenario.points.iter().filter(|point| !point.axes.is_empty());
    swept
        .map(|point| {
            let (_, value) = point.axes.iter().find(|(axis, _)| axis == path).unwrap();
            value.as_f64().unwrap_or_else(|| panic!("{value}"))
        })
        .collect()
}

#[test]
fn zipped_lists_advance_together_and_are_one_axis_of_the_grid() {
    let scenario = fine(
        r#""sweep": { "o.pop_batch_size": [8, 16] },
           "zip": [{ "http.server.workers": [1, 2, 4], "http.server.threads": "1..3" }]"#,
    );
    assert_eq!(
        names(&scenario)[..4],
        [
            "o.pop_batch_size=8, http.server.workers=1, http.server.threads=1",
            "o.pop_batch_size=8, http.server.workers=2, http.server.threads=2",
            "o.pop_batch_size=8, http.server.workers=4, http.server.threads=3",
            "o.pop_batch_size=16, http.server.workers=1, http.server.threads=1",
        ]
    );
    assert_eq!(names(&scenario).len(), 6);
    let typed = with(|options| {
        options.vary = strings(&[
            "o.pop_batch_size=8,16",
            "http.server.workers, http.server.threads=1,2,4;1..3",
        ]);
    });
    assert_eq!(ids(&typed.unwrap()), ids(&scenario));
}

#[test]
fn conditions_leave_out_points_and_count_them() {
    let sweep =
        r#""sweep": { "http.server.workers": [1, 2, 4, 8], "http.server.threads": [1, 4, 16] }"#;
    let scenario = fine(&format!(
        r#"{sweep}, "where": ["http.server.workers * http.server.threads <= 16", "o.pop_batch_size == 1024"]"#
    ));
    assert_eq!(scenario.cut_points, 4);
    assert_eq!(names(&scenario).len(), 8);
    assert!(names(&scenario).contains(&"http.server.workers=4, http.server.threads=4"));
    let typed = with(|options| {
        options.vary = strings(&["http.server.workers=1,2,4,8", "http.server.threads=1,4,16"]);
        options.conditions = strings(&["http.server.workers*http.server.threads<=16"]);
    });
    assert_eq!(ids(&typed.unwrap()), ids(&scenario));
}

#[test]
fn a_condition_reads_what_the_configuration_that_a_sweep_starts_from_sets() {
    let scenario = fine(
        r#""configurations": [
             { "name": "few", "set": { "http.server.workers": 2, "http.network.round_trip": "1 ms" } },
             { "name": "many", "set": { "http.server.workers": 8 } }
           ],
           "sweep_from": ["few", "many"],
           "sweep": { "http.server.threads": [4, 16] },
           "where": ["http.server.workers * http.server.threads <= 32",
                     "http.network.round_trip <= 1 ms"]"#,
    );
    assert_eq!(
        names(&scenario),
        [
            "few, http.server.threads=4",
            "few, http.server.threads=16",
            "many, http.server.threads=4"
        ]
    );
}

#[test]
fn sampled_points_lie_in_their_ranges_and_whole_parameters_are_whole() {
    for design in ["sobol", "latin_hypercube"] {
        let scenario = fine(&format!(
            r#""sample": {{ "design": "{design}", "points": 32, "ranges": {{
                 "o.pop_batch_size": "32..4096:log",
                 "http.server.workers": "1..8",
                 "http.host.cpu_cv": "0.1..0.3",
                 "http.network.round_trip": "100 us..10 ms:log" }} }},
               "run": {{ "seed": 5 }}"#
        ));
        assert_eq!(names(&scenario).len(), 32);
        let batches = numbers(&scenario, "o.pop_batch_size");
        assert!(batches.iter().all(|n| n.fract() == 0.0 && (32.0..=4096.0).contains(n)));
        // Half of a logarithmic range lies below its geometric middle, give or take the rounding.
        let below = batches.iter().filter(|n| **n < 362.0).count();
        assert!((15..=17).contains(&below), "{below} of {batches:?}");
        let workers = numbers(&scenario, "http.server.workers");
        for worker in 1..=8 {
            let count = workers.iter().filter(|n| **n == f64::from(worker)).count();
            assert_eq!(count, 4, "{design}: {worker} workers");
        }
        let cvs = numbers(&scenario, "http.host.cpu_cv");
        assert!(cvs.iter().all(|cv| (0.1..=0.3).contains(cv)));
    }
}

#[test]
fn sampled_points_that_round_to_the_same_are_run_once() {
    let scenario = fine(
        r#""sample": { "design": "sobol", "points": 32, "ranges": { "http.server.workers": "1..8" } }"#,
    );
    assert_eq!((names(&scenario).len(), scenario.coincident_points), (8, 24));
}

#[test]
fn a_design_from_the_command_line_is_that_of_a_file() {
    let file = fine(
        r#""run": { "seed": 3 }, "sweep": { "http.server.threads": [2, 4] },
           "sample": { "design": "sobol", "points": 16, "ranges": {
             "o.pop_batch_size": "32..4096:log", "http.host.cpu_cv": "0.1..0.3" } }"#,
    );
    let vary =
        ["http.host.cpu_cv=0.1..0.3", "o.pop_batch_size=32..4096:log", "http.server.threads=2,4"];
    let typed = with(|options| {
        options.vary = strings(&vary);
        options.design = Some("sobol:16".to_owned());
    });
    assert_eq!(ids(&typed.unwrap()), ids(&file));
    let other = with(|options| {
        options.vary = strings(&vary);
        options.design = Some("lhs:16".to_owned());
    });
    assert!(ids(&other.unwrap()).is_disjoint(&ids(&file)));
    // A file's design with more points.
    let mut options = LoadOptions { design: Some("sobol:32".to_owned()), ..Default::default() };
    options.set = strings(&["run.seed=3"]);
    let more = try_load(
        r#""sample": { "design": "sobol", "points": 16, "ranges": {
             "o.pop_batch_size": "32..4096:log", "http.host.cpu_cv": "0.1..0.3" } },
           "sweep": { "http.server.threads": [2, 4] }"#,
        &options,
    );
    assert!(ids(&more.unwrap()).is_superset(&ids(&file)));
}

#[test]
fn the_command_line_replaces_what_the_file_varies() {
    let rest = r#""zip": [{ "http.server.workers": [1, 2], "http.server.threads": [8, 4] }],
        "sample": { "design": "sobol", "points": 4, "ranges": { "o.pop_batch_size": "1..64" } }"#;
    let load = |set: &[&str], vary: &[&str], configurations: &[&str]| {
        let options = LoadOptions {
            set: strings(set),
            vary: strings(vary),
            configurations: strings(configurations),
            ..Default::default()
        };
        try_load(rest, &options).unwrap()
    };
    assert_eq!(names(&load(&[], &[], &[])).len(), 8);
    let varied = load(&[], &["o.pop_batch_size=7"], &[]);
    assert_eq!(
        names(&varied),
        [
            "o.pop_batch_size=7, http.server.workers=1, http.server.threads=8",
            "o.pop_batch_size=7, http.server.workers=2, http.server.threads=4"
        ]
    );
    let fixed = load(&["o.pop_batch_size=7", "http.server.workers=3"], &[], &[]);
    assert_eq!(names(&fixed), ["http.server.threads=8", "http.server.threads=4"]);
    assert_eq!(fixed.warnings.len(), 2, "{:?}", fixed.warnings);
    assert!(names(&load(&[], &[], &["base"])).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_order_of_axes_does_not_matter_to_the_identity_of_a_point(order in Just(vec![
        r#""o.pop_batch_size": [8, 16]"#,
        r#""http.server.workers": [1, 2, 3]"#,
        r#""http.host.cpu_cv": [0.1, 0.2]"#,
    ]).prop_shuffle(), sampled in Just(vec![
        r#""http.server.threads": "1..64:log""#,
        r#""http.network.round_trip": "100 us..10 ms:log""#,
        r#""o.flap.interval": "10 ms..4 s""#,
    ]).prop_shuffle()) {
        let all = |sweep: &[&str], ranges: &[&str]| ids(&fine(&format!(
            r#""sweep": {{ {} }}, "sample": {{ "design": "sobol", "points": 5, "ranges": {{ {} }} }}"#,
            sweep.join(", "), ranges.join(", ")
        )));
        let mut sorted = (order.clone(), sampled.clone());
        sorted.0.sort_unstable();
        sorted.1.sort_unstable();
        let one = all(&order, &sampled);
        prop_assert_eq!(one.len(), 60);
        prop_assert_eq!(one, all(&sorted.0, &sorted.1));
    }

    #[test]
    fn more_values_or_points_keep_the_identities_of_those_there(
        values in prop::collection::btree_set(1_u32..500, 2..8), points in 1_u64..40, more in 1_u64..40
    ) {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        let all = |values: &[String], points: u64| {
            let scenario = fine(&format!(
                r#""sweep": {{ "o.pop_batch_size": [{}] }}, "sample": {{ "design": "sobol",
                   "points": {points}, "ranges": {{ "http.host.cpu_cv": "0.1..0.3" }} }}"#,
                values.join(", ")
            ));
            let swept = scenario.points.iter().filter(|point| !point.axes.is_empty());
            swept.map(|point| (point.configuration.clone(), point.id)).collect::<BTreeMap<_, _>>()
        };
        let before = all(&values[1..], points);
        let after = all(&values, points + more);
        prop_assert!(before.iter().all(|(name, id)| after.get(name) == Some(id)));
    }

    #[test]
    fn a_point_is_the_same_whether_it_is_listed_zipped_or_named(workers in 1_u32..50, threads in 1_u32..50) {
        let listed = fine(&format!(
            r#""sweep": {{ "http.server.workers": [{workers}], "http.server.threads": [{threads}] }}"#
        ));
        let zipped = fine(&format!(
            r#""zip": [{{ "http.server.threads": [{threads}], "http.server.workers": [{workers}] }}]"#
        ));
        let named = fine(&format!(
            r#""configurations": [{{ "name": "it", "set": {{
                "http.server.threads": {threads}, "http.server.workers": {workers} }} }}]"#
        ));
        prop_assert_eq!(ids(&listed), ids(&zipped));
        prop_assert!(ids(&listed).contains(&named.points[0].id));
    }
}

#[test]
fn designs_that_cannot_be_say_why() {
    let error = |rest: &str| try_load(rest, &LoadOptions::default()).unwrap_err();
    let shown = [
        error(r#""zip": [{ "http.server.workers": [1, 2, 4], "http.server.threads": [8, 4] }]"#),
        error(r#""zip": [{ "http.server.workers": [1, 2, 1], "http.server.threads": [8, 4, 8] }]"#),
        error(
            r#""sweep": { "o.pop_batch_size": [8, 16] }, "zip": [{ "o.pop_batch_size": [1, 2] }]"#,
        ),
        error(r#""zip": [{}], "sample": { "design": "halton", "points": 0, "ranges": {} }"#),
        error(
            r#""sample": { "design": "sobol", "points": 8, "ranges": {
                 "o.pop_batch_size": "32..4096:log2", "http.server.workers": "1.5..3",
                 "http.host.cpu_cv": "0..0.3:log", "http.network.round_trip": "1 ms..1/s",
                 "o.pop_batch_siz": "1..2" } }"#,
        ),
        error(
            r#""sweep": { "http.server.threads": [2, 4] },
               "where": ["http.server.threads <= 4 ms", "http.server.worker * 2 < 4", "htp.x < 3",
                         "http.server.backlog > 3", "http.server.preset == 2", "http.server.threads",
                         "o.teamd.reaction < 3 s", "threads < 3"]"#,
        ),
        error(
            r#""sweep": { "http.server.threads": [2, 4] }, "where": ["http.server.threads > 4"]"#,
        ),
    ];
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn command_lines_that_give_no_design_say_why() {
    let error = |vary: &[&str], design: Option<&str>, conditions: &[&str]| {
        with(|options| {
            options.vary = strings(vary);
            options.design = design.map(str::to_owned);
            options.conditions = strings(conditions);
        })
        .unwrap_err()
    };
    let shown = [
        error(&["http.server.workers,http.server.threads=1,2"], None, &[]),
        error(&["http.server.workers,http.server.threads=1,2;3"], None, &[]),
        error(&["http.server.workers,http.serve.threads=1,2;3,4"], None, &[]),
        error(&["http.server.workers,http.server.workers=1,2;3,4"], None, &[]),
        error(&["http.server.workers=1..4"], Some("halton:8"), &[]),
        error(&["http.server.workers=1..4"], Some("sobol"), &[]),
        error(&["http.server.workers=1..4"], Some("sobol:70000"), &[]),
        error(&["http.server.workers=1,2"], Some("sobol:8"), &[]),
        error(&["http.server.workers=1,2"], None, &["http.server.workers < 2 s"]),
    ];
    insta::assert_snapshot!(shown.join("\n"));
}
