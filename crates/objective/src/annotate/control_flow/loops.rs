//! SLO, ELO and MLO: every loop skipped, entered, entered more than once (LTest's loop criteria).
//!
//! A loop is a `while`, `for` or `do` statement whose body control can pass twice without beginning
//! the statement anew; `do { ... } while (0)` and a loop that always leaves in its first round are
//! none. `m` is the mark of the statement, `d` the decision that controls it, `b` the first mark
//! within its body.
//!
//! | | SLO | ELO | MLO |
//! |---|---|---|---|
//! | `while`, `for` | `[ m -no d-> !d ]` | `d` | `[ d -no m-> d ]` |
//! | `do` | none: it is never skipped | `m` | `d` |
//! | without a condition, or with a constant one | none | `m` | `[ b -no m-> b ]` |
//!
//! Each sequence is of one activation. The controlling decision of a loop and the place of its body
//! are read from the text of the statement. A decision that is only a part of the condition (the test
//! of `?:` in it) does not control. An endless loop with an empty body has no place at which rounds
//! could be counted, and no MLO.

use std::ops::Range;

use lydian_base::literals::end_of_literal;
use lydian_base::{EntityId, Span};
use lydian_ir::cfg::Cfg;
use lydian_ir::stmt::{MarkKind, Terminator};
use lydian_ir::{BlockId, Body, DecisionId, DecisionKind, MarkId, Stmt};
use rustc_hash::FxHashSet;

use crate::annotate::context::{Annotator, Context};
use crate::annotate::text;
use crate::criterion::Criterion;
use crate::decision::predicates::{outcome, signed};
use crate::hyper::{Atom, Formula, Hyper, Obligation, Passage, Sequence, SequenceScope};
use crate::label::{Pred, Site};

/// SLO: each loop skipped.
pub(crate) struct LoopsSkipped;

impl Annotator for LoopsSkipped {
    fn criterion(&self) -> Criterion {
        Criterion::Slo
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for found in loops(cx) {
            if let Control::Before(decision) = found.control {
                let atoms =
                    vec![passes(cx, &found, found.mark), decides(cx, &found, decision, false)];
                let hyper = sequence(cx, atoms, Site::Decision(decision));
                push(cx, &found, hyper, "skipped");
            }
        }
    }
}

/// ELO: each loop entered.
pub(crate) struct LoopsEntered;

impl Annotator for LoopsEntered {
    fn criterion(&self) -> Criterion {
        Criterion::Elo
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for found in loops(cx) {
            let name = format!("{} entered", found.name());
            match found.control {
                Control::Before(decision) => {
                    let pred = outcome(&cx.tree(decision));
                    cx.push(Site::Decision(decision), pred, found.span, name);
                }
                Control::After(_) | Control::None(_) => {
                    cx.push(Site::Mark(found.mark), Pred::Const(true), found.span, name);
                }
            }
        }
    }
}

/// MLO: each loop entered more than once.
pub(crate) struct LoopsRepeated;

impl Annotator for LoopsRepeated {
    fn criterion(&self) -> Criterion {
        Criterion::Mlo
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        for found in loops(cx) {
            let again = |cx: &mut Context<'_>, atom: Atom| {
                sequence(cx, vec![atom.clone(), atom], Site::Mark(found.mark))
            };
            let hyper = match found.control {
                Control::Before(decision) => {
                    let atom = decides(cx, &found, decision, true);
                    again(cx, atom)
                }
                Control::After(decision) => Hyper::Atom(decides(cx, &found, decision, true)),
                Control::None(Some(first)) => {
                    let atom = passes(cx, &found, first);
                    again(cx, atom)
                }
                Control::None(None) => continue,
            };
            push(cx, &found, hyper, "entered more than once");
        }
    }
}

/// A loop of the source.
struct FoundLoop {
    keyword: Keyword,
    mark: MarkId,
    /// The text before its body.
    span: Span,
    control: Control,
}

/// The control of a loop.
enum Control {
    /// A decision that is taken before each round.
    Before(DecisionId),
    /// A decision that is taken after each round.
    After(DecisionId),
    /// No decision; with the first mark within its body.
    None(Option<MarkId>),
}

impl FoundLoop {
    fn name(&self) -> String {
        format!("{} at {}", self.keyword.text(), self.mark)
    }
}

