//! Sizes and alignments: of scalars from the target, of records as clang lays them out.
//!
//! Lydian computes no record layout itself: bit-fields, packing and alignment attributes are
//! clang's business. [`records`] reads the layouts that clang prints; [`target`] asks clang for the
//! scalar types under the user's flags.

pub(crate) mod records;
pub(crate) mod target;

use crate::ast::TranslationUnit;
use crate::ctypes::{ArrayLength, CType, Layout, QualType, TypeId};

impl TranslationUnit {
    /// Size and alignment of a type; `None` for incomplete, variable-length and unsupported types.
    /// As in GNU C, `void` and functions count one byte.
    pub fn layout_of(&self, ty: TypeId) -> Option<Layout> {
        let byte = Layout { size: 1, align: 1 };
        match self.types.get(ty) {
            CType::Void | CType::Function { .. } => Some(byte),
            CType::Int(kind) => Some(self.target.int(*kind)),
            CType::BitInt { bits, .. } => Some(self.target.bit_int(*bits)),
            CType::Float(kind) => Some(self.target.float(*kind)),
            CType::Pointer(_) => Some(self.target.pointer),
            CType::Array { element, length: ArrayLength::Constant(length) } => {
                let element = self.layout_of(element.ty)?;
                let size = element.size.checked_mul(*length)?;
                Some(Layout { size, align: element.align })
            }
            CType::Complex(part) => {
                let part = self.layout_of(*part)?;
                Some(Layout { size: part.size.checked_mul(2)?, align: part.align })
            }
            CType::Vector { element, length } => {
                let element = self.layout_of(*element)?;
                let size = element.size.checked_mul(*length)?.checked_next_power_of_two()?;
                Some(Layout { size, align: size })
            }
            CType::Array { .. } | CType::Unsupported(_) => None,
            CType::Record(id) => self.records[*id].layout,
            CType::Enum(id) => self.layout_of(self.enums[*id].underlying?),
        }
    }

    /// The alignment of a type, known also for arrays without a length.
    pub fn align_of(&self, ty: TypeId) -> Option<u64> {
        match self.types.get(ty) {
            CType::Array { element, .. } => self.align_of(element.ty),
            _ => self.layout_of(ty).map(|layout| layout.align),
        }
    }

    /// How many bits the values of a type have; fewer than its bytes do for a `_BitInt`.
    pub fn value_bits(&self, ty: TypeId) -> Option<u64> {
        match self.types.get(ty) {
            CType::BitInt { bits, .. } => Some(u64::from(*bits)),
            _ => self.layout_of(ty)?.size.checked_mul(8),
        }
    }

    /// Whether values of an integer or enumeration type are signed; `None` for other types.
    pub fn is_signed(&self, ty: QualType) -> Option<bool> {
        match self.types.get(ty.ty) {
            CType::Int(kind) => Some(self.target.is_signed(*kind)),
            CType::BitInt { signed, .. } => Some(*signed),
            CType::Enum(id) => self.is_signed(QualType::plain(self.enums[*id].underlying?)),
            _ => None,
        }
    }
}
