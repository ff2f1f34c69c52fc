//! Stubs: definitions of functions and globals that the program leaves undefined.
//!
//! A stub has a C name of its own, and the function's name for the linker only, so that no
//! declaration of the user's can contradict it. It has only the parameters that a test lets it write
//! through, since in C's calling conventions the caller removes parameters. Stubs are weak: a linked
//! definition takes precedence.
//!
//! A stubbed function of the C library gets another name for the linker wherever the user's text
//! names it, because the process around the tests needs the real one (as does a coverage tool, which
//! writes its profile at exit). Allocators are the real ones, except those that some test lets fail:
//! the user's text calls these under another name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use lydian_base::Span;
use lydian_ir::outside::{HandedOver, handed_over};
use lydian_ir::test::{CALLBACK_PREFIX, ExternalResult, INPUT_PREFIX, PointerTarget, WriteBase};
use lydian_ir::{CType, CTypeId, Callee, GlobalInit, Program, Stmt, libc};

use crate::suite::signature::result_type;
use crate::suite::test::SuiteTest;

/// Allocators with their parameters and arguments in C, and their result when they fail.
const ALLOCATORS: [(&str, &str, &str, &str, &str); 8] = [
    ("malloc", "void *", "__SIZE_TYPE__ a", "a", "0"),
    ("calloc", "void *", "__SIZE_TYPE__ a, __SIZE_TYPE__ b", "a, b", "0"),
    ("realloc", "void *", "void *p, __SIZE_TYPE__ a", "p, a", "0"),
    ("reallocarray", "void *", "void *p, __SIZE_TYPE__ a, __SIZE_TYPE__ b", "p, a, b", "0"),
    ("aligned_alloc", "void *", "__SIZE_TYPE__ a, __SIZE_TYPE__ b", "a, b", "0"),
    ("posix_memalign", "int ", "void **p, __SIZE_TYPE__ a, __SIZE_TYPE__ b", "p, a, b", "12"),
    ("strdup", "char *", "const char *s", "s", "0"),
    ("strndup", "char *", "const char *s, __SIZE_TYPE__ a", "s, a", "0"),
];

/// Functions whose calls gcc replaces by calls of others, whatever their declared name for the
/// linker: `printf("a\n")` by `puts("a")`. It does not recognise them by another name in C.
const REPLACED: [&str; 13] = [
    "fprintf",
    "fputc",
    "fputs",
    "fwrite",
    "printf",
    "putc",
    "putchar",
    "puts",
    "snprintf",
    "sprintf",
    "vfprintf",
    "vprintf",
    "vsnprintf",
];

/// Bytes for a variable whose size is not known.
const UNKNOWN_SIZE: u64 = 4096;

/// The arguments that a function needs for its writes.
#[derive(Clone, Copy, Default)]
struct Reach {
    /// The first parameters.
    parameters: u32,
    /// The first words for `...`.
    words: u32,
}

impl Reach {
    fn extend(&mut self, call: &ExternalResult) {
        for write in &call.writes {
            match write.to {
                WriteBase::Argument(at) => {
                    self.parameters = self.parameters.max(at.saturating_add(1))
                }
                WriteBase::Variable(at) => self.words = self.words.max(at.saturating_add(1)),
                WriteBase::Global(_) => {}
            }
        }
    }
}

/// A variable of another file.
struct StubbedVariable {
    name: String,
    size: u64,
    align: u64,
    thread_local: bool,
}

/// The stubbed functions and globals.
pub(super) struct Stubs<'a> {
    program: &'a Program,
    /// Undefined functions with a stub, by name, with the type of the result.
    functions: Vec<(String, Option<CTypeId>)>,
    /// The functions that write in some test, with the arguments that they need.
    writing: BTreeMap<String, Reach>,
    /// For each function the most results that a test gives, and the most writes.
    most: BTreeMap<String, (usize, usize)>,
    /// Whether the C library defines a name.
    library: &'a dyn Fn(&str) -> bool,
    /// Allocators that fail in some test.
    failing: Vec<usize>,
    /// Whether some test counts the blocks of its inputs that are released.
    releases: bool,
    /// Whether the program uses functions of verifiers and KLEE.
    verifies: bool,
    /// Variables that are defined here unless they are defined elsewhere, with their sizes and
    /// alignments.
    globals: Vec<StubbedVariable>,
}

