//! Puts the probes of mutants and of boundary values at roots and decisions.

use indexmap::IndexMap;
use lydian_base::EntityId;
use lydian_ir::source::{Root, RootKind};
use lydian_ir::{ConditionId, DecisionId, Expr, ExprId, Type};
use lydian_objective::annotate::values::mutation::operand_made_absolute;
use lydian_objective::decision::predicates::always_reached;
use lydian_objective::{LabelId, Pred};

use crate::rewrite::decision::DecisionEdit;
use crate::rewrite::decision::boundary::{
    Boundary, BoundaryLabel, BoundaryOperands, BoundarySide, DecisionBoundaries, MOST_BOUNDARIES,
    OperandTest, is_ordering,
};
use crate::rewrite::function::FunctionRewriter;
use crate::rewrite::mutant_probes::{ProbeEntries, ProbeGate, ProbeSite, open_flag};
use crate::rewrite::predicates::POISON;
use crate::rewrite::predicates::code::{CodeWriter, SharedValues};
use crate::rewrite::predicates::parameters::ProbeParameters;
use crate::rewrite::predicates::writer::{LabelCell, TextContext};
use crate::rewrite::request::Purpose;

/// The most mutants of a place that are judged in the function under test itself.
const FEW: usize = 2;

impl FunctionRewriter<'_, '_> {
    /// The statements that judge a root's mutants before its evaluation.
    pub(crate) fn mutants_of_root(&mut self, root: &Root, labels: &[LabelId]) -> String {
        let here = TextContext {
            at: root.span.start,
            guard_from: self.body.exprs.len(),
            captures: &root.captures,
            parameters: None,
        };
        let parameters = ProbeParameters::default();
        let is_program = self.request.purpose == Purpose::Program;
        let outside = TextContext {
            parameters: (is_program || labels.len() > FEW).then_some(&parameters),
            ..here
        };
        let objectives = self.objectives;
        // A mutant that differs on every state is covered when control passes, and one that differs
        // on none is never covered.
        let (mut always, mut others) = (Vec::new(), Vec::new());
        for label in labels {
            match self.predicates.settled(&objectives.labels[*label].pred) {
                Some(true) => always.push(*label),
                Some(false) => _ = self.plan.cell(self.number, vec![*label]),
                None => others.push(*label),
            }
        }
        let always = match always.is_empty() {
            true => String::new(),
            false => format!("lydian_hit[{}] = 1; ", self.plan.cell(self.number, always)),
        };
        let (mut general, mut by_sign) = (Vec::new(), Vec::new());
        for label in &others {
            let operand = match &objectives.labels[*label].pred {
                Pred::Expr(test) => match objectives.exprs[*test] {
                    Expr::Cmp(_, a, b) => operand_made_absolute(&objectives.exprs, a, b)
                        .or_else(|| operand_made_absolute(&objectives.exprs, b, a)),
                    _ => None,
                },
                _ => None,
            };
            match operand.and_then(|operand| self.is_negative(operand, here)) {
                Some(test) if outside.parameters.is_some() => by_sign.push((*label, test)),
                _ => general.push(*label),
            }
        }
        if is_program {
            return always + &self.sampled_mutants(&general, &by_sign, outside, here);
        }
        let (mut statements, mut inline) = (String::new(), String::new());
        self.judge_mutants(&general, false, outside, here, &mut statements, &mut inline);
        let (by_sign, tests): (Vec<LabelId>, Vec<String>) = by_sign.into_iter().unzip();
        self.judge_mutants(&by_sign, true, outside, here, &mut statements, &mut inline);
        if outside.parameters.is_none() {
            return always + &statements;
        }
        if statements.is_empty() {
            return always + &inline;
        }
        let function = self.number;
        let gate = ProbeGate::new(!tests.is_empty(), &mut || self.plan.cell(function, Vec::new()));
        statements.push_str(&gate.update());
        let call = self.mutant_probes.call(&[], &parameters, &statements);
        always + &inline + &gate.pass(&distinct(tests), "", &call)
    }

