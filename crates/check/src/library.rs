//! Functions without a body whose effects the check knows, by their names.

use std::collections::BTreeSet;

use lydian_ir::{Callee, Expr, FuncId, Function, Linkage, Program, Stmt};

/// The effect of a call that is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The run ends.
    End,
    /// The run ends where the argument is false.
    Assume,
    /// As `Assume`, and the goal is reached where the argument is false.
    Assert,
    /// It gives any value and does nothing else.
    Value,
    /// It gives its first argument.
    First,
    /// It gives the magnitude of its argument.
    Magnitude,
    /// It makes a block of the size that its last argument, or the product of both, says.
    Malloc,
    /// As `Malloc`, of zeros.
    Calloc,
    /// As `Malloc`, with any contents.
    Realloc,
    /// It copies bytes.
    Copy,
    /// It sets bytes.
    Fill,
    /// Nothing is known.
    Unknown,
}

const ERRORS: [&str; 4] = ["reach_error", "__VERIFIER_error", "__assert_fail", "__assert"];

const EFFECTS: [(&str, Effect); 44] = [
    ("abort", Effect::End),
    ("exit", Effect::End),
    ("_exit", Effect::End),
    ("_Exit", Effect::End),
    ("quick_exit", Effect::End),
    ("__builtin_unreachable", Effect::End),
    ("__builtin_trap", Effect::End),
    ("__builtin_abort", Effect::End),
    ("__VERIFIER_assume", Effect::Assume),
    ("__CPROVER_assume", Effect::Assume),
    ("__builtin_assume", Effect::Assume),
    ("__VERIFIER_assert", Effect::Assert),
    ("__CPROVER_assert", Effect::Assert),
    ("__builtin_expect", Effect::First),
    ("abs", Effect::Magnitude),
    ("labs", Effect::Magnitude),
    ("llabs", Effect::Magnitude),
    ("malloc", Effect::Malloc),
    ("calloc", Effect::Calloc),
    ("realloc", Effect::Realloc),
    ("free", Effect::Value),
    ("memcpy", Effect::Copy),
    ("memmove", Effect::Copy),
    ("__builtin_memcpy", Effect::Copy),
    ("__builtin_memmove", Effect::Copy),
    ("memset", Effect::Fill),
    ("__builtin_memset", Effect::Fill),
    ("printf", Effect::Value),
    ("puts", Effect::Value),
    ("putchar", Effect::Value),
    ("strlen", Effect::Value),
    ("strcmp", Effect::Value),
    ("strncmp", Effect::Value),
    ("memcmp", Effect::Value),
    ("isdigit", Effect::Value),
    ("isalpha", Effect::Value),
    ("isspace", Effect::Value),
    ("toupper", Effect::Value),
    ("tolower", Effect::Value),
    ("rand", Effect::Value),
    ("random", Effect::Value),
    ("atoi", Effect::Value),
    ("getchar", Effect::Value),
    ("time", Effect::Unknown),
];

/// The functions after which a run goes on elsewhere, or beside itself.
const ELSEWHERE: [&str; 17] = [
    "pthread_create",
    "thrd_create",
    "fork",
    "vfork",
    "signal",
    "sigaction",
    "bsd_signal",
    "sigset",
    "makecontext",
    "swapcontext",
    "setcontext",
    "timer_create",
    "setjmp",
    "_setjmp",
    "sigsetjmp",
    "longjmp",
    "siglongjmp",
];

/// Whether the effect of a function follows from its name: it has no body, or is of a library for
/// programs that leave it undefined.
fn is_by_name(function: &Function) -> bool {
    (function.body.is_none() || function.library) && !is_left_out(function)
}

/// Whether it is one of the program's functions whose body was not understood.
pub(crate) fn is_left_out(function: &Function) -> bool {
    function.body.is_none() && function.linkage == Linkage::Internal && !function.system
}

/// The effect of a call of a function that is not followed.
pub(crate) fn effect_of(program: &Program, callee: FuncId) -> Effect {
    let function = &program.functions[callee];
    let name = function.name.as_str();
    if !is_by_name(function) {
        return Effect::Unknown;
    }
    if ERRORS.contains(&name) {
        return Effect::End;
    }
    let gives_input = name.starts_with("__VERIFIER_nondet_") || name.starts_with("nondet_");
    if gives_input && !gives_pointer(program, callee) {
        return Effect::Value;
    }
    let known = EFFECTS.iter().find(|(known, _)| *known == name);
    known.map_or(Effect::Unknown, |(_, effect)| *effect)
}

fn gives_pointer(program: &Program, callee: FuncId) -> bool {
    let lydian_ir::CType::Function { result, .. } = program.types.get(program.functions[callee].ty)
    else {
        return true;
    };
    program.types.is_aggregate(*result)
        || program.types.scalar(*result) == Some(lydian_ir::Type::Ptr)
}

/// Whether control may go on elsewhere after a call of this function.
pub(crate) fn goes_elsewhere(function: &Function) -> bool {
    is_by_name(function) && ELSEWHERE.contains(&function.name.as_str())
}

/// The functions that a call of one may run: those that are called by name or whose address is taken in
/// what it runs, and all whose address is taken once a call goes through a pointer or to code that is
/// not known.
pub(crate) fn may_run(program: &Program, from: &[FuncId]) -> BTreeSet<FuncId> {
    let mut found = BTreeSet::new();
    let mut waiting = from.to_vec();
    while let Some(function) = waiting.pop() {
        if !found.insert(function) {
            continue;
        }
        let content = &program.functions[function];
        if is_left_out(content) {
            waiting.extend(program.functions.ids());
        }
        let Some(body) = &content.body else {
            if effect_of(program, function) == Effect::Unknown {
                waiting.extend(program.addressed_functions());
            }
            continue;
        };
        for stmt in body.stmts.values() {
            match stmt {
                Stmt::Call { callee: Callee::Direct(callee), .. } => waiting.push(*callee),
                Stmt::Call { callee: Callee::Indirect(_), .. } => {
                    waiting.extend(program.addressed_functions());
                }
                _ => {}
            }
        }
        waiting.extend(body.exprs.values().filter_map(|expr| match expr {
            Expr::AddrFunc(function) => Some(*function),
            _ => None,
        }));
    }
    found
}
