//! Reports from the field: their inputs, and what was seen.

use serde_json::{Value, json};

use crate::harness::{Bench, assert_close, config, run};

/// sonic-mgmt PR 15226: a single-threaded server and one peer that never sends. `Recv-Q 129` of
/// 128, every client times out. The fix: a thread for each connection, and a 60 s socket timeout.
#[test]
fn one_silent_peer_stops_the_single_threaded_mux_simulator() {
    let served = |server: Value| {
        run(json!({
            "clients": { "users": 200, "requests": 400, "timeout": "5 s", "silent_peers": 1 },
            "server": server,
            "handler": { "wait": "50 ms" },
        }))
    };
    let before = served(json!({ "preset": "werkzeug_single" }));
    assert_eq!(before.count("ok"), 0);
    assert_eq!(before.count("accept_queue.greatest"), 129);
    assert!(before.count("accept_queue.overflows") > 0);
    let after = served(json!({ "preset": "werkzeug_threaded", "request_timeout": "60 s" }));
    assert_eq!(after.count("ok"), 400);
}

/// sonic-mgmt issue 16495 and PR 16651: toggle-all takes 16 s, the test gives up reading after 10 s
/// and tries again by urllib3's back-off: attempts at 0, 10, 22, 36 s, an error at 46 s, and the
/// server executes all four for nobody. The fix: timeouts of (3.5, 30) s.
#[test]
fn toggle_all_outlasts_an_impatient_client_and_every_attempt_is_executed() {
    let toggle_all = |read_timeout: &str| {
        run(json!({
            "clients": {
                "users": 1, "requests": 1, "timeout_mode": "phase", "connect_timeout": "3500 ms",
                "read_timeout": read_timeout,
                "retry": { "attempts": 3, "pause": "2 s", "factor": 2.0, "first_at_once": true }
            },
            "server": { "preset": "werkzeug_threaded", "overhead": "none" },
            "handler": {
                "preset": "mux_toggle_all", "pool_threads": 1,
                "toggle": { "calls": 1, "serial": "50500 us", "delay": "82500 us" }
            },
        }))
    };
    let before = toggle_all("10 s");
    assert_eq!((before.count("ok"), before.count("attempts"), before.count("failed")), (0, 4, 1));
    assert_close("error at", before.of("elapsed"), 46.0, 1e-3);
    assert_eq!((before.count("executed"), before.count("executed.wasted")), (4, 4));
    // The ports have the asked state all the same: 120 of them at 133 ms each, and the answer's
    // 120 times 20 us.
    assert_close("set at", before.of("convergence_time"), 120.0 * 0.133 + 0.0024, 1e-6);
    let after = toggle_all("30 s");
    assert_eq!((after.count("ok"), after.count("attempts")), (1, 1));
}

/// sonic-mgmt issue 16495: the DUT polls with a timeout of 5 s and a pause of 1 s for 30 s, and
/// logs "attempted=6".
#[test]
fn the_dut_gives_up_after_six_attempts() {
    let figures = run(json!({
        "clients": {
            "users": 1, "requests": 1, "timeout": "5 s", "silent_peers": 1,
            "retry": { "attempts": 1_000_000, "pause": "1 s", "within": "30 s" }
        },
        "server": { "preset": "werkzeug_single" },
    }));
    // Attempts at 0, 6, 12, 18, 24 and 30 s; the retries are 1 to 5 after the first.
    assert_eq!(figures.count("attempts"), 6);
    assert_close("gives up at", figures.of("elapsed"), 35.0, 1e-3);
}

/// sonic-mgmt PR 16478: gunicorn -w 1 --threads 8 with worker_connections 1000 and an effective
/// backlog of 1024 hangs: 1000 connections held, 1025 queued.
#[test]
fn a_thousand_silent_peers_freeze_gthread_and_fill_the_backlog() {
    let figures = run(json!({
        "clients": { "arrival": "burst", "requests": 1200, "timeout": "5 s", "silent_peers": 1000 },
        "network": { "somaxconn": 1024 },
        "server": { "preset": "gunicorn_gthread", "threads": 8 },
        "handler": { "wait": "20 ms" },
    }));
    assert_eq!(figures.count("ok"), 0);
    assert_eq!(figures.count("accept_queue.greatest"), 1025);
}

