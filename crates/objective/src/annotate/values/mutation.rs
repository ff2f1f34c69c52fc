//! WM: one objective for each weak mutant ([000] III-B, Theorem 2).
//!
//! A mutant differs from the program in one operator, constant, operand or assigned variable, and
//! neither has nor adds an effect. Its label is true exactly where the states of program and mutant
//! differ right after the mutated place:
//!
//! | mutated | label |
//! |---|---|
//! | a whole expression `e`, used as a value, to `e'` | `e != e'` |
//! | a condition `c` of a decision `D` to `c'` | `c ^ c'`, while `c` decides `D`: that is `D != D[c := c']` |
//! | a Boolean operator of a decision `D` | `D != D'` |
//! | the address of a write to another | the addresses differ |
//! | the variable in `v = e` to `v'` | `v != e` or `v' != e`, with the old values of both |
//! | the variable in `v op= e`, `v++` to `v'` | `v != v op e` or `v' != v' op e`, with the old values |
//!
//! Floats differ as values: the two zeros are one, and so are all NaNs. A label is unknown where
//! its mutant traps, so a mutant is not covered by making it trap.
//!
//! | operator | mutants |
//! |---|---|
//! | ABS | a signed or float `e` to its absolute value, and to minus that |
//! | AOR | `+ - * / %` among each other (floats: without `%`; `++` and `--` to each other only) |
//! | ROR | a comparison to each other one, to true and to false (`==` and `!=` of pointers: to each other, true and false) |
//! | COR | `a && b` to `a \|\| b`, `a`, `b`, true, false; `a \|\| b` likewise |
//! | LOR | `& \| ^` among each other |
//! | SOR | `<<` and `>>` to each other |
//! | UOI | `e` to `-e`, `~e`, `!e`, `e + 1`, `e - 1`; a condition that is no comparison of integers (where ROR has the opposite) to `!c` |
//! | CRO | a number to 0, 1, -1 |
//! | LHS | an assigned or updated variable to others of its type |
//!
//! Only operators and operands that the user wrote are mutated. Conversions, tests against zero and
//! the scaling of subscripts are implied by C and are left alone, and an expression without a text of
//! its own counts as implied. Addresses get no arithmetic operator, but the indices in them do. Where
//! a narrow integer is promoted, ABS and UOI apply to the promoted value.
//!
//! ABS and UOI leave constants to CRO, and a mutant that is equal by construction (`x + 0` to `x -
//! 0`) is not made. A mutant has the type that C gives to its text, so that `!u` is an `int`, and the
//! expression around it is converted anew ([`conversions`]).
//!
//! LHS takes the [`crate::annotate::Request::replaced_targets`] variables declared nearest before the
//! assignment: locals, then globals, that are in scope and not shadowed there. Locals must have been
//! assigned on every path before, and so must `v` itself, since old values would else be
//! indeterminate. So an initialiser has no such mutant.

use lydian_base::Span;
use lydian_ir::device::volatile_addresses;
use lydian_ir::source::Point;
use lydian_ir::source::{Root, RootId, RootKind};
use lydian_ir::{BoolTree, ConditionId, DecisionId, Expr, ExprId, LocalId, LocalKind, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};

use super::initialised::Initialised;
use crate::annotate::context::{Annotator, Context};
use crate::criterion::Criterion;
use crate::dataflow::def_use::Variable;
use crate::decision::predicates::{active_conditions, for_each_node, outcome};
use crate::label::{Pred, Site};
pub(crate) use operators::is_written;
pub use operators::operand_made_absolute;
pub(in crate::annotate) use operators::{
    Mutant, compares_integers, mutants, mutants_with_leaves_alike,
};

mod conversions;
mod operators;

pub(crate) struct WeakMutation;

/// Strong mutants are texts, and have no labels.
pub(crate) struct StrongMutation;

impl Annotator for StrongMutation {
    fn criterion(&self) -> Criterion {
        Criterion::Sm
    }

