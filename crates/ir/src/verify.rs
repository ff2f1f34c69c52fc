//! Checks that a program follows the IR's rules. Runs after lowering and in tests; every other
//! crate may rely on a program that [`verify`] has nothing to say about.
//!
//! # Rules
//! The numbers are those of [`Rule`].
//!
//! Ids and shapes:
//! 1. Every id names something that is there. (Where a body breaks this rule, the others are not
//!    checked for it.)
//! 2. No two functions and no two globals have one name; a function's type is a function type.
//! 3. Initial contents of a global lie inside it, without overlap; its alignment is a power of two.
//! 4. Parameters are as many as the function's type has, each a different local of kind `Param`;
//!    a register has the machine type of its C type (a temporary may be an `i1`); a parameter in
//!    memory is as large as its type; alignments are powers of two.
//!
//! Expressions:
//! 5. Operands come before their users.
//! 6. Integers have 1, 8, 16, 32, 64 or 128 bits; constants fit their type.
//! 7. Operands have the types that their operator is for, and the result has the type that is
//!    written. On an `i1` there are only `not`, `and`, `or`, `xor`, comparisons and casts.
//! 8. Registers are read, memory locals have addresses; never the other way round.
//! 9. A member that is named exists and is no bit-field; a bit-field is one of its record's, at the
//!    place and of the width that the record gives.
//! 10. A volatile load is the whole value of one assignment to a temporary and used nowhere else.
//!
//! Statements and blocks:
//! 11. Every statement is in exactly one block.
//! 12. No edge leads to the entry.
//! 13. A value that is assigned, stored or set has the type of its destination; addresses are addresses.
//! 14. A call passes as many arguments as its function takes (more only to a variadic one), each
//!     with the machine type of its C type, or an address for a struct or union; a result goes to a
//!     register of its type, or to an address for a struct or union.
//! 15. Only memory locals that are no parameters are entered and left.
//! 16. Copies, zeroing and places of unknown contents are of at least one byte; what is made on
//!     the stack is aligned to a power of two.
//! 17. A branch tests an `i1`; a switch has an integer, and its cases are disjoint and not empty.
//! 18. A returned value has the type of the function's result.
//!
//! Decisions:
//! 19. A decision's tree has each of its conditions exactly once; conditions are `i1`s.
//! 20. The branches of a decision agree with its tree. A branch that begins an evaluation is of the
//!     condition that the tree asks for first. On every path from there each branch of the decision
//!     is of the condition that the tree asks for next, given the values that the path took; an
//!     edge ends the decision exactly if the tree asks for nothing more, and then with the tree's
//!     value. Every other branch of the decision that control can reach is reached only so.
//! 21. A condition that is called pure cannot trap ([`crate::trap::may_trap`]), nor what it always
//!     is where it is not reached.
//!
//! Source tables:
//! 22. Marks, sites and roots refer to things that exist; a root's expression has the type of its
//!     kind (`ptr` for an address, `i1` for a condition); captures are registers.
//!
//! Variable arguments:
//! 23. Only a variadic function begins to read variable arguments.
//!
//! Choices:
//! 24. No statement and no terminator evaluates a choice ([`crate::Expr::Select`]).

use std::fmt;

use crate::program::function::Body;
use crate::program::{FuncId, Program};

mod calls;
mod decisions;
mod exprs;
mod ids;
mod program;
mod stmts;

/// A rule by its number in the module's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "each is the rule of that number in the module's list")]
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

/// Everything in the program that breaks a rule, in the order of the program. Never panics.
pub fn verify(program: &Program) -> Vec<Violation> {
    let mut found = Violations { function: None, violations: Vec::new() };
    if !ids::of_program(program, &mut found) {
        return found.violations;
    }
    program::check(program, &mut found);
    for (id, function) in program.functions.iter() {
        if let Some(body) = &function.body {
            found.function = Some(id);
            check_body(program, id, body, &mut found);
        }
    }
    found.violations
}

/// Everything in one body that breaks a rule.
pub fn verify_body(program: &Program, function: FuncId, body: &Body) -> Vec<Violation> {
    let mut found = Violations { function: Some(function), violations: Vec::new() };
    check_body(program, function, body, &mut found);
    found.violations
}

fn check_body(program: &Program, function: FuncId, body: &Body, found: &mut Violations) {
    if !ids::of_body(program, body, found) || !exprs::operands_first(body, found) {
        return;
    }
    let types = body.types_in(&body.exprs);
    let scope = BodyContext { program, function, body, types: &types };
    stmts::locals(&scope, found);
    exprs::check(&scope, found);
    stmts::check(&scope, found);
    decisions::check(&scope, found);
    stmts::source(&scope, found);
}

/// The body that is checked, with the tables that its rules need.
struct BodyContext<'a> {
    program: &'a Program,
    function: FuncId,
    body: &'a Body,
    types: &'a lydian_base::SideTable<crate::ExprId, crate::Type>,
}

/// Collects violations.
struct Violations {
    function: Option<FuncId>,
    violations: Vec<Violation>,
}

impl Violations {
    fn add(&mut self, rule: Rule, message: impl Into<String>) {
        let function = self.function;
        self.violations.push(Violation { rule, function, message: message.into() });
    }

    /// Reports `message` unless `holds`; returns `holds`.
    fn require(&mut self, holds: bool, rule: Rule, message: impl FnOnce() -> String) -> bool {
        if !holds {
            self.add(rule, message());
        }
        holds
    }
}

#[cfg(test)]
mod tests;
