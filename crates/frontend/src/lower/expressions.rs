//! Values, places and the effects of expressions.

pub(super) mod aggregate;
pub(super) mod assign;
pub(super) mod call;
pub(super) mod complex;
pub(super) mod convert;
pub(super) mod effects_of;
pub(super) mod half;
pub(super) mod lvalue;
pub(super) mod roots;
pub(super) mod rvalue;
pub(super) mod vector;
