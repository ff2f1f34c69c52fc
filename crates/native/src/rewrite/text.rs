//! The text of a unit: the tree of its edits, the declarations before it, and edits that need no
//! watched function.

pub(crate) mod prelude;
pub(crate) mod storage;
pub(crate) mod tree;
pub(crate) mod user_labels;
