//! Annotators: from a function to the labels of each criterion.
//!
//! A criterion is a labelling function ([000] III-B). Each has an [`Annotator`], which adds
//! objectives (a site, a predicate and a name) in an order of its own. [`annotate`] gives each
//! objective its label, marks the duplicates within a criterion and lets criteria share labels.
//!
//! | criterion | objectives |
//! |---|---|
//! | `fc` | the function's entry |
//! | `fcc` | each function that is called by name: one of the calls ([`control_flow::calls`]) |
//! | `stmt` | each statement: its mark |
//! | `bbc` | each block, by what the text has first in it: a statement; a decision; a condition that evaluation may skip; an arm of `?:` |
//! | `bc` | each edge of a decision: each condition reached and true, reached and false; each edge of a `switch`, the implicit `default` too |
//! | `slo`, `elo`, `mlo` | each loop skipped, entered, entered more than once ([`control_flow::loops`]) |
//! | `dc` | each decision true, false |
//! | `cc` | each condition true, false |
//! | `dcc` | those of `dc`, then those of `cc`; a decision of one condition counts once |
//! | `mcc` | each combination of a decision's `n` conditions, 2^n of them |
//! | `gacc` | each condition true, false, while it decides the outcome |
//! | `gicc` | each condition true, false, while it does not decide the outcome, for each outcome |
//! | `cacc`, `racc` | each condition: a pair of evaluations that shows its independence ([`logic::clauses`]) |
//! | `ricc` | each condition, for each outcome: a pair of evaluations that shows it idle ([`logic::clauses`]) |
//! | `mcdc` | each condition: a pair of evaluations that do not mask it ([`logic::clauses`], [`crate::decision::masking`]) |
//! | `ic`, `utpc` | each implicant of a decision and of its negation: true; true alone ([`logic::implicants`]) |
//! | `cutpnfp` | each literal of each implicant: a pair of points ([`logic::implicants`]) |
//! | `bva` | each relational condition: at its border, just inside, just outside ([`values::boundary`]) |
//! | `wm` | each mutant ([`values::mutation`]) |
//! | `idc` | the classes of each parameter ([`values::domain`]) |
//! | `rte` | each run-time error that an expression can have ([`values::runtime`]) |
//! | `aug-boundary` | each relational condition: inside, on and outside of its border ([`augmentation::boundary`]) |
//! | `aug-mutation` | each mutant by the operators of [004] ([`augmentation::mutation`]) |
//! | `aug-logic` | each condition active and inactive, for each outcome ([`augmentation::logic`]) |
//! | `aug-errors` | each run-time error of an expression, and its absence ([`augmentation::errors`]) |
//! | `all-defs` | each definition that reaches a use, in whatever function: with one of them ([`crate::dataflow`]) |
//! | `all-uses` | each use with each definition that reaches it, in whatever function |
//! | `all-du-paths` | each pair of a local, and of a global within the function, by each simple path without another definition ([`crate::dataflow::DuPaths`]) |
//! | `all-defs-cells`, `all-uses-cells`, `all-du-paths-cells` | those of `all-defs`, `all-uses`, `all-du-paths`, but for arrays the pairs of their cells ([`crate::dataflow::cells`]) |
//! | `epc` | each two edges that follow one another ([`crate::paths`]) |
//! | `ppc` | each prime path |
//! | `srtc`, `crtc` | for each node with prime round trips: one of them, all of them |
//! | `bpc` | each path of a basis |
//! | `cpc` | each complete path, loops turned up to a limit |
//! | `spc` | each path that the user lists ([`crate::htol`]) |
//! | `user` | the labels that the user wrote |
//! | `htol` | the hyperlabels that the user wrote ([`crate::htol`]) |
//!
//! `context` has the function under annotation, where annotators leave drafts. `finish` makes
//! objectives of the drafts, and `text` shows them to the user. The other modules have the
//! annotators, by subject.

use indexmap::IndexMap;
use lydian_base::SourceMap;
use lydian_ir::{FuncId, Program};

use crate::criterion::Criterion;
use crate::dataflow::UnitFlows;
use crate::objectives::FunctionObjectives;
pub use context::{AnnotateError, Annotator, Context};
use control_flow::{blocks, calls, loops, paths};
pub use data_flow::variables::DefUseNames;
use data_flow::{cells, variables};
pub use finish::Annotation;
use logic::{clauses, decisions, implicants};
use program::ProgramContext;
pub use request::Request;
use values::{boundary, domain, mutation, runtime};
use written::references::add_first_labels;
use written::user;

mod augmentation;
pub(crate) mod context;
pub mod control_flow;
mod data_flow;
mod exprs;
mod finish;
pub mod logic;
pub(crate) mod program;
mod request;
#[cfg(test)]
mod tests;
mod text;
pub mod values;
mod written;

