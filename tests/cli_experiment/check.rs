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
    assert!(text.contains("MISSED large: mean convergence_time"), "{text}");
    assert!(text.contains("never: it had not come about when"), "{text}");
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
