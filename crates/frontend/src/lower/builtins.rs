//! The builtins of compilers.

pub(super) mod atomic;
pub(super) mod builtin;
pub(super) mod builtin_values;
pub(super) mod float_tests;
pub(super) mod sse;
pub(super) mod variadic;
pub(super) mod vector_builtin;
pub(super) mod wide_overflow;
