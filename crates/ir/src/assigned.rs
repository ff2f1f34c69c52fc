//! Which registers are surely set where: a forward analysis over the blocks, so that only the
//! others need a flag at run time.

use lydian_base::EntityId;

use crate::program::expr::{Expr, ExprId};
use crate::program::function::{Body, LocalId, Storage};
use crate::program::stmt::{Block, Stmt};

/// Beyond so many words for all blocks nothing is analysed: every register gets a flag.
const MOST_WORDS: usize = 1 << 21;

/// A set of locals.
pub(crate) type Set = Vec<u64>;

/// Which registers are set on every path.
pub(crate) struct DefiniteAssignment {
    /// At the start of each block; empty where nothing was analysed.
    at: Vec<Set>,
    /// Registers that may be read unset.
    pub(crate) uncertain: Vec<bool>,
}

pub(crate) fn contains(set: &Set, local: LocalId) -> bool {
    set.get(local.index() / 64).is_some_and(|word| word >> (local.index() % 64) & 1 != 0)
}

pub(crate) fn insert(set: &mut Set, local: LocalId) {
    if let Some(word) = set.get_mut(local.index() / 64) {
        *word |= 1 << (local.index() % 64);
    }
}

/// The register that a statement sets.
pub(crate) const fn target(stmt: &Stmt) -> Option<LocalId> {
    match stmt {
        Stmt::Assign { dst, .. } | Stmt::Alloca { dst, .. } => Some(*dst),
        Stmt::Call { dst, .. } => *dst,
        Stmt::Release { pointer } => Some(*pointer),
        _ => None,
    }
}

impl DefiniteAssignment {
    /// Linear in the body, but for loops that are entered in several places.
    pub(crate) fn new(body: &Body) -> Self {
        let words = body.locals.len().div_ceil(64);
        if words * body.blocks.len() > MOST_WORDS {
            return Self::nothing_known(body);
        }
        let mut at = vec![vec![u64::MAX; words]; body.blocks.len()];
        let mut entry = vec![0; words];
        body.params.iter().for_each(|param| insert(&mut entry, *param));
        at[body.entry.index()] = entry;
        let mut work = vec![body.entry];
        let mut waiting = vec![false; body.blocks.len()];
        let mut seen = waiting.clone();
        seen[body.entry.index()] = true;
        while let Some(block) = work.pop() {
            waiting[block.index()] = false;
            let mut set = at[block.index()].clone();
            for stmt in &body.blocks[block].stmts {
                target(&body.stmts[*stmt]).into_iter().for_each(|dst| insert(&mut set, dst));
            }
            body.blocks[block].term.for_each_successor(|to| {
                let mut changed = !std::mem::replace(&mut seen[to.index()], true);
                for (to, from) in at[to.index()].iter_mut().zip(&set) {
                    changed |= *to & !from != 0;
                    *to &= from;
                }
                if changed && !std::mem::replace(&mut waiting[to.index()], true) {
                    work.push(to);
                }
            });
        }
        let mut found = Self { at, uncertain: vec![false; body.locals.len()] };
        found.find_uncertain(body);
        found
    }

    /// Nothing is known of any register but the parameters.
    pub(crate) fn nothing_known(body: &Body) -> Self {
        let is_register = |id: LocalId| matches!(body.locals[id].storage, Storage::Register(_));
        let mut uncertain: Vec<bool> = body.locals.ids().map(is_register).collect();
        body.params.iter().for_each(|param| uncertain[param.index()] = false);
        Self { at: Vec::new(), uncertain }
    }

    /// The registers that are set at the start of a block.
    pub(crate) fn at(&self, block: usize) -> Set {
        self.at.get(block).cloned().unwrap_or_default()
    }

    fn find_uncertain(&mut self, body: &Body) {
        let mut seen = vec![0u32; body.exprs.len()];
        let mut stamp = 0;
        for (id, block) in body.blocks.iter() {
            let mut set = self.at(id.index());
            self.in_block(body, block, &mut set, &mut seen, &mut stamp);
        }
    }

    fn in_block(
        &mut self,
        body: &Body,
        block: &Block,
        set: &mut Set,
        seen: &mut [u32],
        stamp: &mut u32,
    ) {
        *stamp += 1;
        let mut work: Vec<ExprId> = Vec::new();
        for stmt in &block.stmts {
            let stmt = &body.stmts[*stmt];
            stmt.for_each_expr(|expr| work.push(expr));
            self.uses(body, set, &mut work, seen, *stamp);
            if let Stmt::Release { pointer } = stmt {
                self.uncertain[pointer.index()] |= !contains(set, *pointer);
            }
            if let Some(dst) = target(stmt) {
                insert(set, dst);
            }
        }
        work.extend(block.term.operand());
        self.uses(body, set, &mut work, seen, *stamp);
    }

    /// What was seen before in this block had fewer registers set, so it need not be seen again.
    fn uses(
        &mut self,
        body: &Body,
        set: &Set,
        work: &mut Vec<ExprId>,
        seen: &mut [u32],
        stamp: u32,
    ) {
        while let Some(expr) = work.pop() {
            if std::mem::replace(&mut seen[expr.index()], stamp) == stamp {
                continue;
            }
            match &body.exprs[expr] {
                Expr::Local(local) => self.uncertain[local.index()] |= !contains(set, *local),
                other => other.for_each_operand(|operand| work.push(operand)),
            }
        }
    }
}
