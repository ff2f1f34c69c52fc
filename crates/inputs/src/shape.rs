//! What lies where in a value of a C type, as memory that comes into being part by part sees it.
//!
//! A type is cut into *parts*, each of which gets one symbol: a number, a pointer, or up to eight
//! bytes for which the type says nothing that one symbol could follow (padding, bit-fields, unions,
//! `__float128`). Every byte belongs to exactly one part, so that reads of any size agree.

use std::sync::Arc;

use lydian_ir::{CType, CTypeId, CTypes, IntKind, RecordId, Type};

/// Most bytes of a part without a type of its own.
const RAW: u64 = 8;

/// A C type, cut into parts. Arrays and nested records are kept as such, so that a shape is as small
/// as the type's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number of a machine type.
    Number {
        /// The C type.
        ty: CTypeId,
        /// How it is computed with.
        machine: Type,
        /// What values it can have.
        values: Values,
    },
    /// A pointer of a C type.
    Pointer(CTypeId),
    /// Bytes without a type.
    Raw {
        /// How many.
        size: u64,
    },
    /// Elements one after the other.
    Array {
        /// One of them.
        element: Arc<Shape>,
        /// Bytes of one.
        size: u64,
        /// How many.
        count: u64,
    },
    /// Members, sorted by offset, that leave no byte out.
    Record {
        /// Bytes.
        size: u64,
        /// The members, and the gaps between them.
        members: Vec<Member>,
        /// The flexible array member.
        tail: Option<Tail>,
    },
}

/// The values of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// All that its bits can say.
    All,
    /// 0 and 1.
    Bool,
}

/// A member of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its first byte.
    pub offset: u64,
    /// How many bytes it takes.
    pub size: u64,
    /// Its name; none for an anonymous one.
    pub name: Option<String>,
    /// What it is.
    pub shape: Arc<Shape>,
}

/// A flexible array member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Its first byte.
    pub offset: u64,
    /// Bytes of an element.
    pub size: u64,
    /// Its name.
    pub name: Option<String>,
    /// One element.
    pub element: Arc<Shape>,
}

/// A part of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its first byte, from the start of the shape.
    pub offset: u64,
    /// What it is.
    pub kind: PartKind,
    /// How C names it within the shape: `.left`, `.rows[2]`; empty for the shape itself.
    pub path: String,
}

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A number.
    Number(Type, Values),
    /// A pointer of a C type.
    Pointer(CTypeId),
    /// So many bytes, at most eight.
    Raw(u64),
}

impl PartKind {
    /// How many bytes it takes.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Number(machine, _) => machine.bytes(),
            Self::Pointer(_) => Type::Ptr.bytes(),
            Self::Raw(size) => size,
        }
    }
}

impl Shape {
    /// The shape of a complete type; of what has no size, a byte.
    pub fn of(types: &CTypes, ty: CTypeId) -> Self {
        match types.get(ty) {
            CType::Int { kind, .. } => {
                let values = if *kind == IntKind::Bool { Values::Bool } else { Values::All };
                Self::number(types, ty, values)
            }
            CType::Enum { .. } | CType::Float | CType::Double => {
                Self::number(types, ty, Values::All)
            }
            CType::Pointer { .. } => Self::Pointer(ty),
            CType::Array { element, length } => Self::array(types, *element, length.unwrap_or(0)),
            CType::Complex { element } => Self::array(types, *element, 2),
            CType::Vector { element, length } => Self::array(types, *element, *length),
            CType::Record(record) => Self::record(types, *record),
            CType::Opaque { .. } | CType::Float16 | CType::BFloat16 | CType::LongDouble => {
                Self::Raw { size: types.size(ty).unwrap_or(1) }
            }
            CType::Void | CType::Function { .. } => Self::Raw { size: 1 },
        }
    }

    fn number(types: &CTypes, ty: CTypeId, values: Values) -> Self {
        match types.scalar(ty) {
            Some(machine) => Self::Number { ty, machine, values },
            None => Self::Raw { size: types.size(ty).unwrap_or(1) },
        }
    }

    fn array(types: &CTypes, element: CTypeId, count: u64) -> Self {
        let size = types.size(element).unwrap_or(1).max(1);
        Self::Array { element: Arc::new(Self::of(types, element)), size, count }
    }

