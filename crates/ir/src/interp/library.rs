//! The models of library functions, which the interpreter applies instead of running their code.

pub(super) mod builtins;
pub(super) mod character;
mod float_parts;
mod jumps;
pub(super) mod math;
pub(super) mod models;
mod strings;
