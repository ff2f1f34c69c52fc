//! Marks: which statements have one, and how the source rewriter can record it.

use lydian_base::Span;
use lydian_ir::source::{LabelSite, MarkSite, MarkStyle};
use lydian_ir::{Mark, MarkKind, Stmt};

use crate::ast::{StmtId, StmtKind, TranslationUnit};
use crate::lower::builder::FunctionLowering;

/// Where a statement stands in the text around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum Slot {
    /// Directly in a block: others may be put before it.
    Block,
    /// The body of an `if`, a loop or a switch.
    Body,
    /// The first part of the `for` that this is.
    ForInit(StmtId),
}

impl FunctionLowering<'_, '_> {
    /// Marks a statement; `whole` is the statement with its attributes.
    pub(in crate::lower) fn mark_statement(&mut self, whole: StmtId, slot: Slot) {
        let span = statement_text(self.unit, self.module.source.text(), whole);
        let is_declaration = matches!(self.unit.stmts[whole].kind, StmtKind::Decl(_));
        match slot {
            Slot::Block => self.mark(MarkKind::Statement, span, MarkStyle::Before),
            Slot::Body => self.mark(MarkKind::Statement, span, MarkStyle::Wrap),
            Slot::ForInit(whole_for) if is_declaration => {
                let at = statement_text(self.unit, self.module.source.text(), whole_for);
                self.mark_at(MarkKind::Statement, span, at, MarkStyle::BeforeFor);
            }
            Slot::ForInit(_) => {
                let span = self.unit.stmts[whole].span;
                self.mark(MarkKind::Statement, span, MarkStyle::Expression);
            }
        }
    }

    /// Adds a mark whose record goes where its text is.
    pub(in crate::lower) fn mark(&mut self, kind: MarkKind, span: Span, style: MarkStyle) {
        self.mark_at(kind, span, span, style);
    }

    fn mark_at(&mut self, kind: MarkKind, span: Span, site: Span, style: MarkStyle) {
        let new = self.body.marks.next_id();
        let mark = self.journals.mark(new);
        let label = self.labels.take_ahead().map(|span| LabelSite { mark, span });
        if mark == new {
            self.body.marks.push(Mark { kind, span });
            self.body.source.marks.push(MarkSite { mark, span: site, style });
            self.body.source.labels.extend(label);
        }
        self.within(span, |l| l.emit(Stmt::Mark(mark)));
    }
}

/// The text of a statement with the semicolon that ends it, which clang leaves out of some.
pub(in crate::lower) fn statement_text(unit: &TranslationUnit, text: &str, stmt: StmtId) -> Span {
    let span = unit.stmts[stmt].span;
    Span::new(span.start, end_of(unit, text, stmt).max(span.end))
}

fn end_of(unit: &TranslationUnit, text: &str, stmt: StmtId) -> u32 {
    let stmt = &unit.stmts[stmt];
    match &stmt.kind {
        StmtKind::Expr(_)
        | StmtKind::Return(_)
        | StmtKind::Goto(_)
        | StmtKind::IndirectGoto(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Do { .. }
        | StmtKind::Asm(_) => after_semicolon(text, stmt.span.end),
        StmtKind::If { then, otherwise, .. } => end_of(unit, text, otherwise.unwrap_or(*then)),
        StmtKind::While { body, .. }
        | StmtKind::For { body, .. }
        | StmtKind::Switch { body, .. }
        | StmtKind::Case { body, .. }
        | StmtKind::Default(body)
        | StmtKind::Label { body, .. }
        | StmtKind::Attributed(body) => end_of(unit, text, *body),
        StmtKind::Compound(_) | StmtKind::Decl(_) | StmtKind::Null | StmtKind::Unsupported(_) => {
            stmt.span.end
        }
    }
}

/// The end of the semicolon that follows, past space and line markers; `from` if none does.
fn after_semicolon(text: &str, from: u32) -> u32 {
    let bytes = text.as_bytes();
    let mut at = from as usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b';' => return at as u32 + 1,
            b'#' => match text[at..].find('\n') {
                Some(length) => at += length,
                None => break,
            },
            byte if byte.is_ascii_whitespace() => at += 1,
            _ => break,
        }
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_semicolon_of_a_statement_may_stand_after_a_line_marker() {
        let text = "f() \n# 3 \"a;.c\"\n ; g();";
        assert_eq!(after_semicolon(text, 3), 18);
        assert_eq!(after_semicolon("f() }", 3), 3);
    }
}
