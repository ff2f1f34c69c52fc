//! Runs of whole programs: `main`, with its arguments, input, output and files.

use lydian_base::EntityId;

use super::code_cache::{CodeCache, PatchedCode};
use super::host::{Files, Host, Output};
use super::machine::Machine;
use super::memory::Memory;
use super::observe::EventLevel;
use super::start::{self, place_constant};
use crate::interp::observe::{Observer, Silent};
use crate::interp::options::Options;
use crate::interp::outcome::{BadTest, End, Location};
use crate::program::{FuncId, Moment, Program};

/// How a program is to be run.
#[derive(Clone, Debug)]
pub struct ProgramRun<'a> {
    /// `argv`, the program's name first.
    pub args: Vec<Vec<u8>>,
    /// The environment: names and values.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// The standard input.
    pub input: &'a [u8],
    /// Which files the program may open.
    pub files: Files,
    /// Seconds since 1970 that the program sees, all the time. Its processor time is then counted
    /// in steps, so that two runs see the same. `None` for the machine's clocks.
    pub time: Option<u64>,
    /// Whether the program's output goes to a terminal: a C library then writes every line at once.
    pub terminal: bool,
    /// The limits of the run. The default of 10 million steps is over in less than a second.
    pub options: Options,
}

impl Default for ProgramRun<'_> {
    fn default() -> Self {
        Self {
            args: vec![b"program".to_vec()],
            environment: Vec::new(),
            input: &[],
            files: Files::default(),
            time: None,
            terminal: false,
            options: Options::default(),
        }
    }
}

/// The outcome of a run of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramOutcome {
    /// How it ended: [`End::Exited`] where `main` returned or the program called `exit`.
    pub end: End,
    /// Where it ended, if that is in the program: of undefined behaviour the place.
    pub location: Option<Location>,
    /// The calls that were open there, the newest first: where each stands.
    pub trace: Vec<Location>,
    /// Where a value that was never written was first used.
    pub uninitialised: Option<Location>,
    /// How many statements and terminators ran.
    pub steps: u64,
    /// The undefined functions that were called, in order, each once.
    pub externals: Vec<FuncId>,
}

/// The limit of steps for writing buffered output, once a run was stopped.
const FLUSH_STEPS: u64 = 10_000_000;

