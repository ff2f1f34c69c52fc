//! Loads and stores: the operation by width and by the form of the address.

use super::Builder;
use super::values::{Base, Ref, ScaledIndex, Val};
use crate::interp::code::Op;
use crate::interp::slots::{Slot, slots_of};
use crate::program::expr::Type;

/// An address as an operation can take it.
enum Mode {
    Plain(Ref, i32),
    Scaled(Ref, ScaledIndex, i32),
    Frame(u32),
    Known(u64),
}

/// The operations of one width.
struct Forms {
    plain: fn(Slot, Slot, i32) -> Op,
    scaled: fn(Slot, Slot, Slot, u32, i32) -> Op,
    extended: fn(Slot, Slot, Slot, u32, i32) -> Op,
    frame: fn(Slot, u32) -> Op,
    known: fn(Slot, u64) -> Op,
}

macro_rules! forms {
    ($plain:ident $scaled:ident $extended:ident $frame:ident $known:ident) => {
        Some(Forms {
            plain: Op::$plain,
            scaled: Op::$scaled,
            extended: Op::$extended,
            frame: Op::$frame,
            known: Op::$known,
        })
    };
}

fn loads(bytes: u64) -> Option<Forms> {
    match bytes {
        1 => forms!(Load8 LoadX8 LoadS8 LoadF8 LoadA8),
        2 => forms!(Load16 LoadX16 LoadS16 LoadF16 LoadA16),
        4 => forms!(Load32 LoadX32 LoadS32 LoadF32 LoadA32),
        8 => forms!(Load64 LoadX64 LoadS64 LoadF64 LoadA64),
        _ => None,
    }
}

fn stores(bytes: u64) -> Option<Forms> {
    match bytes {
        1 => forms!(Store8 StoreX8 StoreS8 StoreF8 StoreA8),
        2 => forms!(Store16 StoreX16 StoreS16 StoreF16 StoreA16),
        4 => forms!(Store32 StoreX32 StoreS32 StoreF32 StoreA32),
        8 => forms!(Store64 StoreX64 StoreS64 StoreF64 StoreA64),
        _ => None,
    }
}

impl Forms {
    /// The operation on a slot, which gets what is loaded or has what is stored.
    fn make(&self, slot: Slot, mode: &Mode) -> Op {
        match *mode {
            Mode::Plain(base, offset) => (self.plain)(slot, base.slot, offset),
            Mode::Scaled(base, ScaledIndex { index, extend, size }, offset) => {
                let make = if extend { self.extended } else { self.scaled };
                make(slot, base.slot, index.slot, size, offset)
            }
            Mode::Frame(offset) => (self.frame)(slot, offset),
            Mode::Known(address) => (self.known)(slot, address),
        }
    }
}

impl Builder<'_, '_> {
    fn mode(&mut self, address: Val) -> Mode {
        match address {
            Val::Const(bits) => Mode::Known(bits as u64),
            Val::Slot(slot) => Mode::Plain(slot, 0),
            Val::Extended(_) => Mode::Plain(self.in_slot(address, Type::Ptr), 0),
            Val::Address { base, scaled: Some(scaled), offset } => {
                let (base, offset) = self.indexed_base(base, offset);
                Mode::Scaled(base, scaled, offset)
            }
            Val::Address { base: Base::Zero, scaled: None, offset } => Mode::Known(offset),
            Val::Address { base: Base::Frame, scaled: None, offset } => {
                match u32::try_from(offset) {
                    Ok(offset) => Mode::Frame(offset),
                    Err(_) => Mode::Plain(self.in_slot(address, Type::Ptr), 0),
                }
            }
            Val::Address { base, scaled: None, offset } => {
                let (base, offset) = self.indexed_base(base, offset);
                Mode::Plain(base, offset)
            }
        }
    }

    fn release_mode(&mut self, mode: &Mode) {
        match mode {
            Mode::Plain(base, _) => self.release_slot(*base),
            Mode::Scaled(base, scaled, _) => {
                self.release_slot(*base);
                self.release_slot(scaled.index);
            }
            Mode::Frame(_) | Mode::Known(_) => {}
        }
    }

    /// The value of a type at an address.
    pub(super) fn load(&mut self, ty: Type, address: Val, dst: Option<Slot>) -> Val {
        let bytes = self.program.types.target.stored_bytes(ty);
        let Some(forms) = loads(bytes) else {
            let from = self.take(address, Type::Ptr);
            let to = self.destination(dst, slots_of(ty));
            self.emit(Op::LoadWide(to.slot, from, bytes as u32));
            return Val::Slot(to);
        };
        let mode = self.mode(address);
        self.release_mode(&mode);
        let to = self.destination(dst, 1);
        self.emit(forms.make(to.slot, &mode));
        Val::Slot(to)
    }

    /// The same of a volatile object, which may be a device.
    pub(super) fn load_volatile(&mut self, ty: Type, address: Val, dst: Option<Slot>) -> Val {
        let bytes = self.program.types.target.stored_bytes(ty);
        if loads(bytes).is_none() {
            return self.load(ty, address, dst);
        }
        let from = self.take(address, Type::Ptr);
        let to = self.destination(dst, 1);
        self.emit(Op::LoadVolatile(to.slot, from, bytes as u32));
        Val::Slot(to)
    }

    /// Writes a value, which is in a slot, to a volatile object, which may be a device.
    pub(super) fn store_volatile(&mut self, ty: Type, value: Slot, address: Val) {
        let bytes = self.program.types.target.stored_bytes(ty);
        if stores(bytes).is_none() {
            return self.store(ty, value, address);
        }
        let to = self.in_slot(address, Type::Ptr);
        self.emit(Op::StoreVolatile(value, to.slot, bytes as u32));
    }

    /// Writes a value, which is in a slot, to an address.
    pub(super) fn store(&mut self, ty: Type, value: Slot, address: Val) {
        let bytes = self.program.types.target.stored_bytes(ty);
        match stores(bytes) {
            Some(forms) => {
                let mode = self.mode(address);
                self.emit(forms.make(value, &mode));
            }
            None => {
                let to = self.in_slot(address, Type::Ptr);
                self.emit(Op::StoreWide(value, to.slot, bytes as u32));
            }
        }
    }
}
