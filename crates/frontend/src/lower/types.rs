//! From the decoder's types to the IR's: machine types of scalars, and C types with layouts.

use lydian_ir as ir;
use lydian_ir::{CTypeId, IntKind, Type};
use rustc_hash::FxHashMap;

use crate::ast::{EnumId, RecordDecl, RecordId, RecordKind, TranslationUnit};
use crate::ctypes::{self, ArrayLength, CType, FloatKind, QualType, Quals, TypeId};

/// A scalar type, as lowering computes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    /// The machine type.
    pub ty: Type,
    /// Whether values are signed. False for floats and pointers.
    pub signed: bool,
    /// Whether it is `_Bool`: conversions to it test for zero.
    pub is_bool: bool,
    /// The width of a `_BitInt` that has fewer bits than its machine type. Its values are kept
    /// extended, by their sign or by zeros.
    pub narrow: Option<u8>,
}

impl Scalar {
    pub(super) const fn new(ty: Type, signed: bool) -> Self {
        Self { ty, signed, is_bool: false, narrow: None }
    }

    /// The type as arithmetic knows it; `None` for pointers. `is_bit_int` tells what C does not
    /// promote.
    pub(super) fn arithmetic_type(self, is_bit_int: bool) -> Option<ir::ArithmeticType> {
        Some(match self.ty {
            _ if self.is_bool => ir::ArithmeticType::Bool,
            Type::Int(bits) if is_bit_int => {
                let width = self.narrow.unwrap_or(bits);
                ir::ArithmeticType::BitInt { width, bits, signed: self.signed }
            }
            Type::Int(bits) => ir::ArithmeticType::Int { bits, signed: self.signed },
            Type::Ptr => return None,
            float => ir::ArithmeticType::Float(float),
        })
    }

    /// Bits of its values.
    pub(super) fn value_bits(self) -> u32 {
        match self.narrow {
            _ if self.is_bool => 1,
            Some(bits) => u32::from(bits),
            None => self.ty.bits(),
        }
    }

    /// Whether every value of an integer type is one of this integer type.
    pub(super) fn holds(self, other: Self) -> bool {
        let (own, others) = (self.value_bits(), other.value_bits());
        match (self.signed, other.signed) {
            (true, false) => others < own,
            (false, true) => false,
            _ => others <= own,
        }
    }

    /// Bits of its machine type with those beyond its width as they are kept.
    pub(super) fn extended(self, bits: u128) -> u128 {
        let Some(width) = self.narrow else { return bits };
        let unused = 128 - u32::from(width);
        let cut = bits << unused;
        let whole = if self.signed { ((cut as i128) >> unused) as u128 } else { cut >> unused };
        ir::arith::truncate(self.ty, whole)
    }

    /// `int`.
    pub(super) const INT: Self = Self::new(Type::Int(32), true);
    /// `float`.
    pub(super) const SINGLE: Self = Self::new(Type::F32, false);
    /// An index as the IR has it, of 64 bits on every target.
    pub(super) const INDEX: Self = Self::new(Type::Int(64), true);
    /// `_Bool`.
    pub(super) const BOOL: Self =
        Self { ty: Type::Int(8), signed: false, is_bool: true, narrow: None };
}

/// The target as the IR knows it.
pub(super) fn target_of(unit: &TranslationUnit) -> ir::Target {
    match unit.target.pointer.size {
        4 => ir::Target::I386,
        _ => ir::Target::X86_64,
    }
}

/// The machine type of a C type; `None` if it is no scalar that can be computed with.
pub(super) fn scalar_of(unit: &TranslationUnit, ty: TypeId) -> Option<Scalar> {
    match unit.types.get(ty) {
        CType::Int(ctypes::IntKind::Bool) => Some(Scalar::BOOL),
        CType::Int(kind) => {
            let bits = u8::try_from(unit.target.int(*kind).size * 8).ok()?;
            Some(Scalar::new(Type::Int(bits), unit.target.is_signed(*kind)))
        }
        CType::BitInt { bits, signed } => {
            let held = u8::try_from(unit.target.bit_int(*bits).size * 8).ok()?;
            let narrow = (*bits < held).then_some(*bits);
            let scalar = Scalar { narrow, ..Scalar::new(Type::Int(held), *signed) };
            matches!(held, 8 | 16 | 32 | 64 | 128).then_some(scalar)
        }
        CType::Float(FloatKind::Float) => Some(Scalar::new(Type::F32, false)),
        CType::Float(FloatKind::Double) => Some(Scalar::new(Type::F64, false)),
        CType::Float(FloatKind::Half) => Some(Scalar::new(Type::F16, false)),
        CType::Float(FloatKind::BFloat) => Some(Scalar::new(Type::BF16, false)),
        // A target or `-mlong-double-64` may give it the format of `double`.
        CType::Float(kind @ FloatKind::LongDouble) => {
            let is_double = unit.target.float(*kind).size == 8;
            Some(Scalar::new(if is_double { Type::F64 } else { Type::F80 }, false))
        }
        CType::Pointer(_) => Some(Scalar::new(Type::Ptr, false)),
        CType::Enum(id) => scalar_of(unit, unit.enums[*id].underlying?),
        _ => None,
    }
}

