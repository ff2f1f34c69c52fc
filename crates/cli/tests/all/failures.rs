//! Programs and machines that get in the way.

mod confined;
mod seeing_inside;
mod when_things_go_wrong;
