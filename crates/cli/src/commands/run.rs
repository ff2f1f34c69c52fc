//! `lydian run`: a program's `main` in the interpreter, which sees undefined behaviour.

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::Instant;

use lydian::{LinkRequest, LinkedProgram, location_span};
use lydian_base::{Diagnostic, Place, Severity};
use lydian_ir::TrapKind;
use lydian_ir::arith::Overflow;
use lydian_ir::interp::{
    End, Files, Location, Options, ProgramOutcome, ProgramRun, Silent, UninitialisedUse,
    UnknownCause, run_program,
};
use lydian_ir::link::LinkedUnits;

use crate::args::RunArgs;
use crate::exit::{Failure, RunStatus};
use crate::progress::Terminal;
use crate::render;

/// The most nested calls: more than a native stack of 8 MiB usually has room for.
const MOST_CALLS: u32 = 200_000;

/// The memory limit of a program, in bytes.
const MOST_MEMORY: u64 = 4 << 30;

/// The most open calls that are shown.
const SHOWN_CALLS: usize = 8;

pub(crate) fn run(args: &RunArgs) -> Result<RunStatus, Failure> {
    let (arguments, flags) = args.split();
    let request = LinkRequest {
        files: args.files.clone(),
        flags,
        compile_commands: args.compile_commands.clone(),
    };
    let program = LinkedProgram::load(&request, &Terminal::new())?;
    let (linked, wraps) = (program.linked, program.wraps_on_overflow);
    let input = input(args)?;
    let mut command = vec![program_name(args)];
    command.extend(arguments.iter().map(|argument| argument.clone().into_bytes()));
    let environment = std::env::vars_os();
    let environment =
        environment.map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()));
    let settings = ProgramRun {
        args: command,
        environment: environment.collect(),
        input: &input,
        files: Files { read: vec![PathBuf::from("/")], write: writable() },
        time: None,
        terminal: std::io::stdout().is_terminal(),
        options: Options {
            uninitialised: UninitialisedUse::Note,
            overflow: if wraps { Overflow::Wrap } else { Overflow::Trap },
            max_steps: args.max_steps.unwrap_or(u64::MAX),
            max_depth: MOST_CALLS,
            max_memory: MOST_MEMORY,
        },
    };
    let begun = Instant::now();
    let mut output = Output::default();
    let mut write = |descriptor: i32, bytes: &[u8]| output.write(descriptor, bytes);
    let outcome = run_program(&linked.program, &settings, &mut write, &mut Silent)
        .map_err(|error| Failure::source("no-main", error.to_string()))?;
    output.flush();
    let seconds = begun.elapsed().as_secs_f64();
    let status = report(&linked, &outcome);
    if args.steps {
        let rate = outcome.steps as f64 / seconds.max(1e-9) / 1e6;
        let text = format!("{} steps in {seconds:.2} s, {rate:.1} million a second", outcome.steps);
        let mut steps = Diagnostic::warning("steps", text);
        steps.severity = Severity::Note;
        render::diagnostics(&[steps]);
    }
    Ok(status)
}

/// The folders that the program may write to: the current one and the one for temporary files.
fn writable() -> Vec<PathBuf> {
    vec![PathBuf::from("."), std::env::temp_dir()]
}

/// `argv[0]`: the first file without its ending, as a compiler would be told to call it.
fn program_name(args: &RunArgs) -> Vec<u8> {
    let first = args.files.first().and_then(|file| file.file_stem());
    first.map_or_else(|| b"program".to_vec(), |name| name.as_bytes().to_vec())
}

/// The program's standard input: the named file, else Lydian's own standard input unless it is a
/// terminal.
fn input(args: &RunArgs) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    match &args.stdin {
        Some(path) => std::fs::read(path).map_err(|error| {
            Failure::source("stdin", format!("cannot read {}: {error}", path.display()))
        }),
        None if std::io::stdin().is_terminal() => Ok(bytes),
        None => match std::io::stdin().read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => {
                Err(Failure::environment("stdin", format!("cannot read the input: {error}")))
            }
        },
    }
}

/// The program's output, passed on.
#[derive(Default)]
struct Output {
    /// Whether the reader closed its end.
    closed: bool,
}

