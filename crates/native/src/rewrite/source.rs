//! Questions about the user's code: what a text or an expression contains.

pub(crate) mod bit_fields;
pub(crate) mod calls;
pub(crate) mod scan;
