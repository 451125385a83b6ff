use super::*;

fn summary(place: &Place, folder: &str) -> serde_json::Value {
    serde_json::from_str(&place.read(&format!("{folder}/links/summary.json"))).unwrap()
}

fn replications(summary: &serde_json::Value) -> Vec<u64> {
    let points = summary["points"].as_array().unwrap();
    points.iter().map(|point| point["replications"].as_u64().unwrap()).collect()
}

const UNTIL: [&str; 4] = ["--replications", "10..2000", "--until", "convergence_time<=0.5%"];

fn run_until(place: &Place, more: &[&str]) -> String {
    let output = place.convsim(&[&["run", "links.json"], &UNTIL[..], more].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    stdout(&output)
}

#[test]
fn the_most_replications_allowed_stand_in_the_report_too() {
    let place = Place::with_scenario("links", "");
    let words = ["run", "links.json", "--no-plots", "--configuration", "large", "--quiet"];
    let until = ["--replications", "10..15", "--until", "convergence_time<=0.001%"];
    assert_eq!(code(&place.convsim(&[&words[..], &until].concat())), 0);
    assert_eq!(code(&place.convsim(&["report", "outputs/links"])), 0);
    let report = place.read("outputs/links/report.html");
    assert!(report.contains("after 15 replications, the most allowed"), "no note in the report");
    // What was cut off is not known from the others, however alike these are.
    let cut = place.convsim(&[
        "run",
        "links.json",
        "--no-plots",
        "--configuration",
        "large",
        "--horizon",
        "27 s",
        "--replications",
        "10..20",
        "--until",
        "convergence_time<=50%",
        "--output",
        "cut",
    ]);
    assert!(stdout(&cut).contains("convergence_time is not bounded"), "{}", stdout(&cut));
    let summary: serde_json::Value =
        serde_json::from_str(&place.read("cut/links/summary.json")).unwrap();
    assert_eq!(summary["points"][0]["precision"]["reached"], false);
    // Points that end with different numbers of replications converged all the same.
    let output = place.convsim(&[
        "run",
        "links.json",
        "--no-plots",
        "--replications",
        "10..40",
        "--until",
        "convergence_time<=8%",
        "--output",
        "all",
    ]);
    let text = stdout(&output);
    assert!(text.contains("Not converged: 0 of 10"), "{text}");
}

#[test]
fn each_point_gets_the_replications_that_the_asked_precision_needs() {
    let place = Place::with_scenario("links", "");
    run_until(&place, &["--threads", "1", "--output", "one"]);
    let points = summary(&place, "one")["points"].clone();
    for point in points.as_array().unwrap() {
        assert_eq!(point["precision"]["reached"], true, "{point:#}");
        assert!(point["precision"]["relative"].as_f64().unwrap() <= 0.005);
        let count = point["replications"].as_u64().unwrap();
        assert!((10..=2000).contains(&count));
    }
    // An interrupted or shorter run, and other threads, end with the same.
    let few = place.convsim(&["run", "links.json", "--replications", "13", "--output", "two"]);
    assert_eq!(code(&few), 0);
    run_until(&place, &["--threads", "3", "--output", "two"]);
    for name in ["results.csv", "summary.csv", "summary.json", "manifest.json"] {
        let of = |folder| place.read(&format!("{folder}/links/{name}"));
        assert_eq!(of("one"), of("two"), "{name}");
    }
}

#[test]
fn a_point_that_reaches_the_cap_is_flagged() {
    let place = Place::with_scenario("links", "");
    let arguments = ["--replications", "4..6", "--until", "convergence_time.p95<=0.0001%"];
    let output = place.convsim(&[&["run", "links.json"], &arguments[..]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("p95 of convergence_time is not bounded after 6 replications, the most"),
        "{text}"
    );
    let summary = summary(&place, "outputs");
    assert_eq!(replications(&summary), [6; 4]);
    assert_eq!(summary["points"][0]["precision"]["reached"], false);
}

#[test]
fn the_file_can_ask_for_a_precision_and_a_fixed_number_wins() {
    let place = Place::empty();
    let precision = r#""precision": { "metric": "convergence_time", "relative": 1e-9,
        "max_replications": 15 }, "replications": 10"#;
    place.write("links.json", &scenario("links", "").replace(r#""replications": 10"#, precision));
    assert_eq!(code(&place.convsim(&["run", "links.json"])), 0);
    assert_eq!(replications(&summary(&place, "outputs")), [15; 4]);
    assert_eq!(code(&place.convsim(&["run", "links.json", "--replications", "5"])), 0);
    assert_eq!(replications(&summary(&place, "outputs")), [5; 4]);
}

#[test]
fn a_precision_that_cannot_be_is_refused() {
    let place = Place::with_scenario("links", "");
    for (replications, until) in [
        ("10..5", "convergence_time<=2%"),
        ("0..5", "convergence_time<=2%"),
        ("1..5", "convergence_time<=0%"),
        ("1..5", "convergence_time=2%"),
        ("1..5", "convergence<=2%"),
    ] {
        let arguments = ["run", "links.json", "--replications", replications, "--until", until];
        assert_eq!(code(&place.convsim(&arguments)), 2, "{arguments:?}");
    }
    let unknown = place.convsim(&["run", "links.json", "--until", "convergence<=2%"]);
    assert!(stderr(&unknown).contains("convergence_time"), "{}", stderr(&unknown));
}

#[test]
fn a_mistake_in_an_option_shows_that_option() {
    let place = Place::with_scenario("links", "");
    let wrong = |words: &[&str]| {
        let output = place.convsim(&[&["run", "links.json"], words].concat());
        assert_eq!(code(&output), 2, "{words:?}");
        stderr(&output)
    };
    let text = wrong(&["--horizon", "abc"]);
    assert!(text.contains("--horizon abc") && !text.contains("--set"), "{text}");
    let text = wrong(&["--until", "convergence<=2%"]);
    assert!(text.contains("--until convergence<=2%") && !text.contains("--set"), "{text}");
    let text = wrong(&["--replications", "3", "--antithetic"]);
    assert!(text.contains("--replications 3") && !text.contains("--set"), "{text}");
    let text = wrong(&["--replications", "10..20"]);
    assert!(text.contains("but nothing"), "{text}");
    assert!(!text.contains("--set"), "{text}");
}

#[test]
fn a_cap_below_the_replications_of_the_file_is_refused() {
    let run = r#", "run": { "replications": 40,
        "precision": { "metric": "convergence_time", "relative": 0.02, "max_replications": 20 } }"#;
    let place = Place::empty();
    place.write(
        "capped.json",
        &format!(
            r#"{{ "name": "capped", "components": {{ "o": {{ "model": "orchagent" }} }}{run} }}"#
        ),
    );
    let output = place.convsim(&["run", "capped.json"]);
    assert_eq!(code(&output), 2);
    let text = stderr(&output);
    assert!(text.contains("at least 40, as run.replications"), "{text}");
    assert!(text.contains("capped.json:2"), "{text}");
}
