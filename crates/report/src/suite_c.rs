//! A suite as one C file that needs nothing but a C compiler.
//!
//! The file includes the user's source, so that static functions are in reach. Objects are static
//! variables with typed initialisers, named after their places in the inputs; what no initialiser
//! can say is copied in as bytes. Each test runs in a process of its own, so that it starts from
//! the program's first state and a crash ends only it; it asserts the result and everything that
//! the call was observed to change: floats by their bits (a NaN is like any other), pointers by
//! what they point to, padding not at all.
//!
//! Tests that were observed to crash, to abort or to run out of time are there under
//! `LYDIAN_RUN_CRASHING`. With `LYDIAN_NO_MAIN` the file has a function for each test in the place of
//! `main` ([`crate::frameworks`]). With `LYDIAN_NO_FORK` tests run in one process, one after the other.

mod check;
mod literal;
mod stubs;
mod writes;

use std::collections::BTreeSet;

use lydian_ir::test::{ExternalResult, INPUT_PREFIX, Image, PassedArguments, VariableArgument};
use lydian_ir::{CType, CTypeId, Program, libc};

use crate::frameworks::Case;
use crate::suite::{Observed, ObservedImage, Outcome, SuiteTest, parameter_names, result_type};
use crate::value::{Value, read};
use check::Checks;
use literal::{Names, ObjectName, array, characters, function_name, identifier, initialiser};
use literal::{scalar, string, unique};
use stubs::Stubs;

const RUNTIME: &str = include_str!("suite_c/runtime.c");
const FILES: &str = include_str!("suite_c/files.c");
const WRITES: &str = include_str!("suite_c/writes.c");
/// What sets the environment, whatever the user's text declares.
const ENVIRONMENT: &str = "\
extern int lydian_setenv(const char *name, const char *value, int overwrite) __asm__(\"setenv\");\n\
extern int lydian_unsetenv(const char *name) __asm__(\"unsetenv\");\n";
const VERIFICATION: &str = include_str!("suite_c/verification.c");

/// Lines of the comment above a test.
const MOST_LINES: usize = 3;

/// How the file is made.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The source under test, as the file's first comment names it.
    pub source: &'a str,
    /// The path of the source, as an `#include` in the file finds it.
    pub include: &'a str,
    /// The paths of files that define what the source leaves undefined, to be included after it.
    pub stubs: &'a [&'a str],
    /// C that goes after the source and these files, as if it were part of it.
    pub driver: &'a str,
    /// Undefined functions that need stubs, beside those that tests give results for and those that
    /// the program uses and no engine models.
    pub externals: &'a [String],
    /// Macros that the source and what it includes may define.
    pub macros: &'a BTreeSet<String>,
    /// Whether the C library defines a name.
    pub library: &'a dyn Fn(&str) -> bool,
}

/// A suite in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmittedC {
    /// The file.
    pub text: String,
    /// The tests that it has.
    pub cases: Vec<Case>,
    /// The tests that C cannot express, by name, with the reason.
    pub left_out: Vec<(String, String)>,
}

/// Writes the suite as C; what C cannot express is left out with a comment.
pub fn to_c(program: &Program, tests: &[SuiteTest], options: &Options<'_>) -> String {
    emit(program, tests, options).text
}

/// Writes the suite as C, and says what was left out.
pub fn emit(program: &Program, tests: &[SuiteTest], options: &Options<'_>) -> EmittedC {
    let stubs = Stubs::of(program, tests, options.externals, options.library);
    let mut taken: BTreeSet<String> = program.typedefs.keys().cloned().collect();
    taken.extend(program.functions.values().map(|function| function.name.clone()));
    taken.extend(program.globals.values().map(|global| global.name.clone()));
    let has_files = tests.iter().any(|test| !test.test.files().is_empty());
    let has_environment = tests.iter().any(|test| !test.test.environment().is_empty());
    let text = String::new();
    let mut writer = Writer {
        program,
        stubs: &stubs,
        taken,
        has_files,
        has_environment,
        text,
        cases: Vec::new(),
        left_out: Vec::new(),
    };
    writer.file(options, tests);
    EmittedC { text: writer.text, cases: writer.cases, left_out: writer.left_out }
}

