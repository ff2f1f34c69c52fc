//! Boolean expressions: decisions with their conditions, and choices.

pub(super) mod boolean;
pub(super) mod computed;
pub(super) mod conditional;
pub(super) mod decision;
