//! What a test covers when the interpreter runs it: the independent party.
#![allow(unreachable_pub, reason = "a module of tests")]

use std::collections::BTreeSet;

use lydian_base::EntityId;
use lydian_ir::interp::{DecisionEvent, Observer, Options, View, run};
use lydian_ir::source::RootId;
use lydian_ir::stmt::{BranchOrigin, Edge};
use lydian_ir::test::Test;
use lydian_ir::{ConditionId, DecisionId, ExprId, FuncId, MarkId, Program, Truth};
use lydian_objective::event::Event;
use lydian_objective::{FunctionObjectives, Pred, Site};
use lydian_symex::LabelRef;

/// Runs a test and gives how it ended and the labels that it covers.
pub fn measure(
    program: &Program,
    objectives: &[FunctionObjectives],
    test: &Test,
) -> (lydian_ir::interp::End, BTreeSet<LabelRef>) {
    let mut meter = Meter { program, objectives, covered: BTreeSet::new(), mutants: Vec::new() };
    let outcome = run(program, test, &Options::default(), &mut meter)
        .unwrap_or_else(|error| panic!("{error}: {test:?}"));
    (outcome.end, meter.covered)
}

struct Meter<'a> {
    program: &'a Program,
    objectives: &'a [FunctionObjectives],
    covered: BTreeSet<LabelRef>,
    /// Values of mutants at the last evaluation of their conditions.
    mutants: Vec<Mutant>,
}

/// The value of a mutant: function, decision, condition, expression.
type Mutant = (FuncId, DecisionId, ConditionId, ExprId, Truth);

impl Meter<'_> {
    fn of(&self, view: &View<'_>) -> Option<&FunctionObjectives> {
        self.objectives.iter().find(|objectives| objectives.function == view.function())
    }

    fn pass(&mut self, view: &View<'_>, site: Site, decision: Option<&DecisionEvent>) {
        let Some(objectives) = self.of(view) else { return };
        let mut covered = Vec::new();
        for (id, label) in objectives.labels.iter().filter(|(_, label)| label.site == site) {
            let place =
                Place { program: self.program, view, objectives, decision, mutants: &self.mutants };
            if label.pred.eval(&place).is_true() {
                covered.push(LabelRef { func: view.function(), label: id });
            }
        }
        self.covered.extend(covered);
    }
}

impl Observer for Meter<'_> {
    fn entry(&mut self, view: &View<'_>) {
        self.pass(view, Site::Entry, None);
    }
    fn mark(&mut self, view: &View<'_>, mark: MarkId) {
        self.pass(view, Site::Mark(mark), None);
    }
    fn edge(&mut self, view: &View<'_>, edge: Edge) {
        self.pass(view, Site::Edge(edge), None);
    }
    fn condition(&mut self, view: &View<'_>, origin: &BranchOrigin) {
        let Some(objectives) = self.of(view) else { return };
        let mut wanted = Vec::new();
        for label in objectives.labels.values() {
            if label.site == Site::Decision(origin.decision) {
                mutants_of(&label.pred, origin.condition, &mut wanted);
            }
        }
        let values: Vec<_> = wanted
            .into_iter()
            .map(|expr| {
                let value = view.truth(&objectives.exprs, expr);
                (view.function(), origin.decision, origin.condition, expr, value)
            })
            .collect();
        self.mutants.retain(|entry| {
            (entry.0, entry.1) != (view.function(), origin.decision)
                || !origin.begins && entry.2 != origin.condition
        });
        self.mutants.extend(values);
    }
    fn decision(&mut self, view: &View<'_>, event: &DecisionEvent) {
        self.pass(view, Site::Decision(event.decision), Some(event));
    }
    fn root(&mut self, view: &View<'_>, root: RootId) {
        self.pass(view, Site::Root(root), None);
    }
}

fn mutants_of(pred: &Pred, condition: ConditionId, out: &mut Vec<ExprId>) {
    match pred {
        Pred::Mutant(of, expr) if *of == condition => out.push(*expr),
        Pred::Not(a) => mutants_of(a, condition, out),
        Pred::And(a, b) | Pred::Or(a, b) | Pred::Xor(a, b) => {
            mutants_of(a, condition, out);
            mutants_of(b, condition, out);
        }
        _ => {}
    }
}

struct Place<'a> {
    program: &'a Program,
    view: &'a View<'a>,
    objectives: &'a FunctionObjectives,
    decision: Option<&'a DecisionEvent>,
    mutants: &'a [Mutant],
}

impl Event for Place<'_> {
    fn condition(&self, condition: ConditionId) -> Truth {
        self.decision.map_or(Truth::Unknown, |event| event.values[condition.index()])
    }
    fn reached(&self, condition: ConditionId) -> bool {
        self.decision.is_some_and(|event| event.reached[condition.index()].is_some())
    }
    fn mutant(&self, condition: ConditionId, expr: ExprId) -> Truth {
        let Some(event) = self.decision else { return Truth::Unknown };
        if self.reached(condition) {
            let found = self.mutants.iter().find(|entry| {
                (entry.0, entry.1) == (self.view.function(), event.decision)
                    && (entry.2, entry.3) == (condition, expr)
            });
            return found.map_or(Truth::Unknown, |entry| entry.4);
        }
        let body = self.view.body();
        let pure =
            body.decisions[event.decision].conditions[condition].purity == lydian_ir::Purity::Pure;
        let overflow = lydian_ir::arith::Overflow::Wrap;
        let exprs = &self.objectives.exprs;
        if pure && !lydian_ir::trap::may_trap(self.program, body, exprs, expr, overflow) {
            return self.view.truth(exprs, expr);
        }
        Truth::Unknown
    }
    fn expr(&self, expr: ExprId) -> Truth {
        self.view.truth(&self.objectives.exprs, expr)
    }
}
