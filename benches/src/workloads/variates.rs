use convsim::engine::{Stream, StreamSeed};
use rand_distr::{Distribution, Exp1};

/// The stream of `purpose` in `workload`; the same one for every contender.
pub(super) fn stream(workload: &str, purpose: &str) -> Stream {
    StreamSeed { master: 1, replication: 0 }.stream(workload, purpose)
}

/// An exponential time (ziggurat) in whole nanoseconds.
#[inline]
pub(super) fn exponential(stream: &mut Stream, mean_ns: f64) -> u64 {
    let one: f64 = Exp1.sample(stream);
    (mean_ns * one + 0.5) as u64
}

/// Adds `value` to a running digest in which order matters.
#[inline]
pub(super) fn fold(digest: u64, value: u64) -> u64 {
    (digest ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
