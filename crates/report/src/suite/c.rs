//! A suite as one C file that needs nothing but a C compiler and the header beside it.
//!
//! The file includes the user's source, so that static functions are in reach, between two inclusions
//! of `lydian.h`: the first is out of reach of the user's macros, the second has the macros that
//! tests are written with. The data of a test stands in its function ([`body`]). A test asserts the
//! result and all changes by the call: floats by their bits (all NaNs being equal), pointers by the
//! places that they point to, and no padding.
//!
//! Tests of a function that are a single assertion on a call of numbers are rows of one test. Each
//! test runs in a process of its own, so that it starts from the program's first state and a crash
//! ends only this test.
//!
//! Tests that were observed to crash, to abort or to run out of time are compiled under
//! `LYDIAN_RUN_CRASHING`. Tests that tried something outside of the program are compiled under
//! `LYDIAN_RUN_UNCONFINED`, with a comment about it: Lydian runs them confined, and a suite is not
//! confined. With `LYDIAN_NO_MAIN` the file has a function for each test instead of `main`. With
//! `LYDIAN_NO_FORK` tests run in one process, one after the other. For a framework the same tests are
//! written as its own ([`frameworks`]).

mod assertion;
mod assign;
mod body;
mod check;
pub mod frameworks;
mod literal;
mod stubs;
mod writes;

pub use body::{DEVICES, MOST_FAILING, accesses_devices, devices_header};

use std::collections::BTreeSet;

use lydian_ir::{BinOp, CastOp, Expr, ExprId, GlobalInit, Program, Type, libc};

use crate::suite::observation::{Observation, Outcome};
use crate::suite::registers::Registers;
use crate::suite::test::SuiteTest;
use assertion::Line;
use body::{Body, Row, accesses, row};
use frameworks::{Case, Framework, Guard, guarded};
use literal::{identifier, unique};
use stubs::Stubs;

/// The header that all suites share, and its name.
pub const HEADER: (&str, &str) = ("lydian.h", include_str!("c/lydian.h"));

/// Lines of the comment above a test.
const MOST_LINES: usize = 3;

/// Greatest length of a line.
const WIDTH: usize = 100;

/// The options of the file.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The source under test, as the file's first comment names it.
    pub source: &'a str,
    /// The path of the source, as an `#include` in the file finds it.
    pub include: &'a str,
    /// Directives that go before the source.
    pub before: &'a str,
    /// The paths of files with definitions of undefined names, to be included after the source.
    pub stubs: &'a [&'a str],
    /// C that goes after the source and these files, as if it were part of it.
    pub driver: &'a str,
    /// Undefined functions that need stubs, beside those that tests give results for and those that
    /// the program uses and no engine models.
    pub externals: &'a [String],
    /// Functions that the source defines and the program does not have, since they are not supported.
    pub left_out: &'a BTreeSet<String>,
    /// Macros that the source and what it includes may define.
    pub macros: &'a BTreeSet<String>,
    /// The macros for registers of devices.
    pub registers: &'a Registers,
    /// Whether the C library defines a name.
    pub library: &'a dyn Fn(&str) -> bool,
    /// Whether each test is a function of its own, also where several would be rows of one.
    pub apart: bool,
    /// The framework that the tests are written for; `None` for a `main` of their own.
    pub framework: Option<Framework>,
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
    /// Whether it needs the header of [`devices_header`] beside it, by the name [`DEVICES`].
    pub has_devices: bool,
}

/// Writes the suite as C. Tests that C cannot express are left out with a comment.
pub fn to_c(program: &Program, tests: &[SuiteTest], options: &Options<'_>) -> String {
    emit(program, tests, options).text
}

/// Writes the suite as C. The result lists the tests that were left out.
pub fn emit(program: &Program, tests: &[SuiteTest], options: &Options<'_>) -> EmittedC {
    let stubs = Stubs::of(program, tests, options.externals, options.left_out, options.library);
    let mut taken: BTreeSet<String> = program.typedefs.keys().cloned().collect();
    taken.extend(program.functions.values().map(|function| function.name.clone()));
    taken.extend(program.globals.values().map(|global| global.name.clone()));
    taken.extend(options.macros.iter().cloned());
    let mut writer = Writer {
        program,
        stubs: &stubs,
        options,
        taken,
        aligns: looks_at_alignment(program),
        text: String::new(),
        runs: Vec::new(),
        left_out: Vec::new(),
        has_devices: tests.iter().any(accesses_devices),
    };
    writer.file(tests);
    let Writer { text, runs, left_out, has_devices, .. } = writer;
    let cases = runs.into_iter().map(|run| run.case).collect();
    EmittedC { text, cases, left_out, has_devices }
}

