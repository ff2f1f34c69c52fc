//! Observers of runs, and their view of the state.

use std::cell::RefCell;

use lydian_base::{Arena, EntityId};

use super::code::Code;
use super::layout::Home;
use super::memory::Memory;
use super::plan::{EvalContext, Plan, Value};
use crate::program::decision::{BoolTree, Condition, ConditionId, Decision, DecisionId, Truth};
use crate::program::expr::{ExprArena, ExprId};
use crate::program::function::{Body, LocalId};
use crate::program::source::RootId;
use crate::program::stmt::{BlockId, BranchOrigin, Edge, MarkId, StmtId, TrapKind};
use crate::program::{FuncId, GlobalId, Program};

/// The state at a place of a run: the running call's registers and locals, and all memory.
pub struct View<'a> {
    pub(super) program: &'a Program,
    pub(super) code: &'a Code<'a>,
    pub(super) depth: usize,
    pub(super) undefined: bool,
    pub(super) context: EvalContext<'a>,
    pub(super) scratch: RefCell<Vec<u128>>,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "View({})", self.code.function)
    }
}

/// One evaluation of a decision, told at its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionEvent {
    /// The decision.
    pub decision: DecisionId,
    /// Its outcome.
    pub outcome: bool,
    /// For each condition its value where it was reached.
    pub reached: Vec<Option<bool>>,
}

impl DecisionEvent {
    /// A condition's value: as evaluated where it was reached; else on the state at the outcome, which
    /// the view that comes with the event shows, if it is pure; else unknown.
    pub fn value(&self, view: &View<'_>, condition: ConditionId) -> Truth {
        match self.reached[condition.index()] {
            Some(value) => Truth::from(value),
            None => view.unreached(&view.code.body.decisions[self.decision].conditions[condition]),
        }
    }
}

/// Hears of every place that labels can stand at. All functions do nothing by default.
pub trait Observer {
    /// Whether it listens at all. Where it does not, none of its other functions but
    /// [`Observer::stops`] is called, and the run costs nothing for it.
    fn listens(&self) -> bool {
        true
    }
    /// Whether it hears of every statement and block too, which few observers need.
    fn hears_statements(&self) -> bool {
        false
    }
    /// Whether the run is to stop, asked each time that some millions of steps were taken, even where it
    /// does not listen. Then the run ends with [`StopReason::Cancelled`](lydian_base::StopReason).
    fn stops(&mut self) -> bool {
        false
    }
    /// A function is entered, its parameters being set.
    fn entry(&mut self, view: &View<'_>) {
        let _ = view;
    }
    /// Control passes a mark.
    fn mark(&mut self, view: &View<'_>, mark: MarkId) {
        let _ = (view, mark);
    }
    /// An edge is taken.
    fn edge(&mut self, view: &View<'_>, edge: Edge) {
        let _ = (view, edge);
    }
    /// A condition is about to be evaluated by a branch.
    fn condition(&mut self, view: &View<'_>, origin: &BranchOrigin) {
        let _ = (view, origin);
    }
    /// A decision has its outcome; the edge that ends it is not yet taken.
    fn decision(&mut self, view: &View<'_>, event: &DecisionEvent) {
        let _ = (view, event);
    }
    /// A root is about to be evaluated: none of those before it at its place traps.
    fn root(&mut self, view: &View<'_>, root: RootId) {
        let _ = (view, root);
    }
    /// A statement is about to run, if [`Observer::hears_statements`].
    fn statement(&mut self, view: &View<'_>, stmt: StmtId) {
        let _ = (view, stmt);
    }
    /// Control enters a block, if [`Observer::hears_statements`].
    fn block(&mut self, view: &View<'_>, block: BlockId) {
        let _ = (view, block);
    }
}

/// The places of a run at which there are events for an observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EventLevel {
    /// Nothing.
    Nothing,
    /// The places that most labels stand at.
    Places,
    /// Statements and blocks too.
    Statements,
}

impl EventLevel {
    /// How many levels there are.
    pub(super) const COUNT: usize = 3;

    /// The events for an observer.
    pub(super) fn of(observer: &dyn Observer) -> Self {
        match (observer.listens(), observer.hears_statements()) {
            (false, _) => Self::Nothing,
            (true, false) => Self::Places,
            (true, true) => Self::Statements,
        }
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn listens(&self) -> bool {
        false
    }
}

fn truth_of(value: Result<Value, TrapKind>) -> Truth {
    let value = value.ok().filter(|value| !value.uninitialised);
    Truth::from(value.map(|value| value.bits != 0))
}

impl View<'_> {
    /// The function that runs.
    pub fn function(&self) -> FuncId {
        self.code.function
    }

