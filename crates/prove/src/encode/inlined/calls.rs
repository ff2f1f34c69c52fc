//! The treatment of calls that are not inlined.

use std::collections::BTreeSet;

use lydian_base::EntityId;
use lydian_ir::libc::{
    Effects, LibFn, Model, VerificationFn, gives_inputs, library_function_of, model_of,
};
use lydian_ir::outside::{CALLING_BESIDE, CALLING_LATER, writes_nothing};
use lydian_ir::{
    Body, CType, Callee, Expr, ExprId, FuncId, Function, GlobalId, Linkage, Program,
    RelocationTarget, Stmt, Type,
};

/// The functions that go on elsewhere, or twice.
const ELSEWHERE: [&str; 4] = ["fork", "vfork", "swapcontext", "setcontext"];

/// Functions without a body whose call is the error that a verifier looks for. Some programs define
/// them.
const ERRORS: [&str; 4] = ["reach_error", "__VERIFIER_error", "__assert_fail", "__assert"];

/// The builtins of the compiler that write to no memory, by the beginnings of their names. Of others that
/// have no model here it is not known.
const PURE_BUILTINS: [&str; 30] = [
    "__builtin_clrsb",
    "__builtin_clz",
    "__builtin_constant_p",
    "__builtin_copysign",
    "__builtin_cpu_",
    "__builtin_ctz",
    "__builtin_debugtrap",
    "__builtin_expect",
    "__builtin_extract_return_addr",
    "__builtin_fabs",
    "__builtin_ffs",
    "__builtin_flt_rounds",
    "__builtin_frame_address",
    "__builtin_huge_val",
    "__builtin_inf",
    "__builtin_is",
    "__builtin_nan",
    "__builtin_object_size",
    "__builtin_dynamic_object_size",
    "__builtin_parity",
    "__builtin_popcount",
    "__builtin_prefetch",
    "__builtin_readcyclecounter",
    "__builtin_return_address",
    "__builtin_rotate",
    "__builtin_signbit",
    "__builtin_bitreverse",
    "__builtin_bswap",
    "__builtin_trap",
    "__builtin_unreachable",
];

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
    if is_left_out(function) || calls_later(function) {
        return CallEffect::Unknown;
    }
    if let Some(model) = handled_model(program, function) {
        return CallEffect::Model(model);
    }
    if function.body.is_some() && !function.library {
        return CallEffect::Unknown;
    }
    if writes_nothing(&function.name) && !may_be_writing_builtin(&function.name) {
        return CallEffect::Value;
    }
    match library_function_of(function).and_then(|row| row.effects) {
        Some(effects) if !writes_further(program, function, effects) => CallEffect::Known(effects),
        Some(_) | None => CallEffect::Unknown,
    }
}

/// Whether a function of the library may write elsewhere than directly behind its arguments: behind
/// pointers that it kept from earlier calls, as `strtok` does, or behind those that it finds there, as
/// `strsep` does. Those that keep a pointer which they only read behind, as `strtol` in `*end`, do not.
fn writes_further(program: &Program, function: &Function, effects: Effects) -> bool {
    let leads_on = |at: usize| match program.types.get(function.ty) {
        CType::Function { params, variadic, .. } => match params.get(at) {
            Some(ty) => program.types.pointee(*ty).is_some_and(|pointee| {
                program.types.scalar(pointee) == Some(Type::Ptr)
                    || program.types.is_aggregate(pointee)
            }),
            None => params.is_empty() || !variadic,
        },
        _ => true,
    };
    let stores_kept = !effects.keeps.is_empty();
    let mut written = effects.writes.positions();
    written.any(|at| effects.keeps.contains(at) || !stores_kept && leads_on(at))
}

/// Whether a function keeps others, to call them when the program ends.
pub(crate) fn calls_later(function: &Function) -> bool {
    let is_systems = function.body.is_none() || function.library;
    is_systems && CALLING_LATER.contains(&function.name.as_str())
}

