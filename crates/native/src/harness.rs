//! C around the user's text: callers of the functions under test, and definitions of the functions
//! and variables that the text uses and does not define.
//!
//! Callers are put after the user's text, in the same file, so that static functions and the user's
//! own types are in reach. Definitions of undefined functions lie in a file of their own, where no
//! declaration of the user's can contradict them: such a function needs its result's type and
//! the parameters that it hands over for what it writes ([`handed_over`]), since in C's calling
//! conventions it is the caller that removes the arguments.

use std::fmt::Write as _;

use indexmap::IndexMap;
use lydian_base::EntityId;
use lydian_ir::device::{DEVICE_READ, INTERRUPT};
use lydian_ir::libc::{STREAMS, gives_inputs};
use lydian_ir::outside::{HandedOver, handed_over, out_parameters, writes_nothing};
use lydian_ir::test::{ANY_BYTES, ANY_NUMBER, NumberKind};
use lydian_ir::variadic::{self, Room};
use lydian_ir::{CType, CTypeId, CTypes, FuncId, GlobalId, GlobalInit, Linkage, Program, RecordId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::elf::Symbols;
use crate::toolchain::Libraries;

/// The functions whose results tests may give in every program, in the order of their numbers in
/// `lydian.h`: allocators, and the functions by which programs for KLEE and other tools ask for
/// inputs.
pub(crate) const NUMBERED: [&str; 15] = [
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "strdup",
    "strndup",
    "aligned_alloc",
    "posix_memalign",
    "klee_make_symbolic",
    "klee_int",
    "klee_range",
    ANY_BYTES,
    ANY_NUMBER,
    DEVICE_READ,
    INTERRUPT,
];

/// Functions that the harness replaces where the text uses them without defining them.
const REPLACED: [&str; 27] = [
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "strdup",
    "strndup",
    "aligned_alloc",
    "posix_memalign",
    "free",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "abort",
    "__assert_fail",
    "__assert",
    "__stack_chk_fail",
    "__VERIFIER_assume",
    "__VERIFIER_error",
    "reach_error",
    "klee_assume",
    "klee_silent_exit",
    "klee_make_symbolic",
    "klee_range",
    "klee_int",
    "__CPROVER_assume",
    "__CPROVER_assert",
];

/// Functions of the C library that open files. The harness replaces them, since tests have only the
/// files of their folder.
const OPENING: [&str; 2] = ["fopen", "open"];

/// The header that runner and harness share.
pub(crate) const HEADER: &str = include_str!("../runtime/lydian.h");
/// The sets of environments.
pub(crate) const ENVIRONMENTS: &str = include_str!("../runtime/environments.h");
/// The declarations of its functions, for texts that do not contain it.
pub(crate) const SETS: &str = "\
int lydian_lock(void);\nvoid lydian_unlock(void);\n\
int lydian_add(unsigned int *, unsigned long long, unsigned int, const unsigned long long *);\n\
void lydian_drop(unsigned int *, unsigned int);\n\
unsigned int lydian_find(unsigned long long, unsigned int, const unsigned long long *);\n\
const unsigned long long *lydian_values(unsigned int);\n\
unsigned int lydian_next(unsigned int);\n\
void lydian_forget(void *);\n";
/// The part of the runner that gives results of undefined functions.
pub(crate) const QUEUE: &str = include_str!("../runtime/queue.h");
/// The part of the runner that gives tests their files.
pub(crate) const FILES: &str = include_str!("../runtime/files.h");
/// The part of the runner that confines it.
pub(crate) const CONFINE: &str = include_str!("../runtime/confine.h");
/// The runner.
pub(crate) const RUNNER: &str = include_str!("../runtime/runner.c");
/// The part of the harness that is the same for all programs.
pub(crate) const REPLACEMENTS: &str = include_str!("../runtime/replacements.c");

/// A place that tests can set or point to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SymbolKind {
    /// A function.
    Function,
    /// A global, with its size in bytes and whether the program may write to it.
    Global { size: u64, writable: bool },
}

