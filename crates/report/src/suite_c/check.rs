//! Assertions on what a call left in memory.

use lydian_ir::test::Image;
use lydian_ir::{CType, CTypeId, IntKind, RecordId};

use super::literal::{Names, scalar, string};
use crate::suite::{ObservedImage, plain};
use crate::value::{Pointer, Value, is_byte, read_part};

/// Greatest number of bytes in one assertion.
const CHUNK: usize = 64;

/// Writes the assertions on one piece of memory.
pub(super) struct Checks<'a> {
    names: &'a Names<'a>,
    after: &'a ObservedImage,
    /// The contents after the call, without what stands under pointers.
    plain: Image,
    /// The contents before the call, where only what changed is to be asserted.
    before: Option<Image>,
    pub(super) lines: Vec<String>,
}

impl<'a> Checks<'a> {
    pub(super) fn new(
        names: &'a Names<'a>,
        after: &'a ObservedImage,
        before: Option<&Image>,
    ) -> Self {
        Self {
            names,
            after,
            plain: plain(&after.image),
            before: before.map(plain),
            lines: Vec::new(),
        }
    }

    /// Asserts the values of a type that an lvalue has, `offset` bytes into the memory.
    pub(super) fn value(&mut self, ty: CTypeId, lvalue: &str, offset: u64) {
        let types = &self.names.program.types;
        let size = types.size(ty).unwrap_or(0);
        match types.get(ty) {
            CType::Array { element, length } => {
                let end = self.after.image.bytes.len() as u64;
                let element_size = types.size(*element).unwrap_or(1).max(1);
                let length = length.unwrap_or(end.saturating_sub(offset) / element_size);
                self.elements(*element, length, lvalue, offset);
            }
            CType::Record(record) if types.records[*record].is_union => {
                self.union(ty, *record, lvalue, offset);
            }
            CType::Record(record) => self.members(*record, lvalue, offset),
            // Ten bytes of a long double have a meaning.
            CType::LongDouble => {
                self.bytes(&format!("&{lvalue}"), offset, size.min(10), true);
            }
            CType::Opaque { .. } | CType::Complex { .. } | CType::Vector { .. } => {
                self.bytes(&format!("&{lvalue}"), offset, size, true)
            }
            _ => self.scalar(ty, lvalue, offset, size),
        }
    }

    /// Asserts elements of an array.
    pub(super) fn elements(&mut self, element: CTypeId, count: u64, lvalue: &str, offset: u64) {
        let types = &self.names.program.types;
        if is_byte(types, element) {
            return self.bytes(lvalue, offset, count, false);
        }
        let size = types.size(element).unwrap_or(1).max(1);
        for index in 0..count {
            let at = offset + index * size;
            if self.changed(at, size) {
                self.value(element, &format!("{lvalue}[{index}]"), at);
            }
        }
    }

    fn members(&mut self, record: RecordId, lvalue: &str, offset: u64) {
        let program = self.names.program;
        for field in &program.types.records[record].fields {
            let at = offset + field.bit_offset / 8;
            // Members of an anonymous member are named as the outer one's own.
            let place = match field.name.as_str() {
                "" => lvalue.to_owned(),
                name => format!("{lvalue}.{name}"),
            };
            match field.bits {
                None => self.value(field.ty, &place, at),
                Some(width) if !field.name.is_empty() => {
                    let bytes = (field.bit_offset % 8 + u64::from(width)).div_ceil(8);
                    if self.changed(at, bytes) {
                        self.bit_field(record, &field.name, &place, offset);
                    }
                }
                Some(_) => {}
            }
        }
    }

    fn bit_field(&mut self, record: RecordId, name: &str, place: &str, offset: u64) {
        let program = self.names.program;
        let whole = program.types.iter().find(|(_, ty)| **ty == CType::Record(record));
        let Some((ty, _)) = whole else { return };
        let Value::Struct(members) = read_part(&program.types, ty, self.after, offset) else {
            return;
        };
        let member = members.iter().find(|(known, _)| known == name);
        if let Some((_, Value::Int { bits, width, signed })) = member {
            self.integer(place, *bits, *width, *signed);
        }
    }

    /// A union by the member that says all of it, else its bytes where they are no pointers.
    fn union(&mut self, ty: CTypeId, record: RecordId, lvalue: &str, offset: u64) {
        let types = &self.names.program.types;
        let size = types.size(ty).unwrap_or(0);
        if !self.changed(offset, size) {
            return;
        }
        if let Value::Union(name, _) = read_part(types, ty, self.after, offset)
            && let Some((field, _)) = crate::value::member(types, record, &name)
            && field.bits.is_none()
        {
            return self.value(field.ty, &format!("{lvalue}.{name}"), offset);
        }
        let named = types.records[record].fields.iter().find(|field| !field.name.is_empty());
        if let Some(named) = named {
            // An anonymous union has no name of its own, but its first member has its address.
            let address = match lvalue {
                "" => return,
                _ => format!("&{lvalue}.{}", named.name),
            };
            self.bytes(&address, offset, size, true);
        }
    }