/// How the runtime names an outcome, and the number that goes with it.
fn ending(observed: Option<&Observed>) -> (&'static str, i32) {
    match observed.map(|observed| &observed.outcome) {
        None | Some(Outcome::Returned) => ("LYDIAN_RETURNS", 0),
        Some(Outcome::Exited(status)) => ("LYDIAN_EXITS", *status),
        Some(Outcome::Aborted) => ("LYDIAN_CRASHES", 6),
        // Which signal depends on what the compiler makes of undefined behaviour.
        Some(Outcome::Crashed(_)) => ("LYDIAN_CRASHES", 0),
        Some(Outcome::TimedOut(_)) => ("LYDIAN_HANGS", 0),
        Some(Outcome::Ended(_)) => ("LYDIAN_ENDS", 0),
    }
}

fn crashes(test: &SuiteTest) -> bool {
    !matches!(ending(test.observed.as_ref()).0, "LYDIAN_RETURNS" | "LYDIAN_EXITS")
}

struct Writer<'a> {
    program: &'a Program,
    stubs: &'a Stubs<'a>,
    taken: BTreeSet<String>,
    /// Whether a test has standard input or files.
    has_files: bool,
    /// Whether a test has environment variables.
    has_environment: bool,
    text: String,
    cases: Vec<Case>,
    left_out: Vec<(String, String)>,
}

/// The C of one test.
#[derive(Default)]
struct Parts {
    /// At file level, before the function: variables, twice where they refer to each other.
    declarations: Vec<String>,
    definitions: Vec<String>,
    /// In the function, before the call.
    set_up: Vec<String>,
    /// The arguments of the earlier calls, in order.
    earlier: Vec<Vec<String>>,
    /// The arguments of the call.
    args: Vec<String>,
    /// After the call.
    checks: Vec<String>,
}