impl<'a> Stubs<'a> {
    /// The undefined functions and globals that the program uses or a test sets.
    pub(super) fn of(
        program: &'a Program,
        tests: &[SuiteTest],
        more: &[String],
        left_out: &BTreeSet<String>,
        library: &'a dyn Fn(&str) -> bool,
    ) -> Self {
        let calls = || tests.iter().flat_map(|test| &test.test.externals);
        let allocator = |name: &str| ALLOCATORS.iter().position(|entry| entry.0 == name);
        let failing: BTreeSet<usize> = calls()
            .filter(|call| call.result.bytes.iter().all(|byte| *byte == 0))
            .filter_map(|call| allocator(&call.function))
            .collect();
        let mut names = used_functions(program);
        names.extend(calls().map(|call| call.function.clone()));
        let mut writing: BTreeMap<String, Reach> = BTreeMap::new();
        for call in calls().filter(|call| !call.writes.is_empty()) {
            writing.entry(call.function.clone()).or_default().extend(call);
        }
        names.extend(more.iter().cloned());
        // Callbacks are reached from inputs only.
        names.retain(|name| !name.starts_with(CALLBACK_PREFIX));
        names.extend(callbacks(tests));
        let mut most: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for test in tests {
            let mut own: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
            for call in &test.test.externals {
                let counts = own.entry(&call.function).or_default();
                *counts = (counts.0 + 1, counts.1 + call.writes.len());
            }
            for (name, (calls, writes)) in own {
                let all = most.entry(name.to_owned()).or_default();
                *all = (all.0.max(calls), all.1.max(writes));
            }
        }
        let undefined = |name: &String| {
            let function = program.function_named(name).map(|id| &program.functions[id]);
            function.is_some_and(|function| function.body.is_none()) && !left_out.contains(name)
        };
        let modelled = |name: &str| {
            let function = program.function_named(name).map(|id| &program.functions[id]);
            function.is_some_and(|f| libc::model_of(&program.types, name, f.ty).is_some())
        };
        let verifies = names.iter().any(|name| {
            let family = libc::model_named(name).map(|model| model.family);
            undefined(name) && family == Some(libc::Family::Verification)
        });
        let released =
            |test: &SuiteTest| test.observed.iter().any(|seen| !seen.released.is_empty());
        let releases = undefined(&"free".to_owned()) && tests.iter().any(released);
        let real = |name: &str| {
            name.starts_with(INPUT_PREFIX)
                || name.starts_with("__builtin_")
                || allocator(name).is_some()
                || modelled(name)
        };
        let functions = names.into_iter().filter(|name| undefined(name) && !real(name));
        let functions = functions.map(|name| {
            let ty = result_type(program, &name);
            (name, ty)
        });
        let externs = program.globals.values().filter(|global| global.init == GlobalInit::Extern);
        let own = externs.filter(|global| !libc::is_library_object(&global.name));
        let sized = own.map(|global| {
            let size = program.types.size(global.ty).unwrap_or(UNKNOWN_SIZE);
            let (name, thread_local) = (global.name.clone(), global.thread_local);
            let (size, align) = (size.max(1), global.align.max(1));
            StubbedVariable { name, size, align, thread_local }
        });
        // A name that only unsupported functions use has no type here. It becomes memory, so that a
        // read finds zeros and a call crashes.
        let declared = |name: &&String| {
            program.function_named(name).is_some() || program.global_named(name).is_some()
        };
        let nameless = more.iter().filter(|name| !declared(name) && !name.starts_with("__"));
        let globals = sized.chain(nameless.map(|name| StubbedVariable {
            name: name.clone(),
            size: UNKNOWN_SIZE,
            align: 64,
            thread_local: false,
        }));
        let globals = globals.collect();
        Self {
            program,
            functions: functions.collect(),
            writing,
            most,
            library,
            failing: failing.into_iter().collect(),
            releases,
            verifies,
            globals,
        }
    }

    /// Whether the program uses functions of verifiers and KLEE.
    pub(super) const fn verifies(&self) -> bool {
        self.verifies
    }

    /// The text before the user's text that redirects its calls.
    pub(super) fn before(&self) -> String {
        let mut text = String::new();
        for name in self.redirected() {
            let _ = writeln!(text, "#pragma redefine_extname {name} lydian_own_{name}");
            self.declare_implicit(name, &mut text);
        }
        if self.replaced().next().is_some() {
            text.push_str(
                "/* Attributes of formats name `printf`. */\n\
                 #pragma GCC diagnostic push\n\
                 #pragma GCC diagnostic ignored \"-Wformat\"\n\
                 #pragma GCC diagnostic ignored \"-Wattributes\"\n",
            );
        }
        for name in self.renamed() {
            let _ = writeln!(text, "#define {name} lydian_own_{name}");
            self.declare_implicit(name, &mut text);
        }
        text
    }

