//! Programs and machines that get in the way.

mod confined;
mod when_things_go_wrong;
