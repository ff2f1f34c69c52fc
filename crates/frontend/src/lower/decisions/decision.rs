//! Decisions: branches for the conditions of a Boolean expression, and the side table beside them.

use lydian_base::Span;
use lydian_ir::decision::Condition;
use lydian_ir::source::{DecisionSite, Point, RootKind};
use lydian_ir::{
    BinOp, BlockId, BoolTree, BranchOrigin, CastOp, ConditionId, Decision, DecisionId,
    DecisionKind, Expr, ExprId, Purity, Terminator, Truth, Type, UnreachedValue,
};

use crate::ast;
use crate::lower::builder::gaps::Part;
use crate::lower::builder::{FunctionLowering, is_first};
use crate::lower::decisions::boolean::Node;
use crate::lower::options::ValueDecisions;
use crate::lower::outcome::Lowering;

/// Where control goes for one truth value of a part of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exit {
    block: BlockId,
    /// The decision's outcome, if this ends it.
    outcome: Option<bool>,
}

/// A decision and the expressions that its conditions evaluate.
struct DecisionLeaves<'t> {
    id: DecisionId,
    leaves: &'t [ast::ExprId],
}

impl FunctionLowering<'_, '_> {
    /// Branches on an expression that is tested.
    pub(in crate::lower) fn control_decision(
        &mut self,
        e: ast::ExprId,
        then_to: BlockId,
        else_to: BlockId,
    ) -> Lowering<()> {
        let node = self.tested(e).simplified();
        self.decide(e, node, DecisionKind::Control, then_to, else_to)
    }

    /// The value of a Boolean expression that is a decision; `None` if it is none.
    pub(in crate::lower) fn value_decision(&mut self, e: ast::ExprId) -> Lowering<Option<ExprId>> {
        let Some(node) = self.value_tree(e) else { return Ok(None) };
        if self.computes {
            return self.computed_value(e, &node).map(Some);
        }
        let expr = &self.unit.exprs[e];
        let scalar = self.scalar(expr.ty.ty, expr.span)?;
        if let Node::Const(value) = node {
            return Ok(Some(self.constant(scalar.ty, i128::from(value))));
        }
        let temp = self.temp(expr.ty.ty, expr.span)?;
        let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
        self.decide(e, node, DecisionKind::Value, then_block, else_block)?;
        for (block, value) in [(then_block, 1), (else_block, 0)] {
            self.start(block);
            let value = self.constant(scalar.ty, value);
            self.emit(lydian_ir::Stmt::Assign { dst: temp, value });
            self.terminate(Terminator::Goto(join));
        }
        self.start(join);
        self.capture(self.text(e), temp);
        Ok(Some(self.read(temp)))
    }

    /// The tree of a Boolean expression that is a decision where its value is used.
    fn value_tree(&self, e: ast::ExprId) -> Option<Node> {
        let node = self.boolean_value(e)?;
        let all = self.module.options.value_decisions == ValueDecisions::All;
        (node.has_operator() || all).then(|| node.simplified())
    }

    /// A Boolean expression whose value is not used: its right operands may have effects.
    pub(in crate::lower) fn discard_boolean(&mut self, e: ast::ExprId) -> Lowering<()> {
        let node = self.tested(e).simplified();
        let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
        self.decide(e, node, DecisionKind::Value, then_block, else_block)?;
        for block in [then_block, else_block] {
            self.start(block);
            self.terminate(Terminator::Goto(join));
        }
        self.start(join);
        Ok(())
    }

    /// The same for a `?:` that is a Boolean operator. False if it is none.
    pub(in crate::lower) fn discard_boolean_choice(&mut self, e: ast::ExprId) -> Lowering<bool> {
        match self.value_tree(e) {
            Some(_) => self.discard_boolean(e).map(|()| true),
            None => Ok(false),
        }
    }

    /// Branches on a Boolean expression whose value, 0 or 1, is used beside its truth. False if it
    /// is not Boolean.
    pub(in crate::lower) fn kept_boolean(
        &mut self,
        e: ast::ExprId,
        then_to: BlockId,
        else_to: BlockId,
    ) -> Lowering<bool> {
        let Some(node) = self.boolean_value(e) else { return Ok(false) };
        self.decide(e, node.simplified(), DecisionKind::Control, then_to, else_to)?;
        Ok(true)
    }