impl Output {
    fn write(&mut self, descriptor: i32, bytes: &[u8]) {
        let written = match descriptor {
            2 => std::io::stderr().lock().write_all(bytes),
            _ if self.closed => Ok(()),
            _ => std::io::stdout().lock().write_all(bytes),
        };
        self.closed |= written.is_err();
    }

    fn flush(&mut self) {
        self.closed |= std::io::stdout().lock().flush().is_err();
    }
}

/// Reports the end of a run unless it ended by itself. Returns the exit status.
fn report(linked: &LinkedUnits, outcome: &ProgramOutcome) -> RunStatus {
    let mut found = Vec::new();
    let externals = outcome.externals.iter().map(|id| &linked.program.functions[*id].name);
    for name in externals {
        let text = format!("`{name}` is defined nowhere; calls of it did nothing and gave 0");
        found.push(Diagnostic::warning("undefined-function", text));
    }
    if let Some(location) = outcome.uninitialised {
        let text = format!("memory that was never written is used{}", inside(linked, location));
        found.push(at(linked, Diagnostic::warning("uninitialised", text), Some(location)));
    }
    let (status, end) = match outcome.end {
        End::Exited(status) => (RunStatus::Exited(status as u8), None),
        End::Returned => (RunStatus::Exited(0), None),
        End::Trapped(TrapKind::Abort) => (RunStatus::Aborted, Some("the program aborts".into())),
        End::Trapped(kind) => (RunStatus::Undefined, Some(kind.to_string())),
        End::Assumption => {
            let what = "what the program assumes of its inputs does not hold";
            (RunStatus::Stopped, Some(what.into()))
        }
        End::Stopped(reason) => (RunStatus::Stopped, Some(format!("stopped: {reason}"))),
        End::TooDeep(limit) => {
            (RunStatus::Stopped, Some(format!("stopped: more than {limit} calls are open")))
        }
        End::Unknown(UnknownCause::Assembly | UnknownCause::VaryingAssembly) => {
            (RunStatus::Unknown, Some("what inline assembly does is not known".into()))
        }
        End::Unknown(UnknownCause::MaskedInterrupt) => {
            let what = "a handler of interrupts is to run while interrupts are disabled";
            (RunStatus::Unknown, Some(what.into()))
        }
        End::OutrunsScript => {
            let what = "it reads memory at an address that it names as a number, a device";
            (RunStatus::Unknown, Some(what.into()))
        }
        End::NoReturn(function) => {
            let name = &linked.program.functions[function].name;
            let text = format!("`{name}`, which never returns, is called and defined nowhere");
            (RunStatus::Unknown, Some(text))
        }
    };
    if let Some(text) = end {
        let code = match status {
            RunStatus::Undefined => "undefined-behaviour",
            _ => "end",
        };
        let inside = outcome.location.map_or_else(String::new, |place| inside(linked, place));
        let end = at(linked, Diagnostic::error(code, text + &inside), outcome.location);
        found.push(callers(linked, outcome, end));
    }
    render::diagnostics(&found);
    status
}

/// The function of a place, in words.
fn inside(linked: &LinkedUnits, location: Location) -> String {
    format!(" in `{}`", linked.program.functions[location.function].name)
}

fn at(linked: &LinkedUnits, diagnostic: Diagnostic, location: Option<Location>) -> Diagnostic {
    match location.and_then(|location| place(linked, location)) {
        Some(place) => diagnostic.at(place),
        None => diagnostic,
    }
}

/// The open calls as notes.
fn callers(linked: &LinkedUnits, outcome: &ProgramOutcome, end: Diagnostic) -> Diagnostic {
    let open = outcome.trace.iter().skip(1);
    let shown = open.clone().take(SHOWN_CALLS).fold(end, |end, location| {
        let place = place(linked, *location).map_or_else(String::new, |at| format!(" at {at}"));
        end.note(format!("called{}{place}", inside(linked, *location)))
    });
    match open.count().saturating_sub(SHOWN_CALLS) {
        0 => shown,
        more => shown.note(format!("and {more} more calls")),
    }
}

/// The place of a statement or terminator in its file.
fn place(linked: &LinkedUnits, location: Location) -> Option<Place> {
    let span = location_span(&linked.program, location)?;
    Some(linked.source.place(span.start))
}
