//! Calls: of the program's functions, of several runs, back by `longjmp`, and of functions that others define.

pub(crate) mod call_site;
pub(crate) mod execution;
pub(crate) mod further_calls;
pub(crate) mod jump;
pub(crate) mod stack;
pub(crate) mod statics;
