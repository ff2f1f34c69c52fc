//! Requests to the runner and its replies, in the layouts of `runner.c`.

use lydian_ir::device::{DEVICE_READ, DevicePlace, DeviceWrite, INTERRUPT, ReadPlace};
use lydian_ir::libc::{ERROR_NUMBER, STREAMS};
use lydian_ir::test::{
    ExternalResult, ExternalWrite, INPUT_PREFIX, INPUT_REGION, INPUT_REGION_SIZE, Image,
    PassedArguments, PointerTarget, Test, WriteBase,
};
use lydian_ir::variadic::Class;

use crate::build::Build;
use crate::harness::SymbolKind;
use crate::outcome::{Outcome, Run, WideVector};

/// Why a test cannot be run by a build.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TestError {
    /// The build has no caller for the function.
    #[error("the build cannot call `{0}`")]
    Function(String),
    /// The number or the sizes of the arguments do not fit the function.
    #[error("argument {position} of `{function}` has {found} bytes, not {expected}")]
    Argument {
        /// The function.
        function: String,
        /// Which argument, from 0; one past the last where their number is wrong.
        position: usize,
        /// Bytes in the test.
        found: u64,
        /// Bytes in the program.
        expected: u64,
    },
    /// No such global, or one that the compiled program has no place for.
    #[error("the global `{0}` cannot be set or pointed to")]
    Global(String),
    /// No such function.
    #[error("the function `{0}` cannot be pointed to")]
    Target(String),
    /// A global's image is larger than the global, or the global is const.
    #[error("the global `{0}` cannot take this image")]
    GlobalImage(String),
    /// An object lies outside of the region of inputs, or its image is not its size.
    #[error("the object `{0}` cannot be placed")]
    Object(String),
    /// A pointer stands outside of its image, or points to an object that is not there.
    #[error("a pointer in `{0}` has no place or no target")]
    Pointer(String),
    /// The program defines the function, or does not call it.
    #[error("`{0}` is not an undefined function of the program")]
    External(String),
    /// The function has no such parameter, or cannot write through it; or its stub does not reach
    /// that word among its arguments for `...`, or it writes nothing at all.
    #[error("`{function}` writes nothing through its {place}")]
    Write {
        /// The function.
        function: String,
        /// The pointer at which the way to the written memory begins.
        place: String,
    },
    /// A read of a device does not say where it is made.
    #[error("a read of a device is at {0:?}, which is no address")]
    DevicePlace(Option<String>),
    /// A handler of interrupts does not say which and where.
    #[error("{0:?} is no handler of interrupts at a read")]
    Interrupt(Option<String>),
    /// The test is larger than the shared memory.
    #[error("the test has more than {0} bytes")]
    Size(u64),
}

/// Instead of a symbol's number: a standard stream.
const STREAM: u32 = 1 << 31;
/// Instead of a symbol's number: the C library's error number.
const ERROR_NUMBER_PLACE: u32 = STREAM | 3;
/// Instead of the number of a pointer that a stub hands over: a variable.
const VARIABLE: u32 = u32::MAX;
const HEADER: usize = 48;
const RELOCATION: usize = 16;
const ALIGN: usize = 16;

/// The kinds of named bytes in a test. The numbers are known to `runner.c`.
#[derive(Clone, Copy)]
enum FileKind {
    /// Standard input, or a file.
    File = 0,
    /// An environment variable.
    Variable = 1,
}

/// Writes tests one after the other.
pub(crate) struct Encoder<'a> {
    build: &'a Build,
    bytes: Vec<u8>,
    relocations: Vec<(usize, u32, u64)>,
}

impl<'a> Encoder<'a> {
    pub(crate) const fn new(build: &'a Build) -> Self {
        Self { build, bytes: Vec::new(), relocations: Vec::new() }
    }

