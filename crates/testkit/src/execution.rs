//! Whole programs run twice: compiled by clang and run by the machine, and lowered and run by the
//! concrete interpreter.

use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lydian_clib::{Library, Purpose};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{FrontendError, LoadRequest, ParseRequest, Unit};
use lydian_ir::interp::{
    self, BadTest, Files, Options, Outcome, ProgramOutcome, ProgramRun, Silent, run_program,
};
use lydian_ir::link::{LinkError, LinkUnit, Role};
use lydian_ir::test::{Image, ImagePointer, PointerTarget, Test, TestObject};
use lydian_ir::{CType, Program};

/// The end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    /// With this status.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// It ran too long.
    TimedOut,
}

/// A native run.
#[derive(Clone, Debug)]
pub struct NativeRun {
    /// Its end.
    pub ended: ProcessEnd,
    /// Its standard output.
    pub output: Vec<u8>,
}

/// Compiles one file as Lydian reads it (`-O0 -fwrapv`) and runs it in a folder of its own.
///
/// # Errors
/// Messages of the compiler if it rejects the file, and errors of the system.
pub fn run_natively(file: &Path, flags: &[String], limit: Duration) -> io::Result<NativeRun> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("program");
    let mut clang = Command::new("clang-19");
    clang.args(["-O0", "-fwrapv", "-Wno-everything"]).args(flags).arg("-o").arg(&program).arg(file);
    let compiled = clang.arg("-lm").output()?;
    if !compiled.status.success() {
        let said = String::from_utf8_lossy(&compiled.stderr);
        let first = said.lines().find(|line| line.contains("error")).unwrap_or("no message");
        return Err(io::Error::other(first.to_owned()));
    }
    let output = folder.path().join("output");
    let mut command = Command::new(&program);
    command.current_dir(folder.path()).stdin(Stdio::null()).stderr(Stdio::null());
    command.stdout(File::create(&output)?);
    let ended = run_limited(command, limit)?;
    Ok(NativeRun { ended, output: std::fs::read(&output)? })
}

/// Runs a command, and ends it after `limit`.
///
/// # Errors
/// It cannot be started.
pub fn run_limited(mut command: Command, limit: Duration) -> io::Result<ProcessEnd> {
    let mut child = command.spawn()?;
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(ended(status));
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(ProcessEnd::TimedOut);
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

fn ended(status: ExitStatus) -> ProcessEnd {
    match status.code() {
        Some(code) => ProcessEnd::Exited(code),
        None => ProcessEnd::Killed(status.signal().unwrap_or(0)),
    }
}

/// Lowers one file.
///
/// # Errors
/// As [`lydian_frontend::load`].
pub fn load(file: &Path, flags: &[String]) -> Result<Unit, FrontendError> {
    let flags = CompileFlags::new(flags, file)?;
    lydian_frontend::load(&LoadRequest::new(ParseRequest::new(file, flags)))
}

/// A program with the C library, as `lydian run` runs it.
#[derive(Clone, Debug)]
pub struct LibraryRun {
    /// The linked program.
    pub program: Program,
    /// The outcome of the run.
    pub outcome: ProgramOutcome,
    /// Its standard output.
    pub output: Vec<u8>,
}

/// The reason for which a program does not run with the library.
#[derive(Debug, thiserror::Error)]
pub enum NoRun {
    /// It defines a name twice.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// It has no `main` that can be called.
    #[error(transparent)]
    Main(#[from] BadTest),
}

/// Links a unit with the C library and runs its `main` in the interpreter. It may read all files and
/// write those of the current folder and of the one for temporary files.
///
/// # Errors
/// See [`NoRun`].
pub fn run_with_library(
    unit: &Unit,
    library: &Library,
    max_steps: u64,
) -> Result<LibraryRun, NoRun> {
    let unit = LinkUnit {
        name: "program.c".to_owned(),
        program: unit.program.clone(),
        source: unit.source.clone(),
        role: Role::Part,
    };
    let program = library.link(vec![unit], Purpose::Run)?.program;
    let run = ProgramRun {
        files: Files { read: vec!["/".into()], write: vec![".".into(), std::env::temp_dir()] },
        options: Options {
            uninitialised: interp::UninitialisedUse::Note,
            max_steps,
            max_depth: 20_000,
            ..Options::default()
        },
        ..ProgramRun::default()
    };
    let mut output = Vec::new();
    let mut write = |descriptor: i32, bytes: &[u8]| {
        if descriptor == 1 {
            output.extend_from_slice(bytes);
        }
    };
    let outcome = run_program(&program, &run, &mut write, &mut Silent)?;
    Ok(LibraryRun { program, outcome, output })
}

/// Runs a program's `main` in the interpreter, with its name alone as its arguments.
///
/// # Errors
/// There is no `main` with a body.
pub fn interpret_main(program: &Program, max_steps: u64) -> Result<Outcome, BadTest> {
    let options = Options { max_steps, max_depth: 20_000, ..Options::default() };
    interp::run(program, &main_call(program), &options, &mut Silent)
}

/// The call of `main` with one argument, the program's name, where it takes any.
fn main_call(program: &Program) -> Test {
    let mut test = Test::calling("main", vec![]);
    let Some(main) = program.function_named("main") else { return test };
    let CType::Function { params, .. } = program.types.get(program.functions[main].ty) else {
        return test;
    };
    for ty in params {
        let CType::Pointer { pointee, .. } = program.types.get(*ty) else {
            let size = program.types.size(*ty).unwrap_or(4) as usize;
            let mut bytes = vec![0; size];
            bytes[0] = 1;
            test.args.push(Image { bytes, pointers: Vec::new() });
            continue;
        };
        let vector = test.objects.len() as u32;
        let pointer = |object| ImagePointer { offset: 0, target: PointerTarget::Object(object, 0) };
        let target = program.types.target;
        let width = target.pointer_bytes() as usize;
        let image = |object| Image { bytes: vec![0; width], pointers: vec![pointer(object)] };
        test.args.push(image(vector));
        let argument = match program.types.get(*pointee) {
            CType::Pointer { pointee, .. } => *pointee,
            _ => *pointee,
        };
        let mut list = image(vector + 1);
        list.bytes.resize(2 * width, 0);
        let objects = [(*pointee, 2, list), (argument, 8, text("program"))];
        for (ty, count, image) in objects {
            let address = target.input_region() + 0x1000 * test.objects.len() as u64;
            let name = format!("argument{}", test.objects.len());
            let object = TestObject { name, address, ty, count, align: 8, image, read_only: false };
            test.objects.push(object);
        }
    }
    test
}

fn text(text: &str) -> Image {
    Image { bytes: text.bytes().chain([0]).collect(), pointers: Vec::new() }
}
