//! Takes comments out of preprocessed text and turns label comments into calls.
//!
//! The preprocessor is told to keep comments, because user labels are comments. Here every comment
//! is blanked, so that no later step has to know of them, and each `//! name: predicate` in a
//! function of the user's own files becomes `lydian_label("name", predicate);`. Newlines stay, so
//! line markers stay right. Items of the language of hyperlabels, in `//! objective name = ...;` and its
//! like within functions and in `/*! htol ... */` anywhere, are kept as they are. Bytes that are no UTF-8 become octal escapes in literals and `?`
//! elsewhere.

use super::blocks::{Blocks, Token};

/// A label comment that can become a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LabelComment {
    /// The label's name.
    pub(super) name: String,
    /// Its predicate as written.
    pub(super) predicate: String,
    /// The offset in [`StrippedText::text`] where the call belongs.
    pub(super) at: usize,
}

/// A `//!` comment in a function that does not become a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadComment {
    /// Why not.
    pub(super) reason: &'static str,
    /// Its offset in [`StrippedText::text`].
    pub(super) at: usize,
}

/// A line of a comment in the language of hyperlabels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its text.
    pub(super) text: String,
    /// The offset in [`StrippedText::text`] of the comment, or of the line within it.
    pub(super) at: usize,
    /// How many bytes of the user's line lie between that and the text.
    pub(super) skipped: usize,
    /// Whether a comment begins with it.
    pub(super) begins: bool,
}

/// The text without comments.
#[derive(Debug, Default)]
pub(super) struct StrippedText {
    pub(super) text: String,
    pub(super) labels: Vec<LabelComment>,
    pub(super) bad: Vec<BadComment>,
    pub(super) written: Vec<Line>,
    /// Every `#define` and `#undef` line with its offset in `text` (they are blanked there).
    pub(super) macros: Vec<(usize, String)>,
}

const MALFORMED: &str = "a label comment has the form `//! name: predicate`";
const UNBALANCED: &str = "the predicate of a label comment must be one C expression";
const MISPLACED: &str = "a label comment must stand where a statement may stand";

/// Blanks all comments of preprocessed `text` and finds the labels.
pub(super) fn strip_comments(text: &[u8], line_comments: bool) -> StrippedText {
    let scanner = Scanner {
        text,
        at: 0,
        line_comments,
        out: Vec::with_capacity(text.len()),
        blocks: Blocks::new(),
        system: false,
        labels: Vec::new(),
        bad: Vec::new(),
        written: Vec::new(),
        open: None,
        macros: Vec::new(),
    };
    scanner.run()
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    line_comments: bool,
    out: Vec<u8>,
    blocks: Blocks,
    system: bool,
    labels: Vec<LabelComment>,
    bad: Vec<BadComment>,
    written: Vec<Line>,
    /// If the last item in line comments goes on in the next one, how many brackets are open.
    open: Option<u32>,
    macros: Vec<(usize, String)>,
}