    /// Appends the test's record to `out`, which holds whole records.
    pub(crate) fn encode(&mut self, test: &Test, out: &mut Vec<u8>) -> Result<(), TestError> {
        self.bytes.clear();
        self.relocations.clear();
        let position = self.build.entries.get_index_of(test.function.as_str());
        let position = position.ok_or_else(|| TestError::Function(test.function.clone()))?;
        let arguments = self.calls(test, position)?;
        self.objects(test)?;
        self.globals(test)?;
        let externals = self.externals(test)?;
        let files = test.files();
        files.iter().for_each(|(name, bytes)| self.file(name, Some(bytes), FileKind::File));
        let variables = test.environment();
        for (name, value) in &variables {
            self.file(name, value.as_deref(), FileKind::Variable);
        }
        let body = HEADER + self.relocations.len() * RELOCATION;
        let size = body + self.bytes.len();
        let words = [
            u32::try_from(size).map_err(|_| TestError::Size(u64::from(u32::MAX)))?,
            position as u32,
            arguments,
            test.objects.len() as u32,
            test.globals.len() as u32,
            externals,
            self.relocations.len() as u32,
            (files.len() + variables.len()) as u32,
            test.earlier.len() as u32,
            u32::from(self.build.accesses_devices),
            0,
            0,
        ];
        words.iter().for_each(|word| out.extend(word.to_le_bytes()));
        for (at, symbol, addend) in &self.relocations {
            out.extend(((body + at) as u32).to_le_bytes());
            out.extend(symbol.to_le_bytes());
            out.extend(addend.to_le_bytes());
        }
        out.extend(&self.bytes);
        Ok(())
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGN), 0);
    }

    fn words(&mut self, words: [u32; 4]) {
        words.iter().for_each(|word| self.bytes.extend(word.to_le_bytes()));
    }

    /// Writes the bytes of an image, with the addresses that are known and relocations for others.
    fn image(&mut self, image: &Image, test: &Test, owner: &str) -> Result<(), TestError> {
        self.unpadded(image, test, owner)?;
        self.pad();
        Ok(())
    }

    /// The same without bytes that fill up to the next image.
    fn unpadded(&mut self, image: &Image, test: &Test, owner: &str) -> Result<(), TestError> {
        let start = self.bytes.len();
        self.bytes.extend(&image.bytes);
        for pointer in &image.pointers {
            let missing = || TestError::Pointer(owner.to_owned());
            let at = usize::try_from(pointer.offset).map_err(|_| missing())?;
            let end = at.checked_add(8).filter(|end| *end <= image.bytes.len());
            end.ok_or_else(missing)?;
            let at = start + at;
            match &pointer.target {
                PointerTarget::Object(index, offset) => {
                    let object = test.objects.get(*index as usize).ok_or_else(missing)?;
                    let address = object.address.wrapping_add(*offset);
                    self.bytes[at..at + 8].copy_from_slice(&address.to_le_bytes());
                }
                PointerTarget::Global(name, offset) => {
                    let symbol = self.build.symbols.get_index_of(name.as_str());
                    let symbol = symbol
                        .map(|symbol| symbol as u32)
                        .or_else(|| (name == ERROR_NUMBER).then_some(ERROR_NUMBER_PLACE));
                    let symbol = symbol.ok_or_else(|| TestError::Global(name.clone()))?;
                    self.relocations.push((at, symbol, *offset));
                }
                PointerTarget::Stream(name) => {
                    let number = STREAMS.iter().position(|known| known == name);
                    let number = number.ok_or_else(|| TestError::Global(name.clone()))?;
                    self.relocations.push((at, STREAM | number as u32, 0));
                }
                PointerTarget::Function(name) => {
                    let symbol = self.build.symbols.get_index_of(name.as_str());
                    let symbol = symbol.ok_or_else(|| TestError::Target(name.clone()))?;
                    self.relocations.push((at, symbol as u32, 0));
                }
            }
        }
        Ok(())
    }

    /// The arguments of all calls, which have the same size for each; that size.
    fn calls(&mut self, test: &Test, position: usize) -> Result<u32, TestError> {
        let mut size = 0;
        for call in test.calls() {
            let start = self.bytes.len();
            self.arguments(test, call, position)?;
            size = self.bytes.len() - start;
        }
        Ok(size as u32)
    }

    fn arguments(
        &mut self,
        test: &Test,
        call: PassedArguments<'_>,
        position: usize,
    ) -> Result<(), TestError> {
        let expected = &self.build.entries[position].arguments;
        for (index, size) in expected.iter().enumerate() {
            let found = call.args.get(index).map_or(0, |image| image.bytes.len() as u64);
            if found != *size {
                return Err(self.wrong_argument(test, index, found, *size));
            }
        }
        if let Some(extra) = call.args.get(expected.len()) {
            let found = extra.bytes.len() as u64;
            return Err(self.wrong_argument(test, expected.len(), found, 0));
        }
        for image in call.args {
            self.image(image, test, "an argument")?;
        }
        self.variable_arguments(test, call, position)
    }

    /// The arguments for `...`, each class at its place and zero behind the last.
    fn variable_arguments(
        &mut self,
        test: &Test,
        call: PassedArguments<'_>,
        position: usize,
    ) -> Result<(), TestError> {
        let room = self.build.entries[position].variable;
        let (mut words, mut floats) = (Vec::new(), Vec::new());
        for (index, argument) in call.variable.iter().enumerate() {
            let bytes = argument.image.bytes.len() as u64;
            let wrong =
                |expected| self.wrong_argument(test, call.args.len() + index, bytes, expected);
            let (list, room) = match self.build.classes.get(&argument.ty) {
                Some((Class::Word, size)) if bytes == *size => (&mut words, room.words),
                Some((Class::Float, size)) if bytes == *size => (&mut floats, room.floats),
                Some((_, size)) => return Err(wrong(*size)),
                None => return Err(wrong(0)),
            };
            if list.len() == room {
                return Err(wrong(0));
            }
            list.push(&argument.image);
        }
        for (list, room) in [(words, room.words), (floats, room.floats)] {
            let start = self.bytes.len();
            for (at, image) in list.into_iter().enumerate() {
                self.bytes.resize(start + 8 * at, 0);
                self.unpadded(image, test, "an argument")?;
            }
            self.bytes.resize(start + 8 * room, 0);
        }
        self.pad();
        Ok(())
    }

    fn wrong_argument(&self, test: &Test, position: usize, found: u64, expected: u64) -> TestError {
        TestError::Argument { function: test.function.clone(), position, found, expected }
    }

    fn objects(&mut self, test: &Test) -> Result<(), TestError> {
        for object in &test.objects {
            let size = object.image.bytes.len() as u64;
            let end = object.address.checked_add(size);
            let inside = object.address >= INPUT_REGION
                && end.is_some_and(|end| end <= INPUT_REGION + INPUT_REGION_SIZE);
            if !inside {
                return Err(TestError::Object(object.name.clone()));
            }
            self.bytes.extend(object.address.to_le_bytes());
            self.bytes.extend((size as u32).to_le_bytes());
            self.bytes.extend(u32::from(object.read_only).to_le_bytes());
            self.image(&object.image, test, &object.name)?;
        }
        Ok(())
    }

    fn globals(&mut self, test: &Test) -> Result<(), TestError> {
        for global in &test.globals {
            let (symbol, size, writable) = self.global_place(&global.name)?;
            if !writable || global.image.bytes.len() as u64 > size {
                return Err(TestError::GlobalImage(global.name.clone()));
            }
            self.words([symbol, global.image.bytes.len() as u32, 0, 0]);
            self.image(&global.image, test, &global.name)?;
        }
        Ok(())
    }

    /// The symbol of a global that a test sets, its size, and whether the test may write to it. The
    /// C library's error number is such a global if the program has no variable of that name.
    fn global_place(&self, name: &str) -> Result<(u32, u64, bool), TestError> {
        match self.build.symbols.get_full(name) {
            Some((symbol, _, (SymbolKind::Global { size, writable }, _))) => {
                Ok((symbol as u32, *size, *writable))
            }
            None if name == ERROR_NUMBER => Ok((ERROR_NUMBER_PLACE, 4, true)),
            _ => Err(TestError::Global(name.to_owned())),
        }
    }

    /// Standard input, a file, or an environment variable, which there need not be.
    fn file(&mut self, name: &str, bytes: Option<&[u8]>, kind: FileKind) {
        let missing = u32::from(bytes.is_none());
        let bytes = bytes.unwrap_or_default();
        self.words([name.len() as u32, bytes.len() as u32, kind as u32, missing]);
        self.bytes.extend(name.bytes());
        self.pad();
        self.bytes.extend(bytes);
        self.pad();
    }

    /// Writes the results of undefined functions and the bytes of files. Returns the number of
    /// results.
    fn externals(&mut self, test: &Test) -> Result<u32, TestError> {
        let mut count = 0;
        let calls = test.externals.iter();
        let is_call = |call: &&ExternalResult| {
            !call.function.starts_with(INPUT_PREFIX) && call.variable().is_none()
        };
        for external in calls.filter(is_call) {
            let name = external.function.as_str();
            let Some(number) = self.build.externals.get(name) else {
                // The compiler may have put another function of the library in its place.
                if self.build.library().contains(name) {
                    continue;
                }
                return Err(TestError::External(external.function.clone()));
            };
            count += 1;
            let header = self.bytes.len();
            self.words([*number, external.result.bytes.len() as u32, 0, 0]);
            self.image(&external.result, test, &external.function)?;
            let start = self.bytes.len();
            match name {
                DEVICE_READ => self.read_address(external, test)?,
                INTERRUPT => self.interrupt(external, test)?,
                _ => {}
            }
            self.writes(external, test)?;
            let size = (self.bytes.len() - start) as u32;
            self.bytes[header + 12..header + 16].copy_from_slice(&size.to_le_bytes());
        }
        Ok(count)
    }

    /// The address of a read in the script.
    fn read_address(&mut self, read: &ExternalResult, test: &Test) -> Result<(), TestError> {
        let place = read.read_place();
        let place = place.ok_or_else(|| TestError::DevicePlace(read.object.clone()))?;
        self.place(place, read.result.bytes.len() as u64, test)?;
        self.pad();
        Ok(())
    }

    /// A handler of interrupts that runs: the read's address, the handler's, and the read's number.
    fn interrupt(&mut self, entry: &ExternalResult, test: &Test) -> Result<(), TestError> {
        let interrupt = entry.scripted_interrupt();
        let interrupt = interrupt.ok_or_else(|| TestError::Interrupt(entry.object.clone()))?;
        self.place(interrupt.place, 1, test)?;
        let symbol = self.build.symbols.get_index_of(interrupt.handler.as_str());
        let symbol = symbol.ok_or_else(|| TestError::Target(interrupt.handler.clone()))?;
        self.relocations.push((self.bytes.len(), symbol as u32, 0));
        self.bytes.extend(0u64.to_le_bytes());
        self.bytes.extend(u64::from(interrupt.read).to_le_bytes());
        self.pad();
        Ok(())
    }

    /// The address at which so many bytes are read.
    fn place(&mut self, place: ReadPlace, bytes: u64, test: &Test) -> Result<(), TestError> {
        let address = match place {
            ReadPlace::Device(place) => place.address,
            ReadPlace::Variable(name, offset) => {
                let (symbol, size, writable) = self.global_place(&name)?;
                let end = offset.checked_add(bytes);
                if !writable || end.is_none_or(|end| end > size) {
                    return Err(TestError::GlobalImage(name));
                }
                self.relocations.push((self.bytes.len(), symbol, offset));
                0
            }
            ReadPlace::Object(position, offset) => {
                let object = test.objects.get(position as usize);
                let missing = || TestError::Pointer(DEVICE_READ.to_owned());
                let object = object.ok_or_else(missing)?;
                let end = offset.checked_add(bytes);
                let size = object.image.bytes.len() as u64;
                end.filter(|end| *end <= size).ok_or_else(missing)?;
                object.address + offset
            }
        };
        self.bytes.extend(address.to_le_bytes());
        Ok(())
    }

    /// Encodes the memory that a call writes.
    fn writes(&mut self, external: &ExternalResult, test: &Test) -> Result<(), TestError> {
        for write in &external.writes {
            let pointer = self.first_pointer(&external.function, write)?;
            self.bytes.extend(pointer.to_le_bytes());
            self.bytes.extend((write.image.bytes.len() as u32).to_le_bytes());
            self.bytes.extend(write.offset.to_le_bytes());
            let variable = self.bytes.len();
            self.bytes.extend(0u64.to_le_bytes());
            if let WriteBase::Global(name) = &write.to {
                let symbol = self.written_global(name, write)?;
                self.relocations.push((variable, symbol, 0));
            }
            self.bytes.extend((write.through.len() as u64).to_le_bytes());
            write.through.iter().for_each(|step| self.bytes.extend(step.to_le_bytes()));
            self.pad();
            self.image(&write.image, test, &external.function)?;
        }
        Ok(())
    }

    /// Which of the pointers that a function's stub hands over a way begins at, or [`VARIABLE`].
    fn first_pointer(&self, function: &str, write: &ExternalWrite) -> Result<u32, TestError> {
        let writing = self.build.writing.get(function);
        let (found, place) = match &write.to {
            WriteBase::Argument(position) => {
                let known = writing.filter(|writing| match write.through.is_empty() {
                    true => writing.out.contains(position),
                    false => writing.handed.pointers.contains(position),
                });
                (known.map(|_| *position), format!("argument {position}"))
            }
            WriteBase::Variable(position) => {
                let known = writing.filter(|writing| *position < writing.handed.words);
                let pointer = known.map(|writing| writing.handed.parameters + position);
                (pointer, format!("argument {position} for `...`"))
            }
            WriteBase::Global(name) => (writing.map(|_| VARIABLE), format!("variable `{name}`")),
        };
        found.ok_or_else(|| TestError::Write { function: function.to_owned(), place })
    }

    /// The symbol of a global at which a way begins. A write to the global itself must lie in it.
    fn written_global(&self, name: &str, write: &ExternalWrite) -> Result<u32, TestError> {
        let (symbol, size, writable) = self.global_place(name)?;
        let end = write.offset.checked_add(write.image.bytes.len() as u64);
        let inside = end.is_some_and(|end| end <= size);
        if write.through.is_empty() && !(writable && inside) {
            return Err(TestError::GlobalImage(name.to_owned()));
        }
        Ok(symbol)
    }
}

