//! The objects that pointers point to: their size, their place in the region of inputs, and their
//! contents.

use lydian_ir::test::{INPUT_REGION, INPUT_REGION_SIZE};
use lydian_ir::{CType, CTypeId, IntKind, Program, Type};
use lydian_objective::AssumptionKind;
use lydian_smt::Term;

use super::{Builder, MAX_CELLS, OpenLength, Site, Slot};
use crate::bounds::Reach;
use crate::build::layout::{FlexibleMember, flexible_member};
use crate::place::InputPlace;
use crate::plan::{GAP, ObjectPlan, PlanError};
use crate::settings::Kind;
use crate::settings::length::Length;
use crate::spec::Trail;
use crate::type_names::types_named;
use crate::value::constant;

impl Builder<'_> {
    /// Makes the object that a pointer points to and gives its position.
    pub(super) fn object_behind(
        &mut self,
        slot: &Slot,
        pointee: CTypeId,
        is_null: Term,
    ) -> Result<usize, PlanError> {
        let element = self.element_type(slot, pointee)?;
        let types = &self.program.types;
        let size = types.size(element).unwrap_or(1).max(1);
        let kind = slot.set.implied_kind().unwrap_or_else(|| default_kind(self.program, pointee));
        let fixed = match slot.set.length.as_ref().map(|text| &text.0) {
            Some(Length::Number(number)) => Some(*number),
            _ => None,
        };
        let limit = match types.get(element) {
            CType::Record(_) | CType::Pointer { .. } | CType::Array { .. } => {
                self.spec.max_records()
            }
            _ => self.spec.max_length(),
        };
        let capacity = match kind {
            Kind::String => {
                slot.set.max.unwrap_or_else(|| self.spec.max_string()).saturating_add(1)
            }
            Kind::Array => fixed.or(slot.set.max).unwrap_or(limit),
            _ => 1,
        };
        let flexible = (capacity == 1 && slot.set.before.is_none())
            .then(|| flexible_member(types, element, &slot.place.index(0)))
            .flatten();
        let tail = flexible.map(|member| self.tail(slot, member));
        let before = slot.set.before.unwrap_or(0);
        let elements = capacity.checked_add(before);
        let bytes = elements.and_then(|elements| elements.checked_mul(size));
        let bytes = bytes.map(|bytes| bytes.max(tail.as_ref().map_or(0, |tail| tail.bytes)));
        let object = self.place_object(slot, element, capacity.saturating_add(before), bytes)?;
        let (start, end) = (before * size, (before + capacity) * size);
        let preceded = if before > 0 { format!(", {before} before it") } else { String::new() };
        let shown = self.shown(&slot.place);
        let address = self.objects[object].1.address;
        if slot.set.pointee.is_none()
            && types.size(pointee).is_none()
            && !matches!(types.get(pointee), CType::Void)
        {
            let ty = types.spell(pointee, "");
            let bytes = if capacity == 1 { "one byte".into() } else { format!("{capacity} bytes") };
            let sentence = format!("{shown} points to {bytes}, since {ty} is incomplete");
            let reach = Reach::Behind { object: address, from: capacity, element: 1 };
            self.bound((AssumptionKind::Shape, &slot.place), sentence, false, reach);
        }
        match kind {
            Kind::Array if fixed.is_none() => {
                let stated = self.spec.states_size(&slot.place, &slot.trail);
                let reach = Reach::Behind { object: address, from: end, element: size };
                let sentence = format!("{shown} has at most {capacity} elements{preceded}");
                self.bound((AssumptionKind::Size, &slot.place), sentence, stated, reach);
                let length = slot.set.length.as_ref().map(|text| text.0.clone());
                self.lengths.push(OpenLength {
                    guessed: !self.spec.states_length(&slot.place, &slot.trail),
                    object,
                    place: slot.place.clone(),
                    length,
                    is_null,
                    element: size,
                    start,
                    capacity,
                });
            }
            Kind::String => {
                let stated = self.spec.states_size(&slot.place, &slot.trail);
                let reach = Reach::Behind { object: address, from: end - size, element: size };
                let sentence = format!("{shown} has at most {} characters{preceded}", capacity - 1);
                self.bound((AssumptionKind::Size, &slot.place), sentence, stated, reach);
            }
            _ if self.spec.states_shape(&slot.place, &slot.trail) || tail.is_some() => {}
            _ => {
                let sentence = match capacity {
                    1 => format!("{shown} points to one object{preceded}"),
                    _ => format!("{shown} points to {capacity} elements{preceded}"),
                };
                let reach = Reach::Behind { object: address, from: end, element: size };
                self.bound_guess(AssumptionKind::Shape, &slot.place, sentence, reach);
            }
        }
        self.fill(slot, object, element, before + capacity, kind == Kind::String)?;
        if let Some(tail) = tail {
            self.fill_tail(slot, object, tail, is_null)?;
        }
        Ok(object)
    }

    /// The type of an element: for `void *` the type that is set, else bytes; bytes also for types
    /// without a size.
    fn element_type(&mut self, slot: &Slot, pointee: CTypeId) -> Result<CTypeId, PlanError> {
        let types = &self.program.types;
        if let Some(name) = &slot.set.pointee {
            let found = types_named(self.program, name);
            let complete = found.into_iter().find(|ty| types.size(*ty).is_some());
            let why = format!("the program has no complete type {name}");
            return complete.ok_or_else(|| self.wrong(&slot.place, why));
        }
        if types.size(pointee).is_some() {
            return Ok(pointee);
        }
        let why = "the program was not prepared for inputs";
        self.byte_type().ok_or_else(|| self.wrong(&slot.place, why))
    }

    /// The type of a byte: `unsigned char`, which programs that are prepared for inputs have.
    pub(super) fn byte_type(&self) -> Option<CTypeId> {
        let byte = |ty: &CType| matches!(ty, CType::Int { kind: IntKind::UChar, .. });
        self.program.types.iter().find(|(_, ty)| byte(ty)).map(|(id, _)| id)
    }

    /// Takes room in the region of inputs.
    fn place_object(
        &mut self,
        slot: &Slot,
        element: CTypeId,
        capacity: u64,
        bytes: Option<u64>,
    ) -> Result<usize, PlanError> {
        let too_large = || PlanError::TooLarge {
            function: self.program.functions[self.function].name.clone(),
            place: slot.place.to_string(),
            limit: INPUT_REGION_SIZE,
        };
        let size = bytes.ok_or_else(too_large)?;
        // At least the alignment that malloc promises, since code may rely on it.
        let align = self.program.types.align(element).max(16);
        let address = self.cursor.next.next_multiple_of(align);
        let element_size = self.program.types.size(element).unwrap_or(1);
        // Room for one element on either side, so that an access one element too far meets no other
        // object.
        let gap = GAP.max(element_size.min(4096)).next_multiple_of(16);
        let end = INPUT_REGION + INPUT_REGION_SIZE;
        let next = address.checked_add(size).and_then(|at| at.checked_add(gap));
        self.cursor.next = next.filter(|next| *next <= end).ok_or_else(too_large)?;
        let block = self.add_block(Some(address));
        let object = ObjectPlan {
            name: self.shown(&slot.place),
            address,
            element,
            capacity,
            size,
            byte_length: None,
            align,
            read_only: false,
            cells: Vec::new(),
        };
        self.objects.push((block, object));
        Ok(self.objects.len() - 1)
    }

    fn inside(&self, slot: &Slot, object: usize) -> Site {
        Site { block: self.objects[object].0, depth: slot.site.depth + 1, global: None }
    }

    /// Lays the elements of an object.
    fn fill(
        &mut self,
        slot: &Slot,
        object: usize,
        element: CTypeId,
        capacity: u64,
        is_string: bool,
    ) -> Result<(), PlanError> {
        let site = self.inside(slot, object);
        let size = self.program.types.size(element).unwrap_or(1);
        let before = slot.set.before.unwrap_or(0);
        for index in 0..capacity {
            if is_string && index + 1 == capacity {
                // The string ends with a NUL whatever its characters are.
                let machine = self.program.types.scalar(element).unwrap_or(Type::Int(8));
                let nul = constant(self.pool, machine, 0);
                self.push(site, index * size, machine, nul);
                break;
            }
            if self.cells >= MAX_CELLS {
                let shown = self.shown(&slot.place);
                let reach = self.reading(site.block, index * size, capacity * size);
                let sentence = format!("{shown} is zero from element {index} on");
                self.bound((AssumptionKind::Size, &slot.place), sentence, false, reach);
                break;
            }
            let place = slot.place.index(index as i64 - before as i64);
            self.lay(site, element, index * size, &place, &slot.trail)?;
        }
        Ok(())
    }
}

