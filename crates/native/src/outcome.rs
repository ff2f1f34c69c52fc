//! The outcome of one test.

use std::collections::BTreeMap;
use std::fmt;

use lydian_ir::DecisionId;
use lydian_ir::device::DeviceWrite;
use lydian_ir::test::PointerTarget;
use lydian_objective::coverage_record::Row;
use lydian_objective::{CoverageRecord, DecisionVector, LabelId, SequenceId};
use serde::{Deserialize, Serialize};

use crate::confine::Attempt;
use crate::plan::{BoundOf, ShortOf};

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It returned. The bytes of the result, none for `void`.
    Returned(Vec<u8>),
    /// It called `exit` or one of its kind, with this status.
    Exited(i32),
    /// It called `abort`, or an `assert` failed.
    Aborted,
    /// It called an undefined function that is declared not to return.
    EndedBy(String),
    /// An assumption on its inputs did not hold: the run does not count.
    Assumption,
    /// It asked for another read of a device than the next of the test's script.
    OutranScript,
    /// It accessed a device that this machine cannot map, or with an instruction that is not known.
    Unmapped,
    /// It freed memory that was not allocated, or freed it twice.
    BadFree,
    /// A signal ended it.
    Crashed(Crash),
    /// It ran longer than the limit, in milliseconds.
    TimedOut(u64),
    /// The runner died of something that it could not tell of, such as `SIGKILL`. Its exit status
    /// or signal in words.
    Killed(String),
    /// It wrote over the runner's memory, so that nothing is known of it.
    Damaged,
}

/// A signal that ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Crash {
    /// The signal's number.
    pub signal: i32,
    /// The address that could not be reached, for `SIGSEGV` and `SIGBUS`; else that of the code.
    pub address: u64,
    /// The class of the crash, by the address.
    pub class: CrashClass,
}

/// The class of a crash, as far as the runner can tell it without the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrashClass {
    /// The address is null or near it.
    NullPointer,
    /// The stack is used up.
    StackOverflow,
    /// The address lies in the region of inputs, outside of every object.
    OutsideObjects,
    /// Some other address.
    WildAddress,
    /// A division by zero, or the least number by -1.
    Arithmetic,
    /// A trap instruction, or one that is none.
    Trap,
    /// `SIGABRT` that did not come from the code's own `abort`.
    Abort,
}

/// A test's run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// How it ended.
    pub outcome: Outcome,
    /// The cells that it set, in order, if cells were asked for.
    pub cells: Vec<u32>,
    /// The vectors of wide decisions, if cells were asked for.
    pub wide: Vec<WideVector>,
    /// The final contents of the test's objects, in their order, if memory was asked for and the
    /// runner outlived the test.
    pub objects: Vec<Vec<u8>>,
    /// The final contents of the globals that are not as the program's start made them, by name,
    /// under the same conditions.
    pub globals: Vec<(String, Vec<u8>)>,
    /// Whether it wrote to an object that is read-only.
    pub wrote_read_only: bool,
    /// The objects that it released, if the heap was wanted.
    pub released: Vec<u32>,
    /// The blocks that it allocated and did not release: their addresses and contents, if the heap
    /// was asked for.
    pub blocks: Vec<(u64, Vec<u8>)>,
    /// The targets of addresses of the program's own in this memory, if the heap was wanted.
    pub places: BTreeMap<u64, PointerTarget>,
    /// The attempts outside of the program, in order, including those of loading it.
    pub attempts: Vec<Attempt>,
    /// The volatile writes of devices in order, if memory was asked for.
    pub device_writes: Vec<DeviceWrite>,
}

/// One evaluation of a decision that has too many conditions for cells.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WideVector {
    /// The decision's number in the plan.
    pub decision: u32,
    /// The conditions that were true, lowest bit of the first word first.
    pub values: Vec<u64>,
}

