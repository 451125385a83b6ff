//! How things are written for a reader, wherever that is: numbers of things, and text that others
//! wrote.

/// `1 replication`, `2 replications`; of several words the last is the noun.
#[must_use]
pub fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count: u64 = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {}", plural(count, noun))
}

/// `noun` as it is after so many.
#[must_use]
pub fn plural(count: u64, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if count == 1 => noun.to_owned(),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    }
}

/// `text` with what cannot be seen written out: control characters, which move the cursor of a
/// terminal, and those that turn the direction of writing. The form is that of JSON, so that a text
/// in JSON stays what it is.
#[must_use]
pub fn visible(text: &str) -> String {
    if !text.contains(hidden) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if hidden(letter) {
            shown.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Whether `letter` does something to what is around it instead of being seen.
#[must_use]
pub fn hidden(letter: char) -> bool {
    let turns = matches!(
        letter,
        '\u{061c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}'
    );
    turns || (letter.is_control() && letter != '\n' && letter != '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_all_else_is_not() {
        assert_eq!(counted(1_u64, "replication"), "1 replication");
        assert_eq!(counted(0_u64, "point"), "0 points");
        assert_eq!(counted(3_usize, "swept key"), "3 swept keys");
        assert_eq!(counted(2_u64, "trajectory"), "2 trajectories");
        assert_eq!(counted(1_u64, "trajectory"), "1 trajectory");
    }

    #[test]
    fn what_moves_the_cursor_or_turns_the_writing_is_written_out() {
        let text = "a\u{1b}[2Jb\u{202e}c\u{9b}d\u{2066}e";
        assert_eq!(visible(text), "a\\u001b[2Jb\\u202ec\\u009bd\\u2066e");
        assert_eq!(visible("ä\n\tµ ≤ é"), "ä\n\tµ ≤ é");
    }

    #[test]
    fn json_stays_what_it_is() {
        let value = serde_json::json!({ "name": "a\u{1b}b\u{202e}c\u{7f}\u{9b}" });
        let text = visible(&format!("{value:#}"));
        assert!(!text.contains(hidden));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
