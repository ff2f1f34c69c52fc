//! Operators of a user's own: patterns of expressions over tokens.
//!
//! A pattern has a text to be found and a text in its place, as `memcmp($a, $b, $n)` and
//! `memcmp($a, $b, $n - 1)`. Both are C tokens, in which `$name` stands for an expression. Between
//! brackets and commas it stands for a whole expression; elsewhere for one operand: a name, a number, a
//! text or something in parentheses, with its prefixes, and with the subscripts, members and arguments
//! behind it. A name that stands twice in a pattern means the same tokens twice.
//!
//! A match lies within one full expression, and the mutant is the text with the replacement. What the
//! replacement means, the text around it decides, as it does for a user who types it there.

use std::collections::BTreeMap;
use std::fmt;

use lydian_base::Span;

use tokens::{Kind, Token, tokens};

mod tokens;

/// A user's operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Its name.
    pub name: String,
    found: Vec<Piece>,
    replacement: Vec<Part>,
}

/// A part of what is to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Token(String),
    /// A name, and whether a whole expression may stand there.
    Expression(String, bool),
}

/// A part of a replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Expression(String),
}

/// The characters of signs that grow with what follows.
const SIGNS: [char; 9] = ['-', '+', '*', '/', '&', '|', '<', '>', '='];

/// The tokens that names stand for: the position of the first, and that behind the last.
type Bound<'p> = BTreeMap<&'p str, (usize, usize)>;

/// The error of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// The key that is wrong: `name`, `match` or `replace`.
    pub key: &'static str,
    /// The error.
    pub why: String,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.key, self.why)
    }
}

impl std::error::Error for PatternError {}

impl Pattern {
    /// A pattern of texts.
    ///
    /// # Errors
    /// A name or text that is empty, brackets without partners, what is no expression, a pattern that
    /// would match everything, and a replacement that changes nothing or has a `$name` of its own.
    pub fn new(name: &str, found: &str, replacement: &str) -> Result<Self, PatternError> {
        let fault = |key: &'static str| move |why: String| PatternError { key, why };
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(is_word) {
            let why = "is to be letters, digits, `-`, `_` and `.`".to_owned();
            return Err(fault("name")(why));
        }
        let (of_found, of_new) = (
            checked(found).map_err(fault("match"))?,
            checked(replacement).map_err(fault("replace"))?,
        );
        let texts = |all: &[Token<'_>]| -> Vec<String> {
            all.iter().map(|token| token.text.to_owned()).collect()
        };
        if texts(&of_found) == texts(&of_new) {
            return Err(fault("replace")(
                "is the same as `match`, so nothing would change".to_owned(),
            ));
        }
        if of_found.iter().all(|token| token.kind == Kind::Placeholder) {
            let why = "has no token but `$` names, and would match everything".to_owned();
            return Err(fault("match")(why));
        }
        let known: Vec<&str> = of_found.iter().filter_map(Token::placeholder).collect();
        let unknown = of_new.iter().filter_map(Token::placeholder).find(|own| !known.contains(own));
        if let Some(unknown) = unknown {
            return Err(fault("replace")(format!("has ${unknown}, which `match` does not have")));
        }
        Ok(Self {
            name: name.to_owned(),
            found: pieces(&of_found),
            replacement: parts(replacement, &of_new),
        })
    }

    /// The matches within a range of a text, each with the text in its place. They may overlap.
    pub(crate) fn matches(&self, text: &str, within: Span) -> Vec<(Span, String)> {
        let Some(own) = text.get(within.range()) else { return Vec::new() };
        let Ok(all) = tokens(own) else { return Vec::new() };
        let mut found = Vec::new();
        for at in 0..all.len() {
            let Some((end, bound)) = self.match_at(&all, at) else { continue };
            let (start, stop) = (all[at].start, all[end - 1].end());
            let span = Span::new(within.start + start as u32, within.start + stop as u32);
            found.push((span, self.replaced(own, &all, &bound)));
        }
        found
    }

    /// The match that begins at a token: its end, and the tokens that names stand for.
    fn match_at<'p>(&'p self, all: &[Token<'_>], start: usize) -> Option<(usize, Bound<'p>)> {
        let mut bound = Bound::new();
        let mut at = start;
        for piece in &self.found {
            match piece {
                Piece::Token(text) => {
                    (all.get(at)?.text == text).then_some(())?;
                    at += 1;
                }
                Piece::Expression(name, whole) => {
                    let end =
                        if *whole { end_of_whole(all, at)? } else { end_of_operand(all, at)? };
                    if let Some((from, to)) = bound.get(name.as_str()) {
                        let texts =
                            |from: usize, to: usize| all[from..to].iter().map(|one| one.text);
                        texts(*from, *to).eq(texts(at, end)).then_some(())?;
                    }
                    bound.entry(name).or_insert((at, end));
                    at = end;
                }
            }
        }
        let begins_within = matches!(self.found[0], Piece::Expression(..)) && is_within(all, start);
        (!begins_within).then_some((at, bound))
    }

