//! Finds the assembly of a preprocessed text.

use std::collections::BTreeSet;
use std::ops::Range;

/// A piece of assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) kind: Kind,
    /// Its text, without the `;` behind it.
    pub(super) span: Range<usize>,
    /// Where the declaration or function around it begins.
    pub(super) item: usize,
    /// The name of the function around it; empty outside of functions.
    pub(super) function: String,
}

/// Where assembly stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is a statement.
    Statement,
    /// It stands between functions.
    Outside,
    /// It names the register of a variable.
    Register,
    /// It is the body of a `naked` function, with its braces.
    Naked,
}

const WORDS: [&str; 3] = ["asm", "__asm", "__asm__"];

/// Words behind which a parenthesis ends no declarator.
const CONTROL: [&str; 4] = ["if", "while", "for", "switch"];

/// A token: its place, and whether it is a word.
#[derive(Clone, Debug)]
struct Token {
    span: Range<usize>,
    is_word: bool,
}

/// The assembly of a text without comments, in its order. Names that declarations give to the linker are
/// no assembly.
pub(super) fn scan(text: &str) -> Vec<Found> {
    if !text.contains("asm") {
        return Vec::new();
    }
    let mut scanner =
        Scanner { text, tokens: tokens(text), found: Vec::new(), naked: BTreeSet::new() };
    scanner.items();
    scanner.found
}

/// Where a text has the word `inline`.
pub(super) fn inline_words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let spans = tokens(text).into_iter().map(|token| token.span);
    spans.filter(|span| matches!(&text[span.clone()], "inline" | "__inline" | "__inline__"))
}

/// Where attributes say `naked`.
pub(super) fn naked_words(text: &str) -> Vec<Range<usize>> {
    let scanner = Scanner { text, tokens: tokens(text), found: Vec::new(), naked: BTreeSet::new() };
    let attributes = (0..scanner.tokens.len())
        .filter(|at| matches!(scanner.word(*at), "__attribute__" | "__attribute"));
    let words = attributes.flat_map(|at| at + 1..scanner.close(at + 1));
    let naked = words.filter(|at| is_naked(scanner.word(*at)));
    naked.map(|at| scanner.tokens[at].span.clone()).collect()
}

struct Scanner<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    found: Vec<Found>,
    /// The functions that declarations call `naked`.
    naked: BTreeSet<String>,
}

