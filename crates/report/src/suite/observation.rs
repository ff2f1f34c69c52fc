//! Observations: the results and memory of a native run of a test.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::device::DeviceWrite;
use lydian_ir::test::{GlobalInput, Image, ImagePointer, PointerTarget, Test};
use lydian_ir::{CTypeId, Program, libc};
use serde::{Deserialize, Serialize};

use super::image::{BlockPointer, ObservedImage, plain};
use super::signature::result_type;
use super::value::pointer_offsets;

/// The results of a native run of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// The end of the run.
    pub outcome: Outcome,
    /// The result; `None` for `void` and where the call did not return.
    pub result: Option<ObservedImage>,
    /// The objects whose contents changed, by position in the test.
    pub objects: Vec<(u32, ObservedImage)>,
    /// The globals whose contents changed, by name.
    pub globals: Vec<(String, ObservedImage)>,
    /// The objects that the program released, by position.
    pub released: Vec<u32>,
    /// The blocks that the program allocated and that were live at the end.
    pub blocks: Vec<ObservedImage>,
    /// The number of calls of each undefined function.
    pub calls: Vec<(String, u32)>,
    /// Whether the run has undefined behaviour. Nothing that it shows is then asserted.
    pub is_undefined: bool,
    /// Whether assembly gives the run values that differ between machines or runs. Nothing is asserted of
    /// what it computes and leaves.
    pub varies: bool,
    /// The attempts of the run outside of the program, each worded to follow "it tried to". Lydian
    /// confines its runs; a suite is not confined.
    pub attempts: Vec<String>,
    /// The writes of devices, in order.
    pub device_writes: Vec<DeviceWrite>,
}

impl Observation {
    /// Whether the run left an object of the test as it was, by its position.
    pub fn leaves(&self, object: u32) -> bool {
        let is_changed = self.objects.iter().any(|(changed, _)| *changed == object);
        !is_changed && !self.released.contains(&object)
    }

    /// The names of the program's globals in it.
    pub fn names_of_globals(&mut self) -> impl Iterator<Item = &mut String> {
        let (mut names, mut images) = (Vec::new(), Vec::new());
        images.extend(&mut self.result);
        images.extend(self.objects.iter_mut().map(|(_, image)| image));
        for (name, image) in &mut self.globals {
            names.push(name);
            images.push(image);
        }
        images.extend(&mut self.blocks);
        let pointers = images.into_iter().flat_map(|image| &mut image.image.pointers);
        let of_pointers = pointers.filter_map(|pointer| match &mut pointer.target {
            PointerTarget::Global(name, _) => Some(name),
            _ => None,
        });
        names.into_iter().chain(of_pointers)
    }

    /// Whether a pointer in the final memory leads to an object of the test.
    pub fn leads_to(&self, object: u32) -> bool {
        let changed = self.objects.iter().map(|(_, image)| image);
        let all = changed.chain(self.globals.iter().map(|(_, image)| image));
        let mut all = all.chain(&self.blocks).chain(&self.result);
        let leads = |target: &PointerTarget| matches!(target, PointerTarget::Object(position, _) if *position == object);
        all.any(|image| image.image.pointers.iter().any(|pointer| leads(&pointer.target)))
    }
}

/// The memory after one run, as a runner returns it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory<'a> {
    /// The bytes of the result; none for `void`.
    pub result: &'a [u8],
    /// The bytes of all objects, in their order.
    pub objects: &'a [Vec<u8>],
    /// The bytes of the globals that differ from the program's start.
    pub globals: &'a [(String, Vec<u8>)],
    /// The objects that were released.
    pub released: &'a [u32],
    /// The blocks that are live, with their addresses.
    pub blocks: &'a [(u64, Vec<u8>)],
    /// The targets of addresses of the program's own.
    pub places: Option<&'a BTreeMap<u64, PointerTarget>>,
}

/// The end of a native run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The call returned.
    Returned,
    /// The program called `exit` or one of its kind, with this status.
    Exited(i32),
    /// The program called `abort`, or an `assert` failed.
    Aborted,
    /// A signal ended it, by its number.
    Crashed(i32),
    /// It ran longer than the limit, in milliseconds.
    TimedOut(u64),
    /// It asked for another read of a device than the next of the test's script.
    OutranScript,
    /// Something else, in words: a call of a function that does not return, a bad `free`.
    Ended(String),
}

impl Observation {
    /// An observation of which only the end of the run is known.
    pub const fn ended(outcome: Outcome) -> Self {
        Self {
            outcome,
            result: None,
            objects: Vec::new(),
            globals: Vec::new(),
            released: Vec::new(),
            blocks: Vec::new(),
            calls: Vec::new(),
            is_undefined: false,
            varies: false,
            attempts: Vec::new(),
            device_writes: Vec::new(),
        }
    }

