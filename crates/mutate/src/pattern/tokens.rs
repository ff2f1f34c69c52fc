//! The tokens of C text and of patterns.

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Word,
    /// A number.
    Number,
    /// A string or a character.
    Text,
    /// `$` with a name.
    Placeholder,
    /// Anything else.
    Sign,
}

/// A token of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t str,
    /// The offset of its first byte.
    pub(super) start: usize,
}

impl<'t> Token<'t> {
    pub(super) const fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// The name of a placeholder.
    pub(super) fn placeholder(&self) -> Option<&'t str> {
        (self.kind == Kind::Placeholder).then(|| &self.text[1..])
    }
}

/// Signs of more than one character, longer ones first.
const LONG: [&str; 22] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=",
];

/// The tokens of a text, without blanks and line markers.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let begins_line =
            text[..at].rsplit('\n').next().is_some_and(|before| before.trim().is_empty());
        if first == '#' && begins_line && at > 0 {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (kind, length) = token(rest, first)?;
        all.push(Token { kind, text: &rest[..length], start: at });
        at += length;
    }
    Ok(all)
}

/// The kind and the length of the first token.
fn token(rest: &str, first: char) -> Result<(Kind, usize), String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = |from: usize| from + rest[from..].find(|c| !is_word(c)).unwrap_or(rest.len() - from);
    let second = rest[first.len_utf8()..].chars().next();
    let begins_number =
        first.is_ascii_digit() || first == '.' && second.is_some_and(|c| c.is_ascii_digit());
    Ok(match first {
        '"' | '\'' => (Kind::Text, end_of_text(rest, first)?),
        '$' if second.is_some_and(is_word) => (Kind::Placeholder, word(1)),
        _ if begins_number => (Kind::Number, end_of_number(rest)),
        _ if is_word(first) => (Kind::Word, word(0)),
        _ => {
            let long = LONG.iter().find(|sign| rest.starts_with(**sign));
            (Kind::Sign, long.map_or(first.len_utf8(), |sign| sign.len()))
        }
    })
}

fn end_of_text(rest: &str, quote: char) -> Result<usize, String> {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if !escaped && c == quote {
            return Ok(at + 1);
        }
        escaped = !escaped && c == '\\';
    }
    Err("has a text without its end".to_owned())
}

/// The end of a number: an exponent may have a sign.
fn end_of_number(rest: &str) -> usize {
    let mut last = ' ';
    for (at, c) in rest.char_indices() {
        let is_hex = rest.starts_with("0x") || rest.starts_with("0X");
        let exponents: &[char] = if is_hex { &['p', 'P'] } else { &['e', 'E'] };
        let is_sign = matches!(c, '+' | '-') && exponents.contains(&last);
        if !(c.is_alphanumeric() || matches!(c, '.' | '_') || is_sign) {
            return at;
        }
        last = c;
    }
    rest.len()
}
