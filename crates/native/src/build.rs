//! Builds: from instrumented text to a loaded-ready object and the runner beside it.
//!
//! All files lie in a directory of their own that is removed with the [`Build`].

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use lydian_ir::device::{accesses_devices, has_volatile_accesses};
use lydian_ir::variadic::{Class, Room, class};
use lydian_ir::{CTypeId, FuncId, Program};
use lydian_process::{Start, StartedProcess};
use rustc_hash::FxHashMap;
use tempfile::TempDir;

use crate::confine::Sandbox;
use crate::elf::Symbols;
use crate::flags::{self, Optimization};
use crate::harness::{self, Caller, Entry, Stubs, SymbolKind, UncallableReason, Writing};
use crate::plan::{BoundTable, Plan};
use crate::toolchain::{Libraries, Toolchain};

/// Why a build failed.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A file could not be written or read.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The compiler could not be started.
    #[error("cannot start {compiler}: {error}")]
    Start {
        /// The compiler.
        compiler: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// The compiler refused the text.
    #[error("{compiler} failed on the {what}:\n{message}")]
    Compile {
        /// The compiler.
        compiler: String,
        /// The file that was compiled.
        what: &'static str,
        /// The compiler's messages.
        message: String,
    },
    /// A compiled file cannot be read.
    #[error("the compiled object cannot be read: {message}")]
    Object {
        /// Why.
        message: String,
    },
    /// A function under test cannot be called.
    #[error("tests cannot call `{function}`: {reason}")]
    Uncallable {
        /// The function.
        function: String,
        /// Why.
        reason: UncallableReason,
    },
}

/// Another unit of the program, which is linked with the one under test.
#[derive(Clone, Debug)]
pub struct Companion {
    /// Its preprocessed text, with records or as it is.
    pub text: String,
    /// Declarations of the functions that it calls without one ([`flags::implicit_declarations`]).
    pub declarations: String,
    /// The compile flags for it.
    pub flags: Vec<String>,
}

/// What to build, and how.
#[derive(Clone, Copy)]
pub struct BuildRequest<'a> {
    /// The program that the text is of.
    pub program: &'a Program,
    /// The preprocessed text, instrumented or not.
    pub text: &'a str,
    /// The length of the text before it was instrumented. Items whose place in the program's text
    /// is at or after this offset lie in other units, and the text cannot name them.
    pub own_end: u32,
    /// The other units.
    pub companions: &'a [Companion],
    /// The meanings of the text's cells; an empty plan for text that is not instrumented.
    pub plan: &'a Plan,
    /// The user's compile flags.
    pub flags: &'a [String],
    /// The functions that tests call.
    pub entries: &'a [FuncId],
    /// Says which undefined functions are the C library's own rather than inputs.
    pub modelled: &'a (dyn Fn(&str) -> bool + Sync),
    /// How the text is compiled.
    pub level: Optimization,
    /// The compiler, such as `clang-19`.
    pub compiler: &'a str,
}

/// A compiled object with its runner, ready to be started as often as one likes.
#[derive(Debug)]
pub struct Build {
    directory: TempDir,
    pub(crate) entries: IndexMap<String, Entry>,
    /// How variable arguments of each type are passed, and their bytes; empty where no entry takes
    /// any.
    pub(crate) classes: FxHashMap<CTypeId, (Class, u64)>,
    /// The first `own_symbols` are in the object's own table, the others have offsets.
    pub(crate) symbols: IndexMap<String, (SymbolKind, u64)>,
    pub(crate) own_symbols: usize,
    pub(crate) externals: IndexMap<String, u32>,
    /// The memory that undefined functions may write.
    pub(crate) writing: FxHashMap<String, Writing>,
    pub(crate) cells: u64,
    pub(crate) cells_offset: u64,
    pub(crate) symbols_offset: u64,
    pub(crate) wide: bool,
    pub(crate) accesses_devices: bool,
    runner: PathBuf,
    /// Bytes for the values that labels and sequences bind.
    pub(crate) bound: u64,
    library: Libraries,
}

/// Bytes of a page of memory.
pub(crate) const PAGE: u64 = 4096;

