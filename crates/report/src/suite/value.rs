//! Images of memory as values of C types, the common ground of the JSON and C forms of a suite.
//!
//! [`read`] and [`write`] are inverse up to the bytes under pointers. If a typed value cannot express
//! all of an image (padding that is not zero, a union whose members disagree), it is [`Value::Raw`].

use std::collections::BTreeMap;

use lydian_ir::test::{Image, ImagePointer, PointerTarget};
use lydian_ir::{CType, CTypeId, CTypes, Field, IntKind, RecordId, Type};

use crate::suite::image::{BlockPointer, ObservedImage, plain};

/// A value of a C type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// The bits of an integer, zero-extended, with its width and whether it is signed.
    Int { bits: u128, width: u16, signed: bool },
    /// A declared constant of an enumeration, and whether it is known to be 0.
    Enumerator { name: String, is_zero: bool },
    /// The bits of a float.
    Float(u32),
    /// The bits of a double.
    Double(u64),
    /// The bits of a float of another type: `long double`, `_Float16`, `__bf16`.
    OtherFloat(Type, u128),
    /// A pointer.
    Pointer(Pointer),
    /// Elements; those after the last are zero.
    Array(Vec<Value>),
    /// Bytes of an array of characters; those after the last are zero.
    Text(Vec<u8>),
    /// Members by name, in order.
    Struct(Vec<(String, Value)>),
    /// One member of a union; what it does not cover is zero.
    Union(String, Box<Value>),
    /// Bytes and pointers.
    Raw(ObservedImage),
}

/// A pointer's value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Pointer {
    Null,
    To(PointerTarget),
    /// Other bits.
    Bits(u64),
    /// An address so many bytes into a block that the program allocated.
    Block(u32, u64),
    /// An address that may differ from run to run.
    Unknown,
}

/// An image that a type cannot express, with the place of the mismatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypeMismatch {
    pub(crate) path: String,
    pub(crate) why: String,
}

impl TypeMismatch {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self { path: String::new(), why: why.into() }
    }

    /// The same with one more step at the beginning of its path.
    pub(crate) fn inside(mut self, step: impl AsRef<str>) -> Self {
        self.path.insert_str(0, step.as_ref());
        self
    }
}

impl Value {
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Self::Int { bits, .. } => *bits == 0,
            Self::Float(bits) => *bits == 0,
            Self::Double(bits) => *bits == 0,
            Self::OtherFloat(_, bits) => *bits == 0,
            Self::Pointer(pointer) => *pointer == Pointer::Null,
            Self::Array(elements) => elements.iter().all(Self::is_zero),
            Self::Text(bytes) => bytes.iter().all(|byte| *byte == 0),
            Self::Struct(members) => members.iter().all(|(_, value)| value.is_zero()),
            Self::Union(_, value) => value.is_zero(),
            Self::Raw(raw) => {
                raw.unknown.is_empty()
                    && raw.blocks.is_empty()
                    && raw.image.pointers.is_empty()
                    && raw.image.bytes.iter().all(|byte| *byte == 0)
            }
            Self::Enumerator { is_zero, .. } => *is_zero,
        }
    }
}

/// The value of a type that fills a whole image: elements of it, as many as there are, or a lone
/// one. Exact, but for the bytes under pointers.
pub(crate) fn read(types: &CTypes, ty: CTypeId, count: u64, memory: &ObservedImage) -> Value {
    let size = memory.image.bytes.len() as u64;
    let value = if count == 1 {
        read_at(types, ty, memory, 0, size)
    } else {
        read_array(types, ty, count, memory, 0, size)
    };
    let mut copy = ObservedImage::zero(size);
    let exact = write(types, ty, count, &value, &mut copy).is_ok() && same(&copy, memory);
    if exact { value } else { Value::Raw(part(memory, 0, size)) }
}

/// The value of a type at an offset in memory.
pub(crate) fn read_part(types: &CTypes, ty: CTypeId, memory: &ObservedImage, offset: u64) -> Value {
    read_at(types, ty, memory, offset, memory.image.bytes.len() as u64)
}

/// Whether two memories are equal up to the bytes under pointers.
fn same(a: &ObservedImage, b: &ObservedImage) -> bool {
    plain(&a.image) == plain(&b.image) && a.unknown == b.unknown && a.blocks == b.blocks
}

