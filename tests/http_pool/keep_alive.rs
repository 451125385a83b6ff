//! Kept connections of gthread workers, worked out by hand from `gunicorn/workers/gthread.py` of
//! version 23. That version itself, driven in the same way, gives the same times to 10 ms.

use serde_json::{Value, json};

use crate::harness::{Figures, assert_close, run};

/// Clients that keep their connections, and a worker without costs of its own.
fn kept(clients: Value, server: Value) -> Figures {
    let mut config = json!({
        "clients": { "keep_alive": true },
        "server": { "preset": "gunicorn_gthread", "overhead": "none" },
        "handler": { "wait": "10 ms" },
    });
    for (part, from) in [("clients", clients), ("server", server)] {
        let into = config[part].as_object_mut().expect("an object");
        into.extend(from.as_object().expect("an object").clone());
    }
    run(config)
}

/// The first is answered at 10 ms and kept, the second is accepted and not polled, since there are
/// 2 connections; the third waits in the queue. At 2.01 s the first is closed, the second is served
/// until 2.02 s and kept, the third is accepted; at 4.02 s that goes on.
#[test]
fn a_kept_connection_that_has_been_idle_for_too_long_makes_room_for_the_next() {
    let figures = kept(
        json!({ "users": 3, "requests": 3 }),
        json!({ "threads": 1, "worker_connections": 2 }),
    );
    assert_eq!(figures.count("ok"), 3);
    assert_close("second", figures.of("latency.p50"), 2.02, 1e-3);
    assert_close("third", figures.of("latency.max"), 4.03, 1e-3);
}

/// As before, but the first user's next request comes at once and is not polled: at 2.01 s it is
/// reset. The second user is answered at 2.02 s, and again at 2.03 s on the same connection.
#[test]
fn a_request_that_is_not_polled_is_reset_when_its_connection_is_overdue() {
    let figures = kept(
        json!({ "users": 2, "requests": 4 }),
        json!({ "threads": 1, "worker_connections": 2 }),
    );
    assert_eq!((figures.count("ok"), figures.count("resets")), (3, 1));
    assert_close("reset after", figures.of("failed_latency.max"), 2.0, 1e-3);
    assert_close("elapsed", figures.of("elapsed"), 2.03, 1e-9);
}

/// At most `worker_connections - threads` are kept, which is none: every answer closes its
/// connection, and 24 requests on 4 threads take six times 20 ms.
#[test]
fn with_as_many_threads_as_connections_none_is_kept_and_nothing_stops() {
    let figures = run(json!({
        "clients": { "users": 8, "requests": 24, "keep_alive": true },
        "server": {
            "preset": "gunicorn_gthread", "overhead": "none", "threads": 4, "worker_connections": 4
        },
        "handler": { "wait": "20 ms" },
    }));
    assert_eq!((figures.count("ok"), figures.count("resets")), (24, 0));
    assert!(figures.of("elapsed") < 0.25, "{}", figures.of("elapsed"));
}

/// Below `worker_connections` the accepting thread polls for 1 s at a time. It last did something
/// at 0 s, so a connection that is due at 2.01 s is closed at 3 s: what comes on it at 2.31 s is
/// served.
#[test]
fn an_overdue_connection_lives_until_the_accepting_thread_looks() {
    let through_proxy = |think: &str| {
        let proxy = json!({ "keepalive": 8, "request_cpu": "0 s", "answer_cpu": "0 s" });
        let clients = json!({ "users": 1, "requests": 2, "think_time": think });
        let figures = kept(clients, json!({ "threads": 1, "proxy": proxy }));
        assert_eq!(figures.count("ok"), 2);
        (figures.count("proxy.upstream.opened"), figures.count("proxy.upstream.reused"))
    };
    assert_eq!(through_proxy("2300 ms"), (1, 1));
    assert_eq!(through_proxy("3100 ms"), (2, 0));
}

/// The last request of a worker closes its connection. The next one is accepted, since the accepting
/// thread waits for just that, and reset: nobody looks at it again.
#[test]
fn a_worker_with_kept_connections_is_replaced_after_its_number_of_requests() {
    let figures = kept(json!({ "users": 1, "requests": 6 }), json!({ "max_requests": 2 }));
    assert_eq!((figures.count("ok"), figures.count("resets")), (4, 2));
    assert_eq!(figures.count("worker_restarts"), 2);
}

/// With nothing to wake it, the accepting thread waits for up to a second before it sees that its
/// worker is to end.
#[test]
fn a_worker_that_nobody_asks_any_more_ends_within_a_second() {
    let figures = |think: &str| {
        let clients = json!({ "users": 1, "requests": 6, "think_time": think });
        let figures = kept(clients, json!({ "max_requests": 2, "boot_time": "1 ms" }));
        (figures.count("ok"), figures.count("resets"), figures.count("worker_restarts"))
    };
    assert_eq!(figures("900 ms"), (4, 2, 2));
    assert_eq!(figures("1100 ms"), (6, 0, 3));
}
