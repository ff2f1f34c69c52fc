//! The heap.
//!
//! Blocks lie one after the other. Before each, in the gap, stands the number of its record, so
//! that `free` finds it at once. A freed block waits in a queue until [`QUARANTINE`] bytes were
//! freed after it; only then its addresses are given out again, to an allocation of its size class.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::area::{DEAD, HEADER, LIVE, WRITABLE};
use super::{GAP, HEAP, INPUTS, Memory};
use crate::program::stmt::TrapKind;

/// The alignment of the blocks of `malloc`.
const ALIGN: u64 = 16;

/// How many freed bytes are kept from being used again.
const QUARANTINE: u64 = 16 << 20;

/// Distance of the record's number before a block.
const NUMBER: u64 = 8;

/// A block, in use or not.
#[derive(Clone, Copy, Debug)]
struct Block {
    base: u64,
    /// Bytes that were asked for.
    size: u64,
    /// Bytes that it has room for.
    room: u64,
    live: bool,
}

/// All blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Heap {
    blocks: Vec<Block>,
    /// The end of the last block.
    end: u64,
    /// Freed, oldest first.
    freed: VecDeque<u32>,
    freed_bytes: u64,
    /// Ready for use, by their room.
    ready: FxHashMap<u64, Vec<u32>>,
}

/// The room that a block of this size gets: few sizes, so that freed blocks find a use.
const fn room_for(size: u64) -> u64 {
    if size <= 1024 {
        return size.next_multiple_of(ALIGN);
    }
    // Eight classes for each power of two.
    let step = 1 << (63 - size.leading_zeros() - 3);
    size.next_multiple_of(step)
}

impl Memory {
    /// The live blocks, the newest first, each with its size and the bytes that hold what was computed
    /// from bytes that were never written; nothing where there are no such bytes.
    pub(in crate::interp) fn blocks_undetermined(&self) -> Vec<(u64, Vec<usize>)> {
        let live = self.heap.blocks.iter().rev().filter(|block| block.live);
        let all = live.map(|block| (block.size, self.undetermined(block.base, block.size)));
        let all: Vec<_> = all.collect();
        if all.iter().all(|(_, bytes)| bytes.is_empty()) { Vec::new() } else { all }
    }

    /// A new block, never written; `None` where the area is full.
    pub(in crate::interp) fn allocate(&mut self, size: u64) -> Option<u64> {
        let (start, area_bytes) = (self.start(HEAP), self.area_bytes());
        if size > area_bytes {
            return None;
        }
        let room = room_for(size);
        let heap = &mut self.heap;
        let base = match heap.ready.get_mut(&room).and_then(Vec::pop) {
            Some(number) => {
                let block = &mut heap.blocks[number as usize];
                (block.size, block.live) = (size, true);
                let base = block.base;
                // What was the old block's end must not look like it.
                self.areas[HEAP].mark(base, room, 0);
                base
            }
            None => {
                let number = u32::try_from(heap.blocks.len()).ok()?;
                let base = (heap.end.max(start) + GAP).next_multiple_of(ALIGN);
                if base + room + GAP - start > area_bytes {
                    return None;
                }
                heap.end = base + room;
                heap.blocks.push(Block { base, size, room, live: true });
                let area = &mut self.areas[HEAP];
                area.grow(heap.end + GAP);
                area.set_state(base - GAP, HEADER);
                area.set_note(base - NUMBER, u64::from(number));
                base
            }
        };
        self.areas[HEAP].mark(base, size, LIVE | WRITABLE);
        Some(base)
    }

    /// The number of the live block that begins at an address.
    fn block_at(&self, address: u64) -> Result<usize, TrapKind> {
        let area = &self.areas[HEAP];
        if area.state(address.wrapping_sub(GAP)) & HEADER == 0 {
            return Err(TrapKind::BadFree);
        }
        let number = area.note(address.wrapping_sub(NUMBER)) as usize;
        match self.heap.blocks.get(number) {
            Some(block) if block.live && block.base == address => Ok(number),
            _ => Err(TrapKind::BadFree),
        }
    }

    /// The size of the object of the inputs that begins at an address, which counts as a block that was
    /// allocated before the call.
    ///
    /// # Errors
    /// Where its life has ended.
    fn live_input(&self, address: u64) -> Result<Option<u64>, TrapKind> {
        let Ok(at) = self.inputs.binary_search_by_key(&address, |object| object.base) else {
            return Ok(None);
        };
        match self.released_inputs.contains(&address) {
            true => Err(TrapKind::BadFree),
            false => Ok(Some(self.inputs[at].size)),
        }
    }

    /// The size of the live block that begins at an address.
    ///
    /// # Errors
    /// Where there is none.
    pub(in crate::interp) fn allocated(&self, address: u64) -> Result<u64, TrapKind> {
        if let Some(size) = self.live_input(address)? {
            return Ok(size);
        }
        Ok(self.heap.blocks[self.block_at(address)?].size)
    }

    /// Frees the block that begins at an address and tells its size.
    ///
    /// # Errors
    /// Where there is none that is live.
    pub(in crate::interp) fn release(&mut self, address: u64) -> Result<u64, TrapKind> {
        if let Some(size) = self.live_input(address)? {
            self.released_inputs.insert(address);
            self.areas[INPUTS].mark(address, size, DEAD);
            return Ok(0); // no room that the program asked for
        }
        let number = self.block_at(address)?;
        let heap = &mut self.heap;
        let block = &mut heap.blocks[number];
        block.live = false;
        let Block { size, room, .. } = *block;
        self.areas[HEAP].mark(address, size, DEAD);
        heap.freed.push_back(number as u32);
        heap.freed_bytes += room + GAP;
        while heap.freed_bytes > QUARANTINE
            && let Some(number) = heap.freed.pop_front()
        {
            let room = heap.blocks[number as usize].room;
            heap.freed_bytes -= room + GAP;
            heap.ready.entry(room).or_default().push(number);
        }
        Ok(size)
    }
}