/// Writes a value of [`read`] into an image of zero bytes. Bytes under pointers stay zero.
pub(crate) fn write(
    types: &CTypes,
    ty: CTypeId,
    count: u64,
    value: &Value,
    image: &mut ObservedImage,
) -> Result<(), TypeMismatch> {
    let size = image.image.bytes.len() as u64;
    let whole = matches!(value, Value::Raw(_));
    if count == 1 && !whole {
        write_at(types, ty, value, image, 0, size)?;
    } else {
        write_array(types, ty, count, value, image, 0, size)?;
    }
    image.image.pointers.sort_by_key(|pointer| pointer.offset);
    image.unknown.sort_unstable();
    image.blocks.sort_unstable_by_key(|pointer| pointer.offset);
    Ok(())
}

fn number(bytes: &[u8], offset: u64, size: u64) -> u128 {
    let start = (offset as usize).min(bytes.len());
    let end = ((offset + size) as usize).min(bytes.len());
    bytes[start..end].iter().rev().fold(0, |bits, byte| bits << 8 | u128::from(*byte))
}

fn read_at(types: &CTypes, ty: CTypeId, memory: &ObservedImage, offset: u64, end: u64) -> Value {
    let bytes = &memory.image.bytes;
    match types.get(ty) {
        CType::Int { bits, signed, .. } => Value::Int {
            bits: number(bytes, offset, u64::from(*bits).div_ceil(8)),
            width: u16::from(*bits),
            signed: *signed,
        },
        CType::Enum { underlying, constants, .. } => {
            let plain = read_at(types, *underlying, memory, offset, end);
            let Value::Int { bits, width, .. } = plain else { return plain };
            let named = constants.iter().find(|(_, value)| cut(*value as u128, width) == bits);
            named.map_or(plain, |(name, value)| Value::Enumerator {
                name: name.clone(),
                is_zero: *value == 0,
            })
        }
        CType::Float => Value::Float(number(bytes, offset, 4) as u32),
        CType::Double => Value::Double(number(bytes, offset, 8) as u64),
        CType::Float16 => Value::OtherFloat(Type::F16, number(bytes, offset, 2)),
        CType::BFloat16 => Value::OtherFloat(Type::BF16, number(bytes, offset, 2)),
        CType::LongDouble => Value::OtherFloat(Type::F80, number(bytes, offset, 10)),
        CType::Complex { element } => read_array(types, *element, 2, memory, offset, end),
        CType::Vector { element, length } => {
            read_array(types, *element, *length, memory, offset, end)
        }
        CType::Pointer { .. } => Value::Pointer(read_pointer(memory, offset)),
        CType::Array { element, length } => {
            let size = types.size(*element).unwrap_or(1).max(1);
            let length = length.unwrap_or(end.saturating_sub(offset) / size);
            read_array(types, *element, length, memory, offset, end)
        }
        CType::Record(record) if types.records[*record].is_union => {
            read_union(types, ty, *record, memory, offset)
        }
        CType::Record(record) => {
            let mut members = Vec::new();
            for field in &types.records[*record].fields {
                read_member(types, field, memory, offset, end, &mut members);
            }
            Value::Struct(members)
        }
        CType::Opaque { size, .. } => Value::Raw(part(memory, offset, *size)),
        CType::Void | CType::Function { .. } => Value::Raw(ObservedImage::default()),
    }
}

fn read_pointer(memory: &ObservedImage, offset: u64) -> Pointer {
    if memory.unknown.contains(&offset) {
        return Pointer::Unknown;
    }
    if let Some(found) = memory.blocks.iter().find(|pointer| pointer.offset == offset) {
        return Pointer::Block(found.block, found.at);
    }
    let known = memory.image.pointers.iter().find(|pointer| pointer.offset == offset);
    match (known, number(&memory.image.bytes, offset, 8) as u64) {
        (Some(pointer), _) => Pointer::To(pointer.target.clone()),
        (None, 0) => Pointer::Null,
        (None, bits) => Pointer::Bits(bits),
    }
}

fn read_array(
    types: &CTypes,
    element: CTypeId,
    length: u64,
    memory: &ObservedImage,
    offset: u64,
    end: u64,
) -> Value {
    let size = types.size(element).unwrap_or(1).max(1);
    if is_byte(types, element) {
        let room = |at: &&u64| offset <= **at && **at < offset + length;
        let mut led = memory.blocks.iter().map(|pointer| &pointer.offset);
        if memory.unknown.iter().any(|at| room(&at)) || led.any(|at| room(&at)) {
            return Value::Raw(part(memory, offset, length));
        }
        let start = (offset as usize).min(memory.image.bytes.len());
        let end = ((offset + length) as usize).min(memory.image.bytes.len());
        let mut bytes = memory.image.bytes[start..end].to_vec();
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        return Value::Text(bytes);
    }
    let elements = (0..length).map(|i| read_at(types, element, memory, offset + i * size, end));
    let mut elements: Vec<Value> = elements.collect();
    while elements.last().is_some_and(Value::is_zero) {
        elements.pop();
    }
    Value::Array(elements)
}

