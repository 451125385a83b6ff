//! Axes: from values to places, and where their ticks stand.

use super::style::{TEXT, text_width};
use crate::statistics::equal;

/// An axis over a range that holds its data.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The value at its start.
    pub low: f64,
    /// The value at its end.
    pub high: f64,
    /// Whether equal ratios are equally long.
    pub log: bool,
    /// Values with labels, in rising order.
    pub ticks: Vec<(f64, String)>,
}

/// About how many ticks an axis gets.
const TICKS: f64 = 6.0;
/// A spread of values beyond this asks for a logarithmic axis.
const LOG_SPREAD: f64 = 100.0;
/// The same where a figure is held against another.
const BOTH_SPREAD: f64 = 20.0;

/// `mark` times 10 to the power of `decade`, as near as there is a number: a tick is written in full.
pub(super) fn decimal(mark: f64, decade: i32) -> f64 {
    let power = libm::pow(10.0, f64::from(decade.unsigned_abs()));
    if decade < 0 { mark / power } else { mark * power }
}

impl Axis {
    /// For figures: from 0 unless all of them are far from it; logarithmic when they spread widely.
    #[must_use]
    pub fn for_figures(values: impl IntoIterator<Item = f64>) -> Self {
        let (least, most) = ends(values);
        if least > 0.0 && most / least >= LOG_SPREAD {
            return Self::decades(least, most);
        }
        let low = if least >= 0.0 && least < most * 0.75 { 0.0 } else { least };
        let high = if most <= 0.0 && most > least * 0.75 { 0.0 } else { most };
        Self::linear(low, high)
    }

    /// For two figures of the same thing, one across and one up: as close as the values allow, and
    /// logarithmic from a smaller spread on.
    #[must_use]
    pub fn for_both(values: impl IntoIterator<Item = f64>) -> Self {
        let (least, most) = ends(values);
        if least > 0.0 && most / least >= BOTH_SPREAD {
            Self::decades(least, most)
        } else {
            Self::linear(least, most)
        }
    }

    /// Round values around `low` to `high`.
    #[must_use]
    pub fn linear(low: f64, high: f64) -> Self {
        let (low, high) = if high > low && !equal(low, high) {
            (low, high)
        } else {
            // Nothing but zero: most figures cannot be below it.
            let room = low.abs() * 0.1;
            if room == 0.0 { (0.0, 1.0) } else { (low - room, high + room) }
        };
        let rough = (high - low) / TICKS;
        let decade = libm::pow(10.0, libm::floor(libm::log10(rough)));
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .map(|step| step * decade)
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        // Ends that miss a round value by rounding alone stay at it.
        let first = libm::floor(low / step + 1e-9) as i64;
        let last = libm::ceil(high / step - 1e-9) as i64;
        let ticks = (first..=last).map(|n| n as f64 * step).map(|v| (v, label(v, step))).collect();
        Self { low: first as f64 * step, high: last as f64 * step, log: false, ticks }
    }

    /// For what is counted: ticks at whole numbers only, as long as two of them are left.
    #[must_use]
    pub fn of_counts(self) -> Self {
        let whole = |tick: &&(f64, String)| (tick.0 - tick.0.round()).abs() < 1e-9;
        let ticks: Vec<(f64, String)> = self.ticks.iter().filter(whole).cloned().collect();
        if ticks.len() < 2 {
            return self;
        }
        let ticks = ticks.into_iter().map(|(value, _)| (value, short(value))).collect();
        Self { ticks, ..self }
    }

    /// For figures that are whole numbers themselves: as long as one at least.
    #[must_use]
    pub fn of_whole_numbers(values: impl IntoIterator<Item = f64>) -> Self {
        let axis = Self::for_figures(values);
        if axis.log || axis.high - axis.low >= 1.0 {
            return axis.of_counts();
        }
        let low = libm::floor(axis.low);
        Self::linear(low, low + 1.0).of_counts()
    }

    /// From `low` to `high` as they are, with round values between them.
    #[must_use]
    pub fn within(low: f64, high: f64) -> Self {
        let round = Self::linear(low, high);
        let ticks = round.ticks.into_iter().filter(|tick| (low..=high).contains(&tick.0)).collect();
        Self { low, high, log: false, ticks }
    }