/// A C type as arithmetic knows it; `None` if it is no number.
pub(super) fn arithmetic_type_of(unit: &TranslationUnit, ty: TypeId) -> Option<ir::ArithmeticType> {
    let is_bit_int = matches!(unit.types.get(ty), CType::BitInt { .. });
    scalar_of(unit, ty)?.arithmetic_type(is_bit_int)
}

/// Size and alignment in bytes; `None` for incomplete types and functions. `void` has size 1, as
/// GNU's pointer arithmetic has it.
pub(super) fn layout_of(unit: &TranslationUnit, ty: TypeId) -> Option<ctypes::Layout> {
    let layout = |size, align| Some(ctypes::Layout { size, align });
    match unit.types.get(ty) {
        CType::Void | CType::Function { .. } => layout(1, 1),
        CType::Int(kind) => Some(unit.target.int(*kind)),
        CType::BitInt { bits, .. } => Some(unit.target.bit_int(*bits)),
        CType::Float(kind) => Some(unit.target.float(*kind)),
        CType::Pointer(_) => Some(unit.target.pointer),
        CType::Enum(id) => layout_of(unit, unit.enums[*id].underlying?),
        CType::Record(id) => unit.records[*id].layout,
        CType::Array { element, length } => {
            let element = layout_of(unit, element.ty)?;
            match length {
                ArrayLength::Constant(n) => layout(element.size.checked_mul(*n)?, element.align),
                // A flexible array member takes no room of its own.
                ArrayLength::Incomplete => layout(0, element.align),
                ArrayLength::Variable => None,
            }
        }
        CType::Complex(_) | CType::Vector { .. } => unit.layout_of(ty),
        CType::Unsupported(_) => None,
    }
}

/// The qualifiers of what an object of this type holds: an array's are its elements'.
pub(super) fn quals_of(unit: &TranslationUnit, ty: QualType) -> Quals {
    match unit.types.get(ty.ty) {
        CType::Array { element, .. } => ty.quals.with(quals_of(unit, *element)),
        _ => ty.quals,
    }
}

/// Makes the program's C types on demand.
#[derive(Default)]
pub(super) struct TypeMap {
    types: FxHashMap<TypeId, CTypeId>,
    records: FxHashMap<RecordId, ir::RecordId>,
}

impl TypeMap {
    /// The IR's type for the decoder's.
    pub(super) fn ctype(
        &mut self,
        unit: &TranslationUnit,
        out: &mut ir::CTypes,
        ty: TypeId,
    ) -> CTypeId {
        if let Some(id) = self.types.get(&ty) {
            return *id;
        }
        let new = match unit.types.get(ty) {
            CType::Void => ir::CType::Void,
            CType::Int(kind) => {
                let bits = (unit.target.int(*kind).size * 8).min(128) as u8;
                let signed = unit.target.is_signed(*kind);
                ir::CType::Int { kind: int_kind(*kind), bits, signed }
            }
            CType::BitInt { bits, signed } => holder(unit, *bits, *signed),
            CType::Float(FloatKind::Float) => ir::CType::Float,
            CType::Float(FloatKind::Double) => ir::CType::Double,
            CType::Float(FloatKind::Half) => ir::CType::Float16,
            CType::Float(FloatKind::BFloat) => ir::CType::BFloat16,
            CType::Float(kind @ FloatKind::LongDouble) => match unit.target.float(*kind).size {
                8 => ir::CType::Double,
                _ => ir::CType::LongDouble,
            },
            CType::Float(kind @ FloatKind::Float128) => {
                let layout = unit.target.float(*kind);
                let name = "__float128".to_owned();
                ir::CType::Opaque { name, size: layout.size, align: layout.align }
            }
            CType::Pointer(pointee) => {
                let to_const = quals_of(unit, *pointee).has(Quals::CONST);
                ir::CType::Pointer { pointee: self.ctype(unit, out, pointee.ty), to_const }
            }
            CType::Array { element, length } => {
                let element = self.ctype(unit, out, element.ty);
                let length = match length {
                    ArrayLength::Constant(n) => Some(*n),
                    ArrayLength::Incomplete | ArrayLength::Variable => None,
                };
                ir::CType::Array { element, length }
            }
            CType::Function { result, params, variadic, prototype } => {
                let result = self.ctype(unit, out, result.ty);
                // `f()` before C23 takes any arguments.
                let any = !prototype && params.is_empty();
                let params = params.iter().map(|param| self.ctype(unit, out, param.ty)).collect();
                ir::CType::Function { result, params, variadic: *variadic || any }
            }
            CType::Complex(part) => ir::CType::Complex { element: self.ctype(unit, out, *part) },
            CType::Vector { element, length } => {
                let element = self.ctype(unit, out, *element);
                ir::CType::Vector { element, length: *length }
            }
            CType::Record(id) => ir::CType::Record(self.record(unit, out, *id)),
            CType::Enum(id) => self.enumeration(unit, out, *id),
            CType::Unsupported(name) => {
                ir::CType::Opaque { name: name.to_string(), size: 0, align: 1 }
            }
        };
        let id = out.intern(new);
        self.types.insert(ty, id);
        id
    }

