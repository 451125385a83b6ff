//! Expectations as JUnit XML, which CI servers show.

use std::fmt::{self, Write as _};

use super::Report;
use super::expectations::{bounds, expected_text, got_text, source_text, subject};
use crate::experiment::Verdict;
use crate::wording::{counted, hidden};

/// A scenario that was checked.
#[derive(Clone, Copy)]
pub struct Suite<'a> {
    /// What it expects, and what came out.
    pub report: Report<'a>,
    /// Replications that could not go on.
    pub failures: u64,
}

/// The whole document: a suite for each scenario, a case for each expectation, and one for the
/// replications that could not go on, if there are any.
#[must_use]
pub fn junit(checked: &[Suite<'_>]) -> String {
    let mut suites = String::new();
    let mut all = Counts::default();
    for &one in checked {
        let counts = suite(&mut suites, one);
        all.tests += counts.tests;
        all.failures += counts.failures;
        all.errors += counts.errors;
        all.skipped += counts.skipped;
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"convsim\" {all}>\n\
         {suites}</testsuites>\n"
    )
}

/// Cases by what became of them.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tests, failures, errors, skipped } = self;
        write!(
            f,
            "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\""
        )
    }
}

fn suite(text: &mut String, Suite { report, failures: failed }: Suite<'_>) -> Counts {
    let count = |wanted: fn(Verdict) -> bool| {
        report.judgements.iter().filter(|judgement| wanted(judgement.verdict)).count()
    };
    let errors = usize::from(failed > 0);
    let counts = Counts {
        tests: report.judgements.len() + errors,
        failures: count(|verdict| matches!(verdict, Verdict::Missed | Verdict::Undecided)),
        errors,
        skipped: count(|verdict| verdict == Verdict::Skipped),
    };
    let name = escaped(&report.scenario.name);
    let _ = writeln!(text, "  <testsuite name=\"{name}\" {counts}>");
    if failed > 0 {
        let _ = writeln!(
            text,
            "    <testcase classname=\"{name}\" name=\"every replication runs to its end\"><error \
             type=\"failed\" message=\"{} failed\"/></testcase>",
            counted(failed, "replication")
        );
    }
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
        let source = escaped(&source_text(expectation));
        let _ = writeln!(
            text,
            "><failure type=\"{kind}\" message=\"{message}\">{source}</failure></testcase>"
        );
    }
    text.push_str("  </testsuite>\n");
    counts
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
            control if hidden(control) || ('\u{fffe}'..='\u{ffff}').contains(&control) => {
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
