use super::*;

/// A scenario in which a larger batch makes notifications wait longer.
fn place() -> Place {
    Place::with_scenario("links", "")
}

const ARGUMENTS: [&str; 6] = [
    "solve",
    "links.json",
    "--target",
    "convergence_time.p50<=20s",
    "--parameter",
    "orchagent.pop_batch_size=32..2048:log2",
];

fn solve(place: &Place, more: &[&str]) -> Output {
    let arguments: Vec<&str> = ARGUMENTS.iter().chain(more).copied().collect();
    place.convsim(&arguments)
}

#[test]
fn the_report_says_what_was_found_what_was_run_and_how_sure_it_is() {
    let place = place();
    let output = solve(&place, &["--largest", "--target", "packet_loss_duration.p50<=1.1s"]);
    // A target is given once.
    assert_eq!(code(&output), 2);
    let mut arguments = ARGUMENTS.to_vec();
    arguments[3] = "packet_loss_duration.p50<=1.1s";
    arguments.extend(["--largest", "--replications", "40..320"]);
    let output = place.convsim(&arguments);
    assert_eq!(code(&output), 0, "{}{}", stdout(&output), stderr(&output));
    insta::assert_snapshot!("solve_largest", stdout(&output));
    arguments.extend(["--format", "markdown"]);
    insta::assert_snapshot!("solve_largest_markdown", stdout(&place.convsim(&arguments)));
    arguments.extend(["--threads", "1"]);
    let last = arguments.len() - 3;
    arguments[last] = "json";
    let json = stdout(&place.convsim(&arguments));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!(json["searches"][0]["points"].as_array().map(Vec::len), Some(6));
}

#[test]
fn a_frontier_has_an_answer_for_each_value() {
    let place = place();
    let along = "orchagent.flap.count=2,6";
    let mut arguments = ARGUMENTS.to_vec();
    arguments[3] = "packet_loss_duration<=1.1s";
    arguments.extend(["--largest", "--replications", "40..320", "--along", along]);
    let output = place.convsim(&arguments);
    insta::assert_snapshot!("solve_frontier", stdout(&output));
}

#[test]
fn no_answer_is_exit_code_1() {
    let place = place();
    let mut arguments = ARGUMENTS.to_vec();
    arguments[3] = "packet_loss_duration<=1ms";
    arguments.push("--largest");
    let output = place.convsim(&arguments);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(stdout(&output).contains("No value meets the target."), "{}", stdout(&output));
}

#[test]
fn the_best_configuration_is_chosen_with_a_guarantee() {
    let place = place();
    let arguments =
        ["solve", "links.json", "--minimise", "packet_loss_duration", "--indifference", "50 ms"];
    let output = place.convsim(&arguments);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    insta::assert_snapshot!("solve_best", stdout(&output));
    let mut more = arguments.to_vec();
    more[5] = "1 ns";
    more.extend(["--parameter", "orchagent.pop_batch_size=127,128", "--replications", "10..20"]);
    let output = place.convsim(&more);
    assert_eq!(code(&output), 1, "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("No choice: 20 replications"), "{}", stdout(&output));
}

#[test]
fn what_cannot_be_asked_says_what_can() {
    let place = place();
    let wrong = |more: &[&str]| {
        let mut arguments = vec!["solve", "links.json"];
        arguments.extend(more);
        let output = place.convsim(&arguments);
        assert_eq!(code(&output), 2, "{more:?}");
        stderr(&output)
    };
    let parameter = ["--parameter", "orchagent.pop_batch_size=1..4"];
    let with = |target: &str| wrong(&["--largest", parameter[0], parameter[1], "--target", target]);
    let texts = [
        with("packet_loss_duration.p99"),
        with("speed<=2s"),
        with("packet_loss_duration<=2"),
        wrong(&["--largest", "--parameter", "orchagent.era=a,b1", "--target", "not_converged<=1%"]),
        wrong(&["--minimise", "packet_loss_duration.p99", "--indifference", "1 s"]),
        wrong(&["--minimise", "packet_loss_duration", "--indifference", "0 s"]),
        wrong(&[
            "--largest",
            "--parameter",
            "orchagent.pop_batch=1..4",
            "--target",
            "not_converged<=1%",
        ]),
    ];
    insta::assert_snapshot!("solve_problems", texts.join("\n"));
}

#[test]
fn replications_that_are_no_pairs_are_refused() {
    let place = place();
    for setting in ["run.antithetic=true", "run.seeding=independent"] {
        let mut arguments = ARGUMENTS.to_vec();
        arguments.extend(["--largest", "--set", setting]);
        let output = place.convsim(&arguments);
        assert_eq!(code(&output), 2, "{setting}: {}", stdout(&output));
        assert!(stderr(&output).contains("replication by replication"), "{}", stderr(&output));
    }
}