    /// Branches on the truth `cond` of an expression whose value is kept: a decision of one
    /// condition.
    pub(in crate::lower) fn kept_decision(
        &mut self,
        e: ast::ExprId,
        cond: ExprId,
        then_to: BlockId,
        else_to: BlockId,
    ) {
        use lydian_base::EntityId;
        let span = self.text(e);
        self.note_span(cond, span);
        let condition = ConditionId::from_index(0);
        let new = self.body.decisions.next_id();
        let id = self.journals.decision(new);
        if id == new {
            let conditions = [Condition::new(cond, Purity::Pure, span)];
            self.body.decisions.push(Decision {
                kind: DecisionKind::Control,
                tree: BoolTree::Cond(condition),
                conditions: conditions.into_iter().collect(),
                span,
            });
            let conditions = vec![span];
            let site = DecisionSite { decision: id, span, conditions, keeps_value: true };
            self.body.source.decisions.push(site);
        }
        let origin = BranchOrigin {
            decision: id,
            condition,
            begins: true,
            then_outcome: Some(true),
            else_outcome: Some(false),
        };
        let origin = Some(origin);
        let term = Terminator::Branch { cond, then_to, else_to, origin };
        self.within(span, |l| l.terminate_user(term));
    }

    /// Lowers a decision; a tree without conditions is none, but a jump.
    fn decide(
        &mut self,
        e: ast::ExprId,
        node: Node,
        kind: DecisionKind,
        then_to: BlockId,
        else_to: BlockId,
    ) -> Lowering<()> {
        if let Node::Const(truth) = node {
            self.terminate(Terminator::Goto(if truth { then_to } else { else_to }));
            return Ok(());
        }
        let span = self.text(e);
        let (tree, leaves) = node.numbered();
        let new = self.body.decisions.next_id();
        let id = self.journals.decision(new);
        let is_new = id == new;
        if is_new {
            let conditions = lydian_base::Arena::new();
            self.body.decisions.push(Decision { kind, tree: tree.clone(), conditions, span });
            let conditions = leaves.iter().map(|leaf| self.text(*leaf)).collect();
            let site = DecisionSite { decision: id, span, conditions, keeps_value: false };
            self.body.source.decisions.push(site);
        }
        let leaves = DecisionLeaves { id, leaves: &leaves };
        let then_exit = Exit { block: then_to, outcome: Some(true) };
        let else_exit = Exit { block: else_to, outcome: Some(false) };
        self.apart(|l| l.branch(&leaves, &tree, then_exit, else_exit))
    }

    /// Lowers a part of a decision's tree from the current block on.
    fn branch(
        &mut self,
        decision: &DecisionLeaves<'_>,
        tree: &BoolTree,
        yes: Exit,
        no: Exit,
    ) -> Lowering<()> {
        // A tree with a constant value has one exit, however its conditions are evaluated.
        let (yes, no) = match always(tree) {
            Some(true) => (yes, yes),
            Some(false) => (no, no),
            None => (yes, no),
        };
        match tree {
            BoolTree::Const(value) => {
                // Only a whole tree is a constant here; parts are left out by `Self::towards`.
                let exit = if *value { yes } else { no };
                self.terminate(Terminator::Goto(exit.block));
                Ok(())
            }
            BoolTree::Cond(condition) => self.condition(decision, *condition, yes, no),
            BoolTree::Not(a) => self.branch(decision, a, no, yes),
            BoolTree::And(a, b) => self.two(decision, a, b, (yes, no), None),
            BoolTree::Or(a, b) => {
                let right = self.towards(b, yes, no);
                self.branch(decision, a, yes, right)?;
                self.rest(decision, b, right, yes, no)
            }
            BoolTree::BitAnd(a, b) => self.two(decision, a, b, (yes, no), Some((no, no))),
            BoolTree::BitOr(a, b) => self.two(decision, a, b, (yes, yes), Some((yes, no))),
            BoolTree::Eq(a, b) => self.two(decision, a, b, (yes, no), Some((no, yes))),
            BoolTree::Xor(a, b) => self.two(decision, a, b, (no, yes), Some((yes, no))),
            BoolTree::Ite(c, a, b) => {
                let (then_exit, else_exit) = (self.towards(a, yes, no), self.towards(b, yes, no));
                self.branch(decision, c, then_exit, else_exit)?;
                self.rest(decision, a, then_exit, yes, no)?;
                self.rest(decision, b, else_exit, yes, no)
            }
        }
    }