/// The parts of a reply that a request wants besides outcomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// The cells that each test sets. Without it, cells collect over all tests.
    pub cells: bool,
    /// The final contents of objects and changed globals.
    pub memory: bool,
    /// Which objects were released, and the contents of blocks that are live at the end.
    pub heap: bool,
    /// Whether memory that was never written has other values than usual: in allocated blocks and,
    /// with [`Wants::heap`], on the stack.
    pub fill: bool,
}

impl Wants {
    pub(crate) const fn bits(self) -> u32 {
        self.cells as u32
            | (self.memory as u32) << 1
            | (self.heap as u32) << 2
            | (self.fill as u32) << 3
    }
}

/// Reads the reply's records. A program under test can have written over them.
pub(crate) struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The ways in which a call ends, as `lydian.h` numbers them: `LYDIAN_RETURNED` and so on. A crash
/// is not among them, since it ends the runner.
mod ending {
    pub(super) const RETURNED: u32 = 0;
    pub(super) const EXITED: u32 = 1;
    pub(super) const ABORTED: u32 = 2;
    pub(super) const NORETURN: u32 = 3;
    pub(super) const BAD_FREE: u32 = 5;
    pub(super) const ASSUMPTION: u32 = 6;
    pub(super) const OUTRAN: u32 = 7;
    pub(super) const UNMAPPED: u32 = 8;
}

