//! The comments of a C text.

use lydian_base::literals::end_of_literal;

/// A comment, or the part of one that is on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comment<'a> {
    /// The line, from 1.
    pub(crate) line: u32,
    /// The column in bytes, from 1, where `text` begins.
    pub(crate) column: u32,
    /// Its text, without `//`, `/*` and `*/`.
    pub(crate) text: &'a str,
    /// Whether nothing but comments and blanks stand before it on its line.
    pub(crate) alone: bool,
}

/// The state at the beginning of a line.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Code,
    Block,
    /// In a `//` comment that a backslash continues.
    Line,
}

/// The comments of a text, in order.
pub(crate) fn comments(lines: &[String]) -> Vec<Comment<'_>> {
    let mut found = Vec::new();
    let mut state = State::Code;
    for (index, line) in lines.iter().enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        state = scan(line, number, state, &mut found);
    }
    found
}

/// Finds the comments of one line. Returns the state at the beginning of the next one.
fn scan<'a>(line: &'a str, number: u32, start: State, found: &mut Vec<Comment<'a>>) -> State {
    let bytes = line.as_bytes();
    let continued = bytes.last() == Some(&b'\\');
    let (mut at, mut alone, mut state) = (0, true, start);
    loop {
        let rest = &line[at..];
        let mut push = |text: &'a str| {
            let column = u32::try_from(at + 1).unwrap_or(u32::MAX);
            found.push(Comment { line: number, column, text, alone });
        };
        match state {
            State::Line => {
                push(rest);
                return if continued { State::Line } else { State::Code };
            }
            State::Block => match rest.find("*/") {
                Some(length) => {
                    push(&rest[..length]);
                    at += length + 2;
                    state = State::Code;
                }
                None => {
                    push(rest);
                    return State::Block;
                }
            },
            State::Code => match comment_start(bytes, at) {
                Some((begin, next)) => {
                    alone &= line[at..begin].trim().is_empty();
                    at = begin + 2;
                    state = next;
                }
                None => return State::Code,
            },
        }
    }
}

/// The start of the next comment, outside of strings and characters, and its kind.
fn comment_start(bytes: &[u8], mut at: usize) -> Option<(usize, State)> {
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'/', Some(b'/')) => return Some((at, State::Line)),
            (b'/', Some(b'*')) => return Some((at, State::Block)),
            (quote @ (b'"' | b'\''), _) => at = end_of_literal(bytes, at + 1, quote),
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(u32, u32, String, bool)> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let found = comments(&lines);
        found.iter().map(|c| (c.line, c.column, c.text.to_owned(), c.alone)).collect()
    }

    #[test]
    fn comments_are_found_outside_of_strings_and_across_lines() {
        let text = "int a; // one \\\ntwo\n\"// no\" '\"' /* three */ /* four\n five */ x";
        let expected = [
            (1, 10, " one \\", false),
            (2, 1, "two", true),
            (3, 15, " three ", false),
            (3, 27, " four", false),
            (4, 1, " five ", true),
        ];
        assert_eq!(of(text), expected.map(|(l, c, t, a)| (l, c, t.to_owned(), a)));
    }

    #[test]
    fn an_unfinished_string_ends_with_its_line() {
        assert_eq!(of("\"open\\\n// next"), [(2, 3, " next".to_owned(), true)]);
    }
}