fn passes(cx: &mut Context<'_>, found: &FoundLoop, mark: MarkId) -> Atom {
    let label = cx.label(Site::Mark(mark), Pred::Const(true), found.span);
    cx.atom(label, Vec::new())
}

fn decides(cx: &mut Context<'_>, found: &FoundLoop, decision: DecisionId, value: bool) -> Atom {
    let pred = signed(outcome(&cx.tree(decision)), value);
    let label = cx.label(Site::Decision(decision), pred, found.span);
    cx.atom(label, Vec::new())
}

/// A sequence of one activation without a site in between.
fn sequence(cx: &mut Context<'_>, atoms: Vec<Atom>, without: Site) -> Hyper {
    let function = atoms[0].function;
    let forbidden = Obligation { function, site: without, holds: Formula::Number(0) };
    let passages = vec![Passage::Obliged(vec![forbidden]); atoms.len() - 1];
    Hyper::Sequence(cx.sequence(Sequence {
        atoms,
        passages,
        scope: SequenceScope::Activation,
        flow: None,
    }))
}

fn push(cx: &mut Context<'_>, found: &FoundLoop, hyper: Hyper, what: &str) {
    let text = format!("{} {what}", text::shown(cx, found.span));
    cx.push_hyper(hyper, found.span, format!("{} {what}", found.name()), text);
}

/// The loops, in the order of their statements' marks.
fn loops(cx: &Context<'_>) -> Vec<FoundLoop> {
    let body = cx.body;
    let cfg = Cfg::new(body);
    let statements = cx.statement_marks();
    let found = statements.filter_map(|(mark, span)| {
        let text = LoopText::read(cx.map.slice(span))?;
        let at = |range: &Range<usize>| {
            Span::new(span.start + range.start as u32, span.start + range.end as u32)
        };
        let control = match controlling(body, at(&text.condition)) {
            Some(decision) if text.keyword == Keyword::Do => Control::After(decision),
            Some(decision) => Control::Before(decision),
            None => Control::None(first_mark(body, at(&text.body))),
        };
        let repeats = match control {
            Control::Before(decision) | Control::After(decision) => begin_of(body, decision),
            Control::None(first) => first.and_then(|first| block_of(body, first)),
        };
        let before = block_of(body, mark)?;
        let span = Span::new(span.start, at(&text.head).end);
        let found = FoundLoop { keyword: text.keyword, mark, span, control };
        repeats.is_some_and(|block| is_passed_again(&cfg, block, before)).then_some(found)
    });
    found.collect()
}

/// The decision that is the whole of a condition: the widest one within its text.
fn controlling(body: &Body, condition: Span) -> Option<DecisionId> {
    let within = |span: Span| condition.start <= span.start && span.end <= condition.end;
    let decisions = body.decisions.iter();
    let found = decisions.filter(|(_, d)| d.kind == DecisionKind::Control && within(d.span));
    found.max_by_key(|(_, d)| d.span.end - d.span.start).map(|(id, _)| id)
}

/// The mark that stands first within a text.
fn first_mark(body: &Body, text: Span) -> Option<MarkId> {
    let marks = body.marks.iter().filter(|(_, mark)| mark.kind == MarkKind::Statement);
    let within = marks.filter(|(_, m)| text.start <= m.span.start && m.span.end <= text.end);
    within.min_by_key(|(id, mark)| (mark.span.start, id.index())).map(|(id, _)| id)
}

/// The block that passes a mark.
fn block_of(body: &Body, mark: MarkId) -> Option<BlockId> {
    let passes = |stmt: &lydian_ir::StmtId| body.stmts[*stmt] == Stmt::Mark(mark);
    body.blocks.iter().find(|(_, block)| block.stmts.iter().any(passes)).map(|(id, _)| id)
}

/// The block whose branch begins a decision's evaluation.
fn begin_of(body: &Body, decision: DecisionId) -> Option<BlockId> {
    let begins = |term: &Terminator| {
        matches!(term, Terminator::Branch { origin: Some(origin), .. }
            if origin.decision == decision && origin.begins)
    };
    body.blocks.iter().find(|(_, block)| begins(&block.term)).map(|(id, _)| id)
}