    /// Whole decades around `low` to `high`, both above 0; with 2 and 5 where they are few.
    #[must_use]
    pub fn decades(low: f64, high: f64) -> Self {
        let few = high / low <= 1e3;
        let marks: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let first = libm::floor(libm::log10(low)) as i32;
        let last = libm::ceil(libm::log10(high)) as i32;
        let all: Vec<f64> = (first..=last)
            .flat_map(|decade| marks.iter().map(move |mark| decimal(*mark, decade)))
            .collect();
        let start = all.iter().copied().rfind(|tick| *tick <= low * (1.0 + 1e-9)).unwrap_or(low);
        let end = all.iter().copied().find(|tick| *tick >= high * (1.0 - 1e-9)).unwrap_or(high);
        let ticks = all.into_iter().filter(|tick| *tick >= start && *tick <= end);
        let ticks = ticks.map(|tick| (tick, short(tick))).collect();
        Self { low: start.min(low), high: end.max(high), log: true, ticks }
    }

    /// With ticks at the values themselves; logarithmic when their ratios are more alike than
    /// their distances.
    #[must_use]
    pub fn at_values(mut ticks: Vec<(f64, String)>) -> Self {
        ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
        ticks.dedup_by(|a, b| a.0 == b.0);
        let values: Vec<f64> = ticks.iter().map(|tick| tick.0).collect();
        let (low, high) = ends(values.iter().copied());
        let log = is_geometric(&values);
        let (low, high) = match (log, high > low) {
            (true, _) => {
                let room = libm::pow(high / low, 0.03);
                (low / room, high * room)
            }
            (false, true) => (low - (high - low) * 0.03, high + (high - low) * 0.03),
            (false, false) => (low - 1.0, high + 1.0),
        };
        Self { low, high, log, ticks }
    }

