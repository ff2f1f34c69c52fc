//! C programs run by the machine and by the IR's interpreter must give the same results: each
//! `check_…` function of `tests/programs` returns a checksum of what it computed. The independent
//! party is clang, compiling with `-fwrapv`. `LYDIAN_PROGRAMS` names another folder of programs.

use lydian_base::Span;
use lydian_clib::{Library, Purpose};
use lydian_frontend::clang::Clang;
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::lower::{LoweringOptions, ValueDecisions};
use lydian_frontend::{LoadRequest, ParseRequest, Unit, load};
use lydian_ir::interp::{End, Options, Silent, run};
use lydian_ir::link::{LinkUnit, Role};
use lydian_ir::source::{MarkStyle, RootKind};
use lydian_ir::test::Test;
use lydian_ir::{Body, Program};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn programs() -> Vec<PathBuf> {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let folder = std::env::var_os("LYDIAN_PROGRAMS").map_or_else(own, PathBuf::from);
    crate::c_files(&folder)
}

/// The functions of a program that return a checksum.
fn checks(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let name = |line: &str| line.strip_prefix("sum_t ")?.strip_suffix("(void)").map(str::to_owned);
    text.lines().filter_map(name).filter(|name| name.starts_with("check_")).collect()
}

/// What the machine computes for the program whose text is at `path`.
///
/// # Panics
/// Where the compiler does not take it.
fn native(path: &Path, checks: &[String]) -> BTreeMap<String, u64> {
    natively(path, checks, &[]).unwrap()
}

/// The same with more flags; what the compiler says where it does not take it.
fn natively(
    path: &Path,
    checks: &[String],
    flags: &[&str],
) -> Result<BTreeMap<String, u64>, String> {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("main.c");
    let calls: String =
        checks.iter().map(|name| format!("    printf(\"{name} %lu\\n\", {name}());\n")).collect();
    let text = format!(
        "#include \"{}\"\nint printf(const char *, ...);\nint main(void)\n{{\n{calls}    return 0;\n}}\n",
        path.display()
    );
    std::fs::write(&main, text).unwrap();
    let binary = folder.path().join("main");
    let clang = std::env::var("LYDIAN_CLANG").unwrap_or_else(|_| "clang-19".to_owned());
    assert!(Clang::locate().is_ok());
    let built = Command::new(clang)
        .args(["-std=gnu17", "-fwrapv", "-O1", "-w"])
        .args(flags)
        .arg("-o")
        .arg(&binary)
        .arg(&main)
        .arg("-lm")
        .output()
        .unwrap();
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into_owned());
    }
    let ran = Command::new(&binary).output().unwrap();
    assert!(ran.status.success(), "{} ended with {}", path.display(), ran.status);
    let parse = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    Ok(String::from_utf8(ran.stdout).unwrap().lines().filter_map(parse).collect())
}

fn unit(path: &Path, value_decisions: ValueDecisions) -> Unit {
    unit_with(path, value_decisions, &[])
}

fn unit_with(path: &Path, value_decisions: ValueDecisions, more: &[&str]) -> Unit {
    let words = ["-std=gnu17", "-fwrapv"].iter().chain(more).map(|word| (*word).to_owned());
    let flags = CompileFlags::new(&words.collect::<Vec<_>>(), path).unwrap();
    let mut request = LoadRequest::new(ParseRequest::new(path, flags));
    request.lowering = LoweringOptions { value_decisions, ..LoweringOptions::default() };
    load(&request).unwrap()
}

/// The program with the compiler's run-time library, where it calls that.
fn complete(unit: &Unit) -> Program {
    let of_runtime = |name: &str| name.starts_with("__mul") || name.starts_with("__div");
    if !unit.program.functions.values().any(|f| f.body.is_none() && of_runtime(&f.name)) {
        return unit.program.clone();
    }
    let library = Library::lower(&CompileFlags::default()).unwrap();
    let messages: Vec<_> = library.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, Vec::<&str>::new());
    let program = LinkUnit {
        name: "program".to_owned(),
        program: unit.program.clone(),
        source: unit.source.clone(),
        role: Role::Part,
    };
    library.link(vec![program], Purpose::Explore).unwrap().program
}

/// What the interpreter computes, or how else the run ended.
fn interpreted(program: &Program, function: &str) -> Result<u64, String> {
    let test = Test::calling(function, vec![]);
    let outcome =
        run(program, &test, &Options::default(), &mut Silent).map_err(|error| error.to_string())?;
    match (outcome.end, outcome.result) {
        (End::Returned, Some(bytes)) => {
            let mut all = [0; 8];
            let place = all.get_mut(..bytes.len()).ok_or("a result of another size")?;
            place.copy_from_slice(&bytes);
            Ok(u64::from_le_bytes(all))
        }
        (end, _) => Err(format!("{end:?} at {:?}", outcome.location)),
    }
}

/// Texts to put around a span.
struct Around {
    span: Span,
    open: &'static str,
    close: &'static str,
}