/// The flexible array member of an object.
struct Tail {
    place: InputPlace,
    element: CTypeId,
    element_size: u64,
    start: u64,
    capacity: u64,
    /// Bytes of the whole object.
    bytes: u64,
    length: Option<Length>,
    trail: Trail,
}

impl Builder<'_> {
    fn tail(&self, slot: &Slot, member: FlexibleMember) -> Tail {
        let FlexibleMember { place, element, offset: start } = member;
        let types = &self.program.types;
        let record = slot.set.pointee.as_ref().map(|name| types_named(self.program, name));
        let record = record.and_then(|found| found.first().copied()).or(types.pointee(slot.ty));
        let mut trail = slot.trail.clone();
        trail.extend(record.map(|ty| (slot.place.steps.len() + 1, ty)));
        let set = self.spec.at(&place, &trail);
        let length = set.length.map(|text| text.0);
        let fixed = match length {
            Some(Length::Number(number)) => Some(number),
            _ => None,
        };
        let limit = match types.scalar(element) {
            Some(machine) if machine != Type::Ptr => self.spec.max_length(),
            _ => self.spec.max_records(),
        };
        let capacity = fixed.or(set.max).unwrap_or(limit).min(1 << 24);
        let element_size = types.size(element).unwrap_or(1).max(1);
        let bytes = start.saturating_add(capacity.saturating_mul(element_size));
        let length = length.filter(|_| fixed.is_none());
        Tail { place, element, element_size, start, capacity, bytes, length, trail }
    }

    fn fill_tail(
        &mut self,
        slot: &Slot,
        object: usize,
        tail: Tail,
        is_null: Term,
    ) -> Result<(), PlanError> {
        let site = self.inside(slot, object);
        for index in 0..tail.capacity {
            let offset = tail.start + index * tail.element_size;
            self.lay(site, tail.element, offset, &tail.place.index(index as i64), &tail.trail)?;
        }
        let shown = self.shown(&tail.place);
        let stated = self.spec.states_size(&tail.place, &tail.trail);
        let (address, from) = (self.objects[object].1.address, self.objects[object].1.size);
        let reach = Reach::Behind { object: address, from, element: tail.element_size };
        let sentence = format!("{shown} has at most {} elements", tail.capacity);
        self.bound((AssumptionKind::Size, &tail.place), sentence, stated, reach);
        if tail.length.is_some() {
            self.lengths.push(OpenLength {
                guessed: !self.spec.states_length(&tail.place, &tail.trail),
                object,
                place: tail.place,
                length: tail.length,
                is_null,
                element: tail.element_size,
                start: tail.start,
                capacity: tail.capacity,
            });
        }
        Ok(())
    }
}

/// The kind of a pointer's target without a setting or guess.
fn default_kind(program: &Program, pointee: CTypeId) -> Kind {
    match program.types.get(pointee) {
        CType::Int { kind: IntKind::Char, .. } => Kind::String,
        CType::Void => Kind::Array,
        _ => Kind::Object,
    }
}
