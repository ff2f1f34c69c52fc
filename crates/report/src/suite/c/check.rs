//! Assertions on the memory after a call.

use std::collections::BTreeSet;

use lydian_ir::test::{Image, PointerTarget};
use lydian_ir::{CType, CTypeId, Field, IntKind, RecordId};

use super::assertion::{Assertion, Line};
use super::literal::{Names, array, is_literal, member_of, scalar, string, unique};
use crate::suite::image::{ObservedImage, plain};
use crate::suite::value::{Pointer, Value, is_byte, read_part};

/// Greatest number of bytes in one assertion.
const CHUNK: usize = 64;

/// The fewest zeros at the end of an expected value that are left out.
const PADDING: usize = 4;

/// The number of consecutive numbers from which on they are compared as an array.
const MANY: u64 = 3;

/// Greatest number of assertions on blocks that a call allocated.
const MOST_OF_BLOCKS: usize = 16;

/// Writes the assertions on one piece of memory.
pub(super) struct Checks<'a, 'b> {
    names: &'a Names<'a>,
    after: &'a ObservedImage,
    /// The contents after the call, without the bytes under pointers.
    plain: Image,
    /// The contents before the call, if only changes are asserted.
    before: Option<Image>,
    shared: &'a mut Shared<'b>,
    pub(super) lines: Vec<Line>,
}

/// The state that all assertions of a test share.
pub(super) struct Shared<'b> {
    /// Names that are taken in the test.
    pub(super) taken: &'b mut BTreeSet<String>,
    /// The blocks that the call allocated.
    blocks: &'b [ObservedImage],
    /// For each block, the first pointer to its start that was met.
    paths: Vec<Option<String>>,
    /// Those pointers, in the order in which they were met, each with whether it leads to constants.
    met: Vec<(String, bool)>,
    /// The number of further assertions on blocks that are allowed.
    left: usize,
}

impl<'b> Shared<'b> {
    pub(super) fn new(taken: &'b mut BTreeSet<String>, blocks: &'b [ObservedImage]) -> Self {
        let paths = vec![None; blocks.len()];
        Self { taken, blocks, paths, met: Vec::new(), left: MOST_OF_BLOCKS }
    }

    /// Whether no block was met since the last time.
    pub(super) fn is_empty(&self) -> bool {
        self.met.is_empty()
    }

    /// The pointers to the blocks that were met since the last time, those that others lie behind last.
    pub(super) fn take_met(&mut self) -> Vec<(String, bool)> {
        let mut met = std::mem::take(&mut self.met);
        met.reverse();
        met
    }
}

