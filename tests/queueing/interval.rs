//! Replications and their intervals.

use convsim::engine::{Engine, Limits, Root, RunEnd, SimDuration, StreamSeed};
use convsim::quantities::DurationDistribution;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Two-sided confidence of every interval.
const CONFIDENCE: f64 = 0.999;
/// Independent replications of every figure.
const REPLICATIONS: u64 = 20;
/// Mean service time of most stations, long enough for whole nanoseconds to be fine grained.
pub const SERVICE: SimDuration = SimDuration::from_micros(1_000);

/// Figures of one kind, one for each replication.
pub struct Sample(Vec<f64>);

/// Runs `station` in every replication until it stops, and takes `figures` of each.
pub fn replicate<R: Root, const N: usize>(
    station: &mut R,
    figures: impl Fn(&R, &Engine<R::Event>) -> [f64; N],
) -> [Sample; N] {
    let mut engine = Engine::new(StreamSeed::default());
    let mut samples = std::array::from_fn(|_| Sample(Vec::new()));
    for replication in 0..REPLICATIONS {
        engine.reset(StreamSeed { master: 20_240_229, replication });
        assert_eq!(engine.run(station, Limits::default()), RunEnd::Stopped);
        for (sample, figure) in samples.iter_mut().zip(figures(station, &engine)) {
            sample.0.push(figure);
        }
    }
    samples
}

impl Sample {
    /// The closed form lies in the interval, and the interval reaches at most `relative` of it to
    /// either side.
    #[track_caller]
    pub fn must_be(&self, what: &str, closed_form: f64, relative: f64) {
        let n = self.0.len() as f64;
        let mean = self.0.iter().sum::<f64>() / n;
        let variance = self.0.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
        let t = StudentsT::new(0.0, 1.0, n - 1.0).unwrap().inverse_cdf(0.5 + CONFIDENCE / 2.0);
        let half_width = t * (variance / n).sqrt();
        let figures = format!("{what}: {mean} +- {half_width}, closed form {closed_form}");
        assert!(half_width <= relative * closed_form, "too wide: {figures}");
        assert!((mean - closed_form).abs() <= half_width, "missed: {figures}");
    }
}

/// Exponential with mean [`SERVICE`].
pub fn exponential() -> DurationDistribution {
    DurationDistribution::Exponential { mean: SERVICE }
}

/// Exponential gaps that offer `load` (in servers) of work of mean [`SERVICE`].
pub fn gaps(load: f64) -> DurationDistribution {
    DurationDistribution::Exponential {
        mean: SimDuration::from_seconds(SERVICE.as_seconds() / load),
    }
}
