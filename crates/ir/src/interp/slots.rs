//! Slots: the 64-bit places of a call's registers and temporaries. A call names those of its window.

use crate::program::machine_type::Type;

/// A position in the running call's window.
pub(super) type Slot = u16;

/// How many slots a call can name.
pub(super) const WINDOW: usize = 1 << 16;

/// The slots that a call can name.
pub(super) type Window = [u64; WINDOW];

/// Whether a value takes two slots.
pub(super) const fn is_wide(ty: Type) -> bool {
    ty.bits() > 64
}

/// How many slots a value takes.
pub(super) const fn slots_of(ty: Type) -> u16 {
    if is_wide(ty) { 2 } else { 1 }
}

/// A value in a slot or two.
pub(super) fn read(slots: &[u64], slot: Slot, ty: Type) -> u128 {
    let at = usize::from(slot);
    match is_wide(ty) {
        true => u128::from(slots[at + 1]) << 64 | u128::from(slots[at]),
        false => u128::from(slots[at]),
    }
}

/// Puts a value into a slot or two.
pub(super) fn write(slots: &mut [u64], slot: Slot, ty: Type, bits: u128) {
    let at = usize::from(slot);
    slots[at] = bits as u64;
    if is_wide(ty) {
        slots[at + 1] = (bits >> 64) as u64;
    }
}

/// A register beside the window: its bits, and whether it was set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FarRegister {
    pub(super) bits: u128,
    pub(super) set: bool,
}

/// Slots for a run, which begins with few of them, made of those of another.
pub(super) fn few_slots(mut slots: Vec<u64>) -> Vec<u64> {
    slots.resize(2 * WINDOW, 0);
    slots
}
