//! Labels as goals: where they stand, and the events that they are asked of.
//!
//! A label of a decision is asked where the decision has its outcome. What its event says of conditions
//! that were passed before is part of the state: whether each was reached, its value, the values of its
//! mutants. All is forgotten where an evaluation of the decision begins.
//!
//! Where exactness is hard, a label counts as true: what reaches it must be tried on the program.

use std::collections::BTreeMap;

use lydian_eval::{EventReader, Kleene, eval_pred};
use lydian_ir::source::Point;
use lydian_ir::stmt::Terminator;
use lydian_ir::{
    BlockId, Body, BranchOrigin, ConditionId, DecisionId, Edge, ExprId, FuncId, MarkKind, Stmt,
    StmtId,
};
use lydian_objective::{FunctionObjectives, LabelId, Site};
use lydian_smt::{Sort, Term, TermPool};

use crate::encode::encoded::GoalMeaning;
use crate::encode::ids::{InstanceId, NodeId, SlotId};
use crate::encode::inlined::{Exit, Inlined};
use crate::encode::machine::Machine;
use crate::encode::request::Goals;
use crate::encode::state::State;
use crate::encode::state::liveness::Notes;
use crate::encode::state::slots::{SlotKind, Slots};

/// A moment of a path at which labels are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Moment {
    /// Before the first function is entered.
    Start,
    /// When a function is entered.
    Entry,
    Block(BlockId),
    /// Just before a statement.
    Stmt(StmtId),
    /// Just before the terminator of a block.
    Term(BlockId),
    Edge(Edge),
    /// When a decision has its outcome.
    Decision(DecisionId),
    /// When a condition has been evaluated.
    Condition(DecisionId, ConditionId),
}

/// A mutant of a condition.
type Mutant = (ConditionId, ExprId);

/// The labels of functions by the moments at which they are asked.
#[derive(Debug, Default)]
pub(crate) struct LabelSites<'a> {
    objectives: BTreeMap<FuncId, &'a FunctionObjectives>,
    at: BTreeMap<(FuncId, Moment), Vec<LabelId>>,
    /// The functions with labels at the start of the run.
    at_start: Vec<FuncId>,
    /// The mutants that the labels of each decision ask for.
    mutants: BTreeMap<FuncId, BTreeMap<DecisionId, Vec<Mutant>>>,
}

impl<'a> LabelSites<'a> {
    /// The events of decisions are kept for sequences, too.
    pub(crate) fn new(inlined: &Inlined<'a>, goals: Goals<'a>) -> Self {
        let mut sites = Self::default();
        for objectives in goals.objectives() {
            let function = &inlined.program.functions[objectives.function];
            if let Some(body) = &function.body {
                sites.add(goals, objectives, body);
            }
        }
        let started = sites.at.keys().filter(|(_, moment)| *moment == Moment::Start);
        sites.at_start = started.map(|(function, _)| *function).collect();
        sites
    }

    fn add(&mut self, goals: Goals<'a>, objectives: &'a FunctionObjectives, body: &Body) {
        let function = objectives.function;
        self.objectives.insert(function, objectives);
        for (id, label) in objectives.labels.iter() {
            let is_goal = !goals.labels.is_empty() && goals.has_label((function, id));
            let asked = is_goal.then(|| moments(body, label.site));
            for moment in asked.into_iter().flatten() {
                self.at.entry((function, moment)).or_default().push(id);
            }
            if let Site::Decision(decision) = label.site {
                let of_function = self.mutants.entry(function).or_default();
                let mutants = of_function.entry(decision).or_default();
                label.pred.for_each_mutant(&mut |condition, expr| {
                    if !mutants.contains(&(condition, expr)) {
                        mutants.push((condition, expr));
                    }
                });
            }
        }
    }

    /// The mutants of a decision of an instance's function, if its labels ask for events of it.
    pub(crate) fn mutants_of(
        &self,
        inlined: &Inlined<'_>,
        instance: InstanceId,
        decision: DecisionId,
    ) -> Option<&[Mutant]> {
        let of_function = self.mutants.get(&inlined.instances[instance].function)?;
        of_function.get(&decision).map(Vec::as_slice)
    }

