//! The report on the terminal.

use std::fmt::Write as _;

use super::Report;
use super::attribution::attribution_tables;
use super::expectations::{Detail, expectation_list};
use super::notes::notes;
use super::table::{WIDTH, main_tables};

/// Everything that `convsim run` prints, but for where the files are.
#[must_use]
pub fn terminal(report: Report<'_>) -> String {
    let scenario = report.scenario;
    let mut text = format!("{}\n", scenario.name);
    if !scenario.description.is_empty() {
        text.push_str(&wrapped("", &scenario.description));
    }
    let points = report.summaries.len();
    let _ = writeln!(
        text,
        "{} x {}, seed {}; intervals at {} %\n",
        counted(points as u64, "point"),
        replications(report),
        scenario.run.seed,
        scenario.run.confidence * 100.0,
    );
    text.push_str(&main_tables(report));
    text.push_str(&attribution_tables(report));
    let expectations = expectation_list(report, Detail::NotHeld);
    if !expectations.is_empty() {
        let _ = writeln!(text, "{expectations}");
    }
    for note in notes(report) {
        text.push_str(&wrapped("- ", &note));
    }
    text
}

/// How many replications the points have.
fn replications(report: Report<'_>) -> String {
    let counts = || report.summaries.iter().map(|summary| summary.replications);
    match (counts().min(), counts().max()) {
        (Some(fewest), Some(most)) if fewest < most => format!("{fewest} to {most} replications"),
        (Some(each), _) => counted(each, "replication"),
        (None, _) => counted(0, "replication"),
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// `text` in lines of the width of the tables, the first after `bullet`, the others indented.
#[must_use]
pub fn wrapped(bullet: &str, text: &str) -> String {
    let indent = " ".repeat(bullet.len());
    let mut wrapped = String::new();
    let mut line = bullet.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        let long = line.chars().count() + 1 + word.chars().count() > usize::from(WIDTH);
        if long && !empty {
            let _ = writeln!(wrapped, "{}", line.trim_end());
            line.clone_from(&indent);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    let _ = writeln!(wrapped, "{}", line.trim_end());
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_goes_on_below_its_bullet() {
        let text = wrapped("- ", &"word ".repeat(30));
        assert!(text.lines().all(|line| line.len() <= 80));
        assert!(text.starts_with("- word word"));
        assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("  word")));
    }
}
