//! Syntax colouring of C: keywords, numbers, texts, comments, directives. Lines are read one by one,
//! with the state at the end of the line before.

use maud::PreEscaped;

const KEYWORDS: &[&str] = &[
    "_Alignas",
    "_Alignof",
    "_Atomic",
    "_Bool",
    "_Complex",
    "_Generic",
    "_Noreturn",
    "_Static_assert",
    "_Thread_local",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "constexpr",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "nullptr",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "struct",
    "switch",
    "thread_local",
    "true",
    "typedef",
    "typeof",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
];

/// The state at the beginning of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Code,
    Comment,
    /// A directive, or a comment of one line, that a `\` continues.
    Continued(&'static str),
}

/// The class of a piece of a line; `None` if it has no colour.
type Kind = Option<&'static str>;

impl State {
    /// A line in colours.
    pub(super) fn line(&mut self, text: &str) -> PreEscaped<String> {
        let mut out = String::with_capacity(text.len() + text.len() / 2);
        let mut rest = text;
        let continues = text.ends_with('\\');
        if let Self::Continued(class) = *self {
            put(&mut out, text, Some(class));
            *self = if continues { Self::Continued(class) } else { Self::Code };
            return PreEscaped(out);
        }
        if *self == Self::Code && rest.trim_start().starts_with('#') {
            let name = rest.trim_start()[1..].trim_start();
            let name_end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
            let (directive, after) = rest.split_at(rest.len() - name.len() + name_end);
            put(&mut out, directive, Some("p"));
            rest = after;
        }
        while !rest.is_empty() {
            let (len, kind) = self.token(rest);
            let (token, after) = rest.split_at(len);
            put(&mut out, token, kind);
            rest = after;
        }
        PreEscaped(out)
    }

    /// The length and the class of the first token of a text.
    fn token(&mut self, text: &str) -> (usize, Kind) {
        if *self == Self::Comment {
            return match text.find("*/") {
                Some(at) => {
                    *self = Self::Code;
                    (at + 2, Some("c"))
                }
                None => (text.len(), Some("c")),
            };
        }
        let first = text.chars().next().unwrap_or(' ');
        match first {
            '/' if text.starts_with("//") => {
                if text.ends_with('\\') {
                    *self = Self::Continued("c");
                }
                (text.len(), Some("c"))
            }
            '/' if text.starts_with("/*") => {
                *self = Self::Comment;
                match text[2..].find("*/") {
                    Some(at) => {
                        *self = Self::Code;
                        (at + 4, Some("c"))
                    }
                    None => (text.len(), Some("c")),
                }
            }
            '"' | '\'' => (quoted(text, first), Some("s")),
            c if c.is_ascii_digit() => {
                let end = |c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '\'');
                (text.find(end).unwrap_or(text.len()), Some("m"))
            }
            c if c.is_alphabetic() || c == '_' => {
                let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_'));
                let word = &text[..end.unwrap_or(text.len())];
                (word.len(), KEYWORDS.binary_search(&word).is_ok().then_some("k"))
            }
            _ => {
                let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '"' | '\'');
                let end = text.char_indices().skip(1).find(|(_, c)| plain(*c));
                (end.map_or(text.len(), |(at, _)| at), None)
            }
        }
    }
}

/// The length of a string or character literal, quotes included; the rest of the line if it does not
/// end there.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn put(out: &mut String, text: &str, kind: Kind) {
    if let Some(class) = kind {
        out.push_str("<i class=");
        out.push_str(class);
        out.push('>');
    }
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    if kind.is_some() {
        out.push_str("</i>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(text: &str) -> Vec<String> {
        let mut state = State::default();
        text.lines().map(|line| state.line(line).into_string()).collect()
    }

    #[test]
    fn tokens_have_their_colours() {
        let found = lines("#define N 3 // a < b\nint x = N; /* one\n two */ f(\"a\\\"/*\", 'x');");
        assert_eq!(
            found,
            [
                "<i class=p>#define</i> N <i class=m>3</i> <i class=c>// a &lt; b</i>",
                "<i class=k>int</i> x = N; <i class=c>/* one</i>",
                "<i class=c> two */</i> f(<i class=s>\"a\\\"/*\"</i>, <i class=s>'x'</i>);",
            ]
        );
    }

    #[test]
    fn keywords_are_in_order() {
        assert!(KEYWORDS.is_sorted());
    }

    proptest! {
        #[test]
        fn no_character_is_lost(text in "[ -~äß\t]{0,60}(\n[ -~/*\"'\\\\]{0,40}){0,3}") {
            for (line, shown) in text.lines().zip(lines(&text)) {
                let mut plain = String::new();
                for piece in shown.split('<') {
                    plain += piece.split_once('>').map_or(piece, |(_, rest)| rest);
                }
                let plain = plain.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&");
                prop_assert_eq!(plain, line);
            }
        }
    }
}