    /// Where `value` is, 0 at the start and 1 at the end; what lies beyond is at the end.
    #[must_use]
    pub fn share(&self, value: f64) -> f64 {
        let share = if self.log {
            libm::log(value / self.low) / libm::log(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// Whether `value` is on the axis rather than beyond its ends.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The ticks whose labels have room on a horizontal axis of `length`: the first and the last,
    /// and those between that touch no other.
    #[must_use]
    pub fn roomy_ticks(&self, length: f64) -> Vec<&(f64, String)> {
        self.spaced_ticks(length, |label| text_width(label, TEXT) + 10.0)
    }

    /// The same for an upright axis.
    #[must_use]
    pub fn tall_ticks(&self, length: f64) -> Vec<&(f64, String)> {
        self.spaced_ticks(length, |_| TEXT + 1.0)
    }

    /// The ticks whose labels, each of a `size`, do not touch.
    fn spaced_ticks(&self, length: f64, size: impl Fn(&str) -> f64) -> Vec<&(f64, String)> {
        let ends = |(value, label): &(f64, String)| {
            let (centre, half) = (self.share(*value) * length, size(label) / 2.0);
            (centre - half, centre + half)
        };
        let Some(last) = self.ticks.last() else { return Vec::new() };
        let limit = ends(last).0;
        let mut kept: Vec<&(f64, String)> = Vec::new();
        let mut taken = f64::NEG_INFINITY;
        for tick in &self.ticks[..self.ticks.len() - 1] {
            let (left, right) = ends(tick);
            if left >= taken && right <= limit {
                taken = right;
                kept.push(tick);
            }
        }
        kept.push(last);
        kept
    }
}

/// The least and the greatest finite value; 0 and 1 without any.
fn ends(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let finite = values.into_iter().filter(|value| value.is_finite());
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let (least, most) = finite.fold(start, |(least, most), v| (least.min(v), most.max(v)));
    if least <= most { (least, most) } else { (0.0, 1.0) }
}

/// True when `values`, in rising order, are spaced like powers rather than like multiples.
fn is_geometric(values: &[f64]) -> bool {
    if values.len() < 3 || values[0] <= 0.0 {
        return false;
    }
    let spread = |steps: Vec<f64>| {
        let (least, most) = ends(steps);
        most / least
    };
    let ratios = values.windows(2).map(|pair| libm::log(pair[1] / pair[0])).collect();
    let distances = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    spread(ratios) < spread(distances)
}

/// `value` with the decimals of `step`.
fn label(value: f64, step: f64) -> String {
    if step >= 1e6 || (step < 1e-6 && value != 0.0) {
        return short(value);
    }
    let decimals = (0..7)
        .find(|&d| {
            let scaled = step * libm::pow(10.0, f64::from(d));
            (scaled - scaled.round()).abs() < 1e-6 * scaled
        })
        .unwrap_or(6) as usize;
    let text = format!("{value:.decimals$}");
    if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') {
        "0".into()
    } else {
        text
    }
}

/// A round value in as few letters as it takes.
#[must_use]
pub fn short(value: f64) -> String {
    let (size, sign) = (value.abs(), if value < 0.0 { "-" } else { "" });
    let round = |value: f64| {
        let text = format!("{value:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    match size {
        _ if size >= 1e9 => format!("{sign}{}G", round(size / 1e9)),
        _ if size >= 1e6 => format!("{sign}{}M", round(size / 1e6)),
        _ if size >= 1e4 => format!("{sign}{}k", round(size / 1e3)),
        _ if size >= 1e-4 || size == 0.0 => format!("{sign}{}", round(size)),
        _ => format!("{value:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_whole_ticks() {
        for most in [1.0, 2.0, 3.0, 4.0, 7.0, 12.0, 25.0, 130.0, 4e4] {
            let axis = Axis::of_whole_numbers([0.0, most]);
            assert!(axis.ticks.len() >= 2 && axis.high >= most, "{axis:?}");
            assert!(axis.ticks.iter().all(|(value, _)| value.fract() == 0.0), "{axis:?}");
        }
        // Means of counts may lie close together.
        assert_eq!(Axis::linear(0.0, 0.3).of_counts(), Axis::linear(0.0, 0.3));
        assert!(Axis::linear(0.0, 2.0).of_counts().ticks.iter().all(|t| t.0.fract() == 0.0));
    }

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.1.as_str()).collect()
    }

    #[test]
    fn ticks_of_decades_are_written_in_full() {
        let axis = Axis::decades(1.2e-7, 3.0e4);
        let first: Vec<&str> = axis.ticks.iter().map(|tick| tick.1.as_str()).take(3).collect();
        assert!(axis.ticks.iter().all(|tick| !tick.1.contains("999")), "{first:?}");
        assert_eq!(decimal(1.0, -5), 1e-5);
        assert_eq!((decimal(2.0, -7), decimal(5.0, 3)), (2e-7, 5e3));
    }

    #[test]
    fn an_axis_of_figures_begins_at_zero_and_holds_them_all() {
        let axis = Axis::for_figures([1.9, 13.4, f64::NAN, 7.0]);
        assert_eq!(labels(&axis), ["0", "2.5", "5.0", "7.5", "10.0", "12.5", "15.0"]);
        assert_eq!((axis.low, axis.high), (0.0, 15.0));
    }

    #[test]
    fn figures_far_from_zero_are_seen_close() {
        let axis = Axis::for_figures([117.0, 121.0]);
        assert_eq!(labels(&axis), ["117", "118", "119", "120", "121"]);
    }

    #[test]
    fn what_is_held_against_another_is_seen_close() {
        assert_eq!(labels(&Axis::for_both([4.0, 5.0, f64::NAN]))[0], "4.0");
        assert!(Axis::for_both([0.1, 3.0]).log && !Axis::for_both([0.0, 3.0]).log);
    }

    #[test]
    fn a_wide_spread_is_logarithmic() {
        let axis = Axis::for_figures([0.02, 30.0]);
        assert!(axis.log);
        assert_eq!(labels(&axis), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(Axis::decades(0.003, 1.0).ticks.first().map(|t| t.0), Some(0.002));
    }

    #[test]
    fn equal_or_missing_figures_still_have_an_axis() {
        for values in [vec![], vec![3.0, 3.0], vec![0.0], vec![f64::NAN], vec![-2.0, -2.0]] {
            let axis = Axis::for_figures(values.clone());
            assert!(axis.high > axis.low && axis.ticks.len() >= 2, "{values:?}");
        }
    }

    #[test]
    fn figures_that_differ_by_rounding_alone_have_the_axis_of_equal_ones() {
        let figure = 0.001_32;
        let axis = Axis::for_figures([figure, figure * (1.0 + 1e-15)]);
        assert!(axis.high - axis.low > 0.1 * figure, "{axis:?}");
    }

    #[test]
    fn powers_are_on_a_logarithmic_axis_and_multiples_on_a_linear_one() {
        let named = |values: &[f64]| values.iter().map(|v| (*v, short(*v))).collect();
        let powers = Axis::at_values(named(&[32.0, 64.0, 128.0, 256.0, 8192.0]));
        assert!(powers.log && powers.low < 32.0 && powers.high > 8192.0);
        assert!(!Axis::at_values(named(&[1.0, 2.0, 3.0, 4.0])).log);
        assert!(!Axis::at_values(named(&[0.0, 1.0, 10.0])).log);
        assert!(Axis::at_values(named(&[7.0])).low < 7.0);
    }

    #[test]
    fn labels_without_room_are_left_out() {
        let ticks = (0..100).map(|n| (f64::from(n), format!("{n}0000"))).collect();
        let axis = Axis::at_values(ticks);
        let kept = axis.roomy_ticks(400.0);
        assert!(kept.len() > 3 && kept.len() < 10);
        assert_eq!(kept.last().map(|tick| tick.0), Some(99.0));
    }
}
