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
