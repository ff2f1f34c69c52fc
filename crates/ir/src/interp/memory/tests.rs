//! Memory against a model that keeps one entry a byte, on random operations.

use std::collections::BTreeMap;

use lydian_base::Rng;

use super::*;
use crate::program::arith;

/// A byte that was once part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Byte {
    value: u8,
    written: bool,
    /// Whether something undefined was stored.
    kept: bool,
    writable: bool,
    live: bool,
}

/// Memory as a map.
#[derive(Default)]
struct Model {
    bytes: BTreeMap<u64, Byte>,
}

impl Model {
    fn begin(&mut self, base: u64, size: u64, written: bool, writable: bool) {
        for address in base..base + size {
            let old = self
                .bytes
                .insert(address, Byte { value: 0, written, kept: false, writable, live: true });
            assert!(old.is_none_or(|byte| !byte.live), "{address:x} was given out twice");
        }
        for beside in [base - 1, base + size] {
            assert!(self.bytes.get(&beside).is_none_or(|byte| !byte.live), "no gap at {beside:x}");
        }
    }

    /// What lies where others were begins without anything in it.
    fn clear(&mut self, span: FrameSpan) {
        let range = span.base..span.end;
        assert!(self.bytes.range(range.clone()).all(|(_, byte)| !byte.live));
        self.bytes.retain(|address, _| !range.contains(address));
    }

    fn end(&mut self, base: u64, size: u64) {
        for address in base..base + size {
            self.bytes.get_mut(&address).expect("the object was there").live = false;
        }
    }

    fn at(&self, address: u64) -> Option<&Byte> {
        self.bytes.get(&address)
    }

    fn fault(&self, address: u64, len: u64) -> Option<TrapKind> {
        let mut bytes = (0..len).map(|offset| self.at(address.wrapping_add(offset)));
        if bytes.clone().all(|byte| byte.is_some_and(|byte| byte.live)) {
            return None;
        }
        Some(match bytes.any(|byte| byte.is_some_and(|byte| !byte.live)) {
            _ if address < NULL_PAGE => TrapKind::NullDereference,
            true => TrapKind::UseAfterFree,
            false => TrapKind::OutOfBounds,
        })
    }

    fn load(&self, address: u64, len: u64) -> Result<(u128, bool), TrapKind> {
        if let Some(kind) = self.fault(address, len) {
            return Err(kind);
        }
        let (mut value, mut written) = (0, true);
        for offset in (0..len).rev() {
            let byte = self.bytes[&(address + offset)];
            value = value << 8 | u128::from(if byte.written || byte.kept { byte.value } else { 0 });
            written &= byte.written;
        }
        Ok((value, written))
    }

    fn may_store(&self, address: u64, len: u64) -> Result<(), TrapKind> {
        match self.fault(address, len) {
            Some(kind) => Err(kind),
            None if (0..len).any(|offset| !self.bytes[&(address + offset)].writable) => {
                Err(TrapKind::ReadOnly)
            }
            None => Ok(()),
        }
    }

    fn store(&mut self, address: u64, len: u64, value: u128) -> Result<(), TrapKind> {
        self.may_store(address, len)?;
        for offset in 0..len {
            let byte = self.bytes.get_mut(&(address + offset)).expect("the byte is live");
            (byte.value, byte.written, byte.kept) = ((value >> (8 * offset)) as u8, true, false);
        }
        Ok(())
    }

    fn forget(&mut self, address: u64, len: u64) {
        if self.fault(address, len).is_none() {
            for offset in 0..len {
                let byte = self.bytes.get_mut(&(address + offset)).expect("the byte is live");
                (byte.written, byte.kept) = (false, true);
            }
        }
    }

    fn copy(&mut self, to: u64, from: u64, len: u64) -> Result<(), TrapKind> {
        if let Some(kind) = self.fault(from, len) {
            return Err(kind);
        }
        self.may_store(to, len)?;
        let bytes: Vec<Byte> = (0..len).map(|offset| self.bytes[&(from + offset)]).collect();
        for (offset, from) in bytes.iter().enumerate() {
            let byte = self.bytes.get_mut(&(to + offset as u64)).expect("the byte is live");
            (byte.value, byte.written, byte.kept) = (from.value, from.written, from.kept);
        }
        Ok(())
    }
}

/// An object that may be freed or left.
#[derive(Clone, Copy)]
enum Kind {
    Permanent,
    Input,
    Heap,
    Local,
    Dynamic,
}

struct World {
    rng: Rng,
    memory: Memory,
    model: Model,
    objects: Vec<(u64, u64, Kind)>,
    /// Frames with where their locals are.
    frames: Vec<(FrameSpan, Vec<(u64, u64)>)>,
}