/// Runs a program from `main` to its end. Bytes that it writes to descriptors 1 and 2 go to `output` at
/// once. Constructors run before `main`; `exit` calls the functions that run at the exit
/// (`__lydian_destructor`). Where the program defines `exit`, that is called with the result of `main`, as a
/// C library would do. Where it defines `lydian_flush_all`, that is called after a run that ended by a fault
/// or a limit, so that its buffered output is written. A program
/// that ends itself by `abort` or a trap loses its buffered output, as it does on the machine.
///
/// # Errors
/// Where there is no `main` with a body, of at most three parameters.
pub fn run_program(
    program: &Program,
    run: &ProgramRun<'_>,
    output: &mut Output<'_>,
    observer: &mut dyn Observer,
) -> Result<ProgramOutcome, BadTest> {
    let main = defined(program, "main").ok_or_else(|| BadTest::NoFunction("main".to_owned()))?;
    let wanted = program.functions[main].body.as_ref().map_or(0, |body| body.params.len());
    if wanted > 3 {
        return Err(BadTest::Arguments { wanted, given: 2 });
    }
    let mut memory = start::globals(program, run.options.max_memory)?;
    start::protect(program, &mut memory);
    let mut environment = Vec::new();
    let mut pairs = Vec::new();
    for (name, value) in &run.environment {
        let text = [name.as_slice(), b"=", value, b"\0"].concat();
        let address = place_constant(&mut memory, &text);
        pairs.push(address);
        environment.push((name.clone(), address + name.len() as u64 + 1));
    }
    let args: Vec<u64> = run.args.iter().map(|arg| memory_text(&mut memory, arg)).collect();
    let (argv, envp) = (list(&mut memory, &args), list(&mut memory, &pairs));
    let images = [
        (args.len() as u32).to_le_bytes().to_vec(),
        memory.pointer_bytes(argv),
        memory.pointer_bytes(envp),
    ];
    let events = EventLevel::of(observer);
    let codes = CodeCache::new(program, &memory, run.options.overflow, events, true);
    let codes_to_flush =
        CodeCache::new(program, &memory, run.options.overflow, EventLevel::Nothing, true);
    let mut host = Host::new(run.input, output, &run.files, run.time);
    host.environment = environment;
    host.terminal = run.terminal;
    let (patched, patched_to_flush) = (PatchedCode::default(), PatchedCode::default());
    let machine = Machine::new(program, run.options, memory, &codes, &patched, Vec::new());
    let mut machine = machine.with_host(Some(Box::new(host)));
    let mut end = End::Returned;
    for function in program.run_at(Moment::BeforeMain).into_iter().chain([main]) {
        if end == End::Returned {
            let wanted = program.functions[function].body.as_ref().map_or(0, |b| b.params.len());
            end = match machine.first_call(function, &images[..wanted.min(images.len())]) {
                Ok(()) => machine.execute(observer),
                Err(stop) => stop.end(),
            };
        }
    }
    let end = leave(program, &mut machine, end, observer);
    let trace = machine.trace();
    let (location, steps) = machine.place_and_steps(end);
    let mut externals = machine.called_externals().to_vec();
    externals.sort_unstable_by_key(|function| function.index());
    externals.dedup();
    let uninitialised = machine.uninitialised();
    if !ends_itself(end)
        && let Some(flush) = defined(program, "lydian_flush_all")
    {
        let options = Options { max_steps: FLUSH_STEPS, ..run.options };
        let (slots, host) = (machine.take_slots(), machine.take_host());
        let (codes, patched) = (&codes_to_flush, &patched_to_flush);
        let last = Machine::new(program, options, machine.memory, codes, patched, slots);
        let mut last = last.with_host(host);
        // Nothing is left to be said of a run that has ended, not even that its streams are broken.
        if last.first_call(flush, &[]).is_ok() {
            last.execute(&mut Silent);
        }
    }
    Ok(ProgramOutcome { end, location, trace, uninitialised, steps, externals })
}

/// Whether a program ends this way on the machine, too, which decides itself what becomes of its buffers.
const fn ends_itself(end: End) -> bool {
    match end {
        End::Exited(_) => true,
        End::Trapped(kind) => kind.is_deliberate(),
        _ => false,
    }
}

/// Ends a program whose `main` has returned.
fn leave(
    program: &Program,
    machine: &mut Machine<'_, '_>,
    end: End,
    observer: &mut dyn Observer,
) -> End {
    if end != End::Returned {
        return end;
    }
    let image = machine.take_result().unwrap_or_default();
    let mut raw = [0; 4];
    let len = image.len().min(4);
    raw[..len].copy_from_slice(&image[..len]);
    let status = End::Exited(i32::from_le_bytes(raw));
    let Some(exit) = defined(program, "exit") else { return status };
    match machine.first_call(exit, &[raw.to_vec()]) {
        Ok(()) => match machine.execute(observer) {
            End::Returned => status,
            end => end,
        },
        Err(stop) => stop.end(),
    }
}

fn defined(program: &Program, name: &str) -> Option<FuncId> {
    let function = program.function_named(name);
    function.filter(|function| program.functions[*function].body.is_some())
}

/// A string that the program may write to.
fn memory_text(memory: &mut Memory, text: &[u8]) -> u64 {
    let bytes = [text, b"\0"].concat();
    let address = memory.add_global(bytes.len() as u64, 16).unwrap_or(0);
    _ = memory.write(address, &bytes);
    address
}

/// Addresses one after the other, and a null pointer.
fn list(memory: &mut Memory, addresses: &[u64]) -> u64 {
    let bytes: Vec<u8> =
        addresses.iter().chain([&0]).flat_map(|address| memory.pointer_bytes(*address)).collect();
    let at = memory.add_global(bytes.len() as u64, 16).unwrap_or(0);
    _ = memory.write(at, &bytes);
    at
}
