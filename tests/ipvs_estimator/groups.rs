//! Groups of services with rates and changes of their own.

use serde_json::{Value, json};

use crate::support::{Figures, run};

fn with_traffic(traffic: Value) -> Figures {
    run(json!({
        "workload": { "initial_services": 4000 }, "traffic": traffic, "observe_for": "90 s"
    }))
}

#[test]
fn one_group_of_all_services_is_what_rate_and_step_say() {
    let step = with_traffic(json!({ "rate": "50/s", "step": { "at": "40 s", "factor": 2 } }));
    let group = with_traffic(json!({
        "groups": [{ "rate": "50/s", "changes": [{ "at": "40 s", "factor": 2 }] }]
    }));
    for metric in ["rate_convergence_time", "rate_error", "raw_error", "reported_rate_ratio"] {
        assert_eq!(step.get(metric).to_bits(), group.get(metric).to_bits(), "{metric}");
        let of_group = format!("group_1.{metric}");
        if metric != "raw_error" {
            assert_eq!(group.get(&of_group).to_bits(), group.get(metric).to_bits(), "{metric}");
            assert!(step.get(&of_group).is_nan(), "there are no groups");
        }
    }
    assert!(group.get("group_2.rate_error").is_nan());
    assert!(group.get("group_2.rates_not_converged").is_nan());
}

#[test]
fn each_group_converges_from_its_own_last_change() {
    let figures = with_traffic(json!({ "groups": [
        { "share": 2, "rate": "10/s" },
        { "rate": "1000/s", "changes": [{ "at": "20 s", "factor": 3 }, { "at": "40 s", "factor": 6 }] },
        { "rate": "1000/s", "changes": [{ "at": "40 s", "factor": 0.5 }] },
        { "rate": "1000/s", "changes": [{ "at": "80 s", "factor": 2 }] },
    ] }));
    let time = |group: u32| figures.get(&format!("group_{group}.rate_convergence_time"));
    // A doubling takes 9 estimates to 5 %, a halving 11; so does a new service.
    assert!((20.0..24.1).contains(&time(1)), "{}", time(1));
    assert!((16.0..18.1).contains(&time(2)), "{}", time(2));
    assert!((20.0..22.1).contains(&time(3)), "{}", time(3));
    // Ten seconds after a doubling no rate is within 5 %: a fifth of all services.
    assert_eq!(figures.get("group_4.rates_not_converged"), 1.0);
    assert_eq!(figures.get("group_3.rates_not_converged"), 0.0);
    assert!((figures.get("rates_not_converged") - 0.2).abs() < 2e-3);
    // Eight to ten seconds after its change a service has been estimated four or five times, the first
    // time with a part of the step: 16 % of the new rate are missing on average.
    let ratio = figures.get("group_4.reported_rate_ratio");
    assert!((0.82..0.86).contains(&ratio), "{ratio}");
    let all = figures.get("reported_rate_ratio");
    assert!((all - (0.8 + 0.2 * ratio)).abs() < 2e-3, "{all}");
}

#[test]
fn the_error_does_not_depend_on_the_rate_but_on_the_change() {
    let figures = with_traffic(json!({ "groups": [
        { "rate": "1/s", "rate_cv": 3, "changes": [{ "at": "70 s", "spread": "0 s" }] },
        { "rate": "100000/s", "changes": [{ "at": "70 s", "spread": "0 s" }] },
    ] }));
    let [slow, fast] = ["group_1.rate_error", "group_2.rate_error"].map(|name| figures.get(name));
    assert!((slow / fast - 1.0).abs() < 0.05, "{slow} and {fast}");
}
