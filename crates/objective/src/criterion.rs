//! The criteria, by the names that users give them, and what is known of each.
//!
//! Everything about a criterion stands in its row of one table, `criterion/table.rs`. Whoever treats
//! some criteria otherwise than others asks for a property of that row, or matches on [`Construct`]
//! without a last arm for the rest, so that a new criterion cannot be forgotten.

use std::fmt;
use std::str::FromStr;

mod table;

pub use table::Criterion;

/// The row of a criterion.
struct Profile {
    name: &'static str,
    about: &'static str,
    definition: &'static str,
    source: &'static str,
    construct: Construct,
    form: Form,
    author: Author,
    of_control: bool,
}

/// What kind of thing of the program the objectives of a criterion are about.
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
    /// Inputs of functions.
    Input,
    /// Run-time errors.
    Error,
    /// Definitions of variables and their uses.
    DefUse(Flow),
    /// Paths of a function.
    Path,
    /// Whatever the user writes.
    Written,
}

/// What shows an objective about a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Witness {
    /// An evaluation that gives the decision or one condition a value.
    Value,
    /// An evaluation in which several conditions have the right values.
    Combination,
    /// Two evaluations, each of which has the right values of several conditions.
    Points,
    /// Two evaluations that show what one condition does.
    Pair(ClausePair),
}

/// What two evaluations of a decision show of one of its conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClausePair {
    /// It is marked in both, with different values and outcomes.
    Masking,
    /// It decides in both, with different values and outcomes.
    Correlated,
    /// It alone differs, and the outcome does.
    Restricted,
    /// It alone differs, and the outcome does not.
    RestrictedInactive,
}

/// What a criterion of data flow asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// What there is an objective for.
    pub asks: FlowDemand,
    /// Whether the cells of an array are told apart.
    pub cells: bool,
}

/// What a criterion of data flow has an objective for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowDemand {
    /// Each definition.
    Definitions,
    /// Each pair of a definition and a use.
    Uses,
    /// Each path of such a pair.
    Paths,
}

/// What the objectives of a criterion are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Labels.
    Label,
    /// Hyperlabels, as labels alone cannot express them.
    Hyperlabel,
}

/// Who says what the objectives of a criterion are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// They follow from the program.
    Program,
    /// The user, by labels in the source.
    SourceLabel,
    /// The user, in the language of hyperlabels.
    HtolFile,
}

impl Criterion {
    /// What every tool that reads a report expects of each function and each line: whether it was
    /// entered, and whether it ran.
    pub const OF_EVERY_REPORT: [Self; 2] = [Self::Fc, Self::Stmt];