    fn scalar(&mut self, ty: CTypeId, lvalue: &str, offset: u64, size: u64) {
        let types = &self.names.program.types;
        let is_number = !matches!(types.get(ty), CType::Pointer { .. });
        if size == 0 || !self.changed(offset, size) || is_number && self.held_address(offset, size)
        {
            return;
        }
        let value = read_part(types, ty, self.after, offset);
        match (&value, types.get(ty)) {
            (Value::Int { bits, .. }, CType::Int { kind: IntKind::Bool, .. }) if *bits > 1 => {
                self.bytes(&format!("&{lvalue}"), offset, size, true);
            }
            (Value::Int { width: 65.., .. }, _) => {
                self.bytes(&format!("&{lvalue}"), offset, size, true);
            }
            (Value::Int { bits, width, signed }, CType::Int { .. }) => {
                match scalar(self.names, ty, &value) {
                    Ok(text) if text.starts_with('\'') => self.call("int", lvalue, &text),
                    _ => self.integer(lvalue, *bits, *width, *signed),
                }
            }
            (Value::Int { bits, width, signed }, _) => self.integer(lvalue, *bits, *width, *signed),
            (Value::Enumerator(name), _) => self.call("int", lvalue, name),
            (Value::Float(bits), _) => {
                self.call("float", lvalue, &format!("{bits:#010x}U"));
            }
            (Value::Double(bits), _) => {
                self.call("double", lvalue, &format!("{bits:#018x}UL"));
            }
            (Value::Pointer(pointer), _) => self.pointer(pointer, lvalue),
            _ => self.bytes(&format!("&{lvalue}"), offset, size, true),
        }
    }

    fn integer(&mut self, place: &str, bits: u128, width: u16, signed: bool) {
        let kind = if signed { "int" } else { "unsigned" };
        self.call(kind, place, &super::literal::integer(bits, width, signed));
    }

    fn pointer(&mut self, pointer: &Pointer, lvalue: &str) {
        let seen = format!("(const void *){lvalue}");
        match pointer {
            Pointer::Unknown => self.lines.push(format!(
                "lydian_check_set(__LINE__, {}, {seen});",
                string(lvalue.as_bytes())
            )),
            _ => {
                if let Ok(expected) = self.names.pointer(pointer, None) {
                    let what = string(lvalue.as_bytes());
                    self.lines.push(format!(
                        "lydian_check_pointer(__LINE__, {what}, {seen}, {expected});"
                    ));
                }
            }
        }
    }

    fn call(&mut self, kind: &str, place: &str, expected: &str) {
        let what = string(place.as_bytes());
        self.lines.push(format!("lydian_check_{kind}(__LINE__, {what}, {place}, {expected});"));
    }

    /// Asserts the bytes at an address: those that changed, but for pointers among them. `part`
    /// says that the address is that of a part, shown as it is; else it is an array's.
    pub(super) fn bytes(&mut self, address: &str, offset: u64, size: u64, part: bool) {
        let end = (offset + size).min(self.after.image.bytes.len() as u64);
        let mut at = offset;
        while at < end {
            if !self.assertable(at) {
                at += 1;
                continue;
            }
            let mut stop = at;
            let mut last = at;
            while stop < end && stop - at < CHUNK as u64 && !self.is_pointer(stop) {
                if self.changed(stop, 1) {
                    last = stop;
                }
                stop += 1;
            }
            let bytes = &self.after.image.bytes[at as usize..=last as usize];
            let from = at - offset;
            let place = match (part, from) {
                (true, 0) => format!("(const char *){address}"),
                (true, _) => format!("(const char *){address} + {from}"),
                (false, 0) => address.to_owned(),
                (false, _) => format!("{address} + {from}"),
            };
            let what = string(place.trim_start_matches("(const char *)").as_bytes());
            let (expected, length) = (string(bytes), bytes.len());
            self.lines.push(format!(
                "lydian_check_bytes(__LINE__, {what}, {place}, {expected}, {length});"
            ));
            at = stop;
        }
    }

    fn assertable(&self, at: u64) -> bool {
        self.changed(at, 1) && !self.is_pointer(at)
    }

    fn is_pointer(&self, at: u64) -> bool {
        let covers = |start: u64| overlaps(start, (at, 1));
        self.after.unknown.iter().any(|start| covers(*start))
            || self.after.image.pointers.iter().any(|pointer| covers(pointer.offset))
    }

    /// Whether the test gave bytes the address of an object, which is another in each program.
    fn held_address(&self, offset: u64, size: u64) -> bool {
        let mut before = self.before.iter().flat_map(|before| &before.pointers);
        before.any(|pointer| overlaps(pointer.offset, (offset, size)))
    }

    /// Whether bytes are other than before, or pointers there.
    fn changed(&self, offset: u64, size: u64) -> bool {
        let Some(before) = &self.before else { return true };
        let range = offset as usize..(offset + size) as usize;
        let after = &self.plain;
        let inside = |at: u64| overlaps(at, (offset, size));
        let pointers = |image: &Image| {
            let found = image.pointers.iter().filter(|pointer| inside(pointer.offset));
            found.cloned().collect::<Vec<_>>()
        };
        before.bytes.get(range.clone()) != after.bytes.get(range)
            || pointers(before) != pointers(after)
            || self.after.unknown.iter().any(|at| inside(*at))
    }
}

/// Whether a pointer at an offset has a byte in a range that begins at another.
const fn overlaps(pointer: u64, (offset, size): (u64, u64)) -> bool {
    pointer < offset + size && offset < pointer + 8
}
