//! Suites as one C file, for the user's own build.
//!
//! The file includes the source under test, so that static functions are in reach, and has a
//! function for each test, stubs for what the source calls and does not define, and a `main` that
//! runs all tests and says which fail. Where functions keep values in static locals, each test
//! runs in a process of its own. A test that crashes or does not end is listed but not run.

use std::fmt::Write as _;

use indexmap::IndexSet;
use lydian_ir::test::{Image, Test};
use lydian_ir::{CType, CTypeId, Function, GlobalInit, Program};

use crate::suite::{Outcome, SuiteTest, plain};
use values::{Values, string};

mod values;

/// Functions that end the program, which the tests replace where one is observed to be called.
const ENDING: [(&str, &str); 6] = [
    ("exit", "int code"),
    ("_exit", "int code"),
    ("_Exit", "int code"),
    ("abort", "void"),
    ("__assert_fail", ""),
    ("__assert", ""),
];

/// Allocators that a test can make fail, with their parameters and the call of the real one.
const ALLOCATORS: [(&str, &str, &str); 3] = [
    ("malloc", "__SIZE_TYPE__ size", "(size)"),
    ("calloc", "__SIZE_TYPE__ count, __SIZE_TYPE__ size", "(count, size)"),
    ("realloc", "void *old, __SIZE_TYPE__ size", "(old, size)"),
];

/// How the file is made.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// The source under test, as the file's first comment names it.
    pub source: &'a str,
    /// The path of the source, as an `#include` in the file finds it.
    pub include: &'a str,
    /// The undefined functions that need stubs: those whose results are inputs.
    pub externals: &'a [String],
}

/// Writes the suite as C.
pub fn to_c(program: &Program, tests: &[SuiteTest], options: &Options<'_>) -> String {
    let mut writer = Writer { program, text: String::new() };
    writer.head(tests, options);
    writer.externals(options);
    writer.globals();
    let mut run = Vec::new();
    for case in tests {
        match writer.case(case, options) {
            Ok(()) => run.push(case.name.as_str()),
            Err(reason) => {
                let _ = writeln!(writer.text, "/* {}: not run: {reason} */\n", case.name);
            }
        }
    }
    writer.main(&run);
    writer.text
}