    /// The statements that judge the labels of a place in a user's program: by data, or by a
    /// function for labels that code cannot express.
    fn sampled_mutants(
        &mut self,
        general: &[LabelId],
        by_sign: &[(LabelId, String)],
        outside: TextContext<'_>,
        here: TextContext<'_>,
    ) -> String {
        let (parameters, mut shared) = (ProbeParameters::default(), SharedValues::default());
        let mut entries = ProbeEntries::default();
        let (mut statements, mut inline) = (String::new(), String::new());
        let general = general.iter().map(|label| (*label, false));
        for (label, by_sign) in general.chain(by_sign.iter().map(|(label, _)| (*label, true))) {
            let pred = &self.objectives.labels[label].pred;
            let write = |coder: &mut CodeWriter<'_>| coder.pred(pred);
            let code = self.predicates.code(here, (&parameters, &mut shared), None, write);
            let cell = self.plan.cells.len();
            if let Some(code) = code {
                self.plan.cell(self.number, vec![label]);
                entries.label(cell, by_sign, &code);
                continue;
            }
            let before = statements.len();
            self.judge_mutants(&[label], by_sign, outside, here, &mut statements, &mut inline);
            if statements.len() > before {
                entries.open(cell, by_sign);
            }
        }
        if entries.is_empty() {
            return inline;
        }
        let function = self.number;
        let signs_only = (!by_sign.is_empty()).then(|| self.plan.cell(function, Vec::new()));
        let sampled = self.mutant_probes.sampled(1, signs_only, shared.slots());
        let mut all = ProbeEntries::default();
        all.shared(&shared);
        all.append(entries);
        all.gate(&sampled);
        let turn = sampled.turn(0).to_string();
        let place =
            ProbeSite { parameters: &parameters, before: &[], bytes: None, turn: Some(&turn) };
        let mut calls = String::new();
        if let Some(text) = outside.parameters.filter(|_| !statements.is_empty()) {
            calls = self.mutant_probes.call(&[], text, &statements);
        }
        calls.push_str(&self.mutant_probes.by_data(&all, place));
        let tests = by_sign.iter().map(|(_, test)| test.clone()).collect();
        inline + &sampled.pass(&turn, &distinct(tests), &calls)
    }

    /// Adds the statements that judge labels to `statements`, or to `inline` if they can stand only
    /// in the user's function. With `by_sign`, the labels need a negative operand.
    fn judge_mutants(
        &mut self,
        labels: &[LabelId],
        by_sign: bool,
        outside: TextContext<'_>,
        here: TextContext<'_>,
        statements: &mut String,
        inline: &mut String,
    ) {
        for label in labels {
            let pred = &self.objectives.labels[*label].pred;
            let number = self.plan.cells.len();
            let cell = LabelCell { number, before_undefined: false, open: None };
            let judged = LabelCell { open: outside.parameters.map(|_| open_flag(by_sign)), ..cell };
            let (text, record) = match self.predicates.label_probe(pred, judged, outside) {
                Ok(record) => (&mut *statements, record),
                Err(_) => match self.predicates.label_probe(pred, cell, here) {
                    Ok(record) => (&mut *inline, record),
                    Err(reason) => {
                        self.add_uninstrumentable(&[*label], &reason);
                        continue;
                    }
                },
            };
            self.plan.cell(self.number, vec![*label]);
            text.push_str(&record);
        }
    }

