//! Which bits of local variables are surely written at the end of each block.
//!
//! A forward analysis: where ways meet, what all of them have written. A register is written by what
//! sets it; a variable in memory by what writes to it by its name at a constant place, until its
//! life begins anew. What is written through a pointer, or by a function that gets the address, may
//! be written and may not, so it does not count; nor do elements whose subscript is not constant.

use std::collections::BTreeMap;

use lydian_base::SideTable;
use rustc_hash::FxHashSet;

use super::{Region, Variable, place};
use crate::program::Program;
use crate::program::expr::{Expr, ExprId};
use crate::program::function::{Body, LocalId, Storage};
use crate::program::stmt::{BlockId, Callee, Stmt};

/// Bits of one variable: disjoint ranges that do not touch, by their first bit.
type Ranges = BTreeMap<u64, u64>;

/// The variables that are written: registers as one bit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    written: BTreeMap<LocalId, Ranges>,
}

/// The bits of the variables of interest that are written on every path.
pub(super) struct WrittenVariables {
    /// At the end of each block; `None` for one that no way leads to.
    at_end: SideTable<BlockId, Option<State>>,
}

impl WrittenVariables {
    /// Analyses a body for the variables of some regions.
    pub(super) fn new<'r>(
        program: &Program,
        body: &Body,
        asked: impl Iterator<Item = &'r Region>,
    ) -> Self {
        let asked = asked.filter_map(|region| match region.of {
            Variable::Register(local) | Variable::Local(local) => Some(local),
            Variable::Global(_) => None,
        });
        let mut step = Step { program, body, asked: asked.collect() };
        step.ask_for_sources();
        let mut at_start: SideTable<BlockId, Option<State>> = SideTable::new(None);
        let mut at_end = SideTable::new(None);
        at_start.set(body.entry, Some(State::default()));
        let mut rest = vec![body.entry];
        while let Some(block) = rest.pop() {
            let mut state = at_start[block].clone().unwrap_or_default();
            for stmt in &body.blocks[block].stmts {
                step.take(&body.stmts[*stmt], &mut state);
            }
            body.blocks[block].term.for_each_successor(|next| {
                let merged = match &at_start[next] {
                    None => state.clone(),
                    Some(known) => known.common(&state),
                };
                if at_start[next].as_ref() != Some(&merged) {
                    at_start.set(next, Some(merged));
                    rest.push(next);
                }
            });
            at_end.set(block, Some(state));
        }
        Self { at_end }
    }

    /// Whether a region is written at the end of a block. Where no way leads, everything is.
    pub(super) fn has(&self, block: BlockId, region: &Region) -> bool {
        let local = match region.of {
            Variable::Register(local) | Variable::Local(local) => local,
            Variable::Global(_) => return true,
        };
        self.at_end[block].as_ref().is_none_or(|state| state.has(local, region.from, region.to))
    }
}

impl State {
    fn has(&self, local: LocalId, from: u64, to: u64) -> bool {
        let Some(ranges) = self.written.get(&local) else { return false };
        ranges.range(..=from).next_back().is_some_and(|(_, end)| to <= *end)
    }

    fn add(&mut self, local: LocalId, mut from: u64, mut to: u64) {
        let ranges = self.written.entry(local).or_default();
        let touched = |ranges: &Ranges, from: u64, to: u64| {
            let before = ranges.range(..=to).next_back().map(|(start, end)| (*start, *end));
            before.filter(|(_, end)| *end >= from)
        };
        while let Some((start, end)) = touched(ranges, from, to) {
            ranges.remove(&start);
            (from, to) = (from.min(start), to.max(end));
        }
        ranges.insert(from, to);
    }

    /// The bits that both have written.
    fn common(&self, with: &Self) -> Self {
        let mut both = Self::default();
        for (local, ranges) in &self.written {
            let Some(others) = with.written.get(local) else { continue };
            for (from, to) in ranges {
                for (start, end) in others.range(..*to) {
                    let (from, to) = (*from.max(start), *to.min(end));
                    if from < to {
                        both.add(*local, from, to);
                    }
                }
            }
        }
        both
    }
}

/// The transfer function of one statement.
struct Step<'a> {
    program: &'a Program,
    body: &'a Body,
    asked: FxHashSet<LocalId>,
}