/// The names in the object's own table of addresses, in its order: those that its text, which ends
/// at `own_end`, defines, and declared functions whose address the program takes (such as `free` as
/// a callback).
pub(crate) fn table_symbols(program: &Program, own_end: u32) -> IndexMap<String, SymbolKind> {
    let mut table = IndexMap::new();
    let addressed = program.addressed_functions();
    for (id, function) in program.functions.iter() {
        let is_named =
            function.body.is_some() || !function.span.is_none() && addressed.contains(&id);
        if is_named && function.span.end <= own_end {
            table.insert(function.name.clone(), SymbolKind::Function);
        }
    }
    for (_, global) in program.globals.iter() {
        let own = !matches!(global.init, GlobalInit::Extern);
        if own && !global.name.contains('.') && global.span.end <= own_end {
            table.insert(global.name.clone(), global_kind(global));
        }
    }
    table
}

fn global_kind(global: &lydian_ir::Global) -> SymbolKind {
    SymbolKind::Global { size: global.size, writable: !global.read_only }
}

/// The names whose addresses are found in the linked file, with their offsets: static locals, and
/// definitions of the harness and of other units.
pub(crate) fn linked_symbols(
    program: &Program,
    own_end: u32,
    stubs: &Stubs,
    symbols: &Symbols,
) -> IndexMap<String, (SymbolKind, u64)> {
    let mut table = IndexMap::new();
    let defined = |name: &str| symbols.defined.get(name).copied();
    for (_, function) in program.functions.iter() {
        let elsewhere = function.body.is_some() && function.span.end > own_end;
        let found = defined(function.link_name());
        let found = found.filter(|_| elsewhere && is_shared(function.linkage));
        if let Some(offset) = found {
            table.insert(function.name.clone(), (SymbolKind::Function, offset));
        }
    }
    for (_, global) in program.globals.iter() {
        let elsewhere = global.init != GlobalInit::Extern && global.span.end > own_end;
        let found = defined(&global.name).filter(|_| elsewhere && is_shared(global.linkage));
        if let Some(offset) = found {
            table.insert(global.name.clone(), (global_kind(global), offset));
        }
    }
    for id in &stubs.functions {
        let function = &program.functions[*id];
        if let Some(offset) = defined(function.link_name()) {
            table.insert(function.name.clone(), (SymbolKind::Function, offset));
        }
    }
    for id in &stubs.globals {
        let global = &program.globals[*id];
        if let Some(offset) = defined(&global.name) {
            // The harness owns the memory, so a test can set constants too.
            let kind = SymbolKind::Global { size: global.size, writable: true };
            table.insert(global.name.clone(), (kind, offset));
        }
    }
    for (_, global) in program.globals.iter() {
        let Some((function, variable)) = static_local(&global.name) else { continue };
        let (variable, number) = match variable.split_once('.') {
            Some((variable, number)) => (variable, number.parse().unwrap_or(0)),
            None => (variable, 1usize),
        };
        let places = symbols.static_locals(function, variable);
        if let Some(offset) = number.checked_sub(1).and_then(|index| places.get(index)) {
            table.insert(global.name.clone(), (global_kind(global), *offset));
        }
    }
    table
}

fn is_shared(linkage: Linkage) -> bool {
    linkage == Linkage::External
}

/// Splits the name of a static local; literals have none.
pub(crate) fn static_local(name: &str) -> Option<(&str, &str)> {
    name.split_once('.').filter(|(function, _)| !function.is_empty())
}

/// The functions and variables that the text uses and no unit defines.
#[derive(Debug, Default)]
pub(crate) struct Stubs {
    /// Functions to be defined by the harness.
    pub(crate) functions: Vec<FuncId>,
    /// Globals to be defined by the harness.
    pub(crate) globals: Vec<GlobalId>,
    /// Names of unknown type that no library defines: functions, and variables. Only unsupported
    /// functions use them.
    pub(crate) unknown: [Vec<String>; 2],
    /// Functions that the linker redirects to the harness's own.
    pub(crate) replaced: Vec<&'static str>,
}

