//! C types as the user's program has them, with the layouts that clang gave them.
//!
//! The engine computes on [`crate::Type`]s, which are machine types. C types are kept for what
//! needs the user's view: inputs and their names, harnesses, tests, reports, mutation operators.

use std::ops::Range;

use indexmap::IndexMap;
use lydian_base::Arena;
use serde::{Deserialize, Serialize};

use super::machine_type::Type;

pub use super::ids::{CTypeId, RecordId};
pub use super::target::{IntKind, Target};

/// A C type without its qualifiers, except that a pointer knows whether what it points to is const.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CType {
    /// `void`.
    Void,
    /// An integer or character type; `bits` is its width on the target.
    Int {
        /// Which of C's types.
        kind: IntKind,
        /// Width in bits.
        bits: u8,
        /// Whether values are signed (for `char`: on this target, with these flags).
        signed: bool,
    },
    /// An enumeration, with its tag or typedef name if it has one and the type it is kept in.
    Enum {
        /// Tag, or empty for an anonymous one.
        name: String,
        /// The integer type that holds it.
        underlying: CTypeId,
        /// The named constants with their values, in order.
        constants: Vec<(String, i128)>,
    },
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// `_Float16`.
    Float16,
    /// `__bf16`.
    BFloat16,
    /// `long double` in the x87's format: 10 bytes of value and padding.
    LongDouble,
    /// `_Complex`: the real part, then the imaginary one.
    Complex {
        /// Type of both, a float or (in GNU C) an integer.
        element: CTypeId,
    },
    /// A vector of numbers (`vector_size`, `ext_vector_type`).
    Vector {
        /// Type of an element.
        element: CTypeId,
        /// How many.
        length: u64,
    },
    /// `__float128` and `_BitInt`: known by name and size, not computed with.
    Opaque {
        /// As C spells it.
        name: String,
        /// Size in bytes.
        size: u64,
        /// Alignment in bytes.
        align: u64,
    },
    /// A pointer.
    Pointer {
        /// The type that it points to.
        pointee: CTypeId,
        /// Whether that is const.
        to_const: bool,
    },
    /// An array; `None` for an incomplete one or a flexible array member.
    Array {
        /// Type of an element.
        element: CTypeId,
        /// How many, if it is known at compile time.
        length: Option<u64>,
    },
    /// A function.
    Function {
        /// Type of its result.
        result: CTypeId,
        /// Types of its parameters.
        params: Vec<CTypeId>,
        /// Whether it takes more than those.
        variadic: bool,
    },
    /// A struct or union.
    Record(RecordId),
}

/// A struct or union.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// As C spells it where it can: `struct chunk`, a typedef's name for an anonymous record;
    /// empty where C has no name for it.
    pub name: String,
    /// Whether it is a union.
    pub is_union: bool,
    /// Whether it is declared in a function, so that no other code can name it.
    pub is_local: bool,
    /// Its members, in order. Empty while it is incomplete.
    pub fields: Vec<Field>,
    /// Size in bytes; `None` while it is incomplete.
    pub size: Option<u64>,
    /// Alignment in bytes.
    pub align: u64,
}

/// A member of a struct or union.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Name; empty for an anonymous struct or union member or an unnamed bit-field.
    pub name: String,
    /// Type.
    pub ty: CTypeId,
    /// Offset in bits from the start of the record.
    pub bit_offset: u64,
    /// Width of a bit-field; `None` for other members.
    pub bits: Option<u16>,
}

/// All C types of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredTypes")]
pub struct CTypes {
    types: Arena<CTypeId, CType>,
    #[serde(skip)]
    ids: IndexMap<CType, CTypeId>,
    /// Structs and unions.
    pub records: Arena<RecordId, Record>,
    /// The target, which fixes the sizes.
    pub target: Target,
}

/// The stored form of a [`CTypes`], from which its index is made.
#[derive(Deserialize)]
struct StoredTypes {
    types: Arena<CTypeId, CType>,
    records: Arena<RecordId, Record>,
    target: Target,
}

impl From<StoredTypes> for CTypes {
    fn from(stored: StoredTypes) -> Self {
        let ids = stored.types.iter().map(|(id, ty)| (ty.clone(), id)).collect();
        Self { types: stored.types, ids, records: stored.records, target: stored.target }
    }
}

