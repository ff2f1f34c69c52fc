//! Tokens of the text form.

use super::parse::ParseError;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A keyword, an id, an operator's or a type's name.
    Word(String),
    /// A number as written.
    Number(String),
    /// The text between quotes, its escapes resolved.
    Quoted(Vec<u8>),
    /// A punctuation mark, or two that belong together (`..`, `->`).
    Mark(&'static str),
}

impl Token {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Word(text) | Self::Number(text) => format!("`{text}`"),
            Self::Quoted(_) => "a quoted text".to_owned(),
            Self::Mark(text) => format!("`{text}`"),
        }
    }
}

/// A token with the offset of its first byte.
pub(super) type Placed = (usize, Token);

const MARKS: [&str; 19] = [
    "..", "->", "(", ")", "{", "}", "[", "]", ",", ":", "=", "@", "&", "?", "*", "+", "-", ";", "$",
];

/// Cuts a text into tokens.
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, ParseError> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            b'#' => at += bytes[at..].iter().take_while(|b| **b != b'\n').count(),
            b'"' => {
                let (token, end) = quoted(text, at)?;
                out.push((at, Token::Quoted(token)));
                at = end;
            }
            b'0'..=b'9' => at = number(text, at, at, &mut out),
            b'-' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                at = number(text, at, at + 1, &mut out);
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let end = word_end(bytes, at);
                out.push((at, Token::Word(text[at..end].to_owned())));
                at = end;
            }
            _ => {
                let rest = &bytes[at..];
                let mark = MARKS.iter().find(|mark| rest.starts_with(mark.as_bytes()));
                let mark = mark.ok_or_else(|| ParseError::at(text, at, "no token begins so"))?;
                out.push((at, Token::Mark(mark)));
                at += mark.len();
            }
        }
    }
    Ok(out)
}

/// Letters, digits and `_`; dots and hyphens only where one of these follows.
fn word_end(bytes: &[u8], start: usize) -> usize {
    let is_plain =
        |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut at = start;
    while is_plain(at) || (matches!(bytes.get(at), Some(b'.' | b'-')) && is_plain(at + 1)) {
        at += 1;
    }
    at
}

/// Digits and letters; a dot where a digit follows; a sign after a decimal exponent's `e`.
fn number(text: &str, start: usize, digits: usize, out: &mut Vec<Placed>) -> usize {
    let bytes = text.as_bytes();
    let is_hex = bytes[digits..].starts_with(b"0x");
    let digit_at = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = digits;
    while let Some(byte) = bytes.get(at) {
        let goes_on = match byte {
            b'.' => !is_hex && digit_at(at + 1),
            b'-' | b'+' => !is_hex && bytes[at - 1] == b'e' && digit_at(at + 1),
            _ => byte.is_ascii_alphanumeric(),
        };
        if !goes_on {
            break;
        }
        at += 1;
    }
    out.push((start, Token::Number(text[start..at].to_owned())));
    at
}

/// The bytes between quotes, and the offset after the closing one.
fn quoted(text: &str, start: usize) -> Result<(Vec<u8>, usize), ParseError> {
    let error = |at, message: &str| ParseError::at(text, at, message);
    let mut out = Vec::new();
    let mut chars = text[start + 1..].char_indices().map(|(at, c)| (start + 1 + at, c));
    loop {
        let (at, c) = chars.next().ok_or_else(|| error(start, "the quoted text has no end"))?;
        match c {
            '"' => return Ok((out, at + 1)),
            '\\' => {
                let (_, escape) = chars.next().ok_or_else(|| error(at, "nothing to escape"))?;
                match escape {
                    '"' | '\\' => out.push(escape as u8),
                    'n' => out.push(b'\n'),
                    'x' => {
                        let digits: String = chars.by_ref().take(2).map(|(_, c)| c).collect();
                        let byte = u8::from_str_radix(&digits, 16);
                        out.push(byte.map_err(|_| error(at, "two hexadecimal digits expected"))?);
                    }
                    'u' => {
                        let digits: String = chars
                            .by_ref()
                            .take_while(|(_, c)| *c != '}')
                            .map(|(_, c)| c)
                            .skip_while(|c| *c == '{')
                            .collect();
                        let c = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                        let c = c.ok_or_else(|| error(at, "no such character"))?;
                        out.extend(c.encode_utf8(&mut [0; 4]).bytes());
                    }
                    _ => return Err(error(at, "no such escape")),
                }
            }
            c => out.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
}
