//! Preprocess, run clang, decode its AST, lower to the IR, keep the source map.
