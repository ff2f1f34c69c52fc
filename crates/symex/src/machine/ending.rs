//! The reasons why a path ends.

use std::fmt;

use lydian_ir::{FuncId, TrapKind};
use serde::{Deserialize, Serialize};

use crate::limits::Cut;

/// Why a path ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The function returned.
    Returned,
    /// The program called `exit` or a similar function.
    Exited,
    /// The path breaks an assumption of the program about its inputs, so it has no test.
    Assumption,
    /// The path is a cycle without an end.
    Endless,
    /// The program under test trapped.
    Trapped(TrapKind),
    /// The engine did not follow it any further.
    Cut(Cut),
}

/// The end of paths within a call that the function under test makes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallEnd {
    /// The function that the function under test calls; itself where paths end outside of its calls.
    pub callee: FuncId,
    /// How paths end there. For a trap: some inputs may trap there, as far as is known.
    pub ending: Ending,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Returned => f.write_str("returned"),
            Self::Exited => f.write_str("exited"),
            Self::Assumption => f.write_str("an assumption does not hold"),
            Self::Endless => f.write_str("never ends"),
            Self::Trapped(kind) => write!(f, "trapped: {kind}"),
            Self::Cut(cut) => write!(f, "cut: {cut}"),
        }
    }
}
