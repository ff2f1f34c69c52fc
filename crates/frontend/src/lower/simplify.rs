//! Tidies a body that was just lowered: no empty blocks, no chains, no dead blocks but the user's.
//!
//! Dead code that the user wrote stays, since its objectives exist (and are infeasible). Only remains
//! of lowering are dropped: blocks that nothing leads to and that hold no mark and no branch
//! of a decision. Ids of blocks and statements are made dense again, in the order of their making.

use std::collections::BTreeMap;

use lydian_base::{Arena, EntityId, SideTable};
use lydian_ir::decision::Condition;
use lydian_ir::source::{Point, RootKind};
use lydian_ir::{Block, BlockId, Body, Callee, ExprId, MarkKind, Stmt, StmtId, Terminator};
use rustc_hash::FxHashMap;

/// Tidies a body.
pub(super) fn simplify(mut body: Body) -> Body {
    thread_jumps(&mut body);
    merge_chains(&mut body);
    compact(&mut body);
    drop_unused_expressions(&mut body);
    body
}

/// Where an empty block leads in the end.
fn destination(body: &Body, from: BlockId) -> BlockId {
    let mut at = from;
    // A loop of empty blocks has no end: `for (;;) {}`.
    for _ in 0..body.blocks.len() {
        match &body.blocks[at] {
            Block { stmts, term: Terminator::Goto(to) } if stmts.is_empty() && at != body.entry => {
                at = *to;
            }
            _ => return at,
        }
    }
    from
}

/// Lets edges go past empty blocks. The two edges of a branch stay apart.
fn thread_jumps(body: &mut Body) {
    let destinations: Vec<_> = body.blocks.ids().map(|block| destination(body, block)).collect();
    let to = |block: &mut BlockId| *block = destinations[block.index()];
    for (_, block) in body.blocks.iter_mut() {
        match &mut block.term {
            Terminator::Goto(next) => to(next),
            Terminator::Branch { then_to, else_to, .. } => {
                let original = (*then_to, *else_to);
                to(then_to);
                to(else_to);
                if then_to == else_to && original.0 != original.1 {
                    *else_to = original.1;
                    // One of the two may have been the destination itself.
                    if then_to == else_to {
                        *then_to = original.0;
                    }
                }
            }
            Terminator::Switch { cases, default, .. } => {
                cases.iter_mut().for_each(|case| to(&mut case.target));
                to(default);
            }
            Terminator::Return(_) | Terminator::Trap(_) => {}
        }
    }
}

/// Joins a block with its only predecessor where that does nothing but go there.
fn merge_chains(body: &mut Body) {
    let mut predecessors = vec![0usize; body.blocks.len()];
    let live = live_blocks(body);
    for (id, block) in body.blocks.iter() {
        if live[id.index()] {
            block.term.for_each_successor(|next| predecessors[next.index()] += 1);
        }
    }
    let mut moved: FxHashMap<BlockId, BlockId> = FxHashMap::default();
    for id in body.blocks.ids() {
        if !live[id.index()] || moved.contains_key(&id) {
            continue;
        }
        while let Terminator::Goto(next) = body.blocks[id].term {
            let mergeable = next != id
                && next != body.entry
                && predecessors[next.index()] == 1
                && !moved.contains_key(&next);
            if !mergeable {
                break;
            }
            let stmts = std::mem::take(&mut body.blocks[next].stmts);
            body.blocks[id].stmts.extend(stmts);
            body.blocks[id].term =
                std::mem::replace(&mut body.blocks[next].term, Terminator::Goto(next));
            let span = body.source.terms[next];
            body.source.terms.set(id, span);
            moved.insert(next, id);
        }
    }
    let home = |mut block: BlockId| {
        while let Some(to) = moved.get(&block) {
            block = *to;
        }
        block
    };
    for (_, root) in body.source.roots.iter_mut() {
        for point in std::iter::once(&mut root.point).chain(&mut root.copies) {
            if let Point::Term(block) = point {
                *block = home(*block);
            }
        }
    }
    for site in &mut body.source.switches {
        site.block = home(site.block);
    }
}

