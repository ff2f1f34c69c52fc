//! The rules by their numbers, and what a check collects.

use std::fmt;

use crate::program::function::Body;
use crate::program::{FuncId, Program};

/// A rule by its number in the list of [`crate::verify`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "each is the rule of that number in the list of `verify`")]
pub enum Rule {
    Ids = 1,
    Names = 2,
    Initialisers = 3,
    Locals = 4,
    OperandsFirst = 5,
    Constants = 6,
    OperandTypes = 7,
    RegistersAndMemory = 8,
    Members = 9,
    VolatileLoads = 10,
    OneBlock = 11,
    Entry = 12,
    StatementTypes = 13,
    Calls = 14,
    Lifetimes = 15,
    Sizes = 16,
    Branches = 17,
    Returns = 18,
    Trees = 19,
    Origins = 20,
    Purity = 21,
    Source = 22,
    Variadic = 23,
    Choices = 24,
}

/// Where and how a rule is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which rule.
    pub rule: Rule,
    /// In which function; `None` for types and globals.
    pub function: Option<FuncId>,
    /// The message, with the ids as the text form writes them.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {}: ", self.rule as u8)?;
        if let Some(function) = self.function {
            write!(f, "{function}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// The body that is checked, with the tables that its rules need.
pub(super) struct BodyContext<'a> {
    pub(super) program: &'a Program,
    pub(super) function: FuncId,
    pub(super) body: &'a Body,
    pub(super) types: &'a lydian_base::SideTable<crate::ExprId, crate::Type>,
}

/// Collects violations.
pub(super) struct Violations {
    pub(super) function: Option<FuncId>,
    pub(super) violations: Vec<Violation>,
}

impl Violations {
    pub(super) fn add(&mut self, rule: Rule, message: impl Into<String>) {
        let function = self.function;
        self.violations.push(Violation { rule, function, message: message.into() });
    }

    /// Reports `message` unless `holds`; returns `holds`.
    pub(super) fn require(
        &mut self,
        holds: bool,
        rule: Rule,
        message: impl FnOnce() -> String,
    ) -> bool {
        if !holds {
            self.add(rule, message());
        }
        holds
    }
}