    /// Adds the labels of mutants of a decision's conditions to its edit.
    pub(crate) fn mutants_of_decision(
        &mut self,
        decision: DecisionId,
        labels: &[LabelId],
        edit: &mut DecisionEdit,
    ) {
        let body = self.body;
        let conditions = &body.decisions[decision].conditions;
        let mut signs: Vec<Vec<String>> = vec![Vec::new(); conditions.len()];
        let labels = self.boundaries(decision, labels, edit);
        let first = self.plan.cells.len();
        let (mut general, mut by_sign) = (Vec::new(), Vec::new());
        for label in &labels {
            match self.sign_in_decision(decision, *label) {
                Some(test) => by_sign.push((*label, test)),
                None => general.push(*label),
            }
        }
        for label in general {
            self.label_at_outcome(label, Some(open_flag(false)), edit);
        }
        for (label, (condition, test)) in by_sign {
            if self.label_at_outcome(label, Some(open_flag(true)), edit) {
                signs[condition].push(test);
            }
        }
        if first == self.plan.cells.len() {
            return;
        }
        let function = self.number;
        let by_sign = signs.iter().any(|tests| !tests.is_empty());
        let signs: Vec<Vec<String>> = signs.into_iter().map(distinct).collect();
        let mut cell = || self.plan.cell(function, Vec::new());
        match self.request.purpose {
            Purpose::Tests => {
                edit.make_probes(&ProbeGate::new(by_sign, &mut cell), &signs, self.mutant_probes);
            }
            Purpose::Program => {
                edit.make_sampled(by_sign.then(cell), &signs, self.mutant_probes);
            }
        }
    }

    /// Adds the labels at boundaries of a decision's conditions to its edit. Returns the others.
    fn boundaries(
        &mut self,
        decision: DecisionId,
        labels: &[LabelId],
        edit: &mut DecisionEdit,
    ) -> Vec<LabelId> {
        let exprs = &self.objectives.exprs;
        let always = always_reached(&self.body.decisions[decision].tree);
        let mut found: IndexMap<_, Vec<(LabelId, BoundaryLabel)>> = IndexMap::new();
        let mut others = Vec::new();
        for label in labels {
            let near = BoundaryLabel::of(&self.objectives.labels[*label].pred, exprs);
            match near.filter(|near| near.says_reached || always.contains(near.condition)) {
                Some(near) => {
                    let same = found.entry((near.condition, near.a, near.b)).or_default();
                    same.push((*label, near));
                }
                None => others.push(*label),
            }
        }
        let mut all = Vec::new();
        for ((condition, ..), labels) in found {
            let operand_test = (all.len() < MOST_BOUNDARIES)
                .then(|| self.operand_test(decision, &labels))
                .flatten();
            let Some(operand_test) = operand_test else {
                others.extend(labels.iter().map(|(label, _)| *label));
                continue;
            };
            let mut cells: [Vec<LabelId>; 3] = Default::default();
            labels.iter().for_each(|(label, near)| cells[near.position()].push(*label));
            all.push(Boundary { condition: condition.index(), operand_test, labels: cells });
        }
        let first = self.plan.cells.len() as u32;
        if let Err((all, reason)) =
            edit.add_boundaries(DecisionBoundaries { first, all }, &self.predicates)
        {
            let affected: Vec<LabelId> = all.into_iter().flat_map(|b| b.labels).flatten().collect();
            self.add_uninstrumentable(&affected, &reason);
            return others;
        }
        for labels in edit.boundaries().flat_map(|boundary| &boundary.labels) {
            self.plan.cell(self.number, labels.clone());
        }
        others
    }