/// The annotator of a criterion.
pub const fn annotator_of(criterion: Criterion) -> &'static dyn Annotator {
    match criterion {
        Criterion::Fc => &blocks::FunctionCoverage,
        Criterion::Fcc => &calls::CallCoverage,
        Criterion::Stmt => &blocks::StatementCoverage,
        Criterion::Bbc => &blocks::BlockCoverage,
        Criterion::Bc => &blocks::BranchCoverage,
        Criterion::Slo => &loops::LoopsSkipped,
        Criterion::Elo => &loops::LoopsEntered,
        Criterion::Mlo => &loops::LoopsRepeated,
        Criterion::Dc => &decisions::DecisionCoverage,
        Criterion::Cc => &decisions::ConditionCoverage,
        Criterion::Dcc => &decisions::DecisionConditionCoverage,
        Criterion::Mcc => &decisions::MultipleConditionCoverage,
        Criterion::Gacc => &decisions::ActiveClauseCoverage,
        Criterion::Gicc => &decisions::InactiveClauseCoverage,
        Criterion::Cacc => &clauses::CorrelatedActiveClauses,
        Criterion::Racc => &clauses::RestrictedActiveClauses,
        Criterion::Ricc => &clauses::RestrictedInactiveClauses,
        Criterion::Mcdc => &clauses::MaskingConditions,
        Criterion::Ic => &implicants::ImplicantCoverage,
        Criterion::Utpc => &implicants::UniqueTruePoints,
        Criterion::Cutpnfp => &implicants::NearFalsePoints,
        Criterion::Bva => &boundary::BoundaryValues,
        Criterion::Wm => &mutation::WeakMutation,
        Criterion::Sm => &mutation::StrongMutation,
        Criterion::Idc => &domain::InputDomainCoverage,
        Criterion::Rte => &runtime::RuntimeErrorCoverage,
        Criterion::AugBoundary => &augmentation::boundary::AugmentedBoundaries,
        Criterion::AugMutation => &augmentation::mutation::AugmentedMutants,
        Criterion::AugLogic => &augmentation::logic::AugmentedClauses,
        Criterion::AugErrors => &augmentation::errors::AugmentedErrors,
        Criterion::AllDefs => &variables::AllDefinitions,
        Criterion::AllUses => &variables::AllUses,
        Criterion::AllDuPaths => &variables::AllDuPaths,
        Criterion::AllDefsCells => &cells::AllDefinitionsOfCells,
        Criterion::AllUsesCells => &cells::AllUsesOfCells,
        Criterion::AllDuPathsCells => &cells::AllDuPathsOfCells,
        Criterion::Epc => &paths::EdgePairs,
        Criterion::Ppc => &paths::PrimePaths,
        Criterion::Srtc => &paths::SimpleRoundTrips,
        Criterion::Crtc => &paths::CompleteRoundTrips,
        Criterion::Bpc => &paths::BasisPaths,
        Criterion::Cpc => &paths::CompletePaths,
        Criterion::Spc => &user::SpecifiedPaths,
        Criterion::User => &user::UserLabels,
        Criterion::Htol => &user::UserHyperlabels,
    }
}

/// Makes the objectives of one function for the criteria of a request: [`Annotators::function`], for
/// callers that want no other function's.
///
/// # Errors
/// A function without a body has no objectives.
pub fn annotate(
    program: &Program,
    map: &SourceMap,
    func: FuncId,
    request: &Request,
) -> Result<Annotation, AnnotateError> {
    Annotators::new(program, map, request).function(func)
}

/// Makes the objectives of a program's functions. Results that several functions need, such as the
/// data flow of globals, are computed once.
#[derive(Debug)]
pub struct Annotators<'a> {
    shared: ProgramContext<'a>,
}

impl<'a> Annotators<'a> {
    /// Prepares the functions of a program for a request. `map` is the text that the program was
    /// lowered from.
    pub fn new(program: &'a Program, map: &'a SourceMap, request: &'a Request) -> Self {
        Self { shared: ProgramContext::new(program, map, request) }
    }

    /// The same for the functions of the first of several units of a program. The texts of the units
    /// are the beginning of the whole text, each from an offset of `starts` on. Pairs of globals have
    /// at least one end in the first unit, and none in the text after `own`, which is a library.
    pub fn of_units(self, own: &'a SourceMap, starts: &'a [u32]) -> Self {
        Self { shared: self.shared.of_units(own, starts) }
    }

    /// The names of a function's definitions and uses of globals, as whole variables.
    ///
    /// # Errors
    /// A function without a body has none.
    pub fn def_use_names(&self, func: FuncId) -> Result<DefUseNames, AnnotateError> {
        Ok(DefUseNames::of(&Context::new(&self.shared, func)?))
    }

    /// The data flows that were computed, of the program and the text of the unit.
    pub fn into_flows(self) -> UnitFlows {
        self.shared.flows
    }

    /// The objectives of one function. Deterministic: equal arguments give equal results, and
    /// neither labels' keys nor their texts depend on which criteria are asked for.
    ///
    /// # Errors
    /// A function without a body has no objectives.
    pub fn function(&self, func: FuncId) -> Result<Annotation, AnnotateError> {
        let mut cx = Context::new(&self.shared, func)?;
        add_first_labels(&mut cx);
        let mut criteria = IndexMap::new();
        let mut hyper_criteria = IndexMap::new();
        for criterion in &self.shared.request.criteria {
            if criteria.contains_key(criterion) || hyper_criteria.contains_key(criterion) {
                continue;
            }
            annotator_of(*criterion).annotate(&mut cx);
            if criterion.is_hyper() {
                hyper_criteria.insert(*criterion, cx.hyper_entries());
            } else {
                criteria.insert(*criterion, cx.entries());
            }
        }
        Ok(cx.finish(criteria, hyper_criteria))
    }

    /// The labels of a function that hyperlabels of other functions name, under the numbers that
    /// these hyperlabels use. The function gets no objective of its own.
    ///
    /// # Errors
    /// A function without a body has no labels.
    pub fn labels_for_others(&self, func: FuncId) -> Result<FunctionObjectives, AnnotateError> {
        let mut cx = Context::new(&self.shared, func)?;
        add_first_labels(&mut cx);
        let criteria = self.shared.request.criteria.iter();
        let no_entries = criteria.map(|criterion| (*criterion, Vec::new()));
        Ok(cx.finish(no_entries.collect(), IndexMap::new()).objectives)
    }
}