impl Stubs {
    /// Finds the names that a compiled text leaves undefined, and functions to which only tests
    /// point. `modelled` says which library functions are not inputs; `library` has the names that
    /// libraries define.
    pub(crate) fn find(
        program: &Program,
        compiled: &Symbols,
        modelled: &dyn Fn(&str) -> bool,
        library: &Libraries,
    ) -> Self {
        let undefined = &compiled.undefined;
        let opening = OPENING.into_iter().filter(|name| modelled(name));
        let replaced = REPLACED.into_iter().chain(opening);
        let replaced: Vec<_> = replaced.filter(|name| undefined.contains(*name)).collect();
        let skip: FxHashSet<&str> = replaced.iter().copied().collect();
        let functions = program.functions.iter().filter(|(_, function)| {
            let name = function.name.as_str();
            let symbol = function.link_name();
            let unreferenced = function.body.is_none()
                && !compiled.defined.contains_key(symbol)
                && !library.contains(symbol)
                && !symbol.starts_with("__");
            (undefined.contains(symbol) || unreferenced) && !skip.contains(name) && !modelled(name)
        });
        let globals = program.globals.iter().filter(|(_, global)| {
            let stream = STREAMS.contains(&global.name.as_str()) && library.contains(&global.name);
            matches!(global.init, GlobalInit::Extern) && undefined.contains(&global.name) && !stream
        });
        let mut stubs = Self {
            functions: functions.map(|(id, _)| id).collect(),
            globals: globals.map(|(id, _)| id).collect(),
            unknown: [Vec::new(), Vec::new()],
            replaced,
        };
        let known: FxHashSet<&str> = stubs
            .functions
            .iter()
            .map(|id| program.functions[*id].link_name())
            .chain(stubs.globals.iter().map(|id| program.globals[*id].name.as_str()))
            .collect();
        let mut unknown = [Vec::new(), Vec::new()];
        for name in undefined {
            let taken = known.contains(name.as_str()) || skip.contains(name.as_str());
            if !taken && !library.contains(name) && !is_own(name) {
                unknown[usize::from(!compiled.called.contains(name))].push(name.clone());
            }
        }
        stubs.unknown = unknown;
        stubs
    }

    /// The names that are left for libraries to define.
    pub(crate) fn needed_of_libraries<'s>(
        &'s self,
        program: &'s Program,
        compiled: &'s Symbols,
    ) -> impl Iterator<Item = &'s str> {
        let functions = self.functions.iter().map(|id| program.functions[*id].link_name());
        let globals = self.globals.iter().map(|id| program.globals[*id].name.as_str());
        let unknown = self.unknown.iter().flatten().map(String::as_str);
        let own = functions.chain(globals).chain(unknown).chain(self.replaced.iter().copied());
        let defined: FxHashSet<&str> = own.collect();
        let undefined = compiled.undefined.iter().map(String::as_str);
        undefined.filter(move |name| !is_own(name) && !defined.contains(name))
    }

    /// Numbers of the functions whose results a test may queue.
    pub(crate) fn numbers(&self, program: &Program) -> IndexMap<String, u32> {
        let own = self.functions.iter().map(|id| program.functions[*id].name.clone());
        let unknown = self.unknown[0].iter().cloned();
        let names = NUMBERED.into_iter().map(str::to_owned).chain(own).chain(unknown);
        names.zip(0..).collect()
    }

    /// The memory that these functions may write, by their names.
    pub(crate) fn writing(&self, program: &Program) -> FxHashMap<String, Writing> {
        let own = self.functions.iter().map(|id| &program.functions[*id]);
        let own = own.filter(|function| !function.noreturn && !writes_nothing(&function.name));
        own.map(|function| (function.name.clone(), Writing::of(program, function))).collect()
    }

    /// The definitions; none where nothing is to be defined.
    pub(crate) fn text(&self, program: &Program) -> String {
        let mut text = String::new();
        let numbers = self.numbers(program);
        for id in &self.functions {
            let function = &program.functions[*id];
            let number = numbers[&function.name];
            text.push_str(&stub(&program.types, function, number));
        }
        for name in &self.unknown[0] {
            // Its result is not known, so the run ends.
            text.push_str(&ending_stub(name, numbers[name]));
        }
        for name in &self.unknown[1] {
            let line = format!("unsigned char {name}[4096] __attribute__((aligned(64)));\n");
            text.push_str(&line);
        }
        for id in &self.globals {
            let global = &program.globals[*id];
            let (size, align) = (global.size.max(1), global.align.max(1));
            let line = format!(
                "unsigned char {}[{size}] __attribute__((aligned({align})));\n",
                global.name
            );
            text.push_str(&line);
        }
        text
    }
}

