//! Variable arguments: the places of a call's further arguments, and the contents of a `va_list`.
//!
//! A call of a variadic function that has a body makes one object in the callee's frame, the
//! *variable arguments*: the arguments after the fixed ones, in order, as the x86-64 ABI lays out
//! its overflow area. Every slot begins at a multiple of eight, or of the argument's alignment
//! where that is greater; structs and unions lie there whole. No argument is passed in registers:
//! [`crate::Stmt::VaStart`] says in the `va_list` that those of the ABI are used up, so that
//! `va_arg` is a load at `overflow_arg_area` and a step to the next slot, and code that knows the
//! ABI's registers finds none of them. Reading past the last argument is out of bounds.
//!
//! On 32-bit x86 a `va_list` is the address of the next argument and nothing else, and slots begin
//! at multiples of four.

use crate::program::ctype::{CType, CTypeId, CTypes, Target};
use crate::{Body, FuncId, Program, Stmt, Type};

/// Bytes of a `va_list`.
pub const fn list_bytes(target: Target) -> u64 {
    match target {
        Target::X86_64 => 24,
        Target::I386 => 4,
    }
}

/// Whether a `va_list` is an array, so that its name is the list's address, and not a pointer.
pub const fn list_is_array(target: Target) -> bool {
    matches!(target, Target::X86_64)
}

/// Where the address of the next argument lies in a `va_list`.
pub const fn next_argument(target: Target) -> u64 {
    match target {
        Target::X86_64 => 8,
        Target::I386 => 0,
    }
}

/// The least alignment of a slot, in bytes.
pub const fn slot(target: Target) -> u64 {
    target.pointer_bytes()
}

/// A number in a `va_list`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListWord {
    /// Its offset in the list, in bytes.
    pub offset: u64,
    /// How many bytes it has.
    pub size: u64,
    /// The number.
    pub value: u64,
}

/// The numbers that `va_start` writes to a `va_list`, where `first` is the address of the variable
/// arguments.
pub fn started(target: Target, first: u64) -> Vec<ListWord> {
    let word = |offset, size, value| ListWord { offset, size, value };
    let mut words = vec![word(next_argument(target), target.pointer_bytes(), first)];
    if target == Target::X86_64 {
        words.push(word(GP_OFFSET, 4, u64::from(GP_USED_UP)));
        words.push(word(FP_OFFSET, 4, u64::from(FP_USED_UP)));
        words.push(word(REGISTER_AREA, 8, 0));
    }
    words
}

/// The numbers of a `va_list` beside the address of the next argument, where all registers are used up.
pub fn used_up(target: Target) -> Vec<ListWord> {
    let next = next_argument(target);
    started(target, 0).into_iter().filter(|word| word.offset != next).collect()
}

/// Whether a type is the `va_list` of a compiler for x86-64, or the element type of that array.
pub fn is_list(types: &CTypes, ty: CTypeId) -> bool {
    match types.get(ty) {
        CType::Array { element, .. } => is_list(types, *element),
        CType::Record(record) => {
            let name = &types.records[*record].name;
            name.strip_prefix("struct ").unwrap_or(name) == "__va_list_tag"
        }
        _ => false,
    }
}

/// Where `gp_offset` lies in it, a 32-bit number.
const GP_OFFSET: u64 = 0;
/// The `gp_offset` with which no general register is left.
const GP_USED_UP: u32 = 48;
/// Where `fp_offset` lies in it, a 32-bit number.
const FP_OFFSET: u64 = 4;
/// The `fp_offset` with which no vector register is left.
const FP_USED_UP: u32 = 176;
/// Where `reg_save_area` lies in it, an address: null here.
const REGISTER_AREA: u64 = 16;
/// The alignment of the variable arguments, in bytes, if no argument needs more.
pub const AREA_ALIGN: u64 = 16;

/// Where one argument lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its position among all arguments of the call.
    pub argument: usize,
    /// Its distance in bytes from the start of the variable arguments.
    pub offset: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Whether it is passed by the address of the object that is copied (a struct or union).
    pub by_address: bool,
}

/// The variable arguments of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Area {
    /// The arguments after the fixed ones, in order.
    pub slots: Vec<Slot>,
    /// Bytes of all of them.
    pub size: u64,
    /// Alignment of the area, in bytes.
    pub align: u64,
}

/// The address of the slot of an argument that is aligned so, at or after an address: what
/// `va_arg` rounds up to.
pub const fn slot_align(target: Target, align: u64) -> u64 {
    if align > slot(target) { align } else { slot(target) }
}

/// How the x86-64 ABI passes an argument that a test gives for `...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// In a general register, or on the stack after the last of them: integers of 32 and 64 bits
    /// and pointers.
    Word,
    /// In a vector register: `double`.
    Float,
}