/// A reply that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DamagedReply;

impl<'a> Decoder<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn take(&mut self, size: usize) -> Result<&'a [u8], DamagedReply> {
        let end = self.at.checked_add(size).ok_or(DamagedReply)?;
        let taken = self.bytes.get(self.at..end).ok_or(DamagedReply)?;
        self.at = end.next_multiple_of(ALIGN);
        Ok(taken)
    }

    fn words<const N: usize>(&mut self) -> Result<[u32; N], DamagedReply> {
        let bytes = self.take(4 * N)?;
        let mut words = [0; N];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes(bytes.try_into().map_err(|_| DamagedReply)?);
        }
        Ok(words)
    }

    /// The next test's run.
    pub(crate) fn run(
        &mut self,
        build: &Build,
        test: &Test,
        wants: Wants,
    ) -> Result<Run, DamagedReply> {
        let start = self.at;
        let [size, _, how, code, result, cells, objects, globals, wrote, released, blocks, writes] =
            self.words::<12>()?;
        let outcome = match how {
            ending::RETURNED => Outcome::Returned(self.take(result as usize)?.to_vec()),
            ending::EXITED => Outcome::Exited(code as i32),
            ending::ABORTED => Outcome::Aborted,
            ending::NORETURN => {
                let name = build.externals.get_index(code as usize).map(|(name, _)| name.clone());
                Outcome::EndedBy(name.ok_or(DamagedReply)?)
            }
            ending::BAD_FREE => Outcome::BadFree,
            ending::ASSUMPTION => Outcome::Assumption,
            ending::OUTRAN => Outcome::OutranScript,
            ending::UNMAPPED => Outcome::Unmapped,
            _ => return Err(DamagedReply),
        };
        let mut run = Run::ended(outcome);
        run.wrote_read_only = wrote != 0;
        for object in test.objects.iter().take(objects as usize) {
            run.objects.push(self.take(object.image.bytes.len())?.to_vec());
        }
        for _ in 0..globals {
            let [symbol, size, ..] = self.words::<4>()?;
            let name = build.symbols.get_index(symbol as usize).ok_or(DamagedReply)?.0;
            run.globals.push((name.clone(), self.take(size as usize)?.to_vec()));
        }
        if wants.cells {
            self.cells(&mut run, cells as usize)?;
        }
        if wants.heap {
            self.heap(&mut run, released as usize, blocks)?;
        }
        for _ in 0..writes {
            run.device_writes.push(self.device_write()?);
        }
        if self.at != start + size as usize {
            return Err(DamagedReply);
        }
        Ok(run)
    }

    fn device_write(&mut self) -> Result<DeviceWrite, DamagedReply> {
        let [low, high, size, _] = self.words::<4>()?;
        let address = u64::from(low) | u64::from(high) << 32;
        let value = self.take(16)?.get(..size as usize).ok_or(DamagedReply)?.to_vec();
        Ok(DeviceWrite { place: DevicePlace { address }, value })
    }

    fn heap(&mut self, run: &mut Run, released: usize, blocks: u32) -> Result<(), DamagedReply> {
        let list = self.take(released * 4)?.chunks_exact(4);
        run.released.extend(list.map(|bytes| {
            u32::from_le_bytes(bytes.try_into().expect("a chunk of four bytes has four"))
        }));
        for _ in 0..blocks {
            let [address, high, size, _] = self.words::<4>()?;
            let address = u64::from(address) | u64::from(high) << 32;
            run.blocks.push((address, self.take(size as usize)?.to_vec()));
        }
        Ok(())
    }

    fn cells(&mut self, run: &mut Run, count: usize) -> Result<(), DamagedReply> {
        let list = self.take((count + 1) * 4)?;
        let mut words = list.chunks_exact(4).map(|bytes| {
            u32::from_le_bytes(bytes.try_into().expect("a chunk of four bytes has four"))
        });
        run.cells = words.by_ref().take(count).collect();
        let wide = words.next().ok_or(DamagedReply)? as usize;
        run.wide = wide_vectors(self.take(wide * 8)?)?;
        Ok(())
    }
}

/// Reads the set of wide decisions' vectors.
pub(crate) fn wide_vectors(bytes: &[u8]) -> Result<Vec<WideVector>, DamagedReply> {
    let mut words = bytes.chunks_exact(8).map(|bytes| {
        u64::from_le_bytes(bytes.try_into().expect("a chunk of eight bytes has eight"))
    });
    let mut vectors = Vec::new();
    while let Some(head) = words.next() {
        let count = (head & 0xffff_ffff) as usize;
        let values: Vec<u64> = words.by_ref().take(count).collect();
        if values.len() != count {
            return Err(DamagedReply);
        }
        vectors.push(WideVector { decision: (head >> 32) as u32, values });
    }
    Ok(vectors)
}