    fn record(types: &CTypes, id: RecordId) -> Self {
        let record = &types.records[id];
        let size = record.size.unwrap_or(1).max(1);
        if record.is_union {
            return Self::Raw { size };
        }
        let mut members: Vec<Member> = Vec::new();
        let mut tail = None;
        let mut end = 0;
        for (at, field) in record.fields.iter().enumerate() {
            let offset = field.bit_offset / 8;
            let name = Some(field.name.clone()).filter(|name| !name.is_empty());
            if field.bits.is_some() {
                continue; // its bytes are a gap
            }
            if let CType::Array { element, length: None | Some(0) } = types.get(field.ty)
                && at + 1 == record.fields.len()
            {
                let (element, size) = (*element, types.size(*element).unwrap_or(1).max(1));
                let element = Arc::new(Self::of(types, element));
                tail = Some(Tail { offset, size, name, element });
                continue;
            }
            let bytes = types.size(field.ty).unwrap_or(0);
            if bytes == 0 {
                continue;
            }
            add_gap(&mut members, end, offset);
            let shape = Arc::new(Self::of(types, field.ty));
            members.push(Member { offset, size: bytes, name, shape });
            end = offset + bytes;
        }
        add_gap(&mut members, end, size);
        Self::Record { size, members, tail }
    }

    /// How many bytes it takes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Number { machine, .. } => machine.bytes(),
            Self::Pointer(_) => Type::Ptr.bytes(),
            Self::Raw { size } | Self::Record { size, .. } => *size,
            Self::Array { size, count, .. } => size * count,
        }
    }

    /// The part that a byte of the shape belongs to.
    pub fn part_at(&self, at: u64) -> Part {
        let mut path = String::new();
        let (mut shape, mut start) = (self, 0);
        loop {
            match shape {
                Self::Number { machine, values, .. } => {
                    return Part { offset: start, kind: PartKind::Number(*machine, *values), path };
                }
                Self::Pointer(ty) => {
                    return Part { offset: start, kind: PartKind::Pointer(*ty), path };
                }
                Self::Raw { size } => {
                    let within = (at - start) / RAW * RAW;
                    let bytes = RAW.min(size - within);
                    if *size > RAW {
                        path.push_str(&format!(".byte{within}"));
                    }
                    return Part { offset: start + within, kind: PartKind::Raw(bytes), path };
                }
                Self::Array { element, size, .. } => {
                    let index = (at - start) / size;
                    path.push_str(&format!("[{index}]"));
                    (shape, start) = (element, start + index * size);
                }
                Self::Record { members, .. } => {
                    let after = members.partition_point(|member| start + member.offset <= at);
                    let member = &members[after - 1];
                    if let Some(name) = &member.name {
                        path.push('.');
                        path.push_str(name);
                    } else if matches!(*member.shape, Self::Raw { .. }) {
                        path.push_str(&format!(".gap{}", member.offset));
                    }
                    (shape, start) = (&member.shape, start + member.offset);
                }
            }
        }
    }

    /// The innermost array around a byte whose elements divide a distance: its first byte, the bytes
    /// of an element, and how many there are.
    pub fn array_around(&self, at: u64, distance: u64) -> Option<(u64, u64, u64)> {
        let mut found = None;
        let (mut shape, mut start) = (self, 0);
        loop {
            match shape {
                Self::Array { element, size, count } => {
                    if distance.is_multiple_of(*size) {
                        found = Some((start, *size, *count));
                    }
                    let index = (at - start) / size;
                    (shape, start) = (element, start + index * size);
                }
                Self::Record { members, .. } => {
                    let after = members.partition_point(|member| start + member.offset <= at);
                    let member = &members[after - 1];
                    (shape, start) = (&member.shape, start + member.offset);
                }
                Self::Number { .. } | Self::Pointer(_) | Self::Raw { .. } => return found,
            }
        }
    }
}

/// Adds the bytes between two members.
fn add_gap(members: &mut Vec<Member>, from: u64, to: u64) {
    if from < to {
        let shape = Arc::new(Shape::Raw { size: to - from });
        members.push(Member { offset: from, size: to - from, name: None, shape });
    }
}