    fn replaced(&self, text: &str, all: &[Token<'_>], bound: &Bound<'_>) -> String {
        let mut out = String::new();
        for part in &self.replacement {
            match part {
                Part::Text(own) => out.push_str(own),
                Part::Expression(name) => {
                    let Some((from, to)) = bound.get(name.as_str()) else { continue };
                    let own = &text[all[*from].start..all[*to - 1].end()];
                    // Two signs together may be another one, or begin a comment.
                    let are_signs = out.ends_with(SIGNS) && own.starts_with(SIGNS);
                    if are_signs || out.ends_with(is_of_word) && own.starts_with(is_of_word) {
                        out.push(' ');
                    }
                    out.push_str(own);
                }
            }
        }
        out
    }
}

const fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The tokens of one side of a pattern.
fn checked(text: &str) -> Result<Vec<Token<'_>>, String> {
    let all = tokens(text)?;
    if all.is_empty() {
        return Err("is empty".to_owned());
    }
    let is_comment = |pair: &[Token<'_>]| {
        let [first, second] = pair else { return false };
        let is_close = first.end() == second.start;
        first.text == "/" && is_close && second.text.starts_with(['/', '*'])
    };
    if let Some(pair) = all.windows(2).find(|pair| is_comment(pair)) {
        let sign = &pair[1].text[..1];
        return Err(format!("has a `/{sign}`, which begins a comment: a pattern is an expression"));
    }
    let mut open: Vec<&str> = Vec::new();
    for token in &all {
        match token.text {
            "(" | "[" => open.push(token.text),
            ")" | "]" => {
                let partner = if token.text == ")" { "(" } else { "[" };
                if open.pop() != Some(partner) {
                    return Err(format!("has a `{}` without its `{partner}`", token.text));
                }
            }
            "{" | "}" | ";" | "#" => {
                return Err(format!("has a `{}`: a pattern is an expression", token.text));
            }
            "$" => return Err("has a `$` without a name".to_owned()),
            _ => {}
        }
    }
    match open.last() {
        Some(bracket) => Err(format!("has a `{bracket}` without its partner")),
        None => Ok(all),
    }
}

