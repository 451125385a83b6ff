//! What is measured of a run.

use crate::models::{Metric, Unit, WhenCut};

/// What is measured, in the order of [`super::measurement::Tally::measure`].
pub const METRICS: &[Metric] = &[
    Metric::headline(
        "elapsed",
        Unit::Seconds,
        "Until the last request of the workload was answered or given up.",
    ).growing(WhenCut::GrowsFromStart),
    Metric::headline(
        "throughput",
        Unit::PerSecond,
        "Answered requests for each second of `elapsed`.",
    ),
    Metric::headline(
        "convergence_time",
        Unit::Seconds,
        "Until every request had been executed once, by whichever of its attempts and for nobody too, so every port has the state that was asked for; nothing when some never were.",
    ).growing(WhenCut::GrowsFromStart),
    Metric::headline(
        "latency.p50",
        Unit::Seconds,
        "Median time of the answered attempts, from connect() to the answer.",
    ),
    Metric::headline("latency.p95", Unit::Seconds, "95th percentile of the same."),
    Metric::headline("latency.p99", Unit::Seconds, "99th percentile of the same."),
    Metric::headline("timeout_share", Unit::Share, "Timeouts for each attempt."),
    Metric::headline(
        "wasted_share",
        Unit::Share,
        "Share of the executed requests whose client had left.",
    ),
    Metric::detail("latency.mean", Unit::Seconds, "Mean time of the answered attempts."),
    Metric::detail("latency.max", Unit::Seconds, "Longest time of an answered attempt.").growing(WhenCut::Grows),
    Metric::detail("failed_latency.mean", Unit::Seconds, "Mean time of the failed attempts."),
    Metric::detail("failed_latency.p50", Unit::Seconds, "Median time of the failed attempts."),
    Metric::detail("failed_latency.p95", Unit::Seconds, "95th percentile of the same."),
    Metric::detail("failed_latency.p99", Unit::Seconds, "99th percentile of the same."),
    Metric::detail("failed_latency.max", Unit::Seconds, "Longest time of a failed attempt.").growing(WhenCut::Grows),
    Metric::detail(
        "attempt_latency.mean",
        Unit::Seconds,
        "Mean time of all attempts, answered or not.",
    ),
    Metric::detail("attempt_latency.p50", Unit::Seconds, "Median time of the same."),
    Metric::detail("attempt_latency.p95", Unit::Seconds, "95th percentile of the same."),
    Metric::detail("attempt_latency.p99", Unit::Seconds, "99th percentile of the same."),
    Metric::detail("requests", Unit::Count, "Requests that clients began.").growing(WhenCut::Grows),
    Metric::detail("ok", Unit::Count, "Attempts that were answered.").growing(WhenCut::Grows).more_is_better(),
    Metric::detail("failed", Unit::Count, "Requests that failed in spite of all retries.").growing(WhenCut::Grows),
    Metric::detail("attempts", Unit::Count, "Attempts, the retries included.").growing(WhenCut::Grows),
    Metric::detail("timeouts", Unit::Count, "Attempts that the client gave up.").growing(WhenCut::Grows),
    Metric::detail(
        "timeouts.connect",
        Unit::Count,
        "Of these, before the connection stood for the client.",
    ).growing(WhenCut::Grows),
    Metric::detail("timeouts.read", Unit::Count, "Of these, after that.").growing(WhenCut::Grows),
    Metric::detail(
        "http_errors",
        Unit::Count,
        "Attempts answered with an error (a killed worker, or the proxy).",
    ).growing(WhenCut::Grows),
    Metric::detail(
        "http_errors.bad_gateway",
        Unit::Count,
        "Of these, with 502: the proxy could not reach the server.",
    ).growing(WhenCut::Grows),
    Metric::detail(
        "http_errors.gateway_timeout",
        Unit::Count,
        "Of these, with 504: the server kept the proxy waiting.",
    ).growing(WhenCut::Grows),
    Metric::detail("resets", Unit::Count, "Attempts whose connection was reset.").growing(WhenCut::Grows),
    Metric::detail(
        "refused",
        Unit::Count,
        "Attempts that were refused because nobody listened; what does not fit is dropped.",
    ).growing(WhenCut::Grows),
    Metric::detail(
        "proxy.client_aborts",
        Unit::Count,
        "Requests whose client left while the proxy was at them (499).",
    ).growing(WhenCut::Grows),
    Metric::detail(
        "proxy.closed",
        Unit::Count,
        "Connections that the proxy accepted and closed: no worker_connection was free.",
    ).growing(WhenCut::Grows),
    Metric::detail(
        "proxy.upstream.opened",
        Unit::Count,
        "Connections that the proxy opened to the server.",
    ).growing(WhenCut::Grows),
    Metric::detail(
        "proxy.upstream.reused",
        Unit::Count,
        "Requests that the proxy sent on a kept connection.",
    ).growing(WhenCut::Grows).more_is_better(),
    Metric::detail(
        "proxy.accept_queue.greatest",
        Unit::Count,
        "Most connections in the proxy's accept queue.",
    ).growing(WhenCut::Grows),
    Metric::detail(
        "proxy.accept_queue.overflows",
        Unit::Count,
        "Segments dropped because the proxy's accept queue was full.",
    ).growing(WhenCut::Grows),
    Metric::detail(
        "executed",
        Unit::Count,
        "Requests that the server executed, for nobody included.",
    ).growing(WhenCut::Grows),
    Metric::detail("executed.wasted", Unit::Count, "Of these, those whose client had left.").growing(WhenCut::Grows),
    Metric::detail("retransmissions.syn", Unit::Count, "SYNs that clients sent again.").growing(WhenCut::Grows),
    Metric::detail("retransmissions.synack", Unit::Count, "SYN-ACKs that the server sent again.").growing(WhenCut::Grows),
    Metric::detail("retransmissions.data", Unit::Count, "Requests that clients sent again.").growing(WhenCut::Grows),
    Metric::detail(
        "retransmitted",
        Unit::Count,
        "Connections that got into the accept queue by a retransmission.",
    ).growing(WhenCut::Grows),
    Metric::detail("accept_queue.greatest", Unit::Count, "Most connections in the accept queue.").growing(WhenCut::Grows),
    Metric::detail(
        "accept_queue.mean",
        Unit::Count,
        "Connections in the accept queue, on average until the last outcome.",
    ),
    Metric::detail(
        "accept_queue.overflows",
        Unit::Count,
        "Segments dropped because the accept queue was full (ListenOverflows).",
    ).growing(WhenCut::Grows),
    Metric::detail(
        "half_open.drops",
        Unit::Count,
        "SYNs dropped because too many handshakes were half open (TCPReqQFullDrop).",
    ).growing(WhenCut::Grows),
    Metric::detail(
        "half_open.cookies",
        Unit::Count,
        "SYNs answered with a cookie for that reason (TCPReqQFullDoCookies).",
    ).growing(WhenCut::Grows),
    Metric::detail(
        "busy",
        Unit::Count,
        "Requests being executed, those for nobody included, on average until the last outcome.",
    ),
    Metric::detail(
        "cpu_utilisation",
        Unit::Share,
        "Busy share of the cores until the end of the run.",
    ),
    Metric::detail(
        "worker_restarts",
        Unit::Count,
        "Worker processes that ended and were replaced.",
    ).growing(WhenCut::Grows),
    Metric::detail(
        "request_time",
        Unit::Seconds,
        "Mean time of the answered requests, from the first attempt to the answer.",
    ),
    part("request_time.failed_attempts", "In attempts that failed."),
    part("request_time.retry_pause", "Pausing between attempts."),
    part(
        "request_time.retransmission",
        "Until the connection was in the accept queue: lost SYNs and ACKs.",
    ),
    part("request_time.accept_queue", "In the accept queue, with a proxy in both."),
    part("request_time.proxy", "In the proxy: its computing, and waiting for its worker."),
    part("request_time.worker_wait", "Accepted, but waiting for a thread or for the interpreter."),
    part("request_time.lock", "Waiting for locks, the serial part of a toggle included."),
    part("request_time.cpu", "Computing, and waiting for a core."),
    part("request_time.spawn", "In child processes, and waiting for the switch."),
    part("request_time.wait", "Sleeping or waiting as the handler says."),
    part("request_time.fan_out", "Waiting for the pool of a toggle-all."),
    part("request_time.client", "The client's own computing, and the network."),
];

const fn part(name: &'static str, summary: &'static str) -> Metric {
    Metric::part(name, "request_time", Unit::Seconds, summary)
}
