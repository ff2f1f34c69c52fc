//! The constructs that objectives are about, and how a construct is measured and shown.

use super::{ClausePair, Flow, Witness};

/// The constructs of a program that the objectives of a criterion are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Construct {
    /// Functions.
    Function,
    /// Pairs of a caller and a callee.
    Call,
    /// Statements.
    Statement,
    /// Basic blocks.
    Block,
    /// Edges of branches.
    Branch,
    /// Loops.
    Loop,
    /// Decisions and their conditions.
    Decision(Witness),
    /// Borders of relational conditions.
    Border,
    /// Mutants of expressions.
    Mutant,
    /// Mutants of the text.
    MutantText,
    /// Inputs of functions.
    Input,
    /// Run-time errors.
    Error,
    /// Definitions of variables and their uses.
    DefUse(Flow),
    /// Paths of a function.
    Path,
    /// Objectives that the user writes.
    Written,
}

/// The part of a line's coverage that an objective is, for reports that have lines and branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEntry {
    /// Whether the line ran.
    Statement,
    /// A way of a branch.
    Branch,
    /// The effect of a condition.
    Pair,
    /// None.
    None,
}

/// How labels at roots are recorded by a native run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootProbe {
    /// As errors: before all others, and each of them also where another error comes first. For
    /// predicates that evaluate an operand which may trap.
    Error,
    /// As mutants: by mutant probes, after all others.
    Mutant,
    /// As predicates on the state, for those that cannot trap.
    State,
}

/// The properties of a construct, one row for each.
#[derive(Clone, Copy, Debug)]
struct ConstructProfile {
    /// The part of a line's coverage.
    line: LineEntry,
    /// How labels at roots are recorded.
    probe: RootProbe,
    /// Whether an outline of a function has it, in which no values are computed.
    of_text: bool,
    /// Whether objectives are ways of branches or of decisions.
    of_branches: bool,
    /// Whether a line's colour shows all about it.
    told_by_line: bool,
}

/// A construct that line reports do not have.
const OTHER: ConstructProfile = ConstructProfile {
    line: LineEntry::None,
    probe: RootProbe::State,
    of_text: false,
    of_branches: false,
    told_by_line: false,
};

impl Construct {
    const fn profile(self) -> ConstructProfile {
        let place = ConstructProfile { of_text: true, told_by_line: true, ..OTHER };
        let branch = ConstructProfile { of_text: true, of_branches: true, ..OTHER };
        match self {
            Self::Function | Self::Block => place,
            Self::Statement => ConstructProfile { line: LineEntry::Statement, ..place },
            Self::Branch => ConstructProfile { line: LineEntry::Branch, ..branch },
            Self::Decision(witness) => ConstructProfile { line: witness.line_entry(), ..branch },
            Self::Loop => ConstructProfile { of_text: true, ..OTHER },
            Self::Error => ConstructProfile { probe: RootProbe::Error, ..OTHER },
            Self::Mutant => ConstructProfile { probe: RootProbe::Mutant, ..OTHER },
            Self::Call
            | Self::Border
            | Self::Input
            | Self::DefUse(_)
            | Self::Path
            | Self::MutantText
            | Self::Written => OTHER,
        }
    }

    /// The part of a line's coverage that an objective is.
    pub const fn line_entry(self) -> LineEntry {
        self.profile().line
    }

    /// How labels at roots are recorded by a native run.
    pub const fn root_probe(self) -> RootProbe {
        self.profile().probe
    }

    /// Whether an outline of a function has it, in which no values are computed: statements,
    /// decisions, conditions and loops.
    pub const fn is_of_text(self) -> bool {
        self.profile().of_text
    }

    /// Whether objectives are ways of branches or of decisions.
    pub const fn is_of_branches(self) -> bool {
        self.profile().of_branches
    }

    /// Whether a line's colour shows all about the objectives.
    pub const fn is_told_by_line(self) -> bool {
        self.profile().told_by_line
    }
}

impl Witness {
    const fn line_entry(self) -> LineEntry {
        match self {
            Self::Value => LineEntry::Branch,
            Self::Pair(ClausePair::Masking | ClausePair::Correlated | ClausePair::Restricted) => {
                LineEntry::Pair
            }
            Self::Pair(ClausePair::RestrictedInactive) | Self::Combination | Self::Points => {
                LineEntry::None
            }
        }
    }
}
