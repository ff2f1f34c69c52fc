//! Criteria of control flow: functions, calls, statements, branches, loops and paths.

pub(super) mod blocks;
pub mod calls;
pub mod loops;
pub(super) mod paths;
