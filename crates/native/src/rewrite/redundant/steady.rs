//! Cells that are stored in each turn of a loop.
//!
//! Compilers move such a store out of the loop, where it costs nothing. They do the same with a
//! store that only some turns make, but then keep in a register whether it was made, which costs
//! as much in each turn, more at the end of the loop, and much time of the compiler.

use lydian_ir::cfg::{Cfg, Dominators, Loops, PostDominators};
use lydian_ir::stmt::{Callee, Edge, Terminator};
use lydian_ir::{BlockId, Body, Expr, ExprId, Linkage, LocalId, LocalKind, Program, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::rewrite::redundant::accesses::for_each_part;
use crate::rewrite::redundant::{Probe, ProbePlace};

/// The cells of probes that stand in each turn of the innermost loop around them. Of probes outside
/// of loops, those that stand in each call, since their function may be inlined into a loop.
///
/// Where `may_be_inlined`, branches that depend on parameters alone count as decided: in a copy
/// for constant arguments they are.
pub(crate) fn steady_cells(
    program: Option<&Program>,
    body: &Body,
    probes: &[Probe],
    may_be_inlined: bool,
) -> Vec<u32> {
    let cfg = Cfg::new(body);
    let dominators = Dominators::new(&cfg);
    let loops = Loops::new(&cfg, &dominators);
    let ends = PostDominators::new(&cfg);
    let fixed = fixed_locals(program, body, may_be_inlined);
    let branches = decided_branches(body, &cfg, &fixed);
    let ways = branches.iter().flat_map(|from| cfg.successors(*from).iter().map(|to| (*to, *from)));
    let decided = ways.filter(|(to, _)| cfg.predecessors(*to).len() == 1).collect();
    let places = Places { body, cfg, dominators, ends, loops, branches, decided };
    let is_steady = |probe: &&Probe| {
        places.blocks_of(&probe.place).is_some_and(|blocks| {
            blocks.iter().all(|block| places.cfg.is_reachable(*block) && places.is_steady(*block))
        })
    };
    let steady = probes.iter().filter(|probe| probe.removable().is_some()).filter(is_steady);
    steady.filter_map(Probe::removable).collect()
}

/// The blocks of a function, and how often they are executed.
struct Places<'a> {
    body: &'a Body,
    cfg: Cfg,
    dominators: Dominators,
    ends: PostDominators,
    loops: Loops,
    /// The blocks that end with decided branches.
    branches: FxHashSet<BlockId>,
    /// The blocks that these lead to and nothing else does, each with the branch's.
    decided: FxHashMap<BlockId, BlockId>,
}

impl Places<'_> {
    /// The blocks of which one is executed exactly when the place is passed, decided branches
    /// taken as given.
    fn blocks_of(&self, place: &ProbePlace) -> Option<Vec<BlockId>> {
        match place {
            ProbePlace::At(block, _) => Some(vec![*block]),
            ProbePlace::Edges(edges) => {
                edges.iter().map(|edge| self.block_of(edges, *edge)).collect()
            }
        }
    }

    fn block_of(&self, edges: &[Edge], edge: Edge) -> Option<BlockId> {
        let to = self.cfg.target(edge)?;
        match (self.cfg.predecessors(to).len(), self.cfg.successors(edge.from).len()) {
            (1, _) if edges.len() == 1 => Some(to),
            (_, 1) if edges.len() == 1 => Some(edge.from),
            _ => self.branches.contains(&edge.from).then_some(edge.from),
        }
    }

    /// Whether a block is executed in each turn or call, decided branches taken as given.
    fn is_steady(&self, block: BlockId) -> bool {
        let mut at = block;
        loop {
            if self.is_in_each_turn(at) {
                return true;
            }
            // Up to the innermost decided branch that leads here, if all ways behind it do.
            let Some((to, from)) = self.innermost_decided(at) else { return false };
            if self.loops.innermost(from) != self.loops.innermost(at)
                || !(to == at || self.ends.post_dominates(at, to))
            {
                return false;
            }
            at = from;
        }
    }

    fn is_in_each_turn(&self, block: BlockId) -> bool {
        match self.loops.innermost(block) {
            None => self.ends.post_dominates(block, self.body.entry),
            Some(around) => {
                let around = &self.loops.loops[around];
                let exits = around.exits.iter().filter(|exit| exit.from != around.header);
                let mut ends = around.back_edges.iter().chain(exits);
                ends.all(|edge| {
                    self.dominators.dominates(block, edge.from)
                        || self.is_decided_beside(edge.from, block)
                })
            }
        }
    }

    /// Whether a decided branch leads to a block that does not lead to another one.
    fn is_decided_beside(&self, mut block: BlockId, other: BlockId) -> bool {
        while let Some((to, from)) = self.innermost_decided(block) {
            if !self.dominators.dominates(to, other) {
                return true;
            }
            block = from;
        }
        false
    }

    /// The innermost decided branch that control passes on the way to a block: the block that it
    /// leads to, and its own.
    fn innermost_decided(&self, block: BlockId) -> Option<(BlockId, BlockId)> {
        let mut at = Some(block);
        while let Some(to) = at {
            if let Some(from) = self.decided.get(&to) {
                return Some((to, *from));
            }
            at = self.dominators.immediate(to);
        }
        None
    }
}

