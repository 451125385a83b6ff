//! Whether a prediction holds.

use crate::case::Case;
use crate::runs::Runs;

/// One figure of a case, measured and predicted.
pub struct Figure {
    pub name: &'static str,
    /// The metric's column.
    pub metric: &'static str,
    /// What each repeat gave, in the metric's unit.
    pub repeats: Vec<f64>,
    /// The median over the repeats.
    pub measured: f64,
    /// The median over the replications.
    pub predicted: f64,
    /// How far apart the two may lie.
    pub allowed: f64,
    pub verdict: Verdict,
}

/// How a prediction holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Median against median within the tolerance.
    Held,
    /// Not the median, but every repeat is within the tolerance of some replication: the case, or
    /// its random arrivals, vary that much.
    HeldInSpread,
    Missed,
}

#[derive(Clone, Copy)]
enum Tolerance {
    /// A share of the measured value.
    Share(f64),
    /// A share, or one interval of the retransmission clock at that place if anything was
    /// retransmitted.
    Tail(f64, bool),
    /// Points of the attempts.
    Points(f64),
    /// Shown only: what is neither a timeout nor an error.
    NotJudged,
}

impl Tolerance {
    fn allows(&self, measured: f64, predicted: f64, attempts: f64) -> bool {
        (predicted - measured).abs() <= self.width(measured, attempts)
    }

    /// How far from `measured` a prediction may lie.
    fn width(&self, measured: f64, attempts: f64) -> f64 {
        match self {
            Self::Share(share) | Self::Tail(share, false) => share * measured,
            Self::Tail(share, true) => (share * measured).max(clock_interval(measured)),
            Self::NotJudged => f64::INFINITY,
            Self::Points(points) => (points * attempts).max(0.5),
        }
    }
}

/// The interval that the data clock has reached `seconds` after a SYN that was sent at 0 and
/// again at 1 s; none before.
fn clock_interval(seconds: f64) -> f64 {
    let mut interval = 0.208;
    if seconds < 1.0 {
        return 0.0;
    }
    while 1.0 + 2.0 * interval <= seconds {
        interval *= 2.0;
    }
    interval
}

/// All figures of a case that are judged.
pub fn judge(case: &Case, runs: &Runs) -> Vec<Figure> {
    let tail = Tolerance::Tail(0.20, case.has_retransmissions());
    let rows: [(&'static str, &'static str, &str, f64, Tolerance); 8] = [
        ("elapsed s", "elapsed", "elapsed_s", 1.0, Tolerance::Share(0.10)),
        ("answers/s", "throughput", "", 1.0, Tolerance::Share(0.10)),
        ("p50 ms", "latency.p50", "p50_ms", 1e-3, Tolerance::Share(0.10)),
        ("p95 ms", "latency.p95", "p95_ms", 1e-3, tail),
        ("p99 ms", "latency.p99", "p99_ms", 1e-3, tail),
        ("ok", "ok", "ok", 1.0, Tolerance::NotJudged),
        ("timeouts", "timeouts", "timeouts", 1.0, Tolerance::Points(0.02)),
        ("errors", "http_errors", "http_errors", 1.0, Tolerance::Points(0.02)),
    ];
    let attempts = case.repeats.median("attempts").unwrap_or(case.requests as f64);
    let figure =
        |(name, metric, key, scale, tolerance): (_, &'static str, &str, f64, Tolerance)| {
            let repeats =
                if key.is_empty() { case.throughputs() } else { case.repeats.values(key).to_vec() };
            let repeats: Vec<f64> = repeats.iter().map(|value| value * scale).collect();
            let predictions = runs.of(metric);
            if repeats.is_empty() || predictions.is_empty() {
                return None;
            }
            let (measured, predicted) = (median(&repeats), median(&predictions));
            let alike = |repeat: &f64| {
                predictions.iter().any(|value| tolerance.allows(*repeat, *value, attempts))
            };
            let verdict = if tolerance.allows(measured, predicted, attempts) {
                Verdict::Held
            } else if repeats.iter().all(alike) {
                Verdict::HeldInSpread
            } else {
                Verdict::Missed
            };
            let allowed = tolerance.width(measured, attempts) / scale;
            let (measured, predicted) = (measured / scale, predicted / scale);
            Some(Figure { name, metric, repeats, measured, predicted, allowed, verdict })
        };
    rows.into_iter().filter_map(figure).collect()
}

/// The middle value, or the mean of the two middle ones.
pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}
