//! Moves layout attributes from behind a record's body to in front of its name.
//!
//! `struct s { … } __attribute__((packed));` becomes `struct __attribute__((packed)) s { … };`,
//! which means the same. Clang needs it: `-fdump-record-layouts-complete` lays a record out at its
//! closing brace, before it reads the attributes behind it, and then keeps that wrong layout for
//! the whole run, `sizeof` included. Newlines stay where they are.

use super::edits::Edit;

/// Attributes that change a layout. Others stay, since some are only allowed behind the body.
const LAYOUT_ATTRIBUTES: &[&str] = &["packed", "align", "ms_struct", "gcc_struct"];

/// The edits that move the attributes, in the order of the text, which has no comments.
pub(super) fn move_layout_attributes(text: &str) -> Vec<Edit> {
    if !text.contains("__attribute") {
        return Vec::new();
    }
    let mut scanner =
        Scanner { text, at: 0, frames: Vec::new(), record: Pending::None, edits: Vec::new() };
    scanner.run();
    let mut edits = scanner.edits;
    edits.sort_by_key(|edit| edit.at);
    edits
}

/// Whether the tokens since `struct` or `union` can still lead to its body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pending {
    None,
    /// The offset behind the keyword.
    Record(usize),
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// For each open brace, where its record's keyword ends, if it is a record's.
    frames: Vec<Pending>,
    record: Pending,
    edits: Vec<Edit>,
}

impl<'t> Scanner<'t> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut line_start = true;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'\n' => {
                    line_start = true;
                    self.at += 1;
                    continue;
                }
                b'#' if line_start => self.at += rest_of_line(&bytes[self.at..]),
                byte if byte.is_ascii_whitespace() => {
                    self.at += 1;
                    continue;
                }
                b'"' | b'\'' => {
                    self.at += literal_length(&bytes[self.at..]);
                    self.record = Pending::None;
                }
                b'{' => {
                    self.frames.push(self.record);
                    self.record = Pending::None;
                    self.at += 1;
                }
                b'}' => self.close(),
                byte if is_word(byte) => self.word(),
                _ => {
                    self.record = Pending::None;
                    self.at += 1;
                }
            }
            line_start = false;
        }
    }

    fn word(&mut self) {
        let start = self.at;
        let length = self.text.as_bytes()[start..].iter().take_while(|b| is_word(**b)).count();
        self.at += length;
        match &self.text.as_bytes()[start..self.at] {
            b"struct" | b"union" => self.record = Pending::Record(self.at),
            b"__attribute__" | b"__attribute" | b"_Alignas" | b"__declspec" => {
                // Its argument is no end of the record's head.
                if let Some(length) = balanced_length(&self.text[self.at..]) {
                    self.at += length;
                }
            }
            _ => {}
        }
    }

    /// At a closing brace: moves the attributes behind it.
    fn close(&mut self) {
        self.at += 1;
        self.record = Pending::None;
        let Some(Pending::Record(keyword_end)) = self.frames.pop() else { return };
        while let Some((start, end)) = self.attribute() {
            let attribute = &self.text[start..end];
            if LAYOUT_ATTRIBUTES.iter().any(|name| attribute.contains(name)) {
                let insert = format!(" {}", attribute.replace('\n', " "));
                self.edits.push(Edit { at: keyword_end, delete: 0, insert });
                let blank = attribute.chars().filter(|c| *c == '\n').collect();
                self.edits.push(Edit { at: start, delete: end - start, insert: blank });
            }
            self.at = end;
        }
    }

    /// The range of the attribute that comes next.
    fn attribute(&self) -> Option<(usize, usize)> {
        let rest = &self.text[self.at..];
        let start = self.at + (rest.len() - rest.trim_start().len());
        let word = ["__attribute__", "__attribute"]
            .into_iter()
            .find(|word| self.text[start..].starts_with(word))?;
        let length = balanced_length(&self.text[start + word.len()..])?;
        Some((start, start + word.len() + length))
    }
}

/// The length of blanks and the balanced parentheses after them.
fn balanced_length(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = 0;
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b'"' | b'\'' => {
                at += literal_length(&bytes[at..]);
                continue;
            }
            _ if depth == 0 && !byte.is_ascii_whitespace() => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The length of the string or character literal that comes, up to the line's end at most.
fn literal_length(bytes: &[u8]) -> usize {
    let mut length = 1;
    while let Some(&byte) = bytes.get(length) {
        match byte {
            b'\\' => length += 2,
            b'\n' => break,
            _ => length += 1,
        }
        if byte == bytes[0] {
            break;
        }
    }
    length.min(bytes.len())
}

fn rest_of_line(bytes: &[u8]) -> usize {
    memchr::memchr(b'\n', bytes).unwrap_or(bytes.len())
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::super::edits::Edits;
    use super::*;
    use proptest::prelude::*;

    fn moved(text: &str) -> String {
        Edits::new(move_layout_attributes(text)).apply(text)
    }

    #[test]
    fn layout_attributes_go_in_front_of_the_name() {
        let text = "struct s { char a; union { int b; } __attribute__((packed)) u; }\n\
                    __attribute__((packed)) __attribute__((unused, aligned(\n4))) x;";
        let expected = "struct __attribute__((packed)) __attribute__((unused, aligned( 4))) s \
                        { char a; union __attribute__((packed)) { int b; }  u; }\n \n x;";
        assert_eq!(moved(text), expected);
    }

    #[test]
    fn attributes_of_other_things_stay() {
        for text in [
            "union u { int a; } __attribute__((transparent_union));",
            "struct __attribute__((packed)) s { int a; };",
            "struct s { int a; } x __attribute__((aligned(4)));",
            "struct s *f(void) { } __attribute__((aligned(4))) int y;",
            "enum e { A } __attribute__((packed));",
            "char *s = \"struct s { } __attribute__((packed))\";",
        ] {
            assert_eq!(moved(text), text);
        }
    }

    proptest! {
        #[test]
        fn any_mix_of_tokens_is_read_without_a_panic(
            tokens in prop::collection::vec(prop::sample::select(vec![
                "struct", "union", "{", "}", "__attribute__", "((packed))", "(", ")", "\"", "'",
                "\\", "\n", "#", "é", "s", ";",
            ]), 0..24)
        ) {
            moved(&tokens.join(" "));
        }
    }
}
