//! The mutants of a place, and the functions that judge them.

use indexmap::IndexMap;
use lydian_base::EntityId;
use lydian_ir::source::{Root, RootKind};
use lydian_ir::{ConditionId, DecisionId, Expr, ExprId, Type};
use lydian_objective::annotate::mutation::operand_made_absolute;
use lydian_objective::decision::predicates::always_reached;
use lydian_objective::{LabelId, Pred};

use super::borders::{BORDERS, Border, Borders, Meeting, Near, Operands, Side, orders};
use super::code::{Coder, Shared};
use super::decision::DecisionEdit;
use super::hooks::{POISON, Recorded, Standing};
use super::judges::{Entries, Gate, Parameters, Place, open_flag};
use super::{Purpose, Watch};

/// So many mutants of a function under test are judged where they stand.
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
        let is_program = self.request.purpose == Purpose::Program;
        let outside = Standing {
            parameters: (is_program || labels.len() > FEW).then_some(&parameters),
            ..here
        };
        let objectives = self.objectives;
        // What differs on every state is recorded where control passes, what does on none nowhere.
        let (mut always, mut others) = (Vec::new(), Vec::new());
        for label in labels {
            match self.hooks.settled(&objectives.labels[*label].pred) {
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
        self.record_mutants(&general, false, outside, here, &mut statements, &mut inline);
        let (by_sign, tests): (Vec<LabelId>, Vec<String>) = by_sign.into_iter().unzip();
        self.record_mutants(&by_sign, true, outside, here, &mut statements, &mut inline);
        if outside.parameters.is_none() {
            return always + &statements;
        }
        if statements.is_empty() {
            return always + &inline;
        }
        let function = self.number;
        let gate = Gate::new(!tests.is_empty(), &mut || self.plan.cell(function, Vec::new()));
        statements.push_str(&gate.update());
        let call = self.judges.call(&[], &parameters, &statements);
        always + &inline + &gate.pass(&distinct(tests), "", &call)
    }

    /// What has the labels of a place of a user's program judged: by data, and by a function of
    /// their own those that code cannot say.
    fn sampled_mutants(
        &mut self,
        general: &[LabelId],
        by_sign: &[(LabelId, String)],
        outside: Standing<'_>,
        here: Standing<'_>,
    ) -> String {
        let (parameters, mut shared) = (Parameters::default(), Shared::default());
        let mut entries = Entries::default();
        let (mut statements, mut inline) = (String::new(), String::new());
        let general = general.iter().map(|label| (*label, false));
        for (label, by_sign) in general.chain(by_sign.iter().map(|(label, _)| (*label, true))) {
            let pred = &self.objectives.labels[label].pred;
            let write = |coder: &mut Coder<'_>| coder.pred(pred);
            let code = self.hooks.code(here, (&parameters, &mut shared), None, write);
            let cell = self.plan.cells.len();
            if let Some(code) = code {
                self.plan.cell(self.number, vec![label]);
                entries.label(cell, by_sign, &code);
                continue;
            }
            let before = statements.len();
            self.record_mutants(&[label], by_sign, outside, here, &mut statements, &mut inline);
            if statements.len() > before {
                entries.open(cell, by_sign);
            }
        }
        if entries.is_empty() {
            return inline;
        }
        let function = self.number;
        let signs_only = (!by_sign.is_empty()).then(|| self.plan.cell(function, Vec::new()));
        let sampled = self.judges.sampled(1, signs_only, shared.slots());
        let mut all = Entries::default();
        all.shared(&shared);
        all.append(entries);
        all.gate(&sampled);
        let turn = sampled.turn(0).to_string();
        let place = Place { parameters: &parameters, before: &[], bytes: None, turn: Some(&turn) };
        let mut calls = String::new();
        if let Some(text) = outside.parameters.filter(|_| !statements.is_empty()) {
            calls = self.judges.call(&[], text, &statements);
        }
        calls.push_str(&self.judges.by_data(&all, place));
        let tests = by_sign.iter().map(|(_, test)| test.clone()).collect();
        inline + &sampled.pass(&turn, &distinct(tests), &calls)
    }

    /// Adds the statements that record labels to `statements`, or to `inline` where they can only
    /// stand in the user's function. `by_sign`: the labels need a negative operand.
    fn record_mutants(
        &mut self,
        labels: &[LabelId],
        by_sign: bool,
        outside: Standing<'_>,
        here: Standing<'_>,
        statements: &mut String,
        inline: &mut String,
    ) {
        for label in labels {
            let pred = &self.objectives.labels[*label].pred;
            let number = self.plan.cells.len();
            let cell = Recorded { number, before_undefined: false, open: None };
            let judged = Recorded { open: outside.parameters.map(|_| open_flag(by_sign)), ..cell };
            let (text, record) = match self.hooks.record(pred, judged, outside) {
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
        let labels = self.borders(decision, labels, edit);
        let first = self.plan.cells.len();
        let (mut general, mut by_sign) = (Vec::new(), Vec::new());
        for label in &labels {
            match self.sign_in_decision(decision, *label) {
                Some(test) => by_sign.push((*label, test)),
                None => general.push(*label),
            }
        }
        for label in general {
            self.hook(label, Some(open_flag(false)), edit);
        }
        for (label, (condition, test)) in by_sign {
            if self.hook(label, Some(open_flag(true)), edit) {
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
                edit.make_judges(&Gate::new(by_sign, &mut cell), &signs, self.judges);
            }
            Purpose::Program => {
                edit.make_sampled(by_sign.then(cell), &signs, self.judges);
            }
        }
    }

    /// Adds the labels at borders of a decision's conditions to its edit. Returns the others.
    fn borders(
        &mut self,
        decision: DecisionId,
        labels: &[LabelId],
        edit: &mut DecisionEdit,
    ) -> Vec<LabelId> {
        let exprs = &self.objectives.exprs;
        let always = always_reached(&self.body.decisions[decision].tree);
        let mut found: IndexMap<_, Vec<(LabelId, Near)>> = IndexMap::new();
        let mut others = Vec::new();
        for label in labels {
            let near = Near::of(&self.objectives.labels[*label].pred, exprs);
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
            let meeting = (all.len() < BORDERS).then(|| self.meeting(decision, &labels)).flatten();
            let Some(meeting) = meeting else {
                others.extend(labels.iter().map(|(label, _)| *label));
                continue;
            };
            let mut cells: [Vec<LabelId>; 3] = Default::default();
            labels.iter().for_each(|(label, near)| cells[near.position()].push(*label));
            all.push(Border { condition: condition.index(), meeting, labels: cells });
        }
        let first = self.plan.cells.len() as u32;
        if let Err((all, reason)) = edit.add_borders(Borders { first, all }, &self.hooks) {
            let lost: Vec<LabelId> = all.into_iter().flat_map(|b| b.labels).flatten().collect();
            self.unwatch(&lost, &reason);
            return others;
        }
        for labels in edit.borders().flat_map(|border| &border.labels) {
            self.plan.cell(self.number, labels.clone());
        }
        others
    }

    /// How the text of a condition tells where its operands meet.
    fn meeting(&self, decision: DecisionId, labels: &[(LabelId, Near)]) -> Option<Meeting> {
        let (_, near) = labels.first()?;
        let here = self.condition_itself(decision, near.condition)?;
        let text = |expr: ExprId| {
            let text = self.hooks.text(expr, here).ok()?;
            (!text.contains(POISON)).then_some(text)
        };
        let mut signs = labels.iter().filter_map(|(_, near)| match near.side {
            Side::Below { signed } | Side::Above { signed } => Some(signed),
            Side::At(_) => None,
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
            (None, Side::At(test)) => Operands::Any { equal: text(test)? },
            (Some(signed), _) if signs.all(|other| other == signed) => {
                let bits = self.hooks.width(a);
                let is_least = !signed && matches!(self.objectives.exprs[b], Expr::Const(_, 0));
                let (a, b) = (text(near.a)?, text(near.b)?);
                let is_known = matches!(bits, 8 | 16 | 32 | 64 | 128) && !orders(op, !signed);
                is_known.then_some(Operands::Integers { a, b, bits, signed, is_least })?
            }
            _ => return None,
        };
        Some(Meeting { op, operands })
    }

    /// Adds a label that speaks of mutants or the state to a decision's edit. Whether it could.
    /// `open` is the flag for what may be judged in some of the passes only, as mutants are.
    pub(super) fn hook(
        &mut self,
        label: LabelId,
        open: Option<&'static str>,
        edit: &mut DecisionEdit,
    ) -> bool {
        let pred = &self.objectives.labels[label].pred;
        let number = self.plan.cells.len();
        let cell = Recorded { number, before_undefined: false, open };
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
        let here = self.condition_itself(decision, condition)?;
        Some((condition.index(), self.is_negative(operand, here)?))
    }

    /// Where a condition's own text stands.
    fn condition_itself(
        &self,
        decision: DecisionId,
        condition: ConditionId,
    ) -> Option<Standing<'_>> {
        let kind = RootKind::Condition { decision, condition };
        let root = self.body.source.roots.values().find(|root| root.kind == kind)?;
        let guard_from = self.body.exprs.len();
        Some(Standing { guard_from, captures: &root.captures, ..Standing::at(root.span.start) })
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