impl Scanner<'_> {
    fn run(mut self) -> StrippedText {
        let mut line_start = true;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\n' => {
                    line_start = true;
                    self.newline();
                    continue;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.copy(1),
                b'#' if line_start => self.directive(),
                b'/' if self.text.get(self.at + 1) == Some(&b'*') => {
                    self.block_comment();
                    continue; // A comment before `#` leaves the line's start.
                }
                b'/' if self.line_comments && self.text.get(self.at + 1) == Some(&b'/') => {
                    self.line_comment();
                }
                b'"' | b'\'' => self.literal(byte),
                _ if is_word(byte) => self.word(),
                _ => {
                    self.blocks.advance(Token::Punct(byte));
                    self.copy(1);
                }
            }
            line_start &= byte.is_ascii_whitespace();
        }
        // Every byte above came from valid UTF-8 or was replaced.
        let text = String::from_utf8(self.out)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        StrippedText {
            text,
            labels: self.labels,
            bad: self.bad,
            written: self.written,
            macros: self.macros,
        }
    }

    fn copy(&mut self, bytes: usize) {
        let byte = self.text[self.at];
        if bytes == 1 && byte >= 0x80 {
            self.out.push(b'?');
        } else {
            self.out.extend_from_slice(&self.text[self.at..self.at + bytes]);
        }
        self.at += bytes;
    }

    fn newline(&mut self) {
        self.end_line();
        self.at += 1;
    }

    /// Ends a line of the output. Blanks of comments at its end serve nothing, except in front of
    /// a label's place.
    fn end_line(&mut self) {
        let labels = self.labels.last().map_or(0, |label| label.at);
        let floor = self.bad.last().map_or(labels, |bad| bad.at.max(labels));
        let floor = self.written.last().map_or(floor, |line| line.at.max(floor));
        while self.out.len() > floor && self.out.last() == Some(&b' ') {
            self.out.pop();
        }
        self.out.push(b'\n');
    }

    /// A line that begins with `#`: a line marker, a pragma or, if asked for, a macro.
    fn directive(&mut self) {
        let length = self.line_length();
        let line = String::from_utf8_lossy(&self.text[self.at..self.at + length]).into_owned();
        self.at += length;
        let word = line[1..].trim_start();
        if word.starts_with("define ") || word.starts_with("undef ") {
            self.macros.push((self.out.len(), line));
            return;
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let flags = line.rsplit('"').next().unwrap_or("");
            self.system = flags.split_whitespace().any(|flag| flag == "3");
        }
        self.out.extend_from_slice(line.as_bytes());
    }

    fn line_length(&self) -> usize {
        let rest = &self.text[self.at..];
        rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
    }

    fn block_comment(&mut self) {
        let rest = &self.text[self.at + 2..];
        let end = rest.windows(2).position(|pair| pair == b"*/");
        let length = end.map_or(rest.len() + 2, |end| end + 4);
        let inside = end.map_or(rest, |end| &rest[..end]);
        let items = inside.strip_prefix(b"!").map(<[u8]>::trim_ascii_start);
        let items = items.and_then(|text| text.strip_prefix(b"htol"));
        let items = items.filter(|text| text.first().is_none_or(|c| !is_word(*c)) && !self.system);
        if let Some(items) = items {
            return self.block_of_items(length, 2 + inside.len() - items.len(), items);
        }
        for offset in 0..length {
            if self.text[self.at + offset] == b'\n' {
                self.end_line();
            } else {
                self.out.push(b' ');
            }
        }
        self.at += length;
    }

    /// A `/*! htol ... */` comment of this length, whose items begin `skipped` bytes behind its
    /// beginning. An asterisk at the start of a line is decoration.
    fn block_of_items(&mut self, length: usize, mut skipped: usize, items: &[u8]) {
        let mut begins = true;
        for line in items.split(|byte| *byte == b'\n') {
            if !begins {
                self.end_line();
            }
            let mut text = String::from_utf8_lossy(line).into_owned();
            let start = text.len() - text.trim_start().len();
            if !begins && text[start..].starts_with('*') {
                text.replace_range(start..=start, " ");
            }
            let at = self.out.len();
            self.written.push(Line { text, at, skipped, begins });
            (begins, skipped) = (false, 0);
        }
        let comment = &self.text[self.at..self.at + length];
        let last_line = comment.iter().rev().take_while(|byte| **byte != b'\n').count();
        self.out.resize(self.out.len() + last_line, b' ');
        self.at += length;
    }

    fn line_comment(&mut self) {
        let start = self.at;
        // A backslash before the newline continues the comment on the next line.
        loop {
            self.at += self.line_length();
            let continued = self.text[start..self.at].trim_ascii_end().ends_with(b"\\");
            if !continued || self.at >= self.text.len() {
                break;
            }
            self.at += 1;
            self.end_line();
        }
        let comment = &self.text[start..self.at];
        if comment.starts_with(b"//!") && !comment.starts_with(b"//!<") {
            let body = String::from_utf8_lossy(&comment[3..]).into_owned();
            self.label_comment(&body);
        }
    }

    /// Handles a `//!` comment. Outside of functions and in system headers it is documentation.
    fn label_comment(&mut self, body: &str) {
        if self.system || !self.blocks.in_block() {
            return;
        }
        let at = self.out.len();
        let last = self.written.last().map_or(0, |line| line.at);
        let open = self.open.filter(|_| self.out[last..].trim_ascii().is_empty());
        if open.is_some() || begins_item(body) {
            self.open = open_after(body, open);
            let (text, begins) = (body.to_owned(), open.is_none());
            return self.written.push(Line { text, at, skipped: 3, begins });
        }
        let found = parse_label(body).and_then(|(name, predicate)| {
            let free = self.blocks.at_statement_start() && !self.else_follows();
            if free { Ok((name, predicate)) } else { Err(MISPLACED) }
        });
        match found {
            Ok((name, predicate)) => self.labels.push(LabelComment { name, predicate, at }),
            Err(reason) => self.bad.push(BadComment { reason, at }),
        }
    }

    /// Whether the next token is `else`.
    fn else_follows(&self) -> bool {
        let mut rest = &self.text[self.at..];
        loop {
            rest = rest.trim_ascii_start();
            let skipped = if rest.starts_with(b"//") || rest.starts_with(b"#") {
                rest.iter().position(|byte| *byte == b'\n')
            } else if rest.starts_with(b"/*") {
                rest.windows(2).position(|pair| pair == b"*/").map(|end| end + 2)
            } else {
                return rest.starts_with(b"else") && !rest.get(4).copied().is_some_and(is_word);
            };
            match skipped {
                Some(end) => rest = &rest[end..],
                None => return false,
            }
        }
    }

    fn literal(&mut self, quote: u8) {
        let rest = &self.text[self.at..];
        let mut length = 1;
        while let Some(&byte) = rest.get(length) {
            match byte {
                b'\\' => length += 2,
                b'\n' => break, // Unterminated: the compiler reports it.
                _ => length += 1,
            }
            if byte == quote {
                break;
            }
        }
        let length = length.min(rest.len());
        for chunk in rest[..length].utf8_chunks() {
            self.out.extend_from_slice(chunk.valid().as_bytes());
            for byte in chunk.invalid() {
                self.out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
            }
        }
        self.at += length;
        self.blocks.advance(Token::Literal);
    }

    fn word(&mut self) {
        let rest = &self.text[self.at..];
        let number = rest[0].is_ascii_digit();
        let part = |(index, byte): (usize, &u8)| {
            let separator = number
                && *byte == b'\''
                && rest.get(index + 1).is_some_and(u8::is_ascii_alphanumeric);
            is_word(*byte) || separator
        };
        let length = rest.iter().enumerate().take_while(|pair| part(*pair)).count();
        let word = &rest[..length];
        self.blocks.advance(Token::Word(word));
        self.out.extend_from_slice(String::from_utf8_lossy(word).as_bytes());
        self.at += length;
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Whether an item of the language of hyperlabels begins: ` objective name =`.
fn begins_item(body: &str) -> bool {
    let mut words = body.trim_start().splitn(2, char::is_whitespace);
    let keyword = words.next().unwrap_or("");
    let Some(rest) = words.next().filter(|_| ["objective", "label", "path"].contains(&keyword))
    else {
        return false;
    };
    let rest = rest.trim_start();
    let name = rest.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '\''));
    let after = name.trim_start();
    name.len() < rest.len() && after.starts_with('=') && !after.starts_with("==")
}