impl CTypes {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The id of a type, made on first use.
    pub fn intern(&mut self, ty: CType) -> CTypeId {
        if let Some(id) = self.ids.get(&ty) {
            return *id;
        }
        let id = self.types.push(ty.clone());
        self.ids.insert(ty, id);
        id
    }

    /// The type.
    pub fn get(&self, id: CTypeId) -> &CType {
        &self.types[id]
    }

    /// All types with their ids, in the order of their making.
    pub fn iter(&self) -> impl Iterator<Item = (CTypeId, &CType)> {
        self.types.iter()
    }

    /// The types that a type is directly made of, members of records aside.
    pub fn parts(ty: &CType) -> Vec<CTypeId> {
        match ty {
            CType::Enum { underlying: part, .. }
            | CType::Pointer { pointee: part, .. }
            | CType::Array { element: part, .. }
            | CType::Complex { element: part }
            | CType::Vector { element: part, .. } => vec![*part],
            CType::Function { result, params, .. } => {
                std::iter::once(*result).chain(params.iter().copied()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// `void`.
    pub fn void(&mut self) -> CTypeId {
        self.intern(CType::Void)
    }

    /// An integer type of the target, `char` being signed.
    pub fn int(&mut self, kind: IntKind) -> CTypeId {
        let (bits, signed) = match (self.target, kind) {
            (Target::I386, IntKind::Long | IntKind::ULong) => (32, kind.on_lp64().1),
            _ => kind.on_lp64(),
        };
        self.intern(CType::Int { kind, bits, signed })
    }

    /// A pointer to a type that is not const.
    pub fn pointer(&mut self, pointee: CTypeId) -> CTypeId {
        self.intern(CType::Pointer { pointee, to_const: false })
    }

    /// Size in bytes; `None` for void, functions and incomplete types.
    pub fn size(&self, id: CTypeId) -> Option<u64> {
        match self.get(id) {
            CType::Void | CType::Function { .. } => None,
            CType::Int { bits, .. } => Some(u64::from(*bits).div_ceil(8)),
            CType::Enum { underlying, .. } => self.size(*underlying),
            CType::Float16 | CType::BFloat16 => Some(2),
            CType::Float => Some(4),
            CType::Double => Some(8),
            CType::LongDouble => Some(match self.target {
                Target::X86_64 => 16,
                Target::I386 => 12,
            }),
            CType::Pointer { .. } => Some(self.target.pointer_bytes()),
            CType::Complex { element } => self.size(*element)?.checked_mul(2),
            CType::Vector { element, length } => {
                self.size(*element)?.checked_mul(*length)?.checked_next_power_of_two()
            }
            CType::Opaque { size, .. } => Some(*size),
            CType::Array { element, length } => self.size(*element)?.checked_mul((*length)?),
            CType::Record(record) => self.records[*record].size,
        }
    }

    /// The bytes of a type that belong to none of its members, as offsets into it, in order. Of a
    /// union, every byte belongs to some member.
    pub fn padding(&self, id: CTypeId) -> Vec<Range<u64>> {
        match self.get(id) {
            CType::Array { element, length: Some(length) } => {
                let holes = self.padding(*element);
                if holes.is_empty() {
                    return holes;
                }
                let size = self.size(*element).unwrap_or(0);
                (0..*length).flat_map(|index| moved(&holes, index * size)).collect()
            }
            CType::Record(record) if !self.records[*record].is_union => {
                self.padding_of(&self.records[*record])
            }
            _ => Vec::new(),
        }
    }

    fn padding_of(&self, record: &Record) -> Vec<Range<u64>> {
        let mut holes = Vec::new();
        let mut end = 0;
        for field in &record.fields {
            let start = field.bit_offset / 8;
            if start > end {
                holes.push(end..start);
            }
            let after = match field.bits {
                Some(bits) => (field.bit_offset + u64::from(bits)).div_ceil(8),
                None => {
                    holes.extend(moved(&self.padding(field.ty), start));
                    start + self.size(field.ty).unwrap_or(0)
                }
            };
            end = end.max(after);
        }
        // Behind the last member is what a flexible array takes as well.
        if let Some(size) = record.size.filter(|size| *size > end && !self.is_flexible(record)) {
            holes.push(end..size);
        }
        holes
    }

    fn is_flexible(&self, record: &Record) -> bool {
        !record.is_union
            && record.fields.last().is_some_and(|field| self.size(field.ty).unwrap_or(0) == 0)
    }

    /// Whether a type is a struct that ends in an array without a length: the bytes behind it are the
    /// array's.
    pub fn has_flexible_end(&self, id: CTypeId) -> bool {
        matches!(self.get(id), CType::Record(record) if self.is_flexible(&self.records[*record]))
    }

    /// Alignment in bytes; 1 where C gives none.
    pub fn align(&self, id: CTypeId) -> u64 {
        match self.get(id) {
            CType::Array { element, .. } | CType::Complex { element } => self.align(*element),
            CType::Vector { .. } => self.size(id).unwrap_or(1).max(1),
            CType::Enum { underlying, .. } => self.align(*underlying),
            CType::Opaque { align, .. } => *align,
            CType::Record(record) => self.records[*record].align.max(1),
            CType::Void | CType::Function { .. } => 1,
            _ => {
                let natural = self.size(id).unwrap_or(1).max(1);
                match self.target {
                    Target::X86_64 => natural,
                    Target::I386 => natural.min(4),
                }
            }
        }
    }

    /// Whether a function of this type has parameters that are known: it is no `int f()`.
    pub fn is_prototype(&self, ty: CTypeId) -> bool {
        match self.get(ty) {
            CType::Function { params, variadic, .. } => !*variadic || !params.is_empty(),
            _ => false,
        }
    }

    /// Whether a call through a pointer to a function of type `called`, passing arguments of these
    /// types, suits a function of type `function`: the two pass and return machine values in the
    /// same way. A type without parameters that takes any arguments is one without a prototype
    /// (`int (*)()`): there the arguments themselves decide.
    pub fn call_suits(&self, function: CTypeId, called: CTypeId, args: &[CTypeId]) -> bool {
        let same = |a: &CTypeId, b: &CTypeId| {
            a == b || (self.scalar(*a).is_some() && self.scalar(*a) == self.scalar(*b))
        };
        // Integers are passed in whole registers, of which the callee takes what it needs.
        let passed = |param: &CTypeId, arg: &CTypeId| match (self.scalar(*param), self.scalar(*arg))
        {
            (Some(Type::Int(a)), Some(Type::Int(b))) => (a <= 64) == (b <= 64) && a <= b.max(32),
            _ => same(param, arg),
        };
        let (
            CType::Function { result: a, params, variadic },
            CType::Function { result: b, params: called_params, variadic: called_variadic },
        ) = (self.get(function), self.get(called))
        else {
            return false;
        };
        if called_params.is_empty() && *called_variadic {
            let enough = args.len() == params.len() || (*variadic && args.len() > params.len());
            return same(a, b) && enough && params.iter().zip(args).all(|(p, a)| passed(p, a));
        }
        same(a, b)
            && variadic == called_variadic
            && params.len() == called_params.len()
            && params.iter().zip(called_params).all(|(a, b)| same(a, b))
    }

    /// Whether values of the type are kept in memory and passed by its address: structs, unions,
    /// arrays, complex numbers and vectors.
    pub fn is_aggregate(&self, id: CTypeId) -> bool {
        matches!(
            self.get(id),
            CType::Record(_) | CType::Array { .. } | CType::Complex { .. } | CType::Vector { .. }
        )
    }

    /// The machine type of a scalar; `None` for everything else. `_Bool` is an 8-bit integer.
    pub fn scalar(&self, id: CTypeId) -> Option<Type> {
        match self.get(id) {
            CType::Int { bits, .. } => Some(Type::Int(*bits)),
            CType::Enum { underlying, .. } => self.scalar(*underlying),
            CType::Float16 => Some(Type::F16),
            CType::BFloat16 => Some(Type::BF16),
            CType::Float => Some(Type::F32),
            CType::Double => Some(Type::F64),
            CType::LongDouble => Some(Type::F80),
            CType::Pointer { .. } => Some(Type::Ptr),
            _ => None,
        }
    }

    /// Whether it is an integer or enumeration type with signed values.
    pub fn is_signed(&self, id: CTypeId) -> bool {
        match self.get(id) {
            CType::Int { signed, .. } => *signed,
            CType::Enum { underlying, .. } => self.is_signed(*underlying),
            _ => false,
        }
    }

    /// The type that a pointer points to; `None` for everything else.
    pub fn pointee(&self, id: CTypeId) -> Option<CTypeId> {
        match self.get(id) {
            CType::Pointer { pointee, .. } => Some(*pointee),
            _ => None,
        }
    }

    /// A type as compilers know it, as [`Self::spell`] has it but for what a `va_list` consists of: that
    /// has a name in clang's tree that no C text can use.
    pub fn spell_compiled(&self, id: CTypeId, declarator: &str) -> String {
        let list = "__typeof__(**(__builtin_va_list *)0)";
        self.spell(id, declarator).replace("struct __va_list_tag", list)
    }

    /// Whether code at the end of the file can name a type: no part of it is a record without a name, or
    /// one that is declared in a function.
    pub fn is_nameable(&self, id: CTypeId) -> bool {
        match self.get(id) {
            CType::Record(record) => {
                let record = &self.records[*record];
                !record.name.is_empty() && !record.is_local
            }
            CType::Pointer { pointee: inner, .. } | CType::Array { element: inner, .. } => {
                self.is_nameable(*inner)
            }
            CType::Function { result, params, .. } => {
                self.is_nameable(*result) && params.iter().all(|param| self.is_nameable(*param))
            }
            _ => true,
        }
    }

    /// The type as C spells it, with `declarator` where a declaration has its name
    /// (`int *x[3]` for declarator `x`); an empty one gives a type name. A record without a name
    /// is spelled by its members.
    pub fn spell(&self, id: CTypeId, declarator: &str) -> String {
        let join = |base: &str| match declarator {
            "" => base.to_owned(),
            _ => format!("{base} {declarator}"),
        };
        match self.get(id) {
            CType::Void => join("void"),
            CType::Int { kind, .. } => join(kind.spelling()),
            CType::Enum { name, underlying, .. } if name.is_empty() => {
                self.spell(*underlying, declarator)
            }
            CType::Enum { name, .. } | CType::Opaque { name, .. } => join(name),
            CType::Float16 => join("_Float16"),
            CType::BFloat16 => join("__bf16"),
            CType::Float => join("float"),
            CType::Double => join("double"),
            CType::LongDouble => join("long double"),
            CType::Complex { element } => self.spell(*element, &join("_Complex")),
            CType::Vector { element, length } => {
                let bytes = self.size(*element).unwrap_or(1) * length;
                // GNU's attribute only knows powers of two.
                let attribute = match length.is_power_of_two() {
                    true => format!("__attribute__((vector_size({bytes})))"),
                    false => format!("__attribute__((ext_vector_type({length})))"),
                };
                self.spell(*element, &join(&attribute))
            }
            CType::Pointer { pointee, to_const } => {
                let wraps =
                    matches!(self.get(*pointee), CType::Array { .. } | CType::Function { .. });
                // What a const pointer points to is said before it, that it is const after its star.
                let through = matches!(self.get(*pointee), CType::Pointer { .. });
                let inner = match (wraps, *to_const && through) {
                    (true, _) => format!("(*{declarator})"),
                    (false, true) => format!("const *{declarator}"),
                    (false, false) => format!("*{declarator}"),
                };
                let text = self.spell(*pointee, &inner);
                if *to_const && !wraps && !through { format!("const {text}") } else { text }
            }
            CType::Array { element, length } => {
                let length = length.map_or(String::new(), |n| n.to_string());
                self.spell(*element, &format!("{declarator}[{length}]"))
            }
            CType::Function { result, params, variadic } => {
                let mut list: Vec<_> = params.iter().map(|param| self.spell(*param, "")).collect();
                // Without parameters before `...` it has no prototype.
                match (*variadic, list.is_empty()) {
                    (true, false) => list.push("...".into()),
                    (false, true) => list.push("void".into()),
                    (true, true) | (false, false) => {}
                }
                self.spell(*result, &format!("{declarator}({})", list.join(", ")))
            }
            CType::Record(record) => {
                let record = &self.records[*record];
                if !record.name.is_empty() {
                    return join(&record.name);
                }
                let fields: Vec<_> = record.fields.iter().map(|f| self.spell_field(f)).collect();
                let word = if record.is_union { "union" } else { "struct" };
                join(&format!("{word} {{ {} }}", fields.join(" ")))
            }
        }
    }

    fn spell_field(&self, field: &Field) -> String {
        let text = self.spell(field.ty, &field.name);
        field.bits.map_or_else(|| format!("{text};"), |bits| format!("{text} : {bits};"))
    }
}

fn moved(ranges: &[Range<u64>], by: u64) -> impl Iterator<Item = Range<u64>> {
    ranges.iter().map(move |range| range.start + by..range.end + by)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_types_have_one_id() {
        let mut types = CTypes::new();
        let int = types.int(IntKind::Int);
        let first = types.pointer(int);
        assert_eq!((types.int(IntKind::Int), types.pointer(int)), (int, first));
    }

    #[test]
    fn a_type_is_spelled_as_a_c_declaration() {
        let mut types = CTypes::new();
        let int = types.int(IntKind::Int);
        let array = types.intern(CType::Array { element: int, length: Some(3) });
        let to_array = types.pointer(array);
        let of_pointers = types.pointer(int);
        let of_pointers = types.intern(CType::Array { element: of_pointers, length: Some(2) });
        let callback =
            types.intern(CType::Function { result: int, params: vec![to_array], variadic: false });
        let callback = types.pointer(callback);
        assert_eq!(types.spell(to_array, "p"), "int (*p)[3]");
        assert_eq!(types.spell(of_pointers, "q"), "int *q[2]");
        assert_eq!(types.spell(callback, "f"), "int (*f)(int (*)[3])");
        let text = types.intern(CType::Pointer { pointee: int, to_const: true });
        let texts = types.intern(CType::Pointer { pointee: text, to_const: true });
        assert_eq!(types.spell(texts, "t"), "const int *const *t");
        let without_prototype =
            types.intern(CType::Function { result: int, params: Vec::new(), variadic: true });
        assert_eq!(types.spell(without_prototype, "g"), "int g()");
    }

    #[test]
    fn padding_is_what_lies_between_members_and_behind_them_at_any_depth() {
        let mut types = CTypes::new();
        let (char, int) = (types.int(IntKind::Char), types.int(IntKind::Int));
        let field = |ty, bit_offset, bits| Field { name: "m".to_owned(), ty, bit_offset, bits };
        let record = |types: &mut CTypes, fields, size| {
            let record = Record {
                name: "r".to_owned(),
                is_union: false,
                is_local: false,
                fields,
                size: Some(size),
                align: 4,
            };
            let id = types.records.push(record);
            types.intern(CType::Record(id))
        };
        let inner = vec![field(char, 0, None), field(int, 32, None)];
        let inner = record(&mut types, inner, 8);
        let holes = types.padding(inner);
        assert_eq!((holes.len(), holes[0].clone()), (1, 1..4));
        let two = types.intern(CType::Array { element: inner, length: Some(2) });
        let outer = vec![field(int, 0, Some(3)), field(int, 3, Some(7)), field(two, 32, None)];
        let outer = [outer, vec![field(char, 160, None)]].concat();
        let outer = record(&mut types, outer, 24);
        assert_eq!(types.padding(outer), [2..4, 5..8, 13..16, 21..24]);
        let rest = types.intern(CType::Array { element: char, length: None });
        let flexible = vec![field(int, 0, None), field(char, 32, None), field(rest, 40, None)];
        let flexible = record(&mut types, flexible, 8);
        assert_eq!(types.padding(flexible), []);
        assert!(types.has_flexible_end(flexible) && !types.has_flexible_end(outer));
    }

    #[test]
    fn a_size_that_does_not_fit_64_bits_is_no_size() {
        let mut types = CTypes::new();
        let long = types.int(IntKind::Long);
        let huge = types.intern(CType::Array { element: long, length: Some(u64::MAX / 2) });
        assert_eq!(types.size(huge), None);
    }
}
