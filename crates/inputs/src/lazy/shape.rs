//! The layout of a value of a C type for lazy initialisation, which creates values part by part.
//!
//! A type is cut into *parts*, each of which gets one symbol: a number, a pointer, or up to eight bytes
//! without a type that one symbol could follow (padding, bit-fields, unions, `__float128`). Every byte
//! belongs to exactly one part, so reads of any size agree.

use std::sync::Arc;

use lydian_ir::{CType, CTypeId, CTypes, IntKind, RecordId, Type};
use smallvec::SmallVec;

/// Most bytes of a part without a type of its own.
const RAW: u64 = 8;

/// A C type, cut into parts. Arrays and nested records are kept as such, so that a shape is as small as
/// the type's declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number of a machine type.
    Number {
        /// The C type.
        ty: CTypeId,
        /// The machine type that it is computed with.
        machine: Type,
        /// The values that it can have.
        values: Values,
    },
    /// A pointer of a C type.
    Pointer(CTypeId),
    /// Bytes without a type.
    Raw {
        /// The number of bytes.
        size: u64,
    },
    /// Elements one after the other.
    Array {
        /// The shape of one element.
        element: Arc<Shape>,
        /// Bytes of one.
        size: u64,
        /// The number of elements.
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
    /// All values of its bits.
    All,
    /// 0 and 1.
    Bool,
}

/// A member of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its first byte.
    pub offset: u64,
    /// The number of its bytes.
    pub size: u64,
    /// Its name; none for an anonymous one.
    pub name: Option<String>,
    /// Its kind.
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

/// A part of a shape, and its position among the equal parts of the arrays around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first byte of the first of these parts, from the start of the shape.
    pub first: u64,
    /// Its kind.
    pub kind: PartKind,
    /// The arrays within the shape that contain them, the outermost first.
    pub arrays: Arrays,
    /// Its number among them.
    pub number: u64,
}

/// Arrays around a part, the outermost first.
pub type Arrays = SmallVec<[ArrayAround; 2]>;

/// An array around a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayAround {
    /// The number of its elements.
    pub count: u64,
    /// Bytes of an element.
    pub stride: u64,
}

/// The number of equal parts in some nested arrays.
pub fn count_in(arrays: &[ArrayAround]) -> u64 {
    arrays.iter().map(|array| array.count).product()
}

/// The distance of a part from the first one of the arrays around it.
pub fn distance_in(arrays: &[ArrayAround], number: u64) -> u64 {
    let (mut left, mut distance) = (number, 0);
    for array in arrays.iter().rev() {
        distance += left % array.count * array.stride;
        left /= array.count;
    }
    distance
}

/// The kind of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A number.
    Number(Type, Values),
    /// A pointer of a C type.
    Pointer(CTypeId),
    /// A number of bytes without a type, at most eight.
    Raw(u64),
}

impl PartKind {
    /// Whether both have the same values.
    pub fn is_like(self, other: Self) -> bool {
        match (self, other) {
            (Self::Pointer(_), Self::Pointer(_)) => true,
            (one, other) => one == other,
        }
    }

    /// Whether a value of one can be used as the other, possibly as bytes without a type.
    pub fn is_seen_as(self, other: Self) -> bool {
        self.is_like(other) || other == Self::Raw(self.bytes())
    }

    /// The number of its bytes.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Number(machine, _) => machine.bytes(),
            Self::Pointer(_) => Type::Ptr.bytes(),
            Self::Raw(size) => size,
        }
    }
}

impl Shape {
    /// Whether it ends in a flexible array member.
    pub fn has_tail(&self) -> bool {
        matches!(self, Self::Record { tail: Some(_), .. })
    }

    /// Whether a part of it is a pointer, or bytes without a type that may be one.
    pub fn may_have_pointers(&self) -> bool {
        match self {
            Self::Number { .. } => false,
            Self::Raw { size } => *size >= Type::Ptr.bytes(),
            Self::Pointer(_) => true,
            Self::Array { element, .. } => element.may_have_pointers(),
            Self::Record { members, tail, .. } => {
                members.iter().any(|member| member.shape.may_have_pointers())
                    || tail.as_ref().is_some_and(|tail| tail.element.may_have_pointers())
            }
        }
    }

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

    /// The number of its bytes.
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
        let mut found = EnclosingArrays::default();
        let (mut shape, mut start) = (self, 0);
        loop {
            match shape {
                Self::Number { machine, values, .. } => {
                    return found.part(start, PartKind::Number(*machine, *values));
                }
                Self::Pointer(ty) => return found.part(start, PartKind::Pointer(*ty)),
                Self::Raw { size } if *size > RAW && size.is_multiple_of(RAW) => {
                    let index = (at - start) / RAW;
                    found.enter(ArrayAround { count: size / RAW, stride: RAW }, index);
                    return found.part(start + index * RAW, PartKind::Raw(RAW));
                }
                Self::Raw { size } => {
                    let within = (at - start) / RAW * RAW;
                    return found.part(start + within, PartKind::Raw(RAW.min(size - within)));
                }
                Self::Array { element, size, count } => {
                    let index = (at - start) / size;
                    found.enter(ArrayAround { count: *count, stride: *size }, index);
                    (shape, start) = (element, start + index * size);
                }
                Self::Record { members, .. } => {
                    let member = member_at(members, at - start);
                    (shape, start) = (&member.shape, start + member.offset);
                }
            }
        }
    }

    /// The name in C, relative to the shape, of the part that a byte belongs to: `.left`, `.rows[2]`;
    /// empty for the shape itself.
    pub fn path_at(&self, at: u64) -> String {
        let mut path = String::new();
        let (mut shape, mut start) = (self, 0);
        loop {
            match shape {
                Self::Number { .. } | Self::Pointer(_) => return path,
                Self::Raw { size } => {
                    if *size > RAW {
                        path.push_str(&format!(".byte{}", (at - start) / RAW * RAW));
                    }
                    return path;
                }
                Self::Array { element, size, .. } => {
                    let index = (at - start) / size;
                    path.push_str(&format!("[{index}]"));
                    (shape, start) = (element, start + index * size);
                }
                Self::Record { members, .. } => {
                    let member = member_at(members, at - start);
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
}

/// The member that a byte of a record lies in.
fn member_at(members: &[Member], at: u64) -> &Member {
    let after = members.partition_point(|member| member.offset <= at);
    &members[after - 1]
}

/// The arrays around a part, collected on the way to it.
#[derive(Default)]
struct EnclosingArrays {
    arrays: Arrays,
    number: u64,
}

impl EnclosingArrays {
    /// Enters an array at an index. Nested arrays without gaps count as one.
    fn enter(&mut self, array: ArrayAround, index: u64) {
        self.number = self.number * array.count + index;
        match self.arrays.last_mut() {
            Some(outer) if outer.stride == array.count * array.stride => {
                *outer = ArrayAround { count: outer.count * array.count, stride: array.stride };
            }
            _ => self.arrays.push(array),
        }
    }

    fn part(self, offset: u64, kind: PartKind) -> Part {
        let Self { arrays, number } = self;
        Part { first: offset - distance_in(&arrays, number), kind, arrays, number }
    }
}

/// Adds the bytes between two members.
fn add_gap(members: &mut Vec<Member>, from: u64, to: u64) {
    if from < to {
        let shape = Arc::new(Shape::Raw { size: to - from });
        members.push(Member { offset: from, size: to - from, name: None, shape });
    }
}