    /// Makes the slots that events of decisions are kept in.
    pub(crate) fn add_slots(&self, inlined: &Inlined<'_>, slots: &mut Slots) {
        for (id, instance) in inlined.instances.iter() {
            for (decision, mutants) in self.mutants.get(&instance.function).into_iter().flatten() {
                let name = format!("{}::{decision}", instance.name);
                for condition in instance.body.decisions[*decision].conditions.ids() {
                    let reached = SlotKind::Reached(id, *decision, condition);
                    slots.add(reached, Sort::Bool, format!("{name}.{condition}.reached"));
                    let value = SlotKind::Value(id, *decision, condition);
                    slots.add(value, Sort::Bool, format!("{name}.{condition}.value"));
                }
                for at in 0..2 * mutants.len() {
                    let kind = SlotKind::Mutant(id, *decision, at);
                    slots.add(kind, Sort::Bool, format!("{name}.mutant{at}"));
                }
            }
        }
    }

    /// The slots of a decision's events in an instance.
    fn slots_of(
        &self,
        (inlined, slots): (&Inlined<'_>, &Slots),
        instance: InstanceId,
        decision: DecisionId,
    ) -> Vec<SlotId> {
        let body = inlined.instances[instance].body;
        let conditions = &body.decisions[decision].conditions;
        let reached = conditions.ids().map(|c| SlotKind::Reached(instance, decision, c));
        let values = conditions.ids().map(|c| SlotKind::Value(instance, decision, c));
        let count = 2 * self.mutants_of(inlined, instance, decision).map_or(0, <[_]>::len);
        let mutants = (0..count).map(|at| SlotKind::Mutant(instance, decision, at));
        reached.chain(values).chain(mutants).filter_map(|kind| slots.of(kind)).collect()
    }

    /// The reads that labels make in a node.
    pub(crate) fn notes(&self, (inlined, slots): (&Inlined<'_>, &Slots), node: NodeId) -> Notes {
        let mut notes = Notes::default();
        let content = &inlined.nodes[node];
        let function = inlined.instances[content.instance].function;
        let Some(objectives) = self.objectives.get(&function) else { return notes };
        let body = inlined.instances[content.instance].body;
        for moment in moments_of(inlined, node) {
            for label in self.at.get(&(function, moment)).into_iter().flatten() {
                let label = &objectives.labels[*label];
                label.pred.for_each_expr(&mut |expr| notes.exprs.push(expr));
            }
            if let Moment::Stmt(stmt) = moment
                && let Stmt::Mark(mark) = body.stmts[stmt]
                && let MarkKind::UserLabel { predicate, .. } = &body.marks[mark].kind
            {
                notes.exprs.extend(predicate.conditions.values().map(|c| c.expr));
            }
        }
        let Some(Terminator::Branch { origin: Some(origin), .. }) = inlined.terminator(node) else {
            return notes;
        };
        let mutants = self.mutants_of(inlined, content.instance, origin.decision);
        let Some(mutants) = mutants else { return notes };
        notes.exprs.extend(mutants.iter().map(|(_, expr)| *expr));
        let conditions = body.decisions[origin.decision].conditions.values();
        notes.exprs.extend(conditions.filter_map(|condition| condition.unreached.expr()));
        let own = self.slots_of((inlined, slots), content.instance, origin.decision);
        match origin.begins {
            true => notes.writes = own,
            false => notes.reads = own,
        }
        notes
    }
}

/// The moments at which a label of a site is asked.
pub(crate) fn moments(body: &Body, site: Site) -> Vec<Moment> {
    let of_point = |point: Point| match point {
        Point::Stmt(stmt) => Moment::Stmt(stmt),
        Point::Term(block) => Moment::Term(block),
    };
    match site {
        Site::Start => vec![Moment::Start],
        Site::Entry => vec![Moment::Entry],
        Site::Mark(mark) => {
            let stmts = body.stmts.iter();
            let here = stmts.filter(|(_, stmt)| **stmt == Stmt::Mark(mark));
            here.map(|(id, _)| Moment::Stmt(id)).collect()
        }
        Site::Edge(edge) => vec![Moment::Edge(edge)],
        Site::Decision(decision) => vec![Moment::Decision(decision)],
        Site::Root(root) => body.source.roots[root].points().map(of_point).collect(),
        Site::Stmt(stmt) => {
            let all = body.stmts.ids();
            let copies =
                all.filter(|other| body.source.original(*other) == body.source.original(stmt));
            copies.map(Moment::Stmt).collect()
        }
        Site::Block(block) => vec![Moment::Block(block)],
        Site::Condition(decision, condition) => vec![Moment::Condition(decision, condition)],
    }
}

/// The moments of a node.
pub(crate) fn moments_of(inlined: &Inlined<'_>, node: NodeId) -> Vec<Moment> {
    let content = &inlined.nodes[node];
    let mut found: Vec<Moment> = inlined.stmts(node).map(Moment::Stmt).collect();
    if inlined.begins_block(node) {
        found.push(Moment::Block(content.block));
        found.push(Moment::Entry);
    }
    match (&content.exit, inlined.terminator(node)) {
        (Exit::Call { stmt, .. } | Exit::Recursion { stmt, .. }, _) => {
            found.push(Moment::Stmt(*stmt));
        }
        (Exit::Empty, _) => {}
        (Exit::Terminator, terminator) => {
            found.push(Moment::Term(content.block));
            if let Some(Terminator::Branch { origin: Some(origin), .. }) = terminator {
                found.push(Moment::Decision(origin.decision));
                found.push(Moment::Condition(origin.decision, origin.condition));
            }
            let ways = 0..content.successors.len() as u32;
            found.extend(ways.map(|way| Moment::Edge(Edge { from: content.block, way })));
        }
    }
    found
}

impl<'s, 'a> Machine<'s, 'a> {
    /// Asks the labels of a moment.
    pub(crate) fn labels_at(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, moment): (InstanceId, Moment),
    ) {
        self.ask(pool, state, (instance, moment), None);
    }

    fn ask(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, moment): (InstanceId, Moment),
        branch: Option<Taken>,
    ) {
        self.sequences_at(pool, state, (instance, moment), branch);
        let sites: &'s LabelSites<'a> = self.sites;
        let own = [self.analysed.inlined.instances[instance].function];
        let functions = if moment == Moment::Start { &sites.at_start } else { &own[..] };
        for function in functions.iter().copied() {
            for label in sites.at.get(&(function, moment)).into_iter().flatten() {
                let asked = ((function, *label), branch);
                let covered = self.label_truth(pool, state, (instance, moment), asked);
                let mut there = state.clone();
                there.assume(pool, covered);
                let condition = there.guard(pool);
                let meaning = GoalMeaning::Label { function, label: *label };
                self.goals.hit(pool, meaning, condition, self.reads.len());
            }
        }
    }

