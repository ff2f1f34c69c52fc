//! The globals that data flow follows.

use lydian_base::{SourceMap, Span};
use lydian_ir::libc::{LibFn, model_named};
use lydian_ir::{
    CType, CTypeId, Expr, FuncId, Function, Global, GlobalId, GlobalInit, Program, RelocationTarget,
};
use rustc_hash::FxHashSet;

use super::cells::{self, Grain};
use super::def_use::c_name;
use super::escape::{EscapeSummaries, for_each_value};

/// The globals that are variables of the user's.
#[derive(Clone, Debug)]
pub(super) struct TrackedGlobals {
    pub(super) grain: Grain,
    pub(super) tracked: FxHashSet<GlobalId>,
    /// Globals that are not followed because an unsupported function names them.
    pub(super) untracked: FxHashSet<GlobalId>,
    /// Those whose addresses are taken.
    pub(super) exposed: FxHashSet<GlobalId>,
    /// The functions that call no function of the program.
    pub(super) inert: FxHashSet<FuncId>,
    /// The functions whose bodies are of the text.
    pub(super) defined: FxHashSet<FuncId>,
    /// The places where the text takes a variable argument, which writes to nothing but the list.
    pub(super) variadic: FxHashSet<Span>,
    /// The escapes of the arguments of these functions.
    pub(super) escapes: EscapeSummaries,
}

impl TrackedGlobals {
    /// The globals of a program that was lowered from a text.
    pub(super) fn of(program: &Program, map: &SourceMap, grain: Grain) -> Self {
        let unsupported = program.functions.values().filter(|function| {
            function.body.is_none() && !function.span.is_none() && !function.library
        });
        let unsupported: Vec<&str> = unsupported
            .map(|function| map.slice(function.span))
            .filter(|text| text.contains('{'))
            .collect();
        let is_named = |global: &Global| {
            let name = c_name(&global.name);
            unsupported.iter().any(|text| words(text).any(|word| word == name))
        };
        let is_variable = |global: &Global| {
            let declaration = map.slice(global.span);
            is_within(map, global.span)
                && !global.read_only
                && !global.name.starts_with('.')
                && !map.is_system(global.span.start)
                && !words(declaration).any(|word| THREAD_LOCAL.contains(&word))
        };
        let globals = program.globals.iter();
        let variables = globals.filter(|(_, global)| is_variable(global));
        let (untracked, tracked): (Vec<_>, Vec<_>) =
            variables.partition(|(_, global)| is_named(global));
        let id = |(id, _): (GlobalId, &Global)| id;
        let untracked = untracked.into_iter().map(id).collect();
        let tracked = tracked.into_iter().map(id);
        let functions = program.functions.iter();
        let inert = functions.filter(|(_, f)| is_inert(program, map, f)).map(|(id, _)| id);
        let mut tracked: FxHashSet<GlobalId> = tracked.collect();
        if grain == Grain::Cells {
            tracked.retain(|global| cells::global_has_cells(program, *global));
        }
        let mut exposed = exposed(program);
        exposed.retain(|global| tracked.contains(global));
        let defined = program.defined().filter(|(_, f)| !f.library && is_within(map, f.span));
        let defined = defined.map(|(id, _)| id).collect();
        let escapes = EscapeSummaries::of(program, &defined);
        let variadic = map.text().match_indices(VA_ARG);
        let variadic = variadic.filter_map(|(at, _)| call_at(map.text(), at)).collect();
        Self {
            grain,
            tracked,
            untracked,
            exposed,
            inert: inert.collect(),
            defined,
            variadic,
            escapes,
        }
    }

    /// The followed globals, in order.
    pub(super) fn all(&self) -> Vec<GlobalId> {
        let mut all: Vec<_> = self.tracked.iter().copied().collect();
        all.sort_unstable();
        all
    }
}

const VA_ARG: &str = "__builtin_va_arg";

/// The text of a call that begins at a place.
fn call_at(text: &str, at: usize) -> Option<Span> {
    let mut depth = 0u32;
    for (further, c) in text.get(at..)?.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(Span::new(at as u32, (at + further + 1) as u32)),
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// Whether a span lies in this text. A program may have parts of other texts.
fn is_within(map: &SourceMap, span: Span) -> bool {
    !span.is_none() && span.end as usize <= map.text().len()
}

const THREAD_LOCAL: [&str; 3] = ["_Thread_local", "thread_local", "__thread"];

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
}

/// Whether a function without a body belongs to the C library or the compiler, returns, and gets no
/// function that it could call.
fn is_inert(program: &Program, map: &SourceMap, function: &Function) -> bool {
    if function.noreturn || (function.body.is_some() && !function.library) {
        return false;
    }
    if let Some(model) = model_named(&function.name) {
        return goes_on(model.function);
    }
    let is_function = |ty: &CTypeId| match program.types.get(*ty) {
        CType::Pointer { pointee, .. } => {
            matches!(program.types.get(*pointee), CType::Function { .. })
        }
        _ => false,
    };
    let takes_function = match program.types.get(function.ty) {
        CType::Function { params, .. } => params.iter().any(is_function),
        _ => true,
    };
    let is_system = is_within(map, function.span) && map.is_system(function.span.start);
    (is_system || function.library) && !takes_function
}

/// Whether a modelled function returns to its call, once.
const fn goes_on(function: LibFn) -> bool {
    match function {
        LibFn::End(_) | LibFn::Jump(_) => false,
        LibFn::Memory(_)
        | LibFn::CharacterClass(_)
        | LibFn::Character(_)
        | LibFn::Allocation(_)
        | LibFn::Integer(_)
        | LibFn::ExactMath(_)
        | LibFn::FloatParts(_)
        | LibFn::FloatTest(_)
        | LibFn::InexactMath(_)
        | LibFn::Verification(_)
        | LibFn::Environment(_)
        | LibFn::Hint(_)
        | LibFn::Overflow(_) => true,
    }
}

/// The globals that are defined here and whose addresses are values in some body or initial value.
/// Static locals have no name outside of their functions, and are left out.
fn exposed(program: &Program) -> FxHashSet<GlobalId> {
    let mut exposed = FxHashSet::default();
    for (_, function) in program.defined() {
        let Some(body) = &function.body else { continue };
        for_each_value(program, body, &mut |expr| {
            if let Expr::AddrGlobal(global) = body.exprs[expr] {
                exposed.insert(global);
            }
        });
    }
    for global in program.globals.values() {
        if let GlobalInit::Data { relocations, .. } = &global.init {
            exposed.extend(relocations.iter().filter_map(|relocation| match relocation.target {
                RelocationTarget::Global(id) => Some(id),
                RelocationTarget::Function(_) => None,
            }));
        }
    }
    exposed.retain(|id| {
        let global = &program.globals[*id];
        global.init != GlobalInit::Extern && !global.name.contains('.')
    });
    exposed
}
