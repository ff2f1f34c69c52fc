//! What follows from the program's text and from how it is explored.

pub(crate) mod context;
pub(crate) mod control_flow;
pub(crate) mod site;
pub(crate) mod static_values;
