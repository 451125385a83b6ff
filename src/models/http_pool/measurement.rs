//! What a run counts, and the figures made of it.

use std::borrow::Cow;

use hdrhistogram::Histogram;

use crate::engine::{SimDuration, SimTime};
use crate::resources::TimeAverage;

/// Why an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Not connected in time.
    ConnectTimeout,
    /// Connected, but not answered in time.
    ReadTimeout,
    /// Answered with an error (a killed worker).
    HttpError,
    /// The proxy could not reach the server, or lost it (502).
    BadGateway,
    /// The server let the proxy wait for too long (504).
    GatewayTimeout,
    /// The connection was reset, or closed without an answer.
    Reset,
    /// Nobody listened.
    Refused,
}

/// What became of an attempt.
pub type Outcome = Result<(), Failure>;

/// Where the time of the requests that succeeded went, in nanoseconds summed over them. The
/// parts sum to the whole.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestTime {
    pub total: u64,
    pub failed_attempts: u64,
    pub retry_pause: u64,
    pub retransmission: u64,
    pub accept_queue: u64,
    pub proxy: u64,
    pub worker_wait: u64,
    pub lock: u64,
    pub cpu: u64,
    pub spawn: u64,
    pub wait: u64,
    pub fan_out: u64,
}

/// The counters of a run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    histograms: Histograms,
    ok_nanos: u128,
    failed_nanos: u128,
    pub requests: u64,
    pub requests_failed: u64,
    pub requests_executed: u64,
    pub attempts: u64,
    connect_timeouts: u64,
    read_timeouts: u64,
    http_errors: u64,
    bad_gateways: u64,
    gateway_timeouts: u64,
    resets: u64,
    refused: u64,
    pub client_aborts: u64,
    pub proxy_closed: u64,
    pub upstream_opened: u64,
    pub upstream_reused: u64,
    pub syn_retransmissions: u64,
    pub data_retransmissions: u64,
    pub synack_retransmissions: u64,
    pub retransmitted: u64,
    pub executed: u64,
    pub wasted: u64,
    pub restarts: u64,
    last_outcome: SimTime,
    pub last_executed: SimTime,
    pub time: RequestTime,
    /// Requests being served, now and as of the last outcome.
    busy: TimeAverage,
    busy_at_outcome: TimeAverage,
    /// Connections in the accept queue, likewise.
    queued: TimeAverage,
    queued_at_outcome: TimeAverage,
}

/// Latencies of attempts in microseconds.
#[derive(Clone, Debug)]
struct Histograms {
    ok: Histogram<u64>,
    failed: Histogram<u64>,
}

impl Default for Histograms {
    fn default() -> Self {
        let histogram = || Histogram::new(3).expect("three digits are allowed");
        Self { ok: histogram(), failed: histogram() }
    }
}

impl Histograms {
    /// Of answered and failed attempts together.
    fn all(&self) -> Cow<'_, Histogram<u64>> {
        if self.failed.is_empty() {
            return Cow::Borrowed(&self.ok);
        }
        let mut all = self.ok.clone();
        // Of the same digits and free to grow, so the sum always fits.
        let added = all.add(&self.failed);
        debug_assert!(added.is_ok());
        Cow::Owned(all)
    }
}

impl Tally {
    /// Zero again; keeps the memory.
    pub fn reset(&mut self) {
        let mut kept = std::mem::take(&mut self.histograms);
        kept.ok.reset();
        kept.failed.reset();
        *self = Self { histograms: kept, ..Self::default() };
    }

    /// An attempt was answered.
    #[inline]
    pub fn attempt_ok(&mut self, latency: SimDuration) {
        record(&mut self.histograms.ok, latency);
        self.ok_nanos += u128::from(latency.as_nanos());
    }

    /// An attempt failed.
    pub fn attempt_failed(&mut self, why: Failure, after: SimDuration) {
        record(&mut self.histograms.failed, after);
        self.failed_nanos += u128::from(after.as_nanos());
        *match why {
            Failure::ConnectTimeout => &mut self.connect_timeouts,
            Failure::ReadTimeout => &mut self.read_timeouts,
            Failure::HttpError => &mut self.http_errors,
            Failure::BadGateway => &mut self.bad_gateways,
            Failure::GatewayTimeout => &mut self.gateway_timeouts,
            Failure::Reset => &mut self.resets,
            Failure::Refused => &mut self.refused,
        } += 1;
    }

    /// An attempt has ended, or a request was given up: averages run until here.
    #[inline]
    pub fn outcome(&mut self, now: SimTime) {
        self.last_outcome = now;
        self.busy_at_outcome.clone_from(&self.busy);
        self.queued_at_outcome.clone_from(&self.queued);
    }

    /// So many connections are in the accept queue.
    #[inline]
    pub fn queue_is(&mut self, now: SimTime, length: usize) {
        self.queued.set(now, length as u64);
    }

    /// Requests that are being served.
    pub fn being_served(&self) -> u64 {
        self.busy.level()
    }

    /// So many more requests are being served.
    pub fn serving(&mut self, now: SimTime, change: i64) {
        let level = self.busy.level().saturating_add_signed(change);
        self.busy.set(now, level);
    }
}