/// How many brackets are open where items go on in the next line; `None` where they are finished.
fn open_after(text: &str, before: Option<u32>) -> Option<u32> {
    let mut open = before;
    let text = text.split("//").next().unwrap_or("");
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        let depth = open.unwrap_or(0);
        open = match c {
            '{' | '(' => Some(depth + 1),
            '}' | ')' => Some(depth.saturating_sub(1)),
            ';' if depth == 0 => None,
            _ => Some(depth),
        };
    }
    open
}

/// Reads ` name: predicate` (the text after `//!`).
fn parse_label(body: &str) -> Result<(String, String), &'static str> {
    let (name, predicate) = body.split_once(':').ok_or(MALFORMED)?;
    let name = name.trim();
    let letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(letter) {
        return Err(MALFORMED);
    }
    let predicate = predicate.replace("\\\n", " ");
    let predicate = plain_expression(predicate.trim()).ok_or(UNBALANCED)?;
    if predicate.is_empty() {
        return Err(MALFORMED);
    }
    Ok((name.to_owned(), predicate))
}

/// The text without a comment at its end, if its brackets balance and it holds nothing that would
/// end the call's argument: no `;`, no comma outside of brackets, no unclosed literal.
fn plain_expression(text: &str) -> Option<String> {
    let mut open = Vec::new();
    let mut chars = text.char_indices().peekable();
    let mut end = text.len();
    while let Some((at, c)) = chars.next() {
        match c {
            '(' | '[' => open.push(c),
            ')' if open.pop() != Some('(') => return None,
            ']' if open.pop() != Some('[') => return None,
            ';' | '{' | '}' => return None,
            ',' if open.is_empty() => return None,
            '"' | '\'' => loop {
                match chars.next()?.1 {
                    '\\' => drop(chars.next()?),
                    other if other == c => break,
                    _ => {}
                }
            },
            '/' if matches!(chars.peek(), Some((_, '/' | '*'))) => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    open.is_empty().then(|| text[..end].trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(text: &str) -> StrippedText {
        strip_comments(text.as_bytes(), true)
    }

    fn labels(text: &str) -> Vec<String> {
        strip(text).labels.into_iter().map(|l| format!("{}: {}", l.name, l.predicate)).collect()
    }

    fn reasons(text: &str) -> Vec<&'static str> {
        strip(text).bad.into_iter().map(|bad| bad.reason).collect()
    }

    #[test]
    fn comments_are_blanked_and_lines_kept() {
        let text = "int a; // one\n/* two\n three */ int b;\nchar *s = \"// no\";\n";
        let stripped = strip(text);
        assert_eq!(stripped.text, "int a;\n\n          int b;\nchar *s = \"// no\";\n");
    }

    #[test]
    fn a_label_comment_in_a_function_is_found() {
        let text = "int f(int a) {\n//! big: a > 3 // why\n  return a;\n}\n";
        assert_eq!(labels(text), ["big: a > 3"]);
    }

    #[test]
    fn documentation_outside_of_functions_is_no_label() {
        let text = "//! Note: this\nstruct S { //! of: x\n int a; //!< field: y\n};\n";
        assert!(labels(text).is_empty() && reasons(text).is_empty());
    }

    #[test]
    fn a_comment_that_is_no_label_is_reported_in_a_function_only() {
        assert_eq!(reasons("void f(void) {\n//! just words\n}\n"), [MALFORMED]);
        assert_eq!(reasons("void f(void) {\n//! l: (a\n}\n"), [UNBALANCED]);
        assert_eq!(reasons("void f(void) {\n//! l: a; b\n}\n"), [UNBALANCED]);
    }

    #[test]
    fn a_label_that_would_change_the_program_is_misplaced() {
        let cases = [
            "void f(int a) { if (a)\n//! l: a\n a = 1; }",
            "void f(int a) { if (a) { }\n//! l: a\n /* c */ else a = 1; }",
            "void f(int a) { a = a ? 1 :\n//! l: a\n 2; }",
            "void f(int a) { do { a--; }\n//! l: a\n while (a); }",
            "void f(int a) { for (;\n//! l: a\n;) ; }",
            "void f(int a) { return\n//! l: a\n a; }",
        ];
        for case in cases {
            assert_eq!(reasons(case), [MISPLACED], "{case}");
        }
    }

    #[test]
    fn a_label_may_follow_a_case_a_block_or_a_declaration() {
        let cases = [
            "void f(int a) { switch (a) { case 1:\n//! l: a\n a = 1; } }",
            "void f(int a) { { a = 1; }\n//! l: a\n }",
            "void f(int a) { struct S { int x; } s = { 1 };\n//! l: a\n }",
            "void f(a) int a; {\n//! l: a\n }",
            "int f(int a) { return ({ int b = 1;\n//! l: a\n b; }); }",
            "__attribute__((x)) void f(int a) __attribute__((y)) {\n//! l: a\n }",
        ];
        for case in cases {
            assert_eq!(labels(case), ["l: a"], "{case}");
        }
    }

    /// The lines of items: where they begin, what is skipped, the text.
    fn written(text: &str) -> Vec<(bool, usize, String)> {
        let stripped = strip(text);
        assert!(stripped.bad.is_empty(), "{:?}", stripped.bad);
        let lines = stripped.written.into_iter();
        lines.map(|line| (line.begins, line.skipped, line.text)).collect()
    }

    #[test]
    fn items_of_line_comments_go_on_up_to_their_semicolon() {
        let text = "void f(int a) {\n//! l: a\n//! objective o =\n  //!  < l |> { v <- a; w <- a } |\n\
                    //! v == w >; // why\n//! m: a > 1\n//! path p = line 2 -> line 3;\n}\n";
        let line = |begins, text: &str| (begins, 3, text.to_owned());
        assert_eq!(
            written(text),
            [
                line(true, " objective o ="),
                line(false, "  < l |> { v <- a; w <- a } |"),
                line(false, " v == w >; // why"),
                line(true, " path p = line 2 -> line 3;"),
            ]
        );
        assert_eq!(labels(text), ["l: a", "m: a > 1"]);
    }

    #[test]
    fn labels_that_are_called_like_keywords_are_labels() {
        let text = "void f(int a) {\n//! objective: a == 1\n//! path: a\n}\n";
        assert_eq!((labels(text).len(), written(text)), (2, vec![]));
    }

    #[test]
    fn an_item_ends_where_the_program_goes_on() {
        let text = "void f(int a) {\n//! objective o = x\n a = 1;\n//! l: a\n}\n";
        assert_eq!((labels(text).len(), written(text).len()), (1, 1));
    }

    #[test]
    fn blocks_of_items_stand_anywhere() {
        let text = "/*! htol function f;\n * label l = a;\n   objective o = l; */ int x;\n\
                    /*! htolike */ /*! htol*/\n";
        assert_eq!(
            written(text),
            [
                (true, 8, " function f;".to_owned()),
                (false, 0, "   label l = a;".to_owned()),
                (false, 0, "   objective o = l; ".to_owned()),
                (true, 8, String::new()),
            ]
        );
        let stripped = strip(text).text;
        assert_eq!(stripped.lines().nth(2).map(str::trim), Some("int x;"), "{stripped}");
    }

    #[test]
    fn labels_of_system_headers_are_ignored() {
        let text = "# 1 \"/usr/h.h\" 1 3\nvoid f(int a) {\n//! l: a\n}\n";
        assert!(labels(text).is_empty() && reasons(text).is_empty());
    }

    #[test]
    fn bytes_that_are_no_utf8_become_escapes_in_literals() {
        let stripped = strip_comments(b"char *s = \"caf\xe9\"; // \xe9\n", true);
        assert_eq!(stripped.text, "char *s = \"caf\\351\";\n");
    }

    #[test]
    fn without_line_comments_two_slashes_are_operators() {
        let stripped = strip_comments(b"int a = 4 //**/ 2\n;\n", false);
        assert_eq!(stripped.text, "int a = 4 /     2\n;\n");
    }

    #[test]
    fn a_comment_that_never_ends_is_no_panic() {
        assert_eq!(strip("int a; /* x").text.trim_end(), "int a;");
        assert_eq!(strip("char *s = \"abc\\").text, "char *s = \"abc\\");
    }
}