/// The name of an outcome in the runtime, and the number that goes with it.
fn ending(observed: Option<&Observation>) -> (&'static str, i32) {
    let is_undefined = observed.is_some_and(|observed| observed.is_undefined);
    match observed.map(|observed| &observed.outcome) {
        Some(Outcome::Returned) if is_undefined => ("LYDIAN_UNDEFINED", 0),
        // It is known to end the process.
        Some(Outcome::Exited(_)) if is_undefined => ("LYDIAN_UNDEFINED", 1),
        None | Some(Outcome::Returned) => ("LYDIAN_RETURNS", 0),
        Some(Outcome::Exited(status)) => ("LYDIAN_EXITS", *status),
        Some(Outcome::Aborted) => ("LYDIAN_CRASHES", 6),
        // The signal depends on the compiler's treatment of undefined behaviour.
        Some(Outcome::Crashed(_)) => ("LYDIAN_CRASHES", 0),
        Some(Outcome::TimedOut(_)) => ("LYDIAN_HANGS", 0),
        // The test's function goes on behind the call.
        Some(Outcome::OutranScript) if is_undefined => ("LYDIAN_UNDEFINED", 0),
        Some(Outcome::OutranScript) => ("LYDIAN_RETURNS", 0),
        Some(Outcome::Ended(_)) => ("LYDIAN_ENDS", 0),
    }
}

fn guard(test: &SuiteTest) -> Guard {
    let (ending, _) = ending(test.observed.as_ref());
    let crashes = !matches!(ending, "LYDIAN_RETURNS" | "LYDIAN_EXITS" | "LYDIAN_UNDEFINED");
    let is_undefined = ending == "LYDIAN_UNDEFINED";
    Guard { crashes, is_undefined, attempts: reaches_out(test) }
}

/// Whether a test tries something outside of the program.
fn reaches_out(test: &SuiteTest) -> bool {
    test.observed.as_ref().is_some_and(|observed| !observed.attempts.is_empty())
}

/// Whether some function of the user's looks at the low bits of a pointer, or divides it.
fn looks_at_alignment(program: &Program) -> bool {
    let own = program.defined().filter(|(_, function)| !function.library);
    own.filter_map(|(_, function)| function.body.as_ref()).any(|body| {
        let is_address = |expr: ExprId| {
            let mut at = expr;
            while let Expr::Cast(op, _, inner) = &body.exprs[at] {
                let from = body.type_of(*inner);
                if *op == CastOp::Bits && from == Type::Ptr {
                    return true;
                }
                at = *inner;
            }
            false
        };
        body.exprs.values().any(|expr| match expr {
            Expr::Binary(BinOp::And | BinOp::RemU | BinOp::RemS | BinOp::ShrU, a, b) => {
                is_address(*a) || is_address(*b)
            }
            Expr::Cast(CastOp::Trunc, _, a) => is_address(*a),
            _ => false,
        })
    })
}

/// A test that the file has.
struct Run {
    case: Case,
    /// The name of its function.
    function: String,
    /// Its outcome in the runtime, and the status.
    ending: (&'static str, i32),
    /// Whether it is a test case of the framework. Otherwise it runs in a process of its own, with
    /// Lydian's checks.
    is_native: bool,
}

struct Writer<'a> {
    program: &'a Program,
    stubs: &'a Stubs<'a>,
    options: &'a Options<'a>,
    taken: BTreeSet<String>,
    /// Whether data has the alignment that it was measured with.
    aligns: bool,
    text: String,
    runs: Vec<Run>,
    left_out: Vec<(String, String)>,
    /// Whether some test accesses devices.
    has_devices: bool,
}

/// Before and behind a source whose functions clang must not put into tests.
const OPAQUE_TO_CLANG: &str = "#ifdef __clang__\n#pragma clang attribute push(__attribute__((__noinline__)), apply_to = function)\n#endif\n";
const NO_LONGER_OPAQUE: &str = "#ifdef __clang__\n#pragma clang attribute pop\n#endif\n";

