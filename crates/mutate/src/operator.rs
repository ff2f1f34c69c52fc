//! Mutation operators.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A kind of change. The first nine are those of weak mutants, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operator {
    /// A number to its absolute value, and to minus that.
    Abs,
    /// Arithmetic operators among each other.
    Aor,
    /// Comparisons among each other, and to true and false.
    Ror,
    /// `&&` and `||` to each other, to one operand, and to true and false.
    Cor,
    /// `&`, `|` and `^` among each other.
    Lor,
    /// `<<` and `>>` to each other.
    Sor,
    /// A unary operator or a step put in.
    Uoi,
    /// A constant to 0, 1 and -1.
    Cro,
    /// An assigned variable to another.
    Lhs,
    /// A statement deleted.
    Sdl,
    /// A returned value to 0, 1 and -1.
    Rvr,
    /// An argument left out, or 0 in its place.
    Arr,
    /// Two neighbouring arguments swapped.
    Ars,
    /// A variable that is read to another.
    Vrr,
    /// A pattern of the user's.
    Own,
}

impl Operator {
    /// All operators, in the order of tables.
    pub const ALL: [Self; 15] = [
        Self::Abs,
        Self::Aor,
        Self::Ror,
        Self::Cor,
        Self::Lor,
        Self::Sor,
        Self::Uoi,
        Self::Cro,
        Self::Lhs,
        Self::Sdl,
        Self::Rvr,
        Self::Arr,
        Self::Ars,
        Self::Vrr,
        Self::Own,
    ];

    /// Its abbreviation.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abs => "ABS",
            Self::Aor => "AOR",
            Self::Ror => "ROR",
            Self::Cor => "COR",
            Self::Lor => "LOR",
            Self::Sor => "SOR",
            Self::Uoi => "UOI",
            Self::Cro => "CRO",
            Self::Lhs => "LHS",
            Self::Sdl => "SDL",
            Self::Rvr => "RVR",
            Self::Arr => "ARR",
            Self::Ars => "ARS",
            Self::Vrr => "VRR",
            Self::Own => "OWN",
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no operator has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownOperator(pub String);

impl fmt::Display for UnknownOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Operator::ALL.into_iter().map(Operator::name).collect();
        write!(f, "there is no operator `{}`; there are {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownOperator {}

impl FromStr for Operator {
    type Err = UnknownOperator;

    fn from_str(text: &str) -> Result<Self, UnknownOperator> {
        let found = Self::ALL.into_iter().find(|op| op.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| UnknownOperator(text.to_owned()))
    }
}
