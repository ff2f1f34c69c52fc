//! An interpreter of one program, whose runs share its code, the memory in which they begin, and room for
//! registers.

use std::cell::{Cell, OnceCell};

use super::code_cache::{CodeCache, PatchedCode};
use super::machine::Machine;
use super::memory::Memory;
use super::observe::EventLevel;
use crate::interp::observe::Observer;
use crate::interp::options::Options;
use crate::interp::outcome::{BadTest, Outcome};
use crate::interp::start;
use crate::program::Program;
use crate::program::arith::Overflow;
use crate::test::Test;

/// Globals of at most so many bytes are kept. To copy more takes longer than to make it of pages that
/// the system gives.
const MOST_KEPT: u64 = 1 << 16;

/// A program that is run any number of times. Code and memory that do not depend on a test are made once,
/// when they are first needed.
pub struct Interpreter<'p> {
    program: &'p Program,
    /// Memory with the program's globals, if they are small: they lie where they lie in every run.
    globals: OnceCell<Result<Memory, BadTest>>,
    /// The code, by the level of events and the behaviour on overflow.
    codes: [OnceCell<CodeCache<'p>>; EventLevel::COUNT * 2],
    /// The slots of the last run. No run reads one that it did not set.
    slots: Cell<Vec<u64>>,
}

impl<'p> Interpreter<'p> {
    /// An interpreter of a program that has passed [`crate::verify::verify`].
    pub fn new(program: &'p Program) -> Self {
        Self {
            program,
            globals: OnceCell::new(),
            codes: std::array::from_fn(|_| OnceCell::new()),
            slots: Cell::default(),
        }
    }

    /// Runs a test.
    ///
    /// # Errors
    /// Where the test does not suit the program. A fault of the program under test is no error but
    /// an [`End`](crate::interp::outcome::End).
    pub fn run(
        &self,
        test: &Test,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, BadTest> {
        let program = self.program;
        let function = program.function_named(&test.function);
        let function = function.filter(|id| program.functions[*id].body.is_some());
        let function = function.ok_or_else(|| BadTest::NoFunction(test.function.clone()))?;
        let globals = self.globals(options.max_memory)?;
        let codes = self.codes(&globals, options.overflow, EventLevel::of(observer));
        let memory = start::with_inputs(program, globals, test, options.max_memory)?;
        let patched = PatchedCode::default();
        let slots = self.slots.take();
        let mut machine = Machine::new(program, *options, memory, codes, &patched, slots);
        machine.take_externals(test)?;
        let calls = machine.call_images(test, function)?;
        let end = machine.run_calls(function, &calls, observer)?;
        let objects: Vec<u64> = test.objects.iter().map(|object| object.address).collect();
        self.slots.set(machine.take_slots());
        Ok(machine.outcome(end, &objects))
    }

    /// Memory with globals, none of them larger than `max_size`.
    fn globals(&self, max_size: u64) -> Result<Memory, BadTest> {
        let sizes = self.program.globals.values().map(|global| global.size);
        if sizes.fold(0, u64::saturating_add) > MOST_KEPT.min(max_size) {
            return start::globals(self.program, max_size);
        }
        self.globals.get_or_init(|| start::globals(self.program, max_size)).clone()
    }

    fn codes(&self, globals: &Memory, overflow: Overflow, events: EventLevel) -> &CodeCache<'p> {
        let traps = usize::from(overflow == Overflow::Trap);
        let made = &self.codes[events as usize * 2 + traps];
        made.get_or_init(|| CodeCache::new(self.program, globals, overflow, events, false))
    }
}

impl std::fmt::Debug for Interpreter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interpreter").finish_non_exhaustive()
    }
}

/// Runs a test. The program must have passed [`crate::verify::verify`]. For many tests, make one
/// [`Interpreter`].
///
/// # Errors
/// Where the test does not suit the program. A fault of the program under test is no error but an
/// [`End`].
pub fn run(
    program: &Program,
    test: &Test,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome, BadTest> {
    Interpreter::new(program).run(test, options, observer)
}