impl<'a, 'b> Checks<'a, 'b> {
    pub(super) fn new(
        names: &'a Names<'a>,
        after: &'a ObservedImage,
        before: Option<&Image>,
        shared: &'a mut Shared<'b>,
    ) -> Self {
        Self {
            names,
            after,
            plain: plain(&after.image),
            before: before.map(plain),
            shared,
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
        // Padding of a struct may be undetermined beside members that are not.
        let parts = if matches!(types.get(element), CType::Record(_)) { 1 } else { size };
        let changed = |index: &u64| {
            let from = offset + index * size;
            (from..from + size).step_by(parts as usize).any(|at| self.changed(at, parts))
        };
        let changed: Vec<u64> = (0..count).filter(changed).collect();
        if let [first, .., last] = changed[..]
            && changed.len() as u64 > MANY
            && self.numbers(element, (first, last + 1 - first), lvalue, offset)
        {
            return;
        }
        for index in changed {
            self.value(element, &format!("{lvalue}[{index}]"), offset + index * size);
        }
    }

    /// Asserts some numbers of an array as an array. Returns whether the elements are numbers.
    fn numbers(
        &mut self,
        element: CTypeId,
        (first, count): (u64, u64),
        lvalue: &str,
        offset: u64,
    ) -> bool {
        let types = &self.names.program.types;
        let is_number = matches!(types.get(element), CType::Int { bits: ..=64, kind, .. } if *kind != IntKind::Bool);
        let size = types.size(element).unwrap_or(1).max(1);
        if !is_number || self.held_address(offset + first * size, count * size) {
            return false;
        }
        let at = |index: u64| read_part(types, element, self.after, offset + index * size);
        let values: Vec<Value> = (first..first + count).map(at).collect();
        let Ok(text) = array(self.names, element, &values) else { return false };
        let expected = unique("expected".to_owned(), self.shared.taken);
        let declared = types.spell_compiled(element, &format!("{expected}[{count}]"));
        let seen = if first == 0 { lvalue.to_owned() } else { format!("&{lvalue}[{first}]") };
        self.lines.push(Line::Text(format!("const {declared} = {text};")));
        self.lines.push(Line::Assert(Assertion::Same { seen, expected }));
        true
    }

    fn members(&mut self, record: RecordId, lvalue: &str, offset: u64) {
        let program = self.names.program;
        for field in &program.types.records[record].fields {
            let at = offset + field.bit_offset / 8;
            // Members of an anonymous member are named as the outer one's own.
            let place = match field.name.as_str() {
                "" => lvalue.to_owned(),
                name => member_of(lvalue, name),
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

    /// A union by the member that expresses all of it, else by those of its bytes that are no
    /// pointers.
    fn union(&mut self, ty: CTypeId, record: RecordId, lvalue: &str, offset: u64) {
        let types = &self.names.program.types;
        let size = types.size(ty).unwrap_or(0);
        // Padding of a member may be undetermined.
        if !(offset..offset + size).any(|at| self.changed(at, 1)) {
            return;
        }
        if let Some(field) = self.not_a_number(record, offset) {
            return self.value(field.ty, &member_of(lvalue, &field.name), offset);
        }
        if let Value::Union(name, _) = read_part(types, ty, self.after, offset)
            && let Some((field, _)) = crate::suite::value::member(types, record, &name)
            && field.bits.is_none()
        {
            return self.value(field.ty, &member_of(lvalue, &name), offset);
        }
        let named = types.records[record].fields.iter().find(|field| !field.name.is_empty());
        if let Some(named) = named {
            // An anonymous union has no name of its own, but its first member has its address.
            let address = match lvalue {
                "" => return,
                _ => format!("&{}", member_of(lvalue, &named.name)),
            };
            self.bytes(&address, offset, size, true);
        }
    }

    /// The member of a union that is no number, if one is. The sign of such a value and its other bits
    /// differ between compilers, so no other member may express it.
    fn not_a_number(&self, record: RecordId, offset: u64) -> Option<&Field> {
        let types = &self.names.program.types;
        let mut named = types.records[record].fields.iter().filter(|field| !field.name.is_empty());
        named.find(|field| {
            let image = &self.after.image.bytes;
            let Some(bytes) = image.get(offset as usize..) else { return false };
            match types.get(field.ty) {
                CType::Double => {
                    bytes.first_chunk().is_some_and(|bytes| f64::from_le_bytes(*bytes).is_nan())
                }
                _ => false,
            }
        })
    }

    fn scalar(&mut self, ty: CTypeId, lvalue: &str, offset: u64, size: u64) {
        let types = &self.names.program.types;
        let is_number = !matches!(types.get(ty), CType::Pointer { .. });
        if size == 0 || !self.changed(offset, size) {
            return;
        }
        let has_address = || {
            self.held_address(offset, size) || (offset..offset + size).any(|at| self.is_pointer(at))
        };
        if is_number && has_address() {
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
                    Ok(expected) if expected.starts_with('\'') => {
                        self.push(Assertion::Int { seen: lvalue.to_owned(), expected });
                    }
                    _ => self.integer(lvalue, *bits, *width, *signed),
                }
            }
            (Value::Int { bits, width, signed }, _) => self.integer(lvalue, *bits, *width, *signed),
            (Value::Enumerator { name, .. }, _) => {
                self.push(Assertion::Int { seen: lvalue.to_owned(), expected: name.clone() });
            }
            (Value::Float(bits), _) => {
                let expected = super::literal::single_or_nan(*bits);
                self.push(Assertion::Float { seen: lvalue.to_owned(), expected });
            }
            (Value::Double(bits), _) => {
                let expected = super::literal::double_or_nan(*bits);
                self.push(Assertion::Double { seen: lvalue.to_owned(), expected });
            }
            (Value::Pointer(pointer), _) => self.pointer(pointer, lvalue, ty),
            _ => self.bytes(&format!("&{lvalue}"), offset, size, true),
        }
    }

    fn push(&mut self, assertion: Assertion) {
        self.lines.push(Line::Assert(assertion));
    }

    fn integer(&mut self, place: &str, bits: u128, width: u16, signed: bool) {
        let (seen, expected) = (place.to_owned(), super::literal::integer(bits, width, signed));
        self.push(match signed {
            true => Assertion::Int { seen, expected },
            false => Assertion::Unsigned { seen, expected },
        });
    }

    fn pointer(&mut self, pointer: &Pointer, lvalue: &str, ty: CTypeId) {
        let seen = lvalue.to_owned();
        match pointer {
            Pointer::Block(block, at) => self.block(*block as usize, *at, lvalue, ty),
            Pointer::Unknown => self.push(Assertion::NotNull { seen }),
            Pointer::To(PointerTarget::Global(name, offset)) if is_literal(name) => {
                self.push(match self.text_of_literal(name, *offset, ty) {
                    Some(expected) => Assertion::Text { seen, expected },
                    None => Assertion::NotNull { seen },
                });
            }
            _ => {
                if let Ok(expected) = self.address(pointer, ty) {
                    self.push(Assertion::Pointer { seen, expected });
                }
            }
        }
    }

    /// The text at a place of a string literal of the program, if the type is that of a pointer to bytes.
    /// Equal literals of a program may have one address or several.
    fn text_of_literal(&self, name: &str, offset: u64, ty: CTypeId) -> Option<String> {
        let program = self.names.program;
        program.types.pointee(ty).filter(|pointee| is_byte(&program.types, *pointee))?;
        let bytes = Image::initial(program, program.global_named(name)?).bytes;
        let bytes = bytes.get(offset as usize..)?;
        let length = bytes.iter().position(|byte| *byte == 0)?;
        Some(string(&bytes[..length]))
    }

    /// The target of a pointer of a type, as an expression. A member is named if its type is that of
    /// the pointer.
    fn address(&self, pointer: &Pointer, ty: CTypeId) -> Result<String, String> {
        let plain = self.names.pointer(pointer, None)?;
        if !plain.contains("(char *)") {
            return Ok(plain);
        }
        let pointee = self.names.program.types.pointee(ty);
        let typed = self.names.pointer(pointer, pointee)?;
        Ok(if typed.contains('*') { plain } else { typed })
    }

    /// Asserts the contents of an allocated block behind a pointer into it.
    fn block(&mut self, block: usize, at: u64, lvalue: &str, ty: CTypeId) {
        let seen = lvalue.to_owned();
        if let Some(path) = self.shared.paths.get(block).and_then(Option::as_ref) {
            let expected = match at {
                0 => path.clone(),
                _ => format!("(char *){path} + {at}"),
            };
            return self.push(Assertion::Pointer { seen, expected });
        }
        let types = &self.names.program.types;
        let memory = match self.shared.blocks.get(block) {
            Some(memory) if at == 0 && self.shared.left > 0 => memory,
            _ => return self.push(Assertion::NotNull { seen }),
        };
        self.shared.paths[block] = Some(seen.clone());
        let to_const = matches!(types.get(ty), CType::Pointer { to_const: true, .. });
        self.shared.met.push((seen.clone(), to_const));
        let before = self.lines.len();
        let bytes = memory.image.bytes.len() as u64;
        if let Some(ty) = types.pointee(ty)
            && let Some(size) = types.size(ty).filter(|size| *size > 0 && *size <= bytes)
        {
            let mut inner = Checks::new(self.names, memory, None, self.shared);
            match bytes / size {
                1 if !is_byte(types, ty) => {
                    let is_record = matches!(types.get(ty), CType::Record(_));
                    let whole =
                        if is_record { format!("(*{lvalue})") } else { format!("*{lvalue}") };
                    inner.value(ty, &whole, 0);
                }
                count => inner.elements(ty, count, lvalue, 0),
            }
            let mut lines = inner.lines;
            lines.truncate(self.shared.left);
            self.shared.left -= lines.len();
            self.lines.extend(lines);
        }
        if self.lines.len() == before {
            self.push(Assertion::NotNull { seen });
        }
    }

    /// Asserts the bytes at an address that changed, without pointers among them. With `part` the
    /// address is that of a part, shown as it is; else it is an array's.
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
            while stop < end
                && stop - at < CHUNK as u64
                && !self.is_pointer(stop)
                && !self.after.is_vague(stop, 1)
            {
                if self.changed(stop, 1) {
                    last = stop;
                }
                stop += 1;
            }
            let zeros = self.zeros(at, end);
            if zeros > CHUNK as u64 {
                (stop, last) = (at + zeros, at + zeros - 1);
            }
            let from = at - offset;
            if !part
                && from == 0
                && let Some(text) = self.text(at, last + 1)
            {
                let (seen, expected) = (address.to_owned(), string(text));
                self.push(Assertion::Text { seen, expected });
                at = stop;
                continue;
            }
            let bytes = &self.after.image.bytes[at as usize..=last as usize];
            let seen = match (part, from) {
                (true, 0) => format!("(const char *){address}"),
                (true, _) => format!("(const char *){address} + {from}"),
                (false, 0) => address.to_owned(),
                (false, _) => format!("{address} + {from}"),
            };
            let size = bytes.len();
            let expected = padded(bytes).unwrap_or_else(|| string(bytes));
            self.push(Assertion::Bytes { seen, expected, size });
            at = stop;
        }
    }