    /// Lowers `a`, and `b` where `a` is true, towards `after_true`; and where it is false, towards
    /// `after_false`, or not at all: then `a` being false leads where `b` being false does.
    fn two(
        &mut self,
        decision: &DecisionLeaves<'_>,
        a: &BoolTree,
        b: &BoolTree,
        after_true: (Exit, Exit),
        after_false: Option<(Exit, Exit)>,
    ) -> Lowering<()> {
        // One copy of `b` is enough where `a` is constantly so.
        let only = match (always(a), after_false) {
            (Some(true), Some(_)) => Some(after_true),
            (Some(false), Some(exits)) => Some(exits),
            _ => None,
        };
        if let Some((yes, no)) = only {
            if matches!(a, BoolTree::Const(_)) {
                return self.branch(decision, b, yes, no);
            }
            let on = self.towards(b, yes, no);
            self.branch(decision, a, on, on)?;
            return self.rest(decision, b, on, yes, no);
        }
        let on_true = self.towards(b, after_true.0, after_true.1);
        let on_false = match after_false {
            Some((yes, no)) => self.towards(b, yes, no),
            None => after_true.1,
        };
        self.branch(decision, a, on_true, on_false)?;
        self.rest(decision, b, on_true, after_true.0, after_true.1)?;
        match after_false {
            Some((yes, no)) => self.rest(decision, b, on_false, yes, no),
            None => Ok(()),
        }
    }

    /// Where control goes to evaluate a part: a new block, or straight to an exit for a constant.
    fn towards(&mut self, tree: &BoolTree, yes: Exit, no: Exit) -> Exit {
        match tree {
            BoolTree::Const(true) => yes,
            BoolTree::Const(false) => no,
            _ => Exit { block: self.new_block(), outcome: None },
        }
    }

    /// Lowers a part in the block that [`Self::towards`] made for it.
    fn rest(
        &mut self,
        decision: &DecisionLeaves<'_>,
        tree: &BoolTree,
        at: Exit,
        yes: Exit,
        no: Exit,
    ) -> Lowering<()> {
        if matches!(tree, BoolTree::Const(_)) {
            return Ok(());
        }
        self.start(at.block);
        self.branch(decision, tree, yes, no)
    }

    fn condition(
        &mut self,
        decision: &DecisionLeaves<'_>,
        condition: ConditionId,
        yes: Exit,
        no: Exit,
    ) -> Lowering<()> {
        use lydian_base::EntityId;
        let leaf = decision.leaves[condition.index()];
        let span = self.text(leaf);
        let key = (decision.id, condition);
        self.journals.open(key);
        let before = (self.current_block(), self.body.stmts.len());
        let (cond, captures) = self.or_outline(
            Part::Expr(leaf),
            |l| l.with_captures(|l| l.truth(leaf)),
            |l| l.outline_truth(leaf),
        )?;
        self.note_span(cond, span);
        let effects = (self.current_block(), self.body.stmts.len()) != before;
        if self.body.decisions[decision.id].conditions.len() == condition.index() {
            let purity = self.purity(cond, effects);
            // Where it has that value is settled when the body is whole.
            let unreached = match effects {
                false => Some(cond),
                true => self.computed_truth(leaf),
            };
            let unreached = unreached.map_or(UnreachedValue::Never, UnreachedValue::WhereDefined);
            let constant = self.constant_behind(leaf);
            let expr = constant
                .map_or(cond, |truth| self.expr(Expr::Const(Type::BOOL, u128::from(truth))));
            let conditions = &mut self.body.decisions[decision.id].conditions;
            conditions.push(Condition { expr, purity, unreached, span });
        }
        let origin = BranchOrigin {
            decision: decision.id,
            condition,
            begins: is_first(condition),
            then_outcome: yes.outcome,
            else_outcome: no.outcome,
        };
        let term = Terminator::Branch {
            cond,
            then_to: yes.block,
            else_to: no.block,
            origin: Some(origin),
        };
        let block = self.within(span, |l| l.terminate_user(term));
        let kind = RootKind::Condition { decision: decision.id, condition };
        self.root(Point::Term(block), cond, kind, span, captures);
        self.journals.close(key);
        Ok(())
    }