/// Whether the harness or the linker defines a name, whatever the program is.
fn is_own(name: &str) -> bool {
    name.starts_with("lydian_") || name == "_GLOBAL_OFFSET_TABLE_"
}

/// Whether definitions will be made for a program, as far as its declarations tell.
pub(crate) fn has_stubs(
    program: &Program,
    modelled: &dyn Fn(&str) -> bool,
    library: &Libraries,
) -> bool {
    program.functions.iter().any(|(_, function)| {
        let name = function.name.as_str();
        let replaced = REPLACED.contains(&name) || OPENING.contains(&name);
        let symbol = function.link_name();
        let known =
            replaced || library.contains(symbol) || symbol.starts_with("__") || modelled(name);
        function.body.is_none() && !known
    })
}

/// A function whose call ends the run.
fn ending_stub(name: &str, number: u32) -> String {
    format!(
        "void {name}() {{ lydian_services->end(LYDIAN_NORETURN, {number}); \
         __builtin_unreachable(); }}\n"
    )
}

fn stub(types: &CTypes, function: &lydian_ir::Function, number: u32) -> String {
    let name = function.link_name();
    if function.noreturn {
        return ending_stub(name, number);
    }
    let result = match types.get(function.ty) {
        CType::Function { result, .. } => *result,
        _ => function.ty,
    };
    let Out { parameters, array, arguments } = Out::of(types, function);
    match types.get(result) {
        CType::Void => format!(
            "void {name}({parameters}) {{ unsigned char none[1]; {array}\
             lydian_services->external({number}, none, 0, 0, {arguments}); }}\n"
        ),
        _ => {
            let ty = by_shape(types, result, &format!("lydian_result{number}"));
            let kind = match gives_inputs(&function.name) {
                true => types.scalar(result).map_or(NumberKind::Integer, NumberKind::of) as u8,
                false => 0,
            };
            format!(
                "typedef {ty};\n\
                 lydian_result{number} {name}({parameters}) {{ lydian_result{number} r; {array}\
                 lydian_services->external({number}, &r, sizeof r, {kind}, {arguments}); \
                 return r; }}\n"
            )
        }
    }
}

/// The memory that an undefined function may write.
#[derive(Clone, Debug)]
pub(crate) struct Writing {
    /// The parameters that it may write through without a way behind them, by position.
    pub(crate) out: Vec<u32>,
    /// The pointers that its stub passes to the runner.
    pub(crate) handed: HandedOver,
}

impl Writing {
    fn of(program: &Program, function: &lydian_ir::Function) -> Self {
        let (types, name, ty) = (&program.types, &function.name, function.ty);
        let out = out_parameters(types, name, ty).iter().map(|out| out.position).collect();
        Self { out, handed: handed_over(types, name, ty) }
    }
}

/// The text with which a stub passes pointers to the runner.
struct Out {
    /// The parameters that it has; none where it hands nothing over.
    parameters: String,
    /// The declaration of the array of pointers, if there is one, with the statements that fill it.
    array: String,
    /// The number of pointers, and the array.
    arguments: String,
}

impl Out {
    fn of(types: &CTypes, function: &lydian_ir::Function) -> Self {
        let handed = handed_over(types, &function.name, function.ty);
        let CType::Function { params, .. } = types.get(function.ty) else { return Self::none() };
        let count = handed.parameters;
        if count == 0 {
            return Self::none();
        }
        let params = params.iter().take(count as usize).enumerate();
        let mut parameters: Vec<String> =
            params.map(|(at, param)| by_shape(types, *param, &format!("a{at}"))).collect();
        let pointer = |at: u32| match handed.pointers.contains(&at) {
            true => format!("a{at}"),
            false => "0".to_owned(),
        };
        let pointers: Vec<String> = (0..count).map(pointer).collect();
        let all = count + handed.words;
        let mut array = format!("void *to[{all}] = {{ {} }}; ", pointers.join(", "));
        if handed.words > 0 {
            parameters.push("...".to_owned());
            array.push_str(&read_words(count, all));
        }
        Self { parameters: parameters.join(", "), array, arguments: format!("{all}, to") }
    }

