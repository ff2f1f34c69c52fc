//! Uses of macros in a source, and preprocessed text with them in place of their expansions.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::columns::{self, Token};
use crate::span::Place;

/// The lines of an expression after its first one that are searched for uses of macros.
const LINES: u32 = 6;
/// The fewest tokens of an expansion that is recognised wherever it stands.
const DISTINCTIVE: usize = 3;

/// The uses of macros in the lines of the user's files.
#[derive(Debug, Default)]
pub struct MacroUses {
    by_line: FxHashMap<(Arc<str>, u32), Vec<MacroUse>>,
}

/// One use of a macro.
#[derive(Debug)]
pub(crate) struct MacroUse {
    /// The tokens that it expands to.
    pub(crate) expansion: Vec<String>,
    /// The tokens before and after it in the preprocessed line.
    pub(crate) neighbours: [Option<String>; 2],
    /// The use in the source, with its arguments.
    pub(crate) written: String,
}

impl MacroUses {
    pub(crate) fn add(&mut self, place: &Place, found: MacroUse) {
        self.by_line.entry((place.file.clone(), place.line)).or_default().push(found);
    }

    /// A preprocessed text that stands at a place, or is about what stands there, with the macros that
    /// the source has there. A short expansion, such as one number, is replaced only between tokens that
    /// it has in the source, too, so a text may keep some.
    pub fn restored(&self, place: &Place, text: &str) -> String {
        let lines = place.line..=place.line + LINES;
        let uses = lines.filter_map(|line| self.by_line.get(&(place.file.clone(), line))).flatten();
        let mut uses: Vec<&MacroUse> = uses.collect();
        if uses.is_empty() {
            return text.to_owned();
        }
        uses.sort_by_key(|one| std::cmp::Reverse(one.expansion.len()));
        let tokens = columns::tokens(text, false);
        let (mut restored, mut end, mut at) = (String::new(), 0, 0);
        while let Some(token) = tokens.get(at) {
            let found = uses.iter().find(|one| one.is_at(&tokens, at));
            restored.push_str(&text[end..token.at]);
            let (written, length) = match found {
                Some(found) => (&*found.written, found.expansion.len()),
                None => (token.text, 1),
            };
            restored.push_str(written);
            at += length;
            let last = tokens[at - 1];
            end = last.at + last.text.len();
        }
        restored.push_str(&text[end..]);
        restored
    }
}

impl MacroUse {
    /// Whether the expansion begins at a token.
    fn is_at(&self, tokens: &[Token<'_>], at: usize) -> bool {
        let end = at + self.expansion.len();
        let Some(here) = tokens.get(at..end) else { return false };
        if !here.iter().map(|token| token.text).eq(self.expansion.iter().map(String::as_str)) {
            return false;
        }
        let beside = [at.checked_sub(1).and_then(|before| tokens.get(before)), tokens.get(end)];
        self.expansion.len() >= DISTINCTIVE
            || beside.iter().zip(&self.neighbours).all(|(found, own)| match found {
                Some(found) => {
                    ["(", ")", "!", "&&", "||", "`"].contains(&found.text)
                        || own.as_deref() == Some(found.text)
                }
                None => true,
            })
    }
}

#[cfg(test)]
mod tests {
    use crate::span::SourceMap;

    use super::*;

    /// A text about the last line of a source, which became this preprocessed line.
    fn restored(source: &str, made: &str, text: &str) -> String {
        let line = source.lines().count() as u32;
        let text_of_unit = format!("# {line} \"a.c\"\n{made}\n");
        let mut map = SourceMap::from_preprocessed(text_of_unit, "a.c");
        map.find_columns(|_| Some(source.to_owned()));
        let uses = map.macro_uses(|_, number| source.lines().nth(number as usize - 1));
        uses.restored(&Place { file: "a.c".into(), line, column: 1 }, text)
    }

    #[test]
    fn expansions_become_the_uses_of_their_macros() {
        let (source, made) = ("if (t == NULL || *t == EOF) {", "if (t == ((void*)0) || *t == (-1)) {");
        assert_eq!(restored(source, made, "t == ((void*)0)"), "t == NULL");
        assert_eq!(restored(source, made, "!(*t == (-1))"), "!(*t == EOF)");
        assert_eq!(restored(source, made, "`t == ((void*)0)` decides"), "`t == NULL` decides");
        assert_eq!(restored(source, made, made), source);
    }

    #[test]
    fn uses_keep_their_arguments_and_parentheses_after_them_their_place() {
        let source = "if (MAX(a, (b)) > 3 && CALL (x) < LIMIT)";
        let made = "if (((a)>((b))?(a):((b))) > 3 && call (x) < 8)";
        assert_eq!(restored(source, made, made), source);
        assert_eq!(restored(source, made, "((a)>((b))?(a):((b))) > 3"), "MAX(a, (b)) > 3");
        assert_eq!(restored(source, made, "(a)>((b))"), "(a)>((b))");
    }

    #[test]
    fn a_number_is_a_macro_only_between_the_tokens_of_the_source() {
        let (source, made) = ("if (x >= LIMIT && y > 8)", "if (x >= 8 && y > 8)");
        assert_eq!(restored(source, made, "x >= 8 && y > 8"), "x >= LIMIT && y > 8");
        assert_eq!(restored(source, made, "!(x >= 8)"), "!(x >= LIMIT)");
        assert_eq!(restored(source, made, "x - 8 > 0"), "x - 8 > 0");
    }

    #[test]
    fn text_without_macros_stays_as_it_is() {
        let source = "if (x  >= 8)";
        assert_eq!(restored(source, source, "x  >= 8 /* a */"), "x  >= 8 /* a */");
    }
}
