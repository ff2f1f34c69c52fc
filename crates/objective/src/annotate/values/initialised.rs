//! Definite assignment: the locals that surely have a value before a statement.
//!
//! This is a forward analysis over the body's blocks; where paths meet, a local counts if both
//! assigned it. A parameter is assigned. A register is assigned once it is set, and a memory local
//! once it is written by its own name, until its lifetime begins anew. A write through a pointer does
//! not count.

use lydian_base::SideTable;
use lydian_ir::source::Point;
use lydian_ir::{BlockId, Body, Expr, ExprId, LocalId, Stmt};
use rustc_hash::FxHashSet;

/// The locals that are assigned on every path.
pub(crate) struct Initialised<'a> {
    body: &'a Body,
    /// At the start of each block; `None` for one that no path reaches.
    at_start: SideTable<BlockId, Option<FxHashSet<LocalId>>>,
}

impl<'a> Initialised<'a> {
    /// Analyses a body. Linear in its size times the depth of its loops.
    pub(crate) fn new(body: &'a Body) -> Self {
        let mut this = Self { body, at_start: SideTable::new(None) };
        this.at_start.set(body.entry, Some(body.params.iter().copied().collect()));
        let mut rest = vec![body.entry];
        while let Some(block) = rest.pop() {
            let mut state = this.at_start[block].clone().unwrap_or_default();
            body.blocks[block]
                .stmts
                .iter()
                .for_each(|stmt| this.step(&body.stmts[*stmt], &mut state));
            body.blocks[block].term.for_each_successor(|next| {
                let at_next = this.at_start.get_mut(next);
                let before = at_next.as_ref().map(FxHashSet::len);
                match at_next {
                    None => *at_next = Some(state.clone()),
                    Some(known) => known.retain(|local| state.contains(local)),
                }
                if before != at_next.as_ref().map(FxHashSet::len) {
                    rest.push(next);
                }
            });
        }
        this
    }

    /// The locals that have a value just before a point. Empty where no path leads.
    pub(crate) fn before(&self, point: Point) -> FxHashSet<LocalId> {
        let block = match point {
            Point::Term(block) => Some(block),
            Point::Stmt(stmt) => {
                let mut blocks = self.body.blocks.iter();
                blocks.find(|(_, block)| block.stmts.contains(&stmt)).map(|(id, _)| id)
            }
        };
        let state = block.and_then(|block| self.at_start[block].clone());
        let (Some(block), Some(mut state)) = (block, state) else { return FxHashSet::default() };
        for stmt in &self.body.blocks[block].stmts {
            if point == Point::Stmt(*stmt) {
                break;
            }
            self.step(&self.body.stmts[*stmt], &mut state);
        }
        state
    }

    fn step(&self, stmt: &Stmt, state: &mut FxHashSet<LocalId>) {
        match stmt {
            Stmt::Assign { dst, .. } => {
                state.insert(*dst);
            }
            Stmt::Call { dst, dst_addr, .. } => {
                state.extend(dst);
                state.extend(dst_addr.and_then(|addr| self.named(addr)));
            }
            Stmt::Store { addr, .. } => state.extend(self.named(*addr)),
            Stmt::Copy { dst, .. } | Stmt::Zero { dst, .. } => state.extend(self.named(*dst)),
            Stmt::Enter(local) | Stmt::Leave(local) => {
                state.remove(local);
            }
            Stmt::Alloca { dst, .. } => {
                state.insert(*dst);
            }
            Stmt::VaStart { list } => state.extend(self.named(*list)),
            Stmt::Havoc(havoc) => {
                state.extend(&havoc.registers);
                state.extend(havoc.places.iter().filter_map(|(addr, _)| self.named(*addr)));
            }
            Stmt::Mark(_) | Stmt::StoreBits { .. } | Stmt::Release { .. } | Stmt::VaArg { .. } => {}
        }
    }

    /// The local whose address this is.
    fn named(&self, addr: ExprId) -> Option<LocalId> {
        match self.body.exprs[addr] {
            Expr::AddrLocal(local) => Some(local),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lydian_base::EntityId;
    use lydian_ir::stmt::Terminator;

    #[test]
    fn what_one_branch_assigns_is_not_assigned_where_they_meet() {
        let body = crate::testing::one_armed_assignment();
        let initialised = Initialised::new(&body);
        let join = BlockId::from_index(2);
        let before = initialised.before(Point::Term(join));
        assert!(before.contains(&LocalId::from_index(0)), "the parameter");
        assert!(!before.contains(&LocalId::from_index(1)), "assigned on one path only");
        assert!(matches!(body.blocks[join].term, Terminator::Return(_)));
    }
}
