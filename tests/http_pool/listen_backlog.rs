//! What the listen queue does to a burst, second by second.

use convsim::engine::{Engine, Limits, SimTime, StreamSeed};
use convsim::models::Model;
use convsim::models::http_pool::HttpPool;
use serde_json::{Value, json};

use crate::harness::{Bench, assert_close, config, run};

fn burst(clients: u32, backlog: u32, wait: &str, network: Value) -> Value {
    json!({
        "clients": { "arrival": "burst", "requests": clients },
        "network": network,
        "server": { "preset": "werkzeug_single", "backlog": backlog, "overhead": "none" },
        "handler": { "wait": wait },
    })
}

/// Four clients at once, a service of 10 s, a backlog of 0, timers that are not rounded.
///
/// - 0 s: client 1 is served, client 2 is in the queue (backlog + 1 = 1), the SYNs of 3 and 4 are
///   dropped; again at 1, 3, 7 s.
/// - 10 s: client 1 is answered, 2 is served, the queue is empty.
/// - 15 s: the SYNs of 3 and 4 come again in one batch. Both are answered, one as half open, one
///   with a cookie; the first ACK fills the queue, the other and its request are dropped. That
///   request comes again 0.2, 0.4, 0.8, 1.6, 3.2 s later, and finds the queue full.
/// - 20 s: client 2 is answered, the third is served.
/// - 21.4 s: the request of the fourth comes again (6.4 s) and is queued.
/// - 30 s: the third is answered. 40 s: the fourth.
#[test]
fn a_burst_into_a_full_backlog_goes_by_the_clocks_to_the_second() {
    let figures = run(burst(4, 0, "10 s", json!({ "timer_wheel": false })));
    assert_eq!(figures.count("ok"), 4);
    assert_eq!(figures.of("elapsed"), 40.0);
    assert_eq!(figures.count("retransmissions.syn"), 8);
    assert_eq!(figures.count("retransmissions.data"), 6);
    assert_eq!(figures.count("half_open.cookies"), 1);
    // Eight SYNs (two at 0, 1, 3, 7 s), one ACK, the request, and five of its six copies.
    assert_eq!(figures.count("accept_queue.overflows"), 8 + 1 + 1 + 5);
    assert_eq!(figures.of("request_time.wait"), 10.0);
}

/// Two users, three requests, room for one in the queue; a service of 10 ms, after which the server
/// closes for 2 ms before it accepts the second user. The first is back 1 ms after its answer and
/// finds the queue full, or 3 ms after it and finds it empty.
#[test]
fn an_answered_client_that_is_back_before_the_server_has_closed_finds_the_queue_full() {
    let lost = |preset: &str, receive: &str| {
        let figures = run(json!({
            "clients": { "users": 2, "requests": 3, "receive_cpu": receive },
            "network": { "timer_wheel": false },
            "server": {
                "preset": preset, "workers": 1, "backlog": 0, "overhead": "none", "close_cpu": "2 ms",
            },
            "handler": { "wait": "10 ms" },
        }));
        figures.count("retransmissions.syn")
    };
    for preset in ["werkzeug_single", "gunicorn_sync"] {
        assert_eq!((lost(preset, "1 ms"), lost(preset, "3 ms")), (1, 0), "{preset}");
    }
}

/// Without cookies the second SYN at 15 s is dropped as well, and goes by the SYN clock: 31 s.
#[test]
fn without_cookies_the_loser_stays_on_the_syn_clock() {
    let network = json!({ "timer_wheel": false, "syncookies": false });
    let figures = run(burst(4, 0, "10 s", network));
    assert_eq!(figures.of("elapsed"), 41.0);
    assert_eq!(figures.count("retransmissions.data"), 0);
    assert_eq!(figures.count("half_open.drops"), 1);
}

/// Linux 6.5 and later: SYNs at 1, 2, 3, 4, 5, 7, 11 s; the queue is free from 10 s on.
#[test]
fn linear_syn_timeouts_try_every_second_first() {
    let network = json!({ "timer_wheel": false, "syncookies": false, "syn_linear_timeouts": 4 });
    let figures = run(burst(3, 0, "10 s", network));
    assert_eq!(figures.of("elapsed"), 30.0);
    assert_eq!(figures.count("retransmissions.syn"), 7);
}

/// Cases u03 and k03: 64 or 65 of 100 in 5 s in every repeat, in waves of nine.
#[test]
fn each_wave_of_a_burst_admits_backlog_plus_one() {
    let mut value = burst(100, 8, "20 ms", json!({}));
    value["clients"]["timeout"] = json!("5 s");
    value["server"]["overhead"] = json!("measured");
    let mut bench = Bench::new(config(value));
    for replication in 0..20 {
        let figures = bench.run(replication);
        assert!((63..=66).contains(&figures.count("ok")), "{}", figures.count("ok"));
        assert_eq!(figures.count("timeouts.connect"), 0);
    }
}

