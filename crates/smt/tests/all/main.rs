//! The solvers, against each other and against the evaluator.

mod differential;
mod muldiv;
mod random;
mod smtlib_log;
