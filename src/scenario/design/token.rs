//! The words of a condition.

use super::condition::{Fault, Quantity, Relation};
use crate::quantities::duration::parse_duration;
use crate::quantities::rate::parse_rate;

/// A word and its bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub span: (usize, usize),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Constant(Quantity),
    Path(String),
    Plus,
    Minus,
    Times,
    Over,
    Open,
    Close,
    Relation(Relation),
    End,
}

/// Cuts a condition into words.
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    next: Token,
}

impl<'t> Lexer<'t> {
    /// At the first word of `text`.
    pub fn new(text: &'t str) -> Result<Self, Fault> {
        let next = Token { kind: TokenKind::End, span: (0, 0) };
        let mut lexer = Self { text, at: 0, next };
        lexer.advance()?;
        Ok(lexer)
    }

    /// The next word.
    pub const fn peek(&self) -> &Token {
        &self.next
    }

    /// Takes the next word.
    pub fn advance(&mut self) -> Result<Token, Fault> {
        let following = self.read()?;
        Ok(std::mem::replace(&mut self.next, following))
    }

    fn read(&mut self) -> Result<Token, Fault> {
        self.at += blanks(self.rest());
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Ok(Token { kind: TokenKind::End, span: (start, start) });
        };
        let (kind, length) = if first.is_ascii_digit() || first == '.' {
            self.number()?
        } else if first.is_alphabetic() || first == '_' {
            self.path()?
        } else {
            symbol(rest).ok_or_else(|| {
                let reason = match first {
                    '=' => "equality is written == here",
                    _ => "this has no meaning in a condition",
                };
                Fault::new(reason, (start, start + first.len_utf8()))
            })?
        };
        self.at += length;
        Ok(Token { kind, span: (start, self.at) })
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// A number with its unit, if one follows: `10 ms`, `1500/s`.
    fn number(&self) -> Result<(TokenKind, usize), Fault> {
        let rest = self.rest();
        let length = number_length(rest);
        let digits = &rest[..length];
        let bad = |length: usize, reason: String| Fault::new(reason, (self.at, self.at + length));
        let number: f64 =
            digits.parse().map_err(|_| bad(length, format!("{digits} is no number")))?;
        let gap = blanks(&rest[length..]);
        let unit_at = length + gap;
        if let Some(below) = rest[unit_at..].strip_prefix('/') {
            let unit_at = unit_at + 1 + blanks(below);
            let end = unit_at + word_length(&rest[unit_at..]);
            // A path has a dot in it: 16 / a.n divides.
            if matches!(&rest[unit_at..end], "s" | "min" | "h") {
                let rate = parse_rate(&rest[..end]).map_err(|error| bad(end, error.to_string()))?;
                let quantity = Quantity { number: rate.as_per_second(), time: -1 };
                return Ok((TokenKind::Constant(quantity), end));
            }
        }
        let word = &rest[unit_at..][..word_length(&rest[unit_at..])];
        let end = unit_at + word.len() - word.trim_start_matches(char::is_alphabetic).len();
        if end == unit_at || word.contains('.') {
            return Ok((TokenKind::Constant(Quantity { number, time: 0 }), length));
        }
        let duration = parse_duration(&rest[..end]).map_err(|error| bad(end, error.to_string()))?;
        let quantity = Quantity { number: duration.as_seconds(), time: 1 };
        Ok((TokenKind::Constant(quantity), end))
    }

    fn path(&self) -> Result<(TokenKind, usize), Fault> {
        let rest = self.rest();
        let length = word_length(rest);
        let path = &rest[..length];
        if path.contains('.') {
            return Ok((TokenKind::Path(path.to_owned()), length));
        }
        let reason = format!("{path} is no path: a component's name and a dot are missing");
        Err(Fault::new(reason, (self.at, self.at + length)))
    }
}

fn symbol(rest: &str) -> Option<(TokenKind, usize)> {
    let pairs = [
        ("<=", Relation::LessOrEqual),
        (">=", Relation::GreaterOrEqual),
        ("==", Relation::Equal),
        ("!=", Relation::NotEqual),
        ("<", Relation::Less),
        (">", Relation::Greater),
    ];
    if let Some((text, relation)) = pairs.into_iter().find(|(text, _)| rest.starts_with(text)) {
        return Some((TokenKind::Relation(relation), text.len()));
    }
    let kind = match rest.chars().next()? {
        '+' => TokenKind::Plus,
        '-' => TokenKind::Minus,
        '*' => TokenKind::Times,
        '/' => TokenKind::Over,
        '(' => TokenKind::Open,
        ')' => TokenKind::Close,
        _ => return None,
    };
    Some((kind, 1))
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// Letters, digits and what paths have beside them. A minus in the name of a component, as in
/// `my-pool.workers`, belongs to the name; after the first dot it subtracts.
fn word_length(text: &str) -> usize {
    let (mut end, mut dot) = (0, false);
    for (at, c) in text.char_indices() {
        let after = &text[at + c.len_utf8()..];
        dot |= c == '.';
        let name = c == '-' && at > 0 && !dot;
        let within = name && after.starts_with(|c: char| c.is_alphanumeric());
        if !(c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']') || within) {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}

/// `1`, `1.5`, `1.5e-3`; as far as it may be a number.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count()
    };
    let end = digits(0);
    if !matches!(bytes.get(end), Some(b'e' | b'E')) {
        return end;
    }
    let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
    let exponent = digits(end + 1 + sign);
    if exponent > end + 1 + sign { exponent } else { end }
}
