//! Questions about C text, and its edits.

use lydian_base::Span;

/// A text with edits: ranges are replaced, and texts are put in.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    all: Vec<Edit>,
}

#[derive(Debug)]
struct Edit {
    span: Span,
    rank: Rank,
    text: String,
}

/// The order of edits at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The end of a wrapper; inner ones, which begin later, come first.
    Close(std::cmp::Reverse<u32>),
    /// The begin of a wrapper; outer ones, which end later, come first.
    Open(std::cmp::Reverse<u32>),
    Replace,
}

impl Edits {
    /// Replaces a range. Ranges do not overlap.
    pub(crate) fn replace(&mut self, span: Span, text: String) {
        self.all.push(Edit { span, rank: Rank::Replace, text });
    }

    /// Puts texts around a range. Ranges lie within each other, or apart.
    pub(crate) fn wrap(&mut self, span: Span, before: String, after: String) {
        let at = |offset| Span::new(offset, offset);
        let open = Rank::Open(std::cmp::Reverse(span.end));
        self.all.push(Edit { span: at(span.start), rank: open, text: before });
        let close = Rank::Close(std::cmp::Reverse(span.start));
        self.all.push(Edit { span: at(span.end), rank: close, text: after });
    }

    /// The range of the text with the edits within it.
    pub(crate) fn apply(&mut self, text: &str, within: Span) -> String {
        self.all.sort_by_key(|edit| (edit.span.start, edit.rank));
        let mut out = String::new();
        let mut at = within.start;
        for edit in self.all.iter().filter(|edit| within.contains(edit.span)) {
            out.push_str(text.get(at as usize..edit.span.start as usize).unwrap_or_default());
            out.push_str(&edit.text);
            at = at.max(edit.span.end);
        }
        out.push_str(text.get(at as usize..within.end as usize).unwrap_or_default());
        out
    }
}

/// The range of an operator between two operands.
pub(crate) fn operator_between(text: &str, left: Span, right: Span, symbol: &str) -> Option<Span> {
    let gap = text.get(left.end as usize..right.start as usize)?;
    let at = left.end + gap.find(symbol)? as u32;
    // A line marker may name a file with any characters.
    (!gap.contains('#')).then(|| Span::new(at, at + symbol.len() as u32))
}

/// The end of a statement with its semicolon, which is not part of the statement's span.
pub(crate) fn behind_semicolon(text: &str, end: u32) -> Option<u32> {
    let rest = text.get(end as usize..)?;
    let blank = rest.len() - rest.trim_start().len();
    rest[blank..].starts_with(';').then(|| end + blank as u32 + 1)
}

/// The suffix of a number.
pub(crate) fn suffix(number: &str) -> &str {
    let is_hex = number.starts_with("0x") || number.starts_with("0X");
    let is_part =
        |c: char| matches!(c, 'u' | 'U' | 'l' | 'L') || (!is_hex && matches!(c, 'f' | 'F'));
    let digits = number.trim_end_matches(is_part);
    &number[digits.len()..]
}

/// Text on one line, with single blanks, and without line markers.
pub fn on_one_line(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers_nest_around_replacements() {
        let mut edits = Edits::default();
        edits.wrap(Span::new(2, 3), "<".into(), ">".into());
        edits.replace(Span::new(2, 3), "x".into());
        edits.wrap(Span::new(2, 5), "[".into(), "]".into());
        edits.wrap(Span::new(0, 5), "(".into(), ")".into());
        edits.wrap(Span::new(5, 6), "{".into(), "}".into());
        assert_eq!(edits.apply("abcdef", Span::new(0, 6)), "(ab[<x>de]){f}");
    }

    #[test]
    fn suffixes_are_no_digits_of_hexadecimal_numbers() {
        assert_eq!((suffix("10u"), suffix("0xfFul"), suffix("1.5f")), ("u", "ul", "f"));
        assert_eq!((suffix("7"), suffix("0xf")), ("", ""));
    }
}
