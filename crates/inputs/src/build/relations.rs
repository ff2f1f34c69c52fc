//! The parts of a plan that depend on others: lengths, pointers into other arrays, aliases. They are
//! resolved when every place has its term.

use std::collections::BTreeSet;

use lydian_objective::AssumptionKind;
use lydian_smt::{Sort, Term};

use super::{Builder, OpenLength, Pointee, Scalar, Slot};
use crate::bounds::Reach;
use crate::place::InputPlace;
use crate::plan::PlanError;
use crate::settings::Kind;
use crate::settings::length::{Length, Op};
use crate::value::to_64_bits;

impl Builder<'_> {
    pub(super) fn close_lengths(&mut self) -> Result<(), PlanError> {
        let ended: BTreeSet<InputPlace> = (self.related.iter())
            .flat_map(|slot| slot.set.of.iter().map(|of| of.0.clone()))
            .collect();
        let lengths = std::mem::take(&mut self.lengths);
        let readings: Vec<Reach> = lengths.iter().map(|o| self.reading_of(o, &lengths)).collect();
        for (open, reading) in lengths.into_iter().zip(readings) {
            if open.guessed
                && let Some(length) = &open.length
            {
                let sentence = format!("{length} is the length of {}", self.shown(&open.place));
                self.bound_guess(AssumptionKind::Length, &open.place, sentence, reading);
            }
            let elements = match &open.length {
                Some(length) => {
                    let Scalar { value, signed } = self.length_value(length, &open.place)?;
                    self.counted(value, signed, &open)
                }
                None if ended.contains(&open.place) => {
                    let name = format!("length({})", self.shown(&open.place));
                    let own = self.symbol(name, Sort::BitVec(64));
                    self.counted(own, false, &open)
                }
                None => continue,
            };
            self.show_size(self.objects[open.object].1.address, reading);
            let size = self.pool.bv(64, open.element);
            let mut bytes = self.pool.mul(elements, size);
            if open.start > 0 {
                let start = self.pool.bv(64, open.start);
                bytes = self.pool.add(bytes, start);
                let ty = self.objects[open.object].1.element;
                let least = self.program.types.size(ty).unwrap_or(0);
                let least = self.pool.bv(64, least);
                let short = self.pool.ult(bytes, least);
                bytes = self.pool.ite(short, least, bytes);
            }
            self.objects[open.object].1.byte_length = Some(bytes);
        }
        Ok(())
    }

    /// The accesses that read the length of an array, if the length is a number in memory without
    /// another role: no part of another length, and in no precondition. It can then be the greatest
    /// within the bound whatever the other inputs are. Arrays with the same bound may share it.
    fn reading_of(&self, open: &OpenLength, all: &[OpenLength]) -> Reach {
        let Some(Length::Place(place)) = &open.length else { return Reach::Always };
        let names_it = |other: &&OpenLength| other.length.as_ref().is_some_and(|l| l.names(place));
        let agrees =
            |other: &OpenLength| other.length == open.length && other.capacity == open.capacity;
        let agreed = all.iter().filter(names_it).all(agrees);
        let reading = self.readings.get(place).copied();
        let reading = reading.filter(|_| agreed && self.spec.preconditions().is_empty());
        reading.unwrap_or(Reach::Always)
    }

    /// The number of elements that a length stands for: none where it is negative. It is at most the
    /// capacity wherever there is an object.
    fn counted(&mut self, value: Term, signed: bool, open: &OpenLength) -> Term {
        let capacity = self.pool.bv(64, open.capacity);
        let zero = self.pool.bv(64, 0);
        let (fits, elements) = if signed {
            let negative = self.pool.slt(value, zero);
            (self.pool.sle(value, capacity), self.pool.ite(negative, zero, value))
        } else {
            (self.pool.ule(value, capacity), value)
        };
        let fits = self.pool.or(open.is_null, fits);
        self.constraints.push(fits);
        elements
    }

    /// The 64-bit value of a length, and whether it may be negative.
    fn length_value(&mut self, length: &Length, place: &InputPlace) -> Result<Scalar, PlanError> {
        match length {
            Length::Number(number) => {
                Ok(Scalar { value: self.pool.bv(64, *number), signed: false })
            }
            Length::Place(at) => {
                let known = self.scalars.get(at).copied();
                let known =
                    known.filter(|known| matches!(self.pool.sort(known.value), Sort::BitVec(_)));
                let why = || format!("its length {at} is no integer among the inputs");
                let Scalar { value, signed } = known.ok_or_else(|| self.wrong(place, why()))?;
                Ok(Scalar { value: to_64_bits(self.pool, value, signed), signed })
            }
            Length::Op(op, a, b) => {
                let a = self.length_value(a, place)?;
                let b = self.length_value(b, place)?;
                let signed = a.signed || b.signed || *op == Op::Sub;
                let value = match op {
                    Op::Add => self.pool.add(a.value, b.value),
                    Op::Sub => self.pool.sub(a.value, b.value),
                    Op::Mul => self.pool.mul(a.value, b.value),
                    Op::Div if signed => self.pool.sdiv(a.value, b.value),
                    Op::Div => self.pool.udiv(a.value, b.value),
                };
                Ok(Scalar { value, signed })
            }
        }
    }

    pub(super) fn relate(&mut self, slot: Slot) -> Result<(), PlanError> {
        let value = match slot.set.implied_kind() {
            Some(Kind::End | Kind::Into) => match self.limited(&slot) {
                Some(of) => {
                    self.leave_null(&slot, &format!("{of} is"));
                    return Ok(());
                }
                None => self.within_array(&slot)?,
            },
            _ => self.aliased(&slot)?,
        };
        self.set(&slot, value);
        Ok(())
    }

    fn target(&self, slot: &Slot, place: &InputPlace) -> Result<Pointee, PlanError> {
        let why = || format!("{place} is no pointer with an object of its own");
        self.targets.get(place).copied().ok_or_else(|| self.wrong(&slot.place, why()))
    }

    /// The pointer in whose array another lies, if a limit left it null.
    fn limited(&self, slot: &Slot) -> Option<InputPlace> {
        let of = &slot.set.of.as_ref()?.0;
        self.cut_off.contains(of).then(|| of.clone())
    }

    /// `end` and `into`.
    fn within_array(&mut self, slot: &Slot) -> Result<Term, PlanError> {
        let of = slot.set.of.as_ref().expect("the settings were checked").0.clone();
        let Pointee { object, is_null, .. } = self.target(slot, &of)?;
        let (address, size, length, element) = {
            let object = &self.objects[object].1;
            (object.address, object.size, object.byte_length, object.element)
        };
        self.show_size(address, Reach::Always);
        if !self.spec.states_shape(&slot.place, &slot.trail) {
            let shown = self.shown(&slot.place);
            let (kind, sentence) = match slot.set.implied_kind() {
                Some(Kind::End) => (AssumptionKind::Length, format!("{shown} is the end of {of}")),
                _ => (AssumptionKind::Shape, format!("{shown} points into {of}")),
            };
            self.bound_guess(kind, &slot.place, sentence, Reach::Always);
        }
        let bytes = length.unwrap_or_else(|| self.pool.bv(64, size));
        let offset = if slot.set.implied_kind() == Some(Kind::End) {
            bytes
        } else {
            let name = format!("index({})", self.shown(&slot.place));
            let index = self.symbol(name, Sort::BitVec(64));
            let element = self.program.types.size(element).unwrap_or(1).max(1);
            let most = self.pool.bv(64, size / element);
            let small = self.pool.ule(index, most);
            let element = self.pool.bv(64, element);
            let offset = self.pool.mul(index, element);
            let inside = self.pool.ule(offset, bytes);
            let inside = self.pool.and(small, inside);
            self.constraints.push(inside);
            offset
        };
        let base = self.pool.bv(64, address);
        let value = self.pool.add(base, offset);
        let zero = self.pool.bv(64, 0);
        let own_null = self.null_choice(slot);
        let is_null = self.pool.or(is_null, own_null);
        let value = self.pool.ite(is_null, zero, value);
        Ok(self.with_initial(slot, value))
    }

    fn aliased(&mut self, slot: &Slot) -> Result<Term, PlanError> {
        let mut value = self.blocks[slot.site.block][slot.cell].value;
        let own = self.target(slot, &slot.place)?;
        for other in slot.set.alias.iter().flatten() {
            if self.cut_off.contains(&other.0) {
                continue;
            }
            let target = self.target(slot, &other.0)?;
            let (mine, theirs) = (&self.objects[own.object].1, &self.objects[target.object].1);
            if mine.element != theirs.element {
                let why = format!("{} points to another type, so it cannot be an alias", other.0);
                return Err(self.wrong(&slot.place, why));
            }
            let base = self.pool.bv(64, target.address);
            let name = format!("alias({}, {})", self.shown(&slot.place), other.0);
            let chosen = self.symbol(name, Sort::Bool);
            if slot.place.lies_behind(&other.0) {
                self.preferences.push(chosen);
            }
            value = self.pool.ite(chosen, base, value);
        }
        Ok(value)
    }
}