    fn annotate(&self, _: &mut Context<'_>) {}
}

impl Annotator for WeakMutation {
    fn criterion(&self) -> Criterion {
        Criterion::Wm
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let body = cx.body;
        let mut decides = DecidingPredicates::default();
        let initialised = Initialised::new(body);
        let volatile = volatile_variables(cx);
        for (id, root) in cx.rewritable_roots() {
            match root.kind {
                RootKind::Value | RootKind::Address => values(cx, id, root),
                RootKind::Assigned { local, addr } => {
                    values(cx, id, root);
                    if let Some(variable) = assigned_variable(cx, local, addr) {
                        let target = AssignedVariable { variable, old_value: None };
                        replace_target(cx, id, root, target, &initialised, &volatile);
                    }
                }
                RootKind::Update => {
                    values(cx, id, root);
                    if let Some((variable, path)) = updated_variable(cx, root) {
                        let target = AssignedVariable { variable, old_value: Some(&path) };
                        replace_target(cx, id, root, target, &initialised, &volatile);
                    }
                }
                RootKind::Condition { decision, condition } => {
                    let decides = decides.get(cx, decision, condition);
                    let mutants = mutants(cx, root);
                    mutants_of_condition(cx, root, (decision, condition), &decides, mutants, "");
                }
            }
        }
        for id in body.decisions.ids() {
            connectives(cx, id);
        }
    }
}

/// The predicates where conditions decide their decisions. Each decision is analysed once.
#[derive(Default)]
pub(in crate::annotate) struct DecidingPredicates(
    FxHashMap<DecisionId, FxHashMap<ConditionId, Pred>>,
);

impl DecidingPredicates {
    pub(in crate::annotate) fn get(
        &mut self,
        cx: &Context<'_>,
        decision: DecisionId,
        condition: ConditionId,
    ) -> Pred {
        let conditions = self
            .0
            .entry(decision)
            .or_insert_with(|| active_conditions(&cx.tree(decision)).into_iter().collect());
        conditions.get(&condition).cloned().unwrap_or(Pred::Const(false))
    }
}

/// Mutants of a value or an address: it differs.
fn values(cx: &mut Context<'_>, id: RootId, root: &Root) {
    for Mutant { expr, name, span } in mutants(cx, root) {
        let pred = cx.exprs.differ(root.expr, expr);
        cx.push(Site::Root(id), pred, span, name);
    }
}

/// Mutants of a condition: its value differs, and decides the outcome. Their names begin with `prefix`.
pub(in crate::annotate) fn mutants_of_condition(
    cx: &mut Context<'_>,
    root: &Root,
    (decision, condition): (DecisionId, ConditionId),
    decides: &Pred,
    mutants: Vec<Mutant>,
    prefix: &str,
) {
    let site = Site::Decision(decision);
    for Mutant { expr, name, span } in mutants {
        let mutant = match cx.exprs.arena()[expr] {
            Expr::Const(_, bits) => Pred::Const(bits & 1 == 1),
            _ => Pred::Mutant(condition, expr),
        };
        let differs = Pred::xor(Pred::Cond(condition), mutant);
        cx.push(site, Pred::and(differs, decides.clone()), span, format!("{prefix}{name}"));
    }
    if !compares_integers(cx, root.expr) {
        // Where the condition decides, its negation changes the outcome whatever its value.
        cx.push(site, decides.clone(), root.span, format!("{prefix}UOI !"));
    }
}

/// COR: each `&&` and `||` of a decision replaced. Replacing `N` by `N'` changes the outcome if the
/// two differ and the outcome depends on them. The exclusive or of `N` and `N'` is written in its
/// shortest form.
fn connectives(cx: &mut Context<'_>, id: DecisionId) {
    let decision = &cx.body.decisions[id];
    let mut found = Vec::new();
    for_each_node(&cx.tree(id), &mut |node, decides| {
        let (symbol, other, a, b) = match node {
            BoolTree::And(a, b) => ("&&", "||", outcome(a), outcome(b)),
            BoolTree::Or(a, b) => ("||", "&&", outcome(a), outcome(b)),
            _ => return,
        };
        let and = symbol == "&&";
        // Where `a && b` differs from `a`, `a` is true and `b` is not; `||` is the dual.
        let differs_from = |kept: &Pred, dropped: &Pred| match and {
            true => Pred::and(kept.clone(), Pred::not(dropped.clone())),
            false => Pred::and(Pred::not(kept.clone()), dropped.clone()),
        };
        let value = outcome(node);
        let alternatives = [
            (other, Pred::xor(a.clone(), b.clone())),
            ("left", differs_from(&a, &b)),
            ("right", differs_from(&b, &a)),
            ("true", Pred::not(value.clone())),
            ("false", value),
        ];
        for (name, differs) in alternatives {
            let pred = Pred::and(differs, decides.clone());
            found.push((pred, format!("COR {symbol} -> {name}")));
        }
    });
    for (pred, name) in found {
        cx.push(Site::Decision(id), pred, decision.span, name);
    }
}

/// The left-hand side of an assignment or update.
#[derive(Clone, Copy)]
struct AssignedVariable<'p> {
    variable: Variable,
    /// For an update, the path in its expression to the variable's old value.
    old_value: Option<&'p [(ExprId, usize)]>,
}