/// The histogram grows as far as needed, and then keeps its size.
fn record(histogram: &mut Histogram<u64>, latency: SimDuration) {
    let micros = latency.as_nanos() / 1_000;
    if histogram.record(micros).is_err() {
        histogram.saturating_record(micros);
    }
}

/// What the tally does not count itself.
#[derive(Clone, Copy, Debug)]
pub struct Outside {
    pub accept_queue_greatest: f64,
    pub overflows: f64,
    pub half_open_drops: f64,
    pub cookies: f64,
    pub cpu_utilisation: f64,
    pub proxy_queue_greatest: f64,
    pub proxy_overflows: f64,
}

impl Tally {
    /// Writes all figures in the order of [`super::metrics::METRICS`].
    pub fn measure(&self, outside: &Outside, figures: &mut [f64]) {
        let ok = self.histograms.ok.len() as f64;
        let failed = self.histograms.failed.len() as f64;
        let elapsed = self.last_outcome.as_seconds();
        let timeouts = (self.connect_timeouts + self.read_timeouts) as f64;
        let attempts = self.histograms.all();
        let converged = self.requests_executed == self.requests;
        let all = [
            elapsed,
            ratio(ok, elapsed),
            if converged { self.last_executed.as_seconds() } else { f64::NAN },
            quantile(&self.histograms.ok, 0.50),
            quantile(&self.histograms.ok, 0.95),
            quantile(&self.histograms.ok, 0.99),
            ratio(timeouts, self.attempts as f64),
            ratio(self.wasted as f64, self.executed as f64),
            ratio(self.ok_nanos as f64 * 1e-9, ok),
            quantile(&self.histograms.ok, 1.0),
            ratio(self.failed_nanos as f64 * 1e-9, failed),
            quantile(&self.histograms.failed, 0.50),
            quantile(&self.histograms.failed, 0.95),
            quantile(&self.histograms.failed, 0.99),
            quantile(&self.histograms.failed, 1.0),
            ratio((self.ok_nanos + self.failed_nanos) as f64 * 1e-9, ok + failed),
            quantile(&attempts, 0.50),
            quantile(&attempts, 0.95),
            quantile(&attempts, 0.99),
            self.requests as f64,
            ok,
            self.requests_failed as f64,
            self.attempts as f64,
            timeouts,
            self.connect_timeouts as f64,
            self.read_timeouts as f64,
            (self.http_errors + self.bad_gateways + self.gateway_timeouts) as f64,
            self.bad_gateways as f64,
            self.gateway_timeouts as f64,
            self.resets as f64,
            self.refused as f64,
            self.client_aborts as f64,
            self.proxy_closed as f64,
            self.upstream_opened as f64,
            self.upstream_reused as f64,
            outside.proxy_queue_greatest,
            outside.proxy_overflows,
            self.executed as f64,
            self.wasted as f64,
            self.syn_retransmissions as f64,
            self.synack_retransmissions as f64,
            self.data_retransmissions as f64,
            self.retransmitted as f64,
            outside.accept_queue_greatest,
            ratio(self.queued_at_outcome.area_seconds(self.last_outcome), elapsed),
            outside.overflows,
            outside.half_open_drops,
            outside.cookies,
            ratio(self.busy_at_outcome.area_seconds(self.last_outcome), elapsed),
            outside.cpu_utilisation,
            self.restarts as f64,
        ];
        figures[..all.len()].copy_from_slice(&all);
        let parts = self.time.all();
        for (figure, nanos) in figures[all.len()..].iter_mut().zip(parts) {
            *figure = ratio(nanos as f64 * 1e-9, ok);
        }
    }
}

impl RequestTime {
    /// The whole and its parts, in the order of [`super::metrics::METRICS`].
    fn all(&self) -> [u64; 13] {
        let parts = [
            self.failed_attempts,
            self.retry_pause,
            self.retransmission,
            self.accept_queue,
            self.proxy,
            self.worker_wait,
            self.lock,
            self.cpu,
            self.spawn,
            self.wait,
            self.fan_out,
        ];
        let [a, b, c, d, e, f, g, h, i, j, k] = parts;
        let client = self.total.saturating_sub(parts.iter().sum());
        [self.total, a, b, c, d, e, f, g, h, i, j, k, client]
    }
}

fn ratio(of: f64, to: f64) -> f64 {
    if to > 0.0 { of / to } else { f64::NAN }
}

fn quantile(histogram: &Histogram<u64>, share: f64) -> f64 {
    if histogram.is_empty() {
        return f64::NAN;
    }
    // Between the two nearest ranks, as most tools do: with batches of answers the median of an
    // even number lies between two batches.
    let count = histogram.len() as f64;
    let rank = share * (count - 1.0);
    let below = rank as u64 as f64;
    let at = |rank: f64| histogram.value_at_quantile(((rank + 0.5) / count).min(1.0)) as f64;
    let (low, high) = (at(below), at((below + 1.0).min(count - 1.0)));
    (low + (rank - below) * (high - low)) * 1e-6
}