/// Case k05: without cookies 27 or 28 of 100, and all others time out connecting.
#[test]
fn without_cookies_a_burst_times_out_connecting() {
    let mut value = burst(100, 8, "20 ms", json!({ "syncookies": false }));
    value["clients"]["timeout"] = json!("5 s");
    let figures = run(value);
    assert!((27..=29).contains(&figures.count("ok")));
    assert_eq!(figures.count("timeouts"), figures.count("timeouts.connect"));
}

/// Case k04 and two repeats of u14: a remembered round trip of 100 ms makes the request come again
/// after 0.2, 0.5, 1.1, 2.3 s instead of 0.2, 0.4, 0.8, 1.7, 3.3 s, so one wave fewer fits in 5 s.
#[test]
fn a_remembered_round_trip_stretches_the_data_clock() {
    let mut value = burst(100, 8, "20 ms", json!({ "cached_rtt": "100 ms" }));
    value["server"]["overhead"] = json!("measured");
    value["clients"]["timeout"] = json!("5 s");
    let figures = run(value);
    assert!((54..=57).contains(&figures.count("ok")), "{}", figures.count("ok"));
}

/// A client that gives up while its SYN is lost costs nothing; one that is queued is still served.
#[test]
fn the_server_works_for_those_who_left_the_queue() {
    let mut value = burst(10, 3, "1 s", json!({}));
    value["clients"]["timeout"] = json!("900 ms");
    let figures = run(value);
    assert_eq!(figures.count("ok"), 0);
    assert_eq!(figures.count("executed"), 5);
    assert_eq!(figures.of("wasted_share"), 1.0);
    assert_eq!((figures.count("timeouts.read"), figures.count("timeouts.connect")), (5, 5));
}

/// A connection whose last ACK was dropped goes on sending after its client has left (case q02:
/// 46 answers, 55 executed).
#[test]
fn an_orphan_goes_on_retransmitting() {
    let mut value = burst(100, 8, "20 ms", json!({}));
    value["server"]["overhead"] = json!("measured");
    value["clients"]["timeout"] = json!("1500 ms");
    value["clients"]["timeout_mode"] = json!("phase");
    let figures = run(value);
    assert!((45..=48).contains(&figures.count("ok")), "{}", figures.count("ok"));
    assert!(figures.count("executed.wasted") > 0);
}

#[test]
fn a_round_trip_delays_every_step() {
    let figures = run(json!({
        "clients": { "users": 1, "requests": 10 },
        "network": { "round_trip": "40 ms" },
        "server": { "preset": "gunicorn_sync", "overhead": "none" },
        "handler": { "wait": "10 ms" },
    }));
    // SYN and SYN-ACK, request and answer: two round trips.
    assert_close("latency", figures.of("latency.mean"), 0.090, 1e-6);
}

#[test]
fn a_kept_connection_saves_the_handshake() {
    let loops = |keep_alive: bool| {
        run(json!({
            "clients": { "users": 2, "requests": 20, "keep_alive": keep_alive },
            "network": { "round_trip": "40 ms" },
            "server": { "preset": "gunicorn_gthread", "overhead": "none" },
            "handler": { "wait": "10 ms" },
        }))
    };
    assert_close("fresh", loops(false).of("elapsed"), 0.9, 1e-6);
    assert_close("kept", loops(true).of("elapsed"), 0.090 + 9.0 * 0.050, 1e-6);
}

/// Case u03: at 1 s all 91 lost SYNs are answered, but only 9 connections fit. Those that never get
/// in are connected from then on, and their timeline says so.
#[test]
fn a_client_whose_ack_was_dropped_is_connected_but_not_in_the_queue() {
    let settings = config(json!({
        "clients": { "arrival": "burst", "requests": 100, "timeout": "5 s" },
        "server": { "preset": "werkzeug_single", "backlog": 8 },
        "handler": { "wait": "20 ms" },
    }));
    let mut pool = HttpPool::new("http", settings);
    let mut engine = Engine::new(StreamSeed::default());
    engine.start_trace();
    engine.run(&mut pool, Limits { horizon: SimTime::MAX, ..Limits::default() });
    let trace = engine.take_trace().expect("a trace was begun");
    let seconds = |name: &str| {
        let named = trace.spans.iter().filter(move |span| span.name == name);
        named.map(|span| (span.start.as_seconds(), span.end.as_seconds())).collect::<Vec<_>>()
    };
    assert!(seconds("connecting").iter().all(|&(_, end)| end < 1.04));
    let outside = seconds("connected, but not in the accept queue");
    assert!(outside.iter().all(|&(start, _)| (1.0..1.04).contains(&start)));
    let given_up = trace.instants.iter().filter(|instant| instant.name == "read timeout").count();
    assert_eq!(outside.iter().filter(|&&(_, end)| end == 5.0).count(), given_up);
    assert!(given_up > 20);
}