/// Blocks that are reached from the entry or from dead code that the user wrote.
fn live_blocks(body: &Body) -> Vec<bool> {
    let mut live = vec![false; body.blocks.len()];
    let is_users = |block: &Block| {
        matches!(block.term, Terminator::Branch { origin: Some(_), .. })
            || matches!(block.term, Terminator::Switch { .. })
            || block.stmts.iter().any(|stmt| matches!(body.stmts[*stmt], Stmt::Mark(_)))
    };
    let mut work: Vec<_> =
        body.blocks.iter().filter(|(_, block)| is_users(block)).map(|(id, _)| id).collect();
    work.push(body.entry);
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut live[block.index()], true) {
            body.blocks[block].term.for_each_successor(|next| work.push(next));
        }
    }
    live
}

/// Drops dead blocks and their statements, and renumbers.
fn compact(body: &mut Body) {
    let live = live_blocks(body);
    let mut block_ids: FxHashMap<BlockId, BlockId> = FxHashMap::default();
    for id in body.blocks.ids().filter(|id| live[id.index()]) {
        block_ids.insert(id, BlockId::from_index(block_ids.len()));
    }
    let mut blocks = Arena::new();
    let mut terms = SideTable::default();
    let mut kept = vec![false; body.stmts.len()];
    for (id, block) in body.blocks.iter().filter(|(id, _)| live[id.index()]) {
        let mut block = block.clone();
        block.stmts.iter().for_each(|stmt| kept[stmt.index()] = true);
        block.term.map_successors(|next| block_ids[&next]);
        let new = blocks.push(block);
        terms.set(new, body.source.terms[id]);
    }
    let mut stmt_ids: FxHashMap<StmtId, StmtId> = FxHashMap::default();
    let mut stmts = Arena::new();
    let mut spans = SideTable::default();
    for (id, stmt) in body.stmts.iter().filter(|(id, _)| kept[id.index()]) {
        let new = stmts.push(stmt.clone());
        spans.set(new, body.source.stmts[id]);
        stmt_ids.insert(id, new);
    }
    for (_, block) in blocks.iter_mut() {
        block.stmts.iter_mut().for_each(|stmt| *stmt = stmt_ids[stmt]);
    }
    body.source.copies = kept_copies(&body.source.copies, &stmt_ids);
    let old_roots = std::mem::take(&mut body.source.roots);
    for (_, root) in old_roots.iter() {
        let mut points = root.points().filter_map(|point| match point {
            Point::Stmt(stmt) => stmt_ids.get(&stmt).map(|stmt| Point::Stmt(*stmt)),
            Point::Term(block) => block_ids.get(&block).map(|block| Point::Term(*block)),
        });
        if let Some(point) = points.next() {
            let copies = points.collect();
            body.source.roots.push(lydian_ir::source::Root { point, copies, ..root.clone() });
        }
    }
    body.source.switches.retain_mut(|site| match block_ids.get(&site.block) {
        Some(block) => {
            site.block = *block;
            true
        }
        None => false,
    });
    body.entry = block_ids[&body.entry];
    body.blocks = blocks;
    body.stmts = stmts;
    body.source.stmts = spans;
    body.source.terms = terms;
}

/// The copies that are left, under their new numbers. Where an original is gone, its first copy takes
/// its place.
fn kept_copies(
    copies: &BTreeMap<StmtId, StmtId>,
    stmt_ids: &FxHashMap<StmtId, StmtId>,
) -> BTreeMap<StmtId, StmtId> {
    let mut originals: FxHashMap<StmtId, StmtId> = FxHashMap::default();
    let mut kept = BTreeMap::new();
    for (copy, original) in copies {
        let Some(copy) = stmt_ids.get(copy) else { continue };
        let stands = stmt_ids.get(original).copied();
        let original = *originals.entry(*original).or_insert(stands.unwrap_or(*copy));
        if original != *copy {
            kept.insert(*copy, original);
        }
    }
    kept
}