    /// How the text of a condition tells where its operands meet.
    fn operand_test(
        &self,
        decision: DecisionId,
        labels: &[(LabelId, BoundaryLabel)],
    ) -> Option<OperandTest> {
        let (_, near) = labels.first()?;
        let here = self.condition_itself(decision, near.condition)?;
        let text = |expr: ExprId| {
            let text = self.predicates.text(expr, here).ok()?;
            (!text.contains(POISON)).then_some(text)
        };
        let mut signs = labels.iter().filter_map(|(_, near)| match near.side {
            BoundarySide::Below { signed } | BoundarySide::Above { signed } => Some(signed),
            BoundarySide::At(_) => None,
        });
        let own = self.body.decisions[decision].conditions[near.condition].expr;
        let Expr::Cmp(op, a, b) = self.objectives.exprs[own] else { return None };
        // A leaf of a predicate stands for all of its shape.
        let exprs = &self.objectives.exprs;
        let is_same = |own: ExprId, of: ExprId| {
            own == of || (exprs[own].is_leaf() && exprs[own] == exprs[of])
        };
        if !is_same(a, near.a) || !is_same(b, near.b) {
            return None;
        }
        let operands = match (signs.next(), near.side) {
            (None, BoundarySide::At(test)) => BoundaryOperands::Any { equal: text(test)? },
            (Some(signed), _) if signs.all(|other| other == signed) => {
                let bits = self.predicates.width(a);
                let is_least = !signed && matches!(self.objectives.exprs[b], Expr::Const(_, 0));
                let is_between = is_between(&self.objectives.exprs[b], bits, signed);
                let (a, b) = (text(near.a)?, text(near.b)?);
                let is_known = matches!(bits, 8 | 16 | 32 | 64 | 128) && !is_ordering(op, !signed);
                is_known.then_some(BoundaryOperands::Integers {
                    a,
                    b,
                    bits,
                    signed,
                    is_least,
                    is_between,
                })?
            }
            _ => return None,
        };
        Some(OperandTest { op, operands })
    }

    /// Adds a label whose predicate depends on mutants or on the state to a decision's edit.
    /// Returns whether it could. `open` is the flag of labels that are judged in samples of passes,
    /// as mutants are.
    pub(crate) fn label_at_outcome(
        &mut self,
        label: LabelId,
        open: Option<&'static str>,
        edit: &mut DecisionEdit,
    ) -> bool {
        let pred = &self.objectives.labels[label].pred;
        let number = self.plan.cells.len();
        let cell = LabelCell { number, before_undefined: false, open };
        match edit.label_at_outcome(pred, cell, &mut self.predicates) {
            Ok(()) => {
                self.plan.cell(self.number, vec![label]);
                true
            }
            Err(reason) => {
                self.add_uninstrumentable(&[label], &reason);
                false
            }
        }
    }

    /// The condition and the test of a mutant's operand, if it differs only where that is negative.
    fn sign_in_decision(&self, decision: DecisionId, label: LabelId) -> Option<(usize, String)> {
        let objectives = self.objectives;
        let mut mutants = Vec::new();
        let pred = &objectives.labels[label].pred;
        pred.for_each_mutant(&mut |condition, expr| mutants.push((condition, expr)));
        mutants.dedup();
        let [(condition, mutant)] = mutants[..] else { return None };
        let original = self.body.decisions[decision].conditions[condition].expr;
        let operand = operand_made_absolute(&objectives.exprs, original, mutant)?;
        let here = self.condition_itself(decision, condition)?;
        Some((condition.index(), self.is_negative(operand, here)?))
    }

    /// Where a condition's own text stands.
    fn condition_itself(
        &self,
        decision: DecisionId,
        condition: ConditionId,
    ) -> Option<TextContext<'_>> {
        let kind = RootKind::Condition { decision, condition };
        let root = self.body.source.roots.values().find(|root| root.kind == kind)?;
        let guard_from = self.body.exprs.len();
        Some(TextContext {
            guard_from,
            captures: &root.captures,
            ..TextContext::at(root.span.start)
        })
    }

    /// Whether an operand, an integer, is negative: C text.
    fn is_negative(&self, operand: ExprId, here: TextContext<'_>) -> Option<String> {
        let Type::Int(bits @ (8 | 16 | 32 | 64 | 128)) =
            self.body.type_in(&self.objectives.exprs, operand)
        else {
            return None;
        };
        let text = self.predicates.text(operand, here).ok()?;
        Some(format!("((lydian_s{bits}){text} < 0)"))
    }
}

/// Whether an operand is a constant of so many bits with numbers on both sides.
fn is_between(operand: &Expr, bits: u32, signed: bool) -> bool {
    let Expr::Const(_, value) = operand else { return false };
    let all = u128::MAX >> (128 - bits);
    let least = if signed { 1 << (bits - 1) } else { 0 };
    let value = *value & all;
    value != least && value != least.wrapping_sub(1) & all
}

fn distinct(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts.dedup();
    texts
}
