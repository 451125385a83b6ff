use super::*;

fn three_verdicts() -> String {
    [
        expect("mean", r#""at_least": "0 s""#),
        expect("mean", r#""at_most": "1 ns""#),
        // Never enough replications to bound the 99th percentile above.
        expect("p99", r#""at_most": "1000000 s""#),
    ]
    .join(",")
}

/// A bound from above is no better for replications that were cut off before they got there.
#[test]
fn what_was_cut_off_at_the_horizon_is_not_early() {
    let expectations =
        [expect("mean", r#""at_most": "40 s""#), expect("p50", r#""at_most": "3600 s""#)];
    let place = Place::with_scenario("links", &expectations.join(","));
    let whole = stdout(&place.convsim(&["check", "links.json"]));
    assert!(whole.contains("2 held"), "{whole}");
    // Some replications end before that, the others are cut off.
    let cut = place.convsim(&["check", "links.json", "--set", "run.horizon=27 s"]);
    let text = stdout(&cut).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code(&cut), 1, "{text}");
    assert!(text.contains("undecided large: mean convergence_time"), "{text}");
    assert!(text.contains("were cut off"), "{text}");
}

/// A switch whose loss goes on, cut off before and after its links have settled.
#[test]
fn verdicts_on_what_was_cut_off_are_those_of_the_whole_or_none() {
    let place = Place::empty();
    let expect = |metric: &str, bound: &str| {
        format!(r#"{{ "configuration": "A", "metric": "{metric}", {bound}, "source": "s" }}"#)
    };
    let expectations = [
        expect("packet_loss_duration", r#""at_most": "300 ms""#),
        expect("packet_loss_duration", r#""statistic": "p95", "at_most": "500 ms""#),
        expect("convergence_time", r#""at_least": "100 s""#),
        expect("convergence_time", r#""statistic": "p50", "at_least": "100 s""#),
        expect("convergence_time", r#""at_most": "1 s""#),
        r#"{ "ordering": ["B", "A"], "metric": "convergence_time", "source": "s" }"#.to_owned(),
        r#"{ "ordering": ["A", "B"], "metric": "convergence_time", "source": "s" }"#.to_owned(),
    ];
    place.write(
        "cut.json",
        &format!(
            r#"{{ "name": "cut",
              "components": {{ "sw": {{ "model": "orchagent",
                "topology": {{ "paths": 24, "routes": 30000 }},
                "flap": {{ "count": 4, "interval": "0 s" }} }} }},
              "configurations": [{{ "name": "A" }},
                {{ "name": "B", "set": {{ "sw.pop_batch_size": 256 }} }}],
              "run": {{ "seed": 42, "replications": 40 }}, "expect": [{}] }}"#,
            expectations.join(",")
        ),
    );
    let verdicts = |horizon: &str| -> Vec<String> {
        let output =
            place.convsim(&["check", "cut.json", "--horizon", horizon, "--format", "json"]);
        assert_eq!(code(&output), 1);
        let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        let of = |item: &serde_json::Value| item["verdict"].as_str().unwrap().to_lowercase();
        json["scenarios"][0]["expectations"].as_array().unwrap().iter().map(of).collect()
    };
    let (held, missed, open) = ("held", "missed", "undecided");
    let whole = [missed, missed, missed, missed, missed, held, missed];
    assert_eq!(verdicts("600 s"), whole);
    // All links have settled by then; routes are still being programmed.
    assert_eq!(verdicts("20 s"), whole);
    // No verdict on the whole, but that it lasts longer than 1 s.
    assert_eq!(verdicts("4 s"), [open, open, open, open, missed, open, open]);
    assert_eq!(verdicts("1 s"), [open; 7]);

    let compare = |horizon: &str, threshold: &str| {
        let words = ["compare", "cut.json", "B", "A", "--horizon", horizon, "--fail-on", threshold];
        let output = place.convsim(&words);
        (code(&output), stdout(&output).split_whitespace().collect::<Vec<_>>().join(" "))
    };
    for (horizon, word) in
        [("600 s", "exceeded"), ("20 s", "exceeded"), ("4 s", "cannot be judged")]
    {
        let (code, text) = compare(horizon, "packet_loss_duration.mean:+50%");
        assert!(code == 1 && text.contains(word), "{horizon}: {text}");
    }
    let (code, text) = compare("1 s", "convergence_time.mean:+5%");
    assert!(code == 1 && text.contains("cannot be judged"), "{text}");

    let solve = |horizon: &str, target: &str| {
        let parameter = ["--parameter", "sw.pop_batch_size=64..4096:log2"];
        let words = [
            &["solve", "cut.json", "--largest", "--horizon", horizon, "--target", target],
            &parameter[..],
        ];
        stdout(&place.convsim(&words.concat()))
    };
    let target = "packet_loss_duration<=300ms";
    let whole = solve("600 s", target);
    assert!(whole.contains("is the largest: it meets the target"), "{whole}");
    let cut = solve("4 s", target);
    assert!(cut.contains("were cut off") && !cut.contains("4096, the largest"), "{cut}");
    assert!(!solve("4 s", "convergence_time>=100s").contains("meets the target, and"));
}

#[test]
fn a_figure_that_all_replications_share_is_said_to_be_no_proof() {
    let place = Place::empty();
    place.write(
        "rare.json",
        r#"{ "name": "rare",
          "components": { "web": { "model": "http_pool",
            "clients": { "arrival": "open", "rate": "20/s", "requests": 200 } } },
          "configurations": [{ "name": "web" }],
          "expect": [{ "configuration": "web", "metric": "timeout_share", "at_most": 0.01, "source": "s" }],
          "run": { "replications": 20 } }"#,
    );
    let output = place.convsim(&["check", "rare.json"]);
    let text = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code(&output), 0, "{text} {}", stderr(&output));
    assert!(text.contains("fewer than one of some 20 would not have shown"), "{text}");
}

/// P = (46 s - 45 s) / 30 s: nothing seen in 20 replications says little of it.
#[test]
fn a_rare_event_that_was_not_seen_is_not_ruled_out() {
    let place = Place::empty();
    let base = format!("{}/scenarios/l3-agent-liveness.json", env!("CARGO_MANIFEST_DIR"));
    place.write(
        "rare.json",
        &format!(
            r#"{{ "name": "rare", "extends": "{base}",
              "configurations": [{{ "name": "s46", "set": {{ "l3_agent.liveness.stall": "46 s" }} }}],
              "expect": [{{ "configuration": "s46", "metric": "seen_dead", "at_most": 0.001, "source": "s" }}],
              "run": {{ "replications": 20 }} }}"#
        ),
    );
    for seed in ["1", "2", "3", "4", "5", "6"] {
        let output = place.convsim(&["check", "rare.json", "--seed", seed]);
        assert_eq!(code(&output), 1, "seed {seed}: {}", stdout(&output));
        assert!(!stdout(&output).contains("held       s46"), "{}", stdout(&output));
    }
}

#[test]
fn expectations_that_hold_are_exit_code_0() {
    let held = expect("mean", r#""at_least": "0 s""#);
    let place = Place::with_scenario("links", &held);
    let output = place.convsim(&["check", "links.json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.ends_with("1 expectation in 1 scenario: 1 held, 0 missed\n"), "{text}");
    assert!(!place.path("outputs").exists(), "checking writes no results");
}

#[test]
fn a_miss_or_an_undecided_one_is_exit_code_1() {
    for bound in [expect("mean", r#""at_most": "1 ns""#), expect("p99", r#""at_most": "9999 s""#)] {
        let place = Place::with_scenario("links", &bound);
        let output = place.convsim(&["check", "links.json"]);
        assert_eq!(code(&output), 1, "{}", stdout(&output));
    }
}

#[test]
fn each_expectation_is_held_missed_or_undecided() {
    let place = Place::with_scenario("links", &three_verdicts());
    let output = place.convsim(&["check", "links.json"]);
    assert_eq!(code(&output), 1);
    let text = stdout(&output);
    for word in ["held ", "MISSED ", "undecided ", "links.json:"] {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
    let last = text.lines().last().unwrap();
    assert_eq!(last, "3 expectations in 1 scenario: 1 held, 1 missed, 1 undecided");
}

#[test]
fn an_undecided_expectation_gets_more_replications() {
    // The median of 3 replications has no interval; that of 6 to 12 has.
    let place = Place::with_scenario("links", &expect("p50", r#""at_least": "0 s""#));
    let output = place.convsim(&["check", "links.json", "--replications", "3"]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
}

#[test]
fn ratios_and_differences_are_judged() {
    let check = |other: &str| {
        let relative = |key: &str, bound: &str| {
            format!(
                r#"{{ "configuration": "large", "metric": "convergence_time", "{key}": "{other}",
                     {bound}, "source": "a test" }}"#
            )
        };
        let both = [
            relative("ratio_to", r#""between": [0.001, 1000]"#),
            relative("difference_to", r#""between": ["-1000 s", "1000 s"]"#),
        ];
        Place::with_scenario("links", &both.join(",")).convsim(&["check", "links.json"])
    };
    let output = check("small");
    assert_eq!(code(&output), 0, "{}{}", stdout(&output), stderr(&output));
    // What a configuration is beside itself is no question.
    let output = check("large");
    assert_eq!(code(&output), 2, "{}", stdout(&output));
    assert!(stderr(&output).contains("compared with itself"), "{}", stderr(&output));
}

#[test]
fn a_folder_means_its_scenarios_but_not_schemas() {
    let place = Place::empty();
    std::fs::create_dir(place.path("scenarios")).unwrap();
    for name in ["b", "a"] {
        place.write(&format!("scenarios/{name}.json"), &scenario(name, ""));
    }
    place.write("scenarios/scenario.schema.json", "not a scenario");
    place.write("scenarios/readme.md", "not a scenario");
    let output = place.convsim(&["check", "scenarios"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    insta::assert_snapshot!(stdout(&output));
}

#[test]
fn a_folder_without_scenarios_is_exit_code_2() {
    let place = Place::empty();
    std::fs::create_dir(place.path("empty")).unwrap();
    let output = place.convsim(&["check", "empty"]);
    assert_eq!(code(&output), 2);
    insta::assert_snapshot!(stderr(&output));
}

#[test]
fn junit_xml_says_what_became_of_each() {
    let place = Place::with_scenario("links", &three_verdicts());
    let output = place.convsim(&["check", "links.json", "--junit", "reports/convsim.xml"]);
    assert_eq!(code(&output), 1);
    let xml = place.read("reports/convsim.xml");
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites "));
    assert!(xml.contains("tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\""));
    assert_eq!(xml.matches("<testcase ").count(), 3);
    assert_eq!(xml.matches("<failure type=\"missed\"").count(), 1);
    assert_eq!(xml.matches("<failure type=\"undecided\"").count(), 1);
    assert_well_formed(&xml);
}

/// Every element that is opened is closed, in order.
fn assert_well_formed(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in xml.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').unwrap();
        assert!(!text.contains('>'), "a bare > in {text}");
        let name = tag.split(' ').next().unwrap().trim_matches('/');
        if tag.starts_with('?') || tag.ends_with('/') {
        } else if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_junit_file_that_cannot_be_written_is_found_before_simulating() {
    let place = Place::with_scenario("links", &expect("mean", r#""at_least": "0 s""#));
    place.write("taken", "");
    let arguments =
        ["check", "links.json", "--junit", "taken/x.xml", "--replications", "1000000000"];
    assert_eq!(code(&place.convsim(&arguments)), 2);
}

#[test]
fn an_order_is_tested_by_paired_differences() {
    let place = Place::with_scenario(
        "links",
        r#"{ "ordering": ["small", "large"], "metric": "packet_loss_duration", "source": "a test" },
           { "ordering": ["small", "large", "orchagent.pop_batch_size=64"],
             "metric": "packet_loss_duration", "statistic": "p50", "source": "a mistake" }"#,
    );
    let output = place.convsim(&["check", "links.json"]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    insta::assert_snapshot!(stdout(&output));
}
