//! The concrete interpreter: runs a [`Test`] on a [`Program`], or a whole program from its `main`,
//! byte by byte.
//!
//! It is the oracle for the symbolic engine and for native runs, and it runs real programs, so it
//! is exact first and fast second. Values follow [`crate::arith`], the functions of
//! [`crate::libc::MODELLED`] are modelled, every other undefined function returns what the test
//! says, or zero.
//!
//! # How it runs
//! - A function is made into *linear code* when it is first called ([`compile`]): operations on
//!   64-bit slots, one for each register of the function and for each value on its way. A tree of
//!   expressions becomes a row of operations; addresses, constants and tests are part of the
//!   operation that uses them ([`code`]). What has no operation of its own (128 bits, odd widths) is
//!   computed by [`crate::arith`] itself.
//! - One loop runs the code ([`exec`]). A call's slots lie behind its caller's, its arguments where
//!   the caller computed them.
//! - Memory ([`memory`]) keeps a state beside every byte, and objects lie apart. So an access is
//!   checked, to the byte, by the states alone: no object is looked for.
//! - Steps are counted once for each run of statements, and counted back where one of them traps.
//! - Registers that are surely set before they are read need no flag; the others have one.
//! - Nothing is done for an observer that does not listen: events are operations that are made only
//!   for one that does.
//!
//! # What it decides where C leaves it open
//! - Using bytes or registers that were never written gives zero and sets a flag in the outcome, or
//!   ends the run ([`Options::uninitialised`]). Assigning, storing or copying them is no use: the
//!   place then counts as never written too ([`flow`]).
//! - Misaligned accesses are allowed, as on the processors at hand.
//! - What was freed, left or returned from is no longer there; its addresses are given out again
//!   only much later, and until then a use of it is told from other faults.
//! - Addresses below [`memory::NULL_PAGE`] are null dereferences.
//! - Functions of one machine signature may be called through each other's pointers.
//! - A copy of overlapping places copies as if through a buffer.
//!
//! # Observers
//! An [`Observer`] hears of every place that labels can stand at, together with a [`View`] of the
//! state there, on which it may evaluate expressions. A decision's event is fired when its outcome
//! is known: conditions that were not reached have their value on the state at that moment if they
//! are pure, else none.

use lydian_base::StopReason;

use crate::arith::Overflow;
use crate::program::{FuncId, GlobalId, Program};
use crate::source::Point;
use crate::stmt::TrapKind;
use crate::test::Test;

mod builtins;
mod calls;
mod character;
mod code;
mod compile;
mod exec;
mod float_parts;
mod flow;
mod host;
mod jumps;
mod machine;
mod math;
pub mod memory;
mod models;
mod observe;
mod plan;
mod prepared;
mod sequence;
mod stack;
mod start;
mod strings;
mod whole;
mod writes;

pub use host::{Files, Output};
pub use math::math_function;
pub use memory::Memory;
pub use observe::{DecisionEvent, Observer, Silent, View};
pub use plan::{Plan, Value};
pub use prepared::Interpreter;
pub use whole::{ProgramOutcome, ProgramRun, run_program};

/// What a use of a value that was never written does: a test, an address, a divisor, an argument,
/// a result or output that depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Uninitialised {
    /// It is noted in the outcome, the first one with its place; the value is zero.
    #[default]
    Note,
    /// It ends the run with [`TrapKind::Uninitialised`].
    Trap,
}

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What signed operators do on overflow.
    pub overflow: Overflow,
    /// What a use of a value that was never written does.
    pub uninitialised: Uninitialised,
    /// How many statements and terminators may run.
    pub max_steps: u64,
    /// How many calls may be open at once.
    pub max_depth: u32,
    /// How many bytes the heap and the stack may have together.
    pub max_memory: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            overflow: Overflow::Wrap,
            uninitialised: Uninitialised::Note,
            max_steps: 10_000_000,
            max_depth: 1000,
            max_memory: 256 << 20,
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The function returned.
    Returned,
    /// `exit` with this status.
    Exited(i32),
    /// A fault of the program under test.
    Trapped(TrapKind),
    /// What the program assumes of its inputs does not hold, or it asks for no test: the run does
    /// not count.
    Assumption,
    /// A function that never returns was called, and nothing is known of it.
    NoReturn(FuncId),
    /// What happens next is not known.
    Unknown(Unknown),
    /// A limit was reached.
    Stopped(StopReason),
    /// More calls than allowed were open; the limit.
    TooDeep(u32),
}