/// The blocks that end with branches on fixed values.
fn decided_branches(body: &Body, cfg: &Cfg, fixed: &FxHashSet<LocalId>) -> FxHashSet<BlockId> {
    let is_decided = |block: &BlockId| {
        let operand = match &body.blocks[*block].term {
            Terminator::Branch { cond, .. } => *cond,
            Terminator::Switch { value, .. } => *value,
            _ => return false,
        };
        is_fixed(body, operand, fixed)
    };
    cfg.reverse_postorder().iter().copied().filter(is_decided).collect()
}

/// The registers whose value follows from constants and parameters: parameters that are never set,
/// and variables that are set once, to such a value or to the result of a function without
/// parameters that computes a constant, as functions that ask for the order of bytes do.
fn fixed_locals(
    program: Option<&Program>,
    body: &Body,
    may_be_inlined: bool,
) -> FxHashSet<LocalId> {
    let mut fixed: FxHashSet<LocalId> = FxHashSet::default();
    let mut set: FxHashMap<LocalId, Vec<Option<ExprId>>> = FxHashMap::default();
    for stmt in body.stmts.values() {
        let mut is_set = |local: &LocalId, value| set.entry(*local).or_default().push(value);
        match stmt {
            Stmt::Assign { dst, value } => is_set(dst, Some(*value)),
            Stmt::Alloca { dst, .. } => is_set(dst, None),
            Stmt::Release { pointer } => is_set(pointer, None),
            Stmt::Call { dst, callee, args, .. } => {
                dst.iter().for_each(|dst| is_set(dst, None));
                if args.is_empty() && program.is_some_and(|of| computes_a_constant(of, callee)) {
                    fixed.extend(dst);
                }
            }
            Stmt::Havoc(havoc) => havoc.registers.iter().for_each(|dst| is_set(dst, None)),
            _ => {}
        }
    }
    fixed.retain(|local| set.get(local).is_some_and(|values| values.len() == 1));
    if may_be_inlined {
        fixed.extend(body.params.iter().filter(|param| !set.contains_key(*param)));
    }
    loop {
        let once = set.iter().filter_map(|(local, values)| match values[..] {
            [Some(value)] if body.locals[*local].kind != LocalKind::Param => Some((*local, value)),
            _ => None,
        });
        let more =
            once.filter(|(local, value)| !fixed.contains(local) && is_fixed(body, *value, &fixed));
        let more: Vec<LocalId> = more.map(|(local, _)| local).collect();
        if more.is_empty() {
            return fixed;
        }
        fixed.extend(more);
    }
}

/// Whether a function of this unit reads and writes nothing but its own variables, and calls nothing.
fn computes_a_constant(program: &Program, callee: &Callee) -> bool {
    let Callee::Direct(callee) = callee else { return false };
    let callee = &program.functions[*callee];
    let Some(body) = callee.body.as_ref().filter(|_| callee.linkage == Linkage::Internal) else {
        return false;
    };
    let is_own = |expr: &Expr| !matches!(expr, Expr::AddrGlobal(_) | Expr::AddrFunc(_));
    body.params.is_empty()
        && body.stmts.values().all(|stmt| !matches!(stmt, Stmt::Call { .. } | Stmt::Havoc(_)))
        && body.exprs.iter().all(|(_, expr)| is_own(expr))
}

