//! Changes of declarations, so that tests can set every variable of static storage.
//!
//! A static local is marked as used: the optimiser then leaves it in memory. A thread-local
//! variable becomes a plain one, in texts for tests only. A test runs in one thread, where both
//! mean the same, and only a plain variable has an address that the linker knows. So tests can set
//! it, point to it, and restore its initial value.

use lydian_base::Span;
use lydian_base::literals::end_of_literal;

use crate::harness::static_local;
use crate::rewrite::edits::{EditAction, rank};
use crate::rewrite::request::RewriteRequest;
use crate::rewrite::text::tree::Edit;

/// Marks static locals as used, so that the optimiser leaves them in memory.
pub(crate) fn static_locals(request: &RewriteRequest<'_>) -> Vec<Edit<EditAction>> {
    let mut starts: Vec<u32> = request
        .program
        .globals
        .iter()
        .filter(|(_, global)| static_local(&global.name).is_some() && !global.span.is_none())
        .map(|(_, global)| global.span.start)
        .collect();
    starts.sort_unstable();
    starts.dedup();
    let is_declaration = |at: &u32| {
        let text = request.map.text().get(*at as usize..).unwrap_or("");
        let thread_local = ["_Thread_local", "thread_local", "__thread"];
        ["static", "const"].iter().chain(&thread_local).any(|word| text.starts_with(word))
    };
    let insert = |at: u32| Edit {
        span: Span::new(at, at),
        rank: rank::INSERT,
        action: EditAction::Insert("__attribute__((used)) ".to_owned()),
    };
    starts.into_iter().filter(is_declaration).map(insert).collect()
}

/// Edits that remove everything that makes variables thread-local.
pub(crate) fn plain_thread_locals(request: &RewriteRequest<'_>) -> Vec<Edit<EditAction>> {
    let text = request.map.text();
    // Before C23 this may be a name of the user's.
    let is_keyword = request.program.globals.values().any(|global| {
        !global.span.is_none() && words(request.map.slice(global.span)).any(is_c23_keyword)
    });
    let mut edits = Vec::new();
    for word in words(text) {
        let span = match word.text {
            "_Thread_local" | "__thread" => word.span(),
            "thread_local" if is_keyword => word.span(),
            "tls_model" | "__tls_model__" => match parenthesis(text, word.end()) {
                Some(end) => Span::new(word.at as u32, end as u32),
                None => continue,
            },
            _ => continue,
        };
        edits.push(Edit { span, rank: rank::INSERT, action: EditAction::Remove });
    }
    edits
}

fn is_c23_keyword(word: Word<'_>) -> bool {
    word.text == "thread_local"
}

/// The end of a parenthesis that opens next and holds no other.
fn parenthesis(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let blank = rest.len() - rest.trim_start().len();
    let inside = rest.trim_start().strip_prefix('(')?;
    inside.find(')').map(|length| from + blank + 1 + length + 1)
}

/// An identifier or keyword, and where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word<'t> {
    at: usize,
    text: &'t str,
}

impl Word<'_> {
    const fn end(self) -> usize {
        self.at + self.text.len()
    }

    fn span(self) -> Span {
        Span::new(self.at as u32, self.end() as u32)
    }
}

/// The words of a preprocessed text outside of literals and line markers.
fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut line_begins = true;
    std::iter::from_fn(move || {
        while let Some(&byte) = bytes.get(at) {
            let begins = std::mem::replace(&mut line_begins, byte == b'\n');
            match byte {
                b'#' if begins => at = end_of_line(bytes, at),
                quote @ (b'"' | b'\'') => at = end_of_literal(bytes, at + 1, quote),
                _ if is_word(byte) => {
                    let start = at;
                    at += bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
                    let Some(text) = text.get(start..at) else { continue };
                    return Some(Word { at: start, text });
                }
                b' ' | b'\t' => {
                    line_begins = begins;
                    at += 1;
                }
                _ => at += 1,
            }
        }
        None
    })
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn end_of_line(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|byte| **byte != b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_literals_and_line_markers_are_none() {
        let text =
            "# 1 \"__thread\"\nint a = 'x', *b = \"\\\" __thread\";\n  # 2 \"c\"\n__thread d;";
        let found: Vec<&str> = words(text).map(|word| word.text).collect();
        assert_eq!(found, ["int", "a", "b", "__thread", "d"]);
        let last = words(text).last().expect("a word");
        assert_eq!(&text[last.at..last.end()], "d");
    }

    #[test]
    fn a_parenthesis_is_found_past_space() {
        let text = "tls_model (\"initial-exec\") int";
        assert_eq!(parenthesis(text, 9), Some(26));
        assert_eq!(parenthesis("tls_model", 9), None);
    }
}