/// What is to be found.
fn pieces(all: &[Token<'_>]) -> Vec<Piece> {
    let opens = |at: Option<usize>| {
        at.and_then(|at| all.get(at)).is_some_and(|it| matches!(it.text, "(" | "[" | ","))
    };
    let closes = |at: usize| all.get(at).is_some_and(|it| matches!(it.text, ")" | "]" | ","));
    let piece = |(at, token): (usize, &Token<'_>)| match token.placeholder() {
        Some(name) => {
            Piece::Expression(name.to_owned(), opens(at.checked_sub(1)) && closes(at + 1))
        }
        None => Piece::Token(token.text.to_owned()),
    };
    all.iter().enumerate().map(piece).collect()
}

/// A replacement as it is written, with its names taken out.
fn parts(text: &str, all: &[Token<'_>]) -> Vec<Part> {
    let (mut out, mut at) = (Vec::new(), 0);
    for token in all {
        let Some(name) = token.placeholder() else { continue };
        out.push(Part::Text(text[at..token.start].to_owned()));
        out.push(Part::Expression(name.to_owned()));
        at = token.end();
    }
    out.push(Part::Text(text[at..].trim_end().to_owned()));
    out
}

/// The end of an expression up to the bracket or comma that ends it.
fn end_of_whole(all: &[Token<'_>], start: usize) -> Option<usize> {
    let (mut depth, mut at) = (0u32, start);
    loop {
        match all.get(at)?.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 0 => break,
            ")" | "]" | "}" => depth -= 1,
            "," if depth == 0 => break,
            ";" => return None,
            _ => {}
        }
        at += 1;
    }
    (at > start).then_some(at)
}

/// The end of one operand.
fn end_of_operand(all: &[Token<'_>], start: usize) -> Option<usize> {
    let mut at = start;
    while matches!(all.get(at)?.text, "-" | "+" | "!" | "~" | "*" | "&" | "++" | "--") {
        at += 1;
    }
    at = match all.get(at)? {
        token if token.text == "(" => behind_bracket(all, at)?,
        Token { kind: Kind::Word | Kind::Number | Kind::Text, .. } => at + 1,
        _ => return None,
    };
    loop {
        match all.get(at).map(|token| token.text) {
            Some("(" | "[") => at = behind_bracket(all, at)?,
            Some("." | "->") => at += 2,
            Some("++" | "--") => at += 1,
            _ => return (at <= all.len()).then_some(at),
        }
    }
}

/// Whether an operand that begins at a token is the part of a longer one: the member of `a.b`, or what a
/// prefix stands before; or no operand, as `* b` of `a * b`.
fn is_within(all: &[Token<'_>], start: usize) -> bool {
    let ends = |at: Option<usize>| {
        at.and_then(|at| all.get(at)).is_some_and(|token| match token.kind {
            Kind::Word | Kind::Number | Kind::Text => true,
            _ => matches!(token.text, ")" | "]"),
        })
    };
    let before = start.checked_sub(1);
    let is_binary = matches!(all[start].text, "-" | "+" | "*" | "&") && ends(before);
    let Some(before) = before else { return false };
    let is_prefix = match all[before].text {
        "!" | "~" => true,
        "-" | "+" | "*" | "&" | "++" | "--" => !ends(before.checked_sub(1)),
        _ => false,
    };
    is_binary || is_prefix || matches!(all[before].text, "." | "->")
}

/// The place behind the partner of a bracket.
fn behind_bracket(all: &[Token<'_>], start: usize) -> Option<usize> {
    let mut depth = 0u32;
    for (at, token) in all.iter().enumerate().skip(start) {
        match token.text {
            "(" | "[" => depth += 1,
            ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts that a pattern makes of a text.
    fn made(found: &str, replacement: &str, text: &str) -> Vec<String> {
        let pattern = Pattern::new("own", found, replacement).unwrap();
        let whole = Span::new(0, text.len() as u32);
        let apply = |(span, new): (Span, String)| {
            format!("{}{new}{}", &text[..span.start as usize], &text[span.end as usize..])
        };
        pattern.matches(text, whole).into_iter().map(apply).collect()
    }

    #[test]
    fn names_stand_for_whole_expressions_between_brackets_and_commas() {
        let made = made(
            "memcmp($a, $b, $n)",
            "memcmp($a, $b, $n - 1)",
            "!memcmp(p + 1, f(q, 2), sizeof x)",
        );
        assert_eq!(made, ["!memcmp(p + 1, f(q, 2), sizeof x - 1)"]);
    }

    #[test]
    fn elsewhere_names_stand_for_one_operand() {
        assert_eq!(made("$a + 1", "$a", "x = 2 * p->n[i] + 1"), ["x = 2 * p->n[i]"]);
        assert_eq!(made("$a << $b", "$a >> $b", "y | -x << (n + 1)"), ["y | -x >> (n + 1)"]);
    }

    #[test]
    fn expressions_do_not_grow_together_with_what_is_before_them() {
        assert_eq!(made("f($a, $b)", "$a/$b", "f(x, *p)"), ["x/ *p"]);
        assert_eq!(made("f($a)", "-$a", "f(-x) + f(y)"), ["- -x + f(y)", "f(-x) + -y"]);
        assert_eq!(made("f($a)", "sizeof$a", "f(x)"), ["sizeof x"]);
    }

    #[test]
    fn a_name_that_stands_twice_means_the_same_tokens() {
        assert_eq!(made("f($a, $a)", "g($a)", "f(x + 1, x+1) + f(x, y)"), ["g(x + 1) + f(x, y)"]);
    }

    #[test]
    fn texts_and_numbers_are_tokens() {
        assert_eq!(
            made("puts(\"a b\")", "0", "puts(\"a b\"), puts(\"a  b\")"),
            ["0, puts(\"a  b\")"]
        );
        assert!(made("1", "2", "11 + x1").is_empty());
    }

    #[test]
    fn ill_formed_patterns_are_told_what_is_wrong() {
        let why = |name: &str, found: &str, new: &str| {
            Pattern::new(name, found, new).unwrap_err().to_string()
        };
        assert_eq!(why("", "a", "b"), "`name` is to be letters, digits, `-`, `_` and `.`");
        assert_eq!(why("x", "", "b"), "`match` is empty");
        assert_eq!(why("x", "f($a", "b"), "`match` has a `(` without its partner");
        assert_eq!(why("x", "f]", "b"), "`match` has a `]` without its `[`");
        assert_eq!(why("x", "a;", "b"), "`match` has a `;`: a pattern is an expression");
        assert_eq!(why("x", "$ + 1", "b"), "`match` has a `$` without a name");
        assert_eq!(
            why("x", "$a", "b"),
            "`match` has no token but `$` names, and would match everything"
        );
        assert_eq!(why("x", "f($a)", "f($b)"), "`replace` has $b, which `match` does not have");
        assert_eq!(
            why("x", "a +b", "a + b"),
            "`replace` is the same as `match`, so nothing would change"
        );
        for comment in ["0 // $a", "0//", "$a/*$b*/"] {
            let sign = if comment.contains("//") { "//" } else { "/*" };
            assert_eq!(
                why("x", "f($a, $b)", comment),
                format!(
                    "`replace` has a `{sign}`, which begins a comment: a pattern is an expression"
                )
            );
        }
        assert!(Pattern::new("x", "f($a, $b)", "$a / *$b + \"//\"[0]").is_ok());
        assert_eq!(why("x", "\"a", "b"), "`match` has a text without its end");
    }
}
