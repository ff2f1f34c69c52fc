//! Functions without a body whose effects the check knows, by their names.

pub(crate) mod calls;

use std::collections::BTreeSet;

use lydian_ir::libc::{LibFn, library_function};
use lydian_ir::{Callee, Expr, FuncId, Function, Linkage, Program, Stmt, Type};

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

impl Effect {
    /// Whether it is that of a call with so many arguments.
    pub(crate) const fn suits(self, arguments: usize) -> bool {
        match self {
            Self::End | Self::Value | Self::Unknown => true,
            Self::Assume | Self::Assert | Self::First => arguments >= 1,
            Self::Magnitude | Self::Malloc => arguments == 1,
            Self::Calloc | Self::Realloc => arguments == 2,
            Self::Copy | Self::Fill => arguments == 3,
        }
    }
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

/// The functions after which a run goes on elsewhere, or beside itself: of threads, processes, signals
/// and contexts, without underscores before their names. Jumps are those of the library's models, and
/// these. Of the system's functions none but those that are known are taken to go on behind the call.
const ELSEWHERE: [&str; 34] = [
    "pthread_create",
    "thrd_create",
    "beginthread",
    "beginthreadex",
    "CreateThread",
    "clone",
    "clone2",
    "clone3",
    "fork",
    "vfork",
    "rfork",
    "forkpty",
    "signal",
    "ssignal",
    "sigaction",
    "sigvec",
    "sigset",
    "bsd_signal",
    "sysv_signal",
    "makecontext",
    "swapcontext",
    "setcontext",
    "getcontext",
    "timer_create",
    "mq_notify",
    "aio_read",
    "aio_write",
    "lio_listio",
    "setjmp",
    "sigsetjmp",
    "longjmp",
    "siglongjmp",
    "longjmp_chk",
    "syscall",
];

/// Whether the effect of a function follows from its name: it has no body, or is of a library for
/// programs that leave it undefined.
fn is_by_name(function: &Function) -> bool {
    (function.body.is_none() || function.library) && !is_left_out(function)
}

/// Whether the linker knows a function by a name that is not its own.
fn has_other_symbol(function: &Function) -> bool {
    function.symbol.as_ref().is_some_and(|symbol| *symbol != function.name)
}

/// Whether it is one of the program's functions whose body was not understood.
pub(crate) fn is_left_out(function: &Function) -> bool {
    function.body.is_none() && function.linkage == Linkage::Internal && !function.system
}

/// The effect of a call of a function that is not followed.
pub(crate) fn effect_of(program: &Program, callee: FuncId) -> Effect {
    let function = &program.functions[callee];
    let name = function.name.as_str();
    if !is_by_name(function) || has_other_symbol(function) {
        return Effect::Unknown;
    }
    if ERRORS.contains(&name) {
        return Effect::End;
    }
    let known = EFFECTS.iter().find(|(known, _)| *known == name).map(|(_, effect)| *effect);
    match known.or(gives_input(name).then_some(Effect::Value)) {
        Some(Effect::Value) if gives_pointer(program, callee) => Effect::Unknown,
        Some(effect) => effect,
        None => Effect::Unknown,
    }
}

/// Whether a function gives an input of the program.
pub(crate) fn gives_input(name: &str) -> bool {
    name.starts_with("__VERIFIER_nondet_") || name.starts_with("nondet_")
}

/// Whether a call of a function is an error, or one where its argument is false.
pub(crate) fn is_error(program: &Program, callee: FuncId) -> bool {
    let name = program.functions[callee].name.as_str();
    ERRORS.contains(&name) || effect_of(program, callee) == Effect::Assert
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
    let by_name = [Some(&function.name), function.symbol.as_ref()];
    is_by_name(function)
        && by_name.into_iter().flatten().any(|name| is_of_elsewhere(function, name))
}

/// The same of a function of this name.
fn is_of_elsewhere(function: &Function, name: &str) -> bool {
    let known = library_function(name);
    let model = known.and_then(|found| found.model());
    let jumps = model.is_some_and(|model| matches!(model.function, LibFn::Jump(_)));
    let plain = name.strip_prefix("__builtin_").unwrap_or(name).trim_start_matches('_');
    let is_known = known.is_some()
        || ERRORS.contains(&name)
        || gives_input(name)
        || EFFECTS.iter().any(|(effect, _)| *effect == name);
    let is_undefined = function.system && function.body.is_none();
    jumps || ELSEWHERE.contains(&plain) || (is_undefined && !is_known)
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
        let types = body.types_in(&body.exprs);
        for stmt in body.stmts.values() {
            match stmt {
                Stmt::Call { callee: Callee::Direct(callee), args, .. } => {
                    waiting.push(*callee);
                    let is_input = gives_input(&program.functions[*callee].name);
                    if is_input && args.iter().any(|arg| types[*arg] == Type::Ptr) {
                        waiting.extend(program.addressed_functions());
                    }
                }
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
