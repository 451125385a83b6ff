//! What was expected, what came out, and what became of it.

use std::fmt::Write as _;

use super::Report;
use super::number::Scale;
use super::terminal::wrapped;
use crate::experiment::{Judgement, Verdict};
use crate::models::Unit;
use crate::scenario::{Expectation, MetricColumn, RelativeTo, Statistic};
use crate::statistics::Interval;
use crate::wording::counted;

/// The verdict as a word; a miss stands out.
#[must_use]
pub const fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Held => "held",
        Verdict::Missed => "MISSED",
        Verdict::Undecided => "undecided",
        Verdict::Skipped => "skipped",
    }
}

/// What is compared, in words: `pop 1024: mean packet_loss_duration`.
#[must_use]
pub fn subject(expectation: &Expectation) -> String {
    let figure = match expectation.statistic {
        Statistic::NotConverged => "share not converged".to_owned(),
        Statistic::Mean => format!("mean {}", expectation.metric),
        Statistic::Probability => format!("probability of {}", expectation.metric),
        Statistic::P50 => format!("p50 of {}", expectation.metric),
        Statistic::P95 => format!("p95 of {}", expectation.metric),
        Statistic::P99 => format!("p99 of {}", expectation.metric),
        Statistic::Min => format!("least {}", expectation.metric),
        Statistic::Max => format!("greatest {}", expectation.metric),
    };
    match &expectation.relative_to {
        None => format!("{}: {figure}", expectation.configuration),
        Some(RelativeTo::Ratio(other)) => {
            format!("{} over {other}: {figure}", expectation.configuration)
        }
        Some(RelativeTo::Difference(other)) => {
            format!("{} less {other}: {figure}", expectation.configuration)
        }
        Some(RelativeTo::Above(other)) => {
            format!("{} above {other}: {figure}", expectation.configuration)
        }
    }
}

/// The bounds, in words.
#[must_use]
pub fn bounds(columns: &[MetricColumn], expectation: &Expectation) -> String {
    let scale = scale(columns, expectation);
    if matches!(expectation.relative_to, Some(RelativeTo::Above(_))) {
        return format!("more than {}", scale.bound(0.0));
    }
    match (expectation.at_least, expectation.at_most) {
        (Some(least), Some(most)) => format!("{} to {}", scale.bound(least), scale.bound(most)),
        (Some(least), None) => format!("at least {}", scale.bound(least)),
        (None, Some(most)) => format!("at most {}", scale.bound(most)),
        (None, None) => "anything".to_owned(),
    }
}

/// Subject and bounds in one.
#[must_use]
pub fn expected_text(columns: &[MetricColumn], expectation: &Expectation) -> String {
    format!("{} {}", subject(expectation), bounds(columns, expectation))
}

/// What came out, with its interval.
#[must_use]
pub fn got_text(
    columns: &[MetricColumn],
    expectation: &Expectation,
    judgement: &Judgement,
) -> String {
    if judgement.verdict == Verdict::Skipped {
        return "not run".to_owned();
    }
    let ratio = matches!(expectation.relative_to, Some(RelativeTo::Ratio(_)));
    if ratio && judgement.cut == 0 && judgement.count > 0 && !judgement.got.value.is_finite() {
        let what = if judgement.got.value.is_nan() { "0 over 0" } else { "no ratio: it is over 0" };
        return what.to_owned();
    }
    let scale = scale(columns, expectation);
    let (count, all) = (judgement.count, judgement.replications);
    if judgement.cut > 0 && !judgement.got.value.is_finite() {
        return format!("{}: {} of {all} were cut off", ends(judgement, scale), judgement.cut);
    }
    if judgement.got.value.is_nan() {
        return format!("in none of {}", counted(all, "replication"));
    }
    if judgement.got.value == f64::INFINITY {
        return format!("never: it did not come about in {} of {all}", all - count);
    }
    let (value, interval) = (scale.value(judgement.got), scale.interval(judgement.got));
    let mut text = value;
    if !scale.symbol().is_empty() {
        let _ = write!(text, " {}", scale.symbol());
    }
    if interval != "±0" {
        let _ = write!(text, " ({interval})");
    }
    let Judgement { count, replications, .. } = *judgement;
    if count < replications {
        let _ = write!(text, " in {count} of {}", counted(replications, "replication"));
    } else if judgement.verdict == Verdict::Undecided {
        let _ = write!(text, " after {}", counted(replications, "replication"));
    }
    if judgement.verdict == Verdict::Undecided {
        text.push_str(match judgement.got.interval.is_bounded() {
            true => ": the interval straddles the bound",
            // Of those without a figure it may be known only that they were cut off.
            false if count < replications => ": that does not bound it",
            false => ": too few to bound it",
        });
    }
    text
}

