//! When ticks are late, and what lengthens them.

use serde_json::json;

use crate::support::run;

#[test]
fn a_row_of_768_estimators_is_late_at_1024_cpus_but_one_of_96_is_not() {
    let late = |chain_max: u32| {
        run(json!({
            "preset": "v2", "possible_cpus": 1024, "chain_max": chain_max,
            "total_estimator": false, "workload": { "initial_services": 48 * chain_max * 50 },
            "observe_for": "30 s"
        }))
    };
    assert!(late(16).get("late_ticks") > 0.0);
    assert!(late(16).get("tick_budget") > 1.0);
    assert_eq!(late(2).get("late_ticks"), 0.0);
}

#[test]
fn a_machine_with_other_work_on_every_cpu_lengthens_ticks() {
    let figures = |tasks: u32, nice: i8| {
        run(json!({
            "possible_cpus": 4, "cost": { "estimate": "5 us" }, "chain_max": 19,
            "est_nice": nice, "host": { "background_tasks": tasks },
            "workload": { "initial_services": 40_000 }, "observe_for": "30 s"
        }))
    };
    let idle = figures(0, 0);
    assert_eq!(idle.get("tick_elapsed.max"), idle.get("tick_time.max"));
    let busy = figures(4, 0);
    // One kthread and four tasks on four CPUs: the kthread gets 4/5 of one.
    busy.expect("tick_elapsed.max", busy.get("tick_time.max") * 1.25, 1e-3);
    assert!(busy.get("kthread_time.waiting_for_cpu") > 0.0);
    let saturated = figures(40, 0);
    saturated.expect("tick_elapsed.max", saturated.get("tick_time.max") * 10.25, 1e-3);
    assert!(saturated.get("late_ticks") > 0.0);
    let favoured = figures(40, -20);
    favoured.expect("tick_elapsed.max", favoured.get("tick_time.max"), 1e-3);
}

/// One kthread that may use 2 of 8 CPUs. Other tasks run on all of them, from where the scheduler
/// spreads them, or on the same two.
#[test]
fn background_tasks_are_spread_over_the_hosts_cpus_unless_they_are_bound() {
    let slowdown = |tasks: u32, on: &str| {
        let figures = run(json!({
            "possible_cpus": 8, "est_cpulist_cpus": 2, "cost": { "estimate": "5 us" },
            "chain_max": 19, "host": { "background_tasks": tasks, "background_on": on },
            "workload": { "initial_services": 40_000 }, "observe_for": "20 s"
        }));
        figures.get("tick_elapsed.max") / figures.get("tick_time.max")
    };
    for (tasks, all, bound) in
        [(0, 1.0, 1.0), (4, 1.0, 2.5), (7, 1.0, 4.0), (8, 9.0 / 8.0, 4.5), (31, 4.0, 16.0)]
    {
        let got = [slowdown(tasks, "all_cpus"), slowdown(tasks, "est_cpulist")];
        assert!((got[0] / all - 1.0).abs() < 1e-3, "{tasks} on all CPUs: {}", got[0]);
        assert!((got[1] / bound - 1.0).abs() < 1e-3, "{tasks} bound: {}", got[1]);
    }
}

#[test]
fn many_kthreads_on_one_cpu_hold_each_other_up() {
    let figures = |cpus: u32| {
        run(json!({
            "possible_cpus": 104, "chain_max": 17, "est_cpulist_cpus": cpus,
            "est_max_threads": 12, "workload": { "initial_services": 12 * 40_800 - 100 },
            "observe_for": "60 s"
        }))
    };
    let roomy = figures(104);
    assert_eq!((roomy.get("kthreads"), roomy.get("late_ticks")), (12.0, 0.0));
    let crowded = figures(1);
    assert!(crowded.get("late_ticks") > 0.0);
    // 12 * 10.9 % of a CPU: each gets a twelfth, and a period takes 12 * 50 * 4.37 ms.
    crowded.expect("period", 12.0 * 50.0 * 4.374e-3, 0.02);
    crowded.expect("reported_rate_ratio", 12.0 * 50.0 * 4.374e-3 / 2.0, 0.02);
}

#[test]
fn draining_a_million_services_makes_kthread_0_late_once() {
    let figures = run(json!({
        "workload": { "initial_services": 1_000_000 }, "warm_up": "0 s", "observe_for": "30 s"
    }));
    assert!(figures.get("late_ticks_settling") > 0.0);
    assert_eq!(figures.get("late_ticks"), 0.0);
    assert_eq!(figures.get("estimators"), 1_000_001.0);
    assert_eq!(figures.get("not_estimated"), 0.0);
}

#[test]
fn the_time_of_a_kthread_is_accounted_for_to_the_last_bit() {
    let figures = run(json!({
        "workload": { "initial_services": 30_000, "schedule": [{ "at": "7 s", "add": 10_000 }] },
        "host": { "background_tasks": 200 }
    }));
    let parts: f64 = ["estimating", "draining", "calculating", "waiting_for_cpu", "sleeping"]
        .iter()
        .map(|part| figures.get(&format!("kthread_time.{part}")))
        .sum();
    figures.expect("kthread_time", parts, 1e-9);
    figures.expect("kthread_time", 1.0, 1e-3);
}
