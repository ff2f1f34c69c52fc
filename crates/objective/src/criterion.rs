//! The criteria, by the names that users give them, and the properties of each.
//!
//! All properties of a criterion stand in its row of one table, `criterion/table.rs`, and those of
//! what it is about in `criterion/construct.rs`. Code that treats some criteria differently asks for
//! such a property, so that nothing else changes for a new criterion.

use std::fmt;
use std::str::FromStr;

mod construct;
pub mod set;
mod table;

pub use construct::{Construct, LineEntry, RootProbe};
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

/// The evaluations that show an objective about a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Witness {
    /// An evaluation that gives the decision or one condition a value.
    Value,
    /// An evaluation in which several conditions have the right values.
    Combination,
    /// Two evaluations, each of which has the right values of several conditions.
    Points,
    /// Two evaluations that show the effect of one condition.
    Pair(ClausePair),
}

/// The relation of two evaluations of a decision that shows the effect of one condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClausePair {
    /// It is unmasked in both, with different values and outcomes.
    Masking,
    /// It decides in both, with different values and outcomes.
    Correlated,
    /// It alone differs, and the outcome does.
    Restricted,
    /// It alone differs, and the outcome does not.
    RestrictedInactive,
}

/// The properties of a criterion of data flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The things that have an objective.
    pub asks: FlowDemand,
    /// Whether the cells of an array count as variables of their own.
    pub cells: bool,
}

/// The things that have an objective of a criterion of data flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowDemand {
    /// Each definition.
    Definitions,
    /// Each pair of a definition and a use.
    Uses,
    /// Each path of such a pair.
    Paths,
}

/// The form of the objectives of a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Labels.
    Label,
    /// Hyperlabels, since labels alone cannot express them.
    Hyperlabel,
    /// Mutants of the text. No predicate at a place says whether a test kills one, so they are outside of
    /// the language of hyperlabels: whole runs of two programs are compared.
    Mutant,
}

/// The source of the objectives of a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The program: objectives follow from it.
    Program,
    /// The user, by labels in the source.
    SourceLabel,
    /// The user, in the language of hyperlabels.
    HtolFile,
    /// The augmentation of path conditions, which transforms the conditions of the program.
    Augmentation,
}

impl Criterion {
    /// The criteria that every tool which reads a report expects: whether each function was entered,
    /// and whether each line ran.
    pub const OF_EVERY_REPORT: [Self; 2] = [Self::Fc, Self::Stmt];

    /// Its name, as users write it.
    pub const fn name(self) -> &'static str {
        self.profile().name
    }

    /// Its objectives, in a few words.
    pub const fn about(self) -> &'static str {
        self.profile().about
    }

    /// Its definition, in one sentence.
    pub const fn definition(self) -> &'static str {
        self.profile().definition.trim_ascii()
    }

    /// The source of the definition: papers with their sections.
    pub const fn source(self) -> &'static str {
        self.profile().source
    }

    /// The construct that its objectives are about.
    pub const fn construct(self) -> Construct {
        self.profile().construct
    }

    /// The source of its objectives.
    pub const fn author(self) -> Author {
        self.profile().author
    }

    /// Whether it asks for control flow and for the effects of conditions. Such objectives are few,
    /// and the program's paths decide most of them. The objectives that users write are among them.
    pub const fn is_of_control(self) -> bool {
        self.profile().of_control
    }

    /// Whether its objectives are hyperlabels, which labels alone cannot express.
    pub const fn is_hyper(self) -> bool {
        match self.profile().form {
            Form::Label | Form::Mutant => false,
            Form::Hyperlabel => true,
        }
    }

    /// Whether its objectives are mutants of the text, which have no labels. Only the generator asks for
    /// them, and only runs of mutants measure them.
    pub const fn is_strong(self) -> bool {
        match self.profile().form {
            Form::Mutant => true,
            Form::Label | Form::Hyperlabel => false,
        }
    }

    /// Whether it asks for statements, decisions, conditions and loops alone. An outline of a
    /// function, in which no values are computed, is then enough.
    pub const fn is_of_text(self) -> bool {
        self.construct().is_of_text()
    }

    /// Its properties as a criterion of data flow; `None` if it is no such criterion.
    pub const fn flow(self) -> Option<Flow> {
        match self.construct() {
            Construct::DefUse(flow) => Some(flow),
            _ => None,
        }
    }

    /// The relation of two evaluations that it asks for; `None` if its objectives are no such pairs.
    pub const fn clause_pair(self) -> Option<ClausePair> {
        match self.construct() {
            Construct::Decision(Witness::Pair(pair)) => Some(pair),
            _ => None,
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

    /// Whether its objectives are transformed conditions, by which path conditions are augmented.
    pub const fn is_of_augmentation(self) -> bool {
        match self.author() {
            Author::Augmentation => true,
            Author::Program | Author::SourceLabel | Author::HtolFile => false,
        }
    }

    /// Whether its objectives are written by the user in the language of hyperlabels.
    pub const fn is_written(self) -> bool {
        match self.author() {
            Author::HtolFile => true,
            Author::Program | Author::SourceLabel | Author::Augmentation => false,
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
