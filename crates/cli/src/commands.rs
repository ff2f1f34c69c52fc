//! The commands, one module each.

pub(crate) mod cc;
pub(crate) mod check;
pub(crate) mod cover;
pub(crate) mod diff;
pub(crate) mod explain;
pub(crate) mod gen_tests;
pub(crate) mod init;
pub(crate) mod mark;
pub(crate) mod mutate;
pub(crate) mod objectives;
mod old_version;
pub(crate) mod prove;
mod prove_objectives;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod show_ir;
pub(crate) mod tests;
pub(crate) mod trace;
