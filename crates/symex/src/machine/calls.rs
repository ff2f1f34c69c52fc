//! Calls: of the program's functions, of undefined functions, further calls of the function under
//! test, and `longjmp`.

pub(crate) mod call_site;
pub(crate) mod execution;
pub(crate) mod first_run;
pub(crate) mod further_calls;
pub(crate) mod jump;
pub(crate) mod second_run;
pub(crate) mod stack;
pub(crate) mod statics;
