//! How soon and how well a rate is reported.

use serde_json::json;

use crate::support::{Bench, run};

#[test]
fn the_first_estimate_of_a_first_service_comes_after_1_91_to_1_96_s() {
    let mut bench = Bench::new(json!({
        "workload": { "initial_services": 1 },
        "module_loaded_before": { "distribution": "uniform", "min": "6 ms", "max": "51 ms" }
    }));
    for replication in 0..100 {
        let first = bench.run(replication).get("time_to_first_estimate");
        assert!((1.905..=1.962).contains(&first), "{first}");
    }
}

#[test]
fn the_first_estimates_of_three_logs_come_out_within_a_jiffy() {
    // Gold 6326, lvs-devel, 15 and 22 Oct 2022: from "ipvs loaded" to "starting estimator thread",
    // and from there to the first tick.
    for (loaded_before, logged) in [("15.8 ms", 1.9469), ("15.4 ms", 1.9466), ("14.4 ms", 1.9469)] {
        let mut bench = Bench::new(json!({
            "possible_cpus": 64, "workload": { "initial_services": 1 },
            "module_loaded_before": loaded_before
        }));
        let times = (0..100).map(|load| bench.run(load).get("time_to_first_estimate"));
        let mean = times.sum::<f64>() / 100.0;
        assert!((mean - logged).abs() < 0.004, "{mean}");
    }
}

#[test]
fn without_the_modules_head_start_it_is_49_ticks_and_the_timers_rounding() {
    let mut bench = Bench::new(json!({
        "workload": { "initial_services": 1 }, "module_loaded_before": "0 s"
    }));
    for replication in 0..100 {
        let first = bench.run(replication).get("time_to_first_estimate");
        assert!((1.96..=1.9645).contains(&first), "{first}");
    }
}

#[test]
fn a_step_is_reported_as_1_minus_three_quarters_to_the_n() {
    for (periods, share) in [(4, 0.684), (8, 0.900), (16, 0.990)] {
        // The step is right after an estimate of the only row, the run ends right after another.
        let step_ms = 21_960 + 20;
        let end_ms = step_ms + periods * 2000;
        let figures = run(json!({
            "hz": 1000, "module_loaded_before": "0 s", "workload": { "initial_services": 1 },
            "traffic": { "step": { "at": format!("{step_ms} ms"), "spread": "0 s", "factor": 1e6 } },
            "observe_for": format!("{end_ms} ms")
        }));
        // The first interval holds 20 ms of the old rate.
        figures.expect("reported_rate_ratio", share, 0.01);
    }
}

#[test]
fn a_rate_converges_to_5_percent_in_11_periods_after_a_doubling_and_a_bit() {
    let figures = run(json!({
        "workload": { "initial_services": 5000 },
        "traffic": { "tolerance": 0.05, "step": { "at": "30 s", "factor": 1e6 } },
        "observe_for": "60 s"
    }));
    // The first estimate after the step holds a part u of it. The error after n estimates is
    // (1 - u/4) * 0.75^(n-1), below 5 % at n = 11 if u >= 0.448 and else at n = 12, which is
    // 2 (n - 1 + u) s after the step: 20.9 to 22.9 s, in the mean 21.9 s.
    assert!(figures.converged);
    figures.expect("rate_convergence_time", 21.9, 0.005);
    figures.expect("rate_convergence_time.max", 22.9, 0.005);
}

#[test]
fn a_service_added_shortly_before_its_row_is_due_first_reports_d_of_50() {
    // kthread 0 begins at 0 and its row 49 is due at 1.96 s; this service comes at 1 s.
    let figures = run(json!({
        "module_loaded_before": "0 s", "sampled_services": 10,
        "workload": {
            "initial_services": 0,
            "schedule": [{ "add": 1, "at": "0 s" }, { "add": 1, "at": "980 ms" }]
        }
    }));
    let first = (1.962 + 0.982) / 2.0;
    figures.expect("time_to_first_estimate", first, 0.003);
    figures.expect("first_raw_ratio", first / 2.0, 0.003);
}

#[test]
fn beyond_two_full_rows_a_new_service_first_waits_a_whole_period() {
    let figures = run(json!({
        "sampled_services": 100_000, "chain_max": 17,
        "workload": {
            "initial_services": 0,
            "schedule": [{ "add": 20_000, "rate": "600/s" }]
        },
        "observe_for": "60 s"
    }));
    // Up to one tick on the temporary list and 50 ticks in the row just served.
    figures.expect("time_to_first_estimate.temp_list", 0.020, 0.2);
    let p95 = figures.get("time_to_first_estimate.p95");
    assert!((1.99..=2.05).contains(&p95), "{p95}");
    figures.expect("first_raw_ratio", 1.0, 0.03);
}

