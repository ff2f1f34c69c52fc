//! The result of lowering, and the constructs that it leaves out.

use std::collections::{BTreeMap, BTreeSet};

use lydian_base::{Diagnostic, Span};
use lydian_ir::{FuncId, Program};

/// The result of lowering a translation unit.
#[derive(Clone, Debug, Default)]
pub struct LoweredUnit {
    /// The translation unit.
    pub program: Program,
    /// Constructs that were left out (`unsupported-construct`), and ill-formed objectives of the user
    /// (`ill-formed-objective`).
    pub diagnostics: Vec<Diagnostic>,
    /// The functions whose bodies are outlines, each with the parts that are left out.
    pub outlines: BTreeMap<FuncId, Vec<UnsupportedConstruct>>,
    /// The functions without a body though they are defined, each with the reason.
    pub left_out: BTreeMap<FuncId, UnsupportedConstruct>,
    /// The functions that access volatile bit-fields, structs or unions. The IR says of scalars alone
    /// which accesses are volatile.
    pub volatile_parts: BTreeSet<FuncId>,
}

/// The name of a function that another function defines.
pub(super) const NESTED: &str = "a nested function";

/// A construct that has no meaning in the IR. Ends the lowering of one function or initialiser, or is left
/// out of the outline of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedConstruct {
    /// Its name, a noun: `inline assembly`.
    pub what: String,
    /// Where it is.
    pub span: Span,
}

impl UnsupportedConstruct {
    pub(super) fn new(what: impl Into<String>, span: Span) -> Self {
        Self { what: what.into(), span }
    }
}

/// The result of lowering a part of a function.
pub(super) type Lowering<T> = Result<T, UnsupportedConstruct>;
