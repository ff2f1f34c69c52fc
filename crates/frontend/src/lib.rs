//! Preprocess, run clang, decode its AST, lower to the IR, keep the source map.

pub mod ast;
pub mod clang;
pub mod compile_commands;
pub mod ctypes;
pub mod flags;
pub mod preprocess;
