//! The scalars that a value is made of.

use crate::program::ctype::{CType, CTypeId, CTypes, IntKind};

/// The kinds of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarKind {
    /// An integer, an enumeration or a bit-field's bytes.
    Integer {
        /// Whether it has a sign.
        signed: bool,
    },
    /// A character: an integer of one byte, but for `_Bool`.
    Character,
    /// A `float` or `double`.
    Float,
    /// A pointer.
    Pointer,
    /// Something else, as bytes.
    Other,
}

/// A scalar within a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// How many bytes it lies behind the start of the value.
    pub offset: u64,
    /// How many bytes it has.
    pub size: u64,
    /// Its kind.
    pub kind: ScalarKind,
}

/// The scalars of elements of a type that fill so many bytes, in their order. A union is its largest member;
/// bit-fields that share bytes are one integer.
pub fn scalars(types: &CTypes, ty: CTypeId, bytes: u64) -> Vec<Scalar> {
    let size = types.size(ty).filter(|size| *size > 0).unwrap_or(1);
    let mut found = Vec::new();
    for start in (0..bytes).step_by(size as usize) {
        add(types, ty, start, bytes, &mut found);
    }
    found
}

fn add(types: &CTypes, ty: CTypeId, offset: u64, end: u64, found: &mut Vec<Scalar>) {
    let size = types.size(ty).unwrap_or(0);
    let kind = match types.get(ty) {
        CType::Int { kind, bits: 8, .. } if *kind != IntKind::Bool => ScalarKind::Character,
        CType::Int { signed, bits: ..=64, .. } => ScalarKind::Integer { signed: *signed },
        CType::Enum { .. } => ScalarKind::Integer { signed: types.is_signed(ty) },
        CType::Float | CType::Double => ScalarKind::Float,
        CType::Pointer { .. } => ScalarKind::Pointer,
        CType::Array { element, length } => {
            let each = types.size(*element).filter(|size| *size > 0).unwrap_or(1);
            let length = length.unwrap_or(end.saturating_sub(offset) / each);
            for index in 0..length {
                add(types, *element, offset + index * each, end, found);
            }
            return;
        }
        CType::Record(record) if types.records[*record].is_union => {
            let fields = types.records[*record].fields.iter().filter(|field| field.bits.is_none());
            if let Some(widest) = fields.max_by_key(|field| types.size(field.ty)) {
                add(types, widest.ty, offset, end, found);
            }
            return;
        }
        CType::Record(record) => {
            for field in &types.records[*record].fields {
                let at = offset + field.bit_offset / 8;
                let Some(width) = field.bits else {
                    add(types, field.ty, at, end, found);
                    continue;
                };
                let size = (field.bit_offset % 8 + u64::from(width)).div_ceil(8);
                let is_known = found.last().is_some_and(|last| last.offset + last.size > at);
                if !is_known && width > 0 && at + size <= end {
                    let kind = ScalarKind::Integer { signed: false };
                    found.push(Scalar { offset: at, size, kind });
                }
            }
            return;
        }
        _ => ScalarKind::Other,
    };
    if size > 0 && offset + size <= end {
        found.push(Scalar { offset, size, kind });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ctype::{Field, Record};

    #[test]
    fn scalars_of_structs_arrays_and_bit_fields_are_listed_in_order() {
        let mut types = CTypes::default();
        let (int, character) = (types.int(IntKind::Int), types.int(IntKind::Char));
        let text = types.intern(CType::Array { element: character, length: Some(2) });
        let pointer = types.pointer(int);
        let field =
            |name: &str, ty, bit_offset, bits| Field { name: name.into(), ty, bit_offset, bits };
        let fields = vec![
            field("a", int, 0, None),
            field("b", int, 32, Some(3)),
            field("c", int, 35, Some(4)),
            field("d", text, 48, None),
            field("e", pointer, 64, None),
        ];
        let record = types.records.push(Record {
            name: "struct s".into(),
            is_union: false,
            is_local: false,
            fields,
            size: Some(16),
            align: 8,
        });
        let ty = types.intern(CType::Record(record));
        let found: Vec<(u64, u64)> =
            scalars(&types, ty, 32).iter().map(|scalar| (scalar.offset, scalar.size)).collect();
        let one = [(0, 4), (4, 1), (6, 1), (7, 1), (8, 8)];
        let two = one.map(|(offset, size)| (offset + 16, size));
        assert_eq!(found, [one, two].concat());
    }
}
