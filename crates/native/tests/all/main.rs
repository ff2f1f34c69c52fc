//! C programs that are instrumented, compiled and run.

mod common;
mod data_flow;
mod devices;
mod global_flow;
mod paths;
mod programs;
mod rewrite;
mod runner;
mod sequences;
mod undefined_functions;