/// Drops expressions that nothing uses, and renumbers the others in their order.
fn drop_unused_expressions(body: &mut Body) {
    let mut used = vec![false; body.exprs.len()];
    visit_uses(body, |expr| used[expr.index()] = true);
    for id in body.exprs.ids().rev() {
        if used[id.index()] {
            body.exprs[id].for_each_operand(|operand| used[operand.index()] = true);
        }
    }
    let mut ids = vec![ExprId::from_index(0); body.exprs.len()];
    let mut exprs = Arena::new();
    let mut spans = SideTable::default();
    let mut c_types = SideTable::default();
    for (id, expr) in body.exprs.iter().filter(|(id, _)| used[id.index()]) {
        let new = exprs.push(expr.map_operands(|operand| ids[operand.index()]));
        spans.set(new, body.source.exprs[id]);
        c_types.set(new, body.source.c_types[id]);
        ids[id.index()] = new;
    }
    visit_uses(body, |expr| *expr = ids[expr.index()]);
    body.exprs = exprs;
    body.source.exprs = spans;
    body.source.c_types = c_types;
}

/// Calls `visit` with each expression that a body uses.
fn visit_uses(body: &mut Body, mut visit: impl FnMut(&mut ExprId)) {
    for (_, stmt) in body.stmts.iter_mut() {
        visit_statement(stmt, &mut visit);
    }
    for (_, block) in body.blocks.iter_mut() {
        match &mut block.term {
            Terminator::Branch { cond, .. } => visit(cond),
            Terminator::Switch { value, .. } | Terminator::Return(Some(value)) => visit(value),
            Terminator::Goto(_) | Terminator::Return(None) | Terminator::Trap(_) => {}
        }
    }
    for (_, decision) in body.decisions.iter_mut() {
        decision.conditions.iter_mut().for_each(|(_, c)| visit_condition(c, &mut visit));
    }
    for (_, mark) in body.marks.iter_mut() {
        if let MarkKind::UserLabel { predicate, .. } = &mut mark.kind {
            predicate.conditions.iter_mut().for_each(|(_, c)| visit_condition(c, &mut visit));
        }
    }
    for (_, root) in body.source.roots.iter_mut() {
        visit(&mut root.expr);
        if let RootKind::Assigned { addr: Some(addr), .. } = &mut root.kind {
            visit(addr);
        }
    }
}

fn visit_condition(condition: &mut Condition, visit: &mut impl FnMut(&mut ExprId)) {
    visit(&mut condition.expr);
    condition.unreached = condition.unreached.map(|mut expr| {
        visit(&mut expr);
        expr
    });
}

fn visit_statement(stmt: &mut Stmt, visit: &mut impl FnMut(&mut ExprId)) {
    match stmt {
        Stmt::Mark(_) | Stmt::Enter(_) | Stmt::Leave(_) | Stmt::Release { .. } => {}
        Stmt::Alloca { size, .. } => visit(size),
        Stmt::VaStart { list } => visit(list),
        Stmt::VaArg { at, .. } => visit(at),
        Stmt::Havoc(havoc) => havoc.places.iter_mut().for_each(|(addr, _)| visit(addr)),
        Stmt::Assign { value, .. } => visit(value),
        Stmt::Store { addr, value, .. } | Stmt::StoreBits { addr, value, .. } => {
            visit(addr);
            visit(value);
        }
        Stmt::Copy { dst, src, .. } => {
            visit(dst);
            visit(src);
        }
        Stmt::Zero { dst, .. } => visit(dst),
        Stmt::Call { callee, args, dst_addr, .. } => {
            if let Callee::Indirect(pointer) = callee {
                visit(pointer);
            }
            args.iter_mut().for_each(&mut *visit);
            dst_addr.iter_mut().for_each(visit);
        }
    }
}

/// Changing where a terminator leads.
trait MapSuccessors {
    /// Replaces each successor by the result of `map` on it.
    fn map_successors(&mut self, map: impl Fn(BlockId) -> BlockId);
}

impl MapSuccessors for Terminator {
    fn map_successors(&mut self, map: impl Fn(BlockId) -> BlockId) {
        match self {
            Self::Goto(to) => *to = map(*to),
            Self::Branch { then_to, else_to, .. } => {
                *then_to = map(*then_to);
                *else_to = map(*else_to);
            }
            Self::Switch { cases, default, .. } => {
                cases.iter_mut().for_each(|case| case.target = map(case.target));
                *default = map(*default);
            }
            Self::Return(_) | Self::Trap(_) => {}
        }
    }
}
