//! C types, interned and canonical.
//!
//! Clang's JSON prints types as strings. Here they are a graph: every type is interned once in
//! [`CTypes`], typedefs are resolved, and qualifiers stand beside the type in [`QualType`], so two
//! compatible spellings of one type have one [`TypeId`]. How the user wrote a type is kept with
//! each declaration (`written`), not here.
//!
//! Invariants: a `TypeId` holds no qualifier of its own outermost level; qualifiers of an array
//! are moved to its elements (C23 6.7.4.1); a record or enum is a reference to its declaration,
//! whose layout may come later than the type.

mod display;
mod parse;

pub use display::DisplayType;
pub use parse::{TagKind, TagName, TypeNames, parse_type, parse_type_prefix, qualify};

use lydian_base::{Arena, entity_id};
use rustc_hash::FxHashMap;
use std::fmt;

entity_id! {
    /// A struct or union.
    RecordId, "rec"
}
entity_id! {
    /// An enumeration.
    EnumId, "enum"
}
entity_id! {
    /// A canonical, unqualified C type in [`CTypes`].
    TypeId, "ty"
}

/// Type qualifiers as a set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Quals(u8);

impl Quals {
    /// No qualifier.
    pub const NONE: Self = Self(0);
    /// `const`.
    pub const CONST: Self = Self(1);
    /// `volatile`.
    pub const VOLATILE: Self = Self(2);
    /// `restrict`.
    pub const RESTRICT: Self = Self(4);
    /// `_Atomic`, as a qualifier or as `_Atomic(T)`.
    pub const ATOMIC: Self = Self(8);

    /// The qualifiers of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every qualifier of `other` is in it.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Quals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::CONST, "const "),
            (Self::VOLATILE, "volatile "),
            (Self::RESTRICT, "restrict "),
            (Self::ATOMIC, "_Atomic "),
        ];
        names.iter().filter(|(qual, _)| self.has(*qual)).try_for_each(|(_, name)| f.write_str(name))
    }
}

impl fmt::Debug for Quals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

/// A type with its outermost qualifiers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct QualType {
    /// The unqualified type.
    pub ty: TypeId,
    /// The outermost qualifiers.
    pub quals: Quals,
}

impl QualType {
    /// The type without qualifiers.
    pub const fn plain(ty: TypeId) -> Self {
        Self { ty, quals: Quals::NONE }
    }

    /// The type with further qualifiers.
    #[must_use]
    pub const fn with(self, quals: Quals) -> Self {
        Self { ty: self.ty, quals: self.quals.with(quals) }
    }
}

/// The integer types of C that are no enumerations. Sizes are the target's: see [`TargetLayout`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // Each variant is the C type of its name.
pub enum IntKind {
    Bool,
    Char,
    SChar,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    LongLong,
    ULongLong,
    Int128,
    UInt128,
}

/// The real floating types.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // Each variant is the C type of its name.
pub enum FloatKind {
    /// `_Float16` and `__fp16`.
    Half,
    /// `__bf16`.
    BFloat,
    Float,
    Double,
    LongDouble,
    Float128,
}

/// How many elements an array has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ArrayLength {
    /// Fixed while compiling.
    Constant(u64),
    /// `[]`: completed later, or a flexible array member.
    Incomplete,
    /// `[n]` or `[*]`: a variable-length array. Clang's JSON does not give the size expression.
    Variable,
}

/// The widest `_BitInt` that is modelled.
pub const MAX_BIT_INT: u8 = 128;

/// A canonical type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CType {
    /// `void`.
    Void,
    /// An integer type, `_Bool` included.
    Int(IntKind),
    /// `_BitInt(bits)`, of at most [`MAX_BIT_INT`] bits.
    BitInt {
        /// Width of its values.
        bits: u8,
        /// Whether they are signed.
        signed: bool,
    },
    /// A real floating type.
    Float(FloatKind),
    /// A pointer.
    Pointer(QualType),
    /// An array. Its qualifiers are its elements'.
    Array {
        /// What it holds.
        element: QualType,
        /// How many.
        length: ArrayLength,
    },
    /// A complex number, of two parts of this type.
    Complex(TypeId),
    /// A vector (`vector_size`, `ext_vector_type`).
    Vector {
        /// The type of an element.
        element: TypeId,
        /// How many.
        length: u64,
    },
    /// A function.
    Function {
        /// The type of its result.
        result: QualType,
        /// Its parameters, after array and function parameters became pointers.
        params: Box<[QualType]>,
        /// Whether it ends in `...`.
        variadic: bool,
        /// Whether the parameters are declared; `f()` before C23 says nothing of them.
        prototype: bool,
    },
    /// A struct or union.
    Record(RecordId),
    /// An enumeration.
    Enum(EnumId),
    /// A type that Lydian does not model (a very wide `_BitInt`, matrices), as clang prints it.
    Unsupported(Box<str>),
}

