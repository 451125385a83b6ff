//! nginx in front of the server. Each figure is worked out by hand from the mechanism.

use serde_json::{Value, json};

use crate::harness::{Figures, assert_close, run};

/// `requests` at once through a proxy with `proxy` set, to one sync worker of 100 ms a request.
fn burst(requests: u32, backlog: u32, proxy: Value) -> Value {
    json!({
        "clients": { "arrival": "burst", "requests": requests },
        "server": { "preset": "gunicorn_sync", "backlog": backlog, "overhead": "none", "proxy": proxy },
        "handler": { "wait": "100 ms" },
        "network": { "timer_wheel": false },
    })
}

fn outcomes(figures: &Figures) -> [u64; 4] {
    ["ok", "http_errors.bad_gateway", "http_errors.gateway_timeout", "timeouts"]
        .map(|metric| figures.count(metric))
}

/// The proxy hands all requests on at once, so they wait at the server instead.
#[test]
fn an_idle_proxy_adds_nothing_and_takes_no_place_in_a_line() {
    let proxied = run(burst(10, 128, json!({})));
    assert_eq!(outcomes(&proxied), [10, 0, 0, 0]);
    assert_close("elapsed", proxied.of("elapsed"), 1.0, 1e-9);
    assert_close("latency.mean", proxied.of("latency.mean"), 0.55, 1e-9);
    assert_eq!(proxied.count("proxy.upstream.opened"), 10);
    assert_eq!(proxied.count("proxy.accept_queue.greatest"), 1);
    assert_eq!(proxied.count("accept_queue.greatest"), 9);
}

/// A Unix socket of backlog 4 holds five beside the one in service: the other four of ten are
/// refused at once.
#[test]
fn a_full_unix_socket_is_a_502_at_once() {
    let figures = run(burst(10, 4, json!({ "upstream": "unix" })));
    assert_eq!(outcomes(&figures), [6, 4, 0, 0]);
    assert_close("failed", figures.of("failed_latency.mean") + 1.0, 1.0, 1e-9);
}

/// Over TCP the four SYNs are lost, come again after 1 s, when the queue is empty, and all are
/// answered: 600 ms of service, then 400 ms from 1 s on.
#[test]
fn a_full_tcp_backlog_delays_by_the_syn_clock_instead() {
    let figures = run(burst(10, 4, json!({})));
    assert_eq!(outcomes(&figures), [10, 0, 0, 0]);
    assert_close("elapsed", figures.of("elapsed"), 1.4, 1e-9);
    assert_eq!(figures.count("retransmissions.syn"), 4);
    // Four of ten requests waited 1 s for their SYN.
    assert_close("lost", figures.of("request_time.retransmission"), 0.4, 1e-9);
}

/// With 500 ms for connecting, the four whose SYN was lost get a 504 then.
#[test]
fn a_lost_syn_is_a_504_when_the_proxy_does_not_wait_for_the_next() {
    let figures = run(burst(10, 4, json!({ "connect_timeout": "500 ms" })));
    assert_eq!(outcomes(&figures), [6, 0, 4, 0]);
    assert_close("failed", figures.of("failed_latency.mean"), 0.5, 1e-9);
    assert_close("elapsed", figures.of("elapsed"), 0.6, 1e-9);
    assert_eq!(figures.count("executed"), 6);
}

/// nginx's default of 60 s: of 30 requests of 5 s in line, those whose turn ends after 60 s are
/// 504s, and the server executes them all the same.
#[test]
fn who_waits_for_60_s_gets_a_504_and_is_executed_for_nobody() {
    let mut value = burst(30, 128, json!({}));
    value["handler"]["wait"] = json!("5 s");
    value["server"]["worker_timeout"] = json!("0 s");
    let figures = run(value);
    // The twelfth is done at 60 s, in the same instant as the limit, which was armed before.
    let [ok, bad, late, _] = outcomes(&figures);
    assert_eq!((bad, ok + late), (0, 30));
    assert!(ok == 11 || ok == 12, "{ok}");
    assert_close("failed", figures.of("failed_latency.mean"), 60.0, 1e-9);
    assert_eq!(figures.count("executed"), 30);
    assert_eq!(figures.count("executed.wasted"), late);
}