/// Whether a name is that of a builtin that may write to memory.
fn may_be_writing_builtin(name: &str) -> bool {
    let is_builtin = ["__builtin_", "__atomic_", "__sync_"].iter().any(|one| name.starts_with(one));
    is_builtin && !PURE_BUILTINS.iter().any(|pure| name.starts_with(pure))
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
pub fn is_error(function: &Function) -> bool {
    ERRORS.contains(&function.name.as_str())
}

/// Whether a call is an error where its argument is false, and the function has no body.
pub fn is_assertion(function: &Function) -> bool {
    function.body.is_none()
        && matches!(function.name.as_str(), "__VERIFIER_assert" | "__CPROVER_assert")
}

/// Whether a function is one of the program's whose body was not understood. It may do all that code of
/// the program can.
pub(crate) fn is_left_out(function: &Function) -> bool {
    function.body.is_none() && function.linkage == Linkage::Internal && !function.system
}

/// Whether each call of an undefined function is an input that tests list.
pub(crate) fn is_input(function: &Function) -> bool {
    function.body.is_none() && (gives_inputs(&function.name) || !function.system)
}

/// The functions of the program, which inputs of a function under test may point to.
pub(crate) fn named_functions(program: &Program) -> Vec<FuncId> {
    let defined = program.defined().filter(|(_, function)| !function.library);
    defined.map(|(id, _)| id).collect()
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
    let name = function.name.as_str();
    let is_elsewhere = ELSEWHERE.contains(&name) || CALLING_BESIDE.contains(&name);
    (jumps || is_elsewhere).then(|| format!("a call of {}", function.name))
}

/// Whether a function takes more arguments than its parameters.
pub(crate) fn is_variadic(program: &Program, function: &Function) -> bool {
    matches!(
        program.types.get(function.ty),
        CType::Function { variadic: true, params, .. } if !params.is_empty()
    )
}

/// The code of a program, as far as it matters what a call may run and which globals that knows.
#[derive(Debug)]
pub(crate) struct Code {
    /// The functions that each function calls by name, or whose address it takes.
    named: Vec<Vec<FuncId>>,
    /// Whether it calls through pointers.
    calls_pointers: Vec<bool>,
    /// The functions whose address is taken.
    addressed: Vec<FuncId>,
    /// The globals that each function's own code may name.
    globals: Vec<BTreeSet<GlobalId>>,
    /// The globals that code outside of the program may write to.
    known: BTreeSet<GlobalId>,
}

impl Code {
    pub(crate) fn new(program: &Program) -> Self {
        let known = known_globals(program);
        let mut code = Self {
            named: Vec::new(),
            calls_pointers: Vec::new(),
            addressed: program.addressed_functions().into_iter().collect(),
            globals: Vec::new(),
            known,
        };
        for function in program.functions.values() {
            let (mut named, mut globals, mut calls_pointers) =
                (BTreeSet::new(), BTreeSet::new(), false);
            if let Some(body) = &function.body {
                for stmt in body.stmts.values() {
                    match stmt {
                        Stmt::Call { callee: Callee::Direct(callee), .. } => {
                            named.insert(*callee);
                        }
                        Stmt::Call { callee: Callee::Indirect(_), .. } => calls_pointers = true,
                        _ => {}
                    }
                }
                for expr in body.exprs.values() {
                    match expr {
                        Expr::AddrFunc(function) => _ = named.insert(*function),
                        Expr::AddrGlobal(global) => _ = globals.insert(*global),
                        _ => {}
                    }
                }
            } else if is_left_out(function) {
                named.extend(program.functions.ids());
                globals.extend(program.globals.ids());
            } else if !function.system {
                globals.clone_from(&code.known);
            }
            code.named.push(named.into_iter().collect());
            code.calls_pointers.push(calls_pointers);
            code.globals.push(globals);
        }
        code
    }

    /// The functions that a call of some functions may run, these included. A call through a pointer may
    /// run any function whose address is taken.
    pub(crate) fn may_run(&self, from: impl IntoIterator<Item = FuncId>) -> BTreeSet<FuncId> {
        let mut found = BTreeSet::new();
        let mut waiting: Vec<FuncId> = from.into_iter().collect();
        let mut follows_pointers = false;
        while let Some(function) = waiting.pop() {
            if !found.insert(function) {
                continue;
            }
            waiting.extend(&self.named[function.index()]);
            if self.calls_pointers[function.index()] && !follows_pointers {
                follows_pointers = true;
                waiting.extend(&self.addressed);
            }
        }
        found
    }

    /// Why functions, and what they may run though it is not followed, are not encoded; none if they are.
    pub(crate) fn runs_unsupported(
        &self,
        program: &Program,
        from: impl IntoIterator<Item = FuncId>,
    ) -> Option<String> {
        let run = self.may_run(from.into_iter().chain(self.addressed.iter().copied()));
        run.into_iter().find_map(|function| unsupported(program, function))
    }

    /// The globals that a call of a function may know by name.
    pub(crate) fn globals_of(&self, function: FuncId) -> BTreeSet<GlobalId> {
        let run = self.may_run([function]);
        run.iter().flat_map(|function| &self.globals[function.index()]).copied().collect()
    }

    /// The globals that code outside of the program may write to: those that it can name, and those
    /// whose addresses the program hands about.
    pub(crate) fn known_globals(&self) -> &BTreeSet<GlobalId> {
        &self.known
    }
}

fn known_globals(program: &Program) -> BTreeSet<GlobalId> {
    let writable = |id: &GlobalId| !program.globals[*id].read_only;
    let named = program
        .globals
        .iter()
        .filter(|(_, global)| global.linkage == Linkage::External)
        .map(|(id, _)| id);
    let in_values = program.relocations().filter_map(|relocation| match relocation.target {
        RelocationTarget::Global(global) => Some(global),
        RelocationTarget::Function(_) => None,
    });
    let bodies = program.functions.values().filter_map(|function| function.body.as_ref());
    let handed = bodies.flat_map(handed_about);
    named.chain(in_values).chain(handed).filter(writable).collect()
}

/// The globals whose addresses a body uses otherwise than to reach them.
fn handed_about(body: &Body) -> BTreeSet<GlobalId> {
    let mut found = BTreeSet::new();
    let root = |mut expr: ExprId| loop {
        match &body.exprs[expr] {
            Expr::Field { base, .. } | Expr::Index { base, .. } => expr = *base,
            Expr::AddrGlobal(global) => break Some(*global),
            _ => break None,
        }
    };
    for expr in body.exprs.values() {
        match expr {
            Expr::Load { .. }
            | Expr::LoadBits { .. }
            | Expr::Field { .. }
            | Expr::Index { .. }
            | Expr::Cmp(..)
            | Expr::PtrDiff { .. } => {}
            _ => expr.for_each_operand(|operand| found.extend(root(operand))),
        }
    }
    for stmt in body.stmts.values() {
        match stmt {
            Stmt::Store { value, .. } => found.extend(root(*value)),
            Stmt::StoreBits { .. } | Stmt::Copy { .. } | Stmt::Zero { .. } => {}
            _ => stmt.for_each_expr(|expr| found.extend(root(expr))),
        }
    }
    let operands = body.blocks.values().filter_map(|block| block.term.operand());
    operands.for_each(|operand| found.extend(root(operand)));
    found
}
