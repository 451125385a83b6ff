//! What the metrics say, worked out by hand.

use serde_json::{Value, json};

use crate::harness::{Figures, assert_close, converges, run};

/// Four toggles of 1 s at once for one worker; clients wait for 2.5 s. Answers at 1 and 2 s, two
/// clients leave at 2.5 s, and the server is at their toggles until 4 s.
fn four_toggles() -> Figures {
    run(json!({
        "clients": { "arrival": "burst", "requests": 4, "timeout": "2500 ms" },
        "server": { "preset": "werkzeug_single", "overhead": "none" },
        "handler": { "preset": "mux_toggle", "toggle": { "calls": 1, "delay": "1 s" } },
    }))
}

#[test]
fn a_toggle_that_is_executed_for_nobody_sets_its_port() {
    let figures = four_toggles();
    assert_eq!((figures.count("executed"), figures.count("executed.wasted")), (4, 2));
    assert_close("converged", figures.of("convergence_time"), 4.0, 1e-9);
}

/// A toggle of 3 s, given up after 1 s and asked for again, four times in all; each attempt is
/// executed by a thread of its own, the first at 3 s.
#[test]
fn of_several_attempts_the_first_that_is_executed_counts() {
    let figures = run(json!({
        "clients": { "users": 1, "requests": 1, "timeout": "1 s", "retry": { "attempts": 3 } },
        "server": { "preset": "werkzeug_threaded", "overhead": "none" },
        "handler": { "wait": "3 s" },
    }));
    assert_eq!((figures.count("executed"), figures.count("executed.wasted")), (4, 4));
    assert_close("converged", figures.of("convergence_time"), 3.0, 1e-9);
}

/// The user goes on to its second request at 1 s, which waits behind the first: executed at 3 and
/// 6 s, both for nobody.
#[test]
fn a_request_that_its_user_has_given_up_still_counts_when_it_is_executed() {
    let figures = run(json!({
        "clients": { "users": 1, "requests": 2, "timeout": "1 s" },
        "server": { "preset": "werkzeug_single", "overhead": "none" },
        "handler": { "wait": "3 s" },
    }));
    assert_eq!((figures.count("failed"), figures.count("executed.wasted")), (2, 2));
    assert_close("converged", figures.of("convergence_time"), 6.0, 1e-9);
}

#[test]
fn what_was_never_executed_leaves_no_convergence_time() {
    // Backlog 0 holds one connection beside the one being served; the third SYN is lost and given
    // up before it is sent again.
    let figures = run(json!({
        "clients": { "arrival": "burst", "requests": 3, "timeout": "900 ms" },
        "server": { "preset": "werkzeug_single", "overhead": "none", "backlog": 0 },
        "handler": { "wait": "1 s" },
    }));
    assert_eq!((figures.count("executed"), figures.count("timeouts.connect")), (2, 1));
    assert!(figures.of("convergence_time").is_nan());
}

/// Two toggles of one port, whose clients leave at once: they wait for the port's lock, so they are
/// done at 1 and 2 s; of two ports, both at 1 s.
#[test]
fn a_toggle_for_nobody_takes_the_lock_of_its_own_port() {
    let converged = |ports: u32| {
        let figures = run(json!({
            "clients": { "arrival": "burst", "requests": 2, "timeout": "10 ms" },
            "server": { "preset": "werkzeug_threaded", "overhead": "none", "wakeup": "20 ms" },
            "handler": { "preset": "mux_toggle", "ports": ports, "toggle": { "calls": 1, "delay": "1 s" } },
        }));
        assert_eq!(figures.count("executed.wasted"), 2);
        figures.of("convergence_time")
    };
    assert_close("one port", converged(1), 2.02, 1e-9);
    assert_close("two ports", converged(2), 1.02, 1e-9);
}

#[test]
fn one_worker_is_never_busier_than_one() {
    let busy = |config: Value| run(config).of("busy");
    // At work until 10 s; the last outcome is at 1 s.
    let long = json!({
        "clients": { "users": 1, "requests": 1, "timeout": "1 s" },
        "server": { "preset": "werkzeug_single", "overhead": "none" },
        "handler": { "wait": "10 s" },
    });
    assert_close("busy", busy(long), 1.0, 1e-9);
    assert_close("busy", four_toggles().of("busy"), 1.0, 1e-9);
    // At work in the first of two seconds.
    let thinking = json!({
        "clients": { "users": 1, "requests": 2, "think_time": "1 s" },
        "server": { "preset": "werkzeug_single", "overhead": "none" },
        "handler": { "wait": "500 ms" },
    });
    assert_close("busy", busy(thinking), 0.5, 1e-9);
}

/// Three wait until 1 s, two until 2 s, one until the last outcome at 2.5 s.
#[test]
fn the_mean_depth_of_the_accept_queue_is_over_the_time_until_the_last_outcome() {
    let figures = four_toggles();
    assert_eq!(figures.count("accept_queue.greatest"), 3);
    assert_close("depth", figures.of("accept_queue.mean"), (3.0 + 2.0 + 0.5) / 2.5, 1e-9);
}

/// 1 and 2 s answered, 2.5 s twice without an answer.
#[test]
fn latencies_are_told_of_answered_failed_and_all_attempts() {
    let figures = four_toggles();
    for (metric, expected) in [
        ("latency.p50", 1.5),
        ("latency.max", 2.0),
        ("failed_latency.p50", 2.5),
        ("failed_latency.p99", 2.5),
        ("failed_latency.max", 2.5),
        ("attempt_latency.mean", 2.0),
        ("attempt_latency.p50", 2.25),
        ("attempt_latency.p95", 2.5),
        ("attempt_latency.p99", 2.5),
    ] {
        // Histograms keep three digits.
        assert_close(metric, figures.of(metric), expected, 1e-3);
    }
}

#[test]
fn a_trace_is_over_with_its_last_time_however_many_requests_are_asked_for() {
    for requests in [2, 3, 2000] {
        let trace = json!({ "clients": {
            "arrival": "trace", "requests": requests, "arrival_times": ["1 ms", "2 ms", "9 ms"],
        } });
        assert_eq!(run(trace.clone()).count("requests"), requests.min(3));
        assert!(converges(trace), "{requests}");
    }
}