/// Ten clients give up after 250 ms. Two have their answer; eight leave, and nginx closes its side
/// of their connections. What the server had in its queue by then it still executes.
#[test]
fn a_client_that_leaves_is_a_499_and_the_server_is_not_spared() {
    let mut value = burst(10, 128, json!({}));
    value["clients"]["timeout"] = json!("250 ms");
    let figures = run(value.clone());
    assert_eq!(outcomes(&figures), [2, 0, 0, 8]);
    assert_eq!(figures.count("proxy.client_aborts"), 8);
    assert_eq!(figures.count("executed.wasted"), 8);
    value["server"]["proxy"]["ignore_client_abort"] = json!(true);
    let ignored = run(value.clone());
    assert_eq!(outcomes(&ignored), [2, 0, 0, 8]);
    assert_eq!(ignored.count("proxy.client_aborts"), 0);
    assert_eq!(ignored.count("executed.wasted"), 8);
    // With a backlog of 2, four are in; the other six leave with their SYN lost, for nothing.
    value["server"]["backlog"] = json!(2);
    value["server"]["proxy"]["ignore_client_abort"] = json!(false);
    let short = run(value);
    assert_eq!(outcomes(&short), [2, 0, 0, 8]);
    assert_eq!(short.count("executed"), 4);
}

/// `max_conns` lets so many in and tells the others at once: an admission limit.
#[test]
fn max_conns_is_an_admission_limit() {
    let figures = run(burst(10, 128, json!({ "max_conns": 3 })));
    assert_eq!(outcomes(&figures), [3, 7, 0, 0]);
    assert_close("elapsed", figures.of("elapsed"), 0.3, 1e-9);
}

/// Two of 12 connections are nginx's own. Each client takes one when it is accepted and one
/// more when its request is passed on, at once: five get both, the others none.
#[test]
fn without_worker_connections_clients_are_closed() {
    let figures = run(burst(8, 128, json!({ "worker_connections": 12 })));
    assert_eq!(figures.count("ok"), 5);
    assert_eq!(figures.count("resets"), 3);
    assert_eq!(figures.count("proxy.closed"), 3);
}

/// An odd one out: nine for clients' use make four pairs and a client without an upstream: a 500.
/// Those that come in the same instant find none at all.
#[test]
fn without_a_worker_connection_for_the_server_a_request_fails() {
    let figures = run(burst(8, 128, json!({ "worker_connections": 11 })));
    let counts = ["ok", "http_errors", "resets"].map(|metric| figures.count(metric));
    assert_eq!(counts, [4, 1, 3]);
}

/// Nobody listens for the first second.
#[test]
fn a_server_that_does_not_listen_yet_refuses_and_is_a_502_behind_the_proxy() {
    let starts = |proxy: Value| {
        let mut value = burst(5, 128, proxy);
        value["server"]["listens_from"] = json!("1 s");
        value["clients"]["retry"] = json!({ "attempts": 10, "pause": "300 ms" });
        run(value)
    };
    // Attempts at 0, 0.3, 0.6, 0.9 and 1.2 s, of which the last succeeds.
    let direct = starts(Value::Null);
    assert_eq!((direct.count("refused"), direct.count("ok")), (20, 5));
    assert_close("elapsed", direct.of("elapsed"), 1.7, 1e-9);
    for upstream in ["tcp", "unix"] {
        let proxied = starts(json!({ "upstream": upstream }));
        assert_eq!(outcomes(&proxied), [5, 20, 0, 0]);
        assert_close("elapsed", proxied.of("elapsed"), 1.7, 1e-9);
    }
}

fn keeping(preset: &str, keepalive: u32, users: u32) -> Figures {
    run(json!({
        "clients": { "users": users, "requests": 400 },
        "server": { "preset": preset, "threads": 4, "overhead": "none", "proxy": { "keepalive": keepalive } },
        "handler": { "wait": "10 ms" },
    }))
}

#[test]
fn kept_connections_are_as_many_as_requests_at_once() {
    let kept = keeping("gunicorn_gthread", 16, 4);
    assert_eq!((kept.count("ok"), kept.count("proxy.upstream.opened")), (400, 4));
    assert_eq!(kept.count("proxy.upstream.reused"), 396);
    let closed = keeping("gunicorn_gthread", 0, 4);
    assert_eq!(closed.count("proxy.upstream.opened"), 400);
    // A sync worker closes every connection whatever the proxy would like.
    assert_eq!(keeping("gunicorn_sync", 16, 4).count("proxy.upstream.opened"), 400);
}

/// A kept connection is used up after so many requests, and one that the server closes when it is
/// idle (gunicorn after 2 s, nginx after 60 s) is opened anew.
#[test]
fn kept_connections_end() {
    let mut value = json!({
        "clients": { "users": 1, "requests": 40 },
        "server": { "preset": "gunicorn_gthread", "overhead": "none", "proxy": { "keepalive": 4, "keepalive_requests": 10 } },
        "handler": { "wait": "10 ms" },
    });
    assert_eq!(run(value.clone()).count("proxy.upstream.opened"), 4);
    value["clients"]["think_time"] = json!("3 s");
    let idle = run(value);
    assert_eq!((idle.count("ok"), idle.count("proxy.upstream.opened")), (40, 40));
}

