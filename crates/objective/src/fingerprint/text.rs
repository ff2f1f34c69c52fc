//! The text of a function as fingerprints see it, and positions in it that survive edits elsewhere.

use std::fmt;

use lydian_base::SourceMap;
use lydian_ir::Program;
use serde::{Deserialize, Serialize};

use super::own_span;

/// A position in the text of a function: after so many bytes that are no white space, comments and line
/// markers. As long as the function's fingerprint stays, it means the same character, wherever the function
/// stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TextPosition {
    /// The name of the function.
    pub function: String,
    /// The number of bytes before it.
    pub bytes: u32,
}

impl TextPosition {
    /// The position of an offset of a program's text; none outside of the bodies of functions.
    pub fn of(program: &Program, map: &SourceMap, offset: u32) -> Option<Self> {
        let (function, span) = program.defined().find_map(|(_, function)| {
            let span = own_span(function, function.body.as_ref()?);
            (span.start <= offset && offset < span.end).then_some((function, span))
        })?;
        let at = (offset - span.start) as usize;
        let before = pieces(map.slice(span)).take_while(|piece| piece.end() <= at);
        let whole: usize = before.map(|piece| piece.text.len()).sum();
        let within = pieces(map.slice(span)).find(|piece| piece.start < at && at < piece.end());
        let bytes = whole + within.map_or(0, |piece| at - piece.start);
        Some(Self { function: function.name.clone(), bytes: bytes as u32 })
    }

    /// The offset in a program's text; none if the program has no such function, or one of another text.
    pub fn offset(&self, program: &Program, map: &SourceMap) -> Option<u32> {
        let function = &program.functions[program.function_named(&self.function)?];
        let span = own_span(function, function.body.as_ref()?);
        let mut left = self.bytes as usize;
        for piece in pieces(map.slice(span)) {
            if left < piece.text.len() {
                return Some(span.start + (piece.start + left) as u32);
            }
            left -= piece.text.len();
        }
        None
    }
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.function, self.bytes)
    }
}

/// The text without line markers and comments, each stretch of white space outside of literals
/// made one space.
pub(super) fn normalise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        if piece.is_apart && !out.is_empty() {
            out.push(' ');
        }
        out.push_str(piece.text);
    }
    out
}

/// A piece of a text that is no white space, comment or line marker: a literal or a character.
struct Piece<'t> {
    start: usize,
    text: &'t str,
    /// Whether white space or a comment stands before it.
    is_apart: bool,
}

impl Piece<'_> {
    const fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

fn pieces(text: &str) -> Pieces<'_> {
    Pieces { text, at: 0, line_start: true }
}

struct Pieces<'t> {
    text: &'t str,
    at: usize,
    line_start: bool,
}

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        let mut is_apart = false;
        loop {
            let rest = &self.text[self.at..];
            let first = rest.chars().next()?;
            let skipped = if self.line_start && is_line_marker(rest) {
                rest.find('\n').unwrap_or(rest.len())
            } else if first.is_whitespace() {
                let end = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
                self.line_start |= rest[..end].contains('\n');
                is_apart = true;
                self.at += end;
                continue;
            } else if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if let Some(comment) = rest.strip_prefix("/*") {
                is_apart = true;
                comment.find("*/").map_or(rest.len(), |end| end + 4)
            } else {
                let length = match first {
                    '"' | '\'' => literal_length(rest, first),
                    _ => first.len_utf8(),
                };
                self.line_start = false;
                self.at += length;
                return Some(Piece { start: self.at - length, text: &rest[..length], is_apart });
            };
            self.line_start = false;
            self.at += skipped;
        }
    }
}

/// Whether the line is `# 12 "file.c"`; a `#pragma` is none.
fn is_line_marker(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()))
}

/// The length of a string or character literal, its quotes included.
fn literal_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_markers_comments_and_white_space_do_not_show_in_the_normal_text() {
        let a = "{\n# 7 \"a.c\"\n  return  1; // one\n}";
        let b = "{ return /* two */ 1;\n}\n";
        assert_eq!(normalise(a), normalise(b));
    }

    #[test]
    fn the_contents_of_a_literal_show_in_the_normal_text() {
        assert_eq!(normalise("f(\"a  // b\\\"  c\")"), "f(\"a  // b\\\"  c\")");
        assert_ne!(normalise("f(\" \")"), normalise("f(\"  \")"));
        assert_ne!(normalise("a b"), normalise("ab"));
    }

    #[test]
    fn positions_in_the_text_do_not_depend_on_white_space_comments_and_line_markers() {
        let at = |text: &str, offset: usize| {
            let before = pieces(text).take_while(|piece| piece.end() <= offset);
            before.map(|piece| piece.text.len()).sum::<usize>()
        };
        let (a, b) = ("{ x = \"a b\" + y; }", "{\n# 7 \"a.c\"\n x =/* new */\"a b\"  + y; }");
        let [of_a, of_b] = [a, b].map(|text| at(text, text.find("y").unwrap()));
        assert_eq!(of_a, of_b);
        assert_eq!(of_a, "{x=\"a b\"+".len());
    }

    #[test]
    fn a_pragma_is_no_line_marker() {
        assert_eq!(normalise("#pragma pack(1)\nint x;"), "#pragma pack(1) int x;");
    }
}
