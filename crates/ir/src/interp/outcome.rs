//! Outcomes of runs, and why a test does not suit a program.

use lydian_base::StopReason;

use super::memory::Memory;
use crate::device::{DeviceRead, DeviceWrite};
use crate::program::source::Point;
use crate::program::stmt::TrapKind;
use crate::program::{FuncId, GlobalId};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The function returned.
    Returned,
    /// `exit` with this status.
    Exited(i32),
    /// A fault of the program under test.
    Trapped(TrapKind),
    /// An assumption of the program about its inputs does not hold, or it asks for no test: the run does
    /// not count.
    Assumption,
    /// It asks for another read of a device than the next of the test's script.
    OutrunsScript,
    /// A function that never returns was called, and nothing is known of it.
    NoReturn(FuncId),
    /// The next state is not known.
    Unknown(UnknownCause),
    /// A limit was reached.
    Stopped(StopReason),
    /// More calls than allowed were open; the limit.
    TooDeep(u32),
}

/// Why a run cannot be followed any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnknownCause {
    /// Inline assembly, whose outputs nothing is known of ([`crate::Stmt::Havoc`]).
    Assembly,
    /// The same whose outputs may differ from machine to machine or from run to run.
    VaryingAssembly,
    /// A handler of interrupts is to run where none can: interrupts are disabled.
    MaskedInterrupt,
}

/// Where in the program something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The function.
    pub function: FuncId,
    /// The statement or terminator.
    pub point: Point,
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Where it ended; `None` where the tested function returned, from its last call.
    pub location: Option<Location>,
    /// Where each call that had not returned stood at the end, the newest first.
    pub open_calls: Vec<Location>,
    /// The bytes of the result, of the size of its type; `None` for `void` and where the function
    /// did not return a value.
    pub result: Option<Vec<u8>>,
    /// The contents of the test's objects at the end, in their order.
    pub objects: Vec<Vec<u8>>,
    /// The contents of the globals at the end, in the order of the program.
    pub globals: Vec<Vec<u8>>,
    /// The bytes of the result that were never written, or hold what was computed from such bytes.
    pub undetermined_result: Vec<usize>,
    /// The same of the test's objects: the object's position, and the byte's.
    pub undetermined_objects: Vec<(usize, usize)>,
    /// The same of globals.
    pub undetermined_globals: Vec<(GlobalId, usize)>,
    /// The same of the blocks that were allocated and not released, the newest first, each with its size;
    /// empty where there are no such bytes.
    pub undetermined_blocks: Vec<(u64, Vec<usize>)>,
    /// Where a value that was never written was first used; `None` if that did not happen.
    pub uninitialised: Option<Location>,
    /// Where the run first does what C does not define or leaves to compilers, though each does something
    /// plain: `memcpy` of overlapping memory, `memcmp` beyond the end of an object, an address made of a null
    /// pointer, two calls of an undefined function that have no order and get different results.
    pub misused: Option<Location>,
    /// How many statements and terminators ran.
    pub steps: u64,
    /// The undefined functions that were called, in order. Modelled functions are left out.
    pub externals: Vec<FuncId>,
    /// The environment variables that were asked for and that the test does not name, each once.
    pub missed_variables: Vec<String>,
    /// The read of a device for which the test's script has no value; none where all had one.
    pub outrun: Option<DeviceRead>,
    /// How many reads found their value in the test's script.
    pub scripted_reads: u32,
    /// The volatile writes of devices, in order.
    pub device_writes: Vec<DeviceWrite>,
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
    /// An image is larger than its object.
    #[error("the image of {0} is too large")]
    TooLarge(String),
    /// An object lies over another one or outside of the region of inputs.
    #[error("object {0} is misplaced")]
    Misplaced(String),
    /// A pointer in an image has no target, or stands over the image's end.
    #[error("a pointer in the image of {0} leads nowhere")]
    Pointer(String),
    /// A read of a device does not say where it is made.
    #[error("a read of a device is at `{0}`, which is no address")]
    DevicePlace(String),
    /// A handler of interrupts does not say which and where, or is no function that can be one.
    #[error("`{0}` is no handler of interrupts at a read")]
    Interrupt(String),
    /// There is no such global.
    #[error("there is no global {0}")]
    NoGlobal(String),
}