    /// Whether a label is covered at a moment of its function.
    pub(crate) fn label_truth(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, moment): (InstanceId, Moment),
        ((function, label), branch): ((FuncId, LabelId), Option<Taken>),
    ) -> Term {
        let Some(objectives) = self.sites.objectives.get(&function).copied() else {
            return pool.tt();
        };
        let pred = &objectives.labels[label].pred;
        let mut event = LabelEvent { machine: self, state, instance, moment, branch };
        eval_pred(pool, pred, &mut event).surely_true
    }

    /// Notes that a branch evaluated its condition.
    pub(crate) fn before_branch(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, origin): (InstanceId, BranchOrigin),
        test: Term,
    ) {
        let sites: &'s LabelSites<'a> = self.sites;
        let inlined = self.analysed.inlined;
        let Some(mutants) = sites.mutants_of(inlined, instance, origin.decision) else { return };
        let (decision, condition) = (origin.decision, origin.condition);
        if origin.begins {
            let no = pool.ff();
            for slot in sites.slots_of((inlined, self.analysed.slots), instance, decision) {
                state.set(slot, Some(no));
            }
        }
        let yes = pool.tt();
        for (kind, value) in [
            (SlotKind::Reached(instance, decision, condition), yes),
            (SlotKind::Value(instance, decision, condition), test),
        ] {
            let slot = self.slot(kind);
            state.set(slot, Some(value));
        }
        for (at, (of, expr)) in mutants.iter().enumerate() {
            if *of == condition {
                let truth = self.truth(pool, state, (instance, *expr));
                for (side, value) in [truth.surely_true, truth.surely_false].into_iter().enumerate()
                {
                    let slot = self.slot(SlotKind::Mutant(instance, decision, 2 * at + side));
                    state.set(slot, Some(value));
                }
            }
        }
    }

    /// Asks the labels of a condition, and those of its decision where it has its outcome.
    pub(crate) fn after_branch(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, (origin, holds)): (InstanceId, (BranchOrigin, bool)),
    ) {
        let taken = Taken { condition: origin.condition, holds };
        let moment = Moment::Condition(origin.decision, origin.condition);
        self.ask(pool, state, (instance, moment), Some(taken));
        let outcome = if holds { origin.then_outcome } else { origin.else_outcome };
        if outcome.is_some() {
            let moment = Moment::Decision(origin.decision);
            self.ask(pool, state, (instance, moment), Some(taken));
        }
    }
}

/// A branch that was taken.
#[derive(Clone, Copy)]
pub(crate) struct Taken {
    condition: ConditionId,
    holds: bool,
}

