//! Takes functions of system headers that nothing names out of a text that clang is to parse.
//!
//! Headers of the system declare hundreds of functions of which a file uses a few. Clang prints each
//! as JSON, and Lydian reads it. So a declaration is blanked if it surely has no other effect: it is
//! plain (`extern`, no body, no initialiser), names no tag, which it might declare, and the function's
//! name stands nowhere else in the text, string literals and pragmas included. All offsets stay.

use std::ops::Range;

use lydian_base::SourceMap;
use lydian_base::literals::end_of_literal;
use rustc_hash::FxHashMap;

/// Words that a plain declaration of a function does not have.
const NOT_PLAIN: [&[u8]; 5] = [b"typedef", b"struct", b"union", b"enum", b"_Static_assert"];

/// Blanks the declarations of unused functions of system headers. `bytes` is the text of `source`
/// without comments and line markers, with the same offsets. Linear in the text.
pub(crate) fn blank_unused(bytes: &mut [u8], source: &SourceMap) {
    let is_system = |at: usize| source.is_system(at as u32);
    for declaration in unused(bytes, is_system) {
        for byte in bytes[declaration].iter_mut().filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
    }
}

/// The declarations of functions in system headers that nothing names.
fn unused(text: &[u8], is_system: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut scanner = Scanner { text, at: 0, named: FxHashMap::default() };
    let mut plain: FxHashMap<&[u8], Vec<Range<usize>>> = FxHashMap::default();
    while let Some((declaration, name)) = scanner.declaration() {
        if let Some(name) = name
            && is_system(declaration.start)
        {
            plain.entry(name).or_default().push(declaration);
        }
    }
    plain.retain(|name, declarations| scanner.named.get(name) == Some(&declarations.len()));
    plain.into_values().flatten().collect()
}

struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    /// How often each word stands in the text.
    named: FxHashMap<&'t [u8], usize>,
}

/// A token, as far as declarations need it.
enum Token<'t> {
    Word(&'t [u8]),
    Punctuation(u8),
    Literal,
    /// A line that begins with `#`.
    Directive,
}

/// A declaration, as far as it was read.
struct Declaration<'t> {
    /// Whether it may still be a plain declaration of a function.
    is_plain: bool,
    /// The word before the first parenthesis.
    name: Option<&'t [u8]>,
    /// The last token, if it is a word.
    last: Option<&'t [u8]>,
    /// The number of brackets that are open.
    depth: u32,
    /// Whether the last token opened the parameters.
    opens: bool,
}

impl<'t> Declaration<'t> {
    const fn begun_with(first: &Token<'t>) -> Self {
        let is_plain = matches!(first, Token::Word(b"extern" | b"__extension__"));
        Self { is_plain, name: None, last: None, depth: 0, opens: false }
    }

