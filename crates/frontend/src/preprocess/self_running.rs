//! Functions that run by themselves, before `main` or at the exit (`__attribute__((constructor))`,
//! `destructor`) or on an interrupt (`interrupt`), as functions that only run where they are called.
//!
//! Tests of functions begin with the variables as the file initialises them. So such functions do not run
//! before them, neither in the native build nor in the suite, and compilers let nobody call a handler of
//! interrupts. Their attributes are replaced by `__unused__`.

use super::edits::Edit;

/// What becomes of functions that run by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelfRunning {
    /// They stay what they are, but for handlers of interrupts where Lydian compiles the text.
    #[default]
    Stays,
    /// They run where they are called.
    IsPlain,
}

/// The words of the attributes, which may stand between `__`.
pub const SELF_RUNNING: [&str; 3] = ["constructor", "destructor", INTERRUPT];

/// The word of handlers of interrupts.
pub(super) const INTERRUPT: &str = "interrupt";

/// Which attributes of such functions a text has, in the order of [`SELF_RUNNING`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelfRunningAttributes(pub [bool; SELF_RUNNING.len()]);

impl SelfRunningAttributes {
    /// The attributes of two texts.
    #[must_use]
    pub fn and_those_of(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own |= other);
        self
    }
}

/// The edits that replace attributes with some of [`SELF_RUNNING`] in a text without comments, and which
/// there are.
pub(super) fn made_plain(text: &str, words: &[&str]) -> (Vec<Edit>, SelfRunningAttributes) {
    let (mut edits, mut found) = (Vec::new(), SelfRunningAttributes::default());
    let asked = SELF_RUNNING.iter().enumerate().filter(|(_, word)| words.contains(word));
    let words = asked.flat_map(|(number, word)| {
        text.match_indices(word).map(move |(at, word)| (number, word, at))
    });
    let words = words.map(|(number, word, at)| (number, word, whole_word(text, at, word.len())));
    let is_attribute = |(_, word, (start, end)): &(usize, &str, (usize, usize))| {
        let whole = &text[*start..*end];
        (whole == *word || whole == format!("__{word}__")) && is_in_attribute(&text[..*start])
    };
    for (number, _, (start, end)) in words.filter(is_attribute) {
        let rest = &text[end..];
        let argument = rest.trim_start().strip_prefix('(').and_then(|inner| inner.find(')'));
        let length = match argument {
            Some(close) => rest.len() - rest.trim_start().len() + close + 2,
            None => 0,
        };
        found.0[number] = true;
        let newlines: String = rest[..length].chars().filter(|c| *c == '\n').collect();
        let insert = format!("__unused__{newlines}");
        edits.push(Edit { at: start, delete: end + length - start, insert });
    }
    (edits, found)
}

/// The word around a range of the text.
fn whole_word(text: &str, at: usize, length: usize) -> (usize, usize) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let start = text[..at].trim_end_matches(is_word).len();
    let end = text.len() - text[at + length..].trim_start_matches(is_word).len();
    (start, end)
}

/// Whether a text ends within the parentheses or brackets of an attribute.
fn is_in_attribute(before: &str) -> bool {
    let opened = ["__attribute__", "__attribute", "[["].iter().filter_map(|open| {
        let at = before.rfind(open)?;
        Some((at, &before[at + open.len()..], *open == "[["))
    });
    let Some((_, inside, is_bracket)) = opened.max_by_key(|(at, ..)| *at) else { return false };
    if is_bracket {
        return !inside.contains("]]") && inside.trim_end().ends_with("gnu::");
    }
    let depth = inside.bytes().fold(0i32, |depth, byte| match byte {
        b'(' => depth + 1,
        b')' => depth - 1,
        b'{' | b'}' | b';' => i32::MIN / 2,
        _ => depth,
    });
    depth >= 2
}

#[cfg(test)]
mod tests {
    use super::super::edits::Edits;
    use super::*;

    fn plain(text: &str) -> (String, SelfRunningAttributes) {
        let (edits, found) = made_plain(text, &SELF_RUNNING);
        (Edits::new(edits).apply(text), found)
    }

    #[test]
    fn attributes_of_functions_that_run_by_themselves_are_replaced() {
        let text = "__attribute__((constructor)) static void a(void) {}\n\
            void b(void) __attribute__((noinline, __destructor__ ( 101\n )));\n\
            [[gnu::constructor]] void c(void);\n\
            void __attribute__((interrupt(\"IRQ\"))) d(void);\n";
        let (made, found) = plain(text);
        assert_eq!(
            made,
            "__attribute__((__unused__)) static void a(void) {}\n\
             void b(void) __attribute__((noinline, __unused__\n));\n\
             [[gnu::__unused__]] void c(void);\n\
             void __attribute__((__unused__)) d(void);\n"
        );
        assert_eq!(found, SelfRunningAttributes([true; 3]));
    }

    #[test]
    fn other_words_of_these_names_stay() {
        let text = "struct s { int constructor; } x; int my_constructor; char *t = \"constructor\";\n\
            __attribute__((cleanup(f))) int y; int destructor(int a) { return constructor(a); }\n";
        assert_eq!(plain(text), (text.to_owned(), SelfRunningAttributes::default()));
    }
}