impl World {
    fn new(seed: u64, target: Target) -> Self {
        let mut world = Self {
            rng: Rng::new(seed),
            memory: Memory::new(3, target),
            model: Model::default(),
            objects: Vec::new(),
            frames: Vec::new(),
        };
        for number in 0..4 {
            let size = 1 + world.rng.below(40);
            let base = world.memory.add_global(size, 1 << world.rng.below(5)).expect("room");
            if number == 3 {
                world.memory.protect(base);
            }
            world.model.begin(base, size, true, number != 3);
            world.objects.push((base, size, Kind::Permanent));
            let base = target.input_region() + 256 * number;
            assert!(world.memory.place_input(base, size));
            world.model.begin(base, size, true, true);
            world.objects.push((base, size, Kind::Input));
        }
        world
    }

    fn size(&mut self) -> u64 {
        match self.rng.below(8) {
            0 => 0,
            1 => 1000 + self.rng.below(4000),
            _ => 1 + self.rng.below(40),
        }
    }

    fn change_objects(&mut self) {
        match self.rng.below(7) {
            0 | 1 => {
                let size = self.size();
                let base = self.memory.allocate(size).expect("room");
                assert_eq!(base % 16, 0);
                self.model.begin(base, size, false, true);
                self.objects.push((base, size, Kind::Heap));
            }
            2 => self.push_frame(),
            3 => self.pop_frame(),
            4 if !self.frames.is_empty() => {
                let size = self.size();
                let span = self.memory.push_dynamic(size, 16).expect("room");
                self.model.clear(span);
                self.memory.enter(span.base, size);
                self.frames.last_mut().expect("there is one").0.end = span.end;
                self.model.begin(span.base, size, false, true);
                self.objects.push((span.base, size, Kind::Dynamic));
            }
            _ if self.objects.is_empty() => {}
            _ => {
                let at = self.rng.below(self.objects.len() as u64) as usize;
                let (base, size, kind) = self.objects[at];
                match kind {
                    Kind::Permanent => {
                        assert_eq!(self.memory.release(base), Err(TrapKind::BadFree));
                        return;
                    }
                    // As if it were allocated before the call.
                    Kind::Input => {
                        assert_eq!(self.memory.release(base + 1), Err(TrapKind::BadFree));
                        assert_eq!(self.memory.allocated(base), Ok(size));
                        assert_eq!(self.memory.release(base), Ok(0));
                        assert_eq!(self.memory.release(base), Err(TrapKind::BadFree));
                    }
                    Kind::Heap => {
                        assert_eq!(self.memory.release(base + 1), Err(TrapKind::BadFree));
                        assert_eq!(self.memory.release(base), Ok(size));
                        assert_eq!(self.memory.release(base), Err(TrapKind::BadFree));
                    }
                    Kind::Local => self.memory.leave(base, size),
                    Kind::Dynamic => assert_eq!(self.memory.end_dynamic(base), Some(size)),
                }
                self.model.end(base, size);
                self.objects.swap_remove(at);
            }
        }
    }

    fn push_frame(&mut self) {
        let sizes = [1 + self.rng.below(30), 1 + self.rng.below(30)];
        let second = (sizes[0] + GAP).next_multiple_of(8);
        let span = self.memory.push_frame(second + sizes[1], 8).expect("room");
        let locals = vec![(span.base, sizes[0]), (span.base + second, sizes[1])];
        self.model.clear(span);
        for (base, size) in &locals {
            self.memory.enter(*base, *size);
            self.model.begin(*base, *size, false, true);
            self.objects.push((*base, *size, Kind::Local));
        }
        self.frames.push((span, locals));
    }

    fn pop_frame(&mut self) {
        let Some((span, _)) = self.frames.pop() else { return };
        let caller = self.frames.last().map_or(self.memory.stack_bottom(), |frame| frame.0);
        self.memory.pop_frame(span, caller);
        let inside = |base: u64| base >= span.base && base < span.end.max(span.base + 1);
        let gone: Vec<_> = self
            .objects
            .iter()
            .filter(|(base, _, kind)| matches!(kind, Kind::Local | Kind::Dynamic) && inside(*base))
            .copied()
            .collect();
        gone.iter().for_each(|(base, size, _)| self.model.end(*base, *size));
        self.objects.retain(|(base, _, kind)| {
            !(matches!(kind, Kind::Local | Kind::Dynamic) && inside(*base))
        });
        // All that lay in the frame has died, gaps and all.
        for address in span.base..span.end {
            let dead = Byte { value: 0, written: false, kept: false, writable: false, live: false };
            self.model.bytes.insert(address, dead);
        }
    }

