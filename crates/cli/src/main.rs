//! The `lydian` command.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the crate that prints")]

mod args;
mod exit;
mod interrupt;
mod render;
mod table;

fn main() {}