impl Writer<'_> {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    fn file(&mut self, options: &Options<'_>, tests: &[SuiteTest]) {
        self.head(options);
        let behind = self.text.len();
        self.stubs_and_title();
        let mut runs = Vec::new();
        for test in tests {
            let name = unique(format!("test_{}", identifier(&test.name)), &mut self.taken);
            let parts = match self.test(test, &name) {
                Ok(parts) => parts,
                Err(why) => {
                    let why_shown = comment(&why);
                    self.line(format!(
                        "\n/* {} is only in the JSON form: {why_shown}. */",
                        test.name
                    ));
                    self.left_out.push((test.name.clone(), why));
                    continue;
                }
            };
            let (kind, status) = ending(test.observed.as_ref());
            let shown = string(test.name.as_bytes());
            let case = Case { name: identifier(&test.name), crashes: crashes(test) };
            runs.push((case.clone(), format!("lydian_run({shown}, {name}, {kind}, {status})")));
            self.cases.push(case);
            self.write_test(test, &name, &parts);
        }
        self.functions(&runs);
        self.main(&runs);
        self.undefine(options.macros, behind);
    }

    fn head(&mut self, options: &Options<'_>) {
        let shown = comment(options.source);
        self.line(format!("/* Tests of {shown}, written by Lydian."));
        self.line(" *");
        self.line(
            " * Compile it with the flags of the source, and run it: it prints what fails and",
        );
        self.line(
            " * exits with 1 if anything does. -DLYDIAN_RUN_CRASHING adds the tests that are",
        );
        self.line(
            " * known to crash or to run out of time; -DLYDIAN_NO_FORK runs all in one process.",
        );
        self.line(" */");
        if self.stubs.verifies() {
            self.line("/* Functions of verifiers are often called without a declaration. */");
            self.line("#pragma GCC diagnostic ignored \"-Wimplicit-function-declaration\"");
        }
        // What the user's text defines as macros changes nothing of what stands before it.
        if self.has_files {
            self.line("#define LYDIAN_HAS_FILES");
        }
        self.text.push_str(RUNTIME);
        if self.has_files {
            self.text.push_str(FILES);
        }
        if self.stubs.write() {
            self.text.push_str(WRITES);
        }
        if self.has_environment {
            self.text.push_str(ENVIRONMENT);
        }
        if self.stubs.verifies() {
            self.text.push_str(VERIFICATION);
        }
        self.line("\n/* ---- What is tested ---- */\n");
        let before = self.stubs.before();
        self.text.push_str(&before);
        if self.has_main() {
            self.line("#define main lydian_program_main");
        }
        for file in std::iter::once(&options.include).chain(options.stubs) {
            self.line(format!("#include \"{file}\""));
        }
        if !options.driver.is_empty() {
            self.text.push_str(options.driver);
            self.line("# 1 \"tests\"");
        }
        if libc::error_number(self.program).is_some() {
            self.line("#include <errno.h>");
        }
    }

    fn stubs_and_title(&mut self) {
        let after = self.stubs.after();
        if !after.is_empty() {
            self.line("\n/* ---- What the source leaves undefined; what is linked goes before ---------- */\n");
            self.text.push_str(&after);
        }
        self.line("\n/* ---- The tests ---- */");
    }

    fn has_main(&self) -> bool {
        self.program.function_named("main").is_some()
    }

    /// Takes macros away that have the name of something of the program which stands behind a place of the
    /// text, that of the includes: there the name means that thing, and nothing else.
    fn undefine(&mut self, macros: &BTreeSet<String>, behind: usize) {
        let program = self.program;
        let fields = program.types.records.values().flat_map(|record| &record.fields);
        let names = fields.map(|field| &field.name).chain(program.typedefs.keys());
        let globals = program.globals.values().map(|global| &global.name);
        let functions = program.functions.values().map(|function| &function.name);
        let own: BTreeSet<&str> =
            names.chain(globals).chain(functions).map(String::as_str).collect();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words: BTreeSet<&str> = self.text[behind..].split(|c| !is_part(c)).collect();
        // The error number is what its macro says.
        let is_own =
            |name: &&str| own.contains(name) && words.contains(name) && *name != libc::ERROR_NUMBER;
        let lines: String = macros
            .iter()
            .map(String::as_str)
            .filter(is_own)
            .map(|name| format!("#undef {name}\n"))
            .collect();
        self.text.insert_str(behind, &lines);
    }

    /// A function for each test, for whoever brings a `main`.
    fn functions(&mut self, runs: &[(Case, String)]) {
        self.line("\n#ifdef LYDIAN_NO_MAIN\n");
        for (case, run) in runs {
            let function = case.function();
            if case.crashes {
                self.line("#ifdef LYDIAN_RUN_CRASHING");
            }
            self.line(format!("int {function}(void);\nint {function}(void) {{ return {run}; }}"));
            if case.crashes {
                self.line("#endif");
            }
        }
        self.line("\n#else");
    }

    fn main(&mut self, runs: &[(Case, String)]) {
        if self.has_main() {
            self.line("\n#undef main");
        }
        self.line("\nint main(void)\n{\n    int count = 0, failed = 0;");
        for crashing in [false, true] {
            let group = runs.iter().filter(|run| run.0.crashes == crashing);
            let group: Vec<String> =
                group.map(|(_, run)| format!("    failed += {run};")).collect();
            if group.is_empty() {
                continue;
            }
            if crashing {
                self.line("#ifdef LYDIAN_RUN_CRASHING");
            }
            group.iter().for_each(|run| self.line(run));
            self.line(format!("    count += {};", group.len()));
            if crashing {
                self.line("#endif");
            }
        }
        self.line("    lydian_dprintf(1, \"%d tests, %d failed\\n\", count, failed);");
        self.line("    return failed > 0;\n}\n\n#endif");
    }

    /// The comment above a test: what it is kept for.
    fn kept_for(&mut self, test: &SuiteTest) {
        let all = &test.kept_for;
        let shown = if all.len() > MOST_LINES { MOST_LINES - 1 } else { all.len() };
        let mut lines: Vec<String> = all[..shown].iter().map(|line| comment(line)).collect();
        if shown < all.len() {
            lines.push(format!("and {} more lines, in tests.json", all.len() - shown));
        }
        if !lines.is_empty() {
            self.line(format!("/* {} */", lines.join("\n   ")));
        }
    }

    fn write_test(&mut self, test: &SuiteTest, name: &str, parts: &Parts) {
        self.line("");
        self.kept_for(test);
        if crashes(test) {
            self.line("#ifdef LYDIAN_RUN_CRASHING");
        }
        parts.declarations.iter().chain(&parts.definitions).for_each(|line| self.line(line));
        self.line(format!("static void {name}(void)\n{{"));
        parts.set_up.iter().for_each(|line| self.line(format!("    {line}")));
        let call = |args: &[String]| {
            format!("{}({})", function_name(&test.test.function), args.join(", "))
        };
        let observed = test.observed.as_ref();
        let returns = matches!(ending(observed).0, "LYDIAN_RETURNS");
        let result = observed.and_then(|observed| observed.result.as_ref());
        let asserted = returns && result.is_some();
        let ty = result_type(self.program, &test.test.function);
        parts.earlier.iter().for_each(|args| self.earlier(&call(args), ty.filter(|_| !returns)));
        match ty.filter(|_| asserted || !returns) {
            Some(ty) => {
                let lines = self.kept_call(ty, &call(&parts.args));
                let count = if asserted { 1 } else { 2 };
                lines.iter().take(count).for_each(|line| self.line(format!("    {line}")));
            }
            None => self.line(format!("    (void){};", call(&parts.args))),
        }
        if !returns && !crashes(test) {
            self.line("    lydian_fail(__LINE__, \"the call returned, where it should exit\");");
        }
        parts.checks.iter().for_each(|line| self.line(format!("    {line}")));
        self.line("}");
        if crashes(test) {
            self.line("#endif");
        }
    }

    /// A call before the last. Its result is kept where one of the calls may end the test.
    fn earlier(&mut self, call: &str, kept: Option<CTypeId>) {
        let Some(ty) = kept else { return self.line(format!("    (void){call};")) };
        let [declared, used] = self.kept_call(ty, call);
        self.line(format!("    {{ {declared} {used} }}"));
    }

    /// A call whose result is kept, and what keeps a compiler from seeing that it is for nothing.
    fn kept_call(&self, ty: CTypeId, call: &str) -> [String; 2] {
        let name = self.result_name();
        let spelled = self.program.types.spell_compiled(ty, &name);
        let declared = match spelled.contains('{') {
            true => format!("__typeof__({call}) {name}"),
            false => spelled,
        };
        let used = format!("__asm__ volatile(\"\" : : \"r\"(&{name}) : \"memory\");");
        [format!("{declared} = {call};"), used]
    }

    /// The variable of the result.
    fn result_name(&self) -> String {
        let mut name = "result".to_owned();
        while self.program.function_named(&name).is_some()
            || self.program.global_named(&name).is_some()
            || self.program.typedefs.contains_key(&name)
        {
            name.push('_');
        }
        name
    }

    // ---- the parts of a test ------------------------------------------------------------------

    fn test(&mut self, suite_test: &SuiteTest, name: &str) -> Result<Parts, String> {
        let test = &suite_test.test;
        let program = self.program;
        let objects: Vec<ObjectName> = test
            .objects
            .iter()
            .map(|object| {
                let variable =
                    unique(format!("{name}_{}", identifier(&object.name)), &mut self.taken);
                let typed = !program.types.spell(object.ty, "").contains('{');
                let size = program.types.size(object.ty).unwrap_or(1);
                let lone = typed && object.image.bytes.len() as u64 != size * object.count;
                let elements = if lone { format!("{variable}.it") } else { variable.clone() };
                ObjectName { variable, elements, lone, typed }
            })
            .collect();
        let names = Names { program, test, objects };
        let mut parts = Parts::default();
        for position in 0..test.objects.len() {
            object(&names, position, &mut parts)?;
        }
        let function = program.function_named(&test.function);
        let function = function.ok_or_else(|| format!("there is no function {}", test.function))?;
        let params = match program.types.get(program.functions[function].ty) {
            CType::Function { params, .. } => params.clone(),
            _ => Vec::new(),
        };
        let param_names = parameter_names(program, function);
        let param_names = params.into_iter().zip(param_names).collect::<Vec<_>>();
        for (number, call) in test.calls().enumerate() {
            let is_last = number == test.earlier.len();
            let prefix = if is_last { name.to_owned() } else { format!("{name}_call_{number}") };
            self.arguments(&names, &prefix, &param_names, call, &mut parts)?;
            if !is_last {
                parts.earlier.push(std::mem::take(&mut parts.args));
            }
        }
        let has_error_number = libc::error_number(program).is_some();
        let is_error_number = |name: &str| has_error_number && name == libc::ERROR_NUMBER;
        for global in test.globals.iter().filter(|global| !is_error_number(&global.name)) {
            let variable =
                unique(format!("{name}_{}_set", identifier(&global.name)), &mut self.taken);
            set_global(&names, &global.name, &variable, &global.image, &mut parts)?;
        }
        self.queues(&names, name, &mut parts)?;
        if has_error_number {
            // The last thing to be set, since what comes before may change it.
            let set = test.globals.iter().find(|global| is_error_number(&global.name));
            let byte = |at: usize| set.and_then(|set| set.image.bytes.get(at)).copied();
            let value = i32::from_le_bytes(std::array::from_fn(|at| byte(at).unwrap_or(0)));
            parts.set_up.push(format!("errno = {};", int_constant(value)));
        }
        if let Some(observed) = &suite_test.observed {
            checks(&names, observed, &self.result_name(), &mut parts);
        }
        Ok(parts)
    }

    /// The arguments of a call.
    fn arguments(
        &mut self,
        names: &Names,
        prefix: &str,
        params: &[(CTypeId, String)],
        call: PassedArguments<'_>,
        parts: &mut Parts,
    ) -> Result<(), String> {
        for ((ty, param), image) in params.iter().zip(call.args) {
            let variable = unique(format!("{prefix}_arg_{}", identifier(param)), &mut self.taken);
            argument(names, *ty, &variable, image, parts)?;
        }
        for (position, passed) in call.variable.iter().enumerate() {
            let position = params.len() + position;
            let variable = unique(format!("{prefix}_arg_{position}"), &mut self.taken);
            variable_argument(names, passed, &variable, parts)?;
        }
        Ok(())
    }

    /// The results of undefined functions.
    fn queues(&mut self, names: &Names, name: &str, parts: &mut Parts) -> Result<(), String> {
        let calls = &names.test.externals;
        for (file, bytes) in names.test.files() {
            let (shown, size) = (string(&bytes), bytes.len());
            parts.set_up.push(format!("lydian_give(\"{file}\", {shown}, {size});"));
        }
        let calls: Vec<&ExternalResult> =
            calls.iter().filter(|call| call.variable().is_none()).collect();
        for (name, value) in names.test.environment() {
            let name = string(name.as_bytes());
            parts.set_up.push(match value {
                Some(value) => format!("lydian_setenv({name}, {}, 1);", string(&value)),
                None => format!("lydian_unsetenv({name});"),
            });
        }
        let functions: BTreeSet<&str> = calls.iter().map(|call| call.function.as_str()).collect();
        for function in functions.into_iter().filter(|name| !name.starts_with(INPUT_PREFIX)) {
            let calls: Vec<&ExternalResult> =
                calls.iter().filter(|call| call.function == function).copied().collect();
            let results: Vec<&Image> = calls.iter().map(|call| &call.result).collect();
            self.writes(names, name, &calls, parts)?;
            let queue = unique(format!("{name}_{}", identifier(function)), &mut self.taken);
            let declared = if let Some(ty) = self.stubs.has_queue(function) {
                let mut values = Vec::new();
                for image in &results {
                    let memory = ObservedImage::from((*image).clone());
                    let value = read(&names.program.types, ty, 1, &memory);
                    let text = initialiser(names, ty, &value);
                    values.push(text.map_err(|why| format!("a result of {function}: {why}"))?);
                }
                let spelled = format!("lydian_type_{function}");
                format!("static const {spelled} {queue}[] = {{ {} }};", values.join(", "))
            } else if self.stubs.can_fail(function) {
                let flags: Vec<String> = (results.iter())
                    .map(|image| u8::from(image.bytes.iter().any(|byte| *byte != 0)).to_string())
                    .collect();
                format!("static const unsigned char {queue}[] = {{ {} }};", flags.join(", "))
            } else if matches!(function, "klee_int" | "klee_range") {
                let value = |image: &&Image| {
                    let byte = |at: usize| image.bytes.get(at).copied().unwrap_or(0);
                    int_constant(i32::from_le_bytes(std::array::from_fn(byte)))
                };
                let values: Vec<String> = results.iter().map(value).collect();
                format!("static const int {queue}[] = {{ {} }};", values.join(", "))
            } else if function == "klee_make_symbolic" {
                let object = |image: &&Image| {
                    format!("{{ {}, {} }}", string(&image.bytes), image.bytes.len())
                };
                let objects: Vec<String> = results.iter().map(object).collect();
                let objects = objects.join(", ");
                format!("static const struct lydian_object {queue}[] = {{ {objects} }};")
            } else {
                if self.stubs.writes(function) {
                    parts.set_up.push(format!("lydian_left_{function} = {};", results.len()));
                }
                continue;
            };
            parts.definitions.push(declared);
            parts.set_up.push(format!("lydian_results_{function} = {queue};"));
            parts.set_up.push(format!("lydian_left_{function} = {};", results.len()));
        }
        Ok(())
    }
}

