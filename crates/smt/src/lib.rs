//! Hash-consed bit-vector, float and array terms, named rewrites, and solvers.
//!
//! - [`TermPool`] owns terms and makes them by smart constructors; [`RULES`] lists the rewrites
//!   that these apply.
//! - [`Evaluator`] gives the value of a term in a [`Model`].
//! - [`Solver`] decides whether terms can hold together.
//!
//! This crate knows nothing of programs: no IR, no C.

mod analysis;
mod bitblast;
mod decorators;
mod solver;
mod terms;
#[cfg(test)]
mod testing;
mod text;
mod z3;

pub use analysis::given::SimplifiedTerm;
pub use bitblast::{BitBlastSolver, BlastStatistics, RebuildPolicy, SatBackend};
pub use decorators::{
    Branching, Caching, ChainConfig, CrossCheck, Fallback, IndependentSlices, LinearRefutation,
    LogTarget, Logging, ModelRepair, ModelReuse, Narrowing, QueryLog, Z3Use, standard_chain,
};
pub use solver::{Answer, Limits, Reason, Solver, Subject, Theory};
pub use terms::eval::Evaluator;
pub use terms::pool::{MARK, TermPool};
pub use terms::portable::{PortableTerms, Structures};
pub use terms::rules::{RULES, Rule, RuleEntry};
pub use terms::semantics::{odd_inverse, ones};
pub use terms::sort::{FloatSort, MAX_WIDTH, RoundingMode, Sort};
pub use terms::term::{BinOp, Node, Term, UnOp};
pub use terms::value::{ArrayValue, Model, Value};
pub use terms::wide::Wide;
pub use text::show::TermText;
pub use z3::{Z3Mode, Z3Solver};
