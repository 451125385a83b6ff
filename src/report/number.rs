//! Numbers for a reader: in a unit that suits their size, rounded so that the interval shows.

use crate::models::Unit;
use crate::statistics::{Estimate, Interval, Sense};

/// An interval narrower than this share of its figure is none to a reader. (Equal values differ by
/// rounding in the last digits of their mean.)
const NO_WIDTH: f64 = 1e-6;
/// The same of a ratio, which differs from 1 by little more than that at times, and of a difference.
const NO_WIDTH_OF_RATIO: f64 = 1e-12;
const NO_WIDTH_OF_DIFFERENCE: f64 = 1e-9;
/// Figures of a greater ratio than this are on a logarithmic axis.
const WIDE: f64 = 100.0;
/// Most significant digits of a figure.
const MOST_DIGITS: i32 = 6;
/// Most significant digits of a figure whose interval is open: the distance to the one end that is
/// known does not say how well the figure is known.
const MOST_DIGITS_OPEN: i32 = 4;

/// The unit in which figures of one metric are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    factor: f64,
    symbol: &'static str,
    /// A width of less than this share of the figure is none.
    no_width: f64,
    /// Most significant digits.
    digits: i32,
    /// Whether figures are never below 0, as those of all metrics, so that an interval of one that is
    /// not does not go there: what it loses could not have been.
    never_negative: bool,
}

impl Scale {
    /// For figures in `unit` of which `largest` is the greatest.
    #[must_use]
    pub fn new(unit: Unit, largest: f64) -> Self {
        let (factor, symbol) = match unit {
            Unit::Seconds if largest == 0.0 || largest >= 0.1 => (1.0, "s"),
            Unit::Seconds if largest >= 1e-4 => (1e3, "ms"),
            Unit::Seconds => (1e6, "us"),
            Unit::Share | Unit::Probability => (100.0, "%"),
            Unit::Count | Unit::Ratio => (1.0, ""),
            Unit::PerSecond => (1.0, "1/s"),
        };
        Self { factor, symbol, never_negative: true, ..Self::PLAIN }
    }

    /// For the figures of a metric in `unit`.
    #[must_use]
    pub fn for_values(unit: Unit, values: impl IntoIterator<Item = f64>) -> Self {
        let finite = values.into_iter().map(f64::abs).filter(|value| value.is_finite());
        Self::new(unit, finite.fold(0.0, f64::max))
    }

    /// For an axis that holds all `values`: of a spread that asks for a logarithmic one, the unit that
    /// suits its middle, so that neither end has many zeros.
    #[must_use]
    pub fn for_axis(unit: Unit, values: impl IntoIterator<Item = f64>) -> Self {
        let finite = values.into_iter().map(f64::abs).filter(|value| value.is_finite());
        let (least, most) =
            finite.fold((f64::INFINITY, 0.0), |(least, most), v| (v.min(least), v.max(most)));
        let wide = least > 0.0 && most / least >= WIDE;
        Self::new(unit, if wide { libm::sqrt(least * most) } else { most })
    }

    /// For a difference of figures in `unit`: of shares it is in percentage points, since 5 % less may
    /// be read as a ratio.
    #[must_use]
    pub fn of_difference(self) -> Self {
        let symbol = if self.symbol == "%" { "percentage points" } else { self.symbol };
        let never_negative = false;
        Self { symbol, no_width: NO_WIDTH_OF_DIFFERENCE, digits: 10, never_negative, ..self }
    }

    /// For a plain number.
    pub const PLAIN: Self = Self {
        factor: 1.0,
        symbol: "",
        no_width: NO_WIDTH,
        digits: MOST_DIGITS,
        never_negative: false,
    };
    /// For a ratio, with as many digits as it takes to tell it from 1.
    pub const RATIO: Self = Self { no_width: NO_WIDTH_OF_RATIO, digits: 13, ..Self::PLAIN };

    /// What a figure is multiplied by to be in this unit.
    #[must_use]
    pub const fn factor(self) -> f64 {
        self.factor
    }