/// A run with the coverage of the watched functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredRun {
    /// The run.
    pub run: Run,
    /// The covered labels of each watched function, in the order of the functions; sorted.
    pub covered: Vec<Vec<LabelId>>,
    /// Covered sequences of each watched function, in the same order; sorted.
    pub sequences: Vec<Vec<SequenceId>>,
    /// The distinct vectors of the decisions of each watched function for which hyperlabels want
    /// them or which have too many conditions for cells, in the same order.
    pub vectors: Vec<Vec<(DecisionId, DecisionVector)>>,
    /// The values that labels and sequences of each watched function bound, in the same order.
    pub bound: Vec<Vec<(BoundOf, Row)>>,
    /// The labels and sequences of each watched function of which not all values could be kept.
    pub short: Vec<Vec<ShortOf>>,
}

impl MeasuredRun {
    /// Removes the coverage of a run that does not count.
    pub fn forget(&mut self) {
        self.covered.iter_mut().for_each(Vec::clear);
        self.sequences.iter_mut().for_each(Vec::clear);
        self.vectors.iter_mut().for_each(Vec::clear);
        self.bound.iter_mut().for_each(Vec::clear);
        self.short.iter_mut().for_each(Vec::clear);
    }

    /// Adds the run's coverage of a watched function, by its position, to a record.
    pub fn add_to(&self, record: &mut CoverageRecord, function: usize) {
        self.covered[function].iter().for_each(|label| _ = record.cover_label(*label));
        self.sequences[function].iter().for_each(|one| _ = record.cover_sequence(*one));
        for (decision, vector) in &self.vectors[function] {
            record.add_vector(*decision, vector.clone());
        }
        for (of, row) in &self.bound[function] {
            of.add(row.clone(), record);
        }
        self.short[function].iter().for_each(|of| of.add(record));
    }
}

impl Run {
    /// A run of which only the outcome is known.
    pub fn ended(outcome: Outcome) -> Self {
        Self {
            outcome,
            cells: Vec::new(),
            wide: Vec::new(),
            objects: Vec::new(),
            globals: Vec::new(),
            wrote_read_only: false,
            released: Vec::new(),
            blocks: Vec::new(),
            places: BTreeMap::new(),
            attempts: Vec::new(),
            device_writes: Vec::new(),
        }
    }
}

impl Outcome {
    /// Whether the call returned, the program exited by itself, or a script of a device came to its end: as a
    /// test of a suite ends that runs by default.
    pub const fn is_regular(&self) -> bool {
        matches!(self, Self::Returned(_) | Self::Exited(_) | Self::OutranScript)
    }

    /// Whether the call ended by itself, in a way that C defines.
    pub const fn is_orderly(&self) -> bool {
        matches!(
            self,
            Self::Returned(_)
                | Self::Exited(_)
                | Self::Aborted
                | Self::EndedBy(_)
                | Self::Assumption
                | Self::OutranScript
        )
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Returned(_) => f.write_str("returned"),
            Self::Exited(status) => write!(f, "exit({status})"),
            Self::Aborted => f.write_str("abort"),
            Self::EndedBy(function) => write!(f, "ended by {function}"),
            Self::Assumption => f.write_str("an assumption does not hold"),
            Self::OutranScript => f.write_str("asked for another read of a device than the next"),
            Self::Unmapped => f.write_str("a device that this machine cannot map"),
            Self::BadFree => f.write_str("free of what is not allocated"),
            Self::Crashed(crash) => write!(f, "crash: {}", crash.class),
            Self::TimedOut(ms) => write!(f, "ran longer than {ms} ms"),
            Self::Killed(how) => write!(f, "runner lost: {how}"),
            Self::Damaged => f.write_str("it wrote over the memory of what runs it"),
        }
    }
}

impl fmt::Display for CrashClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NullPointer => "null pointer",
            Self::StackOverflow => "stack overflow",
            Self::OutsideObjects => "outside of every input object",
            Self::WildAddress => "wild address",
            Self::Arithmetic => "arithmetic fault",
            Self::Trap => "trap instruction",
            Self::Abort => "abort signal",
        })
    }
}