/// The event of a moment.
struct LabelEvent<'e, 's, 'a> {
    machine: &'e mut Machine<'s, 'a>,
    state: &'e mut State,
    instance: InstanceId,
    moment: Moment,
    branch: Option<Taken>,
}

impl LabelEvent<'_, '_, '_> {
    fn slot_value(&mut self, pool: &mut TermPool, kind: SlotKind) -> Term {
        match self.machine.analysed.slots.of(kind) {
            Some(slot) => self.machine.value(pool, self.state, slot),
            None => Machine::anything(pool, Sort::Bool),
        }
    }

    fn truth(&mut self, pool: &mut TermPool, expr: ExprId) -> Kleene {
        self.machine.truth(pool, self.state, (self.instance, expr))
    }

    /// A value where a condition is reached, and one where it is not.
    fn by_reached(
        &mut self,
        pool: &mut TermPool,
        condition: ConditionId,
        inside: Kleene,
        outside: Option<ExprId>,
    ) -> Kleene {
        let reached = self.reached(pool, condition);
        let short_circuit = self.machine.request.semantics.short_circuit;
        let outside =
            match outside.filter(|_| !short_circuit && pool.as_bool(reached) != Some(true)) {
                Some(expr) => self.truth(pool, expr),
                None => Kleene::unknown(pool),
            };
        let not_reached = pool.not(reached);
        let inside = inside.only_where(pool, reached);
        let outside = outside.only_where(pool, not_reached);
        inside.or_else(pool, outside)
    }

    fn body(&self) -> &'_ Body {
        self.machine.analysed.inlined.instances[self.instance].body
    }

    /// The expression of a condition of the label of the user's that stands here.
    fn of_user_label(&self, condition: ConditionId) -> Option<ExprId> {
        let Moment::Stmt(stmt) = self.moment else { return None };
        let Stmt::Mark(mark) = self.body().stmts[stmt] else { return None };
        match &self.body().marks[mark].kind {
            MarkKind::UserLabel { predicate, .. } => {
                predicate.conditions.get(condition).map(|condition| condition.expr)
            }
            MarkKind::Statement => None,
        }
    }
}

impl EventReader for LabelEvent<'_, '_, '_> {
    fn condition(&mut self, pool: &mut TermPool, condition: ConditionId) -> Kleene {
        match (self.moment, self.branch) {
            (Moment::Decision(decision), _) => {
                let unreached = self.body().decisions[decision].conditions[condition].unreached;
                let kind = SlotKind::Value(self.instance, decision, condition);
                let value = self.slot_value(pool, kind);
                let inside = Kleene::known(pool, value);
                self.by_reached(pool, condition, inside, unreached.expr())
            }
            (_, Some(taken)) if taken.condition == condition => Kleene::constant(pool, taken.holds),
            _ => match self.of_user_label(condition) {
                Some(expr) => self.truth(pool, expr),
                None => anything(pool),
            },
        }
    }

    fn reached(&mut self, pool: &mut TermPool, condition: ConditionId) -> Term {
        match self.moment {
            Moment::Decision(decision) => {
                self.slot_value(pool, SlotKind::Reached(self.instance, decision, condition))
            }
            _ => Machine::anything(pool, Sort::Bool),
        }
    }

    fn mutant(&mut self, pool: &mut TermPool, condition: ConditionId, expr: ExprId) -> Kleene {
        let Moment::Decision(decision) = self.moment else { return anything(pool) };
        let inlined = self.machine.analysed.inlined;
        let mutants = self.machine.sites.mutants_of(inlined, self.instance, decision);
        let at = mutants.and_then(|all| all.iter().position(|at| *at == (condition, expr)));
        let Some(at) = at else { return anything(pool) };
        let kind = |side| SlotKind::Mutant(self.instance, decision, 2 * at + side);
        let (on, off) = (kind(0), kind(1));
        let inside = Kleene {
            surely_true: self.slot_value(pool, on),
            surely_false: self.slot_value(pool, off),
        };
        let is_one = self.body().decisions[decision].conditions[condition].is_one_expression();
        self.by_reached(pool, condition, inside, is_one.then_some(expr))
    }

    fn expr(&mut self, pool: &mut TermPool, expr: ExprId) -> Kleene {
        self.truth(pool, expr)
    }
}

/// A truth value of which nothing is known.
fn anything(pool: &mut TermPool) -> Kleene {
    let value = Machine::anything(pool, Sort::Bool);
    Kleene::known(pool, value)
}