/// gunicorn issues 3146 and 3407: 3 threads, worker_connections 4, `ab -n 1000 -c 100`: the worker
/// may freeze for good when all it holds are connections not yet in a thread. Each run either
/// works or stops.
#[test]
fn gthread_with_few_worker_connections_may_freeze() {
    let mut bench = Bench::new(config(json!({
        "clients": {
            "users": 100, "requests": 1000, "timeout": "5 s", "stop_issuing_after": "60 s",
            "connect_cpu": "12 us", "send_cpu": "10 us", "receive_cpu": "78 us"
        },
        "server": { "preset": "gunicorn_gthread", "threads": 3, "worker_connections": 4 },
        "handler": { "wait": "1 ms" },
    })));
    let served: Vec<u64> = (0..40).map(|replication| bench.run(replication).count("ok")).collect();
    assert!(served.iter().any(|&ok| ok < 100), "frozen in none: {served:?}");
}

/// gunicorn issue 2183: one sync worker, backlog 1, 2 s each, `ab -n 10 -c 10`: all ten succeed;
/// of five at once, three are taken at once (one served, backlog + 1 queued).
#[test]
fn a_tiny_backlog_delays_and_does_not_refuse() {
    let burst = |clients: u32| {
        run(json!({
            "clients": { "arrival": "burst", "requests": clients },
            "server": { "preset": "gunicorn_sync", "backlog": 1, "overhead": "none" },
            "handler": { "wait": "2 s" },
        }))
    };
    let ten = burst(10);
    assert_eq!((ten.count("ok"), ten.count("refused"), ten.count("resets")), (10, 0, 0));
    assert!((20.0..30.0).contains(&ten.of("elapsed")), "{}", ten.of("elapsed"));
    assert_eq!(burst(5).count("retransmitted"), 2);
}

/// gwsystems/sledge-serverless-framework PR 395: 200 connections and 50,000 requests on one
/// accepting thread. Backlog 128: 202 requests take more than 1 s. Backlog 4096: none, and the
/// longest takes 292 ms.
#[test]
fn a_longer_backlog_takes_the_seconds_out_of_the_tail() {
    let longest = |backlog: u32| {
        run(json!({
            "clients": { "users": 200, "requests": 50_000 },
            "server": { "preset": "gunicorn_sync", "backlog": backlog, "overhead": "none" },
            "handler": { "wait": "1400 us" },
        }))
    };
    let (short, long) = (longest(128), longest(4096));
    assert!(short.of("latency.max") > 1.0 && short.count("retransmitted") > 0);
    assert_eq!(long.count("retransmitted"), 0);
    assert_close("longest", long.of("latency.max"), 0.28, 0.02);
}

/// gunicorn sync with a timeout of 2 s and requests of 5 s (case w01): each is answered with an
/// error 2 to 3 s after its service began.
#[test]
fn the_master_kills_a_silent_sync_worker_within_a_second_of_its_timeout() {
    let mut bench = Bench::new(config(json!({
        "clients": { "users": 1, "requests": 1, "timeout": "15 s" },
        "server": { "preset": "gunicorn_sync", "worker_timeout": "2 s" },
        "handler": { "wait": "5 s" },
    })));
    for replication in 0..20 {
        let figures = bench.run(replication);
        assert_eq!((figures.count("ok"), figures.count("http_errors")), (0, 1));
        assert!((2.0..=3.01).contains(&figures.of("elapsed")), "{}", figures.of("elapsed"));
        assert_eq!(figures.count("worker_restarts"), 1);
    }
}

/// benoitc/gunicorn issue 3038: gthread with `--max-requests 10`, one request after another: the
/// 11th is accepted by the worker that is about to end, and reset. gunicorn 23 does the same.
#[test]
fn the_request_after_the_last_of_a_gthread_worker_is_reset() {
    let figures = run(json!({
        "clients": { "users": 1, "requests": 11 },
        "server": { "preset": "gunicorn_gthread", "max_requests": 10 },
        "handler": { "wait": "10 ms" },
    }));
    assert_eq!((figures.count("ok"), figures.count("resets")), (10, 1));
}
