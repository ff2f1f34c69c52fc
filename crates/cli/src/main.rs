//! The `lydian` command.

fn main() {}