/// An `int` as a constant expression.
fn int_constant(value: i32) -> String {
    if value == i32::MIN { format!("(-{} - 1)", i32::MAX) } else { value.to_string() }
}

/// Text that cannot end or begin a comment, on one line.
fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace(['\n', '\r'], " ")
}

/// Declares and fills an object.
fn object(names: &Names, position: usize, parts: &mut Parts) -> Result<(), String> {
    let program = names.program;
    let object = &names.test.objects[position];
    let name = &names.objects[position];
    let size = object.image.bytes.len() as u64;
    let aligned = match object.align > program.types.align(object.ty).max(16) {
        true => format!(" __attribute__((__aligned__({})))", object.align),
        false => String::new(),
    };
    let variable = &name.variable;
    if !name.typed || name.lone {
        let bytes = size.max(1);
        let declared = if name.lone {
            let it = program.types.spell_compiled(object.ty, "it");
            format!("static union {{ {it}; unsigned char bytes[{bytes}]; }} {variable}{aligned};")
        } else {
            let align = object.align.max(1);
            format!(
                "static unsigned char {variable}[{bytes}] __attribute__((__aligned__({align})));"
            )
        };
        parts.declarations.push(declared);
        return fill(names, variable, &object.image, parts);
    }
    let declarator = format!("{variable}[{}]", object.count.max(1));
    let value = read(&program.types, object.ty, object.count, &object.image.clone().into());
    let initial = match &value {
        value if value.is_zero() => Ok(String::new()),
        Value::Text(bytes) => Ok(characters(program, object.ty, bytes, object.count)),
        Value::Array(elements) if object.count != 1 => array(names, object.ty, elements),
        // An element that is an array itself has its own braces.
        value => initialiser(names, object.ty, value).map(|text| format!("{{ {text} }}")),
    };
    let constant = if object.read_only && initial.is_ok() { "const " } else { "" };
    let declared = format!(
        "static {constant}{}{aligned}",
        program.types.spell_compiled(object.ty, &declarator)
    );
    parts.declarations.push(format!("{declared};"));
    match initial {
        Ok(text) if text.is_empty() => Ok(()),
        Ok(text) => {
            parts.definitions.push(format!("{declared} = {text};"));
            Ok(())
        }
        Err(_) => fill(names, variable, &object.image, parts),
    }
}