/// Why a run cannot be followed any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unknown {
    /// Inline assembly, whose outputs nothing is known of ([`crate::Stmt::Havoc`]).
    Assembly,
}

/// Where in the program something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The function.
    pub function: FuncId,
    /// The statement or terminator.
    pub point: Point,
}

/// What a run did.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Where it ended; `None` where the tested function returned, from its last call.
    pub location: Option<Location>,
    /// The bytes of the result, of the size of its type; `None` for `void` and where the function
    /// did not return a value.
    pub result: Option<Vec<u8>>,
    /// The contents of the test's objects at the end, in their order.
    pub objects: Vec<Vec<u8>>,
    /// The contents of the globals at the end, in the order of the program.
    pub globals: Vec<Vec<u8>>,
    /// The bytes of the test's objects that hold what was computed from bytes that were never written:
    /// the object's position, and the byte's.
    pub undetermined_objects: Vec<(usize, usize)>,
    /// The same of globals.
    pub undetermined_globals: Vec<(GlobalId, usize)>,
    /// The same of the blocks that were allocated and not released, the newest first, each with its size;
    /// empty where there are no such bytes.
    pub undetermined_blocks: Vec<(u64, Vec<usize>)>,
    /// Where a value that was never written was first used; `None` if that did not happen.
    pub uninitialised: Option<Location>,
    /// Where a function of the C library was first called in a way that C does not define though libraries do
    /// what is expected: `memcpy` of overlapping memory, `memcmp` beyond the end of an object.
    pub misused: Option<Location>,
    /// How many statements and terminators ran.
    pub steps: u64,
    /// The undefined functions that were called, in order. Modelled functions are left out.
    pub externals: Vec<FuncId>,
    /// The environment variables that were asked for and that the test does not name, each once.
    pub missed_variables: Vec<String>,
    /// The calls of allocators that failed for their size alone, which another process may grant: the
    /// allocator, and the call's number from 0.
    pub refused: Vec<(String, u32)>,
    /// All memory at the end.
    pub memory: Memory,
}

impl Outcome {
    /// The contents of a global at the end.
    pub fn global(&self, global: GlobalId) -> &[u8] {
        use lydian_base::EntityId;
        self.globals.get(global.index()).map_or(&[], Vec::as_slice)
    }
}

/// Why a test cannot be run on a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTest {
    /// There is no such function with a body.
    #[error("there is no function {0} with a body")]
    NoFunction(String),
    /// It has more or fewer arguments than the function has parameters.
    #[error("the function has {wanted} parameters, the test {given} arguments")]
    Arguments {
        /// Parameters.
        wanted: usize,
        /// Arguments.
        given: usize,
    },
    /// An image is larger than what it is of.
    #[error("the image of {0} is too large")]
    TooLarge(String),
    /// An object lies over another one or outside of the region of inputs.
    #[error("object {0} is misplaced")]
    Misplaced(String),
    /// A pointer in an image names what is not there or stands over the image's end.
    #[error("a pointer in the image of {0} leads nowhere")]
    Pointer(String),
    /// There is no such global.
    #[error("there is no global {0}")]
    NoGlobal(String),
}

/// Runs a test. The program must have passed [`crate::verify::verify`]. Who runs many makes one
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

#[cfg(test)]
mod tests;
