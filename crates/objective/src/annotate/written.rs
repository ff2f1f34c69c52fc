//! Objectives that the user wrote: labels in the program, hyperlabels and paths in `.htol` files and
//! comments.

mod paths;
mod points;
pub(super) mod references;
mod terms;
mod trees;
pub(super) mod user;