/// Ten clients take 1 s each to send their request. A sync worker waits for one after another;
/// behind a buffering proxy it never waits. The same with answers that take 1 s to read.
#[test]
fn a_buffering_proxy_takes_slow_clients_off_the_workers() {
    let elapsed = |transfer: &str, proxy: Value| {
        let mut value = burst(10, 128, proxy);
        value["clients"][transfer] = json!("1 s");
        run(value).of("elapsed")
    };
    // The first 1 s of sending is everybody's: accepted late, nine have sent when their turn comes.
    assert_close("direct", elapsed("request_transfer", Value::Null), 2.0, 1e-9);
    assert_close("buffered", elapsed("request_transfer", json!({})), 2.0, 1e-9);
    assert_close("direct", elapsed("answer_transfer", Value::Null), 11.0, 1e-9);
    assert_close("buffered", elapsed("answer_transfer", json!({})), 2.0, 1e-9);
    let unbuffered = json!({ "buffering": false });
    assert_close("unbuffered", elapsed("answer_transfer", unbuffered), 11.0, 1e-9);
}

/// One client that never sends blocks a sync worker for good; the proxy closes it after 60 s, and
/// the worker never knows of it.
#[test]
fn silent_peers_hold_the_proxy_and_not_the_server() {
    let silent = |proxy: Value| {
        let mut value = burst(10, 128, proxy);
        value["clients"]["silent_peers"] = json!(1);
        value["clients"]["timeout"] = json!("5 s");
        value["server"]["worker_timeout"] = json!("0 s");
        run(value).count("ok")
    };
    assert_eq!((silent(Value::Null), silent(json!({}))), (0, 10));
}

/// A worker of the proxy is a server of one at a time: 10 users, 1 ms for each request and answer.
#[test]
fn a_proxy_that_computes_is_a_bottleneck_of_its_own() {
    let figures = run(json!({
        "clients": { "users": 10, "requests": 2000 },
        "server": {
            "preset": "gunicorn_sync", "workers": 8, "overhead": "none",
            "proxy": { "request_cpu": "600 us", "answer_cpu": "400 us" },
        },
        "handler": { "wait": "1 ms" },
        "host": { "cores": 2 },
    }));
    assert_close("throughput", figures.of("throughput"), 1000.0, 0.01);
    // Little's law: of the 10 ms that a request takes, 1 ms is the server's.
    let at_proxy = figures.of("request_time.proxy") + figures.of("request_time.accept_queue");
    assert_close("at the proxy", at_proxy, 0.009, 0.05);
}

#[test]
fn every_attempt_through_a_proxy_has_exactly_one_outcome() {
    for preset in ["werkzeug_single", "werkzeug_threaded", "gunicorn_sync", "gunicorn_gthread"] {
        for keepalive in [0, 8] {
            for (timeout, upstream) in
                [(None, "tcp"), (Some("30 ms"), "unix"), (Some("1200 ms"), "tcp"), (None, "unix")]
            {
                for patience in [false, true] {
                    let figures = run(json!({
                        "clients": { "users": 60, "requests": 600, "timeout": timeout, "keep_alive": patience },
                        "server": { "preset": preset, "backlog": 3, "proxy": {
                            "upstream": upstream, "keepalive": keepalive, "backlog": 5, "read_timeout": "700 ms",
                            "connect_timeout": "900 ms", "request_cpu": "30 us", "answer_cpu": "30 us",
                            "ignore_client_abort": patience, "worker_connections": 100,
                        } },
                        "handler": { "wait": "5 ms" },
                    }));
                    let kinds = ["ok", "timeouts", "http_errors", "resets", "refused"];
                    let sum: u64 = kinds.iter().map(|kind| figures.count(kind)).sum();
                    assert_eq!(figures.count("attempts"), sum, "{preset} {keepalive} {upstream}");
                    let served = figures.count("executed") - figures.count("executed.wasted");
                    assert!(served >= figures.count("ok"), "{preset} {keepalive} {upstream}");
                    let parts = [
                        "failed_attempts",
                        "retry_pause",
                        "retransmission",
                        "accept_queue",
                        "proxy",
                        "worker_wait",
                        "lock",
                        "cpu",
                        "spawn",
                        "wait",
                        "fan_out",
                        "client",
                    ];
                    let sum: f64 =
                        parts.iter().map(|part| figures.of(&format!("request_time.{part}"))).sum();
                    let whole = figures.of("request_time");
                    assert!(whole.is_nan() || (sum - whole).abs() < 1e-9, "{sum} of {whole}");
                }
            }
        }
    }
}
