//! The `lydian` command.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the crate that prints")]

mod args;
mod commands;
mod coverage_table;
mod exit;
mod guesses;
mod interrupt;
mod logging;
mod output;
mod progress;
mod render;
mod requests;
mod table;
mod tracing;

use clap::Parser as _;

use args::{Cli, Command};
use commands::{
    cc, check, cover, diff, explain, gen_tests, init, mark, mutate, objectives as list, prove,
    replay, report, run, show_ir, tests, trace,
};
use exit::ExitCode;
use lydian_frontend::clang::Clang;

fn main() -> std::process::ExitCode {
    let Cli { command, log } = Cli::parse_from(args::without_dependencies(std::env::args_os()));
    if let Err(failure) = logging::install(log.as_deref()) {
        render::diagnostics(&failure.diagnostics);
        return std::process::ExitCode::from(failure.code as u8);
    }
    if let (true, Ok(clang)) = (command.parses(), Clang::locate()) {
        clang.prepare();
    }
    let code = run(&command);
    lydian_process::finish();
    std::process::ExitCode::from(code)
}

fn run(command: &Command) -> u8 {
    let done = |code: ExitCode| code as u8;
    let result = match command {
        Command::Gen(args) => gen_tests::run(args).map(done),
        Command::Cover(args) => cover::run(args).map(done),
        Command::Objectives(args) => list::run(args).map(done),
        Command::Explain(args) => explain::run(args).map(done),
        Command::Init(args) => init::run(args).map(done),
        Command::Cc(args) => cc::run(args),
        Command::Ir(args) => show_ir::run(args).map(done),
        Command::Report(args) => report::run(args).map(done),
        Command::Tests(args) => tests::run(args).map(done),
        Command::Mark(args) => mark::run(args),
        Command::Mutate(args) => mutate::run(args).map(done),
        Command::Diff(args) => diff::run(args).map(done),
        Command::Trace(args) => trace::run(args).map(done),
        Command::Replay(args) => replay::run(args).map(done),
        Command::Check(args) => check::run(args).map(done),
        Command::Prove(args) => prove::run(args).map(done),
        Command::Run(args) => run::run(args).map(|status| status.code()),
    };
    result.unwrap_or_else(|failure| {
        render::diagnostics(&failure.diagnostics);
        failure.code as u8
    })
}