/// Size and alignment of a complete type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Layout {
    /// Bytes, padding at the end included.
    pub size: u64,
    /// Bytes; a power of two.
    pub align: u64,
}

/// The target's scalar types, measured with clang under the user's flags.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetLayout {
    /// Whether plain `char` is signed.
    pub char_signed: bool,
    /// Whether the least significant byte comes first.
    pub little_endian: bool,
    /// Layouts of the integer types, in the order of [`IntKind`].
    pub ints: [Layout; 14],
    /// Layouts of the floating types, in the order of [`FloatKind`].
    pub floats: [Layout; 6],
    /// The layout of every pointer.
    pub pointer: Layout,
    /// The type that `size_t` stands for.
    pub size_type: IntKind,
    /// Whether enumerations take the smallest type that fits (`-fshort-enums`).
    pub short_enums: bool,
    /// Whether signed overflow wraps (`-fwrapv`).
    pub wrapv: bool,
    /// Whether the end of `main` returns 0: since C99.
    pub main_returns_zero: bool,
}

impl TargetLayout {
    /// Whether the type is signed.
    pub const fn is_signed(&self, kind: IntKind) -> bool {
        use IntKind::{Bool, Char, UChar, UInt, UInt128, ULong, ULongLong, UShort};
        match kind {
            Bool | UChar | UShort | UInt | ULong | ULongLong | UInt128 => false,
            Char => self.char_signed,
            _ => true,
        }
    }

    /// Size and alignment of an integer type.
    pub const fn int(&self, kind: IntKind) -> Layout {
        self.ints[kind as usize]
    }

    /// Size and alignment of a `_BitInt`: the least power of two of bytes that holds it, but no more
    /// than a `long long` is aligned to; of wider ones, a multiple of that.
    pub fn bit_int(&self, bits: u8) -> Layout {
        let bytes = u64::from(bits).div_ceil(8);
        let align = bytes.next_power_of_two().min(self.int(IntKind::LongLong).align);
        Layout { size: bytes.next_multiple_of(align), align }
    }

    /// Size and alignment of a floating type.
    pub const fn float(&self, kind: FloatKind) -> Layout {
        self.floats[kind as usize]
    }
}

impl Default for TargetLayout {
    /// x86-64 Linux.
    fn default() -> Self {
        const fn natural(size: u64) -> Layout {
            Layout { size, align: size }
        }
        let ints = [1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 8, 8, 16, 16].map(natural);
        let floats = [2, 2, 4, 8, 16, 16].map(natural);
        Self {
            char_signed: true,
            little_endian: true,
            ints,
            floats,
            pointer: natural(8),
            size_type: IntKind::ULong,
            short_enums: false,
            wrapv: false,
            main_returns_zero: true,
        }
    }
}

/// The table of all types of a translation unit.
#[derive(Clone, Debug, Default)]
pub struct CTypes {
    types: Arena<TypeId, CType>,
    ids: FxHashMap<CType, TypeId>,
}

impl CTypes {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The id of a type, the same for equal types.
    pub fn intern(&mut self, ty: CType) -> TypeId {
        if let Some(id) = self.ids.get(&ty) {
            return *id;
        }
        let id = self.types.push(ty.clone());
        self.ids.insert(ty, id);
        id
    }

    /// The type of an id.
    pub fn get(&self, id: TypeId) -> &CType {
        &self.types[id]
    }

    /// The id of a type, when some declaration or expression has interned it.
    pub fn find(&self, ty: &CType) -> Option<TypeId> {
        self.ids.get(ty).copied()
    }

    /// The id of a pointer to `pointee`.
    pub fn pointer_to(&mut self, pointee: QualType) -> TypeId {
        self.intern(CType::Pointer(pointee))
    }

    /// The type that `ty` points to, if it is a pointer.
    pub fn pointee(&self, ty: TypeId) -> Option<QualType> {
        match self.get(ty) {
            CType::Pointer(pointee) => Some(*pointee),
            _ => None,
        }
    }

    /// All types with their ids, in the order in which they were met.
    pub fn iter(&self) -> impl Iterator<Item = (TypeId, &CType)> {
        self.types.iter()
    }
}