    /// The unit; empty for a plain number.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        self.symbol
    }

    /// `name (unit)`, or the name alone for a plain number.
    #[must_use]
    pub fn heading(self, name: &str) -> String {
        if self.symbol.is_empty() { name.to_owned() } else { format!("{name} ({})", self.symbol) }
    }

    /// A figure alone, to four significant digits, with its unit.
    #[must_use]
    pub fn bound(self, value: f64) -> String {
        let text = significant(value * self.factor, 4);
        if self.symbol.is_empty() { text } else { format!("{text} {}", self.symbol) }
    }

    /// The figure, rounded to two significant digits of its interval's half-width.
    #[must_use]
    pub fn value(self, estimate: Estimate) -> String {
        marked(estimate, &self.rounded(estimate).0)
    }

    /// `low..high` with as many decimals as the figure; `?` where the data give no bound, `±0`
    /// where all values are equal.
    #[must_use]
    pub fn interval(self, estimate: Estimate) -> String {
        self.rounded(estimate).1
    }

    /// `value ± half-width` where the figure is in the middle of its interval, to the digits that are
    /// shown; else `value (low..high)`.
    #[must_use]
    pub fn plus_minus(self, estimate: Estimate) -> String {
        let (value, half_width, interval) = self.parts(estimate);
        value + &half_width + &interval
    }

    /// The same with its unit: `13.4 ± 0.2 s` or `30 % (15..52)`.
    #[must_use]
    pub fn in_unit(self, estimate: Estimate, symbol: &str) -> String {
        let (value, half_width, interval) = self.parts(estimate);
        let blank = if symbol.is_empty() || value == "-" { "" } else { " " };
        let symbol = if blank.is_empty() { "" } else { symbol };
        format!("{value}{half_width}{blank}{symbol}{interval}")
    }

    /// The figure, ` ± half-width` and ` (low..high)`; one of the last two is empty.
    fn parts(self, estimate: Estimate) -> (String, String, String) {
        let estimate = self.possible(estimate);
        let (value, interval) = self.rounded(estimate);
        if estimate.sense != Sense::Whole {
            let interval = if interval.is_empty() { interval } else { format!(" ({interval})") };
            return (marked(estimate, &value), String::new(), interval);
        }
        if interval.is_empty() || interval.starts_with('±') {
            return (value, String::new(), String::new());
        }
        let decimals = value.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let Interval { low, high } = estimate.interval;
        let (below, above) = (estimate.value - low, high - estimate.value);
        let last_digit = libm::pow(10.0, -(decimals as f64));
        let aside = (below - above).abs() * self.factor;
        if !estimate.interval.is_bounded() || aside >= last_digit {
            return (value, String::new(), format!(" ({interval})"));
        }
        let width = fixed(estimate.interval.half_width() * self.factor, decimals);
        // What the digits of the figure cannot show is none.
        if width.chars().all(|c| c == '0' || c == '.') {
            return (value, String::new(), String::new());
        }
        (value, format!(" ± {width}"), String::new())
    }

    /// Figures none of which is below the one before, such as quantiles, each with its interval.
    /// Rounding must not turn their order: a figure that would look smaller than the one before
    /// gets as many decimals as that has.
    #[must_use]
    pub fn ascending<const N: usize>(self, estimates: [Estimate; N]) -> [(String, String); N] {
        let (mut least, mut decimals) = (f64::NEG_INFINITY, 0);
        estimates.map(|estimate| {
            let (mut value, mut interval) = self.rounded(estimate);
            if value.parse().is_ok_and(|shown: f64| shown < least) {
                let exact = |end: f64| fixed(end * self.factor, decimals);
                let Interval { low, high } = estimate.interval;
                value = exact(estimate.value);
                if interval != "±0" {
                    let end = |end: f64| if end.is_finite() { exact(end) } else { "?".to_owned() };
                    interval = format!("{}..{}", end(low), end(high));
                }
            }
            if let Ok(shown) = value.parse() {
                least = shown;
                decimals = value.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            }
            (marked(estimate, &value), interval)
        })
    }

    /// With an interval that does not go where no figure can be.
    #[must_use]
    pub fn possible(self, mut estimate: Estimate) -> Estimate {
        if estimate.value >= 0.0 && estimate.interval.low.is_finite() {
            estimate.interval.low = estimate.interval.low.max(self.least());
        }
        estimate
    }

    /// The least that a figure can be.
    #[must_use]
    pub const fn least(self) -> f64 {
        if self.never_negative { 0.0 } else { f64::NEG_INFINITY }
    }

    fn rounded(self, estimate: Estimate) -> (String, String) {
        let estimate = self.possible(estimate);
        let value = estimate.value * self.factor;
        if !value.is_finite() {
            return ("-".to_owned(), String::new());
        }
        let low = estimate.interval.low * self.factor;
        let high = estimate.interval.high * self.factor;
        let width = match (low.is_finite(), high.is_finite()) {
            (true, true) => (high - low) / 2.0,
            (true, false) => value - low,
            (false, true) => high - value,
            (false, false) => return (significant(value, 4), "?..?".to_owned()),
        };
        if width <= value.abs() * self.no_width {
            let closed = low.is_finite() && high.is_finite();
            let interval = match (closed, low.is_finite()) {
                (true, _) => "±0".to_owned(),
                (false, true) => format!("{}..?", significant(low, 4)),
                (false, false) => format!("?..{}", significant(high, 4)),
            };
            // Of a ratio near 1 only what it differs by tells anything.
            let beside = (value - 1.0).abs();
            let near = self.no_width < NO_WIDTH_OF_DIFFERENCE && beside > self.no_width;
            let digits = if near { (2 - magnitude(beside)).clamp(4, self.digits) } else { 4 };
            return (significant(value, digits), interval);
        }
        let closed = low.is_finite() && high.is_finite();
        let digits = if closed { self.digits } else { MOST_DIGITS_OPEN };
        let decimals = decimals_for_width(width).min(decimals_for_digits(value, digits));
        let end = |end: f64| {
            if end.is_finite() { fixed(end, decimals) } else { "?".to_owned() }
        };
        (fixed(value, decimals), format!("{}..{}", end(low), end(high)))
    }
}