fn read_member(
    types: &CTypes,
    field: &Field,
    memory: &ObservedImage,
    offset: u64,
    end: u64,
    members: &mut Vec<(String, Value)>,
) {
    let at = offset + field.bit_offset / 8;
    if let Some(width) = field.bits {
        if !field.name.is_empty() {
            let storage = number(&memory.image.bytes, at, 16);
            let bits = cut(storage >> (field.bit_offset % 8), width);
            let signed = types.is_signed(field.ty);
            members.push((field.name.clone(), Value::Int { bits, width, signed }));
        }
        return;
    }
    let value = read_at(types, field.ty, memory, at, end);
    match value {
        // Members of an anonymous struct are the outer one's own.
        Value::Struct(inner) if field.name.is_empty() => members.extend(inner),
        Value::Union(name, inner) if field.name.is_empty() => members.push((name, *inner)),
        _ => members.push((field.name.clone(), value)),
    }
}

/// A union by the first member that expresses all of it, else raw.
fn read_union(
    types: &CTypes,
    ty: CTypeId,
    record: RecordId,
    memory: &ObservedImage,
    offset: u64,
) -> Value {
    let size = types.size(ty).unwrap_or(0);
    let own = part(memory, offset, size);
    for field in types.records[record].fields.iter().filter(|field| !field.name.is_empty()) {
        let mut members = Vec::new();
        read_member(types, field, &own, 0, size, &mut members);
        let Some((name, value)) = members.pop() else { continue };
        let value = Value::Union(name, Box::new(value));
        let mut copy = ObservedImage::zero(size);
        let written = write_at(types, ty, &value, &mut copy, 0, size);
        if written.is_ok() && same(&copy, &own) {
            return value;
        }
    }
    Value::Raw(own)
}

/// The bytes and pointers of a part of memory.
fn part(memory: &ObservedImage, offset: u64, size: u64) -> ObservedImage {
    let image = &memory.image;
    let start = (offset as usize).min(image.bytes.len());
    let end = ((offset + size) as usize).min(image.bytes.len());
    let inside = |at: u64| at.checked_sub(offset).filter(|moved| *moved < size);
    let pointers = image.pointers.iter().filter_map(|pointer| {
        let target = pointer.target.clone();
        Some(ImagePointer { offset: inside(pointer.offset)?, target })
    });
    let bytes = image.bytes[start..end].to_vec();
    let blocks = memory
        .blocks
        .iter()
        .filter_map(|pointer| Some(BlockPointer { offset: inside(pointer.offset)?, ..*pointer }));
    ObservedImage {
        image: plain(&Image { bytes, pointers: pointers.collect() }),
        unknown: memory.unknown.iter().filter_map(|at| inside(*at)).collect(),
        blocks: blocks.collect(),
        vague: Vec::new(),
    }
}

/// Whether an array of it is text or bytes.
pub(crate) fn is_byte(types: &CTypes, ty: CTypeId) -> bool {
    matches!(types.get(ty), CType::Int { kind, bits: 8, .. } if *kind != IntKind::Bool)
}

/// The low bits of a number.
pub(crate) fn cut(bits: u128, width: u16) -> u128 {
    if width >= 128 { bits } else { bits & ((1 << width) - 1) }
}

fn put(image: &mut ObservedImage, offset: u64, bits: u128, size: u64) -> Result<(), TypeMismatch> {
    let (start, end) = (offset as usize, (offset + size) as usize);
    let place = image.image.bytes.get_mut(start..end);
    let place = place.ok_or_else(|| TypeMismatch::new("there is no room for it"))?;
    place.copy_from_slice(&bits.to_le_bytes()[..end - start]);
    Ok(())
}

