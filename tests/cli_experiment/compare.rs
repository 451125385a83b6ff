use super::*;

#[test]
fn two_configurations_are_compared_pair_by_pair() {
    let place = Place::with_scenario("links", "");
    let output = place.convsim(&["compare", "links.json", "large", "small"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("links: A is large, B is small\n10 pairs of replications"), "{text}");
    assert!(text.contains("convergence_time"), "{text}");
}

#[test]
fn a_configuration_does_not_differ_from_itself() {
    let place = Place::with_scenario("links", "");
    let output =
        place.convsim(&["compare", "links.json", "large", "large", "--format", "markdown"]);
    let text = stdout(&output);
    let rows: Vec<&str> =
        text.lines().filter(|line| line.starts_with("| convergence_time")).collect();
    assert_eq!(rows.len(), 1, "{text}");
    assert!(rows[0].ends_with("| 0<br>±0 | 1<br>±0 | 1.000 |"), "{text}");
}

#[test]
fn a_threshold_that_is_exceeded_is_exit_code_1() {
    let place = Place::with_scenario("links", "");
    let compare = |first: &str, second: &str, threshold: &str| {
        place.convsim(&["compare", "links.json", first, second, "--fail-on", threshold])
    };
    let output = compare("small", "large", "convergence_time.mean:+5%");
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    assert!(stdout(&output).contains("exceeded: convergence_time.mean:+5%"));
    assert_eq!(code(&compare("large", "small", "convergence_time.mean:+5%")), 0);
    assert_eq!(code(&compare("large", "small", "convergence_time.max:-5%")), 1);
    assert_eq!(code(&compare("large", "large", "convergence_time.mean:+0%")), 0);
    // Ten replications bound no p99.
    let output = compare("large", "large", "convergence_time.p99:+5%");
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).contains("undecided: convergence_time.p99:+5%"), "{}", stdout(&output));
}

/// A figure that is 0 has no ratio to it, and one that never comes about has none at all.
#[test]
fn a_threshold_sees_what_was_0_and_what_never_came_about() {
    let place = Place::empty();
    place.write(
        "burst.json",
        r#"{
          "name": "burst",
          "components": { "web": { "model": "http_pool",
            "clients": { "arrival": "burst", "requests": 20 },
            "server": { "preset": "werkzeug_single", "overhead": "none" },
            "handler": { "wait": "100 ms" } } },
          "configurations": [
            { "name": "patient" },
            { "name": "impatient", "set": { "web.clients.timeout": "1 s" } },
            { "name": "slow", "set": { "web.handler.wait": "1 s" } }
          ],
          "run": { "replications": 20, "horizon": "10 s" }
        }"#,
    );
    let compare = |second: &str, threshold: &str| {
        let output =
            place.convsim(&["compare", "burst.json", "patient", second, "--fail-on", threshold]);
        (code(&output), stdout(&output).split_whitespace().collect::<Vec<_>>().join(" "))
    };
    for statistic in ["mean", "p50", "max"] {
        let (code, text) = compare("impatient", &format!("timeout_share.{statistic}:+5%"));
        assert!(code == 1 && text.contains("it was 0, and is not"), "{statistic}: {text}");
        let (code, text) = compare("slow", &format!("convergence_time.{statistic}:+5%"));
        // It takes 20 s, of which the horizon leaves 10, where the first takes 2.
        let longer = "it rose by at least 400.0 %: 20 replications of B were cut off";
        assert!(code == 1 && text.contains(longer), "{statistic}: {text}");
    }
    assert_eq!(compare("impatient", "timeout_share.mean:-5%").0, 0);
    assert_eq!(compare("patient", "timeout_share.mean:+5%").0, 0);
}

#[test]
fn extremes_of_other_replications_are_no_threshold() {
    let place = Place::with_scenario("links", "");
    for (folder, seed) in [("one", "1"), ("two", "2")] {
        let words = ["run", "links.json", "--no-plots", "--seed", seed, "--output", folder];
        assert_eq!(code(&place.convsim(&words)), 0);
    }
    let compare = |second: &str| {
        let (one, fail_on) = ("one/links", "convergence_time.max:+1%");
        place.convsim(&["compare", one, second, "--configuration", "large", "--fail-on", fail_on])
    };
    let refused = compare("two/links");
    assert_eq!(code(&refused), 2);
    assert!(stderr(&refused).contains("nothing in common"), "{}", stderr(&refused));
    assert_eq!(code(&compare("one/links")), 0);
}

#[test]
fn what_is_not_there_is_exit_code_2_and_says_what_is() {
    let place = Place::with_scenario("links", "");
    let compare = |arguments: &[&str]| {
        let mut all = vec!["compare", "links.json"];
        all.extend(arguments);
        let output = place.convsim(&all);
        assert_eq!(code(&output), 2, "{arguments:?}");
        stderr(&output)
    };
    assert!(compare(&["large", "tiny"]).contains("\"large\", \"small\""));
    assert!(
        compare(&["large", "small", "--fail-on", "speed.mean:+5%"]).contains("convergence_time")
    );
    for threshold in ["convergence_time", "convergence_time.mean:5%", "convergence_time.p98:+5%"] {
        assert!(compare(&["large", "small", "--fail-on", threshold]).contains("no threshold"));
    }
    let never = compare(&["large", "small", "--fail-on", "convergence_time.mean:-150%"]);
    assert!(never.contains("can never be exceeded"), "{never}");
}