    /// The text after the user's text that ends the renaming.
    pub(super) fn behind(&self) -> String {
        let mut text = String::new();
        for name in self.renamed() {
            let _ = writeln!(text, "#undef {name}");
        }
        if self.replaced().next().is_some() {
            text.push_str("#pragma GCC diagnostic pop\n");
        }
        text
    }

    /// Renames members that have the name of a renamed function, as they are in the user's text.
    pub(super) fn members(&self) -> String {
        let records = self.program.types.records.values();
        let names: BTreeSet<&str> =
            records.flat_map(|record| &record.fields).map(|field| field.name.as_str()).collect();
        let renamed = self.renamed().filter(|name| names.contains(name));
        renamed.map(|name| format!("#define {name} lydian_own_{name}\n")).collect()
    }

    /// Functions with another name for the linker.
    fn redirected(&self) -> impl Iterator<Item = &str> {
        let stubbed = self.functions.iter().map(|(name, _)| name.as_str());
        let stubbed = stubbed.filter(|name| self.is_own(name) && !REPLACED.contains(name));
        stubbed.chain(self.releases.then_some("free"))
    }

    /// Functions with another name in C, too.
    fn renamed(&self) -> impl Iterator<Item = &str> {
        self.replaced().chain(self.failing.iter().map(|index| ALLOCATORS[*index].0))
    }

    fn replaced(&self) -> impl Iterator<Item = &str> {
        let stubbed = self.functions.iter().map(|(name, _)| name.as_str());
        stubbed.filter(|name| self.is_own(name) && REPLACED.contains(name))
    }

    /// Whether the stub of a function has a name of its own for the linker, since the process around
    /// the tests needs the real one.
    fn is_own(&self, name: &str) -> bool {
        (self.library)(name) && self.symbol(name).is_none()
    }

    /// Declares a function that the text does not declare, as the builtin that compilers take it for.
    /// Under another name it would be no builtin.
    fn declare_implicit(&self, name: &str, text: &mut String) {
        let Some(id) = self.program.function_named(name) else { return };
        let function = &self.program.functions[id];
        let types = &self.program.types;
        if function.implicit && types.is_prototype(function.ty) {
            let _ = writeln!(text, "{};", types.spell_compiled(function.ty, name));
        }
    }

    /// The stubs, after the user's text.
    pub(super) fn after(&self) -> String {
        let mut text = String::new();
        for StubbedVariable { name, size, align, thread_local } in &self.globals {
            let thread = if *thread_local { "__thread " } else { "" };
            let _ = writeln!(text, "{thread}LYDIAN_VARIABLE({name}, {size}, {align})");
        }
        for (name, ty) in &self.functions {
            let linked = match self.symbol(name) {
                Some(symbol) => symbol.to_owned(),
                None if self.is_own(name) => format!("lydian_own_{name}"),
                None => name.clone(),
            };
            text.push_str(&self.stub(name, &linked, *ty));
        }
        let sets_error_number = libc::error_number(self.program).is_some();
        for index in &self.failing {
            text.push_str(&allocator(*index, sets_error_number));
        }
        if self.releases {
            text.push_str("LYDIAN_COUNTS_RELEASES\n");
        }
        text
    }

    /// The name for the linker in a function's declaration, which the stub takes.
    fn symbol(&self, name: &str) -> Option<&str> {
        let function = self.program.function_named(name)?;
        self.program.functions[function].symbol.as_deref()
    }

