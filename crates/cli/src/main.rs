//! The `lydian` command.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the crate that prints")]

mod args;
mod commands;
mod config;
mod counting;
mod exit;
mod interrupt;
mod ledger;
mod load;
mod measure;
mod objectives;
mod output;
mod progress;
mod render;
mod session;
mod suite;
mod table;
mod units;

use clap::Parser as _;

use args::{Cli, Command};
use commands::{cover, gen_tests, init, objectives as list, show_ir};

fn main() -> std::process::ExitCode {
    let result = match &Cli::parse().command {
        Command::Gen(args) => gen_tests::run(args),
        Command::Cover(args) => cover::run(args),
        Command::Objectives(args) => list::run(args),
        Command::Init(args) => init::run(args),
        Command::Ir(args) => show_ir::run(args),
    };
    let code = result.unwrap_or_else(|failure| {
        render::diagnostics(&failure.diagnostics);
        failure.code
    });
    std::process::ExitCode::from(code as u8)
}
