//! Statements: control flow, declarations, marks.

pub(super) mod assembly;
pub(super) mod init;
pub(super) mod jump;
pub(super) mod marks;
pub(super) mod outline;
pub(super) mod stmt;
pub(super) mod user_label;
pub(super) mod vla;
