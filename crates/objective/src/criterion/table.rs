//! The table of criteria: each row has all properties that a criterion has by itself. The compiler
//! leads from a new row to the annotator that the criterion needs, too
//! ([`crate::annotate::annotator_of`]).
//!
//! The rows are in the order of reports. The comment of a row is the criterion's definition in one
//! sentence; `source` names the paper that it is from.

use serde::{Deserialize, Serialize};

use super::{Author, ClausePair, Construct, Flow, FlowDemand, Form, Profile, Witness};

macro_rules! criteria {
    ($(
        $(#[doc = $definition:literal])+
        $variant:ident {
            name: $name:literal,
            about: $about:literal,
            source: $source:literal,
            construct: $construct:expr,
            form: $form:expr,
            author: $author:expr,
            of_control: $of_control:literal,
        }
    )+) => {
        /// A coverage criterion (semantics: [000] III, [002] Table II).
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(rename_all = "kebab-case")]
        pub enum Criterion {
            $(
                $(#[doc = $definition])+
                #[doc = concat!("\n\nSource: ", $source, ".")]
                $variant,
            )+
        }

        impl Criterion {
            /// Every criterion with its name, in the order of reports.
            pub const ALL: [(Self, &'static str); [$(Self::$variant),+].len()] =
                [$((Self::$variant, $name)),+];

            /// Its row of the table.
            pub(super) const fn profile(self) -> &'static Profile {
                match self {
                    $(Self::$variant => &Profile {
                        name: $name,
                        about: $about,
                        definition: concat!($($definition),+),
                        source: $source,
                        construct: $construct,
                        form: $form,
                        author: $author,
                        of_control: $of_control,
                    },)+
                }
            }
        }
    };
}

criteria! {
    /// Control enters each function that has a body.
    Fc {
        name: "fc",
        about: "every function is entered",
        source: "[002] III-B",
        construct: Construct::Function,
        form: Form::Label,
        author: Author::Program,
        of_control: true,
    }
    /// For each function and each function that it calls by name, one of these calls is made.
    Fcc {
        name: "fcc",
        about: "every call of every function, by caller and callee",
        source: "[002] III-B and Example 2",
        construct: Construct::Call,
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: true,
    }
    /// Control passes each statement.
    Stmt {
        name: "stmt",
        about: "every statement",
        source: "[000] III-B, as instruction coverage; [002] III-B",
        construct: Construct::Statement,
        form: Form::Label,
        author: Author::Program,
        of_control: true,
    }
    /// Control passes each basic block.
    Bbc {
        name: "bbc",
        about: "every basic block",
        source: "[002] III-B",
        construct: Construct::Block,
        form: Form::Label,
        author: Author::Program,
        of_control: true,
    }
    /// Control takes each edge of a branch: each condition is evaluated to true and to false, and
    /// each case of a `switch` is taken.
    Bc {
        name: "bc",
        about: "every branch: each condition both ways, each case of a switch",
        source: "[002] III-B",
        construct: Construct::Branch,
        form: Form::Label,
        author: Author::Program,
        of_control: true,
    }
    /// Each loop is skipped: control comes to it and leaves it without a turn.
    Slo {
        name: "slo",
        about: "every loop is skipped",
        source: "the loop criteria of LTest, which [002] VII-B builds on",
        construct: Construct::Loop,
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: false,
    }
    /// Each loop is entered.
    Elo {
        name: "elo",
        about: "every loop is entered",
        source: "the loop criteria of LTest, which [002] VII-B builds on",
        construct: Construct::Loop,
        form: Form::Label,
        author: Author::Program,
        of_control: false,
    }
    /// Each loop is entered and makes at least two turns.
    Mlo {
        name: "mlo",
        about: "every loop turns more than once",
        source: "the loop criteria of LTest, which [002] VII-B builds on",
        construct: Construct::Loop,
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: false,
    }
    /// Each decision is evaluated to true and to false.
    Dc {
        name: "dc",
        about: "every decision is true and false",
        source: "[000] III-B; [002] III-B",
        construct: Construct::Decision(Witness::Value),
        form: Form::Label,
        author: Author::Program,
        of_control: true,
    }
    /// Each condition of each decision is true and false.
    Cc {
        name: "cc",
        about: "every condition is true and false",
        source: "[000] III-B; [002] III-B",
        construct: Construct::Decision(Witness::Value),
        form: Form::Label,
        author: Author::Program,
        of_control: true,
    }
    /// The objectives of DC and those of CC.
    Dcc {
        name: "dcc",
        about: "every decision and every condition is true and false",
        source: "[000] III-B; [002] III-B",
        construct: Construct::Decision(Witness::Value),
        form: Form::Label,
        author: Author::Program,
        of_control: true,
    }
    /// Each combination of values of all conditions of a decision occurs.
    Mcc {
        name: "mcc",
        about: "every combination of the conditions of a decision",
        source: "[000] III-B; [002] III-B",
        construct: Construct::Decision(Witness::Combination),
        form: Form::Label,
        author: Author::Program,
        of_control: false,
    }
    /// General active clause coverage: each condition is true and is false in an evaluation where
    /// it decides the outcome.
    Gacc {
        name: "gacc",
        about: "every condition decides (general active clause coverage)",
        source: "[002] V-D1; [004] 4.3",
        construct: Construct::Decision(Witness::Combination),
        form: Form::Label,
        author: Author::Program,
        of_control: true,
    }
    /// General inactive clause coverage: each condition is true and is false, for each outcome, in
    /// an evaluation where it does not decide that outcome.
    Gicc {
        name: "gicc",
        about: "every condition does not decide (general inactive clause coverage)",
        source: "[002] III-B; [004] 4.3",
        construct: Construct::Decision(Witness::Combination),
        form: Form::Label,
        author: Author::Program,
        of_control: false,
    }
    /// Correlated active clause coverage, which is masking MC/DC: two evaluations have each
    /// condition true and false, it decides in both, and their outcomes differ.
    Cacc {
        name: "cacc",
        about: "every condition decides, with both outcomes: masking MC/DC",
        source: "[002] V-D1",
        construct: Construct::Decision(Witness::Pair(ClausePair::Correlated)),
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: true,
    }
    /// Restricted active clause coverage, which is unique-cause MC/DC: two evaluations differ in
    /// one condition alone and in the outcome.
    Racc {
        name: "racc",
        about: "every condition decides, the others unchanged: unique-cause MC/DC",
        source: "[002] Example 1 and V-D1",
        construct: Construct::Decision(Witness::Pair(ClausePair::Restricted)),
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: true,
    }
    /// Restricted inactive clause coverage: for each outcome, two evaluations that have it differ
    /// in one condition alone.
    Ricc {
        name: "ricc",
        about: "every condition does not decide, the others unchanged",
        source: "[002] III-B and Table II",
        construct: Construct::Decision(Witness::Pair(ClausePair::RestrictedInactive)),
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: false,
    }
    /// Masking MC/DC under short-circuit evaluation: two evaluations whose outcomes differ evaluate
    /// each condition to true and to false, and nothing later in the evaluation masks it.
    Mcdc {
        name: "mcdc",
        about: "MC/DC as evaluation goes, conditions that it skips masked",
        source: "[003] III-B to III-D",
        construct: Construct::Decision(Witness::Pair(ClausePair::Masking)),
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: true,
    }
    /// Implicant coverage: each implicant of a minimal disjunctive normal form of a decision, and
    /// of its negation, is true.
    Ic {
        name: "ic",
        about: "every implicant of a decision and of its negation",
        source: "[002] III-B and Table II",
        construct: Construct::Decision(Witness::Combination),
        form: Form::Label,
        author: Author::Program,
        of_control: false,
    }
    /// Unique true point coverage: each of these implicants is true while all others are false.
    Utpc {
        name: "utpc",
        about: "every unique true point of each implicant",
        source: "[002] III-B and Table II",
        construct: Construct::Decision(Witness::Combination),
        form: Form::Label,
        author: Author::Program,
        of_control: false,
    }
    /// Corresponding unique true point and near false point pairs: for each literal of each
    /// implicant, a unique true point of it and a point that differs in that literal alone and has
    /// the other outcome.
    Cutpnfp {
        name: "cutpnfp",
        about: "unique true points with near false points",
        source: "[002] III-B and Table II",
        construct: Construct::Decision(Witness::Points),
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: false,
    }
    /// The operands of each relational condition take the values at its border, just inside of it
    /// and just outside of it.
    Bva {
        name: "bva",
        about: "values at, just inside and just outside of each border",
        source: "[004] 4.1",
        construct: Construct::Border,
        form: Form::Label,
        author: Author::Program,
        of_control: false,
    }
    /// Weak mutation: after each mutated place the state of the mutant differs from that of the
    /// program, for mutations without side effects.
    Wm {
        name: "wm",
        about: "weak mutation: every mutant of an expression differs",
        source: "[000] III-B, Theorem 2",
        construct: Construct::Mutant,
        form: Form::Label,
        author: Author::Program,
        of_control: false,
    }
    /// Strong mutation: for each mutant of the program's text, a test ends well on the program and fails on
    /// the mutant.
    Sm {
        name: "sm",
        about: "strong mutation: every mutant of the text is killed",
        source: "[004] 4; outside of the language of hyperlabels of [002]",
        construct: Construct::MutantText,
        form: Form::Mutant,
        author: Author::Program,
        of_control: false,
    }
    /// Each parameter takes, when its function is entered, a value of each class of a partition of
    /// its type.
    Idc {
        name: "idc",
        about: "every part of the domain of each input",
        source: "[000] III-B",
        construct: Construct::Input,
        form: Form::Label,
        author: Author::Program,
        of_control: false,
    }
    /// Each expression that can cause a run-time error is evaluated in a state in which it does.
    Rte {
        name: "rte",
        about: "every kind of run-time error at each place",
        source: "[000] III-B; [004] 4.4",
        construct: Construct::Error,
        form: Form::Label,
        author: Author::Program,
        of_control: false,
    }
    /// Each relational condition is evaluated with operands inside, on and outside of its border.
    AugBoundary {
        name: "aug-boundary",
        about: "augmentation: values inside, on and outside of borders",
        source: "[004] 4.1, (1) and (2)",
        construct: Construct::Border,
        form: Form::Label,
        author: Author::Augmentation,
        of_control: false,
    }
    /// Each mutant of an operator or operand on a path differs from the program where it is evaluated.
    AugMutation {
        name: "aug-mutation",
        about: "augmentation: mutants by ROR, LOR, AOR, UOI and CRO",
        source: "[004] 4.2, (3)",
        construct: Construct::Mutant,
        form: Form::Label,
        author: Author::Augmentation,
        of_control: false,
    }
    /// Each condition decides its decision, and does not decide it, with each outcome.
    AugLogic {
        name: "aug-logic",
        about: "augmentation: clauses active and inactive (GACC, CACC, GICC)",
        source: "[004] 4.3, (4)",
        construct: Construct::Decision(Witness::Combination),
        form: Form::Label,
        author: Author::Augmentation,
        of_control: false,
    }
    /// Each operation that can fail is evaluated where it fails, and where it does not.
    AugErrors {
        name: "aug-errors",
        about: "augmentation: run-time errors, and their absence",
        source: "[004] 4.4, (5)",
        construct: Construct::Error,
        form: Form::Label,
        author: Author::Augmentation,
        of_control: false,
    }
    /// Each definition of a variable reaches one of its uses without another definition in between.
    AllDefs {
        name: "all-defs",
        about: "every definition with one of its uses",
        source: "[002] III-B and V-D2",
        construct: Construct::DefUse(Flow { asks: FlowDemand::Definitions, cells: false }),
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: false,
    }
    /// Each definition of a variable reaches each use that it can reach, in whatever function.
    AllUses {
        name: "all-uses",
        about: "every definition with each of its uses",
        source: "[001] 2; [002] Example 3",
        construct: Construct::DefUse(Flow { asks: FlowDemand::Uses, cells: false }),
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: false,
    }
    /// Control takes each path from a definition to a use in the same function that passes no node
    /// twice and no other definition.
    AllDuPaths {
        name: "all-du-paths",
        about: "every simple path from a definition to a use",
        source: "[002] III-B and V-D3",
        construct: Construct::DefUse(Flow { asks: FlowDemand::Paths, cells: false }),
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: false,
    }
    /// ALL-DEFS, where a definition and a use of an array go together if they are of one cell.
    AllDefsCells {
        name: "all-defs-cells",
        about: "as all-defs, cells of arrays told apart",
        source: "[002] V-D2",
        construct: Construct::DefUse(Flow { asks: FlowDemand::Definitions, cells: true }),
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: false,
    }
    /// ALL-USES, where a definition and a use of an array go together if they are of one cell.
    AllUsesCells {
        name: "all-uses-cells",
        about: "as all-uses, cells of arrays told apart",
        source: "[002] V-D2",
        construct: Construct::DefUse(Flow { asks: FlowDemand::Uses, cells: true }),
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: false,
    }
    /// ALL-DU-PATHS, where a definition and a use of an array go together if they are of one cell.
    AllDuPathsCells {
        name: "all-du-paths-cells",
        about: "as all-du-paths, cells of arrays told apart",
        source: "[002] V-D2",
        construct: Construct::DefUse(Flow { asks: FlowDemand::Paths, cells: true }),
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: false,
    }
    /// Control takes each two edges of the graph that follow one another.
    Epc {
        name: "epc",
        about: "every pair of edges",
        source: "[002] III-B and V-D3",
        construct: Construct::Path,
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: false,
    }
    /// Control takes each prime path: a path that passes no node twice, but that may end where it
    /// began, and that is no part of another such path.
    Ppc {
        name: "ppc",
        about: "every prime path",
        source: "[002] III-B and V-D3",
        construct: Construct::Path,
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: false,
    }
    /// Control takes one prime round trip (a prime path that ends where it began) of each node that
    /// has any.
    Srtc {
        name: "srtc",
        about: "one prime round trip of each node",
        source: "[002] III-B and V-D3",
        construct: Construct::Path,
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: false,
    }
    /// Control takes all prime round trips of each node.
    Crtc {
        name: "crtc",
        about: "all prime round trips of each node",
        source: "[002] III-B and V-D3",
        construct: Construct::Path,
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: false,
    }
    /// Control takes each path of a basis, of which all complete paths are linear combinations
    /// (McCabe).
    Bpc {
        name: "bpc",
        about: "a basis of the complete paths (McCabe)",
        source: "[002] III-B",
        construct: Construct::Path,
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: false,
    }
    /// Control takes each path from a function's entry to an exit that passes no node again more
    /// often than a limit says.
    Cpc {
        name: "cpc",
        about: "every complete path, loops turned up to a limit",
        source: "[002] III-B and V-D3",
        construct: Construct::Path,
        form: Form::Hyperlabel,
        author: Author::Program,
        of_control: false,
    }
    /// Control takes each path that the user lists.
    Spc {
        name: "spc",
        about: "paths that you list (--htol)",
        source: "[002] III-B and V-D3",
        construct: Construct::Path,
        form: Form::Hyperlabel,
        author: Author::HtolFile,
        of_control: false,
    }
    /// The predicate of each label that the user wrote into the source is true at its place.
    User {
        name: "user",
        about: "labels that you wrote into the source",
        source: "[000] III-A; [002] III-C",
        construct: Construct::Written,
        form: Form::Label,
        author: Author::SourceLabel,
        of_control: true,
    }
    /// Each hyperlabel that the user wrote is covered.
    Htol {
        name: "htol",
        about: "hyperlabels that you wrote (--htol)",
        source: "[002] V",
        construct: Construct::Written,
        form: Form::Hyperlabel,
        author: Author::HtolFile,
        of_control: true,
    }
}