    /// The IR's record for the decoder's.
    pub(super) fn record(
        &mut self,
        unit: &TranslationUnit,
        out: &mut ir::CTypes,
        id: RecordId,
    ) -> ir::RecordId {
        if let Some(known) = self.records.get(&id) {
            return *known;
        }
        let decl = &unit.records[id];
        // Known before its members are, since they may point back to it.
        let new = out.records.push(ir::Record {
            name: record_name(decl),
            is_union: decl.kind == RecordKind::Union,
            is_local: decl.is_local,
            fields: Vec::new(),
            size: decl.layout.map(|layout| layout.size),
            align: decl.layout.map_or(1, |layout| layout.align),
        });
        self.records.insert(id, new);
        let fields = decl.fields.iter().map(|field| ir::Field {
            name: field.name.as_deref().unwrap_or("").to_owned(),
            ty: self.ctype(unit, out, field.ty.ty),
            bit_offset: field.bit_offset,
            bits: field.bit_width.map(|width| width as u16),
        });
        let fields: Vec<_> = fields.collect();
        out.records[new].fields = fields;
        // Where it is only what a pointer is taken for, nothing has that type.
        out.intern(ir::CType::Record(new));
        new
    }

    fn enumeration(
        &mut self,
        unit: &TranslationUnit,
        out: &mut ir::CTypes,
        id: EnumId,
    ) -> ir::CType {
        let decl = &unit.enums[id];
        let underlying = match decl.underlying {
            Some(ty) => self.ctype(unit, out, ty),
            None => out.int(IntKind::UInt),
        };
        let name = match (&decl.tag, &decl.typedef_name) {
            (Some(tag), _) => format!("enum {tag}"),
            (None, Some(name)) => name.to_string(),
            (None, None) => String::new(),
        };
        let constants = decl.constants.iter().map(|constant| {
            let constant = &unit.enum_constants[*constant];
            (constant.name.to_string(), constant.value)
        });
        ir::CType::Enum { name, underlying, constants: constants.collect() }
    }
}

fn record_name(decl: &RecordDecl) -> String {
    match (&decl.tag, &decl.typedef_name) {
        (None, None) => String::new(),
        _ => decl.display_name(),
    }
}

/// The integer type with the bytes of a `_BitInt`.
fn holder(unit: &TranslationUnit, bits: u8, signed: bool) -> ir::CType {
    let layout = unit.target.bit_int(bits);
    let kind = match (layout.size, signed) {
        (1, true) => IntKind::SChar,
        (1, false) => IntKind::UChar,
        (2, true) => IntKind::Short,
        (2, false) => IntKind::UShort,
        (4, true) => IntKind::Int,
        (4, false) => IntKind::UInt,
        (8, _) => target_of(unit).word64(signed),
        (16, true) => IntKind::Int128,
        (16, false) => IntKind::UInt128,
        (size, _) => {
            let name = format!("_BitInt({bits})");
            return ir::CType::Opaque { name, size, align: layout.align };
        }
    };
    ir::CType::Int { kind, bits: (layout.size * 8) as u8, signed }
}

const fn int_kind(kind: ctypes::IntKind) -> IntKind {
    match kind {
        ctypes::IntKind::Bool => IntKind::Bool,
        ctypes::IntKind::Char => IntKind::Char,
        ctypes::IntKind::SChar => IntKind::SChar,
        ctypes::IntKind::UChar => IntKind::UChar,
        ctypes::IntKind::Short => IntKind::Short,
        ctypes::IntKind::UShort => IntKind::UShort,
        ctypes::IntKind::Int => IntKind::Int,
        ctypes::IntKind::UInt => IntKind::UInt,
        ctypes::IntKind::Long => IntKind::Long,
        ctypes::IntKind::ULong => IntKind::ULong,
        ctypes::IntKind::LongLong => IntKind::LongLong,
        ctypes::IntKind::ULongLong => IntKind::ULongLong,
        ctypes::IntKind::Int128 => IntKind::Int128,
        ctypes::IntKind::UInt128 => IntKind::UInt128,
    }
}