impl Build {
    /// Compiles everything. Takes the time of one or two runs of the compiler and one of the
    /// linker. Files that do not depend on the program are kept between runs
    /// ([`crate::toolchain`]).
    ///
    /// # Errors
    /// Where a function cannot be called, the compiler refuses the text or cannot be started, or
    /// files cannot be written.
    pub fn new(request: &BuildRequest<'_>) -> Result<Self, BuildError> {
        let directory = tempfile::Builder::new()
            .prefix("lydian-")
            .tempdir()
            .map_err(|error| BuildError::File { path: std::env::temp_dir(), error })?;
        let place = directory.path().to_owned();
        let entries = callers(request)?;
        let table = harness::table_symbols(request.program, request.own_end);
        let cells = cell_bytes(request.plan);
        let mut text = flags::implicit_declarations(request.program);
        text.push_str(&with_cells(
            request.text,
            request.plan,
            has_volatile_accesses(request.program),
        ));
        text.push_str(&harness::appendix(&entries, &table));
        write(&place.join("unit.i"), &text)?;
        write(&place.join("lydian.h"), harness::HEADER)?;

        let toolchain = Toolchain::new(request.compiler, &place);
        let library = toolchain.libraries();
        let more = !request.companions.is_empty()
            || harness::has_stubs(request.program, request.modelled, &library);
        let unit = start_unit(request, &place, more)?;
        let runner = toolchain.runner();
        let fixed = toolchain.harness();
        unit.finish()?;
        let (runner, ()) = (runner?, fixed?);
        let mut compiled = Symbols::read(&place.join("unit.o"))?;
        for number in 0..request.companions.len() {
            compile_companion(request, &place, number)?;
            compiled.join(Symbols::read(&place.join(companion_object(number)))?);
        }
        let stubs = Stubs::find(request.program, &compiled, request.modelled, &library);
        let symbols = link(request, &toolchain, &place, &stubs, &compiled, &library)?;

        let offset = |name: &str| symbols.defined.get(name).copied().unwrap_or(0);
        let own_symbols = table.len();
        let mut all: IndexMap<_, _> =
            table.into_iter().map(|(name, kind)| (name, (kind, 0))).collect();
        for (name, symbol) in
            harness::linked_symbols(request.program, request.own_end, &stubs, &symbols)
        {
            all.entry(name).or_insert(symbol);
        }
        Ok(Self {
            directory,
            classes: classes(request.program, &entries),
            entries: entries.into_iter().map(|of| (of.entry.name.clone(), of.entry)).collect(),
            symbols: all,
            own_symbols,
            externals: stubs.numbers(request.program),
            writing: stubs.writing(request.program),
            cells,
            cells_offset: offset("lydian_hit"),
            symbols_offset: offset("lydian_symbols"),
            wide: !request.plan.wide.is_empty(),
            accesses_devices: accesses_devices(request.program),
            runner,
            bound: bound_bytes(request.plan),
            library,
        })
    }

    /// Whether tests can set this global or point to it.
    pub fn knows_global(&self, name: &str) -> bool {
        self.symbols.get(name).is_some_and(|(kind, _)| matches!(kind, SymbolKind::Global { .. }))
    }

    /// Bytes that a reply may need for the globals and the largest result.
    pub(crate) fn memory(&self) -> u64 {
        let globals = self.symbols.values().map(|(kind, _)| match kind {
            SymbolKind::Function => 0,
            SymbolKind::Global { size, .. } => size.next_multiple_of(16) + 32,
        });
        globals.sum::<u64>() + harness::RESULT_LIMIT
    }

    /// The undefined functions whose results tests give, without allocators and functions that ask
    /// for inputs, which every program has.
    pub fn externals(&self) -> impl Iterator<Item = &str> {
        self.externals.keys().skip(harness::NUMBERED.len()).map(String::as_str)
    }

    /// The names that the C library and the other libraries of every program define.
    pub const fn library(&self) -> &Libraries {
        &self.library
    }

    /// A new folder for tests to run in, one for each runner: it is emptied between tests.
    pub(crate) fn files(&self) -> std::io::Result<TempDir> {
        tempfile::Builder::new().prefix("files-").tempdir_in(self.directory.path())
    }

