//! The inputs of a path: lazy objects, and the writes of undefined functions.

pub(crate) mod aliasing;
pub(crate) mod behind;
pub(crate) mod invariants;
pub(crate) mod lazy;
pub(crate) mod learning;
pub(crate) mod left_targets;
pub(crate) mod overwrites;
pub(crate) mod permitted;
pub(crate) mod places;
pub(crate) mod pointer_uses;
pub(crate) mod reachable;
pub(crate) mod writes;
