//! The tokens of HTOL.

use std::ops::Range;

use super::error::HtolError;

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Name(String),
    Number(i128),
    Text(String),
    /// A mark of punctuation, in its plain spelling.
    Mark(&'static str),
    End,
}

/// A mark comes before those that are its beginning.
const MARKS: [&str; 33] = [
    "||", "|>", "|", "&&", "==", "=>", "=", "!=", "!", "<=", "<-", "<", ">=", ">", "->", "-", "+",
    "...", ".", ",", ";", "::", ":", "(", ")", "[", "]", "{", "}", "*", "/", "%", "'",
];

/// The signs of the papers, each with its plain spelling.
const SIGNS: [(char, &str); 14] = [
    ('\u{25b7}', "|>"),
    ('\u{22b3}', "|>"),
    ('\u{21a4}', "<-"),
    ('\u{2190}', "<-"),
    ('\u{2192}', "->"),
    ('\u{27e8}', "<"),
    ('\u{27e9}', ">"),
    ('\u{00b7}', "."),
    ('\u{22c5}', "."),
    ('\u{2227}', "&&"),
    ('\u{2228}', "||"),
    ('\u{2260}', "!="),
    ('\u{00ac}', "!"),
    ('\u{21d2}', "=>"),
];

/// The tokens of a text from an offset on, with their places. The end is the last token. `//` begins
/// a comment, to the end of its line.
pub(super) fn tokens(text: &str, from: usize) -> Result<Vec<(Token, Range<usize>)>, HtolError> {
    let mut found = Vec::new();
    let mut at = from;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            let (token, length) = token(rest, at)?;
            found.push((token, at..at + length));
            length
        };
        at += length;
    }
    found.push((Token::End, at..at));
    Ok(found)
}

fn token(rest: &str, at: usize) -> Result<(Token, usize), HtolError> {
    let first = rest.chars().next().unwrap_or(' ');
    let run = |holds: fn(char) -> bool| rest.find(|c| !holds(c)).unwrap_or(rest.len());
    if is_name_start(first) {
        let length = run(is_name);
        return Ok((Token::Name(rest[..length].to_owned()), length));
    }
    if first.is_ascii_digit() {
        let length = run(|c| c.is_ascii_alphanumeric());
        let digits = &rest[..length];
        let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(hexadecimal) => i128::from_str_radix(hexadecimal, 16),
            None => digits.parse(),
        };
        let number = number.map_err(|_| HtolError::Number { at: at..at + length })?;
        return Ok((Token::Number(number), length));
    }
    if first == '"' {
        let end = rest[1..].find(['"', '\n']).map(|end| end + 1);
        let end = end.filter(|end| rest[*end..].starts_with('"'));
        let end = end.ok_or(HtolError::Character { found: '"', at: at..at + 1 })?;
        return Ok((Token::Text(rest[1..end].to_owned()), end + 1));
    }
    if let Some((sign, plain)) = SIGNS.iter().find(|(sign, _)| *sign == first) {
        return Ok((Token::Mark(plain), sign.len_utf8()));
    }
    let mark = MARKS.iter().find(|mark| rest.starts_with(**mark));
    let unknown = HtolError::Character { found: first, at: at..at + first.len_utf8() };
    mark.map(|mark| (Token::Mark(mark), mark.len())).ok_or(unknown)
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether a character may stand in a name. Names may end in primes, as those of the papers do; a
/// prime within a name is accepted, too.
fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '\'')
}