    /// The confinement of a runner whose tests run in a folder.
    pub(crate) fn sandbox(&self, folder: &Path) -> Result<Sandbox, landlock::RulesetError> {
        let libraries = self.library.paths().iter().filter_map(|path| Path::new(path).parent());
        let readable: Vec<&Path> = libraries.chain([self.directory.path()]).collect();
        Sandbox::new(folder, &readable)
    }

    /// The file of the compiled object.
    pub(crate) fn object(&self) -> PathBuf {
        self.directory.path().join("unit.so")
    }

    /// The runner's program.
    pub(crate) fn runner(&self) -> PathBuf {
        self.runner.clone()
    }
}

/// How variable arguments are passed, where a caller passes any.
fn classes(program: &Program, callers: &[Caller]) -> FxHashMap<CTypeId, (Class, u64)> {
    if callers.iter().all(|caller| caller.entry.variable == Room::default()) {
        return FxHashMap::default();
    }
    let types = &program.types;
    let passed =
        types.iter().filter_map(|(ty, _)| Some((ty, (class(types, ty)?, types.size(ty)?))));
    passed.collect()
}

fn callers(request: &BuildRequest<'_>) -> Result<Vec<Caller>, BuildError> {
    let mut entries = Vec::new();
    for id in request.entries {
        let (entry, text) = harness::entry(request.program, *id).map_err(|reason| {
            let function = request.program.functions.get(*id);
            let function = function.map_or_else(|| id.to_string(), |f| f.name.clone());
            BuildError::Uncallable { function, reason }
        })?;
        entries.push(Caller { function: *id, entry, text });
    }
    Ok(entries)
}

/// An instrumented text with the declarations that its records need before it.
///
/// The cells are a static array, unless texts of other units set some, and its address is never
/// taken, so that a compiler knows that no pointer of the user's reaches them; the function that
/// reads them keeps the compiler from finding them unused. They are volatile where a run may end at any
/// volatile access, before which the compiler must not have put off setting a cell.
pub fn with_cells(text: &str, plan: &Plan, is_volatile: bool) -> String {
    let cells = cell_bytes(plan);
    let mut whole = String::from("# 1 \"<lydian>\"\n");
    if cells > 0 {
        let line = format!(
            "{}{}unsigned char lydian_hit[{cells}] \
             __attribute__((aligned({PAGE}), section(\".bss.lydian_hit\")));\n\
             __attribute__((visibility(\"default\"))) \
             unsigned char lydian_read(unsigned long k) {{ return lydian_hit[k]; }}\n",
            if plan.shares_cells { "" } else { "static " },
            if is_volatile { "volatile " } else { "" },
        );
        whole.push_str(&line);
    }
    if !plan.wide.is_empty() {
        whole.push_str(
            "void lydian_wide(unsigned int decision, unsigned int words, \
             const unsigned long long *values);\n",
        );
    }
    if !plan.tables.is_empty() {
        whole.push_str(
            "int lydian_row(unsigned int table, unsigned int words, \
             const unsigned long long *values);\n",
        );
    }
    if plan.environments > 0 {
        whole.push_str(harness::SETS);
    }
    whole.push_str(text);
    whole
}

/// How many rows of a table of bound values a test may have, and the most bytes of all tables.
const ROWS: u64 = 4096;
const BOUND: u64 = 8 << 20;

/// Bytes for the rows of all tables of bound values, and the numbers before them.
fn bound_bytes(plan: &Plan) -> u64 {
    let words = |table: &BoundTable| {
        1 + table.columns.iter().map(|column| column.words() as u64).sum::<u64>()
    };
    (plan.tables.iter().map(words).sum::<u64>() * ROWS * 8).min(BOUND)
}

/// Bytes of the cells: whole pages.
fn cell_bytes(plan: &Plan) -> u64 {
    (plan.cells.len() as u64).next_multiple_of(PAGE)
}

/// The flags that an instrumented text is compiled with, the user's and Lydian's.
pub fn compile_flags(user: &[String], level: Optimization) -> Vec<String> {
    let mut flags = flags::kept(user);
    flags.extend(flags::own(level));
    flags
}