    fn stub(&self, name: &str, linked: &str, ty: Option<CTypeId>) -> String {
        let noreturn = self.program.function_named(name);
        let noreturn = noreturn.is_some_and(|id| self.program.functions[id].noreturn);
        if noreturn {
            return format!("LYDIAN_STUB_THAT_ENDS({name}, \"{linked}\")\n");
        }
        let (results, writes) = self.most.get(name).copied().unwrap_or_default();
        let results = results.max(1);
        let alias = format!("lydian_type_{name}");
        let typed = ty.map(|ty| format!("typedef {};\n", self.result_spelling(ty, &alias)));
        let typed = typed.unwrap_or_default();
        let of_library = (self.library)(linked);
        let Some(parameters) = self.passed(name) else {
            return match ty {
                Some(_) if of_library => {
                    format!("{typed}LYDIAN_STUB_OF_LIBRARY({name}, \"{linked}\", {results})\n")
                }
                Some(_) => format!("{typed}LYDIAN_STUB({name}, \"{linked}\", {results})\n"),
                None => format!("LYDIAN_STUB_OF_NOTHING({name}, \"{linked}\")\n"),
            };
        };
        let (taken, array) = self.taken(name);
        let result = if ty.is_some() { alias.as_str() } else { "void" };
        let mut text = typed;
        let counter = match ty {
            Some(_) => format!("LYDIAN_RESULTS({name}, {results})\n"),
            None => format!("static unsigned lydian_calls_{name} = 0;\n"),
        };
        let gives = match ty {
            Some(_) => format!(
                "    if (lydian_calls_{name} > lydian_given_{name}) return none;\n    \
                 return lydian_results_{name}[lydian_calls_{name} - 1];\n"
            ),
            None => String::new(),
        };
        let weak = if of_library { "" } else { " __attribute__((__weak__))" };
        let none = if ty.is_some() { format!("    static {alias} none;\n") } else { String::new() };
        let _ = write!(
            text,
            "{counter}LYDIAN_WRITTEN({name}, {})\n\
             {result} lydian_stub_{name}({parameters}) __asm__(\"{linked}\"){weak};\n\
             {result} lydian_stub_{name}({parameters})\n\
             {{\n{none}    {taken}\
             lydian_set(lydian_writes_{name}, lydian_written_{name}, ++lydian_calls_{name}, {array});\n\
             {gives}}}\n",
            writes.max(1)
        );
        text
    }

    /// Statements that take the pointers among a stub's arguments, and the array of these.
    fn taken(&self, name: &str) -> (String, &'static str) {
        let Reach { words, .. } = self.writing.get(name).copied().unwrap_or_default();
        let (handed, count) = (self.handed(name), self.parameters(name));
        if count == 0 {
            return (String::new(), "0");
        }
        let is_pointer = |at: &u32| handed.pointers.contains(at);
        let pointer = |at: u32| if is_pointer(&at) { format!("a{at}") } else { "0".to_owned() };
        let pointers: Vec<String> = (0..count).map(pointer).collect();
        let unused = (0..count).filter(|at| !is_pointer(at));
        let unused: String = unused.map(|at| format!("(void)a{at};\n    ")).collect();
        let (all, list) = (count + words, pointers.join(", "));
        let mut text = format!("{unused}void *to[{all}] = {{ {list} }};\n    ");
        if words > 0 {
            let _ = write!(
                text,
                "__builtin_va_list words;\n    \
                 int i;\n    \
                 __builtin_va_start(words, a{});\n    \
                 for (i = {count}; i < {all}; i++) to[i] = __builtin_va_arg(words, void *);\n    \
                 __builtin_va_end(words);\n    ",
                count - 1
            );
        }
        (text, "to")
    }

    /// The values that a stub of the function can hand over.
    fn handed(&self, name: &str) -> HandedOver {
        let function = self.program.function_named(name).map(|id| &self.program.functions[id]);
        function.map_or_else(HandedOver::default, |function| {
            handed_over(&self.program.types, &function.name, function.ty)
        })
    }

    /// The number of parameters of a function's stub, for the function's writes.
    pub(super) fn parameters(&self, name: &str) -> u32 {
        match self.writing.get(name) {
            Some(Reach { words: 1.., .. }) => self.handed(name).parameters,
            reach => reach.map_or(0, |reach| reach.parameters),
        }
    }

    /// The parameters of the stub of a function that writes; `None` for other functions, and if a
    /// type has no name or cannot be passed.
    pub(super) fn passed(&self, name: &str) -> Option<String> {
        let reach = self.writing.get(name)?;
        let (handed, count) = (self.handed(name), self.parameters(name));
        if count > handed.parameters || reach.words > handed.words {
            return None;
        }
        let function = &self.program.functions[self.program.function_named(name)?];
        let CType::Function { params, .. } = self.program.types.get(function.ty) else {
            return None;
        };
        let declared = params.iter().take(count as usize).enumerate();
        let mut declared: Vec<String> =
            declared.map(|(at, ty)| self.result_spelling(*ty, &format!("a{at}"))).collect();
        if reach.words > 0 {
            declared.push("...".to_owned());
        }
        let named = declared.iter().all(|parameter| !parameter.contains('{'));
        named.then(|| if count == 0 { "void".to_owned() } else { declared.join(", ") })
    }

    /// The most inputs that a test takes by the functions of verifiers and KLEE.
    pub(super) fn most_inputs(&self) -> usize {
        self.most.values().map(|(calls, _)| *calls).max().unwrap_or(0).max(1)
    }

    /// The result's type; every pointer is a `void *`, since it is passed as one.
    pub(super) fn result_spelling(&self, ty: CTypeId, name: &str) -> String {
        match self.program.types.get(ty) {
            CType::Pointer { .. } => format!("void *{name}"),
            _ => self.program.types.spell_compiled(ty, name),
        }
    }

