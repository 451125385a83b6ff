//! Conditions on points, such as `http.workers * http.threads <= 64`.
//!
//! ```text
//! condition = sum relation sum { relation sum }       relation = < <= > >= == !=
//! sum       = product { (+ | -) product }
//! product   = factor { (* | /) factor }
//! factor    = number | quantity | path | - factor | ( sum )
//! ```
//!
//! A quantity is a duration (`10 ms`) or a rate (`1500/s`); a path has a dot in it, so that the two
//! cannot be taken for each other. Units are reckoned with: a duration times a rate is a plain
//! number, and a duration is never compared with one.

use super::token::{Lexer, Token, TokenKind};

/// Most parentheses and signs within each other.
const MAX_DEPTH: usize = 32;
/// Most bytes of a condition.
const MAX_LENGTH: usize = 2000;
/// Sides that differ by less than this share are equal: 3 x 0.1 is 0.3.
const TOLERANCE: f64 = 1e-12;

/// What is wrong with a condition, and which of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What.
    pub reason: String,
    /// From which byte to which.
    pub span: (usize, usize),
}

impl Fault {
    pub(super) fn new(reason: impl Into<String>, span: (usize, usize)) -> Self {
        Self { reason: reason.into(), span }
    }
}

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// In seconds to the power of `time`.
    pub number: f64,
    /// 1 for a duration, -1 for a rate, 0 for a plain number.
    pub time: i32,
}

/// A condition that was read.
#[derive(Clone, Debug)]
pub struct Condition {
    first: Expression,
    rest: Vec<(Relation, Expression)>,
    /// The paths that it names, each with its bytes.
    pub paths: Vec<(String, (usize, usize))>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

#[derive(Clone, Debug)]
struct Expression {
    kind: ExpressionKind,
    span: (usize, usize),
}

#[derive(Clone, Debug)]
enum ExpressionKind {
    Constant(Quantity),
    /// An index into [`Condition::paths`].
    Path(usize),
    Negative(Box<Expression>),
    Binary(Box<Expression>, Operator, Box<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Plus,
    Minus,
    Times,
    Over,
}

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// What keeps `text` from being one.
    pub fn read(text: &str) -> Result<Self, Fault> {
        if text.len() > MAX_LENGTH {
            let reason = format!("it is longer than {MAX_LENGTH} characters");
            return Err(Fault::new(reason, (0, text.len())));
        }
        let mut parser = Parser { lexer: Lexer::new(text)?, paths: Vec::new(), depth: 0 };
        let first = parser.sum()?;
        let mut rest = Vec::new();
        while let TokenKind::Relation(relation) = parser.lexer.peek().kind {
            parser.lexer.advance()?;
            rest.push((relation, parser.sum()?));
        }
        let next = parser.lexer.peek();
        match next.kind {
            TokenKind::End if !rest.is_empty() => Ok(Self { first, rest, paths: parser.paths }),
            TokenKind::End => {
                let reason = "it compares nothing: one of <, <=, >, >=, == and != is missing";
                Err(Fault::new(reason, (0, text.len())))
            }
            _ => Err(Fault::new("an operator or a comparison is missing before this", next.span)),
        }
    }