struct Writer<'a> {
    program: &'a Program,
    text: String,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn head(&mut self, tests: &[SuiteTest], options: &Options<'_>) {
        let _ = writeln!(
            self.text,
            "/* Tests of {}, made by Lydian.\n * Compile this file alone, with the flags of that \
             source, and run it: it prints the tests that fail. */",
            options.source
        );
        let renamed = renamed(tests);
        let defines_main = self.program.function_named("main").is_some();
        for name in &renamed {
            let _ = writeln!(self.text, "#define {name} lydian_{name}");
        }
        if defines_main {
            self.line("#define main lydian_user_main");
        }
        let _ = writeln!(self.text, "#include {}", string(options.include.as_bytes()));
        if defines_main {
            self.line("#undef main");
        }
        for name in &renamed {
            let _ = writeln!(self.text, "#undef {name}");
        }
        self.text.push_str(SUPPORT);
        self.replacements(&renamed);
    }

    fn replacements(&mut self, renamed: &IndexSet<&'static str>) {
        for (name, parameters) in ENDING.iter().filter(|(name, _)| renamed.contains(name)) {
            let (how, code) = match *name {
                "exit" | "_exit" | "_Exit" => ("LYDIAN_EXITED", "code"),
                _ => ("LYDIAN_ABORTED", "0"),
            };
            let parameters = match *name {
                "__assert_fail" => {
                    "const char *text, const char *file, unsigned int line, const char *function"
                }
                "__assert" => "const char *text, const char *file, int line",
                _ => parameters,
            };
            let unused = match *name {
                "__assert_fail" => "(void)text, (void)file, (void)line, (void)function; ",
                "__assert" => "(void)text, (void)file, (void)line; ",
                _ => "",
            };
            let _ = writeln!(
                self.text,
                "__attribute__((noreturn)) void lydian_{name}({parameters});\n\
                 void lydian_{name}({parameters}) {{ {unused}lydian_end({how}, {code}); }}"
            );
        }
        for (name, parameters, call) in ALLOCATORS.iter().filter(|a| renamed.contains(a.0)) {
            let _ = writeln!(
                self.text,
                "extern void *{name}({parameters});\n\
                 void *lydian_{name}({parameters});\n\
                 void *lydian_{name}({parameters}) {{\n    \
                 const struct lydian_result *next = lydian_next(\"{name}\");\n    \
                 if (next && next->size == 1 && *(const unsigned char *)next->bytes == 0) return 0;\n    \
                 return {name}{call};\n}}"
            );
        }
    }

    /// Stubs that give queued results, then zeros.
    fn externals(&mut self, options: &Options<'_>) {
        for name in options.externals {
            let Some(id) = self.program.function_named(name) else { continue };
            let function = &self.program.functions[id];
            let stub = self.stub(function);
            self.line(&stub);
        }
        for (_, global) in self.program.globals.iter() {
            if matches!(global.init, GlobalInit::Extern) && !is_of_libc(&global.name) {
                let declaration = self.program.types.spell(global.ty, &global.name);
                let _ = writeln!(self.text, "{declaration};");
            }
        }
        self.line("");
    }

    fn stub(&self, function: &Function) -> String {
        let types = &self.program.types;
        let CType::Function { result, params, variadic } = types.get(function.ty) else {
            return String::new();
        };
        let mut list: Vec<String> = params
            .iter()
            .enumerate()
            .map(|(index, ty)| types.spell(*ty, &format!("p{index}")))
            .collect();
        let unused: String = (0..params.len()).map(|index| format!("(void)p{index}; ")).collect();
        match (*variadic, list.is_empty()) {
            // A declaration without a prototype takes what it gets.
            (true, true) => list.clear(),
            (true, false) => list.push("...".into()),
            (false, true) => list.push("void".into()),
            (false, false) => {}
        }
        let name = &function.name;
        let head = types.spell(*result, &format!("{name}({})", list.join(", ")));
        let body = if function.noreturn {
            format!("lydian_end(LYDIAN_ENDED_BY, 0); /* {name} does not return */")
        } else if matches!(types.get(*result), CType::Void) {
            format!("(void)lydian_next(\"{name}\");")
        } else {
            let value = types.spell(*result, "value");
            format!("{value}; lydian_take(\"{name}\", &value, sizeof value); return value;")
        };
        format!("{head} {{ {unused}{body} }}")
    }

    /// Saves the globals before the first test and puts them back before each.
    fn globals(&mut self) {
        let mut names = Vec::new();
        for (_, global) in self.program.globals.iter() {
            let own = !matches!(global.init, GlobalInit::Extern) && !global.name.contains('.');
            if own && !global.read_only {
                names.push(global.name.clone());
            }
        }
        for name in &names {
            let _ = writeln!(self.text, "static unsigned char lydian_first_{name}[sizeof {name}];");
        }
        for (function, to_globals) in [("lydian_save", false), ("lydian_restore", true)] {
            let _ = writeln!(self.text, "static void {function}(void) {{");
            for name in &names {
                let (global, copy) = (format!("(void *)&{name}"), format!("lydian_first_{name}"));
                let (to, from) = if to_globals { (&global, &copy) } else { (&copy, &global) };
                let _ = writeln!(self.text, "    __builtin_memcpy({to}, {from}, sizeof {name});");
            }
            self.line("}");
        }
        self.line("");
    }

    /// One test; an error says why it cannot be run.
    fn case(&mut self, case: &SuiteTest, options: &Options<'_>) -> Result<(), String> {
        match case.observed.as_ref().map(|observed| &observed.outcome) {
            Some(Outcome::Crashed(signal)) => return Err(format!("signal {signal} ends it")),
            Some(Outcome::TimedOut(limit)) => return Err(format!("it ran longer than {limit} ms")),
            Some(Outcome::Ended(how)) if !self.ends_by_stub(how, options) => {
                return Err(how.clone());
            }
            _ => {}
        }
        let start = self.text.len();
        let written = self.try_case(case);
        if written.is_err() {
            self.text.truncate(start);
        }
        written
    }

    /// Whether the words speak of a stub that does not return.
    fn ends_by_stub(&self, how: &str, options: &Options<'_>) -> bool {
        let mut words = how.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.any(|word| {
            let function = self.program.function_named(word);
            options.externals.iter().any(|name| name == word)
                && function.is_some_and(|id| self.program.functions[id].noreturn)
        })
    }

    fn try_case(&mut self, case: &SuiteTest) -> Result<(), String> {
        let test = &case.test;
        let function = self.program.function_named(&test.function);
        let function = function.map(|id| self.program.functions[id].clone());
        let function = function.ok_or_else(|| format!("there is no `{}`", test.function))?;
        let CType::Function { result, params, .. } = self.program.types.get(function.ty).clone()
        else {
            return Err("it is no function".to_owned());
        };
        let objects = object_names(case);
        let values = Values { program: self.program, objects: &objects };
        let mut patches = String::new();
        self.objects(test, &values, &mut patches)?;
        let _ = writeln!(self.text, "static void {}(void) {{", case.name);
        self.queue(test, &values)?;
        self.text.push_str(&patches);
        self.set_globals(test, &values)?;
        let arguments = self.arguments(test, &params, &values)?;
        self.call(case, &function, result, &arguments, &values);
        self.line("}\n");
        Ok(())
    }

    /// Objects before their functions: first all names, since they may point to each other.
    fn objects(
        &mut self,
        test: &Test,
        values: &Values<'_>,
        patches: &mut String,
    ) -> Result<(), String> {
        let mut definitions = String::new();
        for (object, name) in test.objects.iter().zip(values.objects) {
            let types = &self.program.types;
            let bytes = object.image.bytes.len();
            if bytes == 0 {
                let _ = writeln!(self.text, "static char {name}[1];");
                continue;
            }
            let typed = match is_named(self.program, object.ty) {
                true => values.array(object.ty, object.count, &object.image, 0),
                false => None,
            };
            match typed {
                Some(value) => {
                    let declaration = types.spell(object.ty, &format!("{name}[{}]", object.count));
                    let _ = writeln!(self.text, "static {declaration};");
                    let _ = writeln!(definitions, "static {declaration} = {value};");
                }
                None => {
                    let list = byte_list(&object.image.bytes);
                    let align = object.align.max(1);
                    let _ = writeln!(
                        self.text,
                        "static unsigned char {name}[{bytes}] __attribute__((aligned({align}))) = {list};"
                    );
                    self.patch(name, &object.image, values, patches)?;
                }
            }
        }
        self.text.push_str(&definitions);
        Ok(())
    }

    /// Statements that put pointers into an object of bytes.
    fn patch(
        &self,
        name: &str,
        image: &Image,
        values: &Values<'_>,
        patches: &mut String,
    ) -> Result<(), String> {
        for pointer in &image.pointers {
            let target = values.pointer(&pointer.target);
            let target = target.ok_or_else(|| "C has no name for what it points to".to_owned())?;
            let _ = writeln!(
                patches,
                "    {{ void *to = (void *){target}; __builtin_memcpy((char *)&{name} + {}, &to, sizeof to); }}",
                pointer.offset
            );
        }
        Ok(())
    }

    /// The queue of results of undefined functions.
    fn queue(&mut self, test: &Test, values: &Values<'_>) -> Result<(), String> {
        if test.externals.is_empty() {
            self.line("    lydian_queue(0, 0);");
            return Ok(());
        }
        let (mut rows, mut patches) = (String::new(), String::new());
        for (index, external) in test.externals.iter().enumerate() {
            let bytes = &external.result.bytes;
            let name = format!("result{index}");
            let list = byte_list(bytes);
            let size = bytes.len().max(1);
            let _ = writeln!(self.text, "    static unsigned char {name}[{size}] = {list};");
            self.patch(&name, &external.result, values, &mut patches)?;
            let _ = writeln!(
                rows,
                "        {{ {}, {name}, {}, 0 }},",
                string(external.function.as_bytes()),
                bytes.len()
            );
        }
        let _ =
            writeln!(self.text, "    static struct lydian_result results[] = {{\n{rows}    }};");
        self.text.push_str(&patches);
        let _ = writeln!(self.text, "    lydian_queue(results, {});", test.externals.len());
        Ok(())
    }

    fn set_globals(&mut self, test: &Test, values: &Values<'_>) -> Result<(), String> {
        for (index, global) in test.globals.iter().enumerate() {
            if global.name.contains('.') {
                return Err(format!("`{}` cannot be set from outside", global.name));
            }
            let found = self.program.global_named(&global.name);
            let ty = found.map(|id| self.program.globals[id].ty);
            let name = format!("global{index}");
            self.variable(&name, ty, &global.image, values)?;
            let _ = writeln!(
                self.text,
                "    __builtin_memcpy((void *)&{}, &{name}, sizeof {name});",
                global.name
            );
        }
        Ok(())
    }

    /// A variable of a type with the contents of an image.
    fn variable(
        &mut self,
        name: &str,
        ty: Option<CTypeId>,
        image: &Image,
        values: &Values<'_>,
    ) -> Result<(), String> {
        let typed = ty.filter(|ty| is_named(self.program, *ty));
        let value = typed.and_then(|ty| Some((ty, values.initialiser(ty, image, 0)?)));
        let mut patches = String::new();
        match (value, typed) {
            (Some((ty, value)), _) => {
                let declaration = self.program.types.spell(ty, name);
                let _ = writeln!(self.text, "    {declaration} = {value};");
            }
            (None, Some(ty)) => {
                let declaration = self.program.types.spell(ty, name);
                let list = byte_list(&image.bytes);
                let _ = writeln!(
                    self.text,
                    "    {declaration};\n    {{ static const unsigned char bytes[] = {list}; \
                     __builtin_memcpy((void *)&{name}, bytes, sizeof {name}); }}"
                );
                self.patch(name, image, values, &mut patches)?;
            }
            (None, None) => return Err(format!("the type of {name} has no name")),
        }
        self.text.push_str(&patches);
        Ok(())
    }

    fn arguments(
        &mut self,
        test: &Test,
        params: &[CTypeId],
        values: &Values<'_>,
    ) -> Result<Vec<String>, String> {
        let mut arguments = Vec::new();
        for (index, (image, ty)) in test.args.iter().zip(params).enumerate() {
            let name = format!("argument{index}");
            self.variable(&name, Some(*ty), image, values)?;
            arguments.push(name);
        }
        Ok(arguments)
    }

    fn call(
        &mut self,
        case: &SuiteTest,
        function: &Function,
        result: CTypeId,
        arguments: &[String],
        values: &Values<'_>,
    ) {
        let types = &self.program.types;
        let call = format!("{}({})", function.name, arguments.join(", "));
        let observed = case.observed.as_ref();
        let returned = observed.and_then(|observed| observed.result.as_ref());
        self.line("    int how = setjmp(lydian_back);");
        self.line("    if (how == 0) {");
        if let Some(seen) = returned {
            let _ = writeln!(self.text, "        {} = {call};", types.spell(result, "value"));
            let mut checks = Vec::new();
            values.checks("value", result, seen, 0, &mut checks);
            if checks.is_empty() {
                self.line("        (void)value;");
            }
            self.check(&checks, "        ");
        } else {
            let _ = writeln!(self.text, "        (void){call};");
        }
        self.line("    }");
        let Some(observed) = observed else { return };
        let (how, code) = match &observed.outcome {
            Outcome::Exited(code) => ("LYDIAN_EXITED", Some(*code)),
            Outcome::Aborted => ("LYDIAN_ABORTED", None),
            Outcome::Ended(_) => ("LYDIAN_ENDED_BY", None),
            Outcome::Returned | Outcome::Crashed(_) | Outcome::TimedOut(_) => ("0", None),
        };
        let mut checks = vec![format!("how == {how}")];
        checks.extend(code.map(|code| format!("lydian_code == {code}")));
        self.memory(case, values, &mut checks);
        self.check(&checks, "    ");
    }

    /// Checks of changed objects and globals.
    fn memory(&self, case: &SuiteTest, values: &Values<'_>, checks: &mut Vec<String>) {
        let Some(observed) = &case.observed else { return };
        for (index, seen) in &observed.objects {
            let Some(object) = case.test.objects.get(*index as usize) else { continue };
            let Some(name) = values.objects.get(*index as usize) else { continue };
            let size = self.program.types.size(object.ty).unwrap_or(0);
            let typed = is_named(self.program, object.ty)
                && values.array(object.ty, object.count, &object.image, 0).is_some();
            if size == 0 || !typed {
                continue;
            }
            let (before, after) = (plain(&object.image), plain(&seen.image));
            for element in 0..object.count {
                let range = element * size..(element + 1) * size;
                let part = |image: &Image| {
                    let pointers = image.pointers.iter().filter(|p| range.contains(&p.offset));
                    let bytes = image.bytes.get(range.start as usize..range.end as usize);
                    (bytes.map(<[u8]>::to_vec), pointers.cloned().collect::<Vec<_>>())
                };
                if part(&before) != part(&after) {
                    let part = format!("{name}[{element}]");
                    values.checks(&part, object.ty, seen, range.start, checks);
                }
            }
        }
        for (name, seen) in &observed.globals {
            let Some(id) = self.program.global_named(name) else { continue };
            if !name.contains('.') {
                values.checks(name, self.program.globals[id].ty, seen, 0, checks);
            }
        }
    }

    fn check(&mut self, checks: &[String], indent: &str) {
        for check in checks {
            let _ = writeln!(self.text, "{indent}LYDIAN_CHECK({check});");
        }
    }

    fn main(&mut self, run: &[&str]) {
        let statics = self.program.globals.iter().any(|(_, global)| {
            let local = global.name.find('.').is_some_and(|at| at > 0);
            local && !global.read_only
        });
        let _ = writeln!(
            self.text,
            "#ifndef LYDIAN_FORK\n#define LYDIAN_FORK {}\n#endif\n\
             #if LYDIAN_FORK\n#include <sys/wait.h>\n#include <unistd.h>\n#endif",
            u8::from(statics)
        );
        self.line(
            "static const struct { const char *name; void (*run)(void); } lydian_tests[] = {",
        );
        for name in run {
            let _ = writeln!(self.text, "    {{ \"{name}\", {name} }},");
        }
        self.line("    { 0, 0 }\n};");
        self.text.push_str(MAIN);
    }
}