#[test]
fn two_scenarios_with_one_seed_are_compared_pair_by_pair_and_with_two_seeds_by_welch() {
    let place = Place::with_scenario("links", "");
    place.write(
        "slow.json",
        r#"{ "extends": "links.json", "name": "slow",
        "components": { "orchagent": { "costs": { "sai_set_route": "2 ms" } } } }"#,
    );
    let arguments = ["compare", "links.json", "slow.json", "--configuration", "large"];
    let paired = place.convsim(&arguments);
    assert_eq!(code(&paired), 0, "{}", stderr(&paired));
    insta::assert_snapshot!("compare_files", stdout(&paired));
    let threshold = ["--fail-on", "packet_loss_duration.mean:+5%"];
    let output = place.convsim(&[&arguments[..], &threshold[..]].concat());
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).contains("packet_loss_duration.mean:+5% (large): it changed by +"));

    place.write("other.json", r#"{ "extends": "slow.json", "run": { "seed": 8 } }"#);
    let output = place.convsim(&["compare", "links.json", "other.json"]);
    let text = stdout(&output);
    assert!(text.contains("10 replications of each, independent (Welch)"), "{text}");
    assert!(text.contains("\nsmall\n") && text.contains("\norchagent.pop_batch_size=64\n"));
    let json = place.convsim(&[&arguments[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&stdout(&json)).unwrap();
    assert_eq!(json["paired"], true);
    assert_eq!(json["comparisons"][0]["configuration"], "large");
}

#[test]
fn stored_results_are_compared_without_running_again() {
    let place = Place::with_scenario("links", "");
    let run = |set: &str, output: &str| {
        let output =
            place.convsim(&["run", "links.json", "--set", set, "--output", output, "--no-plots"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    };
    run("orchagent.flap.count=14", "before");
    run("orchagent.flap.count=10", "after");
    let folders = ["compare", "before/links", "after/links"];
    let output = place.convsim(&folders);
    let text = stdout(&output);
    assert!(text.contains("10 pairs of replications"), "{text}{}", stderr(&output));
    let threshold = "notification_wait.p99.mean:-5%";
    for option in ["--replications=5", "--seed=9", "--horizon=2 s", "--set=links.x=1"] {
        let refused = place.convsim(&[&folders[..], &[option]].concat());
        assert_eq!(code(&refused), 2, "{option}");
        let told = stderr(&refused);
        assert!(told.contains("changes nothing: stored results are compared"), "{told}");
        assert!(told.contains(option.split('=').next().unwrap()), "{told}");
    }
    let output = place.convsim(&[&folders[..], &["--fail-on", threshold]].concat());
    assert_eq!(code(&output), 1, "{}{}", stdout(&output), stderr(&output));
    run("run.seed=9", "reseeded");
    let text = stdout(&place.convsim(&["compare", "before/links", "reseeded/links"]));
    assert!(text.contains("independent (Welch)"), "{text}");
}

#[test]
fn sides_with_nothing_in_common_say_what_they_have() {
    let place = Place::with_scenario("links", "");
    let name = "{ \"extends\": \"links.json\", \"name\": \"o\", \"sweep\": null, \
                \"configurations\": [{ \"name\": \"tiny\" }] }";
    place.write("other.json", name);
    let compare = |arguments: &[&str]| {
        let output = place.convsim(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        stderr(&output)
    };
    assert!(compare(&["compare", "links.json", "other.json"]).contains("B has \"tiny\""));
    assert!(compare(&["compare", "links.json", "none.json"]).contains("compare FILE FILE"));
}

/// What was cut off bounds what it is compared with, in tables and thresholds, whether the figures are
/// simulated or stored.
#[test]
fn what_was_cut_off_is_compared_by_bounds() {
    let place = Place::with_scenario("links", "");
    let json = |arguments: &[&str]| -> serde_json::Value {
        let output = place.convsim(&[arguments, &["--format", "json"]].concat());
        serde_json::from_str(&stdout(&output)).unwrap()
    };
    let compare = ["compare", "links.json", "large", "small"];
    let thresholds = ["--fail-on", "convergence_time.mean:-5%"];
    let whole = json(&[&compare[..], &thresholds].concat());
    let mean = |all: &serde_json::Value, side: &str| {
        all["comparisons"][0]["metrics"][0][side]["value"].as_f64().unwrap()
    };
    let (large, small) = (mean(&whole, "a"), mean(&whole, "b"));
    assert!(small < large);
    // Between the two: only the slower one is cut off.
    let horizon = format!("{} s", (large + small) / 2.0 + 1.0);
    let options = ["--horizon", &horizon];
    let cut = json(&[&compare[..], &options, &thresholds].concat());
    let metric = &cut["comparisons"][0]["metrics"][0];
    assert!(metric["cut"][0].as_u64() > Some(0) && metric["cut"][1] == 0, "{metric}");
    assert_eq!(metric["a"]["sense"], "at_least");
    assert_eq!(metric["difference"]["sense"], "at_most");
    assert!(mean(&cut, "difference") >= mean(&whole, "difference"));
    assert!(metric["p_value"].is_null());
    let why = cut["exceeded"][0]["why"].as_str().unwrap();
    assert!(why.starts_with("it fell by at least"), "{why}");

    let run = |set: &str, folder: &str| {
        let words = ["run", "links.json", "--no-plots", "--set", set, "--output", folder];
        assert_eq!(code(&place.convsim(&[&words[..], &options].concat())), 0);
    };
    run("run.seed=7", "before");
    run("run.seed=7", "after");
    let stored = json(&["compare", "before/links", "after/links", "--configuration", "large"]);
    let stored = &stored["comparisons"][0]["metrics"][0];
    assert_eq!(stored["cut"], serde_json::json!([10, 10]));
    assert_eq!(stored["a"], metric["a"]);
    assert!(stored["difference"]["value"].is_null());
}
