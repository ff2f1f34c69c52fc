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

/// The macro that a line defines if it is such a directive, and what follows its name.
pub fn definition(line: &str) -> Option<(&str, &str)> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = directive.strip_prefix("define")?.strip_prefix([' ', '\t'])?.trim_start();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    Some(rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len())))
}

/// The tokens of a text without directives. Comments are none.
pub fn tokens(text: &str) -> impl Iterator<Item = &str> {
    columns::tokens(text, false).into_iter().map(|token| token.text)
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
            let mut found = uses.iter().filter_map(|one| Some((one, one.length_at(&tokens, at)?)));
            restored.push_str(&text[end..token.at]);
            let (written, length) = match found.next() {
                Some((found, length)) => (&*found.written, length),
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
    /// How many tokens from a position on are the expansion: none, all of it, or all but the parentheses
    /// around it, or its beginning if the text is cut there.
    fn length_at(&self, tokens: &[Token<'_>], at: usize) -> Option<usize> {
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let own: Vec<&str> = self.expansion.iter().map(String::as_str).collect();
        let is_beside = |found: Option<&Token<'_>>, own: &Option<String>| {
            is_border(found) || found.is_some_and(|found| own.as_deref() == Some(found.text))
        };
        if let Some(length) = common_length(&own, &tokens[at..]) {
            let is_clear = own.len() >= DISTINCTIVE
                || is_beside(before, &self.neighbours[0])
                    && is_beside(tokens.get(at + length), &self.neighbours[1]);
            return is_clear.then_some(length);
        }
        let inner = match &own[..] {
            ["(", inner @ .., ")"] if inner.len() >= DISTINCTIVE => inner,
            _ => return None,
        };
        let length = common_length(inner, &tokens[at..])?;
        (is_border(before) && is_border(tokens.get(at + length))).then_some(length)
    }
}

/// Whether an operand may end beside this token, or the text does.
fn is_border(token: Option<&Token<'_>>) -> bool {
    token.is_none_or(|token| ["(", ")", "!", "&&", "||", "`"].contains(&token.text))
}

/// How many tokens are those of an expansion. A text may be cut within it, and then has `...` there.
fn common_length(expansion: &[&str], tokens: &[Token<'_>]) -> Option<usize> {
    let same = expansion.iter().zip(tokens).take_while(|(own, found)| **own == found.text).count();
    if same == expansion.len() {
        return Some(same);
    }
    // The last token may be cut, too.
    let is_cut = |at: usize| tokens.get(at).is_some_and(|token| token.text == "...");
    let end =
        [same, same + 1].into_iter().find(|at| is_cut(*at)).filter(|_| same >= DISTINCTIVE)?;
    let rest = tokens.get(same).filter(|_| end > same).map_or("", |token| token.text);
    expansion[same].starts_with(rest).then_some(end + 1)
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
        let (source, made) =
            ("if (t == NULL || *t == EOF) {", "if (t == ((void*)0) || *t == (-1)) {");
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
    fn parentheses_around_an_expansion_and_its_end_may_be_missing() {
        let (source, made) = ("while (is(*s)) s++;", "while ((table[(int)(*s)] & _is)) s++;");
        assert_eq!(restored(source, made, "table[(int)(*s)] & _is"), "is(*s)");
        assert_eq!(restored(source, made, "!(table[(int)(*s)] & _is)"), "!is(*s)");
        assert_eq!(
            restored(source, made, "table[(int)(*s)] & _is + 1"),
            "table[(int)(*s)] & _is + 1"
        );
        assert_eq!(
            restored(source, made, "`table[(int)(*s)] & _i...` decides"),
            "`is(*s)` decides"
        );
        assert_eq!(restored(source, made, "`(table[(int)...` decides"), "`is(*s)` decides");
    }

    #[test]
    fn text_without_macros_stays_as_it_is() {
        let source = "if (x  >= 8)";
        assert_eq!(restored(source, source, "x  >= 8 /* a */"), "x  >= 8 /* a */");
    }
}
