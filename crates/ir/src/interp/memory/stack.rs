//! Locals in memory: a frame's objects lie together, frames one after the other.
//!
//! A frame's addresses are free again when its function returns, but the next frames lie behind
//! them until [`QUARANTINE`] bytes were left behind so. Until then a pointer to a local of a call
//! that has returned leads to bytes that have died.

use super::area::{DEAD, HEADER, LIVE, WRITABLE};
use super::{GAP, Memory, STACK};

/// How many bytes of frames that are gone may lie between the frames that are there.
const QUARANTINE: u64 = 32 << 10;

/// Distance of the size before an object of variable size.
const SIZE: u64 = 8;

/// Where the next frame goes.
#[derive(Clone, Copy, Debug)]
pub(in crate::interp) struct Stack {
    /// First address of the area.
    start: u64,
    top: u64,
}

/// The objects of one call.
#[derive(Clone, Copy, Debug)]
pub(in crate::interp) struct FrameSpan {
    /// Address of its first byte.
    pub(in crate::interp) base: u64,
    /// The end of its last object, or of its caller's where it has none.
    pub(in crate::interp) end: u64,
}

impl Stack {
    pub(super) const fn new(start: u64) -> Self {
        Self { start, top: start }
    }
}

impl Memory {
    /// The span of the caller of the first function.
    pub(in crate::interp) const fn stack_bottom(&self) -> FrameSpan {
        FrameSpan { base: self.stack.start, end: self.stack.start }
    }

    /// Room for objects on the stack, none of which is live; `None` where there is not enough.
    pub(in crate::interp) fn push_frame(&mut self, size: u64, align: u64) -> Option<FrameSpan> {
        let align = align.clamp(GAP, 1 << 20);
        let base = (self.stack.top + GAP).next_multiple_of(align);
        let end = base.checked_add(size)?;
        if end - self.stack.start > self.area_bytes() - GAP {
            return None;
        }
        self.stack.top = end;
        let area = &mut self.areas[STACK];
        area.grow(end + GAP);
        area.mark(base, size, 0);
        Some(FrameSpan { base, end })
    }

    /// Ends all objects of the newest frame, which is called from `caller`.
    pub(in crate::interp) fn pop_frame(&mut self, span: FrameSpan, caller: FrameSpan) {
        if span.base < span.end {
            self.areas[STACK].mark(span.base, span.end - span.base, DEAD);
        }
        if self.stack.top.saturating_sub(caller.end) > QUARANTINE {
            self.stack.top = caller.end;
        }
    }

    /// Room for one object of the newest frame, behind all others. Its size stands before it.
    pub(in crate::interp) fn push_dynamic(&mut self, size: u64, align: u64) -> Option<FrameSpan> {
        let span = self.push_frame(size.checked_add(GAP)?, align)?;
        let area = &mut self.areas[STACK];
        area.set_state(span.base - GAP, HEADER);
        area.set_note(span.base - SIZE, size);
        Some(span)
    }

    /// Ends the object of variable size that begins at an address: its size. `None` where there is
    /// none.
    pub(in crate::interp) fn end_dynamic(&mut self, address: u64) -> Option<u64> {
        let area = &mut self.areas[STACK];
        if area.state(address.wrapping_sub(GAP)) & HEADER == 0 {
            return None;
        }
        let size = area.note(address - SIZE);
        area.set_state(address - GAP, 0);
        area.mark(address, size, DEAD);
        // The room of the last one is free at once, or a loop would use up the stack.
        if self.stack.top == address + size + GAP {
            self.stack.top = address - GAP;
        }
        Some(size)
    }

    /// Begins the life of an object on the stack, with bytes that were never written.
    #[inline]
    pub(in crate::interp) fn enter(&mut self, address: u64, size: u64) {
        self.areas[STACK].mark(address, size, LIVE | WRITABLE);
    }

    /// Ends it.
    #[inline]
    pub(in crate::interp) fn leave(&mut self, address: u64, size: u64) {
        self.areas[STACK].mark(address, size, DEAD);
    }

    /// A number in a local of the newest frame, as [`Memory::quick_load`].
    #[inline(always)]
    pub(in crate::interp) fn quick_load_local<const N: usize>(&self, address: u64) -> Option<u64> {
        self.areas[STACK].quick_load::<N>(address.wrapping_sub(self.stack.start) as usize)
    }

    /// The same as [`Memory::quick_store`].
    #[inline(always)]
    pub(in crate::interp) fn quick_store_local<const N: usize>(
        &mut self,
        address: u64,
        value: u64,
    ) -> bool {
        self.areas[STACK].quick_store::<N>(address.wrapping_sub(self.stack.start) as usize, value)
    }
}
