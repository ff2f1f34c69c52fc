//! Records at whole expressions, whose text goes behind them.

use lydian_ir::Stmt;
use lydian_ir::source::{Point, RootId, RootKind};
use lydian_objective::criterion::Construct;
use lydian_objective::{Criterion, FunctionObjectives, LabelId};
use rustc_hash::FxHashSet;

use super::hooks::Standing;
use super::tree::Edit;
use super::uninstrumentable::NO_PLACE;
use super::{Action, Purpose, Watch, rank, scan};

/// How the labels of a criterion are recorded that stand at roots.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RootRecord {
    /// As errors, each also where another one comes first, before all others.
    Error,
    /// As mutants: evaluated by the functions that judge them, after all others.
    Mutant,
    /// As predicates on the state.
    State,
}

impl RootRecord {
    const fn of(criterion: Criterion) -> Self {
        match criterion.construct() {
            Construct::Error => Self::Error,
            Construct::Mutant => Self::Mutant,
            Construct::Function
            | Construct::Call
            | Construct::Statement
            | Construct::Block
            | Construct::Branch
            | Construct::Loop
            | Construct::Decision(_)
            | Construct::Border
            | Construct::Input
            | Construct::DefUse(_)
            | Construct::Path
            | Construct::Written => Self::State,
        }
    }
    /// The labels of the criteria that are recorded so.
    pub(super) fn labels(self, objectives: &FunctionObjectives) -> FxHashSet<LabelId> {
        let criteria = objectives.criteria.iter();
        let those = criteria.filter(|(criterion, _)| Self::of(**criterion) == self);
        those.flat_map(|(_, entries)| entries).map(|entry| entry.label).collect()
    }
}

impl Watch<'_, '_> {
    /// Puts what is recorded of a root before it.
    pub(super) fn root(&mut self, id: RootId, labels: &[LabelId], edits: &mut Vec<Edit<Action>>) {
        let root = &self.body.source.roots[id];
        if let Some(reason) = self.unwatchable(id) {
            return self.unwatch(labels, reason);
        }
        // Mutants evaluate the expression, and would crash before its errors and uses are recorded.
        let (errors, others): (Vec<LabelId>, Vec<LabelId>) =
            labels.iter().partition(|label| self.errors.contains(label));
        let (mutants, others): (Vec<LabelId>, Vec<LabelId>) =
            others.iter().partition(|label| self.mutants.contains(label));
        let standing = Standing {
            guard_from: self.body.exprs.len(),
            captures: &root.captures,
            ..Standing::at(root.span.start)
        };
        // Of several errors each must be recorded, also where another one comes first. In a program
        // that is the user's own, what checks each operand would take too long.
        let guard_from = match self.request.purpose {
            Purpose::Tests => 0,
            Purpose::Program => standing.guard_from,
        };
        let mut hooks = self.records(&errors, true, Standing { guard_from, ..standing });
        hooks.push_str(&self.records(&others, false, standing));
        hooks.push_str(&self.mutants_of_root(root, &mutants));
        if hooks.is_empty() {
            return;
        }
        if let RootKind::Condition { decision, condition } = root.kind {
            let mut decisions = self.function.decisions.iter_mut();
            let edit = decisions.find(|edit| edit.id == decision);
            if edit.is_some_and(|edit| edit.takes_hooks(condition, &hooks)) {
                return;
            }
        }
        self.function.roots.insert(id, hooks);
        let own = root.captures.iter().find(|capture| capture.span == root.span);
        let rank = match own.map(|capture| self.capture_rank(capture)) {
            Some(rank::CAPTURE_OF_DECISION) => rank::ROOT_OF_DECISION,
            Some(_) => rank::CAPTURING_ROOT,
            None => rank::ROOT,
        };
        let action = Action::Root { function: self.number, root: id };
        edits.push(Edit { span: root.span, rank, action });
        for capture in &root.captures {
            let action = Action::Capture { temp: capture.temp };
            edits.push(Edit { span: capture.span, rank: self.capture_rank(capture), action });
        }
    }

    /// Why a root's text cannot be rewritten.
    fn unwatchable(&self, id: RootId) -> Option<&'static str> {
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