impl Writer<'_> {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    fn file(&mut self, tests: &[SuiteTest]) {
        self.head(tests);
        let behind = self.text.len();
        self.line(format!("#include \"{}\"", HEADER.0));
        if self.has_devices {
            self.line(format!("#include \"{DEVICES}\""));
        }
        if let Some(framework) = self.options.framework {
            self.text.push_str(framework.head());
        }
        let after = self.stubs.after();
        if !after.is_empty() {
            self.line(
                "\n/* ---- What the source leaves undefined; what is linked goes before ---- */\n",
            );
            self.text.push_str(&after);
        }
        let members = self.stubs.members();
        self.text.push_str(&members);
        self.line("\n/* ---- The tests ---- */");
        let bodies: Vec<(&SuiteTest, Result<Vec<Line>, String>)> =
            tests.iter().map(|test| (test, self.body(test))).collect();
        let row = |test: &SuiteTest, lines: &Result<Vec<Line>, String>| match self.options.apart {
            true => None,
            false => row(test, lines.as_ref().ok()?),
        };
        let rows: Vec<Option<Row>> = bodies.iter().map(|(test, lines)| row(test, lines)).collect();
        let mut tables: BTreeSet<&str> = BTreeSet::new();
        for (at, (test, lines)) in bodies.iter().enumerate() {
            let function = test.test.function.as_str();
            let of_function = |other: &usize| tests[*other].test.function == function;
            let all: Vec<usize> = (0..tests.len())
                .filter(|other| rows[*other].is_some() && of_function(other))
                .collect();
            match lines {
                _ if rows[at].is_some() && all.len() > 1 => {
                    if tables.insert(function) {
                        let rows = all.iter().map(|at| (&tests[*at], rows[*at].as_ref()));
                        let rows: Vec<_> =
                            rows.filter_map(|(test, row)| Some((test, row?))).collect();
                        self.table(function, &rows);
                    }
                }
                Ok(lines) => self.write_test(test, lines),
                Err(why) => {
                    let shown = comment(why);
                    self.line(format!("\n/* {} is only in the JSON form: {shown}. */", test.name));
                    self.left_out.push((test.name.clone(), why.clone()));
                }
            }
        }
        match self.options.framework {
            Some(framework) => self.cases(framework, tests),
            None => self.main(),
        }
        self.undefine(behind);
    }

    fn head(&mut self, tests: &[SuiteTest]) {
        let shown = comment(self.options.source);
        self.line(format!("/* Tests of {shown}, written by Lydian."));
        self.line(" *");
        match self.options.framework {
            Some(framework) => {
                self.line(" * Compile it with the flags of the source:");
                self.line(format!(" *     cc $CFLAGS {}", framework.build()));
            }
            None => {
                self.line(" * Compile it with the flags of the source, and run it: it prints what fails and");
                self.line(" * exits with 1 if anything does.");
            }
        }
        self.line(" * -DLYDIAN_RUN_CRASHING adds the tests that are known to crash or to run out of time. */");
        if tests.iter().any(|test| guard(test).is_undefined) {
            self.line("/* -DLYDIAN_RUN_UNDEFINED adds the tests whose runs C leaves undefined. */");
        }
        if tests.iter().any(reaches_out) {
            self.line("/* -DLYDIAN_RUN_UNCONFINED adds the tests that reach out of the program: what each does then");
            self.line(" * is said above it. Their values are those of runs in which the system refused it. */");
        }
        if self.stubs.verifies() {
            self.line("/* Functions of verifiers are often called without a declaration. */");
            self.line("#pragma GCC diagnostic ignored \"-Wimplicit-function-declaration\"");
            self.line(format!("#define LYDIAN_VERIFIES {}", self.stubs.most_inputs()));
        }
        if tests.iter().any(|test| !test.test.files().is_empty()) {
            self.line("#define LYDIAN_HAS_FILES");
        }
        if self.has_devices {
            self.line("#define LYDIAN_HAS_DEVICES");
        }
        self.line(format!("#include \"{}\"", HEADER.0));
        if self.has_devices {
            self.line(format!("#include \"{DEVICES}\""));
        }
        let before = self.stubs.before();
        self.text.push_str(&before);
        self.text.push_str(self.options.before);
        if let Some(main) = self.program.function_named("main") {
            // As a function of another name it would not return 0 at its end.
            let types = &self.program.types;
            let declared = types.spell_compiled(self.program.functions[main].ty, "main");
            self.line(format!("{declared} __asm__(\"lydian_program_main\");"));
        }
        let opaque = self.readers_of_constants(tests);
        if !opaque.is_empty() {
            self.text.push_str(OPAQUE_TO_CLANG);
        }
        for file in std::iter::once(&self.options.include).chain(self.options.stubs) {
            self.line(format!("#include \"{file}\""));
        }
        if !opaque.is_empty() {
            self.text.push_str(NO_LONGER_OPAQUE);
        }
        if !self.options.driver.is_empty() {
            self.text.push_str(self.options.driver);
            self.line("# 1 \"tests\"");
        }
        if libc::error_number(self.program).is_some() {
            self.line("#include <errno.h>");
        }
        let behind = self.stubs.behind();
        self.text.push_str(&behind);
        let accesses = tests.iter().flat_map(accesses).collect();
        let definitions = self.options.registers.definitions(&self.program.types, &accesses);
        self.text.push_str(&definitions);
        for declaration in stubs::declared_in_functions(self.program) {
            self.line(declaration);
        }
        for function in opaque {
            self.line(format!("LYDIAN_OPAQUE({function})"));
        }
    }

    /// The functions under test for which a test sets a constant of another file.
    fn readers_of_constants<'t>(&self, tests: &'t [SuiteTest]) -> BTreeSet<&'t str> {
        let program = self.program;
        let is_constant = |name: &str| {
            let global = program.global_named(name).map(|id| &program.globals[id]);
            global.is_some_and(|global| global.read_only && global.init == GlobalInit::Extern)
        };
        let tests = tests.iter().map(|test| &test.test);
        let setting = tests.filter(|test| test.globals.iter().any(|set| is_constant(&set.name)));
        setting.map(|test| test.function.as_str()).collect()
    }

    /// The text that makes a second `main` of the file the main function, if the program has one.
    fn own_main(&self) -> &'static str {
        match self.program.function_named("main") {
            Some(_) => {
                "\nint lydian_suite_main(void) __asm__(\"main\");\n#define main lydian_suite_main\n"
            }
            None => "",
        }
    }

    fn body(&self, test: &SuiteTest) -> Result<Vec<Line>, String> {
        let hides_free = self.options.macros.contains("free");
        let tools = (self.stubs, self.options.registers);
        Body::new(self.program, tools, &self.taken, (self.aligns, hides_free)).of(test)
    }

    /// The framework, if the test can be a test case of it.
    fn native(&self, test: &SuiteTest) -> Option<Framework> {
        let changes_locals =
            |observed: &Observation| observed.globals.iter().any(|(name, _)| name.contains('.'));
        let returns = ending(test.observed.as_ref()).0 == "LYDIAN_RETURNS";
        let inputs = &test.test;
        let alone = !returns
            || !inputs.earlier.is_empty()
            || !inputs.files().is_empty()
            || !inputs.environment().is_empty()
            || !inputs.externals.is_empty()
            || accesses_devices(test)
            || test.observed.as_ref().is_some_and(|observed| {
                !observed.calls.is_empty() || !observed.released.is_empty()
            })
            || test.observed.as_ref().is_some_and(changes_locals);
        self.options.framework.filter(|framework| !alone && *framework != Framework::Googletest)
    }

    /// A test function for all rows of a function.
    fn table(&mut self, function: &str, rows: &[(&SuiteTest, &Row)]) {
        let name = unique(format!("test_{}", identifier(function)), &mut self.taken);
        let native = rows.first().and_then(|(test, _)| self.native(test));
        self.line("");
        self.begin(&name, native, ("LYDIAN_RETURNS", 0), Guard::default());
        for (test, Row(assertion)) in rows {
            let text = format!("    {}", assertion.text(native));
            let what = test.kept_for.first().map(|what| comment(what));
            match what {
                Some(what) if text.len() + what.len() + 8 <= WIDTH => {
                    self.line(format!("{text}  /* {what} */"));
                }
                Some(what) => {
                    self.line(format!("    /* {what} */"));
                    self.wrapped(&text);
                }
                None => self.wrapped(&text),
            }
        }
        self.end(native);
    }

    /// Begins a test's function, and notes the test.
    fn begin(
        &mut self,
        function: &str,
        native: Option<Framework>,
        ending: (&'static str, i32),
        guard: Guard,
    ) {
        let head = match native {
            Some(framework) => framework.begins(function, &suite_name(self.options.source)),
            None => format!("static void {function}(void)\n{{"),
        };
        self.line(head);
        let name = function.strip_prefix("test_").unwrap_or(function).to_owned();
        let case = Case { name, guard };
        let is_native = native.is_some();
        self.runs.push(Run { case, function: function.to_owned(), ending, is_native });
    }

    fn end(&mut self, native: Option<Framework>) {
        self.line(native.map_or("}", Framework::ends));
    }

    fn write_test(&mut self, test: &SuiteTest, lines: &[Line]) {
        let name = unique(format!("test_{}", identifier(&test.name)), &mut self.taken);
        let native = self.native(test);
        self.line("");
        self.kept_for(test);
        let guard = guard(test);
        let condition = guard.begins();
        let is_guarded = condition.is_some();
        condition.into_iter().for_each(|line| self.line(line));
        self.begin(&name, native, ending(test.observed.as_ref()), guard);
        if native.is_some() && libc::error_number(self.program).is_some() {
            self.line("    errno = 0;");
        }
        for line in lines {
            let text = match line {
                Line::Text(text) => text.clone(),
                Line::Assert(assertion) => assertion.text(native),
            };
            self.wrapped(&format!("    {text}"));
        }
        self.end(native);
        if is_guarded {
            self.line("#endif");
        }
    }

    /// Writes a line, broken if it is long.
    fn wrapped(&mut self, text: &str) {
        for line in broken(text) {
            self.line(line);
        }
    }

    /// Writes the comment above a test: the objectives that it is kept for.
    fn kept_for(&mut self, test: &SuiteTest) {
        let all = &test.kept_for;
        let shown = if all.len() > MOST_LINES { MOST_LINES - 1 } else { all.len() };
        let mut lines: Vec<String> = all[..shown].iter().map(|line| comment(line)).collect();
        if shown < all.len() {
            lines.push(format!("and {} more lines, in tests.json", all.len() - shown));
        }
        let is_undefined = test.observed.as_ref().is_some_and(|observed| observed.is_undefined);
        if is_undefined {
            lines.truncate(MOST_LINES - 1);
            lines.push("C leaves undefined what this run does: nothing is asserted".to_owned());
        }
        let attempts = test.observed.iter().flat_map(|observed| &observed.attempts);
        lines.extend(attempts.map(|what| comment(&format!("It tries to {what}"))));
        if !lines.is_empty() {
            self.line(format!("/* {} */", lines.join("\n   ")));
        }
    }

    /// Undefines macros with the name of an item of the program that is used after the includes,
    /// where the name must mean the item.
    fn undefine(&mut self, behind: usize) {
        let program = self.program;
        let fields = program.types.records.values().flat_map(|record| &record.fields);
        let names = fields.map(|field| &field.name).chain(program.typedefs.keys());
        let globals = program.globals.values().map(|global| &global.name);
        let functions = program.functions.values().map(|function| &function.name);
        let own: BTreeSet<&str> =
            names.chain(globals).chain(functions).map(String::as_str).collect();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words: BTreeSet<&str> = self.text[behind..].split(|c| !is_part(c)).collect();
        // The error number is defined by its macro.
        let is_own =
            |name: &&str| own.contains(name) && words.contains(name) && *name != libc::ERROR_NUMBER;
        let lines: String = self
            .options
            .macros
            .iter()
            .map(String::as_str)
            .filter(is_own)
            .map(|name| format!("#undef {name}\n"))
            .collect();
        self.text.insert_str(behind, &lines);
    }

    /// An entry of the table of tests.
    fn entry(run: &Run) -> String {
        let (ending, status) = run.ending;
        format!("{{ \"{}\", {}, {ending}, {status} }}", run.case.name, run.function)
    }

    /// Writes the table of tests and the function that runs it, or a function for each test if
    /// another file has a `main`.
    fn main(&mut self) {
        let mut text = String::from("\n#ifdef LYDIAN_NO_MAIN\n\n");
        let cases = self.runs.iter().map(|run| {
            let (ending, status) = run.ending;
            let case =
                format!("LYDIAN_CASE({}, {}, {ending}, {status})\n", run.case.name, run.function);
            (&run.case, case)
        });
        guarded(&mut text, cases);
        text.push_str("\n#else\n");
        text.push_str(self.own_main());
        text.push_str("\nint main(void)\n{\n    static const struct lydian_test tests[] = {\n");
        let entries = self.runs.iter();
        guarded(
            &mut text,
            entries.map(|run| (&run.case, format!("        {},\n", Self::entry(run)))),
        );
        text.push_str(
            "        { 0, 0, LYDIAN_RETURNS, 0 },\n    };\n    \
             return lydian_run_all(tests, sizeof tests / sizeof *tests - 1);\n}\n\n#endif\n",
        );
        self.text.push_str(&text);
    }

    /// The cases of a framework.
    fn cases(&mut self, framework: Framework, tests: &[SuiteTest]) {
        let mut text = String::new();
        let suite = suite_name(self.options.source);
        let alone = |run: &Run| format!("{}_alone", run.function);
        let bodies = self
            .runs
            .iter()
            .filter(|run| !run.is_native)
            .map(|run| (&run.case, framework.alone(&alone(run), &suite, &Self::entry(run))));
        guarded(&mut text, bodies);
        for run in self.runs.iter_mut().filter(|run| !run.is_native) {
            run.function = alone(run);
        }
        let mut changed: BTreeSet<&str> = BTreeSet::new();
        for test in tests {
            changed.extend(test.test.globals.iter().map(|global| global.name.as_str()));
            let observed = test.observed.iter().flat_map(|observed| &observed.globals);
            changed.extend(observed.map(|(name, _)| name.as_str()));
        }
        let writable = |name: &&str| {
            let known = self.program.global_named(name);
            !name.contains('.')
                && *name != libc::ERROR_NUMBER
                && known.is_some_and(|id| !self.program.globals[id].read_only)
        };
        let changed: Vec<&str> = changed.into_iter().filter(writable).collect();
        text.push_str(self.own_main());
        let cases: Vec<(&Case, &str)> =
            self.runs.iter().map(|run| (&run.case, run.function.as_str())).collect();
        framework.main(&mut text, &suite, &cases, &changed);
        self.text.push_str(&text);
    }
}

