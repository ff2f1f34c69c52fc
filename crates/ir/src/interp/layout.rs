//! Where a function's locals are kept while it runs.

use lydian_base::EntityId;

use super::slots::Slot;
use crate::program::function::{Body, LocalId, Storage};
use crate::program::machine_type::Type;

/// Where a local is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// In a slot, or two.
    Near(Slot),
    /// Beside the window, by position.
    Far(u32),
    /// In memory, so many bytes from the frame's first.
    Memory { offset: u32, size: u32 },
}

/// The memory that a call's locals take.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameSize {
    pub(super) bytes: u64,
    pub(super) align: u64,
}

/// The places of a function's locals.
pub(super) struct FrameLayout {
    homes: Vec<Home>,
    /// By local: the slot that says whether the register was set, where that is not known.
    flags: Vec<Option<Slot>>,
    /// By local: its machine type; an address for one in memory.
    types: Vec<Type>,
    far: u32,
    size: FrameSize,
}

impl FrameLayout {
    /// A layout in which no local has its place yet. The frame has no bytes and this alignment.
    pub(super) fn new(body: &Body, align: u64) -> Self {
        let register = |storage| match storage {
            Storage::Register(ty) => ty,
            Storage::Memory { .. } => Type::Ptr,
        };
        Self {
            homes: vec![Home::Near(0); body.locals.len()],
            flags: vec![None; body.locals.len()],
            types: body.locals.values().map(|local| register(local.storage)).collect(),
            far: 0,
            size: FrameSize { bytes: 0, align },
        }
    }

    /// Where a local is.
    #[inline]
    pub(super) fn home(&self, local: LocalId) -> Home {
        self.homes[local.index()]
    }

    /// Puts a local into a slot.
    pub(super) fn place_near(&mut self, local: LocalId, slot: Slot) {
        self.homes[local.index()] = Home::Near(slot);
    }

    /// Puts a register beside the window.
    pub(super) fn place_far(&mut self, local: LocalId) {
        self.homes[local.index()] = Home::Far(self.far);
        self.far += 1;
    }

    /// Puts a local into memory, `offset` bytes behind the frame's first.
    pub(super) fn place_in_memory(&mut self, local: LocalId, offset: u32, size: u32) {
        self.homes[local.index()] = Home::Memory { offset, size };
    }

    /// How many registers are far.
    #[inline]
    pub(super) const fn far_count(&self) -> usize {
        self.far as usize
    }

    /// The slot that says whether a register was set; `None` where it surely was.
    #[inline]
    pub(super) fn flag(&self, local: LocalId) -> Option<Slot> {
        self.flags[local.index()]
    }

    pub(super) fn set_flag(&mut self, local: LocalId, slot: Slot) {
        self.flags[local.index()] = Some(slot);
    }

    /// A local's machine type; that of an address for a local in memory.
    #[inline]
    pub(super) fn ty(&self, local: LocalId) -> Type {
        self.types[local.index()]
    }

    /// The bytes of the frame and their alignment.
    #[inline]
    pub(super) const fn size(&self) -> FrameSize {
        self.size
    }

    pub(super) fn set_size(&mut self, size: FrameSize) {
        self.size = size;
    }

    /// The address of a local in memory whose frame begins at `frame`; 0 for a register.
    pub(super) fn address_of(&self, local: LocalId, frame: u64) -> u64 {
        match self.home(local) {
            Home::Memory { offset, .. } => frame + u64::from(offset),
            Home::Near(_) | Home::Far(_) => 0,
        }
    }
}
