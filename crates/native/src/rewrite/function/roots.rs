//! Puts probes before whole expressions.

use lydian_ir::Stmt;
use lydian_ir::source::{Point, RootId, RootKind};
use lydian_objective::LabelId;

use crate::rewrite::edits::{EditAction, rank};
use crate::rewrite::function::FunctionRewriter;
use crate::rewrite::predicates::writer::TextContext;
use crate::rewrite::request::Purpose;
use crate::rewrite::source::scan;
use crate::rewrite::text::tree::Edit;
use crate::rewrite::uninstrumentable::NO_PLACE;

impl FunctionRewriter<'_, '_> {
    /// Puts the probes of a root before it.
    pub(crate) fn root(
        &mut self,
        id: RootId,
        labels: &[LabelId],
        edits: &mut Vec<Edit<EditAction>>,
    ) {
        let root = &self.body.source.roots[id];
        if let Some(reason) = self.obstacle(id) {
            return self.add_uninstrumentable(labels, reason);
        }
        // Mutants come last: they evaluate the expression, and would crash before its errors and
        // uses are recorded.
        let (errors, others): (Vec<LabelId>, Vec<LabelId>) =
            labels.iter().partition(|label| self.errors.contains(label));
        let (mutants, others): (Vec<LabelId>, Vec<LabelId>) =
            others.iter().partition(|label| self.mutants.contains(label));
        let standing = TextContext {
            guard_from: self.body.exprs.len(),
            captures: &root.captures,
            ..TextContext::at(root.span.start)
        };
        // Each of several errors must be recorded, also if another one comes first. In the user's
        // own program, checks of all operands would take too long.
        let guard_from = match self.request.purpose {
            Purpose::Tests => 0,
            Purpose::Program => standing.guard_from,
        };
        let mut probes = self.label_probes(&errors, true, TextContext { guard_from, ..standing });
        probes.push_str(&self.label_probes(&others, false, standing));
        probes.push_str(&self.mutants_of_root(root, &mutants));
        if probes.is_empty() {
            return;
        }
        if let RootKind::Condition { decision, condition } = root.kind {
            let mut decisions = self.function.decisions.iter_mut();
            let edit = decisions.find(|edit| edit.id == decision);
            if edit.is_some_and(|edit| edit.takes_root_probes(condition, &probes)) {
                return;
            }
        }
        self.function.roots.insert(id, probes);
        let own = root.captures.iter().find(|capture| capture.span == root.span);
        let rank = match own.map(|capture| self.capture_rank(capture)) {
            Some(rank::CAPTURE_OF_DECISION) => rank::ROOT_OF_DECISION,
            Some(_) => rank::CAPTURING_ROOT,
            None => rank::ROOT,
        };
        let action = EditAction::Root { function: self.number, root: id };
        edits.push(Edit { span: root.span, rank, action });
        for capture in &root.captures {
            let action = EditAction::Capture { temp: capture.temp };
            edits.push(Edit { span: capture.span, rank: self.capture_rank(capture), action });
        }
    }

    /// Why a root's text cannot be rewritten.
    fn obstacle(&self, id: RootId) -> Option<&'static str> {
        let root = &self.body.source.roots[id];
        if !root.rewritable {
            return Some("its text cannot be rewritten");
        }
        if root.span.is_none() {
            return Some(NO_PLACE);
        }
        if scan::has_compound_literal(self.request.map.slice(root.span)) {
            return Some("its text has a compound literal, which must not move into a block");
        }
        let stores_bits = matches!(root.point, Point::Stmt(stmt)
            if matches!(self.body.stmts[stmt], Stmt::StoreBits { .. }));
        if root.kind == RootKind::Address && stores_bits {
            return Some("a bit-field has no address");
        }
        None
    }
}