fn is_fixed(body: &Body, expr: ExprId, fixed: &FxHashSet<LocalId>) -> bool {
    let mut all = true;
    for_each_part(body, expr, &mut |part| match part {
        Expr::Local(local) => all &= fixed.contains(local),
        Expr::Load { .. } | Expr::LoadBits { .. } | Expr::AddrLocal(_) => all = false,
        _ => {}
    });
    all
}

#[cfg(test)]
mod tests {
    use lydian_base::{Arena, EntityId};
    use lydian_ir::source::FunctionSource;
    use lydian_ir::stmt::{Block, SwitchCase};
    use lydian_ir::{CTypeId, Local, Storage, Type};

    use super::*;

    fn bb(index: usize) -> BlockId {
        BlockId::from_index(index)
    }

    /// A body of blocks with these successors.
    fn body(edges: &[&[usize]]) -> Body {
        let block = |to: &&[usize]| {
            let case = |to: &usize| SwitchCase {
                low: 0,
                high: 0,
                target: bb(*to),
                span: lydian_base::Span::NONE,
            };
            let term = match to {
                [] => Terminator::Return(None),
                [one] => Terminator::Goto(bb(*one)),
                [cases @ .., last] => Terminator::Switch {
                    value: lydian_ir::ExprId::from_index(0),
                    cases: cases.iter().map(case).collect(),
                    default: bb(*last),
                },
            };
            Block { stmts: vec![], term }
        };
        let (mut locals, mut exprs) = (Arena::new(), Arena::new());
        let local = |kind| Local {
            name: String::new(),
            ty: CTypeId::from_index(0),
            kind,
            storage: Storage::Register(Type::Int(32)),
            scope: lydian_base::Span::NONE,
        };
        let (var, param) =
            (locals.push(local(LocalKind::Var)), locals.push(local(LocalKind::Param)));
        exprs.push(Expr::Local(var));
        exprs.push(Expr::Local(param));
        Body {
            params: vec![param],
            locals,
            exprs,
            stmts: Arena::new(),
            blocks: edges.iter().map(block).collect(),
            entry: bb(0),
            decisions: Arena::new(),
            marks: Arena::new(),
            source: FunctionSource::default(),
        }
    }

    #[test]
    fn a_store_in_each_turn_or_call_is_steady_and_one_in_some_is_not() {
        // 0 -> 1: head of a loop; 2: its body, with an arm 3; 4: its last block; 5: behind it, with
        // an arm 6; 7: the end.
        let body = body(&[&[1], &[2, 5], &[3, 4], &[4], &[1], &[6, 7], &[7], &[]]);
        let probe = |block: usize| Probe::at(ProbePlace::At(bb(block), 0), block as u32);
        let on = |from: usize, way: u32, cell: u32| {
            let edge = Edge { from: bb(from), way };
            Probe::on(vec![edge], (cell, 1)).into_iter()
        };
        let mut probes: Vec<Probe> = (0..8).map(probe).collect();
        probes.extend(on(1, 0, 10).chain(on(2, 0, 11)).chain(on(2, 1, 12)).chain(on(5, 1, 13)));
        assert_eq!(steady_cells(None, &body, &probes, false), [0, 1, 2, 4, 5, 7, 10]);
    }

    #[test]
    fn branches_on_parameters_count_as_decided_where_the_function_may_be_inlined() {
        // 0 -> 1: head of a loop; 2: a branch on a parameter, with the arms 3 and 4; 5: a branch on a
        // variable in the first arm; 6: its arm; 7: the last block; 8: the end.
        let mut body = body(&[&[1], &[2, 8], &[3, 4], &[5], &[7], &[6, 7], &[7], &[1], &[]]);
        if let Terminator::Switch { value, .. } = &mut body.blocks[bb(2)].term {
            *value = lydian_ir::ExprId::from_index(1);
        }
        let probe = |block: usize| Probe::at(ProbePlace::At(bb(block), 0), block as u32);
        let probes: Vec<Probe> = (0..9).map(probe).collect();
        assert_eq!(steady_cells(None, &body, &probes, false), [0, 1, 2, 7, 8]);
        assert_eq!(steady_cells(None, &body, &probes, true), [0, 1, 2, 3, 4, 5, 7, 8]);
    }
}