    fn address(&mut self) -> u64 {
        let dead = self.model.bytes.len() as u64;
        match self.rng.below(12) {
            0 => self.rng.below(2 * NULL_PAGE),
            1 => self.rng.next_u64(),
            2 if dead > 0 => {
                let nth = self.rng.below(dead) as usize;
                *self.model.bytes.keys().nth(nth).expect("there are so many")
            }
            _ => {
                let at = self.rng.below(self.objects.len() as u64) as usize;
                let (base, size, _) = self.objects[at];
                (base + self.rng.below(size + 20)).wrapping_sub(self.rng.below(10))
            }
        }
    }

    fn access(&mut self) {
        let (address, value) = (self.address(), self.rng.next_u64());
        let len = [1, 2, 4, 8, 9, 16][self.rng.below(6) as usize];
        match self.rng.below(7) {
            6 => {
                self.memory.forget(address, len);
                self.model.forget(address, len);
            }
            0 | 1 => {
                let wide = u128::from(value) << 64 | u128::from(!value);
                let wide = wide & arith::mask(8 * len as u32);
                if len == 4 && self.memory.quick_store::<4>(address, value) {
                    assert_eq!(self.model.store(address, 4, u128::from(value as u32)), Ok(()));
                } else {
                    let found = self.memory.store(address, len, wide);
                    assert_eq!(found, self.model.store(address, len, wide), "{address:x} {len}");
                }
            }
            2 => {
                let (from, len) = (self.address(), self.rng.below(30));
                if len > 0 && len <= 16 {
                    let found = self.memory.copy(address, from, len);
                    assert_eq!(found, self.model.copy(address, from, len), "{address:x} {from:x}");
                }
            }
            3 => {
                let found = self.memory.text(address, 30);
                let model = self.text(address, 30);
                assert_eq!(found, model, "{address:x}");
            }
            _ => {
                let expected = self.model.load(address, len);
                assert_eq!(self.memory.load(address, len), expected, "{address:x} {len}");
                let quick = match len {
                    1 => self.memory.quick_load::<1>(address),
                    2 => self.memory.quick_load::<2>(address),
                    4 => self.memory.quick_load::<4>(address),
                    8 => self.memory.quick_load::<8>(address),
                    _ => return,
                };
                let known = expected.ok().filter(|(_, written)| *written);
                assert_eq!(quick, known.map(|(bits, _)| bits as u64), "{address:x} {len}");
            }
        }
    }

    fn text(&self, address: u64, limit: u64) -> Result<(u64, bool, bool), TrapKind> {
        let mut written = true;
        for offset in 0..limit {
            let (byte, known) = self.model.load(address.wrapping_add(offset), 1)?;
            written &= known;
            if byte == 0 {
                return Ok((offset + 1, written, true));
            }
        }
        Ok((limit, written, false))
    }
}

#[test]
fn memory_is_what_a_map_of_bytes_is() {
    for seed in 0..16 {
        let target = [Target::X86_64, Target::I386][seed as usize % 2];
        let mut world = World::new(seed, target);
        for _ in 0..1500 {
            match world.rng.below(8) {
                0 => world.change_objects(),
                _ => world.access(),
            }
        }
    }
}

#[test]
fn all_objects_of_a_32_bit_program_lie_below_4_gib() {
    let mut world = World::new(1, Target::I386);
    (0..2000).for_each(|_| world.change_objects());
    let ends = world.objects.iter().map(|(base, size, _)| base + size);
    assert!(ends.max().is_some_and(|end| end > 1 << 30 && end < 1 << 32));
    let last = world.memory.function_address(FuncId::from_index(2));
    assert!(last < 1 << 32 && world.memory.function_at(last) == Some(FuncId::from_index(2)));
}

#[test]
fn freed_addresses_are_given_out_again_only_after_many_others() {
    let mut memory = Memory::new(0, Target::X86_64);
    let size = 50_000;
    let first = memory.allocate(size).expect("room");
    memory.release(first).expect("it is live");
    let again = (0..100).find(|_| {
        let base = memory.allocate(size).expect("room");
        memory.release(base).expect("it is live");
        base == first
    });
    assert_eq!(again, None);
    assert_eq!(memory.load(first, 4), Err(TrapKind::UseAfterFree));
    let again = (0..1000).find(|_| {
        let base = memory.allocate(size).expect("room");
        memory.release(base).expect("it is live");
        base == first
    });
    assert!(again.is_some(), "the heap would grow for ever");
}

#[test]
fn a_loop_of_calls_uses_little_of_the_stack() {
    let mut memory = Memory::new(0, Target::X86_64);
    let outer = memory.push_frame(40, 8).expect("room");
    let mut greatest = 0;
    for _ in 0..100_000 {
        let span = memory.push_frame(100, 8).expect("room");
        greatest = greatest.max(span.end - outer.end);
        memory.pop_frame(span, outer);
    }
    assert!(greatest < 1 << 17, "{greatest}");
}