impl Step<'_> {
    /// Follows, too, what is copied to the variables that are asked for.
    fn ask_for_sources(&mut self) {
        let place = |addr| place(self.program, &self.body.exprs, addr);
        let copies = self.body.stmts.values().filter_map(|stmt| match stmt {
            Stmt::Copy { dst, src, .. } => Some((place(*dst)?.0, place(*src)?.0)),
            _ => None,
        });
        let copies: Vec<(LocalId, LocalId)> = copies.collect();
        loop {
            let before = self.asked.len();
            for (to, from) in &copies {
                if self.asked.contains(to) {
                    self.asked.insert(*from);
                }
            }
            if self.asked.len() == before {
                return;
            }
        }
    }

    fn take(&self, stmt: &Stmt, state: &mut State) {
        match stmt {
            Stmt::Assign { dst, .. } | Stmt::Alloca { dst, .. } => self.set(*dst, state),
            Stmt::Store { addr, ty, .. } => {
                self.write(*addr, self.program.types.target.stored_bytes(*ty), state);
            }
            Stmt::StoreBits { addr, field, .. } => {
                let bits = (u64::from(field.bit), u64::from(field.bit) + u64::from(field.bits));
                self.write_bits(*addr, bits, state);
            }
            Stmt::Copy { dst, src, size } => self.copy(*dst, *src, *size, state),
            Stmt::Zero { dst, size } => self.write(*dst, *size, state),
            Stmt::Call { callee, args, dst, dst_addr, .. } => {
                dst.iter().for_each(|dst| self.set(*dst, state));
                dst_addr.iter().for_each(|addr| self.write_whole(*addr, state));
                self.library_call(*callee, args, state);
            }
            Stmt::Enter(local) | Stmt::Leave(local) => _ = state.written.remove(local),
            Stmt::Havoc(havoc) => {
                havoc.registers.iter().for_each(|register| self.set(*register, state));
                havoc.places.iter().for_each(|(addr, size)| self.write(*addr, *size, state));
            }
            Stmt::Mark(_) | Stmt::Release { .. } | Stmt::VaStart { .. } | Stmt::VaArg { .. } => {}
        }
    }

    fn set(&self, local: LocalId, state: &mut State) {
        if self.asked.contains(&local) {
            state.add(local, 0, 1);
        }
    }

    fn place(&self, addr: ExprId) -> Option<(LocalId, u64)> {
        let (local, offset) = place(self.program, &self.body.exprs, addr)?;
        self.asked.contains(&local).then_some((local, offset))
    }

    fn write(&self, addr: ExprId, bytes: u64, state: &mut State) {
        self.write_bits(addr, (0, bytes.saturating_mul(8)), state);
    }

    fn write_bits(&self, addr: ExprId, (from, to): (u64, u64), state: &mut State) {
        let Some((local, offset)) = self.place(addr) else { return };
        let first = offset.saturating_mul(8);
        if from < to {
            state.add(local, first.saturating_add(from), first.saturating_add(to));
        }
    }

    /// A struct or union that is written to a variable's own address.
    fn write_whole(&self, addr: ExprId, state: &mut State) {
        if let Expr::AddrLocal(local) = self.body.exprs[addr]
            && let Storage::Memory { size, .. } = self.body.locals[local].storage
        {
            self.write(addr, size, state);
        }
    }

    /// A copy writes what its source has: of a local that is what was written there.
    fn copy(&self, dst: ExprId, src: ExprId, size: u64, state: &mut State) {
        let from = place(self.program, &self.body.exprs, src);
        match from.filter(|(local, _)| !self.body.params.contains(local)) {
            None => self.write(dst, size, state),
            Some((local, offset)) => {
                let (first, end) = (8 * offset, 8 * (offset + size));
                let ranges = state.written.get(&local).cloned().unwrap_or_default();
                for (from, to) in ranges {
                    let (from, to) = (from.max(first), to.min(end));
                    if from < to {
                        self.write_bits(dst, (from - first, to - first), state);
                    }
                }
            }
        }
    }

    /// What functions of C's library that only write bytes write.
    fn library_call(&self, callee: Callee, args: &[ExprId], state: &mut State) {
        let (Callee::Direct(function), [dst, _, size]) = (callee, args) else { return };
        let function = &self.program.functions[function];
        let writes = matches!(&*function.name, "memset" | "__builtin_memset");
        if let (true, None, Expr::Const(_, size)) =
            (writes, &function.body, &self.body.exprs[*size])
        {
            self.write(*dst, u64::try_from(*size).unwrap_or(0), state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lydian_base::EntityId;

    #[test]
    fn what_is_written_in_parts_is_written_as_a_whole() {
        let local = LocalId::from_index(0);
        let mut state = State::default();
        state.add(local, 0, 8);
        state.add(local, 16, 24);
        assert!(!state.has(local, 0, 24) && state.has(local, 16, 24));
        state.add(local, 8, 16);
        assert!(state.has(local, 0, 24) && !state.has(local, 0, 25));
    }

    #[test]
    fn where_ways_meet_is_written_what_both_have_written() {
        let local = LocalId::from_index(0);
        let (mut one, mut other) = (State::default(), State::default());
        one.add(local, 0, 32);
        other.add(local, 8, 16);
        other.add(local, 24, 64);
        let both = one.common(&other);
        assert!(both.has(local, 8, 16) && both.has(local, 24, 32));
        assert!(!both.has(local, 0, 16) && !both.has(local, 16, 24) && !both.has(local, 24, 33));
        assert_eq!(both, other.common(&one));
    }
}