/// How many arguments of each class a test can give for `...`.
///
/// Words and floats take registers of their own, so that one call which passes all words and then all
/// floats, used or not, is a call with each list of as many at most: what `va_arg` finds does not
/// depend on how the two are mixed as long as every float is in a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Arguments of class [`Class::Word`].
    pub words: usize,
    /// Arguments of class [`Class::Float`].
    pub floats: usize,
}

/// The most words that a test gives for `...`.
pub const MOST_WORDS: usize = 8;

/// The vector registers that the x86-64 ABI passes arguments in.
const VECTOR_REGISTERS: usize = 8;

/// The vector registers that variable arguments are passed in; none on 32-bit x86.
pub(crate) const fn vector_registers(target: Target) -> usize {
    match target {
        Target::X86_64 => VECTOR_REGISTERS,
        Target::I386 => 0,
    }
}

/// How an argument of a type is passed. `None` for what no test gives for `...`: structs, `long
/// double`, wide integers, and types that promotion leaves no argument with.
pub fn class(types: &CTypes, ty: CTypeId) -> Option<Class> {
    match types.scalar(ty)? {
        Type::Int(32 | 64) | Type::Ptr => Some(Class::Word),
        Type::F64 => Some(Class::Float),
        _ => None,
    }
}

/// How many arguments tests can give for the `...` of a function; none to one that does not begin to
/// read any, and to one for 32-bit x86, whose functions no test calls.
pub fn room(program: &Program, function: FuncId) -> Room {
    let (types, function) = (&program.types, &program.functions[function]);
    let reads = function.body.as_ref().is_some_and(begins_to_read);
    match types.get(function.ty) {
        CType::Function { params, .. } if reads && types.target == Target::X86_64 => {
            let taken: usize = params.iter().map(|ty| vectors_at_most(types, *ty)).sum();
            Room { words: MOST_WORDS, floats: VECTOR_REGISTERS.saturating_sub(taken) }
        }
        _ => Room::default(),
    }
}

/// Whether a function reads its variable arguments, if not by inline assembly.
fn begins_to_read(body: &Body) -> bool {
    body.stmts.values().any(|stmt| matches!(stmt, Stmt::VaStart { .. }))
}

/// How many vector registers a parameter takes at most.
pub(crate) fn vectors_at_most(types: &CTypes, ty: CTypeId) -> usize {
    match types.scalar(ty) {
        Some(Type::Int(_) | Type::Ptr) => 0,
        Some(_) => 1,
        None => 2,
    }
}

/// Whether a function of this C type takes variable arguments.
pub fn is_variadic(types: &CTypes, function: CTypeId) -> bool {
    matches!(types.get(function), CType::Function { variadic: true, .. })
}

/// Lays out the arguments that a call passes after the first `fixed`. `arg_types` are the C types of all its
/// arguments as passed.
pub fn area(types: &CTypes, arg_types: &[CTypeId], fixed: usize) -> Area {
    let mut area = Area { align: AREA_ALIGN, ..Area::default() };
    for (argument, ty) in arg_types.iter().enumerate().skip(fixed) {
        let align = slot_align(types.target, types.align(*ty));
        let size = types.size(*ty).unwrap_or(0);
        let offset = area.size.next_multiple_of(align);
        let by_address = types.scalar(*ty).is_none();
        area.slots.push(Slot { argument, offset, size, by_address });
        area.size = offset + size.next_multiple_of(slot(types.target));
        area.align = area.align.max(align);
    }
    area
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ctype::IntKind;

    #[test]
    fn each_argument_begins_at_a_slot_and_wide_ones_at_sixteen_bytes() {
        let mut types = CTypes::new();
        let (int, wide) = (types.int(IntKind::Int), types.int(IntKind::Int128));
        let area = area(&types, &[int, int, wide, int], 1);
        let offsets: Vec<u64> = area.slots.iter().map(|slot| slot.offset).collect();
        assert_eq!(offsets, [0, 16, 32]);
        assert_eq!((area.size, area.align), (40, 16));
        assert_eq!(area.slots[0].argument, 1);
    }

    #[test]
    fn what_va_arg_finds_in_registers_can_be_given_and_nothing_else() {
        let mut types = CTypes::new();
        let kinds = [IntKind::Int, IntKind::UInt, IntKind::Long, IntKind::ULongLong];
        let words = kinds.map(|kind| types.int(kind));
        let pointer = types.pointer(words[0]);
        let double = types.intern(CType::Double);
        for ty in words.into_iter().chain([pointer]) {
            assert_eq!(class(&types, ty), Some(Class::Word));
        }
        assert_eq!(class(&types, double), Some(Class::Float));
        let (small, wide) = (types.int(IntKind::Short), types.int(IntKind::Int128));
        let (single, long_double) = (types.intern(CType::Float), types.intern(CType::LongDouble));
        let array = types.intern(CType::Array { element: double, length: Some(1) });
        for ty in [small, wide, single, long_double, array] {
            assert_eq!(class(&types, ty), None, "{}", types.spell(ty, ""));
        }
    }
}
