//! The length of an array, as a C expression over places and numbers: `len`, `.len`, `*count`, `rows *
//! cols`, `n + 1`, `bytes / 4`.

use std::fmt;

use crate::place::{InputPlace, PlaceError};

/// A number of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Length {
    /// A fixed number.
    Number(u64),
    /// The value at a place.
    Place(InputPlace),
    /// Two of them, combined.
    Op(Op, Box<Length>, Box<Length>),
}

/// The combination of two lengths, in 64-bit arithmetic that wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`, by a number that is not 0.
    Div,
}

impl Op {
    const ALL: [(Self, char, u8); 4] =
        [(Self::Add, '+', 1), (Self::Sub, '-', 1), (Self::Mul, '*', 2), (Self::Div, '/', 2)];

    fn entry(self) -> (char, u8) {
        let [add, sub, mul, div] = Self::ALL.map(|(_, symbol, binds)| (symbol, binds));
        match self {
            Self::Add => add,
            Self::Sub => sub,
            Self::Mul => mul,
            Self::Div => div,
        }
    }
}

impl Length {
    /// Reads a length. Operators bind as in C and group from the left; a parenthesis groups only
    /// at the start of an operand.
    pub fn parse(text: &str) -> Result<Self, PlaceError> {
        let tokens = tokens(text);
        let mut parser = Parser { text, tokens, at: 0, depth: 0 };
        let length = parser.binary(1)?;
        match parser.tokens.get(parser.at) {
            None => Ok(length),
            Some(token) => Err(parser.error(&format!("unexpected '{}'", token.text))),
        }
    }

    /// Whether the value at a place is part of it.
    pub fn names(&self, place: &InputPlace) -> bool {
        match self {
            Self::Number(_) => false,
            Self::Place(at) => at == place,
            Self::Op(_, a, b) => a.names(place) || b.names(place),
        }
    }

    /// The place, where it is nothing else.
    pub fn as_place(&self) -> Option<&InputPlace> {
        match self {
            Self::Place(place) => Some(place),
            _ => None,
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Place(place) => place.fmt(f),
            Self::Op(op, a, b) => {
                let (symbol, binds) = op.entry();
                let grouped = |side: &Self, least: u8| match side {
                    Self::Op(inner, ..) if inner.entry().1 < least => format!("({side})"),
                    _ => side.to_string(),
                };
                write!(f, "{} {symbol} {}", grouped(a, binds), grouped(b, binds + 1))
            }
        }
    }
}

/// An operator, a parenthesis, or the text of an operand.
struct Token {
    text: String,
    column: usize,
}

/// Splits at operators outside of brackets. `->` belongs to an operand, and so does a `*` where an
/// operand must begin.
fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut found: Vec<Token> = Vec::new();
    let mut operand: Option<Token> = None;
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        let arrow = c == '-' && chars.get(at + 1) == Some(&'>');
        let open = operand.as_ref().is_some_and(|o| o.text.trim_end().ends_with(['*', '&']));
        let begins = operand.as_ref().is_none_or(|o| o.text.trim().is_empty()) || open;
        let after_value = found.last().is_some_and(|token| token.text == ")");
        let star_in_operand = c == '*' && begins && !after_value;
        let operator = matches!(c, '+' | '-' | '/' | '*' | '(' | ')') && !arrow && !star_in_operand;
        if operator {
            found.extend(operand.take().filter(|o| !o.text.trim().is_empty()));
            found.push(Token { text: c.into(), column: at + 1 });
        } else if operand.is_some() || !c.is_whitespace() {
            let operand =
                operand.get_or_insert_with(|| Token { text: String::new(), column: at + 1 });
            operand.text.push(c);
            if arrow {
                operand.text.push('>');
                at += 1;
            }
        }
        at += 1;
    }
    found.extend(operand.filter(|o| !o.text.trim().is_empty()));
    found
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn error(&self, why: &str) -> PlaceError {
        let column =
            self.tokens.get(self.at).map_or(self.text.chars().count() + 1, |token| token.column);
        PlaceError { text: self.text.into(), why: why.into(), column }
    }

    fn binary(&mut self, least: u8) -> Result<Length, PlaceError> {
        let mut left = self.operand()?;
        while let Some((op, binds)) = self.operator().filter(|(_, binds)| *binds >= least) {
            self.at += 1;
            let right = self.binary(binds + 1)?;
            if op == Op::Div && !matches!(right, Length::Number(n) if n > 0) {
                self.at -= 1;
                return Err(self.error("a length is divided only by a number above 0"));
            }
            left = Length::Op(op, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn operator(&self) -> Option<(Op, u8)> {
        let text = &self.tokens.get(self.at)?.text;
        let (op, _, binds) = Op::ALL.into_iter().find(|(_, c, _)| text.starts_with(*c))?;
        (text.len() == 1).then_some((op, binds))
    }

    fn operand(&mut self) -> Result<Length, PlaceError> {
        let Some(token) = self.tokens.get(self.at) else {
            return Err(self.error("expected a place or a number"));
        };
        if token.text == "(" {
            self.depth += 1;
            if self.depth > 64 {
                return Err(self.error("too deeply nested"));
            }
            self.at += 1;
            let inner = self.binary(1)?;
            if self.tokens.get(self.at).is_none_or(|token| token.text != ")") {
                return Err(self.error("expected ')'"));
            }
            self.at += 1;
            self.depth -= 1;
            return Ok(inner);
        }
        let operand = token.text.trim();
        let length = if operand.starts_with(|c: char| c.is_ascii_digit()) {
            let number = operand.parse();
            Length::Number(number.map_err(|_| self.error("not a number that fits 64 bits"))?)
        } else {
            let column = token.column;
            let place = InputPlace::parse(operand).map_err(|error| PlaceError {
                text: self.text.into(),
                why: error.why,
                column: column + error.column - 1,
            })?;
            if !place.is_exact() {
                return Err(self.error("a length is at one place, so '[_]' cannot be in it"));
            }
            Length::Place(place)
        };
        self.at += 1;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> String {
        Length::parse(text).unwrap().to_string()
    }

    #[test]
    fn a_length_is_read_as_c_reads_an_expression() {
        assert_eq!(shown("len"), "len");
        assert_eq!(shown(" ctx->len+1 "), "ctx->len + 1");
        assert_eq!(shown("rows*cols"), "rows * cols");
        assert_eq!(shown("2 * *n"), "2 * *n");
        assert_eq!(shown("*n * *m"), "*n * *m");
        assert_eq!(shown("(a + b) * 2 - (c - 1)"), "(a + b) * 2 - (c - 1)");
        assert_eq!(shown(".bytes / 4"), ".bytes / 4");
        assert_eq!(Length::parse("16"), Ok(Length::Number(16)));
    }

    #[test]
    fn what_is_no_length_is_told_with_the_column() {
        let complaint = |text| Length::parse(text).unwrap_err().to_string();
        assert_eq!(complaint("a +"), "'a +' is no place: expected a place or a number at column 4");
        assert!(complaint("a / b").contains("divided only by a number above 0 at column 5"));
        assert!(complaint("names[_]").contains("'[_]' cannot be in it"));
        assert!(complaint("(a").contains("expected ')'"));
        assert!(complaint("a )").contains("unexpected ')'"));
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_back_as_the_same_length(
            text in "[ab.*+/()\\[\\]0-9>_ -]{0,24}"
        ) {
            if let Ok(length) = Length::parse(&text) {
                prop_assert_eq!(Length::parse(&length.to_string()), Ok(length));
            }
        }
    }
}