/// Copies bytes and pointers into a variable.
fn fill(names: &Names, variable: &str, image: &Image, parts: &mut Parts) -> Result<(), String> {
    let image = crate::suite::plain(image);
    if image.bytes.iter().any(|byte| *byte != 0) {
        let bytes = string(&image.bytes);
        let size = image.bytes.len();
        parts.set_up.push(format!("__builtin_memcpy((void *)&{variable}, {bytes}, {size});"));
    }
    for pointer in &image.pointers {
        let target = names.pointer(&crate::value::Pointer::To(pointer.target.clone()), None)?;
        let at = pointer.offset;
        parts.set_up.push(format!(
            "{{ const void *pointer = {target}; \
             __builtin_memcpy((char *)&{variable} + {at}, &pointer, sizeof pointer); }}"
        ));
    }
    Ok(())
}

/// Adds an argument: a literal, or a variable for what is none.
fn argument(
    names: &Names,
    ty: CTypeId,
    variable: &str,
    image: &Image,
    parts: &mut Parts,
) -> Result<(), String> {
    let types = &names.program.types;
    let value = read(types, ty, 1, &image.clone().into());
    if types.scalar(ty).is_some()
        && let Ok(text) = scalar(names, ty, &value)
    {
        parts.args.push(text);
        return Ok(());
    }
    let declared = format!("static {}", types.spell_compiled(ty, variable));
    if declared.contains('{') {
        return Err(format!("the type of {variable} has no name"));
    }
    parts.args.push(variable.to_owned());
    match initialiser(names, ty, &value) {
        Ok(text) => {
            parts.definitions.push(format!("{declared} = {text};"));
            Ok(())
        }
        Err(_) => {
            parts.declarations.push(format!("{declared};"));
            fill(names, variable, image, parts)
        }
    }
}