/// The names that the source under test must use by another name.
fn renamed(tests: &[SuiteTest]) -> IndexSet<&'static str> {
    let mut names = IndexSet::new();
    for case in tests {
        let outcome = case.observed.as_ref().map(|observed| &observed.outcome);
        if matches!(outcome, Some(Outcome::Exited(_) | Outcome::Aborted)) {
            names.extend(ENDING.iter().map(|(name, _)| *name));
        }
        for external in &case.test.externals {
            let found = ALLOCATORS.iter().find(|(name, ..)| *name == external.function);
            names.extend(found.map(|(name, ..)| *name));
        }
    }
    names
}

/// Whether C can name a type where the tests stand.
fn is_named(program: &Program, ty: CTypeId) -> bool {
    match program.types.get(ty) {
        CType::Record(record) => !program.types.records[*record].name.is_empty(),
        CType::Array { element, .. } => is_named(program, *element),
        CType::Pointer { pointee, .. } => is_named(program, *pointee),
        CType::Function { result, params, .. } => {
            is_named(program, *result) && params.iter().all(|param| is_named(program, *param))
        }
        _ => true,
    }
}

/// Variables that the C library defines.
fn is_of_libc(name: &str) -> bool {
    matches!(
        name,
        "stdin"
            | "stdout"
            | "stderr"
            | "environ"
            | "__environ"
            | "optarg"
            | "optind"
            | "opterr"
            | "optopt"
            | "timezone"
            | "daylight"
            | "tzname"
            | "signgam"
    )
}