/// What stands before a value that is not the figure.
#[must_use]
pub const fn mark(sense: Sense) -> &'static str {
    match sense {
        Sense::Whole => "",
        Sense::AtLeast => "≥",
        Sense::AtMost => "≤",
        Sense::SoFar => "~",
    }
}

fn marked(estimate: Estimate, value: &str) -> String {
    let mark = if estimate.value.is_finite() { mark(estimate.sense) } else { "" };
    format!("{mark}{value}")
}

/// Decimals that show two significant digits of `width`.
fn decimals_for_width(width: f64) -> usize {
    if width <= 0.0 || !width.is_finite() {
        return 0;
    }
    (1 - magnitude(width)).clamp(0, 12) as usize
}

/// Decimals that show `digits` significant digits of `value`.
fn decimals_for_digits(value: f64, digits: i32) -> usize {
    if value == 0.0 { 9 } else { (digits - 1 - magnitude(value)).clamp(0, 12) as usize }
}

/// The power of ten of the first digit.
fn magnitude(value: f64) -> i32 {
    value.abs().log10().floor() as i32
}

/// `value` to `digits` significant digits, without trailing zeros.
fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = fixed(value, decimals_for_digits(value, digits));
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    // Rounding can leave a minus before nothing but zeros.
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        Estimate::new(value, Interval { low, high })
    }

    #[test]
    fn what_is_only_a_bound_is_marked() {
        let of = |sense, low, high| Estimate { sense, ..estimate(20.79, low, high) };
        let least = of(Sense::AtLeast, 20.23, f64::INFINITY);
        let scale = Scale::new(Unit::Seconds, 20.79);
        assert_eq!(scale.plus_minus(least), "≥20.79 (20.23..?)");
        assert_eq!(scale.value(least), "≥20.79");
        assert_eq!(scale.in_unit(least, "s"), "≥20.79 s (20.23..?)");
        assert_eq!(scale.ascending([least])[0].0, "≥20.79");
        let so_far = of(Sense::SoFar, f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(scale.plus_minus(so_far), "~20.79 (?..?)");
        // Both ends may be known, and yet not be about what is shown.
        let even = of(Sense::SoFar, 20.29, 21.29);
        assert_eq!(scale.plus_minus(even), "~20.79 (20.29..21.29)");
        let none = Estimate { sense: Sense::AtLeast, ..Estimate::UNKNOWN };
        assert_eq!(scale.value(none), "-");
    }

    #[test]
    fn an_axis_that_spans_decades_has_the_unit_of_its_middle() {
        let symbol = |values: [f64; 2]| Scale::for_axis(Unit::Seconds, values).symbol();
        assert_eq!(symbol([0.001, 2.0]), "ms");
        assert_eq!(symbol([0.01, 100.0]), "s");
        assert_eq!(symbol([0.5, 2.0]), "s");
        assert_eq!(symbol([1e-6, 1e-3]), "us");
        assert_eq!(Scale::for_axis(Unit::Share, [0.001, 1.0]).symbol(), "%");
    }

    #[test]
    fn a_difference_of_shares_is_in_percentage_points() {
        let of = |unit| Scale::new(unit, 0.4).of_difference();
        assert_eq!(of(Unit::Share).bound(0.05), "5 percentage points");
        assert_eq!(of(Unit::Seconds).bound(0.5), "0.5 s");
    }

    #[test]
    fn an_interval_does_not_go_where_no_figure_can_be() {
        let low = |unit| Scale::new(unit, 1.0).possible(estimate(1.0, -0.5, 2.5)).interval.low;
        for unit in [Unit::Seconds, Unit::Count, Unit::Share, Unit::Ratio, Unit::PerSecond] {
            assert_eq!(low(unit), 0.0, "{unit:?}");
        }
        // A difference has a sign.
        let difference = Scale::new(Unit::Count, 1.0).of_difference();
        assert_eq!(difference.interval(estimate(1.0, -0.5, 2.5)), "-0.5..2.5");
    }

    #[test]
    fn two_digits_of_the_half_width_are_shown() {
        let seconds = Scale::new(Unit::Seconds, 20.0);
        let mean = estimate(13.41873, 13.20512, 13.63234);
        assert_eq!(seconds.value(mean), "13.42");
        assert_eq!(seconds.interval(mean), "13.21..13.63");
        assert_eq!(seconds.plus_minus(mean), "13.42 ± 0.21");
        assert_eq!(seconds.plus_minus(estimate(1234.5, 1200.0, 1269.0)), "1234 ± 34");
        assert_eq!(Scale::PLAIN.plus_minus(estimate(0.0, 0.0, 16.1)), "0.0 (0.0..16.1)");
    }

    #[test]
    fn rounding_does_not_turn_the_order_of_quantiles() {
        let p95 = estimate(2.0352, 2.0301, 2.0399);
        let p99 = estimate(2.0371, 1.9, 2.4);
        assert_eq!(Scale::PLAIN.value(p99), "2.04");
        let wide = estimate(2.0371, 1.0, f64::INFINITY);
        assert_eq!(Scale::PLAIN.value(wide), "2.0");
        let shown = Scale::PLAIN.ascending([p95, wide]);
        assert_eq!(shown[0].0, "2.0352");
        assert_eq!(shown[1], ("2.0371".to_owned(), "1.0000..?".to_owned()));
        let equal = estimate(2.0371, 2.0371, 2.0371);
        assert_eq!(Scale::PLAIN.ascending([equal, wide])[1].0, "2.037");
        let unknown = estimate(f64::NAN, f64::NAN, f64::NAN);
        assert_eq!(Scale::PLAIN.ascending([unknown, p95])[1].0, "2.0352");
    }

    proptest::proptest! {
        #[test]
        fn quantiles_never_look_as_if_they_fell(
            mut values: [f64; 3], widths: [[f64; 2]; 3]
        ) {
            proptest::prop_assume!(values.iter().all(|v| v.abs() < 1e9));
            values.sort_by(f64::total_cmp);
            let quantile = |index: usize| {
                let [below, above] = widths[index].map(f64::abs);
                estimate(values[index], values[index] - below, values[index] + above)
            };
            let shown = Scale::PLAIN.ascending([0, 1, 2].map(quantile));
            let numbers: Vec<f64> =
                shown.iter().filter_map(|(value, _)| value.parse().ok()).collect();
            proptest::prop_assert!(numbers.is_sorted(), "{shown:?}");
        }
    }

    #[test]
    fn short_times_are_in_milliseconds() {
        let scale = Scale::for_values(Unit::Seconds, [0.012, f64::NAN, 0.004]);
        assert_eq!(scale.heading("wait"), "wait (ms)");
        assert_eq!(scale.plus_minus(estimate(0.012, 0.011, 0.013)), "12.0 ± 1.0");
    }

    #[test]
    fn an_end_that_is_not_known_is_a_question_mark() {
        let open = estimate(15.9, 15.0, f64::INFINITY);
        assert_eq!(Scale::PLAIN.interval(open), "15.00..?");
        assert_eq!(Scale::PLAIN.value(estimate(3.0, f64::NEG_INFINITY, f64::INFINITY)), "3");
    }

    #[test]
    fn no_more_digits_than_a_reader_can_use() {
        assert_eq!(Scale::PLAIN.plus_minus(estimate(25.0, 25.0 - 1e-9, 25.0 + 1e-9)), "25");
        assert_eq!(Scale::PLAIN.plus_minus(estimate(25.0, 24.9999, 25.0001)), "25.0000 ± 0.0001");
        let narrow = estimate(2.199_243_1, 2.199_240_1, 2.199_246_1);
        assert_eq!(Scale::PLAIN.plus_minus(narrow), "2.19924");
        let open = estimate(2193.94138, 2193.9339, f64::INFINITY);
        assert_eq!(Scale::PLAIN.value(open), "2194");
    }

    #[test]
    fn plus_and_minus_are_only_where_the_figure_is_in_the_middle() {
        let share = Scale::new(Unit::Share, 1.0);
        // 3 of 10, and 6 of 20.
        assert_eq!(share.in_unit(estimate(0.3, 0.1078, 0.6032), "%"), "30 % (11..60)");
        assert_eq!(share.plus_minus(estimate(0.3, 0.1078, 0.6032)), "30 (11..60)");
        assert_eq!(share.in_unit(estimate(0.3, 0.1, 0.5), "%"), "30 ± 20 %");
        assert_eq!(Scale::PLAIN.plus_minus(estimate(0.390, 0.361, 0.430)), "0.390 (0.361..0.430)");
    }

    proptest::proptest! {
        /// Both ends can be read from what is shown, to half a digit more than the digits' own.
        #[test]
        fn plus_and_minus_give_the_interval_back(
            value in -1e4..1e4_f64, below in 0.0..1e3_f64, above in 0.0..1e3_f64, equal: bool
        ) {
            let above = if equal { below } else { above };
            let text = Scale::PLAIN.plus_minus(estimate(value, value - below, value + above));
            if let Some((shown, width)) = text.split_once(" ± ") {
                let decimals = shown.split_once('.').map_or(0, |(_, d)| d.len() as i32);
                let digit = 10_f64.powi(-decimals);
                let (shown, width): (f64, f64) = (shown.parse().unwrap(), width.parse().unwrap());
                proptest::prop_assert!((shown - width - (value - below)).abs() <= 1.51 * digit);
                proptest::prop_assert!((shown + width - (value + above)).abs() <= 1.51 * digit);
            }
        }

        /// What differs from 1 never looks as if it were 1.
        #[test]
        fn a_ratio_that_is_not_one_does_not_look_like_one(
            power in -11.0..-1.0_f64, share in 0.0..0.9_f64
        ) {
            let beside = 10_f64.powf(power);
            let (low, high) = (1.0 + beside * (1.0 - share), 1.0 + beside * (1.0 + share));
            let ratio = estimate(1.0 + beside, low, high);
            let number: f64 = Scale::RATIO.value(ratio).parse().unwrap();
            proptest::prop_assert!(number > 1.0, "{}", Scale::RATIO.value(ratio));
            let interval = Scale::RATIO.interval(ratio);
            let ends = interval.split_once("..");
            let low: f64 = ends.map_or(number, |(low, _)| low.parse().unwrap());
            proptest::prop_assert!(low > 1.0, "{interval}");
        }
    }

    #[test]
    fn a_share_is_not_below_zero_but_a_difference_of_shares_may_be() {
        let share = Scale::new(Unit::Share, 1.0);
        let rare = estimate(0.000_06, -0.000_08, 0.000_19);
        assert_eq!(share.interval(rare), "0.0000..0.0190");
        assert_eq!(share.of_difference().interval(rare), "-0.008..0.019");
        let seconds = Scale::new(Unit::Seconds, 1.0);
        assert_eq!(seconds.interval(rare), "0.000000..0.000190");
        assert_eq!(seconds.of_difference().interval(rare), "-0.00008..0.00019");
    }

    #[test]
    fn a_ratio_has_the_digits_that_its_interval_needs() {
        let ratio = estimate(1.000_003_8, 1.000_003_0, 1.000_004_6);
        assert_eq!(Scale::RATIO.value(ratio), "1.00000380");
        assert_eq!(Scale::RATIO.interval(ratio), "1.00000300..1.00000460");
        assert_eq!(Scale::RATIO.interval(estimate(2.0, 2.0, 2.0)), "±0");
        assert_eq!(Scale::RATIO.value(estimate(2.0, 2.0, 2.0)), "2");
    }

    #[test]
    fn what_does_not_vary_says_so() {
        let exact = estimate(0.172, 0.172, 0.172);
        assert_eq!(Scale::PLAIN.value(exact), "0.172");
        assert_eq!(Scale::PLAIN.interval(exact), "±0");
        assert_eq!(Scale::PLAIN.plus_minus(exact), "0.172");
    }

    #[test]
    fn nothing_is_a_dash_and_zero_has_no_sign() {
        assert_eq!(Scale::PLAIN.value(Estimate::UNKNOWN), "-");
        assert_eq!(fixed(-0.0001, 2), "0.00");
        assert_eq!(Scale::PLAIN.bound(0.0), "0");
    }
}
