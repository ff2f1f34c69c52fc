//! Lowering: from clang's tree to the IR, decisions kept.
//!
//! [`lower`] makes a [`lydian_ir::Program`] of a [`crate::ast::TranslationUnit`]. A function in which
//! something is not supported is left without a body, with a diagnostic that says what and where; the
//! others go on.
//!
//! How an expression becomes a pure one:
//! - Effects are hoisted in front of the statement that needs their value, in clang's order: the
//!   operands from left to right; for a scalar assignment the right side, then the address on the
//!   left. A left operand that a later effect could change is kept in a temporary first.
//! - Boolean expressions that are decisions become branches (`decisions`); everything
//!   else stays one expression, so that objectives about values see what the user wrote.
//! - What had to be kept in a temporary is noted as a capture of the text that it stands for
//!   (`expressions::roots`).

mod builder;
mod builtins;
mod constant;
mod decisions;
mod expressions;
mod function;
mod module;
mod options;
mod outcome;
mod simplify;
mod statements;
mod static_init;
mod types;
mod unit;

pub use options::{LoweringOptions, ValueDecisions};
pub use outcome::{LoweredUnit, UnsupportedConstruct};
pub use unit::lower;