/// An argument for `...`: no prototype converts it to its type, so a cast does.
fn variable_argument(
    names: &Names,
    passed: &VariableArgument,
    variable: &str,
    parts: &mut Parts,
) -> Result<(), String> {
    let ty = names.program.types.spell_compiled(passed.ty, "");
    if ty.contains('{') {
        return Err(format!("the type of {variable} has no name"));
    }
    argument(names, passed.ty, variable, &passed.image, parts)?;
    if let Some(text) = parts.args.last_mut() {
        *text = format!("({ty}){text}");
    }
    Ok(())
}

/// Sets a global before the call.
fn set_global(
    names: &Names,
    global: &str,
    variable: &str,
    image: &Image,
    parts: &mut Parts,
) -> Result<(), String> {
    let program = names.program;
    if global.contains('.') {
        return Err(format!("C has no name for {global} outside of its function"));
    }
    let id = program.global_named(global);
    let ty = program.globals[id.ok_or_else(|| format!("there is no global {global}"))?].ty;
    let value = read(&program.types, ty, 1, &image.clone().into());
    let constant = program.globals.values().any(|known| known.name == global && known.read_only);
    if program.types.scalar(ty).is_some()
        && !constant
        && let Ok(text) = scalar(names, ty, &value)
    {
        parts.set_up.push(format!("{global} = {text};"));
        return Ok(());
    }
    match initialiser(names, ty, &value) {
        Ok(text) => {
            parts.definitions.push(format!("static __typeof__({global}) {variable} = {text};"));
            parts.set_up.push(format!(
                "__builtin_memcpy((void *)&{global}, (void *)&{variable}, sizeof {variable});"
            ));
            Ok(())
        }
        Err(_) => {
            let size = image.bytes.len();
            parts.set_up.push(format!("__builtin_memset((void *)&{global}, 0, {size});"));
            fill(names, global, image, parts)
        }
    }
}

