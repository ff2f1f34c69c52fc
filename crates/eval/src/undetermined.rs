//! Symbols for values that the program does not determine, or that an engine does not compute.
//!
//! Nothing restricts such a symbol, and no label may be claimed because of its assumed value. Its
//! name begins with [`UNDEFINED_MARK`] and the [kind](Undetermined) of the value. So each worker
//! reads from the name why a term with it is not determined.

use std::fmt;

use lydian_smt::{Sort, Term, TermPool};
use serde::{Deserialize, Serialize};

/// The first character of the names of symbols for undetermined values.
pub const UNDEFINED_MARK: char = lydian_smt::MARK;

/// The kinds of undetermined values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undetermined {
    /// Memory, a variable or the result of a function that the program never gave a value.
    Unwritten,
    /// The address of an object of the program.
    Location,
    /// The results of inline assembly.
    Assembly,
    /// Volatile memory that is read again: others may have written there.
    Volatile,
    /// The sign and payload of a NaN that an operation gave.
    NanBits,
    /// The contents of an unknown place of an object of the inputs that is not followed.
    Access,
    /// The length of a string that is longer than the part that was read.
    Length,
}

impl Undetermined {
    const ALL: [Self; 7] = [
        Self::Unwritten,
        Self::Location,
        Self::Assembly,
        Self::Volatile,
        Self::NanBits,
        Self::Access,
        Self::Length,
    ];

    /// Its tag in the names of symbols, after the mark.
    const fn tag(self) -> &'static str {
        match self {
            Self::Unwritten => "unwritten.",
            Self::Location => "location.",
            Self::Assembly => "assembly.",
            Self::Volatile => "volatile.",
            Self::NanBits => "nan.",
            Self::Access => "access.",
            Self::Length => "length.",
        }
    }

    /// The kind of the value of a symbol of this name; `None` if the program determines it.
    pub fn of_symbol(name: &str) -> Option<Self> {
        let rest = name.strip_prefix(UNDEFINED_MARK)?;
        Self::ALL.into_iter().find(|kind| rest.starts_with(kind.tag()))
    }

    /// Whether the program determines it, and only the exploration does not follow it. A path on
    /// which it has any value includes all of the program's paths, and more.
    pub const fn is_any(self) -> bool {
        matches!(self, Self::Length)
    }

    /// The action at its place, as a verb: memory is *read* there.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Unwritten => "read",
            Self::Location | Self::NanBits => "used",
            Self::Assembly => "run",
            Self::Volatile => "read again",
            Self::Access => "made",
            Self::Length => "measured",
        }
    }
}

impl fmt::Display for Undetermined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unwritten => "uninitialised memory",
            Self::Location => "where objects lie",
            Self::Assembly => "inline assembly",
            Self::Volatile => "volatile memory",
            Self::NanBits => "the sign or payload of a NaN",
            Self::Access => "an access to an unknown place of an object of the inputs",
            Self::Length => "how long a very long string is",
        })
    }
}

/// The symbol for an undetermined value; the same for the same kind, name and sort.
pub fn undefined_symbol(pool: &mut TermPool, kind: Undetermined, name: &str, sort: Sort) -> Term {
    pool.var(&format!("{UNDEFINED_MARK}{}{name}:{sort}", kind.tag()), sort)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_symbol_tells_its_kind() {
        let mut pool = TermPool::new();
        for kind in Undetermined::ALL {
            let symbol = undefined_symbol(&mut pool, kind, "nan.x", Sort::BitVec(8));
            let name = pool.var_name(symbol).expect("a symbol");
            assert_eq!(Undetermined::of_symbol(name), Some(kind), "{name}");
        }
        for name in ["?", "x", "unwritten.x", "?x"] {
            assert_eq!(Undetermined::of_symbol(name), None, "{name}");
        }
    }
}
