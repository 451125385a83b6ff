//! The report on the terminal.

use std::fmt::Write as _;

use super::Report;
use super::attribution::attribution_tables;
use super::expectations::{Detail, expectation_list};
use super::notes::notes;
use super::table::{WIDTH, main_tables};
use crate::wording::counted;

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
        counted(points, "point"),
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
        (None, _) => counted(0_u64, "replication"),
    }
}

/// `text` in lines of the width of the tables, the first after `bullet`, the others indented.
#[must_use]
pub fn wrapped(bullet: &str, text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    hanging(bullet, bullet.chars().count(), &words.join(" "))
}

/// `text` in lines of the width of the tables, the first after `first`, the others after `indent`
/// blanks. Several blanks in a row stay several within a line.
#[must_use]
pub fn hanging(first: &str, indent: usize, text: &str) -> String {
    let mut lines = String::new();
    broken_into(&mut lines, usize::from(WIDTH), (first, indent), text);
    lines
}

/// `text` in lines of at most `width`.
#[must_use]
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = String::new();
    broken_into(&mut lines, width, ("", 0), text);
    lines.lines().map(str::to_owned).collect()
}

fn broken_into(wrapped: &mut String, width: usize, (first, indent): (&str, usize), text: &str) {
    let mut line = first.to_owned();
    let mut used = first.chars().count();
    let (mut gap, mut empty) = (0, true);
    let mut words = text.trim().split(char::is_whitespace).peekable();
    while let Some(word) = words.next() {
        if word.is_empty() {
            gap += 1;
            continue;
        }
        let mut word = word.to_owned();
        while let Some(next) =
            words.next_if(|next| *next == "±" || is_unit(next) || word.ends_with('±'))
        {
            word.push(' ');
            word.push_str(next);
        }
        let room = width.saturating_sub(indent).max(1);
        for (index, piece) in pieces(&word, room).into_iter().enumerate() {
            let length = piece.chars().count();
            let blanks = if empty || index > 0 { 0 } else { gap + 1 };
            if !empty && used + blanks + length > width {
                let _ = writeln!(wrapped, "{}", line.trim_end());
                line = " ".repeat(indent);
                used = indent + length;
            } else {
                line.push_str(&" ".repeat(blanks));
                used += blanks + length;
            }
            line.push_str(piece);
            empty = false;
        }
        gap = 0;
    }
    let _ = writeln!(wrapped, "{}", line.trim_end());
}

/// Whether a word is a unit, whatever follows it: a figure stays with its unit and its half-width.
fn is_unit(word: &str) -> bool {
    let bare = word.trim_end_matches([',', ';', '.', ':', ')', '”', '"']);
    matches!(bare, "s" | "ms" | "us" | "ns" | "%" | "1/s")
}

/// A word that is longer than a line in pieces that are not: broken after a sign where there is one.
fn pieces(word: &str, room: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = word;
    while rest.chars().count() > room {
        let end = rest.char_indices().nth(room).map_or(rest.len(), |(end, _)| end);
        let sign = rest[..end].rfind([',', ';', '/', '.', ':']);
        let sign = sign.or_else(|| rest[..end].rfind(['_', '=', '-']));
        let cut = sign.map_or(end, |sign| sign + 1);
        pieces.push(&rest[..cut]);
        rest = &rest[cut..];
    }
    pieces.push(rest);
    pieces
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

    #[test]
    fn a_word_longer_than_a_line_is_broken_after_a_sign_and_nothing_of_it_is_lost() {
        let path = "a_rather_long_key.".repeat(9);
        let text = hanging("  ", 6, &format!("in  {path}  twice"));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.starts_with("  in  a_rather_long_key."), "{text}");
        assert!(
            text.lines().nth(1).is_some_and(|line| line.starts_with("      a_rather")),
            "{text}"
        );
        assert!(text.lines().take(2).all(|line| line.ends_with("key.")), "{text}");
        assert!(text.ends_with("  twice\n"), "blanks within a line stay: {text}");
        assert_eq!(text.split_whitespace().collect::<String>(), format!("in{path}twice"));
    }

    #[test]
    fn a_figure_stays_with_its_unit() {
        for length in 60..80 {
            let text = wrapped("", &format!("{} 1024 ± 12 ms (9 s, 5 %)", "a".repeat(length)));
            let units = ["±", "12", "ms", "s,", "%)"];
            let starts = |line: &str| units.iter().any(|unit| line.starts_with(unit));
            assert!(!text.lines().any(starts), "{text}");
        }
    }

    #[test]
    fn letters_without_any_sign_are_broken_where_the_line_ends() {
        let text = wrapped("- ", &"ä".repeat(200));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(text.matches('ä').count(), 200);
    }
}
