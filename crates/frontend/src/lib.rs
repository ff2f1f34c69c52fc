//! Preprocess, run clang, decode its AST, lower to the IR, keep the source map.

pub mod ast;
pub mod clang;
pub mod compile_commands;
pub mod ctypes;
mod decode;
pub mod flags;
mod gnu;
mod layout;
mod load;
pub mod lower;
mod parse;
pub mod preprocess;
mod unused;

pub use load::{LoadRequest, Unit, load, load_all};
pub use parse::{Dump, FrontendError, ParseRequest, ParsedUnit, parse_unit};