fn write_at(
    types: &CTypes,
    ty: CTypeId,
    value: &Value,
    image: &mut ObservedImage,
    offset: u64,
    end: u64,
) -> Result<(), TypeMismatch> {
    if let Value::Raw(raw) = value {
        return write_raw(raw, image, offset, types.size(ty).unwrap_or(end - offset));
    }
    match (types.get(ty), value) {
        (CType::Int { bits, .. }, Value::Int { bits: value, .. }) => {
            put(image, offset, cut(*value, u16::from(*bits)), u64::from(*bits).div_ceil(8))
        }
        (CType::Enum { constants, underlying, .. }, Value::Enumerator { name, .. }) => {
            let constant = constants.iter().find(|(known, _)| known == name);
            let why =
                || TypeMismatch::new(format!("{name} is no constant of {}", types.spell(ty, "")));
            let (_, value) = constant.ok_or_else(why)?;
            let size = types.size(*underlying).unwrap_or(4);
            put(image, offset, cut(*value as u128, size as u16 * 8), size)
        }
        (CType::Enum { underlying, .. }, Value::Int { .. }) => {
            write_at(types, *underlying, value, image, offset, end)
        }
        (CType::Float, Value::Float(bits)) => put(image, offset, u128::from(*bits), 4),
        (CType::Double, Value::Double(bits)) => put(image, offset, u128::from(*bits), 8),
        (CType::Float16 | CType::BFloat16 | CType::LongDouble, Value::OtherFloat(ty, bits)) => {
            put(image, offset, *bits, ty.bytes())
        }
        (CType::Complex { element }, _) => {
            write_array(types, *element, 2, value, image, offset, end)
        }
        (CType::Vector { element, length }, _) => {
            write_array(types, *element, *length, value, image, offset, end)
        }
        (CType::Pointer { .. }, Value::Pointer(pointer)) => {
            let bits = if let Pointer::Bits(bits) = pointer { *bits } else { 0 };
            put(image, offset, bits.into(), 8)?;
            match pointer {
                Pointer::To(target) => {
                    image.image.pointers.push(ImagePointer { offset, target: target.clone() });
                }
                Pointer::Unknown => image.unknown.push(offset),
                Pointer::Block(block, at) => {
                    image.blocks.push(BlockPointer { offset, block: *block, at: *at });
                }
                Pointer::Null | Pointer::Bits(_) => {}
            }
            Ok(())
        }
        (CType::Array { element, length }, _) => {
            let size = types.size(*element).unwrap_or(1).max(1);
            let length = length.unwrap_or(end.saturating_sub(offset) / size);
            write_array(types, *element, length, value, image, offset, end)
        }
        (CType::Record(record), Value::Struct(members)) => {
            for (name, value) in members {
                write_member(types, *record, name, value, image, offset, end)
                    .map_err(|misfit| misfit.inside(format!(".{name}")))?;
            }
            Ok(())
        }
        (CType::Record(record), Value::Union(name, value)) => {
            write_member(types, *record, name, value, image, offset, end)
                .map_err(|misfit| misfit.inside(format!(".{name}")))
        }
        _ => Err(TypeMismatch::new(format!("it is no value of type {}", types.spell(ty, "")))),
    }
}

fn write_raw(
    raw: &ObservedImage,
    image: &mut ObservedImage,
    offset: u64,
    size: u64,
) -> Result<(), TypeMismatch> {
    let bytes = &raw.image.bytes;
    if bytes.len() as u64 > size {
        return Err(TypeMismatch::new(format!("{} bytes do not fit {size}", bytes.len())));
    }
    let mut pointers =
        raw.image.pointers.iter().map(|pointer| pointer.offset).chain(raw.unknown.iter().copied());
    if let Some(at) = pointers.find(|at| at + 8 > bytes.len() as u64) {
        return Err(TypeMismatch::new(format!("there is no room for the pointer at {at}")));
    }
    let start = offset as usize;
    let place = image.image.bytes.get_mut(start..start + bytes.len());
    place.ok_or_else(|| TypeMismatch::new("there is no room for it"))?.copy_from_slice(bytes);
    for pointer in &raw.image.pointers {
        let target = pointer.target.clone();
        image.image.pointers.push(ImagePointer { offset: offset + pointer.offset, target });
    }
    image.unknown.extend(raw.unknown.iter().map(|at| offset + at));
    let moved =
        |pointer: &BlockPointer| BlockPointer { offset: offset + pointer.offset, ..*pointer };
    image.blocks.extend(raw.blocks.iter().map(moved));
    Ok(())
}

