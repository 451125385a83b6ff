//! What a user sets of a reverse proxy in front of the server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::SimDuration;

/// How the proxy reaches the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Upstream {
    /// Over TCP on the same host: a full listen backlog drops the SYN, and the proxy waits.
    #[default]
    Tcp,
    /// Over a Unix socket: a full listen backlog refuses at once (`EAGAIN`), which is a 502.
    Unix,
}

/// nginx as a reverse proxy in front of the server, with one server in its `upstream` block (so
/// there is no other to try next, and it is never marked as down). Defaults are nginx's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProxyConfig {
    /// `worker_processes`.
    #[schemars(range(min = 1, max = 1024), extend("x-unit" = "processes", "x-source" = "nginx ngx_core_module worker_processes"))]
    pub workers: u32,
    /// `worker_connections` of each worker: connections of clients and to the server together, the
    /// kept ones included. Two are nginx's own (its listening socket and the channel to the
    /// master). A client for whom there is none is accepted and closed, a request for whose
    /// upstream connection there is none gets a 500.
    #[schemars(range(min = 4, max = 1_000_000), extend("x-unit" = "connections", "x-source" = "nginx ngx_core_module worker_connections; src/event/ngx_event_accept.c, src/core/ngx_connection.c ngx_get_connection"))]
    pub worker_connections: u32,
    /// `listen ... backlog`.
    #[schemars(range(min = 0, max = 1_000_000), extend("x-unit" = "connections", "x-source" = "nginx ngx_http_core_module listen: 511 but on BSD and macOS"))]
    pub backlog: u32,
    /// How it reaches the server.
    pub upstream: Upstream,
    /// `proxy_connect_timeout`: a connection to the server that takes longer is a 504.
    #[schemars(extend("x-source" = "nginx ngx_http_proxy_module proxy_connect_timeout: 60s"))]
    pub connect_timeout: SimDuration,
    /// `proxy_read_timeout`: an answer that takes longer, counted from the request, is a 504.
    #[schemars(extend("x-source" = "nginx ngx_http_proxy_module proxy_read_timeout: 60s"))]
    pub read_timeout: SimDuration,
    /// `client_header_timeout`: a client that has not sent its request by then is closed.
    #[schemars(extend("x-source" = "nginx ngx_http_core_module client_header_timeout: 60s"))]
    pub client_header_timeout: SimDuration,
    /// `keepalive_timeout`: how long a client's idle connection stays open.
    #[schemars(extend("x-source" = "nginx ngx_http_core_module keepalive_timeout: 75s"))]
    pub client_keepalive_timeout: SimDuration,
    /// `keepalive` of the `upstream` block: idle connections to the server that each worker keeps;
    /// 0 for a new connection for each request.
    #[schemars(range(min = 0, max = 1_000_000), extend("x-unit" = "connections", "x-source" = "nginx ngx_http_upstream_module keepalive"))]
    pub keepalive: u32,
    /// `keepalive_timeout` of the `upstream` block.
    #[schemars(extend("x-source" = "nginx ngx_http_upstream_module keepalive_timeout: 60s"))]
    pub keepalive_timeout: SimDuration,
    /// `keepalive_requests` of the `upstream` block: so many requests are the last of a
    /// connection (100 before nginx 1.19.10).
    #[schemars(range(min = 1, max = 1_000_000_000), extend("x-unit" = "requests", "x-source" = "nginx ngx_http_upstream_module keepalive_requests: 1000"))]
    pub keepalive_requests: u64,
    /// `max_conns` of the server, with a `zone`: at so many requests under way the next one gets a
    /// 502 at once; 0 for no limit.
    #[schemars(range(min = 0, max = 1_000_000), extend("x-unit" = "requests", "x-source" = "nginx ngx_http_upstream_module server max_conns"))]
    pub max_conns: u32,
    /// `proxy_ignore_client_abort`: go on for a client that has left. Otherwise (499) the
    /// connection to the server is closed, which the server may or may not notice.
    #[schemars(extend("x-source" = "nginx ngx_http_proxy_module proxy_ignore_client_abort: off"))]
    pub ignore_client_abort: bool,
    /// `proxy_buffering` and `proxy_request_buffering`: the proxy takes a slow client's request in
    /// before it bothers the server, and the server's answer off its hands at once. Off: the
    /// server waits for a slow client as if there were no proxy.
    #[schemars(extend("x-source" = "nginx ngx_http_proxy_module proxy_buffering, proxy_request_buffering: on"))]
    pub buffering: bool,
    /// Processor time of a worker to accept, read and pass on a request, on the server's host; 0
    /// for a proxy elsewhere.
    #[schemars(extend("x-source" = "host; docs/http-proxy.md measures 100 to 205 us with the answer"))]
    pub request_cpu: SimDuration,
    /// The same to pass on the answer.
    #[schemars(extend("x-source" = "host; docs/http-proxy.md"))]
    pub answer_cpu: SimDuration,
}

impl Default for ProxyConfig {
    fn default() -> Self {
        let minute = SimDuration::from_whole_seconds(60);
        Self {
            workers: 1,
            worker_connections: 512,
            backlog: 511,
            upstream: Upstream::Tcp,
            connect_timeout: minute,
            read_timeout: minute,
            client_header_timeout: minute,
            client_keepalive_timeout: SimDuration::from_whole_seconds(75),
            keepalive: 0,
            keepalive_timeout: minute,
            keepalive_requests: 1000,
            max_conns: 0,
            ignore_client_abort: false,
            buffering: true,
            request_cpu: SimDuration::ZERO,
            answer_cpu: SimDuration::ZERO,
        }
    }
}