    /// Its name, as users write it.
    pub const fn name(self) -> &'static str {
        self.profile().name
    }

    /// What its objectives are, in a few words.
    pub const fn about(self) -> &'static str {
        self.profile().about
    }

    /// What it asks for, in one sentence.
    pub const fn definition(self) -> &'static str {
        self.profile().definition.trim_ascii()
    }

    /// Where the definition is from: papers with their sections.
    pub const fn source(self) -> &'static str {
        self.profile().source
    }

    /// What its objectives are about.
    pub const fn construct(self) -> Construct {
        self.profile().construct
    }

    /// Who says what its objectives are.
    pub const fn author(self) -> Author {
        self.profile().author
    }

    /// Whether it asks where control goes, and how conditions decide: objectives of which there are few, most
    /// of them decided by the program's paths. What users ask for themselves is among it.
    pub const fn is_of_control(self) -> bool {
        self.profile().of_control
    }

    /// Whether its objectives are hyperlabels, which labels alone cannot express.
    pub const fn is_hyper(self) -> bool {
        match self.profile().form {
            Form::Label => false,
            Form::Hyperlabel => true,
        }
    }

    /// Whether it asks about statements, decisions, conditions and loops alone, so that an outline of
    /// a function is enough for it, in which no values are computed.
    pub const fn is_of_text(self) -> bool {
        match self.construct() {
            Construct::Function
            | Construct::Statement
            | Construct::Block
            | Construct::Branch
            | Construct::Loop
            | Construct::Decision(_) => true,
            Construct::Call
            | Construct::Border
            | Construct::Mutant
            | Construct::Input
            | Construct::Error
            | Construct::DefUse(_)
            | Construct::Path
            | Construct::Written => false,
        }
    }

    /// What it asks of data flow, if it is about definitions and uses.
    pub const fn flow(self) -> Option<Flow> {
        match self.construct() {
            Construct::DefUse(flow) => Some(flow),
            Construct::Function
            | Construct::Call
            | Construct::Statement
            | Construct::Block
            | Construct::Branch
            | Construct::Loop
            | Construct::Decision(_)
            | Construct::Border
            | Construct::Mutant
            | Construct::Input
            | Construct::Error
            | Construct::Path
            | Construct::Written => None,
        }
    }

    /// What two evaluations of a decision show of a condition, if its objectives are such pairs.
    pub const fn clause_pair(self) -> Option<ClausePair> {
        match self.construct() {
            Construct::Decision(Witness::Pair(pair)) => Some(pair),
            Construct::Decision(Witness::Value | Witness::Combination | Witness::Points)
            | Construct::Function
            | Construct::Call
            | Construct::Statement
            | Construct::Block
            | Construct::Branch
            | Construct::Loop
            | Construct::Border
            | Construct::Mutant
            | Construct::Input
            | Construct::Error
            | Construct::DefUse(_)
            | Construct::Path
            | Construct::Written => None,
        }
    }

    /// Whether it is about definitions and uses.
    pub const fn is_data_flow(self) -> bool {
        self.flow().is_some()
    }

    /// Whether it has objectives with a definition in one unit and a use in another.
    pub const fn is_across_units(self) -> bool {
        match self.flow() {
            Some(Flow { asks: FlowDemand::Definitions | FlowDemand::Uses, .. }) => true,
            Some(Flow { asks: FlowDemand::Paths, .. }) | None => false,
        }
    }

    /// Whether it is about definitions and uses of array cells.
    pub const fn tells_cells_apart(self) -> bool {
        matches!(self.flow(), Some(Flow { cells: true, .. }))
    }

    /// Whether its objectives are written by the user in the language of hyperlabels.
    pub const fn is_written(self) -> bool {
        match self.author() {
            Author::HtolFile => true,
            Author::Program | Author::SourceLabel => false,
        }
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no criterion's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no criterion `{0}`; there are {list}", list = names())]
pub struct UnknownCriterion(pub String);

fn names() -> String {
    Criterion::ALL.map(|(_, name)| name).join(", ")
}

impl FromStr for Criterion {
    type Err = UnknownCriterion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lower = text.to_ascii_lowercase();
        let entry = Self::ALL.iter().find(|(_, name)| *name == lower);
        entry.map(|(criterion, _)| *criterion).ok_or_else(|| UnknownCriterion(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_criterion_is_found_by_its_name_in_any_case() {
        for (criterion, name) in Criterion::ALL {
            assert_eq!(name.to_uppercase().parse(), Ok(criterion));
        }
    }

    #[test]
    fn a_name_that_is_no_criterion_is_answered_with_those_that_are() {
        let error = "mcd".parse::<Criterion>().unwrap_err().to_string();
        assert!(error.contains("`mcd`"), "{error}");
        for (_, name) in Criterion::ALL {
            assert!(error.contains(name), "{name}: {error}");
        }
    }

    #[test]
    fn names_stand_in_files_as_users_write_them() {
        for (criterion, name) in Criterion::ALL {
            let stored = serde_json::to_string(&criterion).expect("a name");
            assert_eq!(stored, format!("\"{name}\""));
        }
    }

    #[test]
    fn a_definition_is_one_sentence_and_has_a_source() {
        for (criterion, name) in Criterion::ALL {
            let definition = criterion.definition();
            let ends = definition.matches(['.', '?', '!']).count();
            assert!(ends == 1 && definition.ends_with('.'), "{name}: {definition}");
            assert!(criterion.source().contains("[00"), "{name}: {}", criterion.source());
        }
    }
}
