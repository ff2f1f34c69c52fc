//! Pointers: null, a function, the initial value of a global, or an object of the plan.

use lydian_ir::{CType, CTypeId, GlobalInit, RelocationTarget};
use lydian_objective::AssumptionKind;
use lydian_smt::{Sort, Term};

use super::{Builder, MAX_CELLS, MAX_OBJECTS, Pointee, Slot, initial_bits};
use crate::build::layout::has_pointers;
use crate::callback::callback_of;
use crate::place::InputPlace;
use crate::plan::PlanError;
use crate::settings::{Kind, PlacePattern};

impl Builder<'_> {
    pub(super) fn finish(&mut self) -> Result<(), PlanError> {
        while let Some(slot) = self.waiting.pop_front() {
            self.resolve(slot)?;
        }
        self.close_lengths()?;
        for slot in std::mem::take(&mut self.related) {
            self.relate(slot)?;
        }
        Ok(())
    }

    /// Sets the cell of a pointer, under the slot's guard.
    pub(super) fn set(&mut self, slot: &Slot, value: Term) {
        let old = self.blocks[slot.site.block][slot.cell].value;
        let value = match slot.guard {
            Some(guard) => self.pool.ite(guard, value, old),
            None => value,
        };
        self.blocks[slot.site.block][slot.cell].value = value;
    }

    fn resolve(&mut self, mut slot: Slot) -> Result<(), PlanError> {
        let zero = self.pool.bv(64, 0);
        let pointee = self.program.types.pointee(slot.ty).expect("a pointer points to something");
        if let Some(inputs) = self.addresses.lazy()
            && self.spec.comes_into_being(&slot.place)
        {
            let shown = self.shown(&slot.place);
            let may_be_null = self.spec.stated_null() != Some(false);
            let value = inputs.pointer(self.pool, &shown, slot.ty, slot.site.depth, may_be_null);
            let value = self.with_streams(&slot, value);
            let value = self.with_initial(&slot, value);
            self.set(&slot, value);
            return Ok(());
        }
        if let CType::Function { .. } = self.program.types.get(pointee) {
            let value = self.function_pointer(&slot, pointee)?;
            let value = self.with_initial(&slot, value);
            self.set(&slot, value);
            return Ok(());
        }
        match slot.set.implied_kind() {
            Some(Kind::Null) => {
                let value = self.with_initial(&slot, zero);
                self.set(&slot, value);
                return Ok(());
            }
            Some(Kind::End | Kind::Into) => {
                self.related.push(slot);
                return Ok(());
            }
            _ => {}
        }
        if let Some(why) = self.cut_off(&slot, pointee) {
            self.leave_null(&slot, &why);
            return Ok(());
        }
        if slot.set.alias.is_none() {
            let back = self.pointed_back_to(&slot.place, pointee);
            slot.set.alias = back.map(|place| vec![PlacePattern(place)]);
        }
        let is_null = self.null_choice(&slot);
        let object = self.object_behind(&slot, pointee, is_null)?;
        let found = &self.objects[object].1;
        let before = slot.set.before.unwrap_or(0);
        let address = found.address + before * self.program.types.size(found.element).unwrap_or(1);
        self.targets.insert(slot.place.clone(), Pointee { object, address, is_null });
        let base = self.pool.bv(64, address);
        let value = self.pool.ite(is_null, zero, base);
        let value = self.with_streams(&slot, value);
        let value = self.with_initial(&slot, value);
        self.set(&slot, value);
        if slot.set.alias.is_some() {
            self.related.push(slot);
        }
        Ok(())
    }

    /// Leaves a pointer null because of a limit, and notes the bound.
    pub(super) fn leave_null(&mut self, slot: &Slot, why: &str) {
        let shown = self.shown(&slot.place);
        let stated = self.spec.states_depth();
        let offset = self.blocks[slot.site.block][slot.cell].offset;
        let reach = self.reading(slot.site.block, offset, offset + 8);
        let sentence = format!("{shown} is null: {why}");
        self.bound((AssumptionKind::Depth, &slot.place), sentence, stated, reach);
        self.cut_off.insert(slot.place.clone());
        let zero = self.pool.bv(64, 0);
        let value = self.with_initial(slot, zero);
        self.set(slot, value);
    }

    /// The pointer on the path to a place whose struct has the type that the pointer at the place
    /// points to: it may well point back to that struct, as the owner in a part of what it owns. A
    /// pointer to the type of the struct that it lies in itself does not count, since such pointers
    /// make lists and trees.
    fn pointed_back_to(&self, place: &InputPlace, pointee: CTypeId) -> Option<InputPlace> {
        if !matches!(self.program.types.get(pointee), CType::Record(_)) {
            return None;
        }
        let before =
            |steps| InputPlace { root: place.root.clone(), steps: place.steps[..steps].to_vec() };
        let mut way = (0..place.steps.len()).rev().map(before).filter_map(|place| {
            let target = self.targets.get(&place)?;
            Some((place, self.objects[target.object].1.element))
        });
        let (_, around) = way.next()?;
        let (place, _) = way.find(|(_, element)| *element == pointee && around != pointee)?;
        Some(place)
    }

    /// The reason for leaving a pointer null, if a limit demands it.
    fn cut_off(&self, slot: &Slot, pointee: CTypeId) -> Option<String> {
        let deepest = self.spec.depth();
        // A target without pointers may lie one step deeper.
        let ends = !has_pointers(&self.program.types, pointee);
        if slot.site.depth >= deepest.saturating_add(u32::from(ends)) {
            return Some(format!("pointers are followed {deepest} deep"));
        }
        if self.objects.len() >= MAX_OBJECTS {
            return Some(format!("inputs have at most {MAX_OBJECTS} objects"));
        }
        (self.cells >= MAX_CELLS).then(|| format!("inputs have at most {MAX_CELLS} scalars"))
    }

    /// The term that says that the pointer is null.
    pub(super) fn null_choice(&mut self, slot: &Slot) -> Term {
        if slot.set.null.unwrap_or_else(|| self.spec.null()) {
            let name = format!("null({})", self.shown(&slot.place));
            self.symbol(name, Sort::Bool)
        } else {
            self.pool.ff()
        }
    }

    /// For a pointer to a stream: each standard stream that the program uses is one more choice.
    fn with_streams(&mut self, slot: &Slot, value: Term) -> Term {
        let mut value = value;
        for (holder, stream) in self.addresses.streams() {
            let global = &self.program.globals[*holder];
            let pointee = |ty| self.program.types.pointee(ty);
            if pointee(global.ty) == pointee(slot.ty) {
                let name = format!("{} == {}", self.shown(&slot.place), global.name);
                let chosen = self.symbol(name, Sort::Bool);
                let stream = self.pool.bv(64, *stream);
                value = self.pool.ite(chosen, stream, value);
            }
        }
        value
    }

    /// For a pointer in a global with an initial value: that value is one more choice, preferred.
    pub(super) fn with_initial(&mut self, slot: &Slot, value: Term) -> Term {
        let Some(global) = slot.site.global else { return value };
        let offset = self.blocks[slot.site.block][slot.cell].offset;
        let init = &self.program.globals[global].init;
        let initial = match init {
            GlobalInit::Extern => return value,
            GlobalInit::Zero => 0,
            GlobalInit::Data { relocations, .. } => {
                let relocation = relocations.iter().find(|found| found.offset == offset);
                relocation.map_or_else(
                    || initial_bits(init, offset, 8) as u64,
                    |found| {
                        let base = match found.target {
                            RelocationTarget::Global(global) => self.addresses.global(global),
                            RelocationTarget::Function(target) => self.addresses.function(target),
                        };
                        base.wrapping_add_signed(found.addend)
                    },
                )
            }
        };
        let name = format!("initial({})", self.shown(&slot.place));
        let kept = self.symbol(name, Sort::Bool);
        self.preferences.push(kept);
        let initial = self.pool.bv(64, initial);
        self.pool.ite(kept, initial, value)
    }

    fn function_pointer(&mut self, slot: &Slot, ty: CTypeId) -> Result<Term, PlanError> {
        let mut targets = Vec::new();
        match &slot.set.functions {
            Some(names) => {
                for name in names {
                    let found = self.program.function_named(name);
                    let why = format!("the program has no function {name}");
                    targets.push(found.ok_or_else(|| self.wrong(&slot.place, why))?);
                }
            }
            None => {
                let why = "the program was not prepared for callbacks";
                let callback = callback_of(self.program, ty);
                targets.push(callback.ok_or_else(|| self.wrong(&slot.place, why))?);
            }
        }
        let is_null = self.null_choice(slot);
        let mut value = None;
        for (position, target) in targets.into_iter().enumerate() {
            let address = self.pool.bv(64, self.addresses.function(target));
            value = Some(match value {
                None => address,
                Some(others) => {
                    let name = format!("choice{position}({})", self.shown(&slot.place));
                    let chosen = self.symbol(name, Sort::Bool);
                    self.pool.ite(chosen, address, others)
                }
            });
        }
        let zero = self.pool.bv(64, 0);
        Ok(self.pool.ite(is_null, zero, value.unwrap_or(zero)))
    }
}
