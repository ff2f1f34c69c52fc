//! Runs of a whole program in the interpreter, and the errors that they get to.

use std::collections::BTreeSet;

use lydian_base::EntityId;
use lydian_clib::{Library, Purpose};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest};
use lydian_ir::interp::{self, End, Location, Observer, Options, Outcome, View};
use lydian_ir::link::{LinkUnit, LinkedUnits, Role};
use lydian_ir::source::Point;
use lydian_ir::test::{ANY_NUMBER, ExternalResult, Test, number_image};
use lydian_ir::{Callee, FuncId, Program, Stmt, StmtId};

use super::writing::FIRST_INPUTS;

/// The function that runs are to get to.
const ERROR: &str = "reach_error";
/// The most steps of a run.
const MOST_STEPS: u64 = 100_000;

/// A call of an error function: the caller, and the statement.
pub type ErrorCall = (FuncId, StmtId);

/// Reads programs, and links them with the C library.
pub struct Loader {
    library: Library,
}

/// The inputs of a run, in the order in which they are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// Those at the beginning.
    pub first: [u64; FIRST_INPUTS],
    /// The others.
    pub late: Vec<u64>,
}

/// A run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Its inputs.
    pub inputs: Inputs,
    /// The errors that it gets to.
    pub reached: BTreeSet<ErrorCall>,
    /// The sum that it compares with an input at its end, if it gets there.
    pub sum: Option<u32>,
}

impl Loader {
    /// Lowers the C library. Panics without clang.
    pub fn new() -> Self {
        let library = Library::lower(&CompileFlags::default());
        Self { library: library.unwrap_or_else(|error| panic!("{error}")) }
    }

    /// Reads a whole program. The library is linked only if the program calls something of it.
    ///
    /// # Errors
    /// The message of whoever rejects it.
    pub fn whole(&self, text: &str) -> Result<Program, String> {
        Ok(self.linked(read(text)?, Purpose::Run)?.program)
    }

    /// Links a file with the library.
    ///
    /// # Errors
    /// The message of the linker.
    pub fn linked(&self, unit: LinkUnit, purpose: Purpose) -> Result<LinkedUnits, String> {
        self.library.link(vec![unit], purpose).map_err(|error| error.to_string())
    }
}

impl Default for Loader {
    fn default() -> Self {
        Self::new()
    }
}

/// Reads one file.
///
/// # Errors
/// The message of whoever rejects it.
pub fn read(text: &str) -> Result<LinkUnit, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = folder.path().join("subject.c");
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    let request = LoadRequest::new(ParseRequest::new(&file, CompileFlags::default()));
    let unit = lydian_frontend::load(&request).map_err(|error| error.to_string())?;
    if let Some(found) = unit.diagnostics.first() {
        return Err(format!("{} at {:?}", found.message, found.place));
    }
    let name = "subject.c".to_owned();
    Ok(LinkUnit { name, program: unit.program, source: unit.source, role: Role::Part })
}

/// Runs a program on inputs; none where the run does not count, or does not end.
pub fn run(program: &Program, inputs: &Inputs) -> Option<RunResult> {
    let image = |number: &u64| number_image(&number.to_string());
    let given = inputs.first.iter().chain(&inputs.late);
    let images = given.filter_map(image).map(|image| ExternalResult::new(ANY_NUMBER, image));
    let test = Test { externals: images.collect(), ..Test::calling("main", Vec::new()) };
    let options = Options { max_steps: MOST_STEPS, ..Options::default() };
    let mut watch = ErrorWatch { program, last: None, reached: BTreeSet::new() };
    let outcome = interp::run(program, &test, &options, &mut watch).ok()?;
    let ErrorWatch { mut reached, .. } = watch;
    match outcome.end {
        End::Assumption | End::Unknown(_) | End::Stopped(_) | End::TooDeep(_) => return None,
        _ => {}
    }
    reached.extend(error_by_pointer(program, &outcome));
    let sum = number(program, &outcome, "done").filter(|done| *done != 0);
    let sum = sum.and_then(|_| number(program, &outcome, "sum"));
    Some(RunResult { inputs: inputs.clone(), reached, sum })
}

/// The value of a global of 32 bits at the end.
fn number(program: &Program, outcome: &Outcome, name: &str) -> Option<u32> {
    let global = program.globals.iter().find(|(_, global)| global.name == name)?.0;
    let bytes = outcome.globals.get(global.index())?;
    Some(u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?))
}

/// The call through a pointer with which a run ends, if that is of the error without a body.
fn error_by_pointer(program: &Program, outcome: &Outcome) -> Option<ErrorCall> {
    let Some(Location { function, point: Point::Stmt(stmt) }) = outcome.location else {
        return None;
    };
    let body = program.functions[function].body.as_ref()?;
    let is_abort = outcome.end == End::Trapped(lydian_ir::TrapKind::Abort);
    let by_pointer = matches!(body.stmts[stmt], Stmt::Call { callee: Callee::Indirect(_), .. });
    (is_abort && by_pointer).then_some((function, stmt))
}

/// Notes the errors that a run gets to.
struct ErrorWatch<'p> {
    program: &'p Program,
    last: Option<ErrorCall>,
    reached: BTreeSet<ErrorCall>,
}

impl Observer for ErrorWatch<'_> {
    fn hears_statements(&self) -> bool {
        true
    }

    fn statement(&mut self, view: &View<'_>, stmt: StmtId) {
        let Stmt::Call { callee, .. } = &view.body().stmts[stmt] else { return };
        let call = (view.function(), stmt);
        self.last = Some(call);
        if matches!(callee, Callee::Direct(callee) if self.program.functions[*callee].name == ERROR)
        {
            self.reached.insert(call);
        }
    }

    fn entry(&mut self, view: &View<'_>) {
        if self.program.functions[view.function()].name == ERROR {
            self.reached.extend(self.last);
        }
    }
}
