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

use crate::program::function::Body;
use crate::program::{FuncId, Program};

mod calls;
mod decisions;
mod exprs;
mod ids;
mod program;
mod stmts;
mod violation;

use violation::{BodyContext, Violations};
pub use violation::{Rule, Violation};

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

#[cfg(test)]
mod tests;
