use super::*;

#[test]
fn two_configurations_are_compared_pair_by_pair() {
    let place = Place::with_scenario("links", "");
    let output = place.convsim(&["compare", "links.json", "large", "small"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("links: A is large, B is small; 10 pairs of replications"), "{text}");
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
}