    /// Side effects and traps of evaluating a condition.
    pub(in crate::lower) fn purity(&self, expr: ExprId, effects: bool) -> Purity {
        match effects {
            true => Purity::Effects,
            false if self.may_trap(expr) => Purity::MayTrap,
            false => Purity::Pure,
        }
    }

    /// Whether a pure expression traps on some state: [`lydian_ir::trap::may_trap`], but linear in
    /// the expression instead of the arena.
    pub(in crate::lower) fn may_trap(&self, expr: ExprId) -> bool {
        let mut work = vec![expr];
        while let Some(next) = work.pop() {
            let traps = match &self.body.exprs[next] {
                Expr::Load { ty, addr, .. } => {
                    !self.is_inside(*addr, self.target().stored_bytes(*ty))
                }
                Expr::LoadBits { field, addr } => !self.is_inside(*addr, field.bytes()),
                Expr::Binary(op, _, b) if op.may_trap() => self.operator_may_trap(*op, *b),
                Expr::Cast(CastOp::FToS | CastOp::FToU, ..) => true,
                _ => false,
            };
            if traps {
                return true;
            }
            self.body.exprs[next].for_each_operand(|operand| work.push(operand));
        }
        false
    }

    fn operator_may_trap(&self, op: BinOp, b: ExprId) -> bool {
        let Some((ty, bits)) = self.as_const(b) else { return true };
        match op {
            BinOp::DivU | BinOp::RemU => bits == 0,
            BinOp::DivS | BinOp::RemS => bits == 0 || bits == lydian_ir::arith::mask(ty.bits()),
            _ => bits >= u128::from(ty.bits()),
        }
    }

    /// Whether `bytes` bytes from an address on surely lie in a live object.
    fn is_inside(&self, addr: ExprId, bytes: u64) -> bool {
        let mut at = addr;
        let mut offset: i128 = 0;
        loop {
            match &self.body.exprs[at] {
                Expr::AddrLocal(local) => {
                    return fits(offset, bytes, self.memory_size(*local));
                }
                Expr::AddrGlobal(global) => {
                    return fits(offset, bytes, self.module.program.globals[*global].size);
                }
                Expr::Field { base, record, field } => {
                    let record = &self.module.program.types.records[*record];
                    offset += i128::from(record.fields[*field as usize].bit_offset / 8);
                    at = *base;
                }
                Expr::Index { base, index, size, .. } => {
                    let Some((ty, bits)) = self.as_const(*index) else { return false };
                    let index = lydian_ir::arith::signed(ty.bits(), bits);
                    offset += index.saturating_mul(i128::from(*size));
                    at = *base;
                }
                _ => return false,
            }
        }
    }

    /// The `i1` of a condition that is evaluated where it stands, for a label of the user's.
    pub(in crate::lower) fn pure_condition(
        &mut self,
        leaf: ast::ExprId,
    ) -> Lowering<(ExprId, Span)> {
        let span = self.text(leaf);
        let cond = self.apart(|l| l.truth(leaf))?;
        debug_assert_eq!(self.body.type_of(cond), Type::BOOL, "a test gives one bit");
        self.note_span(cond, span);
        Ok((cond, span))
    }
}

/// The value that its constants give a tree, whatever its conditions are.
fn always(tree: &BoolTree) -> Option<bool> {
    tree.eval(&|_| Truth::Unknown).known()
}

fn fits(offset: i128, bytes: u64, size: u64) -> bool {
    offset >= 0 && offset + i128::from(bytes) <= i128::from(size)
}
