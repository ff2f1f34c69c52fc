//! Facts that follow from the program's text and the options alone.

pub(crate) mod context;
pub(crate) mod control_flow;
pub(crate) mod site;
pub(crate) mod static_values;
