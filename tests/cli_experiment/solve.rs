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
        wrong(&[
            "--largest",
            "--parameter",
            "orchagent.pop_batch_size=1..999999",
            "--along",
            "orchagent.flap.count=3..1",
            "--target",
            "not_converged<=1%",
        ]),
        wrong(&[
            "--minimise",
            "packet_loss_duration",
            "--indifference",
            "1 s",
            "--configuration",
            "large",
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

/// A scenario that asks a question of its own, with what is in `more` beside it.
fn asking(block: &str) -> Place {
    let place = Place::empty();
    let text = super::scenario("links", "");
    let text = text.replacen("\"run\":", &format!("{block},\n  \"run\":"), 1);
    place.write("links.json", &text);
    place
}

const QUESTION: &str = r#""solve": {
    "goal": "largest",
    "parameter": { "path": "orchagent.pop_batch_size", "values": "32..2048:log2" },
    "target": "packet_loss_duration.p50 <= 1.1 s",
    "replications": 40,
    "max_replications": 320
  }"#;

#[test]
fn a_file_asks_a_question_and_the_command_line_changes_it() {
    let place = asking(QUESTION);
    let told = |more: &[&str]| {
        let output = place.convsim(&[&["solve", "links.json"], more].concat());
        assert_eq!(code(&output), 0, "{}{}", stdout(&output), stderr(&output));
        stdout(&output)
    };
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let asked = told(&[]);
    let mut arguments = ARGUMENTS.to_vec();
    arguments[3] = "packet_loss_duration.p50<=1.1s";
    arguments.extend(["--largest", "--replications", "40..320"]);
    let plain = Place::with_scenario("links", "");
    assert_eq!(asked, stdout(&plain.convsim(&arguments)));

    let other = words(told(&["--target", "packet_loss_duration.p50<=5s"]));
    assert!(other.contains("p50 of packet_loss_duration at most 5 s"), "{other}");
    assert!(other.contains("256"), "{other}");
    let smallest = ["--smallest", "--parameter", "orchagent.pop_batch_size=32,64"];
    let smallest = words(told(&smallest));
    assert!(smallest.contains("32, the smallest of the values, meets"), "{smallest}");
    // Another kind of question takes nothing from the file.
    let best = told(&["--minimise", "packet_loss_duration", "--indifference", "50 ms"]);
    assert!(best.contains("small is the best"), "{best}");

    let plan = stdout(&place.convsim(&["plan", "links.json"]));
    insta::assert_snapshot!("plan_with_a_question", plan);
}

#[test]
fn what_is_neither_asked_by_the_command_line_nor_by_the_file_is_missed() {
    let place = place();
    let told = |more: &[&str]| {
        let output = place.convsim(&[&["solve", "links.json"], more].concat());
        assert_eq!(code(&output), 2, "{more:?}");
        stderr(&output)
    };
    let texts = [told(&[]), told(&["--largest"]), told(&["--minimise", "packet_loss_duration"])];
    insta::assert_snapshot!("solve_nothing_asked", texts.join("\n"));
}

#[test]
fn every_mistake_in_a_question_is_reported_at_once_with_its_place() {
    let place = asking(
        r#""solve": {
    "goal": "largest",
    "parameter": { "path": "orchagent.pop_batch_size", "values": [0, 32, "b1"] },
    "along": { "path": "orchagent.flap.coun", "values": "1..3" },
    "target": "packet_loss_duration.p50 <= 1.1",
    "metric": "packet_loss_duration",
    "configurations": ["large", "tiny"],
    "replications": 40,
    "max_replications": 20
  },
  "sensitivity": {
    "configuration": "tiny",
    "metrics": ["speed"],
    "vary": { "orchagent.pop_batch_size": "9..1", "orchagent.flap.count": "0..3", "o.x": [1, 2] }
  }"#,
    );
    // Whatever else the file is used for.
    let output = place.convsim(&["plan", "links.json"]);
    assert_eq!(code(&output), 2);
    insta::assert_snapshot!("question_problems", stderr(&output));
}

#[test]
fn a_question_is_inherited_unless_its_configuration_is_not() {
    let question =
        QUESTION.replace("\"replications\"", "\"configurations\": [\"small\"], \"replications\"");
    let place = asking(&question);
    place.write(
        "child.json",
        r#"{ "extends": "links.json", "solve": { "target": "packet_loss_duration.p50 <= 5 s" } }"#,
    );
    let child = stdout(&place.convsim(&["plan", "child.json"]));
    let child = child.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(child.contains("with packet_loss_duration.p50 <= 5 s, from small"), "{child}");
    let own = r#"{ "extends": "links.json", "configurations": [{ "name": "own" }] }"#;
    place.write("other.json", own);
    let other = place.convsim(&["plan", "other.json"]);
    assert_eq!(code(&other), 0, "{}", stderr(&other));
    let other = stdout(&other).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        other.contains("\"solve\" is left out: there is no configuration \"small\" here"),
        "{other}"
    );
}

#[test]
fn conditions_of_the_file_bound_the_values_that_are_tried() {
    let block = format!(
        r#"{QUESTION},
  "where": ["orchagent.pop_batch_size * orchagent.flap.count <= 1024"]"#
    )
    .replace("<= 1.1 s", "<= 100 s")
    .replace("\"replications\": 40", "\"along\": { \"path\": \"orchagent.flap.count\", \"values\": [2, 8] },\n    \"replications\": 40");
    let place = asking(&block);
    let output = place.convsim(&["solve", "links.json", "--format", "csv"]);
    assert_eq!(code(&output), 0, "{}{}", stdout(&output), stderr(&output));
    let text = stdout(&output);
    let meets: Vec<&str> = text.lines().filter(|line| line.ends_with(",meets")).collect();
    assert_eq!(meets.len(), 2, "{text}");
    assert!(meets[0].starts_with("2,orchagent.pop_batch_size,512,"), "{text}");
    assert!(meets[1].starts_with("8,orchagent.pop_batch_size,128,"), "{text}");
    let condition = ["--where", "orchagent.pop_batch_size < 100"];
    let output =
        place.convsim(&[&["solve", "links.json", "--format", "csv"], &condition[..]].concat());
    assert!(stdout(&output).contains("2,orchagent.pop_batch_size,64,"), "{}", stdout(&output));
    let nothing = ["--where", "orchagent.pop_batch_size < 2"];
    let output = place.convsim(&[&["solve", "links.json"], &nothing[..]].concat());
    assert_eq!(code(&output), 2, "{}", stdout(&output));
}
