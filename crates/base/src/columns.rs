//! Columns of the source for text after macros in a preprocessed text.
//!
//! The tokens of a preprocessed line are the source's, except that each call of a macro is replaced by
//! others. So the two lines are aligned: equal tokens match, and a name with its parenthesised
//! arguments may match any tokens whose parentheses balance. A line that cannot be aligned keeps the
//! columns of the preprocessed text.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashSet;

/// The most steps for one line.
const MOST_STEPS: usize = 100_000;
/// The most tokens of the source for one line.
const MOST_TOKENS: usize = 1000;

/// The lines of a source with their tokens, without comments and directives.
#[derive(Debug, Default)]
pub(crate) struct SourceLines<'s> {
    lines: Vec<&'s str>,
    tokens: Vec<Token<'s>>,
    /// The first token of each line that has some.
    first: BTreeMap<u32, usize>,
}

/// A token of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'s> {
    pub(crate) text: &'s str,
    /// The offset in the text.
    pub(crate) at: usize,
    /// Line and column, both from 1.
    line: u32,
    column: u32,
}

impl Token<'_> {
    fn is_name(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$')
    }
}

/// A piece of a preprocessed line with its own columns: an offset, and the column in the source. Up to
/// the next piece of the line, either the column increases with each byte, or all bytes have the same
/// column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) at: u32,
    pub(crate) column: u32,
    /// Whether it comes from a macro: all of it has the column of the macro's name.
    pub(crate) of_macro: bool,
}

impl<'s> SourceLines<'s> {
    pub(crate) fn new(text: &'s str) -> Self {
        let lines = text.lines().collect();
        let tokens = tokens(text, true);
        let mut first = BTreeMap::new();
        for (index, token) in tokens.iter().enumerate() {
            first.entry(token.line).or_insert(index);
        }
        Self { lines, tokens, first }
    }

    /// The pieces of the text that a line became, which is given as ranges of the preprocessed text in
    /// their order. None if its columns are those of the source, or cannot be found.
    pub(crate) fn pieces(&self, text: &str, ranges: &[Range<usize>], line: u32) -> Vec<Piece> {
        let written = (line as usize).checked_sub(1).and_then(|index| self.lines.get(index));
        let Some((written, first)) = written.zip(self.first.get(&line)) else { return Vec::new() };
        if let [range] = ranges
            && text[range.clone()].trim_end() == written.trim_end()
        {
            return Vec::new();
        }
        let made = ranges.iter().flat_map(|range| {
            let of = tokens(&text[range.clone()], false).into_iter();
            of.map(|token| Token { at: token.at + range.start, ..token })
        });
        let made: Vec<Token<'_>> = made.collect();
        let source = &self.tokens[*first..];
        let own = source.iter().take_while(|token| token.line == line).count();
        // A macro may take arguments from further lines, and the line may begin within the arguments of
        // one before. Names that remain in the preprocessed line are hardly macros.
        let left: FxHashSet<&str> = made.iter().map(|token| token.text).collect();
        let none = FxHashSet::default();
        let ways = [(own, &left), (source.len(), &left), (own, &none), (source.len(), &none)];
        let found = ways.into_iter().find_map(|(end, no_macros)| {
            let (source, dead) = (&source[..end.min(MOST_TOKENS)], FxHashSet::default());
            let mut beside =
                TokenAlignment { source, made: &made, line, no_macros, steps: 0, dead };
            (0..own).find_map(|start| {
                let mut found = Vec::new();
                beside.goes_on(start, 0, &mut found).then_some(found)
            })
        });
        let mut last = 1;
        let piece = |(at, from): (usize, usize)| {
            let (made, source) = (&made[at], &source[from]);
            // Arguments from further lines have the column of the macro.
            let of_macro = made.text != source.text || source.line != line;
            last = if source.line == line { source.column } else { last };
            Piece { at: made.at as u32, column: last, of_macro }
        };
        found.into_iter().flatten().map(piece).collect()
    }
}

/// The search for an alignment of tokens.
struct TokenAlignment<'a, 's> {
    /// The tokens of the source from the line on.
    source: &'a [Token<'s>],
    /// The tokens of the preprocessed line.
    made: &'a [Token<'s>],
    line: u32,
    /// The names that are not macros.
    no_macros: &'a FxHashSet<&'a str>,
    steps: usize,
    /// Pairs of positions from which no alignment exists.
    dead: FxHashSet<(usize, usize)>,
}