fn byte_list(bytes: &[u8]) -> String {
    let list: Vec<_> = bytes.iter().map(u8::to_string).collect();
    if list.is_empty() { "{ 0 }".to_owned() } else { format!("{{ {} }}", list.join(", ")) }
}

/// C names for the objects of a test, from the places that they stand for.
fn object_names(case: &SuiteTest) -> Vec<String> {
    let mut names: IndexSet<String> = IndexSet::new();
    for object in &case.test.objects {
        let mut name = format!("{}_", case.name);
        for part in object.name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            if !part.is_empty() {
                let joint = if name.ends_with('_') { "" } else { "_" };
                name.push_str(joint);
                name.push_str(part);
            }
        }
        let stem = name.clone();
        let mut number = 2;
        while !names.insert(name.clone()) {
            name = format!("{stem}_{number}");
            number += 1;
        }
    }
    names.into_iter().collect()
}

const SUPPORT: &str = r#"
#include <setjmp.h>
#include <stdio.h>

enum { LYDIAN_EXITED = 1, LYDIAN_ABORTED = 2, LYDIAN_ENDED_BY = 3 };
struct lydian_result {
    const char *function;
    const void *bytes;
    __SIZE_TYPE__ size;
    int used;
};
static struct lydian_result *lydian_results;
static int lydian_result_count, lydian_code, lydian_failures;
static const char *lydian_test;
static jmp_buf lydian_back;

