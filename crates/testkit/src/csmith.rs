//! Random programs of Csmith, run natively, in the interpreter and in the symbolic engine.
//!
//! A program of Csmith has no inputs and no undefined behaviour; at its end it prints a checksum of
//! its global variables. The interpreter's checksum is read from `crc32_context`, the variable of
//! Csmith's run-time headers that holds it. The symbolic engine cannot be asked for a value, so the
//! program gets one more function, which calls `main` and compares ([`pinned_text`]): the engine
//! must cover the branch for equal and only that one.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use lydian_base::{Budget, CancelToken};
use lydian_inputs::{InputSpec, Settings, prepare};
use lydian_ir::interp::{End, Outcome};
use lydian_ir::{Program, TrapKind};
use lydian_objective::{Criterion, Pred, Request, annotate};
use lydian_smt::{ChainConfig, standard_chain};
use lydian_symex::Event;
use lydian_symex::{Config, Cut, Limits, Task};

use crate::execution::{NativeRun, ProcessEnd, interpret_main, load, run_natively};

/// The variable of Csmith's run-time headers that holds the complement of the checksum.
const CONTEXT: &str = "crc32_context";

/// The function that compares for the symbolic engine.
const PINNED: &str = "lydian_pinned";

/// A way to generate.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    /// Its name.
    pub name: &'static str,
    /// Csmith's options.
    pub options: &'static [&'static str],
    /// The compiler's flags.
    pub flags: &'static [&'static str],
}

/// All modes.
pub const MODES: [Mode; 6] = [
    Mode { name: "default", options: &[], flags: &[] },
    Mode {
        name: "bit-fields",
        options: &[
            "--bitfields",
            "--unions",
            "--structs",
            "--packed-struct",
            "--max-struct-fields",
            "20",
            "--max-union-fields",
            "10",
        ],
        flags: &[],
    },
    Mode {
        name: "64-bit",
        options: &[
            "--longlong",
            "--math64",
            "--no-int8",
            "--no-uint8",
            "--max-expr-complexity",
            "20",
        ],
        flags: &[],
    },
    Mode { name: "floats", options: &["--float"], flags: &[] },
    Mode {
        name: "pointers",
        options: &[
            "--max-pointer-depth",
            "5",
            "--paranoid",
            "--max-array-dim",
            "4",
            "--addr-taken-of-locals",
        ],
        flags: &[],
    },
    // 32-bit x86, with bit-fields and unions among the rest.
    Mode { name: "m32", options: &["--bitfields", "--unions"], flags: &["-m32"] },
];

/// The folder of Csmith's run-time headers: `CSMITH_INCLUDE`, or Debian's.
pub fn include_folder() -> PathBuf {
    std::env::var_os("CSMITH_INCLUDE").map_or_else(|| "/usr/include/csmith".into(), PathBuf::from)
}

impl Mode {
    /// Flags to compile a program of Csmith.
    pub fn flags(&self) -> Vec<String> {
        let include = format!("-I{}", include_folder().display());
        std::iter::once(include).chain(self.flags.iter().map(|flag| (*flag).to_owned())).collect()
    }
}

/// The text of a program; the same for the same seed and mode.
///
/// # Errors
/// Csmith cannot be run or fails.
pub fn generate(mode: &Mode, seed: u64) -> io::Result<String> {
    let mut csmith = Command::new("csmith");
    csmith.args(["--no-argc", "--seed", &seed.to_string()]).args(mode.options);
    let output = csmith.output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.success() && text.contains("int main") {
        true => Ok(text),
        false => Err(io::Error::other(format!("csmith fails: {}", output.status))),
    }
}

/// The result of comparing one program with its native run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The same checksum.
    Agree,
    /// Another one, or a fault.
    Mismatch(String),
    /// The native program ran too long.
    NativeTimeout,
    /// The program has undefined behaviour, says the interpreter and clang's sanitizer too: Csmith
    /// does not guard conversions from floats to integers.
    Undefined,
    /// The engine reached a limit.
    Limit(String),
}

/// The checksum that the native program prints; `Err` is a verdict.
///
/// # Errors
/// As [`run_natively`].
pub fn native_checksum(
    mode: &Mode,
    file: &Path,
    limit: Duration,
) -> io::Result<Result<u32, Verdict>> {
    let NativeRun { ended, output } = run_natively(file, &mode.flags(), limit)?;
    let text = String::from_utf8_lossy(&output);
    let found = text.lines().find_map(|line| line.strip_prefix("checksum = "));
    let checksum = found.and_then(|digits| u32::from_str_radix(digits.trim(), 16).ok());
    Ok(match (ended, checksum) {
        (ProcessEnd::TimedOut, _) => Err(Verdict::NativeTimeout),
        (ProcessEnd::Exited(0), Some(checksum)) => Ok(checksum),
        (ended, _) => Err(Verdict::Mismatch(format!("the native run: {ended:?}, {text}"))),
    })
}

