//! The answers of a test to calls of undefined functions, and the calls that were made.

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::libc::names_variable;
use crate::program::FuncId;
use crate::test::{ANY_BYTES, ANY_NUMBER, ExternalResult};

/// One write, its images and names being resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::interp) struct GivenWrite {
    pub(super) to: WriteStart,
    /// The pointers that are followed.
    pub(super) through: Vec<u64>,
    /// The distance from where the way ends.
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
}

/// Where the way of a write begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteStart {
    Argument(u32),
    /// A word among the arguments for `...`.
    Variable(u32),
    /// A variable's address.
    At(u64),
}

/// The answer of a test to one call of an undefined function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::interp) struct ExternalAnswer {
    /// Its result.
    pub(in crate::interp) bytes: Vec<u8>,
    /// Its writes.
    pub(in crate::interp) writes: Vec<GivenWrite>,
}

/// The key of an environment variable among the answers.
fn variable_key(variable: &str) -> String {
    format!("${variable}")
}

/// The answers of a test to calls of undefined functions, each given once.
#[derive(Default)]
pub(super) struct Externals {
    /// By the function's name, or by [`variable_key`].
    answers: FxHashMap<String, VecDeque<ExternalAnswer>>,
    /// The environment variables that were asked for and that the test does not give.
    missed: Vec<String>,
    called: Vec<FuncId>,
    /// The values of reads of devices that are yet to come.
    reads: VecDeque<GivenRead>,
    /// The bytes of variables that the script has values of.
    variables: Vec<Range<u64>>,
    /// The handlers of interrupts that are yet to run.
    interrupts: Vec<PendingInterrupt>,
}

/// A handler of interrupts that runs before a read.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingInterrupt {
    /// Where the read is made.
    pub(super) address: u64,
    /// How many reads are made there before, that one counted.
    pub(super) reads: u32,
    pub(super) handler: FuncId,
}

/// The value that the next read of a device gives.
#[derive(Clone, Debug)]
pub(super) struct GivenRead {
    pub(super) address: u64,
    /// Whether it is in a variable.
    pub(super) in_variable: bool,
    pub(super) bytes: Vec<u8>,
}

impl Externals {
    /// Adds the answer to one call.
    pub(super) fn add(&mut self, external: &ExternalResult, answer: ExternalAnswer) {
        let name = external.function.as_str();
        let key = external.variable().map_or_else(|| name.to_owned(), variable_key);
        self.answers.entry(key).or_default().push_back(answer);
    }

    /// Adds the value of the next read of a script.
    pub(super) fn add_read(&mut self, read: GivenRead) {
        if read.in_variable {
            self.variables.push(read.address..read.address + read.bytes.len() as u64);
        }
        self.reads.push_back(read);
    }

    /// Whether the script has values of a variable at an address.
    pub(super) fn scripts(&self, address: u64) -> bool {
        self.variables.iter().any(|bytes| bytes.contains(&address))
    }

    /// The value of the next read of a device, given once.
    pub(super) fn next_read(&mut self) -> Option<GivenRead> {
        self.reads.pop_front()
    }

    /// Adds a handler that is to run.
    pub(super) fn add_interrupt(&mut self, interrupt: PendingInterrupt) {
        self.interrupts.push(interrupt);
    }

    /// Whether handlers are yet to run.
    pub(super) fn has_interrupts(&self) -> bool {
        !self.interrupts.is_empty()
    }

    /// Counts a read at an address.
    pub(super) fn count_read(&mut self, address: u64) {
        let at_place = self.interrupts.iter_mut().filter(|pending| pending.address == address);
        at_place.for_each(|pending| pending.reads = pending.reads.saturating_sub(1));
    }

    /// The next handler that runs before the read which was counted last, given once.
    pub(super) fn due_interrupt(&mut self, address: u64) -> Option<FuncId> {
        let is_due = |pending: &PendingInterrupt| pending.address == address && pending.reads == 0;
        let due = self.interrupts.iter().position(is_due)?;
        Some(self.interrupts.remove(due).handler)
    }

    /// The next answer for a function.
    pub(super) fn next(&mut self, name: &str) -> Option<ExternalAnswer> {
        self.answers.get_mut(name)?.pop_front()
    }

    /// Whether the test gives inputs without saying to which function ([`ANY_NUMBER`], [`ANY_BYTES`]).
    pub(super) fn has_inputs_of_any(&self) -> bool {
        [ANY_NUMBER, ANY_BYTES].iter().any(|any| self.answers.contains_key(*any))
    }

    /// The address of an environment variable's value; 0 where the test has no such variable.
    pub(super) fn variable(&mut self, name: &str) -> u64 {
        let given = self.answers.get(&variable_key(name)).and_then(|given| given.front());
        let is_missed = given.is_none() && names_variable(name);
        if is_missed && !self.missed.iter().any(|known| known == name) {
            self.missed.push(name.to_owned());
        }
        let bytes = given.and_then(|given| given.bytes.first_chunk::<8>());
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Notes a call of an undefined function.
    pub(super) fn note_call(&mut self, function: FuncId) {
        self.called.push(function);
    }

    /// The undefined functions that were called, in order.
    pub(super) fn called(&self) -> &[FuncId] {
        &self.called
    }

    /// The calls of a run that has ended.
    pub(super) fn into_calls(self) -> ExternalCalls {
        ExternalCalls { called: self.called, missed_variables: self.missed }
    }
}

/// The calls of undefined functions in a run.
pub(super) struct ExternalCalls {
    /// The functions, in order.
    pub(super) called: Vec<FuncId>,
    /// The environment variables that were asked for and that the test does not give, each once.
    pub(super) missed_variables: Vec<String>,
}
