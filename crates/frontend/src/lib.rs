//! Preprocess, run clang, decode its AST, lower to the IR, keep the source map.

pub mod ast;
pub mod ctypes;