/// A run of the compiler.
pub(crate) struct Compilation {
    started: StartedProcess,
    program: String,
    what: &'static str,
}

impl Compilation {
    /// Starts a compiler.
    pub(crate) fn start(
        program: &str,
        place: &Path,
        what: &'static str,
        arguments: &[impl AsRef<OsStr>],
    ) -> Result<Self, BuildError> {
        Self::of(&Start::new(program).args(arguments).directory(place), program, what)
    }

    /// Starts a described command.
    pub(crate) fn of(start: &Start, program: &str, what: &'static str) -> Result<Self, BuildError> {
        let program = program.to_owned();
        match start.spawn() {
            Ok(started) => Ok(Self { started, program, what }),
            Err(error) => Err(BuildError::Start { compiler: program, error }),
        }
    }

    /// Waits for its end.
    pub(crate) fn finish(self) -> Result<(), BuildError> {
        let Self { mut started, program: compiler, what } = self;
        let mut message = Vec::new();
        let ended = started.messages.read_to_end(&mut message).and_then(|_| started.wait());
        let message = match ended {
            Ok(status) if status.success() => return Ok(()),
            Ok(_) => String::from_utf8_lossy(&message).into_owned(),
            Err(error) => error.to_string(),
        };
        Err(refused(&compiler, what, &message))
    }
}

/// The error of a failed compiler or linker, with the first lines of its messages.
pub(crate) fn refused(compiler: &str, what: &'static str, message: &str) -> BuildError {
    let mut shown: Vec<_> = message.lines().take(40).collect();
    if shown.is_empty() {
        shown.push("no message");
    }
    BuildError::Compile { compiler: compiler.to_owned(), what, message: shown.join("\n") }
}

/// `more` says whether more will have to be compiled.
fn start_unit(
    request: &BuildRequest<'_>,
    place: &Path,
    more: bool,
) -> Result<Compilation, BuildError> {
    let mut arguments = compile_flags(request.flags, request.level);
    arguments.extend(["-c", "unit.i", "-o", "unit.o"].map(str::to_owned));
    let start = Start::new(request.compiler).args(arguments).directory(place);
    let start = if more { start } else { start.last() };
    Compilation::of(&start, request.compiler, "instrumented source")
}

fn companion_object(number: usize) -> String {
    format!("companion{number}.o")
}

fn compile_companion(
    request: &BuildRequest<'_>,
    place: &Path,
    number: usize,
) -> Result<(), BuildError> {
    let companion = &request.companions[number];
    let name = format!("companion{number}.i");
    write(&place.join(&name), &format!("{}{}", companion.declarations, companion.text))?;
    let mut arguments = compile_flags(&companion.flags, request.level);
    arguments.extend(["-c".to_owned(), name, "-o".to_owned(), companion_object(number)]);
    Compilation::start(request.compiler, place, "other unit", &arguments)?.finish()
}

fn link(
    request: &BuildRequest<'_>,
    toolchain: &Toolchain<'_>,
    place: &Path,
    stubs: &Stubs,
    compiled: &Symbols,
    library: &Libraries,
) -> Result<Symbols, BuildError> {
    let mut objects = vec!["unit.o".to_owned()];
    let text = stubs.text(request.program);
    if !text.is_empty() {
        let services = "extern struct lydian_services *lydian_services;";
        write(&place.join("stubs.c"), &format!("#include \"lydian.h\"\n{services}\n{text}"))?;
        toolchain.compile_own("stubs.c", "stubs.o")?;
        objects.push("stubs.o".to_owned());
    }
    objects.extend((0..request.companions.len()).map(companion_object));
    let wrapped = stubs.replaced.iter().map(|name| format!("--wrap={name}"));
    let needed: Vec<&str> = stubs.needed_of_libraries(request.program, compiled).collect();
    toolchain.link(&objects, &wrapped.collect::<Vec<_>>(), &needed, library)?;
    Symbols::read(&place.join("unit.so"))
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), BuildError> {
    std::fs::write(path, text).map_err(|error| BuildError::File { path: path.to_owned(), error })
}
