//! The number of bytes that a `void *` points to that an undefined function returns.
//!
//! The type does not say it, but most functions that return `void *` are allocators, and an allocator
//! is given the size. This is only a default. Settings override it, and an access beyond it meets a
//! bound on the inputs ([`crate::bounds`]).

use lydian_ir::{CType, CTypeId, CTypes, IntKind};

use super::Builder;
use crate::settings::defaults::MAX_LENGTH;
use crate::settings::length::Length;
use crate::settings::{Kind, LengthText};

/// The most bytes that are planned for one result, since each is an input of its own.
const MOST_ALLOCATED: u64 = 1 << 14;

/// The bytes that a call asks for, by the shape of the function's type and the values of the
/// arguments that are known numbers: the one integer of `malloc`, the product of the last two of
/// `calloc`, the last one of `realloc`, where pointers to what is there and to a context stand
/// before them. `None` where the function does not return `void *` or a size is not known.
pub fn asked_for(types: &CTypes, function: CTypeId, args: &[Option<u64>]) -> Option<u64> {
    let CType::Function { result, params, .. } = types.get(function) else { return None };
    if !matches!(types.get(types.pointee(*result)?), CType::Void) {
        return None;
    }
    let is_size =
        |ty: &CTypeId| matches!(types.get(*ty), CType::Int { kind, .. } if *kind != IntKind::Bool);
    let sizes: Vec<Option<u64>> =
        params.iter().zip(args).filter(|(ty, _)| is_size(ty)).map(|(_, arg)| *arg).collect();
    let pointers = params.iter().filter(|ty| types.pointee(**ty).is_some()).count();
    match sizes[..] {
        [] => None,
        [.., items, size] if pointers < 2 => items?.checked_mul(size?),
        [.., size] => size,
    }
}

impl Builder<'_> {
    /// Gives the object behind a result the bytes that the call asks for, where neither the user nor
    /// a guess says what the result points to.
    pub(super) fn set_result_size(&mut self, bytes: u64) {
        let result = self.waiting.iter_mut().find(|slot| slot.place.steps.is_empty());
        let Some(slot) = result else { return };
        let set = &mut slot.set;
        let said = set.implied_kind().is_some() || set.max.is_some() || set.pointee.is_some();
        if !said && bytes > MAX_LENGTH && bytes <= MOST_ALLOCATED {
            set.kind = Some(Kind::Array);
            set.length = Some(LengthText(Length::Number(bytes)));
        }
    }
}