    /// Whether results of this function are given by a queue of values.
    pub(super) fn has_queue(&self, function: &str) -> Option<CTypeId> {
        let found = self.functions.iter().find(|(name, _)| name == function);
        found.and_then(|(_, ty)| *ty)
    }

    /// Whether blocks of the inputs that are released are counted.
    pub(super) const fn counts_releases(&self) -> bool {
        self.releases
    }

    /// Whether there is a stub of a function that counts its calls.
    pub(super) fn counts(&self, function: &str) -> bool {
        let known = self.program.function_named(function);
        self.functions.iter().any(|(name, _)| name == function)
            && known.is_some_and(|id| !self.program.functions[id].noreturn)
    }

    /// Whether the function is an allocator that some test makes fail.
    pub(super) fn can_fail(&self, function: &str) -> bool {
        self.failing.iter().any(|index| ALLOCATORS[*index].0 == function)
    }
}

/// The replacement of an allocator. It has another name in C than for the linker, since the user's
/// text has declared that name, in old C without its parameters or with another result.
fn allocator(index: usize, sets_error_number: bool) -> String {
    let (name, result, params, args, failure) = ALLOCATORS[index];
    let tells = sets_error_number && name != "posix_memalign";
    let told = if tells { "errno = ENOMEM;\n    " } else { "" };
    format!(
        "extern {result}lydian_real_{name}({params}) __asm__(\"{name}\");\n\
         static unsigned long long lydian_fails_{name} = 0;\n\
         {result}lydian_tried_{name}({params}) __asm__(\"lydian_own_{name}\");\n\
         {result}lydian_tried_{name}({params})\n\
         {{\n    \
             int fails = (int)(lydian_fails_{name} & 1);\n    \
             lydian_fails_{name} >>= 1;\n    \
             if (!fails) return lydian_real_{name}({args});\n    \
             {told}return {failure};\n\
         }}\n"
    )
}

/// The functions that bodies call or take the address of, and that initial values name.
fn used_functions(program: &Program) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    let mut add = |id: lydian_ir::FuncId| {
        used.insert(program.functions[id].name.clone());
    };
    for (_, function) in program.defined().filter(|(_, function)| !function.library) {
        let Some(body) = &function.body else { continue };
        for stmt in body.stmts.values() {
            if let Stmt::Call { callee: Callee::Direct(target), .. } = stmt {
                add(*target);
            }
        }
    }
    program.addressed_functions().into_iter().for_each(&mut add);
    used
}

/// The functions that pointers in inputs of tests lead to.
fn callbacks(tests: &[SuiteTest]) -> BTreeSet<String> {
    let images = tests.iter().flat_map(|test| test.test.images());
    let targets = images.flat_map(|image| &image.pointers).map(|pointer| &pointer.target);
    let functions = targets.filter_map(|target| match target {
        PointerTarget::Function(name) => Some(name.clone()),
        _ => None,
    });
    functions.collect()
}

/// Declarations of the variables of other files that the program declares in functions alone, so that
/// tests can name them.
pub(super) fn declared_in_functions(program: &Program) -> impl Iterator<Item = String> + '_ {
    let is_inside = |span: &Span| {
        let mut bodies = program.functions.values().filter(|function| function.body.is_some());
        bodies.any(|function| function.span.start < span.start && span.end < function.span.end)
    };
    let externs = program.globals.values().filter(|global| global.init == GlobalInit::Extern);
    let inside = externs.filter(move |global| is_inside(&global.span));
    inside.filter_map(|global| {
        let constant = if global.read_only { "const " } else { "" };
        let declared = program.types.spell_compiled(global.ty, &global.name);
        (!declared.contains('{')).then(|| {
            let thread = if global.thread_local { "__thread " } else { "" };
            format!("extern {thread}{constant}{declared};")
        })
    })
}

#[cfg(test)]
mod tests {
    use lydian_ir::libc::{AllocationFn, LibFn, MODELLED};

    use super::*;

    #[test]
    fn every_modelled_function_that_allocates_can_be_made_to_fail() {
        let models = MODELLED.iter().filter_map(|row| row.model());
        for model in models {
            let allocates = match model.function {
                LibFn::Allocation(function) => function != AllocationFn::Free,
                _ => false,
            };
            let has_failure = ALLOCATORS.iter().any(|(name, ..)| *name == model.name);
            assert_eq!(allocates, has_failure, "{}", model.name);
        }
    }
}