impl TokenAlignment<'_, '_> {
    /// Whether the rest of both can be aligned. `found` gets the position of each token of the
    /// preprocessed line with its position in the source.
    fn goes_on(&mut self, from: usize, at: usize, found: &mut Vec<(usize, usize)>) -> bool {
        self.steps += 1;
        if self.steps > MOST_STEPS || self.dead.contains(&(from, at)) {
            return false;
        }
        let is_behind = self.source.get(from).is_none_or(|token| token.line > self.line);
        if at == self.made.len() && is_behind {
            return true;
        }
        let Some(token) = self.source.get(from).copied() else { return false };
        let equal = self.made.get(at).is_some_and(|made| made.text == token.text);
        if equal {
            found.push((at, from));
            if self.goes_on(from + 1, at + 1, found) {
                return true;
            }
            found.pop();
        }
        let may_be = token.is_name() && !self.no_macros.contains(token.text);
        if may_be && self.is_macro(from, at, found) {
            return true;
        }
        self.dead.insert((from, at));
        false
    }

    /// Whether the rest can be aligned if a name here, with or without arguments, matches some tokens.
    fn is_macro(&mut self, from: usize, at: usize, found: &mut Vec<(usize, usize)>) -> bool {
        let (ends, before) = ([closed(self.source, from + 1), Some(from + 1)], found.len());
        for end in ends.into_iter().flatten() {
            let mut depth = 0i32;
            for until in at..=self.made.len() {
                if depth == 0 && self.goes_on(end, until, found) {
                    return true;
                }
                let made = self.made.get(until).filter(|_| self.steps <= MOST_STEPS);
                let Some(made) = made else { break };
                depth += i32::from(made.text == "(") - i32::from(made.text == ")");
                if depth < 0 {
                    break;
                }
                found.push((until, from));
            }
            found.truncate(before);
        }
        false
    }
}

/// The use of a macro at a column of a source's line: its name, with its arguments where the text after
/// them has no column before `next`. `None` where the arguments go on on further lines.
pub(crate) fn macro_use(line: &str, column: u32, next: Option<u32>) -> Option<&str> {
    let text = line.get(column.checked_sub(1)? as usize..)?;
    let tokens = tokens(text, false);
    let name = tokens.first().filter(|name| name.is_name())?;
    let open = tokens.get(1).filter(|token| token.text == "(");
    let has_arguments =
        open.is_some_and(|open| next.is_none_or(|next| next > column + open.at as u32));
    if !has_arguments {
        return Some(name.text);
    }
    let last = tokens[closed(&tokens, 1)? - 1];
    Some(&text[..last.at + last.text.len()])
}

/// The position after the parentheses that open here.
fn closed(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0i32;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        depth += i32::from(token.text == "(") - i32::from(token.text == ")");
        match depth {
            0 if index == open => return None,
            0 => return Some(index + 1),
            _ => {}
        }
    }
    None
}

/// The tokens of a text; of a source without its directives.
pub(crate) fn tokens(text: &str, is_source: bool) -> Vec<Token<'_>> {
    let (mut found, mut at, mut line, mut line_start) = (Vec::new(), 0, 1u32, 0);
    let mut is_first = true;
    while let Some(rest) = text.get(at..)
        && let Some(c) = rest.chars().next()
    {
        let is_directive = is_source && is_first && c == '#';
        let length = match c {
            '\n' => 1,
            _ if is_directive => directive(rest),
            '/' if rest.starts_with("//") => spliced(rest),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '\\' if rest.starts_with("\\\n") => 2,
            _ if c.is_whitespace() => c.len_utf8(),
            _ => {
                let length = token(rest);
                let column = (at - line_start) as u32 + 1;
                found.push(Token { text: &rest[..length], at, line, column });
                length
            }
        };
        let piece = &rest[..length];
        is_first = match c {
            '\n' => true,
            _ => is_first && (c.is_whitespace() || piece.starts_with("/*")),
        };
        for (index, _) in piece.match_indices('\n') {
            line += 1;
            line_start = at + index + 1;
        }
        at += length;
    }
    found
}

/// The length of a directive without its end of line.
fn directive(text: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let end = spliced(rest);
        match rest[..end].find("/*") {
            // A comment may go on on the next line.
            Some(open) => match rest[open..].find("*/") {
                Some(close) => at += open + close + 2,
                None => return text.len(),
            },
            None => return at + end,
        }
    }
}

/// The length up to the end of the line that no backslash continues.
fn spliced(text: &str) -> usize {
    let ends = text.match_indices('\n').map(|(at, _)| at);
    let mut ends = ends.filter(|at| !text[..*at].ends_with('\\') && !text[..*at].ends_with("\\\r"));
    ends.next().unwrap_or(text.len())
}

