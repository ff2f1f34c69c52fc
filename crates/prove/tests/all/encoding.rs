//! Encoded programs: their systems, run step by step, do what the interpreter does.

mod against_the_interpreter;
pub(crate) mod common;
mod labels;
mod random_programs;
mod shapes;
mod under_test;