/// The ends of an interval that may have none.
fn ends(judgement: &Judgement, scale: Scale) -> String {
    let Interval { low, high } = judgement.got.interval;
    let low = if low.is_finite() { low.max(scale.least()) } else { low };
    match (low.is_finite().then(|| scale.bound(low)), high.is_finite().then(|| scale.bound(high))) {
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("at least {low}"),
        (None, Some(high)) => format!("at most {high}"),
        (None, None) => "not known".to_owned(),
    }
}

fn scale(columns: &[MetricColumn], expectation: &Expectation) -> Scale {
    if matches!(expectation.relative_to, Some(RelativeTo::Ratio(_))) {
        return Scale::RATIO;
    }
    let unit = if expectation.statistic == Statistic::NotConverged {
        Unit::Share
    } else {
        let column = columns.iter().find(|column| column.name == expectation.metric);
        column.map_or(Unit::Count, |column| column.metric.unit)
    };
    let scale =
        Scale::for_values(unit, expectation.at_least.into_iter().chain(expectation.at_most));
    let between =
        matches!(expectation.relative_to, Some(RelativeTo::Difference(_) | RelativeTo::Above(_)));
    if between { scale.of_difference() } else { scale }
}

/// Which expectations are shown one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// All.
    All,
    /// Those that did not hold; the others are counted.
    NotHeld,
}

/// What became of the expectations; empty where there are none that were judged.
#[must_use]
pub fn expectation_list(report: Report<'_>, detail: Detail) -> String {
    let pairs = || report.scenario.expectations.iter().zip(report.judgements);
    let count = |verdict| pairs().filter(|(_, j)| j.verdict == verdict).count();
    let mut text = String::new();
    if detail == Detail::NotHeld {
        let counts = [Verdict::Held, Verdict::Missed, Verdict::Undecided]
            .map(|verdict| (count(verdict), verdict_name(verdict)));
        let counts: Vec<String> = counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        if counts.is_empty() {
            return text;
        }
        let _ = writeln!(text, "Expectations: {}", counts.join(", "));
    }
    for (expectation, judgement) in pairs() {
        let shown = match detail {
            Detail::All => true,
            Detail::NotHeld => {
                matches!(judgement.verdict, Verdict::Missed | Verdict::Undecided)
            }
        };
        if shown {
            text.push_str(&entry(report.columns, expectation, judgement));
        }
    }
    let undecided = |of_cut: bool| {
        let mut undecided = report.judgements.iter().filter(|j| j.verdict == Verdict::Undecided);
        undecided.any(|judgement| (judgement.cut > 0) == of_cut)
    };
    if undecided(false) {
        text.push_str(&wrapped("", UNDECIDED));
    }
    if undecided(true) {
        text.push_str(&wrapped("", UNDECIDED_OF_CUT));
    }
    text
}

/// What decides what is undecided.
const UNDECIDED: &str = "What is undecided needs more replications than the scenario's \
    run.replications, of which check takes up to four times as many by itself: \
    --set run.replications=N allows for more.";

/// What decides what is undecided as replications were cut off.
const UNDECIDED_OF_CUT: &str = "What is undecided of replications that were cut off needs a later \
    run.horizon, or a larger run.event_budget, before more replications can tell.";

/// Width of the longest verdict and two spaces.
const INDENT: usize = 11;

fn entry(columns: &[MetricColumn], expectation: &Expectation, judgement: &Judgement) -> String {
    let verdict = format!("{:INDENT$}", verdict_name(judgement.verdict));
    let blank = " ".repeat(INDENT);
    let expected = bounds(columns, expectation);
    let got = got_text(columns, expectation, judgement);
    [
        wrapped(&verdict, &subject(expectation)),
        wrapped(&blank, &format!("expected {expected}, got {got}")),
        wrapped(&blank, &source_text(expectation)),
    ]
    .concat()
}

/// Where an expectation comes from, and where it stands.
#[must_use]
pub fn source_text(expectation: &Expectation) -> String {
    let Expectation { source, origin, .. } = expectation;
    if source.is_empty() { origin.clone() } else { format!("source: {source} ({origin})") }
}