    fn add(&mut self, token: &Token<'t>) {
        let opens = matches!(token, Token::Punctuation(b'(')) && self.depth == 0;
        match token {
            Token::Word(word) => self.is_plain &= !NOT_PLAIN.contains(word) && self.allows(word),
            Token::Literal => {}
            Token::Directive | Token::Punctuation(b'{' | b'}' | b'=') => self.is_plain = false,
            Token::Punctuation(b'(') if opens && self.name.is_none() => {
                self.name = self.last;
                self.is_plain &= self.last.is_some();
            }
            // A declarator in parentheses.
            Token::Punctuation(b'(' | b'*' | b'^') => self.is_plain &= !self.opens,
            // A list of declarations.
            Token::Punctuation(b',') => self.is_plain &= self.depth > 0,
            Token::Punctuation(_) => {}
        }
        self.opens = opens && self.last == self.name;
        self.last = match token {
            Token::Word(word) => Some(word),
            _ => None,
        };
        match token {
            Token::Punctuation(b'(' | b'[' | b'{') => self.depth += 1,
            Token::Punctuation(b')' | b']' | b'}') => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// Whether a plain declaration may have a word here: behind the parameters only attributes stand.
    fn allows(&self, word: &[u8]) -> bool {
        self.name.is_none() || self.depth > 0 || word.starts_with(b"__") || word == b"asm"
    }

    const fn ends_with(&self, token: &Token<'_>) -> bool {
        self.depth == 0 && matches!(token, Token::Punctuation(b';' | b'}') | Token::Directive)
    }
}

impl<'t> Scanner<'t> {
    /// The next declaration or definition at file scope, and the name of the function if it is a plain
    /// declaration of one. A function's definition may be two: up to its body, and a later part.
    fn declaration(&mut self) -> Option<(Range<usize>, Option<&'t [u8]>)> {
        let (start, first) = self.token()?;
        let mut seen = Declaration::begun_with(&first);
        let mut token = first;
        loop {
            seen.add(&token);
            if seen.ends_with(&token) {
                return Some((start..self.at, seen.name.filter(|_| seen.is_plain)));
            }
            (_, token) = self.token()?;
        }
    }

    /// The next token and where it begins.
    fn token(&mut self) -> Option<(usize, Token<'t>)> {
        self.at +=
            self.text[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let (start, byte) = (self.at, *self.text.get(self.at)?);
        let token = match byte {
            b'"' | b'\'' => {
                self.at = end_of_literal(self.text, start + 1, byte);
                self.count_words(start..self.at);
                Token::Literal
            }
            b'#' => {
                let rest = &self.text[start..];
                self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                self.count_words(start..self.at);
                Token::Directive
            }
            _ if is_word(byte) => {
                self.at += self.text[start..].iter().take_while(|byte| is_word(**byte)).count();
                let word = &self.text[start..self.at];
                *self.named.entry(word).or_default() += 1;
                Token::Word(word)
            }
            _ => {
                self.at += 1;
                Token::Punctuation(byte)
            }
        };
        Some((start, token))
    }

    fn count_words(&mut self, within: Range<usize>) {
        let words = self.text[within].split(|byte| !is_word(*byte));
        words.filter(|word| !word.is_empty()).for_each(|word| {
            *self.named.entry(word).or_default() += 1;
        });
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text without the declarations that are blanked; all before `user` is of the system.
    fn without_unused(text: &str) -> String {
        let user = text.find("user").unwrap_or(text.len());
        let mut bytes = text.as_bytes().to_vec();
        for range in unused(text.as_bytes(), |at| at < user) {
            bytes[range].fill(b' ');
        }
        String::from_utf8(bytes).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn plain_functions_that_nothing_names_go() {
        let text = "extern int f (int x) __attribute__ ((pure)); extern double f (int);\n\
                    extern char *g (const char *, int[2]) __asm__ (\"\" \"h\");\n\
                    extern int used (void); int user(void) { return used(); }";
        assert_eq!(
            without_unused(text),
            "extern int used (void); int user(void) { return used(); }"
        );
    }

    #[test]
    fn what_may_have_another_effect_or_another_use_stays() {
        for kept in [
            "int not_extern(void);",
            "extern struct tag *of_tag(int);",
            "extern int variable;",
            "extern int initialised = sizeof(int);",
            "extern int first(void), second(void);",
            "extern int (*pointer)(void);",
            "extern inline int defined(void) { return 1; }",
            "extern int in_text(void); const char *t = \"in_text\";",
            "extern int in_pragma(void);\n#pragma weak in_pragma\n",
            "extern int old(a) int a; { return a; }",
            "typedef int type(void);",
        ] {
            let text = kept.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(without_unused(&format!("{kept} int user;")), format!("{text} int user;"));
        }
        let own = "int user; extern int own(void);";
        assert_eq!(without_unused(own), own);
    }

    #[test]
    fn text_that_ends_within_a_declaration_or_literal_is_no_trouble() {
        for text in ["extern int f(", "extern int f(void)", "\"", "'\\", "#", "}", "extern int f)"]
        {
            assert_eq!(without_unused(text), text);
        }
    }
}