static void lydian_queue(struct lydian_result *results, int count) {
    lydian_results = results;
    lydian_result_count = count;
}

__attribute__((unused)) static const struct lydian_result *lydian_next(const char *function) {
    for (int i = 0; i < lydian_result_count; i++) {
        struct lydian_result *result = &lydian_results[i];
        if (result->used || __builtin_strcmp(result->function, function)) continue;
        result->used = 1;
        return result;
    }
    return 0;
}

__attribute__((unused)) static void lydian_take(const char *function, void *to, __SIZE_TYPE__ size) {
    const struct lydian_result *next = lydian_next(function);
    __builtin_memset(to, 0, size);
    if (next) __builtin_memcpy(to, next->bytes, next->size < size ? next->size : size);
}

__attribute__((noreturn, unused)) static void lydian_end(int how, int code) {
    lydian_code = code;
    longjmp(lydian_back, how);
}

__attribute__((unused)) static void lydian_fail(const char *check, int line) {
    printf("%s: line %d: not true: %s\n", lydian_test, line, check);
    lydian_failures++;
}
#define LYDIAN_CHECK(check) ((check) ? (void)0 : lydian_fail(#check, __LINE__))

"#;

const MAIN: &str = r#"
int main(void) {
    int failed = 0, count = 0;
    lydian_save();
    for (; lydian_tests[count].name; count++) {
        lydian_test = lydian_tests[count].name;
        lydian_failures = 0;
        lydian_restore();
#if LYDIAN_FORK
        fflush(stdout);
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            lydian_tests[count].run();
            fflush(stdout);
            return lydian_failures != 0;
        }
        if (child < 0 || waitpid(child, &status, 0) < 0 || status) lydian_failures = 1;
#else
        lydian_tests[count].run();
#endif
        failed += lydian_failures != 0;
    }
    printf("%d tests, %d failed\n", count, failed);
    return failed != 0;
}
"#;
