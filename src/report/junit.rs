//! Expectations as JUnit XML, which CI servers show.

use std::fmt::Write as _;

use super::Report;
use super::expectations::{bounds, expected_text, got_text, subject};
use crate::experiment::Verdict;

/// The whole document: a suite for each scenario, a case for each expectation.
#[must_use]
pub fn junit(reports: &[Report<'_>]) -> String {
    let mut suites = String::new();
    let (mut tests, mut failures, mut skipped) = (0, 0, 0);
    for &report in reports {
        let counts = suite(&mut suites, report);
        tests += counts.0;
        failures += counts.1;
        skipped += counts.2;
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"convsim\" \
         tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">\n\
         {suites}</testsuites>\n"
    )
}

fn suite(text: &mut String, report: Report<'_>) -> (usize, usize, usize) {
    let count = |wanted: fn(Verdict) -> bool| {
        report.judgements.iter().filter(|judgement| wanted(judgement.verdict)).count()
    };
    let tests = report.judgements.len();
    let failures = count(|verdict| matches!(verdict, Verdict::Missed | Verdict::Undecided));
    let skipped = count(|verdict| verdict == Verdict::Skipped);
    let name = escaped(&report.scenario.name);
    let _ = writeln!(
        text,
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" \
         skipped=\"{skipped}\">"
    );
    for (expectation, judgement) in report.scenario.expectations.iter().zip(report.judgements) {
        let case =
            escaped(&format!("{} {}", subject(expectation), bounds(report.columns, expectation)));
        let _ = write!(text, "    <testcase classname=\"{name}\" name=\"{case}\"");
        let kind = match judgement.verdict {
            Verdict::Held => {
                text.push_str("/>\n");
                continue;
            }
            Verdict::Skipped => {
                text.push_str("><skipped/></testcase>\n");
                continue;
            }
            Verdict::Missed => "missed",
            Verdict::Undecided => "undecided",
        };
        let message = escaped(&format!(
            "expected {}, got {}",
            expected_text(report.columns, expectation),
            got_text(report.columns, expectation, judgement)
        ));
        let source = escaped(&format!("{} ({})", expectation.source, expectation.origin));
        let _ = writeln!(
            text,
            "><failure type=\"{kind}\" message=\"{message}\">{source}</failure></testcase>"
        );
    }
    text.push_str("  </testsuite>\n");
    (tests, failures, skipped)
}

/// Text for XML; characters that XML cannot have are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(' '),
            control if control.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&control) => {
                escaped.push('\u{fffd}');
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_user_writes_breaks_the_xml() {
        assert_eq!(escaped("a<b & \"c\"\u{1}\n>"), "a&lt;b &amp; &quot;c&quot;\u{fffd} &gt;");
    }
}