    /// Whether it holds, when the paths have the values that `value` gives for their indices.
    ///
    /// # Errors
    /// Those of `value`, or units that do not go together.
    pub fn holds(
        &self,
        value: &mut impl FnMut(usize) -> Result<Quantity, Fault>,
    ) -> Result<bool, Fault> {
        let mut left = self.first.value(value)?;
        let mut left_span = self.first.span;
        let mut all = true;
        for (relation, expression) in &self.rest {
            let right = expression.value(value)?;
            if left.time != right.time {
                let (this, that) = (unit_name(left.time), unit_name(right.time));
                let reason = format!("{this} is compared with {that}");
                return Err(Fault::new(reason, (left_span.0, expression.span.1)));
            }
            all &= relation.holds(left.number, right.number);
            (left, left_span) = (right, expression.span);
        }
        Ok(all)
    }
}

impl Relation {
    fn holds(self, left: f64, right: f64) -> bool {
        let equal =
            left == right || (left - right).abs() <= TOLERANCE * left.abs().max(right.abs());
        match self {
            Self::Less => left < right && !equal,
            Self::LessOrEqual => left < right || equal,
            Self::Greater => left > right && !equal,
            Self::GreaterOrEqual => left > right || equal,
            Self::Equal => equal,
            Self::NotEqual => !equal,
        }
    }
}

impl Expression {
    fn value(
        &self,
        path: &mut impl FnMut(usize) -> Result<Quantity, Fault>,
    ) -> Result<Quantity, Fault> {
        let (left, operator, right) = match &self.kind {
            ExpressionKind::Constant(quantity) => return Ok(*quantity),
            ExpressionKind::Path(index) => return path(*index),
            ExpressionKind::Negative(inner) => {
                let Quantity { number, time } = inner.value(path)?;
                return Ok(Quantity { number: -number, time });
            }
            ExpressionKind::Binary(left, operator, right) => {
                (left.value(path)?, operator, right.value(path)?)
            }
        };
        let number = match operator {
            Operator::Plus => left.number + right.number,
            Operator::Minus => left.number - right.number,
            Operator::Times => left.number * right.number,
            Operator::Over if right.number == 0.0 => {
                return Err(Fault::new("it divides by 0", self.span));
            }
            Operator::Over => left.number / right.number,
        };
        let time = match operator {
            Operator::Times => left.time.saturating_add(right.time),
            Operator::Over => left.time.saturating_sub(right.time),
            Operator::Plus | Operator::Minus if left.time == right.time => left.time,
            Operator::Plus | Operator::Minus => {
                let (this, that) = (unit_name(left.time), unit_name(right.time));
                let reason = format!("{this} and {that} cannot be added or subtracted");
                return Err(Fault::new(reason, self.span));
            }
        };
        Ok(Quantity { number, time })
    }
}

fn unit_name(time: i32) -> String {
    match time {
        0 => "a plain number".to_owned(),
        1 => "a duration".to_owned(),
        -1 => "a rate".to_owned(),
        _ => format!("something in s^{time}"),
    }
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    paths: Vec<(String, (usize, usize))>,
    depth: usize,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<Expression, Fault> {
        let mut left = self.product()?;
        loop {
            let operator = match self.lexer.peek().kind {
                TokenKind::Plus => Operator::Plus,
                TokenKind::Minus => Operator::Minus,
                _ => return Ok(left),
            };
            self.lexer.advance()?;
            left = binary(left, operator, self.product()?);
        }
    }

    fn product(&mut self) -> Result<Expression, Fault> {
        let mut left = self.factor()?;
        loop {
            let operator = match self.lexer.peek().kind {
                TokenKind::Times => Operator::Times,
                TokenKind::Over => Operator::Over,
                _ => return Ok(left),
            };
            self.lexer.advance()?;
            left = binary(left, operator, self.factor()?);
        }
    }

    fn factor(&mut self) -> Result<Expression, Fault> {
        let Token { kind, span } = self.lexer.advance()?;
        match kind {
            TokenKind::Constant(quantity) => {
                Ok(Expression { kind: ExpressionKind::Constant(quantity), span })
            }
            TokenKind::Path(path) => {
                self.paths.push((path, span));
                Ok(Expression { kind: ExpressionKind::Path(self.paths.len() - 1), span })
            }
            TokenKind::Minus => {
                let inner = self.deeper(span, Self::factor)?;
                let span = (span.0, inner.span.1);
                Ok(Expression { kind: ExpressionKind::Negative(Box::new(inner)), span })
            }
            TokenKind::Open => {
                let inner = self.deeper(span, Self::sum)?;
                let close = self.lexer.advance()?;
                if close.kind != TokenKind::Close {
                    return Err(Fault::new("the parenthesis is not closed", span));
                }
                Ok(Expression { span: (span.0, close.span.1), ..inner })
            }
            _ => Err(Fault::new("a number, a quantity or a path is missing here", span)),
        }
    }

    fn deeper(
        &mut self,
        span: (usize, usize),
        read: impl FnOnce(&mut Self) -> Result<Expression, Fault>,
    ) -> Result<Expression, Fault> {
        if self.depth == MAX_DEPTH {
            return Err(Fault::new(format!("it is nested more than {MAX_DEPTH} deep"), span));
        }
        self.depth += 1;
        let inner = read(self);
        self.depth -= 1;
        inner
    }
}

fn binary(left: Expression, operator: Operator, right: Expression) -> Expression {
    let span = (left.span.0, right.span.1);
    let kind = ExpressionKind::Binary(Box::new(left), operator, Box::new(right));
    Expression { kind, span }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With `a.n` = 4, `a.t` = 2 s and `a.r` = 10/s.
    fn holds(text: &str) -> Result<bool, String> {
        let check = || {
            let condition = Condition::read(text)?;
            condition.holds(&mut |index| {
                let (path, span) = &condition.paths[index];
                match path.as_str() {
                    "a.n" => Ok(Quantity { number: 4.0, time: 0 }),
                    "a.t" => Ok(Quantity { number: 2.0, time: 1 }),
                    "a.r" => Ok(Quantity { number: 10.0, time: -1 }),
                    _ => Err(Fault::new("unknown", *span)),
                }
            })
        };
        check().map_err(|fault: Fault| {
            format!("{} [{}]", fault.reason, &text[fault.span.0..fault.span.1])
        })
    }

    #[test]
    fn conditions_are_reckoned_as_they_are_written() {
        for (text, expected) in [
            ("a.n * 2 <= 8", true),
            ("a.n * 2 < 8", false),
            ("a.n+1==5", true),
            ("2 + a.n * 3 == 14 ", true),
            ("(2 + a.n) * 3 == 18", true),
            ("a.n - 1 - 1 == 2", true),
            ("16 / a.n / 2 == 2", true),
            ("-a.n < --1", true),
            ("1 <= a.n <= 4", true),
            ("1 <= a.n < 4", false),
            ("a.n != 4", false),
            ("a.t >= 2000 ms", true),
            ("a.t < 1 min", true),
            ("a.r == 600/min", true),
            ("a.r * a.t == 20", true),
            ("a.n / a.t == 2/s", true),
            ("1.5e1 > a.n", true),
            ("0.1 + 0.2 == 0.3", true),
            ("a.n/2 == 2", true),
            ("10 ms * 100 == 1 s", true),
        ] {
            assert_eq!(holds(text), Ok(expected), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_condition_or_has_its_fault_within_it(
            text in r"([0-9a-z.()\[\]+*/<>=! µ-]|ms|a\.n|<=|\PC){0,40}"
        ) {
            if let Err(fault) = Condition::read(&text) {
                proptest::prop_assert!(fault.span.0 <= fault.span.1 && fault.span.1 <= text.len());
            }
        }
    }

    #[test]
    fn what_is_no_condition_says_why_and_where() {
        let errors: Vec<String> = [
            "a.n",
            "",
            "a.n <",
            "a.n < < 3",
            "a.n 3 < 4",
            "(a.n < 3",
            "a.n) < 3",
            "a.n = 3",
            "a.n < 3 parsecs",
            "n < 3",
            "a.n < a.t",
            "a.n + a.t < 3",
            "a.t * a.t < 3",
            "3 / 0 < 1",
            "a.n & 3",
            "a..n < 3",
            "a.n[x] < 3",
            "a.x < 1",
            "1..2 < a.n",
            "a.n => 3",
            "3 % 2 < 1",
        ]
        .into_iter()
        .map(|text| format!("{text}: {}", holds(text).unwrap_err()))
        .collect();
        insta::assert_snapshot!(errors.join("\n"));
        assert!(holds(&format!("{}1 < 2", "(".repeat(100))).unwrap_err().contains("nested"));
        assert!(holds(&format!("{}1 < 2", "-".repeat(100))).unwrap_err().contains("nested"));
        assert!(holds(&"1".repeat(3000)).unwrap_err().contains("longer"));
    }
}
