//! The library against the system's: the same program natively, and with Lydian's library in the
//! interpreter. Every byte of output and the exit status must be the same.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use lydian_clib::{Library, Purpose};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest, load};
use lydian_ir::interp::{End, Files, Options, ProgramRun, Silent, run_program};
use lydian_ir::link::{LinkUnit, LinkedUnits, Role};
use lydian_ir::verify::verify;

/// What programs are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Machine {
    X86_64,
    /// 32-bit x86, with SSE2: the x87's wider registers would give other floats.
    I386,
}

impl Machine {
    fn flags(self) -> Vec<String> {
        let own: &[&str] = match self {
            Self::X86_64 => &[],
            Self::I386 => &["-m32", "-msse2", "-mfpmath=sse"],
        };
        own.iter().map(|flag| (*flag).to_owned()).collect()
    }

    fn compile_flags(self) -> CompileFlags {
        CompileFlags::new(&self.flags(), Path::new("program.c")).unwrap()
    }

    /// Whether the machine has the C library's headers and files for it; says so where not.
    fn is_there(self) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("empty.c");
        std::fs::write(&source, "#include <stdio.h>\nint main(void) { return 0; }\n").unwrap();
        let binary = folder.path().join("empty");
        let mut clang = Command::new("clang-19");
        clang.args(self.flags()).arg("-o").args([&binary, &source]).stderr(Stdio::null());
        let is_there = clang.status().unwrap().success();
        if !is_there {
            let said = "skipped: this machine has no 32-bit C library (Debian: libc6-dev-i386)";
            writeln!(std::io::stderr(), "{said}").expect("the test's output takes it");
        }
        is_there
    }
}

fn library(machine: Machine) -> &'static Library {
    static LIBRARIES: [OnceLock<Library>; 2] = [const { OnceLock::new() }; 2];
    LIBRARIES[machine as usize].get_or_init(|| Library::lower(&machine.compile_flags()).unwrap())
}

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// What a program did.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    status: i32,
    output: String,
}

fn natively(machine: Machine, source: &Path, argument: &OsStr, input: &Path) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("program");
    let compiled = Command::new("clang-19")
        .args(["-std=gnu17", "-fno-builtin", "-fwrapv", "-w"])
        .args(machine.flags())
        .arg("-o")
        .args([&binary, source])
        .arg("-lm")
        .status();
    assert!(compiled.unwrap().success());
    let run = Command::new(&binary)
        .arg(argument)
        .env("TZ", "UTC")
        .stdin(Stdio::from(std::fs::File::open(input).unwrap()))
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&run.stdout).into_owned();
    Seen { status: run.status.code().unwrap_or(-1), output }
}

fn linked(machine: Machine, source: &Path) -> LinkedUnits {
    let flags = machine.compile_flags();
    let unit = load(&LoadRequest::new(ParseRequest::new(source, flags))).unwrap();
    assert_eq!(unit.diagnostics, []);
    let name = source.display().to_string();
    let unit = LinkUnit { name, program: unit.program, source: unit.source, role: Role::Part };
    let linked = library(machine).link(vec![unit], Purpose::Run).unwrap();
    assert_eq!(verify(&linked.program), []);
    linked
}

fn interpreted(
    machine: Machine,
    source: &Path,
    argument: &OsStr,
    input: &Path,
    folder: &Path,
) -> Seen {
    let linked = linked(machine, source);
    let input = std::fs::read(input).unwrap();
    let mut output = Vec::new();
    let run = ProgramRun {
        args: vec![b"program".to_vec(), argument.as_encoded_bytes().to_vec()],
        environment: Vec::new(),
        input: &input,
        files: Files { read: Vec::new(), write: vec![folder.to_owned()] },
        time: None,
        terminal: false,
        options: Options { max_steps: 2_000_000_000, ..Options::default() },
    };
    let mut write = |descriptor: i32, bytes: &[u8]| {
        if descriptor == 1 {
            output.extend_from_slice(bytes);
        }
    };
    let outcome = run_program(&linked.program, &run, &mut write, &mut Silent).unwrap();
    let undefined: Vec<&str> =
        outcome.externals.iter().map(|id| &*linked.program.functions[*id].name).collect();
    assert_eq!(undefined, Vec::<&str>::new(), "functions that nothing defines");
    let output = String::from_utf8_lossy(&output).into_owned();
    let End::Exited(status) = outcome.end else {
        let place = outcome.location.map(|at| linked.program.functions[at.function].name.clone());
        panic!("{:?} in {place:?}, after this output:\n{output}", outcome.end)
    };
    Seen { status, output }
}

/// Compares a program's runs, with some input and the name of a file that it may write.
fn agree(name: &str, input: &str) {
    agree_on(Machine::X86_64, name, input);
}

fn agree_on(machine: Machine, name: &str, input: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (file, stdin) = (folder.path().join("file.txt"), folder.path().join("input.txt"));
    std::fs::write(&stdin, input).unwrap();
    let source = program(name);
    let native = natively(machine, &source, file.as_os_str(), &stdin);
    assert!(native.output.len() > 100, "{native:?}");
    let _ = std::fs::remove_file(&file);
    let interpreted = interpreted(machine, &source, file.as_os_str(), &stdin, folder.path());
    for (line, (a, b)) in interpreted.output.lines().zip(native.output.lines()).enumerate() {
        assert_eq!(a, b, "line {}", line + 1);
    }
    assert_eq!(interpreted, native);
}

#[test]
fn printf_writes_what_the_systems_printf_writes() {
    agree("printf.c", "");
}

#[test]
fn numbers_are_read_from_text_as_the_system_reads_them() {
    agree("numbers_from_text.c", "");
}

#[test]
fn scanf_converts_what_the_systems_scanf_converts() {
    agree("scanf.c", "1,2,3,4 rest of it\n");
}

#[test]
fn streams_read_and_write_files_as_the_systems_do() {
    agree("streams.c", "one line\nand another");
}

#[test]
fn sorting_random_numbers_mathematics_and_strings_agree() {
    agree("library.c", "");
}

#[test]
fn dates_agree_over_the_centuries() {
    agree("calendar.c", "");
}

#[test]
fn constructors_and_destructors_run_in_the_systems_order() {
    agree("startup.c", "");
}

#[test]
fn mathematics_on_long_double_agree() {
    agree("long_double_maths.c", "");
}

#[test]
fn long_double_is_written_and_read_as_the_system_does_where_it_is_supported() {
    let left_out = &library(Machine::X86_64).diagnostics;
    if left_out.is_empty() {
        agree("long_double.c", "");
        return;
    }
    // A front end without long double leaves out what deals with it, and nothing else.
    for found in left_out {
        let file = found.place.as_ref().map_or("", |place| &*place.file);
        assert_eq!(file, format!("{}long_double.c", lydian_clib::FILE_PREFIX), "{}", found.message);
    }
}

#[test]
fn a_32_bit_program_does_what_it_does_natively() {
    if Machine::I386.is_there() {
        agree_on(Machine::I386, "narrow.c", "");
    }
}

#[test]
fn the_library_for_32_bit_programs_agrees_with_the_systems() {
    if !Machine::I386.is_there() {
        return;
    }
    assert_eq!(library(Machine::I386).diagnostics, []);
    for (name, input) in [
        ("printf.c", ""),
        ("numbers_from_text.c", ""),
        ("scanf.c", "1,2,3,4 rest of it\n"),
        ("streams.c", "one line\nand another"),
        ("library.c", ""),
        ("long_double.c", ""),
        ("long_double_maths.c", ""),
        ("startup.c", ""),
    ] {
        agree_on(Machine::I386, name, input);
    }
}
