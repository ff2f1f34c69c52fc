//! Monitors of sequences: bits, or sets of environments where bound values matter.

pub(crate) mod environments;
pub(crate) mod monitors;
pub(crate) mod site;
pub(crate) mod values;
