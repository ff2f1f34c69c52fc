//! The code that a program leaves to others, as far as proofs need to know of it.

use lydian_ir::libc::{AllocationFn, LibFn, library_function};
use lydian_ir::{Callee, FuncId, Function, Program, Stmt};
use lydian_prove::call_graph::may_be_entered;

use super::Project;

/// Whether runs may call a function that is neither the program's nor the system's: one that it names, or
/// one that it gets as an input.
pub(crate) fn calls_what_is_undefined(project: &Project, entry: FuncId) -> bool {
    let functions = &project.program.functions;
    let is_by_pointer =
        |stmt: &Stmt| matches!(stmt, Stmt::Call { callee: Callee::Indirect(_), .. });
    let is_undefined = |function: &Function| match &function.body {
        Some(body) => body.stmts.values().any(is_by_pointer),
        None => !function.system,
    };
    may_be_entered(&project.program, entry)
        .iter()
        .any(|function| is_undefined(&functions[*function]))
}

/// Whether runs may allocate memory.
pub(crate) fn allocates(program: &Program, entry: FuncId) -> bool {
    let is_allocation = |name: &str| {
        let model = library_function(name).and_then(|known| known.model());
        model.is_some_and(|model| match model.function {
            LibFn::Allocation(function) => function != AllocationFn::Free,
            _ => false,
        })
    };
    let entered = may_be_entered(program, entry);
    entered.iter().any(|function| is_allocation(&program.functions[*function].name))
}