/// Where the source rewriter would put something, in stand-ins that change no meaning.
fn sites(body: &Body) -> Vec<Around> {
    let source = &body.source;
    let mut sites = Vec::new();
    let mut around = |span, open, close| sites.push(Around { span, open, close });
    for site in &source.marks {
        match site.style {
            MarkStyle::Wrap | MarkStyle::BeforeFor => around(site.span, "{ (void)0; ", " }"),
            MarkStyle::Before => around(site.span, "(void)0; ", ""),
            MarkStyle::Expression => around(site.span, "((void)0, ", ")"),
        }
    }
    for site in &source.decisions {
        around(site.span, "(", ")");
        let truth = if site.keeps_value { ("(", ")") } else { ("(!!(", "))") };
        site.conditions.iter().for_each(|condition| around(*condition, truth.0, truth.1));
    }
    source.switches.iter().for_each(|site| around(site.operand, "(", ")"));
    for root in source.roots.values().filter(|root| root.rewritable) {
        match root.kind {
            RootKind::Address => around(root.span, "(*&(", "))"),
            _ => around(root.span, "(", ")"),
        }
        root.captures.iter().for_each(|capture| around(capture.span, "(", ")"));
    }
    sites
}

/// The preprocessed text with stand-ins at every site.
fn rewritten(unit: &Unit) -> String {
    let bodies = unit.program.functions.values().filter_map(|function| function.body.as_ref());
    let mut sites: Vec<_> = bodies.flat_map(sites).collect();
    sites.sort_by_key(|site| (site.span.start, Reverse(site.span.end)));
    let text = unit.source.text();
    let (mut result, mut at) = (String::new(), 0);
    let mut open: Vec<(u32, &str)> = Vec::new();
    let mut copy_to = |result: &mut String, to: u32| {
        result.push_str(&text[at as usize..to as usize]);
        at = to;
    };
    for site in &sites {
        while let Some((end, close)) = open.pop_if(|(end, _)| *end <= site.span.start) {
            copy_to(&mut result, end);
            result.push_str(close);
        }
        copy_to(&mut result, site.span.start);
        result.push_str(site.open);
        open.push((site.span.end, site.close));
    }
    while let Some((end, close)) = open.pop() {
        copy_to(&mut result, end);
        result.push_str(close);
    }
    copy_to(&mut result, text.len() as u32);
    result
}

#[test]
fn text_can_be_put_at_every_site_without_changing_what_is_computed() {
    let mut any_condition = false;
    for path in programs() {
        let checks = checks(&path);
        let unit = unit(&path, ValueDecisions::WithOperators);
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("rewritten.c");
        // Line markers would lead messages away from the text that is compiled.
        let text: String =
            rewritten(&unit).split_inclusive('\n').filter(|line| !line.starts_with("# ")).collect();
        any_condition |= text.contains("(!!(");
        std::fs::write(&copy, text).unwrap();
        assert_eq!(native(&copy, &checks), native(&path, &checks), "{}", path.display());
    }
    assert!(any_condition);
}

fn compare(value_decisions: ValueDecisions) {
    let mut differences = Vec::new();
    let mut compared = 0;
    for path in programs() {
        let checks = checks(&path);
        assert!(!checks.is_empty(), "{}", path.display());
        let expected = native(&path, &checks);
        let unit = unit(&path, value_decisions);
        let messages =
            unit.diagnostics.iter().map(|d| format!("{}: {}", path.display(), d.message));
        differences.extend(messages);
        let program = complete(&unit);
        for check in &checks {
            compared += 1;
            let actual = interpreted(&program, check);
            if actual != Ok(expected[check]) {
                let file = path.file_name().unwrap().to_string_lossy();
                differences.push(format!("{file} {check}: {} but {actual:?}", expected[check]));
            }
        }
    }
    assert_eq!(differences, Vec::<String>::new());
    assert!(compared > 30 || std::env::var_os("LYDIAN_PROGRAMS").is_some());
}

#[test]
fn the_interpreter_computes_what_the_machine_computes() {
    compare(ValueDecisions::WithOperators);
}

#[test]
fn lone_comparisons_as_decisions_change_no_result() {
    compare(ValueDecisions::All);
}

/// Those of the programs that do not need a `long` of 64 bits. Skipped, aloud, where the machine
/// has no 32-bit C library.
#[test]
fn with_pointers_of_32_bits_the_interpreter_computes_what_the_machine_computes() {
    const FLAGS: [&str; 3] = ["-m32", "-msse2", "-mfpmath=sse"];
    const NAMES: [&str; 10] = [
        "arrays_of_variable_length.c",
        "assembly.c",
        "atomics.c",
        "booleans.c",
        "calls.c",
        "control.c",
        "effects.c",
        "jumps.c",
        "memory.c",
        "old_style.c",
    ];
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    for name in NAMES {
        let path = own.join(name);
        let checks = checks(&path);
        let expected = match natively(&path, &checks, &FLAGS) {
            Ok(expected) => expected,
            Err(message) => {
                let of_library = ["crti.o", "libgcc", "stubs-32.h"];
                assert!(of_library.iter().any(|what| message.contains(what)), "{message}");
                let said = "skipped: this machine has no 32-bit C library (Debian: libc6-dev-i386)";
                writeln!(std::io::stderr(), "{said}").expect("the test's output takes it");
                return;
            }
        };
        let unit = unit_with(&path, ValueDecisions::WithOperators, &FLAGS);
        assert_eq!(unit.diagnostics, [], "{name}");
        for check in &checks {
            let actual = interpreted(&unit.program, check);
            assert_eq!(actual, Ok(expected[check]), "{name} {check}");
        }
    }
}