    fn none() -> Self {
        let (parameters, array) = (String::new(), String::new());
        Self { parameters, array, arguments: "0, 0".into() }
    }
}

/// Reads words for `...` into an array of pointers, behind those of the parameters.
fn read_words(parameters: u32, all: u32) -> String {
    format!(
        "__builtin_va_list words; __builtin_va_start(words, a{}); \
         for (int i = {parameters}; i < {all}; i++) to[i] = __builtin_va_arg(words, void *); \
         __builtin_va_end(words); ",
        parameters - 1
    )
}

/// Declares `declarator` with a type that is laid out and passed as this one is, without any name
/// of the user's.
fn by_shape(types: &CTypes, id: CTypeId, declarator: &str) -> String {
    match types.get(id) {
        CType::Pointer { .. } => format!("void *{declarator}"),
        CType::Enum { underlying, .. } => by_shape(types, *underlying, declarator),
        CType::Array { element, length } => {
            by_shape(types, *element, &format!("{declarator}[{}]", length.unwrap_or(0)))
        }
        CType::Record(record) => format!("{} {declarator}", record_shape(types, *record)),
        _ => types.spell_compiled(id, declarator),
    }
}

fn record_shape(types: &CTypes, id: RecordId) -> String {
    let record = &types.records[id];
    let mut members = String::new();
    for (index, field) in record.fields.iter().enumerate() {
        let named = !(field.bits.is_some() && field.name.is_empty());
        let name = if named { format!("m{index}") } else { String::new() };
        let bits = field.bits.map_or(String::new(), |bits| format!(" : {bits}"));
        let _ = write!(members, "{}{bits}; ", by_shape(types, field.ty, &name));
    }
    let word = if record.is_union { "union" } else { "struct" };
    let align = record.align.max(1);
    format!("{word} __attribute__((aligned({align}))) {{ {members}}}")
}

/// A function that a test can call: the names of its caller and its result's size.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// Sizes of the arguments, each at an offset that is a multiple of 16.
    pub(crate) arguments: Vec<u64>,
    /// Room for variable arguments behind these: words, then floats, eight bytes each.
    pub(crate) variable: Room,
    pub(crate) result: u64,
}

/// Why a function cannot be called by tests.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UncallableReason {
    /// It is not a function of the program, or has no body.
    #[error("it is not defined")]
    Undefined,
    /// A type in its signature has no size or no name.
    #[error("a type in its signature cannot be written: `{0}`")]
    Type(String),
    /// Its result is larger than the runner's buffer.
    #[error("its result has {0} bytes, more than the {limit} that a result may have", limit = RESULT_LIMIT)]
    LargeResult(u64),
}

/// Bytes of the largest result.
pub(crate) const RESULT_LIMIT: u64 = 1 << 16;

/// The parameters and the result of a function, as far as a caller needs them.
pub(crate) fn entry(program: &Program, id: FuncId) -> Result<(Entry, String), UncallableReason> {
    let function = program.functions.get(id).ok_or(UncallableReason::Undefined)?;
    let types = &program.types;
    let CType::Function { result, params, .. } = types.get(function.ty) else {
        return Err(UncallableReason::Type(types.spell(function.ty, "")));
    };
    let sized = |ty: CTypeId| {
        let nameless =
            matches!(types.get(ty), CType::Record(r) if types.records[*r].name.is_empty());
        types
            .size(ty)
            .filter(|_| !nameless)
            .ok_or_else(|| UncallableReason::Type(types.spell(ty, "")))
    };
    let mut text = format!(
        "static void lydian_call_{}(unsigned char *lydian_a, unsigned char *lydian_r) {{ (void)lydian_a, (void)lydian_r; ",
        id.index()
    );
    let (mut arguments, mut offset, mut list) = (Vec::new(), 0, Vec::new());
    for (index, ty) in params.iter().enumerate() {
        let size = sized(*ty)?;
        let declaration = types.spell_compiled(*ty, &format!("lydian_p{index}"));
        let _ = write!(
            text,
            "{declaration}; __builtin_memcpy((void *)&lydian_p{index}, lydian_a + {offset}, {size}); "
        );
        list.push(format!("lydian_p{index}"));
        arguments.push(size);
        offset += size.next_multiple_of(16);
    }
    let variable = variadic::room(program, id);
    list.extend(variable_arguments(variable, offset));
    let call = format!("{}({})", function.name, list.join(", "));
    let size = if matches!(types.get(*result), CType::Void) {
        let _ = writeln!(text, "{call}; }}");
        0
    } else {
        let size = sized(*result)?;
        let declaration = types.spell_compiled(*result, "lydian_v");
        let _ = writeln!(
            text,
            "{declaration} = {call}; __builtin_memcpy(lydian_r, (void *)&lydian_v, {size}); }}"
        );
        size
    };
    if size > RESULT_LIMIT {
        return Err(UncallableReason::LargeResult(size));
    }
    Ok((Entry { name: function.name.clone(), arguments, variable, result: size }, text))
}

