use super::*;

const RANGES: [&str; 6] = [
    "--vary",
    "orchagent.pop_batch_size=32..1024:log",
    "--vary",
    "orchagent.bgp.reaction=1 ms..100 ms",
    "--vary",
    "orchagent.flap.count=2..14",
];

fn sensitivity(place: &Place, more: &[&str]) -> Output {
    let arguments = ["sensitivity", "links.json", "--metric", "packet_loss_duration"];
    place.convsim(&[&arguments[..], &RANGES[..], more].concat())
}

#[test]
fn one_parameter_at_a_time_gives_a_tornado() {
    let place = Place::with_scenario("links", "");
    let output = sensitivity(&place, &["--configuration", "small", "--output", "out"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    insta::assert_snapshot!("sensitivity_tornado", stdout(&output));
    insta::assert_snapshot!("sensitivity_csv", place.read("out/sensitivity.csv"));
    let names = files(&place.path("out"));
    let picture = "tornado-mean-packet-loss-duration";
    assert_eq!(
        names,
        [
            "sensitivity.csv",
            "sensitivity.json",
            &format!("{picture}.png"),
            &format!("{picture}.svg")
        ]
    );
    let json: serde_json::Value =
        serde_json::from_str(&place.read("out/sensitivity.json")).unwrap();
    assert_eq!(json["figures"][0]["parameters"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_tornado_of_what_never_came_about_is_not_drawn_and_says_so() {
    let place = Place::with_scenario("links", "");
    let horizon = ["--horizon", "1 ms", "--output", "out"];
    let ranges = ["--vary", "orchagent.flap.count=2..14"];
    let arguments = ["sensitivity", "links.json", "--metric", "convergence_time"];
    let output = place.convsim(&[&arguments[..], &ranges, &horizon].concat());
    let text = stdout(&output);
    assert!(text.contains("convergence_time: no figure as the scenario stands"), "{text}");
    assert!(text.contains("there is no picture of"), "{text}");
    assert_eq!(files(&place.path("out")), ["sensitivity.csv", "sensitivity.json"]);
}

#[test]
fn what_keeps_points_from_being_compared_is_what_the_help_says() {
    for (set, help) in [("run.seeding=independent", "common"), ("run.antithetic=true", "false")] {
        let place = Place::with_scenario("links", "");
        let key = set.split('=').next().unwrap();
        let output = sensitivity(&place, &["--set", set]);
        assert_eq!(code(&output), 2);
        let text = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&format!("--set {key}={help}")), "{text}");
        assert_eq!(text.matches("--set run.").count(), 1, "{text}");
    }
}

#[test]
fn screening_ranks_the_parameters() {
    let place = Place::with_scenario("links", "");
    let more = ["--method", "morris", "--trajectories", "6", "--replications", "2"];
    let output = sensitivity(&place, &more);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    insta::assert_snapshot!("sensitivity_morris", stdout(&output));
    let again = sensitivity(&place, &[&more[..], &["--threads", "1"]].concat());
    assert_eq!(stdout(&output), stdout(&again));
}

#[test]
fn shares_of_the_variance_are_those_of_sobol() {
    let place = Place::with_scenario("links", "");
    let more = ["--method", "sobol", "--samples", "32", "--replications", "2"];
    let output = sensitivity(&place, &[&more[..], &["--format", "markdown"]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    insta::assert_snapshot!("sensitivity_sobol", stdout(&output));
}

#[test]
fn what_cannot_be_varied_says_why() {
    let place = Place::with_scenario("links", "");
    let wrong = |vary: &[&str]| {
        let mut arguments = vec!["sensitivity", "links.json"];
        vary.iter().for_each(|range| arguments.extend(["--vary", range]));
        let output = place.convsim(&arguments);
        assert_eq!(code(&output), 2, "{vary:?}");
        stderr(&output)
    };
    let texts = [
        wrong(&["orchagent.pop_batch_size=9..1"]),
        wrong(&["orchagent.pop_batch_siz=1..9"]),
        wrong(&["orchagent.pop_batch_size=0..9"]),
        wrong(&["orchagent.flap.count=1..2", "orchagent.flap.count=1..3"]),
    ];
    insta::assert_snapshot!("sensitivity_problems", texts.join("\n"));
}

#[test]
fn a_file_says_what_is_analysed_and_the_command_line_changes_it() {
    let place = Place::empty();
    let block = r#""where": ["orchagent.flap.count < 5"],
  "sensitivity": {
    "configuration": "small",
    "metrics": ["packet_loss_duration"],
    "vary": {
      "orchagent.pop_batch_size": "32..1024:log",
      "orchagent.bgp.reaction": "1 ms..100 ms",
      "orchagent.flap.count": "2..14"
    }
  },
  "run":"#;
    place.write("links.json", &scenario("links", "").replacen("\"run\":", block, 1));
    let output = place.convsim(&["sensitivity", "links.json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let plain = Place::with_scenario("links", "");
    let said = sensitivity(&plain, &["--configuration", "small"]);
    // Conditions are asked of the points of a sweep only.
    assert_eq!(stdout(&output), stdout(&said));
    let fewer = ["--vary", "orchagent.flap.count=2..14", "--method", "morris"];
    let fewer = [&["sensitivity", "links.json"], &fewer[..], &["--replications", "2"]].concat();
    let fewer = stdout(&place.convsim(&fewer));
    assert!(fewer.contains("elementary effects (Morris), from small"), "{fewer}");
    assert!(!fewer.contains("bgp.reaction"), "{fewer}");
    let output = plain.convsim(&["sensitivity", "links.json"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("neither the command line nor the file"));
}
