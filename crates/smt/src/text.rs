//! Terms as text: SMT-LIB for other solvers, and a short form for messages.

pub(crate) mod show;
pub(crate) mod smtlib;
