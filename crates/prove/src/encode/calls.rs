//! The treatment of calls that are not inlined.

use std::collections::BTreeSet;

use lydian_ir::libc::{
    Effects, LibFn, Model, VerificationFn, gives_inputs, library_function_of, model_of,
};
use lydian_ir::outside::writes_nothing;
use lydian_ir::{CType, Callee, Expr, FuncId, Function, Program, Stmt};

/// The functions that make others run beside or between the program's statements, or go on elsewhere.
const ELSEWHERE: [&str; 12] = [
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
];

/// Functions without a body whose call is the error that a verifier looks for. Some programs define
/// them.
const ERRORS: [&str; 4] = ["reach_error", "__VERIFIER_error", "__assert_fail", "__assert"];

/// The treatment of a call of a function that is not followed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallEffect {
    /// By its model here.
    Model(&'static Model),
    /// It gives any value and does nothing else.
    Value,
    /// It gives any value, and does to the memory behind its arguments what is known of it.
    Known(Effects),
    /// Nothing is known.
    Unknown,
}

/// The treatment of a call of a function that is not followed.
pub(crate) fn effect_of(program: &Program, callee: FuncId) -> CallEffect {
    let function = &program.functions[callee];
    if let Some(model) = handled_model(program, function) {
        return CallEffect::Model(model);
    }
    if function.body.is_some() && !function.library {
        return CallEffect::Unknown;
    }
    if writes_nothing(&function.name) {
        return CallEffect::Value;
    }
    match library_function_of(function).and_then(|row| row.effects) {
        Some(effects) => CallEffect::Known(effects),
        None => CallEffect::Unknown,
    }
}

/// The model of a function of the library, if the encoding has it.
pub(crate) fn handled_model(program: &Program, function: &Function) -> Option<&'static Model> {
    if function.body.is_some() && !function.library {
        return None;
    }
    let model = model_of(&program.types, &function.name, function.ty)?;
    let is_handled = match model.function {
        LibFn::Verification(_)
        | LibFn::End(_)
        | LibFn::Integer(_)
        | LibFn::ExactMath(_)
        | LibFn::InexactMath(_)
        | LibFn::FloatTest(_)
        | LibFn::Overflow(_)
        | LibFn::Hint(_)
        | LibFn::Allocation(_)
        | LibFn::Memory(_) => true,
        LibFn::CharacterClass(_)
        | LibFn::Character(_)
        | LibFn::FloatParts(_)
        | LibFn::Environment(_)
        | LibFn::Jump(_) => function.body.is_none(),
    };
    is_handled.then_some(model)
}

/// Whether a call of this function is an error that is looked for.
pub(crate) fn is_error(function: &Function) -> bool {
    ERRORS.contains(&function.name.as_str())
}

/// Whether a call is an error where its argument is false, and the function has no body.
pub(crate) fn is_assertion(function: &Function) -> bool {
    function.body.is_none()
        && matches!(function.name.as_str(), "__VERIFIER_assert" | "__CPROVER_assert")
}

/// Whether each call of an undefined function is an input that tests list.
pub(crate) fn is_input(function: &Function) -> bool {
    function.body.is_none() && (gives_inputs(&function.name) || !function.system)
}

/// Whether a call has a model that ends the path whatever its arguments are.
pub(crate) fn is_final(model: &Model) -> bool {
    matches!(
        model.function,
        LibFn::End(_)
            | LibFn::Verification(
                VerificationFn::VerifierError
                    | VerificationFn::ReachError
                    | VerificationFn::KleeSilentExit
            )
    )
}

/// Why a program with calls of this function is not encoded; none if it is.
pub(crate) fn unsupported(program: &Program, callee: FuncId) -> Option<String> {
    let function = &program.functions[callee];
    if function.body.is_some() && !function.library {
        return None;
    }
    let jumps = model_of(&program.types, &function.name, function.ty)
        .is_some_and(|model| matches!(model.function, LibFn::Jump(_)));
    let is_elsewhere = ELSEWHERE.contains(&function.name.as_str());
    (jumps || is_elsewhere).then(|| format!("a call of {}", function.name))
}

/// Whether a function takes more arguments than its parameters.
pub(crate) fn is_variadic(program: &Program, function: &Function) -> bool {
    matches!(
        program.types.get(function.ty),
        CType::Function { variadic: true, params, .. } if !params.is_empty()
    )
}

/// The functions that a call of some functions may run, these included: those that they call, by name
/// or through a pointer. A call through a pointer may run any function whose address is taken.
pub(crate) fn may_run(
    program: &Program,
    from: impl IntoIterator<Item = FuncId>,
) -> BTreeSet<FuncId> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<FuncId> = from.into_iter().collect();
    while let Some(function) = waiting.pop() {
        let Some(body) = &program.functions[function].body else {
            found.insert(function);
            continue;
        };
        if !found.insert(function) {
            continue;
        }
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
