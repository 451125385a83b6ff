//! The report as Markdown, for a pull request or a design document.

use std::fmt::Write as _;

use super::Report;
use super::attribution::{attributions, percent};
use super::expectations::{bounds, got_text, subject, verdict_name};
use super::notes::notes;
use super::number::Scale;
use super::table::scale_of;
use crate::experiment::{PointSummary, Verdict};
use crate::models::Unit;

/// The whole report.
#[must_use]
pub fn markdown(report: Report<'_>) -> String {
    let scenario = report.scenario;
    let mut text = format!("## {}\n\n", escaped(&scenario.name));
    if !scenario.description.is_empty() {
        let _ = writeln!(text, "{}\n", escaped(&scenario.description));
    }
    figures(&mut text, report);
    for attribution in attributions(report) {
        let name = &report.columns[attribution.whole].name;
        let _ = writeln!(text, "Where the time went: shares of the mean {}\n", escaped(name));
        let mut heading = vec!["configuration".to_owned()];
        heading.extend(attribution.parts.iter().cloned());
        row(&mut text, &heading);
        rule(&mut text, 1, attribution.parts.len());
        for (summary, shares) in report.summaries.iter().zip(&attribution.shares) {
            let mut cells = vec![report.point(summary).configuration.clone()];
            cells.extend(shares.iter().map(|&share| percent(share)));
            row(&mut text, &cells);
        }
        text.push('\n');
    }
    expectations(&mut text, report);
    for note in notes(report) {
        let _ = writeln!(text, "- {}", escaped(&note));
    }
    text
}

fn figures(text: &mut String, report: Report<'_>) {
    let summaries: Vec<&PointSummary> = report.summaries.iter().collect();
    let heading = ["metric", "configuration", "mean", "p50", "p95", "p99", "not converged"]
        .map(str::to_owned);
    row(text, &heading);
    rule(text, 2, 5);
    for column in report.main_columns() {
        let scale = scale_of(report, &summaries, column);
        for summary in &summaries {
            let metric = &summary.metrics[column];
            let figure = |(value, interval): &(String, String)| format!("{value} ({interval})");
            let mean = (scale.value(metric.mean), scale.interval(metric.mean));
            let [p50, p95, p99] = scale.ascending([metric.p50, metric.p95, metric.p99]);
            let rate = Scale::new(Unit::Share, 1.0);
            row(
                text,
                &[
                    scale.heading(&report.columns[column].name),
                    report.point(summary).configuration.clone(),
                    figure(&mean),
                    figure(&p50),
                    figure(&p95),
                    figure(&p99),
                    format!(
                        "{} % ({})",
                        rate.value(summary.not_converged),
                        rate.interval(summary.not_converged)
                    ),
                ],
            );
        }
    }
    let _ = writeln!(text, "\nIntervals at {} %.\n", report.scenario.run.confidence * 100.0);
}

pub(super) fn expectations(text: &mut String, report: Report<'_>) {
    let pairs: Vec<_> = report
        .scenario
        .expectations
        .iter()
        .zip(report.judgements)
        .filter(|(_, judgement)| judgement.verdict != Verdict::Skipped)
        .collect();
    if pairs.is_empty() {
        return;
    }
    row(text, &["", "what", "expected", "got", "source"].map(str::to_owned));
    rule(text, 5, 0);
    for (expectation, judgement) in pairs {
        row(
            text,
            &[
                verdict_name(judgement.verdict).to_owned(),
                subject(expectation),
                bounds(report.columns, expectation),
                got_text(report.columns, expectation, judgement),
                expectation.source.clone(),
            ],
        );
    }
    text.push('\n');
}

/// A row of a table.
pub fn row(text: &mut String, cells: &[String]) {
    for cell in cells {
        let _ = write!(text, "| {} ", escaped(cell));
    }
    text.push_str("|\n");
}

/// The line below a heading: columns of text, then columns of figures.
pub fn rule(text: &mut String, left: usize, right: usize) {
    let _ = writeln!(text, "{}{}|", "|:---".repeat(left), "|---:".repeat(right));
}

/// Every sign stands for itself: none begins emphasis, code, a link or HTML, and none ends a cell. A
/// line break stays one. An underscore within a word is no emphasis
/// (CommonMark 0.31, rule 2 of emphasis) and stays readable.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = None;
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        let is_letter = |sign: Option<char>| sign.is_some_and(char::is_alphanumeric);
        match sign {
            '_' if is_letter(before) && is_letter(signs.peek().copied()) => escaped.push('_'),
            '*' | '_' | '`' | '|' | '\\' | '[' | ']' | '~' => escaped.extend(['\\', sign]),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '\n' => escaped.push_str("<br>"),
            _ => escaped.push(sign),
        }
        before = Some(sign);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn a_name_renders_as_it_is() {
        assert_eq!(escaped("a_b_*c*"), "a_b\\_\\*c\\*");
        assert_eq!(escaped("_x_ and __y__"), "\\_x\\_ and \\_\\_y\\_\\_");
        assert_eq!(escaped("1 < 2 & a|b `c` [d](e)"), "1 &lt; 2 &amp; a\\|b \\`c\\` \\[d\\](e)");
        assert_eq!(escaped("packet_loss_duration.p99 (s)"), "packet_loss_duration.p99 (s)");
    }
}
