//! The loops of a text, by the blocks that are their heads.
//!
//! The text of a head is the loop's condition, or the first statement of a body that is entered without
//! one. From there the keyword is found backwards, through what may stand between.

use lydian_base::Span;
use lydian_ir::{BlockId, FuncId};

use crate::project::linked::LinkedProgram;

/// The head of a loop in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoopHead {
    pub(crate) kind: HeadKind,
    /// Where the keyword begins, or else the statement.
    pub(crate) offset: u32,
}

/// The form of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadKind {
    /// A loop with a condition before its body: its text, in parentheses or between semicolons.
    Condition(Span),
    /// A loop whose head is the beginning of its body: where the body begins.
    Body(u32),
    /// A statement to which control jumps.
    Statement,
}

impl LoopHead {
    /// The loop whose head is a block.
    pub(crate) fn of(linked: &LinkedProgram, function: FuncId, block: BlockId) -> Option<Self> {
        let body = linked.linked.program.functions[function].body.as_ref()?;
        let first = body.blocks[block].stmts.first();
        let span = first.map_or(body.source.terms[block], |stmt| body.source.stmts[*stmt]);
        if span.is_none() || span.start < body.source.body.start {
            return None;
        }
        let text = linked.linked.source.text();
        let own = text.get(body.source.body.start as usize..body.source.body.end as usize)?;
        let found = search(own, (span.start - body.source.body.start) as usize)?;
        Some(found.moved(body.source.body.start))
    }

    fn moved(self, by: u32) -> Self {
        let kind = match self.kind {
            HeadKind::Condition(Span { start, end }) => {
                HeadKind::Condition(Span::new(start + by, end + by))
            }
            HeadKind::Body(at) => HeadKind::Body(at + by),
            HeadKind::Statement => HeadKind::Statement,
        };
        Self { kind, offset: self.offset + by }
    }
}

/// Searches backwards from the beginning of a head's text.
fn search(text: &str, from: usize) -> Option<LoopHead> {
    let bytes = text.as_bytes();
    let (mut depth, mut semicolons, mut at) = (0usize, 0usize, from);
    while at > 0 {
        at -= 1;
        match bytes[at] {
            b')' | b']' => depth += 1,
            b'(' | b'[' if depth > 0 => depth -= 1,
            b'(' => match word_before(text, at) {
                ("while", keyword) if semicolons == 0 => return condition(text, at, keyword),
                ("for", keyword) => return for_condition(text, at, keyword, from),
                _ => {}
            },
            _ if depth > 0 => {}
            b';' => semicolons += 1,
            b'}' => break,
            b'{' if semicolons == 0 => return body(text, at, from),
            b'{' => break,
            b':' if semicolons == 0 => break,
            _ => {}
        }
    }
    statement(text, from)
}

/// A statement that is no loop's: something before it ends.
fn statement(text: &str, from: usize) -> Option<LoopHead> {
    let before = text[..from].trim_end();
    let is_labelled = before.strip_suffix(':').is_some_and(|before| {
        let label = before.trim_end();
        let rest = label.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        rest.len() < label.len() && rest.trim_end().ends_with([';', '{', '}', ':'])
    });
    let begins = is_labelled || before.ends_with([';', '{', '}']);
    begins.then_some(LoopHead { kind: HeadKind::Statement, offset: from as u32 })
}

/// The word before a position, and where it begins.
fn word_before(text: &str, at: usize) -> (&str, usize) {
    let before = text[..at].trim_end();
    let begin =
        before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    (&before[begin..], begin)
}

/// The end of a parenthesis that opens at a position: where its `)` is.
fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    text.bytes().enumerate().skip(open).find_map(|(at, byte)| {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

fn condition(text: &str, open: usize, keyword: usize) -> Option<LoopHead> {
    let close = closing(text, open)?;
    let kind = HeadKind::Condition(Span::new(open as u32 + 1, close as u32));
    Some(LoopHead { kind, offset: keyword as u32 })
}

/// A `for`: the head is its condition, between the semicolons.
fn for_condition(text: &str, open: usize, keyword: usize, from: usize) -> Option<LoopHead> {
    let close = closing(text, open)?;
    let mut depth = 0usize;
    let semicolons = text[open..close].bytes().zip(open..).filter(|(byte, _)| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        *byte == b';' && depth == 1
    });
    let semicolons: Vec<usize> = semicolons.map(|(_, at)| at).collect();
    let [first, second] = semicolons[..] else { return None };
    // The initial expression is before the head, and the step is no part of it.
    (first < from && from <= second).then_some(())?;
    let kind = HeadKind::Condition(Span::new(first as u32 + 1, second as u32));
    Some(LoopHead { kind, offset: keyword as u32 })
}

/// A body in braces that control enters without a condition.
fn body(text: &str, brace: usize, from: usize) -> Option<LoopHead> {
    let kind = HeadKind::Body(brace as u32 + 1);
    let before = text[..brace].trim_end();
    if let ("do", keyword) = word_before(text, brace) {
        return Some(LoopHead { kind, offset: keyword as u32 });
    }
    if before.ends_with(')') {
        let mut depth = 0;
        let open = before.bytes().enumerate().rev().find_map(|(at, byte)| {
            match byte {
                b')' => depth += 1,
                b'(' => depth -= 1,
                _ => {}
            }
            (depth == 0).then_some(at)
        });
        if let ("while" | "for", keyword) = word_before(text, open?) {
            return Some(LoopHead { kind, offset: keyword as u32 });
        }
    }
    statement(text, from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a head that begins at the mark, with its keyword.
    fn head(text: &str) -> Option<(String, String)> {
        let from = text.find('@').unwrap();
        let plain = text.replacen('@', "", 1);
        let found = search(&plain, from)?;
        let rest = match found.kind {
            HeadKind::Condition(span) => {
                plain[span.start as usize..span.end as usize].trim().to_owned()
            }
            HeadKind::Body(at) => format!("body at {at}"),
            HeadKind::Statement => "statement".to_owned(),
        };
        Some((plain[found.offset as usize..].chars().take(5).collect(), rest))
    }

    #[test]
    fn heads_are_found_by_their_conditions() {
        let some = |keyword: &str, rest: &str| Some((keyword.to_owned(), rest.to_owned()));
        assert_eq!(head("{ x; while (@i < n) f(); }"), some("while", "i < n"));
        assert_eq!(head("{ while ((a + (@i)) < n) f(); }"), some("while", "(a + (i)) < n"));
        assert_eq!(head("{ for (i = g(1); @i < n; i++) f(); }"), some("for (", "i < n"));
        assert_eq!(head("{ do { @f(); } while (i < n); }"), some("do { ", "body at 6"));
        assert_eq!(head("{ while (1) { if (@f()) g(); } }"), some("while", "body at 13"));
        assert_eq!(head("{ again: @f(); goto again; }"), some("f(); ", "statement"));
        assert_eq!(head("{ x = a ? b : @c; }"), None);
    }
}