impl Scanner<'_> {
    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &self.text[token.span.clone()])
    }

    /// Walks over the declarations and functions of the text.
    fn items(&mut self) {
        let (mut at, mut start) = (0, 0);
        while at < self.tokens.len() {
            match self.word(at) {
                ";" => {
                    self.declaration(start..at);
                    self.outside(start..at);
                    start = at + 1;
                }
                "(" | "[" => at = self.close(at),
                "{" => {
                    let end = self.close(at);
                    if self.is_function(start..at) {
                        self.function(start..at, at..end);
                        start = end + 1;
                    }
                    at = end;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// The token that closes what a token opens; the last where none does.
    fn close(&self, open: usize) -> usize {
        let mut depth = 0usize;
        for at in open..self.tokens.len() {
            match self.word(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return at;
            }
        }
        self.tokens.len().saturating_sub(1)
    }

    /// Whether the tokens in front of a brace are the head of a function.
    fn is_function(&self, head: Range<usize>) -> bool {
        self.name(head.clone()).is_some() && !head.into_iter().any(|at| self.word(at) == "=")
    }

    /// The token that names the function of a head: a word in front of parameters.
    fn name(&self, head: Range<usize>) -> Option<usize> {
        let mut at = head.start;
        while at < head.end {
            if self.word(at + 1) == "(" && at + 1 < head.end && self.tokens[at].is_word {
                if !is_attribute(self.word(at)) {
                    return Some(at);
                }
                at = self.close(at + 1);
            }
            at += 1;
        }
        None
    }

    fn function(&mut self, head: Range<usize>, body: Range<usize>) {
        let item = self.tokens[head.start].span.start;
        let Some(name) = self.name(head.clone()) else { return };
        let function = self.word(name).to_owned();
        if head.clone().any(|at| is_naked(self.word(at))) || self.naked.contains(&function) {
            let span = self.tokens[body.start].span.start..self.tokens[body.end].span.end;
            return self.found.push(Found { kind: Kind::Naked, span, item, function });
        }
        let mut at = body.start + 1;
        while at < body.end {
            if WORDS.contains(&self.word(at)) {
                let open = self.open(at);
                let end = self.close(open);
                if let Some(kind) = self.kind_within(at, body.start) {
                    let span = self.tokens[at].span.start..self.tokens[end].span.end;
                    self.found.push(Found { kind, span, item, function: function.clone() });
                }
                at = end;
            }
            at += 1;
        }
    }

    /// The parenthesis of assembly.
    fn open(&self, word: usize) -> usize {
        let mut at = word + 1;
        while at < self.tokens.len() && self.tokens[at].is_word {
            at += 1;
        }
        at
    }

    /// What assembly within a body is; `None` for a name for the linker.
    fn kind_within(&self, at: usize, body: usize) -> Option<Kind> {
        let before = self.word(at - 1);
        match before {
            ";" | "{" | "}" | ":" | "else" | "do" | "__extension__" => Some(Kind::Statement),
            ")" if self.is_control(at - 1) => Some(Kind::Statement),
            _ => {
                let mut words = (body..at).rev().map(|at| self.word(at));
                let words = words.by_ref().take_while(|word| !matches!(*word, ";" | "{" | "}"));
                words.into_iter().any(|word| word == "register").then_some(Kind::Register)
            }
        }
    }

    /// Whether a parenthesis ends the head of a statement.
    fn is_control(&self, close: usize) -> bool {
        let mut depth = 0usize;
        for at in (0..=close).rev() {
            match self.word(at) {
                ")" => depth += 1,
                "(" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at > 0 && CONTROL.contains(&self.word(at - 1));
            }
        }
        false
    }

    /// Notes a function that is declared to be `naked`.
    fn declaration(&mut self, item: Range<usize>) {
        if item.clone().any(|at| is_naked(self.word(at)))
            && let Some(name) = self.name(item)
        {
            self.naked.insert(self.word(name).to_owned());
        }
    }

    /// Assembly between functions, and variables in registers.
    fn outside(&mut self, item: Range<usize>) {
        let Some(at) = item.clone().find(|at| WORDS.contains(&self.word(*at))) else { return };
        let start = self.tokens[item.start].span.start;
        let end = self.tokens[self.close(self.open(at))].span.end;
        let (kind, from) = match (at == item.start, self.word(item.start)) {
            (true, _) => (Kind::Outside, start),
            // Without the register's name there is no word `register` either.
            (false, "register") => (Kind::Register, start),
            (false, _) => return,
        };
        let function = String::new();
        self.found.push(Found { kind, span: from..end, item: start, function });
    }
}

fn is_naked(word: &str) -> bool {
    matches!(word, "naked" | "__naked__")
}

/// Whether a word in front of a parenthesis names no function.
fn is_attribute(word: &str) -> bool {
    WORDS.contains(&word)
        || ["__attribute__", "__attribute", "__declspec", "__typeof__", "typeof", "__typeof"]
            .contains(&word)
        || ["_Alignas", "_Static_assert", "__pragma", "_Pragma"].contains(&word)
}

/// The tokens of a text, without lines of directives.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let (mut tokens, mut at, mut line_start) = (Vec::new(), 0, true);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += match byte {
            b'#' if line_start => length(&bytes[at..], |byte| byte != b'\n'),
            b'"' | b'\'' => literal(&bytes[at..]),
            byte if is_word(byte) => length(&bytes[at..], is_word),
            _ => 1,
        };
        let is_directive = byte == b'#' && line_start;
        line_start = byte == b'\n' || line_start && byte.is_ascii_whitespace();
        if !byte.is_ascii_whitespace() && !is_directive {
            tokens.push(Token { span: start..at, is_word: is_word(byte) });
        }
    }
    tokens
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn length(bytes: &[u8], is_part: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|byte| is_part(**byte)).count()
}

/// The length of the literal that bytes begin with.
fn literal(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' => return at,
            byte if byte == bytes[0] => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}