/// The name of the tests of a source as a whole: a C identifier.
pub fn suite_name(source: &str) -> String {
    let file = source.rsplit('/').next().unwrap_or(source);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!("tests_of_{stem}").chars().map(letter).collect()
}

/// Text that cannot end or begin a comment, on one line.
fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace(['\n', '\r'], " ")
}

/// A line, broken behind commas where it is longer than [`WIDTH`].
fn broken(text: &str) -> Vec<String> {
    let indent = text.len() - text.trim_start().len();
    let mut lines = Vec::new();
    let mut rest = text.to_owned();
    while rest.len() > WIDTH {
        let Some(at) = last_break(&rest, indent) else { break };
        lines.push(rest[..at].trim_end().to_owned());
        rest = format!("{:1$}{2}", "", indent + 4, rest[at..].trim_start());
    }
    lines.push(rest);
    lines
}

/// The position of the last comma within the width, outside of literals, after which a long line
/// breaks.
fn last_break(text: &str, indent: usize) -> Option<usize> {
    let (mut quote, mut escaped, mut found) = (None, false, None);
    for (at, c) in text.char_indices() {
        if at >= WIDTH && found.is_some() {
            break;
        }
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, ',') if at > indent + 4 => found = Some(at + 1),
            _ => {}
        }
    }
    found.filter(|at| *at < text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_break_behind_commas_outside_of_literals() {
        let list = vec!["\"a, b\""; 30].join(", ");
        let lines = broken(&format!("    f({list});"));
        assert!(lines.len() > 2, "{lines:?}");
        assert!(lines.iter().all(|line| line.len() <= WIDTH), "{lines:?}");
        assert!(lines[1..].iter().all(|line| line.starts_with("        \"a, b\"")), "{lines:?}");
        let one = "x".repeat(2 * WIDTH);
        assert_eq!(broken(&one), std::slice::from_ref(&one));
    }

    #[test]
    fn suites_are_named_after_the_source() {
        assert_eq!(suite_name("/a/b-c.d.c"), "tests_of_b_c_d");
    }
}