    /// Its body.
    pub fn body(&self) -> &Body {
        self.code.body
    }

    /// How many calls are open, this one among them.
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// Whether the run has used a value that was never written, so that what it does from there on
    /// is not defined.
    pub const fn is_undefined(&self) -> bool {
        self.undefined
    }

    /// Where a local of the running call lies in memory, and how many bytes it has; `None` for a
    /// register.
    pub fn place_of_local(&self, local: LocalId) -> Option<(u64, u64)> {
        match self.context.layout.home(local) {
            Home::Memory { offset, size } => {
                Some((self.context.frame + u64::from(offset), u64::from(size)))
            }
            Home::Near(_) | Home::Far(_) => None,
        }
    }

    /// Where a global lies, and how many bytes it has.
    pub fn place_of_global(&self, global: GlobalId) -> Option<(u64, u64)> {
        let size = self.program.globals[global].size;
        Some((self.context.memory.global_address(global), size))
    }

    /// All memory.
    pub fn memory(&self) -> &Memory {
        self.context.memory
    }

    /// The value of an expression of `arena`, which is the body's or extends it. Prepares it anew;
    /// keep a [`Plan`] for what is evaluated often.
    ///
    /// # Errors
    /// The trap that evaluating it gives.
    pub fn eval(&self, arena: &ExprArena, expr: ExprId) -> Result<Value, TrapKind> {
        self.eval_plan(&Plan::new(self.program, arena, &self.code.body.types_in(arena), expr))
    }

    /// The truth of a condition of the body's.
    fn condition(&self, expr: ExprId) -> Truth {
        truth_of(self.eval_plan(self.code.plan_of(self.program, expr)))
    }

    /// The value of a prepared expression of this function.
    ///
    /// # Errors
    /// The trap that evaluating it gives.
    pub fn eval_plan(&self, plan: &Plan) -> Result<Value, TrapKind> {
        plan.eval(&self.context, &mut self.scratch.borrow_mut())
    }

    /// The truth of an `i1` expression, unknown where evaluating it traps or uses what was never
    /// written.
    pub fn truth(&self, arena: &ExprArena, expr: ExprId) -> Truth {
        truth_of(self.eval(arena, expr))
    }

    /// The truth of a prepared `i1` expression of this function, as for [`View::truth`].
    pub fn truth_of_plan(&self, plan: &Plan) -> Truth {
        truth_of(self.eval_plan(plan))
    }

    /// Whether the value of a prepared expression depends on memory that was never written.
    pub fn is_unwritten(&self, plan: &Plan) -> bool {
        self.eval_plan(plan).is_ok_and(|value| value.uninitialised)
    }

    /// Whether a user label's predicate holds here. Pure conditions have their value; the others
    /// have theirs where short-circuit evaluation reaches them.
    pub fn user_label(&self, predicate: &Decision) -> Truth {
        self.tree(&predicate.tree, &predicate.conditions, true)
    }

    fn tree(
        &self,
        tree: &BoolTree,
        conditions: &Arena<ConditionId, Condition>,
        reached: bool,
    ) -> Truth {
        let at = |tree: &BoolTree, reached| self.tree(tree, conditions, reached);
        match tree {
            BoolTree::Const(value) => Truth::from(*value),
            BoolTree::Cond(id) => {
                let condition = &conditions[*id];
                match reached {
                    true => self.condition(condition.expr),
                    false => self.unreached(condition),
                }
            }
            BoolTree::Not(a) => !at(a, reached),
            BoolTree::And(a, b) => {
                let a = at(a, reached);
                a.and(at(b, reached && a == Truth::True))
            }
            BoolTree::Or(a, b) => {
                let a = at(a, reached);
                a.or(at(b, reached && a == Truth::False))
            }
            BoolTree::BitAnd(a, b) => at(a, reached).and(at(b, reached)),
            BoolTree::BitOr(a, b) => at(a, reached).or(at(b, reached)),
            BoolTree::Eq(a, b) => !at(a, reached).xor(at(b, reached)),
            BoolTree::Xor(a, b) => at(a, reached).xor(at(b, reached)),
            BoolTree::Ite(c, a, b) => {
                let c = at(c, reached);
                let a = at(a, reached && c == Truth::True);
                let b = at(b, reached && c == Truth::False);
                match c {
                    Truth::True => a,
                    Truth::False => b,
                    Truth::Unknown if a == b => a,
                    Truth::Unknown => Truth::Unknown,
                }
            }
        }
    }

    /// A condition that was not reached, on this state.
    fn unreached(&self, condition: &Condition) -> Truth {
        condition.unreached.expr().map_or(Truth::Unknown, |expr| self.condition(expr))
    }
}
