//! The contents of objects where a run begins.

use lydian_eval::{from_bytes, sort_of};
use lydian_ir::{GlobalInit, Relocation, RelocationTarget, Type};
use lydian_smt::{Sort, Term, TermPool, Wide};

use crate::encode::ids::SlotId;
use crate::encode::machine::Machine;
use crate::encode::memory::layout::{Lane, Lanes, Layout};
use crate::encode::pointers::objects::ObjectKind;
use crate::encode::state::slots::SlotKind;

/// The most elements of an array that are given one by one.
const MOST_ELEMENTS: u64 = 1 << 16;

/// The initial contents of a global.
struct Contents<'a> {
    items: &'a [lydian_ir::InitItem],
    relocations: &'a [Relocation],
    pointer_bytes: u64,
}

impl Contents<'_> {
    /// Bytes, least significant first, as a number; none where there is an address among them.
    fn number(&self, offset: u64, size: u64) -> Option<u128> {
        let touches =
            |at: &Relocation| at.offset < offset + size && offset < at.offset + self.pointer_bytes;
        if self.relocations.iter().any(touches) {
            return None;
        }
        let mut number = 0;
        for item in self.items {
            let end = item.offset + item.bytes.len() as u64;
            for at in offset.max(item.offset)..end.min(offset + size) {
                let byte = item.bytes[(at - item.offset) as usize];
                number |= u128::from(byte) << (8 * (at - offset));
            }
        }
        Some(number)
    }

    /// The address that fills a stretch of bytes.
    fn address(&self, offset: u64, size: u64) -> Option<&Relocation> {
        let mut all = self.relocations.iter();
        all.find(|at| at.offset == offset && size == self.pointer_bytes)
    }

    /// Where the last bytes and addresses end.
    fn end(&self) -> u64 {
        let items = self.items.iter().map(|item| item.offset + item.bytes.len() as u64);
        let addresses = self.relocations.iter().map(|at| at.offset + self.pointer_bytes);
        items.chain(addresses).max().unwrap_or(0)
    }
}

impl Machine<'_, '_> {
    /// The value of a slot where a run begins; none if it may be any.
    pub(crate) fn initial_value(&self, pool: &mut TermPool, slot: SlotId) -> Option<Term> {
        let object = match self.analysed.slots.all[slot].kind {
            SlotKind::End(_) => return Some(pool.bv(64, 0)),
            // Earlier calls of the function belong to the same run.
            SlotKind::Flag(None, _) if !self.is_whole => return None,
            SlotKind::Flag(..) => return Some(pool.ff()),
            SlotKind::Cell(object, _) | SlotKind::Lane(object, _) => object,
            _ => return None,
        };
        let kind = self.analysed.objects.all[object].kind;
        let (sort, of_kind) =
            (self.analysed.slots.all[slot].sort, &self.analysed.slots.all[slot].kind);
        let global = match kind {
            ObjectKind::Global(global) => global,
            ObjectKind::Local(..) => return None,
            ObjectKind::Allocated(..) => {
                let zeroed = self.analysed.objects.sites.get(&object)?.zeroed;
                return zeroed.then(|| zero(pool, sort));
            }
        };
        let global = &self.analysed.inlined.program.globals[global];
        if !self.is_whole && !global.read_only {
            return None;
        }
        let contents = match &global.init {
            GlobalInit::Extern => return None,
            GlobalInit::Zero => return Some(zero(pool, sort)),
            GlobalInit::Data { items, relocations } => {
                let pointer_bytes = self.target().pointer_bytes();
                Contents { items, relocations, pointer_bytes }
            }
        };
        match (self.analysed.layouts.of(object), of_kind) {
            (Layout::Cells(cells), SlotKind::Cell(_, at)) => {
                let cell = &cells[*at];
                let bits = self.initial_bits(pool, &contents, cell.offset, cell.size)?;
                Some(match cell.ty {
                    Some(ty @ (Type::F32 | Type::F64)) => from_bytes(pool, ty, bits),
                    _ => bits,
                })
            }
            (Layout::Lanes(lanes), SlotKind::Lane(_, at)) => {
                self.initial_lane(pool, &contents, lanes, lanes.lanes[*at])
            }
            _ => None,
        }
    }

    fn initial_bits(
        &self,
        pool: &mut TermPool,
        contents: &Contents<'_>,
        offset: u64,
        size: u64,
    ) -> Option<Term> {
        let width = size as u32 * 8;
        if let Some(number) = contents.number(offset, size) {
            return Some(pool.bv_wide(width, Wide::from_u128(number)));
        }
        let relocation = contents.address(offset, size)?;
        let objects = self.analysed.objects;
        let base = match relocation.target {
            RelocationTarget::Function(function) => objects.function_address(function),
            RelocationTarget::Global(global) => {
                objects.all[objects.of(ObjectKind::Global(global))?].base
            }
        };
        Some(pool.bv(width, base.wrapping_add(relocation.addend as u64)))
    }

    fn initial_lane(
        &self,
        pool: &mut TermPool,
        contents: &Contents<'_>,
        lanes: &Lanes,
        lane: Lane,
    ) -> Option<Term> {
        let count = contents.end().div_ceil(lanes.period).min(lanes.count);
        if count > MOST_ELEMENTS {
            return None;
        }
        let offset = |at: u64| at * lanes.period + lane.offset;
        let numbers: Vec<u64> = (0..count)
            .map(|at| contents.number(offset(at), lane.size).unwrap_or(0) as u64)
            .collect();
        let element = lane.size as u32 * 8;
        let mut array = match numbers.iter().all(|number| *number == 0) {
            true => zero(pool, Sort::Array { index: lanes.index_bits, element }),
            false => pool.const_table(lanes.index_bits, element, &numbers),
        };
        for at in 0..count {
            if contents.number(offset(at), lane.size).is_none() {
                let value = self.initial_bits(pool, contents, offset(at), lane.size);
                let value = value.unwrap_or_else(|| Self::anything(pool, Sort::BitVec(element)));
                let index = pool.bv(lanes.index_bits, at);
                array = pool.store(array, index, value);
            }
        }
        Some(array)
    }
}

/// Zero, of any sort.
pub(crate) fn zero(pool: &mut TermPool, sort: Sort) -> Term {
    match sort {
        Sort::Array { index, element } => {
            let value = pool.bv(element, 0);
            pool.uniform_array(index, value)
        }
        Sort::Bool => pool.ff(),
        Sort::BitVec(width) => pool.bv(width, 0),
        Sort::Float(_) => {
            let ty = if sort == sort_of(Type::F32) { Type::F32 } else { Type::F64 };
            let bits = pool.bv(sort.width(), 0);
            from_bytes(pool, ty, bits)
        }
    }
}
