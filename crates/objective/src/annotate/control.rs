//! FC, STMT, BBC and BC: objectives of the control-flow graph.

use lydian_ir::stmt::{Edge, MarkKind, SwitchCase, Terminator};
use lydian_ir::{BlockId, Stmt};
use rustc_hash::FxHashSet;

use super::{Annotator, Context};
use crate::criterion::Criterion;
use crate::formula::{always_reached, conditions, reached, signed};
use crate::label::{Pred, Site};

/// FC: the function is entered.
pub(super) struct FunctionCoverage;

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
pub(super) struct StatementCoverage;

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
/// A block of the graph that holds a statement's mark is reached where its first such mark is
/// passed. A block that evaluates a condition without a mark before it is reached where the
/// condition is; the decision's first condition is evaluated in the block of the statement. Blocks
/// with neither (the arms of `?:`, joins) are reached exactly along edges that `bc` counts.
pub(super) struct BlockCoverage;

impl Annotator for BlockCoverage {
    fn criterion(&self) -> Criterion {
        Criterion::Bbc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let body = cx.body;
        let mut seen = FxHashSet::default();
        for (id, block) in body.blocks.iter() {
            let mark = block.stmts.iter().find_map(|stmt| match &body.stmts[*stmt] {
                Stmt::Mark(mark) if body.marks[*mark].kind == MarkKind::Statement => Some(*mark),
                _ => None,
            });
            if let Some(mark) = mark.filter(|mark| seen.insert(*mark)) {
                let span = body.marks[mark].span;
                cx.push(Site::Mark(mark), Pred::Const(true), span, format!("{id}"));
            }
        }
        for (id, decision) in body.decisions.iter() {
            let always = always_reached(&decision.tree);
            for condition in conditions(&decision.tree) {
                if !always.contains(condition) {
                    let span = decision.conditions[condition].span;
                    let name = format!("{id}.{condition} evaluated");
                    cx.push(Site::Decision(id), Pred::Reached(condition), span, name);
                }
            }
        }
    }
}

/// BC: control takes each edge that leaves a condition or a `switch`.
pub(super) struct BranchCoverage;

impl Annotator for BranchCoverage {
    fn criterion(&self) -> Criterion {
        Criterion::Bc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let body = cx.body;
        for (id, decision) in body.decisions.iter() {
            let always = always_reached(&decision.tree);
            for condition in conditions(&decision.tree) {
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
