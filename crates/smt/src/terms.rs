//! Terms: their sorts and values, the pool that owns them, their construction with rewrites, and their
//! evaluation. No solver is used here.
//!
//! A term is an id into its [`pool`]. The modules of `build` add one smart constructor for each
//! operator to the pool, and [`rules`] is the table of the rewrites that these apply. [`semantics`] says
//! what each operator computes.

mod build;
pub(crate) mod eval;
pub(crate) mod float_ops;
pub(crate) mod pool;
pub(crate) mod portable;
mod rebuild;
pub(crate) mod rules;
pub(crate) mod semantics;
pub(crate) mod sort;
pub(crate) mod term;
pub(crate) mod value;
pub(crate) mod wide;