/// Whether control can leave a block and come back without passing another one.
fn is_passed_again(cfg: &Cfg, block: BlockId, without: BlockId) -> bool {
    let mut seen = FxHashSet::default();
    let mut rest: Vec<BlockId> = cfg.successors(block).to_vec();
    while let Some(at) = rest.pop() {
        if at == block && block != without {
            return true;
        }
        if at != without && seen.insert(at) {
            rest.extend(cfg.successors(at));
        }
    }
    false
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keyword {
    While,
    For,
    Do,
}

impl Keyword {
    const fn text(self) -> &'static str {
        match self {
            Self::While => "while",
            Self::For => "for",
            Self::Do => "do",
        }
    }
}

/// The places of the parts of a loop statement in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LoopText {
    keyword: Keyword,
    /// The text before the body.
    head: Range<usize>,
    condition: Range<usize>,
    body: Range<usize>,
}

impl LoopText {
    /// Reads a statement; `None` where it is no loop.
    fn read(text: &str) -> Option<Self> {
        let keywords = [Keyword::While, Keyword::For, Keyword::Do];
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let keyword = keywords.into_iter().find(|keyword| {
            text.strip_prefix(keyword.text()).is_some_and(|rest| !rest.starts_with(is_word))
        })?;
        let begin = keyword.text().len();
        let groups = Groups::read(text, begin);
        if keyword == Keyword::Do {
            let (group, _) = groups.0.last()?;
            let body = begin..group.start;
            return Some(Self { keyword, head: 0..begin, condition: inside(group), body });
        }
        let (group, semicolons) = groups.0.first()?;
        let condition = match (keyword, semicolons.as_slice()) {
            (Keyword::For, [first, second, ..]) => first + 1..*second,
            (Keyword::For, _) => return None,
            _ => inside(group),
        };
        let body = group.end..text.len();
        Some(Self { keyword, head: 0..group.end, condition, body })
    }
}

fn inside(group: &Range<usize>) -> Range<usize> {
    group.start + 1..group.end - 1
}

/// The parts of a text in outermost parentheses that stand in no braces, parentheses included, with
/// the semicolons directly in each.
struct Groups(Vec<(Range<usize>, Vec<usize>)>);

impl Groups {
    fn read(text: &str, from: usize) -> Self {
        let bytes = text.as_bytes();
        let mut open: Vec<usize> = Vec::new();
        let mut found = Vec::new();
        let mut semicolons = Vec::new();
        let mut at = from;
        while let Some(byte) = bytes.get(at) {
            match byte {
                &quote @ (b'"' | b'\'') => at = end_of_literal(bytes, at + 1, quote) - 1,
                b'#' if starts_line(bytes, at) => at = end_of_line(bytes, at),
                b'(' | b'[' | b'{' => open.push(at),
                b';' if open.len() == 1 => semicolons.push(at),
                b')' | b']' | b'}' => {
                    let start = open.pop();
                    if open.is_empty() {
                        let semicolons = std::mem::take(&mut semicolons);
                        if let Some(start) = start.filter(|_| *byte == b')') {
                            found.push((start..at + 1, semicolons));
                        }
                    }
                }
                _ => {}
            }
            at += 1;
        }
        Self(found)
    }
}

fn starts_line(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
    before.is_none_or(|byte| *byte == b'\n')
}

fn end_of_line(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| at + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Option<(Keyword, &str, &str)> {
        let read = LoopText::read(text)?;
        Some((read.keyword, text[read.condition].trim(), text[read.body].trim()))
    }

    #[test]
    fn a_loops_parts_are_found_in_its_text() {
        let cases = [
            ("while (f(a)) g();", Some((Keyword::While, "f(a)", "g();"))),
            ("for (i = 0; i < f(2); i++) ;", Some((Keyword::For, "i < f(2)", ";"))),
            ("for (;;) { }", Some((Keyword::For, "", "{ }"))),
            ("for (int a[] = {1, 2}; *a; ) x();", Some((Keyword::For, "*a", "x();"))),
            ("do { f(1); } while (x);", Some((Keyword::Do, "x", "{ f(1); } while"))),
            ("do f(1); while (g(x));", Some((Keyword::Do, "g(x)", "f(1); while"))),
            ("while (c != ')') x();", Some((Keyword::While, "c != ')'", "x();"))),
            ("while\n# 3 \"a)b\"\n(c) x();", Some((Keyword::While, "c", "x();"))),
            ("forward(x);", None),
            ("double x = 1;", None),
            ("for (x;", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parts(text), expected, "{text}");
        }
    }
}