    /// The observation, from the memory that a runner returns: the bytes of the result, of all
    /// objects in their order, and of the globals that differ from the program's start.
    pub fn from_bytes(
        program: &Program,
        test: &Test,
        outcome: Outcome,
        result: &[u8],
        objects: &[Vec<u8>],
        globals: &[(String, Vec<u8>)],
    ) -> Self {
        let memory = Memory { result, objects, globals, ..Memory::default() };
        Self::of(program, test, outcome, &memory, None)
    }

    /// The observation. Addresses become references to input objects, to the program's variables and
    /// functions and to allocated blocks, if they are such. Objects and globals that the run did not
    /// change are left out. `other` is the memory after the same run with other values in memory that
    /// nobody wrote: bytes that differ are not determined.
    pub fn of(
        program: &Program,
        test: &Test,
        outcome: Outcome,
        memory: &Memory<'_>,
        other: Option<&Memory<'_>>,
    ) -> Self {
        let mut seen = Self::ended(outcome);
        let observer = Observer { program, test, memory };
        let returned = seen.outcome == Outcome::Returned;
        let has_result = returned && !memory.result.is_empty();
        let result = result_type(program, &test.function).filter(|_| has_result);
        seen.result = result.map(|ty| {
            let other = other.map(|other| other.result);
            observer.observe(ty, 1, memory.result, other)
        });
        for (at, (object, bytes)) in test.objects.iter().zip(memory.objects).enumerate() {
            let other = other.map(|other| other.objects.get(at).map_or(&[][..], Vec::as_slice));
            let after = observer.observe(object.ty, object.count.max(1), bytes, other);
            let before = object.image.clone().into();
            if !memory.released.contains(&(at as u32)) && !same_contents(&before, &after) {
                seen.objects.push((at as u32, after));
            }
        }
        seen.globals = observer.globals(returned, other);
        seen.released = memory.released.to_vec();
        for (at, (address, bytes)) in memory.blocks.iter().enumerate() {
            let other = other.map(|other| match other.blocks.get(at) {
                Some((same, bytes)) if same == address => bytes.as_slice(),
                _ => &[],
            });
            let offsets = (0..bytes.len() as u64 / 8).map(|word| (word * 8, false));
            seen.blocks.push(observer.pointers(bytes, offsets, other));
        }
        seen
    }
}

/// Reads the memory after a run.
struct Observer<'a> {
    program: &'a Program,
    test: &'a Test,
    memory: &'a Memory<'a>,
}

/// The contents of a global after a run, if they were returned.
fn contents<'m>(memory: &'m Memory<'_>, name: &str) -> Option<&'m [u8]> {
    let found = memory.globals.iter().find(|(known, _)| known == name);
    found.map(|(_, bytes)| bytes.as_slice())
}