/// The assertions on what was observed.
fn checks(names: &Names, observed: &Observed, result_name: &str, parts: &mut Parts) {
    let program = names.program;
    if observed.outcome != Outcome::Returned {
        return;
    }
    if let Some(result) = &observed.result
        && let Some(ty) = result_type(program, &names.test.function)
    {
        let mut checks = Checks::new(names, result, None);
        checks.value(ty, result_name, 0);
        parts.checks.append(&mut checks.lines);
    }
    for (position, after) in &observed.objects {
        let object = &names.test.objects[*position as usize];
        let name = &names.objects[*position as usize];
        let mut checks = Checks::new(names, after, Some(&object.image));
        if !name.typed {
            checks.bytes(&name.variable, 0, after.image.bytes.len() as u64, false);
        } else if name.lone {
            checks.value(object.ty, &name.elements, 0);
        } else {
            checks.elements(object.ty, object.count, &name.elements, 0);
        }
        parts.checks.append(&mut checks.lines);
    }
    for (global, after) in &observed.globals {
        let Some(id) = program.global_named(global).filter(|_| !global.contains('.')) else {
            continue; // a static local
        };
        let set = names.test.globals.iter().find(|input| input.name == *global);
        let mut checks = Checks::new(names, after, set.map(|input| &input.image));
        checks.value(program.globals[id].ty, global, 0);
        let mut lines = checks.lines;
        parts.checks.append(&mut lines);
    }
}