/// The arguments that a caller passes for `...`: all that there is room for, zero where the test
/// gives none. See [`Room`] for why one call serves all tests.
fn variable_arguments(room: Room, offset: u64) -> impl Iterator<Item = String> {
    let words = std::iter::repeat_n("long", room.words);
    let floats = std::iter::repeat_n("double", room.floats);
    words.chain(floats).enumerate().map(move |(at, ty)| {
        let at = offset + 8 * at as u64;
        format!("*({ty} __attribute__((may_alias)) *)(lydian_a + {at})")
    })
}

/// A caller of a function under test.
#[derive(Debug)]
pub(crate) struct Caller {
    /// The function.
    pub(crate) function: FuncId,
    /// Its parameters and its result.
    pub(crate) entry: Entry,
    /// The definition of the caller in C.
    pub(crate) text: String,
}

/// The text after the instrumented text: callers, their table, and the table of addresses.
pub(crate) fn appendix(callers: &[Caller], table: &IndexMap<String, SymbolKind>) -> String {
    let mut text = String::from("\n# 1 \"<lydian>\"\n");
    for caller in callers {
        text.push_str(&caller.text);
    }
    text.push_str(
        "struct lydian_entry { void (*call)(unsigned char *, unsigned char *); unsigned long result_size; };\n\
         __attribute__((visibility(\"default\"), used)) const struct lydian_entry lydian_entries[] = { ",
    );
    for Caller { function: id, entry, .. } in callers {
        let _ = write!(text, "{{ lydian_call_{}, {} }}, ", id.index(), entry.result);
    }
    text.push_str(
        "{ 0, 0 } };\n\
         __attribute__((visibility(\"default\"), used)) void *const lydian_symbols[] = { ",
    );
    for name in table.keys() {
        let _ = write!(text, "(void *)&{name}, ");
    }
    text.push_str("(void *)0 };\n");
    text
}

#[cfg(test)]
mod tests {
    use lydian_ir::libc::{AllocationFn, EndFn, LibFn, MODELLED};

    use super::*;

    /// Whether the harness replaces a library function in native tests, and whether tests give the
    /// result of each call.
    fn of_the_harness(function: LibFn) -> (bool, bool) {
        match function {
            LibFn::Allocation(function) => (true, function != AllocationFn::Free),
            // Compilers translate these two into code without a symbol.
            LibFn::End(function) => (!matches!(function, EndFn::Unreachable | EndFn::Trap), false),
            LibFn::Verification(_) => (true, false),
            _ => (false, false),
        }
    }

    #[test]
    fn what_allocates_ends_the_run_or_gives_inputs_is_the_harness_own() {
        for row in MODELLED {
            let model = row.model().expect("it is modelled");
            let (is_replaced, is_numbered) = of_the_harness(model.function);
            let is_numbered = is_numbered || gives_inputs(row.name);
            assert_eq!(is_replaced, REPLACED.contains(&row.name), "{}", row.name);
            assert_eq!(is_numbered, NUMBERED.contains(&row.name), "{}", row.name);
        }
    }
}