    /// How many zeros begin at a place that are to be asserted.
    fn zeros(&self, at: u64, end: u64) -> u64 {
        let is_zero = |at: &u64| self.after.image.bytes[*at as usize] == 0 && self.assertable(*at);
        (at..end).take_while(is_zero).count() as u64
    }

    /// The text that begins at a place, if it ends where bytes end that are to be asserted.
    fn text(&self, from: u64, end: u64) -> Option<&[u8]> {
        let bytes = self.after.image.bytes.get(from as usize..)?;
        let length = bytes.iter().position(|byte| *byte == 0)?;
        let is_text = |byte: &u8| (b' '..=b'~').contains(byte) || matches!(byte, b'\n' | b'\t');
        let ends = length as u64 + 1 >= end - from;
        // A single zero is a text only if there is no room for anything else.
        let is_all = bytes.len() == 1;
        ((length > 0 || is_all) && ends && bytes[..length].iter().all(is_text))
            .then_some(&bytes[..length])
    }

    fn assertable(&self, at: u64) -> bool {
        self.changed(at, 1) && !self.is_pointer(at)
    }

    fn is_pointer(&self, at: u64) -> bool {
        let covers = |start: u64| overlaps(start, (at, 1));
        self.after.unknown.iter().any(|start| covers(*start))
            || self.after.blocks.iter().any(|pointer| covers(pointer.offset))
            || self.after.image.pointers.iter().any(|pointer| covers(pointer.offset))
    }

    /// Whether the test put the address of an object into bytes. The address differs in each program.
    fn held_address(&self, offset: u64, size: u64) -> bool {
        let mut before = self.before.iter().flat_map(|before| &before.pointers);
        before.any(|pointer| overlaps(pointer.offset, (offset, size)))
    }

    /// Whether bytes have changed, or pointers there.
    fn changed(&self, offset: u64, size: u64) -> bool {
        if self.after.is_vague(offset, size) {
            return false;
        }
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
            || self.after.blocks.iter().any(|pointer| inside(pointer.offset))
    }
}

/// Whether a pointer at an offset has a byte in a range that begins at another.
const fn overlaps(pointer: u64, (offset, size): (u64, u64)) -> bool {
    pointer < offset + size && offset < pointer + 8
}

/// Bytes that end in several zeros, as an array whose initialiser leaves these out.
fn padded(bytes: &[u8]) -> Option<String> {
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let initialiser = match used {
        0 => "0".to_owned(),
        _ => string(&bytes[..used]),
    };
    (bytes.len() - used >= PADDING).then(|| format!("(char[{}]){{ {initialiser} }}", bytes.len()))
}