/// Compares the interpreter's checksum with the native one.
pub fn check_interpreter(mode: &Mode, file: &Path, native: u32, max_steps: u64) -> (Verdict, u64) {
    let unit = match load(file, &mode.flags()) {
        Ok(unit) => unit,
        Err(error) => return (Verdict::Mismatch(error.to_string()), 0),
    };
    if let Some(left_out) = unit.diagnostics.first() {
        return (Verdict::Mismatch(left_out.message.clone()), 0);
    }
    match interpret_main(&unit.program, max_steps) {
        Ok(outcome) if is_undefined(mode, &outcome, file) => (Verdict::Undefined, outcome.steps),
        Ok(outcome) => (judge(&unit.program, &outcome, native), outcome.steps),
        Err(error) => (Verdict::Mismatch(error.to_string()), 0),
    }
}

/// Whether a run ends at a conversion that clang's sanitizer stops at too.
fn is_undefined(mode: &Mode, outcome: &Outcome, file: &Path) -> bool {
    if outcome.end != End::Trapped(TrapKind::FloatToInt) {
        return false;
    }
    let mut flags = mode.flags();
    flags
        .extend(["-fsanitize=float-cast-overflow", "-fno-sanitize-recover=all"].map(str::to_owned));
    let run = run_natively(file, &flags, Duration::from_secs(20));
    run.is_ok_and(|run| matches!(run.ended, ProcessEnd::Exited(1) | ProcessEnd::Killed(_)))
}

fn judge(program: &Program, outcome: &Outcome, native: u32) -> Verdict {
    let name = || outcome.location.map(|at| program.functions[at.function].name.clone());
    match outcome.end {
        End::Returned => {}
        End::Stopped(_) | End::TooDeep(_) => return Verdict::Limit(format!("{:?}", outcome.end)),
        end => return Verdict::Mismatch(format!("{end:?} in {}", name().unwrap_or_default())),
    }
    match checksum(program, outcome) {
        Some(ours) if ours == native => Verdict::Agree,
        Some(ours) => Verdict::Mismatch(format!("checksum {ours:X}, native {native:X}")),
        None => Verdict::Mismatch("there is no checksum".to_owned()),
    }
}

fn checksum(program: &Program, outcome: &Outcome) -> Option<u32> {
    let global = program.global_named(CONTEXT)?;
    let bytes = outcome.global(global).try_into().ok()?;
    Some(!u32::from_le_bytes(bytes))
}

/// The program with a function that says whether the checksum is the native one.
pub fn pinned_text(text: &str, native: u32) -> String {
    format!(
        "{text}\nint {PINNED}(void) {{\n    main();\n    if ({CONTEXT} == {:#X}u) return 1;\n    \
         return 0;\n}}\n",
        !native
    )
}

/// Explores the function that [`pinned_text`] adds: there is one path, to the branch for equal.
pub fn check_pinned(mode: &Mode, file: &Path, limit: Duration) -> Verdict {
    let unit = match load(file, &mode.flags()) {
        Ok(unit) => unit,
        Err(error) => return Verdict::Mismatch(error.to_string()),
    };
    let mut program = unit.program;
    prepare(&mut program);
    let Some(func) = program.function_named(PINNED) else {
        return Verdict::Mismatch(format!("there is no {PINNED}"));
    };
    let request = Request::new([Criterion::Dc]);
    let objectives = match annotate(&program, &unit.source, func, &request) {
        Ok(annotation) => annotation.objectives,
        Err(error) => return Verdict::Mismatch(error.to_string()),
    };
    let settings = Settings::from_toml_str(&format!("[function.{PINNED}]\nglobals = []\n"));
    let settings = settings.expect("the settings are valid");
    let spec = InputSpec::new(&program, settings);
    let mut solver = standard_chain(&ChainConfig::default());
    let budget = Budget::start(Some(limit), CancelToken::new());
    let mut covered: Vec<bool> = Vec::new();
    let mut sink = |event: Event| {
        if let Event::Test(found) = event {
            let labels = found.covers.iter().map(|label| &objectives.labels[label.label].pred);
            covered.extend(labels.map(|pred| !matches!(pred, Pred::Not(_))));
        }
    };
    // One path, which is as long as the program runs.
    let limits = Limits { path_steps: 100_000_000, ..Limits::default() };
    let config = Config { stop_when_covered: false, limits, ..Config::default() };
    let given = std::slice::from_ref(&objectives);
    let task = Task {
        program: &program,
        func,
        spec: &spec,
        objectives: given,
        known: &[],
        config: &config,
        budget: &budget,
    };
    let summary = match task.run(&mut *solver, &mut sink) {
        Ok(summary) => summary,
        Err(error) => return Verdict::Mismatch(error.to_string()),
    };
    match covered.as_slice() {
        [true] => Verdict::Agree,
        [] if !summary.complete => {
            let cuts: Vec<String> = summary.cuts.keys().map(Cut::to_string).collect();
            Verdict::Limit(cuts.join(", "))
        }
        _ => Verdict::Mismatch(format!("covered: {covered:?}, paths: {:?}", summary.paths)),
    }
}
