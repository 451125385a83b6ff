//! What a cpufreq governor does to the calc phase and to the estimates, against the test reports of
//! v5 and v6: the cost at the highest clock, `min_est` there and the lowest clock go in; chain
//! lengths and tick times under the other governors come out.

use serde_json::{Value, json};

use crate::support::{Figures, run};

/// A machine: its CPUs, an estimate and `min_est` with the performance governor, its lowest clock.
struct Machine {
    cpus: u32,
    estimate: &'static str,
    min_est: &'static str,
    lowest_clock: f64,
}

/// 1.2 of 3.2 GHz. Full ticks of 1056 estimators in 5.437 and 5.692 ms.
const EPYC_7601: Machine =
    Machine { cpus: 128, estimate: "5269 ns", min_est: "4138 ns", lowest_clock: 0.375 };
/// `min_est` of 1775 and 7379 ns. Full ticks of 2544 estimators in 2.047 and 2.074 ms.
const GOLD_6326: Machine =
    Machine { cpus: 64, estimate: "810 ns", min_est: "1775 ns", lowest_clock: 1775.0 / 7379.0 };
/// `min_est` of 8230 and 66,250 ns. Full ticks of 576 estimators in 1.608 and 1.618 ms.
const KUNPENG_920: Machine =
    Machine { cpus: 128, estimate: "2800 ns", min_est: "7890 ns", lowest_clock: 8230.0 / 66_250.0 };

/// A full kthread of `services`, with `governor` from the start and `later` from 10 s on.
fn full(machine: &Machine, services: u32, governor: &str, later: Option<&str>) -> Figures {
    let changes: Vec<Value> =
        later.iter().map(|governor| json!({ "at": "10 s", "governor": governor })).collect();
    run(json!({
        "possible_cpus": machine.cpus, "total_estimator": false,
        "cost": {
            "estimate": machine.estimate, "calc_value": machine.min_est,
            "lowest_clock": machine.lowest_clock, "governor": governor
        },
        "changes": changes,
        "workload": { "initial_services": services }, "warm_up": "14 s", "observe_for": "40 s"
    }))
}

#[test]
fn an_idle_ondemand_cpu_measures_itself_slow_and_gets_short_chains() {
    let performance = full(&EPYC_7601, 52_800, "performance", None);
    assert_eq!((performance.get("chain_max"), performance.get("kthreads")), (22.0, 1.0));
    let ondemand = full(&EPYC_7601, 19_200, "ondemand", None);
    assert_eq!((ondemand.get("chain_max"), ondemand.get("kthreads")), (8.0, 1.0));
    ondemand.expect("min_est", 11_171e-9, 0.03);
    // 2.90 to 3.06 ms. The CPU has three clocks, and 1.27 GHz was 1.2.
    ondemand.expect("tick_time", 2.93e-3, 0.15);
}

#[test]
fn a_cpu_kept_busy_by_others_measures_itself_at_the_highest_clock() {
    // One of 23 loads of the EPYC found 24 to 25 instead of 8 to 9.
    let figures = run(json!({
        "possible_cpus": 128, "host": { "background_tasks": 128 },
        "cost": { "estimate": "5269 ns", "calc_value": "4138 ns", "lowest_clock": 0.375,
            "governor": "ondemand" },
        "workload": { "initial_services": 1 }, "observe_for": "10 s"
    }));
    assert_eq!(figures.get("chain_max"), 22.0);
}

#[test]
fn powersave_from_the_start_gives_chains_of_12_and_of_1() {
    assert_eq!(full(&GOLD_6326, 28_800, "powersave", None).get("chain_max"), 12.0);
    assert_eq!(full(&KUNPENG_920, 2400, "powersave", None).get("chain_max"), 1.0);
}

#[test]
fn a_governor_changed_after_the_calc_phase_lengthens_ticks_but_not_chains() {
    for (machine, services, chain_max, tick_ms) in
        [(&GOLD_6326, 127_200, 53.0, 5.755), (&KUNPENG_920, 28_800, 12.0, 8.98)]
    {
        let figures = full(machine, services, "performance", Some("powersave"));
        assert_eq!((figures.get("chain_max"), figures.get("kthreads")), (chain_max, 1.0));
        figures.expect("tick_time", tick_ms * 1e-3, 0.10);
        assert_eq!(figures.get("reloads"), 0.0);
    }
}

#[test]
fn a_busier_kthread_gets_a_higher_clock_from_ondemand() {
    // Six ticks seen on the Kunpeng: 3.38 to 5.56 ms; 11.1 % CPU in top.
    let figures = full(&KUNPENG_920, 28_800, "performance", Some("ondemand"));
    let tick = figures.get("tick_time") * 1e3;
    assert!((3.38..=5.56).contains(&tick), "{tick}");
    assert!((0.085..=0.139).contains(&figures.get("kthread_cpu")));
    let slow = full(&KUNPENG_920, 28_800, "performance", Some("powersave"));
    assert!(figures.get("tick_time") < slow.get("tick_time"));
}

#[test]
fn a_new_cpulist_calculates_at_the_clock_of_the_governor_that_is_then_in_force() {
    let figures = run(json!({
        "possible_cpus": 128, "est_cpulist_cpus": 8,
        "cost": { "estimate": "5269 ns", "calc_value": "4138 ns", "lowest_clock": 0.375 },
        "changes": [
            { "at": "10 s", "governor": "ondemand" }, { "at": "20 s", "est_cpulist_cpus": 4 }
        ],
        "workload": { "initial_services": 1000 }, "observe_for": "40 s"
    }));
    assert_eq!((figures.get("chain_max"), figures.get("reloads")), (8.0, 1.0));
}
