//! Preprocess, run clang, decode its AST, lower to the IR, keep the source map.

pub mod ast;
pub mod clang;
pub mod compile_commands;
pub mod ctypes;
mod decode;
pub mod flags;
mod layout;
mod parse;
pub mod preprocess;

pub use parse::{FrontendError, ParseRequest, ParsedUnit, parse_unit};