/// The length of the token that a text begins with.
pub(crate) fn token(text: &str) -> usize {
    let first = text.chars().next().unwrap_or(' ');
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    if first == '"' || first == '\'' {
        let mut escaped = false;
        let end = text.char_indices().skip(1).find(|(_, c)| {
            let ends = !escaped && (*c == first || *c == '\n');
            escaped = !escaped && *c == '\\';
            ends
        });
        return end.map_or(text.len(), |(at, c)| if c == '\n' { at } else { at + 1 });
    }
    let is_number = first.is_ascii_digit()
        || first == '.' && text[1..].starts_with(|c: char| c.is_ascii_digit());
    if is_number {
        let mut before = ' ';
        let end = text.find(|c: char| {
            let exponent = matches!(before, 'e' | 'E' | 'p' | 'P') && matches!(c, '+' | '-');
            before = c;
            !(is_word(c) || c == '.' || exponent)
        });
        return end.unwrap_or(text.len());
    }
    if is_word(first) {
        return text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    }
    const LONG: [&str; 22] = [
        "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
        "*=", "/=", "%=", "+=", "-=", "&=", "^=", "|=",
    ];
    LONG.iter().find(|long| text.starts_with(**long)).map_or(first.len_utf8(), |long| long.len())
}

/// The lines of a file, each with the ranges of the preprocessed text that it became; one that is included
/// again comes again.
pub(crate) type Ranges = Vec<(u32, Vec<Range<usize>>)>;

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns of some texts of the preprocessed line, each found after the one before.
    fn columns(source: &str, line: u32, made: &str, wanted: &[&str]) -> Vec<u32> {
        let lines = SourceLines::new(source);
        let pieces = lines.pieces(made, std::slice::from_ref(&(0..made.len())), line);
        let mut from = 0;
        let column = |text: &&str| {
            let at = from + made[from..].find(*text).expect("it is there");
            from = at + text.len();
            let piece = pieces.iter().rev().find(|piece| piece.at as usize <= at);
            piece.map_or(0, |piece| match piece.of_macro {
                true => piece.column,
                false => piece.column + (at as u32 - piece.at),
            })
        };
        wanted.iter().map(column).collect()
    }

    #[test]
    fn what_stands_behind_macros_has_the_columns_of_the_source() {
        let source = "#define X \\\n 3\nreturn MAX(n, 3) > 4 && DIGIT(s[0]) && (n != 7 || s[2]);\n";
        let made =
            "return ((n)>(3)?(n):(3)) > 4 && ((s[0]) >= '0' && (s[0]) <= '9') && (n != 7 || s[2]);";
        let found = columns(source, 3, made, &["(n)", "> 4", "(s[0])", "'9'", "n != 7", "[2]"]);
        assert_eq!(found, [8, 18, 25, 25, 41, 52]);
    }

    #[test]
    fn arguments_on_further_lines_and_macros_without_tokens_are_passed() {
        let source = "/* a\n */ if (n > 3 && MAX(n, // b\n  2) && q) NOTHING return EOF_;\n";
        let made = "    if (n > 3 && ((n)>(2)?(n):(2))";
        assert_eq!(columns(source, 2, made, &["n >", "((n)"]), [9, 18]);
        let made = "q) return (-1);";
        let source = "q) NOTHING return EOF_;";
        assert_eq!(columns(source, 1, made, &["return", "-1"]), [12, 19]);
    }

    #[test]
    fn a_macro_takes_no_tokens_of_further_lines() {
        let (source, made) = ("SET(a); // s\nL = 3;\n", "{ x = a; if (a > 3) y(); };");
        assert_eq!(columns(source, 1, made, &["x", "a > 3", "}", ";"]), [1, 1, 1, 7]);
    }

    #[test]
    fn a_line_that_does_not_come_out_even_has_no_pieces() {
        assert_eq!(columns("a = b + 1;\n", 1, "a = b - 1;", &["b", "1"]), [0, 0]);
        assert_eq!(columns("a = b + 1;\n", 1, "a = b + 1;", &["b", "1"]), [0, 0]);
        assert_eq!(columns("a = b + 1;\n", 9, "x", &["x"]), [0]);
    }

    #[test]
    fn long_lines_and_macros_end() {
        let source = "M(x) y N(z) w; ".repeat(60);
        let made = format!("{} 1", "(a + b) c { d; } ".repeat(4000));
        assert_eq!(columns(&source, 1, &made, &["a"]), [0]);
        let made = format!("{}; int k;", "f(a, b); ".repeat(20_000));
        assert_eq!(columns("  ALL(n); int k;", 1, &made, &["f(", "int"]), [3, 11]);
    }

    #[test]
    fn tokens_are_those_of_c() {
        let texts = |text| tokens(text, true).iter().map(|t| t.text).collect::<Vec<_>>();
        assert_eq!(texts("a->b <<= 0x1p-3f;"), ["a", "->", "b", "<<=", "0x1p-3f", ";"]);
        assert_eq!(
            texts("\"a\\\"b\" 'c' .5 /* # */\n# define /* x\n */ y\nz"),
            ["\"a\\\"b\"", "'c'", ".5", "z"]
        );
    }
}
