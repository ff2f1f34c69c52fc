//! Lowering: from clang's tree to the IR, decisions kept.
//!
//! [`lower`] makes a [`Program`] of a [`TranslationUnit`]. A function in which something is not
//! supported is left without a body, with a diagnostic that says what and where; the others go on.
//!
//! How an expression becomes a pure one:
//! - Effects are hoisted in front of the statement that needs their value, in clang's order: the
//!   operands from left to right; for a scalar assignment the right side, then the address on the
//!   left. A left operand that a later effect could change is kept in a temporary first.
//! - Boolean expressions that are decisions become branches (`boolean`, `decision`); everything
//!   else stays one expression, so that objectives about values see what the user wrote.
//! - What had to be kept in a temporary is noted as a capture of the text that it stands for
//!   (`roots`).

mod aggregate;
mod assembly;
mod assign;
mod atomic;
mod boolean;
mod builder;
mod builtin;
mod builtin_values;
mod call;
mod complex;
mod computed;
mod conditional;
mod constant;
mod convert;
mod decision;
mod effects;
mod facts;
mod float_tests;
mod function;
mod gaps;
mod globals;
mod half;
mod init;
mod jump;
mod marks;
mod place;
mod roots;
mod rvalue;
mod simplify;
mod sse;
mod static_init;
mod stmt;
mod types;
mod user_label;
mod variadic;
mod vector;
mod vector_builtin;
mod vla;
mod wide_overflow;

use std::collections::BTreeMap;

use lydian_base::{Diagnostic, SourceMap, Span};
use lydian_ir::{FuncId, Program};
use serde::{Deserialize, Serialize};

use crate::ast::TranslationUnit;
use globals::Module;

/// Which Boolean expressions that are used as values, not tested, are decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueDecisions {
    /// Those with at least one `&&`, `||` or `!` in them.
    #[default]
    WithOperators,
    /// Lone comparisons too.
    All,
}

/// How to lower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoweringOptions {
    /// Which Boolean values are decisions.
    pub value_decisions: ValueDecisions,
    /// Whether functions in which something is not supported get outlines: bodies with all control flow
    /// and with nothing of what is not supported ([`Lowered::outlines`]). They are there to be measured,
    /// not to be run.
    pub outlines: bool,
}

/// What lowering gives.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// The translation unit.
    pub program: Program,
    /// What was left out (`unsupported-construct`), and ill-formed objectives of the user
    /// (`ill-formed-objective`).
    pub diagnostics: Vec<Diagnostic>,
    /// The functions whose bodies are outlines, each with what is not in it.
    pub outlines: BTreeMap<FuncId, Vec<Gap>>,
    /// The functions without a body though they are defined, each with the reason.
    pub left_out: BTreeMap<FuncId, Gap>,
}

/// A construct that is not supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// What it is, as a noun.
    pub what: String,
    /// Where it is.
    pub span: Span,
}

/// What a function is that another one defines.
const NESTED: &str = "a nested function";

/// A construct that has no meaning in the IR. Ends the lowering of one function or initialiser.
#[derive(Clone, Debug)]
pub(crate) struct Unsupported {
    /// What it is, as a noun: `inline assembly`.
    pub what: String,
    /// Where.
    pub span: Span,
}

impl Unsupported {
    pub(crate) fn new(what: impl Into<String>, span: Span) -> Self {
        Self { what: what.into(), span }
    }
}

/// The result of lowering a part of a function.
pub(crate) type Lowering<T> = Result<T, Unsupported>;

/// Bytes of stack for lowering: expressions and statements nest as deep as generated code likes.
/// Only what is used takes memory.
const STACK: usize = 1 << 30;

/// Lowers a translation unit. `source` is the text that its spans refer to.
pub fn lower(unit: &TranslationUnit, source: &SourceMap, options: LoweringOptions) -> Lowered {
    let run = || Module::new(unit, source, options).lower();
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("lowering".into()).stack_size(STACK);
        match builder.spawn_scoped(scope, run) {
            Ok(thread) => match thread.join() {
                Ok(lowered) => lowered,
                Err(panic) => std::panic::resume_unwind(panic),
            },
            // A system that grants no large stack still lowers what is not nested too deep.
            Err(_) => run(),
        }
    })
}
