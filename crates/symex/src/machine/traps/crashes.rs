//! Places where the program under test may trap, and the knowledge about them.

use lydian_ir::TrapKind;

use crate::machine::program::site::ProgramPoint;
use crate::machine::state::{Notes, State};

/// The place and kind of a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CrashPlace {
    at: ProgramPoint,
    kind: TrapKind,
}

/// The knowledge about one place where the program may trap in one way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Crash {
    /// Whether a test that traps there was given.
    pub(crate) found: bool,
    /// The number of queries for such a test.
    pub(crate) queries: u32,
}

/// The place of a trap of this kind at the position of a state.
pub(crate) fn place_of<N: Notes>(state: &State<N>, kind: TrapKind) -> CrashPlace {
    CrashPlace { at: state.frame().point(), kind }
}
