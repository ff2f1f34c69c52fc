//! Memory that is no object of the encoded program: behind pointers that are inputs, or that code which
//! is not known gave.
//!
//! It is one array of bytes with an element for each address. Its contents are any at first, and again
//! after each call of code that is not known. So two reads of one place agree, and a read finds what was
//! written there. An address of it may be that of an object that escaped: there a read gives any value.

use lydian_ir::{ExprId, Type};
use lydian_smt::{Sort, Term, TermPool};

use crate::encode::ids::{InstanceId, SlotId};
use crate::encode::machine::Machine;
use crate::encode::pointers::{Place, Targets};
use crate::encode::state::State;
use crate::encode::state::slots::{SlotKind, Slots};

/// The most bytes of one access that is followed.
const MOST: u64 = 16;

/// Makes the slot of the memory outside.
pub(crate) fn add_slot(slots: &mut Slots) {
    let sort = Sort::Array { index: 64, element: 8 };
    slots.add(SlotKind::Outside, sort, "memory".to_owned());
}

impl Machine<'_, '_> {
    fn outside(&self) -> Option<SlotId> {
        self.analysed.slots.of(SlotKind::Outside)
    }

    /// Bytes at an address outside; any where an object of the program may lie there.
    pub(crate) fn read_outside(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        addr: Term,
        size: u64,
    ) -> Term {
        let sort = Sort::BitVec(size as u32 * 8);
        let Some(slot) = self.outside().filter(|_| (1..=MOST).contains(&size)) else {
            return Self::anything(pool, sort);
        };
        let array = self.value(pool, state, slot);
        let mut bits: Option<Term> = None;
        for at in 0..size {
            let byte = byte_address(pool, addr, at);
            let byte = pool.select(array, byte);
            bits = Some(bits.map_or(byte, |low| pool.concat(byte, low)));
        }
        let bits = bits.unwrap_or_else(|| pool.bv(8, 0));
        if self.analysed.pointers.escaped_objects().next().is_none() {
            return bits;
        }
        let (low, length) = self.analysed.objects.span();
        let (low, length) = (pool.bv(64, low), pool.bv(64, length));
        let distance = pool.sub(addr, low);
        let is_object = pool.ult(distance, length);
        let any = Self::anything(pool, sort);
        pool.ite(is_object, any, bits)
    }

    /// The memory outside before a write, if the write may go there.
    pub(crate) fn outside_of(
        &self,
        pool: &mut TermPool,
        state: &mut State,
        targets: &Targets,
    ) -> Option<Term> {
        let slot = self.outside().filter(|_| targets.contains_key(&Place::Unknown))?;
        Some(self.value(pool, state, slot))
    }

    /// Sets the memory outside to what it was before a write, and bytes at an address to others.
    pub(crate) fn write_outside(
        &self,
        pool: &mut TermPool,
        state: &mut State,
        before: Term,
        (addr, bits): (Term, Term),
    ) {
        let Some(slot) = self.outside() else { return };
        let mut array = before;
        for at in 0..pool.width(bits) / 8 {
            let low = at * 8;
            let byte = pool.extract(low + 7, low, bits);
            let place = byte_address(pool, addr, at.into());
            array = pool.store(array, place, byte);
        }
        state.set(slot, Some(array));
    }

    /// Gives the memory outside any contents.
    pub(crate) fn havoc_outside(&self, state: &mut State) {
        if let Some(slot) = self.outside() {
            state.set(slot, None);
        }
    }

    /// The bytes of a value that is written outside. An address of an object is any bytes there: nobody
    /// may read its number.
    pub(crate) fn bits_for_outside(
        &mut self,
        pool: &mut TermPool,
        (instance, value): (InstanceId, ExprId),
        (ty, term): (Type, Term),
    ) -> Term {
        let bits = self.to_bits(pool, ty, term);
        let is_known = |place: &Place| *place != Place::Unknown;
        let shows = ty == Type::Ptr && self.targets((instance, value)).keys().any(is_known);
        if shows { Self::anything(pool, pool.sort(bits)) } else { bits }
    }
}

fn byte_address(pool: &mut TermPool, addr: Term, at: u64) -> Term {
    let distance = pool.bv(64, at);
    pool.add(addr, distance)
}