impl Observer<'_> {
    /// The globals that changed.
    fn globals(&self, returned: bool, other: Option<&Memory<'_>>) -> Vec<(String, ObservedImage)> {
        let Self { program, test, memory } = self;
        let set: BTreeMap<&str, &GlobalInput> =
            test.globals.iter().map(|global| (global.name.as_str(), global)).collect();
        let told: BTreeSet<&str> = memory.globals.iter().map(|(name, _)| name.as_str()).collect();
        // A global with its initial value is not returned.
        let again = set.keys().filter(|name| returned && !told.contains(**name));
        let again = again.filter(|name| **name != libc::ERROR_NUMBER).filter_map(|name| {
            let initial = Image::initial(program, program.global_named(name)?);
            (initial != set[name].image).then(|| {
                let told = other.and_then(|other| contents(other, name));
                let vague = told.map_or_else(Vec::new, |other| differing(&initial.bytes, other));
                let mut seen = ObservedImage::from(initial);
                seen.vague = vague;
                ((*name).to_owned(), seen)
            })
        });
        let mut changed: Vec<(String, ObservedImage)> = again.collect();
        for (name, bytes) in memory.globals {
            let Some(id) = program.global_named(name) else { continue };
            let other = other.map(|other| contents(other, name).unwrap_or_default());
            let seen = self.observe(program.globals[id].ty, 1, bytes, other);
            let before = set.get(name.as_str()).map(|global| global.image.clone());
            let before = before.unwrap_or_else(|| Image::initial(program, id));
            if !same_contents(&before.into(), &seen) {
                changed.push((name.clone(), seen));
            }
        }
        changed.sort_by(|a, b| a.0.cmp(&b.0));
        changed
    }

    /// Memory that holds `count` elements of a type.
    fn observe(
        &self,
        ty: CTypeId,
        count: u64,
        bytes: &[u8],
        other: Option<&[u8]>,
    ) -> ObservedImage {
        let offsets = pointer_offsets(&self.program.types, ty, count, bytes.len() as u64);
        self.pointers(bytes, offsets.into_iter(), other)
    }

    /// Memory that may have pointers at some offsets, each with whether it surely is one.
    fn pointers(
        &self,
        bytes: &[u8],
        offsets: impl Iterator<Item = (u64, bool)>,
        other: Option<&[u8]>,
    ) -> ObservedImage {
        let mut seen: ObservedImage = Image { bytes: bytes.to_vec(), pointers: Vec::new() }.into();
        if let Some(other) = other {
            seen.vague = differing(bytes, other);
        }
        for (offset, sure) in offsets {
            let at = offset as usize;
            let value = u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
            if value == 0 {
                continue;
            }
            let place = || self.memory.places.and_then(|places| places.get(&value)).cloned();
            if let Some(target) = object_at(self.test, value).or_else(place) {
                seen.image.pointers.push(ImagePointer { offset, target });
            } else if let Some((block, at)) = self.block_at(value) {
                seen.blocks.push(BlockPointer { offset, block, at });
            } else if sure || looks_like_an_address(value) {
                seen.unknown.push(offset);
                // The sum of null and a distance depends on the compiler.
                if value <= u64::from(u32::MAX) {
                    seen.vague.push((offset, offset + 8));
                }
            } else {
                continue;
            }
            seen.image.bytes[at..at + 8].fill(0);
        }
        let hidden = self.hidden_addresses(&seen);
        seen.vague.extend(hidden);
        seen.vague.sort_unstable();
        seen
    }

    /// Finds addresses in the place of other values: a program may write them through a pointer of
    /// another type, or compute with them. The distance of an object from null is its address.
    fn hidden_addresses(&self, seen: &ObservedImage) -> Vec<(u64, u64)> {
        let words = seen.image.bytes.windows(8).enumerate();
        let is_address = |at: usize, word: &[u8]| {
            let value = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            let is_place = |value| self.memory.places.is_some_and(|all| all.contains_key(&value));
            let is_near = || {
                is_near_an_object(self.test, value)
                    || is_near_an_object(self.test, value.wrapping_neg())
            };
            // Between words, small numbers beside each other look like addresses, too: 85 behind others does,
            // and 32 behind zeros is the beginning of the region of inputs. Addresses of objects differ
            // there between two runs, at least in their lower bytes.
            let differs = || seen.is_vague(at as u64, 8);
            let looks = || match at.is_multiple_of(8) {
                true => is_near() || looks_like_an_address(value),
                false => is_near() && differs(),
            };
            // Ordinary numbers are smaller than addresses.
            value > u64::from(u32::MAX)
                && (looks() || self.block_at(value).is_some() || is_place(value))
        };
        let hidden = words.filter(|(at, word)| is_address(*at, word));
        hidden.map(|(at, _)| (at as u64, at as u64 + 8)).collect()
    }

    /// The block that an address lies in, and its offset there.
    fn block_at(&self, address: u64) -> Option<(u32, u64)> {
        let blocks = self.memory.blocks;
        let holds = |(start, bytes): &(u64, Vec<u8>)| {
            *start <= address && address < start + bytes.len().max(1) as u64
        };
        let position = blocks.iter().position(holds)?;
        Some((position as u32, address - blocks[position].0))
    }
}

/// The ranges in which bytes differ.
fn differing(bytes: &[u8], other: &[u8]) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    let differ = (0..bytes.len()).filter(|at| other.get(*at) != Some(&bytes[*at]));
    for at in differ.map(|at| at as u64) {
        match ranges.last_mut() {
            Some((_, end)) if *end == at => *end += 1,
            _ => ranges.push((at, at + 1)),
        }
    }
    ranges
}

/// Whether a number is in the range in which Linux places the code, heap, libraries and stack of a
/// 64-bit process.
fn looks_like_an_address(value: u64) -> bool {
    matches!(value >> 40, 0x55 | 0x56 | 0x7e | 0x7f)
}

/// The input object that an address lies in or ends.
fn object_at(test: &Test, address: u64) -> Option<PointerTarget> {
    let holds = |object: &&lydian_ir::test::TestObject| {
        object.address <= address && address <= object.address + object.image.bytes.len() as u64
    };
    let position = test.objects.iter().position(|object| holds(&object))?;
    let offset = address - test.objects[position].address;
    Some(PointerTarget::Object(position as u32, offset))
}

/// How far behind or before an object a number is taken for one that was computed from its address.
const NEAR: u64 = 1 << 16;

/// Whether a number is about the address of an input object.
fn is_near_an_object(test: &Test, number: u64) -> bool {
    test.objects.iter().any(|object| {
        let end = object.address.saturating_add(object.image.bytes.len() as u64);
        object.address.saturating_sub(NEAR) <= number && number <= end.saturating_add(NEAR)
    })
}

/// Whether two images are equal up to the bytes under pointers.
fn same_contents(before: &ObservedImage, after: &ObservedImage) -> bool {
    after.unknown.is_empty()
        && after.blocks.is_empty()
        && plain(&before.image) == plain(&after.image)
}
