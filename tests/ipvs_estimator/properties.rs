//! What holds for every configuration.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Bench, run};

fn configurations() -> impl Strategy<Value = Value> {
    let presets = prop_oneof![Just("old_timer"), Just("v1"), Just("v2"), Just("final")];
    let counts = (0_u32..4000, 0_u32..3000, 0_u32..2500, 0_u32..3);
    let machine = (1_u32..300, prop_oneof![Just(100), Just(250), Just(300), Just(1000)]);
    let others = (any::<bool>(), 0_u32..40, prop_oneof![Just(0), Just(2), Just(600)]);
    (presets, counts, machine, others).prop_map(
        |(preset, (initial, add, delete, destinations), (cpus, hz), (total, tasks, cpulist))| {
            let delete = delete.min(initial + add);
            let mut schedule = Vec::new();
            if add > 0 {
                schedule.push(json!({ "at": "3 s", "add": add, "rate": "600/s" }));
            }
            // Some of what there was at the start, and the rest when all have been added.
            let early = delete.min(initial);
            if early > 0 {
                schedule.push(json!({ "at": "4 s", "delete": early, "rate": "800/s" }));
            }
            if delete > early {
                schedule.push(json!({ "at": "8.5 s", "delete": delete - early, "rate": "800/s" }));
            }
            let changes = if cpulist > 0 && preset != "old_timer" {
                json!([
                    { "at": "5 s", "est_cpulist_cpus": 1 },
                    { "at": "6 s", "run_estimation": false },
                    { "at": "7 s", "run_estimation": true, "est_nice": 5 }
                ])
            } else {
                json!([])
            };
            json!({
                "preset": preset, "possible_cpus": cpus, "hz": hz, "total_estimator": total,
                "host": { "background_tasks": tasks,
                    "background_on": if tasks % 2 == 1 { "est_cpulist" } else { "all_cpus" } },
                "changes": changes,
                "cost": { "tick_cv": 0.2, "calc_noise": 0.3 },
                "workload": {
                    "initial_services": initial, "destinations_per_service": destinations,
                    "schedule": schedule
                },
                "traffic": { "arrivals": "poisson", "groups": if destinations == 1 {
                    json!([{ "share": 3, "rate_cv": 1 }, { "rate": "5/s", "changes": [{ "at": "6 s" }] }])
                } else {
                    json!([])
                } },
                "observe_for": "14 s"
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_estimator_is_in_a_chain_waiting_or_removed(configuration in configurations()) {
        let total = f64::from(u8::from(configuration["total_estimator"] == json!(true)));
        let figures = run(configuration);
        let there = figures.get("estimators") + figures.get("not_estimated");
        let lasting = figures.get("estimators_added") - figures.get("estimators_removed");
        prop_assert_eq!(there, lasting + total);
    }

    #[test]
    fn the_same_seed_gives_the_same_run_and_another_one_after_it_too(
        configuration in configurations()
    ) {
        let mut bench = Bench::new(configuration.clone());
        let first = bench.run(3);
        let other = bench.run(4);
        let again = bench.run(3);
        let fresh = Bench::new(configuration).run(3);
        for same in [&again, &fresh] {
            prop_assert_eq!(first.fingerprint, same.fingerprint);
            prop_assert_eq!(first.events, same.events);
            let bits = |figures: &[f64]| figures.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(first.all()), bits(same.all()));
        }
        prop_assert!(other.events > 0);
    }

    #[test]
    fn a_dearer_estimate_never_shortens_a_tick_or_saves_cpu(
        services in 100_u32..20_000, cost in 5_u32..60, factor in 1.0_f64..3.0
    ) {
        let figures = |read_cost_ns: f64| run(json!({
            "preset": "v2", "chain_max": 17, "cost": { "read_cost_ns": read_cost_ns },
            "workload": { "initial_services": services }, "observe_for": "20 s"
        }));
        let cheap = figures(f64::from(cost));
        let dear = figures(f64::from(cost) * factor);
        for metric in ["chain_time", "tick_time", "tick_time.max", "cpu_used", "late_ticks"] {
            prop_assert!(dear.get(metric) >= cheap.get(metric) * (1.0 - 1e-9), "{}", metric);
        }
    }

    #[test]
    fn a_dearer_estimate_never_needs_fewer_kthreads_in_the_final_version(
        services in 1000_u32..100_000, cost in 20_u32..60, factor in 1.0_f64..4.0
    ) {
        let kthreads = |read_cost_ns: f64| run(json!({
            "cost": { "read_cost_ns": read_cost_ns },
            "workload": { "initial_services": services }, "observe_for": "7 s"
        })).get("kthreads");
        prop_assert!(kthreads(f64::from(cost) * factor) >= kthreads(f64::from(cost)));
    }
}

#[test]
fn a_dearer_estimate_shortens_the_tick_of_the_final_version_where_the_chain_length_drops() {
    let figures = |estimate: &str| {
        run(json!({
            "cost": { "estimate": estimate },
            "workload": { "initial_services": 5000 }, "observe_for": "20 s"
        }))
    };
    let cheap = figures("47.4 us");
    let dear = figures("47.6 us");
    assert_eq!((cheap.get("chain_max"), dear.get("chain_max")), (2.0, 1.0));
    assert!(dear.get("tick_time.max") < cheap.get("tick_time.max") * 0.51);
    assert!(dear.get("kthreads") > cheap.get("kthreads"));
    assert!(dear.get("cpu_used") > cheap.get("cpu_used"));
}

#[test]
fn a_million_services_take_few_events() {
    let figures = run(json!({
        "workload": { "initial_services": 1_000_000 }, "observe_for": "60 s"
    }));
    assert!(figures.events < 300_000, "{}", figures.events);
}

#[test]
fn what_varies_in_one_place_moves_no_draw_in_another() {
    let step_of = |noise: f64| {
        run(json!({
            "cost": { "calc_noise": noise }, "chain_max": 17, "hz": 1000,
            "workload": { "initial_services": 500 },
            "traffic": { "step": { "at": "20 s" } }
        }))
        .get("rate_convergence_time")
    };
    assert_eq!(step_of(0.0), step_of(0.000_001));
}