/// LHS: the assignment goes to another variable. An update then starts from the other variable's old
/// value.
fn replace_target(
    cx: &mut Context<'_>,
    id: RootId,
    root: &Root,
    AssignedVariable { variable, old_value: updated }: AssignedVariable<'_>,
    initialised: &Initialised<'_>,
    volatile: &FxHashSet<Variable>,
) {
    let assigned = initialised.before(root.point);
    let has_value = |variable: Variable| match variable {
        Variable::Local(local) => assigned.contains(&local),
        Variable::Global(_) => true,
    };
    if !has_value(variable) || volatile.contains(&variable) || writes_volatile(cx, root.point) {
        return;
    }
    let others: Vec<(Variable, String)> = others_in_scope(cx, variable, root.span)
        .into_iter()
        .filter(|(other, _)| has_value(*other) && !volatile.contains(other))
        .take(cx.request.replaced_targets)
        .collect();
    let (_, name) = described(cx, variable);
    for (other, other_name) in others {
        let old = old_value(cx, variable, root.expr);
        let old_other = old_value(cx, other, root.expr);
        let keeps = cx.exprs.differ(old, root.expr);
        let new_other = updated.map_or(root.expr, |path| cx.exprs.replace(path, old_other));
        let spoils = cx.exprs.differ(old_other, new_other);
        let pred = Pred::or(keeps, spoils);
        cx.push(Site::Root(id), pred, root.span, format!("LHS {name} -> {other_name}"));
    }
}

/// The variable of an assignment to a local or to an address; `None` if that is no variable by its form.
fn assigned_variable(
    cx: &Context<'_>,
    local: Option<LocalId>,
    addr: Option<ExprId>,
) -> Option<Variable> {
    match (local, addr) {
        (Some(local), _) => Some(Variable::Local(local)),
        (None, Some(addr)) => match cx.exprs.arena()[addr] {
            Expr::AddrGlobal(global) => Some(Variable::Global(global)),
            _ => None,
        },
        (None, None) => None,
    }
}

/// The variable that `v op= e`, `v++` and the like update, and the path to its old value in the
/// expression of the new one: the innermost of the left operands.
fn updated_variable(cx: &Context<'_>, root: &Root) -> Option<(Variable, Vec<(ExprId, usize)>)> {
    let arena = cx.exprs.arena();
    let (mut at, mut path) = (root.expr, Vec::new());
    let variable = loop {
        let next = match &arena[at] {
            Expr::Local(local) => break Variable::Local(*local),
            Expr::Load { addr, .. } => match arena[*addr] {
                Expr::AddrLocal(local) => break Variable::Local(local),
                Expr::AddrGlobal(global) => break Variable::Global(global),
                _ => return None,
            },
            Expr::Cast(_, _, inner) => *inner,
            Expr::Binary(_, left, _) | Expr::Cmp(_, left, _) | Expr::Index { base: left, .. } => {
                *left
            }
            _ => return None,
        };
        path.push((at, 0));
        at = next;
    };
    writes(cx, root.point, variable).then_some((variable, path))
}

