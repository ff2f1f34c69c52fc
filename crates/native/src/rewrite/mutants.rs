//! The mutants of a place, and the functions that judge them.

use lydian_base::EntityId;
use lydian_ir::source::{Root, RootKind};
use lydian_ir::{DecisionId, Expr, ExprId, Type};
use lydian_objective::annotate::mutation::operand_made_absolute;
use lydian_objective::{LabelId, Pred};

use super::Watch;
use super::decision::DecisionEdit;
use super::hooks::{Recorded, Standing};
use super::judges::{Gate, Judged, Parameters};

/// So many mutants are judged where they stand.
const FEW: usize = 2;

impl Watch<'_, '_> {
    /// What a root does for its mutants before it is evaluated.
    pub(super) fn mutants_of_root(&mut self, root: &Root, labels: &[LabelId]) -> String {
        let here = Standing {
            at: root.span.start,
            guard_from: self.body.exprs.len(),
            captures: &root.captures,
            parameters: None,
        };
        let parameters = Parameters::default();
        let outside = Standing { parameters: (labels.len() > FEW).then_some(&parameters), ..here };
        let objectives = self.objectives;
        let (mut general, mut by_sign) = (Vec::new(), Vec::new());
        for label in labels {
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
        let (mut statements, mut inline) = (String::new(), String::new());
        let first = self.plan.cells.len() as u32;
        self.record_mutants(&general, outside, here, &mut statements, &mut inline);
        let signs = self.plan.cells.len() as u32;
        let tests: Vec<String> = by_sign.iter().map(|(_, test)| test.clone()).collect();
        let by_sign: Vec<LabelId> = by_sign.into_iter().map(|(label, _)| label).collect();
        self.record_mutants(&by_sign, outside, here, &mut statements, &mut inline);
        let judged = Judged { first, signs, end: self.plan.cells.len() as u32 };
        if outside.parameters.is_none() {
            return statements;
        }
        if statements.is_empty() {
            return inline;
        }
        let function = self.number;
        let gate = Gate::new(judged, &mut || self.plan.cell(function, Vec::new()));
        statements.push_str(&gate.update(judged));
        let call = self.judges.add(&[], &parameters, &statements);
        format!("{inline}if ({}) {call}", gate.is_open(&distinct(tests)))
    }

    /// Adds the statements that record labels to `statements`, or to `inline` where they can only
    /// stand in the user's function.
    fn record_mutants(
        &mut self,
        labels: &[LabelId],
        outside: Standing<'_>,
        here: Standing<'_>,
        statements: &mut String,
        inline: &mut String,
    ) {
        for label in labels {
            let pred = &self.objectives.labels[*label].pred;
            let cell = Recorded { number: self.plan.cells.len(), before_undefined: false };
            let (text, record) = match self.hooks.record(pred, cell, outside) {
                Ok(record) => (&mut *statements, record),
                Err(_) => match self.hooks.record(pred, cell, here) {
                    Ok(record) => (&mut *inline, record),
                    Err(reason) => {
                        self.unwatch(&[*label], &reason);
                        continue;
                    }
                },
            };
            self.plan.cell(self.number, vec![*label]);
            text.push_str(&record);
        }
    }

    /// Adds the labels that speak of mutants of a decision's conditions to its edit.
    pub(super) fn mutants_of_decision(
        &mut self,
        decision: DecisionId,
        labels: &[LabelId],
        edit: &mut DecisionEdit,
    ) {
        let body = self.body;
        let conditions = &body.decisions[decision].conditions;
        let mut signs: Vec<Vec<String>> = vec![Vec::new(); conditions.len()];
        let (mut general, mut by_sign) = (Vec::new(), Vec::new());
        for label in labels {
            match self.sign_in_decision(decision, *label) {
                Some(test) => by_sign.push((*label, test)),
                None => general.push(*label),
            }
        }
        let first = self.plan.cells.len() as u32;
        for label in general {
            self.hook(label, edit);
        }
        let middle = self.plan.cells.len() as u32;
        for (label, (condition, test)) in by_sign {
            if self.hook(label, edit) {
                signs[condition].push(test);
            }
        }
        let judged = Judged { first, signs: middle, end: self.plan.cells.len() as u32 };
        if judged.first == judged.end {
            return;
        }
        let function = self.number;
        let gate = Gate::new(judged, &mut || self.plan.cell(function, Vec::new()));
        let signs: Vec<Vec<String>> = signs.into_iter().map(distinct).collect();
        edit.make_judges(judged, &gate, &signs, self.judges);
    }

    /// Adds a label that speaks of mutants or the state to a decision's edit. Whether it could.
    pub(super) fn hook(&mut self, label: LabelId, edit: &mut DecisionEdit) -> bool {
        let pred = &self.objectives.labels[label].pred;
        let cell = self.plan.cells.len();
        match edit.hook(pred, cell, &mut self.hooks) {
            Ok(()) => {
                self.plan.cell(self.number, vec![label]);
                true
            }
            Err(reason) => {
                self.unwatch(&[label], &reason);
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
        let kind = RootKind::Condition { decision, condition };
        let root = self.body.source.roots.values().find(|root| root.kind == kind)?;
        let guard_from = self.body.exprs.len();
        let here =
            Standing { guard_from, captures: &root.captures, ..Standing::at(root.span.start) };
        Some((condition.index(), self.is_negative(operand, here)?))
    }

    /// Whether an operand, an integer, is negative: C text.
    fn is_negative(&self, operand: ExprId, here: Standing<'_>) -> Option<String> {
        let Type::Int(bits @ (8 | 16 | 32 | 64 | 128)) =
            self.body.type_in(&self.objectives.exprs, operand)
        else {
            return None;
        };
        let text = self.hooks.text(operand, here).ok()?;
        Some(format!("((lydian_s{bits}){text} < 0)"))
    }
}

fn distinct(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts.dedup();
    texts
}