fn write_array(
    types: &CTypes,
    element: CTypeId,
    length: u64,
    value: &Value,
    image: &mut ObservedImage,
    offset: u64,
    end: u64,
) -> Result<(), TypeMismatch> {
    let size = types.size(element).unwrap_or(1).max(1);
    let given = match value {
        Value::Raw(raw) => return write_raw(raw, image, offset, end - offset),
        Value::Text(bytes) if is_byte(types, element) => bytes.len(),
        Value::Array(elements) => elements.len(),
        _ => {
            let ty = types.spell(element, "");
            return Err(TypeMismatch::new(format!("it is no array of {ty}")));
        }
    };
    if given as u64 > length {
        return Err(TypeMismatch::new(format!(
            "it has {given} elements where there is room for {length}"
        )));
    }
    match value {
        Value::Text(bytes) => {
            let text = Image { bytes: bytes.clone(), pointers: Vec::new() };
            write_raw(&text.into(), image, offset, length)
        }
        Value::Array(elements) => {
            for (index, value) in elements.iter().enumerate() {
                let at = offset + index as u64 * size;
                write_at(types, element, value, image, at, end)
                    .map_err(|misfit| misfit.inside(format!("[{index}]")))?;
            }
            Ok(())
        }
        _ => unreachable!("other values were refused above"),
    }
}

/// A member by name: its field and offset in bits, found in anonymous members too.
pub(crate) fn member<'a>(
    types: &'a CTypes,
    record: RecordId,
    name: &str,
) -> Option<(&'a Field, u64)> {
    for field in &types.records[record].fields {
        if field.name == name && !name.is_empty() {
            return Some((field, field.bit_offset));
        }
        if field.name.is_empty()
            && field.bits.is_none()
            && let CType::Record(inner) = types.get(field.ty)
            && let Some((found, offset)) = member(types, *inner, name)
        {
            return Some((found, field.bit_offset + offset));
        }
    }
    None
}

fn write_member(
    types: &CTypes,
    record: RecordId,
    name: &str,
    value: &Value,
    image: &mut ObservedImage,
    offset: u64,
    end: u64,
) -> Result<(), TypeMismatch> {
    if name.is_empty() {
        // An anonymous union that only raw bytes express.
        let anonymous = types.records[record]
            .fields
            .iter()
            .find(|field| field.name.is_empty() && field.bits.is_none());
        let field = anonymous.ok_or_else(|| TypeMismatch::new("there is no anonymous member"))?;
        return write_at(types, field.ty, value, image, offset + field.bit_offset / 8, end);
    }
    let found = member(types, record, name);
    let (field, bit_offset) = found.ok_or_else(|| TypeMismatch::new("there is no such member"))?;
    let at = offset + bit_offset / 8;
    let Some(width) = field.bits else {
        return write_at(types, field.ty, value, image, at, end);
    };
    let Value::Int { bits, .. } = value else {
        return Err(TypeMismatch::new("a bit-field is an integer"));
    };
    let shift = bit_offset % 8;
    let size = (shift + u64::from(width)).div_ceil(8);
    let mask = cut(u128::MAX, width) << shift;
    let storage = number(&image.image.bytes, at, size);
    put(image, at, storage & !mask | (cut(*bits, width) << shift), size)
}

/// The offsets at which elements of a type may have pointers, in order, and whether each surely is
/// one. In a union, and in bytes behind a `void *`, that is not sure.
pub(crate) fn pointer_offsets(
    types: &CTypes,
    ty: CTypeId,
    count: u64,
    bytes: u64,
) -> Vec<(u64, bool)> {
    let mut found = BTreeMap::new();
    let size = types.size(ty).unwrap_or(1).max(1);
    if is_byte(types, ty) {
        found.extend((0..count * size).step_by(8).map(|at| (at, false)));
    } else {
        for index in 0..count {
            add_pointer_offsets(types, ty, index * size, bytes, true, &mut found);
        }
    }
    found.into_iter().filter(|(at, _)| at + 8 <= bytes).collect()
}

fn add_pointer_offsets(
    types: &CTypes,
    ty: CTypeId,
    offset: u64,
    bytes: u64,
    sure: bool,
    found: &mut BTreeMap<u64, bool>,
) {
    match types.get(ty) {
        CType::Pointer { .. } => {
            found.insert(offset, sure);
        }
        CType::Array { element, length } => {
            let size = types.size(*element).unwrap_or(1).max(1);
            let length = length.unwrap_or(bytes.saturating_sub(offset) / size);
            for index in 0..length {
                add_pointer_offsets(types, *element, offset + index * size, bytes, sure, found);
            }
        }
        CType::Record(record) => {
            let record = &types.records[*record];
            let sure = sure && !record.is_union;
            for field in record.fields.iter().filter(|field| field.bits.is_none()) {
                let at = offset + field.bit_offset / 8;
                add_pointer_offsets(types, field.ty, at, bytes, sure, found);
            }
        }
        _ => {}
    }
}
