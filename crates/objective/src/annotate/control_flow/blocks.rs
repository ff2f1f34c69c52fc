//! FC, STMT, BBC and BC: objectives of the control-flow graph.

use lydian_ir::stmt::{BranchOrigin, Edge, MarkKind, SwitchCase, Terminator};
use lydian_ir::{Block, BlockId, Body, DecisionId, DecisionKind, MarkId, Stmt, StmtId};
use rustc_hash::FxHashSet;

use crate::annotate::context::{Annotator, Context};
use crate::criterion::Criterion;
use crate::decision::predicates::{always_reached, conditions, outcome, reached, signed};
use crate::label::{Pred, Site};
use crate::paths::only_begins_a_loop;

/// FC: the function is entered.
pub(crate) struct FunctionCoverage;

impl Annotator for FunctionCoverage {
    fn criterion(&self) -> Criterion {
        Criterion::Fc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let name = format!("entry of {}", cx.function.name);
        cx.push(Site::Entry, Pred::Const(true), cx.function.span, name);
    }
}

/// STMT: control passes each statement. [000] calls it IC.
pub(crate) struct StatementCoverage;

impl Annotator for StatementCoverage {
    fn criterion(&self) -> Criterion {
        Criterion::Stmt
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let marks: Vec<_> = cx.statement_marks().collect();
        for (mark, span) in marks {
            cx.push(Site::Mark(mark), Pred::Const(true), span, format!("{mark}"));
        }
    }
}

/// BBC: control passes each basic block.
///
/// The objective of a block is at the first thing that the text has in it:
/// - A statement: its mark is passed. A block of the graph that holds only the beginning of a loop
///   has no objective; the part of the loop that runs first has one ([`only_begins_a_loop`]).
/// - A decision, as the test of a loop, to which control comes back: it is evaluated.
/// - A condition that evaluation of its decision may skip: it is evaluated.
/// - An arm of `?:`: the decision has the outcome that leads there.
///
/// If several blocks were lowered from one text, the text counts once. A block with none of these
/// only joins others, as after `?:`: it is reached when one of them is left.
pub(crate) struct BlockCoverage;

impl Annotator for BlockCoverage {
    fn criterion(&self) -> Criterion {
        Criterion::Bbc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let body = cx.body;
        let mut seen = FxHashSet::default();
        for (id, block) in body.blocks.iter() {
            let alone = id != body.entry && only_begins_a_loop(body, id);
            let mark = first_statement(body, block).filter(|mark| !alone && seen.insert(*mark));
            if let Some(mark) = mark {
                let span = body.marks[mark].span;
                cx.push(Site::Mark(mark), Pred::Const(true), span, format!("{id}"));
            }
        }
        for (id, decision) in body.decisions.iter() {
            if begins_a_block(body, id) {
                let name = format!("{id} evaluated");
                cx.push(Site::Decision(id), Pred::Const(true), decision.span, name);
            }
            let always = always_reached(&cx.tree(id));
            for condition in conditions(&cx.tree(id)) {
                if !always.contains(condition) {
                    let span = decision.conditions[condition].span;
                    let name = format!("{id}.{condition} evaluated");
                    cx.push(Site::Decision(id), Pred::Reached(condition), span, name);
                }
            }
            for value in [true, false] {
                if leads_to_an_arm(body, id, value) {
                    let pred = signed(outcome(&cx.tree(id)), value);
                    cx.push(
                        Site::Decision(id),
                        pred,
                        decision.span,
                        format!("arm of {id} {value}"),
                    );
                }
            }
        }
    }
}

/// The first mark of a statement in a block.
fn first_statement(body: &Body, block: &Block) -> Option<MarkId> {
    block.stmts.iter().find_map(|stmt| match &body.stmts[*stmt] {
        Stmt::Mark(mark) if body.marks[*mark].kind == MarkKind::Statement => Some(*mark),
        _ => None,
    })
}

/// The decision and condition with which a block ends.
fn origin(block: &Block) -> Option<&BranchOrigin> {
    match &block.term {
        Terminator::Branch { origin, .. } => origin.as_ref(),
        _ => None,
    }
}

/// Whether a decision is the first text of a block.
fn begins_a_block(body: &Body, decision: DecisionId) -> bool {
    let begins = |block: &Block| {
        origin(block).is_some_and(|origin| origin.decision == decision && origin.begins)
            && first_statement(body, block).is_none()
    };
    body.blocks.values().any(begins)
}

/// Whether an outcome of a tested decision leads to an arm of `?:`: a block that does something and
/// has neither a statement nor a decision.
fn leads_to_an_arm(body: &Body, decision: DecisionId, value: bool) -> bool {
    if body.decisions[decision].kind != DecisionKind::Control {
        return false;
    }
    let to = body.blocks.values().filter_map(|block| match &block.term {
        Terminator::Branch { origin: Some(origin), then_to, else_to, .. }
            if origin.decision == decision =>
        {
            match (origin.then_outcome == Some(value), origin.else_outcome == Some(value)) {
                (true, _) => Some(*then_to),
                (_, true) => Some(*else_to),
                _ => None,
            }
        }
        _ => None,
    });
    let mut arms = to.map(|to| &body.blocks[to]).filter(|block| {
        let acts = |stmt: &StmtId| !matches!(body.stmts[*stmt], Stmt::Enter(_) | Stmt::Leave(_));
        origin(block).is_none() && block.stmts.iter().any(acts)
    });
    arms.any(|block| first_statement(body, block).is_none())
}

/// BC: control takes each edge that leaves a condition or a `switch`.
pub(crate) struct BranchCoverage;

impl Annotator for BranchCoverage {
    fn criterion(&self) -> Criterion {
        Criterion::Bc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let body = cx.body;
        for (id, decision) in body.decisions.iter() {
            let always = always_reached(&cx.tree(id));
            for condition in conditions(&cx.tree(id)) {
                let span = decision.conditions[condition].span;
                for value in [true, false] {
                    let taken = signed(Pred::Cond(condition), value);
                    let pred = Pred::and(reached(&always, condition), taken);
                    let name = format!("{id}.{condition} to {value}");
                    cx.push(Site::Decision(id), pred, span, name);
                }
            }
        }
        for (block, term) in body.blocks.iter().map(|(id, block)| (id, &block.term)) {
            if let Terminator::Switch { cases, .. } = term {
                switch_edges(cx, block, cases);
            }
        }
    }
}

/// A computed `goto` is a switch over labels, which has no `default`.
fn is_computed(cx: &Context<'_>, block: BlockId) -> bool {
    cx.body.source.switches.iter().any(|site| site.block == block && site.computed)
}

fn switch_edges(cx: &mut Context<'_>, from: BlockId, cases: &[SwitchCase]) {
    let computed = is_computed(cx, from);
    for (way, case) in (0..).zip(cases) {
        let name = if computed {
            format!("label {}", case.low)
        } else if case.low == case.high {
            format!("case {}", case.low)
        } else {
            format!("case {} ... {}", case.low, case.high)
        };
        cx.push(Site::Edge(Edge { from, way }), Pred::Const(true), case.span, name);
    }
    if computed {
        return;
    }
    let default = Edge { from, way: cases.len() as u32 };
    let span = cx.body.source.terms[from];
    cx.push(Site::Edge(default), Pred::Const(true), span, "default");
}
