//! Hash-consed bit-vector, float and array terms, named rewrites, and solvers.
//!
//! - [`TermPool`] owns terms and makes them by smart constructors; [`RULES`] lists the rewrites
//!   that these apply.
//! - [`Evaluator`] gives the value of a term in a [`Model`].
//! - [`Solver`] decides whether terms can hold together.
//!
//! This crate knows nothing of programs: no IR, no C.

mod aig;
mod bitblast;
mod blast;
mod bounds;
mod build_arith;
mod build_array;
mod build_bits;
mod build_bool;
mod build_float;
mod decorators;
mod eval;
mod float_blast;
mod float_ops;
mod gates_arith;
mod given;
mod inversion;
mod linear;
mod pool;
mod portable;
mod rebuild;
mod rules;
mod sat;
mod semantics;
mod show;
mod smtlib;
mod solver;
mod sort;
mod term;
#[cfg(test)]
mod testing;
mod value;
mod wide;
mod z3;

pub use bitblast::{BitBlastSolver, BlastStatistics, RebuildPolicy};
pub use decorators::{
    Caching, ChainConfig, CrossCheck, Fallback, IndependentSlices, LinearRefutation, LogTarget,
    Logging, ModelRepair, ModelReuse, Narrowing, QueryLog, Z3Use, standard_chain,
};
pub use eval::Evaluator;
pub use given::Given;
pub use pool::{MARK, TermPool};
pub use portable::{PortableTerms, Structures};
pub use rules::{RULES, Rule, RuleEntry};
pub use sat::SatBackend;
pub use show::Shown;
pub use solver::{Answer, Limits, Reason, Solver, Subject, Theory};
pub use sort::{FloatSort, MAX_WIDTH, RoundingMode, Sort};
pub use term::{BinOp, Node, Term, UnOp};
pub use value::{ArrayValue, Model, Value};
pub use wide::Wide;
pub use z3::{Z3Mode, Z3Solver};