/// Whether the statement at a point writes a variable by its name. If that statement only keeps the
/// value, one of the next two may write it.
fn writes(cx: &Context<'_>, point: Point, variable: Variable) -> bool {
    let Point::Stmt(first) = point else { return false };
    let blocks = cx.body.blocks.values();
    let from = blocks.filter_map(|block| {
        block.stmts.iter().position(|stmt| *stmt == first).map(|at| &block.stmts[at..])
    });
    let mut near = from.flat_map(|stmts| stmts.iter().take(3));
    near.any(|stmt| match (&cx.body.stmts[*stmt], variable) {
        (Stmt::Assign { dst, .. }, Variable::Local(local)) => *dst == local,
        (Stmt::Store { addr, .. }, Variable::Local(local)) => {
            cx.body.exprs[*addr] == Expr::AddrLocal(local)
        }
        (Stmt::Store { addr, .. }, Variable::Global(global)) => {
            cx.body.exprs[*addr] == Expr::AddrGlobal(global)
        }
        _ => false,
    })
}

/// A variable's C type and name.
fn described(cx: &Context<'_>, variable: Variable) -> (lydian_ir::CTypeId, String) {
    match variable {
        Variable::Local(id) => (cx.body.locals[id].ty, cx.body.locals[id].name.clone()),
        Variable::Global(id) => (cx.program.globals[id].ty, cx.program.globals[id].name.clone()),
    }
}

/// The value of a variable, with the type of the assigned expression.
fn old_value(cx: &mut Context<'_>, variable: Variable, assigned: ExprId) -> ExprId {
    let ty = cx.exprs.type_of(assigned);
    match variable {
        Variable::Local(local) => cx.exprs.local_value(local, ty),
        Variable::Global(global) => {
            let addr = cx.exprs.make(&Expr::AddrGlobal(global));
            cx.exprs.make(&Expr::Load { ty, addr, volatile: false })
        }
    }
}

/// Other variables of the same C type that a text can name, the one declared nearest before first.
fn others_in_scope(cx: &Context<'_>, target: Variable, at: Span) -> Vec<(Variable, String)> {
    let (ty, target_name) = described(cx, target);
    let visible = |local: &lydian_ir::Local| {
        local.kind != LocalKind::Temp && !local.name.is_empty() && local.scope.contains(at)
    };
    let mut by_name: FxHashMap<&str, LocalId> = FxHashMap::default();
    for (id, local) in cx.body.locals.iter().filter(|(_, local)| visible(local)) {
        // Of two variables with one name the inner one is meant, whose scope begins later.
        let entry = by_name.entry(local.name.as_str()).or_insert(id);
        if cx.body.locals[*entry].scope.start < local.scope.start {
            *entry = id;
        }
    }
    let mut locals: Vec<LocalId> = by_name.values().copied().collect();
    locals.sort_by_key(|id| std::cmp::Reverse((cx.body.locals[*id].scope.start, *id)));
    let globals = cx.program.globals.iter().rev().filter(|(_, global)| {
        let declared_before = global.span.start < at.start;
        // Names with a dot are those of literals and static locals, which C cannot name here.
        declared_before && !global.read_only && !global.name.contains('.')
    });
    let globals = globals.filter(|(_, global)| !by_name.contains_key(global.name.as_str()));
    let variables = locals.into_iter().map(Variable::Local);
    variables
        .chain(globals.map(|(id, _)| Variable::Global(id)))
        .map(|variable| (variable, described(cx, variable)))
        .filter(|(variable, (other, name))| {
            *variable != target && *other == ty && *name != target_name
        })
        .map(|(variable, (_, name))| (variable, name))
        .collect()
}

/// Local variables of the body, and variables of the program, that are accessed as volatile. Their old
/// values may not be read.
fn volatile_variables(cx: &Context<'_>) -> FxHashSet<Variable> {
    let local = |addr| match cx.body.exprs[addr] {
        Expr::AddrLocal(local) => Some(Variable::Local(local)),
        _ => None,
    };
    let locals = volatile_addresses(cx.body).filter_map(local);
    let globals = cx.shared.volatile().iter().copied().map(Variable::Global);
    locals.chain(globals).collect()
}

fn writes_volatile(cx: &Context<'_>, point: Point) -> bool {
    match point {
        Point::Stmt(stmt) => matches!(cx.body.stmts[stmt], Stmt::Store { volatile: true, .. }),
        Point::Term(_) => false,
    }
}
