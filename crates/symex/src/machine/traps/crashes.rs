//! Places where the program under test may trap, and what is known of them.

use lydian_ir::{BlockId, FuncId, TrapKind};

use crate::machine::state::{Notes, State};

/// Where a program traps: function, block, position in it, and how.
pub(crate) type CrashPlace = (FuncId, BlockId, usize, TrapKind);

/// What is known about one place where the program may trap in one way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Crash {
    /// A test that traps there was given.
    pub(crate) found: bool,
    /// How many queries for one were asked.
    pub(crate) queries: u32,
}

/// The place where a state is, if it traps there.
pub(crate) fn place_of<N: Notes>(state: &State<N>, kind: TrapKind) -> CrashPlace {
    let frame = state.frame();
    (frame.func, frame.block, frame.next, kind)
}