#[test]
fn the_parts_of_the_time_to_the_first_estimate_sum_to_it() {
    let figures = run(json!({
        "workload": { "initial_services": 3000, "schedule": [{ "add": 3000, "rate": "400/s" }] }
    }));
    let parts: f64 = ["temp_list", "row", "late"]
        .iter()
        .map(|part| figures.get(&format!("time_to_first_estimate.{part}")))
        .sum();
    figures.expect("time_to_first_estimate", parts, 1e-9);
}

#[test]
fn rates_are_off_by_half_the_work_of_a_kthread_when_that_exceeds_2_s() {
    // 50 rows of 480 estimators, 104 us each: 2.5 s.
    let figures = run(json!({
        "preset": "v2", "chain_max": 10, "total_estimator": false,
        "cost": { "estimate": "104.167 us" },
        "workload": { "initial_services": 24_000 }, "observe_for": "200 s"
    }));
    figures.expect("kthread_cpu", 1.0, 1e-6);
    figures.expect("period", 2.5, 1e-3);
    figures.expect("reported_rate_ratio", 1.25, 1e-3);
    assert!(figures.get("backlog_resets") > 0.0);
    assert!(!figures.converged);
}

#[test]
fn single_long_rows_leave_the_period_and_the_rates_alone_as_long_as_the_work_fits_2_s() {
    // Ten full rows of 60 ms: 0.6 s of work in 2 s.
    let figures = run(json!({
        "preset": "v2", "chain_max": 10, "total_estimator": false,
        "cost": { "estimate": "125 us" },
        "workload": { "initial_services": 480 * 10 }, "observe_for": "100 s"
    }));
    assert!(figures.get("late_ticks") > 0.0);
    figures.expect("period", 2.0, 1e-4);
    figures.expect("reported_rate_ratio", 1.0, 1e-3);
    assert_eq!(figures.get("backlog_resets"), 0.0);
}

#[test]
fn the_old_timers_rates_are_too_high_by_its_stall_and_the_timer_wheels_rounding() {
    let figures = run(json!({
        "preset": "old_timer", "total_estimator": false, "hz": 250,
        "workload": { "initial_services": 50_000 }, "observe_for": "120 s"
    }));
    let period = figures.get("period");
    assert!((2.268..=2.304).contains(&period), "{period}");
    figures.expect("reported_rate_ratio", period / 2.0, 1e-3);
}

#[test]
fn estimation_switched_off_and_on_makes_one_interval_wrong() {
    let figures = run(json!({
        "workload": { "initial_services": 100 }, "warm_up": "10 s",
        "changes": [
            { "at": "20 s", "run_estimation": false },
            { "at": "30 s", "run_estimation": true }
        ],
        "observe_for": "90 s"
    }));
    // What was counted in 10 s and the rest of the period is taken as that of 2 s.
    assert!(
        (4.9..=6.1).contains(&figures.get("raw_error.max")),
        "{}",
        figures.get("raw_error.max")
    );
    figures.expect("reported_rate_ratio", 1.0, 0.01);
    assert_eq!(figures.get("reloads"), 2.0);
}

#[test]
fn random_arrivals_scatter_the_raw_rate_by_their_square_root() {
    let figures = run(json!({
        "workload": { "initial_services": 1000 },
        "traffic": { "rate": "1000/s", "arrivals": "poisson" }, "observe_for": "120 s"
    }));
    // Mean deviation of a normal of sigma 1/sqrt(2000): 0.798 sigma.
    figures.expect("raw_error", 0.798 / 2000.0_f64.sqrt(), 0.02);
    figures.expect("reported_rate_ratio", 1.0, 0.005);
}

#[test]
fn the_old_timer_first_estimates_a_service_when_it_goes_off_next() {
    let figures = run(json!({
        "preset": "old_timer", "sampled_services": 100_000,
        "workload": { "initial_services": 0, "schedule": [{ "add": 20_000, "rate": "600/s" }] }
    }));
    // Half a period on average, then half the walk over those before it.
    figures.expect("time_to_first_estimate.row", 1.0, 0.05);
    let parts: f64 = ["temp_list", "row", "late"]
        .iter()
        .map(|part| figures.get(&format!("time_to_first_estimate.{part}")))
        .sum();
    figures.expect("time_to_first_estimate", parts, 1e-9);
}

/// `ipvs_proc_est_nice` and `ipvs_proc_run_estimation` compare the value that is written with the
/// one there is; `est_cpulist` is taken anew in any case (net/netfilter/ipvs/ip_vs_ctl.c).
#[test]
fn a_sysctl_that_is_written_as_it_is_restarts_nothing() {
    let figures = run(json!({
        "workload": { "initial_services": 100 },
        "changes": [
            { "at": "10 s", "est_nice": 0 },
            { "at": "12 s", "run_estimation": true },
            { "at": "14 s", "est_nice": 3 },
            { "at": "16 s", "est_nice": 3, "run_estimation": true },
        ],
    }));
    assert_eq!(figures.get("reloads"), 1.0);
}
